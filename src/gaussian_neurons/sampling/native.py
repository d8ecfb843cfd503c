"""The compiled twin of `reference`: same names, same signatures, same bits."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gaussian_neurons import _core
from gaussian_neurons.base.covariances import shape_of

Array = NDArray[Any]

AT_ONCE = 1 << 18  # samples in one call of the core; between calls Python handles signals


def words(seed: int, purpose: int, first: int, count: int, per_sample: int) -> NDArray[np.uint32]:
    """Random words of samples first, first + 1, ...: see `reference.words`."""
    out = np.empty((count, per_sample), np.uint32)
    for begin in range(0, count, AT_ONCE):
        _core.random_words(seed, purpose, first + begin, out[begin : begin + AT_ONCE])
    return out


def normals(seed: int, purpose: int, first: int, count: int, per_sample: int) -> NDArray[np.float32]:
    """Normal numbers of samples first, first + 1, ...: see `reference.normals`."""
    out = np.empty((count, per_sample), np.float32)
    for begin in range(0, count, AT_ONCE):
        _core.random_normals(seed, purpose, first + begin, out[begin : begin + AT_ONCE])
    return out


def patches(
    images: Array,
    size: int,
    seed: int,
    first: int,
    count: int,
    chosen: NDArray[np.int64] | None = None,
    dtype: Any = np.float32,
) -> Array:
    """Patches at random positions of random images: see `reference.patches`."""
    out = np.empty((count, size * size * images.shape[3]), dtype)
    for begin in range(0, count, AT_ONCE):
        _core.patches(images, chosen, size, seed, first + begin, out[begin : begin + AT_ONCE])
    return out


def neighbourhoods(
    images: Array,
    size: int,
    noise: float,
    seed: int,
    first: int,
    count: int,
    chosen: NDArray[np.int64] | None = None,
    covariance: str = "spherical",
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Means and widths of nine neighbouring patches with noise: see `reference.neighbourhoods`."""
    D = size * size * images.shape[3]
    means = np.empty((count, D), np.float32)
    widths = np.empty((count, *shape_of(covariance, D)), np.float32)
    for begin in range(0, count, AT_ONCE):
        part = slice(begin, begin + AT_ONCE)
        _core.neighbourhoods(images, chosen, size, noise, seed, first + begin, means[part], widths[part])
    return means, widths
