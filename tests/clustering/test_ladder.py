"""Layers of several widths: rates, idle neurons, shifts of the widths, the choice of a layer."""

from dataclasses import replace

import numpy as np
import pytest

from gaussian_neurons import Neurons
from gaussian_neurons.clustering import ladder
from gaussian_neurons.clustering.diagnosis import Winning, winning
from gaussian_neurons.clustering.grouping import join_centers
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
    review,
    revived,
    shift,
    tuned,
    typical_distance,
    widths_for,
    without_noise,
)
from gaussian_neurons.learning import native
from gaussian_neurons.learning.neurons import EACH
from gaussian_neurons.learning.responses import FINEST, least_width
from gaussian_neurons.learning.rule import Rule
from gaussian_neurons.learning.starts import means
from tests.learning.calls import learned


def blobs(n: int, places, spread: float = 0.1, seed: int = 0) -> np.ndarray:
    random = np.random.default_rng(seed)
    places = np.array(places, float)
    return random.normal(places[random.integers(len(places), size=n)], spread)


def ladder_on(rows: np.ndarray, count: int = 12, seed: int = 0) -> tuple[Layer, ...]:
    """Layers that have learned from the rows, as the first data starts them."""
    random = np.random.default_rng(seed)
    return tuple(
        teach(layer_at(means(rows, count, typical_distance(rows), random), width, rows), rows)
        for width in widths_for(rows).tolist()
    )


def teach(layer: Layer, rows: np.ndarray) -> Layer:
    rule = Rule(layer.learning_rate, layer.inhibition)
    return layer._replace(neurons=learned(native, layer.neurons, rows, rule))


def chosen(rows: np.ndarray, count: int = 12, cloud: float | None = None) -> ladder.Choice:
    layers = ladder_on(rows, count)
    won = [winning(layer.neurons, rows) for layer in layers]
    return choose(layers, won, rows, np.random.default_rng(0), cloud)


def groups_in(choice: ladder.Choice) -> int:
    return len(np.unique(choice.group[choice.group >= 0]))


def bits(neurons: Neurons) -> list[bytes]:
    return [getattr(neurons, name).tobytes() for name in EACH] + [neurons.seen]


# ---- widths and rates -------------------------------------------------------------------------------


def test_the_typical_distance_by_hand():
    assert typical_distance(np.array([[0.0], [1.0], [3.0]])) == 4.0  # of 1, 4, 9
    assert typical_distance(np.array([[0.0]] * 9 + [[3.0]])) == 9.0  # most are equal
    assert typical_distance(np.ones((5, 2))) is typical_distance(np.ones((1, 2))) is None


def test_the_typical_distance_of_many_rows_uses_rows_from_all_of_them():
    rows = np.repeat([[0.0], [10.0], [20.0]], 1000, axis=0)
    assert typical_distance(rows) == 100.0


def test_each_width_is_a_quarter_of_the_one_before():
    rows = blobs(500, [[0, 0], [5, 5]])
    widths = widths_for(rows)
    assert len(widths) == RUNGS
    assert widths[0] == WIDEST * typical_distance(rows)
    np.testing.assert_allclose(widths[:-1] / widths[1:], RATIO)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_narrowest_width_of_the_smallest_data_keeps_its_precision(dtype):
    """Scaled by a power of two, smallest data gives the widths of larger data; below that it is refused."""
    rows = np.arange(20.0)[:, None]
    exponent = int(np.ceil(np.log2(FINEST * least_width(dtype) / typical_distance(rows)) / 2))
    smallest = np.ldexp(rows, exponent).astype(dtype)
    np.testing.assert_array_equal(widths_for(smallest), np.ldexp(widths_for(rows), 2 * exponent))
    layer_at(smallest[:3], float(widths_for(smallest)[-1]), smallest)
    with pytest.raises(ValueError, match=f"differ by so little that {np.dtype(dtype).name} cannot"):
        widths_for(np.ldexp(smallest, -1))


def test_rare_values_give_the_typical_distance():
    rows = np.zeros((1000, 1))
    rows[[3, 500]] = 0.1
    assert typical_distance(rows) == pytest.approx(0.01)


@pytest.mark.parametrize(
    ("typical", "rate"), [(0.5, RATE / 0.5), (1.0, RATE), (0.01, LARGEST_RATE), (0.0, LARGEST_RATE)]
)
def test_rates_are_relative_to_the_typical_response(typical, rate):
    layer = tuned(Neurons.at([[0.0]], 3.0), typical)
    assert layer.inhibition == typical
    assert layer.learning_rate == pytest.approx(3.0 * rate)


def test_a_layer_starts_with_the_rates_that_suit_its_samples():
    rows = np.array([[0.0], [1.0], [2.0]])
    layer = layer_at(rows[:1], 4.0, rows, born=7)
    assert layer.inhibition == pytest.approx(np.exp(-1 / 4))  # the median of exp(-0), exp(-1/4), exp(-1)
    assert layer.learning_rate == pytest.approx(4.0 * RATE / np.exp(-1 / 4))
    assert (layer.neurons.born.tolist(), layer.neurons.seen) == ([7], 7)


# ---- idle neurons -----------------------------------------------------------------------------------


def two_neurons() -> Neurons:
    """One neuron among the samples, one far from all of them."""
    neurons = Neurons.at([[0.0, 0.0], [-90.0, -90.0]], 1.0)
    return replace(neurons, held=neurons.centers.copy(), seen=5000)


def after_revival(neurons: Neurons, rows: np.ndarray) -> Neurons:
    before = bits(neurons)
    after = revived(neurons, rows, winning(neurons, rows), np.random.default_rng(0))
    assert bits(neurons) == before  # a value
    return after


def test_an_idle_neuron_is_placed_on_a_sample_out_of_reach():
    rows = np.concatenate([blobs(900, [[0, 0]]), blobs(100, [[7, 7]], seed=1)])
    neurons = after_revival(two_neurons(), rows)
    assert neurons.centers[1].tolist() in rows[900:].tolist()
    np.testing.assert_array_equal(neurons.start[1], neurons.centers[1])
    assert neurons.born.tolist() == [0, 5000]
    assert np.isnan(neurons.held[1]).all()
    assert neurons.centers[0].tolist() == neurons.held[0].tolist() == [0.0, 0.0]


@pytest.mark.parametrize(("few", "placed"), [(4, False), (5, True)])
def test_a_neuron_is_placed_only_if_enough_samples_are_out_of_reach(few, placed):
    rows = np.concatenate([blobs(1000 - few, [[0, 0]], 0.01), np.full((few, 2), 7.0)])
    assert winning(two_neurons(), rows).enough == 0.005
    assert (after_revival(two_neurons(), rows).centers[1].tolist() == [7.0, 7.0]) == placed


def test_no_neuron_is_placed_if_all_samples_are_in_reach():
    assert bits(after_revival(two_neurons(), blobs(1000, [[0, 0]], 0.5))) == bits(two_neurons())


def test_two_neurons_are_not_placed_on_the_same_samples():
    neurons = Neurons.at(np.array([[0.0, 0.0]] + [[-90.0, 9.0 * k] for k in range(5)]), 1.0)
    far = blobs(200, [[7, 7], [-7, 7]], 0.01, seed=1)
    neurons = after_revival(neurons, np.concatenate([blobs(800, [[0, 0]], 0.01), far]))
    placed = neurons.centers[neurons.centers[:, 0] > -50][1:]
    assert sorted(np.sign(placed[:, 0])) == [-1, 1]


def test_neurons_that_hold_samples_stay():
    rows = np.concatenate([blobs(500, [[0, 0]]), blobs(500, [[50, 50]])])
    neurons = Neurons.at([[0.0, 0.0]], 1.0)
    assert bits(after_revival(neurons, rows)) == bits(neurons)


# ---- shifts of the widths ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scale", "moved"), [(1.6, 0), (0.6, 0), (2.0, 1), (4.0, 2), (0.5, -1), (1000.0, 10), (1e-3, -10)]
)
def test_the_widths_follow_the_scale_of_the_samples(scale, moved):
    """A factor of 2 in lengths is one of 4 in widths: one step."""
    rows = blobs(300, [[0, 0], [5, 5], [0, 5]])
    before = tuple(
        layer._replace(neurons=replace(layer.neurons, seen=7000)) for layer in ladder_on(rows, count=6)
    )
    layers = shift(before, rows * scale, teach, np.random.default_rng(0))
    widest = float(before[0].neurons.widths[0])
    widths = [float(layer.neurons.widths[0]) for layer in layers]
    np.testing.assert_allclose(widths, widest * RATIO**moved / RATIO ** np.arange(RUNGS), rtol=1e-12)
    assert all(layer.neurons.seen == 7000 for layer in layers)
    kept = [layer for layer in layers if any(layer is old for old in before)]
    assert len(kept) == max(0, RUNGS - abs(moved))
    if 0 < abs(moved) < RUNGS:
        expected = before[:-moved] if moved > 0 else before[-moved:]
        assert all(one is other for one, other in zip(kept, expected, strict=True))
        new = layers[0 if moved > 0 else -1].neurons
        assert (new.born == 7000).all()
        assert (new.centers != new.start).any()  # it learned


def test_the_widest_layer_is_never_far_from_what_is_wanted():
    rows = blobs(200, [[0.0], [3.0]])
    layers = ladder_on(rows, count=4)
    for scale in np.exp(np.random.default_rng(0).normal(0, 3, 6)):
        layers = shift(layers, rows * scale, teach, np.random.default_rng(0))
        off = np.log(widths_for(rows * scale)[0] / layers[0].neurons.widths[0]) / np.log(RATIO)
        assert abs(off) <= ladder.SHIFT


def test_a_review_changes_none_of_its_arguments_and_can_be_repeated():
    rows = blobs(500, [[0, 0], [5, 5], [0, 5]])
    layers, samples = ladder_on(rows[:250] / 3), rows.copy()
    before = [bits(layer.neurons) for layer in layers]
    one, other = (review(layers, 1, rows, teach, np.random.default_rng(3)) for _ in range(2))
    assert [bits(layer.neurons) for layer in layers] == before
    np.testing.assert_array_equal(rows, samples)
    for first, second in zip(one.layers, other.layers, strict=True):
        assert bits(first.neurons) == bits(second.neurons)
    np.testing.assert_array_equal(one.choice.group, other.choice.group)
    assert [bits(layer.neurons) for layer in one.layers] != before


@pytest.mark.parametrize(("scale", "at"), [(1.0, 1), (2.0, 2), (0.5, 0), (1000.0, None)])
def test_a_review_finds_the_layer_that_answered_before(scale, at):
    rows = blobs(300, [[0, 0], [5, 5], [0, 5]])
    layers = ladder_on(rows, count=6)
    found = review(layers, 1, rows * scale, teach, np.random.default_rng(0))
    assert found.at == at
    assert float(found.before.widths[0]) == float(layers[1].neurons.widths[0])
    assert found.before is (layers[1] if at is None else found.layers[at]).neurons


# ---- the choice of a layer --------------------------------------------------------------------------


@pytest.mark.parametrize("D", [1, 2, 10])
def test_one_blob_is_one_cluster(D):
    choice = chosen(np.random.default_rng(0).normal(size=(1000, D)))
    assert groups_in(choice) == 1


@pytest.mark.parametrize("count", [2, 5])
def test_separate_blobs_are_clusters_and_need_no_cloud(count):
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


def test_of_equally_good_layers_the_widest_is_chosen():
    rows = blobs(1000, [[0, 0], [10, 0]], 0.1)
    first, *_ = ladder_on(rows)
    layers = [first, first, first]
    won = [winning(layer.neurons, rows) for layer in layers]
    assert choose(layers, won, rows, np.random.default_rng(0)).layer == 0
    nowhere = Layer(Neurons.at(np.full_like(first.neurons.centers, 1e6), 1.0), 0.0, 0.0)
    layers[0] = nowhere
    won[0] = Winning(np.zeros(12), np.zeros(12), np.zeros(12, bool), 0.0, 0.005)
    choice = choose(layers, won, rows, np.random.default_rng(0))
    assert (choice.layer, groups_in(choice)) == (1, 2)


@pytest.mark.parametrize(("between", "layer"), [(2, 0), (10, 1)])
def test_a_wider_layer_is_chosen_if_it_is_nearly_as_good(between, layer):
    # Rows at 6.6 belong to the cluster at 10; the wider layer, with a neuron at 4, adds them to the other.
    rows = np.concatenate([blobs(200, [[0.0], [10.0]]), blobs(between, [[6.6]])])
    wider = Layer(Neurons.at([[4.0], [10.0]], 8.0), 0.5, 0.1)
    narrower = Layer(Neurons.at([[0.0], [10.0]], 2.0), 0.5, 0.1)
    won = [winning(each.neurons, rows) for each in (wider, narrower)]
    choice = choose([wider, narrower], won, rows, np.random.default_rng(0))
    assert (choice.layer, groups_in(choice)) == (layer, 2)


def test_a_layer_that_merges_two_clusters_is_not_chosen():
    rows = blobs(1000, [[0, 0], [10, 0], [10, 3]], 0.1)
    two = Layer(Neurons.at([[0.0, 0.0], [10.0, 1.5], [99.0, 99.0]], 9.0), 0.5, 0.1)
    three = Layer(Neurons.at([[0.0, 0.0], [10.0, 0.0], [10.0, 3.0]], 1.0), 0.5, 0.1)
    won = [winning(layer.neurons, rows) for layer in (two, three)]
    choice = choose([two, three], won, rows, np.random.default_rng(0))
    assert (choice.layer, groups_in(choice)) == (1, 3)


def test_without_neurons_that_hold_samples_there_is_no_cluster():
    layers = [Layer(Neurons.at([[0.0], [1.0]], 1.0), 0.0, 0.0)]
    nothing = Winning(np.zeros(2), np.zeros(2), np.zeros(2, bool), 0.0, 0.005)
    choice = choose(layers, [nothing], np.array([[0.0], [1.0]]), np.random.default_rng(0))
    assert choice.group.tolist() == [-1, -1]


def test_the_earlier_value_of_a_cloud_counts_as_well():
    rows = np.random.default_rng(0).uniform(size=(1000, 2))
    fresh = [chosen(rows, cloud=known).cloud for known in (None, 0.4, 0.7)]
    assert fresh[0] == pytest.approx(0.33, abs=0.03)
    assert fresh[2] - fresh[1] == pytest.approx(0.3 * 2 / 3)
    assert groups_in(chosen(rows, cloud=0.7)) == 1
    assert groups_in(chosen(rows, cloud=0.01)) > 1


def test_repeated_rows_are_not_clusters():
    rows = np.random.default_rng(0).normal(size=(60, 2))
    again = np.concatenate([np.random.default_rng(turn).permutation(rows) for turn in range(12)])
    assert groups_in(chosen(again, count=50)) == 1


# ---- noise ------------------------------------------------------------------------------------------


def blobs_of(*sizes: int, spread=0.1) -> tuple[np.ndarray, Neurons]:
    """Blobs of the given sizes, far apart, and a neuron in the middle of each."""
    places = np.arange(len(sizes))[:, None] * 100.0
    random = np.random.default_rng(0)
    return random.normal(
        np.repeat(places, sizes, axis=0), np.repeat(np.broadcast_to(spread, len(sizes)), sizes)[:, None]
    ), Neurons.at(places, 1.0)


def test_groups_with_very_few_samples_are_noise():
    rows, neurons = blobs_of(500, 491, 9)
    assert without_noise(np.array([0, 1, 2]), neurons, rows).tolist() == [0, 1, -1]
    rows, neurons = blobs_of(500, 489, 11)
    assert without_noise(np.array([0, 1, 2]), neurons, rows).tolist() == [0, 1, 2]
    assert without_noise(np.array([0, 0, -1]), neurons, rows).tolist() == [0, 0, -1]


def test_with_many_neurons_a_cluster_can_have_fewer_samples():
    rows, neurons = blobs_of(994, 6, *[0] * 98)
    group = np.append([0, 1], np.full(98, -1))
    assert without_noise(group, neurons, rows)[1] == 1  # half of 1/100 is enough


@pytest.mark.parametrize(
    ("size", "spread", "kept"), [(150, 0.17, False), (150, 0.12, True), (180, 0.17, True)]
)
def test_small_and_sparse_groups_are_noise(size, spread, kept):
    """Of three clusters, one with fewer than a sixth of the samples and over twice the squared distance."""
    rows, neurons = blobs_of(500, 500 - size, size, spread=[0.1, 0.1, spread])
    assert (without_noise(np.array([0, 1, 2]), neurons, rows)[2] == 2) == kept


def test_a_cluster_is_not_noise_if_its_neuron_is_beside_it():
    rows, neurons = blobs_of(400, 400, 100, 100)
    neurons = neurons.with_rows([2, 3], centers=neurons.centers[2:] + 30.0)
    assert without_noise(np.arange(4), neurons, rows).tolist() == [0, 1, 2, 3]


def test_the_largest_group_always_stays():
    rows, neurons = blobs_of(4, 1)
    assert without_noise(np.array([0, -1]), neurons, rows).tolist() == [0, -1]
    assert without_noise(np.array([-1, -1]), neurons, rows).tolist() == [-1, -1]


# ---- valleys ----------------------------------------------------------------------------------------


def valleys(rows: np.ndarray, centers, count: int) -> bool:
    distances = np.sqrt(native.squared_distances(rows, rows))
    return has_valleys(rows, join_centers(rows, distances, np.array(centers, float)), count)


def test_separate_blobs_have_valleys_and_a_single_one_has_none():
    assert valleys(blobs(100, [[0.0], [5.0]]), [[0.0], [5.0]], 2)
    assert not valleys(np.random.default_rng(0).normal(size=(500, 1)), [[-1.0], [1.0]], 2)


def test_clusters_with_few_rows_do_not_count_as_separate():
    rows = np.concatenate([np.linspace(0, 1, 19), np.linspace(9, 10, 20)])[:, None]
    assert not valleys(rows, [[0.5], [9.5]], 2)
    assert valleys(np.append(rows, [[0.55]], axis=0), [[0.5], [9.5]], 2)


def test_a_valley_between_two_halves_is_enough():
    """Four groups in two blobs: no valley within the blobs, one between them."""
    random = np.random.default_rng(0)
    rows = np.concatenate([random.normal(0, 1, 200), random.normal(50, 1, 200)])[:, None]
    centers = [[-0.7], [0.7], [49.3], [50.7]]
    assert valleys(rows, centers, 4)
    assert not valleys(rows[:200], centers[:2], 2)
