"""The state of a model: one value that holds everything it has learned. Learning makes a new one."""

import math
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gaussian_neurons.clustering.numbering import Clusters, Event, Found
from gaussian_neurons.learning.neurons import Neurons
from gaussian_neurons.model.look import Look
from gaussian_neurons.model.recent import Recent
from gaussian_neurons.model.scaling import Scaling
from gaussian_neurons.model.settings import Settings

Array = NDArray[Any]


class Layer(NamedTuple):
    """Neurons, and what "auto" stands for in their rule."""

    neurons: Neurons
    inhibition: float  # for inhibition="auto"
    learning_rate: float  # for learning_rate="auto"
    reach: float = math.inf  # if neurons share samples: largest |x - mu|^2 / sigma from which they learn


@dataclass(frozen=True, eq=False)
class Network:
    """The neurons of a model and what was found about them."""

    layer: Layer
    low: Array  # (D,) corner of the domain
    high: Array  # (D,)
    clusters: Clusters  # as they were reviewed last
    look: Look
    shared: bool = False  # neurons share samples: the width is automatic

    @property
    def neurons(self) -> Neurons:
        """Its neurons."""
        return self.layer.neurons

    @property
    def scaling(self) -> Scaling | None:
        """The columns that its numbers are in; None: the data's."""
        return self.look.recent.scaling

    @property
    def found(self) -> Found:
        """The clusters where they are now."""
        return self.look.found(self.neurons)

    def undone(self, places: Array) -> Array:
        """Its places, (..., D), in the units of the data."""
        return places if self.scaling is None else self.scaling.undone(places)

    def with_neurons(self, neurons: Neurons) -> "Network":
        """The same with other neurons."""
        layer = self.layer._replace(neurons=neurons)
        return Network(layer, self.low, self.high, self.clusters, self.look, self.shared)

    def with_look(self, recent: Recent) -> "Network":
        """The same with a look at the neurons as they are now."""
        look = Look(self.neurons, recent, self.low, self.high, self.clusters, self.shared)
        return replace(self, look=look)

    def rescaled(self, recent: Recent) -> "Network":
        """The same in the scaled columns of `recent`. Given widths stay: they are those of scaled columns."""
        old, new, neurons = self.scaling, recent.scaling, self.neurons
        assert old is not None
        assert new is not None

        def moved(events: tuple[Event, ...]) -> tuple[Event, ...]:
            return tuple(event._replace(center=old.places_in(new, event.center)) for event in events)

        arrays: dict[str, Any] = {
            name: old.places_in(new, getattr(neurons, name)) for name in ("centers", "start", "held")
        }
        if self.shared:
            arrays |= {
                name: old.widths_in(new, getattr(neurons, name))
                for name in ("widths", "start_widths", "held_widths")
            }
        clusters = self.clusters
        return replace(
            self,
            layer=self.layer._replace(neurons=replace(neurons, **arrays)),
            low=old.places_in(new, self.low),
            high=old.places_in(new, self.high),
            clusters=replace(clusters, noted=moved(clusters.noted), events=moved(clusters.events)),
        ).with_look(recent)

    def exchanged(self, neurons: Neurons, which: NDArray[np.int64], recent: Recent) -> "Network":
        """The same with other neurons; `which` is the old index of each, or -1."""
        layer, clusters = self.layer._replace(neurons=neurons), self.clusters.of_neurons(which)
        return replace(self, layer=layer, clusters=clusters).with_look(recent)


@dataclass
class Early:
    """What all states of a stream have in common, and no file contains."""

    answer: tuple[int, Settings, Network] | None = None  # while the first data is incomplete, for n samples
    told: set[str] = field(default_factory=set)  # kinds of advice that were given


@dataclass(frozen=True, eq=False)
class State:
    """Everything that a model has learned.

    Until the first `window` samples are there, whatever has to be taken from the first data is unknown: they
    are kept and, once complete, learned from in their order. So the result does not depend on how the stream
    was cut into calls.
    """

    recent: Recent
    seed: int
    names: tuple[str, ...] | None = None  # of the columns
    network: Network | None = None  # None while the first data is incomplete
    skipped: int = 0  # rows of streams that were skipped
    additions: int = 0  # calls of `add`, each with other random numbers
    labels: NDArray[np.int64] | None = None  # of the rows given to fit
    early: Early = field(default_factory=Early)

    @property
    def received(self) -> int:
        """Samples learned from, or kept until the first data is complete."""
        return self.recent.received
