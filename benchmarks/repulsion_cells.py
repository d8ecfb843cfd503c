"""Summarise the runs of `benchmarks.repulsion`: means over the seeds, compared with the baseline."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np

from benchmarks.repulsion import EVERY, Results


@dataclass(frozen=True)
class Mean:
    """The mean over the seeds with its standard error."""

    value: float
    error: float

    @classmethod
    def of(cls, values: Sequence[float]) -> "Mean":
        error = float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else 0.0
        return cls(float(np.mean(values)), error)


@dataclass(frozen=True)
class Cell:
    """A setting with one r, over its seeds."""

    share: Mean  # fraction of the exact model's filters that are matched
    learned: Mean
    twins: Mean
    distance: Mean | None  # of the pairs of filters; None if there are none
    largest: float | None
    cosine: float | None
    farthest: float
    seeds: int
    failed: int  # runs with numbers that are not finite
    fewer: int  # seeds with fewer filters than both exact models

    def is_complete(self, baseline: "Baseline") -> bool:
        """Whether as many filters are learned as by exact models, up to the standard errors of both."""
        exact = baseline.filters
        return not self.failed and self.learned.value + self.learned.error >= exact.value - exact.error

    def is_close(self, baseline: "Baseline") -> bool:
        """Whether it differs from the exact model no more than the baseline does."""
        one, other, share = self.distance, baseline.cell.distance, baseline.cell.share
        return (
            self.is_complete(baseline)
            and self.share.value >= share.value - share.error
            and (one is not None and other is not None and one.value <= other.value + other.error)
        )

    def relative_to(self, baseline: "Baseline") -> float | None:
        """The mean distance divided by that of the baseline."""
        other = baseline.cell.distance
        if self.distance is None or other is None or not other.value:
            return None
        return self.distance.value / other.value


@dataclass(frozen=True)
class Baseline:
    """The differences between exact models of a setting."""

    cell: Cell  # exact models with another stream
    filters: Mean  # learned by all exact models


def cell(results: Results, setting: str, every: int, another_stream: bool = False) -> Cell:
    """Summarise the seeds of a setting with one r."""
    mine = [it for it in results.runs if it.setting == setting]
    runs = [it for it in mine if (it.every, it.another_stream) == (every, another_stream)]
    exact = {
        it.seed: [other.learned for other in mine if (other.every, other.seed) == (1, it.seed)] for it in runs
    }
    pairs = [it.match for it in runs if it.match is not None and it.match.pairs]
    return Cell(
        Mean.of([0.0 if it.match is None else it.match.matched / max(it.match.filters, 1) for it in runs]),
        Mean.of([it.learned for it in runs]),
        Mean.of([it.twins for it in runs]),
        Mean.of([it.mean for it in pairs]) if pairs else None,
        max((it.largest for it in pairs), default=None),
        float(np.mean([it.cosine for it in pairs])) if pairs else None,
        max(it.farthest for it in runs),
        len(runs),
        sum(it.failed is not None for it in runs),
        sum(it.learned < min(exact[it.seed]) for it in runs),
    )


def baseline(results: Results, setting: str) -> Baseline:
    learned = [it.learned for it in results.runs if (it.setting, it.every) == (setting, 1)]
    return Baseline(cell(results, setting, 1, another_stream=True), Mean.of(learned))


def close_up_to(results: Results, setting: str) -> int:
    """The largest r up to which all models are as close to the exact model as the baseline."""
    return _up_to(results, setting, Cell.is_close)


def complete_up_to(results: Results, setting: str) -> int:
    """The largest r up to which all models learn as many filters as exact models."""
    return _up_to(results, setting, Cell.is_complete)


def _up_to(results: Results, setting: str, holds: Callable[[Cell, Baseline], bool]) -> int:
    found, base = 1, baseline(results, setting)
    for every in EVERY[1:]:
        if not holds(cell(results, setting, every), base):
            break
        found = every
    return found


def speedup(results: Results, setting: str, every: int) -> float:
    """The speed as a multiple of that of the exact rule, the median over the turns."""
    return median(
        it.exact_seconds / it.seconds for it in results.speeds if (it.setting, it.every) == (setting, every)
    )


def timed(results: Results) -> list[str]:
    return list(dict.fromkeys(it.setting for it in results.speeds))
