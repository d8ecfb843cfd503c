"""Arrays and facts in one safetensors file: checked when read, replaced as a whole when written."""

import hashlib
import io
import json
import os
from collections.abc import Mapping
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load as deserialize
from safetensors.numpy import save as serialize

from gaussian_neurons.base.files import full_path, replace_file
from gaussian_neurons.base.json_text import parsed

FORMAT = "gaussian-neurons"
VERSION = 8
MAX_HEADER = 100_000_000  # bytes, as in safetensors


def write(path: str | os.PathLike[str], arrays: Mapping[str, NDArray[Any]], facts: Mapping[str, Any]) -> None:
    """Write a model file, or leave the old one as it was.

    A temporary file beside it is flushed to the disk and then renamed: a crash or a full disk in between
    loses nothing.
    """
    replace_file(full_path(path), packed(arrays, facts))


def packed(arrays: Mapping[str, NDArray[Any]], facts: Mapping[str, Any]) -> bytes:
    """What `write` writes."""
    tensors = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    text = json.dumps(dict(facts), sort_keys=True, allow_nan=False)
    metadata = {
        "format": FORMAT,
        "format_version": str(VERSION),
        "facts": text,
        "sha256": _digest(tensors, text),
    }
    data: bytes = serialize(tensors, metadata=metadata)
    return data


def read(path: str | os.PathLike[str]) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Read a model file: (arrays, facts). Nothing in the file is run.

    Raises FileNotFoundError if there is none, and ValueError for a file that is truncated, foreign, of
    another version or changed since it was written.
    """
    place = full_path(path)
    if not place.exists():
        raise FileNotFoundError(f"no model file at {str(place)!r}.")
    if place.is_dir():
        raise IsADirectoryError(f"{str(place)!r} is a folder. Name the model file in it.")
    if not place.is_file():  # opening a pipe would wait for its writer
        raise ValueError(f"{str(place)!r} is not a regular file. Use a file that save() wrote.")
    with open(place, "rb") as file:
        return _read(file, repr(str(place)))


def unpacked(data: bytes, name: str) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """The arrays and facts that `packed` packed; messages call them by the name."""
    return _read(io.BytesIO(data), name)


def _read(file: BinaryIO, name: str) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    try:
        begin = file.read(8)
        length = int.from_bytes(begin, "little")
        if length > MAX_HEADER:
            raise ValueError("its header is too long")
        header = file.read(length)
        metadata = dict(parsed(header).get("__metadata__") or {})
    except (ValueError, TypeError, AttributeError) as error:
        raise _unreadable(name, error) from error
    if metadata.get("format") != FORMAT:
        raise ValueError(
            f"{name} is a safetensors file, but not a model of this library: its format is "
            f"{metadata.get('format')!r}, expected {FORMAT!r}."
        )
    _check_version(name, str(metadata.get("format_version", "")))
    try:
        tensors = deserialize(begin + header + file.read())  # a mapped file may be shortened meanwhile
    except (SafetensorError, ValueError, TypeError, AttributeError, KeyError) as error:
        raise _unreadable(name, error) from error
    text = metadata.get("facts", "")
    if metadata.get("sha256") != _digest(tensors, text):
        raise ValueError(
            f"{name} was changed after it was written: its checksum does not match its contents. "
            f"Use an unchanged copy, or save the model again."
        )
    try:
        return tensors, parsed(text)
    except ValueError as error:
        raise ValueError(f"{name} is not a complete model ({error}).") from error


def digest(arrays: Mapping[str, NDArray[Any]], facts: Mapping[str, Any]) -> str:
    """SHA-256 over arrays and facts: equal for equal models."""
    return _digest(arrays, json.dumps(dict(facts), sort_keys=True, allow_nan=False))


def _unreadable(name: str, error: Exception) -> ValueError:
    return ValueError(
        f"{name} cannot be read as a model: it is truncated, damaged or not a model file ({error}). "
        f"Use a file that save() wrote."
    )


def _check_version(name: str, found: str) -> None:
    if not (found.isdecimal() and len(found) < 10 and int(found)):
        raise ValueError(f"{name} names no valid format version: {found!r}.")
    if int(found) > VERSION:
        raise ValueError(
            f"{name} was written by a newer version of this library (format {found}; this "
            f"version reads format {VERSION}). Upgrade gaussian-neurons to read it."
        )
    if int(found) < VERSION:
        raise ValueError(
            f"{name} was written before version 0.2.0 (format {found}; this version reads "
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
