"""Stack: layers of Gaussian neurons on patches of images, learned one above the other, without labels."""

import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_random_state
from threadpoolctl import threadpool_limits

from gaussian_neurons.base.checks import one_of, whole_number
from gaussian_neurons.base.warn import silent
from gaussian_neurons.estimator import GaussianNeurons
from gaussian_neurons.learning import responses
from gaussian_neurons.model.advice import AdviceWarning
from gaussian_neurons.sampling import Patches

__all__ = ["Layer", "Stack"]

Array = NDArray[Any]

SEEDS = int(np.iinfo(np.int32).max)
FIRST = 10_000  # patches that decide the normalization of a layer
BLOCK = 1000  # images between two moments at which layers see what those below have learned
FROM_IMAGE = 10  # patches that each layer takes from an image of a stream
AT_ONCE = 500  # patches that pass through the layers below at once
NUMBERS_AT_ONCE = 1 << 24  # of patches and their responses, when images are transformed
REGULAR = 0.1  # variance that whitening adds to each direction; a pixel has 1 after "contrast"
STEPS = ("contrast", "whiten", "length")  # in this order


@dataclass(frozen=True, eq=False)
class Layer:
    """One layer of a Stack: neurons that respond to each patch of the images or of the maps below.

    Parameters
    ----------
    neurons : GaussianNeurons
        A model before its first sample, whose parameters say how the neurons learn. It is copied.
    kernel_size : int, default=5
        Side of a patch. It has kernel_size^2 numbers for each channel or neuron below.
    stride : int, default=1
        Distance between two patches.
    pool : int, default=1
        Responses are averaged over squares of pool x pool places before the layer above sees them.
    normalize : of "contrast", "whiten", "length", default all three
        What is done to a patch, in this order. "contrast": its mean is subtracted, and it is divided by its
        standard deviation. "whiten": its principal components are divided by theirs; only those of the
        largest variance are kept. "length": it is divided by its length. Before these divisions, the mean
        over all patches is added to the variance and to the squared length: flat patches remain small.
    n_directions : int or None, default=40
        How many principal components "whiten" keeps at most. Gaussian responses need few: in many
        dimensions, all patches are at about the same distance. None keeps all.

    Examples
    --------
    >>> Layer(GaussianNeurons(400), kernel_size=6, pool=2).normalize
    ('contrast', 'whiten', 'length')
    """

    neurons: GaussianNeurons
    kernel_size: int = 5
    stride: int = 1
    pool: int = 1
    normalize: tuple[str, ...] = STEPS
    n_directions: int | None = 40

    def checked(self) -> Self:
        """The layer, or a ValueError if a setting is invalid."""
        if not isinstance(self.neurons, GaussianNeurons):
            raise TypeError(f"neurons must be GaussianNeurons, got {self.neurons!r}.")
        if self.neurons.scale is not None:
            raise ValueError(
                f"neurons of a Layer must have scale=None, got {self.neurons.scale!r}. Use the "
                f"parameter normalize of the Layer instead."
            )
        for name in ("kernel_size", "stride", "pool"):
            whole_number(name, getattr(self, name))
        for step in self.normalize:
            one_of("normalize", step, STEPS)
        if self.n_directions is not None:
            whole_number("n_directions", self.n_directions)
        return self


class Stack(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Layers of Gaussian neurons on patches of images, learned without labels.

    The first layer learns from patches of the images, each further one from patches of the maps of responses
    below. Features of an image are the responses of the last layer, averaged over the parts of a grid.

    A patch is normalized (`Layer.normalize`). A neuron passes on how much its log-response exceeds the mean
    of all neurons of the layer, and 0 if it does not: max(log f_i - mean_j log f_j, 0).

    Parameters
    ----------
    layers : list of Layer, the lowest first
    shape : (height, width) or (height, width, channels), default=None
        The shape of an image, if rows of X are images. None: X is an array (n, height, width) or (n, height,
        width, channels).
    n_samples : int, default=100_000
        How many patches each layer learns from in `fit`.
    grid : int, default=2
        Features are means over grid x grid parts of the map.
    random_state : int, RandomState instance or None, default=None
        Seed of the patches and of the neurons.

    Attributes
    ----------
    models_ : list of GaussianNeurons, one for each layer; their centers are normalized patches
    encoders_ : list of Encoder, the layers as functions from the maps below to their own
    n_images_seen_ : how many images `partial_fit` has taken
    n_features_in_ : numbers of an image

    Notes
    -----
    `fit` lets the layers learn one after another. Patches are drawn at random from the images as those of
    `sampling.Patches` are: for a layer above others, a window of the image that is as large as what its
    patch sees of it, and which the layers below transform.

    With `partial_fit` all layers learn while images flow. Each image gives ten patches to each layer. What
    the layers below have learned is seen every 1000 images, so the result does not depend on how the stream
    is divided into calls. The first layer begins after 1000 images, the second after 2000.

    Mean and covariance of the first 10,000 patches of a layer decide its normalization, which is then kept.
    With "contrast", patches with less than half of the mean variance teach nothing.

    Images of type uint8 are divided by 255, others are taken as they are. The same seed gives the same bits
    of what is learned. Features are computed in float32 and depend in their last bits on how many images
    are transformed at once.

    Examples
    --------
    >>> from gaussian_neurons.datasets import mnist_sample
    >>> images = mnist_sample().images
    >>> layer = Layer(GaussianNeurons(16, width=0.5, init="samples"), kernel_size=7, stride=2)
    >>> stack = Stack([layer], n_samples=2000, random_state=0).fit(images)
    >>> stack.transform(images[:3]).shape  # 16 neurons, 2 x 2 parts
    (3, 64)
    """

    def __init__(
        self,
        layers: Sequence[Layer],
        *,
        shape: Any = None,
        n_samples: int = 100_000,
        grid: int = 2,
        random_state: Any = None,
    ) -> None:
        self.layers = layers
        self.shape = shape
        self.n_samples = n_samples
        self.grid = grid
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Start over: each layer learns from `n_samples` patches of the images, the lowest layer first.

        Parameters
        ----------
        X : images, (n, height, width), (n, height, width, channels) or rows if there is a `shape`
        y : ignored
        """
        images = self._images(X)
        layers, seed = self._checked_layers(images), self._drawn_seed()
        count = whole_number("n_samples", self.n_samples)
        learners = _learners(layers, seed)
        below: list[Encoder] = []
        with threadpool_limits(1), silent(AdviceWarning):  # one thread: sums are in one order
            for k, learner in enumerate(learners):
                size = window(layers[: k + 1])
                stream = Patches(images, size, learner.seed)
                for first in range(0, count, AT_ONCE):
                    rows = stream.draw(first, min(AT_ONCE, count - first)).x
                    learner.learn(upward(rows.reshape(len(rows), size, size, -1), below))
                below.append(learner.finished())
        self._assign(images, learners, below, 0)
        return self

    def partial_fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Learn with all layers from ten patches of each image, in the order of the images.

        Parameters
        ----------
        X : images, as for `fit`
        y : ignored
        """
        images = self._images(X)
        layers = self._checked_layers(images)
        if self._learners is None:
            learners, below, seen = _learners(layers, self._drawn_seed()), [], 0
        else:
            self._require_shape(images)
            learners, below = copy.deepcopy(self._learners), list(self.encoders_)
            seen = self.n_images_seen_
        sizes = [window(layers[: k + 1]) for k in range(len(layers))]
        with threadpool_limits(1), silent(AdviceWarning):
            for index, image in enumerate(images, seen):
                for k, learner in enumerate(learners[: len(below) + 1]):
                    learner.learn(upward(_windows_of(image, sizes[k], learner.seed, index), below[:k]))
                if (index + 1) % BLOCK == 0:
                    below = [learner.finished() for learner in learners[: len(below) + 1]]
        self._assign(images, learners, below, seen + len(images))
        return self

    def transform(self, X: ArrayLike) -> NDArray[np.float32]:
        """The features of images, (n, grid * grid * n_neurons of the last layer).

        Parameters
        ----------
        X : images, as for `fit`
        """
        grid = whole_number("grid", self.grid)
        return np.concatenate([averaged(block, grid) for block in self._mapped(X)])

    def maps(self, X: ArrayLike) -> NDArray[np.float32]:
        """The maps of the last layer, (n, height, width, n_neurons), averaged over its squares."""
        return np.concatenate(list(self._mapped(X)))

    # ---- internals --------------------------------------------------------------------------------

    _learners: "list[_Learner] | None" = None
    encoders_: "list[Encoder]" = []  # noqa: RUF012  (replaced, never changed)

    def _mapped(self, X: ArrayLike) -> Iterator[Array]:
        encoders = self.begun()
        images = self._images(X)
        self._require_shape(images)
        return mapped(images, encoders)

    def begun(self) -> "list[Encoder]":
        """`encoders_`, or an error if not all layers have learned."""
        if self._learners is None:
            raise NotFittedError("this Stack has learned nothing yet: call fit or partial_fit first.")
        if len(self.encoders_) < len(self._learners):
            raise NotFittedError(
                f"{len(self.encoders_)} of {len(self._learners)} layers have begun to learn: partial_fit "
                f"needs {BLOCK} images for each, and has taken {self.n_images_seen_}."
            )
        return self.encoders_

    def _images(self, X: Any) -> Array:
        images = np.asarray(X)
        if self.shape is not None:
            shape = tuple(self.shape)
            if images.ndim != 2 or images.shape[1] != np.prod(shape):
                raise ValueError(
                    f"rows of X must have {np.prod(shape)} numbers for shape={shape}, got {images.shape}."
                )
            images = images.reshape(len(images), *shape)
        if images.ndim not in (3, 4) or not images.size:
            raise ValueError(
                f"X must be an array (n, height, width) or (n, height, width, channels), got "
                f"{images.shape}. If rows are images, give their shape: Stack(..., shape=(28, 28))."
            )
        if images.dtype != np.uint8:
            images = images.astype(np.float32)
            if not np.isfinite(images).all():
                raise ValueError("images must hold finite numbers, got NaN or infinity.")
        return images[..., None] if images.ndim == 3 else images

    def _checked_layers(self, images: Array) -> list[Layer]:
        layers = [layer.checked() for layer in self.layers]
        if not layers:
            raise ValueError("a Stack needs at least one Layer.")
        size, side = window(layers), min(images.shape[1:3])
        if size > side:
            raise ValueError(
                f"a patch of the last layer sees {size} x {size} pixels, but images have "
                f"{images.shape[1]} x {images.shape[2]}. Choose a smaller kernel_size, stride or pool."
            )
        return layers

    def _require_shape(self, images: Array) -> None:
        if images.shape[1:] != self._shape_in:
            raise ValueError(
                f"images must have the shape {self._shape_in} of those before, got {images.shape[1:]}."
            )

    def _drawn_seed(self) -> int:
        return int(check_random_state(self.random_state).randint(SEEDS))

    def _assign(
        self, images: Array, learners: "list[_Learner]", encoders: "list[Encoder]", seen: int
    ) -> None:
        self._learners, self.encoders_ = learners, encoders
        self._shape_in: tuple[int, ...] = images.shape[1:]
        self.n_images_seen_, self.n_features_in_ = seen, int(np.prod(images.shape[1:]))

    @property
    def models_(self) -> list[GaussianNeurons]:  # noqa: D102  (documented above)
        if self._learners is None:
            raise AttributeError("models_ are those of a Stack that has learned.")
        return [learner.model for learner in self._learners]

    @property
    def _n_features_out(self) -> int:
        return self.grid**2 * len(self.models_[-1].centers_)

    def __sklearn_is_fitted__(self) -> bool:
        return self._learners is not None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = self.shape is not None
        tags.input_tags.three_d_array = self.shape is None
        return tags


# ---- one layer ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Normalization:
    """What is done to a patch before neurons see it, decided by the first patches."""

    steps: tuple[str, ...]
    floor: float  # the mean variance of patches, added to the variance of each
    mean: Array  # (D,)
    whitening: Array | None  # (D, number of directions)
    length: float  # the mean squared length, added to that of each

    def __call__(self, rows: Array) -> Array:
        """The normalized patches, (n, D) -> (n, number of directions)."""
        rows = contrasted(rows, self.floor) if "contrast" in self.steps else rows
        if self.whitening is not None:
            rows = (rows - self.mean) @ self.whitening
        if "length" in self.steps:
            rows = rows / np.sqrt((rows**2).sum(axis=1, keepdims=True) + np.float32(self.length))
        return np.asarray(rows, np.float32)

    def teaching(self, rows: Array) -> Array:
        """The normalized patches without those of low contrast."""
        return self(rows[rows.var(axis=1) > self.floor / 2] if "contrast" in self.steps else rows)


def normalization(steps: tuple[str, ...], rows: Array, n_directions: int | None = None) -> Normalization:
    """The normalization of a layer, from its first patches (n, D).

    Examples
    --------
    The numbers of whitened patches are nearly uncorrelated:

    >>> rows = np.random.default_rng(0).normal(size=(5000, 2)).astype(np.float32)
    >>> rows[:, 1] += rows[:, 0]
    >>> whitened = normalization(("whiten",), rows)(rows)
    >>> [bool(abs(np.corrcoef(it.T)[0, 1]) < 0.1) for it in (rows, whitened)]
    [False, True]
    """
    least = float(np.finfo(np.float32).tiny)
    floor = float(rows.var(axis=1).mean()) + least
    found = Normalization(tuple(it for it in STEPS if it in steps), floor, rows.mean(axis=0), None, 0.0)
    if "whiten" in steps:
        plain = replace(found, steps=tuple(it for it in found.steps if it == "contrast"))
        seen = plain.teaching(rows) if floor > least else plain(rows)
        mean, covariance = seen.mean(axis=0), np.cov(seen.T, dtype=np.float64).reshape(seen.shape[1], -1)
        squares, axes = (it[..., ::-1][..., :n_directions] for it in np.linalg.eigh(covariance))
        added = REGULAR * float(np.trace(covariance)) / len(covariance) + least
        whitening = axes / np.sqrt(np.maximum(squares, 0) + added)
        found = replace(found, mean=mean.astype(np.float32), whitening=whitening.astype(np.float32))
    if "length" in steps:
        without = replace(found, steps=tuple(it for it in found.steps if it != "length"))
        found = replace(found, length=float((without(rows) ** 2).sum(axis=1).mean()) + least)
    return found


def contrasted(rows: Array, floor: float) -> Array:
    """Patches without their means, divided by the root of their variance and a floor."""
    rows = rows - rows.mean(axis=1, keepdims=True)
    found: Array = rows / np.sqrt((rows**2).mean(axis=1, keepdims=True) + np.float32(floor))
    return found


@dataclass(frozen=True)
class Encoder:
    """A layer at some moment: maps below -> maps of how far log-responses exceed their mean."""

    layer: Layer
    normalized: Normalization
    centers: Array  # (K, D)
    widths: Array  # (K,) or covariances

    @property
    def numbers_at_a_place(self) -> int:
        """The size of a patch and its responses."""
        return sum(self.centers.shape)

    def responses(self, rows: Array) -> Array:
        """What neurons pass on about normalized patches, (n, D) -> (n, K)."""
        return responses.excess(rows, self.centers, self.widths)

    def __call__(self, maps: Array) -> Array:
        """(n, height, width, channels) -> (n, height', width', K)."""
        size, stride, pool = self.layer.kernel_size, self.layer.stride, self.layer.pool
        places = np.lib.stride_tricks.sliding_window_view(maps, (size, size), axis=(1, 2))
        places = places[:, ::stride, ::stride].transpose(0, 1, 2, 4, 5, 3)
        count, height, width = places.shape[:3]
        rows = self.normalized(places.reshape(count * height * width, -1))
        found = self.responses(rows).reshape(count, height, width, -1)
        if pool == 1:
            return found
        height, width = height // pool, width // pool
        squares = found[:, : height * pool, : width * pool].reshape(count, height, pool, width, pool, -1)
        pooled: Array = squares.mean(axis=(2, 4))
        return pooled


@dataclass
class _Learner:
    """A layer that learns: the model, its normalization, and the first patches until there are enough."""

    layer: Layer
    model: GaussianNeurons
    seed: int
    normalized: Normalization | None = None
    waiting: list[Array] = field(default_factory=list)

    def learn(self, maps: Array) -> None:
        """Learn from patches (n, size, size, channels). The bits of a product depend on n."""
        rows = maps.reshape(len(maps), -1)
        if self.normalized is None:
            self.waiting.append(rows)
            if sum(map(len, self.waiting)) >= FIRST:
                self.start()
        else:
            self._take(rows)

    def start(self) -> None:
        """Decide the normalization, and learn from the patches that have waited for it."""
        rows, self.waiting = np.concatenate(self.waiting), []
        self.normalized = normalization(self.layer.normalize, rows, self.layer.n_directions)
        self._take(rows)

    def _take(self, rows: Array) -> None:
        assert self.normalized is not None
        if len(taught := self.normalized.teaching(rows)):
            self.model.partial_fit(taught)

    def finished(self) -> Encoder:
        """The layer as it is now."""
        if self.normalized is None:
            self.start()
        assert self.normalized is not None
        if not self.model.__sklearn_is_fitted__():
            raise ValueError("all patches are flat: there is nothing to learn.")
        return Encoder(self.layer, self.normalized, self.model.centers_, self.model.widths_)


def _learners(layers: Sequence[Layer], seed: int) -> list[_Learner]:
    """Layers before their first sample, each with a seed of its own."""
    seeds = np.random.default_rng(seed).integers(SEEDS, size=len(layers)).tolist()
    return [
        _Learner(layer, clone(layer.neurons).set_params(random_state=own), own)
        for layer, own in zip(layers, seeds, strict=True)
    ]


# ---- images and windows ---------------------------------------------------------------------------


def window(layers: Sequence[Layer]) -> int:
    """The side of what a patch of the last layer sees of an image, in pixels.

    Examples
    --------
    A patch of 3 x 3 squares of 2 x 2 places, each of 5 x 5 pixels:

    >>> neurons = GaussianNeurons(8)
    >>> window([Layer(neurons, kernel_size=5, pool=2), Layer(neurons, kernel_size=3)])
    10
    """
    size = 1
    for layer in reversed(layers):
        places = size if layer is layers[-1] else size * layer.pool
        size = (places - 1) * layer.stride + layer.kernel_size
    return size


def upward(maps: Array, layers: Sequence[Callable[[Array], Array]]) -> Array:
    """Maps after some layers."""
    for layer in layers:
        maps = layer(maps)
    return maps


def scaled(images: Array) -> Array:
    """Images in float32: bytes are divided by 255."""
    scaled: Array = images.astype(np.float32)
    return scaled / np.float32(255) if images.dtype == np.uint8 else scaled


def _windows_of(image: Array, size: int, seed: int, index: int) -> Array:
    """The windows of one image of a stream, (FROM_IMAGE, size, size, channels)."""
    rows: Array = Patches(image[None], size, seed).draw(index * FROM_IMAGE, FROM_IMAGE).x
    return rows.reshape(FROM_IMAGE, size, size, -1)


def mapped(images: Array, encoders: Sequence["Encoder"]) -> Iterator[Array]:
    """The maps of images after some layers, in blocks that fit into memory."""
    side = images.shape[1] * images.shape[2]
    at_once = max(1, NUMBERS_AT_ONCE // max(side * it.numbers_at_a_place for it in encoders))
    for begin in range(0, len(images), at_once):
        yield upward(scaled(images[begin : begin + at_once]), encoders)


def averaged(maps: Array, grid: int) -> Array:
    """Means over the parts of a grid, (n, grid * grid * K)."""
    count, height, width, _ = maps.shape
    rows, columns = edges(height, width, grid)
    parts = [
        maps[:, rows[i] : rows[i + 1], columns[j] : columns[j + 1]].mean(axis=(1, 2))
        for i in range(grid)
        for j in range(grid)
    ]
    return np.stack(parts, axis=1).reshape(count, -1)


def edges(height: int, width: int, grid: int) -> tuple[list[int], list[int]]:
    """Where the parts of a grid begin in a map, and where the last one ends, along both sides.

    Examples
    --------
    >>> edges(10, 4, 4)
    ([0, 2, 5, 8, 10], [0, 1, 2, 3, 4])
    """
    if grid > min(height, width):
        raise ValueError(f"grid must be at most {min(height, width)}, the side of the last map, got {grid}.")
    rows, columns = ([*(round(k * (side / grid)) for k in range(grid)), side] for side in (height, width))
    return rows, columns
