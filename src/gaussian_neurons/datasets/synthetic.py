"""Made-up samples whose clusters are known: endless, seekable, the same bits on every machine."""

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gaussian_neurons.sampling import native
from gaussian_neurons.sampling.reference import NOISE, SHUFFLE, SYNTHETIC
from gaussian_neurons.sampling.stream import Chunk, Stream, fingerprint
from gaussian_neurons.settings import checked_centers, checked_precision, checked_seed, number, whole_number

Array = NDArray[Any]
Labels = NDArray[np.int64]

TRIES = 10_000  # places that are tried for clusters that keep their distance


class _Synthetic(Stream):
    """Streams that know the cluster of each sample."""

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
            self.places = _apart(count, whole_number("n_features", n_features), 6 * self.spread, self.seed)
        else:
            self.places = checked_centers("clusters", clusters, None, np.shape(clusters)[-1])
        self.n_features = self.places.shape[1]
        self._ways = _directions(len(self.places), self.n_features, self.seed)

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
        D = self.places.shape[1]
        drawn = native.words(self.seed, SYNTHETIC, first, count, 2 + D)
        labels = (drawn[:, 0].astype(np.uint64) * self._there(t).astype(np.uint64) >> np.uint64(32)).astype(
            int
        )
        normals = native.normals(self.seed, NOISE, first, count, D).astype(np.float64)
        x = self._centers(labels, t) + self.spread * normals
        is_noise = drawn[:, 1] * 2.0**-32 < self.noise
        x[is_noise] = drawn[is_noise, 2:] * 2.0**-32
        return x.astype(self.dtype), np.where(is_noise, -1, labels)

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


def _apart(count: int, features: int, least: float, seed: int) -> Array:
    """Places in the unit box, a little inside, that keep their distance: (count, features)."""
    candidates = 0.1 + 0.8 * 2.0**-32 * native.words(seed, SHUFFLE, 0, TRIES, features)
    found: list[Array] = []
    for place in candidates:
        if all(_length(place - other) >= least for other in found):
            found.append(place)
            if len(found) == count:
                return np.array(found)
    raise ValueError(
        f"{count} clusters at least {least:g} apart (six spreads) do not fit into the unit box: only "
        f"{len(found)} did. Make the spread smaller, or give their places."
    )


def _directions(count: int, features: int, seed: int) -> Array:
    """Unit vectors in random directions, (count, features)."""
    ways = native.normals(seed, SHUFFLE, 0, count, features).astype(np.float64)
    return np.array([way / _length(way) for way in ways])


def _length(vector: Array) -> float:
    """The length of a vector, summed in one order on every machine."""
    total = 0.0
    for value in vector.tolist():
        total += value * value
    return float(np.sqrt(total))
