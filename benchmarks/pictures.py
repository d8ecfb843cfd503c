"""The pictures of docs/any-data.md, from synthetic data.

python -m benchmarks.pictures
"""

from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import make_moons

from gaussian_neurons import GaussianNeurons, plotting, sweep
from gaussian_neurons.clustering.grouping import distinct_rows, join_centers
from gaussian_neurons.clustering.ladder import LOOKED_AT, thinned
from gaussian_neurons.learning.responses import squared_distances

OUT = Path(__file__).parent.parent / "docs" / "any-data"
SEED = 0
COLOURS = plt.get_cmap("tab20").colors
GREY = "0.75"


def main() -> None:
    """Draw all pictures."""
    OUT.mkdir(exist_ok=True)
    for draw in (ladder, gallery, sweep_map):
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


def ladder() -> Any:
    """The five layers of a model, and the silhouettes by which one is chosen."""
    x = mixture()
    model = GaussianNeurons(50, random_state=SEED).partial_fit(x)
    network = model._state.network
    rows = thinned(distinct_rows(model.recent_samples_, 50), LOOKED_AT).astype(np.float64)
    distances = np.sqrt(squared_distances(rows, rows))
    figure, axes = plt.subplots(2, 3, figsize=(12, 7.6), layout="constrained")
    curve = axes[1, 2]
    for number, (layer, axis) in enumerate(zip(network.layers, axes.flat, strict=False)):
        neurons, chosen = layer.neurons, number == network.clusters.layer
        axis.scatter(*x[::4].T, s=3, color=GREY, linewidths=0)
        radius = np.sqrt(neurons.widths[0])
        for center in neurons.centers:
            axis.add_patch(
                plt.Circle(center, radius, fill=False, color="tab:blue", alpha=0.35, linewidth=0.8)
            )
        axis.scatter(*neurons.centers.T, s=14, color="tab:blue", zorder=3)
        found = join_centers(rows, distances, neurons.centers.astype(np.float64)).silhouettes_of(50)
        counts = np.flatnonzero(found > -1)
        curve.plot(counts, found[counts], marker=".", label=f"width {neurons.widths[0]:.2g}")
        axis.set_title(f"width {neurons.widths[0]:.2g}" + (": chosen" if chosen else ""), fontsize=11)
        axis.set(xlim=(-3, 13), ylim=(-3, 13), xticks=[], yticks=[], aspect="equal")
        for side in axis.spines.values():
            side.set(color="tab:orange" if chosen else GREY, linewidth=2.5 if chosen else 1)
    curve.axvline(model.n_clusters_, color="tab:orange", linewidth=6, alpha=0.3)
    curve.set(xscale="log", xlabel="number of clusters", ylabel="mean silhouette")
    curve.set_xticks([2, 4, 8, 16, 32], ["2", "4", "8", "16", "32"])
    curve.minorticks_off()
    curve.legend(frameon=False, fontsize=9)
    return figure


def gallery() -> Any:
    """Clusters found with the defaults."""
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
        "elongated: split": long,
        "moons: split": make_moons(4000, noise=0.06, random_state=SEED)[0],
        "spirals: split": spiral,
    }
    figure, axes = plt.subplots(2, 4, figsize=(13, 7), layout="constrained")
    for (name, x), axis in zip(sets.items(), axes.flat, strict=True):
        model = GaussianNeurons(50, random_state=SEED).partial_fit(x)
        label = model.predict(x)
        colours = np.array([COLOURS[k % 20] for k in range(max(label.max() + 1, 1))])
        axis.scatter(*x[label < 0].T, s=3, color=GREY, linewidths=0)
        axis.scatter(*x[label >= 0].T, s=3, c=colours[label[label >= 0]], linewidths=0)
        axis.scatter(
            *model.cluster_centers_.T, s=40, marker="o", facecolor="white", edgecolor="black", zorder=3
        )
        clusters = "1 cluster" if model.n_clusters_ == 1 else f"{model.n_clusters_} clusters"
        axis.set_title(f"{name}: {clusters}", fontsize=11)
        axis.set(xticks=[], yticks=[], aspect="equal")
    return figure


def sweep_map() -> Any:
    """The map of a sweep over the data of the first picture."""
    found = sweep(mixture(), n_neurons=30, widths=12, seeds=3)
    figure, axis = plt.subplots(figsize=(9, 3.6), layout="constrained")
    plotting.sweep_map(axis, found)
    return figure


if __name__ == "__main__":
    main()
