"""Streams that change suddenly, or not at all: what is remembered, how many events there are, false alarms.

    python -m benchmarks.changes             # three seeds, ten minutes
    python -m benchmarks.changes --seeds 1

The first table is an ablation: the mean adjusted Rand index if one part is left out; how far cluster centers
are from the true ones, in standard deviations, if 1 % of the samples are outliers; and the events in 10,000
samples of digits. The second counts the events of streams that do not change. The third compares sets
whose clusters come one after another with the same samples in random order. The fourth counts what is
reported of a stream that drifts. The fifth compares false alarms with those asked for.
"""

import argparse
import warnings
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from statistics import fmean

import joblib
import numpy as np
from sklearn.metrics import adjusted_rand_score

from benchmarks.quality.sets import load
from benchmarks.quality.systems import MOST_CLUSTERS, Array
from benchmarks.quality.table import text
from benchmarks.variants import AS_IT_IS, VARIANTS, Variant, drift_scores, patched
from gaussian_neurons import GaussianNeurons
from gaussian_neurons.clustering import numbering, resting, tree
from gaussian_neurons.clustering.numbering import Event
from gaussian_neurons.datasets.synthetic import Drifting, Mixture
from gaussian_neurons.learning import relocation
from gaussian_neurons.model import learner

SETTLED, SAMPLES = 5_000, 50_000
STATIONARY = ("sklearn/digits", "river/segments", "mnist/pca20", "evenly spread", "mixture")
SORTED = ("sipu/s1", "sipu/s2", "sipu/a1", "sklearn/digits_pca10", "river/segments", "mnist/pca20")
OF_EACH = 3_000  # samples of a cluster that come one after the other
DRIFTING, STEP, DELAY = 100_000, 100, 3_000  # samples of a drifting stream, between two looks, to report
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


def touching(model: GaussianNeurons, seed: int, *, in_turn: bool = True) -> float:
    """Sixteen clusters on a grid, four standard deviations apart, all of one after all of another."""
    random = np.random.default_rng(seed)
    labels = random.integers(16, size=32_000)
    labels = random.permutation(16)[np.sort(labels)] if in_turn else labels
    x = random.normal(np.stack(np.divmod(labels, 4), axis=1) * 4.0)
    return adjusted_rand_score(labels, model.partial_fit(x).predict(x))


def touching_shuffled(model: GaussianNeurons, seed: int) -> float:
    return touching(model, seed, in_turn=False)


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


def many_columns(model: GaussianNeurons, seed: int) -> float:
    """Ten clusters in 100 columns."""
    random = np.random.default_rng(seed)
    places = random.normal(size=(10, 100)) / np.sqrt(2)
    labels = random.integers(10, size=5_000)
    x = random.normal(places[labels])
    return adjusted_rand_score(labels, model.partial_fit(x).predict(x))


def outliers(model: GaussianNeurons, seed: int) -> float:
    """How far the nearest center is from each of six places, in standard deviations; not an index."""
    x, labels = blobs(6, 20_000, 2, seed)
    places = np.stack([x[labels == k].mean(axis=0) for k in range(6)])
    x[::100] += np.random.default_rng(seed).normal(size=(200, 2)) * 40
    centers = model.partial_fit(x).cluster_centers_
    return float(np.linalg.norm(places[:, None] - centers, axis=2).min(axis=1).mean() / 0.4)


def far_outliers(model: GaussianNeurons, seed: int) -> float:
    """One sample in a hundred is thousands of standard deviations away; the index is that of the others."""
    x, labels = blobs(6, 20_000, 2, seed)
    inlier = np.arange(len(x)) % 100 > 0
    x[~inlier] += np.random.default_rng(seed).normal(size=(200, 2)) * 4000
    return adjusted_rand_score(labels[inlier], model.partial_fit(x).predict(x[inlier]))


def heavy_tails(model: GaussianNeurons, seed: int) -> float:
    """Three clusters in eight columns, half of whose samples scatter three times as far as the other half."""
    random = np.random.default_rng(seed)
    labels = random.integers(3, size=9_000)
    x = 14 * np.eye(3, 8)[labels] + random.normal(size=(9_000, 8)) * random.choice([1, 3], size=(9_000, 1))
    return adjusted_rand_score(labels, model.partial_fit(x).predict(x))


STREAMS: dict[str, Callable[[GaussianNeurons, int], float]] = {
    "sorted by cluster": sorted_by_cluster,
    "sorted, 8 columns": sorted_in_eight_columns,
    "touching, sorted": touching,
    "touching, shuffled": touching_shuffled,
    "after a jump": jump,
    "before a jump": before_a_jump,
    "equal at first": equal_at_first,
    "100 columns": many_columns,
    "outliers, off by": outliers,
    "far outliers": far_outliers,
    "heavy tails": heavy_tails,
}
IN_STREAMS = (  # of the variants
    "small groups kept",
    "noise groups kept",
    "halos kept",
    "all directions counted",
    "evidence of the recent rows only",
    "the best groups at each review",
)
PARTS: dict[str, Variant] = {
    AS_IT_IS: Variant(),
    "memory of 10,000 samples": Variant({"memory": 10_000}),
    "no memory": Variant({"memory": 1}),
    "drawn neurons do not go back": Variant(patches=[(resting, "ELSEWHERE", np.inf)]),
    "no relocation": Variant(patches=[(relocation, "MARGIN", np.inf)]),
    "no limit to the reach": Variant(patches=[(learner, "normal_reach", lambda _: 1e300)]),
    **{name: VARIANTS[name] for name in IN_STREAMS},
    "outliers count in centers": Variant(patches=[(numbering, "is_inlier", lambda *_: slice(None))]),
    "repeated rows are evidence": Variant(patches=[(tree, "distinct_rows", lambda rows, _: rows)]),
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
        row.append(f"{fmean(drift_scores(part, seeds)[0]):.3f}")
        return (*row, events("sklearn/digits", 30, seeds, part)[2])


def draws(name: str, n: int, seed: int) -> Array:
    """Independent samples."""
    random = np.random.default_rng(seed)
    if name == "evenly spread":
        return random.uniform(size=(n, 4))
    if name == "mixture":
        return Mixture(8, seed=seed, dtype="float64").read_labelled(n)[0]
    x = next(data.x for data in load() if data.name == name)
    return x[random.integers(len(x), size=n)]


def events(name: str, neurons: int, seeds: int, part: Variant | None = None) -> tuple[str, ...]:
    """How many events there are in 10,000 samples of a stream that does not change."""
    counts, numbers = [], []
    for seed in range(seeds):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = GaussianNeurons(neurons, random_state=seed, **(part.settings if part else {}))
            model.partial_fit(draws(name, SETTLED + SAMPLES, seed))
        counts.append(sum(event.samples > SETTLED for event in model.events_) * 10_000 / SAMPLES)
        numbers.append(model.n_clusters_)
    return name, str(neurons), f"{fmean(counts):.1f}", f"{fmean(numbers):.1f}"


def truth(source: Drifting) -> Iterator[tuple[int, bool, int]]:
    """The sample, whether it appears or vanishes, and the label of each change of a drifting stream.

    A cluster that appears within six spreads of one that vanished less than DELAY samples ago is left out,
    and so is that one: nothing in the samples tells such a pair from a cluster that has moved.
    """
    before, gone, appeared = {}, [], []
    for t in range(0, DRIFTING, STEP):
        labels, centers = source.labels_at(t).tolist(), source.centers_at(t)
        now = dict(zip(labels, centers, strict=True))
        appeared += [(t, label, now[label]) for label in now.keys() - before.keys() if t > 0]
        gone += [(t, label, before[label]) for label in before.keys() - now.keys()]
        before = now
    same = [
        (old, new)
        for since, old, place in gone
        for t, new, center in appeared
        if since <= t <= since + DELAY and ((center - place) ** 2).sum() <= (6 * source.spread) ** 2
    ]
    yield from ((t, True, label) for t, label, _ in appeared if label not in {new for _, new in same})
    yield from ((t, False, label) for t, label, _ in gone if label not in {old for old, _ in same})


def reports(seed: int) -> tuple[int, int, int, int]:
    """Clusters of a drifting stream: how many appear and are reported in time, and vanish and are.

    A birth is reported if "born" or "returned" comes within DELAY samples, at most five spreads from the
    center. A cluster that vanishes is reported if "absent" or "retired" comes for the number that its last
    samples had.
    """
    source = Drifting(6, seed=seed, spread=0.02, life=25_000, gone=0.3, noise=0.05, dtype="float64")
    model, number = GaussianNeurons(MOST_CLUSTERS, random_state=seed), {}
    while source.position < DRIFTING:
        t = source.position
        x, _ = source.read_labelled(STEP)
        model.partial_fit(x)
        number[t] = dict(
            zip(source.labels_at(t).tolist(), model.predict(source.centers_at(t)).tolist(), strict=True)
        )
    found = {True: [0, 0], False: [0, 0]}
    for t, appears, label in truth(source):
        if not SETTLED <= t < DRIFTING - DELAY:
            continue
        later = [event for event in model.events_ if t < event.samples <= t + DELAY]
        if appears:
            known = any(event.kind in ("born", "returned") and _near(source, event, label) for event in later)
        else:
            own = number[t - STEP][label]
            known = any(event.kind in ("absent", "retired") and event.cluster == own for event in later)
        found[appears][0] += 1
        found[appears][1] += known
    return (*found[True], *found[False])


def reported(found: Sequence[tuple[int, int, int, int]]) -> list[tuple[str, ...]]:
    """The table of `reports` over all seeds."""
    births, in_time, ends, ends_in_time = np.sum(found, axis=0).tolist()
    return [
        ("", "number", f"reported within {DELAY:,} samples"),
        ("a cluster appears", str(births), f"{in_time / births:.1%}"),
        ("a cluster vanishes", str(ends), f"{ends_in_time / ends:.1%}"),
    ]


def _near(source: Drifting, event: Event, label: int) -> bool:
    at = np.flatnonzero(source.labels_at(event.samples) == label)
    apart = event.center - source.centers_at(event.samples)[at]
    return bool((np.hypot.reduce(apart, axis=1) <= 5 * source.spread).any())


def in_turn(name: str, seeds: int) -> tuple[str, ...]:
    """The index of a set whose clusters come one after another, and of the same samples in random order."""
    data = next(data for data in load() if data.name == name)
    found: tuple[list[float], list[float]] = [], []
    for seed in range(seeds):
        random = np.random.default_rng(seed)
        order = random.permutation(np.unique(data.labels[data.labels > 0]))
        which = np.concatenate([random.choice(np.flatnonzero(data.labels == k), OF_EACH) for k in order])
        for scores, rows in zip(found, (which, random.permutation(which)), strict=True):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model = GaussianNeurons(MOST_CLUSTERS, random_state=seed).partial_fit(data.x[rows])
            scores.append(adjusted_rand_score(data.labels[rows], model.predict(data.x[rows])))
    return name, str(len(order)), *(f"{fmean(scores):.2f}" for scores in found)


def false_alarms(method: str, dimensions: int, rows: int, neurons: int, seeds: int) -> tuple[str, ...]:
    """The part of fresh samples that is called novel after one pass or after fit, for each rate asked."""
    found: dict[float, list[float]] = {rate: [] for rate in RATES}
    for seed in range(10 * seeds):
        random = np.random.default_rng(seed)
        places = random.normal(size=(5, dimensions)) * 6 / np.sqrt(dimensions)
        x = random.normal(places[random.integers(5, size=rows + 20_000)], 1.0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = getattr(GaussianNeurons(neurons, random_state=seed), method)(x[:rows])
        for rate in RATES:
            found[rate].append(float(model.is_novel(x[rows:], rate).mean()))
    rates = (f"{fmean(found[rate]):.2%}" for rate in RATES)
    return method, str(dimensions), f"{rows:,}", str(neurons), *rates


def tables(seeds: int, jobs: int) -> Iterator[tuple[str, Sequence[tuple[str, ...]]]]:
    """Title and rows of each table."""
    parallel = joblib.Parallel(n_jobs=jobs)
    rows = parallel(joblib.delayed(ablation)(name, seeds) for name in PARTS)
    yield "adjusted Rand index", [("", *STREAMS, "moving clusters", "events"), *rows]
    known = {data.name for data in load()} | {"evenly spread", "mixture"}
    cases = [(name, neurons) for name in STATIONARY if name in known for neurons in (30, MOST_CLUSTERS)]
    rows = parallel(joblib.delayed(events)(*case, seeds) for case in cases)
    yield "streams that do not change", [("", "neurons", "events in 10,000 samples", "clusters"), *rows]
    names = [name for name in SORTED if name in known]
    rows = parallel(joblib.delayed(in_turn)(name, seeds) for name in names)
    yield "sets sorted by cluster", [("", "clusters", "sorted", "shuffled"), *rows]
    rows = parallel(joblib.delayed(reports)(seed) for seed in range(2 * seeds))
    yield "a stream that drifts", reported(rows)
    sizes = (2, 10, 30, 100), (500, 1_000, 2_000, 6_000), (16, MOST_CLUSTERS)
    several = product(("partial_fit", "fit"), *sizes)
    rows = parallel(joblib.delayed(false_alarms)(*case, seeds) for case in several)
    head = ("by", "columns", "samples", "neurons", *(f"{rate:.1%}" for rate in RATES))
    yield "fresh samples that are novel", [head, *rows]


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
