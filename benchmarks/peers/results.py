"""The measurements of one run in a JSON file; other modules interpret them."""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from statistics import median, quantiles
from typing import Any, Self

from gaussian_neurons.base.files import replace_file

FORMAT = 1
OURS = "ours-float32"


@dataclass(frozen=True)
class System:
    """A compared system."""

    key: str
    name: str  # shown in tables
    package: str
    version: str
    settings: str  # shown in the document
    kind: str  # "ours"; "peer": another method; "rule": another implementation of the same rule
    per_sample: bool  # whether it learns from each sample before it gets the next
    takes_K: bool = True  # whether K is its number of clusters or a limit


@dataclass(frozen=True)
class Workload:
    """The samples."""

    key: str
    name: str
    K: int
    D: int


@dataclass(frozen=True)
class Turn:
    """A timed period of learning. The same model has learned `begin` samples before."""

    system: str
    workload: str
    repetition: int
    begin: int
    samples: int
    seconds: float


@dataclass(frozen=True)
class First:
    """The time from the creation of a model to its first prediction, without imports."""

    system: str
    workload: str
    seconds: float


@dataclass(frozen=True)
class Memory:
    """The peak increase of the process's memory by learning."""

    system: str
    workload: str
    mebibytes: float


@dataclass(frozen=True)
class Import:
    """The import time in a new interpreter; `base` is that of NumPy and scikit-learn only."""

    system: str
    repetition: int
    seconds: float
    base: float


@dataclass(frozen=True)
class Refusal:
    """Why a system was not measured on a workload."""

    system: str
    workload: str
    why: str


@dataclass(frozen=True)
class Kernel:
    """The compiled core on one processor core, with the peak of that core, measured in turns."""

    K: int
    D: int
    precision: str
    instruction_set: str
    repetition: int
    seconds: float  # per sample
    needed: float  # multiply-adds of the equations per sample
    done: float  # multiply-adds of the core per sample
    numbers: float  # numbers per sample that must be read or written: centers and pairs
    peak: float  # independent multiply-adds per second
    bandwidth: float  # bytes per second, read from a buffer of the size of the layer


@dataclass
class Results:
    """All measurements of one run."""

    machine: dict[str, str]
    systems: dict[str, System] = field(default_factory=dict)
    workloads: dict[str, Workload] = field(default_factory=dict)
    turns: list[Turn] = field(default_factory=list)
    lengths: list[Turn] = field(default_factory=list)  # each with a new model
    firsts: list[First] = field(default_factory=list)
    memory: list[Memory] = field(default_factory=list)
    imports: list[Import] = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)
    kernels: list[Kernel] = field(default_factory=list)

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read a stored run."""
        facts = json.loads(path.read_text())
        if facts.get("format") != FORMAT:
            raise ValueError(
                f"{path} is not a result of this benchmark: format {facts.get('format')!r}, expected {FORMAT}"
            )
        results = cls(facts["machine"])
        results.systems = {each["key"]: System(**each) for each in facts["systems"]}
        results.workloads = {each["key"]: Workload(**each) for each in facts["workloads"]}
        for name, kind in LISTS.items():
            setattr(results, name, [kind(**each) for each in facts[name]])
        return results

    def write(self, path: Path) -> None:
        """Write the file, one measurement per line."""
        parts = [f'"format": {FORMAT}', f'"machine": {json.dumps(self.machine)}']
        for each in fields(self)[1:]:
            value: Any = getattr(self, each.name)
            rows = value.values() if isinstance(value, dict) else value
            lines = ",\n".join(json.dumps(asdict(row)) for row in rows)
            parts.append(f'"{each.name}": [\n{lines}\n]')
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, ("{" + ",\n".join(parts) + "}\n").encode())

    def without(self, workloads: set[str], now: Self) -> Self:
        """The run `now`, with the stored measurements of the other workloads for its systems."""
        kept = replace(now, workloads={k: v for k, v in self.workloads.items() if k not in workloads})
        for name in ("turns", "lengths", "firsts", "memory", "refusals"):
            rows = [row for row in getattr(self, name) if row.workload not in workloads]
            setattr(kept, name, [row for row in rows if row.system in now.systems])
        return kept

    def microseconds(self, system: str, workload: str) -> list[float]:
        """The time per sample of each turn."""
        return [
            turn.seconds / turn.samples * 1e6
            for turn in self.turns
            if (turn.system, turn.workload) == (system, workload)
        ]

    def measured(self) -> Iterator[tuple[str, str]]:
        """The pairs of systems and workloads that have turns."""
        yield from dict.fromkeys((turn.system, turn.workload) for turn in self.turns)


LISTS = {
    "turns": Turn,
    "lengths": Turn,
    "firsts": First,
    "memory": Memory,
    "imports": Import,
    "refusals": Refusal,
    "kernels": Kernel,
}


@dataclass(frozen=True)
class Spread:
    """The median and the quartiles of several figures."""

    middle: float
    low: float
    high: float

    @classmethod
    def of(cls, values: list[float]) -> Self:
        """Of one or more values."""
        if len(values) == 1:
            return cls(values[0], values[0], values[0])
        low, _, high = quantiles(values, n=4, method="inclusive")
        return cls(median(values), low, high)
