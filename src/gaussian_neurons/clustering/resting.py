"""Clusters that rest: recent samples do not show them, and their neurons are kept as they are."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gaussian_neurons.clustering.diagnosis import MANY
from gaussian_neurons.clustering.numbering import Clusters
from gaussian_neurons.clustering.tree import least_part
from gaussian_neurons.learning.neurons import Neurons

Array = NDArray[Any]


def with_rest(
    neurons: Neurons, clusters: Clusters, winners: NDArray[np.int64], memory: int | None
) -> tuple[Neurons, Clusters]:
    """The neurons and clusters after it was decided which clusters rest.

    A cluster rests if it wins less than half of what a cluster needs. Its neurons then respond, but do not
    learn, and represent the samples that they won before. A cluster that wins enough again learns on. One
    that never won many samples is forgotten at once.

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
    absent = known & (part[clusters.number + 1] < least_part(neurons, len(winners)) / 2)
    rests = np.where(absent, np.where(neurons.resting, neurons.rests, neurons.seen), -1)
    looked = np.where(absent, neurons.looked, neurons.looked + won)
    forgotten = absent & (np.bincount(clusters.number + 1, looked)[clusters.number + 1] < MANY)
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
