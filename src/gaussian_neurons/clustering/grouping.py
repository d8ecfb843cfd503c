"""Which neurons share a cluster, and how well the clusters are separated."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigvalsh_tridiagonal

from gaussian_neurons import _core
from gaussian_neurons.base.interrupts import interruption_point
from gaussian_neurons.learning.responses import nearest, squared_distances
from gaussian_neurons.learning.starts import means, means_of

Array = NDArray[Any]
Labels = NDArray[np.int64]

NEGLIGIBLE = 1e-140  # part of the largest number of a matrix, whose square underflows
BAND = 0.125  # half the width of a band across the line between two centers, as a part of its length


@dataclass(frozen=True)
class Joining:
    """A tree of centers: from one group for each center to two groups."""

    used: Labels  # centers to which a row is nearest; the others are in no group
    label: Labels  # (n,) of each row, an index into `used`
    first: list[int]  # at each step the second group is merged into the first
    second: list[int]
    silhouettes: list[float]  # mean silhouette before the first step and after each

    def silhouettes_of(self, most: int) -> Array:
        """The silhouette of each number of groups, 0 to most, (most + 1,); -1 if that number never occurs."""
        found = np.full(most + 1, -1.0)
        found[len(self.used) - np.arange(len(self.silhouettes))] = self.silhouettes
        found[:2] = -1.0
        return found

    def groups(self, count: int) -> Labels:
        """The group of each used center if there are `count` groups."""
        if count == 1:  # the tree ends with two
            return np.zeros(len(self.used), np.int64)
        group = np.arange(len(self.used))
        steps = len(self.used) - count
        for into, gone in zip(self.first[:steps], self.second[:steps], strict=True):
            group[group == gone] = into
        return np.unique(group, return_inverse=True)[1]


def distinct_rows(rows: Array, values: int) -> Array:
    """The distinct rows in their order; all rows if they are only a few values, repeated.

    Rows that are presented several times would otherwise form clusters.

    Examples
    --------
    >>> distinct_rows(np.array([[2.0], [1.0], [2.0]]), values=1)
    array([[2.],
           [1.]])
    """
    found: dict[bytes, int] = {}
    for k, row in enumerate(rows + 0.0):  # -0.0 becomes 0.0
        found.setdefault(row.tobytes(), k)
    few = len(found) <= min(values, max(2, len(rows) // 10))
    return rows if few else rows[list(found.values())]


def join_centers(rows: Array, distances: Array, centers: Array) -> Joining:
    """Merge centers step by step, and measure how well the groups separate the rows.

    Each center begins with the rows nearest to it. Each step merges the two groups whose union adds least to
    the scatter (Ward 1963). The measure is the mean silhouette (Rousseeuw 1987): 1 is best, 0 means that the
    groups touch everywhere.

    Parameters
    ----------
    rows : (n, D)
    distances : (n, n), between them
    centers : (k, D)

    Examples
    --------
    >>> rows = np.array([[0.0], [1.0], [10.0], [11.0], [12.0]])
    >>> found = join_centers(rows, abs(rows - rows.T), rows[:4])
    >>> found.groups(2)
    array([0, 0, 1, 1])
    >>> found.silhouettes_of(4).round(2)
    array([-1.  , -1.  ,  0.89,  0.46,  0.1 ])
    """
    used, label = np.unique(nearest(rows, centers), return_inverse=True)
    places = np.ascontiguousarray(centers[used])
    gaps = squared_distances(places, places)
    return Joining(used, label, *_core.join_groups(distances, label, gaps))


def valley(rows: Array, label: Labels) -> float:
    """Rows midway between a cluster and its nearest neighbour, divided by the rows at a center.

    Rows are counted along the line between the two centers; of the two centers, the one with fewer rows
    counts. Summed over all clusters: well below 1 if they are separate, 1 or more if they are parts of one
    cluster.

    Examples
    --------
    >>> valley(np.array([[0.0], [0.1], [0.2], [3.0], [3.1], [3.2]]), np.array([0, 0, 0, 1, 1, 1]))
    0.0
    """
    count = int(label.max(initial=-1)) + 1
    if count < 2:
        return 1.0
    places = means_of(rows, label, count)[0]
    gaps = squared_distances(places, places)
    np.fill_diagonal(gaps, np.inf)
    midway = beside = 0
    for one, other in enumerate(gaps.argmin(axis=1)):
        interruption_point()
        line = places[other] - places[one]
        both = rows[(label == one) | (label == other)] - places[one]
        along = np.einsum("nd,d->n", both, line) / gaps[one, other]  # no BLAS: its bits depend on threads
        low, middle, high = ((abs(along - at) < BAND).sum() for at in (0.0, 0.5, 1.0))
        midway, beside = midway + int(middle), beside + int(min(low, high))
    return midway / max(beside, 1)


def variances_of(rows: Array, distances: Array) -> Array:
    """The variances of the rows along their principal axes, (min(n, D),).

    They are the eigenvalues of the covariance matrix or, if there are more dimensions than rows, of the
    smaller matrix of the inner products of centered rows, which follows from the distances.

    Parameters
    ----------
    rows : (n, D)
    distances : (n, n), between them

    Examples
    --------
    >>> rows = np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 1.0], [3.0, 1.0]])
    >>> variances_of(rows, np.sqrt(squared_distances(rows, rows))).round(3)
    array([0.333, 3.   ])
    """
    count, dimensions = rows.shape
    if dimensions <= count:
        centered = rows - rows.mean(axis=0)
        products = np.einsum("ni,nj->ij", centered, centered)
    else:
        squared = distances**2
        means_of_rows = squared.mean(axis=0)
        products = (means_of_rows[:, None] + means_of_rows - squared - means_of_rows.mean()) / 2
    return np.maximum(eigenvalues(products / max(count - 1, 1)), 0)


def eigenvalues(matrix: Array) -> Array:
    """The eigenvalues of a symmetric matrix, increasing, with bits that do not depend on BLAS threads."""
    diagonal, off_diagonal = np.zeros(len(matrix)), np.zeros(len(matrix) - 1)
    largest = float(np.abs(matrix).max())  # squares of the numbers could overflow
    if largest > 0:
        scaled = matrix / largest
        scaled[np.abs(scaled) < NEGLIGIBLE] = 0.0
        _core.tridiagonal(scaled, diagonal, off_diagonal)
    if not len(off_diagonal):
        return diagonal * largest
    found: Array = eigvalsh_tridiagonal(diagonal, off_diagonal, lapack_driver="sterf")
    return found * largest


def of_a_cloud(count: int, variances: Array, centers: int, random: np.random.Generator) -> float:
    """The silhouette of `count` rows of one normal distribution: the value without structure.

    `variances` are those along its principal axes.
    """
    cloud = random.normal(size=(count, len(variances))) * np.sqrt(variances)
    squared = squared_distances(cloud, cloud)
    places = means(cloud, centers, float(squared.mean()), random)
    return max(join_centers(cloud, np.sqrt(squared), places).silhouettes)
