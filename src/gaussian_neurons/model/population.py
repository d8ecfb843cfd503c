"""Many models of the same samples, of which only the last look is asked: the models of a sweep.

Each learns what `learner.advance` would let it learn, bit for bit. All learn together, in the threads of the
compiled core, and a review does only what changes neurons: it reports no events and numbers no clusters.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from numpy.typing import NDArray

from gaussian_neurons.base.bad_rows import BadRow
from gaussian_neurons.clustering.diagnosis import Diagnosis, remember
from gaussian_neurons.learning.backends import learn_many
from gaussian_neurons.model.learner import is_review, rule_of, started
from gaussian_neurons.model.recent import Recent
from gaussian_neurons.model.settings import Settings
from gaussian_neurons.model.state import Network
from gaussian_neurons.model.timetable import last_look, next_review, next_sharing_review

Array = NDArray[Any]


class Member(NamedTuple):
    """A model that has not learned yet, with given widths."""

    seed: int
    settings: Settings


@dataclass
class Population:
    """Models that learn the same samples; those that fail are left out.

    Parameters
    ----------
    members : they differ in nothing but their widths, inhibitions and seeds
    recent : no samples yet
    threads : of the compiled core
    """

    members: Sequence[Member]
    recent: Recent
    threads: int = 1

    def __post_init__(self) -> None:
        self.networks: dict[int, Network] = {}
        self.failures: dict[int, str] = {}
        self._started = False
        if not self.members[0].settings.needs_first_data:
            self._start()

    def learn(self, x: Array) -> None:
        """Learn from samples, in their order."""
        while len(x):
            if self._started:
                x = x[self._learn(x) :]
                continue
            taken = x[: self.recent.window - self.recent.received]
            self.recent, x = self.recent.extended(taken, None), x[len(taken) :]
            if self.recent.received == self.recent.window:
                self._start()

    def concluded(self) -> dict[int, Diagnosis]:
        """What each found, after a last review: as after `fit`."""
        if not self._started:
            self._start()
        self._review()
        return self._diagnoses()

    def looked(self) -> dict[int, Diagnosis]:
        """What each found at its last look: as after `learn`."""
        if not self._started:
            self.recent = self.recent.first(last_look(self.recent.received))
            self._start()
        return self._diagnoses()

    def _start(self) -> None:
        self._started = True
        raw = self.recent
        for index, (seed, settings) in enumerate(self.members):
            try:
                self.networks[index] = network = started(raw, settings, seed)
            except BadRow:
                raise  # all have it
            except ValueError as error:
                self.failures[index] = str(error)
                continue
            self.recent = network.look.recent  # with the scales of the columns, which all share
        self._learn_many(self.recent.samples)
        self._look()
        if is_review(self.recent.received, self.recent.window):
            self._review()

    def _learn(self, x: Array) -> int:
        """Learn from a block of samples: until the next review, the last look in it, or its end."""
        recent, seen, window = self.recent, self.recent.received, self.recent.window
        review, look = next_review(seen, window), last_look(seen + len(x))
        renewal = review if recent.scaling is None else next_sharing_review(seen, window)
        stop = min(review, renewal, look if look > seen else review, seen + len(x))
        x = x[: stop - seen]
        self._learn_many(recent.scaled(x))
        self.recent = recent = recent.extended(x, None)
        if stop == renewal and recent.scaling is not None:
            scaling = recent.scaling.renewed(recent.raw)
            if scaling is not recent.scaling:
                self.recent = recent = replace(recent, scaling=scaling)
                self.networks = {index: it.rescaled(recent) for index, it in self.networks.items()}
        if stop == review:
            self._review()
        elif stop == look:
            self._look()
        return len(x)

    def _learn_many(self, x: Array) -> None:
        """Learn together; if one diverges, each by itself."""
        try:
            self._learn_group(list(self.networks), x)
        except FloatingPointError:
            for index in list(self.networks):
                try:
                    self._learn_group([index], x)
                except FloatingPointError as error:
                    self.failures[index] = str(error)
                    del self.networks[index]

    def _learn_group(self, group: list[int], x: Array) -> None:
        if not group:
            return
        settings = [self.members[index].settings for index in group]
        before = [self.networks[index].neurons for index in group]
        rules = [rule_of(self.networks[index], one) for index, one in zip(group, settings, strict=True)]
        blocks = list(learn_many(before, x, rules, None, settings[0].backend, self.threads))
        for index, neurons in zip(group, blocks[-1] if blocks else before, strict=True):
            self.networks[index] = self.networks[index].with_neurons(neurons)

    def _review(self) -> None:
        samples = self.recent.samples
        for index, network in self.networks.items():
            self.networks[index] = network.with_neurons(remember(network.neurons, samples))
        self._look()

    def _look(self) -> None:
        self.networks = {index: network.with_look(self.recent) for index, network in self.networks.items()}

    def _diagnoses(self) -> dict[int, Diagnosis]:
        return {index: network.look.diagnosis for index, network in self.networks.items()}
