"""Figure 2h: k-means with sixteen clusters, for comparison."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING

import numpy as np

from gaussian_neurons.clustering.diagnosis import domain_distance
from gaussian_neurons.experiments import layer, pictures
from gaussian_neurons.experiments.experiment import Claim, Experiment, Quantity, Result, comparison
from gaussian_neurons.experiments.lab import Lab
from gaussian_neurons.sampling import Patches

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Config:
    """As many patches as 2a, in one batch."""

    n_samples: int = 1_000_000
    size: int = 5
    n_clusters: int = 16
    scikit_learn: str = version("scikit-learn")  # the version of its k-means


def run(config: Config, seed: int, lab: Lab) -> Result:
    """Cluster patches with k-means, Lloyd's algorithm from a k-means++ start."""
    from sklearn.cluster import KMeans
    from threadpoolctl import threadpool_limits

    patches = Patches(lab.data.images, config.size, seed, dtype=np.float64).read(config.n_samples)
    begin = time.perf_counter()
    with threadpool_limits(1):  # the order of sums must not depend on the number of cores
        found = KMeans(config.n_clusters, n_init=1, random_state=seed).fit(patches)
    lab.record(config.n_samples, time.perf_counter() - begin)
    centers = found.cluster_centers_
    corner = np.ones(centers.shape[1])
    return {
        "learned": config.n_clusters,
        "is_learned": [True] * config.n_clusters,
        "domain_distance": layer.rounded(domain_distance(centers, 0 * corner, corner)),
        "share": layer.rounded(np.bincount(found.labels_, minlength=config.n_clusters) / len(patches)),
        "centers": layer.rounded(centers),
        "passes": int(found.n_iter_),
        "mean_squared_distance": float(found.inertia_ / len(patches)),
    }


def draw(result: Result) -> "Figure":
    """The centers of the clusters."""
    return pictures.draw_panels(result, [pictures.Panel(f"{result['learned']} clusters, as given", result)])


def compare(result: Result, others: Mapping[str, Result]) -> Result:
    """The number of filters that neurons learned with the same seed."""
    return {"learned_by_the_rule": {name: other["learned"] for name, other in others.items()}}


def fewer(result: Result) -> list[bool]:
    """For each figure compared with, whether neurons learned fewer filters."""
    return [count < result["learned"] for count in (comparison(result, "learned_by_the_rule") or {}).values()]


def in_2b(result: Result) -> float | None:
    """The number of filters that neurons learned in 2b."""
    count: float | None = (comparison(result, "learned_by_the_rule") or {}).get("figure2b")
    return count


EXPERIMENT = Experiment(
    name="figure2h",
    title="k-means with 16 clusters, for comparison",
    config=Config(),
    run=run,
    draw=draw,
    data="mnist",
    seconds=14,
    samples=1_000_000,
    seeds=8,
    prints="16",
    published={"learned": 16},
    quantities=(
        Quantity("clusters, as given", lambda result: result["learned"], 16),
        Quantity("filters learned by neurons in 2b", in_2b, 8),
        Quantity("iterations over the patches", lambda result: result["passes"]),
    ),
    claims=(Claim("The learning rule learns fewer filters from such small patches (2b, 2c and 2d).", fewer),),
    compare=compare,
    compares_with=("figure2b", "figure2c", "figure2d"),
)
