"""The neurons as a mixture of Gaussians: SciPy's densities, and which models are better."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from gaussian_neurons.clustering.mixture import Mixture, mean_log_density, mixture_of

RANDOM = np.random.default_rng(0)
CENTERS = RANDOM.normal(size=(3, 2))
ROOTS = RANDOM.normal(size=(3, 2, 2))
WIDTHS = {
    "spherical": RANDOM.uniform(0.5, 2.0, 3),
    "diag": RANDOM.uniform(0.5, 2.0, (3, 2)),
    "full": ROOTS @ ROOTS.transpose(0, 2, 1) + 0.1 * np.eye(2),
}
SCALES, WEIGHTS = np.array([0.5, 1.0, 3.0]), np.array([0.2, 0.5, 0.3])


@pytest.mark.parametrize("kind", WIDTHS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_it_is_the_density_of_normal_distributions(kind, dtype):
    rows, widths = RANDOM.normal(size=(5000, 2)), WIDTHS[kind]
    covariances = {1: lambda one: one * np.eye(2), 2: np.diag, 3: np.asarray}[widths.ndim]
    parts = [
        weight * multivariate_normal(center, scale / 2 * covariances(width)).pdf(rows)
        for center, width, scale, weight in zip(CENTERS, widths, SCALES, WEIGHTS, strict=True)
    ]
    mixture = Mixture(CENTERS.astype(dtype), widths.astype(dtype), SCALES, WEIGHTS)
    found = mean_log_density(rows.astype(dtype), mixture)
    assert found == pytest.approx(
        np.log(np.sum(parts, axis=0)).mean(), rel=1e-5 if dtype == np.float32 else 1e-12
    )


@pytest.mark.parametrize("width", [0.5, 2.0, 8.0])
def test_a_given_width_is_no_variance(width):
    """The Gaussian has that of the samples, and a neuron without samples a typical one."""
    recent = np.concatenate([RANDOM.normal(0.0, 0.5, (500, 3)), RANDOM.normal(9.0, 1.0, (500, 3))])
    centers = np.array([[0.0] * 3, [9.0] * 3, [99.0] * 3])
    mixture = mixture_of(centers, np.full(3, width), recent, shared=False)
    np.testing.assert_allclose(mixture.scales * width / 2, [0.25, 1.0, 0.625], rtol=0.1)
    np.testing.assert_allclose(mixture.weights, [501 / 1003, 501 / 1003, 1 / 1003])


def test_covariances_keep_their_shape():
    recent = RANDOM.normal(size=(1000, 2)) * [1.0, 3.0]
    mixture = mixture_of(np.zeros((1, 2)), np.array([[5.0, 45.0]]), recent, shared=False)
    np.testing.assert_allclose(mixture.scales[0] * mixture.widths[0] / 2, [1.0, 9.0], rtol=0.1)


def test_automatic_widths_are_variances_already():
    mixture = mixture_of(np.zeros((2, 1)), np.array([1.0, 4.0]), np.array([[0.1], [5.0]]), shared=True)
    assert mixture.scales.tolist() == [1.0, 1.0]
    assert mixture.weights.tolist() == [0.5, 0.5]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shared", [False, True])
def test_degenerate_samples_give_a_number(dtype, shared):
    centers, widths = np.array([[0.0], [1.0]], dtype), np.ones(2, dtype)
    far = 1e30 if dtype == np.float32 else 1e200
    for recent in ([[0.0]] * 5, [[0.0], [far]], [[far]], np.empty((0, 1))):
        mixture = mixture_of(centers, widths, np.asarray(recent, dtype), shared)
        assert (mixture.scales > 0).all()
        assert mixture.weights.sum() == pytest.approx(1.0)
        assert np.isfinite(mean_log_density(np.zeros((2, 1), dtype), mixture))
        assert mean_log_density(np.full((2, 1), far, dtype), mixture) == -np.inf
