"""A pipe → a stream of rows: CSV or JSON lines that are read once, as they come."""

import importlib.util
import itertools
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from gaussian_neurons.sampling.files import TextRows

KINDS = ("csv", "jsonl")
NO_TEXT = {
    b"\x1f\x8b": "is compressed with gzip: unpack it on the way, zcat FILE |",
    b"BZh": "is compressed with bzip2: unpack it on the way, bzcat FILE |",
    b"\x28\xb5\x2f\xfd": "is compressed with zstd: unpack it on the way, zstdcat FILE |",
    b"PAR1": "is a Parquet file, which cannot be read from a pipe: give the file itself",
    b"\x93NUMPY": "is an NPY file, which cannot be read from a pipe: give the file itself",
}


def rows_from_pipe(
    file: BinaryIO,
    *,
    columns: Any = None,
    format: str | None = None,
    dtype: Any = np.float64,
    header: bool | None = None,
    name: str = "standard input",
) -> "PipedRows":
    """The rows of a pipe as a stream, handed on as they come: CSV or JSON lines.

    Parameters
    ----------
    file : open for reading bytes, such as sys.stdin.buffer
    columns : as in `rows_from_file`
    format : "csv" or "jsonl", or None to see from the first line
    dtype : float32 or float64
    header : whether a CSV begins with the columns' names, or None to see from its first line
    name : what messages call it

    Examples
    --------
    >>> import io
    >>> rows_from_pipe(io.BytesIO(b"a,b\\n1,2\\n3,4\\n")).read(10)
    array([[1., 2.],
           [3., 4.]])
    """
    if format is not None and format not in KINDS:
        raise ValueError(f"only {' and '.join(KINDS)} can be read from {name}, not {format}: give a file.")
    if importlib.util.find_spec("pyarrow") is None:
        raise ModuleNotFoundError(
            "reading CSV and JSON lines needs pyarrow: pip install 'gaussian-neurons[files]'"
        )
    begin = file.read(6)  # waits for so many; what is shorter is at its end
    if not begin:
        raise ValueError(f"nothing came from {name}.")
    for magic, says in NO_TEXT.items():
        if begin.startswith(magic):
            raise ValueError(f"what comes from {name} {says}.")
    kind = format or ("jsonl" if begin.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"[") else "csv")
    return PipedRows(_Begun(begin, file), kind, columns, dtype, header, name)


class _Begun:
    """A pipe of which the first bytes are read already."""

    def __init__(self, begin: bytes, file: BinaryIO) -> None:
        self._begin, self._file = begin, file

    def read(self, most: int) -> bytes:
        """What there is, without waiting for more of it; nothing at the end."""
        begin, self._begin = self._begin, b""
        return begin or self._file.read1(most)  # type: ignore[attr-defined]


class PipedRows(TextRows):
    """Rows of a pipe: one on each line that is not blank. It cannot go back."""

    in_a_thread = False  # a thread that waits for a pipe would not hear of Ctrl-C

    def __init__(self, pipe: _Begun, kind: str, columns: Any, dtype: Any, header: Any, name: str) -> None:
        self._pipe, self._source = pipe, super()._blocks()
        self._early: list[list[tuple[int, bytes]]] = []  # looked at, but not drawn yet
        self._begun = False
        super().__init__(Path(name), kind, columns, dtype, None, header)

    def __repr__(self) -> str:
        return f"rows of {self._path}: {', '.join(self._form.names[k] for k in self._form.columns)}"

    def __getstate__(self) -> dict[str, Any]:
        raise TypeError(f"{self._path} can be read only once: there is no copy of it. Read it into an array.")

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
