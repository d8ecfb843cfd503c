"""Measure all systems in turns."""

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.peers.learners import Task
from benchmarks.peers.results import First, Import, Memory, Refusal, Results, Turn
from benchmarks.peers.systems import MOST_MEMORY, System
from benchmarks.peers.worker import ENVIRONMENT
from benchmarks.peers.workers import NotMeasured, Workers
from benchmarks.peers.workloads import Workload
from benchmarks.progress import Progress

LENGTHS = (1024, 4096, 16384, 65536, 262144)  # multiples of the portions of all systems
LONGEST = 8.0  # seconds; a length that is expected to take longer is not measured
SHORT = 0.5  # seconds; a length that takes less is measured several times
BASE = "import numpy, sklearn"
IMPORT = "import time; begin = time.perf_counter(); {}; print(time.perf_counter() - begin)"


@dataclass(frozen=True)
class Plan:
    """The extent of a run."""

    repetitions: int
    seconds: float  # approximate duration of a turn
    lengths: tuple[int, ...] = LENGTHS


def measure_workload(
    workers: Workers,
    systems: Mapping[str, System],
    key: str,
    workload: Workload,
    plan: Plan,
    folder: Path,
    results: Results,
    progress: Progress,
) -> dict[str, int]:
    """Measure turns of all systems, in a new order in each repetition; returns the samples per turn."""
    path = folder / "samples.npy"
    path.unlink(missing_ok=True)  # the samples of the last workload may still be mapped
    x, remark = workload.draw(workload.rows)
    np.save(path, x)
    del x
    results.workloads[key] = workload.record(key, remark)
    samples: dict[str, int] = {}
    for name, system in systems.items():
        progress.step(f"{key}: {name}, first prediction and warm-up")
        try:
            samples[name] = begin(workers, name, system, key, workload, plan, path, results)
        except NotMeasured as reason:
            results.refusals.append(Refusal(name, key, str(reason)))
    random = np.random.default_rng(0)
    for repetition in range(plan.repetitions):
        order = list(samples)
        random.shuffle(order)
        progress.done += len(systems) - len(order)
        for name in order:
            progress.step(f"{key}: {name}, turn {repetition + 1}")
            try:
                before, seconds = workers.call(name, "turn", samples[name])
            except NotMeasured as reason:
                results.refusals.append(Refusal(name, key, f"turn {repetition + 1}: {reason}"))
                del samples[name]
                continue
            results.turns.append(Turn(name, key, repetition, before, samples[name], seconds))
    return samples


def begin(
    workers: Workers,
    name: str,
    system: System,
    key: str,
    workload: Workload,
    plan: Plan,
    path: Path,
    results: Results,
) -> int:
    """Measure the first prediction, the samples per turn and the memory of a new model."""
    needed = system.bytes(Task(workload.K, workload.D)) if system.bytes else 0.0
    if needed > MOST_MEMORY:
        raise NotMeasured(f"needs {needed / 2**30:.1f} GiB, over {MOST_MEMORY / 2**30:g} GiB")
    if why := not system.again and too_slow_before(results, name, workload.K, workload.D):
        raise NotMeasured(why)
    workers.call(name, "open", path, workload.K, workload.D)
    first = workers.call(name, "first")
    samples: int = workers.call(name, "fill", plan.seconds)
    _, _, mebibytes = workers.call(name, "restart", samples)
    results.firsts.append(First(name, key, first))
    if mebibytes is not None:
        results.memory.append(Memory(name, key, mebibytes))
    return samples


def too_slow_before(results: Results, name: str, K: int, D: int) -> str | None:
    """Why a system is not run: it was too slow on two workloads with at most K neurons and D columns.

    A single timeout may be a disturbance of the machine.
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
    return f"not run: with K = {on.K}, D = {on.D} it {why}"


def measure_lengths(
    workers: Workers, names: list[str], key: str, plan: Plan, results: Results, progress: Progress
) -> None:
    """Measure a new model for each number of samples of the current workload; short ones several times.

    The first samples, without which a model cannot begin, are not timed.
    """
    last = dict.fromkeys(names, 0.0)
    for length in plan.lengths:
        for repetition in range(min(3, plan.repetitions)):
            for name in names:
                progress.step(f"{key}: {name}, {length} samples")
                worth = last[name] * 4 < LONGEST if repetition == 0 else last[name] < SHORT
                if not worth:
                    continue
                try:
                    before, last[name] = workers.call(name, "length", length)
                except NotMeasured as reason:
                    results.refusals.append(Refusal(name, key, f"{length} samples: {reason}"))
                    last[name] = np.inf
                    continue
                results.lengths.append(Turn(name, key, repetition, before, length, last[name]))


def measure_imports(
    systems: Mapping[str, System], repetitions: int, core: int | None, results: Results, progress: Progress
) -> None:
    """Measure the imports of all packages in new interpreters; systems of a package share one."""
    for repetition in range(repetitions):
        base = import_seconds(BASE, core)
        took: dict[str, float] = {}
        for name, system in systems.items():
            progress.step(f"{name}: import")
            if system.imports not in took:
                try:
                    took[system.imports] = import_seconds(system.imports, core)
                except NotMeasured as reason:
                    results.refusals.append(Refusal(name, "import", str(reason)))
                    continue
            results.imports.append(Import(name, repetition, took[system.imports], base))


def import_seconds(statement: str, core: int | None) -> float:
    """The duration of a statement in a new interpreter, in seconds."""
    pinned = f"import os; os.sched_setaffinity(0, {{{core}}}); " if core is not None else ""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", pinned + IMPORT.format(statement)],
        env=os.environ | ENVIRONMENT,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise NotMeasured(f"{statement!r} failed in a new interpreter: {done.stderr.strip()[-200:]}")
    return float(done.stdout.split()[-1])
