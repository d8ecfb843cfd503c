"""DATA as a command names it → rows: a file or standard input, and the columns that are meant."""

import csv
import difflib
import os
import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gaussian_neurons.base.bad_rows import BadRow
from gaussian_neurons.sampling import Chunk, Stream, rows_from_file, rows_from_pipe
from gaussian_neurons.sampling.files import TextRows
from gaussian_neurons.sampling.stream import concatenated
from gaussian_neurons.sampling.text import NoNumbers

Array = NDArray[Any]

PIPE = "-"
LOOKED_AT = 1000  # rows by which the columns are judged
EVERYTHING = 1 << 40  # rows
UNEVEN = 100.0  # times that the spread of one column may exceed another's without a word
ROWS_AT_ONCE = 1 << 16
MOST_NAMES = 12  # columns that a message lists
SHOWN = 3  # skipped rows that a message names


class Opened(NamedTuple):
    """Rows that are there to be read."""

    stream: Stream
    labels: list[str]  # what messages call the columns that are read


@dataclass(frozen=True)
class Data:
    """What a command was told about its data."""

    path: str
    format: str | None
    header: bool | None
    columns: str | None
    exclude: str | None
    skip: bool  # rows that cannot be read

    @property
    def is_pipe(self) -> bool:
        """Whether it is standard input."""
        return self.path == PIPE

    @property
    def shown(self) -> str:
        """What messages call it."""
        return "standard input" if self.is_pipe else repr(self.path)

    def open(self, choose: Callable[[list[str]], list[int]] | None = None) -> Opened:
        """The rows, once it is sure that there are some and that the columns hold numbers.

        Parameters
        ----------
        choose : the numbers of the columns, from all names; None goes by the options alone
        """
        labels: list[str] = []

        def columns(names: list[str]) -> list[int]:
            numbers = (choose or self.selected)(names)
            labels[:] = [names[k] for k in numbers]
            return numbers

        try:
            stream = self._opened(columns)
            first = stream.draw(0, LOOKED_AT)
            if isinstance(stream, TextRows) and not (self.skip and len(first.x)):
                stream.require_numbers()
        except NoNumbers as error:
            raise ValueError(self._about_words(error)) from None
        if not first.taken:
            raise ValueError(f"{self.shown} holds no rows.")
        return Opened(stream, labels)

    def selected(self, names: list[str]) -> list[int]:
        """The numbers of the columns that --columns and --exclude leave."""
        wanted = [_number_of(one, names) for one in _listed(self.columns)] or list(range(len(names)))
        without = {_number_of(one, names) for one in _listed(self.exclude)}
        left = [k for k in wanted if k not in without]
        if not left:
            raise ValueError(f"--exclude leaves no column; there are {several(names)}.")
        return left

    def _opened(self, columns: Callable[[list[str]], list[int]]) -> Stream:
        if not self.is_pipe:
            existing(self.path, "data")
            return rows_from_file(self.path, columns=columns, format=self.format, header=self.header)
        if sys.stdin is None or sys.stdin.isatty():
            raise ValueError(
                "nothing is piped into standard input. Give a file instead of -, or pipe rows in: "
                "cat data.csv | gaussian-neurons ..."
            )
        return rows_from_pipe(sys.stdin.buffer, columns=columns, format=self.format, header=self.header)

    def _about_words(self, error: NoNumbers) -> str:
        held = ", ".join(f"column {name!r} holds {what}" for name, what in error.held.items())
        option = ",".join(_quoted(name) or str(error.names.index(name)) for name in error.held)
        return (
            f"{self.shown}: {held}, which is no number. To leave out a label or a name, add --exclude "
            f"{shlex.quote(option)}, or say --columns with those to use. There are {several(error.names)}."
        )


def existing(path: str, what: str) -> None:
    """Raise an error that helps where a path names no file."""
    place = Path(path).expanduser()
    if place.is_dir():
        raise ValueError(f"{path!r} is a folder. Name the {what} file in it.")
    if place.exists() and not place.is_file():
        raise ValueError(f"{path!r} is not a plain file. Pipe it in instead: ... | gaussian-neurons ... -")
    if place.exists() or "://" in path:
        return
    beside = os.listdir(place.parent) if place.parent.is_dir() else []
    close = difflib.get_close_matches(place.name, beside, n=1)
    hint = f" Did you mean {str(place.with_name(close[0]))!r}?" if close else ""
    raise ValueError(f"there is no file {path!r}.{hint}")


def whole_table(stream: Stream, skip: bool, count: Callable[[int], None]) -> tuple[Array, int, list[BadRow]]:
    """All rows, in memory or where a file is mapped; how many were skipped, and the first of them."""
    chunks: list[Chunk] = []
    bad: list[BadRow] = []
    taken = skipped = 0
    while (chunk := stream.draw(taken, EVERYTHING)).taken:
        if chunk.bad and not skip:
            raise chunk.bad[0].later(taken)
        bad += [one.later(taken) for one in chunk.bad[: SHOWN - len(bad)]]
        skipped += len(chunk.bad)
        chunks.append(Chunk(chunk.x))
        taken += chunk.taken
        count(taken)
    x = concatenated(chunks).x
    good = np.ones(len(x), bool)
    for begin in range(0, len(x), ROWS_AT_ONCE):
        good[begin : begin + ROWS_AT_ONCE] = finite_rows(x[begin : begin + ROWS_AT_ONCE])
    if good.all():
        return x, skipped, bad
    holes = [not_finite(int(row)) for row in np.flatnonzero(~good)]
    if not skip:
        raise holes[0]
    return x[good], skipped + len(holes), bad + holes[: SHOWN - len(bad)]


def finite_rows(x: Array, dtype: Any = np.float64) -> NDArray[np.bool_]:
    """Which rows hold finite numbers only, in a precision, (n,)."""
    with np.errstate(over="ignore"):
        finite: NDArray[np.bool_] = np.isfinite(x.astype(dtype, copy=False)).all(axis=1)
    return finite


def not_finite(row: int) -> BadRow:
    """The error of a row with a hole."""
    return BadRow(row, "row {row} (counting from 0) holds a value that is missing or not finite.")


def uneven(x: Array, names: Sequence[str]) -> str | None:
    """What to say where columns are of such different scale that distances see only some of them."""
    some = np.asarray(x[:: max(1, len(x) // (10 * LOOKED_AT))], np.float64)
    some = some[finite_rows(some)]
    if len(some) < 2:
        return None
    spreads = some.std(axis=0)
    order = np.argsort(spreads)[(spreads == 0).sum() :]  # a column that never changes does no harm
    if not len(order) or spreads[order[-1]] <= UNEVEN * spreads[order[0]]:
        return None
    least, most = order[0], order[-1]
    return (
        f"Column {names[most]!r} spreads {spreads[most] / spreads[least]:,.0f} times as far as "
        f"{names[least]!r} (standard deviations {spreads[most]:.3g} and {spreads[least]:.3g}), so that "
        f"distances hardly see the latter. Scale the columns first, such as to standard deviation 1, or "
        f"leave some out with --exclude."
    )


def _listed(option: str | None) -> list[str]:
    """The parts of a,b,"c, d"."""
    if option is None:
        return []
    try:
        listed = [part.strip() for part in next(csv.reader([option], skipinitialspace=True), [])]
    except csv.Error:
        listed = []
    if not any(listed):
        raise ValueError(f"columns are names or numbers with commas between them, got {option!r}.")
    return [part for part in listed if part]


def several(names: Sequence[str]) -> str:
    """Names for a message, not all of them where there are many."""
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return ", ".join(name or "''" for name in names[:MOST_NAMES]) + more


def _quoted(name: str) -> str:
    return f'"{name}"' if "," in name else name


def _number_of(column: str, names: list[str]) -> int:
    """The number of a column by its name, or else by its number, from 0."""
    if names.count(column) > 1:
        numbers = ", ".join(str(k) for k, name in enumerate(names) if name == column)
        raise ValueError(f"several columns are named {column!r}; give their numbers instead: {numbers}.")
    if column in names:
        return names.index(column)
    if column.removeprefix("-").isdecimal() and -len(names) <= int(column) < len(names):
        return int(column) % len(names)
    close = difflib.get_close_matches(column, names, n=1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    raise ValueError(f"no column {column!r}; there are {several(names)}.{hint}")
