"""A look: which neurons learned and which are clusters, decided at a fixed sample number.

Between two looks these decisions stay, while neurons keep moving. What a look finds is computed when it is
first needed, and only once.
"""

import math
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2

from gaussian_neurons.clustering.diagnosis import Diagnosis, diagnose
from gaussian_neurons.clustering.numbering import Clusters, Found
from gaussian_neurons.learning.neurons import Neurons
from gaussian_neurons.learning.responses import strongest
from gaussian_neurons.learning.rule import SHARED_RATE
from gaussian_neurons.learning.starts import mean_of
from gaussian_neurons.model.recent import Recent

Array = NDArray[Any]
Indices = NDArray[np.int64]

NOVEL = 0.001  # part of the samples like the recent ones that belong to no cluster
LEAST_WIDTH_LEFT = 0.1  # of a neuron without one of its samples, as a part of its width
TAIL, TAIL_PART = 10, 0.05  # samples, and part of the recent ones, that the rate of rare scores rests on


def unlearned(log_responses: Array, totals: Array, dimensions: int) -> Array:
    """Log-responses to samples as they would be if the neurons had not learned from them.

    A sample is one of the n that a neuron has learned from; at the least rate it remembers 2 / rate of them.
    """
    part = np.maximum(1 / np.maximum(totals, 2.0), SHARED_RATE / 2)
    left = 1 - part
    squared = -log_responses.astype(np.float64)  # in widths
    width = np.maximum(1 - 2 * part * squared / (dimensions * left), LEAST_WIDTH_LEFT)
    found: Array = -squared / (left * width)
    return found


@lru_cache(maxsize=16)
def normal_reach(dimensions: int) -> float:
    """The |x - mu|^2 / sigma that this part of a normal distribution exceeds, if sigma / 2 is its variance.

    Examples
    --------
    >>> round(normal_reach(2), 3)  # -log(0.001)
    6.908
    """
    return float(chi2.isf(NOVEL, dimensions)) / 2


@dataclass(frozen=True, eq=False)
class Look:
    """The neurons that answer and the recent samples, as they were at the look."""

    neurons: Neurons
    recent: Recent
    low: Array  # (D,) corner of the domain
    high: Array  # (D,)
    known: Clusters  # of an automatic width those of the look, else those of the last review
    shared: bool  # neurons share samples: the width is automatic

    def __getstate__(self) -> dict[str, Any]:
        return dict(vars(self))  # a copy: another thread may add a cached value meanwhile

    @cached_property
    def diagnosis(self) -> Diagnosis:
        """Which neurons learned, and the facts behind that."""
        facts = diagnose(self.neurons, self.recent.samples, self.low, self.high, self.shared)
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
        """The largest log-response of a learned neuron to each recent sample, sorted, (n,)."""
        chosen = self.neurons.centers[self.learned], self.neurons.widths[self.learned]
        winner, scores = strongest(self.recent.samples, *chosen, self.shared)
        if self.shared and len(self.learned):
            scores = unlearned(scores, self.neurons.total[self.learned][winner], self.recent.n_features)
        return np.sort(scores)

    def score_below(self, part: float) -> float:
        """The score below which this part of samples like the recent ones is, or infinity.

        If that rests on fewer than TAIL of the recent samples, their lowest scores give an exponential tail.
        """
        if not len(self.learned) or not len(self.scores):
            return float("inf")
        least = float(np.finfo(self.scores.dtype).min)  # interpolation with minus infinity gives NaN
        scores = np.maximum(self.scores, least).astype(np.float64)
        if part * len(scores) >= TAIL or part == 0:
            found = float(np.quantile(scores, part))
        else:
            lowest = scores[: max(TAIL, math.ceil(TAIL_PART * len(scores)))]
            excess = float(lowest[-1] - mean_of(lowest))
            found = float(lowest[-1]) + excess * math.log(part * len(scores) / len(lowest))
        return found if found > least else -float("inf")

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
