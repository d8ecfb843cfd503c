"""What a layer is to learn on the GPU."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gaussian_neurons.learning.rule import Rule
from gaussian_neurons.sampling.undrawn import Undrawn

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Task:
    """A layer, the rows that it learns, and the rule. All rows are finite."""

    centers: Array  # (K, D)
    widths: Array  # (K,)
    samples: Array | Undrawn  # (n, D) contiguous, of the precision of the centers
    sample_widths: Array | None  # (n,)
    rule: Rule
    seen: int

    @property
    def learns_widths(self) -> bool:
        """Whether Equation 2 changes the widths."""
        return self.sample_widths is not None and self.rule.width_learning_rate > 0

    @property
    def equal(self) -> bool:
        """Whether the widths are equal, and remain so."""
        return not self.learns_widths and bool((self.widths == self.widths[0]).all())

    @cached_property
    def kind(self) -> tuple[int, int, str, bool, bool]:
        """What a kernel is compiled for."""
        return (*self.centers.shape, self.centers.dtype.name, self.equal, self.learns_widths)

    def part(self, begin: int, end: int) -> "Task":
        """The same layer with some of the rows."""
        own = None if self.sample_widths is None else self.sample_widths[begin:end]
        return replace(self, samples=self.samples[begin:end], sample_widths=own)

    def after(self, layer: tuple[Array, Array], rows: int) -> "Task":
        """What is left of the task when the layer has learned from so many rows."""
        left = self.part(rows, len(self.samples))
        return replace(left, centers=layer[0], widths=layer[1], seen=self.seen + rows)

    def holds(self, layer: tuple[Array, Array]) -> bool:
        """Whether all neurons of a layer are finite, with positive widths."""
        return bool(_valid(*layer).all())

    def first_invalid(self, layer: tuple[Array, Array]) -> int:
        """The first neuron that is not."""
        return int(np.argmin(_valid(*layer)))


def _valid(centers: Array, widths: Array) -> NDArray[np.bool_]:
    valid: NDArray[np.bool_] = np.isfinite(centers).all(axis=1) & np.isfinite(widths) & (widths > 0)
    return valid
