"""Where results go: checked before the work, replaced whole after it; and a bar in between."""

import os
import secrets
import stat
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from gaussian_neurons.base.files import try_to_write

PATIENCE = 1.0  # seconds without a bar
LOOK_EVERY = 0.1  # seconds


def require_free(out: Path, force: bool, *inputs: str | Path | None, option: str = "--out") -> None:
    """Raise an error where a result could not be written, or would take the place of something else."""
    for other in inputs:
        if other is not None and out.resolve() == Path(other).expanduser().resolve():
            raise ValueError(f"{option} {str(out)!r} is also what is read here: choose another name.")
    if out.exists() and not force and not out.is_dir():
        raise ValueError(f"{str(out)!r} exists already. Choose another {option}, or replace it with --force.")
    try_to_write(out)


@contextmanager
def replaced_whole(path: Path) -> Iterator[TextIO]:
    """A text file that appears at `path` when all of it is written, and not at all otherwise."""
    place = Path(os.path.realpath(path))
    beside = place.with_name(f".{place.name}.{secrets.token_hex(4)}.tmp")
    try:
        with open(beside, "x", newline="") as file:
            if place.exists():  # whoever could not read the old file shall not read the new one
                os.chmod(beside, stat.S_IMODE(place.stat().st_mode))
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, place)
    finally:
        beside.unlink(missing_ok=True)


@contextmanager
def watched(label: str, done: Callable[[], int], total: int | None, show: bool = True) -> Iterator[None]:
    """A bar on a terminal while something lasts that says how many rows it has done."""
    console = Console(stderr=True)
    if not show or not console.is_terminal:
        yield
        return
    over = threading.Event()
    watcher = threading.Thread(target=_watch, args=(console, label, done, total, over), daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()


def _watch(
    console: Console, label: str, done: Callable[[], int], total: int | None, over: threading.Event
) -> None:
    if over.wait(PATIENCE):
        return
    parts = (TextColumn(label), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*parts, console=console, transient=True) as progress:
        task = progress.add_task(label, total=total)
        while not over.wait(LOOK_EVERY):
            progress.update(task, completed=done())
