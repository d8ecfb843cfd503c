"""The paper's equations in NumPy, one sample at a time. This is the specification; read it first.

Numbers in brackets are those of docs/algorithm.md. K neurons have centers (K, D) and widths (K,); a
sample x is (D,). The indices of a pair are always [i, j]: row i is pushed by column j. `reference_shaped` has
the same for neurons with covariances instead of widths.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gaussian_neurons.learning import reference_shaped as shaped
from gaussian_neurons.learning.rule import Rule

Array = NDArray[Any]  # float64


def responses(x: Array, centers: Array, widths: Array) -> Array:
    """f_i(x) = exp(-|x - mu_i|^2 / sigma_i): how strongly each neuron responds [1]."""
    response: Array = np.exp(-((x - centers) ** 2).sum(axis=-1) / widths)
    return response


def pair_responses(centers: Array, widths: Array) -> Array:
    """f_j(mu_i) for all pairs, (K, K): the response of neuron j to the center of neuron i."""
    return responses(centers[:, None, :], centers[None, :, :], widths)


def sample_cost(x: Array, centers: Array, widths: Array, inhibition: float) -> float:
    """F(x) = sum_i (-f_i(x) + lambda sum_{j != i} f_j(mu_i)), which one step descends [2]."""
    attraction = responses(x, centers, widths).sum()
    repulsion = pair_responses(centers, widths).sum() - len(centers)  # without f_i(mu_i) = 1
    return float(-attraction + inhibition * repulsion)


def cost(samples: Array, centers: Array, widths: Array, inhibition: float) -> float:
    """E = sum_x F(x), which the rule as a whole descends [3]."""
    return sum(sample_cost(x, centers, widths, inhibition) for x in samples)


def center_step(x: Array, centers: Array, widths: Array, inhibition: float, learning_rate: float) -> Array:
    """Delta mu (K, D): Equation 1, each neuron with its own width [4].

    Examples
    --------
    >>> center_step(np.array([1.0]), np.array([[0.0]]), np.array([1.0]), 0.5, 0.1)  # 0.1 / e
    array([[0.03678794]])
    """
    attraction = (responses(x, centers, widths) / widths)[:, None] * (x - centers)
    toward = centers[None, :, :] - centers[:, None, :]  # mu_j - mu_i
    push = pair_responses(centers, widths) / widths  # f_j(mu_i) / sigma_j
    repulsion = ((push + push.T)[:, :, None] * toward).sum(axis=1)
    step: Array = learning_rate * (attraction - inhibition * repulsion)
    return step


def center_step_equal(
    x: Array, centers: Array, width: float, inhibition: float, learning_rate: float
) -> Array:
    """Delta mu (K, D) if all neurons have one width: Equation 1 simplified [5]."""
    widths = np.full(len(centers), width)
    attraction = responses(x, centers, widths)[:, None] * (x - centers)
    toward = centers[None, :, :] - centers[:, None, :]
    repulsion = (pair_responses(centers, widths)[:, :, None] * toward).sum(axis=1)
    step: Array = learning_rate / width * (attraction - 2 * inhibition * repulsion)
    return step


def width_step(
    x: Array,
    sample_width: float,
    centers: Array,
    widths: Array,
    inhibition: float,
    width_learning_rate: float,
) -> Array:
    """Delta sigma (K,): Equation 2, toward the sample's own width sigma_x [6].

    A sample of width 0 changes nothing: f_x is 0 everywhere except at the sample itself.
    """
    if sample_width == 0:
        return np.zeros(len(centers))
    match = responses(x, centers, np.full(len(centers), sample_width))  # f_x(mu_i)
    others = pair_responses(centers, widths).sum(axis=1) - 1  # sum_{j != i} f_j(mu_i)
    freedom = np.maximum(match - 2 * inhibition * others, 0)
    step: Array = width_learning_rate * freedom * responses(x, centers, widths) * (sample_width - widths)
    return step


def learn(
    centers: Array, widths: Array, samples: Array, sample_widths: Array | None, rule: Rule, seen: int
) -> tuple[Array, Array]:
    """Learn from the samples in their order: for each, all centers from the old state, then all widths.

    A rate of 0 leaves its half unchanged. The arguments are not changed.

    Parameters
    ----------
    centers : (K, D)
    widths : (K,), or covariances: diagonals (K, D) or matrices (K, D, D)
    samples : (n, D)
    sample_widths : (n,), sigma_x of each sample, or covariances, (n, D) or (n, D, D) as the neurons have;
        None: widths are not learned
    rule : the constants
    seen : samples learned before these; centers repel each other at every r-th sample of the stream

    Returns
    -------
    centers, widths : after the last sample

    Examples
    --------
    >>> centers, widths = learn(np.zeros((1, 1)), np.ones(1), np.ones((1, 1)), None, Rule(0.1, 0.5), 0)
    >>> centers  # 0.1 / e
    array([[0.03678794]])
    """
    learns_widths = sample_widths is not None and rule.width_learning_rate > 0
    equal = widths.ndim == 1 and not learns_widths and bool((widths == widths[0]).all())
    move = center_step if widths.ndim == 1 else shaped.center_step
    adapt = width_step if widths.ndim == 1 else shaped.covariance_step
    for t, x in enumerate(samples, start=seen + 1):
        repels = t % rule.repulsion_every == 0
        inhibition = rule.inhibition * rule.repulsion_every if repels else 0.0
        if rule.learning_rate > 0 and equal:
            centers = centers + center_step_equal(x, centers, widths[0], inhibition, rule.learning_rate)
        elif rule.learning_rate > 0:
            centers = centers + move(x, centers, widths, inhibition, rule.learning_rate)
        if sample_widths is not None and learns_widths:
            sample_width = sample_widths[t - seen - 1]
            widths = widths + adapt(
                x, sample_width, centers, widths, rule.inhibition, rule.width_learning_rate
            )
    return centers, widths
