"""Clusters that rest, and neurons that a neighbour has drawn away."""

from dataclasses import replace

import numpy as np
import pytest

from gaussian_neurons import GaussianNeurons, Neurons
from gaussian_neurons.clustering import resting
from gaussian_neurons.clustering.numbering import Clusters
from gaussian_neurons.clustering.resting import _jumps, with_rest


def drawn(mean, rows=100, columns=1):
    """A cluster at 0 of two neurons of width 2, at -1 and 1, after it won rows at `mean`.

    Its variance is 2/2 + 1 in the first column and 2/2 in others: 1 + 1 / columns in the mean.
    """
    then = np.zeros((2, columns))
    then[:, 0] = -1.0, 1.0
    now = then.copy()
    now[:, 0] += mean
    held = {"held": then, "held_widths": np.full(2, 2.0), "won": np.array([50, 50])}
    neurons = replace(Neurons.at(now, 2.0), looked=np.array([0, 500]), **held)
    at = np.zeros((rows, columns))
    at[:, 0] = mean
    clusters = Clusters(np.zeros(2, np.int64), given=1)
    return with_rest(neurons, clusters, np.arange(rows) % 2, at, None)[0]


@pytest.mark.parametrize(("mean", "rests"), [(3.18, False), (3.19, True)])
def test_a_cluster_rests_if_what_it_wins_is_far_from_its_place(mean, rests):
    """Its variance is 2/2 + 1 = 2, and 1/100 of it is expected by chance: sqrt((2.25^2 + 0.01) 2) = 3.185."""
    neurons = drawn(mean)
    assert neurons.resting.tolist() == [rests] * 2
    assert neurons.centers[:, 0].tolist() == ([-1.0, 1.0] if rests else [mean - 1, mean + 1])


def test_a_mean_of_few_rows_in_many_columns_can_be_farther_away():
    """4 rows, 100 columns: the variance is 1.01, and 2.25^2 + 100/4 times that is not yet evident: 5.511."""
    assert not drawn(5.51, rows=4, columns=100).resting.any()
    assert drawn(5.52, rows=4, columns=100).resting.all()


def test_rows_that_repeat_show_no_place():
    neurons = replace(Neurons.at([[9.0]], 1.0), held=np.zeros((1, 1)), held_widths=np.ones(1))
    clusters, winners = Clusters(np.zeros(1, np.int64), given=1), np.zeros(50, np.int64)
    assert not with_rest(neurons, clusters, winners, None, None)[0].resting.any()
    assert with_rest(neurons, clusters, winners, np.full((50, 1), 9.0), None)[0].resting.all()


@pytest.mark.parametrize(
    ("off", "jumps"),
    [
        ([0.0, 0.0, 4.0, 4.0], True),  # costs 0, a path 16 - 12.8
        ([4.0, 4.1, 3.9, 4.0], True),  # a jump before the first row costs 0.02, a path 0.018: not evident
        ([1.0, 2.0, 3.0, 4.0], False),  # a path costs 0, a jump at best 2.75: after the first row
    ],
)
def test_a_jump_is_told_from_a_path(off, jumps):
    assert _jumps(np.array(off)[:, None] * np.ones(2), np.arange(4.0)) == jumps


def test_rows_from_before_a_cluster_came_to_rest_do_not_wake_it():
    neurons = replace(Neurons.at([[0.0]], 1.0), rests=np.array([60]), seen=100, looked=np.array([500]))
    clusters = Clusters(np.zeros(1, np.int64), given=1)
    for won, rests in ((slice(0, 60), True), (slice(30, 70), False)):
        winners = np.full(100, -1)
        winners[won] = 0
        assert with_rest(neurons, clusters, winners, None, None)[0].resting.tolist() == [rests]


def grid(in_turn, seed=0):
    """Nine clusters, five standard deviations apart."""
    random = np.random.default_rng(seed)
    labels = random.integers(9, size=13_500)
    labels = np.sort(labels) if in_turn else labels
    return random.normal(np.stack(np.divmod(labels, 3), axis=1) * 5.0), labels


def right(model, X, labels):
    """The part of the rows that belong to the most frequent label of their cluster."""
    number = model.predict(X)
    counts = np.zeros((number.max() + 2, 9))
    np.add.at(counts, (number, labels), 1)
    return counts[:-1].max(axis=1).sum() / len(X)


def test_clusters_that_touch_are_all_kept_if_they_come_one_after_another(monkeypatch):
    X, labels = grid(in_turn=True)
    model = GaussianNeurons(30, random_state=0).partial_fit(X)
    assert model.n_clusters_ == 9
    assert right(model, X, labels) > 0.95
    monkeypatch.setattr(resting, "ELSEWHERE", np.inf)
    assert right(GaussianNeurons(30, random_state=0).partial_fit(X), X, labels) < 0.7


def test_so_are_they_if_each_row_comes_several_times():
    X, labels = grid(in_turn=True)
    random = np.random.default_rng(0)
    few = [random.choice(np.flatnonzero(labels == k)[:300], 3000) for k in dict.fromkeys(labels.tolist())]
    again = np.concatenate(few)
    model = GaussianNeurons(30, random_state=0).partial_fit(X[again])
    assert (
        right(model, X, labels) > 0.8
    )  # 0.11 if ten times three hundred rows counted as a sensor that stands still
