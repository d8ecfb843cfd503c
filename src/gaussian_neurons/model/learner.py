"""Learning from a stream, however it is cut into calls: functions from one state to the next.

This module states and implements what a model guarantees. A state is a value, and `commit` assigns it once:

- an error (a bad row, a neuron that diverges, no memory, a bug) leaves the model as it was;
- an interrupt (Ctrl-C) leaves whole samples, and counts exactly those;
- other threads read either the old or the new state, never a mixture. Of two threads that learn at once, the
  second to finish gets an error, and the rows that it was learning are not kept;
- a file that is written from a state, and learned on, gives the same bits as learning without a break.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gaussian_neurons.base.bad_rows import BadRow, require_finite
from gaussian_neurons.base.covariances import as_type
from gaussian_neurons.base.interrupts import deferred_interrupts
from gaussian_neurons.clustering import ladder
from gaussian_neurons.clustering.diagnosis import remember
from gaussian_neurons.clustering.ladder import Layer
from gaussian_neurons.clustering.numbering import Clusters
from gaussian_neurons.learning.backends import learn_many, rows_at_once
from gaussian_neurons.learning.rule import Rule
from gaussian_neurons.learning.starts import neurons_at, uniform
from gaussian_neurons.model.first_data import domain_of, placed
from gaussian_neurons.model.look import Look
from gaussian_neurons.model.recent import Recent
from gaussian_neurons.model.settings import Settings
from gaussian_neurons.model.state import Network, State
from gaussian_neurons.model.timetable import last_early_look, last_look, next_ladder_review, next_review

Array = NDArray[Any]

INITIAL, DRAWN, ADDED, REVIEWED = range(4)  # purposes of random numbers


class ChangedMeanwhile(RuntimeError):
    """Another thread has changed the model during a call."""

    def __init__(self) -> None:
        super().__init__(
            "another thread changed the model during this call. The rows that this call was learning are not "
            "kept. Only one thread at a time may learn: use a lock, or a model for each thread."
        )


def random_for(seed: int, purpose: int, turn: int = 0) -> np.random.Generator:
    """Random numbers that depend on the seed, the purpose and the turn, and on nothing else."""
    key = np.array([seed, (turn << 8) + purpose], np.uint64)
    return np.random.Generator(np.random.Philox(key=key))


def commit(assign: Callable[[State], Any], states: Iterable[State]) -> State | None:
    """Go through states and assign the last one; on an interrupt, the last one until then."""
    state = None
    try:
        for state in states:  # noqa: B007
            pass
    except Exception:
        raise
    except BaseException:
        if state is not None:
            with suppress(ChangedMeanwhile):  # the interrupt goes on
                assign(state)
        raise
    if state is not None:
        assign(state)
    return state


# ---- learning -----------------------------------------------------------------------------------------


def advance(state: State, x: Array, sample_widths: Array | None, settings: Settings) -> Iterator[State]:
    """Learn from rows in their order; gives the state after each block of rows, and at the end."""
    if state.network is not None and state.network.is_ladder and settings.width_learning_rate > 0:
        raise ValueError(
            "a model that started with width='auto' cannot learn widths: leave width_learning_rate at 0, or "
            "start a new model with it."
        )
    if state.labels is not None:
        state = replace(state, labels=None)
    begin = 0
    while True:
        if state.network is None and _is_complete(state, settings):
            state = settled(state, settings)
        if begin == len(x):
            yield state
            return
        widths = None if sample_widths is None else sample_widths[begin:]
        step = _keep if state.network is None else _learn
        first = state.received - begin
        try:
            state = step(state, x[begin:], widths, settings)
        except BadRow as bad:
            raise bad.later(begin) from None
        begin = state.received - first
        yield state


def _keep(state: State, x: Array, widths: Array | None, settings: Settings) -> State:
    """Keep rows until the first data is complete."""
    taken = state.recent.window - state.received
    require_finite(x[:taken], state.recent.dtype)
    return replace(state, recent=state.recent.extended(x[:taken], _own(widths, taken, state.recent)))


def _own(widths: Array | None, rows: int, recent: Recent) -> Array | None:
    """The widths or covariances of the first rows, of the model's type."""
    return None if widths is None else as_type(widths[:rows], recent.covariance_type, recent.n_features)


def _learn(state: State, x: Array, widths: Array | None, settings: Settings) -> State:
    """Learn from a block of rows: until the next review, the last look in it, or its end."""
    network = state.network
    assert network is not None
    before = [layer.neurons for layer in network.layers]
    seen, window, most = network.neurons.seen, state.recent.window, rows_at_once(before, settings.backend)
    review = (next_ladder_review if network.is_ladder else next_review)(seen, window)
    look = last_look(seen + min(len(x), most))
    stop = min(review, look if look > seen else review, seen + most)
    x, widths = x[: stop - seen], _own(widths, stop - seen, state.recent)
    rules = [_rule(layer, settings) for layer in network.layers]
    own = widths if settings.width_learning_rate > 0 else None
    for layers in learn_many(before, x, rules, own, settings.backend):
        network = network.with_neurons(layers)
    recent = state.recent.extended(x, widths)
    if len(x) == stop - seen:
        if stop == review:
            network = _reviewed(network, recent, settings, state.seed)
        elif stop == look:
            network = network.with_look(recent)
    return State(recent, state.seed, state.names, network, state.skipped, state.additions, None, state.early)


def _rule(layer: Layer, settings: Settings) -> Rule:
    return Rule(
        layer.learning_rate if settings.learning_rate is None else settings.learning_rate,
        layer.inhibition if settings.inhibition is None else settings.inhibition,
        settings.width_learning_rate,
        settings.repulsion_every,
    )


# ---- the first data -----------------------------------------------------------------------------------


def settled(state: State, settings: Settings) -> State:
    """The state with neurons: placed by the samples there are, which are then learned from."""
    if state.network is not None:
        return state
    return replace(state, network=_from_first(state.recent, settings, state.seed))


def network_of(state: State, settings: Settings) -> Network:
    """The layers as they are; while the first data is incomplete, as they would be without further samples.

    That is computed for certain numbers of samples, so that asking after every sample stays cheap.
    """
    if state.network is not None:
        return state.network
    count, early = state.received, state.early
    if not _is_complete(state, settings):
        count = last_early_look(count) if settings.is_ladder else last_look(count)
    known = early.answer
    if known is None or known[0] != count or not settings.same_as(known[1]):
        known = (count, settings, _from_first(state.recent.first(count), settings, state.seed))
        early.answer = known
    return known[2]


def _is_complete(state: State, settings: Settings) -> bool:
    return not settings.needs_first_data or state.received >= state.recent.window


def _from_first(recent: Recent, settings: Settings, seed: int) -> Network:
    """Layers placed by the first samples, all of which are kept, after learning from them."""
    samples, kept = recent.samples, recent.widths
    widths = None if np.isnan(kept).any() or not len(kept) else kept
    if settings.covariance_type != recent.covariance_type:
        raise ValueError(
            f"covariance_type={settings.covariance_type!r} cannot be used: this model started with "
            f"{recent.covariance_type!r}. Start a new model to change it."
        )
    layers = placed(settings, samples, widths, random_for(seed, INITIAL))
    rules = [_rule(layer, settings) for layer in layers]
    own = widths if settings.width_learning_rate > 0 else None
    for after in learn_many([layer.neurons for layer in layers], samples, rules, own, settings.backend):
        layers = tuple(layer._replace(neurons=now) for layer, now in zip(layers, after, strict=True))
    low, high = domain_of(settings, samples)
    none, neurons = Clusters.none(settings.n_neurons), layers[0].neurons
    look = Look(neurons, recent, low, high, none, settings.is_ladder)
    network = Network(layers, low, high, none, look, settings.is_ladder)
    if network.is_ladder or (neurons.seen and neurons.seen == next_review(neurons.seen - 1, recent.window)):
        return _reviewed(network, recent, settings, seed)
    return network


# ---- reviews ------------------------------------------------------------------------------------------


def concluded(state: State, settings: Settings) -> State:
    """The state after a last review, with clusters numbered from 0: the stream has ended."""
    state = settled(state, settings)
    assert state.network is not None
    clusters = Clusters.none(len(state.network.neurons))
    network = replace(state.network, clusters=replace(clusters, layer=state.network.clusters.layer))
    return replace(state, network=_reviewed(network, state.recent, settings, state.seed))


def _reviewed(network: Network, recent: Recent, settings: Settings, seed: int) -> Network:
    """The network after a review. NumPy may turn an interrupt into another error, so it waits for a point."""
    with deferred_interrupts(points=True):
        if network.is_ladder:
            return _reviewed_ladder(network, recent, settings, seed)
        (layer,) = network.layers
        remembered = layer._replace(neurons=remember(layer.neurons, recent.samples))
        network = replace(network, layers=(remembered,)).with_look(recent)
        look = network.look
        reported = look.clusters.reported(look.found_then, network.neurons.seen, recent.samples)
        return replace(network, clusters=reported)


def _reviewed_ladder(network: Network, recent: Recent, settings: Settings, seed: int) -> Network:
    seen, samples = network.neurons.seen, recent.samples
    random = random_for(seed, REVIEWED, seen)
    answering, clusters = network.clusters.layer, network.clusters
    teach = partial(_taught, settings=settings)
    found = ladder.review(network.layers, answering, samples, teach, random, network.cloud)
    layer, group, share, cloud = found.choice
    now = found.layers[layer].neurons
    clusters = clusters.renewed(layer, group, share, now if layer == found.at else found.before, now, samples)
    clusters = clusters.returned(clusters.found(now, samples), samples)
    clusters = clusters.reported(clusters.found(now, samples), seen, samples)
    renewed = replace(network, layers=found.layers, clusters=clusters, cloud=cloud)
    return renewed.with_look(recent)


def _taught(layer: Layer, samples: Array, settings: Settings) -> Layer:
    for (neurons,) in learn_many([layer.neurons], samples, [_rule(layer, settings)], None, settings.backend):
        layer = layer._replace(neurons=neurons)
    return layer


# ---- changes of neurons -------------------------------------------------------------------------------


def added(state: State, centers: Array | None, count: int, widths: Array | None, settings: Settings) -> State:
    """With neurons at `centers`, or `count` of them drawn from the domain.

    Without widths they have the one that the first neuron started with.
    """
    before = _network(state, settings)
    if centers is None:
        random = random_for(state.seed, ADDED, state.additions)
        centers = uniform(before.low, before.high, count, random)
    if widths is None:
        widths = np.repeat(before.neurons.start_widths[:1].astype(np.float64), count, axis=0)
    others = neurons_at(centers, widths, state.recent.dtype.type, born=state.received)
    which = np.append(np.arange(len(before.neurons)), [-1] * count)
    return _changed(state, before.exchanged(before.neurons.add(others), which, state.recent), additions=1)


def kept(state: State, which: NDArray[np.bool_], settings: Settings) -> State:
    """With the neurons of the mask only."""
    before = _network(state, settings)
    neurons = before.neurons.keep(which)
    return _changed(state, before.exchanged(neurons, np.flatnonzero(which), state.recent))


def moved(
    state: State,
    which: NDArray[np.int64],
    centers: Array | None,
    widths: Array | None,
    settings: Settings,
) -> State:
    """With some neurons at other centers, or with other widths; None keeps what they are."""
    before = _network(state, settings)
    old = before.neurons
    placed = neurons_at(  # in the model's precision
        old.centers[which] if centers is None else centers,
        old.widths[which] if widths is None else widths,
        state.recent.dtype.type,
    )
    neurons = old.move(
        which, None if centers is None else placed.centers, None if widths is None else placed.widths
    )
    elsewhere = (neurons.centers != old.centers).any(axis=1)  # what they find there is another cluster
    same = np.where(elsewhere, -1, np.arange(len(neurons)))
    return _changed(state, before.exchanged(neurons, same, state.recent))


def _network(state: State, settings: Settings) -> Network:
    """The layers as they are, or as all samples there are would place them."""
    network = settled(state, settings).network
    assert network is not None
    return network


def _changed(state: State, network: Network, additions: int = 0) -> State:
    return replace(state, network=network, labels=None, additions=state.additions + additions)
