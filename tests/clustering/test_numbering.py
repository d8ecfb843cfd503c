"""Clusters keep their numbers when their neurons change; events record what happens to them."""

from dataclasses import replace

import numpy as np
import pytest

from gaussian_neurons import Neurons
from gaussian_neurons.clustering.numbering import EVENTS, Clusters, Event

LINE = np.array([[0.0], [1.0], [10.0], [11.0], [20.0], [21.0]])  # three clusters of two neurons


def line(seen: int = 1000) -> Neurons:
    return replace(Neurons.at(LINE, 1.0), seen=seen)


def shifted(neurons: Neurons, which: slice, by: float) -> Neurons:
    rows = np.arange(len(neurons))[which]
    return neurons.with_rows(rows, centers=neurons.centers[rows] + by)


def reported(clusters: Clusters, neurons: Neurons, recent) -> Clusters:
    share = np.full(len(neurons), 1 / len(neurons))
    return clusters.reported(clusters.found(neurons), neurons, share, recent)


def after(clusters: Clusters, group, share=None) -> Clusters:
    """Other groups of the same neurons."""
    weights = np.full(len(group), 1 / len(group)) if share is None else np.array(share)
    return clusters.renewed(np.array(group), weights)


@pytest.fixture
def three() -> Clusters:
    return after(Clusters.none(6), [0, 0, 1, 1, 2, 2])


# ---- numbers ----------------------------------------------------------------------------------------


def test_there_are_no_clusters_at_first():
    none = Clusters.none(4)
    assert none.number.tolist() == [-1] * 4
    assert none.found(Neurons.at(np.zeros((4, 2)), 1.0)).centers.shape == (0, 2)
    assert (none.given, none.events) == (0, ())


def test_numbers_start_at_zero(three):
    assert three.number.tolist() == [0, 0, 1, 1, 2, 2]
    assert three.given == 3


def test_the_labels_of_groups_do_not_matter(three):
    assert after(three, [7, 7, 0, 0, 3, 3]).number.tolist() == [0, 0, 1, 1, 2, 2]
    assert after(three, [7, 7, 0, 0, 3, 3]).given == 3


def test_a_neuron_that_changes_its_cluster_gets_the_number_of_the_new_one(three):
    assert after(three, [0, 0, 1, 2, 2, 2]).number.tolist() == [0, 0, 1, 2, 2, 2]


def test_if_a_cluster_splits_the_larger_part_keeps_the_number(three):
    split = after(three, [0, 1, 2, 2, 3, 3], share=[0.1, 0.3, 0.15, 0.15, 0.15, 0.15])
    assert split.number.tolist() == [3, 0, 1, 1, 2, 2]
    assert split.given == 4


def test_if_clusters_merge_the_number_of_the_larger_stays(three):
    merged = after(three, [0, 0, 0, 0, 1, 1], share=[0.1, 0.1, 0.2, 0.2, 0.2, 0.2])
    assert merged.number.tolist() == [1, 1, 1, 1, 2, 2]


def test_a_retired_number_is_not_given_again(three):
    without = after(three, [0, 0, -1, -1, 1, 1])
    assert without.number.tolist() == [0, 0, -1, -1, 2, 2]
    assert after(without, [0, 0, 1, 1, 2, 2]).number.tolist() == [0, 0, 3, 3, 2, 2]


def test_a_cluster_of_neurons_without_a_cluster_is_new():
    one = after(Clusters.none(6), [0, 0, -1, -1, -1, -1])
    two = after(one, [0, 0, 5, 5, -1, -1])
    assert two.number.tolist() == [0, 0, 1, 1, -1, -1]


def test_a_cluster_with_a_small_overlap_is_new():
    """They share 0.1, and each has 0.4 alone: less than half of either."""
    one = after(Clusters.none(3), [0, 0, -1], [0.4, 0.1, 0.4])
    other = after(one, [-1, 0, 0], [0.4, 0.1, 0.4])
    assert other.number.tolist() == [-1, 1, 1]
    half = after(one, [-1, 0, 0], [0.1, 0.1, 0.4])
    assert half.number.tolist() == [-1, 0, 0]


def test_neurons_that_win_nothing_keep_their_numbers(three):
    assert after(three, [2, 2, 1, 1, 0, 0], share=np.zeros(6)).number.tolist() == [0, 0, 1, 1, 2, 2]


def test_without_samples_the_center_is_that_of_the_first_neuron():
    neurons = Neurons.at(LINE, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    clusters = Clusters(np.array([-1, 4, -1, 2, -1, -1]), given=5)
    found = clusters.found(neurons)
    assert found.numbers.tolist() == [2, 4]
    assert found.centers.tolist() == [[11.0], [1.0]]
    assert found.widths.tolist() == [4.0, 2.0]


def test_with_samples_the_center_is_the_mean_of_those_that_its_neurons_win():
    neurons = Neurons.at([[0.0, 0.0], [10.0, 0.0], [10.0, 4.0]], 1.0, np.float32)
    clusters = Clusters(np.array([0, 1, -1]))
    recent = np.array([[1.0, 0.0], [2.0, 1.0], [9.0, 1.0], [10.0, 2.0]])
    found = clusters.found(neurons, recent)
    np.testing.assert_allclose(found.centers, [[1.5, 0.5], [9.5, 1.5]])
    assert found.centers.dtype == np.float32


def test_outliers_do_not_move_a_center():
    neurons = Neurons.at([[0.0], [-10.0]], 1.0)
    recent = np.append(np.linspace(-1, 1, 99), 1e12)[:, None]
    found = Clusters(np.array([0, 1])).found(neurons, recent)
    np.testing.assert_allclose(found.centers, [[0.0], [-10.0]], atol=0.2)


def test_centers_without_clusters_or_samples():
    assert len(Clusters.none(6).found(line(), LINE).centers) == 0
    one = Clusters(np.arange(6)).found(line(), LINE[:0])
    np.testing.assert_array_equal(one.centers, LINE)


# ---- other neurons ----------------------------------------------------------------------------------


def test_exchanged_neurons_keep_their_numbers(three):
    other = three.of_neurons(np.array([5, 3, 2, 0, -1]))
    assert other.number.tolist() == [2, 1, 1, 0, -1]
    assert other.given == 3


# ---- events -----------------------------------------------------------------------------------------


def facts_of(clusters: Clusters) -> list[tuple[int, str, int]]:
    return [event[:3] for event in clusters.events]


def test_each_birth_move_and_retirement_is_one_event(three):
    recent = np.repeat(LINE, 10, axis=0)
    first = reported(three, line(1000), recent)
    assert facts_of(first) == [(1000, "born", 0), (1000, "born", 1), (1000, "born", 2)]
    np.testing.assert_array_equal([event.center for event in first.events], LINE[::2])
    assert facts_of(reported(first, line(2000), recent)) == facts_of(first)
    moved = shifted(line(3000), slice(2, 4), 5.0)
    recent = np.repeat(moved.centers[:4], 10, axis=0)
    second = reported(after(first, [0, 0, 1, 1, -1, -1]), moved, recent)
    assert facts_of(second)[3:] == [(3000, "retired", 2), (3000, "moved", 1)]
    assert second.events[-2].center.tolist() == [20.0]
    assert second.events[-1].center.tolist() == [15.0]
    third = reported(after(second, [0, 0, 1, 1, 2, 2]), moved, recent)
    assert facts_of(third)[5:] == [(3000, "born", 3)]


def test_a_move_is_an_event_if_it_is_farther_than_samples_scatter(three):
    """Measured from the last event: many small moves are one event."""
    around = np.array([[-2.0], [2.0]])  # they scatter by 2
    clusters = reported(three, line(), np.concatenate(LINE[::2] + around[:, None]))
    slow = line(2000)
    events = []
    for _ in range(5):
        slow = shifted(slow, slice(0, 2), 0.9)
        clusters = reported(clusters, slow, np.concatenate(slow.centers[::2] + around[:, None]))
        events.append(len(clusters.events) - 3)
    assert events == [0, 0, 1, 1, 1]
    assert clusters.events[-1].kind == "moved"
    assert clusters.events[-1].center[0] == pytest.approx(2.7)


def test_the_center_of_an_event_cannot_be_changed(three):
    neurons = line()
    event = reported(three, neurons, LINE).events[0]
    neurons.centers[:] += 100.0
    assert event.center.tolist() == [0.0]
    assert not event.center.flags.writeable


def test_every_step_returns_new_clusters_and_leaves_the_old_ones(three):
    number, recent = three.number.copy(), np.repeat(LINE, 10, axis=0)
    noted = reported(three, line(), recent)
    after(noted, [0, 0, -1, -1, 1, 1])
    noted.returned(noted.found(line()), recent)
    noted.of_neurons(np.array([5, 3]))
    noted.found(line(), recent)
    for clusters, events in ((three, 0), (noted, 3)):
        np.testing.assert_array_equal(clusters.number, number)
        assert (clusters.given, len(clusters.events)) == (3, events)


def test_the_last_thousand_events_are_kept():
    neurons = line()
    clusters = Clusters.none(6)
    for turn in range(EVENTS // 2 + 10):
        group = [0, 0, -1, -1, -1, -1] if turn % 2 else [-1, -1, 0, 0, -1, -1]
        clusters = reported(after(clusters, group), neurons, LINE)
    assert len(clusters.events) == EVENTS == 1000
    assert facts_of(clusters)[-1] == (1000, "born", EVENTS // 2 + 9)
    assert facts_of(clusters)[-2] == (1000, "retired", EVENTS // 2 + 8)
    assert len(clusters.noted) == 1


def test_a_cluster_at_the_place_of_a_retired_one_gets_its_number(three):
    recent = np.repeat(LINE, 10, axis=0) + np.tile([[-0.4], [0.4]], (30, 1))
    clusters = reported(three, line(1000), recent)
    clusters = reported(after(clusters, [0, 0, -1, -1, 2, 2]), line(2000), recent)
    new = after(clusters, [0, 0, 1, 1, 2, 2])
    assert new.number.tolist() == [0, 0, 3, 3, 2, 2]
    again = new.returned(new.found(line(3000)), recent)
    assert again.number.tolist() == [0, 0, 1, 1, 2, 2]
    assert facts_of(reported(again, line(3000), recent))[-1] == (3000, "born", 1)
    elsewhere = shifted(line(3000), slice(2, 4), 300.0)
    assert new.returned(new.found(elsewhere), recent).number.tolist() == [0, 0, 3, 3, 2, 2]


def test_an_event_says_how_sure_it_is_and_why(three):
    """A cluster wins 20 of 60 samples; it needs 1.5, and 0.75 count as chance."""
    recent = np.repeat(LINE, 10, axis=0) + np.tile([[-0.4], [0.4]], (30, 1))
    born = reported(three, line(1000), recent)
    assert [event.reason for event in born.events] == ["won 20 of 60 samples"] * 3
    assert born.events[0].evidence == pytest.approx(20 * np.log(20 / 0.75) - 20 + 0.75)
    neurons = line(2000)
    resting = replace(neurons, rests=np.array([1000, 1000, -1, -1, -1, -1]))
    share = np.array([0, 0, 0.25, 0.25, 0.25, 0.25])
    gone = born.reported(born.found(resting), resting, share, recent)
    assert facts_of(gone)[-1] == (2000, "absent", 0)
    assert gone.events[-1].reason == "won 0 of 60 samples, 0.333 of them before"
    assert gone.events[-1].evidence == pytest.approx(20)  # chance of none if 20 are expected: exp(-20)
    ended = reported(after(born, [-1, -1, 1, 1, 2, 2]), neurons, recent)
    assert ended.events[-1].reason == "won too few samples"
    assert ended.events[-1].evidence == pytest.approx(20)
    elsewhere = shifted(neurons, slice(4, 6), 3.0)
    moved = reported(born, elsewhere, recent + np.where(recent > 15, 3.0, 0.0)).events[-1]
    far = np.mean((recent[recent > 15] - 20) ** 2)  # the cluster is at its first neuron
    assert moved.kind == "moved"
    assert moved.evidence == pytest.approx(20 * 9 / far / 2)


def test_the_text_of_an_event():
    event = Event(2000, "born", 3, np.array([0.12345, 2.0]))
    assert repr(event) == "Event(2000, 'born', cluster 3 at [0.123, 2.   ])"


# ---- events that are confirmed ------------------------------------------------------------------------


def test_what_is_new_or_elsewhere_is_reported_if_it_is_so_at_two_reviews(three):
    recent, share = np.repeat(LINE, 10, axis=0), np.full(6, 1 / 6)

    def review(clusters, neurons, before):
        return clusters.reported(clusters.found(neurons), neurons, share, recent, np.array(before))

    first = review(three, line(1000), [0, 1])  # cluster 2 is new
    assert facts_of(first) == [(1000, "born", 0), (1000, "born", 1)]
    second = review(first, line(2000), [0, 1, 2])
    assert facts_of(second)[2:] == [(2000, "born", 2)]
    moved = line(3000).with_rows([0], centers=LINE[:1] + 5.0)
    third = review(second, moved, [0, 1, 2])
    assert third.events == second.events
    back = review(third, line(4000), [0, 1, 2])
    assert back.events == second.events
    again = review(back, moved, [0, 1, 2])
    last = review(again, replace(moved, seen=6000), [0, 1, 2])
    assert facts_of(last)[3:] == [(6000, "moved", 0)]
