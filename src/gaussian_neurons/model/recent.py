"""The most recent samples of a stream, as a value."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gaussian_neurons.base.covariances import TYPES
from gaussian_neurons.model.scaling import Scaling

Array = NDArray[Any]


def window_for(dimensions: int, each: tuple[int, ...] = ()) -> int:
    """How many samples are kept: 1000; fewer if they are very long, so that they take at most 64 MiB.

    `each` is the shape of their widths: () for numbers, (D,) or (D, D) for covariances.
    """
    numbers = dimensions + (math.prod(each) if each else 0)
    return int(np.clip((1 << 23) // numbers, 100, 1000))


@dataclass
class _Buffer:
    """Memory that successive values of `Recent` share: rows are appended and never changed."""

    rows: Array  # (capacity, D)
    widths: Array  # (capacity,), (capacity, D) or (capacity, D, D)
    used: int  # rows that belong to some value


@dataclass(frozen=True, eq=False)
class Recent:
    """The last `window` samples. Appending gives a new value and leaves this one as it is.

    Examples
    --------
    >>> recent = Recent.empty(2, np.float64, window=3).extended(np.arange(8.0).reshape(4, 2), None)
    >>> recent.samples
    array([[6., 7.],
           [2., 3.],
           [4., 5.]])
    """

    buffer: _Buffer
    end: int  # rows of the buffer that belong to this value
    received: int  # samples appended so far
    window: int
    scaling: Scaling | None = None  # of the columns that neurons see; None: the numbers as they are

    @classmethod
    def empty(
        cls, dimensions: int, dtype: Any, window: int | None = None, each: tuple[int, ...] = ()
    ) -> "Recent":
        """No samples yet; `each` is the shape of a width or covariance."""
        length = window_for(dimensions, each) if window is None else window
        capacity = length + length // 2
        buffer = _Buffer(np.empty((capacity, dimensions), dtype), np.empty((capacity, *each)), 0)
        return cls(buffer, 0, 0, length)

    @classmethod
    def restored(
        cls, samples: Array, widths: Array, received: int, scaling: Scaling | None = None
    ) -> "Recent":
        """From `raw` and `widths`, as they were."""
        empty = cls.empty(samples.shape[1], samples.dtype, each=widths.shape[1:])
        first = max(0, received - empty.window) % empty.window
        full = empty.extended(np.roll(samples, -first, axis=0), np.roll(widths, -first, axis=0))
        return cls(full.buffer, full.end, received, full.window, scaling)

    @property
    def dtype(self) -> Any:
        """The precision of the samples."""
        return self.buffer.rows.dtype

    @property
    def n_features(self) -> int:
        """D."""
        return int(self.buffer.rows.shape[1])

    @property
    def covariance_type(self) -> str:
        """The type of their own widths or covariances."""
        return TYPES[self.buffer.widths.ndim - 1]

    @property
    def raw(self) -> Array:
        """The samples, (n, D): sample t is in row t mod window, so that the order depends on t alone."""
        return self._in_rows(self.buffer.rows)

    @property
    def samples(self) -> Array:
        """The same in scaled columns, as neurons see them."""
        return self.scaled(self.raw)

    def scaled(self, x: Array) -> Array:
        """Rows in scaled columns."""
        return x if self.scaling is None else self.scaling.scaled(x, self.dtype)

    @property
    def widths(self) -> Array:
        """Their own widths or covariances, NaN without any; in the same order."""
        return self._in_rows(self.buffer.widths)

    def newest(self, count: int) -> Array:
        """The last so many samples, as neurons see them, in their order."""
        return self.scaled(self.buffer.rows[max(self.end - count, self.end - self.received, 0) : self.end])

    def first(self, count: int) -> "Recent":
        """The first samples of the stream, if all are still here."""
        return Recent(self.buffer, count, count, self.window, self.scaling)

    def extended(self, x: Array, widths: Array | None) -> "Recent":
        """With more samples."""
        received = self.received + len(x)
        if len(x) > self.window:
            x, widths = x[-self.window :], None if widths is None else widths[-self.window :]
        buffer, begin = self.buffer, self.end
        end, capacity = begin + len(x), len(buffer.rows)
        if end <= capacity and buffer.used == begin:
            buffer.used = end  # before rows are copied: with the GIL, no other thread takes the same ones
        else:  # it is full, or a sibling wrote there
            begin = min(self.received, self.window - len(x))
            last = slice(self.end - begin, self.end)
            buffer = _Buffer(np.empty_like(buffer.rows), np.empty_like(buffer.widths), begin)
            buffer.rows[:begin] = self.buffer.rows[last]
            buffer.widths[:begin] = self.buffer.widths[last]
            end = buffer.used = begin + len(x)
        buffer.rows[begin:end] = x
        buffer.widths[begin:end] = np.nan if widths is None else widths
        return Recent(buffer, end, received, self.window, self.scaling)

    def _in_rows(self, array: Array) -> Array:
        last: Array = array[self.end - min(self.received, self.window) : self.end]
        shift = max(0, self.received - self.window) % self.window
        return np.roll(last, shift, axis=0) if shift else last
