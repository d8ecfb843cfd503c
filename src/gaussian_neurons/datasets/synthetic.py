"""Made-up samples whose clusters are known: endless, seekable, the same bits on every machine."""

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gaussian_neurons.base.checks import (
    checked_centers,
    checked_precision,
    checked_seed,
    number,
    whole_number,
)
from gaussian_neurons.datasets.places import apart, directions, ways
from gaussian_neurons.sampling import native
from gaussian_neurons.sampling.reference import NOISE, PLACE, SYNTHETIC
from gaussian_neurons.sampling.stream import Chunk, Stream, fingerprint

Array = NDArray[Any]
Labels = NDArray[np.int64]

TURNS = 16  # drifting clusters, one after the other, until their ways repeat


class _Synthetic(Stream):
    """Streams that know the cluster of each sample."""

    n_features: int  # D, from the start

    @abstractmethod
    def draw_labelled(self, first: int, count: int) -> tuple[Array, Labels]:
        """Samples first, first + 1, ... and their clusters, -1 for noise."""

    def draw(self, first: int, count: int) -> Chunk:
        return Chunk(self.draw_labelled(first, count)[0])

    def read_labelled(self, n: int) -> tuple[Array, Labels]:
        """The next n samples (n, D) and their clusters (n,), -1 for noise."""
        x, labels = self.draw_labelled(self.position, whole_number("n", n, least=0))
        self.position += len(x)
        return x, labels


class Mixture(_Synthetic):
    """Gaussian clusters in the unit box, with noise; they may drift, and come one after the other.

    Parameters
    ----------
    clusters : how many, or where: (n_clusters, n_features). Random ones keep apart, 6 spreads at least
    n_features : D, where the places are random
    seed : whole number
    spread : standard deviation of a cluster in each column
    noise : part of the samples that is uniform over the unit box
    drift : how far each cluster wanders from its place, and back, along a line of its own
    period : samples that it takes to go and to come back
    new_every : samples between the coming of one cluster and the next, from one on; None: all are there
    dtype : float32 or float64

    Examples
    --------
    >>> stream = Mixture(3, seed=0, noise=0.1)
    >>> x, labels = stream.read_labelled(1000)
    >>> x.shape, sorted({int(label) for label in labels})
    ((1000, 2), [-1, 0, 1, 2])
    """

    def __init__(
        self,
        clusters: Any = 8,
        n_features: int = 2,
        seed: int = 0,
        *,
        spread: float = 0.03,
        noise: float = 0.0,
        drift: float = 0.0,
        period: int = 1_000_000,
        new_every: int | None = None,
        dtype: Any = np.float32,
    ) -> None:
        self.seed = checked_seed(seed)
        self.spread = number("spread", spread, least=0.0)
        self.noise = number("noise", noise, least=0.0, most=1.0)
        self.drift = number("drift", drift, least=0.0)
        self.period = whole_number("period", period)
        self.new_every = None if new_every is None else whole_number("new_every", new_every)
        self.dtype = checked_precision(dtype)
        if np.ndim(clusters) == 0:
            count = whole_number("clusters", clusters)
            self.places = apart(count, whole_number("n_features", n_features), 6 * self.spread, self.seed)
        else:
            self.places = checked_centers("clusters", clusters, None, np.shape(clusters)[-1])
        self.n_features = self.places.shape[1]
        self._ways = directions(len(self.places), self.n_features, self.seed)

    def __repr__(self) -> str:
        return f"Mixture({len(self.places)} clusters in {self.n_features} columns, seed={self.seed})"

    def describe(self) -> Mapping[str, Any]:  # noqa: D102
        told = ("seed", "spread", "noise", "drift", "period", "new_every")
        facts = {name: getattr(self, name) for name in told}
        return {**super().describe(), **facts, "places": fingerprint(self.places), "dtype": self.dtype.name}

    def centers_at(self, t: int) -> Array:
        """Where the clusters are at sample t, (n_clusters, n_features): only those that have come."""
        there = self._there(np.array([t]))[0]
        return self._centers(np.arange(there), np.full(there, t))

    def draw_labelled(self, first: int, count: int) -> tuple[Array, Labels]:  # noqa: D102
        t = first + np.arange(count)
        drawn = native.words(self.seed, SYNTHETIC, first, count, 2 + self.n_features)
        labels = _one_of(self._there(t), drawn[:, 0])
        return _scattered(self, labels, self._centers(labels, t), drawn, first)

    def _there(self, t: NDArray[np.int64]) -> NDArray[np.int64]:
        """How many clusters have come by sample t."""
        if self.new_every is None:
            return np.full(len(t), len(self.places))
        return np.minimum(1 + t // self.new_every, len(self.places))

    def _centers(self, labels: Labels, t: NDArray[np.int64]) -> Array:
        centers: Array = self.places[labels]
        if self.drift:
            part = t % self.period / self.period
            away = 1 - np.abs(2 * part - 1)  # 0 at the beginning, 1 half way, 0 at the end
            centers = centers + (self.drift * away)[:, None] * self._ways[labels]
        return centers


class Drifting(_Synthetic):
    """Gaussian clusters that wander through the unit box, vanish, and appear elsewhere.

    There are `clusters` seats, and on each one cluster follows the other. Each goes straight from one end of
    its way to the other, all in the same time, and is gone for the last part of it, shorter or longer; on the
    first seat none is. No two come nearer than six spreads. After 16 on each seat the ways repeat, but no
    label is used twice.

    Parameters
    ----------
    clusters : how many there are at most
    n_features : D
    seed : whole number
    spread : standard deviation of a cluster in each column
    life : samples from the coming of a cluster to that of the next on its seat
    gone : mean part of a life for which a cluster is gone, at most 1/2
    noise : part of the samples that is uniform over the unit box
    dtype : float32 or float64

    Examples
    --------
    >>> stream = Drifting(4, seed=0, life=1000)
    >>> x, labels = stream.read_labelled(3000)
    >>> [len(stream.labels_at(t)) for t in (0, 600, 1200, 1800)]
    [2, 4, 3, 3]
    >>> stream.centers_at(0).shape
    (2, 2)
    """

    def __init__(
        self,
        clusters: int = 6,
        n_features: int = 2,
        seed: int = 0,
        *,
        spread: float = 0.02,
        life: int = 25_000,
        gone: float = 0.3,
        noise: float = 0.0,
        dtype: Any = np.float32,
    ) -> None:
        self.seed = checked_seed(seed)
        self.clusters = whole_number("clusters", clusters)
        self.n_features = whole_number("n_features", n_features)
        self.spread = number("spread", spread, least=0.0)
        self.life = whole_number("life", life)
        self.gone = number("gone", gone, least=0.0, most=0.5)
        self.noise = number("noise", noise, least=0.0, most=1.0)
        self.dtype = checked_precision(dtype)
        drawn = native.words(self.seed, PLACE, 0, self.clusters, 1)[:, 0]
        self._ages = _one_of(np.full(self.clusters, self.life), drawn)  # at sample 0
        births = np.arange(TURNS)[:, None] * self.life - self._ages
        self._ways = ways(births, self.life, self.n_features, 6 * self.spread, self.seed)

    def __repr__(self) -> str:
        return f"Drifting({self.clusters} clusters in {self.n_features} columns, seed={self.seed})"

    def describe(self) -> Mapping[str, Any]:  # noqa: D102
        told = ("clusters", "n_features", "seed", "spread", "life", "gone", "noise")
        facts = {name: getattr(self, name) for name in told}
        return {**super().describe(), **facts, "dtype": self.dtype.name}

    def labels_at(self, t: int) -> Labels:
        """The clusters that are there at sample t."""
        labels, there = self._all(np.array([t]))
        return labels[there]

    def centers_at(self, t: int) -> Array:
        """Where they are, in the same order: (n_clusters, n_features)."""
        labels = self.labels_at(t)
        return self._centers(labels, np.full(len(labels), t))

    def draw_labelled(self, first: int, count: int) -> tuple[Array, Labels]:  # noqa: D102
        t = first + np.arange(count)
        drawn = native.words(self.seed, SYNTHETIC, first, count, 2 + self.n_features)
        labels, there = self._all(t)
        chosen = _one_of(there.sum(axis=1), drawn[:, 0])
        seat = np.argmax(there.cumsum(axis=1) > chosen[:, None], axis=1)
        labels = labels[np.arange(count), seat]
        return _scattered(self, labels, self._centers(labels, t), drawn, first)

    def _all(self, t: NDArray[np.int64]) -> tuple[Labels, NDArray[np.bool_]]:
        """Whose turn it is on each seat, and whether it is there: (n, clusters) both."""
        turn, age = np.divmod(t[:, None] + self._ages, self.life)
        labels = turn * self.clusters + np.arange(self.clusters)
        known, which = np.unique(labels, return_inverse=True)
        # Of the same counters as the ages, but another word of them.
        parts = [native.words(self.seed, PLACE, int(label), 1, 2)[0, 1] * 2.0**-32 for label in known]
        there = age < self.life * (1 - 2 * self.gone * np.array(parts))[which.reshape(labels.shape)]
        there[:, 0] = True
        return labels, there

    def _centers(self, labels: Labels, t: NDArray[np.int64]) -> Array:
        turn, seat = np.divmod(labels, self.clusters)
        way = self._ways[turn % TURNS, seat]
        part = (t + self._ages[seat]) % self.life / self.life
        centers: Array = way[:, 0] + part[:, None] * (way[:, 1] - way[:, 0])
        return centers


class TwoMoons(_Synthetic):
    """Two half circles that reach into each other: what round neurons can only cover piece by piece.

    Parameters
    ----------
    seed : whole number
    spread : standard deviation of the noise around the half circles of radius 1
    dtype : float32 or float64

    Examples
    --------
    >>> x, moon = TwoMoons(seed=1, spread=0.0).read_labelled(100)
    >>> bool(np.allclose((x[moon == 0] ** 2).sum(axis=1), 1))
    True
    """

    n_features = 2

    def __init__(self, seed: int = 0, *, spread: float = 0.05, dtype: Any = np.float32) -> None:
        self.seed, self.spread = checked_seed(seed), number("spread", spread, least=0.0)
        self.dtype = checked_precision(dtype)

    def __repr__(self) -> str:
        return f"TwoMoons(seed={self.seed}, spread={self.spread})"

    def describe(self) -> Mapping[str, Any]:  # noqa: D102
        return {**super().describe(), "seed": self.seed, "spread": self.spread, "dtype": self.dtype.name}

    def draw_labelled(self, first: int, count: int) -> tuple[Array, Labels]:  # noqa: D102
        moon = (native.words(self.seed, SYNTHETIC, first, count, 1)[:, 0] >> np.uint32(31)).astype(int)
        drawn = native.normals(self.seed, NOISE, first, count, 4).astype(np.float64)
        x = drawn[:, :2] / np.sqrt(
            drawn[:, :1] ** 2 + drawn[:, 1:2] ** 2
        )  # a direction, without sine or cosine
        x[:, 1] = np.abs(x[:, 1])
        x[moon == 1] = np.array([1.0, 0.5]) - x[moon == 1]
        x += self.spread * drawn[:, 2:]
        return x.astype(self.dtype), moon


def _one_of(many: NDArray[np.int64], words: NDArray[np.uint32]) -> NDArray[np.int64]:
    """For each random word a whole number below the given one."""
    return (words.astype(np.uint64) * many.astype(np.uint64) >> np.uint64(32)).astype(np.int64)


def _scattered(
    stream: Mixture | Drifting, labels: Labels, centers: Array, drawn: NDArray[np.uint32], first: int
) -> tuple[Array, Labels]:
    """Samples around centers, or anywhere: what the second random word of each says."""
    normals = native.normals(stream.seed, NOISE, first, *centers.shape).astype(np.float64)
    x = centers + stream.spread * normals
    is_noise = drawn[:, 1] * 2.0**-32 < stream.noise
    x[is_noise] = drawn[is_noise, 2:] * 2.0**-32
    return x.astype(stream.dtype), np.where(is_noise, -1, labels)
