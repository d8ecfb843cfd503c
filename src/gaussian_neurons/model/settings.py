"""The parameters of a model: checked once, then trusted."""

from dataclasses import dataclass, replace
from functools import lru_cache
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gaussian_neurons.base.checks import (
    checked_centers,
    checked_widths,
    floats,
    number,
    one_of,
    whole_number,
)
from gaussian_neurons.base.covariances import TYPES
from gaussian_neurons.clustering.tree import SHAPES
from gaussian_neurons.learning.backends import Learn, is_function_name, resolved
from gaussian_neurons.model.scaling import KINDS, Scaling

Array = NDArray[np.float64]

INITS = ("uniform", "samples", "spread")
MAX_NEURONS = 1 << 20
MOST_EVERY = 1 << 31  # samples between two repulsions


@dataclass(frozen=True, eq=False)
class Settings:
    """The parameters of `GaussianNeurons`, checked. None stands for "auto"."""

    n_neurons: int  # K
    covariance_type: str  # one of base.covariances.TYPES
    width: Array | None  # (K,) sigma, or covariances (K, D) or (K, D, D)
    inhibition: float | None  # lambda
    learning_rate: float | None  # eta_mu
    width_learning_rate: float  # eta_sigma
    repulsion_every: int  # r
    init: str | Array  # one of INITS, or (K, D)
    domain: tuple[Array, Array] | None  # low and high, each (D,)
    backend: str | Learn
    shape: str  # one of clustering.tree.SHAPES
    n_clusters: int | None
    scale: str | None  # one of model.scaling.KINDS
    memory: int | None  # samples after which an absent cluster is forgotten; None: never

    def same_as(self, other: "Settings") -> bool:
        """Whether every parameter is the same."""
        return self is other or all(
            np.array_equal(value, getattr(other, name)) for name, value in vars(self).items()
        )

    @property
    def shared(self) -> bool:
        """Whether neurons share samples and find their widths themselves."""
        return self.width is None and self.width_learning_rate == 0

    @property
    def needs_first_data(self) -> bool:
        """Whether anything has to be taken from the first samples."""
        return (
            self.width is None
            or self.domain is None
            or self.scale is not None
            or (isinstance(self.init, str) and self.init != "uniform")
            or (self.learning_rate is None and self.width_learning_rate > 0)
        )

    def scaled(self, scaling: Scaling | None) -> "Settings":
        """The same with the starting centers and the domain in scaled columns."""
        if scaling is None:
            return self
        init = self.init if isinstance(self.init, str) else scaling.scaled(self.init, np.float64)
        ends = None if self.domain is None else scaling.scaled(np.array(self.domain), np.float64)
        return replace(self, init=init, domain=None if ends is None else (ends[0], ends[1]))


def checked(
    n_features: int,
    n_neurons: Any,
    covariance_type: Any,
    width: Any,
    inhibition: Any,
    learning_rate: Any,
    width_learning_rate: Any,
    repulsion_every: Any,
    init: Any,
    domain: Any,
    backend: Any,
    shape: Any = "compact",
    n_clusters: Any = "auto",
    scale: Any = None,
    memory: Any = None,
) -> Settings:
    """Settings for samples of `n_features` columns, or a ValueError that says what is wrong."""
    count = whole_number("n_neurons", n_neurons)
    if count > MAX_NEURONS:
        raise ValueError(f"n_neurons must be at most {MAX_NEURONS}, got {count}.")
    kind = one_of("covariance_type", covariance_type, TYPES)
    learns_widths = number("width_learning_rate", width_learning_rate, least=0.0, most=1.0)
    if kind != "spherical" and isinstance(width, str) and learns_widths == 0:
        raise ValueError(
            f"covariance_type={kind!r} needs a width, or samples with covariances of their own "
            f"(width_learning_rate above 0): an automatic width is a number. Give width=..., or leave "
            f"covariance_type at 'spherical'."
        )
    shared = isinstance(width, str) and learns_widths == 0
    if isinstance(init, str) and init == "auto":
        init = "spread" if isinstance(width, str) and learns_widths == 0 else "uniform"
    return Settings(
        n_neurons=count,
        covariance_type=kind,
        width=None if _is_auto("width", width) else checked_widths(width, count, kind, n_features),
        inhibition=_checked_inhibition(inhibition, shared),
        learning_rate=_checked_rate(learning_rate, shared),
        width_learning_rate=learns_widths,
        repulsion_every=_checked_every(repulsion_every, shared),
        init=_checked_init(init, count, n_features),
        domain=None if domain is None else _checked_domain(domain, n_features),
        backend=_checked_backend(backend),
        shape=one_of("shape", shape, SHAPES),
        n_clusters=_checked_clusters(n_clusters, count),
        scale=_checked_scale(scale, learns_widths),
        memory=None if memory is None else whole_number("memory", memory),
    )


checked_before = lru_cache(maxsize=64, typed=True)(checked)  # for parameters that can be hashed


def checked_draws(max_samples: Any) -> int | None:
    """How many samples `fit` draws, None for "auto"."""
    if isinstance(max_samples, str) and max_samples != "auto":
        raise ValueError(f"max_samples must be a whole number or 'auto', got {max_samples!r}.")
    return None if isinstance(max_samples, str) else whole_number("max_samples", max_samples)


def _checked_clusters(value: Any, n_neurons: int) -> int | None:
    if _is_auto("n_clusters", value):
        return None
    count = whole_number("n_clusters", value)
    if count > n_neurons:
        raise ValueError(f"n_clusters must be at most n_neurons={n_neurons}, got {count}.")
    return count


def _number_or_auto(name: str, value: Any) -> float | None:
    return None if _is_auto(name, value) else number(name, value, least=0.0)


def _checked_inhibition(value: Any, shared: bool) -> float | None:
    found = _number_or_auto("inhibition", value)
    if shared and found is not None:
        raise ValueError(_no_repulsion("inhibition", value, "'auto'"))
    return found


def _no_repulsion(name: str, value: Any, default: str) -> str:
    return (
        f"{name}={value!r} needs a width: neurons with an automatic width compete for samples and do not "
        f"repel each other. Leave {name} at {default}, or give width=...."
    )


def _checked_rate(value: Any, shared: bool) -> float | None:
    found = _number_or_auto("learning_rate", value)
    if shared and found is not None and found > 1:
        raise ValueError(
            f"learning_rate must be at most 1 with an automatic width, got {value!r}: it is the part of the "
            f"way that a neuron goes to a sample of its own."
        )
    return found


def _checked_backend(backend: Any) -> str | Learn:
    if not is_function_name(backend):  # of a model that was loaded: it answers, but does not learn
        resolved(backend)
    chosen: str | Learn = backend
    return chosen


def _is_auto(name: str, value: Any) -> bool:
    if isinstance(value, str) and value != "auto":
        raise ValueError(f"{name} must be a number or 'auto', got {value!r}.")
    return isinstance(value, str)


def _checked_scale(value: Any, learns_widths: float) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str) or value not in KINDS:
        raise ValueError(f"scale must be None or one of {', '.join(map(repr, KINDS))}, got {value!r}.")
    if learns_widths > 0:
        raise ValueError(
            f"scale={value!r} cannot be used if widths are learned (width_learning_rate above 0): the widths "
            f"of samples are in the units of the data. Leave scale at None, and scale both before."
        )
    return value


def _checked_every(value: Any, shared: bool) -> int:
    whole = isinstance(value, Integral) and not isinstance(value, bool | np.bool_)
    if not whole or not 1 <= value < MOST_EVERY:
        raise ValueError(
            f"repulsion_every must be a whole number from 1 to {MOST_EVERY - 1}, got {value!r}. "
            f"Neurons repel each other at every r-th sample; leave it at 1 for the exact rule."
        )
    if shared and value > 1:
        raise ValueError(_no_repulsion("repulsion_every", value, "1"))
    return int(value)


def _checked_init(init: Any, count: int, n_features: int) -> str | Array:
    if isinstance(init, str):
        if init not in INITS:
            raise ValueError(
                f"init must be 'auto', one of {', '.join(map(repr, INITS))} or an array "
                f"(n_neurons, n_features), got {init!r}."
            )
        return init
    return checked_centers("init", init, count, n_features).copy()  # the caller may change it


def _checked_domain(domain: Any, n_features: int) -> tuple[Array, Array]:
    expected = "domain must be a pair (low, high) of numbers, or of one number for each column"
    try:
        low, high = domain
    except (TypeError, ValueError):
        raise ValueError(f"{expected}; got {domain!r}.") from None
    ends = []
    for end in (low, high):
        values = floats("domain", end, "a pair (low, high) of numbers")
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
