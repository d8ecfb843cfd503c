"""Covariances from the rows around a row: a number by hand, laws, extreme and invalid input."""

import numpy as np
import pytest

from gaussian_neurons.base.covariances import TYPES, ellipse, is_regular, mean_widths
from gaussian_neurons.sampling import local_covariances

RANDOM = np.random.default_rng(3)
X = RANDOM.normal(size=(300, 3)) * [3.0, 1.0, 0.5]


def test_two_rows_by_hand():
    """The other row has the weight w = 1/e: its variance is w (1 - w / (2 + w)). The row itself adds 1/2."""
    w = np.exp(-1)
    along, across = w * (1 - w / (2 + w)) + 1 / 2, 1 / 2
    expected = 4.0 * 2 * np.diag([along, across]) / (along + across)
    assert np.allclose(local_covariances([[5.0, 1.0], [7.0, 1.0]], width=4.0)[0], expected)


def test_a_row_that_is_alone_is_round():
    far = [[0.0, 0.0], [1e6, 0.0], [-1e300, 1e300]]
    assert (local_covariances(far, 2.0) == 2 * np.eye(2)).all()
    assert (local_covariances(far, 2.0, "diag") == 2).all()


def test_the_types_agree_and_their_mean_is_the_width():
    round_, diagonal, full = (local_covariances(X, 0.7, kind) for kind in TYPES)
    assert (round_ == 0.7).all()
    assert (diagonal == np.diagonal(full, axis1=1, axis2=2)).all()
    assert np.allclose(mean_widths(full), 0.7)
    assert all(is_regular(one) for one in full)


def test_shapes_turn_and_scale_with_the_rows():
    turn, _ = np.linalg.qr(RANDOM.normal(size=(3, 3)))
    found = local_covariances(100 + 2 * X @ turn.T, 4 * 0.7)
    assert np.allclose(found, 4 * turn @ local_covariances(X, 0.7) @ turn.T)


def test_the_longest_axis_is_that_of_a_long_cluster():
    random = np.random.default_rng(0)
    points = random.normal(size=(5000, 2)) * [3.0, 0.3] @ [[0.6, 0.8], [-0.8, 0.6]]  # turned by 53 degrees
    middle = local_covariances(points, 2.0)[np.abs(points).max(axis=1) < 1]
    angles = [ellipse(one, np.ones(2))[2] for one in middle]
    assert np.abs(np.mean(angles) - 53.13) < 1
    assert np.std(angles) < 3


@pytest.mark.parametrize("width", [0.0, -1.0, np.nan, np.inf, "wide"])
def test_an_invalid_width_is_refused(width):
    with pytest.raises(ValueError, match="width must be"):
        local_covariances(X, width)


def test_invalid_rows_and_types_are_refused():
    with pytest.raises(ValueError, match="row 1"):
        local_covariances([[0.0], [np.nan]], 1.0)
    with pytest.raises(ValueError, match="'spherical', 'diag'"):
        local_covariances(X, 1.0, "round")
