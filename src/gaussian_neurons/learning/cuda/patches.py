"""Rows on the GPU: copied there, or drawn there if they are patches of images."""

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gaussian_neurons.learning.cuda import device
from gaussian_neurons.learning.cuda.rows import RowsOnGPU
from gaussian_neurons.learning.cuda.task import place
from gaussian_neurons.sampling.undrawn import Elsewhere, Undrawn

Array = NDArray[Any]

SAMPLES = 64  # of a block, as in patches.cu
THREADS = 256
MOST_COPIES = 4  # of image sets that stay on the GPU

_copies: list[tuple[Array, Any]] = []  # arrays, and what they are there
_copying = threading.Lock()


def on_gpu(several: Sequence[Array | Elsewhere]) -> list[Any]:
    """Each of several arrays of rows (n, D) as an array on the GPU."""
    found = [_now_on_gpu(rows) for rows in several]
    alike: dict[Any, list[int]] = {}
    for number, rows in enumerate(several):
        if isinstance(rows, Undrawn):
            stream = rows.stream
            alike.setdefault((place(stream.images), stream.size, stream.dtype), []).append(number)
    for numbers in alike.values():
        drawn = _drawn([rows for number in numbers if isinstance(rows := several[number], Undrawn)])
        for number, array in zip(numbers, drawn, strict=True):
            found[number] = array
    return found


def _now_on_gpu(rows: Array | Elsewhere) -> Any:
    if isinstance(rows, Elsewhere):
        return rows.array if isinstance(rows, RowsOnGPU) else None
    return device.sent(rows)


def _drawn(several: Sequence[Undrawn]) -> list[Any]:
    """Patches of the same images, drawn in one call."""
    cupy, stream, dimensions = device.cupy(), several[0].stream, several[0].shape[1]
    images, most = stream.images, max(len(rows) for rows in several)
    module = device.module(
        "patches.cu",
        REAL=device.real(stream.dtype),
        PIXEL="float" if images.dtype == np.float32 else "unsigned char",
        D=dimensions,
    )
    out = cupy.empty((len(several), most, dimensions), stream.dtype)
    chosen = [rows.stream.chosen for rows in several]
    counts = [0 if it is None else len(it) for it in chosen]
    begins = np.cumsum([0, *counts])
    numbers = device.sent(np.concatenate([np.zeros(0, np.int64), *(it for it in chosen if it is not None)]))
    of_streams = [
        (
            rows.stream.seed,
            rows.first,
            len(rows),
            count or len(images),
            numbers.data.ptr + 8 * int(begin) if count else 0,
        )
        for rows, count, begin in zip(several, counts, begins, strict=False)
    ]
    columns = device.sent(np.array(of_streams, np.uint64).T.copy())
    sizes = [np.uint64(value) for value in (*images.shape[1:], stream.size)]
    given = (_copy(images), *sizes, *columns, np.uint64(most), out)
    module.get_function("draw")((-(-most // SAMPLES), len(several)), (THREADS,), given)
    return [out[number, : len(rows)] for number, rows in enumerate(several)]


def _copy(array: Array) -> Any:
    """A copy on the GPU, which stays there for later calls, of other threads too."""
    with _copying:
        for original, copy in _copies:
            if place(original) == place(array):
                return copy
        cupy = device.cupy()
        with cupy.cuda.using_allocator(None):  # not of the pool: to free it waits for all that use it
            copy = device.sent(array)
        cupy.cuda.get_current_stream().synchronize()  # other threads use other CUDA streams
        _copies.append((array, copy))
        del _copies[:-MOST_COPIES]
        return copy
