"""Replacing a file as a whole, and locks that show whether the process that writes a file is still running.

The locks are those of `flock`: the system releases them when their process ends. Without `fcntl`, or on a
file system without locks, nothing is locked.
"""

import glob
import hashlib
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

LOCK_TIMEOUT = 5.0  # seconds to wait for the lock of another process
TRIES = 10  # to create and lock a file that other processes may remove in between
LONGEST_NAME = 200  # bytes of a name that is extended; systems allow 255

_swept: set[Path] = set()  # files beside which this process has removed temporary files


def full_path(path: str | os.PathLike[str]) -> Path:
    """The path with "~" expanded, independent of later changes of the folder."""
    return Path(os.path.expanduser(path)).absolute()


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
    if place not in _swept:  # once in a process, since it lists the folder
        sweep(place)
        _swept.add(place)
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
    if hasattr(os, "O_DIRECTORY"):  # flush the renaming as well
        folder = os.open(place.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def sweep(path: str | os.PathLike[str]) -> None:
    """Remove temporary files of processes that were killed while they wrote `path`: these are not locked."""
    place = Path(os.path.realpath(path))
    pattern = f"{glob.escape(_hidden(place))}.????????.tmp"
    for left in place.parent.glob(pattern):
        with suppress(OSError):
            if fcntl is None:  # Windows does not remove an open file
                left.unlink()
                continue
            writable = os.access(left, os.W_OK)  # it has the permissions of the file that it replaces
            with _opened(left, "r+b" if writable else "rb") as file:
                if _lock(file) and _is_at(file, left):
                    left.unlink()


@contextmanager
def locked(path: str | os.PathLike[str]) -> Iterator[None]:
    """Hold the lock of `path`, a file beside it with the id of this process.

    Raises BlockingIOError if another run holds it: in this process at once, in another one after
    `LOCK_TIMEOUT` seconds, because that may be ending. If the lock file cannot be created, as in a read-only
    folder, nothing is locked.
    """
    place = Path(os.path.realpath(path))
    if place.is_dir():
        raise IsADirectoryError(f"{str(place)!r} is a folder; give the name of a file.")
    lock = place.with_name(f"{_hidden(place)}.lock")
    held, end, process = None, time.monotonic() + LOCK_TIMEOUT, os.getpid()
    try:
        while True:
            with deferred_interrupts():
                held = _held(lock)
            if not isinstance(held, str):
                break
            if held == str(os.getpid()) or time.monotonic() >= end:
                raise BlockingIOError(
                    f"{str(place)!r} is in use by another run, in process {held}. Wait until that run ends, "
                    f"or choose another file."
                )
            time.sleep(0.05)
        yield
    finally:
        if held is not None and not isinstance(held, str):
            with deferred_interrupts(), held, suppress(OSError):
                if _is_at(held, lock) and os.getpid() == process:  # not in a forked process
                    lock.unlink()  # while it is locked, so that no other process holds it


def _held(lock: Path) -> BinaryIO | str | None:
    """The lock file, locked; the id of the process that holds it; or None if there are no locks here."""
    for _ in range(TRIES):
        try:
            file = _opened(lock, flags=os.O_CREAT)
        except PermissionError:  # perhaps of another user
            try:
                file = _opened(lock, "rb")
            except OSError:
                return None
        except OSError:
            return None
        if _lock(file) is False:
            with file:
                return file.read(20).decode(errors="replace").strip() or "unknown"
        if _is_at(file, lock):
            with suppress(OSError):  # a full disk
                os.ftruncate(file.fileno(), 0)
                os.write(file.fileno(), f"{os.getpid()}\n".encode())
            return file
        file.close()  # the run that held it has just ended and removed it
    return None


def _temporary(place: Path) -> BinaryIO:
    """A new file beside a file, locked; an OSError if none can be written there."""
    if place.is_dir():
        raise IsADirectoryError(f"{str(place)!r} is a folder; give the name of a file.")
    if not place.parent.is_dir():
        raise FileNotFoundError(f"the folder {str(place.parent)!r} does not exist; create it first.")
    if place.exists() and not place.is_file():
        raise OSError(f"{str(place)!r} exists and is not a regular file; choose another name.")
    for _ in range(TRIES):
        temporary = place.with_name(f"{_hidden(place)}.{secrets.token_hex(4)}.tmp")
        try:
            file = _opened(temporary, flags=os.O_CREAT | os.O_EXCL)
        except PermissionError as error:
            text = "no permission to write a file in"
            raise PermissionError(error.errno, text, str(place.parent)) from None
        if _lock(file) is not False and _is_at(file, temporary):
            return file
        file.close()  # another process swept it before it was locked
    raise OSError(f"no temporary file can be kept in {str(place.parent)!r}: another process removes them.")


def _hidden(place: Path) -> str:
    """The beginning of the names of temporary files and of the lock; short if the name is very long."""
    name = os.fsencode(place.name)
    if len(name) <= LONGEST_NAME:
        return f".{place.name}"
    return f".{hashlib.sha256(name).hexdigest()}"


def _opened(path: Path, mode: str = "r+b", flags: int = 0) -> BinaryIO:
    """An open file; links are not followed, and a pipe is not waited for."""
    flags |= getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    file = open(path, mode, opener=lambda name, usual: os.open(name, usual | flags, 0o666))  # noqa: SIM115
    return file  # type: ignore[return-value]


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
