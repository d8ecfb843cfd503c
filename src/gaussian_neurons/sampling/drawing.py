"""Rows drawn at random, with replacement."""

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

Indices = NDArray[np.int64]

AT_ONCE = 4096  # rows in a block


def drawing(
    rows: int, weights: NDArray[np.float64] | None, random: np.random.Generator
) -> Callable[[int], Indices]:
    """A function that draws so many row indices.

    Parameters
    ----------
    rows : how many there are
    weights : (rows,) or None, a row is drawn in proportion to its weight
    random : source of randomness

    Examples
    --------
    >>> draw = drawing(3, np.array([2.0, 0.0, 1.0]), np.random.default_rng(0))
    >>> np.bincount(draw(3000))
    array([2003,    0,  997])
    """
    if weights is None:
        return lambda count: random.integers(rows, size=count)
    sums = np.cumsum(weights / weights.max())  # the sum of the weights could overflow
    return lambda count: np.searchsorted(sums, random.random(count) * sums[-1], side="right")


def blocks(draw: Callable[[int], Indices], count: int) -> Iterator[Indices]:
    """So many drawn row indices, in blocks."""
    for begin in range(0, count, AT_ONCE):
        yield draw(min(count - begin, AT_ONCE))
