"""Release the pages of a memory-mapped array after reading."""

import mmap
from typing import Any

import numpy as np
from numpy.typing import NDArray


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
