"""The samplers in NumPy: the specification that the compiled samplers match bit for bit.

Random numbers come from Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011):
the seed is its key; its counter consists of the sample's number, a block within the sample, and the purpose
of the numbers. Sample t of seed s therefore depends only on (s, t).
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Words = NDArray[np.uint32]
Single = NDArray[np.float32]

PLACE, NOISE, SHUFFLE, SYNTHETIC = range(4)  # purposes of random numbers
GROUP = 16  # blocks whose normal numbers are interleaved
LANES = 16  # parallel partial sums of a width


def philox(counter: Words, key: Words) -> Words:
    """Four random words for each counter (four words) and key (two words): (..., 4), (..., 2) -> (..., 4).

    Examples
    --------
    A published test vector (Random123's kat_vectors):

    >>> [f"{word:08x}" for word in philox(np.zeros(4, np.uint32), np.zeros(2, np.uint32))]
    ['6627e8d5', 'e169c58d', 'bc57ac4c', '9b00dbd8']
    """
    c = [counter[..., i].astype(np.uint64) for i in range(4)]
    k = [key[..., i].astype(np.uint64) for i in range(2)]
    low, half = np.uint64(0xFFFFFFFF), np.uint64(32)
    for _ in range(10):
        first, third = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        c = [(third >> half) ^ c[1] ^ k[0], third & low, (first >> half) ^ c[3] ^ k[1], first & low]
        k = [(k[0] + np.uint64(0x9E3779B9)) & low, (k[1] + np.uint64(0xBB67AE85)) & low]
    return np.stack(c, axis=-1).astype(np.uint32)


def words(seed: int, purpose: int, first: int, count: int, per_sample: int) -> Words:
    """Random words of samples first, first + 1, ...: (count, per_sample)."""
    blocks = -(-per_sample // 4)
    sample = np.uint64(first) + np.arange(count, dtype=np.uint64)[:, None]
    counter = np.empty((count, blocks, 4), np.uint32)
    counter[..., 0], counter[..., 1] = sample & np.uint64(0xFFFFFFFF), sample >> np.uint64(32)
    counter[..., 2], counter[..., 3] = np.arange(blocks), purpose
    key = np.array([seed & 0xFFFFFFFF, seed >> 32], np.uint32)
    return philox(counter, key).reshape(count, 4 * blocks)[:, :per_sample]


def normals(seed: int, purpose: int, first: int, count: int, per_sample: int) -> Single:
    """Normal numbers of mean 0 and variance 1, by the method of Box and Muller [10]: (count, per_sample).

    Sixteen blocks of four words give a group of 64 numbers: first the numbers of all blocks' first words,
    then those of their second words, and so on.
    """
    groups = -(-per_sample // (4 * GROUP))
    drawn = words(seed, purpose, first, count, groups * 4 * GROUP).reshape(count, groups, GROUP, 4)
    a = _normal_pair(drawn[..., 0], drawn[..., 1])
    b = _normal_pair(drawn[..., 2], drawn[..., 3])
    return np.stack([*a, *b], axis=2).reshape(count, -1)[:, :per_sample]


def patches(
    images: Array,
    size: int,
    seed: int,
    first: int,
    count: int,
    chosen: NDArray[np.int64] | None = None,
    dtype: Any = np.float32,
) -> Array:
    """Patches at uniformly random positions of uniformly random images, (count, size * size * channels).

    Parameters
    ----------
    images : (n, height, width, channels), uint8, scaled by 1/255, or float32, not scaled
    size : side of a patch
    seed, first, count : samples first, first + 1, ... of that seed
    chosen : indices of the images to draw from, or None for all
    dtype : float32 or float64
    """
    found = _windows(images, size, seed, first, count, chosen)
    found = found.astype(dtype) / dtype(255) if images.dtype == np.uint8 else found.astype(dtype)
    return found.reshape(count, -1)


def neighbourhoods(
    images: Array,
    size: int,
    noise: float,
    seed: int,
    first: int,
    count: int,
    chosen: NDArray[np.int64] | None = None,
    covariance: str = "spherical",
) -> tuple[Single, Single]:
    """Means (count, D) and widths (count,) of nine neighbouring patches with noise on each pixel.

    The width is sigma_x = 2/9 sum |s_i - mean|^2 [11]. With covariance "diag" or "full" it is replaced by the
    diagonal of Sigma_x, (count, D), or by Sigma_x, (count, D, D) [19], shrunk [20].
    """
    window = patches(images, size + 2, seed, first, count, chosen)
    window = window.reshape(count, size + 2, size + 2, images.shape[3])
    nine = [window[:, y : y + size, x : x + size] for y in range(3) for x in range(3)]
    D = size * size * images.shape[3]
    drawn = normals(seed, NOISE, first, count, 9 * D)
    samples = [
        patch.reshape(count, D) + np.float32(noise) * drawn[:, i * D : (i + 1) * D]
        for i, patch in enumerate(nine)
    ]
    return mean_and_width(samples, covariance)


def mean_and_width(samples: list[Single], covariance: str = "spherical") -> tuple[Single, Single]:
    """The mean of n patches s_i, each (count, D), and the width sigma_x = 2/n sum |s_i - mean|^2 [11].

    With covariance "diag" or "full" the width is replaced by the diagonal of Sigma_x, (count, D), or by
    Sigma_x, (count, D, D) [19], shrunk [20].
    """
    n, (count, D) = len(samples), samples[0].shape
    total, squares = np.zeros((count, D), np.float32), np.zeros((count, D), np.float32)
    for sample in samples:
        total += sample
    mean: Single = np.divide(total, np.float32(n), dtype=np.float32)
    for sample in samples:
        squares += (sample - mean) * (sample - mean)
    if covariance == "diag":
        return mean, np.asarray(np.float32(2 * D) * squares / np.float32(n))
    trace = _sum_along_lanes(squares)
    if covariance == "full":
        return mean, _shrunk_covariances([sample - mean for sample in samples], trace)
    return mean, np.asarray(np.float32(2) * trace / np.float32(n))


def _shrunk_covariances(differences: list[Single], trace: Single) -> Single:
    """Sigma_x, (count, D, D): the covariance of n patches [19], shrunk toward the identity [20]."""
    n, (count, D) = len(differences), differences[0].shape
    products = np.zeros((count, D, D), np.float32)
    for one in differences:
        products += one[:, :, None] * one[:, None, :]
    columns = np.zeros((count, D), np.float32)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):  # of equal patches, whose trace is 0
        part = np.float32(1) / trace
        for d in range(D):
            share = products[:, d] * part[:, None]
            columns += share * share
        squares = _sum_along_lanes(columns)  # tr(S^2) / tr(S)^2
        above, below = squares + np.float32(1), np.float32(n + 1) * (squares - np.float32(1) / np.float32(D))
        rho = np.where(below > above, above / below, np.float32(1))
    scale = (np.float32(1) - rho) * (np.float32(2 * D) / np.float32(n))
    products *= scale[:, None, None]
    products[:, range(D), range(D)] += (rho * (np.float32(2) * trace / np.float32(n)))[:, None]
    return products


def positions(
    images: Array, side: int, seed: int, first: int, count: int, chosen: NDArray[np.int64] | None = None
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Image, row and column of each sample's window of side x side pixels [9], each (count,)."""
    drawn = words(seed, PLACE, first, count, 4).astype(np.uint64)
    n, half = np.uint64(len(images) if chosen is None else len(chosen)), np.uint64(32)
    image = ((drawn[:, 1] * n + (drawn[:, 0] * n >> half)) >> half).astype(np.int64)
    row = (drawn[:, 2] * np.uint64(images.shape[1] - side + 1) >> half).astype(np.int64)
    column = (drawn[:, 3] * np.uint64(images.shape[2] - side + 1) >> half).astype(np.int64)
    return image if chosen is None else chosen[image], row, column


def _windows(
    images: Array, side: int, seed: int, first: int, count: int, chosen: NDArray[np.int64] | None
) -> Array:
    image, row, column = positions(images, side, seed, first, count, chosen)
    windows = np.lib.stride_tricks.sliding_window_view(images, (side, side), axis=(1, 2))
    found: Array = windows[image, row, column].transpose(0, 2, 3, 1)
    return found


def _sum_along_lanes(rows: Single) -> Single:
    """Sums of rows in the order of the compiled twin: 16 partial sums, then added pairwise."""
    short = -rows.shape[1] % LANES
    parts = (rows.shape[1] + short) // LANES
    lanes = np.pad(rows, ((0, 0), (0, short))).reshape(len(rows), parts, LANES)
    total = np.zeros((len(rows), LANES), np.float32)
    for part in range(parts):
        total += lanes[:, part]
    step = LANES // 2
    while step:
        total = total[:, :step] + total[:, step:]
        step //= 2
    return total[:, 0]


def _polynomial(coefficients: tuple[float, ...], x: Single) -> Single:
    p = np.full_like(x, coefficients[-1])
    for coefficient in coefficients[-2::-1]:
        p = p * x + np.float32(coefficient)
    return p


def _log_of_part(u: Single) -> Single:
    """log(u) for u in (0, 1]."""
    bits = u.view(np.int32)
    exponent = (bits - np.int32(0x3F3504F3)) >> 23
    f = (bits - (exponent << 23)).view(np.float32) - np.float32(1)
    p = _polynomial((0.33334246, -0.24983266, 0.19924507, -0.1713714, 0.16024357, -0.10191646), f)
    logarithm = f + f * f * (f * p - np.float32(0.5))
    return np.asarray(logarithm + exponent.astype(np.float32) * np.float32(0.6931472))


def _normal_pair(for_radius: Words, for_angle: Words) -> tuple[Single, Single]:
    """Two normal numbers from two words: a radius and an angle."""
    u = ((for_radius >> np.uint32(8)) + np.uint32(1)).astype(np.float32) * np.float32(2.0**-24)
    radius = np.sqrt(np.float32(-2) * _log_of_part(u))
    quarter = (for_angle >> np.uint32(30)).astype(np.int32)
    rest = (for_angle << np.uint32(2)).view(np.int32) >> 8
    angle = rest.astype(np.float32) * np.float32(np.pi / 4 / 2**23)
    square = angle * angle
    s = angle * _polynomial((1.0, -0.16666655, 0.008332161, -1.9515284e-4), square)
    c = _polynomial((1.0, -0.5, 0.041661073, -0.0013648714), square)
    odd = quarter % 2 == 1
    first, second = np.where(odd, s, c), np.where(odd, c, s)
    first = np.where((quarter == 1) | (quarter == 2), -first, first)
    second = np.where(quarter >= 2, -second, second)
    return radius * first, radius * second
