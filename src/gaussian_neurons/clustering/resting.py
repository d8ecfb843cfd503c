"""Clusters that rest: recent samples do not show them, and their neurons are kept as they are."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gaussian_neurons.clustering.numbering import Clusters
from gaussian_neurons.clustering.tree import REPRESENTED, least_part
from gaussian_neurons.learning.neurons import Neurons

Array = NDArray[Any]

ELSEWHERE = 2.25  # standard deviations from a cluster at the last review to the samples that it wins now


def with_rest(
    neurons: Neurons, clusters: Clusters, winners: NDArray[np.int64], rows: Array | None, memory: int | None
) -> tuple[Neurons, Clusters]:
    """The neurons and clusters after it was decided which clusters rest [32].

    A cluster rests if it wins less than half of what a new cluster needs. It also rests if what it wins is
    elsewhere: its samples no longer come, and those of a neighbour have drawn its neurons away. They then go
    back to where they were at the last review. Neurons that rest respond, but do not learn, and represent the
    samples that they won before. A cluster that wins as much as a new one needs, in its place, learns on. One
    that did not win REPRESENTED samples over the reviews is forgotten if it still rests at the next one.

    Parameters
    ----------
    neurons : Neurons that share samples
    clusters : as they were reviewed last
    winners : (n,), the neuron that wins each recent row, -1 for none
    rows : (n, D), the recent rows in their order; None if they repeat, so that they do not show a place
    memory : samples after which a cluster that rests is forgotten, None for never
    """
    since = np.where(neurons.resting, neurons.seen - neurons.rests, len(winners))
    winners = np.where(np.arange(len(winners), 0, -1) > since[winners], -1, winners)  # only rows since then
    won = np.bincount(winners[winners >= 0], minlength=len(neurons))
    known = clusters.number >= 0
    part = np.bincount(clusters.number + 1, won, clusters.given + 1) / max(len(winners), 1)
    least = least_part(neurons, len(winners)) * np.where(neurons.resting, 1.0, 0.5)
    absent = known & (part[clusters.number + 1] < least)
    if rows is not None:
        drawn = _elsewhere(neurons, np.where(absent, -1, clusters.number), winners, rows)
        absent |= drawn
        back = drawn & ~neurons.resting
        neurons = neurons.with_rows(back, centers=neurons.held[back], widths=neurons.held_widths[back])
    rests = np.where(absent, np.where(neurons.resting, neurons.rests, neurons.seen), -1)
    looked = np.where(absent, neurons.looked, neurons.looked + won)
    forgotten = (
        absent
        & neurons.resting
        & (np.bincount(clusters.number + 1, looked)[clusters.number + 1] < REPRESENTED)
    )
    if memory is not None:
        forgotten |= absent & (neurons.seen - rests >= memory)
    counts = np.where(forgotten, 0, np.where(absent, neurons.won, won))
    neurons = replace(
        neurons,
        rests=np.where(forgotten, -1, rests),
        won=counts,
        looked=np.where(forgotten, 0, np.where(known, looked, won)),
    )
    return neurons, replace(clusters, number=np.where(forgotten, -1, clusters.number))


def _elsewhere(
    neurons: Neurons, number: NDArray[np.int64], winners: NDArray[np.int64], rows: Array
) -> NDArray[np.bool_]:
    """Whether the rows that the cluster of a neuron wins have jumped away from its place, (K,)."""
    found = np.zeros(len(neurons), bool)
    for one in np.unique(number[winners[winners >= 0]]):
        own = number == one
        if one < 0:
            continue
        time = np.flatnonzero(own[winners] & (winners >= 0))
        part = np.maximum(neurons.won[own], 1) / np.maximum(neurons.won[own], 1).sum()
        centers = neurons.held[own].astype(np.float64)
        with np.errstate(over="ignore", invalid="ignore"):
            center = (part[:, None] * centers).sum(axis=0)
            variance = neurons.held_widths[own] / 2 + ((centers - center) ** 2).mean(axis=1)
            off = rows[time] - center
            far = (off.mean(axis=0) ** 2).sum()
            by_chance = rows.shape[1] / len(time)  # expected of the mean of so many rows
            if far > (ELSEWHERE**2 + by_chance) * (part * variance).sum():
                found |= own & (neurons.resting | _jumps(off, time.astype(np.float64)))
    return found


def _jumps(off: Array, time: Array) -> bool:
    """Whether rows, relative to a place, are better described by a jump away from it than by a straight path.

    The jump has D + 1 parameters, when and where to, the path 2 D (Schwarz's criterion).
    """
    count, total = len(off), (off**2).sum()
    sums = off[::-1].cumsum(axis=0)  # of the last 1, 2, ... rows
    jump = total - ((sums**2).sum(axis=1) / np.arange(1.0, count + 1)).max()
    apart = time - time.mean()
    slope = (apart[:, None] * off).sum(axis=0)
    path = total - (sums[-1] ** 2).sum() / count - (slope**2).sum() / max((apart**2).sum(), 1.0)
    fewer = 1 - 1 / off.shape[1]
    return bool(jump <= path * np.exp(fewer * np.log(count) / count))
