"""Scaled columns: the location and the scale of each column, taken from the stream.

Neurons see scaled columns, z = (x - location) / scale, and everything in a `Network` is in these: centers,
domain, events. Samples are kept as they came. Rows are scaled when they are learned from or asked about, and
centers are brought back to the units of the data when they are shown.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gaussian_neurons.base.bad_rows import require_finite
from gaussian_neurons.base.covariances import as_type
from gaussian_neurons.learning.responses import least_width

Array = NDArray[Any]
Floats = NDArray[np.float64]

KINDS = ("columns", "robust")
NORMAL = 1.4826  # standard deviation of a normal distribution whose median distance from the median is 1
LEAST = 2.0**-1000  # the least scale: numbers divided by a smaller one overflow
# A column is scaled anew if its scale has changed by more than this factor. If two columns are off by less,
# in opposite directions, a round cluster is less than four times as long as wide, and is still found.
CHANGED = 2.0
UNEVEN = 10.0  # least ratio of a column's scale to the median one for a warning, measured in docs/any-data.md
UNEVEN_TEXT = "columns differ in scale"
ROUNDING = 100.0  # times the precision: a column that is smaller, as a part of the largest, has no scale
FEWEST = 10  # least different rows for the warning: the scales of fewer differ by chance
NAMED = 3  # columns in the warning


@dataclass(frozen=True, eq=False)
class Scaling:
    """The location and the scale of each column, a value.

    Examples
    --------
    >>> scaling = Scaling.of(np.array([[1.0, 5.0], [3.0, 5.0]]), "columns")
    >>> scaling.location, scaling.scale  # a constant column has the scale 1
    (array([2., 5.]), array([1., 1.]))
    >>> scaling.scaled(np.array([[4.0, 6.0]]), np.float64)
    array([[2., 1.]])
    """

    kind: str  # one of KINDS
    location: Floats  # (D,)
    scale: Floats  # (D,) above 0

    @classmethod
    def of(cls, rows: Array, kind: str) -> "Scaling":
        """Of rows, (n, D). A constant column has the scale 1."""
        location, scale = measured(rows, kind)
        return cls(kind, location, np.where(scale > 0, scale, 1.0))

    def renewed(self, rows: Array) -> "Scaling":
        """The same for later rows; only columns whose scale has changed by more than CHANGED differ."""
        location, scale = measured(rows, self.kind)
        with np.errstate(over="ignore", under="ignore"):
            ratio = scale / self.scale
        changed = (scale > 0) & ((ratio > CHANGED) | (ratio < 1 / CHANGED))
        if not changed.any():
            return self
        return Scaling(
            self.kind, np.where(changed, location, self.location), np.where(changed, scale, self.scale)
        )

    def scaled(self, x: Array, dtype: Any) -> Array:
        """Rows in scaled columns; a BadRow if one is not finite. Too large numbers become the largest."""
        require_finite(x, dtype)
        wide = x.astype(dtype, copy=False).astype(np.float64)
        with np.errstate(over="ignore"):
            return _limited((wide / 2 - self.location / 2) / (self.scale / 2), dtype)  # halves: no overflow

    def undone(self, z: Array) -> Array:
        """Rows in the units of the data."""
        with np.errstate(over="ignore"):
            return _limited(2 * (z.astype(np.float64) * (self.scale / 2) + self.location / 2), z.dtype)

    def undone_widths(self, widths: Array) -> Array:
        """Widths or covariances in the units of the data: covariances, (n, D) or (n, D, D)."""
        if widths.ndim == 3:
            return widths * self.scale * self.scale[:, None]
        return as_type(widths, "diag", len(self.scale)) * self.scale**2

    def places_in(self, other: "Scaling", z: Array) -> Array:
        """The same places, (..., D), in other scaled columns. Columns that do not differ keep their bits."""
        with np.errstate(over="ignore", under="ignore"):
            ratio = _limited(self.scale / other.scale, np.float64)
            shift = _limited((self.location / 2 - other.location / 2) / (other.scale / 2), np.float64)
            return _limited(z * ratio + shift, z.dtype)

    def widths_in(self, other: "Scaling", widths: Array) -> Array:
        """Learned widths in other scaled columns, in which neurons are round again.

        A neuron learns the mean of its variances over the columns. So a neuron that is round in the other
        columns, with the width w, has learned w times the mean of (other scale / scale)^2 here.
        """
        with np.errstate(over="ignore", under="ignore"):
            found = widths / ((other.scale / self.scale) ** 2).mean()
        limited: Array = np.clip(found, least_width(widths.dtype), np.finfo(widths.dtype).max)
        return limited.astype(widths.dtype)


def measured(rows: Array, kind: str) -> tuple[Floats, Floats]:
    """The location and the scale of each column; the scale is 0 if the column is constant.

    "columns": mean and standard deviation. "robust": the median, and the median distance from it of the
    values that differ from it, so that a column with mostly one value has a scale too.
    """
    wide = rows.astype(np.float64)
    exponent = np.frexp(np.abs(wide).max(axis=0))[1]  # squares of the numbers could overflow
    part = np.ldexp(wide, -exponent)  # between -1 and 1
    if kind == "columns":
        location = part[0] + (part - part[0]).mean(axis=0)  # exact if all are the same
        scale = np.sqrt(((part - location) ** 2).mean(axis=0))
    else:
        location = np.median(part, axis=0)
        ranked = np.sort(np.abs(part - location), axis=0)
        middle = (
            len(ranked) + np.count_nonzero(ranked == 0, axis=0) - np.array([[1], [0]])
        ) // 2  # two ranks
        ranks = np.minimum(middle, len(ranked) - 1)
        scale = NORMAL * np.take_along_axis(ranked, ranks, axis=0).mean(axis=0)
    eps = np.finfo(np.result_type(rows.dtype, np.float32)).eps
    varies = scale > eps * np.abs(location)  # less is due to rounding
    with np.errstate(over="ignore", under="ignore"):
        found = np.minimum(np.ldexp(scale, exponent), np.finfo(np.float64).max)
    return np.ldexp(location, exponent), np.where(varies & (found >= LEAST), found, 0.0)


def _limited(values: Array, dtype: Any) -> Array:
    most = float(np.finfo(dtype).max)
    return np.clip(values, -most, most).astype(dtype)


def uneven(rows: Array, names: Any = None) -> str | None:
    """A warning if some columns are so much larger than the others that they alone decide distances.

    They are larger than the median column or, if no column is, than all others. Constant columns do not
    count, nor outliers, nor a column with mostly one value: the smaller of both scales of a column decides.

    Examples
    --------
    >>> rows = np.random.default_rng(0).normal(size=(100, 2)) * [1.0, 1000.0]
    >>> print(uneven(rows, ["age", "income"])[:63])
    columns differ in scale: that of 'income' (945) is more than 10
    >>> uneven(rows / [1.0, 1000.0])
    """
    (middle, robust), (_, plain) = measured(rows, "robust"), measured(rows, "columns")
    scales = np.minimum(robust, plain)
    order = np.argsort(-scales, kind="stable")[: np.count_nonzero(scales)]
    if not len(order):
        return None
    typical, other = scales[order[len(order) // 2]], "the median column"
    large = [column for column in order if scales[column] > UNEVEN * typical]
    if not large:
        least = ROUNDING * np.finfo(np.result_type(rows.dtype, np.float32)).eps * scales.max()
        mostly_one = 2 * np.count_nonzero(rows == middle, axis=0) >= len(rows)
        varied = [column for column in order if scales[column] > least and not mostly_one[column]]
        steps = scales[varied[:-1]] / scales[varied[1:]]
        if len(steps) and steps.max() > UNEVEN:
            count = int(steps.argmax()) + 1
            large, typical, other = varied[:count], scales[varied[count]], "all others"
    if not large or len({row.tobytes() for row in rows}) < FEWEST:
        return None
    shown = [f"{f'column {k}' if names is None else repr(names[k])} ({scales[k]:.3g})" for k in large[:NAMED]]
    more = f" and {len(large) - NAMED} more" if len(large) > NAMED else ""
    return (
        f"{UNEVEN_TEXT}: that of {', '.join(shown)}{more} is more than {UNEVEN:g} times that of {other} "
        f"({typical:.3g}), so the other columns hardly count. Use scale='columns' (scale='robust' if "
        f"there are outliers), or scale or drop columns before."
    )
