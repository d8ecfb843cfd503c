"""Images → an endless stream of patches, or of neighbourhoods of patches."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gaussian_neurons.sampling import native
from gaussian_neurons.sampling.stream import Chunk, Stream, fingerprint
from gaussian_neurons.settings import checked_seed, number, whole_number

Array = NDArray[Any]

PRECISIONS = {"float32": np.float32, "float64": np.float64}


class _FromImages(Stream):
    """What both streams share: images, the side of a patch, a seed and the images to draw from."""

    _margin = 0  # pixels that are needed beyond a patch, both sides together

    def __init__(
        self, images: ArrayLike, size: int, seed: int, labels: Any, classes: Any, dtype: Any
    ) -> None:
        self._images = _checked_images(images)
        self.size = _checked_size(size, self._images, self._margin)
        self.seed = checked_seed(seed)
        self.classes = None if classes is None else sorted({int(c) for c in np.atleast_1d(classes)})
        self._chosen = _checked_choice(labels, self.classes, len(self._images))
        self.dtype = np.dtype(dtype)
        if self.dtype.name not in PRECISIONS:
            raise ValueError(f"dtype must be one of {', '.join(PRECISIONS)}, got {self.dtype.name!r}.")
        self.n_features = self.size**2 * self._images.shape[3]

    def __repr__(self) -> str:
        count, height, width, channels = self._images.shape
        of = f"{count} images of {height} x {width}" + (f" x {channels}" if channels > 1 else "")
        some = "" if self.classes is None else f", classes {self.classes} only"
        return f"{type(self).__name__}(size={self.size}, seed={self.seed}, {of}{some})"

    def describe(self) -> Mapping[str, Any]:
        chosen = None if self._chosen is None else fingerprint(self._chosen)
        return {
            **super().describe(),
            "images": fingerprint(self._images),
            "chosen": chosen,
            "size": self.size,
            "seed": self.seed,
            "dtype": self.dtype.name,
        }


class Patches(_FromImages):
    """Uniformly random square patches of uniformly random images, scaled to [0, 1], nothing else.

    Sample t is a function of the images, the seed and t alone.

    Parameters
    ----------
    images : (n, height, width) or (n, height, width, channels), uint8; floats are taken as they are
    size : side of a patch in pixels; a sample has size * size * channels numbers
    seed : whole number
    labels : (n,) or None, a class for each image
    classes : one of the labels, or several: draw from their images only
    dtype : float32 or float64, the precision of the samples and so of a model that learns from them

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
        images: ArrayLike,
        size: int,
        seed: int = 0,
        labels: ArrayLike | None = None,
        classes: ArrayLike | None = None,
        *,
        dtype: Any = np.float32,
    ) -> None:
        super().__init__(images, size, seed, labels, classes, dtype)

    def draw(self, first: int, count: int) -> Chunk:  # noqa: D102
        precision = PRECISIONS[self.dtype.name]
        return Chunk(
            native.patches(self._images, self.size, self.seed, first, count, self._chosen, precision)
        )


class Neighbourhoods(_FromImages):
    """Means and widths of nine neighbouring patches, with noise on every pixel of each: Figure 5's samples.

    The nine lie at offsets -1, 0, 1 in each direction around a place that is uniformly random among those
    where all nine are inside of the image. `read` gives the mean mu_x and sigma_x = 2/9 sum |s_i - mu_x|^2,
    both measured in float32.

    Parameters
    ----------
    images, size, seed, labels, classes, dtype : as for `Patches`
    noise : standard deviation of the noise

    Examples
    --------
    >>> images = np.zeros((1, 8, 8), np.uint8)
    >>> means, widths = Neighbourhoods(images, size=5, noise=0.1, seed=0).read(1000)
    >>> float(widths.mean().round(2))  # 2 * 25 * 0.1^2 * 8/9
    0.44
    """

    _margin = 2

    def __init__(
        self,
        images: ArrayLike,
        size: int,
        noise: float,
        seed: int = 0,
        labels: ArrayLike | None = None,
        classes: ArrayLike | None = None,
        *,
        dtype: Any = np.float32,
    ) -> None:
        super().__init__(images, size, seed, labels, classes, dtype)
        self.noise = number("noise", noise, least=0.0)

    def draw(self, first: int, count: int) -> Chunk:  # noqa: D102
        means, widths = native.neighbourhoods(
            self._images, self.size, self.noise, self.seed, first, count, self._chosen
        )
        return Chunk(means.astype(self.dtype, copy=False), widths.astype(self.dtype, copy=False))

    def describe(self) -> Mapping[str, Any]:  # noqa: D102
        return {**super().describe(), "noise": self.noise}


def _checked_images(images: Any) -> Array:
    """Images as (n, height, width, channels), contiguous, uint8 or float32."""
    x = np.asarray(images)
    if x.ndim == 3:
        x = x[..., None]
    if x.ndim != 4 or not x.size:
        raise ValueError(
            f"images must have shape (n, height, width) or (n, height, width, channels), got "
            f"{np.shape(images)}. One image alone: images[None]."
        )
    if x.dtype.kind == "f":
        x = x.astype(np.float32, copy=False)
        if not np.isfinite(x).all():
            raise ValueError("images must hold finite numbers, got NaN or infinity.")
    elif x.dtype != np.uint8:
        raise ValueError(
            f"images must be uint8, which is scaled from 0..255 to [0, 1], or float, which is taken as it "
            f"is; got {x.dtype}. Convert them first."
        )
    return np.ascontiguousarray(x)


def _checked_size(size: Any, images: Array, margin: int) -> int:
    side = whole_number("size", size)
    most = min(images.shape[1:3]) - margin
    if side > most:
        around = ", with a pixel around it for its neighbours" if margin else ""
        raise ValueError(
            f"no patch of size {side} fits into images of {images.shape[1]} x {images.shape[2]} pixels"
            f"{around}: at most {most}."
        )
    return side


def _checked_choice(labels: Any, classes: list[int] | None, count: int) -> NDArray[np.int64] | None:
    """The numbers of the images of these classes, or None for all."""
    if classes is None:
        return None
    if labels is None:
        raise ValueError("classes need labels: give the class of each image.")
    known = np.asarray(labels)
    if known.shape != (count,):
        raise ValueError(f"labels must be one for each of the {count} images, got shape {known.shape}.")
    absent = sorted(set(classes) - set(np.unique(known).tolist()))
    if absent or not classes:
        there = ", ".join(map(str, np.unique(known)[:20]))
        raise ValueError(f"no image has a label of {absent or classes}; there are {there}.")
    return np.flatnonzero(np.isin(known, classes)).astype(np.int64)
