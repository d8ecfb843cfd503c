"""DATA of a command as rows: a file or standard input, and the selected columns."""

import csv
import difflib
import os
import re
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gaussian_neurons.base.bad_rows import BadRow, bad_value_of, finite_rows
from gaussian_neurons.sampling import Chunk, Stream, follow, rows_from_file, rows_from_pipe
from gaussian_neurons.sampling.files import TextRows
from gaussian_neurons.sampling.followed import Followed
from gaussian_neurons.sampling.stream import concatenated
from gaussian_neurons.sampling.text import NoNumbers

Array = NDArray[Any]

PIPE = "-"
CHECKED_ROWS = 1000  # to check the columns
ALL_ROWS = 1 << 40
MOST_NAMES = 12  # columns in a message
THOUSANDS = re.compile(r"'-?\d{1,3}([., ]\d{3})+([.,]\d+)?'")  # numbers such as 1.234,5, in quotes
SHOWN = 3  # skipped rows, or columns without numbers, in a message


class Opened(NamedTuple):
    """Rows that are ready to be read."""

    stream: Stream
    labels: list[str]  # the names of the columns in messages


@dataclass(frozen=True)
class Data:
    """The arguments and options of a command about its data."""

    path: str
    format: str | None
    header: bool | None
    columns: str | None
    exclude: str | None
    skip: bool  # skip rows that cannot be read
    keep_lines: bool = False  # keep each row as a line of text
    follow: Mapping[str, Any] | None = None  # wait for further rows; options of `sampling.follow`

    @property
    def is_pipe(self) -> bool:
        """Whether it is standard input."""
        return self.path == PIPE

    @property
    def shown(self) -> str:
        """The name in messages."""
        return "standard input" if self.is_pipe else repr(self.path)

    def open(self, choose: Callable[[list[str]], list[int]] | None = None) -> Opened:
        """Open the rows, and check that there are some and that the columns hold numbers.

        Parameters
        ----------
        choose : returns the indices of columns, given all names; None uses the options
        """
        labels: list[str] = []

        def columns(names: list[str]) -> list[int]:
            indices = (choose or self.selected)(names)
            labels[:] = [names[k] for k in indices]
            return indices

        try:
            stream = self._opened(columns)
            first = stream.draw(0, CHECKED_ROWS)
            if isinstance(stream, TextRows | Followed) and not (self.skip and len(first.x)):
                stream.require_numbers()
        except NoNumbers as error:
            raise ValueError(self._not_numbers(error)) from None
        if not first.taken:
            raise ValueError(f"{self.shown} has no rows.")
        return Opened(stream, labels)

    def selected(self, names: list[str]) -> list[int]:
        """The indices of the columns that --columns and --exclude select."""
        wanted = [_index_of(one, names) for one in _listed(self.columns)] or list(range(len(names)))
        excluded = {_index_of(one, names) for one in _listed(self.exclude)}
        left = [k for k in wanted if k not in excluded]
        if not left:
            raise ValueError(f"--exclude removes all columns. The columns are {several(names)}.")
        return left

    def _opened(self, columns: Callable[[list[str]], list[int]]) -> Stream:
        options: Any = {"columns": columns, "format": self.format, "header": self.header}
        if not self.is_pipe:
            require_file(self.path, "data")
        elif sys.stdin is None or sys.stdin.isatty():
            raise ValueError(
                "standard input is a terminal. Name a file instead of -, or pipe rows in: "
                "cat data.csv | gaussian-neurons ..."
            )
        if self.follow is not None:
            return follow(sys.stdin.buffer if self.is_pipe else self.path, **options, **self.follow)
        if self.is_pipe:
            return rows_from_pipe(sys.stdin.buffer, keep_lines=self.keep_lines, **options)
        return rows_from_file(self.path, keep_lines=self.keep_lines, **options)

    def _not_numbers(self, error: NoNumbers) -> str:
        """One sentence: what the columns hold, and the option that excludes them."""
        held = [f"column {name!r} holds {what}" for name, what in error.held.items()]
        more = f" and {len(held) - SHOWN} more" if len(held) > SHOWN else ""
        listed = f"{', '.join(held[:SHOWN])}{more}"
        if len(held) == len(error.names):
            return f"{self.shown} has no column of numbers: {listed}."
        if any(THOUSANDS.fullmatch(word) for word in error.held.values()):
            return f"{self.shown}: {listed}, not numbers: write numbers without separators of thousands."
        option = ",".join(_quoted(name) or str(error.names.index(name)) for name in error.held)
        them = "it" if len(held) == 1 else "them"
        return f"{self.shown}: {listed}, not numbers: exclude {them} with --exclude {shlex.quote(option)}."


def require_file(path: str, what: str) -> None:
    """Raise an error if a path is not a file, with a suggestion."""
    file = Path(path).expanduser()
    if file.is_dir():
        raise ValueError(f"{path!r} is a folder. Name the {what} file in it.")
    if file.exists() and not file.is_file():
        raise ValueError(f"{path!r} is not a regular file. Pipe it in instead: ... | gaussian-neurons ... -")
    if file.exists() or "://" in path:
        return
    neighbours = [name for name in os.listdir(file.parent) if name[0] != "."] if file.parent.is_dir() else []
    close = difflib.get_close_matches(file.name, neighbours, n=1)
    hint = f" Did you mean {str(file.with_name(close[0]))!r}?" if close else ""
    raise ValueError(f"there is no file {path!r}.{hint}")


def whole_table(opened: Opened, skip: bool, count: Callable[[int], None]) -> tuple[Array, int, list[BadRow]]:
    """All rows, in memory or mapped from a file; the number of skipped rows, and the first of them."""
    chunks: list[Chunk] = []
    bad: list[BadRow] = []
    taken = skipped = 0
    while (chunk := opened.stream.draw(taken, ALL_ROWS)).taken:
        chunk = without_holes(chunk, chunk.x.dtype, opened.labels)
        if chunk.bad and not skip:
            raise chunk.bad[0].later(taken)
        bad += [one.later(taken) for one in chunk.bad[: SHOWN - len(bad)]]
        skipped += len(chunk.bad)
        chunks.append(Chunk(chunk.x))
        taken += chunk.taken
        count(taken)
    return concatenated(chunks).x, skipped, bad


def without_holes(chunk: Chunk, dtype: Any, labels: Sequence[str]) -> Chunk:
    """A chunk with the rows that are not finite in a precision among its bad rows."""
    good = finite_rows(chunk.x, dtype)
    if good.all():
        return chunk
    holes = [
        bad_value_of(chunk.x, int(k), dtype).later(chunk.rows_up_to(int(k)) - int(k)).named(labels)
        for k in np.flatnonzero(~good)
    ]
    bad = tuple(sorted([*chunk.bad, *holes], key=lambda one: one.row))
    return Chunk(chunk.x[good], None, bad, chunk.lines)


def _listed(option: str | None) -> list[str]:
    """The parts of an option such as a,b,"c, d"."""
    if option is None:
        return []
    try:
        listed = [part.strip() for part in next(csv.reader([option], skipinitialspace=True), [])]
    except csv.Error:
        listed = []
    if not any(listed):
        raise ValueError(f"columns must be names or indices separated by commas, got {option!r}.")
    return [part for part in listed if part]


def several(names: Sequence[str]) -> str:
    """Names for a message, shortened if there are many."""
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return ", ".join(name or "''" for name in names[:MOST_NAMES]) + more


def _quoted(name: str) -> str:
    return f'"{name}"' if "," in name else name


def _index_of(column: str, names: list[str]) -> int:
    """The index of a column, given its name or its index."""
    if names.count(column) > 1:
        indices = ", ".join(str(k) for k, name in enumerate(names) if name == column)
        raise ValueError(f"several columns are named {column!r}. Use their indices instead: {indices}.")
    if column in names:
        return names.index(column)
    if column.removeprefix("-").isdecimal() and -len(names) <= int(column) < len(names):
        return int(column) % len(names)
    close = difflib.get_close_matches(column, names, n=1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    raise ValueError(f"there is no column {column!r}. The columns are {several(names)}.{hint}")
