"""Sources that can go on in the middle: message queues, logs and databases."""

import json
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from typing import Any, NamedTuple, Self

from gaussian_neurons.base.interrupts import deferred_interrupts
from gaussian_neurons.sampling.iterables import Array, Iterated
from gaussian_neurons.sampling.stream import Chunk


class Resumable(Iterated):
    """The rows of a source that can go on after any of them, such as a message queue or a database.

    A checkpoint keeps the offset of the last learned row. A run that resumes reads nothing before it, so the
    source may have deleted that; and no row is lost or learned twice. docs/sources.md has examples.

    Parameters
    ----------
    source : a function of an offset that gives the rows after it, as pairs (row, offset of the row). An
        offset consists of JSON values: the key of a row, for example, or a number for each partition. A row
        may be any item of `Iterated`; an empty one, ([], offset), while the source waits, lets the rows
        before it be learned at once
    start : the offset to begin after

    Examples
    --------
    >>> import sqlite3
    >>> database = sqlite3.connect(":memory:")
    >>> _ = database.execute("CREATE TABLE points (id INTEGER PRIMARY KEY, x, y)")
    >>> _ = database.executemany("INSERT INTO points VALUES (?, ?, ?)", [(7, 0.5, 1.0), (9, 2.0, 3.0)])
    >>> def points(key):
    ...     for key, *row in database.execute("SELECT * FROM points WHERE id > ? ORDER BY id", (key,)):
    ...         yield row, key
    >>> stream = Resumable(points, 0)
    >>> stream.read(1)
    array([[0.5, 1. ]])
    >>> stream.state_at(1)["offset"]
    7
    >>> database.close()
    """

    def __init__(self, source: Callable[[Any], Iterable[tuple[Any, Any]]], start: Any) -> None:
        super().__init__(())
        self._source, self._start = source, start
        # The last offset at or before the last chunk; until the source is opened, of the empty window.
        self._known = _Place(0, _json(start))

    def __getstate__(self) -> dict[str, Any]:
        return super().__getstate__() | {"_window": (self._known.row, [])}

    def describe(self) -> Mapping[str, Any]:  # noqa: D102
        return {**super().describe(), "start": self._start}

    def draw(self, first: int, count: int) -> Chunk:  # noqa: D102
        known = self._last_place(first)
        if first < self._window[0]:
            self._go_back(known)
        self._known = known
        return super().draw(first, count)

    def state_at(self, row: int) -> Any:  # noqa: D102
        with self._draw_lock:
            known = self._last_place(row)
            return {
                "offset": json.loads(known.offset),
                "rows": row - known.row,  # after it: an item may hold many rows
                "columns": [self.n_features, self._names and [*self._names], self._single, self._with_widths],
            }

    def resume(self, row: int, state: Any) -> None:  # noqa: D102
        with self._draw_lock:
            if row < self._known.row or state != self.state_at(row):  # otherwise it is there already
                try:
                    begin = _Place(row - state["rows"], _json(state["offset"]))
                    self._decide(*state["columns"])
                except (TypeError, KeyError) as error:
                    raise ValueError(f"a checkpoint of {self!r} cannot hold {state!r}.") from error
                self._go_back(begin)
        super().resume(row, state)

    def _last_place(self, row: int) -> "_Place":
        """The last known offset at or before a row."""
        place = self._known
        if row < place.row:
            raise ValueError(
                f"cannot go back to row {row}: the source has been read up to row {place.row}. Create a new "
                f"stream."
            )
        at, items = self._window
        for k in range(len(items)):
            at += self._chunk_at(k).taken
            if at > row:
                break
            place = _Place(at, items[k].offset)
        return place

    def _go_back(self, place: "_Place") -> None:
        with deferred_interrupts():
            self._known, self._window, self._iterator = place, (place.row, []), None
            self._error, self._broken = None, False

    def _opened(self) -> Iterator[Any]:
        return _entries(self._source, json.loads(self._known.offset))

    def _unread(self, row: int) -> Self:
        again = super()._unread(row)
        again._go_back(self._last_place(row))
        return again

    def _chunk_at(self, k: int) -> Chunk:
        items = self._window[1]
        if not isinstance(items[k].item, Chunk):
            items[k] = items[k]._replace(item=self._chunk_of(items[k].item))
        chunk: Chunk = items[k].item
        return chunk

    def _read(self, item: Any) -> tuple[Array, tuple[Any, ...] | None]:
        x, names = super()._read(item)
        if names is not None and not all(isinstance(name, str | int) for name in names):
            raise ValueError(f"its column names must be strings to be kept in a checkpoint, got {names}.")
        return x, names


class _Place(NamedTuple):
    """An offset of the source."""

    row: int  # number of rows up to it
    offset: str  # JSON


class _Entry(NamedTuple):
    """An item of the source, and its offset."""

    item: Any
    offset: str  # JSON


def _entries(
    source: Callable[[Any], Iterable[tuple[Any, Any]]], offset: Any
) -> Generator[_Entry, None, None]:
    """What the source gives after an offset. JSON keeps offsets as they are now: a source may change them."""
    for pair in source(offset):
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError(f"the source must give pairs (row, offset), got {repr(pair)[:80]}.")
        yield _Entry(pair[0], _json(pair[1]))


def _json(offset: Any) -> str:
    try:
        return json.dumps(offset, allow_nan=False)
    except (TypeError, ValueError):
        raise TypeError(
            f"an offset must consist of numbers, strings, lists and dictionaries, to be stored in a file, "
            f"got {repr(offset)[:80]}."
        ) from None
