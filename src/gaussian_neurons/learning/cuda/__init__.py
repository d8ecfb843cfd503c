"""The twin of `native` on an NVIDIA GPU: same names, same signatures. It needs CuPy (extra `cuda`)."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gaussian_neurons.base.bad_rows import BadRow, bad_value_of, bad_width, finite_rows
from gaussian_neurons.learning import native
from gaussian_neurons.learning.cuda import large, many, serving
from gaussian_neurons.learning.cuda.ahead import Ahead, in_blocks
from gaussian_neurons.learning.cuda.device import available, cupy, memory_errors
from gaussian_neurons.learning.cuda.gathering import Gathering
from gaussian_neurons.learning.cuda.rows import RowsOnGPU
from gaussian_neurons.learning.cuda.serving import Address, Remote
from gaussian_neurons.learning.cuda.task import Layer, Task, valid_neurons
from gaussian_neurons.learning.rule import Rule
from gaussian_neurons.sampling.undrawn import Elsewhere, Undrawn

Array = NDArray[Any]

_gathering: Gathering[Task, list[Layer]] | None = None
_ahead: Ahead | None = None  # with `_gathering`

SWITCH_INTERVAL = 2e-4  # seconds
LEAST_WORK = 4_000_000  # K^2 D of a layer that "auto" learns on a GPU: see docs/gpu.md


def is_faster(centers: Array, widths: Array) -> bool:
    """Whether there is a GPU on which a layer with given widths learns faster than on one core."""
    neurons, dimensions = centers.shape
    return widths.ndim == 1 and neurons**2 * dimensions >= LEAST_WORK and available()


def require() -> None:
    """Raise an error if there is no GPU, or no CuPy to use it with; another process may have both."""
    if _gathering is None:
        cupy()


def learn(
    centers: Array, widths: Array, samples: Array, sample_widths: Array | None, rule: Rule, seen: int
) -> tuple[Array, Array]:
    """Learn from the samples in their order: see `reference.learn`."""
    return learn_each([(centers, widths)], samples, sample_widths, [rule], [seen])[0]


def learn_each(
    layers: Sequence[tuple[Array, Array]],
    samples: Array,
    sample_widths: Array | None,
    rules: Sequence[Rule],
    seen: Sequence[int],
    threads: int = 1,
) -> list[tuple[Array, Array]]:
    """`learn` for many layers (centers, widths) of one size and the same samples, all at once.

    The bits are those of `learn`. An error is that of the first layer that has one.
    """
    if layers[0][1].ndim > 1:
        raise ValueError(
            "backend='cuda' learns neurons with widths, not with covariances. Use backend='native', or "
            "covariance_type='spherical'."
        )
    good, bad = _good_rows(samples, sample_widths, layers[0][0].dtype)
    own = None if sample_widths is None else sample_widths[: len(good)]
    widths = np.concatenate([it for _, it in layers]).reshape(len(layers), -1)
    equal = (widths == widths[:, :1]).all(axis=1).tolist()
    tasks = [
        Task(*layer, good, own, rule, first, alike)
        for layer, rule, first, alike in zip(layers, rules, seen, equal, strict=True)
    ]
    after = _learned(tasks)
    valid = valid_neurons(after).all(axis=1)
    if not valid.all():
        raise _divergence(tasks[int(np.argmin(valid))])
    if bad is not None:
        raise bad
    return after


@contextmanager
def served() -> Iterator[Address]:
    """Let layers that other processes learn in this block learn at once, in this process."""
    stream = partial(cupy().cuda.Stream, non_blocking=True)
    with (
        _at_once(partial(in_blocks, _together), stream) as gathering,
        serving.served(gathering.compute) as address,
    ):
        yield address


@contextmanager
def gathered(address: Address) -> Iterator[None]:
    """Let layers that other threads learn in this block learn at once, in the process of `served`."""
    global _gathering, _ahead
    remote = Remote(address)
    with _at_once(remote.compute, remote.connected) as _gathering:
        _ahead = Ahead(_gathering.compute)
        try:
            yield
        finally:
            _gathering = _ahead = None


def each(calls: Sequence[Callable[[], Any]]) -> list[Any]:
    """What each call gives. In a block of `gathered`, the layers that they learn are learned at once."""
    gathering = _gathering
    return [call() for call in calls] if gathering is None else gathering.each(calls)


def without_turn() -> AbstractContextManager[None]:
    """For what takes long without a GPU: in a block of `gathered`, others go on meanwhile."""
    gathering = _gathering
    return nullcontext() if gathering is None else gathering.without_turn()


@contextmanager
def _at_once(
    together: Callable[[Sequence[Task]], list[list[Layer]]], setting: Callable[[], Any]
) -> Iterator[Gathering[Task, list[Layer]]]:
    interval = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH_INTERVAL)  # or each batch waits for all threads that compute
    try:
        with Gathering(together, setting, lambda task: task.kind) as gathering:
            yield gathering
    finally:
        sys.setswitchinterval(interval)


def _learned(tasks: Sequence[Task]) -> list[Layer]:
    """The layers after their tasks."""
    ahead = _ahead
    return _together(tasks) if ahead is None else ahead.learned(tasks)


def _together(tasks: Sequence[Task]) -> list[Layer]:
    """The same in one call for all layers that need the same kernel."""
    found: list[Layer] = [(task.centers, task.widths) for task in tasks]
    order = sorted(range(len(tasks)), key=lambda number: tasks[number].kind)
    with memory_errors():
        for _, group in groupby(order, key=lambda number: tasks[number].kind):
            numbers = list(group)
            some = [tasks[number] for number in numbers]
            engine = many if many.suits(some[0]) else large
            for number, after in zip(numbers, engine.learn(some), strict=True):
                found[number] = after
    return found


def _good_rows(
    samples: Array | Elsewhere, sample_widths: Array | None, dtype: Any
) -> tuple[Array | Elsewhere, BadRow | None]:
    """The rows before the first one that cannot be learned from, contiguous; and the error of that one."""
    if isinstance(samples, Undrawn) and samples.dtype == dtype:
        return samples, None
    rows: Array | RowsOnGPU
    if isinstance(samples, RowsOnGPU):
        rows = samples.contiguous(dtype)
        good = rows.before_bad()
    else:
        with np.errstate(over="ignore"):
            rows = np.ascontiguousarray(samples, dtype)
        good = _before_bad(finite_rows(rows, dtype))
    if sample_widths is not None:
        valid = _before_bad(finite_rows(np.empty((good, 0)), dtype, sample_widths[:good]))
        if valid < good:
            return rows[:valid], bad_width(valid, sample_widths[valid].tolist())
    if good < len(rows):
        return rows[:good], bad_value_of(np.asarray(samples[good : good + 1]), 0, dtype).later(good)
    return rows, None


def _before_bad(good: NDArray[np.bool_]) -> int:
    return len(good) if good.all() else int(np.argmin(good))


def _divergence(task: Task) -> FloatingPointError:
    """The error of a task after which a neuron is not finite: at which sample that happens, by bisection."""
    start, some = task, task
    while len(some.samples) > 1:
        half = some.part(0, len(some.samples) // 2)
        (after,) = _learned([half])
        some = some.after(after, len(half.samples)) if valid_neurons([after]).all() else half
    first_invalid = int(np.argmin(valid_neurons(_learned([some]))))
    return native.diverged(first_invalid, some.seen, start.widths, start.rule)
