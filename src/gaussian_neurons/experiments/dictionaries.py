"""Other ways to choose centers for patches: k-means, and the rule of Krotov and Hopfield."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

MOST_PASSES = 25  # of Lloyd's algorithm


def k_means(rows: Array, count: int, seed: int) -> Array:
    """The centers of k-means, (count, D): Lloyd's algorithm from a k-means++ start."""
    from sklearn.cluster import KMeans

    found = KMeans(count, n_init=1, max_iter=MOST_PASSES, random_state=seed).fit(rows)
    centers: Array = found.cluster_centers_
    return centers


def krotov_hopfield(
    rows: Array,
    count: int,
    seed: int,
    *,
    passes: int = 20,
    batch: int = 100,
    rate: float = 0.02,
    rank: int = 2,
    inhibition: float = 0.4,
) -> Array:
    """Weights of the rule of Krotov and Hopfield (2019) with p = 2, (count, D); they end near length 1.

    For each row v, the hidden unit with the largest input learns dw = v - <w, v> w, the one of rank `rank`
    the same times -`inhibition`. The step of a batch is divided by its largest number, and the rate falls
    linearly to 0, as in the authors' program.

    Parameters
    ----------
    rows : (n, D)
    count : hidden units
    seed : of the start and of the order of the rows

    Examples
    --------
    Two directions, two units:

    >>> rows = np.repeat(np.eye(2, dtype=np.float32), 200, axis=0)
    >>> weights = krotov_hopfield(rows, 2, seed=0)
    >>> sorted(np.abs(weights).argmax(axis=1).tolist())
    [0, 1]
    """
    random = np.random.default_rng(seed)
    weights = random.normal(size=(count, rows.shape[1])).astype(np.float32)
    for step in range(passes):
        order, now = random.permutation(len(rows)), rate * (1 - step / passes)
        for begin in range(0, len(rows) - batch + 1, batch):
            v = rows[order[begin : begin + batch]]
            inputs = v @ weights.T  # (batch, count)
            ranks = np.argpartition(inputs, (count - rank, count - 1), axis=1)
            gain = np.zeros_like(inputs)
            every = np.arange(batch)
            gain[every, ranks[:, -1]] = 1.0
            gain[every, ranks[:, count - rank]] = -inhibition
            change = gain.T @ v - (gain * inputs).sum(axis=0)[:, None] * weights
            weights += np.float32(now) * change / max(float(np.abs(change).max()), 1e-30)
    return weights
