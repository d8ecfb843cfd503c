"""Speed of the samplers, and of learning from a stream compared with the core.

    python -m benchmarks.streams [--json FILE] [--repetitions N]

The samplers run on one core, for all instruction sets. Learning from a stream uses two threads, one of which
draws samples. It is compared, in turns in one process, with the core on the same samples, drawn in advance; a
figure is the median over the turns. Files are read by one thread.
"""

import argparse
import json
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from benchmarks.speed import in_a_process, processor
from gaussian_neurons import GaussianNeurons
from gaussian_neurons.datasets.synthetic import Mixture
from gaussian_neurons.learning import native
from gaussian_neurons.learning.rule import Rule
from gaussian_neurons.sampling import Neighbourhoods, Patches, rows_from_file

TARGETS = {"patches": 5.0, "neighbourhoods": 1.0}  # millions per second on one core, 5 x 5, float32
LEAST_RATIO = 0.85  # target of the ratio to the core, K = 16, 5 x 5 patches, two processor cores
# K, size of a patch, channels, widths learned
RUNS = ((16, 5, 1, False), (9, 5, 1, True), (50, 5, 3, False))


def images(channels: int = 1) -> np.ndarray:
    """Random images of the size of MNIST, which is larger than the caches."""
    shape = (60_000, 28, 28) if channels == 1 else (15_000, 32, 32, channels)
    return np.random.default_rng(0).integers(0, 256, shape, np.uint8)


def rate(work: Callable[[int], object], n: int, repetitions: int) -> float:
    """Millions per second, the median over the repetitions."""
    times = []
    for _ in range(repetitions):
        begin = time.perf_counter()
        work(n)
        times.append(time.perf_counter() - begin)
    return n / statistics.median(times) / 1e6


def measure_samplers(repetitions: int) -> list[dict]:
    """Measure all samplers on all instruction sets, on one core."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    grey, coloured = images(), images(3)
    makers = {
        "patches": lambda: Patches(grey, 5),
        "patches 5 x 5 x 3": lambda: Patches(coloured, 5),
        "neighbourhoods": lambda: Neighbourhoods(grey, 5, 0.1),
        "neighbourhoods 5 x 5 x 3": lambda: Neighbourhoods(coloured, 5, 0.1),
        "mixture in the plane": lambda: Mixture(8, noise=0.1),
    }
    rows = []
    for name, make in makers.items():
        for isa in native.available():
            with native.using(isa):
                speed = rate(make().read, 200_000, repetitions)
            target = TARGETS.get(name)
            rows.append(
                {"sampler": name, "instruction_set": isa, "million_a_second": speed, "target": target}
            )
    return rows


def measure_learning(K: int, size: int, channels: int, widths: bool, repetitions: int) -> dict:
    """Measure learning from a stream, and the core on the same samples."""
    pixels = images(channels)
    sigma = size * size * channels / 25 * (10.0 if widths else 1.0)
    rule = {"learning_rate": 0.1, "width_learning_rate": 0.1 if widths else 0.0, "inhibition": 0.5}
    n = int(min(2_000_000, 4e9 / (K * K * size * size * channels)))

    def stream() -> Patches | Neighbourhoods:
        return Neighbourhoods(pixels, size, 0.1) if widths else Patches(pixels, size)

    samples = stream().read(n)
    x, own = samples if widths else (samples, None)
    own = None if own is None else own.astype(np.float64)
    alone, streamed = [], []
    for _ in range(repetitions):
        model = GaussianNeurons(K, width=sigma, domain=(0, 1), random_state=0, **rule)
        begin = time.perf_counter()
        model.learn(stream(), n)
        streamed.append(time.perf_counter() - begin)
        other = GaussianNeurons(K, width=sigma, domain=(0, 1), random_state=0, **rule)
        other.partial_fit(x[:1], sample_width=None if own is None else own[:1])
        start, rest = (other.centers_, other.widths_), None if own is None else own[1:]
        begin = time.perf_counter()
        centers, _ = native.learn(*start, x[1:], rest, Rule(**rule), 1)
        alone.append(time.perf_counter() - begin)
        assert (centers == model.centers_).all(), "the results differ"
    core, whole = statistics.median(alone), statistics.median(streamed)
    return {
        "K": K,
        "D": x.shape[1],
        "widths_learned": widths,
        "core_million_a_second": n / core / 1e6,
        "stream_million_a_second": n / whole / 1e6,
        "ratio": core / whole,
        "target": LEAST_RATIO if (K, x.shape[1]) == (16, 25) else None,
    }


def measure_files(rows: int = 200_000, columns: int = 25) -> list[dict]:
    """Measure reading rows of 25 numbers from each format."""
    x = np.random.default_rng(0).normal(size=(rows, columns))
    names = [f"x{k}" for k in range(columns)]
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for name in ("rows.npy", "rows.parquet", "rows.csv", "rows.jsonl"):
            path = Path(folder) / name
            if name == "rows.npy":
                np.save(path, x)
            elif name == "rows.parquet":
                parquet.write_table(pa.table(dict(zip(names, x.T, strict=True))), path)
            elif name == "rows.csv":
                np.savetxt(path, x, delimiter=",", header=",".join(names), comments="", fmt="%.17g")
            else:
                path.write_text(
                    "\n".join(json.dumps(dict(zip(names, row, strict=True))) for row in x.tolist())
                )
            stream = rows_from_file(path)
            speed = rate(lambda n, stream=stream: stream.seek(0).read(n), rows, 3)
            found.append({"file": name, "million_rows_a_second": speed})
    return found


def run_job(job: list) -> object:
    return {"samplers": measure_samplers, "learning": measure_learning, "files": measure_files}[job[0]](
        *job[1:]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    parser.add_argument("--repetitions", type=int, default=7)
    parser.add_argument("--job", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.job:
        print(json.dumps(run_job(json.loads(arguments.job))))
        return

    def measured(*job: object) -> object:
        return in_a_process(json.dumps(job), {}, module="benchmarks.streams")

    print(f"{processor()}\n\nSamplers on one core, float32\n")
    print(f"{'sampler':<26} {'set':>9} {'M/s':>7} {'target':>6}")
    samplers = measured("samplers", arguments.repetitions)
    for row in samplers:
        print(
            f"{row['sampler']:<26} {row['instruction_set']:>9} {row['million_a_second']:>7.2f} "
            f"{row['target'] or '':>6}"
        )
    print(f"\nLearning from a stream on {os.cpu_count()} processor cores, compared with the compiled core\n")
    print(f"{'K':>3} {'D':>4} {'widths':>8} {'core M/s':>9} {'stream M/s':>10} {'ratio':>6} {'target':>6}")
    runs = []
    for K, size, channels, widths in RUNS:
        row = measured("learning", K, size, channels, widths, arguments.repetitions)
        runs.append(row)
        print(
            f"{row['K']:>3} {row['D']:>4} {'learned' if widths else 'equal':>8} "
            f"{row['core_million_a_second']:>9.3f} {row['stream_million_a_second']:>10.3f} "
            f"{row['ratio']:>6.2f} {row['target'] or '':>6}",
            flush=True,
        )
    print("\nFiles of 25 columns, million rows per second\n")
    files = measured("files")
    for row in files:
        print(f"{row['file']:<14} {row['million_rows_a_second']:>7.2f}")
    if arguments.json:
        arguments.json.write_text(
            json.dumps({"samplers": samplers, "learning": runs, "files": files}, indent=1)
        )


if __name__ == "__main__":
    main()
