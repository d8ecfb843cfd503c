"""What is being done, on one line of a terminal; elsewhere, a word now and then."""

import sys
import time
from typing import Self

EVERY = 10.0  # seconds between two words where nobody sees a line change


class Progress:
    """Turns done, of how many, and what is being done now."""

    def __init__(self, total: int) -> None:
        self.total, self.done = total, 0
        self._changes = sys.stderr.isatty()
        self._said = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._clear()

    def say(self, what: str) -> None:
        """This begins now."""
        self.done += 1
        text = f"{self.done} of {self.total}  {what}"
        if self._changes:
            print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)
        elif time.monotonic() - self._said > EVERY:
            self._said = time.monotonic()
            print(f"  ... {text}", file=sys.stderr, flush=True)

    def print(self, text: str) -> None:
        """A line that stays."""
        self._clear()
        print(text, flush=True)

    def _clear(self) -> None:
        if self._changes:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
