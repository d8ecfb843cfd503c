"""Where neurons start: rows that lie far from each other, and a few rounds of k-means."""

import numpy as np
import pytest

from gaussian_neurons.learning.starts import means, means_of, spread


@pytest.mark.parametrize("seed", range(20))
def test_no_row_is_drawn_twice_while_others_are_left(seed):
    rows = np.array([[0.0], [1.0], [2.0], [3.0]])
    drawn = spread(rows, 4, 9.0, np.random.default_rng(seed))
    assert sorted(drawn.tolist()) == [0, 1, 2, 3]


def test_an_outlier_is_rarely_drawn():
    rows = np.repeat([[0.0], [1.0], [1000.0]], [100, 100, 1], axis=0)
    drawn = [spread(rows, 2, 1.0, np.random.default_rng(seed)).tolist() for seed in range(50)]
    assert sum(200 in both for both in drawn) < 5


def test_means_of_numbers_whose_sum_overflows():
    rows = np.array([[1e308, 1.0], [1e308, 3.0], [-1e308, 0.0]])
    found, size = means_of(rows, np.array([0, 0, 2]), 3)
    np.testing.assert_allclose(found, [[1e308, 2.0], [0.0, 0.0], [-1e308, 0.0]])
    assert size.tolist() == [2, 0, 1]


def test_a_center_without_rows_stays():
    places = means(np.array([[5.0, 7.0]] * 3), 4, 1.0, np.random.default_rng(0))
    np.testing.assert_array_equal(places, [[5.0, 7.0]] * 4)
