"""Learn many models from the same data, to see at which widths and inhibitions they agree."""

import copy
import threading
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from numbers import Integral
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from gaussian_neurons.bad_rows import BadRow
from gaussian_neurons.interrupts import deaf_children
from gaussian_neurons.learning import native
from gaussian_neurons.progress import Bar
from gaussian_neurons.sampling import Stream
from gaussian_neurons.settings import as_numbers, number, whole_number
from gaussian_neurons.sweeps import FAILED, Failure, Sweep, model_of

Array = NDArray[Any]
Cell = tuple[float, float, int]  # width, inhibition, seed

FIRST = 1000  # samples from which the ladder of widths is taken
STEPS = 12  # of the ladder
ACROSS = 0.95  # part of the pairs of samples that lie nearer to each other than its upper end
INHIBITIONS = (0.25, 0.5, 1.0, 2.0)


def sweep(
    data: Any,
    n_samples: int | None = None,
    *,
    n_neurons: int = 50,
    widths: Any = "auto",
    inhibitions: Sequence[float] = INHIBITIONS,
    seeds: Any = (0, 1, 2),
    learning_rate: Any = "auto",
    repulsion_every: int = 1,
    init: Any = "samples",
    domain: Any = None,
    n_jobs: int | None = -1,
    progress: bool = True,
) -> Sweep:
    """Learn a model for each width, inhibition and seed, to see where the number of clusters agrees.

    A number that comes out over a wide region of widths and inhibitions, whatever the seed, is one that the
    data has. The models are learned over all cores, or over what `joblib.parallel_config` names, such as a
    cluster with Dask, Ray or Spark; the result is the same.

    Parameters
    ----------
    data : (n_rows, n_features), from which each model draws as `GaussianNeurons.fit` does; or a stream that
        can be read more than once, from which each learns as `GaussianNeurons.learn` does
    n_samples : how many samples each model learns from. None: as many as `fit` draws of itself, or a stream
        to its end
    n_neurons : the most clusters there may be
    widths : the widths, or how many of them, or "auto" for 12: a ladder of equal ratios, from the squared
        distance within which a sample finds a part 1 / n_neurons of the others (the median) to the one that
        95 % of all pairs of samples stay below, each to three digits. It scales as the data does
    inhibitions : the inhibitions
    seeds : the seeds, or how many of them, counting from 0
    learning_rate, repulsion_every, init, domain : of each model, see `GaussianNeurons`
    n_jobs : models at a time; -1 is one for each core, None is what `joblib.parallel_config` says
    progress : show a bar, if this is a terminal or a notebook

    Returns
    -------
    Sweep : `plateau()` is the answer, `model()` goes on with it, `plotting.sweep_map` draws it. A model that
        could not be learned, since its rate was too large for its width, say, counts as -1 and is named
        in `failures`

    Examples
    --------
    >>> from gaussian_neurons import sweep
    >>> from gaussian_neurons.datasets.synthetic import Mixture
    >>> stream = Mixture(5, seed=3)
    >>> found = sweep(stream, 20_000, n_neurons=20, widths=6, inhibitions=[0.5, 1], seeds=1, n_jobs=1)
    >>> found.plateau().n_clusters
    5
    >>> found.model().learn(stream, 20_000).n_clusters_
    5
    """
    source = _readable_again(data)
    first = _first_samples(source)
    parameters = {
        "n_neurons": n_neurons,
        "learning_rate": learning_rate,
        "repulsion_every": repulsion_every,
        "init": init,
        "domain": domain,
    }
    _try(parameters, n_samples, source, first)
    chosen = _checked_widths(widths, first, n_neurons)
    strengths, numbers = _checked("inhibitions", inhibitions), _checked_seeds(seeds)
    shape = (len(chosen), len(strengths), len(numbers))
    cells: list[Cell] = [
        (float(chosen[w]), float(strengths[k]), numbers[s]) for w, k, s in np.ndindex(*shape)
    ]
    counts, responses = np.full(len(cells), FAILED, np.int64), np.full(len(cells), np.nan)
    reasons: dict[int, str] = {}
    learn = joblib.delayed(_learned)
    tasks = (learn(place, cell, source, n_samples, parameters) for place, cell in enumerate(cells))
    with _silent(), Bar(len(cells), 0, progress, str, unit="models") as bar:
        for place, count, response, reason in _spread(n_jobs, tasks):
            counts[place], responses[place] = count, response
            if reason is not None:
                reasons[place] = reason
            bar.advance(1)
    return Sweep(
        widths=chosen,
        inhibitions=strengths,
        seeds=numbers,
        n_clusters=counts.reshape(shape),
        mean_response=responses.reshape(shape),
        failures=tuple(Failure(*cells[place], reasons[place]) for place in sorted(reasons)),
        n_samples=n_samples,
        parameters=parameters,
    )


def ladder(samples: Array, n_neurons: int, steps: int = STEPS) -> Array:
    """Widths from fine to coarse for data like these samples, (steps,): see `sweep`.

    Examples
    --------
    It scales as squared lengths must:

    >>> samples = np.random.default_rng(0).normal(size=(200, 3))
    >>> bool(np.allclose(ladder(samples * 10, 8), 100 * ladder(samples, 8)))
    True
    """
    distinct = np.unique(samples.astype(np.float64), axis=0)
    if len(distinct) < 2:
        raise ValueError("the samples looked at are all the same, which tells nothing of widths: give some.")
    distances = native.squared_distances(distinct, distinct)
    fine = float(np.median(np.sort(distances, axis=1)[:, max(1, len(distinct) // n_neurons)]))
    coarse = float(np.quantile(distances, ACROSS))
    # In many columns all distances are much alike: a decade is the least.
    exact = np.geomspace(min(fine, coarse / 10), coarse, steps)
    return np.unique([float(f"{width:.3g}") for width in exact])  # numbers that one can copy


def _readable_again(data: Any) -> Any:
    """An array, or a stream from which every model can have a copy."""
    if isinstance(data, Stream):
        return copy.copy(data)  # a pipe and the like refuse
    if hasattr(data, "__next__"):
        raise TypeError(
            f"a sweep reads its data once for each model, but {data!r} gives each item only once. Make an "
            f"array of it, or a stream of gaussian_neurons.sampling."
        )
    if isinstance(data, str | bytes) or hasattr(data, "__fspath__"):
        raise TypeError(
            f"rows are needed, got the path {data!r}. Read it with "
            f"gaussian_neurons.sampling.rows_from_file({data!r})."
        )
    rows = as_numbers(np.asanyarray(data))
    if rows.ndim != 2 or not rows.size:
        raise ValueError(f"a table (n_rows, n_features) or a stream is needed, got shape {rows.shape}.")
    native.require_finite(rows, rows.dtype)
    return rows


def _first_samples(source: Any) -> Array:
    """The first of a stream; of an array, which may be sorted, rows drawn at random."""
    if not isinstance(source, Stream):
        drawn = np.random.default_rng(0).integers(len(source), size=FIRST)
        return np.asarray(source if len(source) <= FIRST else source[drawn])
    read = copy.copy(source).read(FIRST)
    first: Array = read[0] if isinstance(read, tuple) else read
    if not len(first):
        raise ValueError(f"{source!r} holds no samples.")
    return first


def _try(parameters: Mapping[str, Any], n_samples: int | None, source: Any, first: Array) -> None:
    """Let a mistake that all models share be told before any of them begins."""
    if n_samples is not None:
        whole_number("n_samples", n_samples)
    elif isinstance(source, Stream) and source.endless:
        raise ValueError(f"{source!r} never ends: say how many samples to learn from, n_samples=...")
    with suppress(FloatingPointError):  # a rate that is too large for this width need not be for others
        model_of(parameters, n_samples, width=1.0, inhibition=0.5, seed=0).partial_fit(first[:1])


def _learned(
    place: int, cell: Cell, source: Any, n_samples: int | None, parameters: Mapping[str, Any]
) -> tuple[int, int, float, str | None]:
    """Learn one model: its place among all, the clusters it found, their mean response, why it failed."""
    model = model_of(parameters, n_samples, *cell)
    try:
        with _silent():
            if isinstance(source, Stream):
                model.learn(copy.copy(source), n_samples, progress=False)
            else:
                model.fit(source)
    except BadRow:
        raise  # which every model would meet
    except (FloatingPointError, ValueError) as error:
        return place, FAILED, np.nan, str(error)
    found = model.diagnosis_
    share = found.share[found.learned]
    response = float(share @ found.mean_response[found.learned] / share.sum()) if share.any() else 0.0
    return place, model.n_clusters_, response, None


def _spread(n_jobs: int | None, tasks: Iterator[Any]) -> Iterator[Any]:
    """Results as they come; all of them in the end, where a backend knows no other way."""
    try:
        parallel = joblib.Parallel(n_jobs=n_jobs, return_as="generator_unordered")
    except ValueError:
        yield from joblib.Parallel(n_jobs=n_jobs)(tasks)
        return
    with deaf_children():
        found = parallel(tasks)
    try:
        yield from found
    finally:
        found.close()  # on Ctrl-C: the others would be learned in the background


@contextmanager
def _silent() -> Iterator[None]:
    """Without the warning that nothing was learned: here this is an answer like others."""
    if threading.current_thread() is not threading.main_thread():
        yield  # the filters are those of all threads, and the main one has set them
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield


def _checked_widths(widths: Any, first: Array, n_neurons: int) -> Array:
    if isinstance(widths, str) and widths == "auto":
        return ladder(first, n_neurons)
    if isinstance(widths, Integral):
        return ladder(first, n_neurons, whole_number("widths", widths))
    chosen = _checked("widths", widths)
    if chosen[0] == 0:
        raise ValueError("widths must be above 0, got 0.0. They are squared lengths (the paper's sigma).")
    return chosen


def _checked(name: str, values: Any) -> Array:
    """Numbers that are not negative, rising, each once."""
    if isinstance(values, str) or np.ndim(values) != 1 or not np.size(values):
        raise ValueError(f"{name} must be a list of numbers, got {values!r}.")
    return np.array(sorted({number(name, value, least=0.0) for value in values}))


def _checked_seeds(seeds: Any) -> tuple[int, ...]:
    if isinstance(seeds, Integral):
        return tuple(range(whole_number("seeds", seeds)))
    if isinstance(seeds, str) or np.ndim(seeds) != 1 or not np.size(seeds):
        raise ValueError(f"seeds must be whole numbers, or how many of them; got {seeds!r}.")
    return tuple(sorted({whole_number("seeds", seed, least=0) for seed in seeds}))
