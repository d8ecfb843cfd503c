"""The pictures of docs/how.md.

python -m benchmarks.how
"""

from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

import numpy as np
from matplotlib import pyplot as plt

from benchmarks.pictures import COLOURS, GREY, five_clusters
from gaussian_neurons import GaussianNeurons, plotting
from gaussian_neurons.learning import reference, reference_shares
from gaussian_neurons.learning.rule import SHARED_RATE, Shares

OUT = Path(__file__).parent.parent / "docs" / "how"
PULL, PUSH = "tab:green", "tab:red"


def main() -> None:
    """Draw all pictures."""
    OUT.mkdir(exist_ok=True)
    for draw in (rule, share, widths, merging):
        figure = draw()
        path = OUT / f"{draw.__name__}.webp"
        figure.savefig(path, dpi=110, pil_kwargs={"quality": 85})
        plt.close(figure)
        print(path)


def rule() -> Any:
    """The two parts of the paper's rule, and what becomes of it."""
    centers = np.array([[0.6, 0.9], [1.5, 0.5], [2.6, 1.6], [0.9, 2.2]])
    widths, sample = np.ones(4), np.array([1.3, 1.3])
    pull = reference.center_step(sample, centers, widths, 0.0, 1.0)
    push = reference.center_step(np.array([1e3, 1e3]), centers, widths, 0.5, 1.0)
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(11, 3.9), layout="constrained")
    for axes, steps, colour in ((left, pull, PULL), (middle, push, PUSH)):
        for center, step in zip(centers, steps, strict=True):
            axes.add_patch(plt.Circle(center, 1, fill=False, edgecolor="0.8"))
            axes.annotate(
                "", center + 1.6 * step, center, arrowprops={"arrowstyle": "->", "color": colour, "lw": 2}
            )
        axes.scatter(*centers.T, s=30, c="black", zorder=3)
        axes.set(xlim=(-1, 4), ylim=(-0.9, 3.6), xticks=[], yticks=[])
        axes.set_aspect("equal")
    left.scatter(*sample, s=140, marker="*", c="tab:blue", zorder=4)
    left.set_title("a sample attracts neurons")
    middle.set_title("neurons repel each other")
    random = np.random.default_rng(0)
    places = np.array([[0.0, 0.0], [3.0, 0.4], [1.4, 2.6]])
    x = random.normal(places[random.integers(3, size=20_000)], 0.35)
    model = GaussianNeurons(6, width=1.0, random_state=1).partial_fit(x)
    plotting.plane(right, x[:1500], model.centers_, model.widths_, model.learned_)
    right.set_ylim(bottom=-4)
    right.legend(loc="lower left", fontsize=7)
    right.set_title("after 20,000 samples")
    return figure


def share() -> Any:
    """Densities of three neurons in one dimension, and their shares."""
    x = np.linspace(-1.5, 8.5, 600)
    centers, widths = np.array([[1.0], [3.0], [6.0]]), np.array([0.5, 0.5, 4.0])
    density = np.array(
        [np.exp(-((x - c) ** 2) / w) / np.sqrt(np.pi * w) for (c,), w in zip(centers, widths, strict=True)]
    )
    shares = np.array([reference_shares.shares(np.array([it]), centers, widths) for it in x]).T
    figure, (above, below) = plt.subplots(2, 1, figsize=(8, 4), layout="constrained", sharex=True)
    for index, curve in enumerate(density):
        above.plot(x, curve, color=COLOURS[2 * index], lw=2)
    below.stackplot(x, shares, colors=[(*COLOURS[2 * index], 0.75) for index in range(3)])
    above.set(ylabel="density", yticks=[])
    below.set(ylabel="share", ylim=(0, 1), yticks=[0, 0.5, 1], xlabel="sample", xlim=(x[0], x[-1]))
    for axes in (above, below):
        axes.spines[["top", "right"]].set_visible(False)
    return figure


def widths() -> Any:
    """Neurons that share samples, at three times."""
    random = np.random.default_rng(1)
    places, spreads = np.array([[0.0, 0.0], [5.0, 1.0], [2.0, 4.5]]), np.array([0.9, 0.45, 0.25])
    which = random.integers(3, size=4000)
    x = places[which] + spreads[which, None] * random.normal(size=(4000, 2))
    now = np.array([[1.0, 1.0], [2.5, 1.5], [2.6, 3.0]]), np.full(3, 4.0), np.zeros(3)
    figure, row = plt.subplots(1, 3, figsize=(11, 3.6), layout="constrained", sharex=True, sharey=True)
    seen = 0
    for until, axes in zip((0, 50, 3000), row, strict=True):
        now = reference_shares.learn(*now, x[seen:until], Shares(SHARED_RATE, 1e-6))
        seen = until
        axes.scatter(*x[:1500].T, s=3, color=GREY, linewidths=0)
        for index, (center, width) in enumerate(zip(*now[:2], strict=True)):
            colour = COLOURS[2 * index]
            axes.plot(*center, "o", color=colour, markeredgecolor="white")
            axes.add_patch(plt.Circle(center, np.sqrt(width), fill=False, edgecolor=colour, lw=2))
        axes.set(xticks=[], yticks=[], title="at the start" if not seen else f"after {seen:,} samples")
        axes.set_aspect("equal")
    return figure


def merging() -> Any:
    """The same neurons, divided into fewer and fewer groups."""
    x = five_clusters()
    model = GaussianNeurons(30, random_state=0).partial_fit(x)
    scores = model.cluster_counts_
    figure, row = plt.subplots(1, 4, figsize=(12, 3.3), layout="constrained")
    for count, axes in zip((12, 7, 5, 3), row, strict=True):
        group, centers = model.predict(x, n_clusters=count), model.predict(model.centers_, n_clusters=count)
        colours = np.array(COLOURS[::2] + COLOURS[1::2])
        axes.scatter(*x.T, s=2, c=colours[group], alpha=0.4, linewidths=0)
        for center, width, own in zip(model.centers_, model.widths_, centers, strict=True):
            axes.add_patch(plt.Circle(center, np.sqrt(width), fill=False, edgecolor=colours[own], lw=1.2))
        best = ", the largest" if scores[count] == max(scores.values()) else ""
        axes.set_title(f"{count} groups: score {scores[count]:,.0f}{best}", fontsize=10)
        axes.set(xticks=[], yticks=[])
        axes.set_aspect("equal", adjustable="datalim")
    return figure


if __name__ == "__main__":
    main()
