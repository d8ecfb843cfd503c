"""Rows drawn in proportion to weights."""

import numpy as np
import pytest
from scipy.stats import chi2_contingency, chisquare

from gaussian_neurons.sampling.drawing import drawing


def drawn(weights, count=10_000, seed=0):
    return drawing(len(weights), np.asarray(weights, float), np.random.default_rng(seed))(count)


def test_rows_are_drawn_in_proportion_to_their_weights():
    weights = np.array([0.5, 3.0, 1.25, 0.01, 7.0])
    counts = np.bincount(drawn(weights, 100_000))
    assert chisquare(counts, 100_000 * weights / weights.sum()).pvalue > 1e-3


def test_a_whole_weight_is_that_many_equal_rows():
    weights = np.array([3, 0, 1, 2])
    repeated = np.repeat(np.arange(4), weights)
    counts = np.bincount(repeated[drawing(6, None, np.random.default_rng(1))(100_000)])
    both = np.array([counts, np.bincount(drawn(weights, 100_000))])
    assert both[:, 1].tolist() == [0, 0]
    assert chi2_contingency(both[:, weights > 0]).pvalue > 1e-3


@pytest.mark.parametrize("weights", [[0, 1, 0, 0, 2, 0], [1, 0], [0, 0, 5e-324]])
def test_rows_of_weight_zero_change_nothing(weights):
    weights = np.array(weights, float)
    kept = np.flatnonzero(weights)
    np.testing.assert_array_equal(drawn(weights), kept[drawn(weights[kept])])


@pytest.mark.parametrize("scale", [2.0**-1000, 1.0, 2.0**1000])
def test_only_ratios_of_weights_count(scale):
    weights = np.array([1e5, 2.0, 3e5, 1e-300])
    with np.errstate(under="ignore"):
        np.testing.assert_array_equal(drawn(weights * scale), drawn(weights))


def test_the_largest_random_number_draws_the_last_row():
    class Largest:
        def random(self, count):
            return np.full(count, np.nextafter(1.0, 0.0))

    for size in range(1, 50):
        weights = np.random.default_rng(size).random(size)
        assert drawing(size, weights, Largest())(1) == [size - 1]
