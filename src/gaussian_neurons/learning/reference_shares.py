"""Neurons that share each sample, in NumPy, one sample at a time: the specification.

Numbers in brackets are those of docs/algorithm.md. Samples carry no width here: a neuron takes it from the
distances of the samples that it responds to. Instead of repulsion, neurons compete for each sample.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gaussian_neurons.learning.rule import Shares

Array = NDArray[Any]  # float64

LEAST_SHARE = 2.0**-13  # smaller ones count as 0


def shares(x: Array, centers: Array, widths: Array) -> Array:
    """s_i(x): the part of the density sigma_i^(-D/2) f_i(x) in that of all neurons, (K,) [21].

    Examples
    --------
    Of two neurons on the sample, the one with a quarter of the width has the density of two in one dimension:

    >>> shares(np.zeros(1), np.zeros((2, 1)), np.array([1.0, 4.0]))
    array([0.66666667, 0.33333333])
    """
    with np.errstate(over="ignore"):
        log_density = -((x - centers) ** 2).sum(axis=1) / widths - len(x) / 2 * np.log(widths)
    return shares_of(log_density)


def shares_of(log_density: Array) -> Array:
    """The shares of K neurons with these densities, (..., K)."""
    largest = log_density.max(axis=-1, keepdims=True)
    reached = largest > -np.inf  # else squared distances overflow: out of reach of all neurons
    density = np.exp(log_density - np.where(reached, largest, 0.0))
    total = density.sum(axis=-1, keepdims=True)
    least = np.where(reached, LEAST_SHARE * total, 1.0)
    share: Array = np.where(density < least, 0.0, density / np.where(reached, total, 1.0))
    return share


def learn(
    centers: Array,
    widths: Array,
    totals: Array,
    samples: Array,
    rule: Shares,
    resting: NDArray[np.bool_] | None = None,
) -> tuple[Array, Array, Array]:
    """Learn from the samples in their order [22], [23]. The arguments are not changed.

    Parameters
    ----------
    centers : (K, D)
    widths : (K,)
    totals : (K,), the sum of the shares so far
    samples : (n, D)
    rule : the constants
    resting : (K,) or None, neurons that have shares, but do not learn

    Examples
    --------
    The first sample of a neuron takes it half the way; the sample's width is 2 * 2^2 / 1 = 8:

    >>> start = np.zeros((1, 1)), np.ones(1), np.zeros(1)
    >>> learn(*start, np.array([[2.0]]), Shares(0.02, 1e-6))  # 1 + (8 / 2 - 1) / 2
    (array([[1.]]), array([2.5]), array([1.]))
    """
    learns = np.ones(len(centers), bool) if resting is None else ~resting
    for x in samples:
        difference = x - centers
        with np.errstate(over="ignore"):
            squared = (difference**2).sum(axis=1)
        within = squared < np.finfo(np.float64).max / 4  # otherwise a width could overflow
        share = shares(x, centers, widths)
        winner = share.argmax()
        if squared[winner] / widths[winner] > rule.reach:
            continue
        share = np.where(within & learns, share, 0.0)
        totals = totals + share
        step = share * np.maximum(rule.rate, 1 / (1 + totals))
        own_width = 2 / len(x) * np.where(within, squared, 0.0)
        widths = np.where(
            share > 0, np.maximum(widths + step * ((1 - step) * own_width - widths), rule.least_width), widths
        )
        centers = centers + step[:, None] * difference
    return centers, widths, totals
