"""CSV, Parquet, NPY and JSON lines files as streams of rows, read in chunks with constant memory."""

import csv
import hashlib
import itertools
import math
import os
import warnings
import weakref
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gaussian_neurons.base import extras
from gaussian_neurons.base.tables import index_columns
from gaussian_neurons.sampling.stream import Chunk, Forward, Stream, in_precision
from gaussian_neurons.sampling.text import Csv, Format, JsonLines, NoNumbers, column_indices, parse_lines

Array = NDArray[Any]

BLOCK = 1 << 20  # bytes of text read at a time
LONGEST_LINE = 1 << 24  # bytes; a longer line is not text
ROWS_AT_ONCE = 1 << 14
SHOWN = 200  # characters of an error of NumPy
SUFFIXES = {
    ".csv": "csv",
    ".tsv": "csv",
    ".txt": "csv",
    ".data": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".npy": "npy",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
}
NPY_VERSIONS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
UTF_16 = b"\xff\xfe", b"\xfe\xff"  # how such a text begins
PARQUET = {"memory_map": False, "pre_buffer": False, "buffer_size": 1 << 16}  # read in small parts
COMPRESSED = (".gz", ".bz2", ".zst", ".lz4")


def rows_from_file(
    path: str | os.PathLike[str],
    *,
    columns: Any = None,
    format: str | None = None,
    dtype: Any = None,
    delimiter: str | None = None,
    header: bool | None = None,
    keep_lines: bool = False,
) -> Stream:
    """Stream the rows of a file, once, in order.

    Parameters
    ----------
    path : .csv, .tsv, .txt, .data, .jsonl, .ndjson (also compressed: .gz, .bz2, .zst, .lz4), .parquet, .npy
    columns : names or indices of the columns to read, a function from the list of all names to them, or
        None for all columns
    format : "csv", "parquet", "npy" or "jsonl", if the file name does not tell
    dtype : float32 or float64, or None for the precision of the file (float64 for text)
    delimiter : of a CSV file, or None to detect it from the first line
    header : whether the first line of a CSV file holds column names, or None to detect it
    keep_lines : whether chunks keep each row as a line of text with all columns of the file: as it is in a
        text file, as CSV for the others; `line_format` describes the lines

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "rows.csv").write_text("a,b\\n1,2\\n3,4\\n")
    ...     rows_from_file(f"{folder}/rows.csv").read(10)
    array([[1., 2.],
           [3., 4.]])
    """
    if "://" in str(path):
        raise ValueError(f"{str(path)!r} is an address, not a file: download it first.")
    path = Path(path).expanduser().absolute()
    if not path.exists():
        raise FileNotFoundError(f"no file at {str(path)!r}.")
    if not path.is_file():
        raise ValueError(f"{str(path)!r} is not a file.")
    kind = format or _format_of(path)
    if dtype is not None and np.dtype(dtype) not in (np.float32, np.float64):
        raise ValueError(f"dtype must be float32, float64 or None, got {dtype!r}.")
    if kind == "npy":
        return NpyRows(path, columns, dtype, keep_lines)
    extras.require("reading CSV, Parquet and JSON lines needs", "files", "pyarrow")
    if kind == "parquet":
        return ParquetRows(path, columns, dtype, keep_lines)
    if kind in ("csv", "jsonl"):
        precision = np.float64 if dtype is None else dtype
        return TextRows(path, kind, columns, precision, delimiter, header, keep_lines)
    raise ValueError(f"format must be one of {', '.join(sorted(set(SUFFIXES.values())))}, got {kind!r}.")


def _format_of(path: Path) -> str:
    suffixes = [suffix.lower() for suffix in path.suffixes if suffix.lower() not in COMPRESSED]
    if suffixes and suffixes[-1] in SUFFIXES:
        return SUFFIXES[suffixes[-1]]
    raise ValueError(
        f"cannot tell the format of {path.name!r} from its suffix; known: {', '.join(SUFFIXES)}. Say format="
    )


class LineFormat(NamedTuple):
    """The lines that a stream keeps, and the line with the names of their columns, if there is one."""

    form: Format
    header: str | None


def _lines_of(rows: Iterable[Iterable[Any]]) -> Iterator[str]:
    """Rows as lines of CSV."""
    written: list[str] = []
    writer = csv.writer(SimpleNamespace(write=written.append), lineterminator="")
    for row in rows:
        writer.writerow(row)
        yield written.pop()


def _identity(path: Path) -> Mapping[str, Any]:
    """Identify a file by a hash of its first and last 4 KiB."""
    with open(path, "rb") as file:
        parts = file.read(4096)
        file.seek(-min(4096, path.stat().st_size), os.SEEK_END)
        parts += file.read(4096)
    return {"file": hashlib.sha256(parts).hexdigest()}


@dataclass(frozen=True)
class Npy:
    """The array in an NPY file: how it is stored, and where its numbers begin."""

    shape: tuple[int, ...]
    dtype: "np.dtype[Any]"
    fortran_order: bool
    offset: int

    @classmethod
    def of(cls, path: Path) -> "Npy":
        """Read the header. Any damage, or a file that is too short for it, is a ValueError."""
        try:
            with open(path, "rb") as file:
                if file.read(4) == b"PK\x03\x04":
                    raise ValueError("it is an NPZ file of several arrays; save one of them as NPY")
                file.seek(0)
                read_header = NPY_VERSIONS[np.lib.format.read_magic(file)]
                with warnings.catch_warnings(action="ignore"):  # about what damage looks like as Python
                    shape, fortran_order, dtype = read_header(file)
                offset, size = file.tell(), os.fstat(file.fileno()).st_size
            needed = offset + math.prod(shape) * dtype.itemsize
            if min(shape, default=0) < 0 or size < needed:
                raise ValueError(f"its header requires {needed} bytes, the file has {size}")
        except OSError:
            raise
        except Exception as error:  # NumPy parses the header as Python: damage can cause any error
            reason = str(error)[:SHOWN] or type(error).__name__  # some quote the whole header
            raise ValueError(f"{str(path)!r} cannot be read as an NPY file ({reason}).") from error
        return cls(shape, dtype, fortran_order, offset)


class NpyRows(Stream):
    """Rows of an NPY file. They are read, not mapped: a mapped file that is shortened kills the process."""

    endless = False

    def __init__(self, path: Path, columns: Any, dtype: Any, keep_lines: bool = False) -> None:
        npy = Npy.of(path)
        if len(npy.shape) != 2 or npy.dtype.kind not in "fiub" or not npy.shape[1]:
            raise ValueError(
                f"{str(path)!r} must hold a table of numbers, got shape {npy.shape} of {npy.dtype}."
            )
        self.length, n_columns = npy.shape
        names = [str(k) for k in range(n_columns)]
        indices = column_indices(names, columns)
        self._path, self._npy, self._dtype = path, npy, dtype
        self.line_format = LineFormat(Csv(names, indices, ","), None) if keep_lines else None
        self._columns = None if indices == list(range(n_columns)) else indices
        self.n_features = len(indices)
        self._open()

    def _open(self) -> None:
        self._file = open(self._path, "rb", buffering=0)  # noqa: SIM115
        weakref.finalize(self, self._file.close)

    def __repr__(self) -> str:
        return f"rows_from_file({str(self._path)!r}): {self.length} x {self.n_features}"

    def __getstate__(self) -> dict[str, Any]:
        return super().__getstate__() | {"_file": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._open()

    def draw(self, first: int, count: int) -> Chunk:  # noqa: D102
        assert self.length is not None
        count = max(0, min(count, self.length - first))
        rows = self._read(first, count, None if self.line_format else self._columns)
        if count and not len(rows):
            raise _shortened(self._path, first, self.length)
        lines = None
        if self.line_format:
            lines = tuple(_lines_of(rows.tolist()))
            rows = rows if self._columns is None else rows[:, self._columns]
        return Chunk(rows if self._dtype is None else in_precision(rows, self._dtype), lines=lines)

    def _read(self, first: int, count: int, wanted: list[int] | None) -> Array:
        """The wanted columns of `count` rows; of fewer if the file ends before."""
        npy, n_columns = self._npy, self._npy.shape[1]
        if not npy.fortran_order:
            rows = np.empty((count, n_columns), npy.dtype)
            whole = self._fill(rows, first * n_columns) // n_columns
            return rows[:whole] if wanted is None else rows[:whole, wanted]
        columns = range(n_columns) if wanted is None else wanted
        by_column = np.empty((len(columns), count), npy.dtype)
        begins = [k * npy.shape[0] + first for k in columns]
        return by_column.T[: min(map(self._fill, by_column, begins))]

    def _fill(self, out: Array, at: int) -> int:
        """Read numbers from the one with index `at` on into an array; returns how many there were."""
        size = self._npy.dtype.itemsize
        begin, left = self._npy.offset + at * size, out.reshape(-1).view(np.uint8).data
        while len(left) and (read := self._read_at(left, begin + out.nbytes - len(left))):
            left = left[read:]
        return (out.nbytes - len(left)) // size

    def _read_at(self, out: memoryview, position: int) -> int:
        """Read bytes; forked processes share a file, so its own position is not used if possible."""
        if hasattr(os, "preadv"):
            return os.preadv(self._file.fileno(), [out], position)
        self._file.seek(position)
        return self._file.readinto(out) or 0

    def describe(self) -> Mapping[str, Any]:  # noqa: D102
        columns = {
            "columns": self._columns,
            "dtype": None if self._dtype is None else np.dtype(self._dtype).name,
        }
        return {**super().describe(), **columns, **_identity(self._path)}


def _shortened(path: Path, rows: int, expected: int) -> ValueError:
    return ValueError(
        f"{str(path)!r} ends after {rows} of {expected} rows: it was shortened while it was read."
    )


class ParquetRows(Forward):
    """Rows of a Parquet file."""

    def __init__(self, path: Path, columns: Any, dtype: Any, keep_lines: bool = False) -> None:
        import pyarrow as pa
        from pyarrow import parquet

        try:
            self._file = parquet.ParquetFile(path, **PARQUET)
            schema = self._file.schema_arrow
            index = index_columns(schema)
            names = [name for name in schema.names if name not in index]
        except (pa.ArrowInvalid, OSError, UnicodeDecodeError) as error:
            raise ValueError(f"{str(path)!r} cannot be read as a Parquet file ({error}).") from error
        try:
            self._columns = [names[k] for k in column_indices(names, columns)]
        except ValueError as error:
            raise ValueError(f"{str(path)!r}: {error}") from None
        if any(names.count(name) > 1 for name in self._columns):
            raise ValueError(f"{str(path)!r} has columns of the same name: {', '.join(names)}.")
        self._path, self._names = path, names
        types = [schema.field(name).type for name in self._columns]
        numeric = (pa.types.is_floating, pa.types.is_integer, pa.types.is_boolean, pa.types.is_decimal)
        others = {
            name: str(kind)
            for name, kind in zip(self._columns, types, strict=True)
            if not any(is_kind(kind) for is_kind in numeric)
        }
        if others:
            raise NoNumbers(str(path), others, names)
        single = all(kind in (pa.float32(), pa.float16()) for kind in types)
        self._dtype = np.dtype(dtype or (np.float32 if single else np.float64))
        self._batches: Iterator[Any] = iter(())
        self.n_features, self.length = len(self._columns), self._file.metadata.num_rows
        self.feature_names = list(self._columns)
        whole = Csv(names, column_indices(names, self._columns), ",")
        self.line_format = LineFormat(whole, next(_lines_of([names]))) if keep_lines else None

    def __repr__(self) -> str:
        return f"rows_from_file({str(self._path)!r}): {', '.join(self._columns)}"

    def __getstate__(self) -> dict[str, Any]:
        return super().__getstate__() | {"_file": None, "_batches": iter(())}

    def __setstate__(self, state: dict[str, Any]) -> None:
        from pyarrow import parquet

        vars(self).update(state, _file=parquet.ParquetFile(state["_path"], **PARQUET))

    def describe(self) -> Mapping[str, Any]:  # noqa: D102
        columns = {"columns": self._columns, "dtype": self._dtype.name}
        return {**super().describe(), **columns, **_identity(self._path)}

    def _begin(self, row: int) -> int:
        """Begin at the row group that contains the row."""
        sizes = [self._file.metadata.row_group(k).num_rows for k in range(self._file.num_row_groups)]
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(int)
        group = max(0, int(np.searchsorted(starts, row, side="right")) - 1)
        self._batches = self._file.iter_batches(
            ROWS_AT_ONCE,
            row_groups=list(range(group, len(sizes))),
            columns=self._names if self.line_format else self._columns,
            use_threads=False,
        )
        return int(starts[group])

    def _next_block(self) -> Chunk | None:
        import pyarrow as pa

        try:
            batch = next(self._batches, None)
        except (pa.ArrowInvalid, OSError) as error:
            raise ValueError(f"{str(self._path)!r} cannot be read after row {self._at} ({error}).") from error
        if batch is None:
            if self._at is not None and self.length is not None and self._at < self.length:
                raise _shortened(self._path, self._at, self.length)
            return None
        columns = [batch.column(name).to_numpy(zero_copy_only=False) for name in self._columns]
        lines = None
        if self.line_format:
            lines = tuple(_lines_of(zip(*(column.to_pylist() for column in batch.columns), strict=True)))
        return Chunk(in_precision(np.stack(columns, axis=1), self._dtype), lines=lines)


class TextRows(Forward):
    """Rows of a text file, one on each line. Blank lines are ignored."""

    looks_at = 1000  # lines that determine the format

    def __init__(
        self,
        path: Path,
        kind: str,
        columns: Any,
        dtype: Any,
        delimiter: Any,
        header: Any,
        keep_lines: bool = False,
    ) -> None:
        self._path, self._dtype = path, np.dtype(dtype)
        lines = self._first_lines()
        self._first = lines[:2]
        self._header = False
        self._format: Format
        try:
            if not self._first:
                raise ValueError("the file is empty.")
            if lines[0].startswith(UTF_16):
                raise ValueError("it is UTF-16 text. Save it as UTF-8.")
            first = [line.decode(errors="replace") for line in lines]
            if kind == "csv":
                self._format, self._header = Csv.of(first, delimiter, header, columns)
            else:
                self._format = JsonLines.of(first[0], columns)
        except ValueError as error:
            raise ValueError(f"{str(path)!r}: {error}") from None
        self._lines: Iterator[list[tuple[int, bytes]]] = iter(())
        self.n_features = len(self._format.columns)
        names = [self._format.names[k] for k in self._format.columns]
        named = self._header or getattr(self._format, "objects", False)
        self.feature_names = names if named and len(set(names)) == len(names) else None
        line = self._first[0].decode(errors="replace") if self._header else None
        self.line_format = LineFormat(self._format, line) if keep_lines else None

    def __repr__(self) -> str:
        names = [self._format.names[k] for k in self._format.columns]
        return f"rows_from_file({str(self._path)!r}): {', '.join(names)}"

    def __getstate__(self) -> dict[str, Any]:
        return super().__getstate__() | {"_lines": iter(())}

    def require_numbers(self) -> None:
        """Raise NoNumbers if the first row holds words, most likely class labels."""
        if len(self._first) > self._header:
            words = self._format.words(self._first[self._header].decode(errors="replace"))
            if words:
                raise NoNumbers(str(self._path), words, self._format.names)

    def describe(self) -> Mapping[str, Any]:
        """The facts that determine the rows. The first two lines identify the file, because it may grow."""
        settings = {**vars(self._format), "header": self._header, "dtype": self._dtype.name}
        lines = hashlib.sha256(b"\n".join(self._first)).hexdigest()
        return {**super().describe(), **settings, "file": lines}

    def _first_lines(self) -> list[bytes]:
        """The first lines, which determine the format."""
        first: list[bytes] = []
        for lines in self._blocks():
            first += [line for _, line in lines]
            if len(first) >= self.looks_at:
                break
        return first[: self.looks_at]

    def _begin(self, row: int) -> int:
        """Begin at the row, without parsing the lines before it."""
        self._lines = self._blocks()
        at = -1 if self._header else 0
        for lines in self._lines:
            if at + len(lines) > row:
                self._lines = itertools.chain([lines[row - at :]], self._lines)
                return row
            at += len(lines)
        return max(at, 0)

    def _next_block(self) -> Chunk | None:
        lines = next(self._lines, None)
        if lines is None:
            return None
        block = b"\n".join(line for _, line in lines)
        keep = self.line_format is not None
        return parse_lines(self._format, block, lines, self._path.name, self._dtype, keep)

    def _opened(self) -> Any:
        import pyarrow as pa

        return pa.input_stream(str(self._path), compression="detect")

    def _blocks(self) -> Iterator[list[tuple[int, bytes]]]:
        """Lines with their numbers from 1 on, about 1 MiB at a time, without the blank lines."""
        import pyarrow as pa

        number, rest = 0, b""
        try:
            with self._opened() as file:
                while block := file.read(BLOCK):
                    if not number and not rest:
                        block = block.removeprefix(b"\xef\xbb\xbf")  # a byte order mark
                    *lines, rest = (rest + block).split(b"\n")
                    if len(rest) > LONGEST_LINE:
                        raise ValueError(
                            f"{str(self._path)!r}: line {number + 1} is longer than {LONGEST_LINE >> 20} "
                            f"MiB. Is it a text file?"
                        )
                    if numbered := _numbered(lines, number):
                        yield numbered
                    number += len(lines)
        except (OSError, pa.ArrowInvalid) as error:
            raise ValueError(f"{str(self._path)!r} cannot be read after line {number} ({error}).") from error
        if numbered := _numbered([rest], number):
            yield numbered


def _numbered(lines: list[bytes], before: int) -> list[tuple[int, bytes]]:
    return [(before + k, line.rstrip(b"\r")) for k, line in enumerate(lines, 1) if line.strip()]
