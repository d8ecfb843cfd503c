"""The images that experiments learn from: the published sets, or bundled samples."""

from collections.abc import Callable

from gaussian_neurons.datasets import ImageSet, cifar10, mnist, mnist_sample, photographs

FULL, SAMPLE = "full", "sample"
SETS: dict[tuple[str, str], Callable[..., ImageSet]] = {
    ("mnist", FULL): mnist,
    ("cifar10", FULL): cifar10,
    ("mnist", SAMPLE): lambda **_: mnist_sample(),
    ("cifar10", SAMPLE): lambda **_: photographs(),
}

_loaded: dict[tuple[str, str, str | None], ImageSet] = {}


def load(name: str, choice: str, directory: str | None = None, *, download: bool = True) -> ImageSet:
    """The images of "mnist" or "cifar10": the published set, or a sample that needs no download.

    Parameters
    ----------
    name : "mnist" or "cifar10"
    choice : "full" or "sample"
    directory : a folder to search first
    download : whether a published set that is on no disk is downloaded
    """
    key = (name, choice, directory)
    if key not in _loaded:
        _loaded[key] = SETS[name, choice](directory=directory, download=download)
    return _loaded[key]
