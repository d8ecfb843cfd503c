"""Data sets: published, bundled and synthetic."""

from gaussian_neurons.datasets import synthetic
from gaussian_neurons.datasets.bundled import mnist_sample, photographs
from gaussian_neurons.datasets.cifar10_files import cifar10
from gaussian_neurons.datasets.fetch import DamagedFile
from gaussian_neurons.datasets.image_set import ImageSet
from gaussian_neurons.datasets.mnist_files import mnist

__all__ = ["DamagedFile", "ImageSet", "cifar10", "mnist", "mnist_sample", "photographs", "synthetic"]
