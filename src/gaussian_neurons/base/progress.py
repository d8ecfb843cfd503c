"""A progress bar on a terminal or in a notebook."""

import importlib
import importlib.util
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Self

from gaussian_neurons.base import extras

HINT_AFTER = 2.0  # seconds
LEAST_COLUMNS = 80  # a narrower terminal shows numbers without a bar
FACTS_EVERY = 1.0  # seconds


def is_interactive() -> bool:
    """Whether stderr is a terminal or this runs in a notebook."""
    return _in_notebook() or bool(getattr(sys.stderr, "isatty", bool)())


class Bar:
    """A progress bar: samples done, samples per second, time left, and further facts.

    Parameters
    ----------
    total : number of samples, or None if unknown
    done : samples already done
    show : False shows nothing; True shows a bar on a terminal or in a notebook
    facts : called about once a second for the text after the bar
    unit : what is counted
    """

    def __init__(
        self, total: int | None, done: int, show: bool, facts: Callable[[], str], unit: str = "samples"
    ) -> None:
        self._bar: Any = None
        self._facts, self._next_facts = facts, 0.0
        self._hint_at: float | None = None
        if not show or not is_interactive():
            return
        if importlib.util.find_spec("tqdm") is None:
            self._hint_at = time.monotonic() + HINT_AFTER
            return
        in_widgets = _in_notebook() and importlib.util.find_spec("ipywidgets") is not None
        kind = importlib.import_module("tqdm.notebook" if in_widgets else "tqdm")
        # One column stays free, so that the ^C of an interrupt does not wrap the line.
        columns = None if _in_notebook() else shutil.get_terminal_size().columns - 1
        narrow = columns is not None and columns < LEAST_COLUMNS
        self._bar = kind.tqdm(
            total=total,
            initial=done,
            unit=f" {unit}",
            unit_scale=True,
            delay=0.5,
            ncols=columns,
            bar_format="{n_fmt}/{total_fmt} <{remaining} {rate_fmt}{postfix}" if narrow and total else None,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, error: object, *_: object) -> None:
        if self._bar is not None:
            if error is None:
                self._show_facts()
            self._bar.close()

    def advance(self, samples: int) -> None:
        """Count more samples as done."""
        if self._bar is not None:
            if time.monotonic() >= self._next_facts:
                self._show_facts()
            self._bar.update(samples)
        elif self._hint_at is not None and time.monotonic() > self._hint_at:
            self._hint_at = None
            command = extras.install("progress")
            print(f"learning; for a progress bar: {command}", file=sys.stderr, flush=True)

    def note(self, text: str) -> None:
        """Print a line above the bar."""
        if self._bar is not None:
            self._bar.write(text, file=sys.stderr)

    @contextmanager
    def hidden(self) -> Iterator[None]:
        """Clear the line of the bar while others print."""
        if self._bar is not None:
            self._bar.clear()
        yield

    def _show_facts(self) -> None:
        self._bar.set_postfix_str(self._facts(), refresh=False)
        self._next_facts = time.monotonic() + FACTS_EVERY


def _in_notebook() -> bool:
    if "IPython" not in sys.modules:
        return False
    from IPython import get_ipython

    shell = get_ipython()
    return shell is not None and "IPKernelApp" in shell.config
