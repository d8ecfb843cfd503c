"""Dendrites: affinities and groups worked out by hand, laws, and what they are for."""

import pickle
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from gaussian_neurons import GaussianNeurons
from gaussian_neurons.datasets.synthetic import Mixture, MovingDigits
from gaussian_neurons.dendrites import Affinities, DendriticNeurons, groups_of, learn

RANDOM = np.random.default_rng(2)


def learn_one_by_one(known, shares, trace, rate):
    """The equations [30] and [31], one sample at a time."""
    pairs, activity, before = known.pairs.copy(), known.activity.copy(), known.trace.copy()
    for t, s in enumerate(shares, start=known.seen + 1):
        part = max(rate, 1 / t)
        pairs += part * (np.outer(s, before if trace else s) - pairs)
        activity += part * (s - activity)
        if trace:
            before += (s - before) / trace
    return Affinities(known.seen + len(shares), pairs, activity, before)


def assert_same(one, other):
    assert one.seen == other.seen
    for name in ("pairs", "activity", "trace"):
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=1e-10, atol=1e-14)


# ---- by hand ----------------------------------------------------------------------------------------


def test_succession_by_hand():
    """The dendrites 0, 0, 1 respond. With a trace of 2, it is (1/2, 0), then (3/4, 0), then (3/8, 1/2)."""
    shares = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    found = learn(Affinities.none(2), shares, 2.0, 0.0)
    np.testing.assert_allclose(found.pairs, np.array([[1 / 2, 0], [3 / 4, 0]]) / 3)
    np.testing.assert_allclose(found.activity, [2 / 3, 1 / 3])
    np.testing.assert_allclose(found.trace, [3 / 8, 1 / 2])


def test_overlap_by_hand():
    shares = np.array([[0.5, 0.5], [1.0, 0.0]])
    found = learn(Affinities.none(2), shares, 0.0, 0.0)
    np.testing.assert_allclose(found.pairs, [[5 / 8, 1 / 8], [1 / 8, 1 / 8]])


def test_a_rate_forgets_by_hand():
    """At the rate 1/2, two samples have the weights 1/2 and 1/2, three 1/4, 1/4 and 1/2."""
    shares = np.eye(3)
    found = learn(Affinities.none(3), shares, 0.0, 0.5)
    np.testing.assert_allclose(found.pairs, np.diag([1 / 4, 1 / 4, 1 / 2]))


def test_two_chains_are_cut_where_they_are_weakest():
    """0 - 2 - 4 and 1 - 3, and a weak link between 4 and 1."""
    affinity = np.diag(np.full(5, 2.0))
    for i, j, strength in ((0, 2, 1.0), (2, 4, 1.0), (1, 3, 1.0), (4, 1, 0.05)):
        affinity[i, j] = affinity[j, i] = strength
    assert groups_of(affinity, 2).tolist() == [0, 1, 0, 1, 0]
    assert groups_of(affinity, 1).tolist() == [0] * 5
    assert groups_of(affinity, 5).tolist() == [0, 1, 2, 3, 4]


def test_dendrites_without_any_affinity_have_groups():
    assert set(groups_of(np.zeros((3, 3)), 2)) <= {0, 1}


# ---- laws -------------------------------------------------------------------------------------------


@given(
    trace=st.sampled_from([0.0, 1.0, 1.5, 10.0, 1000.0]),
    rate=st.sampled_from([0.0, 1e-5, 0.1, 1.0]),
    cut=st.integers(0, 60),
)
def test_blocks_equal_single_samples(trace, rate, cut):
    shares = np.random.default_rng(cut).dirichlet(np.full(5, 0.3), 60)
    expected = learn_one_by_one(Affinities.none(5), shares, trace, rate)
    found = Affinities.none(5)
    for part in (shares[:cut], shares[cut:]):
        if len(part):
            found = learn(found, part, trace, rate)
    assert_same(found, expected)


def test_groups_do_not_depend_on_the_scale_and_follow_a_permutation():
    blocks = np.kron(np.eye(3), np.ones((4, 4))) + 0.05 * RANDOM.random((12, 12))
    affinity = blocks + blocks.T
    expected = np.repeat([0, 1, 2], 4)
    assert (groups_of(affinity, 3) == expected).all()
    assert (groups_of(1e6 * affinity, 3) == expected).all()
    order = RANDOM.permutation(12)
    assert adjusted_rand_score(groups_of(affinity[np.ix_(order, order)], 3), expected[order]) == 1


@pytest.mark.parametrize("settings", [{}, {"width": 0.008, "domain": (0.0, 1.0)}])
def test_responses_are_sums_of_shares(settings):
    X = Mixture(6, seed=1, dtype=np.float64).read(3000)
    plain = GaussianNeurons(12, random_state=0, **settings).fit(X)
    model = DendriticNeurons(FrozenEstimator(plain), 4, similarity="overlap").fit(X)
    assert model.dendrites_ is plain
    y = model.transform(X[:50])
    D = X.shape[1]
    logs = -((X[:50, None] - plain.centers_) ** 2).sum(axis=2) / plain.widths_
    density = np.exp(logs) * (1 if settings else plain.widths_ ** (-D / 2))
    shares = density / density.sum(axis=1, keepdims=True)
    for m in range(4):
        assert y[:, m] == pytest.approx(shares[:, model.groups_ == m].sum(axis=1), abs=1e-6)
    assert (model.predict(X[:50]) == y.argmax(axis=1)).all()
    assert model.affinity_ == pytest.approx(model.affinity_.T)
    assert model.affinity_.sum() == pytest.approx(1)  # of all pairs, if the samples are the same


@pytest.mark.parametrize("similarity", ["succession", "overlap"])
@pytest.mark.parametrize("rows", [300, 1300])
def test_calls_of_any_size_give_the_same_result(similarity, rows):
    X = MovingDigits(8, seed=3, life=5).read(rows)

    def made():
        return DendriticNeurons(GaussianNeurons(10, random_state=0), 3, similarity=similarity)

    whole, parts, single = made().partial_fit(X), made(), made()
    for part in np.array_split(X, 7):
        parts.partial_fit(part)
        parts.transform(X[:2])  # asking changes nothing
    for begin in range(0, rows, 100):
        single.partial_fit(X[begin : begin + 100])
    for other in (parts, single):
        assert other.n_samples_seen_ == rows
        assert (other.dendrites_.centers_ == whole.dendrites_.centers_).all()
        np.testing.assert_allclose(other.affinity_, whole.affinity_, rtol=1e-9, atol=1e-15)
        np.testing.assert_allclose(other.transform(X[:50]), whole.transform(X[:50]), rtol=1e-6, atol=1e-9)


def test_pickles_learn_on():
    X = Mixture(5, seed=1).read(2000)
    model = DendriticNeurons(GaussianNeurons(10, random_state=0), 3).partial_fit(X[:1100])
    again = pickle.loads(pickle.dumps(model))
    for one in (model, again):
        one.partial_fit(X[1100:])
    assert (model.transform(X) == again.transform(X)).all()


def test_an_invalid_row_changes_nothing():
    X = Mixture(5, seed=1).read(2000).astype(np.float64)
    model = DendriticNeurons(GaussianNeurons(10, random_state=0), 3).partial_fit(X)
    before = model.dendrites_.n_samples_seen_, model.affinity_
    X[-1, 0] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        model.partial_fit(X)
    assert model.dendrites_.n_samples_seen_ == before[0]
    assert (model.affinity_ == before[1]).all()


# ---- what they are for ------------------------------------------------------------------------------


def along_two_half_circles(n, seed):
    """A point that moves back and forth on one half circle, and jumps to the other every 500 samples."""
    t = np.arange(n)
    angle, which = np.pi * np.abs(t % 100 - 50) / 50, t // 500 % 2
    x = np.column_stack([np.cos(angle) + which, (1 - 2 * which) * np.sin(angle) + which / 2])
    return np.random.default_rng(seed).normal(x, 0.15), which


@pytest.mark.parametrize("seed", range(3))
def test_succession_finds_clusters_that_touch(seed):
    X, _ = along_two_half_circles(20_000, seed)
    given = GaussianNeurons(30, random_state=seed).fit(X)
    found = DendriticNeurons(FrozenEstimator(given), 2).fit(X)
    shuffled = DendriticNeurons(FrozenEstimator(given), 2).fit(RANDOM.permutation(X))
    Z, expected = along_two_half_circles(2000, seed + 10)
    assert adjusted_rand_score(expected, found.predict(Z)) > 0.85
    assert adjusted_rand_score(expected, given.predict(Z, n_clusters=2)) < 0.6
    assert adjusted_rand_score(expected, shuffled.predict(Z)) < 0.7  # the order is what tells


def test_neurons_respond_to_a_digit_at_any_place():
    images = np.zeros((3, 3, 3), np.uint8)
    images[0, 1], images[1, :, 1], images[2] = 255, 255, 255 * np.eye(3, dtype=np.uint8)
    X = MovingDigits(5, seed=0, images=images, life=30).read(10_000)
    model = DendriticNeurons(GaussianNeurons(27, random_state=0), 3).fit(X)
    places, labels = MovingDigits(5, seed=1, images=images, life=1).read_labelled(500)
    assert adjusted_rand_score(labels, model.predict(places)) > 0.9
    plain = GaussianNeurons(3, random_state=0).fit(X)
    assert adjusted_rand_score(labels, plain.predict(places)) < 0.3


def test_the_tree_of_the_model_can_combine_dendrites():
    X = Mixture(3, seed=2, spread=0.02).read(5000)
    model = DendriticNeurons(GaussianNeurons(12, random_state=0), 3, similarity="tree").fit(X)
    expected = model.dendrites_.predict(X, n_clusters=3)
    kept = expected >= 0
    assert kept.mean() > 0.95
    assert adjusted_rand_score(expected[kept], model.predict(X)[kept]) > 0.99


# ---- scikit-learn's contract ------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks([DendriticNeurons(GaussianNeurons(8, random_state=0), 3)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_names_of_the_outputs_and_more_neurons_than_dendrites():
    X = Mixture(3, seed=2).read(1500)
    model = DendriticNeurons(GaussianNeurons(4, random_state=0), 6).fit(X)
    assert model.get_feature_names_out().tolist() == [f"dendriticneurons{k}" for k in range(6)]
    y = model.transform(X)
    assert y.shape == (1500, 6)
    assert y.sum(axis=1) == pytest.approx(1, abs=1e-5)
    assert y.dtype == np.float32
    assert (y[:, model.groups_.max() + 1 :] == 0).all()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_neurons": 0}, "n_neurons must be a whole number of at least 1, got 0"),
        ({"similarity": "places"}, "similarity must be one of 'succession', 'overlap', 'tree', got 'places'"),
        ({"trace": 0.5}, "trace must be finite and at least 1, got 0.5"),
        ({"learning_rate": 2.0}, "learning_rate must be finite and between 0 and 1"),
        ({"dendrites": 3}, "dendrites must be a GaussianNeurons model, got 3"),
        (
            {"dendrites": GaussianNeurons(3, width=1.0), "similarity": "tree"},
            "tree of clusters only with width",
        ),
    ],
)
def test_invalid_parameters_are_rejected(parameters, message):
    X = Mixture(3, seed=2).read(100)
    with pytest.raises((ValueError, AttributeError), match=message):
        DendriticNeurons(**parameters).fit(X).transform(X)


def test_questions_before_learning_are_rejected():
    model = clone(DendriticNeurons())
    for ask in (lambda: model.transform([[0.0]]), lambda: model.groups_, lambda: model.affinity_):
        with pytest.raises(NotFittedError):
            ask()
    with pytest.raises(NotFittedError):
        DendriticNeurons(FrozenEstimator(GaussianNeurons())).fit([[0.0], [1.0]])


def test_the_program_of_the_page_runs(capsys):
    text = (Path(__file__).parents[1] / "docs" / "dendrites.md").read_text()
    exec(re.search(r"```python\n(.*?)```", text, re.DOTALL)[1], {})
    assert capsys.readouterr().out.endswith("(20000, 10)\n")
