"""The compared systems, each with settings from its documentation.

Systems that need a number of clusters are given K of the workload.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata

import numpy as np

from benchmarks import named
from benchmarks.peers import makers, results
from benchmarks.peers.learners import Learner, Portions, Task, Whole
from benchmarks.peers.makers import FEWEST, HORIZON, MOST, MOST_IN_A_SCAN
from benchmarks.peers.rules import Competition

MOST_MEMORY = 2 << 30  # bytes; a system that needs more is not run


@dataclass(frozen=True)
class System:
    """A compared system."""

    name: str
    package: str
    settings: str
    make: Callable[[Task], Learner]
    imports: str  # the import statement of a user
    kind: str = "peer"
    per_sample: bool = True
    takes_K: bool = True  # K is its number of clusters or a limit; other systems find their own number
    again: bool = False  # each call begins again, with all rows at once
    bytes: Callable[[Task], float] | None = None  # the memory that it needs, if known in advance

    def record(self, key: str) -> results.System:
        """The stored form."""
        version = metadata.version(self.package)
        return results.System(
            key, self.name, self.package, version, self.settings, self.kind, self.per_sample, self.takes_K
        )

    def installed(self) -> bool:
        """Whether its package is installed."""
        try:
            metadata.version(self.package)
        except metadata.PackageNotFoundError:
            return False
        return True


COMPETITION = Competition()
OURS_IMPORTS = "from gaussian_neurons import GaussianNeurons"
RULE = "width=D/25, learning_rate=0.1 width, inhibition=0.5"
NEURONS = f"GaussianNeurons(K, {RULE}, domain=(0, 1), random_state=0)"

SYSTEMS = {
    "ours-float32": System(
        "Gaussian neurons, float32",
        "gaussian-neurons",
        f"{NEURONS}, partial_fit of whole arrays, which learns one sample at a time",
        lambda task: Whole(makers.ours(task)),
        OURS_IMPORTS,
        "ours",
    ),
    "ours-float64": System(
        "Gaussian neurons, float64",
        "gaussian-neurons",
        f"{NEURONS}, partial_fit of whole arrays, which learns one sample at a time",
        lambda task: Whole(makers.ours(task), np.float64),
        OURS_IMPORTS,
        "ours",
    ),
    "ours-1024": System(
        "Gaussian neurons, 1024 rows per call",
        "gaussian-neurons",
        f"{NEURONS}, partial_fit with 1024 float32 rows in a call",
        lambda task: Portions(makers.ours(task), size=1024),
        OURS_IMPORTS,
        "ours",
    ),
    "ours-one": System(
        "Gaussian neurons, 1 row per call",
        "gaussian-neurons",
        f"{NEURONS}, partial_fit with one float32 row in a call",
        lambda task: Portions(makers.ours(task)),
        OURS_IMPORTS,
        "ours",
    ),
    "ours-auto": System(
        "Gaussian neurons, automatic width",
        "gaussian-neurons",
        "GaussianNeurons(K, random_state=0), partial_fit of whole float32 arrays; all else default",
        makers.ours_auto,
        OURS_IMPORTS,
        "ours",
    ),
    "river-kmeans": System(
        "river KMeans",
        "river",
        "cluster.KMeans(n_clusters=K, seed=0), learn_one; all else default",
        makers.k_means,
        "from river import cluster",
    ),
    "river-streamkmeans": System(
        "river STREAMKMeans",
        "river",
        "cluster.STREAMKMeans(n_clusters=K, seed=0), learn_one; all else default (chunk_size=10)",
        makers.stream_k_means,
        "from river import cluster",
    ),
    "river-dbstream": System(
        "river DBSTREAM",
        "river",
        "cluster.DBSTREAM(), learn_one; all default",
        makers.dbstream,
        "from river import cluster",
        takes_K=False,
    ),
    "river-denstream": System(
        "river DenStream",
        "river",
        "cluster.DenStream(decaying_factor=0.01, beta=0.5, mu=2.5, epsilon=0.5, n_samples_init=10), "
        "learn_one: river's example",
        makers.denstream,
        "from river import cluster",
        takes_K=False,
    ),
    "river-clustream": System(
        "river CluStream",
        "river",
        "cluster.CluStream(n_macro_clusters=K, seed=0), learn_one; all else default",
        makers.clustream,
        "from river import cluster",
    ),
    "sklearn-minibatch-1": System(
        "MiniBatchKMeans, 1 row",
        "scikit-learn",
        "MiniBatchKMeans(K, compute_labels=False, random_state=0), partial_fit with one row in a call; the "
        "first call has the K rows that it needs",
        lambda task: makers.mini_batch(task, 1),
        "from sklearn.cluster import MiniBatchKMeans",
    ),
    "sklearn-minibatch-1024": System(
        "MiniBatchKMeans, 1024 rows",
        "scikit-learn",
        "MiniBatchKMeans(K, compute_labels=False, random_state=0), partial_fit with 1024 rows in a call "
        "(its batch_size)",
        lambda task: makers.mini_batch(task, 1024),
        "from sklearn.cluster import MiniBatchKMeans",
        per_sample=False,
    ),
    "sklearn-birch": System(
        "Birch",
        "scikit-learn",
        "Birch(n_clusters=None, compute_labels=False), partial_fit with 1024 rows in a call, which go into "
        "its tree one by one; all else default",
        makers.birch,
        "from sklearn.cluster import Birch",
        takes_K=False,
    ),
    "minisom": System(
        "MiniSom",
        "minisom",
        "MiniSom(a grid of K, D, sigma=0.3, learning_rate=0.5, random_seed=0): its README's; "
        f"update(x, winner(x), t, {HORIZON:,})",
        makers.minisom,
        "from minisom import MiniSom",
    ),
    "artlib-fuzzy": System(
        "Fuzzy ART",
        "artlib",
        "FuzzyART(rho=0.7, alpha=0.0, beta=1.0), prepare_data with bounds 0 and 1, partial_fit: artlib's "
        "first example",
        makers.fuzzy_art,
        "from artlib import FuzzyART",
        takes_K=False,
    ),
    "artlib-gaussian": System(
        "Gaussian ART",
        "artlib",
        "GaussianART(rho=0.05, sigma_init=0.5 a column), prepare_data with bounds 0 and 1, partial_fit: "
        "artlib's example of blobs",
        makers.gaussian_art,
        "from artlib import GaussianART",
        takes_K=False,
    ),
    "faiss-kmeans": System(
        "faiss Kmeans",
        "faiss-cpu",
        f"Kmeans(D, K, seed=0), train of {FEWEST} K to {MOST} K rows, 25 iterations over all of them; all "
        "else default, one thread",
        makers.faiss,
        "import faiss",
        per_sample=False,
        again=True,
    ),
    "krotov-hopfield": System(
        "Krotov & Hopfield",
        "numpy",
        f"PNAS 2019, in NumPy, float32: p={COMPETITION.p:g}, k={COMPETITION.rank}, "
        f"Delta={COMPETITION.strength}, learning rate {COMPETITION.learning_rate}, constant",
        makers.competing,
        "import numpy",
    ),
    "rule-numpy": System(
        "the rule in NumPy",
        "numpy",
        f"{RULE}; all pairs by broadcasting, float64",
        makers.rule_numpy,
        "import numpy",
        "rule",
        bytes=lambda task: 2.0 * 8 * task.K**2 * task.D,
    ),
    "rule-numpy-products": System(
        "the rule in NumPy, matrix products",
        "numpy",
        f"{RULE}; all pairs by products of matrices, float32",
        makers.rule_products,
        "import numpy",
        "rule",
    ),
    "rule-numba": System(
        "the rule in Numba",
        "numba",
        f"{RULE}; plain loops, each pair once, njit(fastmath=True), float32",
        makers.rule_numba,
        "import numba",
        "rule",
    ),
    "rule-torch": System(
        "the rule in PyTorch",
        "torch",
        f"{RULE}; eager, inference_mode, products of matrices, float32, one thread",
        makers.rule_torch,
        "import torch",
        "rule",
    ),
    "rule-jax": System(
        "the rule in JAX",
        "jax",
        f"{RULE}; jit of lax.scan over up to {MOST_IN_A_SCAN} samples, products of matrices, float32, "
        "one thread",
        makers.rule_jax,
        "import jax, jax.numpy",
        "rule",
    ),
}


def chosen(names: str | None) -> dict[str, System]:
    """The systems of a comma-separated list of names; all if it is None."""
    return named.chosen(SYSTEMS, names, "system")
