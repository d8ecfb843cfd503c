"""The same data shown to k-means, HDBSCAN, river's clusterers and this library.

    python -m benchmarks.beside

It draws docs/when/beside.webp, and writes the table of docs/when.md: means over five draws of each data set.
"""

import re
import warnings
from collections.abc import Callable
from pathlib import Path
from statistics import fmean
from typing import Any

import matplotlib

matplotlib.use("Agg")

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import make_circles, make_moons
from sklearn.metrics import adjusted_rand_score

from benchmarks.pictures import COLOURS, GREY
from benchmarks.quality.systems import SYSTEMS, Array, InScikitLearn, Learner, Task
from benchmarks.quality.table import markdown
from gaussian_neurons import GaussianNeurons

DOCS = Path(__file__).parent.parent / "docs"
ROWS, SEEDS = 2000, 5
LEAST = 50  # rows of a cluster, of HDBSCAN
NOISE = -1

Labelled = tuple[Array, Array]


def blobs(places: Any, spreads: Any, random: np.random.Generator, parts: Any = None) -> Labelled:
    """Normal clusters at places (k, 2) with spreads (k,) or (k, 2)."""
    places = np.array(places, float)
    spreads = np.broadcast_to(np.array(spreads, float).reshape(len(np.atleast_1d(spreads)), -1), places.shape)
    which = random.choice(len(places), size=ROWS, p=parts)
    return places[which] + spreads[which] * random.normal(size=(ROWS, 2)), which


EIGHT = [[0, 0], [3, 0.5], [6, 0], [0.5, 3], [3.5, 3.5], [6.5, 3], [1.5, 6], [5, 6]]


def equal(random: np.random.Generator) -> Labelled:
    return blobs(EIGHT, 0.4, random)


def in_order(random: np.random.Generator) -> Labelled:
    x, which = equal(random)
    order = np.argsort(which, kind="stable")
    return x[order], which[order]


def sizes(random: np.random.Generator) -> Labelled:
    return blobs([[0, 0], [7, 0], [3, 6]], [1.6, 0.5, 0.25], random, [0.7, 0.2, 0.1])


def long(random: np.random.Generator) -> Labelled:
    return blobs([[0, 0], [0, 4], [0, 8]], np.tile([2.4, 0.6], (3, 1)), random)


def noisy(random: np.random.Generator) -> Labelled:
    x, which = equal(random)
    noise = random.random(ROWS) < 0.3
    return np.where(noise[:, None], random.uniform(-2, 8.5, (ROWS, 2)), x), np.where(noise, NOISE, which)


def one(random: np.random.Generator) -> Labelled:
    return random.normal(size=(ROWS, 2)), np.zeros(ROWS, int)


def moons(random: np.random.Generator) -> Labelled:
    return make_moons(ROWS, noise=0.06, random_state=int(random.integers(1 << 31)))


def rings(random: np.random.Generator) -> Labelled:
    return make_circles(ROWS, noise=0.05, factor=0.4, random_state=int(random.integers(1 << 31)))


def spirals(random: np.random.Generator) -> Labelled:
    angle = np.sqrt(random.random(ROWS)) * 3 * np.pi
    arm = random.integers(2, size=ROWS)
    x = np.c_[np.cos(angle), np.sin(angle)] * (angle * (1 - 2 * arm))[:, None]
    return x + 0.3 * random.normal(size=(ROWS, 2)), arm


SETS: dict[str, Callable[[np.random.Generator], Labelled]] = {
    "equal clusters": equal,
    "one after another": in_order,
    "three sizes": sizes,
    "long clusters": long,
    "30 % noise": noisy,
    "one cluster": one,
    "moons": moons,
    "rings": rings,
    "spirals": spirals,
}


def ours(shape: str) -> Callable[[Task], Learner]:
    return lambda task: InScikitLearn(GaussianNeurons(shape=shape, random_state=task.seed))


def k_means(task: Task) -> Learner:
    from sklearn.cluster import KMeans

    return InScikitLearn(KMeans(task.clusters, random_state=task.seed, n_init=10))


def hdbscan(task: Task) -> Learner:
    from sklearn.cluster import HDBSCAN

    return InScikitLearn(HDBSCAN(min_cluster_size=LEAST, copy=True))


METHODS: dict[str, Callable[[Task], Learner]] = {
    "k-means,\nnumber given": k_means,
    "HDBSCAN": SYSTEMS["HDBSCAN"].make,
    f"HDBSCAN, at\nleast {LEAST} rows": hdbscan,
    "river\nDBSTREAM": SYSTEMS["DBSTREAM"].make,
    "river\nDenStream": SYSTEMS["DenStream"].make,
    "STREAMKMeans,\nnumber given": SYSTEMS["STREAMKMeans"].make,
    "this library": ours("compact"),
    'this library,\nshape="any"': ours("any"),
}


def learned(make: Callable[[Task], Learner], x: Array, truth: Array, seed: int) -> Array:
    """The clusters that one method finds, each row seen once."""
    learner = make(Task(columns=2, clusters=len(set(truth[truth >= 0].tolist())), seed=seed))
    rows = learner.rows(x)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        learner.learn(rows)
        return np.asarray(learner.predict(rows))


def index(truth: Array, labels: Array) -> float:
    """The adjusted Rand index of the rows that are no noise; for one cluster, whether one was found."""
    if len(np.unique(truth[truth != NOISE])) == 1:
        return float(len(np.unique(labels[labels >= 0])) == 1)
    return float(adjusted_rand_score(truth[truth != NOISE], labels[truth != NOISE]))


def panel(axes: Any, x: Array, labels: Array) -> None:
    """Rows in the colours of their clusters, those of none in grey."""
    places = np.unique(labels[labels >= 0], return_inverse=True)[1]
    colours = np.full((len(x), 4), matplotlib.colors.to_rgba(GREY))
    own = COLOURS[:14] + COLOURS[16:]  # without grey
    strong = np.array([matplotlib.colors.to_rgba(it) for it in own[::2] + own[1::2]])
    colours[labels >= 0] = strong[places % len(strong)]
    axes.scatter(*x.T, s=1.5, c=colours, linewidths=0)
    axes.set(xticks=[], yticks=[])
    axes.set_aspect("equal", adjustable="datalim")
    axes.spines[:].set_color("0.8")


def main() -> None:
    """Run all methods, draw the first draw of each set and write the table."""
    figure, axes = plt.subplots(
        len(SETS), len(METHODS), figsize=(12, 13), layout="constrained", squeeze=False
    )
    scores: dict[tuple[str, str], list[float]] = {}
    for row, (name, draw) in zip(axes, SETS.items(), strict=True):
        row[0].set_ylabel(name, fontsize=10)
        for seed in range(SEEDS):
            x, truth = draw(np.random.default_rng(seed))
            x = (x - x.mean(axis=0)) / x.std(axis=0)
            for place, (title, make) in zip(row, METHODS.items(), strict=True):
                labels = learned(make, x, truth, seed)
                scores.setdefault((name, title), []).append(index(truth, labels))
                if seed == 0:
                    panel(place, x, labels)
                    found = len(set(labels[labels >= 0].tolist()))
                    place.set_xlabel(f"{found} found, index {scores[name, title][0]:.2f}", fontsize=8)
        print(name, *(f"{fmean(scores[name, title]):.2f}" for title in METHODS), flush=True)
    for place, title in zip(axes[0], METHODS, strict=True):
        place.set_title(title, fontsize=10)
    (DOCS / "when").mkdir(exist_ok=True)
    figure.savefig(DOCS / "when" / "beside.webp", dpi=100, pil_kwargs={"quality": 70})
    head = ["", *(title.replace("\n", " ").replace('shape="any"', '`shape="any"`') for title in METHODS)]
    body = [[name, *(f"{fmean(scores[name, title]):.2f}" for title in METHODS)] for name in SETS]
    page = DOCS / "when.md"
    text = re.sub(
        r"(?<=<!-- beside -->\n\n).*?(?=\n\n<!-- end -->)",
        lambda _: markdown([head, *body]).strip(),
        page.read_text(),
        flags=re.DOTALL,
    )
    page.write_text(text)
    print(f"Written: {DOCS / 'when' / 'beside.webp'}, {page}")


if __name__ == "__main__":
    main()
