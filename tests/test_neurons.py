"""Neurons that are put elsewhere in the middle of a stream: what changes, and that nothing else does."""

import copy
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError

from gaussian_neurons import GaussianNeurons

PLACES = np.array([[0.2, 0.2], [0.2, 0.8], [0.8, 0.2], [0.8, 0.8]])


def blobs(n: int, seed: int = 0, dtype: type = np.float64) -> np.ndarray:
    random = np.random.default_rng(seed)
    return (PLACES[random.integers(4, size=n)] + 0.05 * random.standard_normal((n, 2))).astype(dtype)


@pytest.fixture(scope="module")
def model() -> GaussianNeurons:
    return GaussianNeurons(12, width=0.05, domain=(0, 1), random_state=0).partial_fit(blobs(12_000))


def everything(model: GaussianNeurons) -> dict[str, np.ndarray]:
    """All that a file would hold, but for the parameters."""
    arrays, facts = model._contents()
    return {name: np.copy(array) for name, array in arrays.items()} | {
        "clusters": np.array(str(facts["clusters"]))
    }


def assert_same(one: GaussianNeurons, other: GaussianNeurons) -> None:
    ours, others = everything(one), everything(other)
    assert ours.keys() == others.keys()
    for name, values in ours.items():
        np.testing.assert_array_equal(values, others[name], err_msg=name)


# ---- by hand ----------------------------------------------------------------------------------------


def test_a_moved_neuron_steps_from_where_it_was_put():
    # alone at 3 with width 4, a sample at 5: f = exp(-1), step = 0.1 * exp(-1) / 4 * 2
    model = GaussianNeurons(1, width=1.0, init=[[0.0]], domain=(0, 9), learning_rate=0.1)
    model.partial_fit([[0.0]]).move_neurons(0, centers=[[3.0]], width=4.0).partial_fit([[5.0]])
    np.testing.assert_allclose(model.centers_, [[3 + 0.05 / math.e]], rtol=1e-15)
    assert model.n_samples_seen_ == 2
    assert model.initial_centers_.tolist() == [[0.0]]  # where it began is history


def test_only_what_was_named_changes(model):
    changed = copy.deepcopy(model)
    centers, widths = model.centers_.copy(), model.widths_.copy()
    assert changed.move_neurons([3, -1], centers=[[0.5, 0.25], [2.0, -1.0]]) is changed
    centers[[3, 11]] = [[0.5, 0.25], [2.0, -1.0]]
    np.testing.assert_array_equal(changed.centers_, centers)
    np.testing.assert_array_equal(changed.widths_, widths)
    changed.move_neurons(np.arange(12) == 5, width=0.1).move_neurons([0, 1], width=[0.2, 0.3])
    widths[[5, 0, 1]] = 0.1, 0.2, 0.3
    np.testing.assert_array_equal(changed.widths_, widths)
    np.testing.assert_array_equal(changed.centers_, centers)
    np.testing.assert_array_equal(changed.initial_centers_, model.initial_centers_)


def test_a_width_given_by_hand_is_the_one_it_started_with(model):
    changed = copy.deepcopy(model).move_neurons(4, width=0.1)
    np.testing.assert_array_equal(changed.diagnosis_.width_change, 1.0)


def test_what_held_a_neuron_is_forgotten_when_it_moves_and_only_then(model):
    changed, (first, second, *_) = copy.deepcopy(model), np.flatnonzero(model.learned_)
    changed.move_neurons(first, centers=[[5.0, 5.0]]).move_neurons(second, width=0.06)
    held = changed._learner.ready.neurons.held
    assert np.isnan(held[first]).all()
    np.testing.assert_array_equal(held[second], model._learner.ready.neurons.held[second])
    assert not changed.learned_[first]  # at once: no fact is older than the move
    assert changed.learned_[second]
    assert changed.n_clusters_ == model.n_clusters_ - 1
    assert len(changed.cluster_centers_) == model.n_clusters_ - 1


def test_a_moved_neuron_counts_after_a_thousand_samples_and_bears_another_number():
    X = blobs(4000)
    model = GaussianNeurons(4, width=0.05, init=PLACES, domain=(0, 1)).partial_fit(X)
    assert model.cluster_numbers_.tolist() == [0, 1, 2, 3]
    model.move_neurons(3, centers=PLACES[3:])  # elsewhere in its own cluster
    assert model.learned_.tolist() == [True, True, True, False]
    model.partial_fit(X[:999])
    assert model.cluster_numbers_.tolist() == [0, 1, 2]
    model.partial_fit(X[999:1000])
    assert model.cluster_numbers_.tolist() == [0, 1, 2, 4]
    model.partial_fit(X)
    assert [(event.kind, event.cluster) for event in model.events_[4:]] == [("retired", 3), ("born", 4)]


# ---- laws -------------------------------------------------------------------------------------------


@settings(max_examples=20, deadline=None)
@given(which=st.sets(st.integers(0, 11)))
def test_moving_to_the_same_place_changes_nothing(model, which):
    chosen = sorted(which)
    moved, stayed = copy.deepcopy(model), copy.deepcopy(model)
    moved.move_neurons(chosen, centers=moved.centers_[chosen], width=moved.widths_[chosen])
    assert_same(moved, stayed)
    assert_same(moved.partial_fit(blobs(9000, 1)), stayed.partial_fit(blobs(9000, 1)))
    np.testing.assert_array_equal(moved.learned_, stayed.learned_)


@pytest.mark.parametrize("n", [300, 5000])  # before and after the first data is complete
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_moved_neuron_is_as_good_as_a_fresh_one(n, dtype):
    moved = GaussianNeurons(8, width=0.05, random_state=0).partial_fit(blobs(n, 0, dtype))
    fresh = copy.deepcopy(moved)
    moved.move_neurons(-1, centers=[[0.45, 0.6]], width=0.07)
    fresh.remove_neurons(-1).add_neurons(centers=[[0.45, 0.6]], width=0.07)
    for more in (0, 500, 3000, 8000):
        if more:
            moved.partial_fit(blobs(more, more, dtype))
            fresh.partial_fit(blobs(more, more, dtype))
        ours, others = everything(moved), everything(fresh)
        for name in ours.keys() - {"neurons.start"}:
            np.testing.assert_array_equal(ours[name], others[name], err_msg=name)
        np.testing.assert_array_equal(moved.learned_, fresh.learned_)
        np.testing.assert_array_equal(moved.neuron_clusters_, fresh.neuron_clusters_)
    assert moved.centers_.dtype == dtype


def test_a_stream_may_be_cut_anywhere_around_a_move(model):
    one, other, X = copy.deepcopy(model), copy.deepcopy(model), blobs(3000, 2)
    one.move_neurons(2, centers=[[0.5, 0.5]]).partial_fit(X)
    other.move_neurons(2, centers=[[0.5, 0.5]])
    for begin in range(0, 3000, 700):
        other.partial_fit(X[begin : begin + 700])
    assert_same(one, other)


def test_a_model_with_an_automatic_width_keeps_the_layer_that_answers():
    model = GaussianNeurons(10, random_state=0).partial_fit(blobs(3000))
    centers, widths = model.centers_.copy(), model.widths_.copy()
    model.move_neurons(2, centers=[[0.5, 0.5]])
    centers[2] = 0.5
    np.testing.assert_array_equal(model.centers_, centers)
    np.testing.assert_array_equal(model.widths_, widths)
    assert len(model._learner.ready.layers) == 1
    model.partial_fit(blobs(12_000, 1))
    np.testing.assert_array_equal(model.widths_, widths)


def test_a_moved_model_is_saved_and_learns_on_as_if_never_stopped(model, tmp_path):
    moved = copy.deepcopy(model).move_neurons([0, 7], centers=[[0.4, 0.4], [0.6, 0.1]], width=[0.1, 0.02])
    moved.save(tmp_path / "model.safetensors")
    loaded = GaussianNeurons.load(tmp_path / "model.safetensors")
    assert_same(loaded, moved)
    assert_same(loaded.partial_fit(blobs(3000, 3)), moved.partial_fit(blobs(3000, 3)))


def test_labels_of_fit_are_gone_after_a_move():
    fitted = GaussianNeurons(6, width=0.05, domain=(0, 1), max_samples=5000, random_state=0).fit(blobs(500))
    assert len(fitted.labels_) == 500
    with pytest.raises(AttributeError, match="labels_"):
        fitted.move_neurons(0, width=0.06).labels_  # noqa: B018


# ---- what is refused --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("indices", "arguments", "message"),
    [
        (0, {}, "nothing to change: give centers, width, or both"),
        (12, {"width": 1.0}, "there is no neuron 12: the model has 12, numbered 0 to 11"),
        ([1, -11], {"width": 1.0}, r"indices must name each neuron once, got \[1, -11\]"),
        ([0.5], {"width": 1.0}, "indices must be whole numbers"),
        (0, {"centers": [0.5, 0.5]}, r"centers must have shape \(any, 2\), got \(2,\)"),
        (0, {"centers": [[0.5]]}, r"centers must have shape \(any, 2\)"),
        (0, {"centers": [[0.5, np.nan]]}, "centers must hold finite numbers"),
        ([0, 1], {"centers": [[0.5, 0.5]]}, "centers must have a row for each of the 2 neurons, got 1"),
        ([], {"centers": [[0.5, 0.5]]}, "centers must have a row for each of the 0 neurons, got 1"),
        (0, {"width": -1.0}, "width must be positive and finite"),
        (0, {"width": "auto"}, "width must be a positive number"),
        ([0, 1], {"width": [1.0, 1.0, 1.0]}, "width must be a number or one for each of the 2 neurons"),
    ],
)
def test_what_cannot_be_moved_is_said_and_nothing_changes(model, indices, arguments, message):
    before = copy.deepcopy(model)
    with pytest.raises(ValueError, match=message):
        model.move_neurons(indices, **arguments)
    assert_same(model, before)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"centers": [[1e300, 0.0]]}, "out of the range of float32"),
        ({"width": 1e-300}, "a width of 1e-300 is out of the range of float32"),
    ],
)
def test_the_precision_of_the_model_is_what_counts(arguments, message):
    model = GaussianNeurons(6, random_state=0).partial_fit(blobs(200, 0, np.float32))
    with pytest.raises(ValueError, match=message):
        model.move_neurons(0, **arguments)
    assert model._learner.ready is None  # it goes on waiting for the first data


def test_there_must_be_something_to_move():
    with pytest.raises(NotFittedError):
        GaussianNeurons().move_neurons(0, width=1.0)


def test_moving_none_is_moving_none(model):
    assert_same(copy.deepcopy(model).move_neurons([], centers=np.zeros((0, 2)), width=[]), model)
