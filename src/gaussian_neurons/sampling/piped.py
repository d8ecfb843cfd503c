"""CSV or JSON lines from a pipe as a stream of rows, read once, as they arrive."""

import io
import itertools
import select
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from gaussian_neurons.base import extras
from gaussian_neurons.sampling.files import TextRows

KINDS = ("csv", "jsonl")
PATIENCE = 200  # milliseconds between two looks for signals
AT_FIRST = 1 << 20  # bytes: more than a file object keeps, so that what it keeps is read first
LONGEST_MAGIC = 6
BINARY_FORMATS = {
    b"\x1f\x8b": "is compressed with gzip: decompress it first, zcat FILE |",
    b"BZh": "is compressed with bzip2: decompress it first, bzcat FILE |",
    b"\x28\xb5\x2f\xfd": "is compressed with zstd: decompress it first, zstdcat FILE |",
    b"PAR1": "is a Parquet file, which cannot be read from a pipe: pass the file itself",
    b"\xff\xfe": "is UTF-16 text: convert it to UTF-8 first, iconv -f UTF-16 -t UTF-8 FILE |",
    b"\x93NUMPY": "is an NPY file, which cannot be read from a pipe: pass the file itself",
}


def rows_from_pipe(
    file: BinaryIO,
    *,
    columns: Any = None,
    format: str | None = None,
    dtype: Any = np.float64,
    header: bool | None = None,
    keep_lines: bool = False,
    name: str = "standard input",
) -> "PipedRows":
    """Stream the rows of a pipe as they arrive, CSV or JSON lines.

    Parameters
    ----------
    file : a binary file open for reading, such as sys.stdin.buffer
    columns : as in `rows_from_file`
    format : "csv" or "jsonl", or None to detect it from the first line
    dtype : float32 or float64
    header : whether the first line of a CSV holds column names, or None to detect it
    keep_lines : as in `rows_from_file`
    name : of the pipe in messages

    Examples
    --------
    >>> import io
    >>> rows_from_pipe(io.BytesIO(b"a,b\\n1,2\\n3,4\\n")).read(10)
    array([[1., 2.],
           [3., 4.]])
    """
    if format is not None and format not in KINDS:
        raise ValueError(f"only {' and '.join(KINDS)} can be read from {name}, not {format}: pass a file.")
    extras.require("reading CSV and JSON lines needs", "files", "pyarrow")
    begin = b""
    while len(begin) < LONGEST_MAGIC and (more := _available(file, AT_FIRST)):
        begin += more
    if not begin:
        raise ValueError(f"no data came from {name}.")
    for magic, problem in BINARY_FORMATS.items():
        if begin.startswith(magic):
            raise ValueError(f"the data from {name} {problem}.")
    kind = format or ("jsonl" if begin.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"[") else "csv")
    return PipedRows(_Pushback(begin, file), kind, columns, dtype, header, name, keep_lines)


def _available(file: BinaryIO, most: int) -> bytes:
    """The bytes that are available, at least one; none at the end.

    Python handles a signal that arrives just before it begins to read only when it has read something. So it
    begins when there is something, and looks for signals until then.
    """
    if isinstance(file, io.BufferedReader) and isinstance(file.raw, io.FileIO) and hasattr(select, "poll"):
        poll = select.poll()
        poll.register(file, select.POLLIN)
        while not poll.poll(PATIENCE):
            pass
    found: bytes = file.read1(most)  # type: ignore[attr-defined]
    return found


class _Pushback:
    """A pipe whose first bytes have been read already."""

    def __init__(self, begin: bytes, file: BinaryIO) -> None:
        self._begin, self._file = begin, file

    def read(self, most: int) -> bytes:
        """The bytes that are available, at least one; none at the end."""
        begin, self._begin = self._begin, b""
        return begin or _available(self._file, most)


class PipedRows(TextRows):
    """Rows of a pipe, one on each line. It cannot seek backward."""

    looks_at = 2  # more could block
    in_a_thread = False  # Ctrl-C cannot interrupt another thread that waits for a pipe

    def __init__(
        self,
        pipe: _Pushback,
        kind: str,
        columns: Any,
        dtype: Any,
        header: Any,
        name: str,
        keep_lines: bool = False,
    ) -> None:
        self._pipe, self._source = pipe, super()._blocks()
        self._early: list[list[tuple[int, bytes]]] = []  # read, but not drawn yet
        self._begun = False
        super().__init__(Path(name), kind, columns, dtype, None, header, keep_lines)

    def __repr__(self) -> str:
        return f"rows of {self._path}: {', '.join(self._format.names[k] for k in self._format.columns)}"

    def __getstate__(self) -> dict[str, Any]:
        raise TypeError(f"{self._path} can be read only once and cannot be copied. Read it into an array.")

    def _opened(self) -> Any:
        return nullcontext(self._pipe)

    def _blocks(self) -> Iterator[list[tuple[int, bytes]]]:
        early, self._early = self._early, []
        for lines in itertools.chain(early, self._source):
            if not self._begun:
                self._early.append(lines)
            yield lines

    def _begin(self, row: int) -> int:
        if self._begun:
            raise ValueError(f"cannot go back to row {row}: {self._path} can be read only once.")
        self._begun = True
        return super()._begin(row)
