"""Many models, many neurons, many partitions.

    python -m benchmarks.scale [sweep threads lists partitioned] [--cores N]

Needs the installed package and nothing else. Ratios are measured in turns in one run.
"""

import argparse
import time
import warnings
from collections.abc import Callable, Iterator

import joblib
import numpy as np
from sklearn.exceptions import ConvergenceWarning

from gaussian_neurons import GaussianNeurons, sweep
from gaussian_neurons.learning import native
from gaussian_neurons.learning.backends import learn_many
from gaussian_neurons.learning.neurons import Neurons
from gaussian_neurons.learning.rule import Rule
from gaussian_neurons.sweeping import INHIBITIONS, ladder

ROWS, COLUMNS, CLUSTERS = 20_000, 8, 6
TURNS = 3


def main() -> None:
    """Print the chosen parts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", default=list(PARTS), help=f"of {', '.join(PARTS)}")
    parser.add_argument("--cores", type=int, default=joblib.cpu_count())
    given = parser.parse_args()
    print(f"{given.cores} cores, {native.instruction_set()}")
    for name in given.parts:
        print(f"\n{name}", flush=True)
        PARTS[name](given.cores)


def blobs(
    count: int, columns: int, clusters: int, apart: float = 3.0, dtype: type = np.float64
) -> np.ndarray:
    """Round clusters of standard deviation 1; their centers have that of `apart` in each column."""
    random = np.random.default_rng(0)
    centers = random.normal(size=(clusters, columns)) * apart
    return random.normal(centers[random.integers(clusters, size=count)]).astype(dtype)


# ---- sweep ------------------------------------------------------------------------------------------


def one_model(
    x: np.ndarray, width: float, inhibition: float, seed: int, draws: int | str
) -> tuple[int, float]:
    """The number of clusters of one model, and the processor time: a task of the anchor."""
    warnings.simplefilter("ignore", ConvergenceWarning)
    begin = time.process_time()
    model = GaussianNeurons(
        50, width=width, inhibition=inhibition, init="samples", random_state=seed, max_samples=draws
    )
    return model.fit(x).n_clusters_, time.process_time() - begin


def print_sweep(cores: int) -> None:
    """144 models beside the same models in one task of a process each, as `fit` draws by default."""
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
    taken: dict[tuple[int, int], list[float]] = {}
    for _ in range(TURNS):
        for threads in thread_counts(cores):
            for layers in (strong, weak * threads):
                taken.setdefault((layers, threads), []).append(seconds(layers, threads))
    base = np.array(taken[strong, 1]), np.array(taken[weak, 1])
    print(
        f"{'threads':>8} {f'{strong} layers, s':>14} {'speedup':>8} {f'{weak} a thread, s':>14} {'efficiency':>11}"
    )
    for threads in thread_counts(cores):
        one, other = np.array(taken[strong, threads]), np.array(taken[weak * threads, threads])
        print(
            f"{threads:8} {np.median(one):14.3f} {np.median(base[0] / one):8.2f} {np.median(other):14.3f} "
            f"{np.median(base[1] / other):11.2f}"
        )


PARTS = {"sweep": print_sweep, "threads": print_threads}

if __name__ == "__main__":
    main()
