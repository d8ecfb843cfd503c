"""How time grows: with the samples learned, with the columns, with the neurons."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np

from benchmarks.peers.results import Results

GRID = "rows-"  # how the keys of those workloads begin that differ in K and D alone


def slopes(results: Results) -> dict[str, dict[str, float | None]]:
    """The exponents of each system, None where there are too few figures.

    "N": of the time for N samples, 1 where a sample costs the same whenever it comes. "D" and "K": of the
    time for one sample, by least squares over the grid: log t = a + b log K + c log D.
    """
    return {key: {"N": _in_length(results, key), **_in_size(results, key)} for key in results.systems}


def fitted(columns: Sequence[Sequence[float]], values: Sequence[float]) -> list[float | None]:
    """Exponents of the columns in the values; None for one that does not vary, or for all where too few."""
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
    """Microseconds a sample on the grid, for each K and D that was measured."""
    points = {}
    for workload in results.workloads.values():
        times = results.microseconds(key, workload.key) if workload.key.startswith(GRID) else []
        if times:
            points[workload.K, workload.D] = median(times)
    return points


@dataclass(frozen=True)
class Step:
    """Between two neighbours on the grid: how much faster time grew than K^2 D."""

    beyond: float
    begin: tuple[int, int]  # K, D
    end: tuple[int, int]


def worst_step(results: Results, key: str) -> Step | None:
    """The one with the fastest growth; None where there are no neighbours."""
    points = grid(results, key)
    steps = [
        Step(points[end] / points[begin] / (work(*end) / work(*begin)), begin, end)
        for begin in points
        for end in _next(begin, points)
    ]
    return max(steps, key=lambda step: step.beyond, default=None)


def work(K: int, D: int) -> int:
    """What the rule's time is in proportion to, where K and D are large."""
    return K**2 * D


def _next(begin: tuple[int, int], points: dict[tuple[int, int], float]) -> list[tuple[int, int]]:
    K, D = begin
    more_K = sorted(point for point in points if point[1] == D and point[0] > K)
    more_D = sorted(point for point in points if point[0] == K and point[1] > D)
    return more_K[:1] + more_D[:1]
