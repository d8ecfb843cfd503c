"""A model file: the parameters and the state of a model as arrays and facts, and back."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import fields
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gaussian_neurons.base.checks import one_of
from gaussian_neurons.clustering.diagnosis import Diagnosis
from gaussian_neurons.clustering.ladder import Layer
from gaussian_neurons.clustering.numbering import KINDS, Clusters, Event
from gaussian_neurons.learning.backends import name_of
from gaussian_neurons.learning.neurons import EACH, Neurons
from gaussian_neurons.model import archive
from gaussian_neurons.model.look import Look
from gaussian_neurons.model.recent import Recent, window_for
from gaussian_neurons.model.state import Network, State

Array = NDArray[Any]

FACTS = tuple(field.name for field in fields(Diagnosis))


class Contents(NamedTuple):
    """What a model file holds."""

    arrays: dict[str, Array]
    facts: dict[str, Any]


class Loaded(NamedTuple):
    """What a model file held."""

    parameters: dict[str, Any]
    state: State
    run: dict[str, Any] | None  # of a checkpoint: which run it belongs to, and how far that had come
    digest: str  # of everything but the run: equal for equal models


def contents(parameters: Mapping[str, Any], state: State) -> Contents:
    """The parameters of an estimator and its state."""
    recent = state.recent
    arrays: dict[str, Array] = {"recent": recent.samples, "recent_widths": recent.widths}
    facts: dict[str, Any] = {
        "seed": state.seed,
        "received": recent.received,
        "skipped": state.skipped,
        "additions": state.additions,
        "n_features": recent.n_features,
        "parameters": {},
    }
    for name, value in parameters.items():
        facts["parameters"][name] = _plain(name, value, state.seed, arrays)
    if state.names is not None:
        facts["feature_names"] = [str(name) for name in state.names]
    if state.labels is not None:
        arrays["labels"] = state.labels
    if state.network is not None:
        _put_network(state.network, arrays, facts)
    return Contents(arrays, facts)


def plain_parameters(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters as JSON, to compare: an array by its hash, a random generator and a function by name."""
    arrays: dict[str, Array] = {}
    plain = {name: _plain(name, value, None, arrays) for name, value in parameters.items()}
    return plain | {name: archive.digest({name: array}, {}) for name, array in arrays.items()}


def write(path: str | os.PathLike[str], what: Contents, run: Mapping[str, Any] | None = None) -> None:
    """Write a model file, or with a run, a checkpoint."""
    archive.write(path, what.arrays, what.facts if run is None else {**what.facts, "run": dict(run)})


def load(path: str | os.PathLike[str], known: Iterable[str] | None = None) -> Loaded:
    """Read what `write` wrote; `known` are the names of the parameters that a model has."""
    arrays, facts = archive.read(path)
    try:
        run = _run(facts.pop("run", None))
        parameters = {name: _from_plain(value, arrays) for name, value in facts["parameters"].items()}
        unknown = sorted(set(parameters) - set(parameters if known is None else known))
        if unknown:
            raise ValueError(f"unknown parameters: {', '.join(unknown)}")
        state = _state(arrays, facts)
    except Exception as error:  # whatever a forged file causes
        raise ValueError(
            f"{os.fspath(path)!r} is not a complete model ({error}). Use a file that save() wrote."
        ) from error
    return Loaded(parameters, state, run, archive.digest(arrays, facts))


def _run(run: Any) -> dict[str, Any] | None:
    if run is None:
        return None
    began = {**run["began"], "position": int(run["began"]["position"])}
    found = {"began": began, "taken": int(run["taken"])}
    found |= {name: bool(run[name]) for name in ("called_back", "stopped")}
    if min(began["position"], found["taken"]) < 0 or not {"parameters", "stream", "model"} <= set(began):
        raise ValueError("the run is invalid")
    return found


def _state(arrays: Mapping[str, Array], facts: Mapping[str, Any]) -> State:
    seed, received, skipped, additions, dimensions = (
        int(facts[name]) for name in ("seed", "received", "skipped", "additions", "n_features")
    )
    if min(seed, received, skipped, additions) < 0:
        raise ValueError("a count is negative")
    samples, widths = arrays["recent"], arrays["recent_widths"]
    window = window_for(dimensions)
    _check("the recent samples", samples, (min(received, window), dimensions), (np.float32, np.float64))
    if widths.shape != samples.shape[:1] or widths.dtype != np.float64:
        raise ValueError("the recent widths have the wrong shape or type")
    names = tuple(facts["feature_names"]) if "feature_names" in facts else None
    recent = Recent.restored(samples, widths, received)
    network = _network(arrays, facts, recent) if "layers" in facts else None
    if network is None and received > window:
        raise ValueError("received exceeds the window")
    return State(recent, seed, names, network, skipped, additions, arrays.get("labels"))


# ---- layers, clusters and the last look ---------------------------------------------------------------


def _put_network(network: Network, arrays: dict[str, Array], facts: dict[str, Any]) -> None:
    arrays |= {"low": network.low, "high": network.high}
    for number, layer in enumerate(network.layers):
        arrays |= {f"layer{number}.{name}": getattr(layer.neurons, name) for name in EACH}
    facts["layers"] = [
        {
            "learning_rate": layer.learning_rate,
            "inhibition": layer.inhibition,
            "seen": layer.neurons.seen,
        }
        for layer in network.layers
    ]
    clusters, look = network.clusters, network.look
    arrays["clusters.number"] = clusters.number
    facts["clusters"] = {"layer": clusters.layer, "given": clusters.given}
    for name, events in (("noted", clusters.noted), ("events", clusters.events)):
        facts["clusters"][name] = [[event.samples, event.kind, event.cluster] for event in events]
        places = [event.center for event in events]
        arrays[f"clusters.{name}"] = np.array(places).reshape(len(events), len(network.low))
    facts |= {"is_ladder": network.is_ladder, "cloud": network.cloud}
    arrays |= {f"look.{name}": getattr(look.diagnosis, name) for name in FACTS}
    arrays |= {
        "look.number": look.clusters.number,
        "look.cluster_centers": look.found_then.centers,
        "look.scores": look.scores,
    }


def _network(arrays: Mapping[str, Array], facts: Mapping[str, Any], recent: Recent) -> Network:
    layers = []
    for number, about in enumerate(facts["layers"]):
        each = {name: arrays[f"layer{number}.{name}"] for name in EACH}
        neurons = Neurons(**each, seen=int(about["seen"]))
        layers.append(Layer(neurons, float(about["inhibition"]), float(about["learning_rate"])))
        _check_layer(layers[-1], recent)
    about = facts["clusters"]
    clusters = Clusters(
        arrays["clusters.number"],
        int(about["layer"]),
        int(about["given"]),
        _events(about["noted"], arrays["clusters.noted"]),
        _events(about["events"], arrays["clusters.events"]),
    )
    low, high, is_ladder = arrays["low"], arrays["high"], bool(facts["is_ladder"])
    _check_clusters(clusters, layers, is_ladder, low, high)
    answering = layers[clusters.layer].neurons
    look = _look(arrays, answering, recent, low, high, clusters, is_ladder)
    cloud = None if facts["cloud"] is None else float(facts["cloud"])
    return Network(tuple(layers), low, high, clusters, look, is_ladder, cloud)


def _look(
    arrays: Mapping[str, Array],
    neurons: Neurons,
    recent: Recent,
    low: Array,
    high: Array,
    clusters: Clusters,
    is_ladder: bool,
) -> Look:
    count = len(neurons)
    diagnosis = Diagnosis(**{name: arrays[f"look.{name}"].copy() for name in FACTS})
    for name in FACTS:
        if getattr(diagnosis, name).shape != (count,):
            raise ValueError(f"the {name} of the last look has the wrong shape")
    number, centers, scores = arrays["look.number"], arrays["look.cluster_centers"], arrays["look.scores"]
    if number.shape != (count,) or number.dtype != np.int64 or scores.ndim != 1:
        raise ValueError("the last look has the wrong shape or type")
    look = Look(neurons, recent, low, high, clusters, is_ladder)
    found = Clusters(number, clusters.layer).found(neurons)
    _check("the cluster centers", centers, found.centers.shape, (recent.dtype,))
    known = {"diagnosis": diagnosis, "found_then": found._replace(centers=centers), "scores": scores}
    vars(look).update(known)
    if not is_ladder:
        vars(look)["clusters"] = Clusters(number)
    return look


def _events(facts: list[Any], centers: Array) -> tuple[Event, ...]:
    return tuple(
        Event(int(samples), one_of("kind", kind, KINDS), int(cluster), center)
        for (samples, kind, cluster), center in zip(facts, centers, strict=True)
    )


# ---- parameters ---------------------------------------------------------------------------------------


def _plain(name: str, value: Any, seed: int | None, arrays: dict[str, Array]) -> Any:
    """A parameter as JSON; an array is put into `arrays` under a name."""
    if callable(value) and name == "backend":
        return name_of(value)
    if isinstance(value, np.random.RandomState):
        return seed  # drawn from it: the caller's generator cannot be stored
    if isinstance(value, Real) and not isinstance(value, bool):
        return int(value) if isinstance(value, Integral) else float(value)
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, tuple | list) and name == "domain":
        return [_plain(f"domain.{end}", part, seed, arrays) for end, part in enumerate(value)]
    if isinstance(value, np.ndarray | list | tuple | range) or hasattr(value, "__array__"):
        key = f"parameter.{name}"
        arrays[key] = np.asarray(value, np.float64)
        return {"array": key}
    return value


def _from_plain(value: Any, arrays: Mapping[str, Array]) -> Any:
    if isinstance(value, dict):
        return arrays[value["array"]]
    if isinstance(value, list):
        return tuple(_from_plain(part, arrays) for part in value)
    return value


# ---- checks: arrays that do not match each other, or that no learning could have produced -------------


def _check(name: str, array: Array, shape: tuple[int, ...], dtypes: tuple[Any, ...]) -> None:
    if array.shape != shape or array.dtype not in dtypes or not np.isfinite(array).all():
        raise ValueError(f"{name} have the wrong shape or type, or are not finite")


def _check_layer(layer: Layer, recent: Recent) -> None:
    neurons, dtype = layer.neurons, recent.dtype
    if not all(np.isfinite(rate) and rate >= 0 for rate in (layer.learning_rate, layer.inhibition)):
        raise ValueError("a learning rate or an inhibition is invalid")
    count = len(neurons.centers)
    if not count or neurons.seen != recent.received:
        raise ValueError("the neurons have learned from another number of samples")
    for name, shape in (("centers", (count, recent.n_features)), ("widths", (count,))):
        for array in (getattr(neurons, name), getattr(neurons, _STARTS[name])):
            _check(f"the {name}", array, shape, (dtype,))
    if not (neurons.widths > 0).all() or not (neurons.start_widths > 0).all():
        raise ValueError("a width is not positive")
    if neurons.held.shape != neurons.centers.shape or neurons.held.dtype != dtype:
        raise ValueError("the held centers have the wrong shape or type")
    if neurons.born.shape != (count,) or neurons.born.dtype != np.int64:
        raise ValueError("the births of neurons have the wrong shape or type")


def _check_clusters(
    clusters: Clusters, layers: list[Layer], is_ladder: bool, low: Array, high: Array
) -> None:
    dimensions = layers[0].neurons.centers.shape[1]
    if low.shape != (dimensions,) or high.shape != (dimensions,):
        raise ValueError("the domain has the wrong shape")
    if not 0 <= clusters.layer < len(layers) or (len(layers) > 1) > is_ladder:
        raise ValueError("the layers do not match the clusters")
    count = len(layers[0].neurons)
    if any(len(layer.neurons) != count for layer in layers):
        raise ValueError("the layers have different numbers of neurons")
    number = clusters.number
    if number.shape != (count,) or number.dtype != np.int64:
        raise ValueError("the clusters have the wrong shape or type")
    if not ((number >= -1) & (number < clusters.given)).all():
        raise ValueError("a cluster has a number that was never given")
    for event in (*clusters.noted, *clusters.events):
        if event.center.shape != (dimensions,) or not np.isfinite(event.center).all():
            raise ValueError("the events have the wrong shape, or are not finite")


_STARTS = {"centers": "start", "widths": "start_widths"}
