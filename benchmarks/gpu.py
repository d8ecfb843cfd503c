"""Learning on a GPU: many small layers, large layers, and where it is faster than a core of the processor.

python -m benchmarks.gpu [populations|layers]
"""

import argparse
import time
from collections.abc import Callable

import numpy as np

from gaussian_neurons.learning import cuda, native
from gaussian_neurons.learning.rule import Rule

TURNS = 3
POPULATIONS = (1, 128, 512, 1024, 4096, 16384)
SIZES = ((16, 25), (64, 25), (128, 25), (256, 25), (256, 64), (512, 2), (512, 784), (1024, 784), (4096, 784))
CORE_SECONDS = 0.5  # for which the core learns a layer, at most


def main() -> None:
    parts = {"populations": print_populations, "layers": print_layers}
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", nargs="?", choices=parts)
    chosen = parser.parse_args().part
    cuda.require()
    for name, show in parts.items():
        if chosen in (None, name):
            show()


def layer(neurons: int, dimensions: int, samples: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Centers, equal widths and samples on [0, 1]^D, float32."""
    random = np.random.default_rng(0)
    centers, x = (random.random((count, dimensions), np.float32) for count in (neurons, samples))
    return centers, np.full(neurons, dimensions / 25, np.float32), x


def seconds(act: Callable[[], object]) -> float:
    """The shortest time of some turns, after one that compiles."""
    act()
    taken = []
    for _ in range(TURNS):
        begin = time.perf_counter()
        act()
        taken.append(time.perf_counter() - begin)
    return min(taken)


def print_populations() -> None:
    """Many layers of K = 16, D = 25 that learn the same samples."""
    samples = 20_000
    print(f"{'layers':>7} {'microseconds a sample':>22} {'million samples of a layer a second':>36}")
    centers, widths, x = layer(16, 25, samples)
    for count in POPULATIONS:
        layers, rules = [(centers, widths)] * count, [Rule(0.1, 0.5)] * count
        taken = seconds(lambda: cuda.learn_each(layers, x, None, rules, [0] * count))  # noqa: B023
        print(f"{count:7} {taken / samples * 1e6:22.2f} {count * samples / taken / 1e6:36.1f}", flush=True)


def print_layers() -> None:
    """One layer, beside one core of the processor; microseconds a sample."""
    print(f"{'K':>5} {'D':>4} {'GPU':>9} {'core':>9} {'ratio':>6}")
    for neurons, dimensions in SIZES:
        samples = max(300, min(20_000, 2_000_000_000 // (neurons**2 * dimensions)))
        centers, widths, x = layer(neurons, dimensions, samples)
        few = max(2, int(samples * min(1.0, CORE_SECONDS * 3e10 / (samples * neurons**2 * dimensions))))
        rule = Rule(0.1, 0.5)
        on_gpu = seconds(lambda: cuda.learn(centers, widths, x, None, rule, 0)) / samples  # noqa: B023
        on_core = seconds(lambda: native.learn(centers, widths, x[:few], None, rule, 0)) / few  # noqa: B023
        print(
            f"{neurons:5} {dimensions:4} {on_gpu * 1e6:9.2f} {on_core * 1e6:9.2f} {on_core / on_gpu:6.1f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
