"""The pictures of docs/any-data.md, from synthetic data.

python -m benchmarks.pictures
"""

from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import make_moons

from gaussian_neurons import GaussianNeurons, plotting, sweep

OUT = Path(__file__).parent.parent / "docs" / "any-data"
SEED = 0
COLOURS = plt.get_cmap("tab20").colors
GREY = "0.75"


def main() -> None:
    """Draw all pictures."""
    OUT.mkdir(exist_ok=True)
    for draw in (tree, gallery, sweep_map):
        figure = draw()
        path = OUT / f"{draw.__name__.replace('_', '-')}.png"
        figure.savefig(path, dpi=110)
        plt.close(figure)
        print(path)


def mixture(count: int = 8, rows: int = 4000) -> np.ndarray:
    """Round clusters of the same size in the plane, at least six standard deviations apart."""
    random = np.random.default_rng(3)
    centers: list[np.ndarray] = []
    while len(centers) < count:
        center = random.uniform(0, 10, 2)
        if all(np.linalg.norm(center - other) > 1.8 for other in centers):
            centers.append(center)
    return np.array(centers)[random.integers(count, size=rows)] + random.normal(size=(rows, 2)) * 0.3


def five_clusters(rows: int = 4000) -> np.ndarray:
    """Three round clusters and two long ones in the plane."""
    random = np.random.default_rng(SEED)
    centers = np.array([[0.0, 0.0], [7.0, 0.5], [10.5, 5.5], [1.0, 6.0], [6.0, 8.0]])
    spreads = np.array([[0.9, 0.9], [0.6, 0.6], [0.4, 0.4], [0.35, 1.8], [2.0, 0.3]])
    which = random.integers(len(centers), size=rows)
    return centers[which] + random.normal(size=(rows, 2)) * spreads[which]


def tree() -> Any:
    """Clusters of several neurons, and the score over the number of clusters."""
    x = five_clusters()
    model = GaussianNeurons(30, random_state=SEED).partial_fit(x)
    figure, (plane, score) = plt.subplots(
        1, 2, figsize=(11, 4.8), layout="constrained", width_ratios=(1.25, 1)
    )
    scatter(plane, x, model)
    own = dict(zip(model.cluster_numbers_, colours(), strict=False))
    for center, width, cluster in zip(model.centers_, model.widths_, model.neuron_clusters_, strict=True):
        colour = own.get(cluster, GREY)
        plane.add_patch(
            plt.Circle(center, np.sqrt(width), fill=False, edgecolor=colour, linewidth=1.3, zorder=3)
        )
        plane.plot(*center, "o", color=colour, markeredgecolor="white", markersize=4.5, zorder=4)
    plane.set_title(f"{len(model.centers_)} neurons, {model.n_clusters_} clusters", fontsize=11)
    plane.set_aspect("equal", adjustable="datalim")
    plane.set(xticks=[], yticks=[])
    plotting.cluster_counts(model, score)
    score.set_title("score of each number of clusters", fontsize=11)
    return figure


def scatter(axis: Any, x: np.ndarray, model: GaussianNeurons) -> None:
    """Rows coloured by cluster; those of none are grey."""
    label = model.predict(x)
    axis.scatter(*x[label < 0].T, s=3, color=GREY, linewidths=0)
    for colour, number in zip(colours(), model.cluster_numbers_, strict=False):
        axis.scatter(*x[label == number].T, s=3, color=colour, linewidths=0)


def colours() -> Iterator[Any]:
    """Colours of clusters, the strong ones first."""
    return cycle(COLOURS[::2] + COLOURS[1::2])


def gallery() -> Any:
    """Clusters found with the defaults, and with shape="any" for the shapes."""
    random = np.random.default_rng(SEED)
    ball = random.normal(size=(4000, 2))
    three = random.integers(3, size=4000)
    sizes = np.array([[0, 0], [7, 0], [3, 6]])[three] + ball * np.array([1.6, 0.5, 0.25])[three, None]
    noisy = mixture(6)
    noisy[random.random(4000) < 0.3] = np.nan
    noisy = np.where(np.isnan(noisy), random.uniform(-1, 11, (4000, 2)), noisy)
    rare = np.where(random.random((4000, 1)) < 0.03, [6, 6], [0, 0]) + ball
    long = np.array([[0, 0], [0, 5], [0, 10]])[three] + ball * [4.0, 0.6]
    angle = np.sqrt(random.random(4000)) * 3 * np.pi
    side = np.where(random.random(4000) < 0.5, 1, -1)
    spiral = np.c_[np.cos(angle), np.sin(angle)] * (angle * side)[:, None] + ball * 0.3
    sets = {
        "eight equal clusters": mixture(),
        "three sizes": sizes,
        "30 % noise": noisy,
        "one small cluster": rare,
        "one cluster": ball,
        "elongated": long,
        'moons, shape="any"': make_moons(4000, noise=0.06, random_state=SEED)[0],
        'spirals, shape="any"': spiral,
    }
    figure, axes = plt.subplots(2, 4, figsize=(13, 7), layout="constrained")
    for (name, x), axis in zip(sets.items(), axes.flat, strict=True):
        shape = "any" if "any" in name else "compact"
        model = GaussianNeurons(50, shape=shape, random_state=SEED).partial_fit(x)
        scatter(axis, x, model)
        clusters = "1 cluster" if model.n_clusters_ == 1 else f"{model.n_clusters_} clusters"
        axis.set_title(f"{name}: {clusters}", fontsize=11)
        axis.set_aspect("equal", adjustable="datalim")
        axis.set(xticks=[], yticks=[])
    return figure


def sweep_map() -> Any:
    """The map of a sweep over the data of the first picture."""
    found = sweep(mixture(), n_neurons=30, widths=12, seeds=3)
    figure, axis = plt.subplots(figsize=(9, 3.6), layout="constrained")
    plotting.sweep_map(axis, found)
    return figure


if __name__ == "__main__":
    main()
