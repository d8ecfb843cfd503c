"""A stream and its most recent samples: what is kept, when it is used, what is drawn."""

import numpy as np
import pytest

from gaussian_neurons import GaussianNeurons, Neurons
from gaussian_neurons.clustering.diagnosis import diagnose
from gaussian_neurons.model.first_data import automatic_rate, automatic_width
from gaussian_neurons.model.learner import Learner, window_for
from tests.test_estimator import blobs

FIXED = {"width": 0.05, "domain": (0, 1), "random_state": 0}


@pytest.mark.parametrize("cut", [1, 7, 999, 1000, 1001, 2500, 3100])
def test_the_last_thousand_samples_are_kept_with_their_widths(cut):
    X, widths = np.random.default_rng(0).random((3100, 2)), np.random.default_rng(1).random(3100)
    model = GaussianNeurons(3, width_learning_rate=0.1, **FIXED)
    for begin in range(0, 3100, cut):
        part = slice(begin, begin + cut)
        model.partial_fit(X[part], sample_width=widths[part])
    slots = np.arange(2100, 3100) % 1000
    np.testing.assert_array_equal(model._learner.recent[slots], X[2100:])
    np.testing.assert_array_equal(model._learner.recent_widths[slots], widths[2100:])


def test_how_many_are_kept():
    assert window_for(25) == window_for(8388) == 1000
    assert window_for(10**6) == 100


@pytest.mark.parametrize("n", [300, 1000, 2300])
def test_waiting_for_the_first_data_changes_nothing_that_was_given(n):
    """With centers, widths and rates given, a domain from the data makes it wait, and learn the same."""
    X, widths = blobs(n)[0], np.random.default_rng(1).uniform(0.01, 0.1, n)
    given = {"width": 0.05, "learning_rate": 0.005, "width_learning_rate": 0.2}
    init = np.random.default_rng(2).random((5, 2))
    at_once = GaussianNeurons(5, init=init, domain=(0, 1), **given).partial_fit(X, sample_width=widths)
    waiting = GaussianNeurons(5, init=init, domain=None, **given).partial_fit(X, sample_width=widths)
    np.testing.assert_array_equal(waiting.centers_, at_once.centers_)
    np.testing.assert_array_equal(waiting.widths_, at_once.widths_)
    assert (waiting.widths_ != 0.05).any()


def test_what_is_told_follows_what_is_learned():
    """Reading in between must not freeze the answer."""
    X = blobs(8000)[0]
    model = GaussianNeurons(6, **FIXED).partial_fit(X[:5])
    early = model.diagnosis_
    model.partial_fit(X[5:])
    assert model.diagnosis_ is not early
    assert (model.diagnosis_.share != early.share).any()
    assert model.n_clusters_ == 4


def test_parameters_changed_while_waiting_count():
    X = blobs(200)[0]
    model = GaussianNeurons(6, random_state=0).partial_fit(X)
    before = model.centers_
    model.set_params(inhibition=0.1)
    assert (model.centers_ != before).any()


def test_fit_draws_from_all_rows_at_random():
    X = np.arange(10_000.0)[:, None]
    model = GaussianNeurons(3, width=1e7, max_samples=1000, random_state=0).fit(X)
    drawn = model._learner.samples.ravel()
    assert len(np.unique(drawn)) > 900
    assert 4500 < drawn.mean() < 5500
    assert (np.diff(drawn) < 0).mean() == pytest.approx(0.5, abs=0.1)


def test_fit_ends_the_waiting():
    X = blobs(300)[0]
    model = GaussianNeurons(4, max_samples=300, random_state=0).fit(X)
    start = model.initial_centers_
    model.partial_fit([[50.0, 50.0]])  # would widen a domain that was still open
    np.testing.assert_array_equal(model.initial_centers_, start)
    assert model.n_samples_seen_ == 301


def test_every_addition_has_randomness_of_its_own():
    model = GaussianNeurons(2, **FIXED).partial_fit(blobs(10)[0])
    model.add_neurons(2).add_neurons(2)
    assert len(np.unique(model.initial_centers_, axis=0)) == 6


def test_randomness_depends_on_seed_purpose_and_turn():
    learner = Learner.new(2, np.float64, seed=5)
    first = learner.random(1, 0).random()
    assert first == Learner.new(9, np.float32, seed=5).random(1, 0).random()
    others = {learner.random(2, 0).random(), learner.random(1, 1).random()}
    assert first not in others | {Learner.new(2, np.float64, seed=6).random(1, 0).random()}


def test_the_automatic_rate_by_hand():
    assert automatic_rate(np.array([2.0, 0.5]), None) == pytest.approx(0.05)
    assert automatic_rate(np.array([2.0]), np.full(9, 0.3)) == pytest.approx(0.03)
    assert automatic_rate(np.array([2.0]), np.zeros(9)) == pytest.approx(0.2)


def test_the_automatic_width_by_hand():
    # Five places on a line: a fifth of the others is the nearest one, at a distance of 1 for all.
    assert automatic_width(np.arange(5.0)[:, None]) == pytest.approx(2.0)
    assert automatic_width(np.repeat(np.arange(5.0), 30)[:, None]) == pytest.approx(2.0)
    assert automatic_width(np.ones((7, 3))) == 1.0


@pytest.mark.parametrize(("response", "learned"), [(0.02, True), (0.012, True), (0.008, False)])
def test_how_strongly_a_learned_neuron_responds(response, learned):
    neurons = Neurons.at([[0.0]], 1.0)
    sample = np.array([[np.sqrt(-np.log(response))]])
    assert diagnose(neurons, sample, np.zeros(1), np.ones(1)).learned[0] == learned


@pytest.mark.parametrize(
    ("K", "wins", "learned"), [(2, 5, True), (2, 4, False), (100, 3, True), (100, 2, False)]
)
def test_how_many_samples_a_learned_neuron_wins(K, wins, learned):
    recent = np.zeros((1000, 1))
    recent[:wins] = 100.0
    centers = np.concatenate([[[0.0], [100.0]], 1e4 * np.arange(1, K - 1)[:, None]])
    assert diagnose(Neurons.at(centers, 1.0), recent, np.zeros(1), np.ones(1)).learned[1] == learned


@pytest.mark.parametrize(("response", "cluster"), [(2e-3, 0), (5e-4, -1)])
def test_how_weak_a_response_is_none(response, cluster):
    model = GaussianNeurons(1, width=1.0, init=[[0.0]], domain=(-1, 1)).partial_fit(np.zeros((10, 1)))
    assert model.predict([[np.sqrt(-np.log(response))]]) == [cluster]


@pytest.mark.parametrize("width", ["auto", 0.05])
def test_who_asks_before_the_end_of_a_stream_gets_the_same_answers_after_it(width):
    X = blobs(6000)[0]
    asked, silent = (GaussianNeurons(8, width=width, random_state=0).partial_fit(X) for _ in range(2))
    assert asked.n_clusters_ == len(asked.cluster_numbers_)
    assert asked.learned_.any()
    for model in (asked, silent):
        model._learner.conclude(model._settings())
    np.testing.assert_array_equal(asked.cluster_numbers_, silent.cluster_numbers_)
    np.testing.assert_array_equal(asked.cluster_centers_, silent.cluster_centers_)
    np.testing.assert_array_equal(asked.predict(X), silent.predict(X))
    np.testing.assert_array_equal(asked.learned_, silent.learned_)
