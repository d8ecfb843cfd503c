"""Labelled sets: a published suite, if it is found, and sets of scikit-learn."""

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn import datasets

from gaussian_neurons.datasets.fetch import VARIABLE

FOLDER = "clustering"  # in the data directory, with BATTERY/NAME.data.gz and BATTERY/NAME.labels0.gz
BESIDE = Path(__file__).parents[3] / "shared" / "data"  # a data directory beside the clone
SHUFFLE_SEED = 0
SMALL, PRESENTATIONS = 2_000, 10  # online systems see a set with fewer rows ten times

# Long, bent and ringed clusters, which a clusterer of compact clusters is not measured by.
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
ALWAYS = {"digits": datasets.load_digits, "breast_cancer": datasets.load_breast_cancer}
IN_BOTH = {"iris": datasets.load_iris, "wine": datasets.load_wine}  # also in the suite


@dataclass(frozen=True)
class LabelledSet:
    """Rows in the order of their presentation, and their true clusters."""

    name: str
    x: NDArray[np.float64]  # (n, D) standardised
    labels: NDArray[np.int64]  # (n,) from 1; 0 is noise
    of_suite: bool

    @property
    def clusters(self) -> int:
        """The true number of clusters."""
        return len(np.unique(self.labels[self.labels > 0]))

    @property
    def presentations(self) -> int:
        """How many times online systems see all rows, always in the same order."""
        return PRESENTATIONS if len(self.x) < SMALL else 1


def prepared(name: str, x: NDArray, labels: NDArray, of_suite: bool) -> LabelledSet:
    """Standardise the columns (constant columns become 0), and shuffle the rows once."""
    deviation = x.std(axis=0)
    standard = (x - x.mean(axis=0)) / np.where(deviation > 0, deviation, 1.0)
    order = np.random.default_rng(SHUFFLE_SEED).permutation(len(x))
    return LabelledSet(name, np.ascontiguousarray(standard[order]), labels[order].astype(np.int64), of_suite)


def folder_of_suite(directory: Path | None) -> Path | None:
    """The folder of the suite: in the given directory, that of the environment, or beside the clone."""
    roots = [directory] if directory else [os.environ.get(VARIABLE), BESIDE]
    return next((Path(root) / FOLDER for root in roots if root and (Path(root) / FOLDER).is_dir()), None)


def load(directory: Path | None = None) -> list[LabelledSet]:
    """All sets that are found: the compact ones of the suite, then others."""
    folder = folder_of_suite(directory)
    suite = []
    for path in sorted(folder.glob("*/*.data.gz")) if folder else []:
        name = path.name.removesuffix(".data.gz")
        if f"{path.parent.name}/{name}" in SHAPES:
            continue
        x = np.loadtxt(path, ndmin=2)
        labels = np.loadtxt(path.with_name(f"{name}.labels0.gz"), dtype=np.int64)
        suite.append(prepared(f"{path.parent.name}/{name}", x, labels, True))
    bundled = []
    for name, make in (ALWAYS if suite else ALWAYS | IN_BOTH).items():
        found = make()
        bundled.append(prepared(f"sklearn/{name}", found.data, found.target + 1, False))
    return suite + bundled
