"""The state of a layer: what the neurons are after the samples they have learned from."""

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.floating]


@dataclass(frozen=True, eq=False)
class Neurons:
    """K Gaussian neurons, a value: learning makes new neurons and leaves these as they are.

    All arrays are contiguous and of one precision.

    Examples
    --------
    >>> neurons = Neurons.at([[0.0, 0.0], [1.0, 1.0]], width=0.5)
    >>> neurons.widths
    array([0.5, 0.5])
    """

    centers: Array  # (K, D) the paper's mu
    widths: Array  # (K,)   the paper's sigma, a squared length; or covariances, (K, D) or (K, D, D)
    start: Array  # (K, D) centers before the first sample
    start_widths: Array  # (K,)   widths before the first sample; or (K, D) or (K, D, D)
    held: Array  # (K, D) the center when samples last held it at a review, NaN if none do and it moved on;
    #                     if neurons share samples: the center at the last review, NaN if it is new
    held_widths: Array  # (K,) the width then, NaN if neurons do not share samples
    won: NDArray[np.int64]  # (K,)   how many samples it won in the reviews since it came to that place ...
    looked: NDArray[np.int64]  # (K,)   ... of how many that they looked at; if neurons share samples: how
    #                                   many it won at the last review, and at all reviews for its cluster
    born: NDArray[np.int64]  # (K,)   samples seen before the neuron was added
    total: NDArray[np.float64]  # (K,)   sum of its shares of the samples, if neurons share them
    rests: NDArray[np.int64]  # (K,)   samples seen when it came to rest, -1 if it learns
    seen: int = 0  # samples learned from

    @classmethod
    def at(cls, centers: ArrayLike, width: ArrayLike, dtype: type = np.float64, born: int = 0) -> "Neurons":
        """Neurons that start at `centers` with one `width`, or one for each, after `born` samples.

        Instead of widths (K,) there can be covariances, (K, D) or (K, D, D).
        """
        placed: Array = np.array(centers, dtype=dtype, order="C", ndmin=2)
        given: Array = np.asarray(width, dtype)
        widths: Array = np.array(np.broadcast_to(given, (len(placed), *given.shape[1:])), order="C")
        held, none = np.full_like(placed, np.nan), np.zeros(len(placed), np.int64)
        counts = none, none, none + born, none.astype(np.float64), none - 1
        return cls(placed, widths, placed, widths, held, np.full(len(placed), np.nan, dtype), *counts, born)

    def __len__(self) -> int:
        return len(self.centers)

    @property
    def resting(self) -> NDArray[np.bool_]:
        """Which neurons rest: they respond, but do not learn, (K,)."""
        return self.rests >= 0

    def after(
        self, centers: Array, widths: Array, samples: int, total: NDArray[np.float64] | None = None
    ) -> "Neurons":
        """These neurons after learning from so many more samples."""
        later = object.__new__(Neurons)  # the constructor of a frozen dataclass takes twice as long
        values = later.__dict__
        values.update(self.__dict__)
        values["centers"], values["widths"], values["seen"] = centers, widths, self.seen + samples
        if total is not None:
            values["total"] = total
        return later

    def add(self, others: "Neurons") -> "Neurons":
        """These neurons, bit for bit, followed by others."""
        rows: dict[str, Any] = {
            name: np.concatenate([getattr(self, name), getattr(others, name)]) for name in EACH
        }
        return replace(self, **rows)

    def keep(self, which: NDArray[np.bool_]) -> "Neurons":
        """The neurons of the mask, bit for bit."""
        return replace(self, **{name: getattr(self, name)[which] for name in EACH})

    def move(self, which: NDArray[np.int64], centers: Array | None, widths: Array | None) -> "Neurons":
        """These neurons, bit for bit, except that some have other centers or widths.

        A neuron whose center changes counts as new: what held it is forgotten, and it is born now. A given
        width replaces the starting width; the starting center stays.

        Parameters
        ----------
        which : (n,), no neuron twice
        centers : (n, D), or None to keep them
        widths : (n,), or None to keep them

        Examples
        --------
        >>> neurons = Neurons.at([[0.0], [1.0]], width=0.5).move(np.array([1]), np.array([[3.0]]), None)
        >>> neurons.centers.ravel(), neurons.start.ravel()
        (array([0., 3.]), array([0., 1.]))
        """
        changed = self
        if centers is not None:
            changed = changed.with_rows(which, centers=centers)
            moved = (changed.centers != self.centers).any(axis=1)
            changed = changed.with_rows(moved, born=self.seen, **NOTHING_HELD)
        if widths is not None:
            changed = changed.with_rows(which, widths=widths, start_widths=widths)
        return changed

    def with_rows(self, which: NDArray[Any] | slice, **values: ArrayLike) -> "Neurons":
        """These neurons with other values in some rows of the named arrays."""
        arrays = {}
        for name, rows in values.items():
            arrays[name] = getattr(self, name).copy()
            arrays[name][which] = rows
        return replace(self, **arrays)


NOTHING_HELD: dict[str, Any] = {
    **{"held": np.nan, "held_widths": np.nan},
    **{"won": 0, "looked": 0, "total": 0.0, "rests": -1},
}
EACH = tuple(field.name for field in fields(Neurons) if field.name != "seen")  # one row for each neuron
