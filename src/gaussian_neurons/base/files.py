"""Replacing a file as a whole."""

import glob
import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path

from gaussian_neurons.base.interrupts import deferred_interrupts


def try_to_write(path: str | os.PathLike[str]) -> None:
    """Raise an OSError if no file can be written at `path`."""
    place = Path(os.path.realpath(path))
    temporary = _beside(place)
    try:
        temporary.touch(exist_ok=False)
    finally:
        temporary.unlink(missing_ok=True)


def replace_file(path: str | os.PathLike[str], data: bytes) -> None:
    """Replace a file in one step, once the new one is completely on the disk."""
    path = Path(os.path.realpath(path))
    temporary = _beside(path)
    try:
        with deferred_interrupts(), open(temporary, "xb") as file:  # Ctrl-C would leave the file open
            if path.exists():  # keep its permissions
                os.chmod(temporary, stat.S_IMODE(path.stat().st_mode))
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except PermissionError as error:
        temporary.unlink(missing_ok=True)
        raise PermissionError(error.errno, "no permission to write a file in", str(path.parent)) from None
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    if hasattr(os, "O_DIRECTORY"):  # flush the renaming as well
        folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def sweep(path: str | os.PathLike[str]) -> None:
    """Remove temporary files of processes that were killed while they wrote `path`."""
    place = Path(os.path.realpath(path))
    for left in place.parent.glob(f".{glob.escape(place.name)}.????????.tmp"):
        with suppress(OSError):
            left.unlink(missing_ok=True)


def _beside(path: Path) -> Path:
    """The name of a temporary file beside a file; an OSError if none can be written there."""
    if path.is_dir():
        raise IsADirectoryError(f"{str(path)!r} is a folder; give the name of a file.")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"the folder {str(path.parent)!r} does not exist; create it first.")
    if path.exists() and not path.is_file():
        raise OSError(f"{str(path)!r} exists and is not a regular file; choose another name.")
    return path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
