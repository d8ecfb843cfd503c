"""Neurons that are moved to where samples need them, in NumPy: the specification.

Numbers in brackets are those of docs/algorithm.md. One neuron is divided into two if that increases the
likelihood of the rows by more than it costs to merge two others into one.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]  # float64
Indices = NDArray[np.int64]

LEAST_ROWS = 2  # of each of two parts
ROUNDS = 2  # of k-means with two centers
POWERS = 3  # rounds of the power method


@dataclass
class _Part:
    """A Gaussian for some rows."""

    rows: Indices
    center: Array  # (D,)
    width: float
    cost: float  # minus the log-density of the rows


def relocate(
    centers: Array,
    widths: Array,
    counts: Array,
    groups: Indices,
    resting: NDArray[np.bool_],
    rows: Array,
    winners: Indices,
    background: Array,
    margin: float,
) -> tuple[Array, Array, Array, Indices]:
    """Split and merge neurons while that gains more than `margin` nats [25].

    Parameters
    ----------
    centers : (K, D)
    widths : (K,)
    counts : (K,), samples that each neuron represents; a merge with one that represents none costs nothing
    groups : (K,), only neurons of one group are merged
    resting : (K,), neurons that stay as they are: another one takes the rows that such a neuron wins
    rows : (n, D)
    winners : (n,), the neuron of each row, or -1
    background : (n,), minus the log-density of a row that has no neuron
    margin : nats

    Returns
    -------
    centers, widths, counts, origins : origins (K,) are the old indices, -1 for a neuron at another place

    Examples
    --------
    The first neuron wins two clusters, the other two share a third one:

    >>> rows = np.array([[0.0], [1.0], [20.0], [21.0], [50.0], [51.0], [52.0], [53.0]])
    >>> winners = np.array([0, 0, 0, 0, 1, 1, 2, 2])
    >>> start = np.array([[10.0], [50.5], [52.5]]), np.array([200.0, 1.0, 1.0]), np.array([4.0, 2.0, 2.0])
    >>> found = relocate(*start, np.zeros(3, int), np.zeros(3, bool), rows, winners, np.zeros(8), 0.0)
    >>> found[0].ravel(), found[3]
    (array([ 0.5, 51.5, 20.5]), array([ 0,  1, -1]))
    """
    centers, widths, counts, groups = centers.copy(), widths.copy(), counts.copy(), groups.copy()
    rests = resting.copy()
    count = len(centers)
    origins = np.arange(count)
    cells = [np.flatnonzero(winners == i) for i in range(count)]
    splits = [_split(i, centers, widths, rests, rows, cells) for i in range(count)]
    splits.append(_claim(widths, rows, np.flatnonzero(winners < 0), background))
    for _ in range(count):
        one = int(np.argmax([gain for gain, _ in splits]))
        losses = _losses(centers, widths, counts, groups)
        if one < count:
            losses[one], losses[:, one] = np.inf, np.inf
        keeper, freed = divmod(int(losses.argmin()), count)
        if not splits[one][0] - losses[keeper, freed] > margin:
            break
        if counts[freed] > counts[keeper]:
            keeper, freed = freed, keeper
        if counts[freed] > 0:
            widths[keeper] = _joint_widths(centers, widths, counts)[keeper, freed]
            weight = counts[freed] / (counts[keeper] + counts[freed])
            centers[keeper] += weight * (centers[freed] - centers[keeper])
            counts[keeper] += counts[freed]
        cells[keeper] = np.append(cells[keeper], cells[freed])
        parts = splits[one][1]
        places = (one, freed)[-len(parts) :]
        if one < count:
            cells[one] = cells[one][:0]
        for i, part in zip(places, parts, strict=True):
            centers[i], widths[i], counts[i], cells[i] = part.center, part.width, len(part.rows), part.rows
        origins[freed] = groups[freed] = -1
        rests[freed] = False
        if one == count:
            splits[count] = (-np.inf, ())
        for i in {keeper, freed, *{one} - {count}}:
            splits[i] = _split(i, centers, widths, rests, rows, cells)
    return centers, widths, counts, origins


def _split(
    i: int, centers: Array, widths: Array, rests: NDArray[np.bool_], rows: Array, cells: list[Indices]
) -> tuple[float, tuple[_Part, ...]]:
    """What two neurons instead of one gain, and these; the first is nearer to the old center.

    If the neuron rests: what another one gains that takes the rows of its cell.
    """
    cell = cells[i]
    if len(cell) < (1 if rests[i] else 2) * LEAST_ROWS:
        return -np.inf, ()
    own = rows[cell]
    now = ((own - centers[i]) ** 2).sum() / widths[i] + len(cell) * own.shape[1] / 2 * np.log(widths[i])
    if rests[i]:
        part = _fit(rows, cell, widths[i])
        return float(now - part.cost), (part,)
    centered = own - own.mean(axis=0)
    axis = centered[(centered**2).sum(axis=1).argmax()]
    for _ in range(POWERS):
        axis = ((centered @ axis)[:, None] * centered).sum(axis=0)
        length = np.sqrt((axis**2).sum())
        if not 0 < length < np.inf:
            return -np.inf, ()
        axis = axis / length
    side = centered @ axis > 0
    for _ in range(ROUNDS + 1):
        if min(side.sum(), (~side).sum()) < LEAST_ROWS:
            return -np.inf, ()
        parts = [_fit(rows, cell[which], widths[i]) for which in (side, ~side)]
        apart = [((own - part.center) ** 2).sum(axis=1) for part in parts]
        side = apart[0] < apart[1]
    parts.sort(key=lambda part: ((part.center - centers[i]) ** 2).sum())
    return float(now - sum(part.cost for part in parts)), tuple(parts)


def _claim(
    widths: Array, rows: Array, unclaimed: Indices, background: Array
) -> tuple[float, tuple[_Part, ...]]:
    """What a neuron on the rows that have none gains, and that neuron."""
    if len(unclaimed) < LEAST_ROWS:
        return -np.inf, ()
    part = _fit(rows, unclaimed, float(np.sort(widths)[len(widths) // 2]))
    return float(background[unclaimed].sum() - part.cost), (part,)


def _fit(rows: Array, which: Indices, width: float) -> _Part:
    """One Gaussian for the rows; one more row counts that has the given width."""
    own = rows[which]
    center = own.mean(axis=0)
    scatter, columns = ((own - center) ** 2).sum(), own.shape[1]
    fitted = (2 * scatter / columns + width) / (len(own) + 1)
    return _Part(which, center, fitted, scatter / fitted + len(own) * columns / 2 * np.log(fitted))


def _joint_widths(centers: Array, widths: Array, counts: Array) -> Array:
    """The width of one Gaussian in place of two, for every pair, (K, K)."""
    all_counts = np.maximum(counts[:, None] + counts, 1e-300)
    one, other = counts[:, None] / all_counts, counts / all_counts
    squared = ((centers[:, None] - centers) ** 2).sum(axis=2)
    joint: Array = one * widths[:, None] + other * widths + 2 * one * other / centers.shape[1] * squared
    return joint


def _losses(centers: Array, widths: Array, counts: Array, groups: Indices) -> Array:
    """What one Gaussian in place of two loses, for every pair, (K, K)."""
    half = centers.shape[1] / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        together = (counts[:, None] + counts) * np.log(_joint_widths(centers, widths, counts))
        apart = counts * np.log(widths)
        losses: Array = half * (together - apart[:, None] - apart)
    losses[groups[:, None] != groups] = np.inf
    losses[(counts == 0)[:, None] | (counts == 0)] = 0.0
    np.fill_diagonal(losses, np.inf)
    return losses
