"""A model file: the parameters and the state of a model as arrays and facts, and back."""

import inspect
import math
import os
from collections.abc import Mapping
from dataclasses import fields
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from gaussian_neurons.base.bad_rows import finite_rows
from gaussian_neurons.base.checks import one_of
from gaussian_neurons.base.covariances import TYPES, flat, is_regular, is_symmetric, shape_of, variances
from gaussian_neurons.base.memory_maps import FLOATS
from gaussian_neurons.clustering.diagnosis import Diagnosis
from gaussian_neurons.clustering.numbering import EVENTS, KINDS, MOVING, RESTING, Clusters, Event
from gaussian_neurons.learning.backends import name_of
from gaussian_neurons.learning.neurons import EACH, Neurons
from gaussian_neurons.model import archive
from gaussian_neurons.model.look import Look
from gaussian_neurons.model.recent import Recent, window_for
from gaussian_neurons.model.scaling import KINDS as SCALES
from gaussian_neurons.model.scaling import LEAST, Scaling
from gaussian_neurons.model.settings import checked, checked_draws
from gaussian_neurons.model.state import Layer, Network, State
from gaussian_neurons.sampling.stream import MOST_SAMPLES

Array = NDArray[Any]

FACTS = tuple(field.name for field in fields(Diagnosis))
FACT_TYPES = {"remembered": (np.bool_,), "learned": (np.bool_,), "twin_of": (np.int64,)}  # others are floats
MAX_COUNT = 1 << 55  # samples, numbers of clusters, calls of `add`: `learner.random_for` has 56 bits for them
LONGEST_REASON = 200  # characters
SEEDS = 1 << 32


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
    """The parameters of an estimator and its state; a ValueError names an invalid parameter."""
    recent = state.recent
    _check_parameters(parameters, recent.n_features)
    arrays: dict[str, Array] = {"recent": recent.raw, "recent_widths": recent.widths}
    facts: dict[str, Any] = {
        "seed": state.seed,
        "received": recent.received,
        "skipped": state.skipped,
        "additions": state.additions,
        "n_features": recent.n_features,
        "covariance_type": recent.covariance_type,
        "parameters": {},
    }
    for name, value in parameters.items():
        facts["parameters"][name] = _plain(name, value, state.seed, arrays)
    if recent.scaling is not None:
        facts["scaling"] = recent.scaling.kind
        arrays |= {"scaling.location": recent.scaling.location, "scaling.scale": recent.scaling.scale}
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


def load(path: str | os.PathLike[str], defaults: Mapping[str, Any] | None = None) -> Loaded:
    """Read what `write` wrote.

    `defaults` are the parameters that a model has: a file of an older version may lack some of them.
    """
    return _loaded(*archive.read(path), defaults, repr(os.fspath(path)))


def packed(what: Contents) -> bytes:
    """A model file in memory."""
    return archive.packed(what.arrays, what.facts)


def unpacked(data: bytes, defaults: Mapping[str, Any], name: str) -> Loaded:
    """Read what `packed` gave; messages call it by the name."""
    return _loaded(*archive.unpacked(data, name), defaults, name)


def _loaded(
    arrays: dict[str, Array], facts: dict[str, Any], defaults: Mapping[str, Any] | None, name: str
) -> Loaded:
    try:
        run = _run(facts.pop("run", None))
        parameters = {name: _from_plain(value, arrays) for name, value in facts["parameters"].items()}
        unknown = sorted(set(parameters) - set(parameters if defaults is None else defaults))
        if unknown:
            raise ValueError(f"unknown parameters: {', '.join(unknown)}")
        state = _state(arrays, facts)
        _check_parameters({**(defaults or {}), **parameters}, state.recent.n_features)
    except Exception as error:  # whatever a forged file causes
        raise ValueError(
            f"{name} is not a complete model ({error}). Use a file that save() wrote."
        ) from error
    return Loaded(parameters, state, run, archive.digest(arrays, facts))


def _run(run: Any) -> dict[str, Any] | None:
    if run is None:
        return None
    began = dict(run["began"])
    for of, name in ((began, "position"), (run, "taken")):
        _whole(f"the {name} of the run", of[name], MOST_SAMPLES)
    _require({"parameters", "stream", "model"} <= set(began), "the run is invalid")
    return {
        "began": began,
        "taken": run["taken"],
        "called_back": bool(run["called_back"]),
        "stopped": bool(run["stopped"]),
        "source": run.get("source"),
    }


def _state(arrays: Mapping[str, Array], facts: Mapping[str, Any]) -> State:
    received, skipped, additions, dimensions = (
        _whole(name, facts[name], MAX_COUNT) for name in ("received", "skipped", "additions", "n_features")
    )
    seed = _whole("seed", facts["seed"], SEEDS)
    samples, widths = arrays["recent"], arrays["recent_widths"]
    each = shape_of(one_of("type of covariances", facts["covariance_type"], TYPES), dimensions)
    window = window_for(dimensions, each)
    _check("the recent samples", samples, (min(received, window), dimensions), FLOATS)
    fits = widths.shape == (len(samples), *each) and widths.dtype == np.float64
    _require(fits, "the recent widths have the wrong shape or type")
    known = ~np.isnan(flat(widths)).all(axis=1)
    good = finite_rows(samples[known], samples.dtype, widths[known])
    _require(bool(good.all()), "a recent width is invalid")
    names = facts.get("feature_names")
    _require(
        names is None
        or (len(set(names)) == len(names) == dimensions and all(isinstance(name, str) for name in names)),
        "the names of the columns are invalid",
    )
    scaling = _scaling(arrays, facts, dimensions) if "scaling" in facts else None
    recent = Recent.restored(samples, widths, received, scaling)
    network = _network(arrays, facts, recent) if "layer" in facts else None
    _require(network is not None or scaling is None, "columns are scaled, but there are no neurons")
    _require(network is not None or received <= window, "received exceeds the window")
    labels = arrays.get("labels")
    if labels is not None:
        _require(network is not None and labels.ndim == 1, "the labels have the wrong shape")
        _check_numbers("labels", labels, labels.shape, facts["clusters"]["given"])
    return State(recent, seed, None if names is None else tuple(names), network, skipped, additions, labels)


def _scaling(arrays: Mapping[str, Array], facts: Mapping[str, Any], dimensions: int) -> Scaling:
    location, scale = arrays["scaling.location"], arrays["scaling.scale"]
    for name, array in (("locations", location), ("scales", scale)):
        _check(f"the {name} of the columns", array, (dimensions,), (np.dtype(np.float64),))
    _require(bool((scale >= LEAST).all()), "the scale of a column is not positive")
    return Scaling(one_of("kind of scale", facts["scaling"], SCALES), location, scale)


# ---- layers, clusters and the last look ---------------------------------------------------------------


def _put_network(network: Network, arrays: dict[str, Array], facts: dict[str, Any]) -> None:
    arrays |= {"low": network.low, "high": network.high}
    layer = network.layer
    arrays |= {f"neurons.{name}": getattr(layer.neurons, name) for name in EACH}
    facts["layer"] = {
        "learning_rate": layer.learning_rate,
        "inhibition": layer.inhibition,
        "reach": None if math.isinf(layer.reach) else layer.reach,
        "seen": layer.neurons.seen,
    }
    clusters, look = network.clusters, network.look
    arrays["clusters.number"] = clusters.number
    if clusters.group is not None:
        arrays["clusters.group"] = clusters.group
    facts["clusters"] = {"given": clusters.given}
    for name, events in (("noted", clusters.noted), ("events", clusters.events)):
        facts["clusters"][name] = [[*event[:3], *event[4:]] for event in events]
        places = [event.center for event in events]
        arrays[f"clusters.{name}"] = np.array(places).reshape(len(events), len(network.low))
    facts["shared"] = network.shared
    arrays |= {f"look.{name}": getattr(look.diagnosis, name) for name in FACTS}
    arrays |= {
        "look.number": look.clusters.number,
        "look.cluster_centers": look.found_then.centers,
        "look.scores": look.scores,
    }


def _network(arrays: Mapping[str, Array], facts: Mapping[str, Any], recent: Recent) -> Network:
    about = facts["layer"]
    each = {name: arrays[f"neurons.{name}"] for name in EACH}
    neurons = Neurons(**each, seen=_whole("seen", about["seen"], MAX_COUNT))
    reach = math.inf if about["reach"] is None else float(about["reach"])
    layer = Layer(neurons, float(about["inhibition"]), float(about["learning_rate"]), reach)
    _check_layer(layer, recent, bool(facts["shared"]))
    about = facts["clusters"]
    given = _whole("given", about["given"], MAX_COUNT)
    noted, events = (
        _events(about[name], arrays[f"clusters.{name}"], given, recent) for name in ("noted", "events")
    )
    clusters = Clusters(arrays["clusters.number"], given, noted, events, arrays.get("clusters.group"))
    if clusters.group is not None:
        _check_numbers("groups", clusters.group, (len(neurons),), RESTING + given)
    low, high, shared = arrays["low"], arrays["high"], bool(facts["shared"])
    _require(not shared or recent.covariance_type == "spherical", "an automatic width is not a covariance")
    _check_numbers("clusters", clusters.number, (len(neurons),), clusters.given)
    for end in (low, high):
        _check("the corners of the domain", end, (recent.n_features,), FLOATS)
    _require(bool((low <= high).all()), "the domain is empty")
    look = _look(arrays, neurons, recent, low, high, clusters, shared)
    return Network(layer, low, high, clusters, look, shared)


def _look(
    arrays: Mapping[str, Array],
    neurons: Neurons,
    recent: Recent,
    low: Array,
    high: Array,
    clusters: Clusters,
    shared: bool,
) -> Look:
    count = len(neurons)
    facts = {name: arrays[f"look.{name}"].copy() for name in FACTS}
    for name, array in facts.items():
        fits = array.shape == (count,) and array.dtype in FACT_TYPES.get(name, FLOATS)
        _require(fits, f"the {name} of the last look has the wrong shape or type")
    for name in ("share", "mean_response"):
        invalid = (facts[name] < 0) | (facts[name] > 1 + 1e-6)
        _require(not invalid.any(), f"the {name} of the last look is not between 0 and 1")
    twin_of = facts["twin_of"]
    _require(bool(((twin_of >= -1) & (twin_of < np.arange(count))).all()), "a twin is not an earlier neuron")
    number, centers, scores = arrays["look.number"], arrays["look.cluster_centers"], arrays["look.scores"]
    # With a single width, a look between two reviews numbers new clusters before they are reported.
    given = clusters.given + (0 if shared else count)
    _check_numbers("clusters of the last look", number, (count,), given)
    _require(
        scores.ndim == 1
        and scores.dtype in FLOATS
        and len(scores) <= len(recent.raw)
        and bool((scores[1:] >= scores[:-1]).all()),
        "the scores of the last look are invalid",
    )
    look = Look(neurons, recent, low, high, clusters, shared)
    found = Clusters(number).found(neurons)
    _check("the cluster centers", centers, found.centers.shape, (recent.dtype,))
    known = {
        "diagnosis": Diagnosis(**facts),
        "found_then": found._replace(centers=centers),
        "scores": scores,
    }
    vars(look).update(known)
    if not shared:
        vars(look)["clusters"] = Clusters(number)
    return look


def _events(facts: list[Any], centers: Array, given: int, recent: Recent) -> tuple[Event, ...]:
    _require(len(facts) <= max(EVENTS, given), "there are too many events")
    _check("the events", centers, (len(facts), recent.n_features), FLOATS)
    return tuple(
        Event(
            _whole("the sample of an event", samples, recent.received + 1),
            one_of("kind", kind, (*KINDS, MOVING)),
            _whole("the cluster of an event", cluster, given),
            center,
            _part("the share of an event", share),
            _evidence("the evidence of an event", evidence),
            _text("the reason of an event", reason),
        )
        for (samples, kind, cluster, share, evidence, reason), center in zip(facts, centers, strict=True)
    )


# ---- parameters ---------------------------------------------------------------------------------------


def _plain(name: str, value: Any, seed: int | None, arrays: dict[str, Array]) -> Any:
    """A parameter as JSON; an array is put into `arrays` under a name."""
    if callable(value) and name == "backend":
        return name_of(value)
    if isinstance(value, np.random.RandomState):
        return seed  # drawn from it: the caller's generator cannot be stored
    if isinstance(value, Integral) and not isinstance(value, bool):
        return int(value)
    if isinstance(value, Real) and not isinstance(value, bool):
        if not math.isfinite(value):
            raise ValueError(f"{name} must be finite, got {value!r}.")
        return float(value)
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, tuple | list) and name == "domain":
        return [_plain(f"domain.{end}", part, seed, arrays) for end, part in enumerate(value)]
    if isinstance(value, np.ndarray | list | tuple | range) or hasattr(value, "__array__"):
        key = f"parameter.{name}"
        arrays[key] = np.asarray(value, np.float64)
        return {"array": key}
    if value is not None and not isinstance(value, str | bool):
        raise ValueError(f"{name} must be a number, a string or an array to be stored, got {value!r}.")
    return value


def _from_plain(value: Any, arrays: Mapping[str, Array]) -> Any:
    if isinstance(value, dict):
        return arrays[value["array"]]
    if isinstance(value, list):
        return tuple(_from_plain(part, arrays) for part in value)
    return value


def _check_parameters(parameters: Mapping[str, Any], n_features: int) -> None:
    """A file holds only parameters with which a model can learn."""
    names = list(inspect.signature(checked).parameters)[1:]
    checked(n_features, **{name: parameters[name] for name in names})
    checked_draws(parameters["max_samples"])
    check_random_state(parameters["random_state"])


# ---- checks: facts that do not match each other, or that no learning could have produced --------------


def _require(condition: bool, text: str) -> None:
    if not condition:
        raise ValueError(text)


def _whole(name: str, value: Any, end: int) -> int:
    """A whole number of at least 0 and below `end`."""
    if type(value) is not int or not 0 <= value < end:
        raise ValueError(f"{name} must be a whole number in [0, {end}), got {value!r}")
    return value


def _part(name: str, value: Any) -> float:
    """A number from 0 to 1, up to rounding."""
    if type(value) is not float or not 0 <= value <= 1 + 1e-6:
        raise ValueError(f"{name} must be between 0 and 1, got {value!r}")
    return value


def _evidence(name: str, value: Any) -> float:
    if type(value) is not float or not 0 <= value < math.inf:
        raise ValueError(f"{name} must be a finite number from 0, got {value!r}")
    return value


def _text(name: str, value: Any) -> str:
    if type(value) is not str or len(value) > LONGEST_REASON:
        raise ValueError(f"{name} must be a text of at most {LONGEST_REASON} characters, got {value!r:.80}")
    return value


def _check(name: str, array: Array, shape: tuple[int, ...], dtypes: tuple[Any, ...]) -> None:
    fits = array.shape == shape and array.dtype in dtypes and bool(np.isfinite(array).all())
    _require(fits, f"{name} have the wrong shape or type, or are not finite")


def _check_numbers(name: str, numbers: Array, shape: tuple[int, ...], given: int) -> None:
    _require(numbers.shape == shape and numbers.dtype == np.int64, f"the {name} have the wrong shape or type")
    valid = (numbers >= -1) & (numbers < given)
    _require(bool(valid.all()), f"the {name} hold a number that was never given")


def _check_layer(layer: Layer, recent: Recent, shared: bool) -> None:
    neurons, dtype = layer.neurons, recent.dtype
    _require(layer.reach >= 0, "the reach of the neurons is invalid")
    rates = (layer.learning_rate, layer.inhibition)
    _require(all(np.isfinite(rate) and rate >= 0 for rate in rates), "a rate or an inhibition is invalid")
    count = len(neurons.centers)
    _require(
        count > 0 and neurons.seen == recent.received,
        "the neurons have learned from another number of samples",
    )
    each = shape_of(recent.covariance_type, recent.n_features)
    for name, shape in (("centers", (count, recent.n_features)), ("widths", (count, *each))):
        for array in (getattr(neurons, name), getattr(neurons, _STARTS[name])):
            _check(f"the {name}", array, shape, (dtype,))
    for widths in (neurons.widths, neurons.start_widths):
        _require(bool((variances(widths) > 0).all()), "a width is not positive")
        regular = widths.ndim < 3 or (is_symmetric(widths).all() and all(map(is_regular, widths)))
        _require(bool(regular), "a covariance is not positive definite")
    held, born = neurons.held, neurons.born
    fits = held.shape == neurons.centers.shape and held.dtype == dtype and not np.isinf(held).any()
    _require(fits, "the held centers have the wrong shape or type, or are infinite")
    widths = neurons.held_widths
    fits = widths.shape == (count,) and widths.dtype == dtype and not (widths <= 0).any()
    _require(fits and not np.isinf(widths).any(), "the held widths have the wrong shape, type or sign")
    numbers = {"births": born, "wins": neurons.won, "counts": neurons.looked, "rests": neurons.rests}
    for name, counts in numbers.items():
        fits = counts.shape == (count,) and counts.dtype == np.int64
        _require(fits, f"the {name} of neurons have the wrong shape or type")
    _require(bool(((born >= 0) & (born <= neurons.seen)).all()), "a neuron is born after the last sample")
    most = (
        neurons.seen + (8 if shared else 1) * recent.window
    )  # `fit` ends with a review more; early ones overlap
    resting = (neurons.rests >= -1) & (neurons.rests <= neurons.seen)
    _require(bool(resting.all()), "a neuron rests after the last sample")
    within = most if shared else neurons.looked
    possible = (neurons.won >= 0) & (neurons.won <= within) & (neurons.looked >= 0) & (neurons.looked <= most)
    _require(bool(possible.all()), "a neuron won more samples than there were")
    total = neurons.total
    fits = total.shape == (count,) and total.dtype == np.float64
    possible = fits & (total >= 0) & (total <= neurons.seen * (1 + 1e-6))
    _require(bool(np.all(possible)), "the sum of the shares of a neuron is invalid")


_STARTS = {"centers": "start", "widths": "start_widths"}
