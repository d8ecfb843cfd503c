"""Replacing a file as a whole, and locks that tell whether the process that writes a file still lives.

The locks are those of `flock`: the system releases them when their process ends. Without `fcntl`, or on a
file system without locks, nothing is locked.
"""

import glob
import os
import secrets
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from gaussian_neurons.base.interrupts import deferred_interrupts

try:
    import fcntl
except ImportError:  # not on this system
    fcntl = None  # type: ignore[assignment]

PATIENCE = 5.0  # seconds to wait for the lock of another process


def full_path(path: str | os.PathLike[str]) -> Path:
    """The path with "~" expanded, independent of later changes of the folder."""
    return Path(path).expanduser().absolute()


def try_to_write(path: str | os.PathLike[str]) -> None:
    """Raise an OSError if no file can be written at `path`."""
    with deferred_interrupts():
        file = _temporary(Path(os.path.realpath(path)))
        file.close()
        Path(file.name).unlink(missing_ok=True)


def replace_file(path: str | os.PathLike[str], data: bytes) -> None:
    """Replace a file in one step, once the new one is completely on the disk."""
    with deferred_interrupts(), replacing(path) as file:  # Ctrl-C would leave the file open
        file.write(data)


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A new file that replaces `path` in one step after the block; after an error `path` is unchanged."""
    place = Path(os.path.realpath(path))
    sweep(place)
    try:
        with _temporary(place) as file:
            try:
                if place.exists():  # keep its permissions
                    os.chmod(file.name, stat.S_IMODE(place.stat().st_mode))
                yield file
                file.flush()
                os.fsync(file.fileno())
                if fcntl is None:  # Windows does not rename an open file
                    file.close()
                os.replace(file.name, place)
            except BaseException:
                Path(file.name).unlink(missing_ok=True)
                raise
    except PermissionError as error:
        raise PermissionError(error.errno, "no permission to write a file in", str(place.parent)) from None
    if hasattr(os, "O_DIRECTORY"):  # flush the renaming as well
        folder = os.open(place.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def sweep(path: str | os.PathLike[str]) -> None:
    """Remove temporary files of processes that were killed while they wrote `path`: nobody locks those."""
    place = Path(os.path.realpath(path))
    for left in place.parent.glob(f".{glob.escape(place.name)}.????????.tmp"):
        with suppress(OSError):
            if fcntl is None:  # Windows does not remove an open file
                left.unlink()
                continue
            writable = os.access(left, os.W_OK)  # it has the permissions of the file that it replaces
            with _opened(left, os.O_RDWR if writable else os.O_RDONLY) as file:
                if _lock(file) and _is_at(file, left):
                    left.unlink()


@contextmanager
def locked(path: str | os.PathLike[str]) -> Iterator[None]:
    """Hold the lock of `path`, a file beside it with the id of this process.

    Raises BlockingIOError if another run holds it: in this process at once, in another one after `PATIENCE`
    seconds, because that may be ending. If the lock file cannot be created, as in a read-only folder, nothing
    is locked.
    """
    place = Path(os.path.realpath(path))
    lock = place.with_name(f".{place.name}.lock")
    file, end = None, time.monotonic() + PATIENCE
    try:
        while True:
            try:
                with deferred_interrupts():
                    file = _held(lock)
                break
            except BlockingIOError as busy:
                holder = str(busy)
                if holder == str(os.getpid()) or time.monotonic() >= end:
                    raise BlockingIOError(
                        f"{str(place)!r} is in use by another run, in process {holder}. Wait until that run "
                        f"ends, or choose another file."
                    ) from None
            time.sleep(0.05)
        yield
    finally:
        if file is not None:
            with deferred_interrupts(), file, suppress(OSError):
                if _is_at(file, lock):
                    lock.unlink()  # while it is locked: nobody else holds it now


def _held(lock: Path) -> BinaryIO | None:
    """The lock file, locked; None if it cannot be created, BlockingIOError(id) if a process holds it."""
    while True:
        try:
            file = _opened(lock, os.O_RDWR | os.O_CREAT)
        except OSError:
            return None
        if _lock(file) is False:
            with file:
                raise BlockingIOError(file.read(20).decode(errors="replace").strip() or "unknown")
        if _is_at(file, lock):
            with suppress(OSError):  # a full disk
                os.ftruncate(file.fileno(), 0)
                os.write(file.fileno(), f"{os.getpid()}\n".encode())
            return file
        file.close()  # the run that held it has just ended and removed it


def _temporary(place: Path) -> BinaryIO:
    """A new file beside a file, locked; an OSError if none can be written there."""
    if place.is_dir():
        raise IsADirectoryError(f"{str(place)!r} is a folder; give the name of a file.")
    if not place.parent.is_dir():
        raise FileNotFoundError(f"the folder {str(place.parent)!r} does not exist; create it first.")
    if place.exists() and not place.is_file():
        raise OSError(f"{str(place)!r} exists and is not a regular file; choose another name.")
    while True:
        temporary = place.with_name(f".{place.name}.{secrets.token_hex(4)}.tmp")
        file = _opened(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL)
        if _lock(file) is not False and _is_at(file, temporary):
            return file
        file.close()  # another process swept it before it was locked


def _opened(path: Path, flags: int) -> BinaryIO:
    """An open file; links are not followed, and a pipe is not waited for."""
    for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY"):
        flags |= getattr(os, name, 0)
    return open(path, "r+b", opener=lambda name, _: os.open(name, flags, 0o666))


def _lock(file: BinaryIO) -> bool | None:
    """Lock a file: False if it is locked already, None if there are no locks."""
    if fcntl is None:
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return None
    return True


def _is_at(file: BinaryIO, path: Path) -> bool:
    """Whether an open file is the one at a path."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.lstat())
    except FileNotFoundError:
        return False
