"""Summarise the turns of the core: a point for each shape, precision and instruction set."""

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median
from typing import Self

from benchmarks.peers.results import Kernel, Spread

BYTES = {"float32": 4, "float64": 8}


def moving_numbers(K: int, D: int) -> int:
    """The smallest number of numbers that are read and written per sample.

    Centers are read and written. One number for each pair of neurons is written and read again, because the
    weight of a pair is known only after the sum over D.
    """
    return 2 * K * D + 2 * (K * (K - 1) // 2)


@dataclass(frozen=True)
class Point:
    """The turns of one kernel. Shares are fractions of the time per sample; each turn has its own peak."""

    K: int
    D: int
    precision: str
    instruction_set: str
    seconds: Spread  # per sample
    share: Spread  # the multiply-adds of the equations at the peak
    padding: float  # the additional multiply-adds at the peak
    memory: float  # the necessary memory traffic at the bandwidth
    peak: float  # operations per second
    bandwidth: float  # bytes per second
    intensity: float  # operations of the equations per byte of necessary memory traffic
    layer: int  # bytes: centers twice, pairs and weights

    @classmethod
    def of(cls, turns: list[Kernel]) -> Self:
        """Summarise the turns of one kernel."""
        one = turns[0]
        size = BYTES[one.precision]
        return cls(
            one.K,
            one.D,
            one.precision,
            one.instruction_set,
            Spread.of([turn.seconds for turn in turns]),
            Spread.of([turn.needed / turn.peak / turn.seconds for turn in turns]),
            median((turn.done - turn.needed) / turn.peak / turn.seconds for turn in turns),
            median(turn.numbers * size / turn.bandwidth / turn.seconds for turn in turns),
            2 * median(turn.peak for turn in turns),
            median(turn.bandwidth for turn in turns),
            2 * one.needed / (one.numbers * size),
            2 * one.K * (one.D + one.K) * size,
        )

    @property
    def gigaflops(self) -> float:
        """Billions of necessary operations per second."""
        return self.share.middle * self.peak / 1e9

    @property
    def rest(self) -> float:
        """The share of the time without multiply-adds: exponentials and waiting."""
        return 1 - self.share.middle - self.padding


def points(kernels: Iterable[Kernel]) -> list[Point]:
    """A point for each kernel, in the order of measurement."""
    found: dict[tuple[int, int, str, str], list[Kernel]] = {}
    for kernel in kernels:
        key = (kernel.K, kernel.D, kernel.precision, kernel.instruction_set)
        found.setdefault(key, []).append(kernel)
    return [Point.of(turns) for turns in found.values()]


def widest(kernels: list[Kernel]) -> str:
    """The widest instruction set, which is measured first."""
    return kernels[0].instruction_set
