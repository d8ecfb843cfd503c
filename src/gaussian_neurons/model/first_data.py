"""What is taken from the first samples: the domain, the widths, the rates, the starting centers."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gaussian_neurons.base.covariances import SMALLEST_PIVOT, as_type, mean_widths
from gaussian_neurons.learning.eigenvalues import eigenvalues
from gaussian_neurons.learning.responses import checked_scale, squared_distances
from gaussian_neurons.learning.rule import SHARED_RATE
from gaussian_neurons.learning.starts import means, neurons_at, typical_distance, uniform, widths_at
from gaussian_neurons.model.settings import Settings
from gaussian_neurons.model.state import Layer

Array = NDArray[Any]

INHIBITION = 0.5  # the paper's lambda, for a given width
RATE = 0.1  # the paper's eta_mu, in units of the width
NEIGHBOURS = 0.2  # an automatic starting width: the distance within which this part of the samples lies ...
WIDTH_PER_SQUARED_DISTANCE = 2.0  # ... squared, times this
SMALL_WIDTHS = 0.05  # part of the sample widths that are too small for the automatic rate


def domain_of(settings: Settings, first: Array) -> tuple[Array, Array]:
    """The corners of the domain, each (D,): given, or those of the first samples."""
    if settings.domain is not None:
        return settings.domain
    return first.min(axis=0).astype(np.float64), first.max(axis=0).astype(np.float64)


def placed(
    settings: Settings, first: Array, first_widths: Array | None, random: np.random.Generator
) -> Layer:
    """The neurons before the first sample, with everything that the settings leave to the data.

    Parameters
    ----------
    settings : Settings
    first : (n, D), the first samples; their precision is the model's
    first_widths : (n,), (n, D), (n, D, D) or None, their own widths
    random : source of randomness
    """
    if settings.shared:
        centers = _centers(settings, first, random)
        return Layer(neurons_at(centers, widths_at(centers, first), first.dtype.type), 0.0, SHARED_RATE)
    given = settings.width
    if given is None:
        alike = np.full(settings.n_neurons, automatic_width(first))
        given = as_type(alike, settings.covariance_type, first.shape[1])
    neurons = neurons_at(_centers(settings, first, random), given, first.dtype.type)
    rate = automatic_rate(given, first_widths if settings.width_learning_rate > 0 else None)
    return Layer(neurons, INHIBITION, rate)


def _centers(settings: Settings, first: Array, random: np.random.Generator) -> Array:
    """Starting centers, (K, D)."""
    count = settings.n_neurons
    if not isinstance(settings.init, str):
        return settings.init
    if settings.init == "samples":
        return first[random.integers(len(first), size=count)]
    if settings.init == "spread":
        return means(first.astype(np.float64), count, typical_distance(first) or 1.0, random)
    return uniform(*domain_of(settings, first), count, random)


def automatic_width(samples: Array) -> float:
    """A width for a few compact clusters in these samples.

    Twice the squared distance within which a sample has a fifth of the others: the median over the distinct
    samples. 1 if they are all the same.

    Examples
    --------
    It scales as a squared length must:

    >>> samples = np.random.default_rng(0).normal(size=(200, 3))
    >>> bool(np.isclose(automatic_width(samples * 10), 100 * automatic_width(samples)))
    True
    """
    distinct = np.unique(samples.astype(np.float64), axis=0)
    if len(distinct) < 2:
        return 1.0
    with np.errstate(over="ignore"):
        ranked = np.sort(squared_distances(distinct, distinct), axis=1)
    rank = max(1, int(NEIGHBOURS * len(distinct)))
    return WIDTH_PER_SQUARED_DISTANCE * checked_scale(float(np.median(ranked[:, rank])), samples.dtype)


def automatic_rate(widths: Array, sample_widths: Array | None) -> float:
    """The paper's rate of 0.1 in units of the smallest width that a neuron is likely to have.

    A step is rate / width times a distance: it is stable if rate / width is well below 1, at any scale of the
    data. Learned widths can shrink to those of the samples.
    """
    smallest = float(along_shortest_axis(widths).min())
    if sample_widths is not None:
        shortest = along_shortest_axis(sample_widths)
        regular = shortest > SMALLEST_PIVOT * mean_widths(sample_widths)
        if regular.any():
            smallest = min(smallest, float(np.quantile(shortest[regular], SMALL_WIDTHS)))
    return RATE * smallest


def along_shortest_axis(widths: Array) -> Array:
    """The width, or the smallest eigenvalue of each covariance, (n,).

    Examples
    --------
    >>> along_shortest_axis(np.array([[[2.0, 1.0], [1.0, 2.0]]])).round(3)
    array([1.])
    """
    if widths.ndim == 1:
        return widths
    if widths.ndim == 2:
        shortest: Array = widths.min(axis=1)
        return shortest
    return np.array([eigenvalues(one.astype(np.float64))[0] for one in widths])
