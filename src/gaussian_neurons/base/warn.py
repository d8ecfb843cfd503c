"""Warnings that name the line of the caller's code, however deep in this package they arise."""

import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

PACKAGE = __name__.partition(".")[0]


def warn(text: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the line outside of this package that led here."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == PACKAGE:
        level, frame = level + 1, frame.f_back
    warnings.warn(text, category, stacklevel=level)


@contextmanager
def silent(*kinds: type[Warning]) -> Iterator[None]:
    """Without such warnings, also in threads that are started in this block."""
    if threading.current_thread() is not threading.main_thread():
        yield  # warning filters are shared by all threads, and the main thread has set them
        return
    with warnings.catch_warnings():
        for kind in kinds:
            warnings.simplefilter("ignore", kind)
        yield
