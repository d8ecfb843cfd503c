"""Clusters that keep their numbers while a stream goes on, and what became of them."""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from gaussian_neurons.learning.neurons import Neurons
from gaussian_neurons.learning.responses import strongest

Array = NDArray[Any]
Labels = NDArray[np.int64]

EVENTS = 1000  # that are kept
KINDS = ("born", "moved", "retired")
SAME = 0.5  # part of a cluster, old or new, that both must share to be the same
REACH = 100.0  # times a usual squared distance, within which a row may belong to an old cluster
OUTLIER = 10.0  # times the median squared distance, beyond which a row does not count in a center
BARELY = 1e-9  # weight of a neuron that recent samples do not hold, but which is remembered


class Event(NamedTuple):
    """Something that became of a cluster."""

    samples: int  # that had been seen
    kind: str  # one of KINDS
    cluster: int  # its number
    center: Array  # (D,) where it was then

    def __repr__(self) -> str:
        place = np.array2string(self.center, precision=3, separator=", ", threshold=4, edgeitems=2)
        return f"Event({self.samples}, {self.kind!r}, cluster {self.cluster} at {place})"


class Found(NamedTuple):
    """The clusters there are."""

    numbers: Labels  # (n,) rising
    centers: Array  # (n, D)
    widths: Array  # (n,) of their neurons


@dataclass(frozen=True)
class Clusters:
    """What was found when it was last looked. A new one is made each time."""

    number: Labels  # (K,) of the cluster of each neuron of the layer that answers, -1 for none
    layer: int = 0  # which one answers
    given: int = 0  # numbers given so far
    noted: tuple[Event, ...] = ()  # of each cluster there is, where it was last said to be
    events: tuple[Event, ...] = ()  # the last ones

    @classmethod
    def none(cls, neurons: int) -> "Clusters":
        """None was found yet."""
        return cls(np.full(neurons, -1))

    def found(self, neurons: Neurons, recent: Array | None = None) -> Found:
        """Where the clusters are now.

        Each is where its neuron is; with recent samples, in the middle of those that its neurons win.
        Repulsion keeps neurons a little farther from each other than that, and at a large width they sway.
        """
        numbers = np.unique(self.number[self.number >= 0])
        first = np.array([int(np.argmax(self.number == number)) for number in numbers], np.int64)
        centers = neurons.centers[first]
        if recent is not None and len(recent) and len(numbers):
            label, log_response = _answers(neurons, self.number, recent)
            for index, number in enumerate(numbers):
                mine = np.flatnonzero(label == number)
                if len(mine):
                    near = log_response[mine] >= OUTLIER * np.median(log_response[mine])
                    centers[index] = recent[mine[near]].mean(axis=0)
        return Found(numbers, centers, neurons.widths[first])

    def of_neurons(self, which: Labels) -> "Clusters":
        """For other neurons, each of which had the number `which` before, or -1: each by itself."""
        number = np.append(self.number, -1)[which]
        first = np.isin(np.arange(len(number)), np.unique(number, return_index=True)[1])
        return replace(self, number=np.where(first, number, -1))

    def renewed(
        self, layer: int, group: Labels, share: Array, before: Neurons, now: Neurons, recent: Array
    ) -> "Clusters":
        """With other groups of neurons, which keep the numbers of the clusters that they overlap most.

        Parameters
        ----------
        layer : which one answers now
        group : (K,) of each of its neurons, -1 for none
        share : (K,) of the recent samples, that each wins
        before, now : the neurons of the layers that answered and that answers
        recent : (n, D), samples by which clusters of different layers are compared
        """
        seen = before.seen[0]
        known = np.where((before.born == seen) & (seen > 0), -1, self.number)  # but for neurons just placed
        if now is before:
            old, new, counts = known, group, np.maximum(share, BARELY)
        else:
            old, new = _within_reach(before, known, recent), _answers(now, group, recent)[0]
            counts = np.ones(len(recent))
        both = (old >= 0) & (new >= 0)
        numbers, rows = np.unique(old[both], return_inverse=True)
        groups = np.unique(group[group >= 0])
        columns = np.searchsorted(groups, new[both])
        overlap = np.zeros((len(numbers), len(groups)))
        np.add.at(overlap, (rows, columns), counts[both])
        of_old = np.array([counts[old == number].sum() for number in numbers])
        of_new = np.array([counts[new == one].sum() for one in groups])
        numbered = np.full(len(groups), -1)
        for i, j in zip(*linear_sum_assignment(-overlap), strict=True):
            if overlap[i, j] > 0 and overlap[i, j] >= SAME * min(of_old[i], of_new[j]):
                numbered[j] = numbers[i]
        fresh = numbered < 0
        numbered[fresh] = self.given + np.arange(fresh.sum())
        number = np.full(len(group), -1)
        number[group >= 0] = numbered[np.searchsorted(groups, group[group >= 0])]
        given = self.given + int(fresh.sum())
        return replace(self, number=number, layer=layer, given=given)

    def returned(self, found: Found, recent: Array) -> "Clusters":
        """With their old numbers for new clusters that are where one was retired."""
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
        """With the events since the last report: clusters that came, went, or are elsewhere."""
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


def _answers(neurons: Neurons, group: Labels, rows: Array) -> tuple[Labels, Array]:
    """For each row the group of the neuron that answers most strongly, and its log-response."""
    belongs = group >= 0
    winner, log_response = strongest(neurons.keep(belongs), rows)
    return np.append(group[belongs], -1)[winner], log_response


def _within_reach(neurons: Neurons, group: Labels, rows: Array) -> Labels:
    """The same groups, but -1 for rows that are much farther from their neuron than others from theirs."""
    label, log_response = _answers(neurons, group, rows)
    if not len(rows) or not (group >= 0).any():
        return label
    usual = min(float(np.quantile(log_response, 0.75)), -1 / REACH)
    return np.where(log_response < REACH * usual, -1, label)


def _scatter(found: Found, recent: Array) -> float:
    """Mean squared distance of samples from the center of their cluster: what counts as a move."""
    if not len(found.numbers) or not len(recent):
        return np.inf
    responses = strongest(Neurons.at(found.centers, 1.0, found.centers.dtype.type), recent)[1]
    return float(-responses.mean(dtype=np.float64))
