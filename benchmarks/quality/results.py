"""Results of runs in one JSON file: known by what they came from, and kept when a run is stopped."""

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
    """What a result came from: where all of it is the same, it need not be run again."""

    version: str
    settings: str
    data: str  # fingerprint of rows and labels
    machine: str
    limit: float  # seconds

    @classmethod
    def of(cls, system: System, data: LabelledSet, limit: float) -> Self:
        """That of a run that would be started now."""
        both = np.column_stack([data.x, data.labels])
        return cls(system.version, system.settings, fingerprint(both)[:16], processor(), limit)


@dataclass(frozen=True)
class Run:
    """A system on a set with a seed, scored."""

    system: str
    set: str
    seed: int
    clusters: int  # how many there are
    failed: str | None
    score: float | None  # adjusted Rand index over the rows that are no noise
    found: int | None  # labels that they were given, -1 not counted
    own_count: int | None
    microseconds: float | None
    mebibytes: float | None
    origin: Origin


def score(truth: Array, labels: Array) -> tuple[float, int]:
    """Adjusted Rand index and clusters found, over the rows that are in a true cluster.

    A label of -1 says that a row is in no cluster: such rows are a group of their own for the index, and
    none for the count.
    """
    clustered = truth > 0
    found = labels[clustered]
    return float(adjusted_rand_score(truth[clustered], found)), len(np.unique(found[found >= 0]))


def scored(key: str, data: LabelledSet, seed: int, outcome: Outcome, origin: Origin) -> Run:
    """A run as it is kept."""
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
    """All runs that there are, in a file."""

    path: Path
    runs: dict[tuple[str, str, int], Run] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> Self:
        """What an earlier command left; nothing, where there is no file."""
        results = cls(path)
        for facts in json.loads(path.read_text())["runs"] if path.exists() else []:
            results.add(Run(**facts | {"origin": Origin(**facts["origin"])}))
        return results

    def add(self, run: Run) -> None:
        """Add a run, or replace the one of the same name."""
        self.runs[run.set, run.system, run.seed] = run

    def answers(self, key: str, data: LabelledSet, seed: int, origin: Origin, ours_too: bool) -> bool:
        """Whether there is a run that need not be done again.

        Of our own the code may have changed, which no version tells.
        """
        run = self.runs.get((data.name, key, seed))
        return run is not None and run.origin == origin and (key != OURS or ours_too)

    def of(self, key: str, name: str) -> list[Run]:
        """The runs of a system on a set, by their seeds."""
        return [run for (name_, key_, _), run in sorted(self.runs.items()) if (key_, name_) == (key, name)]

    def write(self) -> None:
        """Replace the file."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        runs: list[dict[str, Any]] = [asdict(run) for _, run in sorted(self.runs.items())]
        lines = ",\n".join(json.dumps(run) for run in runs)  # a run a line: a change is a line in a diff
        replace_file(self.path, f'{{"runs": [\n{lines}\n]}}\n'.encode())
