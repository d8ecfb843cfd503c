"""Interrupts that are deferred to the end of a block, and child processes that ignore them."""

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any


class deferred_interrupts:
    """Defer Ctrl-C to the end of a block.

    It gives a list that is empty until an interrupt arrives. The block belongs to the function that contains
    it: it must not yield.

    Examples
    --------
    >>> with deferred_interrupts() as interrupts:
    ...     for step in range(10):
    ...         if interrupts:
    ...             break
    """

    def __enter__(self) -> list[Any]:
        self._arrived: list[Any] = []
        self._handler: Any = signal.getsignal(signal.SIGINT)
        self._owner: FrameType | None = None
        if threading.current_thread() is threading.main_thread() and callable(self._handler):
            self._owner = sys._getframe(1)
            signal.signal(signal.SIGINT, self._note)
        return self._arrived

    def __exit__(self, *_: object) -> None:
        if self._owner is not None:
            signal.signal(signal.SIGINT, self._handler)
            self._owner = None
            if self._arrived:
                self._handler(signal.SIGINT, sys._getframe())

    def _note(self, number: int, frame: FrameType | None) -> None:
        at = frame
        while at is not None and at is not self._owner:
            at = at.f_back
        if at is not None:
            self._arrived.append(frame)
            return
        # The block has ended without __exit__: the handler of another signal raised an error in between.
        signal.signal(signal.SIGINT, self._handler)
        self._handler(number, frame)


@contextmanager
def children_ignore_interrupts(wanted: bool = True) -> Iterator[None]:
    """Let processes that are started in this block ignore Ctrl-C: the parent handles it and ends them."""
    if not wanted or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # children inherit it
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
