"""The GPU, through CuPy, which is imported at the first use."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import resources
from typing import Any

from numpy.typing import NDArray

from gaussian_neurons.base import extras

MEMORY = 0.5  # part of the free memory of the GPU that samples may take


@cache
def cupy() -> Any:
    """The module `cupy`, if there is a GPU to use it with."""
    try:
        import cupy
    except ImportError:
        raise ModuleNotFoundError(
            f"backend='cuda' needs CuPy: {extras.install('cuda')}. Or use backend='native'."
        ) from None
    try:
        count = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        raise OSError(
            f"backend='cuda' needs an NVIDIA GPU, and CuPy found none ({error}). Use backend='native'."
        ) from None
    if not count:
        raise OSError("backend='cuda' needs an NVIDIA GPU, and there is none. Use backend='native'.")
    return cupy


@cache
def available() -> bool:
    """Whether there is a GPU, and CuPy to use it with."""
    try:
        cupy()
    except (ImportError, OSError):
        return False
    return True


@cache
def module(name: str, **constants: Any) -> Any:
    """A compiled source file of this folder with the given constants."""
    source = resources.files(__package__).joinpath(name).read_text(encoding="utf-8")
    options = [f"-D{constant}={value}" for constant, value in constants.items()]
    return cupy().RawModule(code=source, options=("-std=c++17", *options))


def sent(array: NDArray[Any]) -> Any:
    """A copy on the GPU.

    `cupy.asarray` would also allocate pinned memory, which waits for everything that the GPU does.
    """
    copy = cupy().empty(array.shape, array.dtype)
    copy.set(array)
    return copy


def received(array: Any) -> NDArray[Any]:
    """A copy on the host. The thread sleeps until the array is ready, where `asnumpy` would use a core."""
    ready = cupy().cuda.Event(block=True, disable_timing=True)
    ready.record()
    ready.synchronize()
    copy: NDArray[Any] = cupy().asnumpy(array)
    return copy


def real(dtype: Any) -> str:
    """The name of a precision in a kernel."""
    return {"float32": "float", "float64": "double"}[dtype.name]


def room() -> int:
    """How many bytes samples may take."""
    pool = cupy().get_default_memory_pool()
    free = cupy().cuda.runtime.memGetInfo()[0] + pool.free_bytes()
    return int(MEMORY * free)


@contextmanager
def memory_errors() -> Iterator[None]:
    """Turn CuPy's error into one that says what to do."""
    cupy()
    try:
        yield
    except cupy().cuda.memory.OutOfMemoryError as error:
        cupy().get_default_memory_pool().free_all_blocks()
        raise MemoryError(
            f"the memory of the GPU does not suffice: {error} The model is unchanged. Use fewer neurons, or "
            f"backend='native'."
        ) from None
