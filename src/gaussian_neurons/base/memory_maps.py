"""Rows of large arrays in blocks; the pages of a memory-mapped file are released once they were read."""

import mmap
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

NUMBERS_AT_ONCE = 1 << 20  # numbers in a block that has to be copied, or that is mapped from a file
FLOATS = (np.dtype(np.float32), np.dtype(np.float64))


def mapped(array: NDArray[Any]) -> np.memmap[Any, Any] | None:
    """The memory map behind an array, None if there is none."""
    base: Any = array
    while isinstance(base, np.ndarray):
        if isinstance(base, np.memmap):
            return base if getattr(base, "_mmap", None) is not None else None
        base = base.base
    return None


def release(array: NDArray[Any]) -> None:
    """Release the pages of a mapped array from this process; they stay in the file and its cache.

    The pages of a copy-on-write map (mode "c") stay: they hold the changes of the caller.
    """
    map = mapped(array)
    if map is not None and map.mode != "c" and hasattr(mmap, "MADV_DONTNEED"):
        map._mmap.madvise(mmap.MADV_DONTNEED)  # type: ignore[attr-defined]


def require_whole(array: NDArray[Any]) -> None:
    """Raise a ValueError if the file behind a mapped array was shortened: access would kill the process."""
    map = mapped(array)
    if map is None:
        return
    mapping: mmap.mmap = map._mmap  # type: ignore[attr-defined]
    needed = map.offset // mmap.ALLOCATIONGRANULARITY * mmap.ALLOCATIONGRANULARITY + len(mapping)
    if mapping.size() < needed:
        raise ValueError(
            f"the memory-mapped file {str(map.filename)!r} was shortened to {mapping.size()} bytes; "
            f"{needed} are needed. Map it again."
        )


def row_blocks(x: NDArray[Any], most: int | None = None) -> Iterator[tuple[int, NDArray[Any]]]:
    """Blocks of at most `most` rows as floats: (index of the first row, rows).

    Float arrays are not copied. Others (integers, another byte order, odd strides) are converted block by
    block. Pages of a memory-mapped file are released after each block.
    """
    flags = x.flags
    whole_steps = flags.c_contiguous or all(stride % x.itemsize == 0 for stride in x.strides)
    in_place = x.dtype in FLOATS and flags.aligned and whole_steps
    map = mapped(x)
    one_block = in_place and map is None
    if one_block and len(x) and (most is None or len(x) <= most):
        yield 0, x
        return
    size = len(x) if one_block else NUMBERS_AT_ONCE // max(x.shape[1], 1) + 1
    size = max(1, size if most is None else min(size, most))
    for begin in range(0, len(x), size):
        if map is not None:
            require_whole(map)
        rows = x[begin : begin + size]
        yield begin, rows if in_place else np.require(rows, np.float64, ["C", "ALIGNED"])
        if map is not None:
            release(map)
