"""Arrays and facts in one safetensors file: checked when read, replaced as a whole when written."""

import hashlib
import json
import os
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save as serialize

from gaussian_neurons.base.files import replace_file

FORMAT = "gaussian-neurons"
VERSION = 2


def write(path: str | os.PathLike[str], arrays: Mapping[str, NDArray[Any]], facts: Mapping[str, Any]) -> None:
    """Write a model file, or leave the old one as it was.

    A temporary file beside it is flushed to the disk and then renamed: a crash or a full disk in between
    loses nothing.
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

    Raises FileNotFoundError if there is none, and ValueError for a file that is truncated, foreign, of
    another version or changed since it was written.
    """
    try:
        with open(path, "rb"):
            pass  # Python's errors for an absent file, a folder or no permission are clear
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
            f"{os.fspath(path)!r} cannot be read as a model: it is truncated, damaged or not a model file "
            f"({error}). Use a file that save() wrote."
        ) from error
    text = metadata.get("facts", "")
    if metadata.get("sha256") != _digest(tensors, text):
        raise ValueError(
            f"{os.fspath(path)!r} was changed after it was written: its checksum does not match its "
            f"contents. Use an unchanged copy, or save the model again."
        )
    try:
        return tensors, json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{os.fspath(path)!r} is not a complete model ({error}).") from error


def digest(arrays: Mapping[str, NDArray[Any]], facts: Mapping[str, Any]) -> str:
    """SHA-256 over arrays and facts: equal for equal models."""
    return _digest(arrays, json.dumps(dict(facts), sort_keys=True, allow_nan=False))


def _check_version(path: str | os.PathLike[str], found: str) -> None:
    if not found.isdecimal() or int(found) < 1:
        raise ValueError(f"{os.fspath(path)!r} names no valid format version: {found!r}.")
    if int(found) > VERSION:
        raise ValueError(
            f"{os.fspath(path)!r} was written by a newer version of this library (format {found}; this "
            f"version reads format {VERSION}). Upgrade gaussian-neurons to read it."
        )
    if int(found) < VERSION:
        raise ValueError(
            f"{os.fspath(path)!r} was written before the first release (format {found}; this version reads "
            f"format {VERSION}). Train the model again."
        )


def _digest(tensors: Mapping[str, NDArray[Any]], text: str) -> str:
    """SHA-256 over all contents of a model file."""
    digest = hashlib.sha256(text.encode())
    for name in sorted(tensors):
        array = np.ascontiguousarray(tensors[name])
        digest.update(f"\n{name} {array.dtype.str} {array.shape}\n".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()
