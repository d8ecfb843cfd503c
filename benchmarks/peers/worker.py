"""The process of one system, which exists for the whole run and works only on request.

A request is a method of `Bench` with arguments, sent through a pipe; the reply is `Done` or `Failed`. The
process is pinned to one core, has one thread, and ends with its parent.
"""

import ctypes
import gc
import importlib
import multiprocessing
import os
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.peers.learners import Learner, Task
from benchmarks.quality.measure import process_memory, reset_peak_memory
from benchmarks.speed import ONE_THREAD

ENVIRONMENT = ONE_THREAD | {
    "NUMBA_NUM_THREADS": "1",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
    "JAX_PLATFORMS": "cpu",
}
WARM_UP_ROWS = 256
SLOWEST = 3.0  # seconds; a system that needs more for its smallest portion is too slow
MOST_AT_ONCE = 4.0  # largest growth of a trial: some systems become slower with each sample


@dataclass(frozen=True)
class Done:
    """The result of a request."""

    value: Any


@dataclass(frozen=True)
class Failed:
    """Why a request failed."""

    why: str


class TooSlow(Exception):
    """A system that is too slow for this benchmark."""


class Bench:
    """A system, a workload, and a model that learns from it."""

    def __init__(self, system: Any) -> None:
        self.system = system
        exec(system.imports, {})

    def open(self, path: Path, K: int, D: int) -> None:
        """Begin a workload. Its samples are memory-mapped."""
        self.samples = np.load(path, mmap_mode="r")
        self.task = Task(K, D)
        self.model: Learner | None = None
        self.begin = 0

    def first(self) -> float:
        """Seconds from the creation of a model to its first prediction."""
        begin = time.perf_counter()
        model = self.system.make(self.task)
        model.learn(model.rows(self._copy(0, model.first)))
        model.predict(model.rows(self._copy(0, 1)))
        return time.perf_counter() - begin

    def fill(self, seconds: float) -> int:
        """The number of samples that take about this long, after a warm-up."""
        self._warm_up(seconds)
        model = self.system.make(self.task)
        fewest = model.first if self.system.again else model.portion
        n, begin = fewest, max(fewest, model.first, model.settled)
        self._learn(model, 0, begin)
        while True:
            took = self._learn(model, begin, n)
            if seconds / 8 < took < SLOWEST:  # something may have been compiled meanwhile
                begin += n
                took = min(took, self._learn(model, begin, n))
            if took * fewest / n > SLOWEST:
                raise TooSlow(f"took over {SLOWEST:g} s for {fewest} samples: {took * fewest / n:.1f} s")
            wanted = min(n * min(seconds / max(took, 1e-9), MOST_AT_ONCE), self._most(model))
            if took > seconds / 2 or wanted < 1.5 * n:
                return max(fewest, round(wanted / model.portion) * model.portion)
            begin, n = begin + n, -(-int(wanted) // model.portion) * model.portion

    def _warm_up(self, seconds: float) -> None:
        """Let a throw-away model learn: some systems compile several times at first."""
        model = self.system.make(self.task)
        n, begin, spent = model.portion, model.first, 0.0
        self._learn(model, 0, begin)
        while begin < WARM_UP_ROWS and spent < 4 * seconds and not self.system.again:
            spent += self._learn(model, begin, n)
            begin, n = begin + n, 2 * n

    def restart(self, n: int) -> tuple[int, float, float | None]:
        """Create the model of the turns; returns the samples learned, the seconds and the MiB added."""
        self.model, self.begin = None, 0
        model = self.system.make(self.task)
        count = max(n, model.first, model.settled)
        rows = self._rows(model, 0, count)
        del model
        _release_memory()
        before = reset_peak_memory()
        self.model = self.system.make(self.task)
        took = self._time(self.model, rows)
        added = None if before is None else max(0.0, (process_memory("VmHWM") - before) / 2**10)
        self.begin = 0 if self.system.again else count
        return count, took, added

    def turn(self, n: int) -> tuple[int, float]:
        """Continue to learn; returns the samples learned before and the seconds."""
        assert self.model is not None
        begin = self.begin
        took = self._learn(self.model, begin, n)
        self.begin += 0 if self.system.again else n
        return begin, took

    def length(self, n: int) -> tuple[int, float]:
        """Learn n samples with a new model; returns the untimed first samples and the seconds."""
        model = self.system.make(self.task)
        if n > self._most(model):
            raise TooSlow(f"it learns from at most {self._most(model):,.0f} samples and ignores the others")
        if self.system.again:
            return 0, self._learn(model, 0, n)
        begin = max(model.first, model.settled)
        self._learn(model, 0, begin)
        return begin, self._learn(model, begin, n)

    def _most(self, model: Learner) -> float:
        """The largest number of samples: a system that begins again gets no sample twice."""
        return min(model.most or np.inf, self._count if self.system.again else np.inf)

    def _learn(self, model: Learner, begin: int, n: int) -> float:
        return self._time(model, self._rows(model, begin, n))

    def _time(self, model: Learner, rows: list[Any]) -> float:
        gc.collect()
        begin = time.perf_counter()
        for each in rows:
            model.learn(each)
        return time.perf_counter() - begin

    def _rows(self, model: Learner, begin: int, n: int) -> list[Any]:
        """Samples in the format of a model; each piece is learned in one call of `learn`."""
        made: dict[tuple[int, int], Any] = {}
        pieces = list(self._pieces(begin, n))
        for piece in pieces:
            if piece not in made:
                made[piece] = model.rows(self._copy(*piece))
        return [made[piece] for piece in pieces]

    def _pieces(self, begin: int, n: int) -> Iterator[tuple[int, int]]:
        """Start and length of contiguous samples; after the last sample the first one follows again."""
        begin = 0 if self.system.again else begin
        while n > 0:
            start = begin % self._count
            length = min(n, self._count - start)
            yield start, length
            begin, n = begin + length, n - length

    @property
    def _count(self) -> int:
        """The number of samples, rounded to the portions of all systems."""
        return len(self.samples) // 1024 * 1024 or len(self.samples)

    def _copy(self, begin: int, n: int) -> Any:
        return np.array(self.samples[begin : begin + n])


def _release_memory() -> None:
    """Return free memory to the system, so that its reuse is measured."""
    gc.collect()
    with suppress(AttributeError, OSError):  # another C library
        ctypes.CDLL(None).malloc_trim(0)


def serve(pipe: Connection, table: str, key: str, core: int | None) -> None:
    """Reply to requests until the pipe is closed. `table` is the module with SYSTEMS."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    os.environ.update(ENVIRONMENT)
    if core is not None:
        os.sched_setaffinity(0, {core})
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    bench: Bench | None = None
    while True:
        try:
            name, arguments = pipe.recv()
        except EOFError:
            return
        try:
            if bench is None:
                bench = Bench(importlib.import_module(table).SYSTEMS[key])
            pipe.send(Done(getattr(bench, name)(*arguments)))
        except TooSlow as error:
            pipe.send(Failed(str(error)))
        except Exception as error:
            pipe.send(Failed(f"{type(error).__name__}: {error}"[:200]))


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)
