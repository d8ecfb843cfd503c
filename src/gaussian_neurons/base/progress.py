"""A progress bar at the edge: on a terminal or in a notebook, and nowhere else."""

import importlib
import importlib.util
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Self

PATIENCE = 2.0  # seconds without a word
ROOM_FOR_A_BAR = 80  # columns
FACTS_EVERY = 1.0  # seconds between two looks at what is learned


def somebody_looks() -> bool:
    """Whether this is a terminal or a notebook."""
    return _in_notebook() or bool(getattr(sys.stderr, "isatty", bool)())


class Bar:
    """Samples done, samples a second, time left, and what else there is to say.

    Parameters
    ----------
    total : samples in all, or None where nobody knows
    done : samples done already
    show : False keeps silent; True shows a bar where somebody looks
    facts : called now and then for what else to say
    unit : what is counted, where it is not samples
    """

    def __init__(
        self, total: int | None, done: int, show: bool, facts: Callable[[], str], unit: str = "samples"
    ) -> None:
        self._bar: Any = None
        self._facts, self._next_facts = facts, 0.0
        self._hint_at: float | None = None
        if not show or not somebody_looks():
            return
        if importlib.util.find_spec("tqdm") is None:
            self._hint_at = time.monotonic() + PATIENCE
            return
        in_widgets = _in_notebook() and importlib.util.find_spec("ipywidgets") is not None
        kind = importlib.import_module("tqdm.notebook" if in_widgets else "tqdm")
        # One column is left free: there a terminal shows Ctrl-C without breaking the line.
        columns = None if _in_notebook() else shutil.get_terminal_size().columns - 1
        narrow = columns is not None and columns < ROOM_FOR_A_BAR
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
                self._say()
            self._bar.close()

    def advance(self, samples: int) -> None:
        """So many more are done."""
        if self._bar is not None:
            if time.monotonic() >= self._next_facts:
                self._say()
            self._bar.update(samples)
        elif self._hint_at is not None and time.monotonic() > self._hint_at:
            self._hint_at = None
            print(
                "learning; for a progress bar: pip install 'gaussian-neurons[progress]'",
                file=sys.stderr,
                flush=True,
            )

    def note(self, text: str) -> None:
        """A line of its own, for whoever looks at the bar."""
        if self._bar is not None:
            self._bar.write(text, file=sys.stderr)

    @contextmanager
    def hidden(self) -> Iterator[None]:
        """Leave the line free, for others to print on."""
        if self._bar is not None:
            self._bar.clear()
        yield

    def _say(self) -> None:
        self._bar.set_postfix_str(self._facts(), refresh=False)
        self._next_facts = time.monotonic() + FACTS_EVERY


def _in_notebook() -> bool:
    if "IPython" not in sys.modules:
        return False
    from IPython import get_ipython

    shell = get_ipython()
    return shell is not None and "IPKernelApp" in shell.config
