"""The cost of an automatic width.

    python -m benchmarks.automatic [--long SAMPLES]

The time per sample as a multiple of that of a given width with the same number of neurons, in turns in one
process; and time and memory along a long stream.
"""

import argparse
import time
import warnings

import numpy as np
import psutil

from benchmarks.speed import processor
from gaussian_neurons import GaussianNeurons
from gaussian_neurons.model.advice import AdviceWarning

SIZES = ((16, 25), (16, 2), (50, 2), (50, 32), (200, 8), (50, 300))
TARGET = 4.0
CLUSTERS = 10
TURNS = 5
CHUNK = 10_000


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--long", type=int, default=10_000_000, help="samples of the long stream")
    long = parser.parse_args().long
    warnings.simplefilter("ignore", AdviceWarning)
    print(f"{processor()}, one core, float64; target: at most {TARGET:g} times")
    print(f"{'K':>4} {'D':>4} {'':>12} {'given, µs':>10} {'auto, µs':>9} {'times':>6}")
    for neurons, columns in SIZES:
        for kind, clusters in (("clusters", CLUSTERS), ("one cluster", 1)):
            given, auto = costs(neurons, rows(columns, clusters))
            print(
                f"{neurons:4} {columns:4} {kind:>12} {given:10.2f} {auto:9.2f} {auto / given:6.1f}",
                flush=True,
            )
    print_long_stream(long)


def rows(columns: int, clusters: int, count: int = 100_000) -> np.ndarray:
    """Round clusters with a mean distance of ten standard deviations."""
    random = np.random.default_rng(0)
    centers = random.normal(size=(clusters, columns)) * 10 / np.sqrt(2 * columns)
    return centers[random.integers(clusters, size=count)] + random.normal(size=(count, columns))


def costs(neurons: int, x: np.ndarray) -> tuple[float, float]:
    """Median microseconds per sample with a given and with an automatic width, in turns."""
    auto = GaussianNeurons(neurons, random_state=0).partial_fit(x[:CHUNK])
    width = float(np.median(auto.widths_))
    given = GaussianNeurons(neurons, width=width, init="spread", random_state=0).partial_fit(x[:CHUNK])
    part = x[: max(2_000, min(len(x), int(4e9 / (neurons**2 * x.shape[1]))) // 2_000 * 2_000)]
    taken: dict[int, list[float]] = {0: [], 1: []}
    for _ in range(TURNS):
        for which, model in enumerate((given, auto)):
            begin = time.process_time()
            for first in range(0, len(part), CHUNK):
                model.partial_fit(part[first : first + CHUNK])
            taken[which].append((time.process_time() - begin) / len(part) * 1e6)
    return float(np.median(taken[0])), float(np.median(taken[1]))


def print_long_stream(samples: int) -> None:
    """Print time and memory for each tenth of a long stream."""
    x, model = rows(2, CLUSTERS), GaussianNeurons(16, random_state=0)
    print(f"\nK = 16, D = 2, {samples:,} samples")
    print(f"{'after':>12} {'µs per sample':>14} {'memory, MiB':>12} {'clusters':>9}")
    for part in range(1, 11):
        begin, seen = time.process_time(), 0
        while seen < samples // 10:
            model.partial_fit(x)
            seen += len(x)
        microseconds = (time.process_time() - begin) / seen * 1e6
        memory = psutil.Process().memory_info().rss / 2**20
        print(f"{part * seen:12,} {microseconds:14.2f} {memory:12.0f} {model.n_clusters_:9}", flush=True)


if __name__ == "__main__":
    main()
