"""The neurons as a mixture of Gaussians, and the density of rows under it [26]."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from gaussian_neurons.base.bad_rows import require_finite
from gaussian_neurons.learning.responses import log_response_blocks, log_volumes, strongest

Array = NDArray[Any]


class Mixture(NamedTuple):
    """One Gaussian for each neuron: its response, stretched and normalised."""

    centers: Array  # (K, D)
    widths: Array  # (K,), or covariances (K, D) or (K, D, D)
    scales: Array  # (K,) a Gaussian has this multiple of the width of its neuron
    weights: Array  # (K,) parts of the samples, with the sum 1


def mixture_of(centers: Array, widths: Array, recent: Array, shared: bool) -> Mixture:
    """Neurons with the weights, and for a given width the scales, of the recent samples that they win.

    A width that neurons find themselves is twice the variance of their samples. A given width is a reach: the
    Gaussian has the one that the neuron would find, 2 / D times the mean squared distance of its samples.
    Each neuron counts one typical sample more, so that none has the weight 0 or the scale 0.

    Parameters
    ----------
    centers : (K, D)
    widths : (K,), or covariances (K, D) or (K, D, D)
    recent : (n, D), recent samples
    shared : whether neurons share samples: their widths are automatic

    Examples
    --------
    The first wins two samples at a squared distance of 1, the second wins none: (2 * 1 + 1) / (2 + 1).

    >>> recent = np.array([[-1.0], [1.0]])
    >>> mixture = mixture_of(np.array([[0.0], [9.0]]), np.array([4.0, 4.0]), recent, shared=False)
    >>> mixture.scales * mixture.widths, mixture.weights
    (array([2., 2.]), array([0.75, 0.25]))
    """
    count, D = centers.shape
    winner, log_response = strongest(recent, centers, widths, shared)
    reached = np.isfinite(log_response)
    winner, squared = winner[reached], -log_response[reached].astype(np.float64)  # in widths
    wins = np.bincount(winner, minlength=count)
    weights = (wins + 1) / (len(winner) + count)
    if shared or not len(winner):
        return Mixture(centers, widths, np.ones(count), weights)
    scales = 2 / D * (np.bincount(winner, squared, count) + squared.mean()) / (wins + 1)
    return Mixture(centers, widths, np.maximum(scales, np.finfo(centers.dtype).eps), weights)


def mean_log_density(x: Array, mixture: Mixture) -> float:
    """The mean over the rows of the logarithm of their density; minus infinity without any neurons.

    Examples
    --------
    At the center of a normal distribution with the variance 1/2, the density is the square root of 1 / pi:

    >>> mixture = Mixture(np.zeros((1, 1)), np.ones(1), np.ones(1), np.ones(1))
    >>> round(-2 * mean_log_density(np.zeros((1, 1)), mixture) - float(np.log(np.pi)), 12)
    0.0
    """
    centers, widths, scales, weights = mixture
    if not len(centers):
        require_finite(x, centers.dtype)
        return -np.inf
    offset = np.log(weights) - log_volumes(widths, x.shape[1]) - x.shape[1] / 2 * np.log(scales)
    total = 0.0
    for _, logs in log_response_blocks(x, centers, widths):
        with np.errstate(over="ignore"):  # minus infinity is right
            total += logsumexp(logs.astype(np.float64) / scales + offset, axis=1).sum()
    return float(total / len(x))
