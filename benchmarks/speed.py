"""Speed of the compiled core beside the NumPy reference, on one core, and where the time goes.

    python -m benchmarks.speed [--json FILE] [--repetitions N]

Both learn from the same samples, turn by turn, so that noise hits both; each figure is the median over
the turns. "Peak" is what independent multiply-adds reach on this core in this run.
"""

import argparse
import json
import os
import statistics
import tempfile
import time
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import numpy as np
import psutil

from gaussian_neurons import GaussianNeurons, Neurons
from gaussian_neurons.learning import _core, native, reference

# K, D, widths learned, and the ratio to the reference that is aimed at: AVX-512, AVX2
WORKLOADS = (
    (16, 25, False, {"avx512": 120, "avx2": 60}),
    (50, 75, False, {"avx512": 100}),
    (16, 169, False, {"avx512": 100}),
    (9, 25, True, {"avx512": 80}),
)


def pair_numbers(K: int, lanes: int, group: int) -> int:
    """Pairs that the core measures and weighs: squares on and below the diagonal, whole vectors."""
    total, stride = 0, -(-K // lanes) * lanes
    for row in range(K):
        total += min((row // group + 1) * group, stride)
    return total


def budget(K: int, D: int, widths: bool, core: dict[str, float], measured: float) -> dict[str, float]:
    """Parts of a sample's time: what the equations need, what the core does on top, exponentials, rest.

    Counted in multiply-adds at the measured peak. The equations need for each pair D to measure it (its
    subtractions count as free) and 2 D to move both neurons; for each neuron D to measure the sample
    and D to move.
    """
    lanes, group = int(core["lanes"]), int(core["group"])
    peak, exponentials = core["multiply_adds"] * 1e9, core["exponentials"] * 1e9
    stride = -(-K // lanes) * lanes
    needed = K * (K - 1) / 2 * 3 * D + 2 * K * D
    if widths:
        needed += K * D  # the sample again, after the centers moved
    pairs = pair_numbers(K, lanes, group)
    done = pairs * D + K * stride * D + 3 * stride * D + (stride * D if widths else 0)
    exps = (2 * pairs + K * stride + 3 * stride) if widths else (pairs + stride)
    useful, extra, exp = needed / peak, (done - needed) / peak, exps / exponentials
    return {
        "useful": useful / measured,
        "padding and repeats": extra / measured,
        "exponentials": exp / measured,
        "waiting": 1 - (useful + extra + exp) / measured,
    }


def learn_time(learn, neurons: Neurons, x: np.ndarray, **rule) -> float:
    begin = time.perf_counter()
    learn(neurons, x, **rule)
    return (time.perf_counter() - begin) / len(x)


def measure(K: int, D: int, widths: bool, repetitions: int) -> list[dict]:
    random = np.random.default_rng(0)
    n = int(min(200_000, 1.5e9 / (K * K * D)))
    few = max(30, n // 1000)
    x = random.random((n, D), np.float32)
    centers, width = random.random((K, D)), D / 25
    own = random.uniform(0.5, 1.5, n) * width if widths else None
    rule = {"inhibition": 0.5, "learning_rate": 0.1 * width, "width_learning_rate": 0.1 if widths else 0.0}
    cases = [(isa, dtype) for isa in native.available() for dtype in (np.float32, np.float64)]
    times: dict = {case: [] for case in cases}
    cores: dict = {case: [] for case in cases}
    slow = []
    for _ in range(repetitions):
        for isa, dtype in cases:
            with native.using(isa):
                probe = _core.measure_core_single if dtype == np.float32 else _core.measure_core_double
                cores[isa, dtype].append(probe(0.02))
                neurons = Neurons.at(centers, width, dtype)
                times[isa, dtype].append(learn_time(native.learn, neurons, x, sample_widths=own, **rule))
            part = None if own is None else own[:few]
            slow.append(
                learn_time(reference.learn, Neurons.at(centers, width), x[:few], sample_widths=part, **rule)
            )
    rows = []
    for case in cases:
        isa, dtype = case
        seconds = statistics.median(times[case])
        core = {name: statistics.median(c[name] for c in cores[case]) for name in cores[case][0]}
        rows.append(
            {
                "K": K,
                "D": D,
                "widths_learned": widths,
                "instruction_set": isa,
                "precision": np.dtype(dtype).name,
                "million_samples_a_second": 1e-6 / seconds,
                "ratio_to_reference": statistics.median(slow) / seconds,
                "reference_microseconds": statistics.median(slow) * 1e6,
                "peak_gflops": 2 * core["multiply_adds"],
                **budget(K, D, widths, core, seconds),
            }
        )
    return rows


def memory_of_mapped_learning(rows: int = 10_000_000, columns: int = 25) -> float:
    """MiB that learning from a mapped file of 10^7 rows adds to the process, at its highest."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.npy"
        file = np.lib.format.open_memmap(path, "w+", np.float32, (rows, columns))
        random = np.random.default_rng(0)
        for begin in range(0, rows, 100_000):
            file[begin : begin + 100_000] = random.random((100_000, columns), np.float32)
        del file
        x = np.load(path, mmap_mode="r")
        model = GaussianNeurons(width=1.0, domain=(0.0, 1.0), random_state=0).partial_fit(x[:10])
        Path("/proc/self/clear_refs").write_text("5")  # forget the highest so far
        before = psutil.Process().memory_info().rss
        model.partial_fit(x)
        highest = int(
            next(
                line for line in Path("/proc/self/status").read_text().splitlines() if "VmHWM" in line
            ).split()[1]
        )
        return (highest * 1024 - before) / 2**20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--json", type=Path, help="also write the figures here")
    parser.add_argument("--repetitions", type=int, default=5)
    arguments = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    results = []
    parts = ("useful", "padding and repeats", "exponentials", "waiting")
    print("Millions of samples a second on one core; shares are of the time that a sample takes.\n")
    print(
        f"{'K':>3} {'D':>4} {'widths':>7} {'set':>9} {'type':>8} {'M/s':>7} {'x NumPy':>8} {'aim':>5} "
        f"{'peak GF/s':>10} {'useful':>7} {'padding':>8} {'exps':>6} {'waiting':>8}"
    )
    for K, D, widths, aims in WORKLOADS:
        for row in measure(K, D, widths, arguments.repetitions):
            results.append(row)
            aim = aims.get(row["instruction_set"]) if row["precision"] == "float32" else None
            row["aim"] = aim
            print(
                f"{K:>3} {D:>4} {'learned' if widths else 'equal':>7} {row['instruction_set']:>9} "
                f"{row['precision']:>8} {row['million_samples_a_second']:>7.3f} "
                f"{row['ratio_to_reference']:>8.0f} {aim or '':>5} {row['peak_gflops']:>10.1f} "
                + " ".join(f"{row[part]:>{w}.0%}" for part, w in zip(parts, (7, 8, 6, 8), strict=True)),
                flush=True,
            )
    print(
        "\nuseful   the multiply-adds that the equations need, at the core's peak: the fraction of peak"
        "\npadding  multiply-adds on lanes without a neuron and on pairs done twice"
        "\nexps     exponentials at the rate measured alone"
        "\nwaiting  what is left: results that the next pass waits for, loads and stores"
    )
    if Path("/proc/self/clear_refs").exists():
        mebibytes = memory_of_mapped_learning()
        print(f"\nLearning from a mapped file of 10^7 x 25 float32 (954 MiB) added {mebibytes:.0f} MiB.")
        results.append({"mapped_learning_mebibytes": mebibytes})
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
