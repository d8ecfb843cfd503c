"""The cost of working row by row: one row per call, compared with targets and with peers.

    python -m benchmarks.rows [--rounds N] [--rows N] [--json FILE]

All figures are processor time per row, the median over alternating rounds in one process. Each round uses new
models and the same rows, a mixture of round Gaussian clusters. "All rows" are those from the first on,
"later rows" those after the first 5,000. If river is installed, its loop (predict_one, then learn_one) runs
with this library and with river's own clusterers; the target is the time of DBSTREAM.
"""

import argparse
import importlib.util
import json
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import MiniBatchKMeans

from benchmarks.peers.words import aligned
from benchmarks.progress import Progress
from benchmarks.speed import processor
from gaussian_neurons import GaussianNeurons

Rows = NDArray[np.float64]

CLUSTERS, SPREAD = 8, 0.4
WARM_UP = 5_000  # rows before "later" rows are timed
LEARN_TARGET, LOOP_TARGET = 20.0, 60.0  # microseconds per row
PEER = "DBSTREAM"  # its time is the target of river's loop
OURS = ("GaussianNeurons", "RiverGaussianNeurons")


@dataclass(frozen=True)
class Figure:
    """One measurement of a system in a round."""

    case: str
    system: str
    microseconds: float  # per row
    target: float | None  # microseconds per row; None: the time of PEER


def mixture(count: int, columns: int) -> Rows:
    """Rows of round clusters with standard deviation SPREAD in a box of side 10."""
    random = np.random.default_rng(0)
    centers = random.uniform(0, 10, (CLUSTERS, columns))
    return random.normal(centers[random.integers(CLUSTERS, size=count)], SPREAD)


def width(columns: int) -> float:
    """A suitable width for these clusters."""
    return 3 * columns * SPREAD**2


def microseconds(work: Callable[[Any], object], items: Any) -> float:
    """Processor time per item, if `work` gets one item at a time."""
    begin = time.process_time()
    for item in items:
        work(item)
    return (time.process_time() - begin) / len(items) * 1e6


def single(x: Rows) -> list[Rows]:
    """Each row as an array (1, D)."""
    return [x[k : k + 1] for k in range(len(x))]


# ---- one row per call of partial_fit ----------------------------------------------------------------


def learn_rows(x: Rows) -> Iterator[Figure]:
    """`partial_fit` of one row, of all rows in one call (nearly the time of the core alone), and a peer."""
    case = f"partial_fit of one row, K = 16, D = {x.shape[1]}, width given, later rows"
    model = GaussianNeurons(16, width=width(x.shape[1]), random_state=0).partial_fit(x[:WARM_UP])
    rest = x[WARM_UP:]
    yield Figure(case, "GaussianNeurons", microseconds(model.partial_fit, single(rest)), LEARN_TARGET)
    begin = time.process_time()
    model.partial_fit(rest)
    core = (time.process_time() - begin) / len(rest) * 1e6
    yield Figure(case, "the same rows in one call", core, LEARN_TARGET)
    peer = MiniBatchKMeans(16, random_state=0, compute_labels=False).partial_fit(x[:WARM_UP])
    some = single(rest[: len(rest) // 10])  # it is slow
    yield Figure(case, "MiniBatchKMeans", microseconds(peer.partial_fit, some), LEARN_TARGET)


# ---- predict, then partial_fit ----------------------------------------------------------------------


def predict_and_learn(x: Rows, given: bool) -> Iterator[Figure]:
    """`predict`, then `partial_fit` of each row, from the first on; the first row is only learned."""
    settings = {"width": width(x.shape[1])} if given else {}
    model = GaussianNeurons(random_state=0, **settings)

    def step(row: Rows) -> None:
        model.predict(row)
        model.partial_fit(row)

    rows = single(x)
    model.partial_fit(rows[0])
    first, later = rows[1:WARM_UP], rows[WARM_UP:]
    times = microseconds(step, first), microseconds(step, later)
    every = (times[0] * len(first) + times[1] * len(later)) / (len(rows) - 1)
    about = f"predict, then partial_fit of one row, D = {x.shape[1]}, " + (
        "width given" if given else "defaults"
    )
    yield Figure(f"{about}, all rows", "GaussianNeurons", every, LOOP_TARGET)
    yield Figure(f"{about}, later rows", "GaussianNeurons", times[1], LOOP_TARGET)


# ---- river's loop -----------------------------------------------------------------------------------


def river_models() -> dict[str, Callable[[], Any]]:
    """This library and river's clusterers, with defaults or the settings of river's examples."""
    from river import cluster

    from gaussian_neurons.river import RiverGaussianNeurons

    def denstream() -> Any:
        return cluster.DenStream(decaying_factor=0.01, beta=0.5, mu=2.5, epsilon=0.5, n_samples_init=10)

    return {
        "RiverGaussianNeurons": lambda: RiverGaussianNeurons(seed=0),
        PEER: cluster.DBSTREAM,
        "KMeans": lambda: cluster.KMeans(n_clusters=CLUSTERS, seed=0),
        "DenStream": denstream,
    }


def river_loop(model: Any, rows: list[dict[int, float]]) -> float:
    """Microseconds per row of predict_one, then learn_one; the first row is only learned."""

    def step(row: dict[int, float]) -> None:
        model.predict_one(row)
        model.learn_one(row)

    model.learn_one(rows[0])
    return microseconds(step, rows[1:])


# ---- all rounds -------------------------------------------------------------------------------------


def measure(
    rounds: int, count: int, progress: Progress, models: dict[str, Callable[[], Any]]
) -> list[Figure]:
    """All cases in turns, in `rounds` rounds."""
    wide, narrow = mixture(2 * WARM_UP, 25), mixture(count, 4)
    dicts = [dict(enumerate(row)) for row in narrow.tolist()]
    case = f"river's loop, predict_one, then learn_one, D = {narrow.shape[1]}, all rows"
    found: list[Figure] = []
    for k in range(1, rounds + 1):
        progress.step(f"round {k}: partial_fit of one row")
        found += learn_rows(wide)
        for given in (False, True):
            progress.step(f"round {k}: predict, then partial_fit")
            found += predict_and_learn(narrow, given)
        for name, make in models.items():
            progress.step(f"round {k}: river's loop, {name}")
            found.append(Figure(case, name, river_loop(make(), dicts), None))
    return found


def table(found: list[Figure]) -> str:
    """A line for each case and system, with the target of our systems and the ratio to it."""
    times: dict[str, dict[str, list[float]]] = {}
    targets = {figure.case: figure.target for figure in found}
    for figure in found:
        times.setdefault(figure.case, {}).setdefault(figure.system, []).append(figure.microseconds)
    rows = [("", "µs per row", "target", "ratio")]
    for case, systems in times.items():
        medians = {name: statistics.median(values) for name, values in systems.items()}
        target = targets[case] or medians[PEER]
        rows.append((case, "", "", ""))
        for name, value in medians.items():
            shown = f"{target:.1f}" if name in OURS else ""
            rows.append((f"  {name}", f"{value:.1f}", shown, f"{value / target:.2f}"))
    return aligned(rows, left=1)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--rows", type=int, default=20_000, help="rows of the streams with D = 4")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    arguments = parser.parse_args()
    if arguments.rounds < 1 or arguments.rows <= WARM_UP:
        parser.error(f"--rounds must be at least 1, and --rows more than {WARM_UP}.")
    models = river_models() if importlib.util.find_spec("river") else {}
    with Progress(arguments.rounds * (3 + len(models)), every=2.0) as progress:
        found = measure(arguments.rounds, arguments.rows, progress, models)
    print(f"{processor()}, one core, float64; processor time, the median of {arguments.rounds} rounds.")
    print("Ratios are to the target of the case; at most 1 meets it.\n")
    print(table(found))
    if not models:
        print("\nriver is not installed, so its loop is skipped: pip install 'gaussian-neurons[river]'")
    if arguments.json:
        arguments.json.write_text(json.dumps([asdict(figure) for figure in found], indent=1))


if __name__ == "__main__":
    main()
