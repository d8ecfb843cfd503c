"""Interrupts that are deferred to the end of a block, and child processes that ignore them."""

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, ClassVar


class deferred_interrupts:
    """Defer Ctrl-C to the end of a block, or to the next `interruption_point` in it.

    It gives a list that is empty until an interrupt arrives. The block belongs to the function that contains
    it: it must not yield.

    Parameters
    ----------
    points : whether the block may end early, at an `interruption_point`

    Examples
    --------
    >>> with deferred_interrupts() as interrupts:
    ...     for step in range(10):
    ...         if interrupts:
    ...             break
    """

    innermost: ClassVar["deferred_interrupts | None"] = None  # of the main thread

    def __init__(self, points: bool = False) -> None:
        self.points = points

    def __enter__(self) -> list[Any]:
        self._arrived: list[Any] = []
        self._handler: Any = signal.getsignal(signal.SIGINT)
        self._owner: FrameType | None = None
        if threading.current_thread() is threading.main_thread() and callable(self._handler):
            self._owner, self._outer = sys._getframe(1), deferred_interrupts.innermost
            signal.signal(signal.SIGINT, self._note)
            deferred_interrupts.innermost = self  # last, because an interrupt can arrive before each line
        return self._arrived

    def __exit__(self, *_: object) -> None:
        if self._owner is not None:
            deferred_interrupts.innermost = self._outer  # first, for the same reason
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
        deferred_interrupts.innermost = self._outer
        self._handler(number, frame)


def interruption_point() -> None:
    """Let a deferred interrupt arrive here, if the blocks around this call have points.

    NumPy turns an interrupt that arrives in some of its functions into another error. Here it is not lost.
    """
    block = deferred_interrupts.innermost
    if block is None or threading.current_thread() is not threading.main_thread():
        return
    while block is not None and block.points:
        if block._arrived:
            block._arrived.clear()
            block._handler(signal.SIGINT, sys._getframe())  # of the block around it, or one that raises
        block = block._outer


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
