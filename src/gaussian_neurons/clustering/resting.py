"""Clusters that rest: recent samples do not show them, and their neurons are kept as they are."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gaussian_neurons.clustering.numbering import Clusters
from gaussian_neurons.clustering.tree import REPRESENTED, least_part
from gaussian_neurons.learning.neurons import Neurons

Array = NDArray[Any]


def with_rest(
    neurons: Neurons, clusters: Clusters, winners: NDArray[np.int64], memory: int | None
) -> tuple[Neurons, Clusters]:
    """The neurons and clusters after it was decided which clusters rest.

    A cluster rests if it wins less than half of what a new cluster needs. Its neurons then respond, but do
    not learn, and represent the samples that they won before. A cluster that wins as much as a new one needs
    learns on. One that did not win REPRESENTED samples over the reviews is forgotten if it still rests at the
    next one.

    Parameters
    ----------
    neurons : Neurons that share samples
    clusters : as they were reviewed last
    winners : (n,), the neuron that wins each recent row, -1 for none
    memory : samples after which a cluster that rests is forgotten, None for never
    """
    won = np.bincount(winners[winners >= 0], minlength=len(neurons))
    known = clusters.number >= 0
    part = np.bincount(clusters.number + 1, won, clusters.given + 1) / max(len(winners), 1)
    least = least_part(neurons, len(winners)) * np.where(neurons.resting, 1.0, 0.5)
    absent = known & (part[clusters.number + 1] < least)
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
        looked=np.where(forgotten | ~known, 0, looked),
    )
    return neurons, replace(clusters, number=np.where(forgotten, -1, clusters.number))
