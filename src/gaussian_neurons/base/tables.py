"""Tables of any library as an array and the names of its columns: the only reader of tables."""

import importlib
import importlib.util
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from gaussian_neurons.base import extras
from gaussian_neurons.base.memory_maps import require_whole

Array = NDArray[Any]
Masked = np.ma.MaskedArray
Names = tuple[Any, ...]
REFUSALS = (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError)  # of a library

SHOWN = 5  # columns in a message
CHARACTERS = 60  # of a value in a message
NUMBERS = "fiub"  # kinds of NumPy's types
NO_NUMBERS = (str, bytes, Masked)  # that float() would convert
ARROW = ("__arrow_c_stream__", "__arrow_c_array__")
EXPECTED = "an array (n, D), a list of rows or a data frame"


class InvalidRows(ValueError, TypeError):
    """Some rows of a table cannot be read; others may be valid. scikit-learn expects a TypeError."""


class NoTable(TypeError):
    """A value that is no table of any kind."""


class Table(NamedTuple):
    """Rows of numbers, which may be NaN or infinite."""

    x: Array  # (n, D)
    names: tuple[str, ...] | None  # of the columns, if they are strings


def read(X: Any, known: Names | None = None) -> Table:
    """Read a table: an array, rows with or without names, or a data frame of any library.

    Raises ValueError or TypeError if it has no rows or columns, two columns of one name, a column that does
    not hold numbers, or a masked entry.

    Parameters
    ----------
    X : the table
    known : the names of the columns to take from rows that are mappings; None takes those of the first row

    Examples
    --------
    >>> read([[1, 2], [3, 4]]).x.shape
    (2, 2)
    >>> read([{"a": 1, "b": 2}, {"b": 4, "a": 3}])
    Table(x=array([[1, 2],
           [3, 4]]), names=('a', 'b'))
    """
    x, names = converted(X, known)
    if x.ndim != 2:
        raise _not_a_table(x.shape)
    for count, what in zip(x.shape, ("sample", "feature"), strict=True):
        if not count:
            raise ValueError(f"X has 0 {what}(s) (shape={x.shape}) while a minimum of 1 is required.")
    named = names is not None and all(isinstance(name, str) for name in names)
    return Table(x, names if named else None)


def converted(X: Any, known: Names | None = None, name: str = "X") -> tuple[Array, Names | None]:
    """The numbers of a table, (n, D), or of one row, (D,), and the names of the columns, if there are any."""
    if not isinstance(X, np.ndarray):
        if type(X) not in (list, tuple, dict):  # a sparse matrix can be a subclass
            if is_frame(X):
                return _of_frame(X)
            _refuse_paths_and_sparse(X)
        named = values_by_name(X)
        if named is not None:
            return _of_named_values(named, known, name)
        X = _as_list_or_array(X)
        if isinstance(X, list) and X and values_by_name(X[0]) is not None:
            return _of_named_rows(X, known)
    require_unmasked(name, X)
    if isinstance(X, np.ndarray):
        require_whole(X)
    try:
        x = _array_of(X)
    except REFUSALS as error:
        raise _ragged(X, error) from None
    if x.dtype.names is not None:
        raise ValueError(
            f"{name} is a structured array with the fields {_listed(x.dtype.names)}. Convert it first: "
            f"numpy.lib.recfunctions.structured_to_unstructured(X)."
        )
    return as_numbers(x), None


def is_frame(value: Any) -> bool:
    """Whether a value is a table that has columns, rather than a sequence of rows."""
    if isinstance(value, np.ndarray | list | tuple):
        return False
    kind = type(value)  # an instance may give any attribute
    if hasattr(kind, "__next__"):  # a reader of batches, each of which is a table
        return False
    if hasattr(kind, "iloc"):
        return bool(getattr(value, "ndim", 0) == 2)
    if hasattr(kind, "__dataframe__"):
        return True
    columns = hasattr(kind, "columns") or hasattr(kind, "column_names")
    # A single column has the Arrow protocol as well, and is an array.
    return any(hasattr(kind, name) for name in ARROW) and (columns or not hasattr(kind, "__array__"))


def is_table(value: Any) -> bool:
    """Whether a value is one table, or one row, rather than an iterable of them."""
    if isinstance(value, Mapping) or is_frame(value):
        return True
    return any(hasattr(value, name) for name in ("ndim", "__array__", "__array_interface__"))


def values_by_name(row: Any) -> Mapping[Any, Any] | None:
    """The values by name, if a row has names: of a mapping, a named tuple, a row of a database or a frame."""
    if isinstance(row, dict):
        return row
    if isinstance(row, list | np.ndarray | float | int):
        return None
    if isinstance(row, tuple):
        return row._asdict() if hasattr(row, "_asdict") else None
    if isinstance(row, Mapping):
        return row
    values: Iterable[Any]
    if getattr(row, "ndim", None) == 1 and hasattr(row, "to_dict") and hasattr(row, "index"):  # pandas
        names, values = list(row.index), row
        if not all(isinstance(name, str) for name in names):
            return None
    elif callable(getattr(row, "keys", None)):  # sqlite3.Row
        names = list(row.keys())
        values = [row[name] for name in names]
    else:
        return None
    if len(set(names)) < len(names):
        raise ValueError(f"a row has several values of one name: {_listed(map(repr, names))}.")
    return dict(zip(names, values, strict=True))


def rows_of(X: Any) -> list[Any]:
    """The rows of a table, if some are invalid: each can be converted by itself."""
    if is_frame(X):
        names, _, column, _ = columns_of(X)
        rows = list(zip(*(np.asarray(column(k), object) for k in range(len(names))), strict=True))
        named = all(isinstance(name, str) for name in names)
        return [dict(zip(names, row, strict=True)) for row in rows] if named else rows
    if isinstance(X, Sequence) and not isinstance(X, str | bytes | memoryview):
        return list(X)
    return list(np.asanyarray(X)) if getattr(X, "ndim", 0) == 2 else []


def require_unmasked(name: str, value: Any) -> None:
    """Raise a ValueError that names the first masked entry of a masked array, or of a list of them."""
    if isinstance(value, list | tuple):
        if any(issubclass(kind, Masked) for kind in set(map(type, value))):
            for k, part in enumerate(value):
                if isinstance(part, Masked):
                    require_unmasked(f"{name}[{k}]", part)
    elif isinstance(value, Masked) and np.ma.is_masked(value):
        if not value.ndim:
            raise InvalidRows(f"{name} is masked. Fill it first.")
        at = np.argwhere(np.ma.getmaskarray(value))[0]
        where = f"row {at[0]}, column {at[1]}" if len(at) == 2 else f"index {', '.join(map(str, at))}"
        raise InvalidRows(
            f"{name} has a masked entry at {where}. Fill such entries or drop their rows first."
        )


def as_numbers(rows: Array, names: Names | None = None) -> Array:
    """The rows, if they hold numbers; missing values of Python and pandas are NaN."""
    if rows.dtype.kind in NUMBERS:
        return rows
    if rows.dtype.kind == "c":
        raise ValueError("Complex data not supported: give real and imaginary parts as columns of their own.")
    if rows.dtype.kind != "O":
        kind = "text" if rows.dtype.kind in "US" else rows.dtype
        raise InvalidRows(f"X must hold numbers, got {kind}. Drop or convert such columns.")
    if not any(isinstance(value, NO_NUMBERS) for value in rows.flat):
        try:
            missing = np.array([type(value).__name__ == "NAType" for value in rows.flat], bool)
            return np.where(missing.reshape(rows.shape), np.nan, rows).astype(np.float64)
        except (TypeError, ValueError, OverflowError):
            pass
    raise _first_invalid(rows, names)


class Columns(NamedTuple):
    """The columns of a data frame, which are converted one by one."""

    names: list[Any]
    rows: int
    column: Callable[[int], Array]  # column k, (n,)
    kind: Callable[[int], str]  # its type, for messages

    def numbers(self, indices: Iterable[int]) -> list[Array]:
        """These columns as numbers; an error names those that do not hold numbers."""
        found: list[Array] = []
        others: list[str] = []
        by_row = True  # whether only some rows may be invalid
        for k in indices:
            try:
                values = self.column(k)
            except Exception:  # a library may have types that it cannot convert
                values = _unreadable(self.rows)
            try:
                if values.ndim != 1:
                    raise InvalidRows
                found.append(as_numbers(values))
            except ValueError:
                others.append(f"{self.names[k]} ({self.kind(k)})")
                by_row = by_row and values.dtype.kind == "O"
        if others:
            error = InvalidRows if by_row else ValueError
            raise error(
                f"X must hold numbers; these columns do not: {_listed(others)}. Drop or convert them."
            )
        return found


def columns_of(frame: Any) -> Columns:
    """The columns of a data frame of pandas, polars, Arrow, or of a library with their protocols."""
    if hasattr(frame, "iloc"):  # pandas, and those with its interface
        names = list(frame.columns)
        columns = Columns(
            names, len(frame), lambda k: _of_pandas(frame.iloc[:, k]), lambda k: str(frame.dtypes.iloc[k])
        )
    elif hasattr(frame, "get_column"):  # polars
        names = list(frame.columns)
        columns = Columns(
            names,
            len(frame),
            lambda k: np.asarray(frame.get_column(names[k]).to_numpy()),
            lambda k: str(frame.get_column(names[k]).dtype),
        )
    else:
        table = _as_arrow(frame)
        table = table.drop_columns(index_columns(table.schema))
        names = list(table.column_names)
        columns = Columns(
            names,
            table.num_rows,
            lambda k: _of_arrow(table.column(k)),
            lambda k: str(table.column(k).type),
        )
    if len(set(names)) < len(names):
        duplicate = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"X has several columns named {duplicate!r}. Rename or drop them first.")
    return columns


def _of_frame(frame: Any) -> tuple[Array, Names | None]:
    columns = columns_of(frame)
    names = columns.names
    strings = [isinstance(name, str) for name in names]
    if any(strings) and not all(strings):
        other = next(name for name in names if not isinstance(name, str))
        raise TypeError(f"the names of all columns must be strings, or those of none; got {other!r}.")
    x = _plain_pandas(frame)
    if x is None:
        numbers = columns.numbers(range(len(names)))
        x = np.stack(numbers, axis=1) if numbers else np.empty((columns.rows, 0))
    return x, tuple(names) if all(strings) else None


def _plain_pandas(frame: Any) -> Array | None:
    """All columns at once, if they are numbers of NumPy."""
    if not hasattr(frame, "iloc"):
        return None
    plain = all(isinstance(kind, np.dtype) and kind.kind in NUMBERS for kind in frame.dtypes)
    return as_numbers(frame.to_numpy()) if plain and len(frame.dtypes) else None  # objects, if some are bool


def _of_pandas(column: Any) -> Array:
    kind = getattr(column.dtype, "kind", "O")
    if kind in NUMBERS and not isinstance(column.dtype, np.dtype):  # nullable
        missing = column.isna().any()
        numbers: Array = column.to_numpy(np.float64, na_value=np.nan) if missing else column.to_numpy()
        return numbers
    return _unreadable(len(column)) if hasattr(column.dtype, "categories") else np.asarray(column)


def _of_arrow(column: Any) -> Array:
    return _unreadable(len(column)) if hasattr(column.type, "value_type") else np.asarray(column.to_numpy())


def _unreadable(rows: int) -> Array:
    """What is read as no numbers, such as categories, which can look like numbers."""
    return np.empty(rows, "V1")


def index_columns(schema: Any) -> list[str]:
    """The columns of a schema of Arrow in which pandas has stored the index of the rows."""
    try:
        stored = json.loads((schema.metadata or {})[b"pandas"])["index_columns"]
    except (KeyError, TypeError, ValueError):
        return []
    return [name for name in stored if isinstance(name, str) and name in schema.names]


def _as_arrow(frame: Any) -> Any:
    """A table of Arrow."""
    extras.require(f"reading a table of type {type(frame).__name__} needs", "files", "pyarrow")
    arrow = importlib.import_module("pyarrow")
    try:
        if any(hasattr(frame, name) for name in (*ARROW, "column_names")):
            return frame if isinstance(frame, arrow.Table) else arrow.table(frame)
        return importlib.import_module("pyarrow.interchange").from_dataframe(frame)
    except Exception as error:  # an unknown library may raise any error
        raise ValueError(f"X cannot be read as a table: {error}") from error


def _of_named_values(named: Mapping[Any, Any], known: Names | None, name: str) -> tuple[Array, Names]:
    """A row from numbers, (D,), or a table from columns, (n, D)."""
    names = tuple(named) if known is None else known
    values = _selected(named, names, name)
    try:
        x = _array_of(values).T
    except ValueError:
        raise ValueError(f"{name} must have one number, or as many numbers, for each name.") from None
    return as_numbers(x, names), names


def _of_named_rows(rows: list[Any], known: Names | None) -> tuple[Array, Names]:
    names, values = known, []
    for k, row in enumerate(rows):
        named = values_by_name(row)
        if named is None:
            raise InvalidRows(f"row {k} has no column names, but row 0 has.")
        names = tuple(named) if names is None else names
        values.append(_selected(named, names, f"row {k}"))
    assert names is not None
    try:
        return as_numbers(_array_of(values), names), names
    except ValueError as error:
        raise error if isinstance(error, InvalidRows) else _ragged(values, error) from None


def _selected(named: Mapping[Any, Any], names: Names, of: str) -> list[Any]:
    """The values of these names."""
    missing = [name for name in names if name not in named]
    if missing:
        raise InvalidRows(f"{of} has no value for {_listed(map(repr, missing))}.")
    values = [named[name] for name in names]
    for value in values:
        if isinstance(value, Masked) and np.ma.is_masked(value):
            name = names[next(k for k, one in enumerate(values) if one is value)]
            raise InvalidRows(f"{of} has a masked entry in {name!r}. Fill it or drop the row first.")
    return values


def _array_of(values: Any) -> Array:
    """An array; of objects if a list holds text, so that the numbers stay numbers."""
    x = np.asarray(values)
    return np.asarray(values, object) if x.dtype.kind in "US" and not isinstance(values, np.ndarray) else x


def _refuse_paths_and_sparse(X: Any) -> None:
    if isinstance(X, str | bytes) or hasattr(X, "__fspath__"):
        raise NoTable(
            f"X must be rows, got the path {X!r}. Read it with "
            f"gaussian_neurons.sampling.rows_from_file({X!r})."
        )
    if sparse.issparse(X):
        raise TypeError(
            f"X is a sparse matrix ({type(X).__name__}), and only dense rows can be learned. Use X.toarray() "
            f"or, if that is too large, learn from parts: learn(X[k : k + 1000].toarray() for k in range(0, "
            f"X.shape[0], 1000))."
        )


def _as_list_or_array(X: Any) -> Any:
    if isinstance(X, Sequence) and not isinstance(X, memoryview):
        return list(X)
    try:
        array = np.asanyarray(X)
    except Exception as error:  # an unknown library may raise any error
        raise ValueError(f"X cannot be converted to an array: {error}") from error
    if array.dtype == object and not array.ndim:
        raise _no_table(X)
    return array


def _no_table(X: Any) -> NoTable:
    hint = ""
    if hasattr(X, "__next__"):
        hint = " It can be read only once: use learn(X), or convert it to a list."
    elif hasattr(X, "collect"):
        hint = " Call its collect() first."
    return NoTable(f"X must be {EXPECTED}, got {type(X).__name__}.{hint}")


def _not_a_table(shape: tuple[int, ...]) -> ValueError:
    if len(shape) < 2:
        return ValueError(
            f"X must be a table of rows, got {'one dimension' if shape else 'one number'}. Reshape your "
            f"data: x[:, None] is rows of one column, x[None] is one row."
        )
    return ValueError(
        f"X must be a table of rows, got {len(shape)} dimensions. For images, draw patches from them: "
        f"gaussian_neurons.sampling.Patches(images, size). For a list of tables, use learn(tables)."
    )


def _ragged(rows: Any, error: Exception) -> InvalidRows:
    """The error of rows of different lengths."""
    lengths = [len(row) if hasattr(row, "__len__") else 1 for row in rows]
    for k, length in enumerate(lengths):
        if length != lengths[0]:
            return InvalidRows(f"row {k} has {length} numbers, expected {lengths[0]}.")
    return InvalidRows(f"X cannot be converted to an array: {error}")


def _first_invalid(rows: Array, names: Names | None) -> InvalidRows:
    """The error of the first object that is not a number."""
    for at, value in np.ndenumerate(rows):
        reason = ""
        if not isinstance(value, NO_NUMBERS):
            try:
                if type(value).__name__ == "NAType" or not np.ndim(np.float64(value)):
                    continue
                reason = " (several numbers: numpy.stack(X) makes rows of a column of rows)"
            except (TypeError, ValueError, OverflowError) as error:
                reason = f" ({error})"
        column = at[-1] if names is None else repr(names[at[-1]])
        where = f"row {at[0]}, column {column}" if len(at) == 2 else f"column {column}"
        return InvalidRows(f"X must hold numbers, got {repr(value)[:CHARACTERS]} at {where}{reason}.")
    return InvalidRows("X must hold numbers.")


def _listed(names: Iterable[Any]) -> str:
    """Names for a message, shortened if there are many."""
    listed = list(names)
    more = f" and {len(listed) - SHOWN} more" if len(listed) > SHOWN else ""
    return ", ".join(map(str, listed[:SHOWN])) + more
