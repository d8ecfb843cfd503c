"""Data that is in partitions, on one machine or on many: every partition learns its own model.

Of each neuron of a partition there remain the number, the mean and the variances of the rows that it wins. A
final model learns from samples that are drawn from these. Memory on a machine is that of one partition.
"""

import importlib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from gaussian_neurons.base import tables
from gaussian_neurons.base.bad_rows import require_finite
from gaussian_neurons.base.memory_maps import row_blocks
from gaussian_neurons.base.parallel import RETRIES, in_order, unordered
from gaussian_neurons.base.progress import Bar
from gaussian_neurons.base.warn import silent
from gaussian_neurons.estimator import SEEDS, GaussianNeurons
from gaussian_neurons.learning.responses import strongest
from gaussian_neurons.model.advice import AdviceWarning
from gaussian_neurons.sampling.files import rows_from_file

__all__ = ["fit"]

Array = NDArray[Any]

PIECES = 20  # most pieces that are kept, for each neuron of the model
SAMPLES = 20_000  # that the final model is given, at least 400 for each neuron, if there are as many rows
SAMPLES_PER_NEURON = 400
FINEST = 1e-4  # variance added to that of a piece before pieces are compared, as a part of that of all rows
ROWS_AT_ONCE = 1 << 16  # of a file

Task = Callable[[Any, int], "Pieces | None"]


@dataclass(frozen=True)
class Pieces:
    """What remains of rows: the number, the mean and the variances of those that each neuron won."""

    counts: Array  # (m,)
    means: Array  # (m, D)
    variances: Array  # (m, D)
    names: tuple[str, ...] | None  # of the columns
    dtype: Any  # of the rows

    @property
    def rows(self) -> int:
        """How many rows there were."""
        return round(float(self.counts.sum()))

    def drawn(self, count: int, random: np.random.Generator) -> Array:
        """So many samples, (count, D): each piece as often as it has rows, to the nearest number."""
        at = (np.arange(count) + random.random()) / count * self.counts.sum()
        piece = np.minimum(np.searchsorted(np.cumsum(self.counts), at, side="right"), len(self.counts) - 1)
        noise = random.normal(size=(count, self.means.shape[1]))
        drawn: Array = self.means[piece] + np.sqrt(self.variances[piece]) * noise
        return drawn.astype(self.dtype)


def fit(
    partitions: Any,
    model: GaussianNeurons | None = None,
    *,
    columns: Any = None,
    n_jobs: int | None = -1,
    progress: bool = True,
) -> GaussianNeurons:
    """Fit one model to all rows of partitions, each of which fits the memory of a worker.

    Each partition learns a model with the parameters of `model`, and what its neurons hold is combined in a
    tree. The result depends on the partitions, their order and `random_state`, and not on the number of
    workers. It is an ordinary model, which has learned from samples of that tree: it has no `labels_`.

    Parameters
    ----------
    partitions : a Dask array or data frame; a Ray dataset; a list of tables (n, D) or of files, see
        `sampling.rows_from_file`. Lists are learned in threads, or on the backend of
        `joblib.parallel_config`. On a cluster, a partition that fails is tried again
    model : its parameters are used, and it stays as it is. None: `GaussianNeurons()`
    columns : of files, see `sampling.rows_from_file`
    n_jobs : partitions of a list at a time; -1 is one for each core, None is that of `joblib.parallel_config`
    progress : show a progress bar on a terminal or in a notebook

    Examples
    --------
    Each partition has rows of one cluster only:

    >>> from gaussian_neurons import GaussianNeurons, partitioned
    >>> random = np.random.default_rng(0)
    >>> parts = [random.normal(center, 0.3, size=(1000, 2)) for center in ([0, 0], [0, 3], [3, 0])]
    >>> model = partitioned.fit(parts, GaussianNeurons(random_state=0))
    >>> sorted(model.predict([[0.0, 0.0], [0.0, 3.0], [3.0, 0.0]]).tolist())
    [0, 1, 2]
    """
    given = GaussianNeurons() if model is None else model
    seed = check_random_state(given.random_state).randint(SEEDS)
    parameters = given.get_params(deep=False)
    most = PIECES * given.n_neurons

    def learned(part: Any, index: int) -> Pieces | None:
        return pieces_of(part, index, parameters, seed, columns)

    count, results = _spread(partitions, learned, n_jobs)
    levels: list[tuple[int, Pieces]] = []  # pieces of 2^level partitions, as the digits of a binary counter
    with silent(AdviceWarning, ConvergenceWarning), Bar(count, 0, progress, str, unit="partitions") as bar:
        for index, pieces in enumerate(results):
            bar.advance(1)
            if pieces is not None:
                if levels and levels[0][1].names != pieces.names:
                    raise ValueError(
                        f"partition {index} has the columns {pieces.names}, an earlier one "
                        f"{levels[0][1].names}. All must have the same, in the same order."
                    )
                _push(levels, pieces, most)
    if not levels:
        raise ValueError("the partitions have no rows.")
    whole = _joined([pieces for _, pieces in reversed(levels)], most)
    samples = min(whole.rows, max(SAMPLES, SAMPLES_PER_NEURON * given.n_neurons))
    fitted: GaussianNeurons = clone(given).set_params(random_state=seed)
    fitted.fit(whole.drawn(samples, _random(seed, 0)))
    fitted.set_params(random_state=given.random_state)
    assert fitted._state is not None
    fitted._state = replace(fitted._state, labels=None, names=whole.names)
    return fitted


def pieces_of(part: Any, index: int, parameters: dict[str, Any], seed: int, columns: Any) -> Pieces | None:
    """What remains of a partition, None if it has no rows. An error names the partition."""
    try:
        x, names = _table(part, columns)
        if not len(x):
            return None
        require_finite(x, x.dtype, names)
        model = GaussianNeurons(
            **parameters | {"random_state": int(_random(seed, index + 1).integers(SEEDS))}
        )
        with silent(AdviceWarning, ConvergenceWarning):
            model.fit(x)
    except Exception as error:
        place = f"partition {index}" + (f", {os.fspath(part)!r}" if _is_path(part) else "")
        raise ValueError(f"{place}: {error}") from error
    return _won(x, model, names)


def _won(x: Array, model: GaussianNeurons, names: tuple[str, ...] | None) -> Pieces:
    """The number, the mean and the variances of the rows that each neuron wins."""
    network = model._network
    neurons, recent = network.neurons, network.look.recent
    winner = np.concatenate(
        [
            strongest(recent.scaled(rows), neurons.centers, neurons.widths, network.shared)[0]
            for _, rows in row_blocks(x)
        ]
    )
    winner = np.unique(winner, return_inverse=True)[1]
    wide = x.astype(np.float64)
    counts = np.bincount(winner).astype(np.float64)

    def mean(values: Array) -> Array:
        columns = [np.bincount(winner, column) for column in values.T]
        return np.stack(columns, axis=1) / counts[:, None]

    means = mean(wide)
    dtype = np.float32 if x.dtype == np.float32 else np.float64
    return Pieces(counts, means, mean((wide - means[winner]) ** 2), names, dtype)


# ---- combining --------------------------------------------------------------------------------------


def _push(levels: list[tuple[int, Pieces]], pieces: Pieces, most: int) -> None:
    """Add a partition; two of one level are joined."""
    level = 0
    while levels and levels[-1][0] == level:
        pieces = _joined([levels.pop()[1], pieces], most)
        level += 1
    levels.append((level, pieces))


def _joined(parts: Sequence[Pieces], most: int) -> Pieces:
    """The pieces of all, at most so many: those whose union loses least are merged."""
    counts, means, variances = (
        np.concatenate([getattr(part, name) for part in parts]) for name in ("counts", "means", "variances")
    )
    dtype = np.result_type(*[part.dtype for part in parts])
    if len(counts) > most:
        counts, means, variances = reduced(counts, means, variances, most)
    return Pieces(counts, means, variances, parts[0].names, dtype)


def reduced(counts: Array, means: Array, variances: Array, most: int) -> tuple[Array, Array, Array]:
    """At most so many Gaussians, with the same mean and variances of all.

    Two are merged into the one with their mean and variances, again and again: those for which the
    log-likelihood of their rows falls least (Runnalls 2007).

    Examples
    --------
    >>> reduced(np.ones(3), np.array([[0.0], [1.0], [9.0]]), np.full((3, 1), 0.25), 2)
    (array([2., 1.]), array([[0.5],
           [9. ]]), array([[0.5 ],
           [0.25]]))
    """
    counts, means, variances = counts.copy(), means.copy(), variances.copy()
    middle = counts @ means / counts.sum()
    whole = counts @ (variances + (means - middle) ** 2) / counts.sum()
    least = FINEST * np.where(whole > 0, whole, 1.0)  # a single row is not infinitely dense
    logs = np.log(variances + least).sum(axis=1)

    def together(i: int, others: Any) -> tuple[Array, Array, Array]:
        count = counts[i] + counts[others]
        part = (counts[i] / count)[..., None]
        apart = means[i] - means[others]
        joint = part * variances[i] + (1 - part) * variances[others] + part * (1 - part) * apart**2
        return count, means[others] + part * apart, joint

    def losses(i: int) -> Array:
        count, _, joint = together(i, slice(None))
        found: Array = count * np.log(joint + least).sum(axis=1) - counts[i] * logs[i] - counts * logs
        return found

    left = np.ones(len(counts), bool)
    loss = np.stack([losses(i) for i in range(len(counts))])
    np.fill_diagonal(loss, np.inf)
    nearest, best = loss.argmin(axis=1), loss.min(axis=1)
    for _ in range(len(counts) - most):
        i = int(best.argmin())
        j = int(nearest[i])
        i, j = min(i, j), max(i, j)
        counts[i], means[i], variances[i] = together(i, j)
        logs[i] = np.log(variances[i] + least).sum()
        left[j] = False
        loss[j], loss[:, j] = np.inf, np.inf
        row = np.where(left, losses(i), np.inf)
        row[i] = np.inf
        loss[i], loss[:, i] = row, row
        best[j] = np.inf
        for k in np.flatnonzero(left & ((nearest == i) | (nearest == j) | (np.arange(len(left)) == i))):
            nearest[k], best[k] = loss[k].argmin(), loss[k].min()
        closer = left & (row < best)
        nearest[closer], best[closer] = i, row[closer]
    return counts[left], means[left], variances[left]


def _random(seed: int, turn: int) -> np.random.Generator:
    return np.random.Generator(np.random.Philox(key=np.array([seed, turn], np.uint64)))


# ---- partitions and engines -------------------------------------------------------------------------


def _is_path(part: Any) -> bool:
    return isinstance(part, str | os.PathLike)


def _table(part: Any, columns: Any) -> tuple[Array, tuple[str, ...] | None]:
    """The rows of a partition, perhaps none, and the names of their columns."""
    if not _is_path(part):
        x, _ = tables.converted(part)
        return (np.empty((0, 0)), None) if not len(x) else tables.read(part)
    stream = rows_from_file(part, columns=columns)
    blocks = []
    while len(block := stream.read(ROWS_AT_ONCE)):
        blocks.append(block)
    names = stream.feature_names
    return (np.concatenate(blocks) if blocks else np.empty((0, 0))), None if names is None else tuple(names)


def _spread(partitions: Any, learned: Task, n_jobs: int | None) -> tuple[int, Iterator[Any]]:
    """The number of partitions, and what remains of each, in their order."""
    kind = type(partitions).__module__.partition(".")[0]
    if hasattr(partitions, "__dask_graph__"):
        return _with_dask(partitions, learned)
    if kind == "ray":
        return _with_ray(partitions, learned)
    if _is_path(partitions) or tables.is_table(partitions) or not isinstance(partitions, Iterable):
        raise TypeError(
            f"partitions must be a Dask array or data frame, a Ray dataset, or a list of tables or files, "
            f"got {type(partitions).__name__}. For a single table use GaussianNeurons().fit(X)."
        )
    parts = list(partitions)
    calls = (joblib.delayed(_numbered)(learned, part, index) for index, part in enumerate(parts))
    return len(parts), in_order(unordered(n_jobs, calls, prefer="threads"))


def _numbered(learned: Task, part: Any, index: int) -> tuple[int, Pieces | None]:
    return index, learned(part, index)


def _with_dask(partitions: Any, learned: Task) -> tuple[int, Iterator[Any]]:
    dask = importlib.import_module("dask")
    if getattr(partitions, "ndim", 2) == 2 and len(getattr(partitions, "chunks", ())) == 2:
        partitions = partitions.rechunk({1: -1})  # whole rows
    blocks = np.ravel(partitions.to_delayed()).tolist()
    tasks = [dask.delayed(learned, pure=False)(block, index) for index, block in enumerate(blocks)]

    def results() -> Iterator[Any]:
        try:
            client = importlib.import_module("distributed").get_client()
        except (ImportError, ValueError):
            yield from dask.compute(*tasks)
            return
        futures = client.compute(tasks, retries=RETRIES)
        try:
            for future in futures:
                yield future.result()
        finally:
            client.cancel(futures)

    return len(tasks), results()


def _with_ray(partitions: Any, learned: Task) -> tuple[int, Iterator[Any]]:
    ray = importlib.import_module("ray")
    blocks = partitions.to_arrow_refs()
    task = ray.remote(max_retries=RETRIES, retry_exceptions=True)(learned)

    def results() -> Iterator[Any]:
        for reference in [task.remote(block, index) for index, block in enumerate(blocks)]:
            yield ray.get(reference)

    return len(blocks), results()
