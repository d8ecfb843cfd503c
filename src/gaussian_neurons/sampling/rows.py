"""Rows of an array as a stream, in order or reshuffled in each pass."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gaussian_neurons.base import tables
from gaussian_neurons.base.checks import checked_sample_widths, checked_seed, whole_number
from gaussian_neurons.base.memory_maps import release, require_whole
from gaussian_neurons.sampling import native
from gaussian_neurons.sampling.reference import SHUFFLE
from gaussian_neurons.sampling.stream import Chunk, Stream, fingerprint

Array = NDArray[Any]


class Rows(Stream):
    """The rows of X, in repeated passes.

    Parameters
    ----------
    X : (n_rows, n_features), an array or a data frame; a memory-mapped file is not loaded
    shuffle : whether each pass has a new random order
    seed : of the random orders
    sample_width : (n_rows,) or None, a width for each row
    passes : number of passes, or None for an endless stream

    Examples
    --------
    >>> X = np.arange(4.0)[:, None]
    >>> Rows(X).read(6).ravel()
    array([0., 1., 2., 3., 0., 1.])
    >>> sorted(Rows(X, shuffle=True, seed=1).seek(8).read(4).ravel().tolist())  # the third pass
    [0.0, 1.0, 2.0, 3.0]
    """

    def __init__(
        self,
        X: Any,
        shuffle: bool = False,
        seed: int = 0,
        *,
        sample_width: Any = None,
        passes: int | None = None,
    ) -> None:
        x, names = tables.read(X)
        self._x, self.feature_names = x, None if names is None else list(names)
        self._widths = (
            None
            if sample_width is None
            else checked_sample_widths(sample_width, len(x), n_features=x.shape[1])
        )
        self.shuffle, self.seed = bool(shuffle), checked_seed(seed)
        self.n_features = x.shape[1]
        self.endless = passes is None
        self.length = None if passes is None else len(x) * whole_number("passes", passes)
        self._order: tuple[int, NDArray[np.int64]] = (
            -1,
            np.empty(0, np.int64),
        )  # a pass, and its order (1, n_rows)

    def __repr__(self) -> str:
        shuffled = f", shuffle=True, seed={self.seed}" if self.shuffle else ""
        return f"Rows(<{len(self._x)} x {self.n_features}>{shuffled})"

    def draw(self, first: int, count: int) -> Chunk:  # noqa: D102
        if self.length is not None:
            count = max(0, min(count, self.length - first))
        rows = len(self._x)
        if not self.shuffle and first % rows + count <= rows:  # contiguous: no copy
            at: Any = slice(first % rows, first % rows + count)
            return Chunk(self._x[at], None if self._widths is None else self._widths[at])
        numbers = first + np.arange(count)
        at = numbers % rows
        if self.shuffle and count:
            passes = numbers // rows
            at = self._orders(int(passes[0]), int(passes[-1]))[passes - passes[0], at]
        require_whole(self._x)
        x = self._x[at]
        release(self._x)
        return Chunk(x, None if self._widths is None else self._widths[at])

    def describe(self) -> Mapping[str, Any]:  # noqa: D102
        widths = None if self._widths is None else fingerprint(self._widths)
        order = {"shuffle": self.shuffle, "seed": self.seed if self.shuffle else None}
        return {**super().describe(), "rows": fingerprint(self._x), "widths": widths, **order}

    def _orders(self, first: int, last: int) -> NDArray[np.int64]:
        """The orders of the rows in these passes, (passes, n_rows), by sorting random keys of 64 bits."""
        known, order = self._order
        if first == last == known:
            return order
        if first == known and last == first + 1:  # the order of a long first pass is not computed again
            return np.concatenate([order, self._orders(last, last)])
        shape = (last - first + 1, len(self._x))
        halves = native.words(self.seed, SHUFFLE, first * shape[1], shape[0] * shape[1], 2).astype(np.uint64)
        keys = (halves[:, 0] << np.uint64(32) | halves[:, 1]).reshape(shape)
        orders = np.argsort(keys, axis=1, kind="stable")
        self._order = (last, orders[-1:].copy())
        return orders
