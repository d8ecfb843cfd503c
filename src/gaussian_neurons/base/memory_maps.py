"""Give back the pages of a memory-mapped array once they have been read."""

import mmap
from typing import Any

import numpy as np
from numpy.typing import NDArray


def mapping_of(array: NDArray[Any]) -> mmap.mmap | None:
    """The file mapping behind an array, if its pages can be dropped and read again from the file.

    A copy-on-write mapping (mode "c") keeps the caller's own changes in its pages: it is left alone.
    """
    at: Any = array
    while isinstance(at, np.ndarray):
        if isinstance(at, np.memmap):
            mapping = getattr(at, "_mmap", None)
            droppable = at.mode in ("r", "r+", "w+") and hasattr(mmap, "MADV_DONTNEED")
            return mapping if droppable else None
        at = at.base
    return None


def release(mapping: mmap.mmap | None) -> None:
    """Drop the pages of a mapping from this process; the file and its cache keep them."""
    if mapping is not None:
        mapping.madvise(mmap.MADV_DONTNEED)
