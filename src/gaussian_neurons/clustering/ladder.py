"""Layers of several widths that learn side by side, and the choice of the one that gives the clusters.

docs/any-data.md has the reasons and the measurements.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gaussian_neurons.base.interrupts import interruption_point
from gaussian_neurons.base.memory_maps import NUMBERS_AT_ONCE, row_blocks
from gaussian_neurons.clustering.diagnosis import Winning, winning
from gaussian_neurons.clustering.grouping import (
    Joining,
    distinct_rows,
    join_centers,
    of_a_cloud,
    valley,
    variances_of,
)
from gaussian_neurons.learning.neurons import NOTHING_HELD, Neurons
from gaussian_neurons.learning.responses import (
    FINEST,
    below_overflow,
    checked_scale,
    least_width,
    nearest,
    squared_distances,
    strongest,
)
from gaussian_neurons.learning.starts import means, means_of, neurons_at

Array = NDArray[Any]
Labels = NDArray[np.int64]
Teach = Callable[["Layer", Array], "Layer"]

RUNGS = 5  # layers
RATIO = 4.0  # between the widths of neighbouring layers
WIDEST = 0.5  # width of the first layer, as a part of the typical squared distance between samples
RATE = 0.1  # learning rate in units of the width, for the typical response
LARGEST_RATE = 1.0  # the largest such rate: a step ends on the sample for a response of 1
PAIRED = 150  # rows whose distances give the typical one
LOOKED_AT = 500  # rows of which silhouettes are computed
AS_GOOD = 0.97  # a wider layer is preferred if its silhouette is at least this part of the best
VALLEY = 0.4  # `valley` below which clusters are separate ...
ROWS_OF_A_CLUSTER = 20  # ... if each has at least this many rows
HEAP = 1.5  # `valley` above which they are parts of one cluster
CLOUDS = 3  # normal distributions that clusters are compared with otherwise
CLOUD_CENTERS = 50
STRUCTURE = 1.05  # least silhouette of several clusters, as a multiple of the mean of those ...
CHANCE = 0.25  # ... plus this times the root of clusters per row
LEAST_SHARE = 0.01  # least share of the samples of a cluster ...
LEAST_SHARE_OF_EQUAL = 0.5  # ... as a part of 1/K if K is large; of 1/count for sparse clusters
SPARSE = 2.0  # a sparse cluster scatters more than this many times the typical scatter
OUT_OF_REACH = 0.01  # a sample is out of reach if all responses are below this part of the typical one
SHIFT = 0.75  # the widths move if the widest is off by more than this many steps of RATIO


class Layer(NamedTuple):
    """Neurons, and what "auto" stands for in their rule."""

    neurons: Neurons
    inhibition: float  # for inhibition="auto"
    learning_rate: float  # for learning_rate="auto"


class Choice(NamedTuple):
    """The layer that gives the clusters, and which of its neurons belong together."""

    layer: int
    group: Labels  # (K,) of each neuron, -1 for those that learned nothing
    share: Array  # (K,) of the samples that each neuron wins
    cloud: float | None  # the silhouette without structure, if it was needed


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
def _pairs(count: int) -> tuple[Labels, Labels]:
    """Indices of the pairs of so many rows."""
    first, second = np.triu_indices(count, 1)
    return first, second


def thinned(rows: Array, most: int) -> Array:
    """At most so many of the rows, in their order: drawn at random, since a stream may be periodic."""
    if len(rows) <= most:
        return rows
    return rows[np.sort(np.random.default_rng(0).permutation(len(rows))[:most])]


def widths_for(samples: Array) -> Array:
    """A width for each layer, the widest first, (RUNGS,)."""
    typical = typical_distance(samples)
    scale = 1.0 if typical is None else checked_scale(typical, samples.dtype)
    widths: Array = WIDEST * scale / RATIO ** np.arange(RUNGS)
    return widths


def layer_at(centers: Array, width: float, recent: Array, born: int = 0) -> Layer:
    """A layer with the rates that suit the samples."""
    neurons = neurons_at(centers, np.full(len(centers), width), recent.dtype.type, born)
    return tuned(neurons, winning(neurons, recent).typical)


def tuned(neurons: Neurons, typical: float) -> Layer:
    """Neurons with inhibition and rate relative to the typical response of a winner.

    Attraction and repulsion then have the same proportion in any number of dimensions. The rate never takes a
    neuron beyond the sample.
    """
    relative = min(RATE / typical, LARGEST_RATE) if typical > 0 else LARGEST_RATE
    return Layer(neurons, inhibition=typical, learning_rate=relative * float(neurons.widths[0]))


class Review(NamedTuple):
    """What a review found."""

    layers: tuple[Layer, ...]
    choice: Choice
    before: Neurons  # of the layer that answered before the review, as it is now
    at: int | None  # which of the layers that is, None if it was dropped


def review(
    layers: Sequence[Layer],
    answering: int,
    recent: Array,
    teach: Teach,
    random: np.random.Generator,
    cloud: float | None = None,
) -> Review:
    """Adapt all layers to the recent samples, and choose the one that answers.

    Parameters
    ----------
    layers : the widest first
    answering : the index of the layer that answered so far
    recent : (n, D), recent samples
    teach : a function that gives a layer after learning from rows
    random : source of randomness
    cloud : the silhouette without structure, if it was computed before
    """
    shifted = shift(layers, recent, teach, random)
    at = next((k for k, layer in enumerate(shifted) if layer is layers[answering]), None)
    won = [winning(layer.neurons, recent) for layer in shifted]
    renewed = tuple(
        tuned(revived(layer.neurons, recent, mine, random), mine.typical)
        for layer, mine in zip(shifted, won, strict=True)
    )
    before = (layers[answering] if at is None else renewed[at]).neurons
    return Review(renewed, choose(renewed, won, recent, random, cloud), before, at)


def choose(
    layers: Sequence[Layer],
    won: Sequence[Winning],
    recent: Array,
    random: np.random.Generator,
    cloud: float | None = None,
) -> Choice:
    """Choose the number of clusters with the best silhouette in any layer, and the widest layer that has it.

    It is one cluster if there is no valley between the clusters and they are no better separated than those
    of a normal distribution: the idea of SigClust (Liu, Hayes, Nobel, Marron 2008).
    """
    neurons = len(layers[0].neurons)
    rows = thinned(distinct_rows(recent, neurons), LOOKED_AT).astype(np.float64)
    with np.errstate(over="ignore"):
        distances = np.sqrt(squared_distances(rows, rows))
    if np.isinf(distances.max(initial=0.0)):  # leave out outliers whose squared distances overflow
        near = np.isfinite(distances).mean(axis=1) > 0.5
        rows, distances = rows[near], np.ascontiguousarray(distances[near][:, near])
    nothing = np.full(neurons + 1, -1.0)
    found: list[Joining | None] = []
    for layer, mine in zip(layers, won, strict=True):
        places = layer.neurons.centers[mine.held].astype(np.float64)
        found.append(join_centers(rows, distances, places) if len(places) else None)
    by_layer = [nothing if it is None else it.silhouettes_of(neurons) for it in found]
    silhouettes = np.array(by_layer)  # (L, K + 1)
    count = int(silhouettes.max(axis=0).argmax())
    of_count = silhouettes[:, count]
    best = found[int(of_count.argmax())]
    at = int(np.argmax(of_count >= AS_GOOD * of_count.max()))
    separate = best is not None and of_count.max() > 0 and has_valleys(rows, best, count)
    if separate is None:
        centers = min(neurons, CLOUD_CENTERS)
        clouds = [cloud] * (CLOUDS - 1) if cloud is not None else []  # the earlier one counts as well
        variances = variances_of(rows, distances)
        clouds += [of_a_cloud(len(rows), variances, centers, random) for _ in range(CLOUDS - len(clouds))]
        cloud = float(np.mean(clouds))
        separate = of_count.max() > STRUCTURE * cloud + CHANCE * np.sqrt(count / len(rows))
    if not separate:
        at, count = next((k for k, mine in enumerate(won) if mine.held.any()), 0), 1
    return Choice(at, _groups(layers[at].neurons, won[at], found[at], count, recent), won[at].share, cloud)


def _groups(neurons: Neurons, won: Winning, found: Joining | None, count: int, recent: Array) -> Labels:
    """The group of each neuron, (K,); a neuron without a nearest row has that of the nearest neuron."""
    group = np.full(len(neurons), -1)
    held = np.flatnonzero(won.held)
    if found is not None and len(held):
        centers = neurons.centers[held]
        nearest_used = nearest(centers, np.ascontiguousarray(centers[found.used]))
        group[held] = found.groups(count)[nearest_used]
    return without_noise(group, neurons, recent)


def without_noise(group: Labels, neurons: Neurons, recent: Array) -> Labels:
    """The groups without those that may be noise: very small, or small and sparse.

    The largest group always stays.
    """
    grouped = group >= 0
    if not grouped.any():
        return group
    winner = strongest(recent, neurons.centers[grouped], neurons.widths[grouped])[0]
    label = group[grouped][winner]
    rows = recent.astype(np.float64)
    places, size = means_of(rows, label, int(group.max()) + 1)
    share = size / len(rows)
    apart = np.empty(len(rows))
    for begin, some in row_blocks(rows, NUMBERS_AT_ONCE // rows.shape[1] + 1):
        interruption_point()
        block = slice(begin, begin + len(some))
        with np.errstate(over="ignore"):
            apart[block] = ((some - places[label[block]]) ** 2).sum(axis=1)
    scatter = np.bincount(label, apart, minlength=len(size)) / np.maximum(size, 1)
    least = min(LEAST_SHARE, LEAST_SHARE_OF_EQUAL / len(group))
    sparse = scatter > SPARSE * np.median(scatter[label])
    noise = (share < least) | (sparse & (share < LEAST_SHARE_OF_EQUAL / len(share)))
    noise[share.argmax()] = False
    return np.where(grouped & ~noise[group], group, -1)


def has_valleys(rows: Array, found: Joining, count: int) -> bool | None:
    """Whether clusters are separate, by the rows between them; None if these do not decide."""
    for groups in (count, 2):
        label = found.groups(groups)[found.label]
        if np.bincount(label).min() >= ROWS_OF_A_CLUSTER and valley(rows, label) < VALLEY:
            return True
    return False if valley(rows, found.groups(count)[found.label]) > HEAP else None


def revived(neurons: Neurons, recent: Array, won: Winning, random: np.random.Generator) -> Neurons:
    """The neurons, with idle ones placed on samples out of reach of the others, if there are enough."""
    least = np.log(OUT_OF_REACH * max(won.typical, float(np.finfo(np.float64).tiny)))
    out = recent[won.log_response < least]
    for k in np.flatnonzero(~won.held):
        if len(out) < won.enough * len(recent):
            break
        place = out[random.integers(len(out))]
        neurons = neurons.with_rows(
            np.array([k]), centers=place, start=place, born=neurons.seen, **NOTHING_HELD
        )
        with np.errstate(over="ignore"):
            out = out[strongest(out, neurons.centers[[k]], neurons.widths[[k]])[1] < least]
    return neurons


def shift(
    layers: Sequence[Layer], recent: Array, teach: Teach, random: np.random.Generator
) -> tuple[Layer, ...]:
    """Drop a layer at one end and start one at the other if the distances between samples changed much."""
    typical = typical_distance(recent)
    if typical is None:
        return tuple(layers)  # equal samples have no distances
    wanted = WIDEST * max(typical, FINEST * least_width(recent.dtype))  # closer samples count as equal
    moved = tuple(layers)
    count, seen = len(layers[0].neurons), layers[0].neurons.seen
    while abs(steps_off := np.log(wanted / float(moved[0].neurons.widths[0])) / np.log(RATIO)) > SHIFT:
        wider = steps_off > 0
        beside = moved[0] if wider else moved[-1]
        width = float(beside.neurons.widths[0]) * (RATIO if wider else 1 / RATIO)
        places = means(recent.astype(np.float64), count, width / WIDEST, random)
        layer = teach(layer_at(places, width, recent, born=seen), recent)  # to show what it can hold
        layer = layer._replace(neurons=replace(layer.neurons, seen=seen))
        moved = (layer, *moved[:-1]) if wider else (*moved[1:], layer)
    return moved
