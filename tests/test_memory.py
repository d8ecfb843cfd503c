"""Streams that change suddenly: what is remembered, what is forgotten, and what is found again."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from gaussian_neurons import GaussianNeurons
from gaussian_neurons.learning import relocation
from tests.runs import same

PLACES = np.random.default_rng(5).permutation(
    np.stack(np.meshgrid([0, 5, 10], [0, 5, 10]), -1).reshape(-1, 2)
)


def rows(which, n, seed=0, shift=0.0):
    random = np.random.default_rng(seed)
    labels = np.asarray(which)[random.integers(len(which), size=n)]
    return random.normal(PLACES[labels] + shift, 0.4), labels


def one_after_another(n=3000):
    parts = [rows([k], n, seed=k) for k in range(6)]
    return np.concatenate([x for x, _ in parts]), np.concatenate([labels for _, labels in parts])


def model_of(**changes):
    return GaussianNeurons(**{"n_neurons": 40, "random_state": 0} | changes)


def test_a_sorted_stream_ends_with_all_clusters():
    X, labels = one_after_another()
    model = model_of().partial_fit(X)
    assert model.n_clusters_ == 6
    assert adjusted_rand_score(labels, model.predict(X)) > 0.95


def test_clusters_that_come_for_a_thousand_samples_are_remembered():
    random = np.random.default_rng(0)
    places = random.uniform(0, 100, (20, 3))
    model = GaussianNeurons(random_state=0)
    for place in places:
        model.partial_fit(random.normal(place, 0.5, (1000, 3)))
    assert model.n_clusters_ == 20
    assert len(set(model.predict(places))) == 20


def test_a_sensor_that_stands_still_makes_other_rows_no_novelties():
    X, labels = rows(range(5), 10_000)
    model = model_of().partial_fit(X[:8000]).partial_fit(np.repeat(X[:1], 900, axis=0))
    assert 0.005 < model.is_novel(X[8000:], 0.01).mean() < 0.03  # one of five clusters shrinks until a review
    model.partial_fit(np.repeat(X[:1], 1500, axis=0))
    others = X[8000:][labels[8000:] != labels[0]]
    assert model.is_novel(others, 0.01).mean() < 0.05
    assert (model.predict(others) >= 0).mean() > 0.95


def test_a_short_memory_ends_with_the_last_cluster():
    X, _ = one_after_another()
    model = model_of(memory=1000).partial_fit(X)
    assert model.n_clusters_ <= 2
    assert (model.predict(X[:1000]) == -1).all()
    assert {event.kind for event in model.events_} >= {"born", "retired"}


def test_clusters_that_jump_are_found_and_the_old_ones_remembered():
    X, labels = rows(range(6), 10_000)
    moved, _ = rows(range(6), 10_000, shift=40.0)
    model = model_of().partial_fit(X).partial_fit(moved)
    assert adjusted_rand_score(labels, model.predict(moved)) > 0.98
    assert adjusted_rand_score(labels, model.predict(X)) > 0.95
    assert model.n_clusters_ in (11, 12, 13)


def test_without_relocation_they_are_not(monkeypatch):
    monkeypatch.setattr(relocation, "MARGIN", np.inf)
    moved, labels = rows(range(6), 10_000, shift=40.0)
    model = model_of().partial_fit(rows(range(6), 10_000)[0]).partial_fit(moved)
    assert adjusted_rand_score(labels, model.predict(moved)) < 0.5


def test_equal_first_samples_do_not_spoil_a_model():
    X, labels = rows(range(6), 6000)
    model = model_of().partial_fit(np.ones((1000, 2))).partial_fit(X)
    assert adjusted_rand_score(labels, model.predict(X)) > 0.9


def test_a_cluster_alone_keeps_its_number_and_so_do_the_others():
    """All clusters, then one alone for thousands of samples, then all again."""
    model = model_of().partial_fit(rows(range(5), 8000)[0])
    before = model.predict(PLACES[:5])
    model.partial_fit(rows([2], 6000, seed=1)[0])
    assert model.predict(PLACES[:5]).tolist() == before.tolist()
    model.partial_fit(rows(range(5), 8000, seed=2)[0])
    assert model.predict(PLACES[:5]).tolist() == before.tolist()
    kinds = [event.kind for event in model.events_ if event.samples > 8000]
    assert (kinds.count("absent"), kinds.count("returned")) == (4, 4)


@pytest.mark.parametrize("still", [1500, 5000])
@pytest.mark.parametrize("dimensions", [1, 6])
def test_a_sensor_that_stands_still_keeps_all_numbers(dimensions, still):
    """One neuron is at the one place that is seen, and its cluster is still as large as before."""
    random = np.random.default_rng(1)
    places = np.array([[0.0], [5.0], [10.0], [15.0]]) * np.ones(dimensions) / np.sqrt(dimensions)
    X = random.normal(places[random.integers(4, size=16_000)], 0.3)
    model = model_of().partial_fit(X[:8000])
    before = model.predict(places).tolist()
    model.partial_fit(np.repeat(random.normal(places[1:2], 0.3), still, axis=0))
    assert model.predict(places).tolist() == before
    model.partial_fit(X[8000:])
    assert model.predict(places).tolist() == before
    assert sorted(model.cluster_numbers_) == sorted(before)


def test_neurons_that_rest_keep_their_bits_until_their_samples_return():
    model = model_of().partial_fit(rows(range(5), 8000)[0])
    model.partial_fit(rows([2], 3000, seed=1)[0])
    resting = model._network.neurons.resting
    assert 0 < resting.sum() < 40
    centers, widths = model.centers_[resting], model.widths_[resting]
    model.partial_fit(rows([2], 500, seed=2)[0])
    np.testing.assert_array_equal(model.centers_[resting], centers)
    np.testing.assert_array_equal(model.widths_[resting], widths)


@pytest.mark.parametrize("cut", [1, 999, 4321])
def test_cuts_and_files_change_nothing(cut, tmp_path):
    X = np.concatenate([one_after_another(1500)[0], rows(range(6), 3000, shift=40.0)[0]])
    whole = model_of(memory=4000).partial_fit(X)
    model = model_of(memory=4000).partial_fit(X[:cut]).partial_fit(X[cut:7000])
    model.save(tmp_path / "model")
    assert same(GaussianNeurons.load(tmp_path / "model").partial_fit(X[7000:]), whole)


def test_a_model_with_clusters_that_rest_can_lose_and_get_neurons(tmp_path):
    model = model_of().partial_fit(rows(range(5), 8000)[0]).partial_fit(rows([2], 3000, seed=1)[0])
    learning = np.flatnonzero(~model._network.neurons.resting)
    model.remove_neurons(learning[:-1]).add_neurons(3).partial_fit(rows([2], 1000, seed=2)[0])
    model.save(tmp_path / "model")
    again = GaussianNeurons.load(tmp_path / "model")
    X = rows(range(5), 4000, seed=3)[0]
    assert same(again.partial_fit(X), model.partial_fit(X))
    assert model.n_clusters_ >= 5


@pytest.mark.parametrize("n", [1000, 3000, 3500])
def test_a_file_of_a_single_neuron_can_be_read(n, tmp_path):
    """The first reviews overlap: they count samples more than once."""
    model = model_of(n_neurons=1).partial_fit(rows([0], n)[0])
    model.save(tmp_path / "model")
    assert same(GaussianNeurons.load(tmp_path / "model"), model)


def test_known_clusters_stay_while_others_are_hardly_better():
    """A stream that does not change has no events once it has settled."""
    model = model_of().partial_fit(rows(range(6), 40_000)[0])
    assert not [event for event in model.events_ if event.samples > 5000]


def test_memory_must_be_a_number_of_samples():
    with pytest.raises(ValueError, match="memory must be"):
        model_of(memory=0).partial_fit(rows(range(3), 100)[0])


# ---- novelty ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("K", [16, 50])
@pytest.mark.parametrize("n", [500, 6000])
@pytest.mark.parametrize("D", [2, 10, 30, 100])
def test_false_alarms_are_as_frequent_as_asked(D, n, K):
    random = np.random.default_rng(D)
    places = random.normal(size=(5, D)) * 6 / np.sqrt(D)
    rates, found = np.array([0.05, 0.01, 0.001]), []
    for seed in range(6):
        X = random.normal(places[random.integers(5, size=n)], 1.0)
        model = GaussianNeurons(K, random_state=seed).partial_fit(X)
        fresh = random.normal(places[random.integers(5, size=10_000)], 1.0)
        found.append([model.is_novel(fresh, rate).mean() for rate in rates])
    ratio = np.mean(found, axis=0) / rates
    assert (ratio > [0.6, 0.4, 0.1]).all()
    assert (ratio < [1.5, 2.2, 6.0]).all()  # few of 1000 samples tell about one of 1000


def test_what_is_novel_belongs_to_no_cluster_and_teaches_nothing():
    model = model_of().partial_fit(rows(range(6), 9000)[0])
    far = np.full((10, 2), 300.0)
    assert model.is_novel(far, 0.001).all()
    assert (model.predict(far) == -1).all()
    centers = model.centers_
    np.testing.assert_array_equal(model.partial_fit(far).centers_, centers)
