"""Which neurons share a cluster, and how well the clusters stand apart."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gaussian_neurons import _core
from gaussian_neurons.learning import native
from gaussian_neurons.learning.responses import nearest
from gaussian_neurons.learning.starts import means, means_of

Array = NDArray[Any]
Labels = NDArray[np.int64]

BAND = 0.125  # half the width of a band across the line between two centers, as a part of its length


@dataclass(frozen=True)
class Joining:
    """Centers in groups, from each by itself to two groups that hold all."""

    used: Labels  # centers that a row is nearest to; the others are in no group
    label: Labels  # (n,) of each row, an index into them
    first: list[int]  # at each step the second group was joined to the first
    second: list[int]
    silhouettes: list[float]  # how well the groups stand apart, before the first step and after each

    def silhouettes_of(self, most: int) -> Array:
        """For so many groups, 0 to most: -1 where there never are so many, (most + 1,)."""
        found = np.full(most + 1, -1.0)
        found[len(self.used) - np.arange(len(self.silhouettes))] = self.silhouettes
        found[:2] = -1.0
        return found

    def groups(self, count: int) -> Labels:
        """The group of each of the centers that are used, where there are so many groups."""
        if count == 1:  # the last two were never joined
            return np.zeros(len(self.used), np.int64)
        group = np.arange(len(self.used))
        steps = len(self.used) - count
        for into, gone in zip(self.first[:steps], self.second[:steps], strict=True):
            group[group == gone] = into
        return np.unique(group, return_inverse=True)[1]


def distinct_rows(rows: Array, values: int) -> Array:
    """The rows, each once, in their order; all of them where they are a few values, again and again.

    Rows that are presented several times over would otherwise be clusters of their own.

    Examples
    --------
    >>> distinct_rows(np.array([[2.0], [1.0], [2.0]]), values=1)
    array([[2.],
           [1.]])
    """
    first: Labels = np.sort(np.unique(rows, axis=0, return_index=True)[1])
    return rows if len(first) <= min(values, max(2, len(rows) // 10)) else rows[first]


def joined(rows: Array, distances: Array, centers: Array) -> Joining:
    """Join centers step by step, and see how well the groups stand apart on the rows.

    Each center begins with the rows nearest to it. The two groups whose union adds least to the scatter are
    joined (Ward 1963), again and again. How well groups stand apart is told by the mean silhouette
    (Rousseeuw 1987): 1 at best, 0 where they touch everywhere.

    Parameters
    ----------
    rows : (n, D)
    distances : (n, n), between them
    centers : (k, D)

    Examples
    --------
    >>> rows = np.array([[0.0], [1.0], [10.0], [11.0], [12.0]])
    >>> found = joined(rows, abs(rows - rows.T), rows[:4])
    >>> found.groups(2)
    array([0, 0, 1, 1])
    >>> found.silhouettes_of(4).round(2)
    array([-1.  , -1.  ,  0.89,  0.46,  0.1 ])
    """
    used, label = np.unique(nearest(centers, rows), return_inverse=True)
    places = np.ascontiguousarray(centers[used])
    gaps = native.squared_distances(places, places)
    return Joining(used, label, *_core.join_groups(distances, label, gaps))


def valley(rows: Array, label: Labels) -> float:
    """How many rows lie midway between a cluster and its nearest neighbour, for each that lies at a center.

    Along the line between the two centers; of both centers, the one with fewer rows. Summed over all
    clusters: well below 1 where they are separate, 1 or more where they are parts of one heap.

    Examples
    --------
    >>> valley(np.array([[0.0], [0.1], [0.2], [3.0], [3.1], [3.2]]), np.array([0, 0, 0, 1, 1, 1]))
    0.0
    """
    count = int(label.max(initial=-1)) + 1
    if count < 2:
        return 1.0
    places = means_of(rows, label, count)[0]
    gaps = native.squared_distances(places, places)
    np.fill_diagonal(gaps, np.inf)
    midway = beside = 0
    for one, other in enumerate(gaps.argmin(axis=1)):
        line = places[other] - places[one]
        along = (rows[(label == one) | (label == other)] - places[one]) @ line / gaps[one, other]
        low, middle, high = ((abs(along - at) < BAND).sum() for at in (0.0, 0.5, 1.0))
        midway, beside = midway + int(middle), beside + int(min(low, high))
    return midway / max(beside, 1)


def of_a_cloud(rows: Array, centers: int, random: np.random.Generator) -> float:
    """The silhouette of as many rows of a normal distribution of the same shape: what no structure gives.

    The shape is that of all rows together, however they are turned: the variances along its axes.
    """
    variances = np.maximum(np.linalg.eigvalsh(np.atleast_2d(np.cov(rows, rowvar=False))), 0)
    cloud = random.normal(size=(len(rows), len(variances))) * np.sqrt(variances)
    squared = native.squared_distances(cloud, cloud)
    places = means(cloud, centers, float(squared.mean()), random)
    return max(joined(cloud, np.sqrt(squared), places).silhouettes)
