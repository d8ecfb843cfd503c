"""Tasks of several threads in one call: a GPU learns a thousand layers in the time of one."""

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any, Generic, TypeVar

Task = TypeVar("Task")
Found = TypeVar("Found")

BATCHES = 4  # at a time: while one is learned, others arrive


class Gathering(Generic[Task, Found]):
    """Computes tasks of many threads: whenever a batch has ended, all that wait are the next one.

    Examples
    --------
    >>> from contextlib import nullcontext
    >>> with Gathering(lambda tasks: [task + 1 for task in tasks], nullcontext) as gathering:
    ...     gathering.compute([1, 2])
    [2, 3]
    """

    def __init__(self, together: Callable[[list[Task]], list[Found]], setting: Callable[[], Any]) -> None:
        self._together, self._setting = together, setting
        self._waiting: list[tuple[Sequence[Task], Future[list[Found]]]] = []
        self._changed = threading.Condition()
        self._ended = False
        self._turn = threading.Lock()
        self._in_turn: set[int] = set()  # threads
        self._threads = [threading.Thread(target=self._work, daemon=True) for _ in range(BATCHES)]

    def __enter__(self) -> "Gathering[Task, Found]":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        with self._changed:
            self._ended = True
            self._changed.notify_all()
        for thread in self._threads:
            thread.join()

    def compute(self, tasks: Sequence[Task]) -> list[Found]:
        """What `together` gives for these tasks, in one call with those of other threads."""
        result: Future[list[Found]] = Future()
        with self._changed:
            self._waiting.append((tasks, result))
            self._changed.notify()
        if threading.get_ident() not in self._in_turn:
            return result.result()
        self._turn.release()
        try:
            return result.result()
        finally:
            self._turn.acquire()

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Let this thread run while no other one in such a block does, except while it waits for a batch.

        Hundreds of threads would otherwise wait for the interpreter's lock at each call of NumPy.
        """
        with self._turn:
            self._in_turn.add(threading.get_ident())
            try:
                yield
            finally:
                self._in_turn.remove(threading.get_ident())

    def _work(self) -> None:
        with self._setting():
            while batch := self._next():
                try:
                    self._finish(batch)
                except Exception:  # of some task
                    for one in batch:
                        try:
                            self._finish([one])
                        except Exception as error:
                            one[1].set_exception(error)

    def _finish(self, batch: list[tuple[Sequence[Task], Future[list[Found]]]]) -> None:
        found = iter(self._together([task for tasks, _ in batch for task in tasks]))
        for (_, result), some in [(one, [next(found) for _ in one[0]]) for one in batch]:
            result.set_result(some)

    def _next(self) -> list[tuple[Sequence[Task], Future[list[Found]]]]:
        """All that waits; nothing at the end."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._ended)
            batch, self._waiting = self._waiting, []
            return batch
