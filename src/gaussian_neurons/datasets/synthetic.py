"""Synthetic streams with known clusters: endless, seekable, identical bits on every machine."""

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
from gaussian_neurons.datasets.places import apart, directions, paths
from gaussian_neurons.sampling import native
from gaussian_neurons.sampling.reference import NOISE, PLACE, SYNTHETIC
from gaussian_neurons.sampling.stream import Chunk, Stream, fingerprint

Array = NDArray[Any]
Labels = NDArray[np.int64]

FRACTION = 16  # bits of a position below one pixel
GENERATIONS = 16  # successive drifting clusters in a slot before the paths repeat


class _Synthetic(Stream):
    """A stream that knows the cluster of each sample."""

    n_features: int  # D, always known

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
    """Gaussian clusters in the unit box, with noise; they may drift, and appear one after the other.

    Parameters
    ----------
    clusters : their number, or their centers (n_clusters, n_features); random centers are at least 6 spreads
        apart
    n_features : D, if the centers are random
    seed : whole number
    spread : standard deviation of a cluster in each column
    noise : fraction of the samples that is uniform over the unit box
    drift : how far each cluster moves away from its center, along a line, before it returns
    period : samples until it has returned
    new_every : samples until the next cluster appears, beginning with one; None: all are there at once
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
        self._directions = directions(len(self.places), self.n_features, self.seed)

    def __repr__(self) -> str:
        return f"Mixture({len(self.places)} clusters in {self.n_features} columns, seed={self.seed})"

    def describe(self) -> Mapping[str, Any]:  # noqa: D102
        parameters = ("seed", "spread", "noise", "drift", "period", "new_every")
        facts = {name: getattr(self, name) for name in parameters}
        return {**super().describe(), **facts, "places": fingerprint(self.places), "dtype": self.dtype.name}

    def centers_at(self, t: int) -> Array:
        """The centers at sample t, (n_clusters, n_features), of the clusters that have appeared."""
        count = self._counts(np.array([t]))[0]
        return self._centers(np.arange(count), np.full(count, t))

    def draw_labelled(self, first: int, count: int) -> tuple[Array, Labels]:  # noqa: D102
        t = first + np.arange(count)
        drawn = native.words(self.seed, SYNTHETIC, first, count, 2 + self.n_features)
        labels = _below(self._counts(t), drawn[:, 0])
        return _scattered(self, labels, self._centers(labels, t), drawn, first)

    def _counts(self, t: NDArray[np.int64]) -> NDArray[np.int64]:
        """The number of clusters that have appeared by sample t."""
        if self.new_every is None:
            return np.full(len(t), len(self.places))
        return np.minimum(1 + t // self.new_every, len(self.places))

    def _centers(self, labels: Labels, t: NDArray[np.int64]) -> Array:
        centers: Array = self.places[labels]
        if self.drift:
            phase = t % self.period / self.period
            distance = self.drift * (1 - np.abs(2 * phase - 1))  # 0 at the beginning and the end of a period
            centers = centers + distance[:, None] * self._directions[labels]
        return centers


class Drifting(_Synthetic):
    """Gaussian clusters that move through the unit box, vanish, and appear elsewhere.

    There are `clusters` slots. In each slot, one cluster follows another. Each moves along a straight path
    for `life` samples, and is absent for a random last part of it; in the first slot, none is absent. Two
    clusters are always at least six spreads apart. After 16 clusters in each slot the paths repeat, but each
    cluster has a new label.

    Parameters
    ----------
    clusters : the largest number at once
    n_features : D
    seed : whole number
    spread : standard deviation of a cluster in each column
    life : samples from the appearance of a cluster to that of the next in its slot
    gone : mean fraction of its life for which a cluster is absent, at most 1/2
    noise : fraction of the samples that is uniform over the unit box
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
        self._ages = _below(np.full(self.clusters, self.life), drawn)  # of the clusters at sample 0
        births = np.arange(GENERATIONS)[:, None] * self.life - self._ages
        self._paths = paths(births, self.life, self.n_features, 6 * self.spread, self.seed)

    def __repr__(self) -> str:
        return f"Drifting({self.clusters} clusters in {self.n_features} columns, seed={self.seed})"

    def describe(self) -> Mapping[str, Any]:  # noqa: D102
        parameters = ("clusters", "n_features", "seed", "spread", "life", "gone", "noise")
        facts = {name: getattr(self, name) for name in parameters}
        return {**super().describe(), **facts, "dtype": self.dtype.name}

    def labels_at(self, t: int) -> Labels:
        """The labels of the clusters that exist at sample t."""
        labels, present = self._all(np.array([t]))
        return labels[present]

    def centers_at(self, t: int) -> Array:
        """The centers at sample t, in the order of `labels_at`: (n_clusters, n_features)."""
        labels = self.labels_at(t)
        return self._centers(labels, np.full(len(labels), t))

    def draw_labelled(self, first: int, count: int) -> tuple[Array, Labels]:  # noqa: D102
        t = first + np.arange(count)
        drawn = native.words(self.seed, SYNTHETIC, first, count, 2 + self.n_features)
        labels, present = self._all(t)
        chosen = _below(present.sum(axis=1), drawn[:, 0])
        slot = np.argmax(present.cumsum(axis=1) > chosen[:, None], axis=1)
        labels = labels[np.arange(count), slot]
        return _scattered(self, labels, self._centers(labels, t), drawn, first)

    def _all(self, t: NDArray[np.int64]) -> tuple[Labels, NDArray[np.bool_]]:
        """The label of each slot at each time, and whether its cluster is present: (n, clusters) both."""
        generation, age = np.divmod(t[:, None] + self._ages, self.life)
        labels = generation * self.clusters + np.arange(self.clusters)
        known, which = np.unique(labels, return_inverse=True)
        # The second word of a counter; the first is used for the ages.
        parts = [native.words(self.seed, PLACE, int(label), 1, 2)[0, 1] * 2.0**-32 for label in known]
        present = age < self.life * (1 - 2 * self.gone * np.array(parts))[which.reshape(labels.shape)]
        present[:, 0] = True
        return labels, present

    def _centers(self, labels: Labels, t: NDArray[np.int64]) -> Array:
        generation, slot = np.divmod(labels, self.clusters)
        path = self._paths[generation % GENERATIONS, slot]
        phase = (t + self._ages[slot]) % self.life / self.life
        centers: Array = path[:, 0] + phase[:, None] * (path[:, 1] - path[:, 0])
        return centers


class TwoMoons(_Synthetic):
    """Two interlocking half circles, which round neurons can only cover in pieces.

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
        length = np.sqrt(drawn[:, :1] ** 2 + drawn[:, 1:2] ** 2)
        x = drawn[:, :2] / length  # a random direction without sine and cosine, which differ between machines
        x[:, 1] = np.abs(x[:, 1])
        x[moon == 1] = np.array([1.0, 0.5]) - x[moon == 1]
        x += self.spread * drawn[:, 2:]
        return x.astype(self.dtype), moon


class MovingDigits(_Synthetic):
    """A video of one handwritten digit that moves over a black frame: sample t is frame t.

    A digit moves along a straight line and is reflected at the edges. After `life` frames, another one takes
    its place. Positions are rounded to pixels. The cluster of a frame is the class of its digit.

    Parameters
    ----------
    side : height and width of a frame in pixels; n_features is side * side
    seed : whole number
    images : (n, height, width), uint8, the digits to choose from; None: the 1797 digits of 8 x 8 pixels that
        are part of scikit-learn
    labels : (n,), their classes; without labels, each image is a class
    life : frames from one digit to the next
    speed : largest distance from frame to frame, in each direction, in pixels
    dtype : float32 or float64

    Examples
    --------
    >>> stream = MovingDigits(side=12, seed=0, life=50)
    >>> x, digits = stream.read_labelled(100)
    >>> x.shape, [int(digit) for digit in digits[[0, 49, 50, 99]]]
    ((100, 144), [7, 7, 9, 9])
    >>> stream.video(100).shape
    (100, 12, 12)
    """

    def __init__(
        self,
        side: int = 16,
        seed: int = 0,
        *,
        images: Any = None,
        labels: Any = None,
        life: int = 100,
        speed: float = 1.0,
        dtype: Any = np.float32,
    ) -> None:
        self.seed = checked_seed(seed)
        self.life = whole_number("life", life)
        self.speed = number("speed", speed, least=0.0)
        self.dtype = checked_precision(dtype)
        if images is None:
            images, known = _small_digits()
            labels = known if labels is None else labels
        self.images = np.asarray(images)
        if self.images.dtype != np.uint8 or self.images.ndim != 3 or not self.images.size:
            raise ValueError(
                f"images must be uint8 of shape (n, height, width), got {self.images.dtype} of "
                f"{self.images.shape}."
            )
        self.labels = np.asarray(np.arange(len(self.images)) if labels is None else labels)
        if self.labels.shape != (len(self.images),):
            raise ValueError(
                f"labels must have shape ({len(self.images)},), one for each image, got {self.labels.shape}."
            )
        self.side = whole_number("side", side, least=max(self.images.shape[1:]))
        self.n_features = self.side**2

    def __repr__(self) -> str:
        return f"MovingDigits(side={self.side}, seed={self.seed}, {len(self.images)} digits)"

    def describe(self) -> Mapping[str, Any]:  # noqa: D102
        facts = {name: getattr(self, name) for name in ("side", "seed", "life", "speed")}
        known = {"images": fingerprint(self.images), "labels": fingerprint(self.labels)}
        return {**super().describe(), **facts, **known, "dtype": self.dtype.name}

    def video(self, n_frames: int) -> NDArray[np.uint8]:
        """The first frames as images, (n_frames, side, side)."""
        return self._frames(0, whole_number("n_frames", n_frames))[0]

    def draw_labelled(self, first: int, count: int) -> tuple[Array, Labels]:  # noqa: D102
        frames, digit = self._frames(first, count)
        x = frames.reshape(count, self.n_features).astype(self.dtype) / self.dtype.type(255)
        return x, self.labels[digit].astype(np.int64)

    def _frames(self, first: int, count: int) -> tuple[NDArray[np.uint8], Labels]:
        """Frames first, first + 1, ..., and the index of the digit in each."""
        generation, age = np.divmod(first + np.arange(count), self.life)
        begin = int(generation[0]) if count else 0
        lives = int(generation[-1]) - begin + 1 if count else 0
        drawn = native.words(self.seed, SYNTHETIC, begin, lives, 5)[generation - begin]
        digit = _below(np.full(count, len(self.images)), drawn[:, 0])
        height, width = self.images.shape[1:]
        row = self._reflected(self.side - height, drawn[:, 1], drawn[:, 2], age)
        column = self._reflected(self.side - width, drawn[:, 3], drawn[:, 4], age)
        frames = np.zeros((count, self.side, self.side), np.uint8)
        windows = np.lib.stride_tricks.sliding_window_view(frames, (height, width), (1, 2), writeable=True)
        windows[np.arange(count), row, column] = self.images[digit]
        return frames, digit

    def _reflected(
        self, span: int, start: NDArray[np.uint32], speed: NDArray[np.uint32], age: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Positions in [0, span] at each age: whole numbers, so that they are the same on all machines."""
        begin = _below(np.full(len(age), (span + 1) << FRACTION), start)
        step = np.rint(self.speed * (speed.astype(np.float64) - 2.0**31) * 2.0 ** (FRACTION - 31))
        around = 2 * (span + 1) << FRACTION
        place = (begin + step.astype(np.int64) * age) % around
        found: NDArray[np.int64] = np.minimum(place, around - 1 - place) >> FRACTION
        return found


def _small_digits() -> tuple[NDArray[np.uint8], Labels]:
    """The 1797 digits of scikit-learn, (1797, 8, 8), and their classes."""
    from sklearn.datasets import load_digits

    found = load_digits()
    return np.rint(found.images * (255 / 16)).astype(np.uint8), found.target.astype(np.int64)


def _below(limits: NDArray[np.int64], words: NDArray[np.uint32]) -> NDArray[np.int64]:
    """For each random word a whole number below its limit."""
    return (words.astype(np.uint64) * limits.astype(np.uint64) >> np.uint64(32)).astype(np.int64)


def _scattered(
    stream: Mixture | Drifting, labels: Labels, centers: Array, drawn: NDArray[np.uint32], first: int
) -> tuple[Array, Labels]:
    """Samples around their centers; the second random word decides which are noise instead."""
    normals = native.normals(stream.seed, NOISE, first, *centers.shape).astype(np.float64)
    x = centers + stream.spread * normals
    is_noise = drawn[:, 1] * 2.0**-32 < stream.noise
    x[is_noise] = drawn[is_noise, 2:] * 2.0**-32
    return x.astype(stream.dtype), np.where(is_noise, -1, labels)
