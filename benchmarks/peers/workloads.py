"""What the systems learn from: patches of the paper's images, and rows of every size."""

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

BESIDE = Path(__file__).parents[3] / "shared" / "data"  # where data may lie beside a clone
PAPER = "mnist-5x5"
COLUMNS, NEURONS = (2, 16, 128, 784), (16, 64, 256, 1024)
SPREAD = 0.05  # standard deviation of a cluster in each column
NUMBERS, MOST_ROWS, ROWS_A_NEURON = 1 << 24, 1 << 19, 40  # of the samples that are drawn: at most, at least
QUICK = (PAPER, "rows-D16-K16", "rows-D16-K64", "rows-D128-K16", "rows-D128-K64")


@dataclass(frozen=True)
class Workload:
    """Samples in [0, 1], and how many neurons or clusters learn from them."""

    name: str
    K: int
    D: int
    draw: Callable[[int], tuple[Array, str]]  # so many samples, float32, the same each time; and a remark

    def record(self, key: str, remark: str = "") -> results.Workload:
        """As it is kept."""
        return results.Workload(key, self.name + remark, self.K, self.D)

    @property
    def rows(self) -> int:
        """How many samples are drawn; who learns from more begins again with the first."""
        return max(min(NUMBERS // self.D, MOST_ROWS), ROWS_A_NEURON * self.K)


def folder() -> Path | None:
    """Where data lies: beside a clone, unless the environment says where."""
    return None if os.environ.get(VARIABLE) else BESIDE


def mnist_patches(size: int) -> Callable[[int], tuple[Array, str]]:
    """Of MNIST, where it is; else of the 5,000 digits that come with a package."""

    def draw(count: int) -> tuple[Array, str]:
        remark = ""
        try:
            data = datasets.mnist(directory=folder(), download=False)
        except AbsentData:
            data, remark = datasets.mnist_sample(), ", 5,000 of its digits"
        return Patches(data.images, size=size, seed=0).read(count), remark

    return draw


def cifar_patches(count: int) -> tuple[Array, str]:
    """Of CIFAR-10, which has to be there."""
    data = datasets.cifar10(directory=folder(), download=False)
    return Patches(data.images, size=5, seed=0).read(count), ""


def mixture(K: int, D: int) -> Callable[[int], tuple[Array, str]]:
    """K / 2 round clusters of equal weight anywhere in the unit cube, cut off at its faces."""

    def draw(count: int) -> tuple[Array, str]:
        random = np.random.default_rng(0)
        places = random.random((K // 2, D), np.float32)
        x = random.standard_normal((count, D), np.float32)
        x *= SPREAD
        x += places[random.integers(K // 2, size=count)]
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
    """Those of a list of names with commas between; all, or the quick ones, where nothing is said."""
    if names is None:
        return {key: WORKLOADS[key] for key in (QUICK if quick else WORKLOADS)}
    return named.chosen(WORKLOADS, names, "workload")
