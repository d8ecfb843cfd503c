"""Whatever Python can iterate over → a stream: rows, chunks of rows, generators that never end."""

import time
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gaussian_neurons.bad_rows import BadRow
from gaussian_neurons.sampling.rows import Rows
from gaussian_neurons.sampling.stream import Chunk, Forward, Stream, joined

Array = NDArray[Any]

ROWS_AT_ONCE = 4096
SECONDS = 0.1  # what arrives is handed on after this long, however little it is
EXPECTED = (
    "a row is a sequence of numbers, a chunk an array (n, D); either with widths: a pair (samples, width)"
)


class Iterated(Forward):
    """The items of an iterable, in their order: rows, or chunks of rows, either with widths of their own.

    An item is a row (D numbers), a chunk (n, D), or a pair (row, width) or (chunk, widths). The first good
    row says how many columns there are. Items are fetched in the thread that learns, and handed on at the
    latest a tenth of a second after they came. To carry on after a crash, the rows already learned are
    fetched again and dropped: the iterable must begin with the same ones.

    Examples
    --------
    >>> stream = Iterated([[0.0, 1.0], [2.0, 3.0]])
    >>> stream.read(10)
    array([[0., 1.],
           [2., 3.]])
    """

    in_a_thread = False  # a database cursor, for one, wants to be read where it was opened

    def __init__(self, items: Iterable[Any]) -> None:
        self._items = items
        self._iterator: Iterator[Any] | None = None
        self._fetched: list[Chunk] = []
        self._trouble: BaseException | None = None

    def _begin(self, row: int) -> int:
        if self._at is not None and iter(self._items) is self._items:
            raise ValueError(
                f"cannot go back to row {row}: {self._items!r} gives each item only once, and {self._at} "
                f"rows were read. Make it anew."
            )
        self._iterator, self._fetched, self._trouble = iter(self._items), [], None
        return 0

    def _next_block(self) -> Chunk | None:
        """What comes within a tenth of a second. An error waits until what came before it is handed on."""
        assert self._iterator is not None
        begin = time.monotonic()
        rows = 0
        while self._trouble is None and rows < ROWS_AT_ONCE:
            try:
                chunk = self._chunk_of(next(self._iterator))
            except Exception as error:
                self._trouble = error
                break
            self._fetched.append(chunk)
            rows += chunk.taken
            if time.monotonic() - begin > SECONDS and rows:
                break
        fetched, self._fetched = [chunk for chunk in self._fetched if chunk.taken], []
        if fetched:
            return joined(fetched)
        trouble, self._trouble = self._trouble, None
        if isinstance(trouble, StopIteration):
            return None
        assert trouble is not None
        raise trouble

    def _chunk_of(self, item: Any) -> Chunk:
        widths = None
        if isinstance(item, tuple) and len(item) == 2 and np.ndim(item[0]) > 0:
            item, widths = item
        try:
            x = np.asarray(item)
            if x.dtype.kind not in "fiub":
                x = x.astype(np.float64)
        except (TypeError, ValueError):
            return self._chunk_of_odd_rows(item, widths)
        if x.ndim not in (1, 2):
            return self._refused(1, f"item of shape {x.shape} at row {{row}}: {EXPECTED}.")
        x = np.atleast_2d(x)
        own = None if widths is None else np.atleast_1d(np.asarray(widths, np.float64))
        if own is not None and own.shape != (len(x),):
            return self._refused(
                len(x), f"{own.shape} widths for {len(x)} rows from row {{row}} on: {EXPECTED}."
            )
        if self.n_features is None and x.shape[1]:
            self.n_features = x.shape[1]
        if x.shape[1] != self.n_features:
            return self._refused(len(x), f"row {{row}} has {x.shape[1]} numbers, expected {self.n_features}.")
        return Chunk(x, own)

    def _chunk_of_odd_rows(self, item: Any, widths: Any) -> Chunk:
        """A chunk of which some rows are odd, row by row; or one row that is no row."""
        if isinstance(item, str | bytes) or not hasattr(item, "__len__") or not any(np.ndim(r) for r in item):
            shown = repr(item)
            return self._refused(1, f"row {{row}} holds no numbers: {shown[:80]}; {EXPECTED}.")
        own = [None] * len(item) if widths is None else list(widths)
        return joined([self._chunk_of(r if w is None else (r, w)) for r, w in zip(item, own, strict=False)])

    def _refused(self, rows: int, text: str) -> Chunk:
        return Chunk(np.empty((0, self.n_features or 0)), None, tuple(BadRow(r, text) for r in range(rows)))


def as_stream(source: Any) -> Stream:
    """A stream as it is; a table as its rows, once; anything else as what it iterates over.

    Examples
    --------
    >>> as_stream(np.zeros((5, 2)))
    Rows(<5 x 2>)
    """
    if isinstance(source, Stream):
        return source
    if isinstance(source, str | bytes) or hasattr(source, "__fspath__"):
        raise TypeError(
            f"a stream of samples is needed, got the path {source!r}. Read it with "
            f"gaussian_neurons.sampling.rows_from_file({source!r})."
        )
    if getattr(source, "ndim", None) == 2:
        return Rows(source, passes=1)
    if not isinstance(source, Iterable):
        raise TypeError(f"a stream, a table or something to iterate over is needed, got {source!r}.")
    return Iterated(source)
