"""The growth of the time with the number of samples, columns and neurons."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np

from benchmarks.peers.results import Results

GRID = "rows-"  # prefix of the workloads that differ only in K and D


def slopes(results: Results) -> dict[str, dict[str, float | None]]:
    """The exponents of each system; None if there are too few figures.

    "N" is the exponent of the time for N samples. "D" and "K" are those of the time per sample, by least
    squares over the grid: log t = a + b log K + c log D.
    """
    return {key: {"N": _in_length(results, key), **_in_size(results, key)} for key in results.systems}


def fitted(columns: Sequence[Sequence[float]], values: Sequence[float]) -> list[float | None]:
    """The exponents of power laws; None for a constant column, or for all if the fit is not unique."""
    logs = np.log(np.asarray(columns, float))
    varies = [len(set(column)) > 1 for column in columns]
    design = np.vstack([np.ones(len(values)), *logs[varies]]).T
    if not any(varies) or np.linalg.matrix_rank(design) < design.shape[1]:
        return [None] * len(columns)
    found = iter(np.linalg.lstsq(design, np.log(values), rcond=None)[0][1:])
    return [float(next(found)) if each else None for each in varies]


def _in_length(results: Results, key: str) -> float | None:
    times: dict[int, list[float]] = {}
    for turn in results.lengths:
        if turn.system == key:
            times.setdefault(turn.samples, []).append(turn.seconds)
    if len(times) < 2:
        return None
    return fitted([list(times)], [median(each) for each in times.values()])[0]


def _in_size(results: Results, key: str) -> dict[str, float | None]:
    points = grid(results, key)
    if len(points) < 2:
        return {"D": None, "K": None}
    D, K = fitted([[D for _, D in points], [K for K, _ in points]], list(points.values()))
    return {"D": D, "K": K if results.systems[key].takes_K else None}


def grid(results: Results, key: str) -> dict[tuple[int, int], float]:
    """Microseconds per sample on the grid, for each measured K and D."""
    points = {}
    for workload in results.workloads.values():
        times = results.microseconds(key, workload.key) if workload.key.startswith(GRID) else []
        if times:
            points[workload.K, workload.D] = median(times)
    return points


@dataclass(frozen=True)
class Step:
    """From one point of the grid to the next: the growth of the time divided by that of K^2 D."""

    beyond: float
    begin: tuple[int, int]  # K, D
    end: tuple[int, int]


def worst_step(results: Results, key: str) -> Step | None:
    """The step with the largest growth; None if there are no neighbouring points."""
    points = grid(results, key)
    steps = [
        Step(points[end] / points[begin] / (work(*end) / work(*begin)), begin, end)
        for begin in points
        for end in _next(begin, points)
    ]
    return max(steps, key=lambda step: step.beyond, default=None)


def work(K: int, D: int) -> int:
    """The time of the rule for large K and D is proportional to this."""
    return K**2 * D


def _next(begin: tuple[int, int], points: dict[tuple[int, int], float]) -> list[tuple[int, int]]:
    K, D = begin
    larger_K = sorted(point for point in points if point[1] == D and point[0] > K)
    larger_D = sorted(point for point in points if point[0] == K and point[1] > D)
    return larger_K[:1] + larger_D[:1]
