"""Numbers that clusters keep during a stream, and the events of clusters."""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from gaussian_neurons.clustering.diagnosis import least_share
from gaussian_neurons.clustering.normal import is_inlier
from gaussian_neurons.learning.neurons import Neurons
from gaussian_neurons.learning.responses import strongest
from gaussian_neurons.learning.starts import mean_of

Array = NDArray[Any]
Labels = NDArray[np.int64]

EVENTS = 1000  # events that are kept
KINDS = ("born", "moved", "absent", "returned", "retired")
MOVING = "moving"  # noted: the cluster was elsewhere at the last review, which is not reported yet
SAME = 0.5  # least part of the old or the new cluster that both share if they are the same
RESTING = 1 << 20  # added to the number of a cluster that rests, for its group: there are fewer neurons
LEAST_SCATTER = 1e-100  # of the samples of a cluster, so that evidence stays finite
BARELY = 1e-9  # weight of a remembered neuron that wins no recent samples


class Event(NamedTuple):
    """A change of a cluster."""

    samples: int  #: samples seen
    kind: str  #: one of KINDS
    cluster: int  #: its number
    center: Array  #: (D,) at that time
    share: float = 0.0  #: part of the recent samples that it won
    evidence: float = 0.0  #: nats, the log-likelihood ratio of the samples to those without the change
    reason: str = ""  #: in words

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
    noted: tuple[Event, ...] = ()  # the last event of each present cluster that was reported
    events: tuple[Event, ...] = ()  # the last events
    group: Labels | None = None  # (K,) of an automatic width, noise included: known to the next review

    @classmethod
    def none(cls, neurons: int) -> "Clusters":
        """No clusters yet."""
        return cls(np.full(neurons, -1))

    def found(self, neurons: Neurons, recent: Array | None = None) -> Found:
        """The clusters, each at the center of its first neuron.

        With recent samples, of which neurons have shares, a cluster is at the mean of the samples that its
        neurons win: it can have several neurons. A cluster that rests is at the mean of its neurons.
        """
        numbers, first = self.first_neurons()
        centers = neurons.centers[first]
        if recent is not None and len(recent) and len(numbers):
            label, log_response = _won_by(neurons, self.number, recent)
            for index, number in enumerate(numbers):
                if neurons.resting[first[index]]:
                    own = self.number == number
                    part = np.maximum(neurons.won[own], 1) / np.maximum(neurons.won[own], 1).sum()
                    centers[index] = np.einsum("i,id->d", part, neurons.centers[own].astype(np.float64))
                    continue
                mine = np.flatnonzero(label == number)
                if len(mine):
                    far = -log_response[mine]
                    near = is_inlier(median(far), far, recent.shape[1])
                    centers[index] = mean_of(recent[mine[near]])
        return Found(numbers, centers, neurons.widths[first])

    def first_neurons(self) -> tuple[Labels, Labels]:
        """The numbers of the clusters, increasing, and the first neuron of each."""
        numbers, first = np.unique(self.number, return_index=True)
        return numbers[numbers >= 0], first[numbers >= 0]

    def of_neurons(self, which: Labels) -> "Clusters":
        """The clusters of other neurons; `which` is the old index of each neuron, or -1."""
        group = None if self.group is None else np.append(self.group, -1)[which]
        return replace(self, number=np.append(self.number, -1)[which], group=group)

    def renewed(
        self,
        group: Labels,
        share: Array,
        resting: NDArray[np.bool_] | None = None,
        idle: NDArray[np.bool_] | None = None,
    ) -> "Clusters":
        """Other groups of neurons, which keep the numbers of the clusters that they overlap most.

        Parameters
        ----------
        group : (K,) of each neuron, -1 for none
        share : (K,) of the recent samples that each wins
        resting : (K,) neurons that keep their number
        idle : (K,) neurons that keep their number if others of the cluster do
        """
        rest = np.zeros(len(group), bool) if resting is None else resting
        old, counts = np.where(rest, -1, self.number), np.maximum(share, BARELY)
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
        if idle is not None:
            number = np.where(idle & np.isin(self.number, numbered), self.number, number)
        return replace(self, number=np.where(rest, self.number, number), given=self.given + int(fresh.sum()))

    def returned(self, found: Found, recent: Array) -> "Clusters":
        """The same with the old number for a new cluster that is at the place of a retired one."""
        known = {event.cluster for event in self.noted}
        gone = {event.cluster: event for event in self.events if event.cluster not in known}
        if not gone or known.issuperset(found.numbers.tolist()):
            return self
        far, number = _scatter(found, recent), self.number.copy()
        for fresh, center, scatter in zip(found.numbers.tolist(), found.centers, far, strict=True):
            if fresh in known or not gone:
                continue
            nearest = min(gone.values(), key=lambda event: ((event.center - center) ** 2).sum())
            if ((nearest.center - center) ** 2).sum() <= scatter:
                number[number == fresh] = gone.pop(nearest.cluster).cluster
        return replace(self, number=number)

    def reported(
        self, found: Found, neurons: Neurons, share: Array, recent: Array, before: Labels | None = None
    ) -> "Clusters":
        """The same with the events since the last report: clusters that are new, gone, or elsewhere.

        Parameters
        ----------
        found : the clusters now
        neurons : Neurons
        share : (K,) of the recent samples that each wins
        recent : (n, D)
        before : the clusters that did not rest after the last review: only they are reported as born or
            returned, or as moved if they were elsewhere then, too. None: all are reported at once
        """
        far, seen = _scatter(found, recent), neurons.seen
        last = {event.cluster: event for event in self.noted}
        noted, events = [], []
        places = found.centers.copy()
        for number, center, scatter in zip(found.numbers.tolist(), places, far, strict=True):
            own = self.number == number
            was = last.pop(number, None)
            rests = int(neurons.rests[own].max())
            kind = _change(was, center, scatter, rests, seen)
            if before is not None and rests < 0:
                if kind == "moved" and was is not None and was.kind != MOVING:
                    kind, was = "", was._replace(kind=MOVING)
                elif was is not None and was.kind == MOVING and not kind:
                    was = was._replace(kind="moved")
                elif number not in before:
                    kind = ""
            if kind:
                center.flags.writeable = False
                part = float(share[own].sum())
                sure = _grounds(kind, part, was, center, scatter, neurons, len(recent))
                was = Event(seen, kind, number, center, part, *sure)
                events.append(was)
            if was is not None:
                noted.append(was)
        retired = [
            Event(seen, "retired", number, was.center, 0.0, *_grounds_of_end(was, found, far, len(recent)))
            for number, was in last.items()
        ]
        return replace(self, noted=tuple(noted), events=(*self.events, *retired, *events)[-EVENTS:])


def _change(was: Event | None, center: Array, far: float, rests: int, seen: int) -> str:
    """What has happened to a cluster since its last event, "" for nothing.

    A cluster that comes to rest is reported at the next review, if it still rests.
    """
    if was is None:
        return "born"
    if rests >= 0:
        return "absent" if rests < seen and was.kind != "absent" else ""
    if was.kind == "absent":
        return "returned"
    return "moved" if ((center - was.center) ** 2).sum() > far else ""


def _grounds(
    kind: str, share: float, was: Event | None, center: Array, far: float, neurons: Neurons, rows: int
) -> tuple[float, str]:
    """How sure an event is, in nats, and why."""
    won = round(share * rows)
    if kind == "moved" and was is not None:
        distance = float(((center - was.center) ** 2).sum())  # float32 does not hold LEAST_SCATTER
        apart = min(distance / max(far, LEAST_SCATTER), 1 / LEAST_SCATTER)
        # a mean of n samples, each with the variance far / D in a column, against the old center
        return won * apart * len(center) / 2, f"the center moved {np.sqrt(apart):.3g} times its scatter"
    if kind == "absent" and was is not None:
        return surprise(won, was.share * rows), f"won {won} of {rows} samples, {was.share:.3g} of them before"
    few = least_share(neurons, rows) * rows / 2
    return surprise(won, few), f"won {won} of {rows} samples"


def _grounds_of_end(was: Event, found: Found, far: Array, rows: int) -> tuple[float, str]:
    """The same for a cluster that is retired."""
    apart = ((found.centers - was.center) ** 2).sum(axis=1)
    for number, squared, scatter in zip(found.numbers.tolist(), apart, far, strict=True):
        if squared <= scatter:
            return surprise(0, was.share * rows), f"its place belongs to cluster {number}"
    return surprise(0, was.share * rows), "won too few samples"


def surprise(count: int, expected: float) -> float:
    """The log-likelihood ratio of a count to the expected one, of Poisson distributions.

    Examples
    --------
    >>> surprise(0, 5.0), round(surprise(10, 5.0), 2)  # 10 log 2 - 5
    (5.0, 1.93)
    """
    if expected <= 0:
        return 0.0
    return float((count * np.log(count / expected) if count else 0.0) - count + expected)


def _won_by(neurons: Neurons, group: Labels, rows: Array) -> tuple[Labels, Array]:
    """For each row the group of the neuron with the largest share, and its log-response."""
    belongs = group >= 0
    winner, log_response = strongest(rows, neurons.centers[belongs], neurons.widths[belongs], shared=True)
    return np.append(group[belongs], -1)[winner], log_response


def _scatter(found: Found, recent: Array) -> Array:
    """Mean squared distance of the samples of each cluster from its center, (n,): a move is more.

    The samples of a cluster are those nearest to its center; a cluster without any has the mean of all.
    """
    if not len(found.numbers) or not len(recent):
        return np.full(len(found.numbers), np.inf)
    unit = np.ones(len(found.numbers), found.centers.dtype)
    with np.errstate(over="ignore"):
        nearest, logs = strongest(recent, found.centers, unit)
    squared = -logs.astype(np.float64)
    columns = recent.shape[1]
    found_far = [_mean_without_outliers(squared[nearest == k], columns) for k in range(len(unit))]
    return np.where(np.isnan(found_far), _mean_without_outliers(squared, columns), found_far)


def _mean_without_outliers(squared: Array, columns: int) -> float:
    """The mean of squared distances; NaN without any."""
    return float(squared[is_inlier(median(squared), squared, columns)].mean()) if len(squared) else np.nan


def median(values: Array) -> float:
    """The median of some numbers: what `np.median` gives, in a fifth of its time.

    Examples
    --------
    >>> median(np.array([4.0, 1.0, 2.0])), median(np.array([4.0, 1.0, 2.0, 8.0]))
    (2.0, 3.0)
    """
    low, high = (len(values) - 1) // 2, len(values) // 2
    ordered = np.partition(values, (low, high))
    return float((ordered[low] + ordered[high]) / 2)
