"""Progress of a benchmark on stderr: one changing line on a terminal, else a line now and then."""

import sys
import time
from typing import Self


class Progress:
    """Counts steps and shows the current one.

    Parameters
    ----------
    total : number of steps
    every : seconds between two lines, if stderr is not a terminal
    """

    def __init__(self, total: int, every: float = 10.0) -> None:
        self.total, self.done, self.every = total, 0, every
        self._on_terminal = sys.stderr.isatty()
        self._printed = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._clear()

    def step(self, text: str) -> None:
        """Begin the next step."""
        self.done += 1
        line = f"{self.done} of {self.total}  {text}"
        if self._on_terminal:
            print(f"\r\x1b[K{line}", end="", file=sys.stderr, flush=True)
        elif time.monotonic() - self._printed > self.every:
            self._printed = time.monotonic()
            print(f"  ... {line}", file=sys.stderr, flush=True)

    def print(self, text: str) -> None:
        """Print a line to stdout."""
        self._clear()
        print(text, flush=True)

    def _clear(self) -> None:
        if self._on_terminal:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
