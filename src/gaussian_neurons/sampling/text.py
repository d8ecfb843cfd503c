"""Rows of numbers in lines of text, CSV or JSON: blocks by pyarrow, and line by line where a line is odd."""

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from gaussian_neurons.bad_rows import BadRow
from gaussian_neurons.sampling.stream import Chunk, in_precision

Array = NDArray[Any]

SHOWN = 60  # characters of an odd cell or line that a message quotes


class Format(Protocol):
    """How numbers stand in a line."""

    columns: list[str]

    def whole(self, block: bytes) -> Array | None:
        """All lines at once, (n, D), or None where that does not work."""

    def line(self, line: str) -> list[float]:
        """One line, or a ValueError that says what is wrong with it."""


def parsed(form: Format, block: bytes, lines: Sequence[tuple[int, bytes]], name: str, dtype: Any) -> Chunk:
    """The rows of some lines, which are given with their numbers: odd ones are told apart."""
    x = form.whole(block)
    if x is not None and len(x) == len(lines):
        x = in_precision(x, dtype)
        if np.isfinite(x).all():
            return Chunk(x)
    rows: list[list[float]] = []
    bad: list[BadRow] = []
    for row, (number, line) in enumerate(lines):
        try:
            rows.append(_finite(form.line(line.decode()), form.columns, dtype))
        except (ValueError, TypeError, OverflowError, RecursionError) as error:
            text = str(error) or "cannot be read"
            bad.append(BadRow(row, f"row {{row}} (line {number} of {name}): {text}"))
    return Chunk(np.array(rows, dtype).reshape(len(rows), len(form.columns)), None, tuple(bad))


def as_number(cell: Any, column: str) -> float:
    """The number in a cell, or a ValueError that names it."""
    if isinstance(cell, str) and "_" not in cell:
        try:
            return float(cell)
        except ValueError:
            pass
    elif isinstance(cell, int | float):
        return float(cell)
    what = "is empty" if cell in ("", None) else f"holds {str(cell)[:SHOWN]!r}, which is no number"
    raise ValueError(f"column {column!r} {what}.")


def _finite(row: list[float], columns: list[str], dtype: Any) -> list[float]:
    finite = np.isfinite(in_precision(np.array(row), dtype))
    for value, column, good in zip(row, columns, finite, strict=True):
        if not good:
            raise ValueError(f"column {column!r} holds {value}; numbers must be finite in {np.dtype(dtype)}.")
    return row


@dataclass
class Csv:
    """Cells between delimiters."""

    columns: list[str]  # those that are read
    every: list[str]  # all there are
    delimiter: str

    @classmethod
    def of(cls, first: str, delimiter: str | None, header: bool | None, wanted: Any) -> tuple["Csv", bool]:
        """The format by its first line, and whether that is a header."""
        if delimiter is None:
            delimiter = max(",;\t|", key=first.count)
            if not first.count(delimiter):
                delimiter = " " if " " in first.strip() else ","
        cells = _cells(first, delimiter)
        if header is None:
            header = not all(_is_number(cell) for cell in cells)
        names = [cell.strip() for cell in cells] if header else [str(k) for k in range(len(cells))]
        return cls(chosen(names, wanted), names, delimiter), header

    def whole(self, block: bytes) -> Array | None:  # noqa: D102
        import pyarrow as pa
        from pyarrow import csv as fast

        if self.delimiter == " " or len(set(self.every)) < len(self.every):
            return None  # runs of blanks, columns of one name: not what pyarrow reads
        try:
            table = fast.read_csv(
                pa.BufferReader(block),
                read_options=fast.ReadOptions(column_names=self.every, use_threads=False),
                parse_options=fast.ParseOptions(delimiter=self.delimiter),
                convert_options=fast.ConvertOptions(
                    include_columns=self.columns, column_types=dict.fromkeys(self.columns, pa.float64())
                ),
            )
        except pa.ArrowInvalid:
            return None
        return np.stack([table.column(name).to_numpy() for name in self.columns], axis=1)

    def line(self, line: str) -> list[float]:  # noqa: D102
        cells = _cells(line, self.delimiter)
        if len(cells) != len(self.every):
            raise ValueError(f"has {len(cells)} cells, expected {len(self.every)}: {line.strip()[:SHOWN]!r}.")
        return [as_number(cells[self.every.index(name)].strip(), name) for name in self.columns]


@dataclass
class JsonLines:
    """An object, or an array of numbers, on each line."""

    columns: list[str]
    objects: bool  # {"a": 1, "b": 2} rather than [1, 2]

    @classmethod
    def of(cls, first: str, wanted: Any) -> "JsonLines":
        """The format by its first line."""
        try:
            value = json.loads(first)
        except ValueError:
            value = None
        if isinstance(value, dict):
            return cls(chosen(list(value), wanted), objects=True)
        if isinstance(value, list):
            return cls(chosen([str(k) for k in range(len(value))], wanted), objects=False)
        raise ValueError(f"the first line is neither a JSON object nor an array: {first.strip()[:SHOWN]!r}.")

    def whole(self, block: bytes) -> Array | None:  # noqa: D102
        if not self.objects:
            return self._whole_arrays(block)
        import pyarrow as pa
        from pyarrow import json as fast

        try:
            table = fast.read_json(
                pa.BufferReader(block),
                read_options=fast.ReadOptions(use_threads=False, block_size=max(len(block), 1)),
                parse_options=fast.ParseOptions(
                    explicit_schema=pa.schema([(name, pa.float64()) for name in self.columns]),
                    unexpected_field_behavior="ignore",
                ),
            )
        except pa.ArrowInvalid:
            return None
        return np.stack([table.column(name).to_numpy() for name in self.columns], axis=1)

    def _whole_arrays(self, block: bytes) -> Array | None:
        try:
            x = np.array(json.loads(b"[" + block.replace(b"\n", b",") + b"]"))
        except (ValueError, RecursionError):
            return None
        if x.ndim != 2 or x.dtype.kind not in "fiub":
            return None
        columns = [int(name) for name in self.columns]
        return x[:, columns].astype(np.float64) if max(columns) < x.shape[1] else None

    def line(self, line: str) -> list[float]:  # noqa: D102
        value = json.loads(line)
        if self.objects and isinstance(value, dict):
            return [as_number(value.get(name), name) for name in self.columns]
        if not self.objects and isinstance(value, list):
            least = 1 + max(int(name) for name in self.columns)
            if len(value) < least:
                raise ValueError(f"has {len(value)} numbers, expected at least {least}.")
            return [as_number(value[int(name)], name) for name in self.columns]
        expected = "an object" if self.objects else "an array"
        raise ValueError(f"is not {expected} like the first line: {line.strip()[:SHOWN]!r}.")


def chosen(names: list[str], wanted: Any) -> list[str]:
    """The columns that are wanted, by name or by number; all where nothing is said."""
    if wanted is None:
        return names
    if isinstance(wanted, str | int):
        wanted = [wanted]
    found = []
    for column in wanted:
        if isinstance(column, int) and -len(names) <= column < len(names):
            found.append(names[column])
        elif column in names:
            found.append(column)
        else:
            raise ValueError(f"no column {column!r}; there are {', '.join(names)}.")
    if not found:
        raise ValueError(f"columns must name at least one of {', '.join(names)}.")
    return found


def _cells(line: str, delimiter: str) -> list[str]:
    if delimiter == " ":
        return line.split()
    return next(csv.reader(io.StringIO(line), delimiter=delimiter), [])


def _is_number(cell: str) -> bool:
    try:
        as_number(cell.strip(), "")
    except ValueError:
        return False
    return True
