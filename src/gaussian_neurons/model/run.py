"""A run: learning from a stream chunk by chunk, with progress, checkpoints and bad rows."""

import inspect
import sys
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gaussian_neurons.base.bad_rows import BadRow, bad_value_of, finite_rows
from gaussian_neurons.base.checks import checked_sample_widths, number, one_of, whole_number
from gaussian_neurons.base.interrupts import deferred_interrupts
from gaussian_neurons.base.progress import Bar, is_interactive
from gaussian_neurons.base.tables import as_numbers
from gaussian_neurons.base.warn import warn
from gaussian_neurons.clustering.numbering import Event
from gaussian_neurons.model import archive, learner, model_file
from gaussian_neurons.model.checkpoint import ON_WRITE_ERROR, Checkpoint, Reached
from gaussian_neurons.model.columns import require_columns
from gaussian_neurons.model.look import Look
from gaussian_neurons.model.settings import Settings
from gaussian_neurons.model.state import State
from gaussian_neurons.sampling.ahead import chunks_ahead
from gaussian_neurons.sampling.images import Patches
from gaussian_neurons.sampling.stream import Chunk, Stream
from gaussian_neurons.sampling.undrawn import undrawn_chunks

Array = NDArray[Any]

ON_BAD = ("raise", "skip")
INVALID_WIDTH = "row {row} has an invalid width."
SECONDS = 1.0  # between two checkpoints of a run that reports


class Novel(NamedTuple):
    """A row that is unlike those before it."""

    samples: int  # learned before it
    row: Array  # (D,)
    score: float  # its largest log-response
    threshold: float  # the score is below it


@dataclass(frozen=True)
class Model:
    """How a run reads and changes a model."""

    state: Callable[[], State | None]
    exchange: Callable[[State | None, State], None]  # the state that a step began with, and the new one
    restore: Callable[[model_file.Loaded], None]  # parameters and state: the callback may have changed both
    new_state: Callable[[Array, tuple[str, ...] | None], State]  # for rows and the names of their columns
    settings: Callable[[int], Settings]  # for a number of columns
    parameters: Callable[[], Mapping[str, Any]]
    n_clusters: Callable[[], int]
    follow: Callable[[Iterator[State]], Iterator[State]]  # the same states, shown in views
    events: Callable[[], list[Event]]
    scores: Callable[[Array], Array]  # of rows: the lower, the more novel


@dataclass(frozen=True)
class Plan:
    """The arguments of `GaussianNeurons.learn`."""

    n_samples: int | None
    progress: bool
    checkpoint: Any
    every: int
    callback: Callable[[int], Any] | None
    on_bad: str
    on_write_error: str
    on_event: Callable[[Event], Any] | None = None
    on_novel: Callable[[Novel], Any] | None = None
    false_alarms: float = 0.01

    def checked(self, stream: Stream) -> "Plan":
        """The same, with numbers like 1e6 as integers, or a ValueError that says what is wrong."""
        if self.n_samples is None and stream.endless:
            raise ValueError(f"{stream!r} never ends: give the number of samples, n_samples=...")
        if self.callback is not None:
            _check_callback(self.callback)
        for name in ("on_event", "on_novel"):
            if not (getattr(self, name) is None or callable(getattr(self, name))):
                raise ValueError(f"{name} must be a function, got {getattr(self, name)!r}.")
        number("false_alarms", self.false_alarms, least=0.0, most=1.0)
        one_of("on_bad", self.on_bad, ON_BAD)
        one_of("on_write_error", self.on_write_error, ON_WRITE_ERROR)
        n_samples = None if self.n_samples is None else _whole("n_samples", self.n_samples, least=0)
        return replace(self, n_samples=n_samples, every=_whole("every", self.every, least=1))


def _whole(name: str, value: Any, least: int) -> int:
    return whole_number(name, int(value) if isinstance(value, float) and value.is_integer() else value, least)


def _check_callback(callback: Any) -> None:
    """Check the signature before the first call, which may be hours away."""
    try:
        inspect.signature(callback).bind(0)
    except TypeError:
        raise ValueError("callback must be a function of (model, t), with two arguments.") from None
    except ValueError:
        pass  # a compiled function without a signature


def learn(model: Model, stream: Stream, plan: Plan) -> None:
    """Learn from a stream as planned; leaves the stream at the place where learning ended."""
    run = _Run(model, stream, plan.checked(stream))
    with nullcontext() if run.checkpoint is None else run.checkpoint.locked():
        run.go()


class _Run:
    """One call of `learn`."""

    def __init__(self, model: Model, stream: Stream, plan: Plan) -> None:
        self.model, self.stream, self.plan = model, stream, plan
        self.start = stream.position
        self.expected = model.state()  # unless another thread changes it
        self.changed_elsewhere = False  # whether another thread has changed it
        # Rows taken and skipped before the chunk that is being learned, that chunk, and what the model had
        # received before it. Assigned as one tuple, so that `taken` and `skipped` are right at any interrupt.
        self.place: tuple[int, int, Chunk | None, int] = (0, 0, None, 0)
        self.saved = (-1, False)  # rows taken at the last checkpoint, and whether the callback knew them
        self.marked = -1  # rows taken at the last callback
        self.counted = 0  # skipped rows that the model has counted
        self.first_skipped: list[BadRow] = []
        self.columns_match = False  # not checked yet
        self.stopped = False  # by the callback
        self.in_callback = False  # which may be changing the model
        self.known: tuple[Event, ...] = ()  # events that need no report
        self.threshold: tuple[Look | None, float] = (None, 0.0)  # of novel rows, and the look that it is of
        self.reporting = False  # what is learned, but not reported, must not be saved
        self.saved_at = time.monotonic()
        self.checkpoint: Checkpoint | None = None
        if plan.checkpoint is not None:
            self.checkpoint = Checkpoint(plan.checkpoint, self._began(), plan.on_write_error)

    def _began(self) -> dict[str, Any]:
        """What identifies this run: the parameters, the model before it, the stream and its position."""
        state, parameters = self.model.state(), self.model.parameters()
        return {
            "parameters": model_file.plain_parameters(parameters),
            "model": None if state is None else archive.digest(*model_file.contents(parameters, state)),
            "stream": dict(self.stream.describe()),
            "position": self.start,
        }

    def go(self) -> None:
        if self._resume():
            if self.plan.progress and is_interactive():
                print(f"{self.plan.checkpoint}: this run is complete, nothing to do", file=sys.stderr)
            return
        stream, plan = self.stream, self.plan
        if self.expected is not None and self.expected.names is not None:
            stream.expect(self.expected.names)
        self.known = self._events()
        if plan.on_event is not None or plan.on_novel is not None:
            stream.while_waiting = self._save_if_due
        end = stream.length if plan.n_samples is None else self.start + plan.n_samples
        total = None if end is None else max(0, end - self.start)
        on_gpu = type(stream) is Patches and self.model.parameters()["backend"] == "cuda"
        chunks_of = undrawn_chunks if on_gpu and plan.on_novel is None else chunks_ahead
        chunks = chunks_of(stream, self.start + self.taken, end, plan.every, self.start)
        with Bar(total, self.taken, plan.progress, self._facts) as bar:
            if self.taken:
                bar.note(f"resuming from {plan.checkpoint} at {self.taken:,} samples")
            try:
                if self.taken and self._is_due():  # the run ended before this callback
                    self._mark()
                for chunk in chunks if not self.stopped else ():
                    before = self.taken
                    for part in self._parts(chunk):
                        self._learn(part)
                        self._report_events()
                    bar.advance(self.taken - before)
                    if self._is_due():
                        with bar.hidden():  # for a callback that prints
                            self._mark()
                    if self.stopped:
                        break
                if not self.stopped and self.marked != self.taken:
                    self._mark()
            except BaseException:  # an interrupt, a bad row, a failing source: everything before it is kept
                if not (self.in_callback or self.changed_elsewhere or self.reporting):
                    self._report_events()
                    self._save()
                if self.saved[0] >= 0:
                    kept = f"{self.saved[0]:,} samples are kept in {plan.checkpoint}"
                    bar.note(f"{kept}: the same command resumes")
                raise
            finally:
                try:
                    self._leave(chunks)
                finally:
                    self._leave(chunks)  # if an interrupt came in between
        self._report(total)

    def _leave(self, chunks: Generator[Chunk, None, None]) -> None:
        """Set the position of the stream and end the drawing thread; may be done twice."""
        with deferred_interrupts():
            self.stream.while_waiting = None
            self.stream.position = self.start + self.taken
            self._count_skipped()
        chunks.close()

    @property
    def taken(self) -> int:
        """Rows of the stream that were learned or skipped since the run began."""
        return self.place[0] + self._of_this_chunk()

    @property
    def skipped(self) -> int:
        """Rows that were skipped."""
        chunk, rows = self.place[2], self._of_this_chunk()
        return self.place[1] + (sum(bad.row < rows for bad in chunk.bad) if chunk is not None else 0)

    def _of_this_chunk(self) -> int:
        _, _, chunk, received = self.place
        learned = self._received() - received
        return chunk.rows_up_to(learned) if chunk is not None and learned else 0

    def _received(self) -> int:
        state = self.model.state()
        return 0 if state is None else state.received

    def _resume(self) -> bool:
        """Continue an earlier run; True if that is complete."""
        found = None if self.checkpoint is None else self.checkpoint.resume(self.plan.n_samples)
        if found is None:
            return False
        loaded, reached = found
        with deferred_interrupts():
            self.start = reached.start
            self.model.restore(loaded)
            self.expected = loaded.state
            self.place = (reached.taken, 0, None, 0)
            self.saved = (reached.taken, reached.called_back)
            self.marked = reached.taken if reached.called_back else -1
            self.stream.resume(self.start + self.taken, reached.source)
        return reached.stopped or (self.taken == self.plan.n_samples and reached.called_back)

    def _parts(self, chunk: Chunk) -> Iterator[Chunk]:
        """The chunk; if novel rows are reported, row by row, after the report of the row."""
        if self.plan.on_novel is None:
            yield chunk
            return
        while chunk.taken:
            part, chunk = chunk.cut(1)
            if len(part.x) and np.isfinite(part.x).all():
                self._report_if_novel(part.x, self.plan.on_novel)
            yield part

    def _report_if_novel(self, x: Array, report: Callable[[Novel], Any]) -> None:
        state = self.model.state()
        if state is None or state.network is None:
            return
        self._require_columns(state, x)
        look = state.network.look
        if self.threshold[0] is not look:
            self.threshold = look, look.score_below(self.plan.false_alarms)
        score, threshold = float(self.model.scores(x)[0]), self.threshold[1]
        if score < threshold:
            self.reporting = True
            report(Novel(state.received, x[0], score, threshold))
            self.reporting = False

    def _events(self) -> tuple[Event, ...]:
        """The events so far. Before the first data is complete, they are not final."""
        state = self.model.state()
        return () if state is None or state.network is None else state.network.clusters.events

    def _report_events(self) -> None:
        """Report new events, and save what is reported: at once after an event, else once a second."""
        if self.plan.on_event is None and self.plan.on_novel is None:
            return
        new, events = False, self._events()
        if self.plan.on_event is not None and events is not self.known:
            known = {event[:3] for event in self.known}
            self.reporting = True
            for event in self.model.events():
                if event[:3] not in known:
                    new = True
                    self.plan.on_event(event)
            self.known, self.reporting = events, False
        self._save_if_due(new)

    def _save_if_due(self, at_once: bool = False) -> None:
        """Save once a second, also while the stream waits: what is saved is not reported again."""
        if at_once or time.monotonic() - self.saved_at >= SECONDS:
            self._save()

    def _learn(self, chunk: Chunk) -> None:
        """Learn from a chunk; `taken` counts what was learned, even after an interrupt."""
        if chunk.bad and self.plan.on_bad == "raise":
            first = chunk.bad[0]
            self._learn(chunk.cut(first.row)[0])
            raise first.later(self.start + self.taken - first.row)
        self.place = (self.taken, self.skipped, chunk, self._received())
        try:
            self._take(chunk.x, chunk.widths)
        except BadRow as bad:
            self._learn_around(chunk, bad)
            return
        except learner.ChangedMeanwhile:
            self.changed_elsewhere, self.place = True, (*self.place[:2], None, 0)
            raise
        begin, skipped, _, _ = self.place
        room = 3 - len(self.first_skipped)
        self.first_skipped += [bad.later(self.start + begin) for bad in chunk.bad[:room]]
        self.place = (begin + chunk.taken, skipped + len(chunk.bad), None, 0)

    def _take(self, x: Array, widths: Array | None) -> None:
        """Let the model learn from rows; an error leaves it as it was."""
        if not len(x):
            return
        state, names = self.model.state(), self.stream.feature_names
        if state is not self.expected:
            raise learner.ChangedMeanwhile
        before = state
        if state is None:
            state = self.model.new_state(x, None if names is None else tuple(names))
        else:
            self._require_columns(state, x)
        self.columns_match = True
        settings = self.model.settings(x.shape[1])
        if widths is not None:
            widths = checked_sample_widths(
                widths, len(x), state.recent.dtype, state.recent.covariance_type, x.shape[1]
            )
        elif settings.width_learning_rate > 0:
            raise ValueError(
                f"sample widths are needed to learn widths (width_learning_rate="
                f"{settings.width_learning_rate!r}): use a stream that has them, such as Neighbourhoods."
            )
        states = learner.advance(state, as_numbers(x), widths, settings)
        self.expected = learner.commit(partial(self.model.exchange, before), self.model.follow(states))

    def _require_columns(self, state: State, x: Array) -> None:
        if not self.columns_match or x.shape[1] != state.recent.n_features:
            names = self.stream.feature_names
            require_columns(names, x.shape[1], state.names, state.recent.n_features)

    def _learn_around(self, chunk: Chunk, bad: BadRow) -> None:
        """Learn from a chunk with rows that were read, but cannot be learned from."""
        row = chunk.rows_up_to(bad.row)
        moved = bad.later(row - bad.row)
        if self.plan.on_bad == "raise":
            self._learn(chunk.cut(row)[0])
            raise moved.later(self.start + self.taken - row)
        state = self.model.state()
        dtype = np.result_type(chunk.x.dtype, np.float32) if state is None else state.recent.dtype
        good = finite_rows(chunk.x, dtype, chunk.widths)
        good[bad.row] = True  # it has a text
        dropped = [self._bad_row(chunk, int(k), dtype) for k in np.flatnonzero(~good)]
        good[bad.row] = False
        widths = None if chunk.widths is None else chunk.widths[good]
        rest = sorted([moved, *dropped, *chunk.bad], key=lambda one: one.row)
        self._learn(Chunk(chunk.x[good], widths, tuple(rest)))

    def _bad_row(self, chunk: Chunk, good: int, dtype: Any) -> BadRow:
        """The error of valid row `good` of a chunk, which is not finite or has an invalid width."""
        row = chunk.rows_up_to(good)
        if finite_rows(chunk.x[good : good + 1], dtype)[0]:
            return BadRow(row, INVALID_WIDTH)
        return bad_value_of(chunk.x, good, dtype).later(row - good).named(self.stream.feature_names)

    def _count_skipped(self) -> None:
        """Count skipped rows in the model, once there is one."""
        with deferred_interrupts():
            state = self.model.state()
            if state is not None and not self.changed_elsewhere and self.skipped > self.counted:
                self.expected = replace(state, skipped=state.skipped + self.skipped - self.counted)
                self.model.exchange(state, self.expected)
                self.counted = self.skipped

    def _is_due(self) -> bool:
        return self.taken % self.plan.every == 0 and self.marked != self.taken

    def _mark(self) -> None:
        """Call the callback, which may stop the run, and save before and after."""
        stop = False
        if self.plan.callback is not None:
            self._save()
            row = self.start + self.taken
            self.stream.position, source = row, self.stream.state_at(row)
            self.in_callback = True
            answer = self.plan.callback(self.taken)
            self.stream.resume(row, source)  # the callback may have read on
            stop = isinstance(answer, bool | np.bool_) and bool(answer)
        self.expected = self.model.state()
        self.marked, self.in_callback, self.stopped = self.taken, False, stop
        self._save()

    def _save(self) -> None:
        taken, called_back = self.taken, self.marked == self.taken
        if self.checkpoint is None or self.saved == (taken, called_back):
            return
        self._count_skipped()
        state = self.model.state()
        if state is None or not state.received:
            return
        self.saved_at = time.monotonic()
        source = self.stream.state_at(self.start + taken)
        reached = Reached(self.start, taken, called_back, self.stopped, source)
        try:
            self.checkpoint.write(model_file.contents(self.model.parameters(), state), reached)
        except OSError:
            self.saved = (taken, called_back)  # it is not tried again
            raise
        self.saved = (taken, called_back)

    def _facts(self) -> str:
        skipped = f", {self.skipped:,} rows skipped" if self.skipped else ""
        learned = 0 if self.model.state() is None else self.model.n_clusters()
        return f"{learned} learned{skipped}"

    def _report(self, total: int | None) -> None:
        if self.skipped:
            shown = "; ".join(str(bad).rstrip(".") for bad in self.first_skipped)
            rows = "1 row was" if self.skipped == 1 else f"{self.skipped:,} rows were"
            warn(f"{rows} skipped. The first: {shown}.")
        if not self._received() and total != 0:
            warn("the stream gave no row to learn from.")
        elif total is not None and self.taken < total and not self.stopped:
            warn(f"the stream ended after {self.taken:,} of {total:,} samples.")
