"""Numbers that clusters keep during a stream, and the events of clusters."""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from gaussian_neurons.learning.neurons import Neurons
from gaussian_neurons.learning.responses import strongest
from gaussian_neurons.learning.starts import mean_of

Array = NDArray[Any]
Labels = NDArray[np.int64]

EVENTS = 1000  # events that are kept
KINDS = ("born", "moved", "retired")
SAME = 0.5  # least part of the old or the new cluster that both share if they are the same
OUTLIER = 10.0  # a row beyond this many times the median squared distance does not count in a center
BARELY = 1e-9  # weight of a remembered neuron that wins no recent samples


class Event(NamedTuple):
    """A change of a cluster."""

    samples: int  # samples seen
    kind: str  # one of KINDS
    cluster: int  # its number
    center: Array  # (D,) at that time

    def __repr__(self) -> str:
        place = np.array2string(self.center, precision=3, separator=", ", threshold=4, edgeitems=2)
        return f"Event({self.samples}, {self.kind!r}, cluster {self.cluster} at {place})"


class Found(NamedTuple):
    """The clusters at some time."""

    numbers: Labels  # (n,) increasing
    centers: Array  # (n, D)
    widths: Array  # (n,) of their neurons


@dataclass(frozen=True)
class Clusters:
    """Which neurons form which cluster, and the events so far."""

    number: Labels  # (K,) the cluster of each neuron, -1 for none
    given: int = 0  # numbers given so far
    noted: tuple[Event, ...] = ()  # the last "born" or "moved" event of each present cluster
    events: tuple[Event, ...] = ()  # the last events

    @classmethod
    def none(cls, neurons: int) -> "Clusters":
        """No clusters yet."""
        return cls(np.full(neurons, -1))

    def found(self, neurons: Neurons, recent: Array | None = None) -> Found:
        """The clusters, each at the center of its first neuron.

        With recent samples, of which neurons have shares, a cluster is at the mean of the samples that its
        neurons win: it can have several neurons.
        """
        numbers, first = self.first_neurons()
        centers = neurons.centers[first]
        if recent is not None and len(recent) and len(numbers):
            label, log_response = _won_by(neurons, self.number, recent)
            for index, number in enumerate(numbers):
                mine = np.flatnonzero(label == number)
                if len(mine):
                    near = log_response[mine] >= OUTLIER * np.median(log_response[mine])
                    centers[index] = mean_of(recent[mine[near]])
        return Found(numbers, centers, neurons.widths[first])

    def first_neurons(self) -> tuple[Labels, Labels]:
        """The numbers of the clusters, increasing, and the first neuron of each."""
        numbers, first = np.unique(self.number, return_index=True)
        return numbers[numbers >= 0], first[numbers >= 0]

    def of_neurons(self, which: Labels) -> "Clusters":
        """The clusters of other neurons; `which` is the old index of each neuron, or -1."""
        return replace(self, number=np.append(self.number, -1)[which])

    def renewed(self, group: Labels, share: Array) -> "Clusters":
        """Other groups of neurons, which keep the numbers of the clusters that they overlap most.

        Parameters
        ----------
        group : (K,) of each neuron, -1 for none
        share : (K,) of the recent samples that each wins
        """
        old, counts = self.number, np.maximum(share, BARELY)
        both = (old >= 0) & (group >= 0)
        numbers, rows = np.unique(old[both], return_inverse=True)
        groups = np.unique(group[group >= 0])
        columns = np.searchsorted(groups, group[both])
        overlap = np.zeros((len(numbers), len(groups)))
        np.add.at(overlap, (rows, columns), counts[both])
        of_old = np.array([counts[old == number].sum() for number in numbers])
        of_new = np.array([counts[group == one].sum() for one in groups])
        numbered = np.full(len(groups), -1)
        for i, j in zip(*linear_sum_assignment(-overlap), strict=True):
            if overlap[i, j] > 0 and overlap[i, j] >= SAME * min(of_old[i], of_new[j]):
                numbered[j] = numbers[i]
        fresh = numbered < 0
        numbered[fresh] = self.given + np.arange(fresh.sum())
        number = np.full(len(group), -1)
        number[group >= 0] = numbered[np.searchsorted(groups, group[group >= 0])]
        return replace(self, number=number, given=self.given + int(fresh.sum()))

    def returned(self, found: Found, recent: Array) -> "Clusters":
        """The same with the old number for a new cluster that is at the place of a retired one."""
        known = {event.cluster for event in self.noted}
        gone = {event.cluster: event for event in self.events if event.cluster not in known}
        far, number = _scatter(found, recent), self.number.copy()
        for fresh, center in zip(found.numbers.tolist(), found.centers, strict=True):
            if fresh in known or not gone:
                continue
            nearest = min(gone.values(), key=lambda event: ((event.center - center) ** 2).sum())
            if ((nearest.center - center) ** 2).sum() <= far:
                number[number == fresh] = gone.pop(nearest.cluster).cluster
        return replace(self, number=number)

    def reported(self, found: Found, seen: int, recent: Array) -> "Clusters":
        """The same with the events since the last report: clusters that are new, gone, or elsewhere."""
        far = _scatter(found, recent)
        last = {event.cluster: event for event in self.noted}
        noted, events = [], []
        for number, center in zip(found.numbers.tolist(), found.centers.copy(), strict=True):
            was = last.pop(number, None)
            moved = was is not None and ((center - was.center) ** 2).sum() > far
            if was is None or moved:
                center.flags.writeable = False
                was = Event(seen, "moved" if moved else "born", number, center)
                events.append(was)
            noted.append(was)
        retired = [Event(seen, "retired", number, was.center) for number, was in last.items()]
        return replace(self, noted=tuple(noted), events=(*self.events, *retired, *events)[-EVENTS:])


def _won_by(neurons: Neurons, group: Labels, rows: Array) -> tuple[Labels, Array]:
    """For each row the group of the neuron with the largest share, and its log-response."""
    belongs = group >= 0
    winner, log_response = strongest(rows, neurons.centers[belongs], neurons.widths[belongs], shared=True)
    return np.append(group[belongs], -1)[winner], log_response


def _scatter(found: Found, recent: Array) -> float:
    """Mean squared distance of samples from the nearest cluster center, without outliers: a move is more."""
    if not len(found.numbers) or not len(recent):
        return np.inf
    unit = np.ones(len(found.numbers), found.centers.dtype)
    with np.errstate(over="ignore"):
        squared = -strongest(recent, found.centers, unit)[1].astype(np.float64)
    return float(squared[squared <= OUTLIER * np.median(squared)].mean())
