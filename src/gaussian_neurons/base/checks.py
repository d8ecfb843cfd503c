"""Checks of arguments: the value, or an error that says what was wrong and what was expected."""

from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gaussian_neurons.base.bad_rows import bad_width
from gaussian_neurons.base.memory_maps import require_whole
from gaussian_neurons.base.tables import require_unmasked

Array = NDArray[np.float64]


def number(name: str, value: Any, least: float, most: float = np.inf) -> float:
    """A finite number in [least, most]."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        raise ValueError(f"{name} must be a number, got {value!r}.")
    try:
        value = float(value)
    except OverflowError:
        value = np.inf
    if not (np.isfinite(value) and least <= value <= most):
        allowed = f"at least {least:g}" if most == np.inf else f"between {least:g} and {most:g}"
        raise ValueError(f"{name} must be finite and {allowed}, got {value!r}.")
    return float(value)


def whole_number(name: str, value: Any, least: int = 1) -> int:
    """A whole number of at least `least`."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, Integral) or value < least:
        raise ValueError(f"{name} must be a whole number of at least {least}, got {value!r}.")
    return int(value)


def one_of(name: str, value: Any, known: tuple[str, ...]) -> str:
    """One of the known names."""
    if value not in known:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, known))}, got {value!r}.")
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


def checked_widths(width: Any, count: int) -> Array:
    """One width for each neuron, (K,): given as a number or as an array."""
    if width is None or isinstance(width, str | bool | np.bool_):
        raise ValueError(f"width must be a positive number or an array of them, got {width!r}.")
    widths = floats("width", width, "a positive number or an array of them")
    if widths.ndim > 1 or (widths.ndim == 1 and len(widths) != count):
        raise ValueError(
            f"width must be a number or one for each of the {count} neurons, got an array of shape "
            f"{widths.shape}."
        )
    every = np.array(np.broadcast_to(widths, (count,)))
    bad = np.flatnonzero(~(np.isfinite(every) & (every > 0)))
    if len(bad):
        raise ValueError(
            f"width must be positive and finite, got {float(every[bad[0]])!r} at neuron {bad[0]}. "
            f"Widths are squared lengths (the paper's sigma)."
        )
    return every


def checked_centers(name: str, centers: Any, count: int | None, n_features: int) -> Array:
    """Centers, (count, n_features); any count if it is None."""
    placed = floats(name, centers, "an array of centers")
    wanted = f"({'any' if count is None else count}, {n_features})"
    if placed.ndim != 2 or placed.shape[1] != n_features or len(placed) != (count or len(placed)):
        raise ValueError(f"{name} must have shape {wanted}, got {placed.shape}.")
    if not np.isfinite(placed).all():
        raise ValueError(f"{name} must hold finite numbers, got NaN or infinity.")
    return placed


def checked_sample_widths(sample_widths: Any, rows: int, dtype: Any = np.float64) -> Array:
    """A width for each row, (rows,), not negative, and finite in the model's precision."""
    widths = floats("sample_width", sample_widths, "numbers, one for each row of X")
    if widths.shape != (rows,):
        raise ValueError(
            f"sample_width must have one number for each of the {rows} rows, got {widths.shape}."
        )
    most = np.finfo(np.float32 if dtype == np.float32 else np.float64).max
    bad = np.flatnonzero(~((widths <= float(most)) & (widths >= 0)))
    if len(bad):
        raise bad_width(int(bad[0]), float(widths[bad[0]]))
    return widths


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
