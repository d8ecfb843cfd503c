"""Many models, many neurons, many partitions.

    python -m benchmarks.scale [sweep] [threads] [lists] [partitioned] [cost] [weak] [draws] [--cores N]
    python -m benchmarks.scale versions --beside OTHER/.venv/bin/python   # `sweep` of another version

Needs the installed package; `threads` and `lists` need only its compiled core and NumPy. Ratios are measured
in turns in one run.
"""

import argparse
import heapq
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator

import numpy as np

from gaussian_neurons import _core
from gaussian_neurons.learning import native
from gaussian_neurons.learning.backends import learn_many
from gaussian_neurons.learning.neurons import Neurons
from gaussian_neurons.learning.rule import Rule

ROWS, COLUMNS, CLUSTERS = 20_000, 8, 6
TURNS = 3


def main() -> None:
    """Print the chosen parts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", default=list(PARTS), help=f"of {', '.join(PARTS)}, versions")
    parser.add_argument("--cores", type=int, default=os.cpu_count())
    parser.add_argument("--beside", help="the Python of another version of the library, for `versions`")
    given = parser.parse_args()
    print(f"{given.cores} cores, {native.instruction_set()}")
    for name in given.parts:
        print(f"\n{name}", flush=True)
        if name == "versions":
            print_versions(given.cores, given.beside)
        else:
            PARTS[name](given.cores)


def blobs(
    count: int, columns: int, clusters: int, apart: float = 3.0, dtype: type = np.float64, seed: int = 0
) -> np.ndarray:
    """Round clusters of standard deviation 1; their centers have that of `apart` in each column."""
    random = np.random.default_rng(seed)
    centers = random.normal(size=(clusters, columns)) * apart
    return random.normal(centers[random.integers(clusters, size=count)]).astype(dtype)


# ---- sweep ------------------------------------------------------------------------------------------


def one_model(
    x: np.ndarray, width: float, inhibition: float, seed: int, draws: int | str
) -> tuple[int, float]:
    """The number of clusters of one model, and the processor time: a task of the anchor."""
    from sklearn.exceptions import ConvergenceWarning

    from gaussian_neurons import GaussianNeurons

    warnings.simplefilter("ignore", ConvergenceWarning)
    begin = time.process_time()
    model = GaussianNeurons(
        50, width=width, inhibition=inhibition, init="samples", random_state=seed, max_samples=draws
    )
    return model.fit(x).n_clusters_, time.process_time() - begin


def print_sweep(cores: int) -> None:
    """144 models beside the same models in one task of a process each, as `fit` draws by default."""
    import joblib

    from gaussian_neurons import sweep
    from gaussian_neurons.sweeping import INHIBITIONS, ladder

    x = blobs(ROWS, COLUMNS, CLUSTERS)
    widths = ladder(x[:1000], 50).tolist()
    cells = [(w, k, s) for w in widths for k in INHIBITIONS for s in range(3)]

    def anchor(draws: int | str) -> tuple[float, float, list[int]]:
        begin = time.perf_counter()
        found = joblib.Parallel(n_jobs=cores)(joblib.delayed(one_model)(x, *cell, draws) for cell in cells)
        return time.perf_counter() - begin, sum(cpu for _, cpu in found), [count for count, _ in found]

    def ours(draws: int | None) -> tuple[float, float, list[int]]:
        begin, cpu = time.perf_counter(), time.process_time()
        found = sweep(x, draws, widths=widths, n_jobs=cores, progress=False)
        return (
            time.perf_counter() - begin,
            time.process_time() - cpu,
            found.n_clusters.ravel().tolist(),
        )

    kinds: dict[str, Callable[[], tuple[float, float, list[int]]]] = {
        "a task each, 100,000 samples": lambda: anchor("auto"),
        "a task each, 10,000 samples": lambda: anchor(10_000),
        "sweep, 100,000 samples": lambda: ours(100_000),
        "sweep, by default 10,000": lambda: ours(None),
    }
    taken: dict[str, list[tuple[float, float, list[int]]]] = {name: [] for name in kinds}
    for _ in range(TURNS):
        for name, run in kinds.items():
            taken[name].append(run())
            print(
                f"  {name}: {taken[name][-1][0]:.2f} s, {taken[name][-1][1]:.2f} s of processors", flush=True
            )
    first = next(iter(kinds))
    reference = taken[first][0][2]
    print(f"{'':30} {'s':>7} {'times':>6} {'CPU s':>7} {'times':>6} {'same counts':>12}")
    for name, turns in taken.items():
        wall, cpu = (float(np.median([turn[k] for turn in turns])) for k in (0, 1))
        ratios = [np.median([a[k] / b[k] for a, b in zip(taken[first], turns, strict=True)]) for k in (0, 1)]
        same = sum(a == b for a, b in zip(reference, turns[0][2], strict=True))
        print(
            f"{name:30} {wall:7.2f} {ratios[0]:6.1f} {cpu:7.2f} {ratios[1]:6.1f} {same:5} of {len(cells)}",
            flush=True,
        )


VERSION = """
import json, resource, sys, time
import joblib
import numpy as np
from sklearn.datasets import load_wine
from gaussian_neurons import sweep

rows, cores = sys.argv[1], int(sys.argv[2])
if rows == "wine":
    x = load_wine().data
    x = (x - x.mean(axis=0)) / x.std(axis=0)
else:
    x = np.load(rows)
begin, cpu = time.perf_counter(), time.process_time()
found = sweep(x, n_jobs=cores, progress=False)
wall, cpu = time.perf_counter() - begin, time.process_time() - cpu
joblib.externals.loky.get_reusable_executor().shutdown(wait=True)  # the time of children counts when they end
children = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps([wall, cpu + children.ru_utime + children.ru_stime, str(found.plateau())]))
"""


def print_versions(cores: int, other: str) -> None:
    """`sweep` with its defaults, 144 models, by this version and by another one, in turns."""
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/rows.npy"
        np.save(path, blobs(ROWS, COLUMNS, CLUSTERS))
        for rows, name in ((path, f"{ROWS} rows"), ("wine", "wine")):
            taken: dict[str, list[list[float]]] = {sys.executable: [], other: []}
            for _ in range(TURNS):
                for python, turns in taken.items():
                    command = [python, "-c", VERSION, rows, str(cores)]
                    done = subprocess.run(command, check=True, capture_output=True, text=True)
                    turns.append(json.loads(done.stdout))
                    print(f"  {name}, {python}: {turns[-1]}", flush=True)
            ours, theirs = (np.array([turn[:2] for turn in turns], float) for turns in taken.values())
            wall, cpu = np.median(theirs / ours, axis=0)
            print(f"{name}: {cpu:.1f} times less processor time, {wall:.1f} times less elapsed time")


# ---- threads ----------------------------------------------------------------------------------------


def thread_counts(cores: int) -> Iterator[int]:
    """1, 2, 4, ... and all cores."""
    count = 1
    while count < cores:
        yield count
        count *= 2
    yield cores


def print_threads(cores: int) -> None:
    """Strong and weak scaling of learn_many: the same layers, and layers in proportion to the threads."""
    x = blobs(4_000, COLUMNS, CLUSTERS)

    def seconds(layers: int, threads: int) -> float:
        neurons = Neurons.at(x[:50], 4.0)
        begin = time.perf_counter()
        for _ in learn_many([neurons] * layers, x, [Rule(0.4, 0.5)] * layers, threads=threads):
            pass
        return time.perf_counter() - begin

    seconds(1, 1)
    strong, weak = max(48, 6 * cores), 6
    turns: list[dict[int, tuple[float, float]]] = [
        {
            threads: (seconds(strong, threads), seconds(weak * threads, threads))
            for threads in thread_counts(cores)
        }
        for _ in range(TURNS)
    ]
    taken = {threads: np.array([turn[threads] for turn in turns]).T for threads in turns[0]}
    names = f"{strong} layers, s", f"{weak} a thread, s"
    print(f"{'threads':>8} {names[0]:>14} {'speedup':>8} {names[1]:>14} {'efficiency':>11}")
    for threads, (one, other) in taken.items():
        speedup, efficiency = np.median(taken[1][0] / one), np.median(taken[1][1] / other)
        one, other = np.median(one), np.median(other)
        print(f"{threads:8} {one:14.3f} {speedup:8.2f} {other:14.3f} {efficiency:11.2f}")


# ---- lists of neighbours ----------------------------------------------------------------------------


def print_lists(cores: int) -> None:
    """Microseconds per sample of one layer on one core with lists of neighbours, and without."""
    print(f"{'K':>5} {'D':>3} {'clusters':>9} {'settling':>9} {'lists':>8} {'without':>8} {'times':>6}  bits")
    for neurons, columns, clusters in ((1024, 2, 100), (256, 2, 30), (64, 2, 5), (64, 25, 10)):
        settle, count = (4000, 500) if neurons > 256 else (20_000, 4000)
        random = np.random.default_rng(0)
        if columns == 2:  # separate: ten standard deviations apart in a grid
            places = np.array([(k % 10, k // 10) for k in range(clusters)]) * 10.0
        else:
            places = random.normal(size=(clusters, columns)) * 10 / np.sqrt(2 * columns)
        x = random.normal(places[random.integers(clusters, size=settle + count)]).astype(np.float32)
        width = 3.0 * columns
        centers, widths = x[random.integers(len(x), size=neurons)], np.full(neurons, width, np.float32)

        def cost(
            first: int, end: int, lists: bool, centers=centers, widths=widths, x=x, width=width
        ) -> tuple[float, np.ndarray]:
            now, row, begin = centers.copy(), first, time.process_time()
            while row < end:
                row = _core.learn(now, widths, x[:end], None, row, row, 0.1 * width, 0.5, 0.0, 1, lists)[1]
            return (time.process_time() - begin) / (end - first) * 1e6, now

        settling, centers[:] = cost(0, settle, True)
        turns = [[cost(settle, len(x), lists) for lists in (True, False)] for _ in range(TURNS)]
        ours, theirs = (float(np.median([turn[k][0] for turn in turns])) for k in (0, 1))
        ratio = np.median([turn[1][0] / turn[0][0] for turn in turns])
        same = all(turn[0][1].tobytes() == turn[1][1].tobytes() for turn in turns)
        print(
            f"{neurons:5} {columns:3} {clusters:9} {settling:9.2f} {ours:8.2f} {theirs:8.2f} {ratio:6.2f}  "
            f"{'the same' if same else 'DIFFERENT'}",
            flush=True,
        )


# ---- plateaus ---------------------------------------------------------------------------------------


def print_draws(cores: int) -> None:
    """The plateau by the number of samples that a model of a sweep learns; three data sets of a kind."""
    from gaussian_neurons import sweep

    draws = (5_000, 10_000, 20_000, 100_000)
    right, like_most = np.zeros(len(draws), int), np.zeros(len(draws), int)
    print(f"{'clusters':>9} {'D':>3}" + "".join(f"{samples:>30}" for samples in draws))
    for clusters, columns, apart in ((3, 2, 4.0), (8, 2, 8.0), (8, 4, 3.0), (6, 8, 2.0)):
        counts, supports = [], []
        for seed in range(3):
            x = blobs(5000, columns, clusters, apart, seed=seed)
            found = [sweep(x, samples, n_jobs=cores, progress=False).plateau() for samples in draws]
            counts.append([0 if one is None else one.n_clusters for one in found])
            supports.append([0.0 if one is None else one.support for one in found])
        right += (np.array(counts) == clusters).sum(axis=0)
        like_most += (np.array(counts)[:, -1] == np.array(counts).T).sum(axis=1)
        cells = (
            ", ".join(f"{count} ({part:.2f})" for count, part in zip(*columns_of, strict=True))
            for columns_of in zip(zip(*counts, strict=True), zip(*supports, strict=True), strict=True)
        )
        print(f"{clusters:9} {columns:3}" + "".join(f"{cell:>30}" for cell in cells), flush=True)
    for text, numbers in (("right", right), ("as the most", like_most)):
        print(f"{text:>13}" + "".join(f"{number:>24} of 12" for number in numbers))


def print_weak(cores: int) -> None:
    """Plateaus of data without clusters, and of data with some."""
    from sklearn.datasets import load_wine

    from gaussian_neurons import sweep

    weak: dict[str, list[bool]] = {}

    def show(kind: str, name: str, x: np.ndarray) -> None:
        found = sweep(x, n_jobs=cores, progress=False).plateau()
        weak.setdefault(kind, []).append(found is None or found.weak)
        if found is not None:
            product = found.support * found.n_clusters
            print(f"{name:28} {found.n_clusters:6} {found.support:8.2f} {product:8.2f}", flush=True)

    print(f"{'':28} {'found':>6} {'support':>8} {'product':>8}")
    for columns in (2, 3, 5, 8):
        for count in (200, 2000):
            random = np.random.default_rng([columns, count])
            name = f"D = {columns}, {count} rows"
            show("without clusters", f"even, {name}", random.random((count, columns)))
            show("without clusters", f"normal, {name}", random.normal(size=(count, columns)))
    wine = load_wine().data
    show("wine", "wine, 3 classes", (wine - wine.mean(axis=0)) / wine.std(axis=0))
    for clusters in (3, 5, 8, 12):
        for columns in (2, 5):
            show("with clusters", f"{clusters} clusters, D = {columns}", blobs(2000, columns, clusters, 8.0))
    for kind, flags in weak.items():
        print(f"{kind}: {sum(flags)} of {len(flags)} are weak")


# ---- partitions -------------------------------------------------------------------------------------


def print_partitioned(cores: int) -> None:
    """The adjusted Rand index of one fit and of eight partitions, over two seeds."""
    from sklearn.base import clone
    from sklearn.metrics import adjusted_rand_score

    from gaussian_neurons import GaussianNeurons, partitioned

    means: list[np.ndarray] = []
    print(f"{'':24} {'rows':>7} {'one fit':>8} {'8 parts':>8}")
    for name, x, labels in labelled():
        found = []
        for seed in (0, 1):
            model = GaussianNeurons(random_state=seed)
            order = np.random.default_rng(seed).permutation(len(x))
            parts = np.array_split(x[order], 8)
            both = clone(model).fit(x), partitioned.fit(parts, model, n_jobs=cores, progress=False)
            found.append([adjusted_rand_score(labels, one.predict(x)) for one in both])
        means.append(np.mean(found, axis=0))
        print(f"{name:24} {len(x):7} {means[-1][0]:8.3f} {means[-1][1]:8.3f}", flush=True)
    if len(means) > 1:
        print(f"{'mean':24} {'':7} {np.mean(means, axis=0)[0]:8.3f} {np.mean(means, axis=0)[1]:8.3f}")
    x = blobs(200_000, 4, 10, 6.0)
    labels = np.random.default_rng(0)
    labels.normal(size=(10, 4))
    number = labels.integers(10, size=len(x))
    print("\n200,000 rows in 10 clusters, of which each of 8 partitions has only some:")
    order = np.argsort(number, kind="stable")
    for seed in (0, 1):
        model = GaussianNeurons(random_state=seed)
        begin = time.perf_counter()
        one = clone(model).fit(x)
        middle = time.perf_counter()
        other = partitioned.fit(np.array_split(x[order], 8), model, n_jobs=cores, progress=False)
        end = time.perf_counter()
        scores = [adjusted_rand_score(number, found.predict(x)) for found in (one, other)]
        print(
            f"seed {seed}: one fit {one.n_clusters_} clusters, {scores[0]:.3f}, {middle - begin:.1f} s; "
            f"partitions {other.n_clusters_}, {scores[1]:.3f}, {end - middle:.1f} s",
            flush=True,
        )


def print_cost(cores: int) -> None:
    """What a sample, a partition and a union cost on this machine, and what follows for more rows."""
    from gaussian_neurons import GaussianNeurons, partitioned

    x = blobs(200_000, COLUMNS, CLUSTERS)
    parameters = GaussianNeurons(random_state=0).get_params(deep=False)

    def seconds(call: Callable[[], object]) -> float:
        begin = time.process_time()
        call()
        return time.process_time() - begin

    given = GaussianNeurons(width=8.0, init="samples", random_state=0).partial_fit(x[:20_000])
    auto = GaussianNeurons(random_state=0).partial_fit(x[:20_000])
    costs = {
        "width given": seconds(lambda: given.partial_fit(x)),
        "automatic width": seconds(lambda: auto.partial_fit(x)),
    }
    pieces = partitioned.pieces_of(x, 0, parameters, 0, None)
    costs["a partition"] = seconds(lambda: partitioned.pieces_of(x, 0, parameters, 0, None))
    for name, taken in costs.items():
        print(f"{name}: {taken / len(x) * 1e6:.2f} us for a row, K = 50, D = {COLUMNS}, float64, one core")
    assert pieces is not None
    most = partitioned.PIECES * 50
    full = partitioned._joined([pieces] * (most // len(pieces.counts)), most)
    union = seconds(lambda: partitioned._joined([full, full], most))
    fresh = len(pieces.counts) / most  # a union is needed once so many partitions are there
    print(f"a union of two times {len(full.counts)} pieces: {union:.2f} s")
    print(f"{'rows':>8} {'workers':>8} {'one model, days':>16} {'partitions, hours':>18} {'simulated':>10}")
    each, rows = costs["a partition"] / len(x), 10_000_000  # of a partition
    random = np.random.default_rng(0)
    for count in (1e9, 1e12):
        parts = int(count / rows)
        for workers in (1, 16, 256, 4096):
            if workers > parts:
                continue
            joining = parts * fresh * union
            model = max(parts / workers * rows * each, joining)
            times = rows * each * random.lognormal(-0.045, 0.3, parts)  # 30 % of variation, with the mean 1
            times = np.append(times, times[: parts // 100])  # one in a hundred is repeated
            free = np.zeros(workers)
            heapq.heapify(heap := free.tolist())
            for taken in times:
                heapq.heapreplace(heap, heap[0] + taken)
            simulated = max(max(heap), joining)
            alone = count * costs["automatic width"] / len(x) / 86400
            print(f"{count:8.0e} {workers:8} {alone:16.2f} {model / 3600:18.2f} {simulated / 3600:10.2f}")


def labelled() -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """The sets of compact clusters of `make bench-quality`, if they are there."""
    from benchmarks.quality.sets import COMPACT, load, of_family

    for data in of_family(load(), COMPACT):
        yield data.name, data.x, data.labels


PARTS = {
    "sweep": print_sweep,
    "threads": print_threads,
    "lists": print_lists,
    "partitioned": print_partitioned,
    "cost": print_cost,
    "weak": print_weak,
    "draws": print_draws,
}

if __name__ == "__main__":
    main()
