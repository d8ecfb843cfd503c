"""One system on one set, in a process of its own: labels, time, memory, and an end to its patience.

Processes are forked from one that has imported every library, so that none pays for its imports, and each
has learned from a few rows of noise before anything is measured: what it compiles or loads on first use is
not counted. Memory is what the highest resident size, while it learned and predicted, was above the one
before; what a library had freed by then it may use again unseen, so a MiB or two say little.
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

START_UP = 120.0  # seconds that a process has to get ready
WARM_UP_ROWS = 60
LIBRARIES = ["gaussian_neurons.estimator", "sklearn.cluster", "sklearn.mixture", "river.cluster", "artlib"]


@dataclass(frozen=True)
class Outcome:
    """What came of a run. Where it failed, why; else the rest."""

    failed: str | None = None
    labels: Array | None = None
    own_count: int | None = None  # of clusters, by its own account
    microseconds: float | None = None  # of processor time, to learn from a row
    mebibytes: float | None = None  # added, at the most


def learn_and_predict(send: Callable[[Any], None], key: str, task: Task, x: Array, times: int) -> None:
    """The whole of a run, in its own process."""
    warm_up(key, task)
    model = SYSTEMS[key].make(task)
    rows = model.rows(x)
    send(None)
    before = _forget_highest()
    begin = time.process_time()  # on one thread: what others do on this machine does not count
    for _ in range(1 if SYSTEMS[key].batch else times):
        model.learn(rows)
    seconds = time.process_time() - begin
    labels = np.asarray(model.predict(rows))
    highest = None if before is None else (_status("VmHWM") - before) / 2**10
    presented = len(x) * (1 if SYSTEMS[key].batch else times)
    send(Outcome(None, labels, model.count(), seconds / presented * 1e6, highest))


def warm_up(key: str, task: Task) -> Learner:
    """A model that has learned from a few rows of noise, and is not used further."""
    model = SYSTEMS[key].make(Task(task.columns, 2, 0))
    rows = model.rows(np.random.default_rng(0).normal(size=(WARM_UP_ROWS, task.columns)))
    model.learn(rows)
    model.predict(rows)
    return model


def in_a_process(job: Callable[..., None], *arguments: Any, limit: float, each: Callable[[Any], None]) -> str:
    """Run a job that sends None when it is ready, then what it finds; return why it failed, or "".

    The limit is in seconds from when it was ready.
    """
    os.environ.update(ONE_THREAD)
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["benchmarks.quality.__main__", *LIBRARIES])
    ours, theirs = context.Pipe()
    process = context.Process(target=_child, args=(theirs, job, arguments), daemon=True)
    process.start()
    theirs.close()
    try:
        return _listen(ours, limit, each)
    finally:
        process.kill()
        process.join()


def run(key: str, task: Task, x: Array, times: int, limit: float) -> Outcome:
    """One run."""
    found: list[Outcome] = []
    why = in_a_process(learn_and_predict, key, task, x, times, limit=limit, each=found.append)
    return found[0] if found else Outcome(failed=why)


def _listen(pipe: Connection, limit: float, each: Callable[[Any], None]) -> str:
    deadline, ready = time.monotonic() + START_UP, False
    while True:
        if not pipe.poll(max(0.0, deadline - time.monotonic())):
            return f"took over {limit:g} s" if ready else f"was not ready after {START_UP:g} s"
        try:
            said = pipe.recv()
        except EOFError:
            return "the process died"
        if said is None:
            ready, deadline = True, time.monotonic() + limit
        elif isinstance(said, str):
            return said
        else:
            each(said)


def _child(pipe: Connection, job: Callable[..., None], arguments: tuple[Any, ...]) -> None:
    warnings.simplefilter("ignore")  # of those that did not converge; what they found tells
    np.seterr(all="ignore")
    try:
        job(pipe.send, *arguments)
        pipe.send("")
    except Exception as error:
        pipe.send(f"{type(error).__name__}: {error}"[:200])


def _forget_highest() -> int | None:
    """Let the highest resident size begin anew, and return the present one in KiB; None where it cannot."""
    gc.collect()
    try:
        Path("/proc/self/clear_refs").write_text("5")
        return _status("VmRSS")
    except OSError:
        return None


def _status(name: str) -> int:
    """A size of this process in KiB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith(name)).split()[1])
