"""What is taken from the first samples: the domain, the widths, the rates, the starting centers."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gaussian_neurons.clustering import ladder
from gaussian_neurons.clustering.ladder import Layer
from gaussian_neurons.clustering.numbering import Clusters
from gaussian_neurons.learning import native
from gaussian_neurons.learning.neurons import Neurons
from gaussian_neurons.learning.starts import means, neurons_at, uniform
from gaussian_neurons.model.settings import Settings

Array = NDArray[Any]

INHIBITION = 0.5  # the paper's lambda, where a width is given
RATE = 0.1  # the paper's eta_mu, in units of the width
NEIGHBOURS = 0.2  # an automatic width looks as far as this part of the samples reaches ...
WIDTH_PER_SQUARED_DISTANCE = 2.0  # ... and takes this many times the squared distance
SMALL_WIDTHS = 0.05  # the part of the sample widths that the automatic rate may be too large for


@dataclass
class Ready:
    """Layers about to learn, and what was found for them."""

    layers: list[Layer]  # one, or a ladder of widths
    low: Array  # (D,) corner of the domain
    high: Array  # (D,)
    clusters: Clusters
    is_ladder: bool = False
    cloud: float | None = None  # the silhouette of a cloud without structure, see `ladder.choose`

    @property
    def layer(self) -> Layer:
        """The one that answers."""
        return self.layers[self.clusters.layer]

    @property
    def neurons(self) -> Neurons:
        """Its neurons."""
        return self.layer.neurons

    def copy(self) -> "Ready":
        """The same, sharing nothing that changes."""
        return replace(self, layers=[layer.copy() for layer in self.layers])

    def exchanged(self, neurons: Neurons, which: NDArray[np.int64]) -> "Ready":
        """The layer that answers alone, with other neurons; `which` says what number each had, or -1."""
        layers, clusters = [replace(self.layer, neurons=neurons)], self.clusters.of_neurons(which)
        return replace(self, layers=layers, clusters=replace(clusters, layer=0), is_ladder=False)


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
    none = Clusters.none(settings.n_neurons)
    if settings.is_ladder:
        widths = ladder.widths_for(first)
        placed = [_centers(settings, first, low, high, random) for _ in widths]
        layers = [ladder.layer_at(*both, first) for both in zip(placed, widths.tolist(), strict=True)]
        return Ready(layers, low, high, none, is_ladder=True)
    given = settings.width
    if given is None:
        given = np.full(settings.n_neurons, automatic_width(first))
    neurons = neurons_at(_centers(settings, first, low, high, random), given, first.dtype.type)
    rate = automatic_rate(given, first_widths if settings.width_learning_rate > 0 else None)
    return Ready([Layer(neurons, INHIBITION, rate)], low, high, none)


def _centers(settings: Settings, first: Array, low: Array, high: Array, random: np.random.Generator) -> Array:
    """Starting centers, (K, D)."""
    count = settings.n_neurons
    if not isinstance(settings.init, str):
        return settings.init
    if settings.init == "samples":
        return first[random.integers(len(first), size=count)]
    if settings.init == "spread":
        return means(first.astype(np.float64), count, ladder.typical_distance(first) or 1.0, random)
    return uniform(low, high, count, random)


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
