"""Parse lines of CSV or JSON: blocks with pyarrow, single lines in Python if a block holds an invalid one."""

import csv
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from gaussian_neurons.base.bad_rows import BadRow
from gaussian_neurons.base.json_text import parsed
from gaussian_neurons.sampling.stream import Chunk, in_precision

Array = NDArray[Any]

SHOWN = 60  # characters of an invalid cell or line that a message quotes
MISSING = ("", "na", "n/a", "nan", "null", "none", "?")
DELIMITERS = ",;\t|"
DECIMAL_COMMA = re.compile(r"[+-]?(\d+,\d*|,\d+)([eE][+-]?\d+)?")


class NoNumbers(ValueError):
    """Columns that do not hold numbers; `held` maps each name to what the column holds."""

    def __init__(self, path: str, held: Mapping[str, str], names: Sequence[str]) -> None:
        name, what = next(iter(held.items()))
        super().__init__(
            f"{path!r}: column {name!r} holds {what}, not numbers. Choose others with columns=[...]; there "
            f"are {', '.join(names)}."
        )
        self.path, self.held, self.names = path, dict(held), list(names)


class Format(Protocol):
    """How a line is parsed."""

    names: list[str]  # of all columns
    columns: list[int]  # indices of those to read

    def parse_block(self, block: bytes) -> Array | None:
        """All lines at once, (n, D), or None if pyarrow cannot parse them."""

    def parse_line(self, line: str) -> list[float]:
        """One line; a ValueError says what is wrong with it."""

    def words(self, line: str) -> dict[str, str]:
        """The cells of a line that hold a word: column name to quoted word."""

    def extended(self, line: str, more: Mapping[str, float | None]) -> str:
        """A line with more cells at its end, by name; None is a missing value."""


def parse_lines(
    form: Format, block: bytes, lines: Sequence[tuple[int, bytes]], name: str, dtype: Any, keep: bool = False
) -> Chunk:
    """Parse lines, given with their line numbers; invalid lines become bad rows."""
    kept = tuple(line.decode(errors="replace") for _, line in lines) if keep else None
    x = form.parse_block(block)
    if x is not None and len(x) == len(lines):
        x = in_precision(x, dtype)
        if np.isfinite(x).all():
            return Chunk(x, lines=kept)
    rows: list[list[float]] = []
    bad: list[BadRow] = []
    for row, (number, line) in enumerate(lines):
        try:
            rows.append(_finite(form.parse_line(line.decode()), form, dtype))
        except (ValueError, TypeError, OverflowError) as error:
            text = str(error) or "cannot be read"
            bad.append(BadRow(row, f"row {{row}} (line {number} of {name}): {text}"))
    return Chunk(np.array(rows, dtype).reshape(len(rows), len(form.columns)), None, tuple(bad), kept)


def as_number(cell: Any, column: str) -> float:
    """The number in a cell; a ValueError names the column and the cell."""
    if isinstance(cell, str) and "_" not in cell:
        try:
            return float(cell)
        except ValueError:
            pass
    elif isinstance(cell, int | float):
        return float(cell)
    what = "is empty" if cell in ("", None) else f"holds {str(cell)[:SHOWN]!r}, not a number"
    hint = " Write decimal commas as points." if DECIMAL_COMMA.fullmatch(str(cell)) else ""
    raise ValueError(f"column {column!r} {what}.{hint}")


def _finite(row: list[float], form: Format, dtype: Any) -> list[float]:
    finite = np.isfinite(in_precision(np.array(row), dtype))
    for value, column, good in zip(row, form.columns, finite, strict=True):
        if not good:
            raise ValueError(
                f"column {form.names[column]!r} holds {value}; numbers must be finite in {np.dtype(dtype)}."
            )
    return row


@dataclass
class Csv:
    """Cells separated by a delimiter."""

    names: list[str]
    columns: list[int]
    delimiter: str  # a blank matches one or more blanks
    decimal: str = "."  # the decimal separator of all numbers: a point or a comma

    @classmethod
    def of(
        cls, lines: list[str], delimiter: str | None, header: bool | None, wanted: Any
    ) -> tuple["Csv", bool]:
        """Detect the format from the first lines, and whether the first is a header."""
        if delimiter is None:
            delimiter = _delimiter_of(lines[:2])
        if not (isinstance(delimiter, str) and len(delimiter) == 1 and delimiter.isascii()):
            raise ValueError(f"delimiter must be one ASCII character, got {delimiter!r}.")
        cells = [cell.strip() for cell in _cells(lines[0], delimiter)]
        if header is None:
            header = _is_header(cells)
        names = cells if header else [str(k) for k in range(len(cells))]
        columns = column_indices(names, wanted)
        return cls(names, columns, delimiter, _decimal_of(lines[header:], columns, delimiter)), header

    def parse_block(self, block: bytes) -> Array | None:  # noqa: D102
        import pyarrow as pa
        from pyarrow import csv as reader

        if self.delimiter == " ":
            return None  # pyarrow does not merge blanks
        numbered = [str(k) for k in range(len(self.names))]
        used = [str(k) for k in self.columns]
        try:
            table = reader.read_csv(
                pa.BufferReader(block),
                read_options=reader.ReadOptions(
                    column_names=numbered, use_threads=False, block_size=len(block) + 1
                ),
                parse_options=reader.ParseOptions(delimiter=self.delimiter),
                convert_options=reader.ConvertOptions(
                    include_columns=used,
                    column_types=dict.fromkeys(used, pa.float64()),
                    decimal_point=self.decimal,
                ),
            )
        except pa.ArrowInvalid:
            return None
        return np.stack([table.column(name).to_numpy() for name in used], axis=1)

    def parse_line(self, line: str) -> list[float]:  # noqa: D102
        cells = _cells(line, self.delimiter)
        if len(cells) != len(self.names):
            raise ValueError(f"has {len(cells)} cells, expected {len(self.names)}: {line.strip()[:SHOWN]!r}.")
        return [self._number(cells[k].strip(), self.names[k]) for k in self.columns]

    def _number(self, cell: str, column: str) -> float:
        if self.decimal == ",":
            if "." in cell and _is_number(cell.replace(",", "")):
                raise ValueError(
                    f"column {column!r} holds {cell[:SHOWN]!r}, but other numbers have a decimal comma. "
                    f"Remove the points."
                )
            if DECIMAL_COMMA.fullmatch(cell):
                cell = cell.replace(",", ".")
        return as_number(cell, column)

    def words(self, line: str) -> dict[str, str]:  # noqa: D102
        cells = _cells(line, self.delimiter)
        return _words({self.names[k]: cells[k].strip() for k in self.columns if k < len(cells)})

    def extended(self, line: str, more: Mapping[str, float | None]) -> str:
        """A line with more cells at its end; an invalid one, which may be too short, is filled up first."""
        empty = "NA" if self.delimiter == " " else ""
        cells = [empty if value is None else str(value).replace(".", self.decimal) for value in more.values()]
        if None in more.values():
            cells = [empty] * (len(self.names) - len(_cells(line, self.delimiter))) + cells
        return self.delimiter.join([line, *cells])


@dataclass
class JsonLines:
    """An object, or an array of numbers, on each line."""

    names: list[str]
    columns: list[int]
    objects: bool  # {"a": 1, "b": 2} rather than [1, 2]

    @classmethod
    def of(cls, first: str, wanted: Any) -> "JsonLines":
        """Detect the format from the first line."""
        try:
            value = parsed(first)
        except ValueError:
            value = None
        if not isinstance(value, dict | list):
            raise ValueError(
                f"the first line is neither a JSON object nor an array: {first.strip()[:SHOWN]!r}."
            )
        names = list(value) if isinstance(value, dict) else [str(k) for k in range(len(value))]
        return cls(names, column_indices(names, wanted), isinstance(value, dict))

    def parse_block(self, block: bytes) -> Array | None:  # noqa: D102
        if not self.objects:
            return self._parse_arrays(block)
        import pyarrow as pa
        from pyarrow import json as reader

        used = [self.names[k] for k in self.columns]
        try:
            table = reader.read_json(
                pa.BufferReader(block),
                read_options=reader.ReadOptions(use_threads=False, block_size=len(block) + 1),
                parse_options=reader.ParseOptions(
                    explicit_schema=pa.schema([(name, pa.float64()) for name in used]),
                    unexpected_field_behavior="ignore",
                ),
            )
        except pa.ArrowInvalid:
            return None
        return np.stack([table.column(name).to_numpy() for name in used], axis=1)

    def _parse_arrays(self, block: bytes) -> Array | None:
        try:
            x = np.array([parsed(line) for line in block.split(b"\n")])
        except ValueError:
            return None
        if x.ndim != 2 or x.dtype.kind not in "fiub" or x.shape[1] != len(self.names):
            return None
        return x[:, self.columns].astype(np.float64)

    def parse_line(self, line: str) -> list[float]:  # noqa: D102
        value = parsed(line)
        if self.objects and isinstance(value, dict):
            return [as_number(value.get(self.names[k]), self.names[k]) for k in self.columns]
        if not self.objects and isinstance(value, list):
            if len(value) != len(self.names):
                raise ValueError(f"has {len(value)} numbers, expected {len(self.names)}.")
            return [as_number(value[k], self.names[k]) for k in self.columns]
        expected = "an object" if self.objects else "an array"
        raise ValueError(f"is not {expected} like the first line: {line.strip()[:SHOWN]!r}.")

    def words(self, line: str) -> dict[str, str]:  # noqa: D102
        value = parsed(line)
        cells = value if self.objects else dict(zip(self.names, value, strict=True))
        return _words({self.names[k]: cells[self.names[k]] for k in self.columns})

    def extended(self, line: str, more: Mapping[str, float | None]) -> str:  # noqa: D102
        text = line.strip()
        begin, end = "{}" if self.objects else "[]"
        whole = text.startswith(begin) and text.endswith(end)  # or it cannot be read
        cells = [text[1:-1].strip()] if whole and text[1:-1].strip() else []
        for name, value in more.items():
            number = "null" if value is None or not math.isfinite(value) else str(value)
            cells.append(f"{json.dumps(name)}: {number}" if self.objects else number)
        return begin + ", ".join(cells) + end


def _words(cells: Mapping[str, Any]) -> dict[str, str]:
    return {
        name: repr(cell[:SHOWN])
        for name, cell in cells.items()
        if isinstance(cell, str) and cell.lower() not in MISSING and not _is_like_number(cell)
    }


def column_indices(names: Sequence[str], wanted: Any) -> list[int]:
    """The indices of the wanted columns, given by name or index; None means all columns."""
    if not len(names):
        raise ValueError("there are no columns.")
    if callable(wanted):
        wanted = wanted(list(names))
    if wanted is None:
        return list(range(len(names)))
    if isinstance(wanted, str | Integral):
        wanted = [wanted]
    found: list[int] = []
    for column in wanted:
        if isinstance(column, bool | np.bool_):
            raise ValueError("columns must be names or indices, got a mask: use np.flatnonzero(mask).")
        if isinstance(column, Integral) and -len(names) <= int(column) < len(names):
            found.append(int(column) % len(names))
        elif list(names).count(column) == 1:
            found.append(list(names).index(column))
        elif column in names:
            raise ValueError(f"several columns are named {column!r}; give their indices.")
        else:
            raise ValueError(f"no column {column!r}; there are {', '.join(names)}.")
    if len(set(found)) < len(found):
        raise ValueError(f"columns must be distinct, got {list(wanted)}.")
    if not found:
        raise ValueError(f"columns must name at least one of {', '.join(names)}.")
    return found


def _delimiter_of(lines: list[str]) -> str:
    """The most frequent delimiter of the first line outside quotes; blanks if there is none."""
    first = re.sub(r'"[^"]*"', "", lines[0])
    words = lines[-1].split()  # of the second line: column names may contain blanks
    if any(first.count(other) for other in DELIMITERS[1:]):
        first = re.sub(r"(?<=\d),(?=\d)", ".", first)  # a decimal comma
    elif len(words) > 1 and all(_is_like_number(word) and word[-1] != "," for word in words):
        return " "
    best = max(DELIMITERS, key=first.count)
    one_column = not first.count(best) and DECIMAL_COMMA.fullmatch(lines[-1].strip())
    return ";" if one_column else best


def _decimal_of(lines: list[str], columns: list[int], delimiter: str) -> str:
    """A comma if numbers in these columns have a decimal comma, and none has a decimal point."""
    if delimiter == ",":
        return "."
    found = "."
    for line in lines:
        cells = _cells(line, delimiter)
        for cell in (cells[k].strip() for k in columns if k < len(cells)):
            if "." in cell and _is_number(cell):
                return "."
            if DECIMAL_COMMA.fullmatch(cell):
                found = ","
    return found


def _is_header(cells: list[str]) -> bool:
    values = [cell for cell in cells if cell.lower() not in MISSING]
    numbers = [_is_like_number(cell) for cell in values]
    if any(numbers) and not all(numbers):
        word = values[numbers.index(False)]
        raise ValueError(
            f"cannot tell whether the first line is a header: it holds numbers, but also {word[:SHOWN]!r}. "
            f"Say header=True or header=False."
        )
    return bool(numbers) and not any(numbers)


def _cells(line: str, delimiter: str) -> list[str]:
    if delimiter == " ":
        return line.split()
    try:
        return next(csv.reader([line], delimiter=delimiter), [])
    except csv.Error as error:
        raise ValueError(f"{error}: {line.strip()[:SHOWN]!r}.") from None


def _is_number(cell: str) -> bool:
    try:
        as_number(cell.strip(), "")
    except ValueError:
        return False
    return True


def _is_like_number(cell: str) -> bool:
    """Whether a cell holds a number, with a point or a comma."""
    return _is_number(cell) or DECIMAL_COMMA.fullmatch(cell.strip()) is not None
