"""Tables of any library as an array and the names of its columns: the only reader of tables."""

import importlib
import importlib.util
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array

from gaussian_neurons.base.memory_maps import require_whole

Array = NDArray[Any]
Masked = np.ma.MaskedArray


class NotNumeric(ValueError):
    """Something in a table is not a number."""


class Table(NamedTuple):
    """Rows of numbers, which may be NaN or infinite."""

    x: Array  # (n, D)
    names: tuple[str, ...] | None  # of the columns, if they are strings


def read(X: Any) -> Table:
    """Read a table: an array, a list of rows, or a data frame of pandas, polars, Arrow or another library.

    Raises ValueError or TypeError if it has no rows or columns, two columns of one name, a column that does
    not hold numbers, or a masked entry.

    Examples
    --------
    >>> read([[1, 2], [3, 4]]).x.shape
    (2, 2)
    """
    if is_frame(X):
        return _of_frame(X)
    if not isinstance(X, np.ndarray) and hasattr(X, "__array__"):
        try:
            X = np.asanyarray(X)
        except Exception as error:  # an unknown library may raise any error
            raise ValueError(f"X cannot be converted to an array: {error}") from error
    if isinstance(X, Sequence) and not isinstance(X, str | bytes):
        X = list(X)
    require_unmasked("X", X)
    if isinstance(X, np.ndarray):
        require_whole(X)
    try:
        x: Array = check_array(X, dtype="numeric", ensure_all_finite=False)
    except OverflowError as error:
        raise NotNumeric(f"X must hold numbers that float64 can represent: {error}.") from None
    return Table(as_numbers(x), None)


def is_frame(value: Any) -> bool:
    """Whether a value is a table that has columns, rather than a sequence of rows."""
    if isinstance(value, np.ndarray | list | tuple):
        return False
    kind = type(value)  # an instance may give any attribute
    if hasattr(kind, "iloc"):
        return bool(getattr(value, "ndim", 0) == 2)
    columns = hasattr(kind, "columns") or hasattr(kind, "column_names")
    return hasattr(kind, "__dataframe__") or (columns and hasattr(kind, "__arrow_c_stream__"))


def require_unmasked(name: str, value: Any) -> None:
    """Raise a ValueError that names the first masked entry of a masked array, or of a list of them."""
    if isinstance(value, list | tuple):
        if any(issubclass(kind, Masked) for kind in set(map(type, value))):
            for k, part in enumerate(value):
                if isinstance(part, Masked):
                    require_unmasked(f"{name}[{k}]", part)
    elif isinstance(value, Masked) and np.ma.is_masked(value):
        if not value.ndim:
            raise ValueError(f"{name} is masked. Fill it first.")
        at = np.argwhere(np.ma.getmaskarray(value))[0]
        where = f"row {at[0]}, column {at[1]}" if len(at) == 2 else f"index {', '.join(map(str, at))}"
        raise ValueError(f"{name} has a masked entry at {where}. Fill such entries or drop their rows first.")


def as_numbers(rows: Array) -> Array:
    """The rows, if they hold numbers."""
    if rows.dtype.kind in "fiub":
        return rows
    try:
        if rows.dtype.kind == "O" and not any(isinstance(value, str | bytes) for value in rows.flat):
            return rows.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        pass
    raise NotNumeric("X must hold numbers; convert or drop the other columns first.")


def names_of(frame: Any) -> list[Any]:
    """The names of the columns of a data frame."""
    return list(frame.column_names if hasattr(frame, "column_names") else frame.columns)


def _of_frame(frame: Any) -> Table:
    names, column = _columns(frame)
    strings = [isinstance(name, str) for name in names]
    if any(strings) and not all(strings):
        other = next(name for name in names if not isinstance(name, str))
        raise TypeError(f"the names of all columns must be strings, or those of none; got {other!r}.")
    if len(set(names)) < len(names):
        duplicate = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"X has several columns named {duplicate!r}. Rename or drop them first.")
    x = _plain_pandas(frame)
    if x is None:
        x = _stacked(names, column)
    return Table(check_array(x, ensure_all_finite=False, dtype=None), tuple(names) if all(strings) else None)


def _stacked(names: list[Any], column: Callable[[int], Array]) -> Array:
    numbers, others, kinds = [], [], set()
    for k, name in enumerate(names):
        values = column(k)
        kinds.add(values.dtype.kind)
        try:
            if values.ndim != 1:
                raise NotNumeric
            numbers.append(as_numbers(values))
        except NotNumeric:
            others.append(str(name))
    if others:
        error = NotNumeric if kinds <= set("fiubO") else ValueError  # all rows of such columns are invalid
        raise error(f"X must hold numbers; these columns do not: {', '.join(others)}. Drop or convert them.")
    return np.stack(numbers, axis=1) if numbers else np.empty((1, 0))


def _plain_pandas(frame: Any) -> Array | None:
    """All columns at once, if they are numbers of NumPy."""
    if not hasattr(frame, "iloc"):
        return None
    plain = all(isinstance(kind, np.dtype) and kind.kind in "fiub" for kind in frame.dtypes)
    return as_numbers(frame.to_numpy()) if plain and len(frame.dtypes) else None  # objects, if some are bool


def _columns(frame: Any) -> tuple[list[Any], Callable[[int], Array]]:
    """The names of the columns, and a function that gives column k, (n,)."""
    if hasattr(frame, "iloc"):  # pandas, and those with its interface
        return names_of(frame), lambda k: _of_pandas(frame.iloc[:, k])
    if hasattr(frame, "get_column"):  # polars
        return names_of(frame), lambda k: np.asarray(frame.get_column(frame.columns[k]).to_numpy())
    if not hasattr(frame, "column_names"):  # not Arrow
        if importlib.util.find_spec("pyarrow") is None:
            raise ModuleNotFoundError(
                f"reading a table of type {type(frame).__name__} needs pyarrow: pip install "
                f"'gaussian-neurons[files]'"
            )
        try:
            if hasattr(frame, "__arrow_c_stream__"):
                frame = importlib.import_module("pyarrow").table(frame)
            else:
                frame = importlib.import_module("pyarrow.interchange").from_dataframe(frame)
        except Exception as error:  # an unknown library may raise any error
            raise ValueError(f"X cannot be read as a table: {error}") from error
    table = frame if hasattr(frame, "combine_chunks") else importlib.import_module("pyarrow").table(frame)
    return names_of(table), lambda k: np.asarray(table.column(k).to_numpy())


def _of_pandas(column: Any) -> Array:
    kind = getattr(column.dtype, "kind", "O")
    if kind in "fiub" and not isinstance(column.dtype, np.dtype):  # nullable
        missing = column.isna().any()
        numbers: Array = column.to_numpy(np.float64, na_value=np.nan) if missing else column.to_numpy()
        return numbers
    if hasattr(column.dtype, "categories"):
        return np.empty(0, "V1")  # not numbers, even if they look like numbers
    return np.asarray(column)
