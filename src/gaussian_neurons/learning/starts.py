"""Where neurons start."""

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gaussian_neurons.base.covariances import flat, variances
from gaussian_neurons.base.interrupts import interruption_point
from gaussian_neurons.learning.neurons import Neurons
from gaussian_neurons.learning.responses import (
    below_overflow,
    checked_scale,
    least_width,
    nearest,
    squared_distances,
)

Array = NDArray[Any]

ROUNDS = 3  # of k-means
SAME = 2.0**-40  # squared distance of neurons at one place, as a part of the typical one
PAIRED = 150  # rows whose distances give the typical one
Indices = NDArray[np.int64]


def neurons_at(centers: Array, widths: Array, dtype: type, born: int = 0) -> Neurons:
    """Neurons in the model's precision, or a ValueError if it cannot represent them."""
    with np.errstate(over="ignore", under="ignore"):
        neurons = Neurons.at(centers, widths, dtype, born)
    name, least, most = np.dtype(dtype).name, least_width(dtype), float(np.finfo(dtype).max)
    found = flat(variances(neurons.widths))
    bad = np.flatnonzero(~((found >= least) & (found <= most)).all(axis=1))
    if len(bad):
        wider = "" if dtype == np.float64 else ", or start the model with float64 samples"
        raise ValueError(
            f"a width of {widths[bad[0]].tolist()!r} is out of the range of {name}, the precision of the "
            f"samples: it must be between {least:.2g} and {most:.2g}. Scale the data{wider}."
        )
    if not np.isfinite(neurons.centers).all():
        raise ValueError(
            f"centers are out of the range of {name}, the precision of the samples. Scale the data or narrow "
            f"the domain."
        )
    return neurons


def uniform(low: Array, high: Array, count: int, random: np.random.Generator) -> Array:
    """Centers drawn uniformly from the box, (count, D): the paper's start."""
    part = random.random((count, len(low)))
    return low * (1 - part) + high * part


def means(rows: Array, count: int, reach: float, random: np.random.Generator) -> Array:
    """Centers spread over the rows, (count, D): a few rounds of k-means.

    Parameters
    ----------
    rows : (n, D), float64
    count : how many centers
    reach : a squared distance, see `spread`
    random : source of randomness
    """
    places: Array = rows[spread(rows, count, reach, random)]
    for _ in range(ROUNDS):
        found, size = means_of(rows, nearest(rows, places), count)
        places = np.where(size[:, None] > 0, found, places)
    return places


def mean_of(rows: Array) -> Array:
    """The mean of rows, (D,), also if their sum overflows."""
    with np.errstate(over="ignore", invalid="ignore"):
        mean: Array = rows.mean(axis=0)
    return mean if np.isfinite(mean).all() else (rows / len(rows)).sum(axis=0)


def means_of(rows: Array, label: NDArray[np.int64], count: int) -> tuple[Array, NDArray[np.int64]]:
    """The mean of the rows with each label, (count, D), 0 for a label without rows; and their numbers.

    Examples
    --------
    >>> means_of(np.array([[0.0], [2.0], [5.0]]), np.array([0, 0, 2]), 3)[0].ravel()
    array([1., 0., 5.])
    """
    sums, size = np.zeros((count, rows.shape[1])), np.bincount(label, minlength=count)
    with np.errstate(over="ignore"):
        np.add.at(sums, label, rows)
    if np.isfinite(sums).all():
        return sums / np.maximum(size, 1)[:, None], size
    means = np.zeros_like(sums)  # the sum overflows, the mean does not
    np.add.at(means, label, rows / size[label][:, None])
    return means, size


def spread(rows: Array, count: int, reach: float, random: np.random.Generator) -> NDArray[np.int64]:
    """Indices of rows that lie far from each other, (count,): k-means++ (Arthur and Vassilvitskii 2007).

    A row is drawn in proportion to its squared distance from the rows drawn before. The squared distance
    counts as `reach` at most: outliers would otherwise be drawn first. Rows repeat if there are fewer rows
    than centers.

    Examples
    --------
    >>> rows = np.array([[0.0], [0.0], [3.0]])
    >>> sorted(rows[spread(rows, 2, 9.0, np.random.default_rng(0)), 0].tolist())
    [0.0, 3.0]
    """
    drawn = np.empty(count, np.int64)
    left = np.full(len(rows), reach, np.float64)
    for k in range(count):
        interruption_point()
        sums = np.cumsum(left)
        at = np.searchsorted(sums, random.random() * sums[-1], side="right")
        drawn[k] = min(int(at), len(rows) - 1)
        with np.errstate(over="ignore"):
            left = np.minimum(left, ((rows - rows[drawn[k]]) ** 2).sum(axis=1))
    return drawn


def typical_distance(samples: Array) -> float | None:
    """The median squared distance between two samples, None if they are all the same.

    Examples
    --------
    >>> typical_distance(np.array([[0.0], [1.0], [3.0]]))
    4.0
    """
    rows = thinned(samples, PAIRED)
    if (rows == rows[:1]).all():  # rare values may not be among them
        rows = thinned(np.unique(samples, axis=0), PAIRED)
        if len(rows) < 2:
            return None
    with np.errstate(over="ignore"):
        wide = rows.astype(np.float64)
        squared = squared_distances(wide, wide)[_pairs(len(rows))]
    median = float(np.median(squared))
    if median == 0 and squared.any():  # most are equal
        median = float(np.median(squared[squared > 0]))
    return below_overflow(median, samples.dtype)


@lru_cache(maxsize=4)
def _pairs(count: int) -> tuple[Indices, Indices]:
    """Indices of the pairs of so many rows."""
    first, second = np.triu_indices(count, 1)
    return first, second


def thinned(rows: Array, most: int) -> Array:
    """At most so many of the rows, in their order: drawn at random, since a stream may be periodic."""
    if len(rows) <= most:
        return rows
    return rows[np.sort(np.random.default_rng(0).permutation(len(rows))[:most])]


def widths_at(centers: Array, samples: Array) -> Array:
    """Starting widths of neurons that follow the samples, (K,).

    2 / D times the squared distance to the nearest other center or, if that is larger, the mean squared
    distance of the samples nearest to the neuron: in many dimensions, two centers in one cluster are much
    closer to each other than to the samples. Neurons at the same place, and a single one, have at least the
    median of the others or the typical distance.

    Examples
    --------
    >>> widths_at(np.array([[0.0, 0.0], [3.0, 4.0], [3.0, 5.0]]), np.array([[0.0, 0.0], [3.0, 7.0]]))
    array([25.,  1.,  4.])
    """
    typical = typical_distance(samples)
    scale = 1.0 if typical is None else checked_scale(typical, samples.dtype)
    wide = centers.astype(np.float64)
    with np.errstate(over="ignore"):
        squared = squared_distances(wide, wide)
    np.fill_diagonal(squared, np.inf)
    near = squared.min(axis=1)
    good = np.isfinite(near) & (near >= scale * SAME)
    near[~good] = np.median(near[good]) if good.any() else scale
    cell, rows = nearest(samples, centers.astype(samples.dtype)), samples.astype(np.float64)
    with np.errstate(over="ignore"):
        apart = ((rows - wide[cell]) ** 2).sum(axis=1)
        scatter = np.bincount(cell, apart, len(wide)) / np.maximum(np.bincount(cell, minlength=len(wide)), 1)
    widths: Array = 2 / centers.shape[1] * np.maximum(near, np.where(np.isfinite(scatter), scatter, 0.0))
    return widths
