"""Python iterables as streams: of rows, of chunks of rows, finite or endless."""

import copy
import inspect
import itertools
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from gaussian_neurons.base import tables
from gaussian_neurons.base.bad_rows import BadRow, bad_value_of
from gaussian_neurons.sampling.rows import Rows
from gaussian_neurons.sampling.stream import Chunk, Stream, concatenated, in_precision

Array = NDArray[Any]

SECONDS = 0.1  # the longest time that fetched rows wait for more
EXPECTED = (
    "a row must be a sequence of numbers or a mapping, a chunk an array (n, D), each alone or with a width"
)


class Iterated(Stream):
    """The items of an iterable in order: rows or chunks of rows, with or without widths.

    An item is a row (D numbers), a chunk (n, D), a data frame, a mapping from names to numbers (a row) or to
    columns (a chunk), or a pair of one of these and its widths. The first valid row decides the columns, the
    precision, and whether there are names and widths. Mappings are matched by name, and names that the first
    row does not have are ignored; a data frame must have the same names in the same order.

    Items are fetched one by one in the learning thread, only as many as needed, and are passed on at most
    a tenth of a second after their arrival. To resume, the rows already learned are fetched again and
    dropped: the iterable must start with the same rows, which is not checked. `Resumable` is for sources that
    can go on in the middle.

    Examples
    --------
    >>> stream = Iterated([[0.0, 1.0], [2.0, 3.0]])
    >>> stream.read(10)
    array([[0., 1.],
           [2., 3.]])
    """

    endless = False
    in_a_thread = False  # a database cursor, for example, must be read in the thread that opened it

    def __init__(self, items: Iterable[Any]) -> None:
        self._items = items
        self._iterator: Iterator[Any] | None = None
        # The fetched items that may still be needed, and the row of the first. An interrupt can arrive
        # between any two bytecodes, so each change is a single assignment: no item is lost.
        self._window: tuple[int, list[Any]] = (0, [])
        self._error: Exception | None = None
        self._broken = False  # whether an error has ended the iterator before its items
        self._names: tuple[Any, ...] | None = None  # of the columns, if the rows have any
        self._single = self._with_widths = False

    def expect(self, names: Sequence[str]) -> None:
        """The columns to take from mappings, unless a row has decided that already."""
        if self.n_features is None:
            self._names = tuple(names)

    def __getstate__(self) -> dict[str, Any]:
        if iter(self._items) is self._items:
            raise TypeError(
                f"{self._items!r} gives each item only once and cannot be copied. Convert it to a list or an "
                f"array."
            )
        unread: dict[str, Any] = {"_iterator": None, "_window": (0, []), "_error": None, "_broken": False}
        return {**super().__getstate__(), **unread}

    def draw(self, first: int, count: int) -> Chunk:
        """The rows that arrive within a tenth of a second; at least one, unless the stream ends."""
        self._go_to(first)
        start, items = self._window
        begin = time.monotonic()
        rows, read = start, 0
        while True:
            for k in range(read, len(items)):
                rows += self._chunk_at(k).taken
            if rows == start:
                items.clear()  # a source that gives empty items while it waits
            read = len(items)
            enough = rows - first >= (count if self.n_features else max(count, 1))
            if enough or (rows > first and time.monotonic() - begin > SECONDS) or not self._fetch():
                break
        if rows <= first and self._error is not None:
            error, self._error = self._error, None
            raise error
        fetched = concatenated([self._chunk_at(k) for k in range(len(items))] or [self._bad_rows(0, "")])
        return fetched.cut(first - start)[1].cut(count)[0]

    def _opened(self) -> Iterator[Any]:
        """The items from the first row of the window on."""
        return iter(self._items)

    def _go_to(self, row: int) -> None:
        """Fetch until the row is reached, and drop the items before it."""
        if self._iterator is None:
            self._iterator = self._opened()
        if row < self._window[0]:
            if iter(self._items) is self._items:
                raise ValueError(
                    f"cannot go back to row {row}: {self._items!r} gives each item only once, and the items "
                    f"before row {self._window[0]} are dropped. Create a new one."
                )
            self._iterator, self._window = self._opened(), (0, [])
            self._error, self._broken = None, False
        while True:
            start, items = self._window
            done = 0
            while done < len(items) and start + self._chunk_at(done).taken <= row:
                start += self._chunk_at(done).taken
                done += 1
            self._window = (start, items[done:])
            if start == row or done < len(items):
                return
            if not self._fetch():
                raise self._error or ValueError(f"cannot go to row {row}: the stream has {start} rows.")

    def _fetch(self) -> bool:
        """Fetch one more item, if there is one. An error is kept until all rows before it are drawn."""
        assert self._iterator is not None
        items = self._window[1]
        before = len(items)
        if self._error is not None:
            return False
        if self._broken:
            self._restart()
        try:
            items.extend(itertools.islice(self._iterator, 1))  # one call: an interrupt loses no item
        except BaseException as error:
            # An error ends a generator, even if it had more rows to give.
            self._broken = inspect.isgenerator(self._iterator) and self._iterator.gi_frame is None
            if not isinstance(error, Exception):
                raise
            self._error = error
        return len(items) > before

    def _restart(self) -> None:
        """Replace a broken iterator by a new one at the same position."""
        start, items = self._window
        end = start + sum(self._chunk_at(k).taken for k in range(len(items)))
        again = self._unread(end)
        again._go_to(end)
        self._iterator, self._broken = again._iterator, False
        items += again._window[1]

    def _unread(self, row: int) -> Self:
        """A copy that begins at this row or before it."""
        if iter(self._items) is self._items:
            raise ValueError(
                f"an error or an interrupt ended {self._items!r} after row {row}. Create a new one."
            )
        return copy.copy(self)

    def _chunk_at(self, k: int) -> Chunk:
        """Item k as a chunk, converted once."""
        items = self._window[1]
        if not isinstance(items[k], Chunk):
            items[k] = self._chunk_of(items[k])
        chunk: Chunk = items[k]
        return chunk

    def _chunk_of(self, item: Any, is_row: bool = False) -> Chunk:
        """An item as a chunk. It is copied, because the source may reuse the memory for the next item."""
        widths = None
        if isinstance(item, tuple) and len(item) == 2 and _is_row_or_chunk(item[0]):
            item, widths = item
        try:
            x, names = self._read(item)
            tables.require_unmasked("sample_width", widths)
            own = None
            if widths is not None:
                own = np.atleast_1d(tables.as_numbers(np.asarray(widths))).astype(np.float64)
        except tables.InvalidRows as refused:
            return self._chunk_of_mixed_rows(item, widths, f"row {{row}}: {refused}", is_row)
        except tables.NoTable:
            return self._bad_rows(1, f"row {{row}} holds no numbers: {repr(item)[:80]}; {EXPECTED}.")
        except Exception as refused:  # an item of any type may raise anything when it is converted
            shape: tuple[int, ...] = getattr(item, "shape", ())
            return self._bad_rows(shape[0] if len(shape) == 2 else 1, f"row {{row}}: {refused}")
        if x.ndim == 1 and not len(x):
            return self._bad_rows(0, "")
        if x.ndim not in ((1,) if is_row else (1, 2)):
            return self._bad_rows(1, f"row {{row}} has shape {x.shape}: {EXPECTED}.")
        x = np.atleast_2d(x)
        if not x.shape[1]:
            return self._bad_rows(len(x), f"row {{row}} holds no numbers: {EXPECTED}.")
        if own is not None and own.shape != (len(x),):
            return self._bad_rows(len(x), f"row {{row}} must have one width: {EXPECTED}.")
        if self.n_features is None:
            if not np.isfinite(x).all(axis=1).any():
                bad = (bad_value_of(x, row, x.dtype).named(names) for row in range(len(x)))
                return Chunk(np.empty((0, 0)), None, tuple(bad))
            self._decide(x.shape[1], names, x.dtype == np.float32, own is not None)
        if x.shape[1] != self.n_features:
            return self._bad_rows(
                len(x), f"row {{row}} has {x.shape[1]} numbers, expected {self.n_features}."
            )
        if (own is not None) != self._with_widths:
            wanted = "a width" if self._with_widths else "no width"
            return self._bad_rows(len(x), f"row {{row}} must have {wanted}, like the first.")
        return Chunk(in_precision(np.array(x), np.float32 if self._single else np.float64), own)

    def _decide(
        self, n_features: int | None, names: Sequence[Any] | None, single: bool, with_widths: bool
    ) -> None:
        self._names, self.n_features = None if names is None else tuple(names), n_features
        texts = names is not None and all(isinstance(name, str) for name in names)
        self.feature_names = [*names] if names is not None and texts else None
        self._single, self._with_widths = single, with_widths

    def _read(self, item: Any) -> tuple[Array, tuple[Any, ...] | None]:
        """The numbers of an item, (D,) or (n, D), in the order of the columns, and their names."""
        x, names = tables.converted(item, self._names, "it")
        if self.n_features is not None and names != self._names:
            if names is None:
                raise ValueError(f"it has no column names, but earlier rows have: {_listed(self._names)}.")
            if self._names is None:
                raise ValueError("it has column names, but earlier rows have none.")
            raise ValueError(f"its columns are {_listed(names)}, expected {_listed(self._names)}.")
        return x, names

    def _chunk_of_mixed_rows(self, item: Any, widths: Any, text: str, is_row: bool) -> Chunk:
        """A chunk with some invalid rows, converted row by row; or one invalid row."""
        rows = [] if is_row else tables.rows_of(item)
        if not any(_is_row_or_chunk(row) for row in rows):
            return self._bad_rows(1, text)
        if widths is None:
            return concatenated([self._chunk_of(row, is_row=True) for row in rows])
        if not isinstance(widths, Sequence | np.ndarray) or len(widths) != len(rows):
            return self._bad_rows(len(rows), f"row {{row}} must have one width for each row: {EXPECTED}.")
        pairs = zip(rows, widths, strict=True)
        return concatenated([self._chunk_of(pair, is_row=True) for pair in pairs])

    def _bad_rows(self, rows: int, text: str) -> Chunk:
        return Chunk(np.empty((0, self.n_features or 0)), None, tuple(BadRow(r, text) for r in range(rows)))


def _listed(names: Iterable[Any] | None) -> str:
    return "without names" if names is None else ", ".join(map(repr, names))


def _is_row_or_chunk(value: Any) -> bool:
    """Whether a value is a row or a chunk rather than a number."""
    container = isinstance(value, Sequence | Mapping) and not isinstance(value, str)
    return container or getattr(value, "ndim", 0) > 0 or tables.is_frame(value)


def as_stream(source: Any) -> Stream:
    """Convert to a stream: a table to one pass over its rows, any other iterable to its items.

    Examples
    --------
    >>> as_stream(np.zeros((5, 2)))
    Rows(<5 x 2>)
    """
    if isinstance(source, Stream):
        return source
    if tables.is_table(source) or isinstance(source, str | bytes) or not isinstance(source, Iterable):
        return Rows(source, passes=1)  # or an error
    return Iterated(source)
