"""Whatever Python can iterate over → a stream: rows, chunks of rows, generators that never end."""

import inspect
import itertools
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gaussian_neurons.base.bad_rows import BadRow
from gaussian_neurons.base.checks import as_numbers
from gaussian_neurons.sampling.rows import Rows
from gaussian_neurons.sampling.stream import Chunk, Stream, in_precision, joined

Array = NDArray[Any]

SECONDS = 0.1  # what arrives is handed on after this long, however little it is
EXPECTED = (
    "a row is a sequence of numbers or a mapping, a chunk an array (n, D), either alone or with a width"
)


class Iterated(Stream):
    """The items of an iterable, in their order: rows, or chunks of rows, either with widths of their own.

    An item is a row (D numbers, or a mapping from names to numbers), a chunk (n, D), or a pair (row, width)
    or (chunk, widths). The first good row settles the columns, the precision, and whether there are widths.
    Items are fetched one by one in the thread that learns, no further than needed, and handed on at the
    latest a tenth of a second after they came. To carry on after a crash, the rows already learned are
    fetched again and dropped: the iterable must begin with the same ones, which nobody checks.

    Examples
    --------
    >>> stream = Iterated([[0.0, 1.0], [2.0, 3.0]])
    >>> stream.read(10)
    array([[0., 1.],
           [2., 3.]])
    """

    endless = False
    in_a_thread = False  # a database cursor, for one, wants to be read where it was opened

    def __init__(self, items: Iterable[Any]) -> None:
        self._items = items
        self._iterator: Iterator[Any] | None = None
        # The row at which the items begin that were fetched and may be needed, and those items. An interrupt
        # may come between any two steps of Python, so every change of this is one step: none is lost.
        self._window: tuple[int, list[Any]] = (0, [])
        self._trouble: Exception | None = None
        self._broken = False  # the iterator, not the items
        self._names: list[Any] = []  # of the columns, where rows are mappings
        self._single = self._with_widths = False

    def __getstate__(self) -> dict[str, Any]:
        if iter(self._items) is self._items:
            raise TypeError(
                f"{self._items!r} gives each item only once: there is no copy of it. Make a list or an array "
                f"of it."
            )
        unread: dict[str, Any] = {"_iterator": None, "_window": (0, []), "_trouble": None, "_broken": False}
        return {**super().__getstate__(), **unread}

    def draw(self, first: int, count: int) -> Chunk:
        """What there is of these rows within a tenth of a second, or whenever the first of them comes."""
        self._go_to(first)
        start, items = self._window
        begin = time.monotonic()
        rows, read = start, 0
        while True:
            for k in range(read, len(items)):
                rows += self._chunk_at(k).taken
            read = len(items)
            enough = rows - first >= (count if self.n_features else max(count, 1))
            if enough or (rows > first and time.monotonic() - begin > SECONDS) or not self._fetch():
                break
        if rows <= first and self._trouble is not None:
            trouble, self._trouble = self._trouble, None
            raise trouble
        there = joined([self._chunk_at(k) for k in range(len(items))] or [self._refused(0, "")])
        return there.cut(first - start)[1].cut(count)[0]

    def _go_to(self, row: int) -> None:
        """Drop what lies before a row, fetching until it is reached."""
        if self._iterator is None:
            self._iterator = iter(self._items)
        if row < self._window[0]:
            if iter(self._items) is self._items:
                raise ValueError(
                    f"cannot go back to row {row}: {self._items!r} gives each item only once, and those "
                    f"before row {self._window[0]} are gone. Make it anew."
                )
            self._iterator, self._window = iter(self._items), (0, [])
            self._trouble, self._broken = None, False
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
                raise self._trouble or ValueError(f"cannot go to row {row}: there are only {start}.")

    def _fetch(self) -> bool:
        """One item more, if there is one. An error waits until all that came before it is drawn."""
        assert self._iterator is not None
        items = self._window[1]
        before = len(items)
        if self._trouble is not None:
            return False
        if self._broken:
            self._begin_again()
        try:
            items.extend(itertools.islice(self._iterator, 1))  # in one step: nothing had that is not kept
        except BaseException as error:
            # A generator that was left by an error is over, though its rows are not.
            self._broken = inspect.isgenerator(self._iterator) and self._iterator.gi_frame is None
            if not isinstance(error, Exception):
                raise
            self._trouble = error
        return len(items) > before

    def _begin_again(self) -> None:
        """Take a new iterator to where the broken one was."""
        start, items = self._window
        end = start + sum(self._chunk_at(k).taken for k in range(len(items)))
        if iter(self._items) is self._items:
            raise ValueError(
                f"{self._items!r} was left by an error or an interrupt after row {end}. Make it anew."
            )
        again = Iterated(self._items)
        again.n_features, again._names = self.n_features, self._names
        again._single, again._with_widths = self._single, self._with_widths
        again._go_to(end)
        self._iterator, self._broken = again._iterator, False
        items += again._window[1]

    def _chunk_at(self, k: int) -> Chunk:
        """Item k as a chunk, made once."""
        items = self._window[1]
        if not isinstance(items[k], Chunk):
            items[k] = self._chunk_of(items[k])
        chunk: Chunk = items[k]
        return chunk

    def _chunk_of(self, item: Any) -> Chunk:
        """An item as a chunk, copied: its maker may use the memory again for the next."""
        widths = None
        if isinstance(item, tuple) and len(item) == 2 and _is_several(item[0]):
            item, widths = item
        names = self._names
        if isinstance(item, Mapping):
            names = names or list(item)
            item = [item.get(name, np.nan) for name in names]
        try:
            if isinstance(item, np.ma.MaskedArray):
                item = np.ma.filled(item.astype(np.float64), np.nan)
            x = as_numbers(np.asarray(item))
            own = None if widths is None else np.atleast_1d(np.array(widths, np.float64))
        except Exception:  # whatever an item does when it is asked for numbers
            return self._chunk_of_odd_rows(item, widths)
        if x.ndim == 1 and not len(x):
            return self._refused(0, "")
        if x.ndim not in (1, 2):
            return self._refused(1, f"row {{row}} is of shape {x.shape}: {EXPECTED}.")
        x = np.atleast_2d(x)
        if own is not None and own.shape != (len(x),):
            return self._refused(len(x), f"row {{row}} must have one width: {EXPECTED}.")
        if self.n_features is None:
            if not np.isfinite(x).all(axis=1).any():
                return self._refused(len(x), "row {row} holds values that are not finite.")
            self._names, self.n_features = names, x.shape[1]
            self._single, self._with_widths = x.dtype == np.float32, own is not None
        if x.shape[1] != self.n_features:
            return self._refused(len(x), f"row {{row}} has {x.shape[1]} numbers, expected {self.n_features}.")
        if (own is not None) != self._with_widths:
            wanted = "a width" if self._with_widths else "no width"
            return self._refused(len(x), f"row {{row}} must have {wanted}, like the first.")
        return Chunk(in_precision(np.array(x), np.float32 if self._single else np.float64), own)

    def _chunk_of_odd_rows(self, item: Any, widths: Any) -> Chunk:
        """A chunk of which some rows are odd, row by row; or one row that is no row."""
        if getattr(item, "ndim", None) == 2:
            item = np.asarray(item, object)  # of a table with text in it, say
        rows = list(item) if isinstance(item, Sequence | np.ndarray) and not isinstance(item, str) else []
        if not any(isinstance(row, Sequence | np.ndarray) and not isinstance(row, str) for row in rows):
            return self._refused(1, f"row {{row}} holds no numbers: {repr(item)[:80]}; {EXPECTED}.")
        if widths is None:
            return joined([self._chunk_of(row) for row in rows])
        if np.ndim(widths) != 1 or len(widths) != len(rows):
            return self._refused(len(rows), f"row {{row}} must have one width for each row: {EXPECTED}.")
        return joined([self._chunk_of((row, width)) for row, width in zip(rows, widths, strict=True)])

    def _refused(self, rows: int, text: str) -> Chunk:
        return Chunk(np.empty((0, self.n_features or 0)), None, tuple(BadRow(r, text) for r in range(rows)))


def _is_several(value: Any) -> bool:
    """Whether a value is a row or a chunk, and no number."""
    several = isinstance(value, Sequence | Mapping) and not isinstance(value, str)
    return several or getattr(value, "ndim", 0) > 0


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
    dimensions = getattr(source, "ndim", None)
    if dimensions == 2:
        return Rows(source, passes=1)
    if dimensions == 1:
        raise ValueError(
            "a table of rows is needed, got one dimension: use x[:, None] for rows of one column."
        )
    if dimensions is not None:
        raise ValueError(
            f"a table of rows is needed, got {dimensions} dimensions. For images, draw patches from them: "
            f"gaussian_neurons.sampling.Patches(images, size)."
        )
    if isinstance(source, Mapping) or not isinstance(source, Iterable):
        raise TypeError(f"a stream, a table or something to iterate over is needed, got {repr(source)[:80]}.")
    return Iterated(source)
