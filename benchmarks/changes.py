"""Streams that change suddenly, or not at all: what is remembered, how many events there are, false alarms.

    python -m benchmarks.changes             # three seeds, some minutes
    python -m benchmarks.changes --seeds 1

The first table is an ablation: the mean adjusted Rand index if one part is left out. The second counts the
events of streams that do not change. The third compares false alarms with those asked for.
"""

import argparse
import warnings
from collections.abc import Callable, Iterator, Sequence
from statistics import fmean

import joblib
import numpy as np
from sklearn.metrics import adjusted_rand_score

from benchmarks.quality.sets import load
from benchmarks.quality.systems import MOST_CLUSTERS, Array
from benchmarks.quality.table import text
from benchmarks.variants import AS_IT_IS, Variant, drift_scores, patched
from gaussian_neurons import GaussianNeurons
from gaussian_neurons.datasets.synthetic import Mixture
from gaussian_neurons.learning import relocation
from gaussian_neurons.model import learner

SETTLED, SAMPLES = 5_000, 50_000
STATIONARY = ("sklearn/digits", "river/segments", "mnist/pca20", "evenly spread", "mixture")
RATES = (0.05, 0.01, 0.001)


def blobs(count: int, n: int, dimensions: int, seed: int, *, in_turn: bool = False) -> tuple[Array, Array]:
    """Round clusters at least five standard deviations apart; all of one after all of another if in turn."""
    random = np.random.default_rng(seed)
    places: list[Array] = []
    while len(places) < count:
        place = random.uniform(0, 10, dimensions)
        if all(((place - other) ** 2).sum() > 4 * max(1, dimensions / 4) for other in places):
            places.append(place)
    labels = random.integers(count, size=n)
    labels = np.sort(labels) if in_turn else labels
    return random.normal(np.array(places)[labels], 0.4), labels


def sorted_by_cluster(model: GaussianNeurons, seed: int, dimensions: int = 2) -> float:
    x, labels = blobs(10, 30_000, dimensions, seed, in_turn=True)
    return adjusted_rand_score(labels, model.partial_fit(x).predict(x))


def sorted_in_eight_columns(model: GaussianNeurons, seed: int) -> float:
    return sorted_by_cluster(model, seed, 8)


def jump(model: GaussianNeurons, seed: int) -> float:
    """All clusters are elsewhere from the middle on: those there then."""
    first, _ = blobs(6, 20_000, 2, seed)
    second, labels = blobs(6, 20_000, 2, seed + 100)
    return adjusted_rand_score(labels, model.partial_fit(first).partial_fit(second + 30).predict(second + 30))


def before_a_jump(model: GaussianNeurons, seed: int) -> float:
    """The same: those there before."""
    first, labels = blobs(6, 20_000, 2, seed)
    second, _ = blobs(6, 20_000, 2, seed + 100)
    return adjusted_rand_score(labels, model.partial_fit(first).partial_fit(second + 30).predict(first))


def equal_at_first(model: GaussianNeurons, seed: int) -> float:
    x, labels = blobs(6, 5_000, 2, seed)
    return adjusted_rand_score(labels, model.partial_fit(np.ones((1000, 2))).partial_fit(x).predict(x))


STREAMS: dict[str, Callable[[GaussianNeurons, int], float]] = {
    "sorted by cluster": sorted_by_cluster,
    "sorted, 8 columns": sorted_in_eight_columns,
    "after a jump": jump,
    "before a jump": before_a_jump,
    "equal at first": equal_at_first,
}
PARTS: dict[str, Variant] = {
    AS_IT_IS: Variant(),
    "memory of 10,000 samples": Variant({"memory": 10_000}),
    "no memory": Variant({"memory": 1}),
    "no relocation": Variant(patches=[(relocation, "MARGIN", np.inf)]),
    "no limit to the reach": Variant(patches=[(learner, "normal_reach", lambda _: 1e300)]),
}


def ablation(name: str, seeds: int) -> tuple[str, ...]:
    """The row of a variant."""
    part = PARTS[name]
    row = [name]
    with patched(part.patches), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for stream in STREAMS.values():
            found = [
                stream(GaussianNeurons(MOST_CLUSTERS, random_state=seed, **part.settings), seed)
                for seed in range(seeds)
            ]
            row.append(f"{fmean(found):.2f}")
    return (*row, f"{fmean(drift_scores(part, seeds)[0]):.3f}")


def draws(name: str, n: int, seed: int) -> Array:
    """Independent samples."""
    random = np.random.default_rng(seed)
    if name == "evenly spread":
        return random.uniform(size=(n, 4))
    if name == "mixture":
        return Mixture(8, seed=seed, dtype="float64").read_labelled(n)[0]
    x = next(data.x for data in load() if data.name == name)
    return x[random.integers(len(x), size=n)]


def events(name: str, neurons: int, seeds: int) -> tuple[str, ...]:
    """How many events there are in 10,000 samples of a stream that does not change."""
    counts, numbers = [], []
    for seed in range(seeds):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = GaussianNeurons(neurons, random_state=seed)
            model.partial_fit(draws(name, SETTLED + SAMPLES, seed))
        counts.append(sum(event.samples > SETTLED for event in model.events_) * 10_000 / SAMPLES)
        numbers.append(model.n_clusters_)
    return name, str(neurons), f"{fmean(counts):.1f}", f"{fmean(numbers):.1f}"


def false_alarms(dimensions: int, rows: int, seeds: int) -> tuple[str, ...]:
    """The part of fresh samples that is called novel, for each rate asked."""
    found: dict[float, list[float]] = {rate: [] for rate in RATES}
    for seed in range(2 * seeds):
        random = np.random.default_rng(seed)
        places = random.normal(size=(5, dimensions)) * 6 / np.sqrt(dimensions)
        x = random.normal(places[random.integers(5, size=rows + 20_000)], 1.0)
        model = GaussianNeurons(16, random_state=seed).partial_fit(x[:rows])
        for rate in RATES:
            found[rate].append(float(model.is_novel(x[rows:], rate).mean()))
    return str(dimensions), f"{rows:,}", *(f"{fmean(found[rate]):.2%}" for rate in RATES)


def tables(seeds: int, jobs: int) -> Iterator[tuple[str, Sequence[tuple[str, ...]]]]:
    """Title and rows of each table."""
    parallel = joblib.Parallel(n_jobs=jobs)
    rows = parallel(joblib.delayed(ablation)(name, seeds) for name in PARTS)
    yield "adjusted Rand index", [("", *STREAMS, "moving clusters"), *rows]
    known = {data.name for data in load()} | {"evenly spread", "mixture"}
    cases = [(name, neurons) for name in STATIONARY if name in known for neurons in (30, MOST_CLUSTERS)]
    rows = parallel(joblib.delayed(events)(*case, seeds) for case in cases)
    yield "streams that do not change", [("", "neurons", "events in 10,000 samples", "clusters"), *rows]
    cases = [(dimensions, n) for dimensions in (2, 10, 100) for n in (500, 6_000)]
    rows = parallel(joblib.delayed(false_alarms)(*case, seeds) for case in cases)
    yield "fresh samples that are novel", [("columns", "samples", *(f"{rate:.1%}" for rate in RATES)), *rows]


def main() -> None:
    """Parse, run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=-1, help="processes; default: one for each core")
    options = parser.parse_args()
    for title, rows in tables(options.seeds, options.jobs):
        print(f"{title}\n{text(rows)}\n", flush=True)


if __name__ == "__main__":
    main()
