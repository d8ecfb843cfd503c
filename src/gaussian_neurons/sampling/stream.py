"""Streams: samples in a fixed order that can be read from any position."""

import hashlib
import itertools
import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from gaussian_neurons.base.bad_rows import BadRow
from gaussian_neurons.base.checks import whole_number
from gaussian_neurons.base.memory_maps import require_whole
from gaussian_neurons.base.tables import require_unmasked

Array = NDArray[Any]

MOST_SAMPLES = 1 << 62
LOCK = "_draw_lock_of_process_"  # attribute of a stream


@dataclass(frozen=True)
class Chunk:
    """Consecutive rows of a stream, with the invalid rows listed separately."""

    x: Array  # (n, D) the valid rows, in order
    widths: Array | None = None  # (n,) their widths, sigma_x
    bad: tuple[BadRow, ...] = ()  # the invalid rows, numbered from the first row of the chunk
    lines: tuple[str, ...] | None = None  # all rows as lines of text, valid and invalid, if they are kept

    @property
    def taken(self) -> int:
        """The number of rows, valid and invalid."""
        return len(self.x) + len(self.bad)

    def cut(self, rows: int) -> tuple["Chunk", "Chunk"]:
        """The first `rows` rows, and the rest."""
        before = tuple(bad for bad in self.bad if bad.row < rows)
        after = tuple(bad.later(-rows) for bad in self.bad[len(before) :])
        good = min(rows, self.taken) - len(before)
        widths = (None, None) if self.widths is None else (self.widths[:good], self.widths[good:])
        lines = (None, None) if self.lines is None else (self.lines[:rows], self.lines[rows:])
        return (
            Chunk(self.x[:good], widths[0], before, lines[0]),
            Chunk(self.x[good:], widths[1], after, lines[1]),
        )

    def rows_up_to(self, good: int) -> int:
        """The number of rows before valid row `good`, counted from 0; all rows if there are fewer."""
        if good >= len(self.x):
            return self.taken
        for bad in self.bad:
            good += bad.row <= good
        return good


def concatenated(chunks: list[Chunk]) -> Chunk:
    """One chunk with the rows of all."""
    if len(chunks) == 1:
        return chunks[0]
    bad: list[BadRow] = []
    rows = 0
    for chunk in chunks:
        bad += [one.later(rows) for one in chunk.bad]
        rows += chunk.taken
    full = [chunk.x for chunk in chunks if len(chunk.x)]  # an empty chunk may not know the columns yet
    x = np.concatenate(full) if full else chunks[0].x
    widths = [chunk.widths for chunk in chunks if chunk.widths is not None]
    lines = [chunk.lines for chunk in chunks if chunk.lines is not None]
    return Chunk(
        x,
        np.concatenate(widths) if widths else None,
        tuple(bad),
        tuple(itertools.chain(*lines)) if lines else None,
    )


def in_precision(x: Array, dtype: Any) -> Array:
    """Convert to another precision; numbers too large for it become infinite, without a warning."""
    with np.errstate(over="ignore"):
        return x.astype(dtype, copy=False)


def fingerprint(array: Array) -> str:
    """SHA-256 of an array; of 256 pieces of 1 MiB if it is larger than 256 MiB."""
    digest = hashlib.sha256(f"{array.dtype.str} {array.shape}".encode())
    rows = max(1, (1 << 20) // max(1, array[:1].nbytes))  # about 1 MiB in any memory order
    step = max(rows, len(array) // 256)
    for begin in range(0, len(array), step):
        require_whole(array)
        digest.update(np.ascontiguousarray(array[begin : begin + rows]).tobytes())
    return digest.hexdigest()


class Stream(ABC):
    """Samples that can be read from any position in any chunk sizes.

    A custom stream is a subclass that defines `draw`: samples first, first + 1, ... as a function of their
    numbers. `read` and `seek` keep a position, for sequential reading.
    """

    position: int = 0  # the next sample of `read`
    n_features: int | None = None  # D, once it is known
    feature_names: list[str] | None = None  # of the columns, if a data frame or a file has them
    length: int | None = None  # number of rows, or None if endless or unknown
    endless: bool = True
    in_a_thread: bool = True  # whether `draw` may be called in another thread
    while_waiting: Callable[[], Any] | None = None  # what `draw` calls while it waits for samples, if it does

    def __getstate__(self) -> dict[str, Any]:
        """The state of a copy or a pickle: everything but the lock."""
        return {name: value for name, value in vars(self).items() if not name.startswith(LOCK)}

    def expect(self, names: Sequence[str]) -> None:  # noqa: B027  (most streams have columns of their own)
        """Use the column order of the model that will learn if the rows have names but no order."""

    @property
    def _draw_lock(self) -> Any:
        """Held while samples are drawn: several threads may use a stream, but only one at a time draws."""
        # A subclass need not call __init__, and a thread may have held the lock when this process was forked.
        return vars(self).setdefault(f"{LOCK}{os.getpid()}", threading.RLock())

    @abstractmethod
    def draw(self, first: int, count: int) -> Chunk:
        """Samples first, first + 1, ...: at most `count`, and none at the end of the stream."""

    def _drawn(self, first: int, count: int) -> Chunk:
        """What `draw` gives, one thread at a time; a TypeError if that is not a chunk of rows."""
        with self._draw_lock:
            chunk = self.draw(first, count)
        x = getattr(chunk, "x", None)
        if not isinstance(chunk, Chunk) or not isinstance(x, np.ndarray) or x.ndim != 2:
            got = type(chunk).__name__ if x is None else f"a Chunk of {type(x).__name__} {np.shape(x)}"
            raise TypeError(f"draw of {type(self).__name__} must give a Chunk of an array (n, D), got {got}.")
        require_unmasked("a chunk", x)
        if len(x) and not x.shape[1]:
            raise ValueError(f"{type(self).__name__} gives rows without columns.")
        return chunk if chunk.taken <= count else chunk.cut(count)[0]

    def describe(self) -> Mapping[str, Any]:
        """The facts that determine the samples, as JSON values. Equal descriptions mean equal samples."""
        return {"stream": type(self).__name__}

    def read(self, n: int) -> Any:
        """Read the next n samples, or fewer at the end of the stream.

        Returns an array (n, D), or a pair of it and the widths (n,) if the samples have widths. An invalid
        row raises a ValueError that names it, and the position does not change.
        """
        wanted = whole_number("n", n, least=0)
        parts: list[Chunk] = []
        taken = 0
        while True:
            chunk = self._drawn(self.position + taken, wanted - taken)
            if chunk.bad:
                raise chunk.bad[0].later(self.position + taken)
            parts.append(chunk)
            taken += chunk.taken
            if not chunk.taken or taken >= wanted:
                break
        whole = concatenated(parts)
        self.position += taken
        return whole.x if whole.widths is None else (whole.x, whole.widths)

    def seek(self, t: int) -> Self:
        """Go to sample t: the next `read` starts there."""
        position = whole_number("t", t, least=0)
        if position >= MOST_SAMPLES:
            raise ValueError(f"t must be below 2^62, got {position}.")
        self.position = position
        return self

    def state_at(self, row: int) -> Any:
        """What is needed to go on at a row of the last chunk, as JSON values; None: its number is enough."""
        return None

    def resume(self, row: int, state: Any) -> None:
        """Go to a row of an earlier process; `state` is what `state_at` gave for it there."""
        self.seek(row)


class Forward(Stream):
    """A stream that is read forward in blocks; to seek backward, it begins again.

    A subclass defines `_begin`, which goes to a row or before it, and `_next_block`.
    """

    endless = False
    _at: int | None = None  # the next row, or None before `_begin`
    _rest: Chunk | None = None  # read, but not drawn yet
    _last: tuple[int, Chunk] | None = None  # the chunk drawn last, and its first row
    _process: int = 0  # that opened the file: after a fork, both would move one position in it

    def __getstate__(self) -> dict[str, Any]:
        return super().__getstate__() | {"_at": None, "_rest": None, "_last": None}

    @abstractmethod
    def _begin(self, row: int) -> int:
        """Begin at a row or before it; returns the row."""

    @abstractmethod
    def _next_block(self) -> Chunk | None:
        """The next rows, or None at the end."""

    def draw(self, first: int, count: int) -> Chunk:  # noqa: D102
        if self._process != os.getpid():
            self._process, self._at, self._rest, self._last = os.getpid(), None, None, None
        try:
            self._go_to(first)
            drawn = self._take(count)
        except BaseException:  # an interrupt or a read error: begin again at the next call
            self._at = self._rest = self._last = None
            raise
        if drawn is None:
            return Chunk(np.empty((0, self.n_features or 0)))
        self._last = (first, drawn)
        return drawn

    def _take(self, most: int) -> Chunk | None:
        """At most `most` of the next rows, or None at the end."""
        assert self._at is not None
        while self._rest is None or not self._rest.taken:
            self._rest = self._next_block()
            if self._rest is None:
                return None
        taken, self._rest = self._rest.cut(most)
        self._at += taken.taken
        return taken

    def _go_to(self, row: int) -> None:
        if self._last is not None and self._last[0] <= row < self._last[0] + self._last[1].taken == self._at:
            again = self._last[1].cut(row - self._last[0])[1]
            self._rest = again if self._rest is None else concatenated([again, self._rest])
            self._at = row
        elif self._at is None or row < self._at:
            self._at = self._begin(row)
            self._rest = None
        self._last = None
        while self._at < row:
            if self._take(row - self._at) is None:
                raise ValueError(f"cannot go to row {row}: the stream has {self._at} rows.")
