"""Neurons that are moved to where samples need them: numbers by hand, laws, and the compiled twin."""

import numpy as np
import pytest

from gaussian_neurons import Neurons
from gaussian_neurons.learning import native, reference_relocation
from gaussian_neurons.learning.relocation import relocated, winners

TWINS = [reference_relocation.relocate, native.relocate]
TWO_CLUSTERS = np.array([[0.0], [1.0], [20.0], [21.0]])  # won by one neuron, at 10.5
PAIR = np.array([[50.0], [51.0], [52.0], [53.0]])  # won by two neurons
ROWS = np.concatenate([TWO_CLUSTERS, PAIR])
WINNERS = np.array([0, 0, 0, 0, 1, 1, 2, 2])


def start(widths=(200.0, 1.0, 1.0), counts=(4.0, 2.0, 2.0)):
    return np.array([[10.5], [50.5], [52.5]]), np.array(widths), np.array(counts)


def moved(relocate, *state, groups=(0, 0, 0), resting=(False,) * 3, rows=ROWS, winners=WINNERS, margin=0.0):
    background = np.full(len(rows), 8.0)
    given = np.array(groups), np.array(resting), rows, np.array(winners), background, margin
    return relocate(*state, *given)


# ---- by hand ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("relocate", TWINS)
def test_a_merge_frees_a_neuron_for_a_split(relocate):
    """Merged: mean 51.5, width (1 + 1) / 2 + 2/4 * 2^2 = 3. Parts: width (2 * 0.5 + 200) / 3 = 67."""
    centers, widths, counts, origins = moved(relocate, *start())
    assert origins.tolist() == [0, 1, -1]
    np.testing.assert_allclose(centers[1], [51.5])
    np.testing.assert_allclose(widths, [67.0, 3.0, 67.0])
    assert sorted(centers[[0, 2], 0]) == [0.5, 20.5]
    assert counts.tolist() == [2.0, 4.0, 2.0]


def gain_and_loss():
    """Split: 4 rows at squared distances 10.5^2 + 9.5^2, twice, of width 200; each part 0.5 of width 67."""
    now = 2 * (10.5**2 + 9.5**2) / 200 + 2 * np.log(200)
    after = 2 * (0.5 / 67 + np.log(67))
    return now - after, 0.5 * 4 * np.log(3)


@pytest.mark.parametrize("relocate", TWINS)
def test_a_split_has_to_gain_the_margin_more_than_the_merge_loses(relocate):
    gain, loss = gain_and_loss()
    assert (moved(relocate, *start(), margin=gain - loss - 1e-6)[3] < 0).sum() == 1
    for old, new in zip(start(), moved(relocate, *start(), margin=gain - loss + 1e-6), strict=False):
        np.testing.assert_array_equal(new, old)


@pytest.mark.parametrize("relocate", TWINS)
def test_a_neuron_that_represents_nothing_costs_nothing(relocate):
    centers, _, _, origins = moved(
        relocate, *start(counts=(4.0, 4.0, 0.0)), winners=[0, 0, 0, 0, 1, 1, 1, 1], groups=(0, 1, 2)
    )
    assert origins.tolist() == [0, 1, -1]
    np.testing.assert_allclose(centers[1], [50.5])  # bit for bit where it was


@pytest.mark.parametrize("relocate", TWINS)
def test_neurons_of_different_clusters_are_not_merged(relocate):
    assert moved(relocate, *start(), groups=(0, 0, 1))[3].tolist() == [0, 1, 2]


@pytest.mark.parametrize("relocate", TWINS)
def test_the_rows_of_a_neuron_that_rests_get_another_one(relocate):
    """Rows 0, 1, 20, 21: mean 10.5, scatter 401, so width (802 + 200) / 5. The neuron there does not move."""
    state = start()
    state[0][0] = -10.0  # the four rows are far from it
    gain = (10**2 + 11**2 + 30**2 + 31**2) / 200 - 401 / 200.4 + 2 * np.log(200 / 200.4)
    for margin, origins in ((gain - 0.5 * 4 * np.log(3) - 1e-6, [0, 1, -1]), (gain, [0, 1, 2])):
        found = moved(relocate, *state, resting=(True, False, False), margin=margin)
        assert found[3].tolist() == origins
        np.testing.assert_array_equal((found[0][0, 0], found[1][0]), (-10.0, 200.0))
    found = moved(relocate, *state, resting=(True, False, False), margin=1.0)
    np.testing.assert_allclose((found[0][2, 0], found[1][2], found[2][2]), (10.5, 200.4, 4))


@pytest.mark.parametrize("relocate", TWINS)
def test_rows_without_a_neuron_get_one(relocate):
    """Background 8 a row; the neuron there costs less: mean 0.5, width (1 + median 1) / 3."""
    winners = [-1, -1, 0, 0, 1, 1, 2, 2]
    state = np.array([[20.5], [50.5], [52.5]]), np.ones(3), np.array([2.0, 2.0, 2.0])
    centers, widths, _, origins = moved(relocate, *state, winners=winners, groups=(0, 1, 1))
    assert origins.tolist() == [0, 1, -1]
    np.testing.assert_allclose((centers[2, 0], widths[2]), (0.5, 2 / 3))


# ---- laws -------------------------------------------------------------------------------------------


def problem(seed):
    random = np.random.default_rng(seed)
    K, D, n = random.integers(2, 20), random.integers(1, 6), random.integers(20, 200)
    centers, widths = random.normal(size=(K, D)), random.uniform(0.1, 1, K)
    places = random.normal(size=(4, D)) * 2
    rows = random.normal(places[random.integers(4, size=n)], 0.2)
    winners = ((rows[:, None] - centers) ** 2).sum(-1).argmin(1)
    winners[random.random(n) < 0.1] = -1
    counts = np.bincount(winners[winners >= 0], minlength=K).astype(float)
    groups = np.where(random.random(K) < 0.3, random.integers(3, size=K), -1)
    return centers, widths, counts, groups, groups > 0, rows, winners, np.full(n, 4.0), 3.0


@pytest.mark.parametrize("seed", range(40))
def test_the_core_computes_the_reference(seed):
    """Up to the order of the neurons: of two parts that are equally far from the old center, either stays."""
    found = []
    for relocate in TWINS:
        centers, widths, counts, origins = relocate(*problem(seed))
        rows = np.column_stack([centers, widths, counts])
        found.append((rows[np.lexsort(rows.T.round(9))], np.sort(origins)))
    np.testing.assert_allclose(found[0][0], found[1][0], rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(found[0][1], found[1][1])


@pytest.mark.parametrize("seed", range(10))
def test_no_sample_counts_twice_and_without_rows_nothing_moves(seed):
    before = problem(seed)
    centers, widths, counts, _ = native.relocate(*before)
    assert np.isfinite(centers).all()
    assert (widths > 0).all()
    again = (before[6] < 0).sum() + before[2][before[4]].sum()  # rows of a neuron that rests get another one
    assert counts.sum() <= before[2].sum() + again
    none = *before[:5], before[5][:0], before[6][:0], before[7][:0], before[8]
    for old, new in zip(before[:3], native.relocate(*none), strict=False):
        np.testing.assert_array_equal(new, old)


def test_a_cluster_without_a_neuron_takes_one_of_another():
    random = np.random.default_rng(0)
    rows = random.normal(np.repeat([[0.0, 0.0], [30.0, 0.0]], 300, axis=0), 1.0)
    neurons = Neurons.at([[0.0, 0.0], [0.5, 0.5], [-0.5, 0.5], [0.5, -0.5]], 2.0)
    won = np.bincount(winners(neurons, rows, 7.0) + 1, minlength=5)[1:]
    neurons = neurons.with_rows(slice(None), won=won)
    after, origins = relocated(neurons, np.full(4, -1), rows, 1.0, 7.0, 1e-9, 0.01, "native")
    far = after.centers[:, 0] > 15
    assert far.any()
    assert (~far).any()
    np.testing.assert_allclose(after.centers[far].mean(axis=0), [30, 0], atol=1.0)
    assert set(np.flatnonzero(far)) <= set(np.flatnonzero(origins < 0))
