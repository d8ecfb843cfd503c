"""Interrupts that wait until a few lines are through, and processes that do not hear them."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def held_back() -> Iterator[list[Any]]:
    """Let Ctrl-C wait for the end of a block that must not be left half way.

    What it gives is empty until there was one: a long block looks, and comes to an end.

    Examples
    --------
    >>> with held_back() as interrupts:
    ...     for step in range(10):
    ...         if interrupts:
    ...             break
    """
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(handler):
        yield []
        return
    arrived: list[Any] = []
    signal.signal(signal.SIGINT, lambda number, frame: arrived.append(frame))
    try:
        yield arrived
    finally:
        signal.signal(signal.SIGINT, handler)
        if arrived:
            handler(signal.SIGINT, arrived[0])


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
