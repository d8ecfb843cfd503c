"""Who has a turn when, and what is kept of it."""

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.peers.crew import Crew, Refused
from benchmarks.peers.learners import Task
from benchmarks.peers.results import First, Import, Memory, Refusal, Results, Turn
from benchmarks.peers.systems import MOST_MEMORY, System
from benchmarks.peers.worker import ENVIRONMENT
from benchmarks.peers.workloads import Workload
from benchmarks.quality.progress import Progress

LENGTHS = (1024, 4096, 16384, 65536, 262144)  # whole portions of all systems
LONGEST = 8.0  # seconds that a length may be expected to take
SHORT = 0.5  # seconds below which a length is measured more than once
BASE = "import numpy, sklearn"
IMPORT = "import time; begin = time.perf_counter(); {}; print(time.perf_counter() - begin)"


@dataclass(frozen=True)
class Plan:
    """How thorough a run is."""

    repetitions: int
    seconds: float  # about what a turn takes
    lengths: tuple[int, ...] = LENGTHS


def measure_workload(
    crew: Crew,
    systems: Mapping[str, System],
    key: str,
    workload: Workload,
    plan: Plan,
    folder: Path,
    results: Results,
    progress: Progress,
) -> dict[str, int]:
    """Turns of all systems, in another order in each repetition. Returns the samples in a turn of each."""
    path = folder / "samples.npy"
    path.unlink(missing_ok=True)  # those of an earlier workload may still be mapped
    x, remark = workload.draw(workload.rows)
    np.save(path, x)
    del x
    results.workloads[key] = workload.record(key, remark)
    samples: dict[str, int] = {}
    for name, system in systems.items():
        progress.say(f"{key}: {name}, first result and warm-up")
        try:
            samples[name] = begin(crew, name, system, key, workload, plan, path, results)
        except Refused as reason:
            results.refusals.append(Refusal(name, key, str(reason)))
    random = np.random.default_rng(0)
    for repetition in range(plan.repetitions):
        order = list(samples)
        random.shuffle(order)
        progress.done += len(systems) - len(order)
        for name in order:
            progress.say(f"{key}: {name}, turn {repetition + 1}")
            try:
                before, seconds = crew.ask(name, "turn", samples[name])
            except Refused as reason:
                results.refusals.append(Refusal(name, key, f"turn {repetition + 1}: {reason}"))
                del samples[name]
                continue
            results.turns.append(Turn(name, key, repetition, before, samples[name], seconds))
    return samples


def begin(
    crew: Crew,
    name: str,
    system: System,
    key: str,
    workload: Workload,
    plan: Plan,
    path: Path,
    results: Results,
) -> int:
    """All that comes before the turns: first answer, how many samples fill one, memory of a new model."""
    needed = system.bytes(Task(workload.K, workload.D)) if system.bytes else 0.0
    if needed > MOST_MEMORY:
        raise Refused(f"needs {needed / 2**30:.1f} GiB, over {MOST_MEMORY / 2**30:g} GiB")
    if why := not system.again and too_slow_already(results, name, workload.K, workload.D):
        raise Refused(why)
    crew.ask(name, "open", path, workload.K, workload.D)
    first = crew.ask(name, "first")
    samples: int = crew.ask(name, "fill", plan.seconds)
    _, _, mebibytes = crew.ask(name, "anew", samples)
    results.firsts.append(First(name, key, first))
    if mebibytes is not None:
        results.memory.append(Memory(name, key, mebibytes))
    return samples


def too_slow_already(results: Results, name: str, K: int, D: int) -> str | None:
    """Why a system need not be tried: it was too slow twice with no more neurons and no more columns.

    Once may have been the machine.
    """
    smaller = [
        (each.why, results.workloads[each.workload])
        for each in results.refusals
        if each.system == name and each.why.startswith("took over") and each.workload in results.workloads
    ]
    tried = [(why, on) for why, on in smaller if on.K <= K and on.D <= D]
    if len(tried) < 2:
        return None
    why, on = tried[1]
    return f"not tried: with K = {on.K}, D = {on.D} it {why}"


def measure_lengths(
    crew: Crew, names: list[str], key: str, plan: Plan, results: Results, progress: Progress
) -> None:
    """A new model for each number of samples, of the workload that is open; short ones several times.

    What it does once, with the samples that it cannot begin without, is not counted.
    """
    last = dict.fromkeys(names, 0.0)
    for length in plan.lengths:
        for repetition in range(min(3, plan.repetitions)):
            for name in names:
                progress.say(f"{key}: {name}, {length} samples")
                worth = last[name] * 4 < LONGEST if repetition == 0 else last[name] < SHORT
                if not worth:
                    continue
                try:
                    before, last[name] = crew.ask(name, "length", length)
                except Refused as reason:
                    results.refusals.append(Refusal(name, key, f"{length} samples: {reason}"))
                    last[name] = np.inf
                    continue
                results.lengths.append(Turn(name, key, repetition, before, length, last[name]))


def measure_imports(
    systems: Mapping[str, System], repetitions: int, core: int | None, results: Results, progress: Progress
) -> None:
    """Fresh interpreters, those of all packages in each repetition; systems of one package share theirs."""
    for repetition in range(repetitions):
        base = import_seconds(BASE, core)
        took: dict[str, float] = {}
        for name, system in systems.items():
            progress.say(f"{name}: import")
            if system.imports not in took:
                try:
                    took[system.imports] = import_seconds(system.imports, core)
                except Refused as reason:
                    results.refusals.append(Refusal(name, "import", str(reason)))
                    continue
            results.imports.append(Import(name, repetition, took[system.imports], base))


def import_seconds(statement: str, core: int | None) -> float:
    """Seconds that a statement takes in a fresh interpreter."""
    pinned = f"import os; os.sched_setaffinity(0, {{{core}}}); " if core is not None else ""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", pinned + IMPORT.format(statement)],
        env=os.environ | ENVIRONMENT,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise Refused(f"{statement!r} failed in a fresh interpreter: {done.stderr.strip()[-200:]}")
    return float(done.stdout.split()[-1])
