"""What the runs of `benchmarks.repulsion` say together: means over seeds, beside the yardstick."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np

from benchmarks.repulsion import EVERY, Results


@dataclass(frozen=True)
class Mean:
    """Of the seeds, with its standard error."""

    value: float
    error: float

    @classmethod
    def of(cls, values: Sequence[float]) -> "Mean":
        error = float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else 0.0
        return cls(float(np.mean(values)), error)


@dataclass(frozen=True)
class Cell:
    """A setting at one r, over its seeds."""

    share: Mean  # of the exact model's filters that were matched
    learned: Mean
    twins: Mean
    distance: Mean | None  # of the pairs of filters; None where there are none
    largest: float | None
    cosine: float | None
    farthest: float
    seeds: int
    failed: int  # numbers that stopped being finite
    fewer: int  # seeds with fewer filters than in either exact model

    def is_whole(self, yardstick: "Yardstick") -> bool:
        """Whether no fewer filters are learned than by exact models, as far as the seeds can tell."""
        return not self.failed and self.learned.value >= yardstick.filters.value - yardstick.filters.error

    def is_near(self, yardstick: "Yardstick") -> bool:
        """Whether it differs from the exact model no more than another stream makes it differ."""
        one, other, share = self.distance, yardstick.cell.distance, yardstick.cell.share
        return (
            self.is_whole(yardstick)
            and self.share.value >= share.value - share.error
            and (one is not None and other is not None and one.value <= other.value + other.error)
        )

    def to(self, yardstick: "Yardstick") -> float | None:
        """The mean distance, as a multiple of that which another stream makes."""
        other = yardstick.cell.distance
        if self.distance is None or other is None or not other.value:
            return None
        return self.distance.value / other.value


@dataclass(frozen=True)
class Yardstick:
    """How much exact models of a setting differ among themselves."""

    cell: Cell  # those of another stream, beside those with the same start
    filters: Mean  # learned by all of them


def cell(results: Results, setting: str, every: int, another_stream: bool = False) -> Cell:
    """Gather the seeds."""
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


def yardstick(results: Results, setting: str) -> Yardstick:
    learned = [it.learned for it in results.runs if (it.setting, it.every) == (setting, 1)]
    return Yardstick(cell(results, setting, 1, another_stream=True), Mean.of(learned))


def near_up_to(results: Results, setting: str) -> int:
    """The largest r up to which all are as near to the exact model as one of another stream is."""
    return _up_to(results, setting, Cell.is_near)


def whole_up_to(results: Results, setting: str) -> int:
    """The largest r up to which none has learned fewer filters."""
    return _up_to(results, setting, Cell.is_whole)


def _up_to(results: Results, setting: str, holds: Callable[[Cell, Yardstick], bool]) -> int:
    found, stick = 1, yardstick(results, setting)
    for every in EVERY[1:]:
        if not holds(cell(results, setting, every), stick):
            break
        found = every
    return found


def faster(results: Results, setting: str, every: int) -> float:
    """Times the speed of the exact rule, the median over the turns."""
    return median(
        it.exact_seconds / it.seconds for it in results.speeds if (it.setting, it.every) == (setting, every)
    )


def timed(results: Results) -> list[str]:
    return list(dict.fromkeys(it.setting for it in results.speeds))
