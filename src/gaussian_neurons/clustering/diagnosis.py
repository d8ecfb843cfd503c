"""Which neurons learned something, and how we know."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gaussian_neurons.learning import native
from gaussian_neurons.learning.neurons import Neurons
from gaussian_neurons.learning.responses import strongest

Array = NDArray[Any]

# docs/algorithm.md, "Which neurons learned", gives the reasons and the measurements.
MEAN_RESPONSE = 0.01  # least mean response of a learned neuron to the samples it wins
SHARE = 0.005  # least share of the samples that it wins, where K is small
SHARE_OF_EQUAL = 0.25  # the same as a part of 1/K, where K is large
TWIN_RESPONSE = 0.95  # two neurons that answer each other's center so strongly are one
REMEMBERED_SHARE = 0.02  # least share of a pattern that is remembered when it no longer comes
REMEMBERED_SHARE_OF_EQUAL = 0.5  # the same as a part of 1/K
REMEMBERED_RESPONSE = 0.5  # what a neuron must still answer where it was found held
GROWN_UP = 1000  # samples after which a neuron that was added may count as learned


@dataclass(frozen=True)
class Diagnosis:
    """Facts about each neuron, and what follows from them. All arrays are (K,)."""

    domain_distance: Array  # d_i: distance from the middle of the domain, 1 at its corners
    cosine: Array  # cos theta_i between the center and where it started
    width_change: Array  # sigma_i over what it was at the start
    share: Array  # part of the recent samples that the neuron (or its twin) answers most strongly
    mean_response: Array  # its mean response to those, 0 where there are none
    remembered: NDArray[np.bool_]  # it was held by many samples before, and has not left that place
    twin_of: NDArray[np.int64]  # the first neuron at the same place, or -1
    learned: NDArray[np.bool_]  # it found a pattern, and is the first to sit there

    def __post_init__(self) -> None:
        for array in vars(self).values():
            array.flags.writeable = False

    @property
    def twins(self) -> list[tuple[int, int]]:
        """Pairs (neuron, the earlier neuron that it coincides with)."""
        return [(int(i), int(self.twin_of[i])) for i in np.flatnonzero(self.twin_of >= 0)]


def diagnose(neurons: Neurons, recent: Array, low: Array, high: Array, remember: bool = False) -> Diagnosis:
    """Tell which neurons learned, from the neurons and some samples that they saw lately.

    Parameters
    ----------
    neurons : Neurons
    recent : (n, D), recent samples
    low, high : (D,), the corners of the input domain; they are reported on, not decided by
    remember : note where neurons are that many of these samples hold: they count when those are gone

    Examples
    --------
    One neuron sits on the samples, one elsewhere:

    >>> neurons = Neurons.at([[0.0], [5.0]], width=1.0)
    >>> diagnose(neurons, np.array([[-0.1], [0.1]]), np.zeros(1), np.ones(1)).learned
    array([ True, False])
    """
    twin_of = find_twins(neurons)
    share, mean_response, _ = _won(neurons, recent, twin_of)
    held_now = _held(share, mean_response, min(SHARE, SHARE_OF_EQUAL / len(neurons)))
    if remember:
        enough = min(REMEMBERED_SHARE, REMEMBERED_SHARE_OF_EQUAL / len(neurons))
        held = (twin_of < 0) & _held(share, mean_response, enough)
        neurons.held[held] = neurons.centers[held]
    remembered = _remembered(neurons)
    grown_up = (neurons.born == 0) | (neurons.seen - neurons.born >= GROWN_UP)
    return Diagnosis(
        domain_distance=domain_distance(neurons.centers, low, high),
        cosine=cosine(neurons.centers, neurons.start),
        width_change=neurons.widths / neurons.start_widths,
        share=share,
        mean_response=mean_response,
        remembered=remembered,
        twin_of=twin_of,
        learned=(twin_of < 0) & grown_up & (held_now | remembered),
    )


@dataclass(frozen=True)
class Winning:
    """What neurons win of some samples. Arrays are (K,), but for one."""

    share: Array  # part of the samples that the neuron answers most strongly
    log_response: Array  # (n,) of the winner of each sample
    held: NDArray[np.bool_]  # it wins enough of them, and not from afar: compared to the typical response
    typical: float  # response of a winner: the median
    enough: float  # the least share of one that is held


def winning(neurons: Neurons, recent: Array) -> Winning:
    """What the neurons of one width win of recent samples, wherever these lie: see `ladder`.

    In many dimensions no sample comes near to any center, and all responses are small: what counts as a
    response is measured by the typical one.
    """
    twin_of = find_twins(neurons)
    share, mean_response, log_response = _won(neurons, recent, twin_of)
    share[twin_of >= 0] = 0.0
    typical = float(np.exp(np.median(log_response))) if len(recent) else 0.0
    enough = max(min(SHARE, SHARE_OF_EQUAL / len(neurons)), 1.5 / max(len(recent), 3))  # 2 of 3 or more
    held = (share >= enough) & (mean_response >= MEAN_RESPONSE * typical)
    return Winning(share, log_response, held, typical, enough)


def _held(share: Array, mean_response: Array, enough: float) -> NDArray[np.bool_]:
    """Whether samples hold each neuron: it wins enough of them, and not from afar."""
    held: NDArray[np.bool_] = (mean_response >= MEAN_RESPONSE) & (share >= enough)
    return held


def _remembered(neurons: Neurons) -> NDArray[np.bool_]:
    """Whether each neuron still sits where it was found held; NaN compares as no."""
    moved: Array = ((neurons.centers - neurons.held) ** 2).sum(axis=1)
    near: NDArray[np.bool_] = moved <= -np.log(REMEMBERED_RESPONSE) * neurons.widths
    return near


def domain_distance(centers: Array, low: Array, high: Array) -> Array:
    """d_i = |mu_i - middle| / |corner - middle|: the paper's Table 1, for any box.

    Examples
    --------
    >>> domain_distance(np.array([[0.5, 0.5], [1.0, 0.0]]), np.zeros(2), np.ones(2))
    array([0., 1.])
    """
    middle, corner = (low + high) / 2, np.linalg.norm(high - low) / 2
    distance: Array = np.linalg.norm(centers - middle, axis=1)
    relative: Array = distance / corner if corner > 0 else np.where(distance > 0, np.inf, 0.0)
    return relative


def cosine(centers: Array, start: Array) -> Array:
    """cos theta_i between each center and where it started, seen from the origin: Table 1."""
    lengths = np.linalg.norm(centers, axis=1) * np.linalg.norm(start, axis=1)
    products: Array = (centers * start).sum(axis=1)
    cosines: Array = np.divide(products, lengths, out=np.ones_like(lengths), where=lengths > 0)
    return cosines


def find_twins(neurons: Neurons) -> NDArray[np.int64]:
    """For each neuron the first one at the same place, -1 where there is none, (K,).

    At distance zero the repulsion vanishes, so neurons that met stay together.
    """
    twin_of = np.full(len(neurons), -1)
    closest = -np.log(TWIN_RESPONSE) * neurons.widths
    for begin, gaps in native.distance_blocks(neurons.centers, neurons.centers):
        rows = slice(begin, begin + len(gaps))
        same = np.tril(gaps <= np.minimum(closest[rows, None], closest), k=begin - 1)
        for i in np.flatnonzero(same.any(axis=1)):
            first = same[i] & (twin_of < 0)
            if first.any():
                twin_of[begin + i] = np.argmax(first)
    return twin_of


def _won(neurons: Neurons, recent: Array, twin_of: NDArray[np.int64]) -> tuple[Array, Array, Array]:
    """Each neuron's share of the samples, its mean response to those; each winner's log-response."""
    share, mean_response = np.zeros(len(neurons)), np.zeros(len(neurons))
    log_response = np.zeros(len(recent))
    single = np.flatnonzero(twin_of < 0)
    if len(recent):
        winner, found = strongest(neurons.keep(twin_of < 0), recent)
        log_response = found.astype(np.float64)
        wins = np.bincount(winner, minlength=len(single))
        total = np.bincount(winner, np.exp(log_response), minlength=len(single))
        share[single] = wins / len(recent)
        mean_response[single] = total / np.maximum(wins, 1)
    twins = np.flatnonzero(twin_of >= 0)
    share[twins], mean_response[twins] = share[twin_of[twins]], mean_response[twin_of[twins]]
    return share, mean_response, log_response
