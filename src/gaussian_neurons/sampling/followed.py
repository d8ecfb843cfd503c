"""Lines that are appended to a file, or that arrive in a pipe, as a stream of rows that waits for more."""

import hashlib
import io
import os
import select
import time
import weakref
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, Protocol

import numpy as np

from gaussian_neurons.base import extras
from gaussian_neurons.base.interrupts import deferred_interrupts
from gaussian_neurons.sampling.files import BLOCK, COMPRESSED, LONGEST_LINE, SUFFIXES
from gaussian_neurons.sampling.piped import BINARY_FORMATS, KINDS
from gaussian_neurons.sampling.stream import Chunk, Stream
from gaussian_neurons.sampling.text import Csv, Format, JsonLines, NoNumbers, parse_lines

POLL = 0.1  # seconds between two looks for new lines
COMPARED = 4096  # bytes before an offset that identify a file
MOST_ROWS = 1000  # in a chunk
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def follow(
    source: str | os.PathLike[str] | BinaryIO,
    *,
    columns: Any = None,
    format: str | None = None,
    header: bool | None = None,
    rotated: bool = False,
    stopped: Callable[[], bool] = lambda: False,
) -> "Followed":
    """Stream the rows of a text file and those that are appended later, without end.

    It waits for the first two lines, which decide the format, and for every further one. A line is read once
    it is complete. A checkpoint keeps the offset in the file: a run that resumes reads nothing before it.

    Parameters
    ----------
    source : a CSV or JSON lines file; or a pipe, such as sys.stdin.buffer, which ends and has no offsets: a
        run that resumes goes on with the first row that arrives
    columns, format, header : as in `rows_from_file`
    rotated : what to do if the file becomes shorter, or is replaced by one that does not begin with the same
        rows: an error, or go on with the first row of the new file, after the last one of the old
    stopped : asked about ten times a second; the stream ends once it returns True

    Examples
    --------
    >>> follow(io.BytesIO(b"a,b\\n1,2\\n3,4\\n")).read(2)
    array([[1., 2.],
           [3., 4.]])
    """
    extras.require("reading CSV and JSON lines needs", "files", "pyarrow")
    given: _Bytes
    if isinstance(source, str | os.PathLike):
        path = Path(source).expanduser().absolute()
        format = format or SUFFIXES.get(path.suffix.lower())
        if format not in (None, *KINDS) or path.suffix.lower() in COMPRESSED:
            raise ValueError(f"{str(path)!r} cannot grow line by line: only {' and '.join(KINDS)} files can.")
        given = _File(path, rotated)
    else:
        given = _Pipe(source)
    return Followed(given, format, columns, header, stopped)


class _Bytes(Protocol):
    """Bytes that arrive."""

    name: str
    ended: bool  # no more will arrive
    restarted: bool  # the next bytes are the first of another file

    def read(self) -> bytes:
        """The next bytes; none if there are none now, after a short time."""

    def identity(self, offset: int) -> str | None:
        """What identifies the bytes before an offset."""

    def go_to(self, offset: int, identity: str | None) -> int:
        """Go to an offset of an earlier process; returns 0 if the bytes before it are others."""


class _File:
    """The bytes of a file that grows.

    A file at the same path is the same one if the bytes before the offset are the same: a program may replace
    the file by a longer copy.
    """

    ended = restarted = False

    def __init__(self, path: Path, rotated: bool) -> None:
        self.name, self._path, self._rotated, self._offset = path.name, path, rotated, 0
        self._open()

    def _open(self) -> None:
        self._file = open(self._path, "rb", buffering=0)  # noqa: SIM115
        weakref.finalize(self, self._file.close)

    def read(self) -> bytes:
        data = self._file.read(BLOCK)
        if not data and not (self._is_other() and self._begin_again()):
            time.sleep(POLL)
        self._offset += len(data)
        return data

    def identity(self, offset: int) -> str:
        return _identity(self._file, offset)

    def go_to(self, offset: int, identity: str | None) -> int:
        if _identity(self._file, offset) != identity:
            self._change(f"does not begin with the {offset:,} bytes that the checkpoint has learned")
            offset = 0
        self._file.seek(offset)
        self._offset = offset
        return offset

    def _is_other(self) -> bool:
        """Whether the path has another file now, or a shorter one."""
        try:
            there = os.stat(self._path)
        except FileNotFoundError:
            self._change(f"was deleted or renamed after {self._offset:,} bytes")
            return False  # a new one will come
        return there.st_size < self._offset or not os.path.samestat(there, os.fstat(self._file.fileno()))

    def _begin_again(self) -> bool:
        """Open the file that the path has now. False if it has disappeared."""
        before, offset = self._file, self._offset
        try:
            self._open()
        except FileNotFoundError:
            return False
        longer = os.fstat(self._file.fileno()).st_size >= offset
        if longer and _identity(self._file, offset) == _identity(before, offset):
            self._file.seek(offset)
            return True
        try:
            self._change(f"became shorter, or was replaced by another file, after {offset:,} bytes")
        except ValueError:
            self._file = before  # the offset belongs to it
            raise
        self._offset, self.restarted = 0, True
        return True

    def _change(self, what: str) -> None:
        if not self._rotated:
            raise ValueError(
                f"{str(self._path)!r} {what}. If all rows of the file that has this name now are new, as "
                f"after a rotation, go on with them: rotated=True."
            )


def _identity(file: Any, offset: int) -> str:
    """A hash of the bytes before an offset."""
    position, begin = file.tell(), max(0, offset - COMPARED)
    file.seek(begin)
    data = file.read(offset - begin)
    file.seek(position)
    return hashlib.sha256(data).hexdigest()


class _Pipe:
    """The bytes of a pipe, which has no offsets."""

    name, ended, restarted = "standard input", False, False

    def __init__(self, pipe: BinaryIO) -> None:
        self._pipe = pipe
        try:
            self._number: int | None = pipe.fileno()
        except io.UnsupportedOperation:
            self._number = None  # in memory

    def read(self) -> bytes:
        if self._number is None:
            data = self._pipe.read(BLOCK)
        elif os.name == "posix" and not select.select([self._number], [], [], POLL)[0]:
            return b""
        else:
            data = os.read(self._number, BLOCK)
        self.ended = not data
        return data

    def identity(self, _: int) -> None:
        return None

    def go_to(self, offset: int, _: str | None) -> int:
        return offset


class _Line(NamedTuple):
    """A complete line that is not blank."""

    number: int  # in the file, from 1
    text: bytes
    end: int  # offset of the byte after it


class Followed(Stream):
    """Rows of text that arrive, one on each line. `follow` makes them."""

    endless = False
    in_a_thread = False  # the learning thread waits, so that it can be stopped

    def __init__(
        self, source: _Bytes, kind: str | None, columns: Any, header: bool | None, stopped: Callable[[], bool]
    ) -> None:
        self._source, self._stopped, self._ended = source, stopped, False
        self._row = 0  # of the first line below
        self._begin = _Line(0, b"", 0)  # the line before it
        self._lines: list[_Line] = []  # from the last chunk on
        self._rest = b""  # of an incomplete line
        self._count, self._at = 0, 0  # lines before that one, and its offset
        self._header = self._expects_header = False
        self._wait(2)
        first = [line.text.decode(errors="replace") for line in self._lines[:2]]
        if not first:
            raise ValueError(f"no data came from {source.name}.")
        self._format: Format
        try:
            if (kind or ("jsonl" if first[0].lstrip()[:1] in ("{", "[") else "csv")) == "csv":
                self._format, self._header = Csv.of(first, None, header, columns)
            else:
                self._format = JsonLines.of(first[0], columns)
        except ValueError as error:
            raise ValueError(f"{source.name!r}: {error}") from None
        if self._header:
            self._begin = self._lines.pop(0)
        names = [self._format.names[k] for k in self._format.columns]
        named = self._header or getattr(self._format, "objects", False)
        self.n_features = len(names)
        self.feature_names = names if named and len(set(names)) == len(names) else None

    def __repr__(self) -> str:
        names = ", ".join(self._format.names[k] for k in self._format.columns)
        return f"follow({self._source.name!r}): {names}"

    def __getstate__(self) -> dict[str, Any]:
        raise TypeError(f"{self!r} cannot be copied: it waits for a file. Follow the file again.")

    def describe(self) -> Mapping[str, Any]:
        """The columns: the file is recognized by its bytes, when a run resumes."""
        return {**super().describe(), **vars(self._format), "header": self._header}

    def require_numbers(self) -> None:
        """Raise NoNumbers if the first row holds words, most likely class labels."""
        words = self._format.words(self._lines[0].text.decode(errors="replace")) if self._lines else {}
        if words:
            raise NoNumbers(self._source.name, words, self._format.names)

    def draw(self, first: int, count: int) -> Chunk:
        """The rows that have arrived, at least one, unless the stream ends."""
        self._drop_before(first)
        self._wait(1)
        lines = [] if self._stopped() else self._lines[: min(count, MOST_ROWS)]
        if not lines:
            return Chunk(np.empty((0, self.n_features or 0)))
        numbered = [(line.number, line.text) for line in lines]
        block = b"\n".join(line.text for line in lines)
        return parse_lines(self._format, block, numbered, self._source.name, np.float64)

    def state_at(self, row: int) -> Any:
        """The offset of a row of the last chunk, and what identifies the bytes before it."""
        before = self._begin if row == self._row else self._lines[row - self._row - 1]
        return {
            "offset": before.end,
            "line": before.number,
            "identity": self._source.identity(before.end),
        }

    def resume(self, row: int, state: Any) -> None:  # noqa: D102
        try:
            offset, line, identity = int(state["offset"]), int(state["line"]), state["identity"]
        except (TypeError, KeyError, ValueError) as error:
            raise ValueError(f"a checkpoint of {self!r} cannot hold {state!r}.") from error
        kept = offset == self._source.go_to(offset, identity)
        if identity is not None:
            self._row, self._lines = row, []
            self._go_to(*((offset, line) if kept else (0, 0)))
            self._expects_header = self._header and not self._at
        elif row != self.position:  # of an earlier process: a pipe goes on with what has arrived
            self._row = row
        super().resume(row, state)

    def _drop_before(self, row: int) -> None:
        done = row - self._row
        if not 0 <= done <= len(self._lines):
            raise ValueError(f"cannot go to row {row}: {self!r} has been read up to row {self._row}.")
        if done:
            with deferred_interrupts():
                self._begin = self._lines[done - 1]
                del self._lines[:done]
                self._row = row

    def _wait(self, lines: int) -> None:
        """Read until there are so many lines, or the stream ends."""
        while len(self._lines) < lines and not self._ended and not self._stopped():
            if self.while_waiting is not None:
                self.while_waiting()
            with deferred_interrupts():
                self._read()

    def _read(self) -> None:
        data = self._source.read()
        if not self._count and not self._rest:
            data = self._checked_begin(data)
        if self._source.ended or self._source.restarted:  # what is left is a whole line
            data += b"\n"
        *lines, self._rest = (self._rest + data).split(b"\n")
        if len(self._rest) > LONGEST_LINE:
            raise ValueError(
                f"{self._source.name!r}: line {self._count + 1} is longer than {LONGEST_LINE >> 20} MiB. Is "
                f"it a text file?"
            )
        for text in lines:
            self._count, self._at = self._count + 1, self._at + len(text) + 1
            if text.strip():
                self._lines.append(_Line(self._count, text.rstrip(b"\r"), self._at))
                if self._expects_header:
                    self._skip_header()
        self._ended = self._source.ended
        if self._source.restarted:
            self._source.restarted = False
            self._expects_header = self._header
            self._go_to(0, 0)

    def _checked_begin(self, data: bytes) -> bytes:
        for magic, problem in BINARY_FORMATS.items():
            if data.startswith(magic):
                raise ValueError(f"{self._source.name!r} {problem}.")
        if b"\0" in data:
            raise ValueError(f"{self._source.name!r} is not a text file: it holds bytes that are zero.")
        if data.startswith(BYTE_ORDER_MARK):
            self._at = len(BYTE_ORDER_MARK)
            return data.removeprefix(BYTE_ORDER_MARK)
        return data

    def _skip_header(self) -> None:
        header = self._lines.pop()
        delimiter = getattr(self._format, "delimiter", None)
        names = Csv.of([header.text.decode(errors="replace")], delimiter, True, None)[0].names
        if names != self._format.names:
            raise ValueError(
                f"the new file {self._source.name!r} has the columns {', '.join(names)}, the one before had "
                f"{', '.join(self._format.names)}."
            )
        self._expects_header = False
        if not self._lines:
            self._begin = header

    def _go_to(self, offset: int, line: int) -> None:
        """Note that the next bytes are those after a line."""
        self._count, self._at, self._rest = line, offset, b""
        if not self._lines:
            self._begin = _Line(line, b"", offset)
