"""Many small layers at once on a GPU: `many.cu`."""

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gaussian_neurons.learning.cuda import device
from gaussian_neurons.learning.cuda.patches import on_gpu
from gaussian_neurons.learning.cuda.task import Layer, Task, stacked

Array = NDArray[Any]

MOST_NEURONS, MOST_DIMENSIONS = 256, 64  # of a layer, if widths are given; large.py is faster above
MOST_THREADS = 1024  # a neuron each


def suits(task: Task) -> bool:
    """Whether layers of this kind are learned here."""
    neurons, dimensions = task.centers.shape
    return task.learns_widths or (neurons <= MOST_NEURONS and dimensions <= MOST_DIMENSIONS)


def learn(tasks: Sequence[Task]) -> list[Layer]:
    """The layers of tasks of one kind after them; in turns, if the GPU's memory does not hold all layers."""
    most = max(1, device.room() // (4 * tasks[0].centers.nbytes))
    found: list[Layer] = []
    for begin in range(0, len(tasks), most):
        found += _learn(tasks[begin : begin + most])
    return found


def _learn(tasks: Sequence[Task]) -> list[Layer]:
    first = tasks[0]
    dtype = first.centers.dtype
    kernel, threads, at_once, memory = _kernel(first.kind)
    centers, widths = map(device.sent, stacked([(task.centers, task.widths) for task in tasks]))
    rules = device.sent(np.array([task.rule for task in tasks], np.float64))
    seen = np.array([task.seen for task in tasks], np.uint64)
    streams = {id(task.samples): task for task in tasks}  # each is copied to the GPU once
    numbers = dict(zip(streams, range(len(streams)), strict=True))
    of_layers = [numbers[id(task.samples)] for task in tasks]
    of_row = len(streams) * (first.centers.shape[1] + 1) * dtype.itemsize
    rows = max(1, device.room() // of_row)
    for begin in range(0, max(len(task.samples) for task in tasks), rows):
        parts = [task.part(begin, begin + rows) for task in streams.values()]
        samples = on_gpu([part.samples for part in parts])
        own = samples  # not read
        if first.learns_widths:
            own = [device.sent(np.asarray(part.sample_widths, dtype)) for part in parts]
        of_streams = [(x.data.ptr, its.data.ptr, len(x)) for x, its in zip(samples, own, strict=True)]
        places, places_of_widths, counts = np.array(of_streams, np.uint64)[of_layers].T
        columns = device.sent(np.array([places, places_of_widths, seen + np.uint64(begin), counts]))
        arrays = (centers, widths, *columns, rules, np.int32(len(tasks)))
        kernel((-(-len(tasks) // at_once),), (threads,), arrays, shared_mem=memory)
    return list(zip(device.received(centers), device.received(widths), strict=True))


@cache
def _kernel(kind: tuple[int, int, str, bool, bool]) -> tuple[Any, int, int, int]:
    """The kernel for layers of a kind; the threads of a block, its layers, and its shared memory."""
    cupy, (neurons, dimensions, dtype, equal, learns_widths) = device.cupy(), kind
    needs = f"backend='cuda' cannot learn the widths of {neurons} neurons with {dimensions} dimensions"
    if neurons > MOST_THREADS:
        raise ValueError(f"{needs}: at most {MOST_THREADS} neurons. Use backend='native'.")
    module = device.module(
        "many.cu",
        REAL=device.real(np.dtype(dtype)),
        K=neurons,
        D=dimensions,
        EQUAL=int(equal),
        LEARNS_WIDTHS=int(learns_widths),
        UNROLLED=max(1, min(8, 200 // dimensions)),
    )
    found = cupy.empty(3, np.int32)
    module.get_function("sizes")((1,), (1,), (found,))
    threads, at_once, of_layer = found.tolist()
    memory = at_once * of_layer
    kernel = module.get_function("learn")
    most = cupy.cuda.Device().attributes["MaxSharedMemoryPerBlockOptin"]
    if memory > most:
        raise ValueError(
            f"{needs}: they need {memory} bytes of shared memory, of which this GPU has {most}. Use "
            f"backend='native'."
        )
    kernel.max_dynamic_shared_size_bytes = memory
    return kernel, threads, at_once, memory
