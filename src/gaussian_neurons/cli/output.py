"""Output files: checked before the work, replaced as a whole after it; and a progress bar."""

import io
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from gaussian_neurons.base.files import replacing, try_to_write

DELAY = 1.0  # seconds before the bar appears
REFRESH = 0.1  # seconds between updates


def check_output(out: Path, force: bool, *inputs: str | Path | None, option: str = "--out") -> None:
    """Raise an error if a file cannot be written or would replace another one."""
    for other in inputs:
        if other is not None and out.resolve() == Path(other).expanduser().resolve():
            raise ValueError(f"{option} {str(out)!r} is also read or written otherwise. Choose another name.")
    if out.exists() and not force and not out.is_dir():
        raise ValueError(
            f"{str(out)!r} exists already. Choose another {option}, or overwrite it with --force."
        )
    try_to_write(out)


@contextmanager
def replaced_file(path: Path) -> Iterator[TextIO]:
    """A text file that replaces `path` once it is complete; after an error `path` is unchanged."""
    with replacing(path) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="")
        yield text
        text.detach()  # flushes it, and leaves the file open


@contextmanager
def progress_bar(label: str, rows: Callable[[], int], total: int | None, show: bool = True) -> Iterator[None]:
    """Show a progress bar on a terminal; `rows` returns the number of rows so far."""
    console = Console(stderr=True)
    if not show or not console.is_terminal:
        yield
        return
    done = threading.Event()
    thread = threading.Thread(target=_refresh, args=(console, label, rows, total, done), daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def _refresh(
    console: Console, label: str, rows: Callable[[], int], total: int | None, done: threading.Event
) -> None:
    if done.wait(DELAY):
        return
    parts = (TextColumn(label), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*parts, console=console, transient=True) as progress:
        task = progress.add_task(label, total=total)
        while not done.wait(REFRESH):
            progress.update(task, completed=rows())
