"""Facts and arrays → the bytes of one binary message: a JSON header, then the arrays as they lie."""

import json
import struct
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

ALIGNED = 8  # bytes: where arrays begin
KINDS = {np.dtype(kind): kind for kind in ("f4", "f8", "u1", "i4")}
BELOW, RANGE = -0.5, 2.0  # what the 256 levels of a pixel span


def encoded(facts: Mapping[str, Any], arrays: Mapping[str, Array]) -> bytes:
    """A header with the facts and where each array lies, and the arrays."""
    begin, places = 0, {}
    for name, array in arrays.items():
        places[name] = (begin, array)
        begin += -(-array.nbytes // ALIGNED) * ALIGNED
    size = 0
    while True:  # offsets are part of the header, whose length they depend on
        told = {
            name: {"dtype": KINDS[array.dtype], "shape": list(array.shape), "offset": size + offset}
            for name, (offset, array) in places.items()
        }
        text = json.dumps({**facts, "arrays": told}, allow_nan=False).encode()
        needed = -(-(4 + len(text)) // ALIGNED) * ALIGNED
        if needed <= size:
            break
        size = needed
    parts = [struct.pack("<I", size - 4), text.ljust(size - 4)]
    for _, array in places.values():
        data = np.ascontiguousarray(array).tobytes()
        parts.append(data.ljust(-(-len(data) // ALIGNED) * ALIGNED, b"\0"))
    return b"".join(parts)


def decoded(message: bytes) -> tuple[dict[str, Any], dict[str, Array]]:
    """The same, back: for tests and clients in Python."""
    (length,) = struct.unpack_from("<I", message)
    facts = json.loads(message[4 : 4 + length])
    kinds: dict[str, Any] = {name: dtype for dtype, name in KINDS.items()}
    arrays = {}
    for name, about in facts.pop("arrays").items():
        count = int(np.prod(about["shape"], dtype=np.int64))
        flat = np.frombuffer(message, kinds[about["dtype"]], count, about["offset"])
        arrays[name] = flat.reshape(about["shape"])
    return facts, arrays


def pixels(values: Array) -> NDArray[np.uint8]:
    """Values as the levels that a picture shows: -0.5 is 0, 1.5 is 255."""
    levels = np.clip((values - BELOW) * (255 / RANGE), 0, 255)
    return np.rint(levels).astype(np.uint8)
