"""The workloads: patches of the paper's images, and random rows of several sizes."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import named
from benchmarks.peers import results
from gaussian_neurons import datasets
from gaussian_neurons.datasets.fetch import VARIABLE, AbsentData
from gaussian_neurons.sampling import Patches

Array = NDArray[Any]

BESIDE = Path(__file__).parents[3] / "shared" / "data"  # a data directory beside the clone
PAPER = "mnist-5x5"
COLUMNS, NEURONS = (2, 16, 128, 784), (16, 64, 256, 1024)
SPREAD = 0.05  # standard deviation of a cluster in each column
NUMBERS, MOST_ROWS, ROWS_A_NEURON = 1 << 24, 1 << 19, 40  # limits of the number of samples
QUICK = (PAPER, "rows-D16-K16", "rows-D16-K64", "rows-D128-K16", "rows-D128-K64")


@dataclass(frozen=True)
class Workload:
    """Samples in [0, 1], and the number of neurons or clusters."""

    name: str
    K: int
    D: int
    draw: Callable[[int], tuple[Array, str]]  # count -> float32 samples, always the same, and a remark

    def record(self, key: str, remark: str = "") -> results.Workload:
        """The stored form."""
        return results.Workload(key, self.name + remark, self.K, self.D)

    @property
    def rows(self) -> int:
        """The number of samples; a system that learns more begins again with the first."""
        return max(min(NUMBERS // self.D, MOST_ROWS), ROWS_A_NEURON * self.K)


def folder() -> Path | None:
    """The data directory beside the clone, or None if the environment variable is set."""
    return None if os.environ.get(VARIABLE) else BESIDE


def mnist_patches(size: int) -> Callable[[int], tuple[Array, str]]:
    """Patches of MNIST if it is found, else of the 5,000 bundled digits."""

    def draw(count: int) -> tuple[Array, str]:
        remark = ""
        try:
            data = datasets.mnist(directory=folder(), download=False)
        except AbsentData:
            data, remark = datasets.mnist_sample(), ", 5,000 of its digits"
        return Patches(data.images, size=size, seed=0).read(count), remark

    return draw


def cifar_patches(count: int) -> tuple[Array, str]:
    """Patches of CIFAR-10, which must be found."""
    data = datasets.cifar10(directory=folder(), download=False)
    return Patches(data.images, size=5, seed=0).read(count), ""


def mixture(K: int, D: int) -> Callable[[int], tuple[Array, str]]:
    """K / 2 round clusters of equal weight at random in the unit cube, clipped to it."""

    def draw(count: int) -> tuple[Array, str]:
        random = np.random.default_rng(0)
        centers = random.random((K // 2, D), np.float32)
        x = random.standard_normal((count, D), np.float32)
        x *= SPREAD
        x += centers[random.integers(K // 2, size=count)]
        return x.clip(0, 1, out=x), ""

    return draw


WORKLOADS = {
    PAPER: Workload("5 x 5 patches of MNIST", 16, 25, mnist_patches(5)),
    "mnist-13x13": Workload("13 x 13 patches of MNIST", 16, 169, mnist_patches(13)),
    "cifar10-5x5x3": Workload("5 x 5 patches of CIFAR-10 in colour", 50, 75, cifar_patches),
} | {
    f"rows-D{D}-K{K}": Workload(f"{K // 2} clusters in {D} columns", K, D, mixture(K, D))
    for D in COLUMNS
    for K in NEURONS
}


def chosen(names: str | None, quick: bool) -> dict[str, Workload]:
    """The workloads of a comma-separated list of names; all, or the quick ones, if it is None."""
    if names is None:
        return {key: WORKLOADS[key] for key in (QUICK if quick else WORKLOADS)}
    return named.chosen(WORKLOADS, names, "workload")
