"""Progress of a benchmark on stderr: one changing line on a terminal, else a line every ten seconds."""

import sys
import time
from typing import Self

EVERY = 10.0  # seconds between two lines, if stderr is not a terminal


class Progress:
    """Counts steps and shows the current one."""

    def __init__(self, total: int) -> None:
        self.total, self.done = total, 0
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
        elif time.monotonic() - self._printed > EVERY:
            self._printed = time.monotonic()
            print(f"  ... {line}", file=sys.stderr, flush=True)

    def print(self, text: str) -> None:
        """Print a line to stdout."""
        self._clear()
        print(text, flush=True)

    def _clear(self) -> None:
        if self._on_terminal:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
