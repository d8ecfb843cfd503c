"""What a response is: f_i(x) = exp(-|x - mu_i|^2 / sigma_i). No other module of the package knows.

With covariances, (K, D) or (K, D, D), instead of widths (K,), it is exp(-(x - mu_i)^T Sigma_i^-1 (x - mu_i)).
Any number of rows; the precision is that of the centers. Responses are compared as logarithms, which do not
vanish far from all centers. `strongest` and the quadratic forms are compiled.
"""

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gaussian_neurons import _core
from gaussian_neurons.base.bad_rows import bad_value, require_finite
from gaussian_neurons.learning.eigenvalues import eigenvalues
from gaussian_neurons.learning.native import (
    distance_blocks,
    form_blocks,
    interruptible_blocks,
    squared_distances,
)

Array = NDArray[Any]
Indices = NDArray[np.int64]

__all__ = [
    "below_overflow",
    "checked_scale",
    "cost",
    "excess",
    "least_width",
    "log_volumes",
    "mutual",
    "nearest",
    "own",
    "parts",
    "responses",
    "squared_distances",
    "strongest",
]

SUMMED = 1 << 20  # squared distances that must have a finite sum
LESS = -(2.0**-52)  # log of a part that is just smaller
FINEST = 512  # the least typical squared distance of samples, as a multiple of the least width


@cache
def least_width(dtype: Any) -> float:
    """The least width whose squared distances keep their precision: below it they underflow."""
    limits = np.finfo(dtype)
    return float(limits.tiny / limits.eps)


def below_overflow(squared: float, dtype: Any) -> float:
    """A squared distance, or a ValueError if a million such distances have no finite sum."""
    if not squared <= float(np.finfo(dtype).max) / SUMMED:
        raise ValueError("the samples are so far apart that squared distances overflow. Scale the data.")
    return squared


def checked_scale(squared: float, dtype: Any) -> float:
    """The typical squared distance between samples, or a ValueError if the precision cannot resolve it.

    Examples
    --------
    >>> checked_scale(1e-20, np.float32)
    1e-20
    """
    below_overflow(squared, dtype)
    if squared < FINEST * least_width(dtype):
        raise ValueError(
            f"the samples differ by so little that {np.dtype(dtype).name} cannot resolve squared distances "
            f"between them. Scale the data: multiply it by a large number."
        )
    return squared


def log_response_blocks(x: Array, centers: Array, widths: Array) -> Iterator[tuple[int, Array]]:
    """log f_i(x) in blocks of rows: (index of the first row, (m, K))."""
    if widths.ndim > 1:
        for begin, forms in form_blocks(x, centers, widths):
            yield begin, -forms
        return
    for begin, distances in distance_blocks(x, centers):
        with np.errstate(over="ignore"):  # minus infinity is right
            yield begin, -distances / widths


def responses(x: Array, centers: Array, widths: Array) -> Array:
    """f_i(x) for every row and neuron, (n, K) [1].

    Examples
    --------
    >>> responses(np.array([[1.0]]), np.array([[0.0], [1.0]]), np.ones(2)).round(3)
    array([[0.368, 1.   ]])
    """
    found = np.empty((len(x), len(centers)), centers.dtype)
    for begin, logs in log_response_blocks(x, centers, widths):
        np.exp(logs, out=found[begin : begin + len(logs)])
    return found


def excess(x: Array, centers: Array, widths: Array) -> Array:
    """max(log f_i(x) - mean_j log f_j(x), 0): how far log-responses exceed their mean, (n, K).

    With widths this is a matrix product and a threshold, since |x|^2 is the same for all neurons. It is
    computed in this form, which is fast, and whose rounding error is that of |x|^2 + |mu|^2.

    Examples
    --------
    >>> excess(np.array([[1.0]]), np.array([[0.0], [1.0], [2.0]]), np.ones(3)).round(3)  # logs -1, 0, -1
    array([[0.   , 0.667, 0.   ]])
    """
    if widths.ndim > 1:
        blocks = [
            logs - logs.mean(axis=1, keepdims=True) for _, logs in log_response_blocks(x, centers, widths)
        ]
        found = np.concatenate(blocks)
    else:
        inverse = 1 / widths
        slopes, levels = centers * inverse[:, None], (centers**2).sum(axis=1) * inverse
        found = x @ (2 * (slopes - slopes.mean(axis=0)).T)
        found -= levels - levels.mean()
        if (inverse != inverse[0]).any():
            found -= (x**2).sum(axis=1)[:, None] * (inverse - inverse.mean())
    np.maximum(found, 0, out=found)
    return found


def strongest(x: Array, centers: Array, widths: Array, shared: bool = False) -> tuple[Indices, Array]:
    """For each row the neuron that wins it, and its log-response: -1 and -inf without any neurons.

    The winner is the neuron that responds most or, if neurons share samples, has the largest share [21].
    """
    if not len(centers):
        require_finite(x, centers.dtype)
        return np.full(len(x), -1), np.full(len(x), -np.inf, centers.dtype)
    winner, log_response = np.empty(len(x), np.int64), np.empty(len(x), centers.dtype)
    if widths.ndim > 1:
        for begin, logs in log_response_blocks(x, centers, widths):
            block = slice(begin, begin + len(logs))
            winner[block], log_response[block] = logs.argmax(axis=1), logs.max(axis=1)
        return winner, log_response
    offsets = x.shape[1] / 2 * np.log(widths) if shared else np.zeros_like(widths)
    for begin, rows in interruptible_blocks(x, centers):
        block = slice(begin, begin + len(rows))
        row, column = _core.strongest(rows, centers, widths, offsets, winner[block], log_response[block])
        if row >= 0:
            raise bad_value(begin + row, column, float(x[begin + row, column]), centers.dtype.name)
    return winner, log_response


def parts(x: Array, centers: Array, widths: Array, group: Indices, shared: bool = False) -> Array:
    """The part of each group of neurons in each row, (n, number of groups), in float64; rows have the sum 1.

    A group counts as its strongest neuron: what that responds or, if neurons share samples, its density [21].
    The group that wins the row has the largest part, also in a tie. Rows out of reach of all neurons have
    equal parts.

    Parameters
    ----------
    x : (n, D)
    centers, widths : of K neurons
    group : (K,), from 0 on, without gaps
    shared : whether neurons share samples

    Examples
    --------
    >>> x, centers = np.array([[1.0], [1e200]]), np.array([[0.0], [0.5], [1.0]])
    >>> parts(x, centers, np.ones(3), np.array([0, 1, 1])).round(3)  # 1 / (1 + e)
    array([[0.269, 0.731],
           [0.5  , 0.5  ]])
    """
    winner = strongest(x, centers, widths, shared)[0]
    order = np.argsort(group, kind="stable")
    begins = np.flatnonzero(np.diff(group[order], prepend=-1))
    found = np.empty((len(x), len(begins)))
    offset = x.shape[1] / 2 * np.log(widths) if shared else 0.0
    for begin, logs in log_response_blocks(x, centers, widths) if len(begins) else ():
        block, rows = slice(begin, begin + len(logs)), np.arange(len(logs))
        levels = np.maximum.reduceat((logs - offset)[:, order], begins, axis=1).astype(np.float64)
        won = group[winner[block]]
        with np.errstate(invalid="ignore"):  # all are minus infinity
            part = np.exp(np.fmin(levels - levels[rows, won][:, None], LESS))
        part[rows, won] = 1.0
        found[block] = part / part.sum(axis=1, keepdims=True)
    return found


def log_volumes(widths: Array, dimensions: int) -> Array:
    """The logarithm of the integral of each response over all rows, (K,): pi^(D/2) sigma_i^(D/2).

    Examples
    --------
    >>> np.exp(log_volumes(np.array([[4.0, 1.0]]), 2)) / np.pi  # of an ellipse with half axes 2 and 1
    array([2.])
    """
    wide = widths.astype(np.float64)
    if wide.ndim == 1:
        determinants = dimensions * np.log(wide)
    elif wide.ndim == 2:
        determinants = np.log(wide).sum(axis=1)
    else:
        determinants = np.array([np.log(eigenvalues(one)).sum() for one in wide])
    found: Array = (dimensions * np.log(np.pi) + determinants) / 2
    return found


def mutual(centers: Array, widths: Array) -> Iterator[tuple[int, Array]]:
    """The smaller of log f_i(mu_j) and log f_j(mu_i) for all pairs, in blocks: (first i, (m, K))."""
    if widths.ndim > 1:
        for begin, theirs in log_response_blocks(centers, centers, widths):
            block = slice(begin, begin + len(theirs))
            mine = [logs for _, logs in log_response_blocks(centers, centers[block], widths[block])]
            yield begin, np.minimum(theirs, np.concatenate(mine).T)
        return
    for begin, distances in distance_blocks(centers, centers):
        with np.errstate(over="ignore"):
            logs = -distances / np.minimum(widths[begin : begin + len(distances), None], widths)
        yield begin, logs


def own(places: Array, centers: Array, widths: Array) -> Array:
    """log f_i(p_i): the log-response of each neuron to one place of its own, (K,); NaN if that is NaN."""
    if widths.ndim == 1:
        found: Array = -((places - centers) ** 2).sum(axis=1) / widths
        return found
    found = np.full(len(places), np.nan)
    for i in np.flatnonzero(np.isfinite(places).all(axis=1)):
        one = slice(i, i + 1)
        found[i] = next(log_response_blocks(places[one], centers[one], widths[one]))[1].item()
    return found


def nearest(x: Array, centers: Array) -> Indices:
    """For each row the nearest center, (n,)."""
    found = np.empty(len(x), np.int64)
    for begin, distances in distance_blocks(x, centers):
        found[begin : begin + len(distances)] = distances.argmin(axis=1)
    return found


def cost(x: Array, centers: Array, widths: Array, inhibition: float) -> float:
    """E, the cost of the rows [3]."""
    repulsion = responses(centers, centers, widths).sum(dtype=np.float64) - len(centers)
    attraction = 0.0
    for _, logs in log_response_blocks(x, centers, widths):
        attraction += np.exp(logs).sum(dtype=np.float64)
    return float(-attraction + len(x) * inhibition * repulsion)
