"""What a model is told at its start: checked once, then trusted."""

from dataclasses import dataclass
from functools import lru_cache
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gaussian_neurons.bad_rows import bad_width

Array = NDArray[np.float64]

INITS = ("uniform", "samples", "spread")
MOST_EVERY = 1 << 31  # samples between two repulsions


@dataclass(frozen=True, eq=False)
class Settings:
    """The parameters of `GaussianNeurons`, checked. None stands for "auto"."""

    n_neurons: int  # K
    width: Array | None  # (K,) sigma
    inhibition: float | None  # lambda
    learning_rate: float | None  # eta_mu
    width_learning_rate: float  # eta_sigma
    repulsion_every: int  # r
    init: str | Array  # one of INITS, or (K, D)
    domain: tuple[Array, Array] | None  # low and high, each (D,)

    def same_as(self, other: "Settings") -> bool:
        """Whether every parameter is the same."""
        return all(np.array_equal(value, getattr(other, name)) for name, value in vars(self).items())

    @property
    def is_ladder(self) -> bool:
        """Whether layers of several widths learn side by side."""
        return self.width is None and self.width_learning_rate == 0

    @property
    def needs_first_data(self) -> bool:
        """Whether anything has to be taken from the first samples."""
        return (
            self.width is None
            or self.domain is None
            or (isinstance(self.init, str) and self.init != "uniform")
            or (self.learning_rate is None and self.width_learning_rate > 0)
        )


def checked(
    *,
    n_features: int,
    n_neurons: Any,
    width: Any,
    inhibition: Any,
    learning_rate: Any,
    width_learning_rate: Any,
    repulsion_every: Any,
    init: Any,
    domain: Any,
) -> Settings:
    """Settings for samples of `n_features` columns, or a ValueError that says what is wrong."""
    count = whole_number("n_neurons", n_neurons)
    learns_widths = number("width_learning_rate", width_learning_rate, least=0.0, most=1.0)
    if isinstance(init, str) and init == "auto":
        init = "spread" if isinstance(width, str) and learns_widths == 0 else "uniform"
    return Settings(
        n_neurons=count,
        width=None if _is_auto("width", width) else checked_widths(width, count),
        inhibition=None
        if _is_auto("inhibition", inhibition)
        else number("inhibition", inhibition, least=0.0),
        learning_rate=(
            None
            if _is_auto("learning_rate", learning_rate)
            else number("learning_rate", learning_rate, least=0.0)
        ),
        width_learning_rate=learns_widths,
        repulsion_every=_checked_every(repulsion_every),
        init=_checked_init(init, count, n_features),
        domain=None if domain is None else _checked_domain(domain, n_features),
    )


@lru_cache(maxsize=16, typed=True)
def checked_before(**given: Any) -> Settings:
    """The same, remembered: for parameters that cannot change, which are looked at for every chunk."""
    return checked(**given)


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
    widths = _floats("width", width, "a positive number or an array of them")
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
    """Centers, (count, n_features), or of any count where it is None."""
    placed = _floats(name, centers, "an array of centers")
    wanted = f"({'any' if count is None else count}, {n_features})"
    if placed.ndim != 2 or placed.shape[1] != n_features or len(placed) != (count or len(placed)):
        raise ValueError(f"{name} must have shape {wanted}, got {placed.shape}.")
    if not np.isfinite(placed).all():
        raise ValueError(f"{name} must hold finite numbers, got NaN or infinity.")
    return placed


def as_numbers(rows: NDArray[Any]) -> NDArray[Any]:
    """Rows as they are, if they hold numbers."""
    if rows.dtype.kind in "fiub":
        return rows
    try:
        if rows.dtype.kind == "O":
            return rows.astype(np.float64)
    except (TypeError, ValueError):
        pass
    raise ValueError("X must hold numbers; convert or drop the other columns first.")


def checked_sample_widths(sample_widths: Any, rows: int, dtype: Any = np.float64) -> Array:
    """A width for each row, (rows,), not negative, and finite in the model's precision."""
    widths = _floats("sample_width", sample_widths, "numbers, one for each row of X")
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
    """Numbers of neurons there are, (n,): from numbers, negative ones from the end, or from a mask."""
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


def _is_auto(name: str, value: Any) -> bool:
    if isinstance(value, str) and value != "auto":
        raise ValueError(f"{name} must be a number or 'auto', got {value!r}.")
    return isinstance(value, str)


def _checked_every(value: Any) -> int:
    whole = isinstance(value, Integral) and not isinstance(value, bool | np.bool_)
    if not whole or not 1 <= value < MOST_EVERY:
        raise ValueError(
            f"repulsion_every must be a whole number from 1 to {MOST_EVERY - 1}, got {value!r}. "
            f"Neurons repel each other at every r-th sample; leave it at 1 for the exact rule."
        )
    return int(value)


def _checked_init(init: Any, count: int, n_features: int) -> str | Array:
    if isinstance(init, str):
        if init not in INITS:
            raise ValueError(
                f"init must be 'auto', one of {', '.join(map(repr, INITS))} or an array "
                f"(n_neurons, n_features), got {init!r}."
            )
        return init
    return checked_centers("init", init, count, n_features)


def _checked_domain(domain: Any, n_features: int) -> tuple[Array, Array]:
    expected = "domain must be a pair (low, high) of numbers, or of one number for each column"
    try:
        low, high = domain
    except (TypeError, ValueError):
        raise ValueError(f"{expected}; got {domain!r}.") from None
    ends = []
    for end in (low, high):
        values = _floats("domain", end, "a pair (low, high) of numbers")
        if values.shape not in ((), (n_features,)):
            raise ValueError(f"{expected} ({n_features}); got one of shape {values.shape}.")
        ends.append(np.array(np.broadcast_to(values, (n_features,))))
    bad = np.flatnonzero(~(ends[0] < ends[1]) | ~np.isfinite(ends[0]) | ~np.isfinite(ends[1]))
    if len(bad):
        raise ValueError(
            f"domain must have low < high, both finite, got low={float(ends[0][bad[0]])!r} and "
            f"high={float(ends[1][bad[0]])!r} in column {bad[0]}."
        )
    return ends[0], ends[1]


def _floats(name: str, value: Any, expected: str) -> Array:
    try:
        return np.asarray(value, np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{name} must be {expected}, got {value!r}.") from None
