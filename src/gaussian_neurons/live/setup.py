"""The settings of a run, checked and bounded, with their names in links and messages."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from reprlib import repr as short
from typing import Any

import numpy as np

from gaussian_neurons.base.checks import number, one_of, whole_number
from gaussian_neurons.base.covariances import TYPES
from gaussian_neurons.clustering.tree import SHAPES

DATA = ("mnist-sample", "mnist", "cifar10", "photographs", "mixture", "one-sample", "file")
MAX_NEURONS = 400
MAX_PATCH_SIZE = 28  # pixels along a side
MAX_CLASSES = 1000
WIDTH_RATE = 0.1  # eta_sigma of Figure 5, for neurons with covariances


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
            raise ValueError(f"Settings must be an object with names and values, got {short(values)}.")
        unknown = [name for name in values if name not in SETTINGS]
        if unknown:
            raise ValueError(f"Unknown setting {short(unknown[0])}. Known: {', '.join(SETTINGS)}.")
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


def position(value: Any) -> tuple[float, float]:
    """Check a position in the plane, [x, y]."""
    if not isinstance(value, list) or len(value) != 2:
        raise ValueError(f"A position must be [x, y], two numbers, got {short(value)}.")
    x, y = (number("A coordinate", part, -1e15, 1e15) for part in value)
    return x, y


def optional(check: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The check of a value that may be null."""
    return lambda value: None if value is None else check(value)


def _classes(value: Any) -> tuple[int, ...]:
    if not isinstance(value, list) or not 0 < len(value) <= MAX_CLASSES:
        raise ValueError(
            f"Classes must be a list of 1 to {MAX_CLASSES} labels, or null for all classes, "
            f"got {short(value)}."
        )
    return tuple(sorted({whole_number("A class", label, 0, 255) for label in value}))


def checked(check: Callable[..., Any], name: str, *limits: Any) -> Callable[[Any], Any]:
    """The check of a value by a function of `base.checks`, with these limits."""
    return lambda value: check(name, value, *limits)


SETTINGS: dict[str, tuple[str, Callable[[Any], Any]]] = {  # field in `Setup`, function that checks a value
    "data": ("data", checked(one_of, "Data", DATA)),
    "K": ("n_neurons", checked(whole_number, "K (neurons)", 1, MAX_NEURONS)),
    "sigma": ("width", checked(number, "σ (width)", 1e-30, 1e30)),
    "lambda": ("inhibition", checked(number, "λ (inhibition)", 0.0, 100.0)),
    "eta": ("learning_rate", checked(number, "η_μ (learning rate)", 0.0, 1e30)),
    "eta_sigma": ("width_learning_rate", checked(number, "η_σ (width learning rate)", 0.0, 1.0)),
    "size": ("size", checked(whole_number, "Patch size", 1, MAX_PATCH_SIZE)),
    "noise": ("noise", checked(number, "Pixel noise", 0.0, 10.0)),
    "sample_width": ("sample_width", checked(number, "σ_x (sample width)", 1e-30, 1e30)),
    "classes": ("classes", optional(_classes)),
    "seed": ("seed", checked(whole_number, "Seed", 0, np.iinfo(np.uint32).max)),
    "speed": ("speed", optional(checked(number, "Speed", 0.1, 1e9))),
    "covariance_type": ("covariance_type", checked(one_of, "Covariance type", TYPES)),
    "clusters": ("clusters", optional(checked(one_of, "Clusters", SHAPES))),
}
CHANGEABLE = ("K", "sigma", "lambda", "eta", "eta_sigma", "noise", "sample_width", "speed", "classes")
