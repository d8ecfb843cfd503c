"""Learning from a stream: the first data, recent samples, random numbers, automatic widths and rates."""

import numpy as np
import pytest

from gaussian_neurons import GaussianNeurons
from gaussian_neurons.base.bad_rows import BadRow
from gaussian_neurons.model import learner
from gaussian_neurons.model.first_data import automatic_rate, automatic_width
from gaussian_neurons.model.learner import random_for
from tests.runs import digest, same

FIXED = {"width": 0.05, "domain": (0, 1), "random_state": 0}


def blobs(n: int) -> np.ndarray:
    """Four round clusters in the unit square."""
    random = np.random.default_rng(0)
    places = np.array([[0.2, 0.2], [0.2, 0.8], [0.8, 0.2], [0.8, 0.8]])
    return places[random.integers(4, size=n)] + 0.05 * random.standard_normal((n, 2))


@pytest.mark.parametrize("cut", [7, 999, 1001, 3100])
def test_the_last_thousand_samples_are_kept_with_their_widths(cut):
    X, widths = np.random.default_rng(0).random((3100, 2)), np.random.default_rng(1).random(3100)
    model = GaussianNeurons(3, width_learning_rate=0.1, **FIXED)
    for begin in range(0, 3100, cut):
        part = slice(begin, begin + cut)
        model.partial_fit(X[part], sample_width=widths[part])
    slots = np.arange(2100, 3100) % 1000
    np.testing.assert_array_equal(model._state.recent.samples[slots], X[2100:])
    np.testing.assert_array_equal(model._state.recent.widths[slots], widths[2100:])


@pytest.mark.parametrize("n", [300, 1000, 2300])
def test_keeping_the_first_data_does_not_change_what_is_learned(n):
    """Only the domain depends on the data here, and nothing depends on the domain."""
    X, widths = blobs(n), np.random.default_rng(1).uniform(0.01, 0.1, n)
    given = {"width": 0.05, "learning_rate": 0.005, "width_learning_rate": 0.2}
    init = np.random.default_rng(2).random((5, 2))
    at_once = GaussianNeurons(5, init=init, domain=(0, 1), **given).partial_fit(X, sample_width=widths)
    waiting = GaussianNeurons(5, init=init, domain=None, **given).partial_fit(X, sample_width=widths)
    np.testing.assert_array_equal(waiting.centers_, at_once.centers_)
    np.testing.assert_array_equal(waiting.widths_, at_once.widths_)
    assert (waiting.widths_ != 0.05).any()


def test_an_answer_is_not_kept_when_more_is_learned():
    X = blobs(8000)
    model = GaussianNeurons(6, **FIXED).partial_fit(X[:5])
    early = model.diagnosis_
    model.partial_fit(X[5:])
    assert model.diagnosis_ is not early
    assert (model.diagnosis_.share != early.share).any()
    assert model.n_clusters_ == 4


def test_parameters_changed_before_the_first_data_is_complete_count():
    X = blobs(200)
    model = GaussianNeurons(6, random_state=0).partial_fit(X)
    before = model.centers_
    model.set_params(learning_rate=0.5)
    assert (model.centers_ != before).any()


def test_fit_draws_from_all_rows_at_random():
    X = np.arange(10_000.0)[:, None]
    model = GaussianNeurons(3, width=1e7, max_samples=1000, random_state=0).fit(X)
    drawn = model.recent_samples_.ravel()
    assert len(np.unique(drawn)) > 900
    assert 4500 < drawn.mean() < 5500
    assert (np.diff(drawn) < 0).mean() == pytest.approx(0.5, abs=0.1)


def test_fit_completes_the_first_data():
    X = blobs(300)
    model = GaussianNeurons(4, max_samples=300, random_state=0).fit(X)
    start = model.initial_centers_
    model.partial_fit([[50.0, 50.0]])  # would widen the domain otherwise
    np.testing.assert_array_equal(model.initial_centers_, start)
    assert model.n_samples_seen_ == 301


def test_every_addition_has_other_random_numbers():
    model = GaussianNeurons(2, **FIXED).partial_fit(blobs(10))
    model.add_neurons(2).add_neurons(2)
    assert len(np.unique(model.initial_centers_, axis=0)) == 6


def test_random_numbers_depend_on_seed_purpose_and_turn():
    first = random_for(5, 1, 0).random()
    assert first == random_for(5, 1, 0).random()
    assert first not in {random_for(*key).random() for key in ((6, 1, 0), (5, 2, 0), (5, 1, 1))}


def test_the_automatic_rate_by_hand():
    assert automatic_rate(np.array([2.0, 0.5]), None) == pytest.approx(0.05)
    assert automatic_rate(np.array([2.0]), np.full(9, 0.3)) == pytest.approx(0.03)
    assert automatic_rate(np.array([2.0]), np.zeros(9)) == pytest.approx(0.2)


def test_the_automatic_width_by_hand():
    # Five places on a line: a fifth of the others is the nearest one, at a distance of 1 for all.
    assert automatic_width(np.arange(5.0)[:, None]) == pytest.approx(2.0)
    assert automatic_width(np.repeat(np.arange(5.0), 30)[:, None]) == pytest.approx(2.0)
    assert automatic_width(np.ones((7, 3))) == 1.0


@pytest.mark.parametrize(("response", "cluster"), [(2e-3, 0), (5e-4, -1)])
def test_a_row_with_a_very_small_response_belongs_to_no_cluster(response, cluster):
    model = GaussianNeurons(1, width=1.0, init=[[0.0]], domain=(-1, 1)).partial_fit(np.zeros((10, 1)))
    assert model.predict([[np.sqrt(-np.log(response))]]) == [cluster]


# ---- states are values ------------------------------------------------------------------------------


@pytest.mark.parametrize("width", ["auto", 0.05])
@pytest.mark.parametrize("n", [300, 1100])
def test_every_function_leaves_the_old_state_as_it_is(width, n):
    X = blobs(2600)
    model = GaussianNeurons(6, width=width, random_state=0).partial_fit(X[:n])
    state, given, before = model._state, model._settings(2), digest(model)
    stays = np.arange(6) > 0
    after = [
        list(learner.advance(state, X[n:], None, given))[-1],
        learner.concluded(state, given),
        learner.added(state, None, 2, np.ones(2), given),
        learner.kept(state, stays, given),
        learner.moved(state, np.array([1]), np.array([[0.5, 0.5]]), None, given),
    ]
    assert digest(model) == before
    digests = {before}
    for new in after:
        model._state = new
        digests.add(digest(model))
    assert len(digests) == 6


@pytest.mark.parametrize("width", ["auto", 0.05])
def test_two_streams_can_continue_from_one_state(width):
    X, other = blobs(3000), 1 - blobs(3000) / 2
    model = GaussianNeurons(6, width=width, random_state=0).partial_fit(X[:1500])
    state = model._state
    ends = []
    for rows in (X[1500:], other, X[1500:]):
        model._state = state
        ends.append(digest(model.partial_fit(rows)))
    assert ends[0] == ends[2] != ends[1]
    assert ends[0] == digest(GaussianNeurons(6, width=width, random_state=0).partial_fit(X))


@pytest.mark.parametrize("error", [BadRow(0, "bad"), MemoryError(), RuntimeError("bug")])
def test_an_error_assigns_nothing(error):
    def states():
        yield "first"
        raise error

    assigned = []
    with pytest.raises(type(error)):
        learner.commit(assigned.append, states())
    assert assigned == []


def test_an_interrupt_assigns_the_last_state():
    def states(count):
        yield from range(count)
        raise KeyboardInterrupt

    for count, expected in ((3, [2]), (0, [])):
        assigned = []
        with pytest.raises(KeyboardInterrupt):
            learner.commit(assigned.append, states(count))
        assert assigned == expected


def test_without_an_error_the_last_state_is_assigned_once():
    assigned = []
    learner.commit(assigned.append, iter("abc"))
    learner.commit(assigned.append, iter(()))
    assert assigned == ["c"]


@pytest.mark.parametrize("width", ["auto", 0.05])
def test_asking_does_not_change_how_a_stream_is_concluded(width):
    X = blobs(3500)
    asked, silent = (GaussianNeurons(8, width=width, random_state=0).partial_fit(X) for _ in range(2))
    assert asked.n_clusters_ == len(asked.cluster_numbers_)
    assert asked.learned_.any()
    for model in (asked, silent):
        model._state = learner.concluded(model._state, model._settings(2))
    assert same(asked, silent)
    np.testing.assert_array_equal(asked.predict(X), silent.predict(X))
