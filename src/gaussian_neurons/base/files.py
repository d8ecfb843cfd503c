"""Files that are replaced as a whole."""

import glob
import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path

from gaussian_neurons.base.interrupts import held_back


def try_to_write(path: str | os.PathLike[str]) -> None:
    """Raise an OSError where no file could be written at `path`."""
    place = Path(os.path.realpath(path))
    temporary = _beside(place)
    try:
        temporary.touch(exist_ok=False)
    finally:
        temporary.unlink(missing_ok=True)


def replace_file(path: str | os.PathLike[str], data: bytes) -> None:
    """Put a file in the place of another in one step, once all of it is on the disk."""
    path = Path(os.path.realpath(path))
    temporary = _beside(path)
    try:
        with held_back(), open(temporary, "xb") as file:  # Ctrl-C in between would leave the file open
            if path.exists():  # whoever could not read the old file shall not read the new one
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
    if hasattr(os, "O_DIRECTORY"):  # make the renaming itself last
        folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def sweep(path: str | os.PathLike[str]) -> None:
    """Remove what a process that was killed while it wrote `path` left beside it."""
    place = Path(os.path.realpath(path))
    for left in place.parent.glob(f".{glob.escape(place.name)}.????????.tmp"):
        with suppress(OSError):
            left.unlink(missing_ok=True)


def _beside(path: Path) -> Path:
    """A name for a temporary file beside a file that is about to be written, if that can be."""
    if path.is_dir():
        raise IsADirectoryError(f"{str(path)!r} is a folder; name a file in it.")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"the folder {str(path.parent)!r} does not exist; make it first.")
    if path.exists() and not path.is_file():
        raise OSError(f"{str(path)!r} is neither a file nor free; it is left alone.")
    return path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
