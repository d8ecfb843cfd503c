"""Layers side by side, each of another width, and which of them tells the clusters.

docs/any-data.md has the reasons and the measurements.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gaussian_neurons.base.bad_rows import BadRow
from gaussian_neurons.clustering.diagnosis import Winning, winning
from gaussian_neurons.clustering.grouping import (
    Joining,
    distinct_rows,
    joined,
    of_a_cloud,
    valley,
)
from gaussian_neurons.learning import native
from gaussian_neurons.learning.neurons import Neurons
from gaussian_neurons.learning.responses import nearest, strongest
from gaussian_neurons.learning.starts import means, means_of, neurons_at

Array = NDArray[Any]
Labels = NDArray[np.int64]
Teach = Callable[["Layer", Array], None]

RUNGS = 5  # layers
RATIO = 4.0  # between the widths of one and of the next
WIDEST = 0.5  # width of the first, as a part of the typical squared distance between samples
RATE = 0.1  # of a step, for the typical response
LARGEST_RATE = 1.0  # a step that ends on the sample, for the largest response
PAIRED = 150  # rows whose distances tell the typical one
LOOKED_AT = 500  # rows that silhouettes are taken of
AS_GOOD = 0.97  # a wider layer is preferred whose silhouette is at least this part of the best
VALLEY = 0.4  # rows between clusters for one at their centers, below which they are separate ...
ROWS_OF_A_CLUSTER = 20  # ... where there are so many of each
HEAP = 1.5  # the same, above which they are parts of one heap
CLOUDS = 3  # without structure, which clusters are compared to otherwise
CLOUD_CENTERS = 50
STRUCTURE = 1.05  # least silhouette of several clusters, as a multiple of the mean of those ...
CHANCE = 0.25  # ... and more where clusters have few rows: this times the root of clusters per row
LEAST_SHARE = 0.01  # of the samples, for a cluster to count ...
LEAST_SHARE_OF_EQUAL = 0.5  # ... and the same as a part of 1/K, where K is large; of sparse ones, of 1/count
SPARSE = 2.0  # times the typical squared distance from the center
OUT_OF_REACH = 0.01  # a sample to which all respond with less than this part of the typical response
SHIFT = 0.75  # of a step, by which the widest layer may be off before the ladder moves
WORK_AT_ONCE = 5e7  # products in a block of rows: some ten milliseconds


@dataclass
class Layer:
    """Neurons, and what "auto" stands for in their rule."""

    neurons: Neurons
    inhibition: float  # for inhibition="auto"
    learning_rate: float  # for learning_rate="auto"

    def copy(self) -> "Layer":
        """The same, sharing nothing."""
        return Layer(self.neurons.copy(), self.inhibition, self.learning_rate)


class Choice(NamedTuple):
    """The layer that tells the clusters, and which of its neurons belong together."""

    layer: int
    group: Labels  # (K,) of each neuron, -1 for those that have learned nothing
    share: Array  # (K,) of the samples, that each neuron wins
    cloud: float | None  # the silhouette of a cloud without structure, where it was asked for


def typical_distance(samples: Array) -> float | None:
    """The squared distance between two samples: the median, None where they are all the same.

    Examples
    --------
    >>> typical_distance(np.array([[0.0], [1.0], [3.0]]))
    4.0
    """
    rows = thinned(samples, PAIRED).astype(np.float64)
    with np.errstate(over="ignore"):
        squared = native.squared_distances(rows, rows)[np.triu_indices(len(rows), 1)]
    for some in (squared, squared[squared > 0]):  # the latter where most are equal
        if len(some) and np.isinf(np.median(some)):
            raise ValueError("the samples are so far apart that squared distances overflow. Scale the data.")
        if len(some) and np.median(some) > 0:
            least = float(np.finfo(samples.dtype).tiny) * RATIO**RUNGS / WIDEST  # for the narrowest layer
            return max(float(np.median(some)), least)
    return None


def thinned(rows: Array, most: int) -> Array:
    """At most so many of the rows, in their order: drawn at random, since a stream may have a rhythm."""
    if len(rows) <= most:
        return rows
    return rows[np.sort(np.random.default_rng(0).permutation(len(rows))[:most])]


def widths_for(samples: Array) -> Array:
    """A width for each layer, the widest first, (RUNGS,)."""
    typical = typical_distance(samples)
    if typical is None and (samples != samples[:1]).any():
        raise ValueError(
            "the samples differ by so little that squared distances are 0. Scale the data: multiply it by a "
            "large number."
        )
    widths: Array = WIDEST * (typical or 1.0) / RATIO ** np.arange(RUNGS)
    return widths


def layer_at(centers: Array, width: float, recent: Array, born: int = 0) -> Layer:
    """A layer with the rates that suit the samples."""
    layer = Layer(neurons_at(centers, np.full(len(centers), width), recent.dtype.type, born), 0.0, 0.0)
    tune(layer, winning(layer.neurons, recent).typical)
    return layer


def tune(layer: Layer, typical: float) -> None:
    """Inhibition and rate relative to the typical response of a winner.

    Then what pulls a neuron and what pushes it are in the same proportion in any number of dimensions. The
    rate never takes a neuron beyond the sample.
    """
    layer.inhibition = typical
    relative = min(RATE / typical, LARGEST_RATE) if typical > 0 else LARGEST_RATE
    layer.learning_rate = relative * float(layer.neurons.widths[0])


def steps(layers: Sequence[Layer], x: Array, rules: Sequence[dict[str, Any]]) -> Iterator[None]:
    """Let all layers learn from the rows, in blocks that take about 20 ms, each whole or not at all."""
    if len(layers) == 1:
        yield from native.steps(layers[0].neurons, x, **rules[0])
        return
    count, dimensions = layers[0].neurons.centers.shape
    at_once = max(1, int(WORK_AT_ONCE / (len(layers) * (count + 8) ** 2 * (dimensions + 8))))
    for begin in range(0, len(x), at_once):
        with _whole_or_not(layers):
            for layer, rule in zip(layers, rules, strict=True):
                try:
                    native.learn(layer.neurons, x[begin : begin + at_once], **rule)
                except BadRow as bad:
                    raise bad.later(begin) from None
        yield


@contextmanager
def _whole_or_not(layers: Sequence[Layer]) -> Iterator[None]:
    before = [layer.neurons.copy() for layer in layers]
    try:
        yield
    except BaseException:  # an alarm of the caller's own may come between two layers
        for layer, neurons in zip(layers, before, strict=True):
            layer.neurons = neurons
        raise


def review(
    layers: list[Layer], recent: Array, teach: Teach, random: np.random.Generator, cloud: float | None = None
) -> Choice:
    """Choose the layer that answers, and adjust all of them to the recent samples.

    Parameters
    ----------
    layers : the widest first; one may be exchanged for another
    recent : (n, D), recent samples
    teach : lets a layer learn from rows
    random : where randomness comes from
    cloud : the silhouette of a cloud without structure, if it was asked for not long ago
    """
    shift(layers, recent, teach, random)
    won = [winning(layer.neurons, recent) for layer in layers]
    for layer, mine in zip(layers, won, strict=True):
        tune(layer, mine.typical)
        revive(layer, recent, mine, random)
    return choose(layers, won, recent, random, cloud)


def choose(
    layers: Sequence[Layer],
    won: Sequence[Winning],
    recent: Array,
    random: np.random.Generator,
    cloud: float | None = None,
) -> Choice:
    """The number of clusters that stand apart best in any layer; of the layers that show it, the widest.

    One cluster, where there is no valley between them and they stand apart no better than those of a cloud
    without structure would: the idea of SigClust (Liu, Hayes, Nobel, Marron 2008).
    """
    neurons = len(layers[0].neurons)
    rows = thinned(distinct_rows(recent, neurons), LOOKED_AT).astype(np.float64)
    with np.errstate(over="ignore"):
        distances = np.sqrt(native.squared_distances(rows, rows))
    near = np.isfinite(distances).mean(axis=1) > 0.5  # not an outlier whose square is too large
    rows, distances = rows[near], np.ascontiguousarray(distances[near][:, near])
    nothing = np.full(neurons + 1, -1.0)
    found: list[Joining | None] = []
    for layer, mine in zip(layers, won, strict=True):
        places = layer.neurons.centers[mine.held].astype(np.float64)
        found.append(joined(rows, distances, places) if len(places) else None)
    by_layer = [nothing if it is None else it.silhouettes_of(neurons) for it in found]
    silhouettes = np.array(by_layer)  # (L, K + 1)
    count = int(silhouettes.max(axis=0).argmax())
    of_count = silhouettes[:, count]
    best = found[int(of_count.argmax())]
    at = int(np.argmax(of_count >= AS_GOOD * of_count.max()))
    separate = best is not None and of_count.max() > 0 and has_valleys(rows, best, count)
    if separate is None:
        centers = min(neurons, CLOUD_CENTERS)
        clouds = [cloud] * (CLOUDS - 1) if cloud is not None else []  # what was seen before counts as well
        clouds += [of_a_cloud(rows, centers, random) for _ in range(CLOUDS - len(clouds))]
        cloud = float(np.mean(clouds))
        separate = of_count.max() > STRUCTURE * cloud + CHANCE * np.sqrt(count / len(rows))
    if not separate:
        at, count = next((k for k, mine in enumerate(won) if mine.held.any()), 0), 1
    return Choice(at, _groups(layers[at].neurons, won[at], found[at], count, recent), won[at].share, cloud)


def _groups(neurons: Neurons, won: Winning, found: Joining | None, count: int, recent: Array) -> Labels:
    """The group of each neuron, (K,): that of the nearest one for those that no row was nearest to."""
    group = np.full(len(neurons), -1)
    held = np.flatnonzero(won.held)
    if found is not None and len(held):
        centers = neurons.centers[held]
        nearest_used = nearest(np.ascontiguousarray(centers[found.used]), centers)
        group[held] = found.groups(count)[nearest_used]
    return without_noise(group, neurons, recent)


def without_noise(group: Labels, neurons: Neurons, recent: Array) -> Labels:
    """Without groups that may be noise: they hold hardly any samples, or few that lie far apart.

    The largest stays in any case.
    """
    grouped = group >= 0
    if not grouped.any():
        return group
    winner = strongest(neurons.keep(grouped), recent)[0]
    label = group[grouped][winner]
    rows = recent.astype(np.float64)
    places, size = means_of(rows, label, int(group.max()) + 1)
    share = size / len(rows)
    with np.errstate(over="ignore"):
        apart = ((rows - places[label]) ** 2).sum(axis=1)
    scatter = np.bincount(label, apart, minlength=len(size)) / np.maximum(size, 1)
    least = min(LEAST_SHARE, LEAST_SHARE_OF_EQUAL / len(group))
    sparse = scatter > SPARSE * np.median(scatter[label])
    noise = (share < least) | (sparse & (share < LEAST_SHARE_OF_EQUAL / len(share)))
    noise[share.argmax()] = False
    return np.where(grouped & ~noise[group], group, -1)


def has_valleys(rows: Array, found: Joining, count: int) -> bool | None:
    """Whether clusters are separate, by the rows between them; None where these do not decide."""
    for groups in (count, 2):
        label = found.groups(groups)[found.label]
        if np.bincount(label).min() >= ROWS_OF_A_CLUSTER and valley(rows, label) < VALLEY:
            return True
    return False if valley(rows, found.groups(count)[found.label]) > HEAP else None


def revive(layer: Layer, recent: Array, won: Winning, random: np.random.Generator) -> None:
    """Place neurons that hold nothing on samples that are out of reach of the others, if there are enough."""
    neurons = layer.neurons
    reach = -np.log(OUT_OF_REACH * max(won.typical, float(np.finfo(np.float64).tiny)))
    out = recent[won.log_response < -reach]
    for k in np.flatnonzero(~won.held):
        if len(out) < won.enough * len(recent):
            return
        place = out[random.integers(len(out))]
        neurons.centers[k], neurons.start[k], neurons.held[k] = place, place, np.nan
        neurons.born[k] = neurons.seen[0]
        with np.errstate(over="ignore"):
            out = out[((out - place) ** 2).sum(axis=1) > reach * neurons.widths[0]]


def shift(layers: list[Layer], recent: Array, teach: Teach, random: np.random.Generator) -> None:
    """Take a layer away at one end and start one at the other, where samples lie far wider or closer now."""
    typical = typical_distance(recent)
    if typical is None:
        return  # samples that stand still tell nothing of widths
    wanted, moved = WIDEST * typical, list(layers)
    count, seen = len(layers[0].neurons), int(layers[0].neurons.seen[0])
    while abs(steps_off := np.log(wanted / float(moved[0].neurons.widths[0])) / np.log(RATIO)) > SHIFT:
        wider = steps_off > 0
        beside = moved[0] if wider else moved[-1]
        width = float(beside.neurons.widths[0]) * (RATIO if wider else 1 / RATIO)
        places = means(recent.astype(np.float64), count, width / WIDEST, random)
        layer = layer_at(places, width, recent, born=seen)
        teach(layer, recent)  # so that it shows what it can hold
        layer.neurons.seen[0] = seen
        moved = [layer, *moved[:-1]] if wider else [*moved[1:], layer]
    layers[:] = moved
