"""What a layer is to learn on the GPU."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gaussian_neurons.learning.rule import Rule
from gaussian_neurons.sampling.undrawn import Elsewhere, Undrawn

Array = NDArray[Any]
Layer = tuple[Array, Array]  # centers and widths


@dataclass(frozen=True, eq=False)
class Task:
    """A layer, the rows that it learns, and the rule. All rows are finite."""

    centers: Array  # (K, D)
    widths: Array  # (K,)
    samples: Array | Elsewhere  # (n, D) contiguous, of the precision of the centers
    sample_widths: Array | None  # (n,)
    rule: Rule
    seen: int
    equal: bool  # the widths before it
    blocks: int = 1  # how many blocks of the stream of as many samples, from this one on

    @property
    def learns_widths(self) -> bool:
        """Whether Equation 2 changes the widths."""
        return self.sample_widths is not None and self.rule.width_learning_rate > 0

    @cached_property
    def kind(self) -> tuple[int, int, str, bool, bool]:
        """What a kernel is compiled for: K, D, the type, whether widths remain equal, whether they learn."""
        learns = self.learns_widths
        return (*self.centers.shape, self.centers.dtype.char, self.equal and not learns, learns)

    def part(self, begin: int, end: int) -> "Task":
        """The same layer with some of the rows."""
        own = None if self.sample_widths is None else self.sample_widths[begin:end]
        return replace(self, samples=self.samples[begin:end], sample_widths=own)

    def after(self, layer: Layer, rows: int) -> "Task":
        """What is left of the task when the layer has learned from so many rows."""
        left = self.part(rows, len(self.samples))
        return replace(left, centers=layer[0], widths=layer[1], seen=self.seen + rows)

    def following(self, layer: Layer) -> "Task | None":
        """The next block of the same length for the layer after this task; None if no stream has it."""
        rows, count = self.samples, len(self.samples)
        if not isinstance(rows, Undrawn):
            return None
        samples = Undrawn(rows.stream, rows.first + count, count)
        return replace(self, centers=layer[0], widths=layer[1], samples=samples, seen=self.seen + count)

    def is_like(self, other: "Task") -> bool:
        """Whether both give the same layer."""
        ours, theirs = self.samples, other.samples
        return (
            isinstance(ours, Undrawn)
            and isinstance(theirs, Undrawn)
            and (ours.stream, ours.first, ours.count) == (theirs.stream, theirs.first, theirs.count)
            and self.sample_widths is None
            and other.sample_widths is None
            and (self.rule, self.seen, self.equal) == (other.rule, other.seen, other.equal)
            and np.array_equal(self.centers, other.centers)
            and np.array_equal(self.widths, other.widths)
        )


def valid_neurons(layers: Sequence[Layer]) -> NDArray[np.bool_]:
    """Which neurons of layers of one size are finite, with positive widths, (layers, K)."""
    centers, widths = stacked(layers)
    valid: NDArray[np.bool_] = np.isfinite(centers).all(axis=2) & np.isfinite(widths) & (widths > 0)
    return valid


def stacked(layers: Sequence[Layer]) -> tuple[Array, Array]:
    """Centers (layers, K, D) and widths (layers, K) of layers of one size."""
    neurons, dimensions = layers[0][0].shape
    centers, widths = (np.concatenate(arrays) for arrays in zip(*layers, strict=True))
    return centers.reshape(-1, neurons, dimensions), widths.reshape(-1, neurons)


def place(array: Array) -> tuple[Any, ...]:
    """What contiguous views of the same numbers have in common."""
    return array.__array_interface__["data"][0], array.shape, array.dtype
