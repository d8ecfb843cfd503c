"""Which neurons learned something, and the facts behind that."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gaussian_neurons.base.covariances import mean_widths
from gaussian_neurons.learning.neurons import Neurons
from gaussian_neurons.learning.responses import mutual, own, strongest

Array = NDArray[Any]
Indices = NDArray[np.int64]

# docs/algorithm.md, "Which neurons learned", gives the reasons and the measurements.
MEAN_RESPONSE = 0.01  # least mean response of a learned neuron to the samples it wins
SHARE = 0.005  # least share of the samples that it wins, if K is small
SHARE_OF_EQUAL = 0.25  # the same as a part of 1/K, if K is large
MANY = 500  # least number of samples that a remembered neuron won, over all reviews
SAME_PLACE = 0.5  # least response of a neuron to the place where it was held
TWIN_DISTANCE = 2.0**-23  # largest squared distance of twins, in widths: each responds to the other with 1
GROWN_UP = 1000  # samples after which an added neuron can count as learned


@dataclass(frozen=True)
class Diagnosis:
    """Facts about each neuron, and which neurons learned. All arrays are (K,)."""

    domain_distance: Array  # d_i: distance from the middle of the domain, 1 at its corners
    cosine: Array  # cos theta_i between the center and its start
    width_change: Array  # sigma_i divided by its start
    share: Array  # part of the recent samples to which the neuron (or its twin) responds most
    mean_response: Array  # mean response to those samples, 0 without any
    remembered: NDArray[np.bool_]  # it won many samples where it is, a fair share of those since it came
    twin_of: Indices  # the first neuron at the same place, or -1
    learned: NDArray[np.bool_]  # it found a pattern, and is the first neuron there

    def __post_init__(self) -> None:
        for array in vars(self).values():
            array.flags.writeable = False

    @property
    def twins(self) -> list[tuple[int, int]]:
        """Pairs (neuron, the earlier neuron that it coincides with)."""
        return [(int(i), int(self.twin_of[i])) for i in np.flatnonzero(self.twin_of >= 0)]


def diagnose(
    neurons: Neurons,
    recent: Array,
    low: Array,
    high: Array,
    shared: bool = False,
    won: "Won | None" = None,
) -> Diagnosis:
    """Tell which neurons learned, from the neurons and the most recent samples.

    Parameters
    ----------
    neurons : Neurons
    recent : (n, D), recent samples
    low, high : (D,), the corners of the input domain; they are reported, and decide nothing
    shared : whether neurons share samples; the largest share then wins
    won : what `Won.of` gives for the same neurons and samples, if it is known

    Examples
    --------
    One neuron is on the samples, one elsewhere:

    >>> neurons = Neurons.at([[0.0], [5.0]], width=1.0)
    >>> diagnose(neurons, np.array([[-0.1], [0.1]]), np.zeros(1), np.ones(1)).learned
    array([ True, False])
    """
    won = Won.of(neurons, recent, shared) if won is None else won
    often = neurons.won >= np.maximum(MANY, _least_share(neurons) * neurons.looked)
    remembered = often & _is_where_it_was_held(neurons)
    grown_up = (neurons.born == 0) | (neurons.seen - neurons.born >= GROWN_UP)
    held_now = won.hold(least_share(neurons, len(recent)))
    return Diagnosis(
        domain_distance=domain_distance(neurons.centers, low, high),
        cosine=cosine(neurons.centers, neurons.start),
        width_change=mean_widths(neurons.widths) / mean_widths(neurons.start_widths),
        share=won.share,
        mean_response=won.mean_response,
        remembered=remembered,
        twin_of=won.twin_of,
        learned=(won.twin_of < 0) & grown_up & (held_now | remembered),
    )


def remember(neurons: Neurons, recent: Array, won: "Won | None" = None) -> Neurons:
    """The neurons after a review: where samples hold them, and how many they won since they came there."""
    won = Won.of(neurons, recent) if won is None else won
    holds = (won.twin_of < 0) & won.hold(least_share(neurons, len(recent)))
    stayed = _is_where_it_was_held(neurons)
    wins = np.rint(won.share * len(recent)).astype(np.int64)
    held = np.where(holds[:, None], neurons.centers, np.where(stayed[:, None], neurons.held, np.nan))
    return replace(
        neurons,
        held=held.astype(neurons.held.dtype),
        won=np.where(stayed, neurons.won, 0) + np.where(holds, wins, 0),
        looked=np.where(stayed, neurons.looked, 0) + np.where(stayed | holds, len(recent), 0),
    )


def _is_where_it_was_held(neurons: Neurons) -> NDArray[np.bool_]:
    where: NDArray[np.bool_] = own(neurons.held, neurons.centers, neurons.widths) >= np.log(SAME_PLACE)
    return where


def _least_share(neurons: Neurons) -> float:
    """The least share of the samples of a learned neuron."""
    return min(SHARE, SHARE_OF_EQUAL / len(neurons))


def least_share(neurons: Neurons, recent: int) -> float:
    """The least share of so many recent samples that holds a neuron: two samples, of three or more."""
    return max(_least_share(neurons), 1.5 / max(recent, 3))


def domain_distance(centers: Array, low: Array, high: Array) -> Array:
    """d_i = |mu_i - middle| / |corner - middle|: the paper's Table 1, for any box.

    Examples
    --------
    >>> domain_distance(np.array([[0.5, 0.5], [1.0, 0.0]]), np.zeros(2), np.ones(2))
    array([0., 1.])
    """
    middle, corner = low / 2 + high / 2, np.hypot.reduce(high / 2 - low / 2)  # squares could overflow
    distance: Array = np.hypot.reduce(centers - middle, axis=1)
    relative: Array = distance / corner if corner > 0 else np.where(distance > 0, np.inf, 0.0)
    return relative


def cosine(centers: Array, start: Array) -> Array:
    """cos theta_i between each center and its start, as vectors from the origin: Table 1."""
    one, other = _unit(centers), _unit(start)
    known = one.any(axis=1) & other.any(axis=1)
    cosines: Array = np.where(known, (one * other).sum(axis=1), 1.0)
    return cosines


def _unit(vectors: Array) -> Array:
    """The vectors divided by their lengths; zeros stay zeros."""
    length = np.hypot.reduce(vectors, axis=1, keepdims=True)
    unit: Array = np.divide(vectors, length, out=np.zeros_like(vectors), where=length > 0)
    return unit


def find_twins(neurons: Neurons) -> Indices:
    """For each neuron the first one at the same place, -1 if there is none, (K,).

    At distance zero the repulsion vanishes: neurons that met exactly stay together. Neurons that samples hold
    together are as close as rounding errors allow.
    """
    twin_of = np.full(len(neurons), -1)
    for begin, log_responses in mutual(neurons.centers, neurons.widths):
        same = np.tril(log_responses >= -TWIN_DISTANCE, k=begin - 1)
        for i in np.flatnonzero(same.any(axis=1)):
            first = same[i] & (twin_of < 0)
            if first.any():
                twin_of[begin + i] = np.argmax(first)
    return twin_of


@dataclass(frozen=True)
class Won:
    """Which neurons win recent samples; twins have the numbers of the first neuron at their place."""

    twin_of: Indices  # (K,)
    share: Array  # (K,)
    mean_response: Array  # (K,)

    @classmethod
    def of(cls, neurons: Neurons, recent: Array, shared: bool = False) -> "Won":
        """From the centers and widths of neurons, and recent samples."""
        twin_of = find_twins(neurons)
        share, mean_response = np.zeros(len(neurons)), np.zeros(len(neurons))
        single = np.flatnonzero(twin_of < 0)
        if len(recent):
            winner, found = strongest(recent, neurons.centers[single], neurons.widths[single], shared)
            wins = np.bincount(winner, minlength=len(single))
            total = np.bincount(winner, np.exp(found.astype(np.float64)), minlength=len(single))
            share[single] = wins / len(recent)
            mean_response[single] = total / np.maximum(wins, 1)
        twins = np.flatnonzero(twin_of >= 0)
        share[twins], mean_response[twins] = share[twin_of[twins]], mean_response[twin_of[twins]]
        return cls(twin_of, share, mean_response)

    def hold(self, enough: float) -> NDArray[np.bool_]:
        """Whether samples hold each neuron: it wins enough of them, with a response that is not small."""
        held: NDArray[np.bool_] = (self.mean_response >= MEAN_RESPONSE) & (self.share >= enough)
        return held
