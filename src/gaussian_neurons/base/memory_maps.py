"""Rows of large arrays in blocks; the pages of a memory-mapped file are released once they were read."""

import mmap
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

NUMBERS_AT_ONCE = 1 << 20  # numbers in a block that has to be copied, or that is mapped from a file
FLOATS = (np.dtype(np.float32), np.dtype(np.float64))


def mapping_of(array: NDArray[Any]) -> mmap.mmap | None:
    """The file mapping behind an array, or None if its pages must not be released.

    Releasing the pages of a copy-on-write mapping (mode "c") would lose the caller's changes.
    """
    base: Any = array
    while isinstance(base, np.ndarray):
        if isinstance(base, np.memmap):
            mapping = getattr(base, "_mmap", None)
            releasable = base.mode in ("r", "r+", "w+") and hasattr(mmap, "MADV_DONTNEED")
            return mapping if releasable else None
        base = base.base
    return None


def release(mapping: mmap.mmap | None) -> None:
    """Release the pages of a mapping from this process; they stay in the file and its cache."""
    if mapping is not None:
        mapping.madvise(mmap.MADV_DONTNEED)


def row_blocks(x: NDArray[Any], most: int | None = None) -> Iterator[tuple[int, NDArray[Any]]]:
    """Blocks of at most `most` rows as floats: (index of the first row, rows).

    Float arrays are not copied. Others (integers, another byte order, odd strides) are converted block by
    block. Pages of a memory-mapped file are released after each block.
    """
    flags = x.flags
    whole_steps = flags.c_contiguous or all(stride % x.itemsize == 0 for stride in x.strides)
    in_place = x.dtype in FLOATS and flags.aligned and whole_steps
    mapping = mapping_of(x)
    one_block = in_place and mapping is None
    if one_block and len(x) and (most is None or len(x) <= most):
        yield 0, x
        return
    size = len(x) if one_block else NUMBERS_AT_ONCE // max(x.shape[1], 1) + 1
    size = max(1, size if most is None else min(size, most))
    for begin in range(0, len(x), size):
        rows = x[begin : begin + size]
        yield begin, rows if in_place else np.ascontiguousarray(rows, np.float64)
        if mapping is not None:
            release(mapping)
