"""Compare the compiled core with the peak of its processor core, for several shapes.

    python -m benchmarks.peers.roofline

Each shape has its own process, pinned to one core. The instruction sets and precisions learn in turns. In
each turn the peak of the core is measured, and its memory bandwidth for a layer of this size.
"""

import argparse
import json
import os
import time
from collections.abc import Sequence
from dataclasses import asdict

import numpy as np
from numpy.typing import DTypeLike

from benchmarks import peak
from benchmarks.peers.kernels import moving_numbers, points
from benchmarks.peers.results import Kernel
from benchmarks.progress import Progress
from benchmarks.speed import counts, in_a_process, learn_time, processor
from gaussian_neurons import Neurons
from gaussian_neurons.learning import native

# K, D, and whether double precision is measured, too: for large shapes it would take too long
SHAPES = (
    (16, 25, True),
    (16, 169, True),
    (50, 75, True),
    (64, 16, True),
    (256, 128, True),
    (256, 784, False),
    (1024, 128, False),
    (1024, 784, False),
)
WORK = 5e8  # approximate multiply-adds in a turn
SLOW = 1e8  # multiply-adds per sample; with more, the narrowest instruction set is skipped
SAMPLES = (6, 100_000)  # smallest and largest number in a turn
PROBE = 0.02  # seconds to measure the peak or the bandwidth


def measure(
    repetitions: int, progress: Progress, shapes: Sequence[tuple[int, int, bool]] = SHAPES
) -> list[Kernel]:
    """Measure all shapes on all instruction sets; each shape is one step of progress."""
    found = []
    for K, D, double in shapes:
        progress.step(f"the core, K = {K}, D = {D}")
        job = json.dumps([K, D, double, repetitions])
        found += [Kernel(**row) for row in in_a_process(job, {}, module="benchmarks.peers.roofline")]
    return found


def read_bandwidth(K: int, D: int, dtype: DTypeLike, seconds: float = PROBE) -> float:
    """Bytes per second read from a buffer of the size of a layer: centers twice, pairs and weights.

    It is measured with NumPy's product of both halves of the buffer, repeated in one call: two loads per
    multiply-add. For the smallest layers, the overhead of each product is included.
    """
    buffer = np.ones(2 * K * (D + K), dtype)
    half = len(buffer) // 2
    times = max(1, int(20e9 * seconds / buffer.nbytes))
    row, column = buffer[:half].reshape(1, 1, half), buffer[half:].reshape(half, 1)
    rows = np.broadcast_to(row, (times, 1, half))
    np.matmul(row, column)
    begin = time.perf_counter()
    np.matmul(rows, column)
    return times * buffer.nbytes / (time.perf_counter() - begin)


def measure_shape(K: int, D: int, double: bool, repetitions: int) -> list[Kernel]:
    """Measure one shape on all instruction sets and precisions, in this process."""
    random = np.random.default_rng(0)
    least, most = SAMPLES
    needed = counts(K, D, False, lanes=1, group=1).needed
    n = int(np.clip(WORK / needed, least, most))
    x = random.random((n, D), np.float32)
    centers, width = random.random((K, D)), D / 25
    rule = {"inhibition": 0.5, "learning_rate": 0.1 * width * min(1, 16 / K)}  # smaller for large layers
    precisions = ("float32", "float64") if double else ("float32",)
    sets = native.available()
    if needed > SLOW and len(sets) > 1:
        sets = sets[:-1]
    cases = [(isa, precision) for isa in sets for precision in precisions]
    found = []
    for repetition in range(-1, repetitions):  # the first is a warm-up
        for isa, precision in cases:
            samples, neurons = x.astype(precision), Neurons.at(centers, width, np.dtype(precision).type)
            with native.using(isa):
                core = peak.measure(precision, PROBE)
                seconds = learn_time(native.learn, neurons, samples if repetition >= 0 else x[:least], **rule)
                after = peak.measure(precision, PROBE)
            if repetition < 0:
                continue
            count = counts(K, D, False, int(core["lanes"]), int(core["group"]))
            found.append(
                Kernel(
                    K,
                    D,
                    precision,
                    isa,
                    repetition,
                    seconds,
                    count.needed,
                    count.done,
                    moving_numbers(K, D),
                    max(core["multiply_adds"], after["multiply_adds"]) * 1e9,
                    read_bandwidth(K, D, precision),
                )
            )
    return found


def run_job(job: list) -> list[dict]:
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    return [asdict(kernel) for kernel in measure_shape(*job)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--job", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.job:
        print(json.dumps(run_job(json.loads(arguments.job))))
        return
    print(f"{processor()}, one core")
    with Progress(len(SHAPES)) as progress:
        found = measure(arguments.repetitions, progress)
    for point in points(found):
        print(
            f"{point.K:>5} {point.D:>4} {point.instruction_set:>9} {point.precision:>8} "
            f"{point.seconds.middle * 1e6:>10.2f} us {point.gigaflops:>6.1f} GF/s "
            f"{point.share.middle:>4.0%} of the peak, {point.intensity:>5.1f} operations per byte"
        )


if __name__ == "__main__":
    main()
