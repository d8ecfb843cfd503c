"""The cost of diagonal and full covariances.

    python -m benchmarks.covariances

The time per sample as a multiple of that of the scalar rule with a width for each neuron: the fastest of
several turns in one process. "Of peak" is the part of the time that the multiply-adds of the equations would
take at the peak of this core.
"""

import time

import numpy as np

from benchmarks import peak
from benchmarks.speed import processor
from gaussian_neurons import Neurons
from gaussian_neurons.base.covariances import TYPES
from gaussian_neurons.learning import native
from gaussian_neurons.learning.rule import Rule

SIZES = ((16, 25), (50, 75), (50, 2))
TARGETS = {"diag": 1.5, "full": 8.0}  # at K = 16, D = 25
TURNS = 9
WORK = 2e8  # multiply-adds of a turn


def main() -> None:
    """Print a table for each precision."""
    targets = ", ".join(f"{kind} {times:g}" for kind, times in TARGETS.items())
    print(f"{processor()}, one core; targets at K = 16, D = 25: {targets}")
    for precision in ("float32", "float64"):
        fastest = peak.measure(precision, 0.5)["multiply_adds"] * 1e9
        print(
            f"\n{precision}\n{'K':>4} {'D':>4} {'':>10} {'widths':>8} {'µs':>8} {'times':>6} {'of peak':>8}"
        )
        for K, D in SIZES:
            for learns in (False, True):
                found = {kind: [] for kind in TYPES}
                for _ in range(TURNS):
                    for kind in TYPES:
                        found[kind].append(seconds(kind, K, D, learns, precision))
                for kind in TYPES:
                    taken = min(found[kind])
                    times = taken / min(found["spherical"])
                    share = multiply_adds(kind, K, D) / fastest / taken
                    print(
                        f"{K:4} {D:4} {kind:>10} {'learned' if learns else 'given':>8} {taken * 1e6:8.2f} "
                        f"{times:6.1f} {'' if learns else f'{share:.0%}':>8}",
                        flush=True,
                    )


def multiply_adds(kind: str, K: int, D: int) -> float:
    """What the center step needs for a sample: forms and forces of all pairs, and the sample itself."""
    pairs = {"spherical": 3 / 2 * D, "diag": 5 * D, "full": D * D + 3 * D}[kind]
    sample = {"spherical": 2 * D, "diag": 3 * D, "full": 2 * D * D}[kind]
    return K * (K - 1) * pairs + K * sample


def seconds(kind: str, K: int, D: int, learns: bool, precision: str) -> float:
    """Processor time of the core for a sample."""
    random = np.random.default_rng(0)
    count = int(np.clip(WORK / multiply_adds(kind, K, D), 50, 20_000))
    x = random.random((count, D)).astype(precision)
    neurons = Neurons.at(random.random((K, D)), covariances(kind, K, D, random), np.dtype(precision).type)
    own = covariances(kind, count, D, random) if learns else None
    rule = Rule(0.1 * D / 8, 0.5, 0.1 if learns else 0.0)
    begin = time.process_time()
    native.learn(neurons.centers, neurons.widths, x, own, rule, 0)
    return (time.process_time() - begin) / count


def covariances(kind: str, count: int, D: int, random: np.random.Generator) -> np.ndarray:
    """Random ones around D / 8, at which neurons in the unit cube respond to each other."""
    if kind == "spherical":
        return D / 8 * random.uniform(0.5, 1.5, count)
    if kind == "diag":
        return D / 8 * random.uniform(0.5, 1.5, (count, D))
    factors = random.normal(size=(count, D, D)) / np.sqrt(D)
    return D / 8 * (0.5 * np.eye(D) + 0.5 * factors @ factors.transpose(0, 2, 1))


if __name__ == "__main__":
    main()
