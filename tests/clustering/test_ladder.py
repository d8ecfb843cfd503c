"""Layers of several widths: how they are tuned, revived, moved, taught, and which of them answers."""

from dataclasses import fields

import numpy as np
import pytest

from gaussian_neurons import Neurons
from gaussian_neurons.base.bad_rows import BadRow
from gaussian_neurons.clustering import ladder
from gaussian_neurons.clustering.diagnosis import Winning, winning
from gaussian_neurons.clustering.grouping import joined
from gaussian_neurons.clustering.ladder import (
    LARGEST_RATE,
    RATE,
    RATIO,
    RUNGS,
    WIDEST,
    Layer,
    choose,
    has_valleys,
    layer_at,
    revive,
    shift,
    steps,
    tune,
    typical_distance,
    widths_for,
    without_noise,
)
from gaussian_neurons.learning import native
from gaussian_neurons.learning.starts import means

RULE = {"inhibition": 0.3, "learning_rate": 0.05}


def blobs(n: int, places, spread: float = 0.1, seed: int = 0) -> np.ndarray:
    random = np.random.default_rng(seed)
    places = np.array(places, float)
    return random.normal(places[random.integers(len(places), size=n)], spread)


def ladder_on(rows: np.ndarray, count: int = 12, seed: int = 0) -> list[Layer]:
    """Layers that have learned from the rows, as the first data starts them."""
    random = np.random.default_rng(seed)
    layers = [
        layer_at(means(rows, count, typical_distance(rows), random), width, rows)
        for width in widths_for(rows).tolist()
    ]
    for layer in layers:
        teach(layer, rows)
    return layers


def teach(layer: Layer, rows: np.ndarray) -> None:
    native.learn(layer.neurons, rows, inhibition=layer.inhibition, learning_rate=layer.learning_rate)


def chosen(rows: np.ndarray, count: int = 12, cloud: float | None = None) -> ladder.Choice:
    layers = ladder_on(rows, count)
    won = [winning(layer.neurons, rows) for layer in layers]
    return choose(layers, won, rows, np.random.default_rng(0), cloud)


def groups_in(choice: ladder.Choice) -> int:
    return len(np.unique(choice.group[choice.group >= 0]))


def state(layers: list[Layer]) -> list[np.ndarray]:
    return [getattr(layer.neurons, field.name).copy() for layer in layers for field in fields(Neurons)]


def assert_state(layers: list[Layer], expected: list[np.ndarray]) -> None:
    for one, other in zip(state(layers), expected, strict=True):
        np.testing.assert_array_equal(one, other)


# ---- widths and rates -------------------------------------------------------------------------------


def test_the_typical_distance_by_hand():
    assert typical_distance(np.array([[0.0], [1.0], [3.0]])) == 4.0  # of 1, 4, 9
    assert typical_distance(np.array([[0.0]] * 9 + [[3.0]])) == 9.0  # most are equal
    assert typical_distance(np.ones((5, 2))) is typical_distance(np.ones((1, 2))) is None


def test_the_typical_distance_of_many_rows_is_that_of_rows_all_over_them():
    rows = np.repeat([[0.0], [10.0], [20.0]], 1000, axis=0)
    assert typical_distance(rows) == 100.0


def test_each_width_is_a_quarter_of_the_one_before():
    rows = blobs(500, [[0, 0], [5, 5]])
    widths = widths_for(rows)
    assert len(widths) == RUNGS
    assert widths[0] == WIDEST * typical_distance(rows)
    np.testing.assert_allclose(widths[:-1] / widths[1:], RATIO)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_narrowest_width_of_tiny_data_is_still_one(dtype):
    rows = (np.finfo(dtype).tiny ** 0.5 * np.arange(20.0)[:, None]).astype(dtype)
    assert widths_for(rows)[-1] >= np.finfo(dtype).tiny
    layer_at(rows[:3], float(widths_for(rows)[-1]), rows)


@pytest.mark.parametrize(
    ("typical", "rate"), [(0.5, RATE / 0.5), (1.0, RATE), (0.01, LARGEST_RATE), (0.0, LARGEST_RATE)]
)
def test_rates_are_relative_to_the_typical_response(typical, rate):
    layer = Layer(Neurons.at([[0.0]], 3.0), 0.0, 0.0)
    tune(layer, typical)
    assert layer.inhibition == typical
    assert layer.learning_rate == pytest.approx(3.0 * rate)


def test_a_layer_starts_with_the_rates_that_suit_its_samples():
    rows = np.array([[0.0], [1.0], [2.0]])
    layer = layer_at(rows[:1], 4.0, rows, born=7)
    assert layer.inhibition == pytest.approx(np.exp(-1 / 4))  # the median of exp(-0), exp(-1/4), exp(-1)
    assert layer.learning_rate == pytest.approx(4.0 * RATE / np.exp(-1 / 4))
    assert (layer.neurons.born.tolist(), layer.neurons.seen.tolist()) == ([7], [7])


# ---- samples out of reach ---------------------------------------------------------------------------


def two_neurons(width: float = 1.0) -> Layer:
    """One in the middle of samples, one that no sample comes near."""
    layer = Layer(Neurons.at([[0.0, 0.0], [-90.0, -90.0]], width), 0.5, 0.1)
    layer.neurons.held[:] = layer.neurons.centers
    layer.neurons.seen[0] = 5000
    return layer


def test_a_neuron_that_holds_nothing_is_placed_on_a_sample_out_of_reach():
    rows = np.concatenate([blobs(900, [[0, 0]]), blobs(100, [[7, 7]], seed=1)])
    layer = two_neurons()
    revive(layer, rows, winning(layer.neurons, rows), np.random.default_rng(0))
    neurons = layer.neurons
    assert neurons.centers[1].tolist() in rows[900:].tolist()
    np.testing.assert_array_equal(neurons.start[1], neurons.centers[1])
    assert neurons.born.tolist() == [0, 5000]
    assert np.isnan(neurons.held[1]).all()
    assert neurons.centers[0].tolist() == neurons.held[0].tolist() == [0.0, 0.0]


@pytest.mark.parametrize(("few", "revived"), [(4, False), (5, True)])
def test_a_neuron_is_revived_where_enough_samples_are_out_of_reach(few, revived):
    rows = np.concatenate([blobs(1000 - few, [[0, 0]], 0.01), np.full((few, 2), 7.0)])
    layer = two_neurons()
    won = winning(layer.neurons, rows)
    assert won.enough == 0.005
    revive(layer, rows, won, np.random.default_rng(0))
    assert (layer.neurons.centers[1].tolist() == [7.0, 7.0]) == revived


def test_neurons_are_not_revived_where_all_samples_are_in_reach():
    rows = blobs(1000, [[0, 0]], 0.5)
    layer = two_neurons()
    before = state([layer])
    revive(layer, rows, winning(layer.neurons, rows), np.random.default_rng(0))
    assert_state([layer], before)


def test_no_two_neurons_are_revived_at_one_place():
    layer = Layer(Neurons.at(np.array([[0.0, 0.0]] + [[-90.0, 9.0 * k] for k in range(5)]), 1.0), 0.5, 0.1)
    far = blobs(200, [[7, 7], [-7, 7]], 0.01, seed=1)
    rows = np.concatenate([blobs(800, [[0, 0]], 0.01), far])
    revive(layer, rows, winning(layer.neurons, rows), np.random.default_rng(0))
    placed = layer.neurons.centers[layer.neurons.centers[:, 0] > -50][1:]
    assert len(placed) == 2
    assert sorted(np.sign(placed[:, 0])) == [-1, 1]


def test_neurons_that_hold_samples_stay_where_they_are():
    rows = np.concatenate([blobs(500, [[0, 0]]), blobs(500, [[50, 50]])])
    layer = Layer(Neurons.at([[0.0, 0.0]], 1.0), 0.5, 0.1)
    before = state([layer])
    revive(layer, rows, winning(layer.neurons, rows), np.random.default_rng(0))
    assert_state([layer], before)


# ---- the ladder moves -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scale", "moved"),
    [(1.0, 0), (1.6, 0), (2.0, 1), (4.0, 2), (1000.0, 10), (0.5, -1), (1e-3, -10), (0.6, 0)],
)
def test_the_ladder_follows_the_scale_of_the_samples(scale, moved):
    """A factor of 2 in lengths is one of 4 in widths: one step."""
    rows = blobs(500, [[0, 0], [5, 5], [0, 5]])
    layers = ladder_on(rows)
    for layer in layers:
        layer.neurons.seen[0] = 7000
    before, widest = list(layers), float(layers[0].neurons.widths[0])
    shift(layers, rows * scale, teach, np.random.default_rng(0))
    widths = [float(layer.neurons.widths[0]) for layer in layers]
    np.testing.assert_allclose(widths, widest * RATIO**moved / RATIO ** np.arange(RUNGS), rtol=1e-12)
    kept = [layer for layer in layers if any(layer is old for old in before)]
    assert len(kept) == max(0, RUNGS - abs(moved))
    assert all(layer.neurons.seen[0] == 7000 for layer in layers)
    if 0 < abs(moved) < RUNGS:
        assert kept == (before[:-moved] if moved > 0 else before[-moved:])
        new = layers[0 if moved > 0 else -1]
        assert (new.neurons.born == 7000).all()
        assert (new.neurons.centers != new.neurons.start).any()  # it was taught


def test_the_widest_layer_is_never_far_from_what_is_wanted():
    rows = blobs(300, [[0.0], [3.0]])
    layers = ladder_on(rows)
    for scale in np.exp(np.random.default_rng(0).normal(0, 3, 10)):
        shift(layers, rows * scale, teach, np.random.default_rng(0))
        off = np.log(widths_for(rows * scale)[0] / layers[0].neurons.widths[0]) / np.log(RATIO)
        assert abs(off) <= ladder.SHIFT


# ---- learning, whole or not -------------------------------------------------------------------------


@pytest.fixture
def three_at_once(monkeypatch) -> list[Layer]:
    """Layers of 4 neurons in 2 dimensions that learn from three rows in a block."""
    monkeypatch.setattr(ladder, "WORK_AT_ONCE", 3.5 * 3 * (4 + 8) ** 2 * (2 + 8))
    start = np.random.default_rng(0).random((4, 2))
    return [Layer(Neurons.at(start, width), 0.3, 0.05) for width in (1.0, 0.25, 0.0625)]


ROWS = np.random.default_rng(1).random((10, 2))


def test_layers_learn_in_blocks_and_each_as_it_would_alone(three_at_once):
    alone = [layer.copy() for layer in three_at_once]
    seen = [three_at_once[0].neurons.seen[0] for _ in steps(three_at_once, ROWS, [RULE] * 3)]
    assert seen == [3, 6, 9, 10]
    for layer in alone:
        native.learn(layer.neurons, ROWS, **RULE)
    assert_state(three_at_once, state(alone))


def test_a_bad_row_leaves_all_layers_at_the_end_of_the_block_before(three_at_once):
    rows = ROWS.copy()
    rows[4, 1] = np.nan
    after_three = [layer.copy() for layer in three_at_once]
    for layer in after_three:
        native.learn(layer.neurons, rows[:3], **RULE)
    with pytest.raises(BadRow, match="row 4") as caught:
        list(steps(three_at_once, rows, [RULE] * 3))
    assert caught.value.row == 4
    assert_state(three_at_once, state(after_three))


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
@pytest.mark.parametrize("call", [2, 5, 6])
def test_whatever_comes_between_two_layers_leaves_them_equal(three_at_once, monkeypatch, error, call):
    calls = []

    def learn(*given, **rule):
        calls.append(given)
        if len(calls) == call:
            raise error("now")
        native_learn(*given, **rule)

    native_learn = native.learn
    monkeypatch.setattr(native, "learn", learn)
    with pytest.raises(error):
        list(steps(three_at_once, ROWS, [RULE] * 3))
    learned = 3 * ((call - 1) // 3)
    assert [int(layer.neurons.seen[0]) for layer in three_at_once] == [learned] * 3
    fresh = [Layer(Neurons.at(layer.neurons.start, layer.neurons.widths), 0, 0) for layer in three_at_once]
    for layer in fresh:
        native_learn(layer.neurons, ROWS[:learned], **RULE)
    assert_state(three_at_once, state(fresh))


def test_one_layer_alone_is_the_rule_itself():
    layer = Layer(Neurons.at(ROWS[:4], 1.0), 0.3, 0.05)
    alone = layer.copy()
    for _ in steps([layer], ROWS, [RULE]):
        pass
    native.learn(alone.neurons, ROWS, **RULE)
    assert_state([layer], state([alone]))


# ---- which layer answers ----------------------------------------------------------------------------


@pytest.mark.parametrize("D", [1, 2, 10])
def test_one_blob_is_one_cluster(D):
    choice = chosen(np.random.default_rng(0).normal(size=(1000, D)))
    assert groups_in(choice) == 1


@pytest.mark.parametrize("count", [2, 5])
def test_blobs_apart_are_clusters_and_need_no_cloud(count):
    rows = blobs(1000, 10 * np.random.default_rng(3).permutation(25)[:count, None] * [1.0, 0.3])
    choice = chosen(rows)
    assert groups_in(choice) == count
    assert choice.cloud is None
    assert choice.share.sum() == pytest.approx(1.0, abs=0.05)


def test_two_values_are_two_clusters():
    choice = chosen(np.repeat([[1.0], [2.0]], 300, axis=0)[np.random.default_rng(0).permutation(600)])
    assert groups_in(choice) == 2


def test_one_value_is_one_cluster():
    assert groups_in(chosen(np.full((200, 3), 7.0))) == 1


def test_of_layers_that_do_as_well_the_widest_answers():
    rows = blobs(1000, [[0, 0], [10, 0]], 0.1)
    first, *_ = ladder_on(rows)
    layers = [first, first.copy(), first.copy()]
    won = [winning(layer.neurons, rows) for layer in layers]
    assert choose(layers, won, rows, np.random.default_rng(0)).layer == 0
    nowhere = Layer(Neurons.at(np.full_like(first.neurons.centers, 1e6), 1.0), 0.0, 0.0)
    layers[0] = nowhere
    won[0] = Winning(np.zeros(12), np.zeros(12), np.zeros(12, bool), 0.0, 0.005)
    choice = choose(layers, won, rows, np.random.default_rng(0))
    assert (choice.layer, groups_in(choice)) == (1, 2)


def test_a_layer_that_joins_two_clusters_does_not_answer():
    rows = blobs(1000, [[0, 0], [10, 0], [10, 3]], 0.1)
    two = Layer(Neurons.at([[0.0, 0.0], [10.0, 1.5], [99.0, 99.0]], 9.0), 0.5, 0.1)
    three = Layer(Neurons.at([[0.0, 0.0], [10.0, 0.0], [10.0, 3.0]], 1.0), 0.5, 0.1)
    won = [winning(layer.neurons, rows) for layer in (two, three)]
    choice = choose([two, three], won, rows, np.random.default_rng(0))
    assert (choice.layer, groups_in(choice)) == (1, 3)


def test_where_no_neuron_holds_anything_there_is_no_cluster():
    layers = [Layer(Neurons.at([[0.0], [1.0]], 1.0), 0.0, 0.0)]
    nothing = Winning(np.zeros(2), np.zeros(2), np.zeros(2, bool), 0.0, 0.005)
    choice = choose(layers, [nothing], np.array([[0.0], [1.0]]), np.random.default_rng(0))
    assert choice.group.tolist() == [-1, -1]


def test_what_a_cloud_gave_before_counts_as_well():
    rows = np.random.default_rng(0).uniform(size=(1000, 2))
    fresh = [chosen(rows, cloud=known).cloud for known in (None, 0.4, 0.7)]
    assert fresh[0] == pytest.approx(0.33, abs=0.03)
    assert fresh[2] - fresh[1] == pytest.approx(0.3 * 2 / 3)
    assert groups_in(chosen(rows, cloud=0.7)) == 1
    assert groups_in(chosen(rows, cloud=0.01)) > 1  # as if no structure looked like nothing at all


def test_rows_that_come_several_times_are_no_clusters_of_their_own():
    rows = np.random.default_rng(0).normal(size=(60, 2))
    again = np.concatenate([np.random.default_rng(turn).permutation(rows) for turn in range(12)])
    assert groups_in(chosen(again, count=50)) == 1


# ---- noise ------------------------------------------------------------------------------------------


def heaps(*sizes: int, spread=0.1) -> tuple[np.ndarray, Neurons]:
    """Rows around places far apart, so many around each, and a neuron at each place."""
    places = np.arange(len(sizes))[:, None] * 100.0
    random = np.random.default_rng(0)
    return random.normal(
        np.repeat(places, sizes, axis=0), np.repeat(np.broadcast_to(spread, len(sizes)), sizes)[:, None]
    ), Neurons.at(places, 1.0)


def test_groups_with_hardly_any_samples_are_noise():
    rows, neurons = heaps(500, 491, 9)
    assert without_noise(np.array([0, 1, 2]), neurons, rows).tolist() == [0, 1, -1]
    rows, neurons = heaps(500, 489, 11)
    assert without_noise(np.array([0, 1, 2]), neurons, rows).tolist() == [0, 1, 2]
    assert without_noise(np.array([0, 0, -1]), neurons, rows).tolist() == [0, 0, -1]


def test_where_there_are_many_neurons_a_cluster_may_have_fewer_samples():
    rows, neurons = heaps(994, 6, *[0] * 98)
    group = np.append([0, 1], np.full(98, -1))
    assert without_noise(group, neurons, rows)[1] == 1  # half of 1/100 is enough


@pytest.mark.parametrize(
    ("size", "spread", "kept"), [(150, 0.17, False), (150, 0.12, True), (180, 0.17, True)]
)
def test_few_samples_that_lie_far_apart_are_noise(size, spread, kept):
    """Of three clusters, one with fewer than a sixth of the samples and over twice the squared distance."""
    rows, neurons = heaps(500, 500 - size, size, spread=[0.1, 0.1, spread])
    assert (without_noise(np.array([0, 1, 2]), neurons, rows)[2] == 2) == kept


def test_a_cluster_is_not_noise_because_its_neuron_was_pushed_aside():
    rows, neurons = heaps(400, 400, 100, 100)
    neurons.centers[2:] += 30.0
    assert without_noise(np.arange(4), neurons, rows).tolist() == [0, 1, 2, 3]


def test_the_largest_group_stays_in_any_case():
    rows, neurons = heaps(4, 1)
    assert without_noise(np.array([0, -1]), neurons, rows).tolist() == [0, -1]
    assert without_noise(np.array([-1, -1]), neurons, rows).tolist() == [-1, -1]


# ---- valleys ----------------------------------------------------------------------------------------


def valleys(rows: np.ndarray, centers, count: int) -> bool:
    distances = np.sqrt(native.squared_distances(rows, rows))
    return has_valleys(rows, joined(rows, distances, np.array(centers, float)), count)


def test_blobs_apart_have_valleys_and_a_heap_has_none():
    assert valleys(blobs(100, [[0.0], [5.0]]), [[0.0], [5.0]], 2)
    assert not valleys(np.random.default_rng(0).normal(size=(500, 1)), [[-1.0], [1.0]], 2)


def test_a_few_rows_prove_nothing():
    rows = np.concatenate([np.linspace(0, 1, 19), np.linspace(9, 10, 20)])[:, None]
    assert not valleys(rows, [[0.5], [9.5]], 2)
    assert valleys(np.append(rows, [[0.55]], axis=0), [[0.5], [9.5]], 2)


def test_a_valley_between_two_halves_suffices():
    """Four groups in two heaps: no valley between most of them, one between the heaps."""
    random = np.random.default_rng(0)
    rows = np.concatenate([random.normal(0, 1, 200), random.normal(50, 1, 200)])[:, None]
    centers = [[-0.7], [0.7], [49.3], [50.7]]
    assert valleys(rows, centers, 4)
    assert not valleys(rows[:200], centers[:2], 2)
