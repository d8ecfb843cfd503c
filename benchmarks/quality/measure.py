"""Run one system on one set in its own process: labels, time, memory, timeout.

Processes are forked from one that has imported all libraries, so imports are not timed. Each learns from a
few rows of noise before anything is measured, so what a library compiles or loads on first use is not
counted. Memory is the increase of the peak resident size during learning and prediction. Memory that a
library freed before may be reused without an increase, so one or two MiB are not significant.
"""

import gc
import multiprocessing
import os
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.quality.systems import SYSTEMS, Array, Learner, Task
from benchmarks.speed import ONE_THREAD

START_UP = 120.0  # timeout in seconds until a process is ready
WARM_UP_ROWS = 60
LIBRARIES = ["gaussian_neurons.estimator", "sklearn.cluster", "sklearn.mixture", "river.cluster", "artlib"]


@dataclass(frozen=True)
class Outcome:
    """The outcome of a run: the reason of its failure, or the other fields."""

    failed: str | None = None
    labels: Array | None = None
    own_count: int | None = None  # number of clusters by the system's own account
    microseconds: float | None = None  # processor time to learn a row
    mebibytes: float | None = None  # peak increase


def learn_and_predict(send: Callable[[Any], None], key: str, task: Task, x: Array, times: int) -> None:
    """A complete run, in its own process."""
    warm_up(key, task)
    model = SYSTEMS[key].make(task)
    rows = model.rows(x)
    send(None)
    before = reset_peak_memory()
    begin = time.process_time()  # one thread; the load of other processes does not count
    for _ in range(1 if SYSTEMS[key].batch else times):
        model.learn(rows)
    seconds = time.process_time() - begin
    labels = np.asarray(model.predict(rows))
    added = None if before is None else (process_memory("VmHWM") - before) / 2**10
    presented = len(x) * (1 if SYSTEMS[key].batch else times)
    send(Outcome(None, labels, model.count(), seconds / presented * 1e6, added))


def warm_up(key: str, task: Task) -> Learner:
    """Let a throw-away model learn from a few rows of noise."""
    model = SYSTEMS[key].make(Task(task.columns, 2, 0))
    rows = model.rows(np.random.default_rng(0).normal(size=(WARM_UP_ROWS, task.columns)))
    model.learn(rows)
    model.predict(rows)
    return model


def in_a_process(job: Callable[..., None], *arguments: Any, limit: float, each: Callable[[Any], None]) -> str:
    """Run a job that sends None when it is ready, then its results; returns why it failed, or "".

    The limit is a timeout in seconds from the moment when it is ready.
    """
    os.environ.update(ONE_THREAD)
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["benchmarks.quality.__main__", *LIBRARIES])
    ours, theirs = context.Pipe()
    process = context.Process(target=_child, args=(theirs, job, arguments), daemon=True)
    process.start()
    theirs.close()
    try:
        return _receive(ours, limit, each)
    finally:
        process.kill()
        process.join()


def run(key: str, task: Task, x: Array, times: int, limit: float) -> Outcome:
    """Run one system on one set."""
    found: list[Outcome] = []
    why = in_a_process(learn_and_predict, key, task, x, times, limit=limit, each=found.append)
    return found[0] if found else Outcome(failed=why)


def _receive(pipe: Connection, limit: float, each: Callable[[Any], None]) -> str:
    deadline, ready = time.monotonic() + START_UP, False
    while True:
        if not pipe.poll(max(0.0, deadline - time.monotonic())):
            return f"took over {limit:g} s" if ready else f"was not ready after {START_UP:g} s"
        try:
            message = pipe.recv()
        except EOFError:
            return "the process died"
        if message is None:
            ready, deadline = True, time.monotonic() + limit
        elif isinstance(message, str):
            return message
        else:
            each(message)


def _child(pipe: Connection, job: Callable[..., None], arguments: tuple[Any, ...]) -> None:
    warnings.simplefilter("ignore")  # for example that a system did not converge
    np.seterr(all="ignore")
    try:
        job(pipe.send, *arguments)
        pipe.send("")
    except Exception as error:
        pipe.send(f"{type(error).__name__}: {error}"[:200])


def reset_peak_memory() -> int | None:
    """Reset the peak resident size, and return the present size in KiB; None if this is not possible."""
    gc.collect()
    try:
        Path("/proc/self/clear_refs").write_text("5")
        return process_memory("VmRSS")
    except OSError:
        return None


def process_memory(name: str) -> int:
    """A size of this process in KiB, by its name in /proc/self/status."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith(name)).split()[1])
