"""Tasks of several threads in one call: a GPU learns a thousand layers in the time of one."""

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from itertools import compress
from typing import Any, Generic, TypeVar

Task = TypeVar("Task")
Found = TypeVar("Found")

BATCHES = 8  # at a time: while one is learned, others gather


class Gathering(Generic[Task, Found]):
    """Computes tasks of many threads, as many of one kind as possible in one call.

    Parameters
    ----------
    together : the computation of a list of tasks, which gives a list as long
    setting : a context manager, in which each thread that calls `together` runs
    kind : of a task; the kernels of different kinds would run one after another in one call

    Examples
    --------
    >>> from contextlib import nullcontext
    >>> with Gathering(lambda tasks: [task + 1 for task in tasks], nullcontext, type) as gathering:
    ...     gathering.compute([1, 2])
    [2, 3]
    """

    def __init__(
        self,
        together: Callable[[list[Task]], list[Found]],
        setting: Callable[[], Any],
        kind: Callable[[Task], object],
    ) -> None:
        self._together, self._setting, self._kind = together, setting, kind
        self._waiting: list[tuple[Sequence[Task], Future[list[Found]]]] = []
        self._changed = threading.Condition()
        self._ended = False
        self._turn = threading.Lock()
        self._turns: set[int] = set()  # threads that take turns
        self._busy = 0  # of these, those that do not wait for a batch
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
        with self.without_turn():
            return result.result()

    def each(self, calls: Sequence[Callable[[], Any]]) -> list[Any]:
        """What each call gives, in a thread of its own, which takes turns."""

        def in_turn(call: Callable[[], Any]) -> Any:
            with self.turn():
                return call()

        with self.without_turn(), ThreadPoolExecutor(len(calls)) as threads:
            return list(threads.map(in_turn, calls))

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Let this thread run while no other one in such a block does, except while it waits for a batch.

        Hundreds of threads would otherwise wait for the interpreter's lock at each call of NumPy.
        """
        thread = threading.get_ident()
        with self._changed:
            self._turns.add(thread)
            self._busy += 1
        try:
            with self._turn:
                yield
        finally:
            with self._changed:
                self._turns.remove(thread)
                self._busy -= 1
                self._changed.notify()

    @contextmanager
    def without_turn(self) -> Iterator[None]:
        """Let others have the turn while this thread waits or does something long, if it takes turns."""
        if threading.get_ident() not in self._turns:
            yield
            return
        with self._changed:
            self._busy -= 1
            self._changed.notify()
        self._turn.release()
        try:
            yield
        finally:
            with self._changed:
                self._busy += 1
            self._turn.acquire()

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
        """What waits and is of one kind, when enough waits or nothing will join it; nothing at the end."""
        with self._changed:
            self._changed.wait_for(self._is_due)
            kinds = [self._kind(tasks[0]) for tasks, _ in self._waiting]
            alike = [kind == kinds[0] for kind in kinds]
            batch = list(compress(self._waiting, alike))
            self._waiting = [one for one, it in zip(self._waiting, alike, strict=True) if not it]
            return batch

    def _is_due(self) -> bool:
        enough = len(self._turns) / BATCHES if self._busy else 1
        return len(self._waiting) >= enough if self._waiting else self._ended
