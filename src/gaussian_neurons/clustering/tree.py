"""From neurons to clusters: a tree in which neurons are merged, and where it is cut.

docs/any-data.md has the reasons and the measurements.
"""

from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gaussian_neurons import _core
from gaussian_neurons.base.interrupts import interruption_point
from gaussian_neurons.clustering.diagnosis import least_share
from gaussian_neurons.learning.neurons import Neurons
from gaussian_neurons.learning.relocation import MARGIN
from gaussian_neurons.learning.responses import log_response_blocks, squared_distances, strongest

Array = NDArray[Any]
Labels = NDArray[np.int64]

SHAPES = ("compact", "any")
SOFTNESS = 4.0  # clusters of any shape: log-responses are divided by this before neurons are compared
LEAST_PART = 0.04  # ... and a cluster has at least this part of the samples, or that of two neurons if K > 50
SMALLEST = 0.01  # least part of the samples of a cluster, or half of 1/K if K > 50
REPRESENTED = 100  # samples that a neuron represents; at the rate r it averages over about 2 / r
AXES = 4.0  # directions that count for the parameters of a cluster, for each axis of the centers
FEW = 4.0  # background noise counts this many times, as long as it is a small part of the samples
FEW_ROWS = 10  # a sensor stands still if at most this many different rows are half of the samples
TINY = 1e-12  # the least overlap of two neurons


@dataclass(frozen=True, eq=False)
class Tree:
    """Neurons that win samples, connected by edges. Without some of them, connected neurons are a cluster."""

    used: Labels  # (k,) the neurons that win samples
    edges: Labels  # (k - 1, 2) indices into `used`, in the order in which they connect groups
    heights: Array  # (k - 1,) how far apart the two groups of an edge are
    cuts: Labels  # (m,) edges in the order in which they are removed: the first n - 1 give n clusters
    scores: Array  # (m + 1,) of 1, 2, ..., m + 1 clusters: the larger, the better
    compact: bool  # groups are Gaussians, or of any shape
    chosen: Labels  # (k,) the groups to use: the best, or those known before if they are nearly as good

    @property
    def best(self) -> int:
        """The number of clusters with the largest score."""
        return int(np.argmax(self.scores)) + 1

    def groups(self, count: int) -> Labels:
        """The group of each used neuron if there are `count` groups, or as many as there can be."""
        removed = set(self.cuts[: max(count, 1) - 1].tolist())
        group = np.arange(len(self.used))
        for number, (one, other) in enumerate(self.edges):
            if number not in removed:
                group[group == group[other]] = group[one]
        return np.unique(group, return_inverse=True)[1]

    def linkage(self) -> Array:
        """The tree as a matrix (k - 1, 4) for scipy.cluster.hierarchy: groups, height, number of neurons."""
        count = len(self.used)
        node, size = np.arange(count), np.ones(2 * count - 1)
        rows = np.empty((count - 1, 4))
        heights = np.maximum.accumulate(self.heights - min(self.heights.min(initial=0.0), 0.0))
        for number, (one, other) in enumerate(self.edges):
            a, b = sorted((node[one], node[other]))
            size[count + number] = size[a] + size[b]
            rows[number] = a, b, heights[number], size[count + number]
            node[(node == a) | (node == b)] = count + number
        return rows


def distinct_rows(rows: Array, values: int) -> Array:
    """The distinct rows in their order; all rows if they are only a few values, repeated.

    Rows that are presented several times are no further evidence.

    Examples
    --------
    >>> distinct_rows(np.array([[2.0], [1.0], [2.0]]), values=1)
    array([[2.],
           [1.]])
    """
    if len(rows) and len(np.unique(rows[:, 0])) == len(rows):
        return rows
    found: dict[bytes, int] = {}
    for k, row in enumerate(rows + 0.0):  # -0.0 becomes 0.0
        found.setdefault(row.tobytes(), k)
    few = len(found) <= min(values, max(2, len(rows) // 10))
    return rows if few or len(found) == len(rows) else rows[list(found.values())]


def mostly_repeated(rows: Array) -> bool:
    """Whether at most ten rows, repeated, are at least half of all, as those of a sensor that stands still.

    Examples
    --------
    >>> rows = np.array([[1.0], [1.0], [2.0], [3.0]] * 5)
    >>> mostly_repeated(rows), mostly_repeated(np.arange(42.0)[:, None] % 21)
    (True, False)
    """
    half = len(rows) / 2
    if np.sort(np.unique(rows[:, 0], return_counts=True)[1])[-FEW_ROWS:].sum() < half:
        return False
    counts = Counter(row.tobytes() for row in rows + 0.0)
    return len(counts) < len(rows) and sum(count for _, count in counts.most_common(FEW_ROWS)) >= half


def within_range(rows: Array) -> NDArray[np.bool_]:
    """Which rows are near enough to the others that sums of squared distances are finite."""
    if not len(rows):
        return np.zeros(0, bool)
    farthest = np.sqrt(np.finfo(np.float64).max / rows.size) / 4
    if max(abs(float(rows.max())), abs(float(rows.min()))) < farthest / 2:
        return np.ones(len(rows), bool)
    wide = rows.astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        apart = np.abs(wide - np.median(wide, axis=0)).max(axis=1, initial=0.0)
    near: NDArray[np.bool_] = apart < farthest
    return near


def evident_rows(recent: Array, neurons: int) -> Array:
    """The recent samples that count as evidence: distinct, and not so far away that numbers overflow."""
    return distinct_rows(recent[within_range(recent)], neurons)


def tree_of(neurons: Neurons, recent: Array, shape: str, known: Labels | None = None) -> Tree | None:
    """The tree of the neurons that win recent samples and do not rest; None if there are no such samples.

    Parameters
    ----------
    neurons : Neurons that share samples
    recent : (n, D)
    shape : one of SHAPES
    known : (K,), the group of each neuron at the last review, -1 for none
    """
    rows = evident_rows(recent, len(neurons))
    winner = strongest(rows, neurons.centers, neurons.widths, shared=True)[0]
    used, counts = np.unique(winner[~neurons.resting[winner]], return_counts=True)
    if not len(used):
        return None
    evidence = len(rows)
    if evidence == len(recent):  # no row repeats: neurons represent more samples than these
        evidence = max(evidence, min(neurons.seen, REPRESENTED * len(neurons)))
    compact = _compact(neurons, used, counts * (evidence / len(rows)), known)
    if shape == "compact" or len(used) < 3 or compact.best == 1:
        return compact
    return _any(neurons, used, counts, rows)


def _compact(neurons: Neurons, used: Labels, counts: Array, known: Labels | None) -> Tree:
    """Merge the two Gaussians whose union loses least of the log-evidence, again and again [24]."""
    centers = neurons.centers[used].astype(np.float64)
    directions = _directions(centers, counts)
    given = centers, neurons.widths[used].astype(np.float64) / 2, counts, directions
    first, second, costs = _core.merge_gaussians(*given)
    edges = np.array([first, second], np.int64).T.reshape(-1, 2)
    heights, cuts = np.array(costs), np.arange(len(edges))[::-1]
    scores = np.append(0.0, np.cumsum(heights[::-1]))
    tree = Tree(used, edges, heights, cuts, scores, True, np.zeros(len(used), np.int64))
    groups = tree.groups(tree.best) if known is None else _attached(neurons, used, known)
    parameters = (2 * directions + 1) / 2 * float(np.log(counts.sum()))
    _core.refine_groups(*given, 0.0 if known is None else MARGIN * parameters, groups)
    return replace(tree, chosen=_without_halos(*given[:3], groups))


def _without_halos(centers: Array, variances: Array, counts: Array, groups: Labels) -> Labels:
    """The groups, from 0, after halos were joined with their cores [34].

    A cluster with heavy tails is a core and a wider halo around it: two Gaussians, but one cluster. The ball
    of a group has the root of the mean squared distance of its samples from its center as the radius. Two
    groups are joined if one ball lies within the other and contains its center, the nearest two first.
    """
    groups = np.unique(groups, return_inverse=True)[1]
    while (count := groups.max() + 1) > 1:
        weight = counts / np.bincount(groups, counts)[groups]
        middle = np.zeros((count, centers.shape[1]))
        np.add.at(middle, groups, weight[:, None] * centers)
        with np.errstate(over="ignore", invalid="ignore"):
            squared = variances * centers.shape[1] + ((centers - middle[groups]) ** 2).sum(axis=1)
            radius = np.sqrt(np.bincount(groups, weight * squared))
            narrow, wide = np.minimum(radius[:, None], radius), np.maximum(radius[:, None], radius)
            apart = np.sqrt(squared_distances(middle, middle)) / narrow
            apart[~(apart < np.minimum(wide / narrow - 1, 1))] = np.inf
        one, other = divmod(int(apart.argmin()), count)
        if apart[one, other] == np.inf:
            break
        groups[groups == other] = one
        groups = np.unique(groups, return_inverse=True)[1]
    return groups


def _attached(neurons: Neurons, used: Labels, known: Labels | None) -> Labels:
    """The known groups of the used neurons, from 0; a neuron without one has that of the nearest with one."""
    group = np.full(len(used), -1) if known is None else known[used].copy()
    new = group < 0
    if new.all():
        return np.zeros(len(used), np.int64)
    with_group, widths = used[~new], neurons.widths
    near = strongest(
        neurons.centers[used[new]], neurons.centers[with_group], widths[with_group], shared=True
    )[0]
    group[new] = group[~new][near]
    found: Labels = np.unique(group, return_inverse=True)[1]
    return found


def _directions(centers: Array, counts: Array) -> float:
    """How many directions count for the parameters of a cluster: D, or fewer if centers differ in few.

    The participation ratio (sum of the variances)^2 / sum of their squares, along the principal axes of the
    centers, is the number of axes if they are equal; four times that is the limit.
    """
    part = counts / counts.sum()
    centered = (centers - np.einsum("i,id->d", part, centers)) * np.sqrt(part)[:, None]
    largest = np.abs(centered).max(initial=0.0)  # squares could overflow
    if largest == 0:
        return float(centers.shape[1])
    products = np.einsum("id,jd->ij", centered / largest, centered / largest)
    ratio = np.trace(products) ** 2 / (products**2).sum()
    return float(min(centers.shape[1], AXES * ratio))


def _any(neurons: Neurons, used: Labels, counts: Labels, rows: Array) -> Tree:
    """Connect each neuron with those that respond to the same samples: a minimum spanning tree.

    The distance of two neurons is minus the logarithm of the overlap of their softened shares. Only edges
    between two large groups count; the largest gap between their heights decides the number of clusters.
    """
    distances = -np.log(np.maximum(_overlaps(neurons, used, rows), TINY))
    edges, heights = _spanning_tree(distances)
    least = min(LEAST_PART, 2 / len(neurons)) * len(rows)
    group, size = np.arange(len(used)), counts.astype(np.float64)
    large = np.zeros(len(edges), bool)
    for number, (one, other) in enumerate(edges):
        a, b = group[one], group[other]
        large[number] = min(size[a], size[b]) >= least
        size[a] += size[b]
        group[group == b] = a
    cuts = np.flatnonzero(large)[::-1]
    gaps = heights[cuts] - np.append(heights[cuts[1:]], 0.0)
    if len(gaps) > 1 and heights[cuts[-1]] < -np.log(TINY):
        gaps[-1] = 0.0  # below it there is no other to compare with; but groups without any overlap are apart
    tree = Tree(used, edges, heights, cuts, np.append(0.0, gaps), False, np.zeros(len(used), np.int64))
    return replace(tree, chosen=tree.groups(tree.best))


def _overlaps(neurons: Neurons, used: Labels, rows: Array) -> Array:
    """sum_x s_i s_j / sqrt(sum_x s_i sum_x s_j) of the softened shares s, (k, k)."""
    centers, widths = neurons.centers[used], neurons.widths[used]
    offset = rows.shape[1] / 2 * np.log(widths.astype(np.float64))
    both, sums = np.zeros((len(used), len(used))), np.zeros(len(used))
    for _, logs in log_response_blocks(rows, centers, widths):
        interruption_point()
        density = logs[np.isfinite(logs).any(axis=1)] / SOFTNESS - offset
        share = np.exp(density - density.max(axis=1, keepdims=True))
        share /= share.sum(axis=1, keepdims=True)
        both += np.einsum("ni,nj->ij", share, share)  # no BLAS: its bits depend on threads
        sums += share.sum(axis=0)
    found: Array = both / np.sqrt(sums[:, None] * sums)
    return found


def _spanning_tree(distances: Array) -> tuple[Labels, Array]:
    """The edges of the minimum spanning tree, the shortest first, and their lengths (Prim)."""
    count = len(distances)
    near, nearest = distances[0].copy(), np.zeros(count, np.int64)
    outside = np.arange(count) > 0
    edges, heights = np.empty((count - 1, 2), np.int64), np.empty(count - 1)
    for number in range(count - 1):
        new = int(np.where(outside, near, np.inf).argmin())
        edges[number], heights[number] = (nearest[new], new), near[new]
        outside[new] = False
        closer = distances[new] < near
        near, nearest = np.where(closer, distances[new], near), np.where(closer, new, nearest)
    order = np.argsort(heights, kind="stable")
    return edges[order], heights[order]


def groups_of(tree: Tree, neurons: Neurons, count: int | None) -> Labels:
    """The group of each neuron, (K,), -1 for none: those chosen, or `count` groups."""
    group = np.full(len(neurons), -1)
    group[tree.used] = tree.chosen if count is None else tree.groups(count)
    return group


def without_noise(
    tree: Tree,
    neurons: Neurons,
    recent: Array,
    group: Labels,
    known: Labels,
    domain: tuple[Array, Array],
) -> Labels:
    """The groups, -1 for new ones that are too small, and for those that are no denser than noise.

    Of several parts of a cluster that was reported before, only the one that wins most is not new.

    Parameters
    ----------
    tree : Tree
    neurons : Neurons
    recent : (n, D), recent samples
    group : (K,), -1 for none
    known : (K,), the cluster of each neuron that was reported before, -1 for none
    domain : the corners of the box of the input, each (D,)
    """
    found = group[tree.used]
    winner = strongest(recent, neurons.centers[tree.used], neurons.widths[tree.used], shared=True)[0]
    label = found[winner]
    share = np.bincount(label, minlength=found.max() + 1) / len(recent)
    won, before = np.bincount(winner, minlength=len(found)), known[tree.used]
    old = np.zeros(len(share), bool)
    for number in np.unique(before[before >= 0]):
        old[np.bincount(found, won * (before == number)).argmax()] = True
    dropped = (share < least_part(neurons, len(recent))) & ~old
    if tree.compact:
        dropped |= _is_noise(recent.astype(np.float64), label, old, domain)
    if dropped.all():
        dropped[share.argmax()] = False
    return np.where((group >= 0) & ~dropped[group], group, -1)


def least_part(neurons: Neurons, rows: int) -> float:
    """The least part of the rows that a cluster wins."""
    return max(min(SMALLEST, 0.5 / len(neurons)), least_share(neurons, rows))


def _is_noise(
    rows: Array, label: Labels, old: NDArray[np.bool_], domain: tuple[Array, Array]
) -> NDArray[np.bool_]:
    """Which groups are no denser than noise that is spread evenly over the box of all rows, (groups,).

    A group and all sparser ones are noise if their share P of the rows, spread over the box, would be denser
    than the group is. The groups that noise is divided into differ, so up to a share of 1 / FEW the density
    of FEW times P counts, but at most that of 1 / FEW. A group that was reported before may be less dense by
    a factor of exp(sqrt(D)), about what its density varies by between reviews.
    """
    with np.errstate(over="ignore"):
        low = np.minimum(rows.min(axis=0), domain[0])
        box = np.maximum(rows.max(axis=0), domain[1]) - low
    varies = (box > 0) & np.isfinite(box)
    if not varies.any():
        return np.zeros(len(old), bool)
    in_groups = np.argsort(label, kind="stable")
    places = ((rows[:, varies] - low[varies]) / box[varies])[in_groups]
    counts = np.bincount(label, minlength=len(old))
    used = np.flatnonzero(counts)
    n, begins = counts[used][:, None], np.cumsum(counts)[used] - counts[used]
    off = places - np.repeat(np.add.reduceat(places, begins) / n, counts[used], axis=0)
    squares = np.add.reduceat(off * off, begins)
    variance = (squares + 1 / 12) / (n + 1)  # one more row is spread evenly
    density = np.full(len(old), np.inf)  # logarithms of densities; evenly spread rows have 0
    share = counts / len(rows)
    density[used] = np.log(share[used]) - np.log(2 * np.pi * np.e * variance).sum(axis=1) / 2
    order = np.argsort(density, kind="stable")
    sparse = np.log(np.maximum(np.cumsum(share[order]), 1 / len(rows)))
    enough = np.maximum(sparse, np.minimum(sparse + np.log(FEW), -np.log(FEW)))
    enough -= np.where(old[order], np.sqrt(varies.sum()), 0.0)
    noise = np.zeros(len(old), bool)
    noise[order[: np.max(np.flatnonzero(density[order] < enough), initial=-1) + 1]] = True
    return noise
