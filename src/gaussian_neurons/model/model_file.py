"""A learner and its parameters, as the arrays and facts of a model file, and back."""

import os
from collections.abc import Mapping
from dataclasses import fields
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gaussian_neurons.base.checks import one_of
from gaussian_neurons.clustering.ladder import Layer
from gaussian_neurons.clustering.numbering import KINDS, Clusters, Event
from gaussian_neurons.learning.neurons import Neurons
from gaussian_neurons.model import archive
from gaussian_neurons.model.first_data import INHIBITION, Ready
from gaussian_neurons.model.learner import Learner, window_for

Array = NDArray[Any]

LATER = {"repulsion_every": 1}  # parameters that older files do not know, as they were then


class Contents(NamedTuple):
    """What a model file holds."""

    arrays: dict[str, Array]
    facts: dict[str, Any]


class Loaded(NamedTuple):
    """What a model file held."""

    parameters: dict[str, Any]
    learner: Learner
    attributes: dict[str, Any]
    run: dict[str, Any] | None  # of a checkpoint: which run it belongs to, and how far that had come
    digest: str  # of everything but the run: equal for equal models


def contents(parameters: Mapping[str, Any], learner: Learner, attributes: Mapping[str, Any]) -> Contents:
    """The parameters of an estimator, its learner and what else it was fitted with."""
    arrays: dict[str, Array] = {"recent": learner.recent, "recent_widths": learner.recent_widths}
    facts: dict[str, Any] = {
        "seed": learner.seed,
        "received": learner.received,
        "skipped": learner.skipped,
        "additions": learner.additions,
        "n_features": learner.recent.shape[1],
        "parameters": {},
    }
    for name, value in parameters.items():
        facts["parameters"][name] = _plain(name, value, learner.seed, arrays)
    if learner.ready is not None:
        _put(learner.ready, arrays, facts)
    if "feature_names_in_" in attributes:
        facts["feature_names"] = [str(name) for name in attributes["feature_names_in_"]]
    if attributes["_labels"] is not None:
        arrays["labels"] = attributes["_labels"]
    return Contents(arrays, facts)


def plain_parameters(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters as JSON has them, to compare: an array by its hash, a generator by its kind."""
    arrays: dict[str, Array] = {}
    plain = {name: _plain(name, value, None, arrays) for name, value in parameters.items()}
    return plain | {name: archive.digest({name: array}, {}) for name, array in arrays.items()}


def write(path: str | os.PathLike[str], what: Contents, run: Mapping[str, Any] | None = None) -> None:
    """Write a model file, or with a run, a checkpoint."""
    archive.write(path, what.arrays, what.facts if run is None else {**what.facts, "run": dict(run)})


def load(path: str | os.PathLike[str]) -> Loaded:
    """Read what `write` wrote."""
    arrays, facts = archive.read(path)
    try:
        facts["parameters"] = LATER | facts["parameters"]
        parameters = {name: _from_plain(value, arrays) for name, value in facts["parameters"].items()}
        run = facts.pop("run", None)
        if run is not None:
            began = {**run["began"], "position": int(run["began"]["position"])}
            began["parameters"] = LATER | began["parameters"]
            flags = {name: bool(run[name]) for name in ("told", "stopped")}
            run = {"began": began, "taken": int(run["taken"]), **flags}
            if min(began["position"], run["taken"]) < 0 or not {"stream", "model"} <= set(began):
                raise ValueError("the run is not one")
        learner = Learner(
            recent=arrays["recent"],
            recent_widths=arrays["recent_widths"],
            seed=int(facts["seed"]),
            received=int(facts["received"]),
            additions=int(facts["additions"]),
            skipped=int(facts.get("skipped", 0)),
        )
        if "neurons.centers" in arrays:
            learner.ready = _taken(arrays, facts)
        dimensions = int(facts["n_features"])
        attributes: dict[str, Any] = {"n_features_in_": dimensions, "_labels": arrays.get("labels")}
        if "feature_names" in facts:
            attributes["feature_names_in_"] = np.array(facts["feature_names"], dtype=object)
        _check(learner, dimensions)
    except Exception as error:  # whatever a forged file brings about
        raise ValueError(
            f"{os.fspath(path)!r} is not a complete model ({error}). Use a file that save() wrote."
        ) from error
    return Loaded(parameters, learner, attributes, run, archive.digest(arrays, facts))


def _put(ready: Ready, arrays: dict[str, Array], facts: dict[str, Any]) -> None:
    """Layers and clusters. The first layer has the names it had before there were others."""
    arrays |= {"low": ready.low, "high": ready.high}
    for number, layer in enumerate(ready.layers):
        arrays |= {_of(number, field.name): getattr(layer.neurons, field.name) for field in fields(Neurons)}
    first, *others = ready.layers
    facts |= {"learning_rate": first.learning_rate, "inhibition": first.inhibition}
    facts["layers"] = [[layer.learning_rate, layer.inhibition] for layer in others]
    clusters = ready.clusters
    arrays["clusters.number"] = clusters.number
    facts["clusters"] = {"layer": clusters.layer, "given": clusters.given, "ladder": ready.is_ladder}
    facts["clusters"]["cloud"] = ready.cloud
    for name, events in (("noted", clusters.noted), ("events", clusters.events)):
        facts["clusters"][name] = [[event.samples, event.kind, event.cluster] for event in events]
        places = [event.center for event in events]
        arrays[f"clusters.{name}"] = np.array(places).reshape(len(events), ready.neurons.centers.shape[1])


def _taken(arrays: Mapping[str, Array], facts: Mapping[str, Any]) -> Ready:
    """The same, back; a file from before there were clusters has none."""
    rates = [[facts["learning_rate"], facts.get("inhibition", INHIBITION)], *facts.get("layers", [])]
    layers = []
    for number, (rate, inhibition) in enumerate(rates):
        neurons = Neurons(*(arrays[_of(number, field.name)] for field in fields(Neurons)))
        layers.append(Layer(neurons, float(inhibition), float(rate)))
    ready = Ready(layers, arrays["low"], arrays["high"], Clusters.none(len(layers[0].neurons)))
    if "clusters" in facts:
        about = facts["clusters"]
        ready.is_ladder = bool(about["ladder"])
        ready.cloud = None if about["cloud"] is None else float(about["cloud"])
        ready.clusters = Clusters(
            arrays["clusters.number"],
            int(about["layer"]),
            int(about["given"]),
            _events(about["noted"], arrays["clusters.noted"]),
            _events(about["events"], arrays["clusters.events"]),
        )
    return ready


def _events(facts: list[Any], centers: Array) -> tuple[Event, ...]:
    return tuple(
        Event(int(samples), one_of("kind", kind, KINDS), int(cluster), center)
        for (samples, kind, cluster), center in zip(facts, centers, strict=True)
    )


def _of(layer: int, name: str) -> str:
    return f"neurons.{name}" if layer == 0 else f"layer{layer}.{name}"


def _plain(name: str, value: Any, seed: int | None, arrays: dict[str, Array]) -> Any:
    """A parameter as JSON has it; an array is put aside under a name of its own."""
    if isinstance(value, np.random.RandomState):
        return seed  # what was drawn from it: a generator of the caller's own cannot be kept
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


def _check(learner: Learner, dimensions: int) -> None:
    """Refuse arrays that do not fit each other or could not have come from learning."""
    window = window_for(dimensions)
    dtype = learner.recent.dtype
    if dtype not in (np.float32, np.float64) or learner.recent.shape != (window, dimensions):
        raise ValueError("the recent samples have the wrong shape or type")
    if learner.recent_widths.shape != (window,) or not np.isfinite(learner.samples).all():
        raise ValueError("the recent samples or widths are not what they were")
    if min(learner.received, learner.seed, learner.additions, learner.skipped) < 0:
        raise ValueError("a count is negative")
    if learner.ready is None:
        if learner.received > window:
            raise ValueError("more samples wait than can wait")
        return
    for layer in learner.ready.layers:
        _check_layer(layer, dtype, dimensions)
    _check_clusters(learner.ready, dimensions)


def _check_layer(layer: Layer, dtype: Any, dimensions: int) -> None:
    neurons = layer.neurons
    rates = (layer.learning_rate, layer.inhibition)
    if not all(np.isfinite(rate) and rate >= 0 for rate in rates):
        raise ValueError("the learning rate is not valid")
    count = len(neurons.centers)
    for field, shape in (("centers", (count, dimensions)), ("widths", (count,))):
        for array in (getattr(neurons, field), getattr(neurons, _STARTS[field])):
            if array.shape != shape or array.dtype != dtype or not np.isfinite(array).all() or not count:
                raise ValueError(f"the {field} have the wrong shape or type, or are not finite")
    if not (neurons.widths > 0).all() or not (neurons.start_widths > 0).all():
        raise ValueError("a width is not positive")
    if neurons.seen.shape != (1,) or neurons.seen.dtype != np.int64:
        raise ValueError("the count of samples is missing")
    if neurons.held.shape != (count, dimensions) or neurons.held.dtype != dtype:
        raise ValueError("what is remembered has the wrong shape or type")
    if neurons.born.shape != (count,) or neurons.born.dtype != np.int64:
        raise ValueError("the neurons' ages have the wrong shape or type")


def _check_clusters(ready: Ready, dimensions: int) -> None:
    if ready.low.shape != (dimensions,) or ready.high.shape != (dimensions,):
        raise ValueError("the domain has the wrong shape")
    clusters = ready.clusters
    if not 0 <= clusters.layer < len(ready.layers) or (len(ready.layers) > 1) > ready.is_ladder:
        raise ValueError("the layers are not what they were")
    first = ready.layers[0].neurons
    if any(len(layer.neurons) != len(first) or layer.neurons.seen != first.seen for layer in ready.layers):
        raise ValueError("the layers do not fit each other")
    number = clusters.number
    if number.shape != (len(first),) or number.dtype != np.int64:
        raise ValueError("the clusters have the wrong shape or type")
    if not ((number >= -1) & (number < clusters.given)).all():
        raise ValueError("a cluster has a number that was never given")
    for event in (*clusters.noted, *clusters.events):
        if event.center.shape != (dimensions,) or not np.isfinite(event.center).all():
            raise ValueError("the events have the wrong shape, or are not finite")


_STARTS = {"centers": "start", "widths": "start_widths"}
