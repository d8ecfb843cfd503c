"""Rows on the GPU: copied there, or drawn there if they are patches of images."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gaussian_neurons.learning.cuda import device
from gaussian_neurons.sampling.undrawn import Undrawn

Array = NDArray[Any]

SAMPLES = 64  # of a block, as in patches.cu
THREADS = 256
MOST_COPIES = 4  # of image sets that stay on the GPU

_copies: list[tuple[Array, Any]] = []  # arrays, and what they are there


def on_gpu(rows: Array | Undrawn) -> Any:
    """Rows (n, D) as an array on the GPU."""
    if not isinstance(rows, Undrawn):
        return device.cupy().asarray(rows)
    stream, (count, dimensions) = rows.stream, rows.shape
    images, chosen = stream.images, stream.chosen
    module = device.module(
        "patches.cu",
        REAL=device.real(stream.dtype),
        PIXEL="float" if images.dtype == np.float32 else "unsigned char",
        D=dimensions,
    )
    out = device.cupy().empty((count, dimensions), stream.dtype)
    sizes = (len(images) if chosen is None else len(chosen), *images.shape[1:], stream.size)
    numbers = [np.uint64(value) for value in (*sizes, stream.seed, rows.first, count)]
    choice = np.uint64(0) if chosen is None else _copy(chosen)
    module.get_function("draw")((-(-count // SAMPLES),), (THREADS,), (_copy(images), choice, *numbers, out))
    return out


def _copy(array: Array) -> Any:
    """A copy on the GPU, which stays there for later calls."""
    for original, copy in list(_copies):
        if original is array:
            return copy
    _copies.append((array, device.cupy().asarray(array)))
    del _copies[:-MOST_COPIES]
    return _copies[-1][1]
