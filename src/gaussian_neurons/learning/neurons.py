"""The state of a layer: what the neurons are after the samples they have learned from."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.floating]


@dataclass
class Neurons:
    """K Gaussian neurons. All arrays are contiguous and of one precision.

    Examples
    --------
    >>> neurons = Neurons.at([[0.0, 0.0], [1.0, 1.0]], width=0.5)
    >>> neurons.widths
    array([0.5, 0.5])
    """

    centers: Array  # (K, D) where each neuron sits: the paper's mu
    widths: Array  # (K,)   the paper's sigma: a squared length
    start: Array  # (K, D) centers before the first sample
    start_widths: Array  # (K,)   widths before the first sample
    held: Array  # (K, D) where samples were last found to hold it, NaN where never
    born: NDArray[np.int64]  # (K,)   samples that went by before it was there
    seen: NDArray[np.int64]  # (1,)   samples learned from; an array, so that a kernel can count in it

    @classmethod
    def at(cls, centers: ArrayLike, width: ArrayLike, dtype: type = np.float64, born: int = 0) -> "Neurons":
        """Neurons that start at `centers` with one `width`, or one for each, after `born` samples."""
        placed: Array = np.array(centers, dtype=dtype, order="C", ndmin=2)
        widths: Array = np.array(np.broadcast_to(np.asarray(width, dtype), placed.shape[:1]))
        return cls(
            placed,
            widths,
            placed.copy(),
            widths.copy(),
            np.full_like(placed, np.nan),
            np.full(len(placed), born, np.int64),
            np.array([born], np.int64),
        )

    def __len__(self) -> int:
        return len(self.centers)

    def copy(self) -> "Neurons":
        """The same neurons, sharing nothing."""
        return Neurons(*[getattr(self, name).copy() for name in NAMES])

    def add(self, others: "Neurons") -> "Neurons":
        """These neurons, bit for bit, followed by others."""
        rows = {name: np.concatenate([getattr(self, name), getattr(others, name)]) for name in EACH}
        return Neurons(**rows, seen=self.seen.copy())

    def keep(self, which: NDArray[np.bool_]) -> "Neurons":
        """Those neurons of the mask, bit for bit."""
        return Neurons(**{name: getattr(self, name)[which] for name in EACH}, seen=self.seen.copy())

    def move(self, which: NDArray[np.int64], centers: Array | None, widths: Array | None) -> "Neurons":
        """These neurons, bit for bit, but for some at other centers, or with other widths.

        One that really moves is as good as new there: where it was held is forgotten, and it is born now. A
        width that is given counts as the one it started with; where it started stays.

        Parameters
        ----------
        which : (n,), no neuron twice
        centers : (n, D), or None where they stay
        widths : (n,), or None where they stay

        Examples
        --------
        >>> neurons = Neurons.at([[0.0], [1.0]], width=0.5).move(np.array([1]), np.array([[3.0]]), None)
        >>> neurons.centers.ravel(), neurons.start.ravel()
        (array([0., 3.]), array([0., 1.]))
        """
        others = self.copy()
        if centers is not None:
            others.centers[which] = centers
            moved = (others.centers != self.centers).any(axis=1)
            others.held[moved] = np.nan
            others.born[moved] = others.seen[0]
        if widths is not None:
            others.widths[which] = others.start_widths[which] = widths
        return others


NAMES = tuple(field.name for field in fields(Neurons))
EACH = tuple(name for name in NAMES if name != "seen")  # one row for each neuron
LEARNED = ("centers", "widths", "seen")  # what learning changes


@contextmanager
def unchanged_on_error(neurons: Neurons) -> Iterator[None]:
    """Put neurons that learn back on any error: bad samples, numbers that run away, no memory left.

    An interrupt is no error: what was learned before it stays.
    """
    before = [getattr(neurons, name).copy() for name in LEARNED]
    try:
        yield
    except Exception:
        for name, values in zip(LEARNED, before, strict=True):
            getattr(neurons, name)[...] = values
        raise
