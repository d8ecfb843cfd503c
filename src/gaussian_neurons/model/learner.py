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
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gaussian_neurons.base.bad_rows import BadRow, require_finite
from gaussian_neurons.base.covariances import as_type
from gaussian_neurons.base.interrupts import deferred_interrupts
from gaussian_neurons.clustering.diagnosis import Won, remember
from gaussian_neurons.clustering.normal import normal_median, normal_reach
from gaussian_neurons.clustering.numbering import RESTING, Clusters
from gaussian_neurons.clustering.resting import with_rest
from gaussian_neurons.clustering.tree import (
    REPRESENTED,
    evident_rows,
    groups_of,
    least_part,
    mostly_repeated,
    tree_of,
    without_noise,
)
from gaussian_neurons.learning.backends import learn_many, rows_at_once
from gaussian_neurons.learning.neurons import Neurons
from gaussian_neurons.learning.relocation import relocated, winners
from gaussian_neurons.learning.responses import least_width, strongest
from gaussian_neurons.learning.rule import Rule, Shares
from gaussian_neurons.learning.starts import neurons_at, uniform
from gaussian_neurons.model.first_data import domain_of, placed
from gaussian_neurons.model.look import Look
from gaussian_neurons.model.recent import Recent
from gaussian_neurons.model.scaling import Scaling
from gaussian_neurons.model.settings import Settings
from gaussian_neurons.model.state import Layer, Network, State
from gaussian_neurons.model.timetable import last_early_look, last_look, next_review, next_sharing_review

Array = NDArray[Any]

INITIAL, DRAWN, ADDED = range(3)  # purposes of random numbers
FAR = 2.0  # neurons learn up to this multiple of the squared distance that a normal distribution stays within
NARROWEST = 2.0**-20  # least width of neurons that share samples, as a part of the narrowest start


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
    if state.network is not None and state.network.shared and settings.width_learning_rate > 0:
        raise ValueError(
            "a model that started with width='auto' cannot learn widths: leave width_learning_rate at 0, or "
            "start a new model with it."
        )
    if state.network is not None and state.network.shared and (settings.learning_rate or 0.0) > 1:
        raise ValueError(
            f"learning_rate must be at most 1, got {settings.learning_rate!r}: this model started with "
            f"width='auto'. Lower it, or start a new model with a width."
        )
    _require_same_scale(state, settings)
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
            raise bad.later(begin).named(state.names) from None
        begin = state.received - first
        yield state


def _keep(state: State, x: Array, widths: Array | None, settings: Settings) -> State:
    """Keep rows until the first data is complete."""
    taken = state.recent.window - state.received
    require_finite(np.asarray(x[:taken]), state.recent.dtype)
    return replace(state, recent=state.recent.extended(x[:taken], _own(widths, taken, state.recent)))


def _own(widths: Array | None, rows: int, recent: Recent) -> Array | None:
    """The widths or covariances of the first rows, of the model's type."""
    return None if widths is None else as_type(widths[:rows], recent.covariance_type, recent.n_features)


def _learn(state: State, x: Array, widths: Array | None, settings: Settings) -> State:
    """Learn from a block of rows: until the next review, the last look in it, or its end."""
    network = state.network
    assert network is not None
    before = network.neurons
    seen, window, most = before.seen, state.recent.window, rows_at_once([before], settings.backend)
    review = (next_sharing_review if network.shared else next_review)(seen, window)
    renewal = review if state.recent.scaling is None else next_sharing_review(seen, window)
    look = 0 if network.shared else last_look(seen + min(len(x), most))
    stop = min(review, renewal, look if look > seen else review, seen + most)
    x, widths = x[: stop - seen], _own(widths, stop - seen, state.recent)
    own = widths if settings.width_learning_rate > 0 else None
    rule = rule_of(network, settings)
    for (neurons,) in learn_many([before], state.recent.scaled(x), [rule], own, settings.backend):
        network = network.with_neurons(neurons)
    recent = state.recent.extended(x, widths)
    if len(x) == stop - seen:
        if stop == renewal and recent.scaling is not None:
            network, recent = _rescaled(network, recent, recent.scaling)
        if stop == review:
            network = _reviewed(network, recent, settings)
        elif stop == look:
            network = network.with_look(recent)
    return State(recent, state.seed, state.names, network, state.skipped, state.additions, None, state.early)


def _rescaled(network: Network, recent: Recent, old: Scaling) -> tuple[Network, Recent]:
    """Both in the columns as the recent samples scale them, if that has changed much."""
    with deferred_interrupts(points=True):
        new = old.renewed(recent.raw)
        if new is old:
            return network, recent
        recent = replace(recent, scaling=new)
        return network.rescaled(recent), recent


def _require_same_scale(state: State, settings: Settings) -> None:
    if state.network is None:
        return
    scaling = state.network.scaling
    started = None if scaling is None else scaling.kind
    if settings.scale != started:
        raise ValueError(
            f"scale={settings.scale!r} cannot be used: this model started with {started!r}. Start a new "
            f"model to change it."
        )


def _shares(layer: Layer, settings: Settings) -> Shares:
    rate = layer.learning_rate if settings.learning_rate is None else settings.learning_rate
    narrowest = NARROWEST * float(layer.neurons.start_widths.min())
    return Shares(rate, max(narrowest, least_width(layer.neurons.widths.dtype)), layer.reach)


def rule_of(network: Network, settings: Settings) -> Rule | Shares:
    """The constants by which the neurons learn."""
    layer = network.layer
    if network.shared:
        return _shares(layer, settings)
    rate = layer.learning_rate if settings.learning_rate is None else settings.learning_rate
    return Rule(
        rate,
        layer.inhibition if settings.inhibition is None else settings.inhibition,
        settings.width_learning_rate,
        settings.repulsion_every,
    )


# ---- the first data -----------------------------------------------------------------------------------


def settled(state: State, settings: Settings) -> State:
    """The state with neurons: placed by the samples there are, which are then learned from."""
    if state.network is not None:
        return state
    network = _from_first(state.recent, settings, state.seed)
    return replace(state, network=network, recent=network.look.recent)  # which has the scales of the columns


def network_of(state: State, settings: Settings) -> Network:
    """The layers as they are; while the first data is incomplete, as they would be without further samples.

    That is computed for certain numbers of samples, so that asking after every sample stays cheap.
    """
    if state.network is not None:
        return state.network
    count, early = state.received, state.early
    if not _is_complete(state, settings):
        count = last_early_look(count) if settings.shared else last_look(count)
    known = early.answer
    if known is None or known[0] != count or not settings.same_as(known[1]):
        known = (count, settings, _from_first(state.recent.first(count), settings, state.seed))
        early.answer = known
    return known[2]


def _is_complete(state: State, settings: Settings) -> bool:
    return not settings.needs_first_data or state.received >= state.recent.window


def _from_first(recent: Recent, settings: Settings, seed: int) -> Network:
    """Neurons placed by the first samples, all of which are kept, after learning from them."""
    network = started(recent, settings, seed)
    recent, rule = network.look.recent, rule_of(network, settings)
    widths = _kept_widths(recent) if settings.width_learning_rate > 0 else None
    for (neurons,) in learn_many([network.neurons], recent.samples, [rule], widths, settings.backend):
        network = network.with_neurons(neurons)
    network = network.with_look(recent)
    if network.shared or is_review(network.neurons.seen, recent.window):
        return _reviewed(network, recent, settings)
    return network


def started(recent: Recent, settings: Settings, seed: int) -> Network:
    """Neurons placed by the first samples, before learning from them; the look has the scaled columns."""
    if settings.scale is not None:
        recent = replace(recent, scaling=Scaling.of(recent.raw, settings.scale))
        settings = settings.scaled(recent.scaling)
    samples = recent.samples
    if settings.covariance_type != recent.covariance_type:
        raise ValueError(
            f"covariance_type={settings.covariance_type!r} cannot be used: this model started with "
            f"{recent.covariance_type!r}. Start a new model to change it."
        )
    layer = placed(settings, samples, _kept_widths(recent), random_for(seed, INITIAL))
    low, high = domain_of(settings, samples)
    none = Clusters.none(settings.n_neurons)
    look = Look(layer.neurons, recent, low, high, none, settings.shared)
    return Network(layer, low, high, none, look, settings.shared)


def _kept_widths(recent: Recent) -> Array | None:
    """The widths of the kept samples, if all have one."""
    kept = recent.widths
    return None if np.isnan(kept).any() or not len(kept) else kept


def is_review(seen: int, window: int) -> bool:
    """Whether a single width is reviewed after so many samples."""
    return seen > 0 and seen == next_review(seen - 1, window)


# ---- reviews ------------------------------------------------------------------------------------------


def concluded(state: State, settings: Settings, drawn_from: float | None = None) -> State:
    """The state after a last review, with clusters numbered from 0: the stream has ended.

    `drawn_from` is the number of rows that its samples were drawn from at random, None for others.
    """
    state = settled(state, settings)
    assert state.network is not None
    network = replace(state.network, clusters=Clusters.none(len(state.network.neurons)))
    network = _reviewed(network, state.recent, settings)
    return replace(state, network=replace(network, look=replace(network.look, drawn_from=drawn_from)))


def _reviewed(network: Network, recent: Recent, settings: Settings) -> Network:
    """The network after a review. NumPy may turn an interrupt into another error, so it waits for a point."""
    with deferred_interrupts(points=True):
        if network.shared:
            return _reviewed_shares(network, recent, settings)
        won = Won.of(network.neurons, recent.samples)
        remembered = network.layer._replace(neurons=remember(network.neurons, recent.samples, won))
        network = replace(network, layer=remembered).with_look(recent)
        look = network.look
        vars(look)["won"] = won  # the cached value: the same neurons and samples
        share = look.diagnosis.share
        reported = look.clusters.reported(look.found_then, network.neurons, share, recent.samples)
        return replace(network, clusters=reported)


def _reviewed_shares(network: Network, recent: Recent, settings: Settings) -> Network:
    """Which clusters rest, where neurons are needed, which neurons form a cluster, and how far they reach."""
    samples, layer = recent.samples, network.layer
    rows = evident_rows(recent.newest(recent.window), len(network.neurons))  # in their order
    if not len(rows):
        return network.with_look(recent)
    won = winners(layer.neurons, rows, layer.reach)
    still = mostly_repeated(samples)
    places = None if still else rows
    neurons, clusters = with_rest(layer.neurons, network.clusters, won, places, settings.memory)
    rule = _shares(layer, settings)
    latest = evident_rows(recent.newest(recent.window // 2), len(neurons))
    if rule.rate > 0 and len(latest):
        neurons, origins = relocated(
            neurons,
            clusters.number,
            latest,
            len(latest) / len(rows),
            layer.reach,
            rule.least_width,
            least_part(neurons, len(latest)),
            settings.backend,
        )
        clusters = clusters.of_neurons(origins)
    settling = neurons.seen < REPRESENTED * len(neurons)
    tree = tree_of(neurons, samples, settings.shape, None if settling else clusters.group)
    if tree is not None:
        known = group = groups_of(tree, neurons, settings.n_clusters)
        if settings.n_clusters is None:
            reported = np.full(len(group), -1) if settling else clusters.number
            group = without_noise(tree, neurons, samples, group, reported, (network.low, network.high))
        share = _won_part(neurons, samples)
        evident = share if len(rows) == len(samples) else _won_part(neurons, rows)
        idle = np.full(len(neurons), still) & ~neurons.resting
        idle[tree.used] = False
        clusters = clusters.renewed(group, evident, neurons.resting, idle)
        group_of = dict(zip(clusters.number[tree.used].tolist(), known[tree.used].tolist(), strict=True))
        group_of[-1] = -1
        known = np.where(idle, [group_of.get(number, -1) for number in clusters.number.tolist()], known)
        known = np.where(neurons.resting, RESTING + clusters.number, known)
        clusters = replace(clusters, group=known)
        found = clusters.found(neurons, samples)
        again = clusters.returned(found, samples)
        if (again.number != clusters.number).any():
            clusters, found = again, again.found(neurons, samples)
        clusters = clusters.reported(found, neurons, share, samples, _awake(network))
    if not still:
        neurons = replace(neurons, held=neurons.centers, held_widths=neurons.widths)
    network = replace(network, layer=layer._replace(neurons=neurons), clusters=clusters).with_look(recent)
    if tree is not None:
        vars(network.look)["found_then"] = found
    return replace(network, layer=network.layer._replace(reach=_reach(network.look)))


def _won_part(neurons: Neurons, rows: Array) -> Array:
    """The part of the rows that each neuron wins, (K,)."""
    winner = strongest(rows, neurons.centers, neurons.widths, shared=True)[0]
    found: Array = np.bincount(winner, minlength=len(neurons)) / len(rows)
    return found


def _awake(network: Network) -> NDArray[np.int64] | None:
    """The clusters that did not rest after the last review, None if there was none."""
    clusters = network.clusters
    return np.unique(clusters.number[~network.neurons.resting]) if clusters.given else None


def _reach(look: Look) -> float:
    """The largest |x - mu|^2 / sigma of a winner from which neurons learn.

    FAR times what all but NOVEL of a normal distribution stay within, stretched if the recent samples have a
    larger median. Outliers and background noise do not change a median, and so do not widen neurons.
    """
    normal = normal_reach(look.recent.n_features)
    chosen = look.neurons.centers[look.learned], look.neurons.widths[look.learned]
    scores = strongest(look.recent.samples, *chosen, shared=True)[1] if len(look.learned) else np.zeros(1)
    stretch = -float(np.median(scores)) / normal_median(look.recent.n_features)
    return FAR * normal * stretch if 1 < stretch < np.inf else FAR * normal


# ---- changes of neurons -------------------------------------------------------------------------------


def added(state: State, centers: Array | None, count: int, widths: Array | None, settings: Settings) -> State:
    """With neurons at `centers`, or `count` of them drawn from the domain.

    Without widths they have the one that the first neuron started with; if widths are automatic, the median.
    """
    state, before = _settled(state, settings)
    if centers is None:
        random = random_for(state.seed, ADDED, state.additions)
        centers = uniform(before.low, before.high, count, random)
    elif before.scaling is not None:
        centers = before.scaling.scaled(centers, np.float64)
    if widths is None:
        like = before.neurons.start_widths[:1] if not before.shared else [np.median(before.neurons.widths)]
        widths = np.repeat(np.asarray(like, np.float64), count, axis=0)
    others = neurons_at(centers, widths, state.recent.dtype.type, born=state.received)
    which = np.append(np.arange(len(before.neurons)), [-1] * count)
    return _changed(state, before.exchanged(before.neurons.add(others), which, state.recent), additions=1)


def kept(state: State, which: NDArray[np.bool_], settings: Settings) -> State:
    """With the neurons of the mask only."""
    state, before = _settled(state, settings)
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
    state, before = _settled(state, settings)
    old = before.neurons
    if centers is not None and before.scaling is not None:
        centers = before.scaling.scaled(centers, np.float64)
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


def _settled(state: State, settings: Settings) -> tuple[State, Network]:
    """The state with its layers as they are, or as all samples there are would place them."""
    state = settled(state, settings)
    assert state.network is not None
    return state, state.network


def _changed(state: State, network: Network, additions: int = 0) -> State:
    return replace(state, network=network, labels=None, additions=state.additions + additions)
