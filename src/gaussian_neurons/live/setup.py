"""What a link says about a run: every number checked and bounded, in the paper's symbols."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral, Real
from typing import Any

import numpy as np

DATA = ("mnist-sample", "mnist", "cifar10", "photographs", "mixture", "one-sample", "file")
MOST_NEURONS = 400
MOST_SIZE = 28  # pixels along a side of a patch
MOST_CLASSES = 1000
SHOWN = 60  # characters of a wrong value that a message repeats
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True)
class Setup:
    """Everything that a run is a function of, until somebody interferes."""

    data: str = "mnist-sample"
    n_neurons: int = 16  # K
    width: float = 1.0  # sigma
    inhibition: float = 0.5  # lambda
    learning_rate: float = 0.1  # eta_mu
    width_learning_rate: float = 0.0  # eta_sigma
    size: int = 5  # side of a patch in pixels
    noise: float = 0.1  # on every pixel of a neighbourhood; where widths are learned from images
    sample_width: float = 0.01  # sigma_x of every sample; where widths are learned in the plane
    classes: tuple[int, ...] | None = None  # only images of these
    seed: int = 0
    speed: float | None = None  # samples a second, None: as fast as it goes

    def told(self) -> dict[str, Any]:
        """The same as messages and links have it."""
        values = {name: getattr(self, known.field) for name, known in KNOWN.items()}
        return {**values, "classes": None if self.classes is None else list(self.classes)}

    def changed(self, given: Any) -> "Setup":
        """This with some values replaced, or a ValueError that says which is wrong.

        Examples
        --------
        >>> Setup().changed({"K": 20}).n_neurons
        20
        >>> Setup().changed({"K": 1_000_000})
        Traceback (most recent call last):
        ValueError: K (neurons) must be a whole number from 1 to 400, got 1000000.
        """
        if not isinstance(given, Mapping):
            raise ValueError(f"A setup must be an object with names and values, got {shown(given)}.")
        unknown = [name for name in given if name not in KNOWN]
        if unknown:
            raise ValueError(f"There is no setting {shown(unknown[0])}; there are {', '.join(KNOWN)}.")
        return replace(self, **{KNOWN[name].field: KNOWN[name].check(value) for name, value in given.items()})

    def same_as(self, other: "Setup") -> bool:
        """Whether it is the same experiment: with any seed, at any speed."""
        return replace(self, seed=other.seed, speed=other.speed) == other


@dataclass(frozen=True)
class Known:
    """A setting: where it is kept, and how it is checked."""

    field: str
    check: Callable[[Any], Any]


def shown(value: Any) -> str:
    """A value for a message, whatever it is and however long."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # a whole number of thousands of digits
        text = type(value).__name__
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."


def limit(value: float) -> str:
    """A number for a message: in full, or as a power of ten where that is long.

    Examples
    --------
    >>> limit(1e9), limit(0.1), limit(-1e15)
    ('1,000,000,000', '0.1', '-10¹⁵')
    """
    text = f"{value:,.12g}"
    sign, power, exponent = text.partition("1e")
    return f"{sign}10{str(int(exponent)).translate(SUPERSCRIPTS)}" if power else text


def whole(name: str, least: int, most: int, value: Any) -> int:
    """A whole number from `least` to `most`."""
    if isinstance(value, bool) or not isinstance(value, Integral) or not least <= int(value) <= most:
        raise ValueError(f"{name} must be a whole number from {least} to {most:,}, got {shown(value)}.")
    return int(value)


def number(name: str, least: float, most: float, value: Any) -> float:
    """A number from `least` to `most`."""
    good = isinstance(value, Real) and not isinstance(value, bool)
    if not good or not least <= value <= most:  # NaN is in no range
        raise ValueError(f"{name} must be a number from {limit(least)} to {limit(most)}, got {shown(value)}.")
    return float(value)


def point(value: Any) -> tuple[float, float]:
    """A place in the plane, [x, y]."""
    if not isinstance(value, list) or len(value) != 2:
        raise ValueError(f"A place must be [x, y], two numbers, got {shown(value)}.")
    x, y = (number("A coordinate", -1e15, 1e15, part) for part in value)
    return x, y


def _data(value: Any) -> str:
    if not isinstance(value, str) or value not in DATA:
        raise ValueError(f"Data must be one of {', '.join(DATA)}, got {shown(value)}.")
    return value


def _classes(value: Any) -> tuple[int, ...] | None:
    if value is None:
        return None
    if not isinstance(value, list) or not 0 < len(value) <= MOST_CLASSES:
        raise ValueError(f"Classes must be a list of some labels, or null for all, got {shown(value)}.")
    return tuple(sorted({whole("A class", 0, 255, label) for label in value}))


def _speed(value: Any) -> float | None:
    return None if value is None else number("Speed", 0.1, 1e9, value)


def _whole(field: str, name: str, least: int, most: int) -> Known:
    return Known(field, partial(whole, name, least, most))


def _number(field: str, name: str, least: float, most: float) -> Known:
    return Known(field, partial(number, name, least, most))


KNOWN: dict[str, Known] = {
    "data": Known("data", _data),
    "K": _whole("n_neurons", "K (neurons)", 1, MOST_NEURONS),
    "sigma": _number("width", "σ (width)", 1e-30, 1e30),
    "lambda": _number("inhibition", "λ (inhibition)", 0.0, 100.0),
    "eta": _number("learning_rate", "η_μ (learning rate)", 0.0, 1e30),
    "eta_sigma": _number("width_learning_rate", "η_σ (width learning)", 0.0, 1.0),
    "size": _whole("size", "Patch size", 1, MOST_SIZE),
    "noise": _number("noise", "Pixel noise", 0.0, 10.0),
    "sample_width": _number("sample_width", "σ_x (sample width)", 1e-30, 1e30),
    "classes": Known("classes", _classes),
    "seed": _whole("seed", "Seed", 0, np.iinfo(np.uint32).max),
    "speed": Known("speed", _speed),
}
CHANGEABLE = ("K", "sigma", "lambda", "eta", "eta_sigma", "noise", "sample_width", "speed", "classes")
