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
    return _releasable(_mapped(array))


def release(mapping: mmap.mmap | None) -> None:
    """Release the pages of a mapping from this process; they stay in the file and its cache."""
    if mapping is not None:
        mapping.madvise(mmap.MADV_DONTNEED)


def require_whole(array: NDArray[Any]) -> None:
    """Raise a ValueError if the file behind a mapped array was shortened: access would kill the process."""
    _require_whole(_mapped(array))


def row_blocks(x: NDArray[Any], most: int | None = None) -> Iterator[tuple[int, NDArray[Any]]]:
    """Blocks of at most `most` rows as floats: (index of the first row, rows).

    Float arrays are not copied. Others (integers, another byte order, odd strides) are converted block by
    block. Pages of a memory-mapped file are released after each block.
    """
    flags = x.flags
    whole_steps = flags.c_contiguous or all(stride % x.itemsize == 0 for stride in x.strides)
    in_place = x.dtype in FLOATS and flags.aligned and whole_steps
    mapped = _mapped(x)
    one_block = in_place and mapped is None
    if one_block and len(x) and (most is None or len(x) <= most):
        yield 0, x
        return
    size = len(x) if one_block else NUMBERS_AT_ONCE // max(x.shape[1], 1) + 1
    size = max(1, size if most is None else min(size, most))
    for begin in range(0, len(x), size):
        _require_whole(mapped)
        rows = x[begin : begin + size]
        yield begin, rows if in_place else np.ascontiguousarray(rows, np.float64)
        if mapped is not None:
            release(_releasable(mapped))


def _mapped(array: NDArray[Any]) -> np.memmap[Any, Any] | None:
    """The memory map behind an array."""
    base: Any = array
    while isinstance(base, np.ndarray):
        if isinstance(base, np.memmap):
            return base if getattr(base, "_mmap", None) is not None else None
        base = base.base
    return None


def _releasable(mapped: np.memmap[Any, Any] | None) -> mmap.mmap | None:
    if mapped is None or mapped.mode not in ("r", "r+", "w+") or not hasattr(mmap, "MADV_DONTNEED"):
        return None
    mapping: mmap.mmap = mapped._mmap  # type: ignore[attr-defined]
    return mapping


def _require_whole(mapped: np.memmap[Any, Any] | None) -> None:
    if mapped is None:
        return
    mapping: mmap.mmap = mapped._mmap  # type: ignore[attr-defined]
    needed = mapped.offset // mmap.ALLOCATIONGRANULARITY * mmap.ALLOCATIONGRANULARITY + len(mapping)
    if mapping.size() < needed:
        raise ValueError(
            f"the memory-mapped file {str(mapped.filename)!r} was shortened to {mapping.size()} bytes; "
            f"{needed} are needed. Map it again."
        )
