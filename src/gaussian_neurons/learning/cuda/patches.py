"""Rows on the GPU: copied there, or drawn there if they are patches of images."""

from collections.abc import Sequence
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


def on_gpu(several: Sequence[Array | Undrawn]) -> list[Any]:
    """Each of several arrays of rows (n, D) as an array on the GPU."""
    found = [None if isinstance(rows, Undrawn) else device.sent(rows) for rows in several]
    alike: dict[Any, list[int]] = {}
    for number, rows in enumerate(several):
        if isinstance(rows, Undrawn):
            stream = rows.stream
            alike.setdefault((id(stream.images), id(stream.chosen), stream.size, stream.dtype), []).append(
                number
            )
    for numbers in alike.values():
        drawn = _drawn([rows for number in numbers if isinstance(rows := several[number], Undrawn)])
        for number, array in zip(numbers, drawn, strict=True):
            found[number] = array
    return found


def _drawn(several: Sequence[Undrawn]) -> list[Any]:
    """Patches of the same images, drawn in one call."""
    cupy, stream, dimensions = device.cupy(), several[0].stream, several[0].shape[1]
    images, chosen, most = stream.images, stream.chosen, max(len(rows) for rows in several)
    module = device.module(
        "patches.cu",
        REAL=device.real(stream.dtype),
        PIXEL="float" if images.dtype == np.float32 else "unsigned char",
        D=dimensions,
    )
    out = cupy.empty((len(several), most, dimensions), stream.dtype)
    count = len(images) if chosen is None else len(chosen)
    sizes = [np.uint64(value) for value in (count, *images.shape[1:], stream.size)]
    own = [
        [rows.stream.seed for rows in several],
        [rows.first for rows in several],
        [len(it) for it in several],
    ]
    arrays = device.sent(np.array(own, np.uint64))
    choice = np.uint64(0) if chosen is None else _copy(chosen)
    given = (_copy(images), choice, *sizes, *arrays, np.uint64(most), out)
    module.get_function("draw")((-(-most // SAMPLES), len(several)), (THREADS,), given)
    return [out[number, : len(rows)] for number, rows in enumerate(several)]


def _copy(array: Array) -> Any:
    """A copy on the GPU, which stays there for later calls."""
    for original, copy in list(_copies):
        if original is array:
            return copy
    _copies.append((array, device.sent(array)))
    del _copies[:-MOST_COPIES]
    return _copies[-1][1]
