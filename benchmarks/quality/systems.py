"""The compared systems, each with one setting for all sets, taken from its documentation.

If a peer's defaults and an example of its documentation differ, the one with the better results is used.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import metadata
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from benchmarks import named

Array = NDArray[Any]

MOST_CLUSTERS = 50  # for systems that need a limit


@dataclass(frozen=True)
class Task:
    """What a system may know in advance."""

    columns: int
    clusters: int  # the true number, only for systems that are given it
    seed: int
    shape: str = "compact"  # "any" for clusters of any shape, only for ours


class Learner(Protocol):
    """The common interface of all systems."""

    def rows(self, x: Array) -> Any:
        """Convert rows to the format of the system; not timed."""

    def learn(self, rows: Any) -> None: ...

    def predict(self, rows: Any) -> Array: ...

    def count(self) -> int | None:
        """The number of clusters by the system's own account, if it has one."""


@dataclass
class InScikitLearn:
    """An estimator: `partial_fit` in portions, or `fit` if it has no `partial_fit`."""

    model: Any
    portion: int | None = None  # rows in a call
    counted: Callable[[Any], int] | None = None

    def rows(self, x: Array) -> Array:
        return x

    def learn(self, rows: Array) -> None:
        if not hasattr(self.model, "partial_fit"):
            self.model.fit(rows)
            return
        step = self.portion or len(rows)
        for begin in range(0, len(rows), step):
            self.model.partial_fit(rows[begin : begin + step])

    def predict(self, rows: Array) -> Array:
        return self.model.predict(rows) if hasattr(self.model, "predict") else self.model.labels_

    def count(self) -> int | None:
        return self.counted(self.model) if self.counted else None


@dataclass
class InRiver:
    """A model of river: one dictionary for each row."""

    model: Any

    def rows(self, x: Array) -> list[dict[int, float]]:
        return [dict(enumerate(row)) for row in x.tolist()]

    def learn(self, rows: Sequence[dict[int, float]]) -> None:
        for row in rows:
            self.model.learn_one(row)

    def predict(self, rows: Sequence[dict[int, float]]) -> Array:
        return np.array([self.model.predict_one(row) for row in rows])

    def count(self) -> int | None:
        return int(self.model.n_clusters)


@dataclass
class InArtlib:
    """A model of artlib, which scales the rows to [0, 1]."""

    model: Any

    def rows(self, x: Array) -> Array:
        return self.model.prepare_data(x)

    def learn(self, rows: Array) -> None:
        self.model.partial_fit(rows)

    def predict(self, rows: Array) -> Array:
        return self.model.predict(rows)

    def count(self) -> int | None:
        return int(self.model.n_clusters)


@dataclass(frozen=True)
class System:
    """A compared system."""

    name: str
    package: str
    settings: str  # shown in the document; a stored result is valid only for the same settings
    make: Callable[[Task], Learner]
    batch: bool = False  # gets all rows at once
    knows_number: bool = False  # is given the true number of clusters
    seeded: bool = False  # depends on a seed; other systems run once

    @property
    def remark(self) -> str:
        """How it differs from online systems that do not know the number of clusters."""
        return ", ".join(["batch"] * self.batch + ["number given"] * self.knows_number)

    @property
    def label(self) -> str:
        """Its name and the remark."""
        return f"{self.name} ({self.remark})" if self.remark else self.name

    @property
    def version(self) -> str:
        """The version of its package."""
        return metadata.version(self.package)


def ours(task: Task) -> Learner:
    from gaussian_neurons import GaussianNeurons

    model = GaussianNeurons(n_neurons=MOST_CLUSTERS, shape=task.shape, random_state=task.seed)
    return InScikitLearn(model, counted=lambda model: model.n_clusters_)


def dbstream(task: Task) -> Learner:
    from river import cluster

    return InRiver(cluster.DBSTREAM())


def denstream(task: Task) -> Learner:
    from river import cluster

    return InRiver(cluster.DenStream(decaying_factor=0.01, beta=0.5, mu=2.5, epsilon=0.5, n_samples_init=10))


def stream_k_means(task: Task) -> Learner:
    from river import cluster

    return InRiver(cluster.STREAMKMeans(n_clusters=task.clusters, seed=task.seed))


def birch(task: Task) -> Learner:
    from sklearn.cluster import Birch

    return InScikitLearn(Birch(n_clusters=None), counted=lambda model: len(model.subcluster_centers_))


def mini_batch_k_means(task: Task) -> Learner:
    from sklearn.cluster import MiniBatchKMeans

    model = MiniBatchKMeans(n_clusters=task.clusters, random_state=task.seed)
    return InScikitLearn(model, portion=model.batch_size, counted=lambda model: model.n_clusters)


def hdbscan(task: Task) -> Learner:
    from sklearn.cluster import HDBSCAN

    return InScikitLearn(HDBSCAN(copy=True))


def bayesian_mixture(task: Task) -> Learner:
    from sklearn.mixture import BayesianGaussianMixture

    return InScikitLearn(BayesianGaussianMixture(n_components=MOST_CLUSTERS, random_state=task.seed))


def fuzzy_art(task: Task) -> Learner:
    from artlib import FuzzyART

    return InArtlib(FuzzyART(rho=0.7, alpha=0.0, beta=1.0))


def hypersphere_art(task: Task) -> Learner:
    from artlib import HypersphereART

    return InArtlib(HypersphereART(rho=0.5, alpha=0.0, beta=1.0, r_hat=0.8))


def gaussian_art(task: Task) -> Learner:
    from artlib import GaussianART

    return InArtlib(GaussianART(rho=0.05, sigma_init=np.full(task.columns, 0.5)))


OURS = "ours"
SYSTEMS = {
    OURS: System(
        "Gaussian neurons",
        "gaussian-neurons",
        f"GaussianNeurons(n_neurons={MOST_CLUSTERS}, random_state=seed), partial_fit; all else default, "
        'except shape="any" on the shapes',
        ours,
        seeded=True,
    ),
    "DBSTREAM": System("DBSTREAM", "river", "DBSTREAM(): all default", dbstream),
    "DenStream": System(
        "DenStream",
        "river",
        "DenStream(decaying_factor=0.01, beta=0.5, mu=2.5, epsilon=0.5, n_samples_init=10): river's example",
        denstream,
    ),
    "Birch": System(
        "Birch",
        "scikit-learn",
        "Birch(n_clusters=None), partial_fit; all else default, a cluster is a leaf's subcluster",
        birch,
    ),
    "FuzzyART": System(
        "Fuzzy ART",
        "artlib",
        "FuzzyART(rho=0.7, alpha=0.0, beta=1.0), prepare_data: artlib's first example",
        fuzzy_art,
    ),
    "HypersphereART": System(
        "Hypersphere ART",
        "artlib",
        "HypersphereART(rho=0.5, alpha=0.0, beta=1.0, r_hat=0.8), prepare_data: artlib's example of blobs",
        hypersphere_art,
    ),
    "GaussianART": System(
        "Gaussian ART",
        "artlib",
        "GaussianART(rho=0.05, sigma_init=0.5 a column), prepare_data: artlib's example of blobs",
        gaussian_art,
    ),
    "HDBSCAN": System("HDBSCAN", "scikit-learn", "HDBSCAN(): all default", hdbscan, batch=True),
    "BayesianGMM": System(
        "Bayesian mixture",
        "scikit-learn",
        f"BayesianGaussianMixture(n_components={MOST_CLUSTERS}, random_state=seed); all else default",
        bayesian_mixture,
        batch=True,
        seeded=True,
    ),
    "STREAMKMeans": System(
        "STREAMKMeans",
        "river",
        "STREAMKMeans(n_clusters=the true number, seed=seed); all else default (chunk_size=10)",
        stream_k_means,
        knows_number=True,
        seeded=True,
    ),
    "MiniBatchKMeans": System(
        "MiniBatchKMeans",
        "scikit-learn",
        "MiniBatchKMeans(n_clusters=the true number, random_state=seed), partial_fit of 1,024 rows at a "
        "time; all else default",
        mini_batch_k_means,
        knows_number=True,
        seeded=True,
    ),
}


def chosen(names: str | None) -> dict[str, System]:
    """The systems of a comma-separated list of names; all if it is None."""
    return named.chosen(SYSTEMS, names, "system")
