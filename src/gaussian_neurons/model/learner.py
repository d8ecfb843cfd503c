"""A layer that learns from a stream, however the stream is cut into pieces."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from gaussian_neurons.base.bad_rows import BadRow
from gaussian_neurons.base.interrupts import held_back
from gaussian_neurons.clustering import diagnosis as diagnostics
from gaussian_neurons.clustering import ladder
from gaussian_neurons.clustering.ladder import Layer
from gaussian_neurons.clustering.numbering import Clusters, Found
from gaussian_neurons.learning import native
from gaussian_neurons.learning.neurons import Neurons
from gaussian_neurons.learning.starts import neurons_at, uniform
from gaussian_neurons.model.first_data import Ready, prepare
from gaussian_neurons.model.settings import Settings
from gaussian_neurons.model.timetable import looked_at, next_look, next_review

Array = NDArray[Any]
T = TypeVar("T")

INITIAL, DRAWN, ADDED, REVIEWED = range(4)  # what randomness is for


def window_for(dimensions: int) -> int:
    """How many samples are kept: 1000, fewer where one is very long, so that 64 MiB are enough."""
    return int(np.clip((1 << 23) // dimensions, 100, 1000))


class Watcher(Protocol):
    """Somebody who looks at what is learned, now and then, and changes nothing."""

    def is_due(self) -> bool:
        """Whether it is time to look."""

    def look(self) -> None:
        """Look, if it is time to."""


@dataclass
class Learner:
    """The layers of a stream and its most recent samples.

    Until the first `window` samples are there, whatever has to be taken from the first data is
    unknown: they are kept, and once they are complete, learned from in their order. So the result
    does not depend on how the stream was cut. Before that, `now` answers from what is there.
    """

    recent: Array  # (window, D)  sample t lies in slot t mod window
    recent_widths: Array  # (window,)    its own width, NaN where it has none
    seed: int
    received: int = 0  # samples taken in
    skipped: int = 0  # rows of streams that were left out
    additions: int = 0  # calls of add, each with randomness of its own
    ready: Ready | None = None  # None: still waiting for the first data
    owed: Settings | None = None  # for a review that is due: it comes before all that follows
    _guess: tuple[int, Settings, Ready] | None = field(default=None, repr=False, compare=False)
    _facts: tuple[Neurons, int, diagnostics.Diagnosis] | None = field(default=None, repr=False, compare=False)
    _clusters: tuple[Neurons, int, Found] | None = field(default=None, repr=False, compare=False)

    @classmethod
    def new(cls, dimensions: int, dtype: Any, seed: int) -> "Learner":
        """A learner that has seen nothing."""
        window = window_for(dimensions)
        return cls(np.zeros((window, dimensions), dtype), np.full(window, np.nan), seed)

    def random(self, purpose: int, turn: int = 0) -> np.random.Generator:
        """Numbers that depend on the seed, on what they are for, and on nothing else."""
        key = np.array([self.seed, (turn << 8) + purpose], np.uint64)
        return np.random.Generator(np.random.Philox(key=key))

    @property
    def seen(self) -> int:
        """Samples learned from; while the first data is coming in, those that would be."""
        return self.received if self.ready is None else int(self.ready.neurons.seen[0])

    @property
    def samples(self) -> Array:
        """The most recent samples, (n, D)."""
        return self.recent[: self.received]

    def learn(
        self, x: Array, sample_widths: Array | None, settings: Settings, watcher: Watcher | None = None
    ) -> None:
        """Take in rows in their order; a watcher may look between two blocks of them.

        Bad rows or numbers that run away leave everything as it was; an interrupt leaves what was
        learned until then.
        """
        begin = 0

        def tried(step: Callable[..., T], *arguments: Any) -> T:
            try:
                return step(*arguments)
            except BadRow as bad:
                before.put_back(self)
                raise bad.later(begin) from None
            except Exception:
                before.put_back(self)
                raise

        if self.ready is not None and self.ready.is_ladder and settings.width_learning_rate > 0:
            raise ValueError(
                "a model that began with width='auto' cannot learn widths: leave width_learning_rate at 0, "
                "or begin a new model with it."
            )
        self.catch_up()
        before = _Before(self)
        if len(x) >= self._until_review():
            before.copy_rows(self)
        while True:
            if self.ready is None and self._is_complete(settings):
                tried(self.settle, settings)  # it can be interrupted, and is tried again then
            if watcher is not None and begin:
                watcher.look()
            if begin >= len(x):
                return
            with held_back() as interrupts:  # afterwards, whatever is done about them, no row is lost
                widths = None if sample_widths is None else sample_widths[begin:]
                begin += tried(self._learn_some, x[begin:], widths, settings, interrupts, before, watcher)
                if self.owed is not None:
                    tried(self.catch_up)

    def settle(self, settings: Settings) -> Ready:
        """Make do with the samples there are: place the neurons and learn from what was kept."""
        self.ready = self._settled(settings)
        return self.ready

    def catch_up(self) -> None:
        """Review the layers, if that is owed.

        What an alarm raises on the way leaves everything as it was, and it is tried again.
        """
        ready, settings = self.ready, self.owed
        if ready is not None and settings is not None:
            with held_back():
                reviewed = ready.copy() if ready.is_ladder else ready  # whose review can be done twice
                self._review(reviewed, self.samples, settings)
                self.ready, self.owed = reviewed, None

    def conclude(self, settings: Settings) -> None:
        """Look at all that was learned once more, and number the clusters anew: the stream has ended."""
        concluded = self.settle(settings).copy()
        clusters = Clusters.none(len(concluded.neurons))
        with held_back():
            concluded.clusters = replace(clusters, layer=concluded.clusters.layer)
            self._review(concluded, self.samples, settings)
            self.ready = concluded

    def now(self, settings: Settings) -> Ready:
        """The layers as they are, or while the first data is coming in, as they would be."""
        if self.ready is not None:
            self.catch_up()
            return self.ready
        is_early = settings.is_ladder and not self._is_complete(settings)
        count = looked_at(self.received) if is_early else self.received
        guess = self._guess
        if guess is None or guess[0] != count or not guess[1].same_as(settings):
            self._guess = guess = (count, settings, self._from_kept(settings, count))
        return guess[2]

    def diagnose(self, now: Ready) -> diagnostics.Diagnosis:
        """Which of the neurons that answer learned."""
        known = self._facts
        seen = int(now.neurons.seen[0])
        if known is None or known[0] is not now.neurons or known[1] != seen:
            facts = diagnostics.diagnose(now.neurons, self.samples, now.low, now.high)
            if now.is_ladder:  # which has its own way to tell
                facts = replace(
                    facts, learned=now.clusters.number >= 0, remembered=np.zeros(len(now.neurons), bool)
                )
            self._facts = known = (now.neurons, seen, facts)
        return known[2]

    def clusters(self, now: Ready) -> Clusters:
        """Which neurons are clusters: of a ladder as it was last reviewed, otherwise as things stand."""
        return now.clusters if now.is_ladder else self._numbered(now)

    def found(self, now: Ready) -> Found:
        """Where the clusters are."""
        known = self._clusters
        seen = int(now.neurons.seen[0])
        if known is None or known[0] is not now.neurons or known[1] != seen:
            where = self.clusters(now).found(now.neurons, self.samples if now.is_ladder else None)
            self._clusters = known = (now.neurons, seen, where)
        return known[2]

    def add(self, centers: Array | None, count: int, widths: Array, settings: Settings) -> None:
        """Neurons at `centers`, or `count` of them drawn from the domain."""
        now = self.now(settings)
        if centers is None:
            centers = uniform(now.low, now.high, count, self.random(ADDED, self.additions))
        others = neurons_at(centers, widths, self.recent.dtype.type, born=self.seen)
        before = self._settled(settings)
        places = np.append(np.arange(len(before.neurons)), [-1] * count)
        self.ready, self.additions = before.exchanged(before.neurons.add(others), places), self.additions + 1

    def keep(self, which: NDArray[np.bool_], settings: Settings) -> None:
        """Those neurons of the mask; the others are gone."""
        before = self._settled(settings)
        self.ready = before.exchanged(before.neurons.keep(which), np.flatnonzero(which))

    def move(
        self, which: NDArray[np.int64], centers: Array | None, widths: Array | None, settings: Settings
    ) -> None:
        """Those neurons at other centers, or with other widths; None leaves them what they are."""
        now = self.now(settings).neurons
        placed = neurons_at(  # in the model's precision, before anything changes
            now.centers[which] if centers is None else centers,
            now.widths[which] if widths is None else widths,
            self.recent.dtype.type,
        )
        before = self._settled(settings)
        neurons = before.neurons.move(
            which, None if centers is None else placed.centers, None if widths is None else placed.widths
        )
        moved = (neurons.centers != before.neurons.centers).any(axis=1)
        # what they find elsewhere is another cluster
        self.ready = before.exchanged(neurons, np.where(moved, -1, np.arange(len(neurons))))

    def _learn_some(
        self,
        x: Array,
        sample_widths: Array | None,
        settings: Settings,
        interrupts: list[Any],
        before: "_Before",
        watcher: Watcher | None,
    ) -> int:
        """Learn from rows until the next review, an interrupt or a look; say how many there were."""
        ready = self.ready
        if ready is None:
            return self._wait(x, sample_widths)
        seen = int(ready.neurons.seen[0])
        end = min(len(x), self._until_review())
        widths = None if sample_widths is None else sample_widths[:end]
        rules = [self._rule(layer, settings, widths) for layer in ready.layers]

        def note() -> int:
            learned = int(ready.neurons.seen[0]) - seen
            if learned:
                self.owed = settings if self._is_due(ready) else None
                self._keep(x[:learned], None if sample_widths is None else sample_widths[:learned])
            return learned

        try:
            for _ in ladder.steps(ready.layers, x[:end], rules):
                if interrupts or (watcher is not None and watcher.is_due()):
                    # whoever handles them may want to go on, and meet a bad row
                    before.copy_rows(self)
                    break
        except Exception:
            raise  # all is put back: nothing was kept
        except BaseException:  # of an alarm's: what the neurons have seen and what is kept belong together
            note()
            raise
        return note()

    def _wait(self, x: Array, sample_widths: Array | None) -> int:
        """Keep rows until the first data is complete; say how many were taken."""
        taken = min(len(x), len(self.recent) - self.received)
        native.require_finite(x[:taken], self.recent.dtype)
        self._keep(x[:taken], None if sample_widths is None else sample_widths[:taken])
        return taken

    def _settled(self, settings: Settings) -> Ready:
        """The layers as they are, or as the samples there are would place them."""
        if self.ready is None:
            return self._from_kept(settings, self.received)
        self.catch_up()
        return self.ready

    def _is_complete(self, settings: Settings) -> bool:
        """Whether all is there that neurons need to be placed."""
        return not settings.needs_first_data or self.received == len(self.recent)

    def _from_kept(self, settings: Settings, count: int) -> Ready:
        """Layers placed by the first so many samples, all of which are still kept, and taught by them."""
        samples, kept = self.recent[:count], self.recent_widths[:count]
        widths = None if np.isnan(kept).any() else kept
        ready = prepare(settings, samples, widths, self.random(INITIAL))
        for layer in ready.layers:
            self._teach(layer, samples, settings, widths)
        if ready.is_ladder or self._is_due(ready):
            with held_back():  # NumPy may make another error of an interrupt
                self._review(ready, samples, settings)
        return ready

    def _teach(self, layer: Layer, samples: Array, settings: Settings, widths: Array | None) -> None:
        native.learn(layer.neurons, samples, **self._rule(layer, settings, widths))

    def _until_review(self) -> int:
        is_ladder = self.ready is not None and self.ready.is_ladder
        return (next_look if is_ladder else next_review)(self.seen, len(self.recent)) - self.seen

    def _is_due(self, ready: Ready) -> bool:
        seen = int(ready.neurons.seen[0])
        due = next_look if ready.is_ladder else next_review
        return seen > 0 and seen == due(seen - 1, len(self.recent))

    def _review(self, ready: Ready, recent: Array, settings: Settings) -> None:
        """Look what the layers have found, and note it. Answers from before a look are not those after it."""
        self._facts = self._clusters = None
        if ready.is_ladder:
            before = ready.neurons
            seen = int(before.seen[0])
            random = self.random(REVIEWED, seen)
            teach = partial(self._teach, settings=settings, widths=None)
            layer, group, share, ready.cloud = ladder.review(ready.layers, recent, teach, random, ready.cloud)
            now = ready.layers[layer].neurons
            renewed = ready.clusters.renewed(layer, group, share, before, now, recent)
            renewed = renewed.returned(renewed.found(now, recent), recent)
            ready.clusters = renewed.reported(renewed.found(now, recent), seen, recent)
        else:
            neurons = ready.neurons
            seen = int(neurons.seen[0])
            facts = diagnostics.diagnose(neurons, recent, ready.low, ready.high, remember=True)
            self._facts = (neurons, seen, facts)
            numbered = self._numbered(ready)
            ready.clusters = numbered.reported(numbered.found(neurons), seen, recent)

    def _numbered(self, ready: Ready) -> Clusters:
        """Every neuron that learned as a cluster."""
        facts, neurons = self.diagnose(ready), ready.neurons
        group = np.where(facts.learned, np.arange(len(neurons)), -1)
        return ready.clusters.renewed(0, group, facts.share, neurons, neurons, self.samples)

    def _rule(self, layer: Layer, settings: Settings, sample_widths: Array | None) -> dict[str, Any]:
        learns_widths = settings.width_learning_rate > 0
        return {
            "inhibition": layer.inhibition if settings.inhibition is None else settings.inhibition,
            "learning_rate": layer.learning_rate
            if settings.learning_rate is None
            else settings.learning_rate,
            "width_learning_rate": settings.width_learning_rate,
            "sample_widths": sample_widths if learns_widths else None,
            "repulsion_every": settings.repulsion_every,
        }

    def _keep(self, x: Array, sample_widths: Array | None) -> None:
        window, begin = len(self.recent), max(0, len(x) - len(self.recent))
        while begin < len(x):  # up to the end of the ring, then from its beginning
            slot = (self.received + begin) % window
            end = min(len(x), begin + window - slot)
            slots = slice(slot, slot + end - begin)
            self.recent[slots] = x[begin:end]
            self.recent_widths[slots] = np.nan if sample_widths is None else sample_widths[begin:end]
            begin = end
        self.received += len(x)


class _Before:
    """What a learner was, to put it back on an error.

    One step of learning keeps no rows before it is through; only what several steps may change needs a
    copy of the rows.
    """

    def __init__(self, learner: Learner) -> None:
        self.received, self.owed = learner.received, learner.owed
        self.ready = None if learner.ready is None else learner.ready.copy()
        self.rows: tuple[Array, Array] | None = None

    def copy_rows(self, learner: Learner) -> None:
        """Copy the rows, if they are still what they were."""
        if learner.received == self.received and self.rows is None:
            self.rows = (learner.recent.copy(), learner.recent_widths.copy())

    def put_back(self, learner: Learner) -> None:
        """Make the learner what it was."""
        learner.received, learner.ready, learner.owed = self.received, self.ready, self.owed
        if self.rows is not None:
            learner.recent, learner.recent_widths = self.rows
