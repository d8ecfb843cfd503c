"""The process of one system, which lives through the whole run and works only when it is asked to.

It is asked by name, with arguments, through a pipe, and answers with `Done` or `Failed`. It is pinned to one
core, has one thread, and dies with the process that started it.
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
from benchmarks.quality.measure import _forget_highest, _status
from benchmarks.speed import ONE_THREAD

ENVIRONMENT = ONE_THREAD | {
    "NUMBA_NUM_THREADS": "1",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
    "JAX_PLATFORMS": "cpu",
}
WARM_UP_ROWS = 256
SLOWEST = 3.0  # seconds that the fewest samples may take
MOST_AT_ONCE = 4.0  # times as many samples are tried next: some systems slow down as they go


@dataclass(frozen=True)
class Done:
    """What came of what was asked."""

    value: Any


@dataclass(frozen=True)
class Failed:
    """Why nothing came of it."""

    why: str


class TooSlow(Exception):
    """A system that would keep all others waiting."""


class Bench:
    """A system, a workload, and the model that learns from it."""

    def __init__(self, system: Any) -> None:
        self.system = system
        exec(system.imports, {})

    def open(self, path: Path, K: int, D: int) -> None:
        """Turn to a workload. Its samples are mapped, and copied in the form that they are learned in."""
        self.samples = np.load(path, mmap_mode="r")
        self.task = Task(K, D)
        self.model: Learner | None = None
        self.begin = 0

    def first(self) -> float:
        """Seconds from making a model to its first answer."""
        begin = time.perf_counter()
        model = self.system.make(self.task)
        model.learn(model.rows(self._copy(0, model.first)))
        model.predict(model.rows(self._copy(0, 1)))
        return time.perf_counter() - begin

    def fill(self, seconds: float) -> int:
        """How many samples take about so long, once everything is compiled."""
        self._warm_up(seconds)
        model = self.system.make(self.task)
        fewest = model.first if self.system.again else model.portion
        n, begin = fewest, max(fewest, model.first, model.settled)
        self._learn(model, 0, begin)
        while True:
            took = self._learn(model, begin, n)
            if seconds / 8 < took < SLOWEST:  # perhaps something was compiled meanwhile
                begin += n
                took = min(took, self._learn(model, begin, n))
            if took * fewest / n > SLOWEST:
                raise TooSlow(f"took over {SLOWEST:g} s for {fewest} samples: {took * fewest / n:.1f} s")
            wanted = min(n * min(seconds / max(took, 1e-9), MOST_AT_ONCE), self._most(model))
            if took > seconds / 2 or wanted < 1.5 * n:
                return max(fewest, round(wanted / model.portion) * model.portion)
            begin, n = begin + n, -(-int(wanted) // model.portion) * model.portion

    def _warm_up(self, seconds: float) -> None:
        """A model that is thrown away: some compile more than once before they are at their usual speed."""
        model = self.system.make(self.task)
        n, begin, spent = model.portion, model.first, 0.0
        self._learn(model, 0, begin)
        while begin < WARM_UP_ROWS and spent < 4 * seconds and not self.system.again:
            spent += self._learn(model, begin, n)
            begin, n = begin + n, 2 * n

    def anew(self, n: int) -> tuple[int, float, float | None]:
        """A new model, which the turns go on with: samples learned, seconds, and MiB that this added."""
        self.model, self.begin = None, 0
        model = self.system.make(self.task)
        count = max(n, model.first, model.settled)
        rows = self._rows(model, 0, count)
        del model
        _give_back()
        before = _forget_highest()
        self.model = self.system.make(self.task)
        took = self._time(self.model, rows)
        highest = None if before is None else max(0.0, (_status("VmHWM") - before) / 2**10)
        self.begin = 0 if self.system.again else count
        return count, took, highest

    def turn(self, n: int) -> tuple[int, float]:
        """Learn on: samples learned before, and seconds."""
        assert self.model is not None
        begin = self.begin
        took = self._learn(self.model, begin, n)
        self.begin += 0 if self.system.again else n
        return begin, took

    def length(self, n: int) -> tuple[int, float]:
        """A new model that has just begun: samples that it began with, and seconds for so many more."""
        model = self.system.make(self.task)
        if n > self._most(model):
            raise TooSlow(f"it learns from {self._most(model):,.0f} at most, and leaves out the others")
        if self.system.again:
            return 0, self._learn(model, 0, n)
        begin = max(model.first, model.settled)
        self._learn(model, 0, begin)
        return begin, self._learn(model, begin, n)

    def _most(self, model: Learner) -> float:
        """Samples that may be asked for at most: one that begins anew takes none of them twice."""
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
        """Samples in the form that a model takes; each piece of them is learned in one call of `learn`."""
        made: dict[tuple[int, int], Any] = {}
        pieces = list(self._pieces(begin, n))
        for piece in pieces:
            if piece not in made:
                made[piece] = model.rows(self._copy(*piece))
        return [made[piece] for piece in pieces]

    def _pieces(self, begin: int, n: int) -> Iterator[tuple[int, int]]:
        """Where samples lie among those drawn: after the last one comes the first one again."""
        begin = 0 if self.system.again else begin
        while n > 0:
            start = begin % self._count
            length = min(n, self._count - start)
            yield start, length
            begin, n = begin + length, n - length

    @property
    def _count(self) -> int:
        """Samples that there are, in whole portions of all systems."""
        return len(self.samples) // 1024 * 1024 or len(self.samples)

    def _copy(self, begin: int, n: int) -> Any:
        return np.array(self.samples[begin : begin + n])


def _give_back() -> None:
    """Free memory goes back to the system, so that it is seen when it is used again."""
    gc.collect()
    with suppress(AttributeError, OSError):  # another C library
        ctypes.CDLL(None).malloc_trim(0)


def serve(pipe: Connection, table: str, key: str, core: int | None) -> None:
    """Answer until nobody asks any more. `table` is the module that holds SYSTEMS."""
    threading.Thread(target=_follow_parent, daemon=True).start()
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


def _follow_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)
