"""Endless streams of image patches, and of neighbourhoods of patches."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gaussian_neurons.base.checks import checked_precision, checked_seed, number, one_of, whole_number
from gaussian_neurons.base.covariances import TYPES
from gaussian_neurons.base.warn import warn
from gaussian_neurons.sampling import native
from gaussian_neurons.sampling.ahead import rows_at_once
from gaussian_neurons.sampling.stream import Chunk, Stream, fingerprint

Array = NDArray[Any]

MOST_CHANNELS = 16  # with more, the channels were probably given first


class FromImages(Stream):
    """The common part of streams of patches: images, patch size, seed, and the images to draw from."""

    _margin = 0  # pixels needed around a patch, both sides together
    _of = "images"  # what messages call them

    def __init__(self, images: Any, size: int, seed: int, labels: Any, classes: Any, dtype: Any) -> None:
        self._images = _checked_images(images, self._of)
        self.size = _checked_size(size, self._images, self._margin)
        self.seed = checked_seed(seed)
        self.classes = None if classes is None else np.unique(np.asarray(classes)).tolist()
        self._chosen = _images_of_classes(labels, self.classes, len(self._images))
        self.dtype = checked_precision(dtype)
        self.n_features = self.size**2 * self._images.shape[3]

    @property
    def images(self) -> Array:
        """(n, height, width, channels), uint8 or float32."""
        return self._images

    @property
    def chosen(self) -> NDArray[np.int64] | None:
        """The images to draw from, None for all."""
        return self._chosen

    def __repr__(self) -> str:
        count, height, width, channels = self._images.shape
        of = f"{count} images of {height} x {width}" + (f" x {channels}" if channels > 1 else "")
        some = "" if self.classes is None else f", classes {self.classes} only"
        return f"{type(self).__name__}(size={self.size}, seed={self.seed}, {of}{some})"

    def describe(self) -> Mapping[str, Any]:  # noqa: D102
        chosen = None if self._chosen is None else fingerprint(self._chosen)
        return {
            **super().describe(),
            "images": fingerprint(self._images),
            "chosen": chosen,
            "size": self.size,
            "seed": self.seed,
            "dtype": self.dtype.name,
        }


class Patches(FromImages):
    """Square patches at uniformly random positions of uniformly random images, scaled to [0, 1].

    Sample t depends only on the images, the seed and t.

    Parameters
    ----------
    images : (n, height, width) or (n, height, width, channels), uint8; floats are not scaled
    size : side of a patch in pixels; a sample has size * size * channels numbers
    seed : whole number
    labels : (n,) or None, a class for each image
    classes : one or several labels; only images of these classes are used
    dtype : float32 or float64, the precision of the samples and of a model that learns from them

    Examples
    --------
    >>> images = np.arange(2 * 4 * 4, dtype=np.uint8).reshape(2, 4, 4)
    >>> stream = Patches(images, size=3, seed=0)
    >>> first = stream.read(5)
    >>> first.shape
    (5, 9)
    >>> bool((stream.seek(3).read(1) == first[3]).all())
    True
    """

    def __init__(
        self,
        images: Any,
        size: int,
        seed: int = 0,
        labels: Any = None,
        classes: Any = None,
        *,
        dtype: Any = np.float32,
    ) -> None:
        super().__init__(images, size, seed, labels, classes, dtype)

    def draw(self, first: int, count: int) -> Chunk:  # noqa: D102
        return Chunk(
            native.patches(self._images, self.size, self.seed, first, count, self._chosen, self.dtype.type)
        )


class Neighbourhoods(FromImages):
    """Mean and width of nine neighbouring patches with noise on each pixel: the samples of Figure 5.

    The nine patches have offsets -1, 0, 1 in each direction from a uniformly random position at which all
    nine are inside the image. `read` gives the mean mu_x and sigma_x = 2/9 sum |s_i - mu_x|^2, both computed
    in float32.

    Samples for neurons with covariances have a covariance in place of sigma_x:
    Sigma_x = 2D/9 sum (s_i - mu_x) (s_i - mu_x)^T, whose diagonal has the mean sigma_x. Nine patches do not
    determine a full covariance: it is shrunk toward sigma_x times the identity (docs/algorithm.md [20]).

    Parameters
    ----------
    images, size, seed, labels, classes, dtype : as for `Patches`
    noise : standard deviation of the noise
    covariance : "spherical" for widths (n,), "diag" for diagonals of covariances (n, D), "full" for
        covariances (n, D, D): the `covariance_type` of the model that learns, or a simpler one

    Examples
    --------
    >>> images = np.zeros((1, 8, 8), np.uint8)
    >>> means, widths = Neighbourhoods(images, size=5, noise=0.1, seed=0).read(1000)
    >>> round(float(widths.mean()), 2)  # 2 * 25 * 0.1^2 * 8/9
    0.44
    >>> means, covariances = Neighbourhoods(images, size=5, noise=0.1, seed=0, covariance="full").read(1000)
    >>> covariances.shape
    (1000, 25, 25)
    """

    _margin = 2

    def __init__(
        self,
        images: Any,
        size: int,
        noise: float,
        seed: int = 0,
        labels: Any = None,
        classes: Any = None,
        *,
        covariance: str = "spherical",
        dtype: Any = np.float32,
    ) -> None:
        super().__init__(images, size, seed, labels, classes, dtype)
        self.noise = number("noise", noise, least=0.0)
        self.covariance = one_of("covariance", covariance, TYPES)

    def draw(self, first: int, count: int) -> Chunk:  # noqa: D102
        if self.covariance == "full":  # a chunk of many would need much memory
            D = self.size**2 * self._images.shape[3]
            count = min(count, rows_at_once(D + D**2))
        means, widths = native.neighbourhoods(
            self._images, self.size, self.noise, self.seed, first, count, self._chosen, self.covariance
        )
        return Chunk(means.astype(self.dtype, copy=False), widths.astype(self.dtype, copy=False))

    def describe(self) -> Mapping[str, Any]:  # noqa: D102
        return {**super().describe(), "noise": self.noise, "covariance": self.covariance}


def _checked_images(images: Any, name: str) -> Array:
    """Images as (n, height, width, channels), contiguous, uint8 or float32."""
    expected = f"{name} must be an array (n, height, width) or (n, height, width, channels)"
    if hasattr(images, "images"):
        raise ValueError(f"{expected}, got a data set. Pass its .images.")
    try:
        x = np.asarray(images)
    except ValueError:
        raise ValueError(f"{expected}, got images of different sizes. Crop them to one size first.") from None
    if x.ndim not in (3, 4) or not x.size:
        hint = " For a single image use images[None]." if x.ndim == 2 else ""
        raise ValueError(f"{expected}, got shape {x.shape} of {x.dtype}.{hint}")
    x = x[..., None] if x.ndim == 3 else x
    if x.shape[3] > MOST_CHANNELS and x.shape[1] <= MOST_CHANNELS:
        raise ValueError(
            f"{expected}, got {x.shape}: the channels must come last. Use {name}.transpose(0, 2, 3, 1)."
        )
    if x.dtype.kind == "f":
        x = x.astype(np.float32, copy=False)
        if not np.isfinite(x).all():
            raise ValueError(f"{name} must hold finite numbers, got NaN or infinity.")
        if x.max() > 1 and (x == np.rint(x)).all():
            warn(
                f"float {name} are not scaled, and these reach {x.max():g}. For samples in [0, 1] divide "
                f"them by 255, or pass them as uint8."
            )
    elif x.dtype != np.uint8:
        raise ValueError(
            f"{name} must be uint8, which is scaled from 0..255 to [0, 1], or float, which is not scaled; "
            f"got {x.dtype}. Convert them first."
        )
    return np.ascontiguousarray(x)


def _checked_size(size: Any, images: Array, margin: int) -> int:
    side = whole_number("size", size)
    most = min(images.shape[1:3]) - margin
    if side > most:
        around = " with a margin of one pixel for its neighbours" if margin else ""
        raise ValueError(
            f"no patch of size {side} fits into images of {images.shape[1]} x {images.shape[2]} pixels"
            f"{around}: at most {most}."
        )
    return side


def _images_of_classes(labels: Any, classes: list[Any] | None, count: int) -> NDArray[np.int64] | None:
    """The indices of the images of these classes, or None for all."""
    if classes is None:
        return None
    if labels is None:
        raise ValueError("classes need labels: pass the class of each image.")
    known = np.asarray(labels)
    if known.shape != (count,):
        raise ValueError(f"labels must have shape ({count},), one for each image, got {known.shape}.")
    existing = np.unique(known).tolist()
    absent = [label for label in classes if label not in existing]
    if absent or not classes:
        raise ValueError(f"no image has a label of {absent or classes}; the labels are {existing[:20]}.")
    return np.flatnonzero(np.isin(known, classes)).astype(np.int64)
