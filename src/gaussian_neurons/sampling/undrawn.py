"""Rows that are not in the memory of the host: those of a stream can be drawn on a GPU."""

from abc import ABC, abstractmethod
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from gaussian_neurons.sampling.images import Patches
from gaussian_neurons.sampling.stream import Chunk, Stream

Array = NDArray[Any]


class Elsewhere(ABC):
    """Rows (n, D) in place of an array: NumPy copies or draws those that it reads."""

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """(n, D)."""

    @property
    @abstractmethod
    def dtype(self) -> np.dtype[Any]:
        """Their precision."""

    @abstractmethod
    def __getitem__(self, rows: slice) -> Self: ...

    @abstractmethod
    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array: ...

    def __len__(self) -> int:
        return self.shape[0]

    def blocks(self, most: int) -> Iterator[tuple[int, Self]]:
        """Blocks of at most `most` rows: (index of the first row, rows)."""
        for begin in range(0, len(self), most):
            yield begin, self[begin : begin + most]


@dataclass(frozen=True, eq=False)
class Undrawn(Elsewhere):
    """Samples [first, first + count) of a stream.

    Examples
    --------
    >>> stream = Patches(np.zeros((1, 4, 4), np.uint8), size=3)
    >>> rows = Undrawn(stream, 0, 1_000_000)
    >>> len(rows), rows[-2:].first, np.asarray(rows[-2:]).shape
    (1000000, 999998, (2, 9))
    """

    stream: Patches
    first: int
    count: int

    @property
    def shape(self) -> tuple[int, int]:
        """(count, D)."""
        return self.count, self.stream.size**2 * self.stream.images.shape[3]

    @property
    def dtype(self) -> np.dtype[Any]:
        """That of the stream."""
        return self.stream.dtype

    def __getitem__(self, rows: slice) -> "Undrawn":
        begin, end, _ = rows.indices(self.count)
        return Undrawn(self.stream, self.first + begin, max(end - begin, 0))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.asarray(self.stream.draw(self.first, self.count).x, dtype)


def undrawn_chunks(
    stream: Stream, first: int, end: int | None, every: int, start: int
) -> Generator[Chunk, None, None]:
    """Chunks of patches that are not drawn yet, up to each multiple of `every` rows after `start`."""
    assert isinstance(stream, Patches)
    while end is None or first < end:
        count = every - (first - start) % every
        count = count if end is None else min(count, end - first)
        yield Chunk(Undrawn(stream, first, count))  # type: ignore[arg-type]  # in place of an array
        first += count
