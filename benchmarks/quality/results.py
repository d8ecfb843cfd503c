"""Results of runs in a JSON file, each with its origin, which decides whether it is still valid."""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np
from sklearn.metrics import adjusted_rand_score

from benchmarks.quality.measure import Outcome
from benchmarks.quality.sets import LabelledSet
from benchmarks.quality.systems import OURS, Array, System
from benchmarks.speed import processor
from gaussian_neurons.base.files import replace_file
from gaussian_neurons.sampling.stream import fingerprint


@dataclass(frozen=True)
class Origin:
    """What a result depends on: a result of the same origin need not be run again."""

    version: str
    settings: str
    data: str  # fingerprint of rows and labels
    machine: str
    limit: float  # seconds

    @classmethod
    def of(cls, system: System, data: LabelledSet, limit: float) -> Self:
        """The origin of a run that is started now."""
        both = np.column_stack([data.x, data.labels])
        return cls(system.version, system.settings, fingerprint(both)[:16], processor(), limit)


@dataclass(frozen=True)
class Run:
    """The scored result of a system on a set with a seed."""

    system: str
    set: str
    seed: int
    clusters: int  # the true number
    failed: str | None
    score: float | None  # adjusted Rand index, without the noise rows
    found: int | None  # number of predicted labels, without -1
    own_count: int | None
    microseconds: float | None
    mebibytes: float | None
    origin: Origin


def score(truth: Array, labels: Array) -> tuple[float, int]:
    """Adjusted Rand index and number of clusters found, without the noise rows.

    Rows with the label -1 (no cluster) count as one group for the index and not at all for the number.
    """
    clustered = truth > 0
    found = labels[clustered]
    return float(adjusted_rand_score(truth[clustered], found)), len(np.unique(found[found >= 0]))


def scored(key: str, data: LabelledSet, seed: int, outcome: Outcome, origin: Origin) -> Run:
    """Score the outcome of a run."""
    index, found = (None, None) if outcome.labels is None else score(data.labels, outcome.labels)
    return Run(
        key,
        data.name,
        seed,
        data.clusters,
        outcome.failed,
        index,
        found,
        outcome.own_count,
        outcome.microseconds,
        outcome.mebibytes,
        origin,
    )


@dataclass
class Results:
    """All stored runs."""

    path: Path
    runs: dict[tuple[str, str, int], Run] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read the stored runs; none if there is no file."""
        results = cls(path)
        for facts in json.loads(path.read_text())["runs"] if path.exists() else []:
            results.add(Run(**facts | {"origin": Origin(**facts["origin"])}))
        return results

    def add(self, run: Run) -> None:
        """Add a run, or replace that of the same set, system and seed."""
        self.runs[run.set, run.system, run.seed] = run

    def has(self, key: str, data: LabelledSet, seed: int, origin: Origin, ours_too: bool) -> bool:
        """Whether there is a valid run.

        Our own code may have changed without a new version, so our own runs are valid only if `ours_too`.
        """
        run = self.runs.get((data.name, key, seed))
        return run is not None and run.origin == origin and (key != OURS or ours_too)

    def of(self, key: str, name: str) -> list[Run]:
        """The runs of a system on a set, sorted by seed."""
        return [run for (name_, key_, _), run in sorted(self.runs.items()) if (key_, name_) == (key, name)]

    def write(self) -> None:
        """Write the file, one run per line."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        runs: list[dict[str, Any]] = [asdict(run) for _, run in sorted(self.runs.items())]
        lines = ",\n".join(json.dumps(run) for run in runs)
        replace_file(self.path, f'{{"runs": [\n{lines}\n]}}\n'.encode())
