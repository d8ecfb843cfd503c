"""The paper's equations in NumPy, one sample at a time. This is the specification; read it first.

Numbers in brackets are those of docs/algorithm.md. K neurons have centers (K, D) and widths (K,); a
sample x is (D,). The indices of a pair are always [i, j]: row i is pushed by column j.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gaussian_neurons.learning.errors import diverged
from gaussian_neurons.learning.neurons import Neurons, unchanged_on_error

Array = NDArray[Any]  # float64


def responses(x: Array, centers: Array, widths: Array) -> Array:
    """f_i(x) = exp(-|x - mu_i|^2 / sigma_i): how strongly each neuron answers [1]."""
    response: Array = np.exp(-((x - centers) ** 2).sum(axis=-1) / widths)
    return response


def pair_responses(centers: Array, widths: Array) -> Array:
    """f_j(mu_i) for all pairs, (K, K): how strongly neuron j answers to the center of neuron i."""
    return responses(centers[:, None, :], centers[None, :, :], widths)


def sample_cost(x: Array, centers: Array, widths: Array, inhibition: float) -> float:
    """F(x) = sum_i (-f_i(x) + lambda sum_{j != i} f_j(mu_i)), which one step descends [2]."""
    attraction = responses(x, centers, widths).sum()
    repulsion = pair_responses(centers, widths).sum() - len(centers)  # f_i(mu_i) = 1 left out
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
    """Delta mu (K, D) where all neurons have one width: Equation 1 simplified [5]."""
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

    A sample of width 0 matches no neuron (f_x is 0 but at the sample itself) and changes nothing.
    """
    if sample_width == 0:
        return np.zeros(len(centers))
    match = responses(x, centers, np.full(len(centers), sample_width))  # f_x(mu_i)
    others = pair_responses(centers, widths).sum(axis=1) - 1  # sum_{j != i} f_j(mu_i)
    freedom = np.maximum(match - 2 * inhibition * others, 0)
    step: Array = width_learning_rate * freedom * responses(x, centers, widths) * (sample_width - widths)
    return step


def learn(
    neurons: Neurons,
    samples: ArrayLike,
    *,
    inhibition: float,
    learning_rate: float,
    width_learning_rate: float = 0.0,
    sample_widths: ArrayLike | None = None,
    repulsion_every: int = 1,
) -> None:
    """Learn from the samples in their order: all centers from the old state, then all widths.

    A rate of 0 leaves its half alone. The neurons change in place, or, if a number stops being finite
    (`FloatingPointError`), not at all.

    Parameters
    ----------
    neurons : Neurons
    samples : (n, D)
    inhibition : lambda
    learning_rate : eta_mu
    width_learning_rate : eta_sigma
    sample_widths : (n,), sigma_x of each sample; widths are learned where it is given
    repulsion_every : r; centers repel each other at every r-th sample of `neurons.seen`, r times as strongly
    """
    x = np.asarray(samples, np.float64)
    widths = np.zeros(len(x)) if sample_widths is None else np.asarray(sample_widths, np.float64)
    rates = (inhibition, learning_rate, 0.0 if sample_widths is None else width_learning_rate)
    with unchanged_on_error(neurons), np.errstate(all="ignore"):
        before = neurons.copy()
        for _ in _steps(neurons, x, widths, *rates, repulsion_every):
            pass
        if not _finite(neurons).all():  # rare: go through it again and see where it began
            for _ in _steps(before, x, widths, *rates, repulsion_every):
                if not _finite(before).all():
                    raise diverged(before, int(np.argmin(_finite(before))), learning_rate)


def _steps(
    neurons: Neurons,
    samples: Array,
    sample_widths: Array,
    inhibition: float,
    learning_rate: float,
    width_learning_rate: float,
    repulsion_every: int,
) -> Iterator[None]:
    """Learn one sample at each turn; it counts as seen once the next one is asked for."""
    centers, widths = neurons.centers, neurons.widths
    equal = width_learning_rate == 0 and bool((widths == widths[0]).all())
    for t, x in enumerate(samples):
        repel = (int(neurons.seen[0]) + 1) % repulsion_every == 0
        strength = inhibition * repulsion_every if repel else 0.0
        if learning_rate > 0 and equal:
            centers += center_step_equal(x, centers, widths[0], strength, learning_rate)
        elif learning_rate > 0:
            centers += center_step(x, centers, widths, strength, learning_rate)
        if width_learning_rate > 0:
            widths += width_step(x, sample_widths[t], centers, widths, inhibition, width_learning_rate)
        yield
        neurons.seen += 1


def _finite(neurons: Neurons) -> NDArray[np.bool_]:
    """Whether each neuron's numbers are finite and its width positive, (K,)."""
    widths = np.isfinite(neurons.widths) & (neurons.widths > 0)
    finite: NDArray[np.bool_] = np.isfinite(neurons.centers).all(axis=1) & widths
    return finite
