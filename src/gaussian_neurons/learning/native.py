"""The compiled twin of `reference`: same names, same signatures, the widest vectors of the processor."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gaussian_neurons import _core
from gaussian_neurons.base.bad_rows import bad_value, bad_width
from gaussian_neurons.base.covariances import variances
from gaussian_neurons.base.interrupts import interruption_point
from gaussian_neurons.base.memory_maps import row_blocks
from gaussian_neurons.learning.rule import Rule, Shares

Array = NDArray[Any]

VARIABLE = "GAUSSIAN_NEURONS_ISA"
NUMBERS_AT_ONCE = 1 << 20  # distances in a block
PRODUCTS_AT_ONCE = 1 << 26  # in a block: about 50 ms
DONE, BAD_VALUE, BAD_WIDTH, DIVERGED = range(4)  # how a call of the core ends


def learn(
    centers: Array, widths: Array, samples: Array, sample_widths: Array | None, rule: Rule, seen: int
) -> tuple[Array, Array]:
    """Learn from the samples in their order: see `reference.learn`.

    Float32 and float64 samples are read in place, whatever their strides. The precision is that of the
    centers. Signals are handled about every 20 ms.

    Examples
    --------
    >>> centers, widths = learn(np.zeros((1, 1)), np.ones(1), np.ones((1, 1)), None, Rule(0.1, 0.5), 0)
    >>> centers  # 0.1 / e
    array([[0.03678794]])
    """
    centers, before, widths, row = centers.copy(), widths, widths.copy(), 0
    while row < len(samples):
        status, row, where = _core.learn(centers, widths, samples, sample_widths, row, seen + row, *rule)
        if status == BAD_VALUE:
            raise bad_value(row, where, float(samples[row, where]), centers.dtype.name)
        if status == BAD_WIDTH and sample_widths is not None:
            raise bad_width(row, sample_widths[row].tolist())
        if status == DIVERGED:
            raise diverged(where, seen + row, before, rule)
    return centers, widths


def learn_each(
    layers: Sequence[tuple[Array, Array]],
    samples: Array,
    sample_widths: Array | None,
    rules: Sequence[Rule],
    seen: Sequence[int],
    threads: int,
) -> list[tuple[Array, Array]]:
    """`learn` for many layers (centers, widths) of one size and the same samples, in threads.

    The bits are those of `learn`. An error is that of the first layer that has one.

    Examples
    --------
    >>> layer, rule = (np.zeros((1, 1)), np.ones(1)), Rule(0.1, 0.5)
    >>> learn_each([layer, layer], np.ones((1, 1)), None, [rule, rule], [0, 0], threads=2)[1][0]
    array([[0.03678794]])
    """
    centers = np.stack([layer[0] for layer in layers])
    widths = np.concatenate([layer[1] for layer in layers])
    before, now = widths.copy(), np.zeros(len(layers), np.int64)
    numbers, first = np.array(rules, np.float64), np.array(seen, np.int64)
    status, where = np.empty_like(now), np.zeros_like(now)
    errors: dict[int, Exception] = {}
    while (now < len(samples)).any():
        _core.learn_each(centers, widths, samples, sample_widths, now, first, numbers, status, where, threads)
        for layer in np.flatnonzero(status != DONE).tolist():
            row, at, count = int(now[layer]), int(where[layer]), len(layers[layer][1])
            if status[layer] == BAD_VALUE:
                errors[layer] = bad_value(row, at, float(samples[row, at]), centers.dtype.name)
            elif status[layer] == BAD_WIDTH and sample_widths is not None:
                errors[layer] = bad_width(row, sample_widths[row].tolist())
            else:
                own = before[layer * count : (layer + 1) * count]
                errors[layer] = diverged(at, seen[layer] + row, own, rules[layer])
            now[layer] = len(samples)
    if errors:
        raise errors[min(errors)]
    return list(zip(centers, np.split(widths, len(layers)), strict=True))


def learn_shares(
    centers: Array,
    widths: Array,
    totals: Array,
    samples: Array,
    rule: Shares,
    resting: NDArray[np.bool_] | None = None,
) -> tuple[Array, Array, Array]:
    """Learn from the samples in their order: see `reference_shares.learn`.

    Examples
    --------
    >>> start = np.zeros((1, 1)), np.ones(1), np.zeros(1)
    >>> learn_shares(*start, np.array([[2.0]]), Shares(0.02, 1e-6))
    (array([[1.]]), array([2.5]), array([1.]))
    """
    centers, widths, totals, row = centers.copy(), widths.copy(), totals.copy(), 0
    rests = np.zeros(len(centers), bool) if resting is None else resting
    while row < len(samples):
        status, row, where = _core.learn_shares(centers, widths, totals, rests, samples, row, *rule)
        if status == BAD_VALUE:
            raise bad_value(row, where, float(samples[row, where]), centers.dtype.name)
    return centers, widths, totals


def relocate(
    centers: Array,
    widths: Array,
    counts: Array,
    groups: NDArray[np.int64],
    resting: NDArray[np.bool_],
    rows: Array,
    winners: NDArray[np.int64],
    background: Array,
    margin: float,
) -> tuple[Array, Array, Array, NDArray[np.int64]]:
    """Split and merge neurons: see `reference_relocation.relocate`."""
    centers, widths, counts, origins = centers.copy(), widths.copy(), counts.copy(), np.empty_like(groups)
    _core.relocate(centers, widths, counts, groups, resting, rows, winners, background, margin, origins)
    return centers, widths, counts, origins


def diverged(neuron: int, sample: int, widths: Array, rule: Rule) -> FloatingPointError:
    """The error of a neuron that is no longer finite after a sample; `widths` are those before learning."""
    smallest = float(variances(widths).min())
    return FloatingPointError(
        f"neuron {neuron} became infinite or NaN at sample {sample} of the stream: "
        f"learning_rate={rule.learning_rate:g} is too large for a width of {smallest:g}. "
        f"A step is learning_rate / width times a distance: lower learning_rate to about "
        f"{0.1 * smallest:g} or raise the width. The model is unchanged."
    )


def squared_distances(x: Array, centers: Array) -> Array:
    """|x - mu_i|^2 for every sample and center, (n, K), in the precision of the centers."""
    out = np.empty((len(x), len(centers)), centers.dtype)
    for begin, rows in interruptible_blocks(x, centers):
        _measure(x, begin, rows, centers, out[begin : begin + len(rows)])
    return out


def interruptible_blocks(
    x: Array, centers: Array, most: int = PRODUCTS_AT_ONCE
) -> Iterator[tuple[int, Array]]:
    """Blocks of rows, see `row_blocks`, of at most about 50 ms; interrupts can arrive between them."""
    for block in row_blocks(x, most=min(most, PRODUCTS_AT_ONCE // max(centers.size, 1)) + 1):
        interruption_point()
        yield block


def distance_blocks(x: Array, centers: Array) -> Iterator[tuple[int, Array]]:
    """The same in blocks of rows, (index of the first row, (m, K)): for more rows than fit in memory."""
    for begin, rows in interruptible_blocks(x, centers, NUMBERS_AT_ONCE // max(x.shape[1], len(centers), 1)):
        block = np.empty((len(rows), len(centers)), centers.dtype)
        _measure(x, begin, rows, centers, block)
        yield begin, block


def form_blocks(x: Array, centers: Array, covariances: Array) -> Iterator[tuple[int, Array]]:
    """(x - mu_i)^T Sigma_i^-1 (x - mu_i), in blocks of rows: (index of the first row, (m, K)).

    Covariances are (K, D) or (K, D, D).
    """
    numbers = max(x.shape[1], len(centers), covariances.size // max(len(centers), 1), 1)
    for begin, rows in interruptible_blocks(x, centers, NUMBERS_AT_ONCE // numbers):
        block = np.empty((len(rows), len(centers)), centers.dtype)
        row, column = _core.quadratic_forms(rows, centers, covariances, block)
        if row >= 0:
            raise bad_value(begin + row, column, float(x[begin + row, column]), centers.dtype.name)
        yield begin, block


def _measure(x: Array, begin: int, rows: Array, centers: Array, out: Array) -> None:
    row, column = _core.squared_distances(rows, centers, out)
    if row >= 0:
        raise bad_value(begin + row, column, float(x[begin + row, column]), centers.dtype.name)


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
