"""Columns of different scale: the adjusted Rand index with and without a `scale`, over five seeds.

    python -m benchmarks.scaling     # prints the tables of docs/any-data.md, in a minute

Outliers: 1 % of the rows, at least two, are added once more with the number in one column, another for each
seed, 100 times as large. They do not count in the index. Streams: five clusters in four columns of different
units. 1 % of 40,000 have such an outlier; or one column grows by a factor of 10 in the middle half. The
index is that of the last 4000 samples. `StandardScaler` is fitted to all rows, or to the first 1000 samples.
"""

import warnings
from collections.abc import Callable
from statistics import fmean
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

from gaussian_neurons import GaussianNeurons
from gaussian_neurons.datasets import mnist_sample
from gaussian_neurons.model.scaling import measured
from gaussian_neurons.sampling import Patches

Array = NDArray[Any]
Score = Callable[[int, Any, bool], float]  # of a seed, a scale, and whether a scaler comes first

SEEDS = range(5)
SETS = {"wine": load_wine, "breast cancer": load_breast_cancer, "iris": load_iris}
WAYS = {
    "as they are": (None, False),
    "`StandardScaler`": (None, True),
    '`scale="columns"`': ("columns", False),
    '`scale="robust"`': ("robust", False),
}
FACTORS = (1, 3, 10, 30, 100)
LENGTH, DRIFT, LAST = 40_000, 10.0, 4000


def of_rows(load: Callable[[], Any], outliers: bool) -> Score:
    x, y = load().data, load().target

    def score(seed: int, scale: Any, scaler: bool) -> float:
        rows = x
        if outliers:
            wrong = x[np.random.default_rng(seed).choice(len(x), max(2, len(x) // 100), replace=False)]
            wrong[:, seed % x.shape[1]] *= 100
            rows = np.concatenate([x, wrong])
        rows = StandardScaler().fit_transform(rows) if scaler else rows
        return adjusted_rand_score(y, learned(seed, scale).fit(rows).labels_[: len(y)])

    return score


def of_stream(drift: bool) -> Score:
    def score(seed: int, scale: Any, scaler: bool) -> float:
        random = np.random.default_rng(seed)
        places, y = random.uniform(0, 10, (5, 4)), random.integers(5, size=LENGTH)
        x, column = random.normal(places[y], 0.6) * [1, 100, 0.01, 1], seed % 4
        part = np.clip((np.arange(LENGTH) - LENGTH / 4) / (LENGTH / 2), 0, 1)
        good = np.full(LENGTH, True) if drift else random.random(LENGTH) >= 0.01
        x[:, column] *= DRIFT**part if drift else np.where(good, 1, 100)
        rows = StandardScaler().fit(x[:1000]).transform(x) if scaler else x
        labels = learned(seed, scale).partial_fit(rows).predict(rows[-LAST:])
        return adjusted_rand_score(y[-LAST:][good[-LAST:]], labels[good[-LAST:]])

    return score


def of_factor(load: Callable[[], Any], factor: float, seed: int) -> float:
    """One column of standardized rows, another for each seed, is multiplied by a factor."""
    x = StandardScaler().fit_transform(load().data)
    x[:, seed % x.shape[1]] *= factor
    return adjusted_rand_score(load().target, learned(seed, None).fit(x).labels_)


def learned(seed: int, scale: Any) -> GaussianNeurons:
    return GaussianNeurons(random_state=seed, scale=scale)


def ratio(x: Array) -> float:
    """How many times the scale of the median column the largest one is: what the warning looks at."""
    scales = np.sort(measured(np.asarray(x[:1000], np.float64), "robust")[1])
    varies = scales[scales > 0]
    return float(varies[-1] / varies[(len(varies) - 1) // 2])


def table(head: list[str], rows: dict[str, list[str]]) -> str:
    lines = [["", *head], ["---"] * (len(head) + 1), *([name, *cells] for name, cells in rows.items())]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main() -> None:
    warnings.simplefilter("ignore")
    cases: dict[str, Score] = {name: of_rows(load, False) for name, load in SETS.items()}
    cases |= {f"{name}, 1 % outliers": of_rows(load, True) for name, load in SETS.items()}
    cases |= {"stream, 1 % outliers": of_stream(False), "stream, a scale drifts": of_stream(True)}
    scores = {
        name: [f"{fmean(score(seed, *way) for seed in SEEDS):.2f}" for way in WAYS.values()]
        for name, score in cases.items()
    }
    print(table(list(WAYS), scores), end="\n\n")
    losses = {
        name: [f"{fmean(of_factor(load, factor, seed) for seed in SEEDS):.2f}" for factor in FACTORS]
        for name, load in SETS.items()
    }
    print(table([f"x {factor}" for factor in FACTORS], losses), end="\n\n")
    images = mnist_sample().images
    data = {name: load().data for name, load in SETS.items()} | {
        "digits": load_digits().data,
        "MNIST": images.reshape(len(images), -1),
        "patches": Patches(images, size=5, seed=0).read(1000),
    }
    print(table(list(data), {"largest / median": [f"{ratio(x):,.0f}" for x in data.values()]}))


if __name__ == "__main__":
    main()
