"""What is taken from the first samples: the domain, the widths, the rate, the starting centers."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gaussian_neurons.learning import native
from gaussian_neurons.settings import Settings
from gaussian_neurons.state import Neurons

Array = NDArray[Any]

RATE = 0.1  # the paper's eta_mu, in units of the width
NEIGHBOURS = 0.2  # an automatic width looks as far as this part of the samples reaches ...
WIDTH_PER_SQUARED_DISTANCE = 2.0  # ... and takes this many times the squared distance
SMALL_WIDTHS = 0.05  # the part of the sample widths that the automatic rate may be too large for


@dataclass
class Ready:
    """Neurons about to learn, and what was found for them."""

    neurons: Neurons
    low: Array  # (D,) corner of the domain
    high: Array  # (D,)
    learning_rate: float  # for learning_rate="auto"


def prepare(
    settings: Settings, first: Array, first_widths: Array | None, random: np.random.Generator
) -> Ready:
    """Place the neurons, filling in whatever the settings leave to the data.

    Parameters
    ----------
    settings : Settings
    first : (n, D), the first samples; their precision is the model's
    first_widths : (n,) or None, their own widths
    random : where randomness comes from
    """
    if settings.domain is not None:
        low, high = settings.domain
    else:
        low, high = first.min(axis=0).astype(np.float64), first.max(axis=0).astype(np.float64)
    widths = settings.width
    if widths is None:
        widths = np.full(settings.n_neurons, automatic_width(first))
    if not isinstance(settings.init, str):
        centers = settings.init
    elif settings.init == "samples":
        centers = first[random.integers(len(first), size=settings.n_neurons)]
    else:
        centers = uniform(low, high, settings.n_neurons, random)
    neurons = neurons_at(centers, widths, first.dtype.type)
    rate = automatic_rate(widths, first_widths if settings.width_learning_rate > 0 else None)
    return Ready(neurons, low, high, rate)


def neurons_at(centers: Array, widths: Array, dtype: type, born: int = 0) -> Neurons:
    """Neurons in the model's precision, or a ValueError where it cannot hold them."""
    with np.errstate(over="ignore", under="ignore"):
        neurons = Neurons.at(centers, widths, dtype, born)
    least, most = float(np.finfo(dtype).tiny), float(np.finfo(dtype).max)
    bad = np.flatnonzero(~((neurons.widths >= least) & (neurons.widths <= most)))
    if len(bad):
        raise ValueError(
            f"a width of {float(widths[bad[0]])!r} is out of the range of {np.dtype(dtype).name}, which the "
            f"samples set. Scale the data, or start the model with float64 samples."
        )
    if not np.isfinite(neurons.centers).all():
        raise ValueError(
            f"starting centers are out of the range of {np.dtype(dtype).name}, which the samples set. "
            f"Scale the data or narrow the domain."
        )
    return neurons


def uniform(low: Array, high: Array, count: int, random: np.random.Generator) -> Array:
    """Centers drawn uniformly from the box, (count, D): the paper's start."""
    part = random.random((count, len(low)))
    return low * (1 - part) + high * part


def automatic_width(samples: Array) -> float:
    """A width that suits a few compact clusters in these samples.

    Twice the squared distance within which a sample finds a fifth of the others: the median over the
    distinct samples. 1 where they are all the same.

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
    ranked = np.sort(native.squared_distances(distinct, distinct), axis=1)
    rank = max(1, int(NEIGHBOURS * len(distinct)))
    width = WIDTH_PER_SQUARED_DISTANCE * float(np.median(ranked[:, rank]))
    return max(width, float(np.finfo(np.float32).tiny))


def automatic_rate(widths: Array, sample_widths: Array | None) -> float:
    """The paper's rate of 0.1 in units of the smallest width that a neuron is likely to take.

    A step is rate / width times a distance: it is stable while rate / width stays well below 1,
    whatever the scale of the data. Where widths are learned they may shrink to those of the samples.
    """
    smallest = float(widths.min())
    if sample_widths is not None and (sample_widths > 0).any():
        smallest = min(smallest, float(np.quantile(sample_widths[sample_widths > 0], SMALL_WIDTHS)))
    return RATE * smallest
