"""The rule for neurons with a covariance each, in NumPy, one sample at a time: the specification.

Numbers in brackets are those of docs/algorithm.md. Covariances are (K, D), diagonals of diagonal matrices, or
(K, D, D). With sigma_i times the identity, everything equals `reference`.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gaussian_neurons.base.covariances import is_regular

Array = NDArray[Any]  # float64


def scaled(differences: Array, covariances: Array) -> Array:
    """Sigma_i^-1 d_i for differences (..., K, D)."""
    if covariances.ndim == 2:
        return differences / covariances
    found: Array = np.linalg.solve(covariances, differences[..., None])[..., 0]
    return found


def responses(x: Array, centers: Array, covariances: Array) -> Array:
    """f_i(x) = exp(-(x - mu_i)^T Sigma_i^-1 (x - mu_i)): how strongly each neuron responds [16].

    Examples
    --------
    >>> responses(np.array([2.0, 1.0]), np.zeros((1, 2)), np.array([[4.0, 1.0]]))  # exp(-4/4 - 1/1)
    array([0.13533528])
    """
    difference = x - centers
    response: Array = np.exp(-(difference * scaled(difference, covariances)).sum(axis=-1))
    return response


def pair_responses(centers: Array, covariances: Array) -> Array:
    """f_j(mu_i) for all pairs, (K, K): the response of neuron j to the center of neuron i."""
    return responses(centers[:, None, :], centers[None, :, :], covariances)


def sample_cost(x: Array, centers: Array, covariances: Array, inhibition: float) -> float:
    """F(x) = sum_i (-f_i(x) + lambda sum_{j != i} f_j(mu_i)), as before [2]."""
    attraction = responses(x, centers, covariances).sum()
    repulsion = pair_responses(centers, covariances).sum() - len(centers)  # without f_i(mu_i) = 1
    return float(-attraction + inhibition * repulsion)


def center_step(
    x: Array, centers: Array, covariances: Array, inhibition: float, learning_rate: float
) -> Array:
    """Delta mu (K, D): half the learning rate down the gradient of F [17].

    Examples
    --------
    >>> center_step(np.array([2.0, 0.0]), np.zeros((1, 2)), np.array([[4.0, 1.0]]), 0.5, 0.1)  # 0.1 / (2 e)
    array([[0.01839397, 0.        ]])
    """
    attraction = responses(x, centers, covariances)[:, None] * scaled(x - centers, covariances)
    toward = centers[None, :, :] - centers[:, None, :]  # mu_j - mu_i
    by_other = pair_responses(centers, covariances)[:, :, None] * scaled(toward, covariances)
    by_own = -by_other.transpose(1, 0, 2)  # f_i(mu_j) Sigma_i^-1 (mu_j - mu_i)
    step: Array = learning_rate * (attraction - inhibition * (by_own + by_other).sum(axis=1))
    return step


def covariance_step(
    x: Array,
    sample_covariance: Array,
    centers: Array,
    covariances: Array,
    inhibition: float,
    width_learning_rate: float,
) -> Array:
    """Delta Sigma: Equation 2 with covariances, toward the sample's own Sigma_x [18].

    A sample with a singular covariance changes nothing: f_x is 0 everywhere outside of its range.
    """
    if not is_regular(sample_covariance):
        return np.zeros_like(covariances)
    match = responses(x, centers, np.broadcast_to(sample_covariance, covariances.shape))  # f_x(mu_i)
    others = pair_responses(centers, covariances).sum(axis=1) - 1  # sum_{j != i} f_j(mu_i)
    freedom = np.maximum(match - 2 * inhibition * others, 0)
    gain = width_learning_rate * freedom * responses(x, centers, covariances)
    step: Array = gain.reshape(-1, *[1] * sample_covariance.ndim) * (sample_covariance - covariances)
    return step
