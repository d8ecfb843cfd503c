"""A look: which neurons learned and which are clusters, decided at a fixed sample number.

Between two looks these decisions stay, while neurons keep moving. What a look finds is computed when it is
first needed, and only once.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gaussian_neurons.clustering.diagnosis import Diagnosis, diagnose
from gaussian_neurons.clustering.numbering import Clusters, Found
from gaussian_neurons.learning.neurons import Neurons
from gaussian_neurons.learning.responses import strongest
from gaussian_neurons.model.recent import Recent

Array = NDArray[Any]
Indices = NDArray[np.int64]


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
        return np.sort(strongest(self.recent.samples, *chosen, self.shared)[1])

    def score_below(self, part: float) -> float:
        """The score below which this part of the recent samples is; infinite if nothing was learned."""
        if not len(self.learned) or not len(self.scores):
            return float("inf")
        least = float(np.finfo(self.scores.dtype).min)  # interpolation with minus infinity gives NaN
        found = float(np.quantile(np.maximum(self.scores, least), part))
        return found if found > least else -float("inf")

    @cached_property
    def rare_score(self) -> float:
        """The score that all but 1 % of the recent samples exceed."""
        return self.score_below(0.01)

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
