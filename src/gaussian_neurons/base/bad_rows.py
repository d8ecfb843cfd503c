"""Rows that cannot be learned from: which one it is and why."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gaussian_neurons.base.covariances import flat, variances
from gaussian_neurons.base.memory_maps import row_blocks

NUMBERS_AT_ONCE = 1 << 20  # numbers that are checked at a time


class BadRow(ValueError):
    """A row that cannot be learned from.

    The text says why, with {row} in place of its number and {column} in place of that of the column.
    """

    def __init__(self, row: int, text: str, column: int = -1) -> None:
        super().__init__(text.replace("{row}", str(row)).replace("{column}", str(column)))
        self.row, self.text, self.column = row, text, column

    def __reduce__(self) -> tuple[type["BadRow"], tuple[int, str, int]]:
        return BadRow, (self.row, self.text, self.column)

    def later(self, rows: int) -> "BadRow":
        """The same error, if so many other rows come before it."""
        return BadRow(self.row + rows, self.text, self.column)

    def named(self, names: Sequence[Any] | None) -> "BadRow":
        """The same error with the name of the column instead of its number, if columns have names."""
        if names is None or self.column < 0:
            return self
        return BadRow(self.row, self.text.replace("{column}", repr(names[self.column])))


def bad_width(row: int, width: Any) -> BadRow:
    """The error of an invalid sample width."""
    return BadRow(row, f"sample_width must be finite and not negative, got {width!r} at row {{row}}.")


def bad_value(row: int, column: int, value: float, precision: str) -> BadRow:
    """The error of a value that is NaN or infinite, or becomes infinite in the model's precision."""
    if np.isfinite(value):
        return BadRow(
            row,
            f"X holds {value!r} at row {{row}}, column {{column}}, which is infinity (inf) in the model's "
            f"{precision}. Scale the data, or start the model with float64 samples.",
            column,
        )
    return BadRow(
        row,
        f"X must hold finite numbers, got {'NaN' if np.isnan(value) else 'infinity (inf)'} at row {{row}}, "
        f"column {{column}}. Drop or fill such rows first.",
        column,
    )


def finite_rows(x: NDArray[Any], dtype: Any, widths: NDArray[Any] | None = None) -> NDArray[np.bool_]:
    """Which rows can be learned from in the precision `dtype`, (n,): finite, with a valid width."""
    with np.errstate(over="ignore", invalid="ignore"):
        good: NDArray[np.bool_] = np.isfinite(x.astype(dtype, copy=False)).all(axis=1)
        if widths is not None:
            good &= np.isfinite(flat(widths.astype(dtype, copy=False))).all(axis=1)
            good &= (flat(variances(widths)) >= 0).all(axis=1)
    return good


def bad_value_of(x: NDArray[Any], row: int, dtype: Any) -> BadRow:
    """The error of the first value of a row that is not finite in the precision `dtype`."""
    with np.errstate(over="ignore"):
        column = int(np.argmin(np.isfinite(x[row].astype(dtype))))
    return bad_value(row, column, float(x[row, column]), np.dtype(dtype).name)


def require_finite(x: NDArray[Any], dtype: Any, names: Sequence[Any] | None = None) -> None:
    """Raise a BadRow that names the first value which is not finite in the precision `dtype`."""
    for begin, rows in row_blocks(x, most=NUMBERS_AT_ONCE // max(x.shape[1], 1) + 1):
        good = finite_rows(rows, dtype)
        if not good.all():
            raise bad_value_of(x, begin + int(np.argmin(good)), dtype).named(names)
