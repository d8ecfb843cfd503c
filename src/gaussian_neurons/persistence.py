"""One file for one model: arrays and facts, checked when read, replaced whole when written."""

import glob
import hashlib
import json
import os
import secrets
import stat
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save as serialize

from gaussian_neurons.interrupts import held_back

FORMAT = "gaussian-neurons"
VERSION = 1


def write(path: str | os.PathLike[str], arrays: Mapping[str, NDArray[Any]], facts: Mapping[str, Any]) -> None:
    """Write a model file, or leave the old one as it was.

    The bytes go to a new file beside it, are flushed to the disk, and take the old file's place in one
    step: a crash or a full disk in between costs nothing.
    """
    tensors = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    text = json.dumps(dict(facts), sort_keys=True, allow_nan=False)
    metadata = {
        "format": FORMAT,
        "format_version": str(VERSION),
        "facts": text,
        "sha256": _digest(tensors, text),
    }
    replace_file(path, serialize(tensors, metadata=metadata))


def read(path: str | os.PathLike[str]) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Read a model file: (arrays, facts). Nothing in the file is run.

    Raises FileNotFoundError where there is none, and ValueError for a file that is cut off, foreign,
    newer than this library or changed since it was written.
    """
    try:
        with open(path, "rb"):
            pass  # absent, a folder, not permitted: Python's own errors say so best
    except FileNotFoundError:
        raise FileNotFoundError(f"no model file at {os.fspath(path)!r}.") from None
    try:
        with safe_open(path, framework="np") as file:
            metadata = file.metadata() or {}
            if metadata.get("format") != FORMAT:
                raise ValueError(
                    f"{os.fspath(path)!r} is a safetensors file, but not a model of this library: its "
                    f"format is {metadata.get('format')!r}, expected {FORMAT!r}."
                )
            _check_version(path, metadata.get("format_version", ""))
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError, TypeError, AttributeError) as error:
        raise ValueError(
            f"{os.fspath(path)!r} cannot be read as a model: it is cut off, damaged or no model file "
            f"({error}). Use a file that save() wrote."
        ) from error
    text = metadata.get("facts", "")
    if metadata.get("sha256") != _digest(tensors, text):
        raise ValueError(
            f"{os.fspath(path)!r} was changed after it was written: its checksum does not fit its "
            f"contents. Use an unchanged copy, or save the model again."
        )
    try:
        return tensors, json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{os.fspath(path)!r} is not a complete model ({error}).") from error


def digest(arrays: Mapping[str, NDArray[Any]], facts: Mapping[str, Any]) -> str:
    """SHA-256 over arrays and facts: equal for equal models."""
    return _digest(arrays, json.dumps(dict(facts), sort_keys=True, allow_nan=False))


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


def _check_version(path: str | os.PathLike[str], found: str) -> None:
    if not found.isdecimal() or int(found) < 1:
        raise ValueError(f"{os.fspath(path)!r} names no valid format version: {found!r}.")
    if int(found) > VERSION:
        raise ValueError(
            f"{os.fspath(path)!r} was written by a newer version of this library (format {found}, this "
            f"one reads up to {VERSION}). Upgrade gaussian-neurons to read it."
        )


def _digest(tensors: Mapping[str, NDArray[Any]], text: str) -> str:
    """SHA-256 over everything a model file says."""
    digest = hashlib.sha256(text.encode())
    for name in sorted(tensors):
        array = np.ascontiguousarray(tensors[name])
        digest.update(f"\n{name} {array.dtype.str} {array.shape}\n".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()


def _beside(path: Path) -> Path:
    """A name for a temporary file beside a file that is about to be written, if that can be."""
    if path.is_dir():
        raise IsADirectoryError(f"{str(path)!r} is a folder; name a file in it.")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"the folder {str(path.parent)!r} does not exist; make it first.")
    if path.exists() and not path.is_file():
        raise OSError(f"{str(path)!r} is neither a file nor free; it is left alone.")
    return path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
