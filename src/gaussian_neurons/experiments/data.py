"""The images that experiments learn from: the real sets, or what is bundled in their place."""

from collections.abc import Callable

from gaussian_neurons.datasets import ImageSet, cifar10, mnist, mnist_sample, photographs

FULL, SAMPLE = "full", "sample"
CHOICES = (FULL, SAMPLE)
SETS: dict[tuple[str, str], Callable[..., ImageSet]] = {
    ("mnist", FULL): mnist,
    ("cifar10", FULL): cifar10,
    ("mnist", SAMPLE): lambda **_: mnist_sample(),
    ("cifar10", SAMPLE): lambda **_: photographs(),
}


_loaded: dict[tuple[str, str, str | None], ImageSet] = {}


def load(name: str, choice: str, directory: str | None = None, *, download: bool = True) -> ImageSet:
    """The images called "mnist" or "cifar10": the published ones, or a sample that needs no download."""
    key = (name, choice, directory)
    if key not in _loaded:
        _loaded[key] = SETS[name, choice](directory=directory, download=download)
    return _loaded[key]
