"""A layer that learns from a stream, however the stream is cut into pieces."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gaussian_neurons import diagnostics
from gaussian_neurons.bad_rows import BadRow
from gaussian_neurons.first_data import Ready, neurons_at, prepare, uniform
from gaussian_neurons.interrupts import held_back
from gaussian_neurons.learning import native
from gaussian_neurons.settings import Settings
from gaussian_neurons.state import Neurons

Array = NDArray[Any]

INITIAL, DRAWN, ADDED = range(3)  # what randomness is for


def window_for(dimensions: int) -> int:
    """How many samples are kept: 1000, fewer where one is very long, so that 64 MiB are enough."""
    return int(np.clip((1 << 23) // dimensions, 100, 1000))


def next_review(seen: int, window: int) -> int:
    """When it is next time to remember: after 1, 2, 5, 10, 20, ..., 100, 150, 200, ... windows of samples.

    A review costs as much as some thousand samples of a small layer.

    Examples
    --------
    >>> [next_review(seen, 1000) for seen in (0, 999, 1000, 2000, 5000, 9999, 10000, 100000, 149999)]
    [1000, 1000, 2000, 5000, 10000, 10000, 20000, 150000, 150000]
    """
    windows = seen // window
    step = 10 if windows < 100 else 50
    return window * next((early for early in (1, 2, 5) if windows < early), (windows // step + 1) * step)


@dataclass
class Learner:
    """The neurons of a stream and its most recent samples.

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
    _guess: tuple[int, Settings, Ready] | None = field(default=None, repr=False, compare=False)
    _found: tuple[Neurons, int, diagnostics.Diagnosis] | None = field(default=None, repr=False, compare=False)

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

    def learn(self, x: Array, sample_widths: Array | None, settings: Settings) -> None:
        """Take in rows in their order.

        Bad rows or numbers that run away leave everything as it was; an interrupt leaves what was
        learned until then.
        """
        begin = 0

        def tried(step: Callable[..., int], *arguments: Any) -> int:
            try:
                return step(*arguments)
            except BadRow as bad:
                before.put_back(self)
                raise bad.later(begin) from None
            except Exception:
                before.put_back(self)
                raise

        before = _Before(self)
        if len(x) > self._until_review():
            before.copy_rows(self)
        while True:
            tried(self._settle_if_complete, settings)
            if begin >= len(x):
                return
            with held_back() as interrupts:  # afterwards, whatever is done about them, no row is lost
                widths = None if sample_widths is None else sample_widths[begin:]
                begin += tried(self._learn_some, x[begin:], widths, settings, interrupts, before)

    def settle(self, settings: Settings) -> Ready:
        """Make do with the samples there are: place the neurons and learn from what was kept."""
        if self.ready is None:
            ready = self._from_kept(settings)
            with held_back():
                self.ready = ready
                self._review(ready)
        return self.ready

    def now(self, settings: Settings) -> Ready:
        """The neurons as they are, or while the first data is coming in, as they would be."""
        if self.ready is not None:
            return self.ready
        guess = self._guess
        if guess is None or guess[0] != self.received or not guess[1].same_as(settings):
            self._guess = guess = (self.received, settings, self._from_kept(settings))
        return guess[2]

    def diagnose(self, now: Ready) -> diagnostics.Diagnosis:
        """Which of these neurons learned."""
        found = self._found
        seen = int(now.neurons.seen[0])
        if found is None or found[0] is not now.neurons or found[1] != seen:
            facts = diagnostics.diagnose(now.neurons, self.samples, now.low, now.high)
            self._found = found = (now.neurons, seen, facts)
        return found[2]

    def add(self, centers: Array | None, count: int, widths: Array, settings: Settings) -> None:
        """Neurons at `centers`, or `count` of them drawn from the domain."""
        now = self.now(settings)
        if centers is None:
            centers = uniform(now.low, now.high, count, self.random(ADDED, self.additions))
        others = neurons_at(centers, widths, self.recent.dtype.type, born=self.seen)
        ready = self.settle(settings)
        ready.neurons = ready.neurons.add(others)
        self.additions += 1

    def keep(self, which: NDArray[np.bool_], settings: Settings) -> None:
        """Those neurons of the mask; the others are gone."""
        ready = self.settle(settings)
        ready.neurons = ready.neurons.keep(which)

    def _learn_some(
        self,
        x: Array,
        sample_widths: Array | None,
        settings: Settings,
        interrupts: list[Any],
        before: "_Before",
    ) -> int:
        """Learn from rows until the next review, or an interrupt; say how many there were."""
        ready = self.ready
        if ready is None:
            return self._wait(x, sample_widths)
        seen = int(ready.neurons.seen[0])
        end = min(len(x), self._until_review())
        rule = self._rule(ready, settings, None if sample_widths is None else sample_widths[:end])
        try:
            for _ in native.steps(ready.neurons, x[:end], **rule):
                if interrupts:  # whoever handles them may want to go on, and meet a bad row
                    before.copy_rows(self)
                    break
        finally:  # an alarm may raise, too: what the neurons have seen and what is kept belong together
            learned = int(ready.neurons.seen[0]) - seen
            if learned:
                self._keep(x[:learned], None if sample_widths is None else sample_widths[:learned])
                self._review(ready)
        return learned

    def _wait(self, x: Array, sample_widths: Array | None) -> int:
        """Keep rows until the first data is complete; say how many were taken."""
        taken = min(len(x), len(self.recent) - self.received)
        native.require_finite(x[:taken], self.recent.dtype)
        self._keep(x[:taken], None if sample_widths is None else sample_widths[:taken])
        return taken

    def _settle_if_complete(self, settings: Settings) -> int:
        """Place the neurons once all that they need is there. It can be interrupted, and then tried again."""
        if self.ready is None and (not settings.needs_first_data or self.received == len(self.recent)):
            self.settle(settings)
        return 0

    def _from_kept(self, settings: Settings) -> Ready:
        """Neurons placed by the samples kept so far, and taught by them."""
        kept = self.recent_widths[: self.received]
        widths = None if np.isnan(kept).any() else kept
        ready = prepare(settings, self.samples, widths, self.random(INITIAL))
        native.learn(ready.neurons, self.samples, **self._rule(ready, settings, widths))
        return ready

    def _until_review(self) -> int:
        return next_review(self.seen, len(self.recent)) - self.seen

    def _review(self, ready: Ready) -> None:
        seen = int(ready.neurons.seen[0])
        if seen and seen == next_review(seen - 1, len(self.recent)):
            diagnostics.remember(ready.neurons, self.samples)

    def _rule(self, ready: Ready, settings: Settings, sample_widths: Array | None) -> dict[str, Any]:
        rate = ready.learning_rate if settings.learning_rate is None else settings.learning_rate
        learns_widths = settings.width_learning_rate > 0
        return {
            "inhibition": settings.inhibition,
            "learning_rate": rate,
            "width_learning_rate": settings.width_learning_rate,
            "sample_widths": sample_widths if learns_widths else None,
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
        self.received, self.ready = learner.received, learner.ready
        self.neurons = None if learner.ready is None else learner.ready.neurons.copy()
        self.rows: tuple[Array, Array] | None = None

    def copy_rows(self, learner: Learner) -> None:
        """Copy the rows, if they are still what they were."""
        if learner.received == self.received and self.rows is None:
            self.rows = (learner.recent.copy(), learner.recent_widths.copy())

    def put_back(self, learner: Learner) -> None:
        """Make the learner what it was."""
        learner.received, learner.ready = self.received, self.ready
        if self.rows is not None:
            learner.recent, learner.recent_widths = self.rows
        if learner.ready is not None and self.neurons is not None:
            learner.ready.neurons = self.neurons
