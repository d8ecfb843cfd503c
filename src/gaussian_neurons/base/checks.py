"""Checks of arguments: the value, or an error that says what was wrong and what was expected."""

from numbers import Integral, Real
from reprlib import repr as short
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gaussian_neurons.base.bad_rows import BadRow, bad_width
from gaussian_neurons.base.covariances import (
    TYPES,
    as_type,
    flat,
    is_regular,
    is_symmetric,
    shape_of,
    variances,
)
from gaussian_neurons.base.memory_maps import require_whole
from gaussian_neurons.base.tables import require_unmasked

Array = NDArray[np.float64]


def number(name: str, value: Any, least: float, most: float = np.inf) -> float:
    """A finite number in [least, most]."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        raise ValueError(f"{name} must be a number, got {short(value)}.")
    try:
        value = float(value)
    except OverflowError:
        value = np.inf
    if not (np.isfinite(value) and least <= value <= most):
        allowed = f"at least {least:g}" if most == np.inf else f"between {least:g} and {most:g}"
        raise ValueError(f"{name} must be finite and {allowed}, got {value!r}.")
    return float(value)


def whole_number(name: str, value: Any, least: int = 1, most: int | None = None) -> int:
    """A whole number of at least `least` and at most `most`."""
    is_whole = isinstance(value, Integral) and not isinstance(value, bool | np.bool_)
    if not is_whole or value < least or (most is not None and value > most):
        allowed = f"of at least {least}" if most is None else f"from {least} to {most:,}"
        raise ValueError(f"{name} must be a whole number {allowed}, got {short(value)}.")
    return int(value)


def one_of(name: str, value: Any, known: tuple[str, ...]) -> str:
    """One of the known names."""
    if not isinstance(value, str) or value not in known:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, known))}, got {short(value)}.")
    return str(value)


def checked_precision(dtype: Any) -> "np.dtype[Any]":
    """float32 or float64."""
    found: np.dtype[Any] = np.dtype(dtype)
    if found not in (np.float32, np.float64):
        raise ValueError(f"dtype must be one of float32, float64, got {found.name!r}.")
    return found


def checked_seed(seed: Any) -> int:
    """A seed: a whole number of 64 bits."""
    number = whole_number("seed", seed, least=0)
    if number >= 1 << 64:
        raise ValueError(f"seed must be below 2^64, got {number}.")
    return number


def checked_widths(width: Any, count: int, kind: str = "spherical", n_features: int = 1) -> Array:
    """One width or covariance of the type for each neuron: given as a number or as an array."""
    if width is None or isinstance(width, str | bool | np.bool_):
        raise ValueError(f"width must be a positive number or an array of them, got {width!r}.")
    widths = floats("width", width, "a positive number or an array of them")
    _require_shape("width", widths, count, "neurons", kind, n_features, single=True)
    every = np.array(np.broadcast_to(widths, (count, *widths.shape[1:])))
    bad, value = _first_bad(every, least=float(np.nextafter(0, 1)))
    if bad >= 0:
        raise ValueError(
            f"width must be positive and finite, got {value!r} at neuron {bad}. "
            f"Widths are squared lengths (the paper's sigma)."
        )
    for k, one in enumerate(every if every.ndim == 3 else ()):
        if not (is_symmetric(one) and is_regular(one)):
            raise ValueError(f"width must be symmetric, positive definite matrices, got {one} at neuron {k}.")
    return as_type(every, kind, n_features)


def checked_shape(covariance: Any, kind: str, n_features: int) -> Array | None:
    """The shape of neurons: a diagonal or a matrix that the type can represent, or None."""
    if covariance is None:
        return None
    shape = floats("covariance", covariance, "an array of numbers")
    allowed = [shape_of(simpler, n_features) for simpler in TYPES[1 : TYPES.index(kind) + 1]]
    if not allowed:
        raise ValueError(f"covariance needs covariance_type 'diag' or 'full', got {kind!r}.")
    if shape.shape not in allowed:
        listed = " or ".join(map(str, allowed))
        raise ValueError(
            f"covariance must have the shape {listed} for {n_features} columns, got {shape.shape}."
        )
    if not np.isfinite(shape).all() or not (shape.ndim == 1 or is_symmetric(shape)) or not is_regular(shape):
        raise ValueError(
            f"covariance must be symmetric and positive definite, or positive numbers; got {shape.tolist()}."
        )
    return shape.copy()  # the caller may change it


def _require_shape(
    name: str, widths: Array, count: int, what: str, kind: str, n_features: int, single: bool = False
) -> None:
    """A ValueError unless there is a width or covariance of the type, or of a simpler one, for each."""
    shapes = [(count, *shape_of(simpler, n_features)) for simpler in TYPES[: TYPES.index(kind) + 1]]
    if widths.shape in shapes or (single and widths.ndim == 0):
        return
    one = "a number or one" if single else "one number"
    types = " or ".join(map(str, shapes))
    listed = "" if kind == "spherical" else f" (or covariances: an array of shape {types})"
    raise ValueError(f"{name} must be {one} for each of the {count} {what}{listed}, got {widths.shape}.")


def _first_bad(widths: Array, least: float) -> tuple[int, float]:
    """The first with a number that is not finite or a variance below `least`, and that number; -1 if none."""
    numbers, diagonals = flat(widths), flat(variances(widths))
    infinite, small = ~np.isfinite(numbers), diagonals < least
    bad = np.flatnonzero(infinite.any(axis=1) | small.any(axis=1))
    if not len(bad):
        return -1, 0.0
    first = bad[0]
    values = numbers[first][infinite[first]] if infinite[first].any() else diagonals[first][small[first]]
    return int(first), float(values[0])


def checked_centers(name: str, centers: Any, count: int | None, n_features: int) -> Array:
    """Centers, (count, n_features); any count if it is None."""
    placed = floats(name, centers, "an array of centers")
    wanted = f"({'any' if count is None else count}, {n_features})"
    if placed.ndim != 2 or placed.shape[1] != n_features or len(placed) != (count or len(placed)):
        raise ValueError(f"{name} must have shape {wanted}, got {placed.shape}.")
    if not np.isfinite(placed).all():
        raise ValueError(f"{name} must hold finite numbers, got NaN or infinity.")
    return placed


def checked_sample_widths(
    sample_widths: Any, rows: int, dtype: Any = np.float64, kind: str = "full", n_features: int = 1
) -> Array:
    """A width or covariance for each row, with variances that are not negative, finite in the precision."""
    widths = floats("sample_width", sample_widths, "numbers, one for each row of X")
    _require_shape("sample_width", widths, rows, "rows", kind, n_features)
    with np.errstate(over="ignore"):
        bad, value = _first_bad(widths.astype(dtype, copy=False), least=0.0)
    if bad >= 0:
        raise bad_width(bad, value)
    if widths.ndim == 3 and not is_symmetric(widths).all():
        row = int(np.argmin(is_symmetric(widths)))
        raise BadRow(row, "sample_width must hold symmetric matrices, got another one at row {row}.")
    return widths


def checked_sample_weights(sample_weight: Any, rows: int) -> Array:
    """A weight for each row, finite and not negative; at least one is above 0."""
    weights = floats("sample_weight", sample_weight, "numbers, one for each row of X")
    if weights.shape != (rows,):
        raise ValueError(
            f"sample_weight must be one number for each of the {rows} rows, got the shape {weights.shape}."
        )
    bad = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if len(bad):
        raise ValueError(
            f"sample_weight must be finite and not negative, got {float(weights[bad[0]])!r} at row {bad[0]}. "
            f"A row of weight 0 is never drawn."
        )
    if not weights.any():
        raise ValueError("sample_weight is zero for all rows: give at least one row a weight above 0.")
    return weights


def checked_indices(indices: Any, count: int) -> NDArray[np.int64]:
    """Indices of neurons, (n,): from indices, negative ones from the end, or from a mask."""
    require_unmasked("indices", indices)
    chosen = np.atleast_1d(np.asarray(indices))
    if chosen.dtype == bool and chosen.shape == (count,):
        return np.flatnonzero(chosen)
    if not chosen.size:
        return np.zeros(0, np.int64)
    if chosen.dtype.kind not in "iu" or chosen.ndim != 1:
        raise ValueError(f"indices must be whole numbers or a mask of {count}, got {indices!r}.")
    absent = chosen[(chosen < -count) | (chosen >= count)]
    if len(absent):
        raise ValueError(f"there is no neuron {absent[0]}: the model has {count}, numbered 0 to {count - 1}.")
    return chosen.astype(np.int64)


def floats(name: str, value: Any, expected: str) -> Array:
    """An array of float64, or an error that says what was expected."""
    require_unmasked(name, value)
    if isinstance(value, np.ndarray):
        require_whole(value)
    try:
        return np.asarray(value, np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{name} must be {expected}, got {value!r}.") from None
