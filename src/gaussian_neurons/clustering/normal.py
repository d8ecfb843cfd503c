"""How far the samples of a normal distribution are from its center; sigma / 2 is its variance in a column."""

from functools import lru_cache
from typing import Any

from numpy.typing import NDArray
from scipy.stats import chi2

NOVEL = 0.001  # part of the samples like the recent ones that belong to no cluster


@lru_cache(maxsize=16)
def normal_reach(dimensions: int) -> float:
    """The |x - mu|^2 / sigma that all but NOVEL of the samples stay within.

    Examples
    --------
    >>> round(normal_reach(2), 3)  # -log(0.001)
    6.908
    """
    return float(chi2.isf(NOVEL, dimensions)) / 2


@lru_cache(maxsize=16)
def normal_median(dimensions: int) -> float:
    """The median of |x - mu|^2 / sigma.

    Examples
    --------
    >>> round(normal_median(2), 3)  # log(2)
    0.693
    """
    return float(chi2.median(dimensions)) / 2


def is_inlier(median: float, squared: NDArray[Any], dimensions: int) -> Any:
    """Whether squared distances are within what all but NOVEL of a normal distribution with that median have.

    Examples
    --------
    >>> import numpy as np
    >>> is_inlier(1.0, np.array([9.9, 10.0]), 2)  # log(0.001) / log(0.5) = 9.966
    array([ True, False])
    """
    return squared <= normal_reach(dimensions) / normal_median(dimensions) * median
