"""Rows that are on the GPU already."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gaussian_neurons.learning.cuda import device
from gaussian_neurons.sampling.undrawn import Elsewhere

Array = NDArray[Any]


class RowsOnGPU(Elsewhere):
    """Rows that a GPU learns from where they are.

    Parameters
    ----------
    array : of CuPy, (n, D)
    """

    def __init__(self, array: Any) -> None:
        self.array = array

    @classmethod
    def shared(cls, tensor: Any) -> "RowsOnGPU | None":
        """In the memory of a tensor, such as one of PyTorch; None if it is not on the GPU in use."""
        if tensor.__dlpack_device__()[1] != device.cupy().cuda.runtime.getDevice():
            return None
        return cls(device.cupy().from_dlpack(tensor))

    @property
    def shape(self) -> tuple[int, int]:
        """(n, D)."""
        rows, columns = self.array.shape
        return rows, columns

    @property
    def dtype(self) -> np.dtype[Any]:
        """Their precision."""
        found: np.dtype[Any] = self.array.dtype
        return found

    def __getitem__(self, rows: slice) -> "RowsOnGPU":
        return RowsOnGPU(self.array[rows])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.asarray(device.received(self.array), dtype)

    def contiguous(self, dtype: Any) -> "RowsOnGPU":
        """The same in a precision, as kernels read them."""
        with device.memory_errors():
            return RowsOnGPU(device.cupy().ascontiguousarray(self.array, dtype))

    def before_bad(self) -> int:
        """How many rows come before the first one that is not finite."""
        finite = device.cupy().isfinite(self.array).all(axis=1)
        return len(self) if finite.all() else int(finite.argmin())
