"""Labelled sets of three families: compact clusters and other shapes of a published suite, and real data."""

import hashlib
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn import datasets
from sklearn.decomposition import PCA

from gaussian_neurons.datasets import mnist
from gaussian_neurons.datasets.fetch import VARIABLE

FOLDER = "clustering"  # in the data directory, with BATTERY/NAME.data.gz and BATTERY/NAME.labels0.gz
BESIDE = Path(__file__).parents[3] / "shared" / "data"  # a data directory beside the clone
SHUFFLE_SEED = 0
SMALL, PRESENTATIONS = 2_000, 10  # online systems see a set with fewer rows ten times

COMPACT, SHAPED, REAL = FAMILIES = ("compact", "shapes", "real")
HALVES = ("even", "odd")
DIGITS, COMPONENTS = 5_000, 20  # of MNIST

# Long, bent and ringed clusters: our system runs on them with shape="any".
SHAPES = {
    *(
        "sipu/jain",
        "sipu/pathbased",
        "sipu/spiral",
        "fcps/chainlink",
        "fcps/atom",
        "graves/ring",
        "graves/zigzag",
    ),
    *("graves/parabolic", "other/chameleon_t4_8k", "other/hdbscan", "wut/smile", "wut/windows", "wut/z1"),
    "wut/isolation",
}
BUNDLED = {
    "digits": datasets.load_digits,
    "wine": datasets.load_wine,
    "breast_cancer": datasets.load_breast_cancer,
    "iris": datasets.load_iris,
}


@dataclass(frozen=True)
class LabelledSet:
    """Rows in the order of their presentation, and their true clusters."""

    name: str
    x: NDArray[np.float64]  # (n, D) scaled
    labels: NDArray[np.int64]  # (n,) from 1; 0 is noise
    family: str  # one of FAMILIES

    @property
    def clusters(self) -> int:
        """The true number of clusters."""
        return len(np.unique(self.labels[self.labels > 0]))

    @property
    def shape(self) -> str:
        """The `shape` of our system."""
        return "any" if self.family == SHAPED else "compact"

    @property
    def half(self) -> str:
        """One of HALVES, by the first byte of the SHA-256 hash of the name."""
        return HALVES[hashlib.sha256(self.name.encode()).digest()[0] % 2]

    @property
    def presentations(self) -> int:
        """How many times online systems see all rows, always in the same order."""
        return PRESENTATIONS if len(self.x) < SMALL else 1


def prepared(name: str, x: NDArray, labels: NDArray, family: str, by_column: bool = True) -> LabelledSet:
    """Standardise the columns (constant columns become 0), and shuffle the rows once.

    If not `by_column`, all columns are divided by one number: principal components keep their proportions.
    """
    deviation = x.std(axis=0) if by_column else x.std()
    standard = (x - x.mean(axis=0)) / np.where(deviation > 0, deviation, 1.0)
    order = np.random.default_rng(SHUFFLE_SEED).permutation(len(x))
    return LabelledSet(name, np.ascontiguousarray(standard[order]), labels[order].astype(np.int64), family)


def folder_in(directory: Path | None, name: str) -> Path | None:
    """A folder in the given directory, that of the environment, or the one beside the clone."""
    roots = [directory] if directory else [os.environ.get(VARIABLE), BESIDE]
    return next((Path(root) / name for root in roots if root and (Path(root) / name).is_dir()), None)


def load(directory: Path | None = None) -> list[LabelledSet]:
    """All sets that are found, sorted by family."""
    found = [
        *_suite(folder_in(directory, FOLDER)),
        *_bundled(),
        *_segments(),
        *_mnist(folder_in(directory, "mnist")),
    ]
    return sorted(found, key=lambda data: FAMILIES.index(data.family))


def of_family(sets: Iterable[LabelledSet], family: str) -> list[LabelledSet]:
    """The sets of a family, in their order."""
    return [data for data in sets if data.family == family]


def _suite(folder: Path | None) -> Iterator[LabelledSet]:
    for path in sorted(folder.glob("*/*.data.gz")) if folder else []:
        short = path.name.removesuffix(".data.gz")
        name = f"{path.parent.name}/{short}"
        labels = np.loadtxt(path.with_name(f"{short}.labels0.gz"), dtype=np.int64)
        yield prepared(name, np.loadtxt(path, ndmin=2), labels, SHAPED if name in SHAPES else COMPACT)


def _bundled() -> Iterator[LabelledSet]:
    """The sets of scikit-learn, and the digits in ten principal components."""
    for name, make in BUNDLED.items():
        found = make()
        yield prepared(f"sklearn/{name}", found.data, found.target + 1, REAL)
    digits = datasets.load_digits()
    components = PCA(10, random_state=0).fit_transform(digits.data)
    yield prepared("sklearn/digits_pca10", components, digits.target + 1, REAL)


def _segments() -> Iterator[LabelledSet]:
    """River's ImageSegments, if river is installed."""
    try:
        from river.datasets import ImageSegments
    except ImportError:
        return
    rows, names = zip(*ImageSegments(), strict=True)
    labels = np.unique(names, return_inverse=True)[1] + 1
    yield prepared("river/segments", np.array([list(row.values()) for row in rows], float), labels, REAL)


def _mnist(folder: Path | None) -> Iterator[LabelledSet]:
    """Digits of MNIST in principal components, if its files are found."""
    if folder is None:
        return
    data = mnist("train", directory=folder, download=False)
    pixels = data.images[:DIGITS].reshape(DIGITS, -1) / 255.0
    components = PCA(COMPONENTS, random_state=0).fit_transform(pixels)
    yield prepared("mnist/pca20", components, data.labels[:DIGITS] + 1, REAL, by_column=False)
