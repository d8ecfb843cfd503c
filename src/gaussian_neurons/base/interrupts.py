"""Interrupts that wait until a few lines are through, and processes that do not hear them."""

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any


class held_back:
    """Let Ctrl-C wait for the end of a block that must not be left half way.

    What it gives is empty until there was one: a long block looks, and comes to an end. The block belongs
    to the function that it is in: it must not yield.

    Examples
    --------
    >>> with held_back() as interrupts:
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
        # The block is over, though an error of another signal's handler came before its end could be told.
        signal.signal(signal.SIGINT, self._handler)
        self._handler(number, frame)


@contextmanager
def deaf_children(wanted: bool = True) -> Iterator[None]:
    """Let processes that are started here ignore Ctrl-C: it is for the parent, who ends them all."""
    if not wanted or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # which children inherit
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
