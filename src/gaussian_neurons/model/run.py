"""Learning from a stream: chunk by chunk, with progress, checkpoints, and bad rows told apart."""

import inspect
import sys
import warnings
from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from gaussian_neurons.base.bad_rows import BadRow
from gaussian_neurons.base.checks import one_of, whole_number
from gaussian_neurons.base.interrupts import held_back
from gaussian_neurons.base.progress import Bar, is_interactive
from gaussian_neurons.model import model_file
from gaussian_neurons.model.checkpoint import ON_WRITE_ERROR, Checkpoint, Reached
from gaussian_neurons.sampling.ahead import chunks_ahead
from gaussian_neurons.sampling.stream import Chunk, Stream

Array = NDArray[Any]

ON_BAD = ("raise", "skip")
NOT_FINITE = "row {row} holds a value that is not finite, or a width that is none."


class Model(Protocol):
    """What a run needs of a model."""

    def take(self, x: Array, widths: Array | None) -> None:
        """Learn from rows; a BadRow error leaves everything as it was."""

    def received(self) -> int:
        """Rows taken in so far."""

    def good_rows(self, x: Array, widths: Array | None) -> NDArray[np.bool_]:
        """Which rows `take` would not refuse, (n,)."""

    def skip(self, rows: int) -> None:
        """Count rows that were left out."""

    def learned(self) -> int:
        """Neurons that have learned so far."""

    def began(self) -> dict[str, Any]:
        """What tells this model, as it is now, from another."""

    def contents(self) -> model_file.Contents:
        """Everything a file must hold."""

    def restore(self, loaded: model_file.Loaded) -> None:
        """Be as a file says."""


@dataclass(frozen=True)
class Plan:
    """What the user asked for: see `GaussianNeurons.learn`."""

    n_samples: int | None
    progress: bool
    checkpoint: Any
    every: int
    callback: Callable[[int], Any] | None
    on_bad: str
    on_write_error: str

    def checked(self, stream: Stream) -> "Plan":
        """The same, with numbers like 1e6 whole, or a ValueError that says what is wrong."""
        if self.n_samples is None and stream.endless:
            raise ValueError(f"{stream!r} never ends: say how many samples to learn from, n_samples=...")
        if self.callback is not None:
            _check_callback(self.callback)
        one_of("on_bad", self.on_bad, ON_BAD)
        one_of("on_write_error", self.on_write_error, ON_WRITE_ERROR)
        n_samples = None if self.n_samples is None else _whole("n_samples", self.n_samples, least=0)
        return replace(self, n_samples=n_samples, every=_whole("every", self.every, least=1))


def _whole(name: str, value: Any, least: int) -> int:
    return whole_number(name, int(value) if isinstance(value, float) and value.is_integer() else value, least)


def _check_callback(callback: Any) -> None:
    """Find out before the first mark, which may be hours away."""
    try:
        inspect.signature(callback).bind(0)
    except TypeError:
        raise ValueError("callback must be a function of (model, t), with two arguments.") from None
    except ValueError:
        pass  # a function of C, which does not tell


def learn(model: Model, stream: Stream, plan: Plan) -> None:
    """Learn from a stream as planned; leaves the stream where learning ended."""
    _Run(model, stream, plan.checked(stream)).go()


class _Run:
    """One call of `learn`."""

    def __init__(self, model: Model, stream: Stream, plan: Plan) -> None:
        self.model, self.stream, self.plan = model, stream, plan
        self.start = stream.position
        # What was done before the chunk that is being learned (rows taken, rows skipped), that chunk, and
        # what the model had received before it. Changed in one step each time, so that `taken` and `skipped`
        # are right whenever an interrupt comes.
        self.place: tuple[int, int, Chunk | None, int] = (0, 0, None, 0)
        self.saved = (-1, False)  # rows taken when the checkpoint was written last, and whether told
        self.marked = -1  # rows taken when the callback was told last
        self.told_of = 0  # skipped rows that the model knows of
        self.first_skipped: list[BadRow] = []
        self.stopped = False  # by the callback, at the last mark
        self.telling = False  # the callback, who may be half way through changing the model
        self.checkpoint: Checkpoint | None = None
        if plan.checkpoint is not None:
            began = {**model.began(), "stream": dict(stream.describe()), "position": self.start}
            self.checkpoint = Checkpoint(plan.checkpoint, began, plan.on_write_error)

    def go(self) -> None:
        if self._carry_on():
            if self.plan.progress and is_interactive():
                print(f"{self.plan.checkpoint}: the run has come to its end, nothing to do", file=sys.stderr)
            return
        stream, plan = self.stream, self.plan
        end = stream.length if plan.n_samples is None else self.start + plan.n_samples
        total = None if end is None else max(0, end - self.start)
        chunks = chunks_ahead(stream, self.start + self.taken, end, plan.every, self.start)
        with Bar(total, self.taken, plan.progress, self._facts) as bar:
            if self.taken:
                bar.note(f"carrying on from {plan.checkpoint} at {self.taken:,} samples")
            try:
                if self.taken and self._is_due():  # the callback had not heard of it yet
                    self._mark()
                for chunk in chunks if not self.stopped else ():
                    before = self.taken
                    self._learn(chunk)
                    bar.advance(self.taken - before)
                    if self._is_due():
                        with bar.hidden():  # for a callback that prints
                            self._mark()
                    if self.stopped:
                        break
                if not self.stopped and self.marked != self.taken:
                    self._mark()
            except BaseException:  # an interrupt, a bad row, a source that failed: all before it is kept
                if not self.telling:
                    self._save()
                if self.saved[0] >= 0:
                    kept = f"{self.saved[0]:,} samples are kept in {plan.checkpoint}"
                    bar.note(f"{kept}: the same command carries on")
                raise
            finally:
                try:
                    self._leave(chunks)
                finally:
                    self._leave(chunks)  # where an interrupt came in between
        self._report(total)

    def _leave(self, chunks: Generator[Chunk, None, None]) -> None:
        """Leave the stream where learning ended, and nobody who draws from it; may be done twice."""
        with held_back():
            self.stream.position = self.start + self.taken
            self._tell_skipped()
        chunks.close()

    @property
    def taken(self) -> int:
        """Rows of the stream that were learned or skipped since the run began."""
        return self.place[0] + self._of_this_chunk()

    @property
    def skipped(self) -> int:
        """Those that were skipped."""
        chunk, rows = self.place[2], self._of_this_chunk()
        return self.place[1] + (sum(bad.row < rows for bad in chunk.bad) if chunk is not None else 0)

    def _of_this_chunk(self) -> int:
        _, _, chunk, received = self.place
        learned = self.model.received() - received
        return chunk.rows_up_to(learned) if chunk is not None and learned else 0

    def _carry_on(self) -> bool:
        """Take up what an earlier run left; True where it had come to its end."""
        found = None if self.checkpoint is None else self.checkpoint.resume(self.plan.n_samples)
        if found is None:
            return False
        loaded, reached = found
        with held_back():
            self.start = reached.start
            self.model.restore(loaded)
            self.place = (reached.taken, 0, None, 0)
            self.saved = (reached.taken, reached.told)
            self.marked = reached.taken if reached.told else -1
            self.stream.position = self.start + self.taken
        return reached.stopped or (self.taken == self.plan.n_samples and reached.told)

    def _learn(self, chunk: Chunk) -> None:
        """Learn from a chunk; `taken` counts what was, even where something interrupts."""
        if chunk.bad and self.plan.on_bad == "raise":
            first = chunk.bad[0]
            self._learn(chunk.cut(first.row)[0])
            raise first.later(self.start + self.taken - first.row)
        self.place = (self.taken, self.skipped, chunk, self.model.received())
        try:
            self.model.take(chunk.x, chunk.widths)
        except BadRow as bad:
            self._learn_around(chunk, bad)
            return
        begin, skipped, _, _ = self.place
        room = 3 - len(self.first_skipped)
        self.first_skipped += [bad.later(self.start + begin) for bad in chunk.bad[:room]]
        self.place = (begin + chunk.taken, skipped + len(chunk.bad), None, 0)

    def _learn_around(self, chunk: Chunk, bad: BadRow) -> None:
        """A chunk with rows that were read, but cannot be learned from."""
        row = chunk.rows_up_to(bad.row)
        moved = BadRow(row, bad.text)
        if self.plan.on_bad == "raise":
            self._learn(chunk.cut(row)[0])
            raise moved.later(self.start + self.taken - row)
        good = self.model.good_rows(chunk.x, chunk.widths)
        good[bad.row] = True  # it has a text of its own
        dropped = [BadRow(chunk.rows_up_to(int(k)), NOT_FINITE) for k in np.flatnonzero(~good)]
        good[bad.row] = False
        widths = None if chunk.widths is None else chunk.widths[good]
        rest = sorted([moved, *dropped, *chunk.bad], key=lambda one: one.row)
        self._learn(Chunk(chunk.x[good], widths, tuple(rest)))

    def _tell_skipped(self) -> None:
        """Let the model know how many rows were skipped, once it is one."""
        with held_back():
            if self.model.received():
                self.model.skip(self.skipped - self.told_of)
                self.told_of = self.skipped

    def _is_due(self) -> bool:
        return self.taken % self.plan.every == 0 and self.marked != self.taken

    def _mark(self) -> None:
        """Tell the callback, which may want to stop, and keep what there is before and after."""
        stop = False
        if self.plan.callback is not None:
            self._save()
            self.telling = True
            answer = self.plan.callback(self.taken)
            stop = isinstance(answer, bool | np.bool_) and bool(answer)
        self.marked, self.telling, self.stopped = self.taken, False, stop
        self._save()

    def _save(self) -> None:
        reached = Reached(self.start, self.taken, self.marked == self.taken, self.stopped)
        if (
            self.checkpoint is None
            or not self.model.received()
            or self.saved == (reached.taken, reached.told)
        ):
            return
        self._tell_skipped()
        try:
            self.checkpoint.write(self.model.contents(), reached)
        except OSError:
            self.saved = (reached.taken, reached.told)  # as good as it gets
            raise
        self.saved = (reached.taken, reached.told)

    def _facts(self) -> str:
        skipped = f", {self.skipped:,} rows skipped" if self.skipped else ""
        return f"{self.model.learned()} learned{skipped}"

    def _report(self, total: int | None) -> None:
        if self.skipped:
            shown = "; ".join(str(bad).rstrip(".") for bad in self.first_skipped)
            rows = "1 row was" if self.skipped == 1 else f"{self.skipped:,} rows were"
            warnings.warn(f"{rows} skipped. The first: {shown}.", UserWarning, stacklevel=5)
        if not self.model.received() and total != 0:
            warnings.warn("the stream gave no row to learn from.", UserWarning, stacklevel=5)
        elif total is not None and self.taken < total and not self.stopped:
            warnings.warn(
                f"the stream ended after {self.taken:,} of {total:,} samples.", UserWarning, stacklevel=5
            )
