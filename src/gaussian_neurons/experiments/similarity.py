"""Similarity of filters: their distance, whether they count as the same, and how to pair them."""

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

Array = NDArray[np.float64]

ALIKE = 0.2  # largest distance of filters that count as the same: a fifth of the way from black to white


def distance(one: Array, other: Array) -> Array:
    """The root mean square difference of a pixel, over the D dimensions, (...).

    Examples
    --------
    >>> distance(np.zeros(4), np.array([0.0, 0.0, 0.0, 1.0])).item()
    0.5
    """
    apart: Array = np.sqrt(((one - other) ** 2).mean(axis=-1))
    return apart


def same(one: Array, other: Array) -> NDArray[np.bool_]:
    """Whether filters count as the same, (...)."""
    alike: NDArray[np.bool_] = distance(one, other) <= ALIKE
    return alike


def paired(one: Array, other: Array) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The pairs of filters with the smallest sum of squared distances: their indices, (pairs,) each.

    Examples
    --------
    >>> paired(np.array([[0.0], [1.0]]), np.array([[0.9], [5.0], [0.1]]))
    (array([0, 1]), array([2, 0]))
    """
    rows, columns = linear_sum_assignment(((one[:, None] - other[None]) ** 2).sum(axis=-1))
    return rows, columns
