"""GaussianNeurons: scikit-learn's contract, the attributes, copies, bad input."""

import copy
import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from gaussian_neurons import GaussianNeurons
from gaussian_neurons.learning import native, reference
from gaussian_neurons.learning.rule import Rule
from tests.runs import same


def blobs(n: int = 3000, seed: int = 0, dtype: type = np.float64) -> tuple[np.ndarray, np.ndarray]:
    """Four round clusters in the unit square, and their labels."""
    random = np.random.default_rng(seed)
    labels = random.integers(4, size=n)
    places = np.array([[0.2, 0.2], [0.2, 0.8], [0.8, 0.2], [0.8, 0.8]])
    return (places[labels] + 0.05 * random.standard_normal((n, 2))).astype(dtype), labels


@pytest.fixture(scope="module")
def model() -> GaussianNeurons:
    return GaussianNeurons(12, width=0.05, domain=(0, 1), random_state=0).fit(blobs()[0])


RANDOM_DRAWS = (
    "fit draws rows at random: weighted rows and repeated rows are equal in distribution, not in bits"
)


@parametrize_with_checks(
    [
        GaussianNeurons(8, max_samples=2000, random_state=0),
        GaussianNeurons(3, width=2.0, init="samples", max_samples=5000),
        GaussianNeurons(8, max_samples=2000, random_state=0, scale="robust"),
    ],
    expected_failed_checks=lambda _: {"check_sample_weight_equivalence_on_dense_data": RANDOM_DRAWS},
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def test_four_clusters_are_found(model):
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


def test_a_row_far_from_all_clusters_belongs_to_none(model):
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
    start, widths = model.initial_centers_, np.full(6, 0.05)
    expected, _ = reference.learn(start, widths, X, None, Rule(0.003, 0.3), 0)
    np.testing.assert_allclose(model.centers_, expected, rtol=1e-10)


def test_widths_follow_those_of_the_samples():
    X = blobs(4000)[0]
    model = GaussianNeurons(6, width=0.05, domain=(0, 1), width_learning_rate=0.1, random_state=0)
    model.fit(X, sample_width=np.full(len(X), 0.02))
    np.testing.assert_allclose(model.widths_[model.learned_], 0.02, rtol=0.05)


def test_automatic_rate_is_a_tenth_of_the_width():
    X = blobs(300)[0]
    auto = GaussianNeurons(6, width=0.008, domain=(0, 1), random_state=0).partial_fit(X)
    given = GaussianNeurons(6, width=0.008, domain=(0, 1), learning_rate=0.0008, random_state=0).partial_fit(
        X
    )
    np.testing.assert_allclose(auto.centers_, given.centers_, rtol=1e-12)


def test_a_model_answers_before_its_first_data_is_complete():
    X, labels = blobs(5000)
    model = GaussianNeurons(12, random_state=0).partial_fit(X[:400])
    assert model.n_samples_seen_ == 400
    assert model.centers_.shape == (12, 2)
    early = model.predict(X[:400])
    assert adjusted_rand_score(labels[:400], early) > 0.3
    assert same(GaussianNeurons(12, random_state=0).partial_fit(X), model.partial_fit(X[400:]))


def test_fit_starts_over_and_is_repeatable():
    X = blobs()[0]
    model = GaussianNeurons(8, random_state=5, max_samples=3000)
    first = copy.deepcopy(model.fit(X))
    assert same(model.partial_fit(X).fit(X), first)
    assert model.n_samples_seen_ == 3000


def test_float32_stays_float32():
    X = blobs(dtype=np.float32)[0]
    model = GaussianNeurons(6, max_samples=1500, random_state=0).fit(X)
    assert model.centers_.dtype == model.transform(X).dtype == model.score_samples(X).dtype == np.float32
    model.partial_fit(blobs()[0])
    assert model.centers_.dtype == np.float32


@pytest.mark.parametrize("init", ["uniform", "samples", "array"])
def test_starting_centers(init):
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


def test_names_of_columns_are_checked_and_features_get_names():
    frame = pd.DataFrame(blobs()[0], columns=["a", "b"])
    model = GaussianNeurons(3, max_samples=1500, random_state=0).fit(frame)
    assert list(model.get_feature_names_out()) == [f"gaussianneurons{i}" for i in range(3)]
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[["b", "a"]])


@pytest.mark.parametrize("seen", [300, 3000])
def test_tables_go_in_and_come_out(seen):
    frame = pd.DataFrame(blobs()[0], columns=["a", "b"]).set_index(np.arange(3000) + 7)
    model = GaussianNeurons(3, random_state=0).partial_fit(frame[:seen]).set_output(transform="pandas")
    found = model.transform(frame)
    assert list(found.columns) == list(model.get_feature_names_out())
    assert found.index.equals(frame.index)
    np.testing.assert_array_equal(found, model.set_output(transform="default").transform(frame))
    model.add_neurons(2).set_output(transform="polars")
    assert model.transform(frame).columns == [f"gaussianneurons{i}" for i in range(5)]
    pipeline = make_pipeline(StandardScaler(), GaussianNeurons(3, random_state=0)).set_output(
        transform="pandas"
    )
    assert pipeline.fit_transform(frame).index.equals(frame.index)
    assert list(pipeline.get_feature_names_out()) == [f"gaussianneurons{i}" for i in range(3)]


def test_it_works_in_a_pipeline():
    X, labels = blobs()
    pipeline = make_pipeline(StandardScaler(), GaussianNeurons(12, width=0.4, random_state=0))
    assert adjusted_rand_score(labels, pipeline.fit_predict(X)) > 0.99


def test_arrays_that_were_read_do_not_change_and_are_read_only():
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
def test_an_unfitted_model_has_no_attributes(name):
    with pytest.raises(NotFittedError):
        getattr(GaussianNeurons(), name)


def test_learning_nothing_is_a_warning():
    with pytest.warns(ConvergenceWarning, match="try a larger width"):
        model = GaussianNeurons(3, width=1e-9, domain=(0, 1), random_state=0).fit(blobs()[0])
    assert model.n_clusters_ == 0
    assert (model.labels_ == -1).all()
    assert (model.score_samples([[0.2, 0.2]]) == -np.inf).all()


def test_a_fitted_model_answers_despite_a_bad_parameter(model):
    changed = copy.deepcopy(model).set_params(n_neurons=0)
    np.testing.assert_array_equal(changed.predict(blobs()[0]), model.labels_)


# ---- weights ----------------------------------------------------------------------------------------


def test_rows_are_drawn_in_proportion_to_their_weights():
    X, labels = blobs()
    weights = np.where(labels == 0, 0.0, np.where(labels == 1, 6.0, 1.0))
    model = GaussianNeurons(12, random_state=0).fit(X, sample_weight=weights)
    drawn = (model.recent_samples_[:, None] == X[None]).all(axis=2).argmax(axis=1)
    counts = np.bincount(labels[drawn], minlength=4) / 1000
    np.testing.assert_allclose(counts, [0.0, 0.75, 0.125, 0.125], atol=0.06)
    assert counts[0] == 0
    assert model.n_clusters_ == 3
    assert model.labels_.shape == (3000,)


@pytest.mark.parametrize("width", ["auto", 0.05])
def test_rows_of_weight_zero_are_as_if_they_were_not_there(width):
    X, labels = blobs(30_000)
    weights = np.random.default_rng(0).random(len(X)) * (labels > 0)
    model, fewer = (GaussianNeurons(6, width=width, domain=(0, 1), random_state=0) for _ in range(2))
    model.fit(X, sample_weight=weights)
    fewer.fit(X[weights > 0], sample_weight=weights[weights > 0])
    assert model.n_samples_seen_ == fewer.n_samples_seen_
    np.testing.assert_array_equal(model.centers_, fewer.centers_)
    np.testing.assert_array_equal(model.labels_[weights > 0], fewer.labels_)


def test_weights_reach_a_model_in_a_pipeline():
    X, labels = blobs()
    pipeline = make_pipeline(StandardScaler(), GaussianNeurons(12, random_state=0))
    found = pipeline.fit_predict(X, gaussianneurons__sample_weight=1.0 * (labels < 2))
    assert len(set(found[labels < 2]) - {-1}) == pipeline[-1].n_clusters_ == 2


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (1.0, r"one number for each of the 50 rows, got the shape \(\)"),
        (np.ones(49), "one number for each of the 50 rows"),
        (np.ones((50, 1)), "one number for each of the 50 rows"),
        (np.full(50, -0.5), "finite and not negative, got -0.5 at row 0"),
        ([1.0] * 49 + [np.nan], "finite and not negative, got nan at row 49"),
        (np.zeros(50), "zero for all rows"),
        (["a"] * 50, "sample_weight must be numbers"),
    ],
)
def test_bad_weights_are_refused_and_change_nothing(model, tried, weights, message):
    with pytest.raises(ValueError, match=message):
        tried.fit(blobs(50)[0], sample_weight=weights)
    assert tried._state is model._state


def test_a_step_has_no_weight(model, tried):
    with pytest.raises(ValueError, match="Repeat rows and shuffle them, or give the weights to fit"):
        tried.partial_fit(blobs(50)[0], sample_weight=np.ones(50))
    assert tried._state is model._state


# ---- parts and scores -------------------------------------------------------------------------------


STREAMS = {
    "automatic": GaussianNeurons(20, random_state=0),
    "any": GaussianNeurons(20, shape="any", random_state=0),
    "given": GaussianNeurons(12, width=0.05, random_state=0),
    "diag": GaussianNeurons(12, width=0.05, covariance_type="diag", random_state=0),
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("seen", [1, 30, 400, 5000])
@pytest.mark.parametrize("kind", STREAMS)
def test_parts_of_clusters(kind, seen, dtype):
    model = clone(STREAMS[kind]).partial_fit(blobs(5000, dtype=dtype)[0][:seen])
    rows = np.concatenate([blobs(500, seed=1)[0], np.random.default_rng(0).uniform(-3, 3, (500, 2))])
    rows = np.concatenate([rows, [[1e15, 1e15], [-1e18, 0.0], [0.5, 0.5]]]).astype(dtype)
    parts, numbers = model.predict_proba(rows), model.predict(rows)
    assert parts.shape == (len(rows), model.n_clusters_)
    assert (parts >= 0).all()
    if model.n_clusters_:
        np.testing.assert_allclose(parts.sum(axis=1), 1.0, rtol=1e-12)
        largest = model.cluster_numbers_[parts.argmax(axis=1)]
        np.testing.assert_array_equal(largest[numbers >= 0], numbers[numbers >= 0])


def test_parts_are_responses_of_a_given_width(model):
    X = blobs(50, seed=1)[0]
    expected = model.transform(X)[:, model.learned_]  # clusters are numbered by their neurons here
    np.testing.assert_allclose(
        model.predict_proba(X), expected / expected.sum(axis=1, keepdims=True), rtol=1e-9
    )


def test_the_winner_of_a_tie_has_the_largest_part():
    """The second cluster is the first neuron."""
    model = GaussianNeurons(
        2, width=1.0, init=[[0.0], [1.0]], domain=(0, 1), learning_rate=0.0, random_state=0
    )
    model.partial_fit(np.tile([[0.0], [1.0]], (1000, 1)))
    state = model._state
    look = replace(state.network.look, known=replace(state.network.look.known, number=np.array([1, 0])))
    model._state = replace(state, network=replace(state.network, look=look))
    assert model.predict([[0.5]]) == [1]
    assert model.predict_proba([[0.5]]).argmax() == 1
    np.testing.assert_allclose(model.predict_proba([[0.5]]), 0.5)


def test_a_model_that_learned_nothing_has_no_parts():
    model = GaussianNeurons(3, width=1.0, domain=(0, 1), random_state=0).place_neurons(2)
    assert model.predict_proba([[0.0, 0.0]]).shape == (1, 0)
    assert model.score([[0.0, 0.0]]) == -np.inf


@pytest.mark.parametrize("kind", STREAMS)
def test_the_score_is_near_the_best_possible_one(kind):
    """Minus the entropy: log 4 for the clusters, log(2 pi e 0.05^2) for two columns."""
    best = -np.log(4 * 2 * np.pi * np.e * 0.05**2)
    X, held_out = blobs(5000)[0], blobs(2000, seed=1)[0]
    model = clone(STREAMS[kind])
    assert best - 1.0 < model.partial_fit(X[:400]).score(held_out) < best + 0.1
    assert best - 0.15 < model.partial_fit(X[400:]).score(held_out) < best + 0.1
    assert model.score(held_out + 0.1) < best - 1.0


@pytest.mark.parametrize("kind", STREAMS)
@pytest.mark.parametrize("seen", [500, 4321])
def test_scores_and_parts_do_not_depend_on_the_calls(kind, seen):
    X, rows = blobs(5000)[0][:seen], blobs(100, seed=1)[0]
    whole, pieces = clone(STREAMS[kind]).partial_fit(X), clone(STREAMS[kind])
    for begin in range(0, seen, 77):
        pieces.partial_fit(X[begin : begin + 77])
    assert pieces.score(rows) == whole.score(rows)
    np.testing.assert_array_equal(pieces.predict_proba(rows), whole.predict_proba(rows))


@pytest.mark.parametrize(
    ("given", "grid"),
    [
        ({"width": 0.05}, {"width": [0.0005, 0.005, 0.02, 0.1, 0.5, 2.0]}),
        ({}, {"width": ["auto", 0.5, 2.0]}),
        ({}, {"n_neurons": [1, 2, 3, 10]}),
        ({}, {"learning_rate": [0.0, 0.015, 0.9]}),
    ],
    ids=["width", "automatic", "neurons", "rate"],
)
def test_a_grid_search_finds_the_clusters(given, grid):
    X, labels = blobs()
    model = GaussianNeurons(
        **{"n_neurons": 12, "max_samples": 20_000, "init": "samples", "random_state": 0} | given
    )
    search = GridSearchCV(model, grid, cv=3).fit(X)
    assert search.best_estimator_.n_clusters_ == 4
    assert adjusted_rand_score(labels, search.predict(X)) > 0.98
    worst = clone(model).set_params(
        **search.cv_results_["params"][search.cv_results_["mean_test_score"].argmin()]
    )
    if "learning_rate" not in grid:  # merging finds clear clusters from a poor start too
        assert adjusted_rand_score(labels, worst.fit(X).predict(X)) < 0.98


# ---- copies --------------------------------------------------------------------


def test_pickle_copy_and_clone(model):
    X = blobs(500, seed=3)[0]
    expected = copy.deepcopy(model).partial_fit(X)
    assert same(pickle.loads(pickle.dumps(model)).partial_fit(X), expected)
    assert same(copy.deepcopy(model).partial_fit(X), expected)
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


@pytest.fixture
def tried(model):
    """A model that shares the state of the fitted one."""
    shared = clone(model)
    shared._state = model._state
    return shared


@pytest.mark.parametrize(("parameters", "message"), BAD_PARAMETERS)
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_bad_parameters_are_refused_and_change_nothing(model, tried, parameters, message, method):
    X = blobs(50)[0]
    new = GaussianNeurons(**({"n_neurons": 4} | parameters))
    for each in (new, tried.set_params(**({"n_neurons": 4} | parameters))):
        with pytest.raises(ValueError, match=message):
            getattr(each, method)(X)
    assert new._state is None
    assert tried._state is model._state


@pytest.mark.parametrize(
    ("parameters", "dtype", "message"),
    [
        ({"width": 1e-50}, np.float32, "1e-50 is out of the range of float32"),
        ({"width": 1e50}, np.float32, "out of the range of float32"),
        ({"width": 5e-324}, np.float64, "out of the range of float64"),
        ({"init": np.full((4, 2), 1e300)}, np.float32, "centers are out of the range of float32"),
        ({"domain": (-1e300, 1e300)}, np.float32, "centers are out of the range"),
    ],
)
def test_values_out_of_the_range_of_the_precision_are_refused(parameters, dtype, message):
    given = {"n_neurons": 4, "width": 0.05, "domain": (0, 1), "random_state": 0} | parameters
    with pytest.raises(ValueError, match=message):
        GaussianNeurons(**given).partial_fit(blobs(100, dtype=dtype)[0])


def test_the_widest_domain():
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
    ([["a", "b"]], "must hold numbers, got 'a' at row 0, column 0"),
    ([[1.0, None]], "NaN|numbers"),
    (np.array([["2020-01-01", "2020-01-02"]], dtype="datetime64[D]"), "must hold numbers"),
    ([0.1, 0.2], "one dimension"),
    (np.zeros((2, 2, 2)), "3 dimensions"),
    ([[1 + 2j, 0.0]], "[Cc]omplex"),
]


@pytest.mark.parametrize(("rows", "message"), BAD_ROWS)
@pytest.mark.parametrize(
    "method",
    ["fit", "partial_fit", "predict", "transform", "score_samples", "cost", "predict_proba", "score"],
)
def test_bad_rows_are_refused_and_change_nothing(model, tried, rows, message, method):
    if method == "fit" and message == "3 features":
        rows = [[0.1, 0.2, np.nan]]  # fit starts over with any number of columns
        message = "NaN at row 0, column 2"
    with pytest.raises(ValueError, match=message):
        getattr(tried, method)(rows)
    assert tried._state is model._state


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
def test_bad_sample_widths_are_refused_and_change_nothing(model, tried, method, widths, message):
    tried.set_params(width_learning_rate=0.1)
    with pytest.raises(ValueError, match=message):
        getattr(tried, method)(blobs(50)[0], sample_width=widths)
    assert tried._state is model._state


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_neurons_that_diverge_leave_the_state_as_it_was(model, tried, method):
    with pytest.raises(FloatingPointError, match="lower learning_rate"):
        getattr(tried.set_params(learning_rate=1e308), method)(blobs()[0])
    assert tried._state is model._state


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_no_memory_leaves_the_state_as_it_was(model, tried, method, monkeypatch):
    def full(*_):
        raise MemoryError

    monkeypatch.setattr(native._core, "learn", full)
    with pytest.raises(MemoryError):
        getattr(tried, method)(blobs()[0])
    assert tried._state is model._state


@pytest.mark.parametrize("X", [[[1.0, 2.0]], [[1.0, 2.0]] * 50, [[1.0, 2.0], [3.0, 2.0]], [[0], [1]]])
def test_degenerate_data_gives_a_valid_answer(X):
    model = GaussianNeurons(5, random_state=0).fit(X)
    assert np.isfinite(model.centers_).all()
    assert 1 <= model.n_clusters_ <= 5
    assert (model.predict(X) >= 0).all()


def test_arrays_that_a_model_gives_are_read_only_copies():
    X = np.random.default_rng(0).normal([[0.0, 0.0]], 1.0, (1500, 2))
    model = copy.deepcopy(GaussianNeurons(8, random_state=0).fit(X))
    given = (model.learned_, model.cluster_numbers_, model.labels_, model.centers_, model.events_[0].center)
    for array in given:
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


# ---- nothing learned --------------------------------------------------------------------------------


def test_every_row_is_novel_if_nothing_was_learned():
    far = GaussianNeurons(3, width=1.0, init=np.full((3, 2), 1e3), domain=(0, 1e3), random_state=0)
    placed = GaussianNeurons(3, width=1.0, domain=(0, 1), random_state=0).place_neurons(2)
    for model in (far.partial_fit(np.zeros((2000, 2))), placed):
        assert model.n_clusters_ == 0
        assert model.novelty_threshold() == model.novelty_threshold(0.0) == np.inf
        assert model.is_novel([[1e6, 1e6], [0.0, 0.0]]).tolist() == [True, True]
        assert model.predict([[0.0, 0.0]]) == -1
        for ask in (model.predict, model.is_novel, model.score_samples):
            with pytest.raises(ValueError, match="got NaN at row 1"):
                ask([[0.0, 0.0], [0.0, np.nan]])


def test_a_threshold_with_samples_out_of_reach_is_a_number():
    """Log-responses of float32 are minus infinity for some of the last samples."""
    X = np.linspace(-0.01, 0.01, 2000, dtype=np.float32)[:, None]
    X[1500:] = 1e19 * (1 + X[1500:])
    model = GaussianNeurons(1, width=1e-2, init=[[0.0]], domain=(0, 1), learning_rate=0.0).partial_fit(X)
    assert model.n_clusters_ == 1
    assert not np.isnan([model.novelty_threshold(part) for part in (0.0, 0.25, 0.49995, 0.5, 1.0)]).any()
    assert model.is_novel(X[[0, -1]], 0.25).tolist() == [False, False]


def test_a_failed_call_leaves_a_generator_of_the_caller_as_it_was():
    X, bad = np.random.default_rng(0).random((50, 2)), np.full((3, 2), np.nan)
    given = {"n_neurons": 4, "width": 0.1, "domain": (0, 1)}
    expected = GaussianNeurons(**given, random_state=np.random.RandomState(0)).partial_fit(X)
    model = GaussianNeurons(**given, random_state=np.random.RandomState(0))
    with pytest.raises(ValueError, match="NaN"):
        model.partial_fit(bad)
    np.testing.assert_array_equal(model.partial_fit(X).centers_, expected.centers_)
    skipping = GaussianNeurons(**given, random_state=np.random.RandomState(0))
    with pytest.warns(UserWarning, match="skipped"):
        skipping.learn(np.concatenate([bad, X]), on_bad="skip")
    np.testing.assert_array_equal(skipping.centers_, expected.centers_)
    shared = np.random.RandomState(0)
    first, second = (GaussianNeurons(**given, random_state=shared).partial_fit(X) for _ in range(2))
    np.testing.assert_array_equal(first.centers_, expected.centers_)
    assert (first.centers_ != second.centers_).any()
