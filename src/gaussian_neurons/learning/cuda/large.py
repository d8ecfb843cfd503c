"""A large layer on a GPU, by matrix products between the kernels of `large.cu`."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gaussian_neurons.learning.cuda import device
from gaussian_neurons.learning.cuda.patches import on_gpu
from gaussian_neurons.learning.cuda.task import Layer, Task

Array = NDArray[Any]

THREADS, TILE, TILE_ROWS = 256, 32, 8  # as in large.cu
FLOAT, DOUBLE, FLOAT64, TF32, DEFAULT = 0, 1, 70, 77, -1  # names of cuBLAS
ROWS_AT_ONCE = 4096  # on the GPU


def learn(tasks: Sequence[Task]) -> list[Layer]:
    """The layers after their tasks, one after another."""
    return [_learn(task) for task in tasks]


def _learn(task: Task) -> Layer:
    cupy, rule, layer = device.cupy(), task.rule, _Layer(task)
    for begin in range(0, len(task.samples), ROWS_AT_ONCE):
        (rows,) = on_gpu([task.samples[begin : begin + ROWS_AT_ONCE]])
        layer.measure(rows[0])
        for row in range(len(rows)):
            repels = (task.seen + begin + row + 1) % rule.repulsion_every == 0
            inhibition = rule.inhibition * rule.repulsion_every if repels else 0.0
            layer.move(inhibition, rows[min(row + 1, len(rows) - 1)])
        cupy.cuda.get_current_stream().synchronize()
    return layer.now()


class _Layer:
    """The arrays of a layer on the GPU; K is padded to whole tiles."""

    def __init__(self, task: Task) -> None:
        cupy, (neurons, dimensions) = device.cupy(), task.centers.shape
        self.real, split = task.centers.dtype.type, task.centers.dtype == np.float32
        self.rate = task.rule.learning_rate
        padded = -(-neurons // TILE) * TILE
        pitch = -(-(dimensions + 1) // 4) * 4

        def zeros(*shape: int) -> Any:
            return cupy.zeros(shape, self.real)

        parts, pushed = zeros((3 if split else 1) * padded, pitch), zeros(padded, pitch)
        parts.reshape(-1, padded, pitch)[::2, :, dimensions] = 1  # of the high parts
        products = zeros(padded, (2 if split else 1) * padded)
        weights = zeros(padded, len(parts))
        norms, pulls = zeros(padded), zeros(padded)
        self.centers, self.widths = cupy.asarray(task.centers), cupy.asarray(task.widths)
        constants = {"REAL": device.real(parts.dtype), "K": padded, "NEURONS": neurons, "D": dimensions}
        module = device.module("large.cu", **constants, PITCH=pitch, SPLIT=int(split))
        self._step, weigh = module.get_function("step"), module.get_function("weigh")
        self._arrays = (parts, pushed, norms, pulls, self.widths)
        tiles, threads = (padded // TILE,) * 2, (TILE, TILE_ROWS)
        self._sums_of_pushes = (
            _product(products, parts[:padded], parts[: products.shape[1]], dimensions, transposed=True),
            partial(weigh, tiles, threads, (products, norms, self.widths, weights)),
            _product(pushed, weights, parts, len(parts)),
        )
        self._grid = (neurons,), (THREADS,)

    def measure(self, row: Any) -> None:
        """Set the centers relative to a sample, their squares and their responses."""
        self._to(row, against=0.0, moves=False)

    def move(self, inhibition: float, row: Any) -> None:
        """The step of Equation 1 for that sample; then the same as `measure` for another one."""
        if inhibition > 0:
            for compute in self._sums_of_pushes:
                compute()
        self._to(row, self.rate * inhibition, moves=True)

    def _to(self, row: Any, against: float, moves: bool) -> None:
        numbers = (self.real(self.rate), self.real(against), np.int32(moves), np.int32(against > 0))
        self._step(*self._grid, (self.centers, row, *self._arrays, *numbers))

    def now(self) -> Layer:
        """Centers and widths."""
        return device.received(self.centers), device.received(self.widths)


def _product(out: Any, a: Any, b: Any, inner: int, transposed: bool = False) -> Callable[[], Any]:
    """A function that computes out = a b, or a b^T. TF32 numbers are multiplied exactly."""
    from cupy_backends.cuda.libs import cublas

    number, arithmetic = (FLOAT, TF32) if out.dtype == np.float32 else (DOUBLE, FLOAT64)
    factors = np.array([1, 0], out.dtype)  # of the product, and of what `out` was before
    of_a, of_b, of_out = [(it.data.ptr, number, it.strides[0] // it.itemsize) for it in (a, b, out)]
    sizes = (int(transposed), 0, len(b) if transposed else b.shape[1], len(a), inner)
    handle = device.cupy().cuda.device.get_cublas_handle()

    def compute() -> None:
        one = factors.ctypes.data
        zero = one + factors.itemsize  # cuBLAS reads columns: out^T = b^T a^T
        cublas.gemmEx(handle, *sizes, one, *of_b, *of_a, zero, *of_out, arithmetic, DEFAULT)

    return compute
