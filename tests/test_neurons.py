"""Neurons that are placed, added, removed and moved: what changes, and that nothing else does."""

import copy
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError

from gaussian_neurons import GaussianNeurons
from gaussian_neurons.model import model_file

PLACES = np.array([[0.2, 0.2], [0.2, 0.8], [0.8, 0.2], [0.8, 0.8]])


def blobs(n: int, seed: int = 0, dtype: type = np.float64) -> np.ndarray:
    random = np.random.default_rng(seed)
    return (PLACES[random.integers(4, size=n)] + 0.05 * random.standard_normal((n, 2))).astype(dtype)


@pytest.fixture(scope="module")
def model() -> GaussianNeurons:
    return GaussianNeurons(12, width=0.05, domain=(0, 1), random_state=0).partial_fit(blobs(6000))


def contents(model: GaussianNeurons) -> dict[str, np.ndarray]:
    """Everything that a file would contain, except the parameters."""
    arrays, facts = model_file.contents(GaussianNeurons().get_params(), model._state)
    return arrays | {"facts": np.array(str(facts))}


def assert_same(one: GaussianNeurons, other: GaussianNeurons) -> None:
    ours, others = contents(one), contents(other)
    assert ours.keys() == others.keys()
    for name, values in ours.items():
        np.testing.assert_array_equal(values, others[name], err_msg=name)


# ---- moving, by hand --------------------------------------------------------------------------------


def test_a_moved_neuron_steps_from_its_new_center():
    # alone at 3 with width 4, a sample at 5: f = exp(-1), step = 0.1 * exp(-1) / 4 * 2
    model = GaussianNeurons(1, width=1.0, init=[[0.0]], domain=(0, 9), learning_rate=0.1)
    model.partial_fit([[0.0]]).move_neurons(0, centers=[[3.0]], width=4.0).partial_fit([[5.0]])
    np.testing.assert_allclose(model.centers_, [[3 + 0.05 / math.e]], rtol=1e-15)
    assert model.n_samples_seen_ == 2
    assert model.initial_centers_.tolist() == [[0.0]]  # stays


def test_only_the_named_neurons_change(model):
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


def test_a_given_width_replaces_the_starting_width(model):
    changed = copy.deepcopy(model).move_neurons(4, width=0.1)
    np.testing.assert_array_equal(changed.diagnosis_.width_change, 1.0)


def test_the_held_center_is_forgotten_when_a_neuron_moves_and_only_then(model):
    changed, (first, second, *_) = copy.deepcopy(model), np.flatnonzero(model.learned_)
    changed.move_neurons(first, centers=[[5.0, 5.0]]).move_neurons(second, width=0.06)
    held = changed._network.neurons.held
    assert np.isnan(held[first]).all()
    np.testing.assert_array_equal(held[second], model._network.neurons.held[second])
    assert not changed.learned_[first]  # at once
    assert changed.learned_[second]
    assert changed.n_clusters_ == model.n_clusters_ - 1
    assert len(changed.cluster_centers_) == model.n_clusters_ - 1


def test_a_moved_neuron_counts_after_1000_samples_with_a_new_number():
    X = blobs(4000)
    model = GaussianNeurons(4, width=0.05, init=PLACES, domain=(0, 1)).partial_fit(X)
    assert model.cluster_numbers_.tolist() == [0, 1, 2, 3]
    model.move_neurons(3, centers=PLACES[3:])  # within its cluster
    assert model.learned_.tolist() == [True, True, True, False]
    model.partial_fit(X[:999])
    assert model.cluster_numbers_.tolist() == [0, 1, 2]
    model.partial_fit(X[999:1000])
    assert model.cluster_numbers_.tolist() == [0, 1, 2, 4]
    model.partial_fit(X)
    assert [(event.kind, event.cluster) for event in model.events_[4:]] == [("retired", 3), ("born", 4)]


# ---- moving: laws -----------------------------------------------------------------------------------


@settings(max_examples=6, deadline=None)
@given(which=st.sets(st.integers(0, 11)))
def test_moving_to_the_same_place_changes_nothing(model, which):
    chosen = sorted(which)
    moved, stayed = copy.deepcopy(model), copy.deepcopy(model)
    moved.move_neurons(chosen, centers=moved.centers_[chosen], width=moved.widths_[chosen])
    assert_same(moved, stayed)
    assert_same(moved.partial_fit(blobs(3000, 1)), stayed.partial_fit(blobs(3000, 1)))
    np.testing.assert_array_equal(moved.learned_, stayed.learned_)


@pytest.mark.parametrize("n", [300, 5000])  # before and after the first data is complete
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_moving_is_removing_and_adding(n, dtype):
    moved = GaussianNeurons(8, width=0.05, random_state=0).partial_fit(blobs(n, 0, dtype))
    fresh = copy.deepcopy(moved)
    moved.move_neurons(-1, centers=[[0.45, 0.6]], width=0.07)
    fresh.remove_neurons(-1).add_neurons(centers=[[0.45, 0.6]], width=0.07)
    for more in (0, 500, 3000, 8000):
        if more:
            moved.partial_fit(blobs(more, more, dtype))
            fresh.partial_fit(blobs(more, more, dtype))
        ours, others = contents(moved), contents(fresh)
        for name in ours.keys() - {"neurons.start", "look.cosine", "facts"}:
            np.testing.assert_array_equal(ours[name], others[name], err_msg=name)
        np.testing.assert_array_equal(moved.learned_, fresh.learned_)
        np.testing.assert_array_equal(moved.neuron_clusters_, fresh.neuron_clusters_)
    assert moved.centers_.dtype == dtype


def test_cuts_of_the_stream_around_a_move_change_nothing(model):
    one, other, X = copy.deepcopy(model), copy.deepcopy(model), blobs(3000, 2)
    one.move_neurons(2, centers=[[0.5, 0.5]]).partial_fit(X)
    other.move_neurons(2, centers=[[0.5, 0.5]])
    for begin in range(0, 3000, 700):
        other.partial_fit(X[begin : begin + 700])
    assert_same(one, other)


def test_a_neuron_with_an_automatic_width_that_is_moved_goes_on_to_adapt_it():
    model = GaussianNeurons(10, random_state=0).partial_fit(blobs(3000))
    centers, widths = model.centers_.copy(), model.widths_.copy()
    model.move_neurons(2, centers=[[0.5, 0.5]])
    centers[2] = 0.5
    np.testing.assert_array_equal(model.centers_, centers)
    np.testing.assert_array_equal(model.widths_, widths)
    assert model.neuron_clusters_[2] == -1
    model.partial_fit(blobs(12_000, 1))
    assert (model.widths_ != widths).all()


def test_a_moved_model_is_saved_and_learns_on(model, tmp_path):
    moved = copy.deepcopy(model).move_neurons([0, 7], centers=[[0.4, 0.4], [0.6, 0.1]], width=[0.1, 0.02])
    moved.save(tmp_path / "model.safetensors")
    loaded = GaussianNeurons.load(tmp_path / "model.safetensors")
    assert_same(loaded, moved)
    assert_same(loaded.partial_fit(blobs(3000, 3)), moved.partial_fit(blobs(3000, 3)))


def test_a_move_removes_the_labels_of_fit():
    fitted = GaussianNeurons(6, width=0.05, domain=(0, 1), max_samples=5000, random_state=0).fit(blobs(500))
    assert len(fitted.labels_) == 500
    with pytest.raises(AttributeError, match="labels_"):
        fitted.move_neurons(0, width=0.06).labels_  # noqa: B018


# ---- moving: what is refused ------------------------------------------------------------------------


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
def test_wrong_moves_are_refused_and_change_nothing(model, indices, arguments, message):
    before = model._state
    with pytest.raises(ValueError, match=message):
        model.move_neurons(indices, **arguments)
    assert model._state is before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"centers": [[1e300, 0.0]]}, "out of the range of float32"),
        ({"width": 1e-300}, "a width of 1e-300 is out of the range of float32"),
    ],
)
def test_values_out_of_the_range_of_the_precision_are_refused(arguments, message):
    model = GaussianNeurons(6, random_state=0).partial_fit(blobs(200, 0, np.float32))
    with pytest.raises(ValueError, match=message):
        model.move_neurons(0, **arguments)
    assert model._state.network is None  # the first data is still incomplete


def test_an_unfitted_model_has_no_neurons_to_move():
    with pytest.raises(NotFittedError):
        GaussianNeurons().move_neurons(0, width=1.0)


def test_moving_no_neurons_changes_nothing(model):
    assert_same(copy.deepcopy(model).move_neurons([], centers=np.zeros((0, 2)), width=[]), model)


# ---- adding and removing ----------------------------------------------------------------------------


def test_the_other_neurons_stay_bit_for_bit(model):
    X = blobs(3000)
    changed = copy.deepcopy(model)
    before = changed.centers_.copy()
    changed.add_neurons(3)
    assert changed.centers_.shape == (15, 2)
    np.testing.assert_array_equal(changed.centers_[:12], before)
    np.testing.assert_array_equal(changed.widths_[12:], 0.05)
    changed.add_neurons(centers=[[0.5, 0.5]], width=0.1)
    np.testing.assert_array_equal(changed.centers_[15], [0.5, 0.5])
    np.testing.assert_array_equal(changed.widths_[15], 0.1)
    changed.remove_neurons([0, -1, 13])
    np.testing.assert_array_equal(changed.centers_[:11], before[1:])
    assert len(changed.centers_) == 13
    assert changed.n_samples_seen_ == model.n_samples_seen_
    assert changed.partial_fit(X).n_clusters_ == 4


def test_the_lowest_negative_index_is_the_first_neuron(model):
    changed = copy.deepcopy(model).move_neurons(-12, width=0.1)
    assert np.flatnonzero(changed.widths_ == 0.1).tolist() == [0]
    np.testing.assert_array_equal(changed.remove_neurons(-12).centers_, model.centers_[1:])


def test_an_added_neuron_has_the_starting_width_of_the_first():
    model = GaussianNeurons(2, width=1.0, width_learning_rate=0.5, init=[[0.0], [9.0]], domain=(0, 9))
    model.partial_fit(np.zeros((1000, 1)), sample_width=np.full(1000, 0.5)).add_neurons()
    assert model.widths_[0] < 0.9
    assert model.widths_[2] == 1.0


def test_neurons_are_removed_by_a_mask_too(model):
    changed = copy.deepcopy(model).remove_neurons(~model.learned_)
    np.testing.assert_array_equal(changed.centers_, model.cluster_centers_)
    assert len(changed.remove_neurons([]).centers_) == 4


def test_wrong_additions_are_refused(model):
    for arguments, message in (
        ({"n_neurons": 2, "centers": [[0.0, 0.0]]}, "not both"),
        ({"n_neurons": 0}, "n_neurons must be a whole number"),
        ({"centers": [[0.0]]}, r"centers must have shape \(any, 2\)"),
        ({"width": "auto"}, "width must be a positive number"),
        ({"width": -1.0}, "width must be positive"),
    ):
        with pytest.raises(ValueError, match=message):
            model.add_neurons(**arguments)
    assert len(model.centers_) == 12


def test_a_removed_pattern_is_learned_again_by_another():
    X = blobs(20_000)
    model = GaussianNeurons(12, width=0.05, domain=(0, 1), random_state=0).partial_fit(X)
    assert model.n_clusters_ == 4
    model.remove_neurons(np.flatnonzero(model.learned_)[0])
    model.add_neurons(2)
    assert model.partial_fit(X).n_clusters_ == 4


def test_neurons_can_be_removed_before_the_first_data_is_complete():
    X = blobs(3000)
    model = GaussianNeurons(6, random_state=0).partial_fit(X[:160])  # a look
    before = model.centers_.copy()
    model.remove_neurons(2)
    np.testing.assert_array_equal(model.centers_, np.delete(before, 2, axis=0))
    assert model.n_samples_seen_ == 160


def test_neurons_added_before_the_first_data_is_complete_have_the_width_of_the_others():
    model = GaussianNeurons(6, random_state=0).partial_fit(blobs(999)).add_neurons(2)
    assert model.widths_[6:].tolist() == [np.median(model.widths_[:6])] * 2


@pytest.mark.parametrize(
    ("indices", "message"),
    [
        (12, "there is no neuron 12: the model has 12, numbered 0 to 11"),
        (-13, "there is no neuron -13"),
        (range(12), "cannot remove all 12 neurons"),
        ([0.5], "indices must be whole numbers"),
        ("a", "indices must be whole numbers"),
        ([True, False], "indices must be whole numbers or a mask of 12"),
    ],
)
def test_wrong_removals_are_refused_and_change_nothing(model, indices, message):
    before = model._state
    with pytest.raises(ValueError, match=message):
        model.remove_neurons(indices)
    assert model._state is before


# ---- placing ----------------------------------------------------------------------------------------

CUBE = np.random.default_rng(0).random((3000, 3))


def in_a_cube(**changes):
    given = {"width": 0.1, "learning_rate": 0.01, "domain": (0.0, 1.0), "random_state": 3}
    return GaussianNeurons(5, **{**given, **changes})


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_placing_shows_the_starting_centers_and_changes_nothing(dtype):
    placed = in_a_cube().place_neurons(3, dtype)
    assert placed.n_samples_seen_ == 0
    assert not placed.learned_.any()
    assert placed.centers_.dtype == dtype
    assert (placed.centers_ == placed.initial_centers_).all()
    alone = in_a_cube().partial_fit(CUBE.astype(dtype))
    assert (placed.centers_ == alone.initial_centers_).all()
    placed.partial_fit(CUBE.astype(dtype))
    assert (placed.centers_ == alone.centers_).all()
    assert (placed.learned_ == alone.learned_).all()


def test_given_centers_are_the_starting_centers():
    start = np.arange(15.0).reshape(5, 3)
    assert (in_a_cube(init=start).place_neurons(3).centers_ == start).all()


def test_placing_starts_over():
    again = in_a_cube().partial_fit(CUBE).place_neurons(2)
    assert again.n_features_in_ == 2
    assert again.n_samples_seen_ == 0
    assert len(again.recent_samples_) == 0


@pytest.mark.parametrize(
    "changes",
    [
        {"width": "auto"},
        {"domain": None},
        {"init": "samples"},
        {"learning_rate": "auto", "width_learning_rate": 0.1},
    ],
)
def test_placing_is_refused_if_it_depends_on_the_first_data(changes):
    one = in_a_cube(**changes)
    with pytest.raises(ValueError, match="starting centers depend on the first data"):
        one.place_neurons(3)
    with pytest.raises(NotFittedError):
        _ = one.centers_


def test_wrong_arguments_of_placing_change_nothing():
    one = in_a_cube().partial_fit(CUBE)
    before = one._state
    for arguments, said in (((0,), "n_features"), ((3, np.int8), "dtype")):
        with pytest.raises(ValueError, match=said):
            one.place_neurons(*arguments)
    assert one._state is before


def test_recent_samples_are_the_last_1000():
    one = in_a_cube().partial_fit(CUBE)
    kept = one.recent_samples_
    assert sorted(map(tuple, kept)) == sorted(map(tuple, CUBE[-1000:]))
    with pytest.raises(ValueError, match="read-only"):
        kept[0] = 0


def test_changing_no_neuron_changes_nothing():
    """In particular, a model with an automatic width keeps all its layers."""
    model = GaussianNeurons(6, random_state=0).partial_fit(np.random.default_rng(0).random((1500, 2)))
    before = model._state
    model.remove_neurons([]).move_neurons([], centers=np.empty((0, 2)), width=1.0)
    assert model._state is before
    with pytest.raises(ValueError, match="centers must have at least one row"):
        model.add_neurons(centers=np.empty((0, 2)))
