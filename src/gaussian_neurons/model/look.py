"""A look: which neurons learned and which are clusters, decided at a fixed sample number.

Between two looks these decisions stay, while neurons keep moving. What a look finds is computed when it is
first needed, and only once.
"""

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2

from gaussian_neurons.clustering.diagnosis import Diagnosis, Won, diagnose
from gaussian_neurons.clustering.normal import NOVEL
from gaussian_neurons.clustering.numbering import Clusters, Found
from gaussian_neurons.learning.neurons import Neurons
from gaussian_neurons.learning.reference_shares import shares_of
from gaussian_neurons.learning.responses import log_response_blocks, strongest
from gaussian_neurons.learning.rule import SHARED_RATE
from gaussian_neurons.learning.starts import mean_of
from gaussian_neurons.model.recent import Recent

Array = NDArray[Any]
Indices = NDArray[np.int64]

LEAST_SCORE = math.log(1e-3)  # given width: a row whose log-responses are all below is out of reach
LEAST_WIDTH_LEFT = 0.1  # of a neuron without one of its samples, as a part of its width
COUNTED = 0.01  # least share of a neuron in a sample that counts as learned
SELECTING = 8  # directions in which a neuron is where it is because of which samples it has won
MOST = 0.25  # a neuron that is one sample to a larger part does not win the sample without it
TAIL, TAIL_PART = 10, 0.03  # samples, and part of the recent ones, that the rate of rare scores rests on


def unlearned(
    neurons: Neurons, learned: Indices, newest: Array, later: int, drawn_from: float | None = None
) -> Array:
    """The scores of samples if the neurons had not learned from them, (n,).

    A neuron is an average of its samples. The rule [22] gives the weight that each has in there by now, and
    so the center and the width without it [28]. The winner is the one without it, too. A sample that has also
    decided what a neuron is an average of has up to twice that weight: one of the first data, by k-means, and
    one of few rows that were drawn again and again.

    Parameters
    ----------
    neurons : Neurons that share samples
    learned : indices of those that can win
    newest : (n, D), the newest sample first
    later : how many of them came after the first data
    drawn_from : the number of rows that all samples were drawn from at random; None: each came once
    """
    dimensions, total, found = newest.shape[1], neurons.total.copy(), np.empty(len(newest))
    volumes = dimensions / 2 * np.log(neurons.widths.astype(np.float64))
    left = np.ones(len(neurons))  # of each average, after the samples that are newer
    more = min(1.0, SELECTING / dimensions)
    rows = None if drawn_from is None else drawn_from * mean_shares(neurons, newest)  # won by each, (K,)
    for begin, logs in log_response_blocks(newest, neurons.centers, neurons.widths):
        squared = -logs.astype(np.float64)  # in widths
        density = -squared - volumes
        share = shares_of(density)
        share[:, neurons.resting] = 0.0
        own = np.flatnonzero(share >= COUNTED)
        row, neuron = np.divmod(own, len(neurons))
        sums, after = np.cumsum(share, axis=0), np.ones_like(share)
        part = share.take(own)
        totals = np.maximum(total[neuron] - sums.take(own) + part, part)
        step = part * np.maximum(SHARED_RATE, 1 / (1 + totals))
        after.put(own, 1 - step)
        after = np.cumprod(after, axis=0) * left
        total, left = total - sums[-1], after[-1]
        weight = step / (1 - step) * after.take(own)
        if rows is not None:  # the same row was drawn before
            weight += (1 - weight) * np.minimum(part / rows[neuron], 1.0)
        selected = (1 + more) * weight / (1 + more * weight)
        weight = np.where((begin + row < later) & (rows is None), weight, selected)
        gone, weight = weight > MOST, np.minimum(weight, MOST)
        far = squared.take(own)
        stays = 1 - 2 * weight * far / (dimensions * (1 - weight))  # of width / (1 - weight)
        weight[stays <= 0], stays[stays <= 0] = 0.0, 1.0  # farther than any learned sample: it was novel
        stays = np.maximum(stays, LEAST_WIDTH_LEFT)
        far /= (1 - weight) * stays
        squared.put(own, far)
        without = -far - volumes[neuron] - dimensions / 2 * np.log(stays / (1 - weight))
        density.put(own, np.where(gone, -np.inf, without))
        winner = learned[density[:, learned].argmax(axis=1)]
        found[begin : begin + len(logs)] = -squared[np.arange(len(logs)), winner]
    return found


def mean_shares(neurons: Neurons, samples: Array) -> Array:
    """The mean share of each neuron in the samples, (K,)."""
    volumes, total = samples.shape[1] / 2 * np.log(neurons.widths.astype(np.float64)), np.zeros(len(neurons))
    for _, logs in log_response_blocks(samples, neurons.centers, neurons.widths):
        total += shares_of(logs - volumes).sum(axis=0)
    return total / len(samples)


@dataclass(frozen=True, eq=False)
class Look:
    """The neurons that answer and the recent samples, as they were at the look."""

    neurons: Neurons
    recent: Recent
    low: Array  # (D,) corner of the domain
    high: Array  # (D,)
    known: Clusters  # of an automatic width those of the look, else those of the last review
    shared: bool  # neurons share samples: the width is automatic
    drawn_from: float | None = None  # rows that all samples were drawn from at random; None: a stream

    def __getstate__(self) -> dict[str, Any]:
        return dict(vars(self))  # a copy: another thread may add a cached value meanwhile

    @cached_property
    def won(self) -> Won:
        """Which neurons win the recent samples."""
        return Won.of(self.neurons, self.recent.samples, self.shared)

    @cached_property
    def diagnosis(self) -> Diagnosis:
        """Which neurons learned, and the facts behind that."""
        samples = self.recent.samples
        facts = diagnose(self.neurons, samples, self.low, self.high, self.shared, self.won)
        if not self.shared:
            return facts
        nothing = np.zeros(len(self.neurons), bool)
        return replace(facts, learned=self.known.number >= 0, remembered=nothing)

    @cached_property
    def learned(self) -> Indices:
        """The neurons that learned."""
        if self.shared:
            return np.flatnonzero(self.known.number >= 0)
        return np.flatnonzero(self.diagnosis.learned)

    @cached_property
    def clusters(self) -> Clusters:
        """Which neurons form which cluster: with a single width, each learned neuron is one."""
        if self.shared:
            return self.known
        group = np.where(self.diagnosis.learned, np.arange(len(self.neurons)), -1)
        return self.known.renewed(group, self.diagnosis.share)

    @cached_property
    def found_then(self) -> Found:
        """The clusters at the look."""
        return self.clusters.found(self.neurons, self.recent.samples if self.shared else None)

    @cached_property
    def scores(self) -> Array:
        """The largest log-response of a learned neuron to each recent sample, sorted, (n,).

        Of equal samples in succession, as of a sensor that stands still, one counts.
        """
        newest = self.recent.newest(self.recent.window)[::-1]
        if self.shared and len(self.learned):
            later = self.recent.received - self.recent.window
            scores = unlearned(self.neurons, self.learned, newest, later, self.drawn_from)
        else:
            chosen = self.neurons.centers[self.learned], self.neurons.widths[self.learned]
            scores = strongest(newest, *chosen)[1]
        differs = np.ones(len(newest), bool)
        differs[1:] = (newest[1:] != newest[:-1]).any(axis=1)
        return np.sort(scores[differs])

    def score_below(self, part: float) -> float:
        """The score below which this part of samples like the recent ones is, or infinity.

        If that rests on fewer than TAIL of the recent samples, it is the expected part of an exponential tail
        whose rate is known from the k lowest scores only: (1 + excess / (k mean))^-k. If there are fewer than
        TAIL different scores, the tail is that of a normal distribution, or of a given width.
        """
        if not len(self.learned) or not len(self.scores):
            return float("inf")
        if len(self.scores) < TAIL:
            return -float(chi2.isf(part, self.recent.n_features)) / 2 if self.shared else LEAST_SCORE
        scores, least = self._finite_scores
        if part * len(scores) >= TAIL or part == 0:
            found = float(np.quantile(scores, part))
        else:
            lowest, excess = self._tail
            beyond = (len(lowest) / (part * len(scores))) ** (1 / len(lowest)) - 1
            found = float(lowest[-1]) - excess * len(lowest) * beyond
        return found if found > least else -float("inf")

    def part_below(self, score: float) -> float:
        """The part of samples like the recent ones with a lower score: what `score_below` inverts.

        Examples
        --------
        >>> from gaussian_neurons import GaussianNeurons
        >>> x = np.random.default_rng(0).normal(size=(1000, 2))
        >>> look = GaussianNeurons(random_state=0).partial_fit(x)._network.look
        >>> [round(look.part_below(look.score_below(part)), 6) for part in (0.0001, 0.001, 0.02, 0.5)]
        [0.0001, 0.001, 0.02, 0.5]
        """
        if not len(self.learned) or not len(self.scores):
            return 0.0
        if len(self.scores) < TAIL:
            sure = float(chi2.sf(-2 * score, self.recent.n_features)) if self.shared else score >= LEAST_SCORE
            return float(sure)
        scores, _ = self._finite_scores
        part = float(np.interp(score, scores, np.linspace(0, 1, len(scores))))
        if part * len(scores) >= TAIL:
            return part
        lowest, excess = self._tail
        if not excess:
            return part if score >= lowest[-1] else 0.0
        beyond = max(0.0, (float(lowest[-1]) - score) / (excess * len(lowest)))
        tail = len(lowest) / len(scores) * (1 + beyond) ** -len(lowest)
        return float(min(tail, TAIL / len(scores)))

    @cached_property
    def _finite_scores(self) -> tuple[Array, float]:
        """The scores with the least number in place of minus infinity: interpolation would give NaN."""
        least = float(np.finfo(self.scores.dtype).min)
        return np.maximum(self.scores, least).astype(np.float64), least

    @cached_property
    def _tail(self) -> tuple[Array, float]:
        """The lowest scores, and by how much the last of them exceeds their mean."""
        scores, _ = self._finite_scores
        lowest = scores[: max(TAIL, math.ceil(TAIL_PART * len(scores)))]
        return lowest, float(lowest[-1] - mean_of(lowest))

    @cached_property
    def novel_score(self) -> float:
        """The score below which a row belongs to no cluster, and is not learned if neurons share samples."""
        return self.score_below(NOVEL)

    def found(self, neurons: Neurons) -> Found:
        """The clusters with the neurons as they are now.

        With a single width a cluster is at its neuron. With an automatic one it stays at the mean of its
        samples at the look: it can have several neurons.
        """
        then = self.found_then
        if self.shared:
            return then
        return Found(then.numbers, neurons.centers[self._first], neurons.widths[self._first])

    @cached_property
    def _first(self) -> Indices:
        return self.clusters.first_neurons()[1]
