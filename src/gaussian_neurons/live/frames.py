"""Facts and arrays → one binary message: a JSON header, followed by the arrays."""

import json
import struct
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

ALIGNMENT = 8  # bytes; every array begins at a multiple of it
DTYPES = {np.dtype(name): name for name in ("f4", "f8", "u1", "i4")}
LOWEST, RANGE = -0.5, 2.0  # the 256 levels of a pixel span [-0.5, 1.5]


def encoded(facts: Mapping[str, Any], arrays: Mapping[str, Array]) -> bytes:
    """The bytes of a message: header length, header with facts and places of the arrays after it, arrays."""
    end, layout, parts = 0, {}, []
    for name, array in arrays.items():
        layout[name] = {"dtype": DTYPES[array.dtype], "shape": list(array.shape), "offset": end}
        end += _aligned(array.nbytes)
        parts.append(np.ascontiguousarray(array).tobytes().ljust(_aligned(array.nbytes), b"\0"))
    header = json.dumps({**facts, "arrays": layout}, allow_nan=False).encode()
    size = _aligned(4 + len(header)) - 4
    return b"".join([struct.pack("<I", size), header.ljust(size), *parts])


def pixels(values: Array) -> NDArray[np.uint8]:
    """Values as pixel levels: -0.5 is 0, 1.5 is 255, values outside are clipped."""
    levels = np.clip((values - LOWEST) * (255 / RANGE), 0, 255)
    return np.rint(levels).astype(np.uint8)


def _aligned(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT
