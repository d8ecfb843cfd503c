"""The processes of all systems, seen from the one that gives turns: asked one at a time, none for long."""

import multiprocessing
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

from benchmarks.peers.worker import ENVIRONMENT, Failed, serve

START_UP = 120.0  # seconds in which a process imports what it needs
LIMIT = 15.0  # seconds for an answer
TABLE = "benchmarks.peers.systems"
STEPS = {
    "open": "to begin",
    "first": "for a first answer",
    "fill": "to warm up",
    "anew": "for its first turn",
}


class Refused(Exception):
    """Why a system gave no answer."""


class Crew:
    """A process for each system, started when it is first asked, and again after it died."""

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

    def ask(self, key: str, what: str, *arguments: Any) -> Any:
        """One thing of one system; `Refused` where nothing came of it."""
        limit = self.limit
        if key not in self._workers:
            self._start(key)
            limit += START_UP
        process, pipe = self._workers[key]
        try:
            pipe.send((what, arguments))
            if not pipe.poll(limit):
                self._end(key)
                raise Refused(f"took over {limit:g} s {STEPS.get(what, '')}".rstrip())
            answer = pipe.recv()
        except (EOFError, OSError):
            process.join(5)
            code = process.exitcode
            self._end(key)
            raise Refused(f"its process died (exit code {code})") from None
        if isinstance(answer, Failed):
            raise Refused(answer.why)
        return answer.value

    def _start(self, key: str) -> None:
        context = multiprocessing.get_context("spawn")  # never forked: threads of libraries would be lost
        ours, theirs = context.Pipe()
        process = context.Process(target=serve, args=(theirs, self.table, key, self.core), daemon=True)
        with _environment(ENVIRONMENT), _deaf_to_interrupts():
            process.start()
        theirs.close()
        self._workers[key] = process, ours

    def _end(self, key: str) -> None:
        process, pipe = self._workers.pop(key)
        process.kill()
        process.join()
        pipe.close()


@contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    """What is started meanwhile stays so: Ctrl-C is for the one who asks."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def _environment(given: dict[str, str]) -> Iterator[None]:
    """With these variables, which a new process takes over."""
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
