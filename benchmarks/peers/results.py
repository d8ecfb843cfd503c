"""What one run of the benchmark measured, in one JSON file. Plain facts; what they say is made elsewhere."""

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
    """One of those that are compared."""

    key: str
    name: str  # for the reader
    package: str
    version: str
    settings: str  # as they were, for the reader
    kind: str  # "ours", "peer": another method; "rule": the same rule, written differently
    per_sample: bool  # whether it learns from one sample before it is given the next
    takes_K: bool = True  # whether K tells it how many to find, or to stay below


@dataclass(frozen=True)
class Workload:
    """What they learn from."""

    key: str
    name: str
    K: int
    D: int


@dataclass(frozen=True)
class Turn:
    """A stretch of learning. `begin` samples had been learned before it, in the same model."""

    system: str
    workload: str
    repetition: int
    begin: int
    samples: int
    seconds: float


@dataclass(frozen=True)
class First:
    """From making a model to its first answer, in a process that has imported everything."""

    system: str
    workload: str
    seconds: float


@dataclass(frozen=True)
class Memory:
    """What learning added to the process at its highest."""

    system: str
    workload: str
    mebibytes: float


@dataclass(frozen=True)
class Import:
    """A fresh interpreter that imports what a user would; `base`: one with NumPy and scikit-learn alone."""

    system: str
    repetition: int
    seconds: float
    base: float


@dataclass(frozen=True)
class Refusal:
    """A system that was not measured on a workload, and why."""

    system: str
    workload: str
    why: str


@dataclass(frozen=True)
class Kernel:
    """The compiled core alone on one core, beside what that core can do at most, measured in turn."""

    K: int
    D: int
    precision: str
    instruction_set: str
    repetition: int
    seconds: float  # a sample
    needed: float  # multiply-adds a sample that the equations need
    done: float  # multiply-adds a sample that the core does
    numbers: float  # numbers a sample that must come from memory once and go back: centers and pairs
    peak: float  # multiply-adds a second, independent ones
    bandwidth: float  # bytes a second, read from where this layer fits


@dataclass
class Results:
    """All of one run."""

    machine: dict[str, str]
    systems: dict[str, System] = field(default_factory=dict)
    workloads: dict[str, Workload] = field(default_factory=dict)
    turns: list[Turn] = field(default_factory=list)
    lengths: list[Turn] = field(default_factory=list)  # a new model for each number of samples
    firsts: list[First] = field(default_factory=list)
    memory: list[Memory] = field(default_factory=list)
    imports: list[Import] = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)
    kernels: list[Kernel] = field(default_factory=list)

    @classmethod
    def read(cls, path: Path) -> Self:
        """What an earlier run left."""
        facts = json.loads(path.read_text())
        if facts.get("format") != FORMAT:
            raise ValueError(
                f"{path} is no result of this benchmark: format {facts.get('format')!r}, not {FORMAT}"
            )
        results = cls(facts["machine"])
        results.systems = {each["key"]: System(**each) for each in facts["systems"]}
        results.workloads = {each["key"]: Workload(**each) for each in facts["workloads"]}
        for name, kind in LISTS.items():
            setattr(results, name, [kind(**each) for each in facts[name]])
        return results

    def write(self, path: Path) -> None:
        """Replace the file, a fact a line."""
        parts = [f'"format": {FORMAT}', f'"machine": {json.dumps(self.machine)}']
        for each in fields(self)[1:]:
            value: Any = getattr(self, each.name)
            rows = value.values() if isinstance(value, dict) else value
            lines = ",\n".join(json.dumps(asdict(row)) for row in rows)
            parts.append(f'"{each.name}": [\n{lines}\n]')
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, ("{" + ",\n".join(parts) + "}\n").encode())

    def without(self, workloads: set[str], now: Self) -> Self:
        """What is kept beside a run of some workloads: the others, of the systems that are in it."""
        kept = replace(now, workloads={k: v for k, v in self.workloads.items() if k not in workloads})
        for name in ("turns", "lengths", "firsts", "memory", "refusals"):
            rows = [row for row in getattr(self, name) if row.workload not in workloads]
            setattr(kept, name, [row for row in rows if row.system in now.systems])
        return kept

    def microseconds(self, system: str, workload: str) -> list[float]:
        """A sample's time, one figure for each turn."""
        return [
            turn.seconds / turn.samples * 1e6
            for turn in self.turns
            if (turn.system, turn.workload) == (system, workload)
        ]

    def measured(self) -> Iterator[tuple[str, str]]:
        """Systems and workloads that there are turns of."""
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
    """The middle of several figures, and where the middle half of them lies."""

    middle: float
    low: float
    high: float

    @classmethod
    def of(cls, values: list[float]) -> Self:
        """Of one or more."""
        if len(values) == 1:
            return cls(values[0], values[0], values[0])
        low, _, high = quantiles(values, n=4, method="inclusive")
        return cls(median(values), low, high)
