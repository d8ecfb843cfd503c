"""The compiled twin of `reference`: same names, same signatures, the widest vectors there are."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gaussian_neurons import _core
from gaussian_neurons.base.bad_rows import bad_width
from gaussian_neurons.base.memory_maps import mapping_of, release
from gaussian_neurons.learning.errors import diverged, not_finite
from gaussian_neurons.learning.neurons import Neurons, unchanged_on_error

BAD_VALUE, BAD_WIDTH, DIVERGED = 1, 2, 3  # what `_core.learn` returns; 0 if all is well
VARIABLE = "GAUSSIAN_NEURONS_ISA"
NUMBERS_AT_ONCE = 1 << 20  # numbers in a block of rows, where a block must be copied or answered whole


def learn(
    neurons: Neurons,
    samples: ArrayLike,
    *,
    inhibition: float,
    learning_rate: float,
    width_learning_rate: float = 0.0,
    sample_widths: ArrayLike | None = None,
    repulsion_every: int = 1,
) -> None:
    """Learn from the samples in their order: see `reference.learn`.

    Float32 and float64 samples are read where they lie, whatever their strides. An interrupt (Ctrl-C)
    leaves valid neurons, and `neurons.seen` counts exactly what they have learned from.

    Examples
    --------
    >>> neurons = Neurons.at([[0.0]], width=1.0)
    >>> learn(neurons, [[1.0]], inhibition=0.5, learning_rate=0.1)
    >>> neurons.centers  # 0.1 / e
    array([[0.03678794]])
    """
    for _ in steps(
        neurons,
        samples,
        inhibition=inhibition,
        learning_rate=learning_rate,
        width_learning_rate=width_learning_rate,
        sample_widths=sample_widths,
        repulsion_every=repulsion_every,
    ):
        pass


def steps(
    neurons: Neurons,
    samples: ArrayLike,
    *,
    inhibition: float,
    learning_rate: float,
    width_learning_rate: float = 0.0,
    sample_widths: ArrayLike | None = None,
    repulsion_every: int = 1,
) -> Iterator[None]:
    """The same in steps of about 20 ms, each of which leaves valid neurons and `neurons.seen` right.

    Between two steps they may be read; whatever is written into them meanwhile is lost.
    """
    x = np.asarray(samples)
    own = None if sample_widths is None else np.ascontiguousarray(sample_widths, np.float64)
    rates = (learning_rate, inhibition, width_learning_rate, repulsion_every)
    with unchanged_on_error(neurons):
        for begin, rows in readable_blocks(x):
            row = 0
            widths = None if own is None else own[begin : begin + len(rows)]
            while row < len(rows):
                first, seen = row, int(neurons.seen[0])
                arrays = (neurons.centers, neurons.widths, rows, widths)
                status, row, where = _core.learn(*arrays, first, seen, *rates)
                neurons.seen[0] = seen + row - first
                if status == DIVERGED:
                    raise diverged(neurons, where, learning_rate)
                at = begin + row
                if status == BAD_VALUE:
                    raise not_finite(at, where, float(x[at, where]), neurons.centers.dtype.name)
                if status == BAD_WIDTH and own is not None:
                    raise bad_width(at, float(own[at]))
                yield


def squared_distances(samples: ArrayLike, centers: NDArray[Any]) -> NDArray[Any]:
    """|x - mu_i|^2 for every sample and center, (n, K), in the precision of the centers."""
    x = np.asarray(samples)
    out = np.empty((len(x), len(centers)), centers.dtype)
    for begin, block in distance_blocks(x, centers):
        out[begin : begin + len(block)] = block
    return out


def distance_blocks(x: NDArray[Any], centers: NDArray[Any]) -> Iterator[tuple[int, NDArray[Any]]]:
    """The same in blocks of rows, (number of the first row, (m, K)): for more rows than fit in memory."""
    for begin, rows in readable_blocks(x, most=NUMBERS_AT_ONCE // max(x.shape[1], len(centers), 1) + 1):
        block = np.empty((len(rows), len(centers)), centers.dtype)
        row, column = _core.squared_distances(rows, centers, block)
        if row >= 0:
            row += begin
            raise not_finite(row, column, float(x[row, column]), centers.dtype.name)
        yield begin, block


def require_finite(samples: NDArray[Any], dtype: Any) -> None:
    """Raise a ValueError that names the first value which is not finite in the precision `dtype`."""
    for begin, rows in readable_blocks(samples, most=NUMBERS_AT_ONCE // max(samples.shape[1], 1) + 1):
        with np.errstate(over="ignore"):
            bad = ~np.isfinite(rows.astype(dtype, copy=False))
        if bad.any():
            row, column = (int(at) for at in np.unravel_index(np.argmax(bad), bad.shape))
            raise not_finite(begin + row, column, float(samples[begin + row, column]), np.dtype(dtype).name)


def readable_blocks(x: NDArray[Any], most: int | None = None) -> Iterator[tuple[int, NDArray[Any]]]:
    """Blocks of rows that the core can read: (number of the first row, rows).

    One block where the array can be read in place; blocks of a bounded size where it cannot (integers,
    another byte order, odd strides), where it is mapped from a file, whose pages are given back after
    each, or where `most` rows are wanted at a time.
    """
    in_place = (
        x.dtype in (np.float32, np.float64)
        and x.dtype.isnative
        and x.flags.aligned
        and all(stride % x.itemsize == 0 for stride in x.strides)
    )
    mapping = mapping_of(x)
    if most is None:
        most = max(len(x), 1) if in_place and mapping is None else NUMBERS_AT_ONCE // max(x.shape[1], 1) + 1
    for begin in range(0, len(x), most):
        rows = x[begin : begin + most]
        yield begin, rows if in_place else np.ascontiguousarray(rows, np.float64)
        release(mapping)


def available() -> list[str]:
    """Instruction sets that this build has and this processor runs, the widest first."""
    return list(_core.available())


def instruction_set() -> str:
    """The instruction set in use."""
    return str(_core.current())


@contextmanager
def using(name: str) -> Iterator[None]:
    """Use another instruction set for a while, in the whole process: for tests and benchmarks."""
    before = instruction_set()
    select(name)
    try:
        yield
    finally:
        _core.use(before)


def select(name: str) -> None:
    """Use the named instruction set from now on."""
    if name not in available():
        raise ValueError(
            f"no instruction set {name!r} here; this processor and build have {', '.join(available())}. "
            f"Choose one of them, or unset {VARIABLE}."
        )
    _core.use(name)


if os.environ.get(VARIABLE):
    select(os.environ[VARIABLE].lower())
