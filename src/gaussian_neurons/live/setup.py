"""The settings of a run, checked and bounded, with their names in links and messages."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral, Real
from typing import Any

import numpy as np

from gaussian_neurons.base.covariances import TYPES
from gaussian_neurons.clustering.tree import SHAPES

DATA = ("mnist-sample", "mnist", "cifar10", "photographs", "mixture", "one-sample", "file")
MAX_NEURONS = 400
MAX_PATCH_SIZE = 28  # pixels along a side
MAX_CLASSES = 1000
WIDTH_RATE = 0.1  # eta_sigma of Figure 5, for neurons with covariances
MAX_SHOWN = 60  # characters of an invalid value that an error message repeats
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True)
class Setup:
    """All settings of a run. Without user actions, they determine its result."""

    data: str = "mnist-sample"
    n_neurons: int = 16  # K
    width: float = 1.0  # sigma
    inhibition: float = 0.5  # lambda
    learning_rate: float = 0.1  # eta_mu
    width_learning_rate: float = 0.0  # eta_sigma
    size: int = 5  # side of a patch in pixels
    noise: float = 0.1  # of every pixel of a neighbourhood, if widths are learned from images
    sample_width: float = 0.01  # sigma_x of every sample, if widths are learned in the plane
    classes: tuple[int, ...] | None = None  # use only images of these classes
    seed: int = 0
    speed: float | None = None  # samples per second, None: no limit
    covariance_type: str = "spherical"  # what a neuron has, one of base.covariances.TYPES
    clusters: str | None = None  # with an automatic width: what a cluster is, one of clustering.tree.SHAPES

    def as_json(self) -> dict[str, Any]:
        """The settings by their names in links and messages."""
        values = {name: getattr(self, field) for name, (field, _) in SETTINGS.items()}
        return {**values, "classes": None if self.classes is None else list(self.classes)}

    def changed(self, values: Any) -> "Setup":
        """A copy with some settings replaced, or a ValueError that names the invalid one.

        Examples
        --------
        >>> Setup().changed({"K": 20}).n_neurons
        20
        >>> Setup().changed({"K": 1_000_000})
        Traceback (most recent call last):
        ValueError: K (neurons) must be a whole number from 1 to 400, got 1000000.
        """
        if not isinstance(values, Mapping):
            raise ValueError(f"Settings must be an object with names and values, got {short_repr(values)}.")
        unknown = [name for name in values if name not in SETTINGS]
        if unknown:
            raise ValueError(f"Unknown setting {short_repr(unknown[0])}. Known: {', '.join(SETTINGS)}.")
        return replace(self, **{SETTINGS[name][0]: SETTINGS[name][1](values[name]) for name in values})

    def with_covariances(self, kind: str) -> "Setup":
        """A copy with another covariance type. Covariances are learned: with a width alone, they stay round.

        Examples
        --------
        >>> Setup().with_covariances("full").width_learning_rate
        0.1
        """
        rate = self.width_learning_rate or (0.0 if kind == "spherical" else WIDTH_RATE)
        return replace(self.changed({"covariance_type": kind}), width_learning_rate=rate, clusters=None)

    def with_automatic_width(self, clusters: str) -> "Setup":
        """A copy whose neurons share the samples, and find their own widths."""
        rounded = replace(self, covariance_type="spherical", width_learning_rate=0.0)
        return rounded.changed({"clusters": clusters})

    def same_experiment(self, other: "Setup") -> bool:
        """Whether both differ at most in seed and speed."""
        return replace(self, seed=other.seed, speed=other.speed) == other


def short_repr(value: Any) -> str:
    """The value for an error message, cut to `MAX_SHOWN` characters."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # an integer of thousands of digits, or deep nesting
        text = type(value).__name__
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}..."


def format_limit(value: float) -> str:
    """A limit for an error message: in full, or as a power of ten if that is shorter.

    Examples
    --------
    >>> format_limit(1e9), format_limit(0.1), format_limit(-1e15)
    ('1,000,000,000', '0.1', '-10¹⁵')
    """
    text = f"{value:,.12g}"
    sign, power, exponent = text.partition("1e")
    return f"{sign}10{str(int(exponent)).translate(SUPERSCRIPTS)}" if power else text


def whole(name: str, least: int, most: int, value: Any) -> int:
    """Check a whole number from `least` to `most`."""
    if isinstance(value, bool) or not isinstance(value, Integral) or not least <= int(value) <= most:
        raise ValueError(f"{name} must be a whole number from {least} to {most:,}, got {short_repr(value)}.")
    return int(value)


def number(name: str, least: float, most: float, value: Any) -> float:
    """Check a number from `least` to `most`."""
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if not is_number or not least <= value <= most:  # false for NaN, too
        limits = f"from {format_limit(least)} to {format_limit(most)}"
        raise ValueError(f"{name} must be a number {limits}, got {short_repr(value)}.")
    return float(value)


def position(value: Any) -> tuple[float, float]:
    """Check a position in the plane, [x, y]."""
    if not isinstance(value, list) or len(value) != 2:
        raise ValueError(f"A position must be [x, y], two numbers, got {short_repr(value)}.")
    x, y = (number("A coordinate", -1e15, 1e15, part) for part in value)
    return x, y


def one_of(name: str, known: Sequence[str], value: Any) -> str:
    """Check a name."""
    if not isinstance(value, str) or value not in known:
        raise ValueError(f"{name} must be one of {', '.join(known)}, got {short_repr(value)}.")
    return value


def optional(check: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The check of a value that may be null."""
    return lambda value: None if value is None else check(value)


def _classes(value: Any) -> tuple[int, ...]:
    if not isinstance(value, list) or not 0 < len(value) <= MAX_CLASSES:
        raise ValueError(
            f"Classes must be a list of 1 to {MAX_CLASSES} labels, or null for all classes, "
            f"got {short_repr(value)}."
        )
    return tuple(sorted({whole("A class", 0, 255, label) for label in value}))


SETTINGS: dict[str, tuple[str, Callable[[Any], Any]]] = {  # field in `Setup`, function that checks a value
    "data": ("data", partial(one_of, "Data", DATA)),
    "K": ("n_neurons", partial(whole, "K (neurons)", 1, MAX_NEURONS)),
    "sigma": ("width", partial(number, "σ (width)", 1e-30, 1e30)),
    "lambda": ("inhibition", partial(number, "λ (inhibition)", 0.0, 100.0)),
    "eta": ("learning_rate", partial(number, "η_μ (learning rate)", 0.0, 1e30)),
    "eta_sigma": ("width_learning_rate", partial(number, "η_σ (width learning rate)", 0.0, 1.0)),
    "size": ("size", partial(whole, "Patch size", 1, MAX_PATCH_SIZE)),
    "noise": ("noise", partial(number, "Pixel noise", 0.0, 10.0)),
    "sample_width": ("sample_width", partial(number, "σ_x (sample width)", 1e-30, 1e30)),
    "classes": ("classes", optional(_classes)),
    "seed": ("seed", partial(whole, "Seed", 0, np.iinfo(np.uint32).max)),
    "speed": ("speed", optional(partial(number, "Speed", 0.1, 1e9))),
    "covariance_type": ("covariance_type", partial(one_of, "Covariance type", TYPES)),
    "clusters": ("clusters", optional(partial(one_of, "Clusters", SHAPES))),
}
CHANGEABLE = ("K", "sigma", "lambda", "eta", "eta_sigma", "noise", "sample_width", "speed", "classes")
