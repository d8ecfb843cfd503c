"""Looks: clusters are decided at fixed sample numbers, whatever the calls; positions are current."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaussian_neurons import GaussianNeurons
from gaussian_neurons.clustering.normal import is_inlier
from gaussian_neurons.learning import reference_shares
from gaussian_neurons.learning.neurons import Neurons
from gaussian_neurons.learning.rule import Shares
from gaussian_neurons.model import model_file
from gaussian_neurons.model import recent as recent_module
from gaussian_neurons.model.look import unlearned
from gaussian_neurons.model.timetable import last_early_look, last_look, next_review, next_sharing_review
from tests.runs import same

WINDOW = 60
PLACES = np.array([[0.2, 0.2], [0.2, 0.8], [0.8, 0.2], [0.8, 0.8]])


@pytest.fixture(autouse=True)
def short_window(monkeypatch):
    """Reviews come often, so that short streams have many."""
    for module in (recent_module, model_file):
        monkeypatch.setattr(module, "window_for", lambda dimensions, each=(): WINDOW)


def stream(n: int = 400) -> np.ndarray:
    """Four clusters that drift slowly; the fourth has samples from the middle on only."""
    random = np.random.default_rng(0)
    number = np.where(np.arange(n) < n // 2, random.integers(3, size=n), random.integers(4, size=n))
    return PLACES[number] + np.linspace(0, 0.1, n)[:, None] + 0.04 * random.standard_normal((n, 2))


X = stream()


# ---- scores as if nothing was learned -----------------------------------------------------------------


def averaged(rows: np.ndarray, start: tuple[np.ndarray, float]) -> tuple[np.ndarray, float]:
    """The center and the width of the start and the rows, all with the same weight."""
    center = (start[0] + rows.sum(axis=0)) / (1 + len(rows))
    squared = ((np.vstack([start[0], rows]) - center) ** 2).sum() / (1 + len(rows))
    return center, 2 / rows.shape[1] * squared + start[1] / (1 + len(rows))


def test_a_sample_is_scored_as_if_it_had_not_been_learned():
    """A young neuron is the mean of its start and all its samples, whose order does not matter."""
    rows, start = np.random.default_rng(3).normal(size=(20, 3)), (np.ones(3), 0.5)
    neurons = Neurons.at([start[0], [500.0] * 3], [start[1], 1.0])
    centers, widths, total = reference_shares.learn(
        neurons.centers, neurons.widths, neurons.total, rows, Shares(0.015, 1e-9)
    )
    np.testing.assert_allclose(centers[0], averaged(rows, start)[0])
    neurons = neurons.after(centers, widths, len(rows), total)
    found = unlearned(neurons, np.arange(2), rows[::-1], later=len(rows))[::-1]
    for k, row in enumerate(rows):
        center, width = averaged(np.delete(rows, k, axis=0), start)
        assert found[k] == pytest.approx(-((row - center) ** 2).sum() / width)


def test_another_neuron_can_win_a_sample_that_was_not_learned():
    """The first neuron is narrow because of the last sample alone: without it, the second one wins."""
    neurons = replace(Neurons.at([[0.0], [0.3]], [0.01, 0.1]), total=np.array([1.0, 100.0]), seen=101)
    sample = np.array([[0.1]])
    narrow, wide = (-((0.1 - center) ** 2) / width for center, width in ((0.0, 0.01), (0.3, 0.1)))
    assert unlearned(neurons, np.array([0]), sample, later=1) < narrow
    assert unlearned(neurons, np.arange(2), sample, later=1) == pytest.approx(wide, rel=0.05)


def test_resting_neurons_have_not_learned():
    neurons = replace(Neurons.at([[0.0]], [1.0]), total=np.array([10.0]), rests=np.array([5]))
    assert unlearned(neurons, np.array([0]), np.array([[0.5]]), later=1).tolist() == [-0.25]


def test_rows_drawn_from_few_count_as_often_as_they_were_drawn():
    """A neuron with the mean of ten rows, which are all its samples, has each of them as a tenth."""
    neurons = replace(Neurons.at([[0.0]], [2.0]), total=np.array([1e6]), seen=10**6)
    x, samples = np.array([[0.5]]), np.zeros((20, 1))
    p = 0.1 + 0.9 * 0.015  # its weight: that of this draw, and a tenth of the others
    p = 2 * p / (1 + p)
    expected = 0.125 / (1 - p) / (1 - 2 * p * 0.125 / (1 - p))
    found = unlearned(neurons, np.array([0]), np.vstack([x, samples]), later=21, drawn_from=10)
    assert found[0] == pytest.approx(-expected, rel=0.01)
    assert unlearned(neurons, np.array([0]), np.vstack([x, samples]), later=21)[0] > found[0]


# ---- when models look ---------------------------------------------------------------------------------


def model_of(width, **changes) -> GaussianNeurons:
    return GaussianNeurons(**{"n_neurons": 8, "width": width, "random_state": 0} | changes)


def decisions(model: GaussianNeurons) -> list:
    """What is decided at a look."""
    return [
        model.n_clusters_,
        model.learned_.tolist(),
        model.cluster_numbers_.tolist(),
        model.neuron_clusters_.tolist(),
        [event[:3] for event in model.events_],
        model.diagnosis_.share.tolist(),
        model.novelty_threshold(),
    ]


def answers(model: GaussianNeurons) -> list:
    """What is decided at a look, and what is current."""
    arrays = (model.centers_, model.widths_, model.cluster_centers_, model.recent_samples_)
    return [*decisions(model), *(array.tolist() for array in arrays), model.predict(X[:20]).tolist()]


def last_decision(t: int, width) -> int:
    """The sample number of the last look or review, if t samples were received."""
    if width == "auto" and t < WINDOW:
        return last_early_look(t)
    following, look = (next_sharing_review, 0) if width == "auto" else (next_review, last_look(t))
    return max(look, *(seen for seen in range(1, t + 1) if following(seen - 1, WINDOW) == seen), 0)


# ---- the timetable ----------------------------------------------------------------------------------


@given(st.integers(0, 10**9))
def test_a_look_is_at_most_a_tenth_of_the_stream_and_a_thousand_samples_old(seen):
    look = last_look(seen)
    assert 0 <= seen - look <= min(seen / 10, 999)
    assert last_look(look) == look


@given(st.integers(0, 10**9), st.integers(100, 1000))
def test_the_next_review_is_a_fixed_number_after_now(seen, window):
    for following in (next_review, next_sharing_review):
        review = following(seen, window)
        assert review > seen
        assert following(review - 1, window) == review


@given(st.integers(1, 10**6))
def test_an_early_look_misses_at_most_a_tenth_of_the_samples(received):
    look = last_early_look(received)
    assert 0.9 <= look / received <= 1
    assert last_early_look(look) == look


# ---- decisions --------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [0.05, "auto"])
@pytest.mark.parametrize("given", [{}, {"domain": (0.0, 1.0), "init": "uniform"}])
def test_decisions_are_those_of_the_last_look_whatever_the_calls(width, given):
    for t in (7, 11, 59, 60, 61, 74, 93, 119, 131, 247, 309, 399):
        whole = model_of(width, **given).partial_fit(X[:t])
        pieces = model_of(width, **given)
        for begin in range(0, t, 13):
            pieces.partial_fit(X[begin : min(begin + 13, t)])
        at_the_look = model_of(width, **given).partial_fit(X[: last_decision(t, width)])
        assert answers(pieces) == answers(whole), t
        assert decisions(whole) == decisions(at_the_look), t


@pytest.mark.parametrize("width", [0.05, "auto"])
def test_asking_after_every_row_gives_the_answers_of_one_call(width):
    asked = model_of(width)
    for t, row in enumerate(X[:260], start=1):
        asked.partial_fit(row[None])
        found = answers(asked)
        if t in (1, 12, 59, 60, 61, 90, 133, 180, 259):
            whole = model_of(width).partial_fit(X[:t])
            assert found == answers(whole), t
            assert same(asked, whole), t


@pytest.mark.parametrize("width", [0.05, "auto"])
def test_asking_changes_nothing(tmp_path, width):
    asked, silent = model_of(width), model_of(width)
    for part in np.split(X, [30, 55, 100, 101, 250]):
        for model in (asked, silent):
            model.partial_fit(part)
        state = asked._state
        answers(asked)
        asked.is_novel(X)
        asked.save(tmp_path / "model")
        assert asked._state is state
    assert same(asked, silent)
    assert answers(asked) == answers(silent)


@pytest.mark.parametrize("width", [0.05, "auto"])
@pytest.mark.parametrize("t", [40, 60, 111, 247])
def test_a_saved_model_keeps_the_decisions_of_its_last_look(tmp_path, width, t):
    model = model_of(width).partial_fit(X[:t])
    model.save(tmp_path / "model")
    loaded = GaussianNeurons.load(tmp_path / "model")
    assert answers(loaded) == answers(model)
    for each in (model, loaded):
        each.partial_fit(X[t : t + 2])  # with an old look and with a new one
    assert answers(loaded) == answers(model)
    assert same(loaded.partial_fit(X[t + 2 :]), model.partial_fit(X[t + 2 :]))


# ---- positions --------------------------------------------------------------------------------------


def test_clusters_of_a_given_width_are_at_the_current_centers_of_their_neurons():
    model, before = model_of(0.05).partial_fit(X[:300]), None
    for row in X[300:310]:  # no look until 310
        model.partial_fit(row[None])
        if before is not None and model.n_samples_seen_ < 310:
            assert decisions(model) == before
        before = decisions(model)
        neuron = [np.argmax(model.neuron_clusters_ == number) for number in model.cluster_numbers_]
        np.testing.assert_array_equal(model.cluster_centers_, model.centers_[neuron])
    whole = model_of(0.05).partial_fit(X[:310])
    np.testing.assert_array_equal(model.centers_, whole.centers_)


def means_of_clusters(model: GaussianNeurons) -> np.ndarray:
    """The mean of the recent samples that the neurons of each cluster win, without outliers."""
    rows, mine = model.recent_samples_, model.neuron_clusters_ >= 0
    centers, widths, number = model.centers_[mine], model.widths_[mine], model.neuron_clusters_[mine]
    scores = -((rows[:, None] - centers) ** 2).sum(axis=2) / widths
    best = (scores - rows.shape[1] / 2 * np.log(widths)).argmax(axis=1)  # the largest share
    winner, score = number[best], scores[np.arange(len(rows)), best]
    found = []
    for cluster in model.cluster_numbers_:
        won = winner == cluster
        found.append(rows[won & is_inlier(-np.median(score[won]), -score, rows.shape[1])].mean(axis=0))
    return np.array(found)


@pytest.mark.parametrize("t", [60, 90, 180, 360])
def test_clusters_of_an_automatic_width_are_at_the_means_of_their_samples_at_a_look(t):
    assert last_decision(t, "auto") == t
    model = model_of("auto").partial_fit(X[:t])
    assert model.n_clusters_ > 1
    np.testing.assert_allclose(model.cluster_centers_, means_of_clusters(model), rtol=1e-12)


def test_clusters_of_an_automatic_width_stay_where_they_were_at_the_look():
    model = model_of("auto").partial_fit(X[:330])
    neurons, clusters = model.centers_, model.cluster_centers_
    model.partial_fit(X[330:359])
    assert last_decision(330, "auto") == last_decision(359, "auto") == 300
    np.testing.assert_array_equal(model.cluster_centers_, clusters)
    assert (model.centers_ != neurons).any()
    model.partial_fit(X[359:360])
    np.testing.assert_allclose(model.cluster_centers_, means_of_clusters(model), rtol=1e-12)
    assert (model.cluster_centers_ != clusters).any()
