"""The processes of all systems, which work one at a time, with a timeout."""

import multiprocessing
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

from benchmarks.peers.worker import ENVIRONMENT, Failed, serve

START_UP = 120.0  # additional seconds for imports in a new process
LIMIT = 15.0  # timeout in seconds
TABLE = "benchmarks.peers.systems"
STEPS = {
    "open": "to begin",
    "first": "for a first prediction",
    "fill": "to warm up",
    "restart": "for its first turn",
}


class NotMeasured(Exception):
    """Why there is no measurement of a system."""


class Workers:
    """A process for each system, started on demand, and again if it has died."""

    def __init__(self, table: str = TABLE, limit: float = LIMIT) -> None:
        self.table, self.limit = table, limit
        self._workers: dict[str, tuple[Any, Any]] = {}
        cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
        self.core = cores[-1] if cores else None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for key in list(self._workers):
            self._end(key)

    def call(self, key: str, method: str, *arguments: Any) -> Any:
        """Call a method of the system's `Bench` in its process; raises `NotMeasured` if that fails."""
        limit = self.limit
        if key not in self._workers:
            self._start(key)
            limit += START_UP
        process, pipe = self._workers[key]
        try:
            pipe.send((method, arguments))
            if not pipe.poll(limit):
                self._end(key)
                raise NotMeasured(f"took over {limit:g} s {STEPS.get(method, '')}".rstrip())
            answer = pipe.recv()
        except (EOFError, OSError):
            process.join(5)
            code = process.exitcode
            self._end(key)
            raise NotMeasured(f"its process died (exit code {code})") from None
        if isinstance(answer, Failed):
            raise NotMeasured(answer.why)
        return answer.value

    def _start(self, key: str) -> None:
        context = multiprocessing.get_context("spawn")  # a fork would lose the threads of libraries
        ours, theirs = context.Pipe()
        process = context.Process(target=serve, args=(theirs, self.table, key, self.core), daemon=True)
        with _environment(ENVIRONMENT), _interrupts_ignored():
            process.start()
        theirs.close()
        self._workers[key] = process, ours

    def _end(self, key: str) -> None:
        process, pipe = self._workers.pop(key)
        process.kill()
        process.join()
        pipe.close()


@contextmanager
def _interrupts_ignored() -> Iterator[None]:
    """Processes started meanwhile ignore Ctrl-C, which only the parent handles."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def _environment(given: dict[str, str]) -> Iterator[None]:
    """Set environment variables, which new processes inherit."""
    before = {name: os.environ.get(name) for name in given}
    os.environ.update(given)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
