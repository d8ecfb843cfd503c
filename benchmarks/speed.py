"""Speed of the compiled core and of the NumPy reference on one core, and how the time is spent.

    python -m benchmarks.speed [--json FILE] [--repetitions N]

Each workload has its own process, pinned to one core. The core and the reference learn from the same samples
in turns, so that disturbances affect both; a figure is the median over the turns. "Peak" is the speed of
independent multiply-adds on this core in the same process.

The time of NumPy depends on the memory allocator, which may return the large arrays of the reference to the
system at each step. "x NumPy" is the ratio in a new process, "x warm" that with an allocator that keeps its
memory. docs/performance.md shows the figures of `--json benchmarks/results/speed.json`.
"""

import argparse
import json
import os
import platform
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import psutil

from benchmarks import peak
from gaussian_neurons import GaussianNeurons, Neurons
from gaussian_neurons.learning import native, reference
from gaussian_neurons.learning.backends import Learn
from gaussian_neurons.learning.rule import Rule

# K, D, widths learned, and the target of the ratio to the reference in single precision
WORKLOADS = (
    (16, 25, False, {"avx512": 120, "avx2": 60}),
    (50, 75, False, {"avx512": 100}),
    (16, 169, False, {"avx512": 100}),
    (9, 25, True, {"avx512": 80}),
    (256, 128, False, {}),
)
PARTS = ("useful", "padding", "exponentials", "waiting")
ONE_THREAD = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL")}
KEEP_MEMORY = {"MALLOC_MMAP_THRESHOLD_": str(1 << 30), "MALLOC_TRIM_THRESHOLD_": str(1 << 31)}


@dataclass(frozen=True)
class Counts:
    """Operations per sample."""

    needed: float  # multiply-adds of the equations
    done: float  # multiply-adds of the core
    exponentials: float


def counts(K: int, D: int, widths: bool, lanes: int, group: int) -> Counts:
    """Multiply-adds and exponentials per sample.

    The equations need D multiply-adds for the distance of each pair of neurons (subtractions are not counted)
    and 2 D to move both; D for the distance of each neuron to the sample, D more if widths are learned, and D
    to move it. The core does more, because it computes whole vectors and whole squares of pairs.
    """
    stride = -(-K // lanes) * lanes
    moved = min(-(-K // group) * group, stride)
    pairs = sum(min((row // group + 1) * group, stride) for row in range(K))
    needed = K * (K - 1) / 2 * 3 * D + (3 if widths else 2) * K * D
    done = pairs * D + K * moved * D + (4 if widths else 3) * moved * D
    return Counts(needed, done, 2 * pairs + K * stride + 3 * stride if widths else pairs + stride)


def budget(K: int, D: int, widths: bool, core: dict[str, float], measured: float) -> dict[str, float]:
    """Shares of the time per sample: multiply-adds at the peak, exponentials at their speed, waiting."""
    fastest, exponentials = core["multiply_adds"] * 1e9, core["exponentials"] * 1e9
    count = counts(K, D, widths, int(core["lanes"]), int(core["group"]))
    extra = count.done - count.needed
    parts = [count.needed / fastest, extra / fastest, count.exponentials / exponentials]
    return dict(zip(PARTS, [*(part / measured for part in parts), 1 - sum(parts) / measured], strict=True))


def learn_time(
    learn: Learn, neurons: Neurons, x: np.ndarray, sample_widths: np.ndarray | None = None, **numbers: float
) -> float:
    """Seconds per sample of a function like `reference.learn`, for a rule with these numbers."""
    rule = Rule(**numbers)
    begin = time.perf_counter()
    learn(neurons.centers, neurons.widths, x, sample_widths, rule, 0)
    return (time.perf_counter() - begin) / len(x)


def measure(K: int, D: int, widths: bool, repetitions: int) -> list[dict]:
    """Measure one workload on all instruction sets and precisions, and the reference."""
    random = np.random.default_rng(0)
    n = int(min(200_000, 1.5e9 / (K * K * D)))
    few = max(5, n // 1000)
    x = random.random((n, D), np.float32)
    centers, width = random.random((K, D)), D / 25
    own = random.uniform(0.5, 1.5, n) * width if widths else None
    rule = {"inhibition": 0.5, "learning_rate": 0.1 * width, "width_learning_rate": 0.1 if widths else 0.0}
    cases = [(isa, dtype) for isa in native.available() for dtype in ("float32", "float64")]
    times: dict = {case: [] for case in cases}
    cores: dict = {case: [] for case in cases}
    slow = []
    for _ in range(repetitions):
        for isa, dtype in cases:
            with native.using(isa):
                cores[isa, dtype].append(peak.measure(dtype, 0.02))
                fast = Neurons.at(centers, width, np.dtype(dtype).type)
                times[isa, dtype].append(learn_time(native.learn, fast, x, sample_widths=own, **rule))
            part = None if own is None else own[:few]
            plain = Neurons.at(centers, width)
            slow.append(learn_time(reference.learn, plain, x[:few], sample_widths=part, **rule))
    rows = []
    for isa, dtype in cases:
        seconds = statistics.median(times[isa, dtype])
        core = {
            name: statistics.median(c[name] for c in cores[isa, dtype])
            for name in ("multiply_adds", "exponentials")
        }
        core |= {name: cores[isa, dtype][0][name] for name in ("lanes", "group")}
        rows.append(
            {
                "K": K,
                "D": D,
                "widths_learned": widths,
                "instruction_set": isa,
                "precision": dtype,
                "million_samples_a_second": 1e-6 / seconds,
                "ratio_to_reference": statistics.median(slow) / seconds,
                "reference_microseconds": statistics.median(slow) * 1e6,
                "peak_gflops": 2 * core["multiply_adds"],
                **budget(K, D, widths, core, seconds),
            }
        )
    return rows


def measure_mapped_memory(rows: int = 10_000_000, columns: int = 25) -> float:
    """The peak increase of memory by learning from a mapped file of 10^7 rows, in MiB."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.npy"
        file = np.lib.format.open_memmap(path, "w+", np.float32, (rows, columns))
        random = np.random.default_rng(0)
        for begin in range(0, rows, 100_000):
            file[begin : begin + 100_000] = random.random((100_000, columns), np.float32)
        del file
        x = np.load(path, mmap_mode="r")
        model = GaussianNeurons(width=1.0, domain=(0.0, 1.0), random_state=0).partial_fit(x[:10])
        Path("/proc/self/clear_refs").write_text("5")  # reset the peak
        before = psutil.Process().memory_info().rss
        model.partial_fit(x)
        status = Path("/proc/self/status").read_text().splitlines()
        peak = int(next(line for line in status if line.startswith("VmHWM")).split()[1]) * 1024
        return (peak - before) / 2**20


def measure_interrupt() -> float:
    """Milliseconds from a signal to the end of a long call."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    x = np.broadcast_to(np.full(784, 0.5), (10**9, 784))
    model = GaussianNeurons(256, width=10.0, domain=(0.0, 1.0), random_state=0)
    signal.signal(signal.SIGALRM, interrupt)
    begin = time.perf_counter()
    signal.setitimer(signal.ITIMER_REAL, 0.5)
    try:
        model.partial_fit(x)
    except KeyboardInterrupt:
        return (time.perf_counter() - begin - 0.5) * 1e3
    raise AssertionError("the call ended before the interrupt")


def in_a_process(job: str, environment: dict[str, str], module: str = "benchmarks.speed") -> object:
    """Run one job of a benchmark in a new process and return its result."""
    command = [sys.executable, "-m", module, "--job", job]
    done = subprocess.run(
        command, env=os.environ | ONE_THREAD | environment, stdout=subprocess.PIPE, check=True
    )
    return json.loads(done.stdout)


def run_job(job: list) -> object:
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    return {"speed": measure, "memory": measure_mapped_memory, "interrupt": measure_interrupt}[job[0]](
        *job[1:]
    )


def processor() -> str:
    """The model name of the processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def print_row(row: dict) -> None:
    widths = "learned" if row["widths_learned"] else "equal"
    parts = " ".join(f"{row[part]:>{len(part) + 1}.0%}" for part in PARTS)
    print(
        f"{row['K']:>3} {row['D']:>4} {widths:>8} {row['instruction_set']:>9} {row['precision']:>8} "
        f"{row['million_samples_a_second']:>8.4f} {row['ratio_to_reference']:>8.0f} "
        f"{row['ratio_to_warm_reference']:>7.0f} {row['target'] or '':>4} {row['peak_gflops']:>6.0f} {parts}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--job", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.job:
        print(json.dumps(run_job(json.loads(arguments.job))))
        return
    results: list[dict] = [{"machine": processor()}]
    print(f"{processor()}, one core\n")
    print(
        f"{'K':>3} {'D':>4} {'widths':>8} {'set':>9} {'type':>8} {'M/s':>8} {'x NumPy':>8} {'x warm':>7} "
        f"{'goal':>4} {'GF/s':>6} " + " ".join(f"{part:>{len(part) + 1}}" for part in PARTS)
    )
    for K, D, widths, targets in WORKLOADS:
        job = json.dumps(["speed", K, D, widths, arguments.repetitions])
        fresh, warm = in_a_process(job, {}), in_a_process(job, KEEP_MEMORY)
        for row, warm_row in zip(fresh, warm, strict=True):
            row["ratio_to_warm_reference"] = warm_row["ratio_to_reference"]
            row["target"] = targets.get(row["instruction_set"]) if row["precision"] == "float32" else None
            results.append(row)
            print_row(row)
    print(
        "\nM/s           millions of samples per second, one at a time, on one core"
        "\ngoal          the target of 'x NumPy'"
        "\nGF/s          the peak of the core: independent multiply-adds, two operations each"
        "\nuseful        share of the time of the equations' multiply-adds at this peak"
        "\npadding       share of multiply-adds on lanes without a neuron and on pairs computed twice"
        "\nexponentials  share of the exponentials at their measured speed"
        "\nwaiting       the rest: waiting for results, loads and stores"
    )
    if Path("/proc/self/clear_refs").exists():
        mebibytes = in_a_process('["memory"]', {})
        print(f"\nLearning from a mapped file of 10^7 x 25 float32 (954 MiB) added {mebibytes:.0f} MiB.")
        results.append({"mapped_learning_mebibytes": mebibytes})
    if hasattr(signal, "setitimer"):
        milliseconds = in_a_process('["interrupt"]', {})
        print(f"An interrupt ended a call (K = 256, D = 784) after {milliseconds:.0f} ms.")
        results.append({"interrupt_milliseconds": milliseconds})
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
