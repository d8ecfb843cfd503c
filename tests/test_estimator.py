"""GaussianNeurons: scikit-learn's contract, the attributes, streams, interrupts, bad input."""

import copy
import pickle
import signal
import threading
import time

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from gaussian_neurons import GaussianNeurons, Neurons
from gaussian_neurons.clustering import ladder
from gaussian_neurons.learning import native, reference


def blobs(n: int = 3000, seed: int = 0, dtype: type = np.float64) -> tuple[np.ndarray, np.ndarray]:
    """Four round clusters in the unit square, and a little noise of its own."""
    random = np.random.default_rng(seed)
    labels = random.integers(4, size=n)
    places = np.array([[0.2, 0.2], [0.2, 0.8], [0.8, 0.2], [0.8, 0.8]])
    return (places[labels] + 0.05 * random.standard_normal((n, 2))).astype(dtype), labels


@pytest.fixture(scope="module")
def model() -> GaussianNeurons:
    return GaussianNeurons(12, width=0.05, domain=(0, 1), random_state=0).fit(blobs()[0])


def state(model: GaussianNeurons) -> list:
    """Everything that learning may change."""
    names = ("centers_", "widths_", "initial_centers_", "learned_", "n_samples_seen_")
    return [np.copy(getattr(model, name)) for name in names]


def assert_same(one: GaussianNeurons, other: GaussianNeurons) -> None:
    for a, b in zip(state(one), state(other), strict=True):
        np.testing.assert_array_equal(a, b)


@parametrize_with_checks([GaussianNeurons(random_state=0), GaussianNeurons(3, width=2.0, init="samples")])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def test_it_finds_four_clusters_and_says_so(model):
    X, labels = blobs()
    assert model.n_clusters_ == 4 == len(model.cluster_centers_) == model.learned_.sum()
    np.testing.assert_array_equal(model.cluster_centers_, model.centers_[model.learned_])
    assert adjusted_rand_score(labels, model.labels_) > 0.99
    np.testing.assert_array_equal(model.labels_, model.predict(X))
    assert set(model.labels_) == {0, 1, 2, 3}
    assert model.centers_.shape == model.initial_centers_.shape == (12, 2)
    assert model.n_samples_seen_ == 100_000
    assert model.n_features_in_ == 2


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize(("D", "init"), [(2, "uniform"), (5, "samples"), (50, "samples")])
def test_defaults_find_compact_clusters_at_any_scale(scale, D, init):
    random = np.random.default_rng(0)
    X = random.normal(random.choice([-10.0, 0.0, 10.0], size=(2000, 1)), 1.0, (2000, D)) * scale
    assert GaussianNeurons(init=init, random_state=0).fit(X).n_clusters_ == 3


@pytest.mark.parametrize("D", [2, 5, 10])
def test_a_width_of_three_times_the_squared_spread_finds_the_clusters(D):
    random = np.random.default_rng(0)
    places = random.uniform(-10, 10, (6, D)) / np.sqrt(D)
    X = random.normal(places[random.integers(6, size=20_000)], 0.4)
    assert (
        GaussianNeurons(20, width=3 * D * 0.4**2, init="samples", random_state=0).partial_fit(X).n_clusters_
        == 6
    )


def test_a_row_out_of_reach_belongs_to_no_cluster(model):
    assert model.predict([[5.0, 5.0]]) == [-1]
    assert model.score_samples([[5.0, 5.0]]) < np.log(1e-3) < model.score_samples([[0.2, 0.2]])


def test_answers_are_those_of_the_equations(model):
    X = blobs(50, seed=1)[0]
    expected = np.array([reference.responses(x, model.centers_, model.widths_) for x in X])
    np.testing.assert_allclose(model.transform(X), expected, rtol=1e-12)
    np.testing.assert_allclose(
        model.score_samples(X), np.log(expected[:, model.learned_].max(axis=1)), rtol=1e-9
    )
    np.testing.assert_array_equal(model.predict(X), expected[:, model.learned_].argmax(axis=1))
    cost = reference.cost(X, model.centers_, model.widths_, 0.5)
    assert model.cost(X) == pytest.approx(cost, rel=1e-12)


def test_partial_fit_is_the_rule_row_by_row():
    X = blobs(500)[0]
    given = {"width": 0.05, "domain": (0, 1), "learning_rate": 0.003, "inhibition": 0.3}
    model = GaussianNeurons(6, random_state=0, **given).partial_fit(X)
    by_hand = Neurons.at(model.initial_centers_, 0.05)
    reference.learn(by_hand, X, inhibition=0.3, learning_rate=0.003)
    np.testing.assert_allclose(model.centers_, by_hand.centers, rtol=1e-10)


def test_widths_follow_those_of_the_samples():
    X = blobs(4000)[0]
    model = GaussianNeurons(6, width=0.05, domain=(0, 1), width_learning_rate=0.1, random_state=0)
    model.fit(X, sample_width=np.full(len(X), 0.02))
    np.testing.assert_allclose(model.widths_[model.learned_], 0.02, rtol=0.05)


def test_automatic_rate_is_a_tenth_of_the_width():
    X = blobs(300)[0]
    auto = GaussianNeurons(6, width=0.008, domain=(0, 1), random_state=0).partial_fit(X)
    told = GaussianNeurons(6, width=0.008, domain=(0, 1), learning_rate=0.0008, random_state=0).partial_fit(X)
    np.testing.assert_allclose(auto.centers_, told.centers_, rtol=1e-12)


def test_before_the_first_data_is_complete_there_is_an_answer():
    X, labels = blobs(5000)
    model = GaussianNeurons(12, random_state=0).partial_fit(X[:400])
    assert model.n_samples_seen_ == 400
    assert model.centers_.shape == (12, 2)
    early = model.predict(X[:400])
    assert adjusted_rand_score(labels[:400], early) > 0.3
    assert_same(GaussianNeurons(12, random_state=0).partial_fit(X), model.partial_fit(X[400:]))


def test_fit_starts_over_and_repeats_itself():
    X = blobs()[0]
    model = GaussianNeurons(8, random_state=5, max_samples=3000)
    first = state(model.fit(X))
    model.partial_fit(X)
    for a, b in zip(first, state(model.fit(X)), strict=True):
        np.testing.assert_array_equal(a, b)
    assert model.n_samples_seen_ == 3000


def test_single_precision_stays_single():
    X = blobs(dtype=np.float32)[0]
    model = GaussianNeurons(6, random_state=0).fit(X)
    assert model.centers_.dtype == model.transform(X).dtype == model.score_samples(X).dtype == np.float32
    model.partial_fit(blobs()[0])
    assert model.centers_.dtype == np.float32


@pytest.mark.parametrize("init", ["uniform", "samples", "array"])
def test_neurons_start_where_they_are_told_to(init):
    X = blobs()[0]
    placed = np.random.default_rng(0).random((5, 2))
    model = GaussianNeurons(5, init=placed if init == "array" else init, random_state=0).partial_fit(X)
    start = model.initial_centers_
    if init == "array":
        np.testing.assert_array_equal(start, placed)
    elif init == "samples":
        assert all((X[:1000] == row).all(axis=1).any() for row in start)
    else:
        assert (start >= X[:1000].min(axis=0)).all()
        assert (start <= X[:1000].max(axis=0)).all()


def test_a_frame_has_its_names_checked_and_names_come_out():
    frame = pd.DataFrame(blobs()[0], columns=["a", "b"])
    model = GaussianNeurons(3, random_state=0).fit(frame)
    assert list(model.get_feature_names_out()) == [f"gaussianneurons{i}" for i in range(3)]
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[["b", "a"]])


def test_it_works_in_a_pipeline():
    X, labels = blobs()
    pipeline = make_pipeline(StandardScaler(), GaussianNeurons(12, width=0.4, random_state=0))
    assert adjusted_rand_score(labels, pipeline.fit_predict(X)) > 0.99


def test_what_was_read_does_not_change_and_cannot_be_written():
    X = blobs()[0]
    model = GaussianNeurons(4, random_state=0).fit(X)
    read = model.centers_
    kept = read.copy()
    model.partial_fit(X)
    np.testing.assert_array_equal(read, kept)
    with pytest.raises(ValueError, match="read-only"):
        model.centers_[0] = 0.0


def test_labels_are_those_of_fit_alone(model):
    changed = copy.deepcopy(model).partial_fit(blobs()[0])
    with pytest.raises(AttributeError, match=r"use predict\(X\)"):
        _ = changed.labels_


@pytest.mark.parametrize("name", ["centers_", "learned_", "n_clusters_", "labels_", "n_samples_seen_"])
def test_nothing_is_told_before_fitting(name):
    with pytest.raises(NotFittedError):
        getattr(GaussianNeurons(), name)


# ---- adding and removing ----------------------------------------------------------------------------


def test_what_is_kept_stays_bit_for_bit(model):
    X = blobs()[0]
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


def test_neurons_are_removed_by_a_mask_too(model):
    changed = copy.deepcopy(model).remove_neurons(~model.learned_)
    np.testing.assert_array_equal(changed.centers_, model.cluster_centers_)
    assert len(changed.remove_neurons([]).centers_) == 4


def test_what_cannot_be_added_is_said(model):
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


def test_learning_nothing_is_said():
    with pytest.warns(ConvergenceWarning, match="try a larger width"):
        model = GaussianNeurons(3, width=1e-9, domain=(0, 1), random_state=0).fit(blobs()[0])
    assert model.n_clusters_ == 0
    assert (model.labels_ == -1).all()
    assert (model.score_samples([[0.2, 0.2]]) == -np.inf).all()


def test_a_bad_parameter_does_not_silence_a_fitted_model(model):
    changed = copy.deepcopy(model).set_params(n_neurons=0)
    np.testing.assert_array_equal(changed.predict(blobs()[0]), model.labels_)


def test_a_removed_pattern_is_learned_again_by_another():
    X = blobs(40_000)[0]
    model = GaussianNeurons(12, width=0.05, domain=(0, 1), random_state=0).partial_fit(X)
    assert model.n_clusters_ == 4
    model.remove_neurons(np.flatnonzero(model.learned_)[0])
    model.add_neurons(2)
    assert model.partial_fit(X).n_clusters_ == 4


def test_neurons_may_change_before_the_first_data_is_complete():
    X = blobs()[0]
    model = GaussianNeurons(6, random_state=0).partial_fit(X[:200])
    before = model.centers_.copy()
    model.remove_neurons(2)
    np.testing.assert_array_equal(model.centers_, np.delete(before, 2, axis=0))
    assert model.n_samples_seen_ == 200


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
def test_removing_what_is_not_there_is_refused(model, indices, message):
    before = state(model)
    with pytest.raises(ValueError, match=message):
        model.remove_neurons(indices)
    for a, b in zip(before, state(model), strict=True):
        np.testing.assert_array_equal(a, b)


# ---- interrupts, threads, copies --------------------------------------------------------------------


@pytest.mark.alone
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs a timer signal")
@pytest.mark.parametrize("fixed", [True, False])
def test_an_interrupt_leaves_a_model_that_counts_what_it_learned(fixed):
    def interrupt(*_):
        raise KeyboardInterrupt

    random = np.random.default_rng(0)
    rows = random.random((4, 25))
    endless = np.broadcast_to(rows[0], (10**9, 25))  # takes no memory
    given = {"width": 1.0, "domain": (0, 1)} if fixed else {}
    model = GaussianNeurons(random_state=0, **given).partial_fit(rows)
    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        for seconds in (0.25, 2, 20):  # longer where the machine stood still meanwhile
            signal.setitimer(signal.ITIMER_REAL, seconds)
            with pytest.raises(KeyboardInterrupt):
                model.partial_fit(endless)
            if model.n_samples_seen_ > 4:
                break
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    seen = model.n_samples_seen_
    assert 4 < seen < 10**9
    assert model._learner.received == seen
    assert (model._learner.recent[(seen - 1) % 1000] == rows[0]).all()
    again = GaussianNeurons(random_state=0, **given).partial_fit(rows).partial_fit(endless[: seen - 4])
    assert_same(again, model)


def test_other_threads_run_while_it_learns(monkeypatch):
    """One of them looks again and again during one step, which it could not if the lock were held."""
    rows = np.broadcast_to(np.random.default_rng(0).random(25, np.float32), (10**6, 25))  # takes no memory
    model = GaussianNeurons(width=1.0, domain=(0, 1), random_state=0).partial_fit(rows[:1000])
    learn, looks, over = ladder.steps, [0], threading.Event()

    def steps(*arguments):
        for _ in learn(*arguments):
            looks.append(0)
            yield

    def watch():
        while not over.is_set():
            looks[-1] += 1
            time.sleep(0.001)

    monkeypatch.setattr(ladder, "steps", steps)
    thread = threading.Thread(target=watch)
    thread.start()
    model.partial_fit(rows)
    over.set()
    thread.join()
    assert max(looks[1:-1]) > 5


def test_pickle_copy_and_clone(model):
    X = blobs(500, seed=3)[0]
    expected = copy.deepcopy(model).partial_fit(X)
    assert_same(pickle.loads(pickle.dumps(model)).partial_fit(X), expected)
    assert_same(copy.deepcopy(model).partial_fit(X), expected)
    fresh = clone(model)
    assert fresh.get_params() == model.get_params()
    assert not hasattr(fresh, "centers_")


def test_a_copy_shares_nothing(model):
    before = model.centers_.copy()
    copy.copy(model).partial_fit(blobs()[0])
    copy.deepcopy(model).partial_fit(blobs()[0])
    np.testing.assert_array_equal(model.centers_, before)


# ---- bad input --------------------------------------------------------------------------------------

BAD_PARAMETERS = [
    ({"n_neurons": 0}, "n_neurons must be a whole number of at least 1, got 0"),
    ({"n_neurons": 2.5}, "n_neurons must be a whole number"),
    ({"n_neurons": True}, "n_neurons must be a whole number"),
    ({"width": 0.0}, "width must be positive and finite, got .*0.0.* at neuron 0"),
    ({"width": -1.0}, r"width must be positive.*squared lengths"),
    ({"width": [1.0, 2.0]}, "one for each of the 4 neurons"),
    ({"width": [1.0, 2.0, 3.0, np.nan]}, "at neuron 3"),
    ({"width": "wide"}, "width must be a number or 'auto', got 'wide'"),
    ({"width": None}, "width must be"),
    ({"inhibition": -0.1}, "inhibition must be finite and at least 0, got -0.1"),
    ({"inhibition": np.inf}, "inhibition must be finite"),
    ({"inhibition": "strong"}, "inhibition must be a number"),
    ({"learning_rate": -1e-9}, "learning_rate must be finite and at least 0"),
    ({"learning_rate": "fast"}, "learning_rate must be a number or 'auto'"),
    ({"width_learning_rate": 1.5}, "width_learning_rate must be finite and between 0 and 1, got 1.5"),
    ({"repulsion_every": 0}, "repulsion_every must be a whole number from 1 to 2147483647, got 0"),
    ({"repulsion_every": 2.5}, "repulsion_every must be a whole number from 1"),
    ({"init": "random"}, "init must be 'auto', one of 'uniform', 'samples', 'spread' or an array"),
    ({"init": np.zeros((3, 2))}, r"init must have shape \(4, 2\), got \(3, 2\)"),
    ({"init": np.full((4, 2), np.nan)}, "init must hold finite numbers"),
    ({"domain": (1.0, 1.0)}, "domain must have low < high.*column 0"),
    ({"domain": (1.0, 0.0)}, "domain must have low < high"),
    ({"domain": ([0.0, 0.0], [1.0, np.nan])}, "domain must have low < high.*column 1"),
    ({"domain": 3.0}, "domain must be a pair"),
    ({"domain": ([0.0] * 3, 1.0)}, "domain must be a pair"),
    ({"width_learning_rate": 0.1}, "sample_width is needed"),
]


@pytest.mark.parametrize(("parameters", "message"), BAD_PARAMETERS)
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_bad_parameters_are_refused_and_change_nothing(parameters, message, method):
    X = blobs(200)[0]
    with pytest.raises(ValueError, match=message):
        getattr(GaussianNeurons(**({"n_neurons": 4} | parameters)), method)(X)
    model = GaussianNeurons(4, width=0.05, domain=(0, 1), random_state=0).fit(X)
    before, labels = state(model), model.labels_.copy()
    model.set_params(**parameters)
    with pytest.raises(ValueError, match=message):
        getattr(model, method)(X)
    model.set_params(n_neurons=4, width=0.05, inhibition=0.5, learning_rate="auto", width_learning_rate=0.0)
    model.set_params(init="uniform", domain=(0, 1), repulsion_every=1)
    for a, b in zip(before, state(model), strict=True):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(model.labels_, labels)


@pytest.mark.parametrize(
    ("parameters", "dtype", "message"),
    [
        ({"width": 1e-50}, np.float32, "1e-50 is out of the range of float32"),
        ({"width": 1e50}, np.float32, "out of the range of float32"),
        ({"width": 5e-324}, np.float64, "out of the range of float64"),
        ({"init": np.full((4, 2), 1e300)}, np.float32, "starting centers are out of the range of float32"),
        ({"domain": (-1e300, 1e300)}, np.float32, "starting centers are out of the range"),
    ],
)
def test_what_the_precision_cannot_hold_is_refused(parameters, dtype, message):
    given = {"n_neurons": 4, "width": 0.05, "domain": (0, 1), "random_state": 0} | parameters
    with pytest.raises(ValueError, match=message):
        GaussianNeurons(**given).partial_fit(blobs(100, dtype=dtype)[0])


def test_the_widest_domain_is_still_drawn_from():
    model = GaussianNeurons(50, width=1.0, domain=(-1e308, 1e308), random_state=0).partial_fit(blobs(10)[0])
    assert np.isfinite(model.initial_centers_).all()
    assert (np.abs(model.initial_centers_) > 1e306).any()


@pytest.mark.parametrize("draws", [0, -1, 2.5, "all"])
def test_bad_max_samples_is_refused(draws):
    with pytest.raises(ValueError, match="max_samples must be a whole number"):
        GaussianNeurons(max_samples=draws).fit(blobs(100)[0])


BAD_ROWS = [
    ([[0.1, np.nan]], "NaN at row 0, column 1"),
    ([[0.1, 0.2], [np.inf, 0.0]], "row 1, column 0"),
    ([[0.1, 0.2, 0.3]], "3 features"),
    (np.empty((0, 2)), "0 sample"),
    ([["a", "b"]], "could not convert|numeric|dtype"),
    ([[1.0, None]], "NaN|numbers"),
    (np.array([["2020-01-01", "2020-01-02"]], dtype="datetime64[D]"), "must hold numbers"),
    ([0.1, 0.2], "1D array|2D array"),
    (np.zeros((2, 2, 2)), "dim 3"),
    ([[1 + 2j, 0.0]], "[Cc]omplex"),
]


@pytest.mark.parametrize(("rows", "message"), BAD_ROWS)
@pytest.mark.parametrize("method", ["fit", "partial_fit", "predict", "transform", "score_samples", "cost"])
def test_bad_rows_are_refused_and_change_nothing(model, rows, message, method):
    if method == "fit" and message == "3 features":
        pytest.skip("fit starts over with any number of columns")
    tried = copy.deepcopy(model)
    with pytest.raises(ValueError, match=message):
        getattr(tried, method)(rows)
    assert_same(tried, model)
    np.testing.assert_array_equal(tried.labels_, model.labels_)


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
@pytest.mark.parametrize(
    ("widths", "message"),
    [
        ([0.1], "one number for each of the 50 rows"),
        (np.full(50, -0.1), "must be finite and not negative, got .*-0.1.* at row 0"),
        (np.full(50, np.nan), "must be finite and not negative"),
        (["a"] * 50, "sample_width must be numbers"),
    ],
)
def test_bad_sample_widths_are_refused_and_change_nothing(model, method, widths, message):
    tried = copy.deepcopy(model).set_params(width_learning_rate=0.1)
    with pytest.raises(ValueError, match=message):
        getattr(tried, method)(blobs(50)[0], sample_width=widths)
    assert_same(tried, model)


def test_bad_rows_late_in_the_first_data_change_nothing():
    X = blobs(3000)[0]
    model = GaussianNeurons(6, random_state=0).partial_fit(X[:300])
    before = state(model)
    bad = X[300:].copy()
    bad[2000, 1] = np.nan
    with pytest.raises(ValueError, match="row 2000, column 1"):
        model.partial_fit(bad)
    for a, b in zip(before, state(model), strict=True):
        np.testing.assert_array_equal(a, b)
    assert_same(model.partial_fit(X[300:]), GaussianNeurons(6, random_state=0).partial_fit(X))


def test_running_away_leaves_the_model_as_it_was(model):
    tried = copy.deepcopy(model).set_params(learning_rate=1e308)
    for method in ("fit", "partial_fit"):
        with pytest.raises(FloatingPointError, match="lower learning_rate"):
            getattr(tried, method)(blobs()[0])
    tried.set_params(learning_rate="auto")
    assert_same(tried, model)
    np.testing.assert_array_equal(tried.labels_, model.labels_)


def test_no_memory_leaves_the_model_as_it_was(model, monkeypatch):
    def full(*_):
        raise MemoryError

    tried = copy.deepcopy(model)
    monkeypatch.setattr(native._core, "learn", full)
    for method in ("fit", "partial_fit"):
        with pytest.raises(MemoryError):
            getattr(tried, method)(blobs()[0])
    monkeypatch.undo()
    assert_same(tried, model)
    np.testing.assert_array_equal(tried.labels_, model.labels_)


@pytest.mark.parametrize("X", [[[1.0, 2.0]], [[1.0, 2.0]] * 50, [[1.0, 2.0], [3.0, 2.0]], [[0], [1]]])
def test_degenerate_data_gives_a_sane_answer(X):
    model = GaussianNeurons(5, random_state=0).fit(X)
    assert np.isfinite(model.centers_).all()
    assert 1 <= model.n_clusters_ <= 5
    assert (model.predict(X) >= 0).all()
