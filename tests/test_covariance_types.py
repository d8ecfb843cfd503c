"""GaussianNeurons with diagonal and full covariances."""

import json

import numpy as np
import pytest

from gaussian_neurons import GaussianNeurons, sweep
from gaussian_neurons.model import model_file
from gaussian_neurons.sampling import Rows
from gaussian_neurons.sweeping import Sweep
from gaussian_neurons.views import svg

LONG = np.array([[1.0, 0.9], [0.9, 1.0]]) * 0.02  # the covariance of a long cluster
PLACES = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0]])


@pytest.fixture(scope="module")
def X():
    random = np.random.default_rng(0)
    rows = [random.multivariate_normal(place, LONG, 1000) for place in PLACES]
    return random.permutation(np.concatenate(rows))


def model(kind, **given):
    return GaussianNeurons(10, covariance_type=kind, **({"width": 0.1, "random_state": 0} | given))


def same(one, other):
    parameters = one.get_params(deep=False)
    contents = [model_file.contents(parameters, each._state) for each in (one, other)]
    return all(
        contents[0].arrays[name].tobytes() == array.tobytes() for name, array in contents[1].arrays.items()
    )


def test_neurons_of_the_shape_of_long_clusters_find_them(X):
    """Round neurons cut the clusters into two halves each."""
    shaped = np.repeat(4 * LONG[None], 10, axis=0)
    found = model("full", width=shaped).fit(X)
    nearest = np.abs(found.cluster_centers_[:, None] - PLACES).max(axis=2).min(axis=0)
    assert (nearest < 0.06).all()
    halved = model("spherical").fit(X)
    assert np.abs(halved.cluster_centers_[:, None] - PLACES).max(axis=2).min() > 0.1


@pytest.mark.parametrize("kind", ["diag", "full"])
def test_a_number_as_width_is_the_same_rule(X, kind):
    plain, shaped = model("spherical").partial_fit(X), model(kind).partial_fit(X)
    np.testing.assert_allclose(shaped.centers_, plain.centers_, rtol=1e-8, atol=1e-10)
    np.testing.assert_array_equal(shaped.learned_, plain.learned_)
    np.testing.assert_array_equal(shaped.predict(X[:100]), plain.predict(X[:100]))
    np.testing.assert_allclose(shaped.transform(X[:9]), plain.transform(X[:9]), rtol=1e-8)
    np.testing.assert_allclose(shaped.cost(X[:99]), plain.cost(X[:99]), rtol=1e-8)


def test_neurons_learn_the_covariances_of_the_samples(X):
    own = np.repeat(4 * LONG[None], len(X), axis=0)
    found = model("full", width_learning_rate=0.1).fit(X, sample_width=own)
    np.testing.assert_allclose(
        found.widths_[found.learned_], 4 * LONG[None].repeat(found.learned_.sum(), 0), atol=1e-3
    )
    found = model("diag", width_learning_rate=0.1).fit(X, sample_width=own[:, [0, 1], [0, 1]])
    np.testing.assert_allclose(found.widths_[found.learned_], 0.08, atol=1e-3)


@pytest.mark.parametrize("kind", ["diag", "full"])
@pytest.mark.parametrize("rows", [400, 2500])  # before and after the first data is complete
def test_files_copies_and_streams_keep_every_bit(X, kind, rows, tmp_path):
    own = np.random.default_rng(1).uniform(0.05, 0.1, len(X))  # numbers stand for multiples of the identity
    rates = {"width_learning_rate": 0.1, "learning_rate": 0.01}
    one = model(kind, **rates).partial_fit(X[:rows], sample_width=own[:rows])
    one.save(tmp_path / "model")
    loaded = GaussianNeurons.load(tmp_path / "model")
    assert same(loaded, one)
    learned = model(kind, **rates).learn(Rows(X, sample_width=own), rows)
    assert same(learned, one)
    for each in (one, loaded):
        each.partial_fit(X[rows:], sample_width=own[rows:])
    assert same(loaded, one)
    one.save(tmp_path / "model")
    assert same(GaussianNeurons.load(tmp_path / "model"), one)


def test_neurons_are_added_moved_and_removed(X):
    found = (
        model("full").partial_fit(X).add_neurons(centers=[[5.0, 5.0]]).move_neurons(0, width=4 * LONG[None])
    )
    np.testing.assert_array_equal(found.widths_[10], 0.1 * np.eye(2))
    np.testing.assert_allclose(found.widths_[0], 4 * LONG)
    assert found.remove_neurons([10]).partial_fit(X[:100]).widths_.shape == (10, 2, 2)


WRONG = {
    "no width": ({"width": "auto"}, "covariance_type='full' needs a width"),
    "an unknown type": (
        {"covariance_type": "tied"},
        "covariance_type must be one of 'spherical', 'diag', 'full'",
    ),
    "a wrong shape": ({"width": np.ones((4, 2))}, r"an array of shape \(10,\) or \(10, 2\) or \(10, 2, 2\)"),
    "a singular matrix": ({"width": np.ones((10, 2, 2))}, "positive definite matrices"),
    "a matrix that is not symmetric": (
        {"width": np.repeat([[[1.0, 0.5], [0.0, 1.0]]], 10, axis=0)},
        "symmetric, positive definite matrices",
    ),
    "a negative variance": ({"width": -np.ones((10, 2))}, "positive and finite, got -1.0 at neuron 0"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_widths_are_refused(X, case):
    change, says = WRONG[case]
    with pytest.raises(ValueError, match=says):
        model("full").set_params(**change).fit(X)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda own: own[:5], "one number for each of the 20 rows"),
        (lambda own: own * np.nan, "finite and not negative, got nan at row 0"),
        (lambda own: -own, "not negative, got -0.08 at row 0"),
        (lambda own: own * [[1, 2], [1, 1]], "symmetric matrices, got another one at row 0"),
    ],
)
def test_wrong_covariances_of_samples_are_refused(X, change, says):
    own = np.repeat(4 * LONG[None], 20, axis=0)
    found = model("full", width_learning_rate=0.1).partial_fit(X[:20], sample_width=own)
    before = found.n_samples_seen_
    with pytest.raises(ValueError, match=says):
        found.partial_fit(X[:20], sample_width=change(own))
    assert found.n_samples_seen_ == before


def test_the_type_of_a_model_that_has_begun_cannot_change(X):
    found = model("full").partial_fit(X[:20]).set_params(covariance_type="diag")
    with pytest.raises(ValueError, match="this model started with 'full'"):
        found.partial_fit(X)


def test_full_covariances_are_drawn_as_turned_ellipses(X):
    found = model("full", width=np.repeat(4 * LONG[None], 10, axis=0)).fit(X)
    state = found.centers_, found.widths_, found.learned_, X, X.min(axis=0), X.max(axis=0), 1, 3
    drawn = svg.picture(svg.Scene(*state))
    # The long axis is along (1, 1); on the screen y points down: 135 degrees.
    assert drawn.count('transform="rotate(135.0 ') == drawn.count("<ellipse") == found.learned_.sum()


# ---- many models, and other interfaces ------------------------------------------------------------


def test_a_sweep_multiplies_its_widths_with_the_covariance(X):
    """Twice the identity at half the widths is the rule with widths."""
    given = {"n_neurons": 10, "inhibitions": [0.5, 1.0], "seeds": 2, "n_jobs": 1}
    plain = sweep(X, 3000, widths=[0.05, 0.2], **given)
    for kind, shape in (("diag", [2.0, 2.0]), ("full", [[2.0, 0.0], [0.0, 2.0]])):
        shaped = sweep(X, 3000, widths=[0.025, 0.1], covariance_type=kind, covariance=shape, **given)
        np.testing.assert_array_equal(shaped.n_clusters, plain.n_clusters)
        np.testing.assert_array_equal(shaped.model(0.1, 0.5, 0).width[9], np.multiply(0.1, shape))


def test_a_sweep_with_a_covariance_is_stored_as_json(X):
    given = {"n_neurons": 10, "widths": [0.05, 0.08], "inhibitions": [0.5], "seeds": 1, "n_jobs": 1}
    found = sweep(X, 20_000, covariance_type="full", covariance=LONG / 0.02, **given)
    again = Sweep.from_dict(json.loads(json.dumps(found.to_dict())))
    for one in (found, again):
        learned = one.model(0.08, 0.5, 0).fit(X)
        np.testing.assert_allclose(learned.widths_[0], 4 * LONG)
        assert learned.n_clusters_ == found.n_clusters[1, 0, 0]


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"covariance": [1.0, 2.0]}, "needs covariance_type 'diag' or 'full', got 'spherical'"),
        ({"covariance_type": "tied"}, "covariance_type must be one of"),
        (
            {"covariance_type": "diag", "covariance": np.eye(2)},
            r"the shape \(2,\) for 2 columns, got \(2, 2\)",
        ),
        ({"covariance_type": "full", "covariance": [1.0]}, r"the shape \(2,\) or \(2, 2\) for 2 columns"),
        ({"covariance_type": "full", "covariance": np.ones((2, 2))}, "symmetric and positive definite"),
        ({"covariance_type": "diag", "covariance": [1.0, np.nan]}, "positive numbers"),
        ({"covariance_type": "diag", "covariance": "wide"}, "covariance must be an array of numbers"),
        ({"covariance_type": "diag", "covariance": [1.0, 2.0], "n_neurons": 1.5}, "n_neurons"),
    ],
)
def test_wrong_covariances_of_a_sweep_are_refused(X, given, says):
    with pytest.raises(ValueError, match=says):
        sweep(X, 100, **{"widths": [1.0], **given}, n_jobs=1)
