"""Clusters that keep their numbers while a stream goes on, and what became of them."""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from gaussian_neurons.answers import strongest
from gaussian_neurons.state import Neurons

Array = NDArray[Any]
Labels = NDArray[np.int64]

EVENTS = 1000  # that are kept
KINDS = ("born", "moved", "retired")
SAME = 0.5  # part of a cluster, old or new, that both must share to be the same
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
    share: Array  # (K,) of the recent samples: how much each neuron counts in its cluster
    offset: Array | None = None  # (K, D) from each neuron to the middle of what it wins; None: no difference
    layer: int = 0  # which one answers
    given: int = 0  # numbers given so far
    noted: tuple[Event, ...] = ()  # of each cluster there is, where it was last said to be
    events: tuple[Event, ...] = ()  # the last ones

    @classmethod
    def none(cls, neurons: int) -> "Clusters":
        """None was found yet."""
        return cls(np.full(neurons, -1), np.zeros(neurons))

    def found(self, neurons: Neurons) -> Found:
        """Where the clusters are now that their neurons are there."""
        numbers = np.unique(self.number[self.number >= 0])
        if self.offset is None:  # each neuron is a cluster
            which = np.array([int(np.argmax(self.number == number)) for number in numbers], np.int64)
            return Found(numbers, neurons.centers[which], neurons.widths[which])
        part = (self.number == numbers[:, None]) * np.maximum(self.share, BARELY)
        part /= part.sum(axis=1, keepdims=True)
        centers = part @ (neurons.centers + self.offset)
        return Found(numbers, centers.astype(neurons.centers.dtype), neurons.widths[part.argmax(axis=1)])

    def of_neurons(self, which: Labels) -> "Clusters":
        """For other neurons, each of which had the number `which` before, or -1: each by itself."""
        number, share = np.append(self.number, -1)[which], np.append(self.share, 0.0)[which]
        first = np.isin(np.arange(len(number)), np.unique(number, return_index=True)[1])
        return replace(self, number=np.where(first, number, -1), share=share, offset=None)

    def centered(self, neurons: Neurons, recent: Array) -> "Clusters":
        """With centers in the middle of the recent samples; from there they go where their neurons go.

        Repulsion keeps neurons a little farther from each other than the middles of their samples are.
        """
        belongs = np.flatnonzero(self.number >= 0)
        offset = np.zeros(neurons.centers.shape)
        if len(belongs):
            winner = belongs[strongest(neurons.keep(self.number >= 0), recent)[0]]
            np.add.at(offset, winner, recent - neurons.centers[winner])
            offset /= np.maximum(np.bincount(winner, minlength=len(offset)), 1)[:, None]
        return replace(self, offset=offset)

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
        if now is before:
            old, new, counts = self.number, group, np.maximum(share, BARELY)
        else:
            old, new = _labels(before, self.number, recent), _labels(now, group, recent)
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
        return replace(self, number=number, share=share, offset=None, layer=layer, given=given)

    def reported(self, neurons: Neurons, recent: Array) -> "Clusters":
        """With the events since the last report: clusters that came, went, or are elsewhere."""
        seen = int(neurons.seen[0])
        found = self.found(neurons)
        far = _scatter(found, recent)
        last = {event.cluster: event for event in self.noted}
        noted, events = [], []
        for number, center in zip(found.numbers.tolist(), found.centers, strict=True):
            was = last.pop(number, None)
            moved = was is not None and ((center - was.center) ** 2).sum() > far
            if was is None or moved:
                was = Event(seen, "moved" if moved else "born", number, center.copy())
                events.append(was)
            noted.append(was)
        retired = [Event(seen, "retired", number, was.center) for number, was in last.items()]
        return replace(self, noted=tuple(noted), events=(*self.events, *retired, *events)[-EVENTS:])


def _labels(neurons: Neurons, group: Labels, rows: Array) -> Labels:
    """The group of the neuron that answers each row most strongly."""
    belongs = group >= 0
    if not belongs.any():
        return np.full(len(rows), -1)
    return group[belongs][strongest(neurons.keep(belongs), rows)[0]]


def _scatter(found: Found, recent: Array) -> float:
    """Mean squared distance of samples from the center of their cluster: what counts as a move."""
    if not len(found.numbers) or not len(recent):
        return np.inf
    responses = strongest(Neurons.at(found.centers, 1.0, found.centers.dtype.type), recent)[1]
    return float(-responses.mean(dtype=np.float64))
