"""Many models of the same data: at which widths and inhibitions the number of clusters agrees."""

import copy
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray
from scipy import ndimage
from sklearn.exceptions import ConvergenceWarning

from gaussian_neurons.base import tables
from gaussian_neurons.base.bad_rows import BadRow, require_finite
from gaussian_neurons.base.checks import checked_shape, number, one_of, whole_number
from gaussian_neurons.base.covariances import TYPES, of_shape
from gaussian_neurons.base.memory_maps import release, require_whole
from gaussian_neurons.base.parallel import sent_once, shares_memory, unordered
from gaussian_neurons.base.progress import Bar
from gaussian_neurons.base.warn import silent, warn
from gaussian_neurons.clustering.diagnosis import Diagnosis
from gaussian_neurons.estimator import GaussianNeurons
from gaussian_neurons.learning.backends import name_of
from gaussian_neurons.learning.responses import checked_scale, least_width, squared_distances
from gaussian_neurons.model.advice import AdviceWarning
from gaussian_neurons.model.learner import DRAWN, random_for
from gaussian_neurons.model.population import Member, Population
from gaussian_neurons.model.scaling import Scaling, uneven
from gaussian_neurons.sampling import Stream
from gaussian_neurons.sampling.ahead import chunks_ahead
from gaussian_neurons.sampling.drawing import blocks, drawing
from gaussian_neurons.sampling.stream import MOST_SAMPLES

__all__ = ["Failure", "Plateau", "Sweep", "sweep"]

Array = NDArray[Any]
Counts = NDArray[np.int64]
Cell = tuple[float, float, int]  # width, inhibition, seed
Result = tuple[int, int, float, str | None]  # index, number of clusters, mean response, reason of a failure

FIRST = 1000  # samples that determine the widths
STEPS = 12  # number of widths
ACROSS = 0.95  # part of the pairs of samples with a squared distance below the largest width
INHIBITIONS = (0.25, 0.5, 1.0, 2.0)

DRAWS_PER_NEURON = 200  # samples that a model learns; docs/scaling.md compares maps of more and fewer
PIECES = 4  # tasks for each worker of a backend, so that all end at about the same time
FAILED = -1  # instead of a number of clusters


@dataclass(frozen=True)
class Failure:
    """A model that failed, and why."""

    width: float
    inhibition: float
    seed: int
    reason: str


@dataclass(frozen=True, eq=False)
class Plateau:
    """A region of the map in which the number of clusters agrees.

    It is weak if it is no larger than what data without clusters gives. There the number falls steadily while
    the width grows, so that n clusters have a part of the map in proportion to 1 / n; in sweeps of such data,
    less than 1 / n (docs/scaling.md).
    """

    n_clusters: int
    width: float  # in its middle
    inhibition: float
    seed: int  # the first one that found this number there
    agreement: float  # part of the runs in the region that found this number
    support: float  # part of all runs of the map that are in the region and found this number
    cells: NDArray[np.bool_]  # (W, L) the cells of the region

    @property
    def weak(self) -> bool:
        """Whether data without clusters gives such a region, too: its support is below 1 / n_clusters."""
        return self.support * self.n_clusters < 1

    def __str__(self) -> str:
        found = f"{self.n_clusters} clusters around width {self.width:.4g} and inhibition {self.inhibition:g}"
        return f"{found}, weak: {self.support:.0%} of the map" if self.weak else found


@dataclass(frozen=True, eq=False, repr=False)
class Sweep:
    """The number of clusters for each width, inhibition and seed: see `sweep`."""

    widths: Array  # (W,) increasing
    inhibitions: Array  # (L,) increasing
    seeds: tuple[int, ...]  # S of them
    n_clusters: Counts  # (W, L, S), -1 for a model that failed
    mean_response: Array  # (W, L, S) of clusters to the last samples that they win; NaN for a failed model
    failures: tuple[Failure, ...]
    n_samples: int | None  # that each model learned; None: a stream to its end
    parameters: Mapping[str, Any]  # the other parameters of each model

    def __repr__(self) -> str:
        failed = f", {len(self.failures)} failed" if self.failures else ""
        return (
            f"Sweep({len(self.widths)} widths from {self.widths[0]:.4g} to {self.widths[-1]:.4g}, "
            f"{len(self.inhibitions)} inhibitions, {len(self.seeds)} seeds{failed}: "
            f"{self.plateau() or 'no plateau'})"
        )

    @property
    def typical(self) -> Counts:
        """The median over the seeds that did not fail, (W, L); of two middle values the lower one."""
        ranked = np.sort(self.n_clusters, axis=2)
        failed = (ranked == FAILED).sum(axis=2)  # they rank first
        middle = np.minimum((failed + len(self.seeds) - 1) // 2, len(self.seeds) - 1)
        median: Counts = np.take_along_axis(ranked, middle[:, :, None], axis=2)[:, :, 0]
        return median

    @property
    def spread(self) -> Counts:
        """The range over the seeds, (W, L): the largest number less the smallest, without failures."""
        fewest = np.where(self.n_clusters == FAILED, np.iinfo(np.int64).max, self.n_clusters).min(axis=2)
        apart: Counts = np.maximum(self.n_clusters.max(axis=2) - fewest, 0)
        return apart

    def plateau(self) -> Plateau | None:
        """The largest region of the map in which the number of clusters agrees.

        A region consists of neighbouring cells (width, inhibition) with the same median over the seeds. Its
        size is the number of runs in it that found just that number. Regions with no cluster, one cluster,
        or as many as there are neurons do not count, since any data has them; None if no other is left. The
        middle of a region is its cell nearest to the mean of its cells.
        """
        counts = self.typical
        agrees = (self.n_clusters == counts[:, :, None]).sum(axis=2)  # (W, L) runs
        best, most = None, 0
        for count in np.unique(counts):
            if count in (FAILED, 0, 1, self.parameters["n_neurons"]):
                continue
            labels, regions = ndimage.label(counts == count)
            for label in range(1, regions + 1):
                runs = int(agrees[labels == label].sum())
                if runs > most:
                    best, most = labels == label, runs
        if best is None:
            return None
        places = np.argwhere(best)
        off = ((places - places.mean(axis=0)) ** 2).sum(axis=1)
        w, k = min(zip(off.round(9), -agrees[best], places.tolist(), strict=True))[2]
        seed = self.seeds[int(np.argmax(self.n_clusters[w, k] == counts[w, k]))]
        agreement = most / (len(self.seeds) * len(places))
        middle = (float(self.widths[w]), float(self.inhibitions[k]))
        support = most / self.n_clusters.size
        return Plateau(int(counts[w, k]), *middle, seed, agreement, support, best)

    def model(
        self, width: float | None = None, inhibition: float | None = None, seed: int | None = None
    ) -> GaussianNeurons:
        """One of the models before it learned; the defaults are those of the middle of the plateau.

        `fit(X)` with the same rows, or `learn(stream, n_samples)` with the same stream at the same position,
        reproduces it bit for bit.
        """
        if width is None or inhibition is None or seed is None:
            found = self.plateau()
            if found is None:
                raise ValueError("the sweep has no plateau: give width, inhibition and seed.")
            width = found.width if width is None else width
            inhibition = found.inhibition if inhibition is None else inhibition
            seed = found.seed if seed is None else seed
        return model_of(self.parameters, self.n_samples, width, inhibition, seed)

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON, with the plateau."""
        found = self.plateau()
        responses = self.mean_response.astype(object)
        responses[np.isnan(self.mean_response)] = None
        return {
            "widths": self.widths.tolist(),
            "inhibitions": self.inhibitions.tolist(),
            "seeds": list(self.seeds),
            "n_clusters": self.n_clusters.tolist(),
            "mean_response": responses.tolist(),
            "failures": [vars(failure).copy() for failure in self.failures],
            "n_samples": self.n_samples,
            "parameters": _plain(dict(self.parameters)),
            "plateau": None
            if found is None
            else {name: _plain(value) for name, value in (vars(found) | {"weak": found.weak}).items()},
        }

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> "Sweep":
        """The inverse of `to_dict`."""
        return cls(
            widths=np.array(facts["widths"], np.float64),
            inhibitions=np.array(facts["inhibitions"], np.float64),
            seeds=tuple(facts["seeds"]),
            n_clusters=np.array(facts["n_clusters"], np.int64),
            mean_response=np.array(facts["mean_response"], np.float64),
            failures=tuple(Failure(**failure) for failure in facts["failures"]),
            n_samples=facts["n_samples"],
            parameters=dict(facts["parameters"]),
        )


def sweep(
    data: Any,
    n_samples: int | None = None,
    *,
    n_neurons: int = 50,
    covariance_type: str = "spherical",
    covariance: Any = None,
    widths: Any = "auto",
    inhibitions: Sequence[float] = INHIBITIONS,
    seeds: Any = (0, 1, 2),
    learning_rate: Any = "auto",
    repulsion_every: int = 1,
    init: Any = "samples",
    domain: Any = None,
    scale: Any = None,
    backend: Any = "auto",
    n_jobs: int | None = -1,
    progress: bool = True,
) -> Sweep:
    """Learn a model for each width, inhibition and seed, to see where the number of clusters agrees.

    A number that results over a wide region of widths and inhibitions, for any seed, is a property of the
    data. The models learn on all cores, or on the backend of `joblib.parallel_config`, such as a cluster with
    Dask, Ray or Spark; the result is the same.

    Parameters
    ----------
    data : (n_rows, n_features), from which each model draws as `GaussianNeurons.fit` does; or a stream that
        can be read more than once, from which each learns as `GaussianNeurons.learn` does
    n_samples : how many samples each model learns from. None: 200 for each neuron, or a stream to its end.
        More make the map more reliable (docs/scaling.md)
    n_neurons : an upper limit on the number of clusters
    covariance_type : of each model, see `GaussianNeurons`
    covariance : the shape of the neurons for the covariance types "diag" and "full", (n_features,) or
        (n_features, n_features): the covariance of a neuron is a width times this. None: the identity
    widths : the widths, or how many of them, or "auto" for 12: equal ratios from the squared distance within
        which a sample has a part 1 / n_neurons of the others (the median) to the one that exceeds 95 % of
        all pairs of samples, each to three digits. They scale with the data, and are in scaled columns if
        there is a `scale`
    inhibitions : the inhibitions
    seeds : the seeds, or how many of them from 0 on
    learning_rate, repulsion_every, init, domain, scale, backend : of each model, see `GaussianNeurons`. On a
        GPU, backend="cuda", the models learn all at once
    n_jobs : threads, or workers of the backend; -1 is one for each core, None is that of
        `joblib.parallel_config`
    progress : show a progress bar on a terminal or in a notebook

    Returns
    -------
    Sweep : `plateau()` is the answer, `model()` a model for it, `plotting.sweep_map` draws it. A model that
        failed, for example because its rate was too large for its width, counts as -1 and is in `failures`

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
        "n_neurons": whole_number("n_neurons", n_neurons),
        "covariance_type": one_of("covariance_type", covariance_type, TYPES),
        "covariance": checked_shape(covariance, covariance_type, first.shape[1]),
        "learning_rate": learning_rate,
        "repulsion_every": repulsion_every,
        "init": init,
        "domain": domain,
        "scale": scale,
        "backend": backend,
    }
    _try(parameters, n_samples, source, first)
    if n_samples is None and not isinstance(source, Stream):
        n_samples = DRAWS_PER_NEURON * parameters["n_neurons"]
    chosen = _checked_widths(widths, _as_seen(first, parameters), n_neurons)
    strengths, numbers = _checked("inhibitions", inhibitions), _checked_seeds(seeds)
    shape = (len(chosen), len(strengths), len(numbers))
    cells: dict[int, Cell] = {
        place: (float(chosen[w]), float(strengths[k]), numbers[s])
        for place, (w, k, s) in enumerate(np.ndindex(*shape))
    }
    counts, responses = np.full(len(cells), FAILED, np.int64), np.full(len(cells), np.nan)
    reasons: dict[int, str] = {}
    each = source.length if n_samples is None and isinstance(source, Stream) else n_samples
    with (
        silent(ConvergenceWarning, AdviceWarning),
        Bar(None if each is None else len(cells) * each, 0, progress, str) as bar,
        closing(_spread(n_jobs, source, _Task(cells, n_samples, parameters), bar.advance)) as results,
    ):
        for place, count, response, reason in results:
            counts[place], responses[place] = count, response
            if reason is not None:
                reasons[place] = reason
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
    """Increasing widths for data like these samples, (steps,): see `sweep`.

    Examples
    --------
    It scales as squared lengths must:

    >>> samples = np.random.default_rng(0).normal(size=(200, 3))
    >>> bool(np.allclose(ladder(samples * 10, 8), 100 * ladder(samples, 8)))
    True
    """
    distinct = np.unique(samples.astype(np.float64), axis=0)
    if len(distinct) < 2:
        raise ValueError(
            "the first samples are all the same, so widths cannot be derived from them: give widths=[...]."
        )
    precision = np.float32 if samples.dtype == np.float32 else np.float64
    rank = min(max(1, len(distinct) // n_neurons), len(distinct) - 1)
    with np.errstate(over="ignore", invalid="ignore"):  # infinity and NaN are refused below
        distances = squared_distances(distinct, distinct)
        fine = float(np.median(np.sort(distances, axis=1)[:, rank]))
        coarse = checked_scale(float(np.quantile(distances, ACROSS)), precision)
    # In many dimensions all distances are similar: the widths span at least a decade.
    exact = np.geomspace(max(min(fine, coarse / 10), least_width(precision)), coarse, steps)
    return np.unique([float(f"{width:.3g}") for width in exact])  # short numbers to copy


def _readable_again(data: Any) -> Any:
    """An array, or a stream that can be copied for every model."""
    if isinstance(data, Stream):
        return copy.copy(data)  # a pipe refuses
    rows, names = tables.read(data)
    require_finite(rows, rows.dtype, names)
    return rows


def _first_samples(source: Any) -> Array:
    """The first samples of a stream; random rows of an array, which may be sorted."""
    if not isinstance(source, Stream):
        drawn = np.random.default_rng(0).integers(len(source), size=FIRST)
        return np.asarray(source if len(source) <= FIRST else source[drawn])
    read = copy.copy(source).read(FIRST)
    first: Array = read[0] if isinstance(read, tuple) else read
    if not len(first):
        raise ValueError(f"{source!r} holds no samples.")
    return first


def _as_seen(first: Array, parameters: Mapping[str, Any]) -> Array:
    """The first samples as neurons see them; warns if columns differ too much in scale."""
    scale = parameters["scale"]
    if scale is not None:
        return Scaling.of(first, scale).scaled(first, np.result_type(first.dtype, np.float32))
    if parameters["domain"] is None and parameters["covariance_type"] == "spherical":
        text = uneven(first)
        if text is not None:
            warn(text)
    return first


def _try(parameters: Mapping[str, Any], n_samples: int | None, source: Any, first: Array) -> None:
    """Raise errors that all models would raise before any of them starts."""
    if n_samples is not None:
        whole_number("n_samples", n_samples)
    elif isinstance(source, Stream) and source.endless:
        raise ValueError(f"{source!r} never ends: give the number of samples, n_samples=...")
    with suppress(FloatingPointError):  # the rate may suit other widths
        model_of(parameters, n_samples, width=1.0, inhibition=0.5, seed=0).partial_fit(first[:1])


@dataclass(frozen=True)
class _Task:
    """Models that learn the same samples, by their index."""

    cells: Mapping[int, Cell]
    n_samples: int | None
    parameters: Mapping[str, Any]


def _divided(task: _Task, source: Any, most: int) -> Iterator[_Task]:
    """The same in tasks of at most so many models. Models of one seed draw the same rows."""
    groups: dict[int, list[int]] = {}
    for place, (_, _, seed) in task.cells.items():
        groups.setdefault(0 if isinstance(source, Stream) else seed, []).append(place)
    for places in groups.values():
        for begin in range(0, len(places), most):
            yield replace(task, cells={place: task.cells[place] for place in places[begin : begin + most]})


def _learned(source: Any, task: _Task, threads: int, advance: Callable[[int], Any]) -> list[Result]:
    """Learn the models of a task."""
    members: dict[int, Member] = {}
    found: list[Result] = []
    first = _first_samples(source)[:1]
    for place, cell in task.cells.items():
        model = model_of(task.parameters, task.n_samples, *cell)
        try:
            state, settings = model._new_state(first), model._settings(first.shape[1])
        except ValueError as error:
            found.append((place, FAILED, np.nan, str(error)))
            continue
        members[place] = Member(state.seed, settings)
    if not members:
        return found
    population = Population(list(members.values()), state.recent, threads)
    for begin, x in _samples(source, task.n_samples, population.members[0].seed):
        try:
            require_finite(x, state.recent.dtype)
        except BadRow as bad:  # of a stream
            raise bad.later(begin).named(source.feature_names) from None
        population.learn(x)
        advance(len(task.cells) * len(x))
    facts = population.looked() if isinstance(source, Stream) else population.concluded()
    for index, place in enumerate(members):
        if index in facts:
            found.append((place, *_clusters(facts[index]), None))
        else:
            found.append((place, FAILED, np.nan, population.failures[index]))
    return found


def _samples(source: Any, n_samples: int | None, seed: int) -> Iterator[tuple[int, Array]]:
    """The samples that the models learn, in blocks: the number of the first one in a stream, and rows."""
    if not isinstance(source, Stream):
        assert n_samples is not None
        for rows in blocks(drawing(len(source), None, random_for(seed, DRAWN)), n_samples):
            require_whole(source)
            yield 0, source[rows]
            release(source)
        return
    at = source.position
    end = source.length if n_samples is None else at + n_samples
    with closing(chunks_ahead(copy.copy(source), at, end, MOST_SAMPLES, at)) as chunks:
        for chunk in chunks:
            if chunk.bad:
                raise chunk.bad[0].later(at)
            yield at, chunk.x
            at += chunk.taken


def _clusters(facts: Diagnosis) -> tuple[int, float]:
    """The number of clusters, and their mean response."""
    share = facts.share[facts.learned]
    response = float(share @ facts.mean_response[facts.learned] / share.sum()) if share.any() else 0.0
    return int(facts.learned.sum()), response


def _spread(
    n_jobs: int | None, source: Any, task: _Task, advance: Callable[[int], Any]
) -> Generator[Result, None, None]:
    """Learn all models: in threads, or by the workers of a backend that has processes."""
    workers = joblib.effective_n_jobs(n_jobs)
    if shares_memory() or workers == 1:  # which joblib learns here
        for part in _divided(task, source, len(task.cells)):
            yield from _learned(source, part, workers, advance)
        return
    most = -(-len(task.cells) // (PIECES * workers))
    sent = sent_once(source)
    calls = [joblib.delayed(_learned_there)(sent, part) for part in _divided(task, source, most)]
    for found in unordered(n_jobs, calls):
        if task.n_samples is not None:
            advance(len(found) * task.n_samples)
        yield from found


def _learned_there(source: Any, task: _Task) -> list[Result]:
    """The same in a process of a backend."""
    with silent(ConvergenceWarning, AdviceWarning):
        return _learned(source, task, 1, lambda _: None)


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
    """Distinct non-negative numbers, increasing."""
    if isinstance(values, str) or np.ndim(values) != 1 or not np.size(values):
        raise ValueError(f"{name} must be a list of numbers, got {values!r}.")
    return np.array(sorted({number(name, value, least=0.0) for value in values}))


def _checked_seeds(seeds: Any) -> tuple[int, ...]:
    if isinstance(seeds, Integral):
        return tuple(range(whole_number("seeds", seeds)))
    if isinstance(seeds, str) or np.ndim(seeds) != 1 or not np.size(seeds):
        raise ValueError(f"seeds must be a list of whole numbers, or their count; got {seeds!r}.")
    return tuple(sorted({whole_number("seeds", seed, least=0) for seed in seeds}))


def model_of(
    parameters: Mapping[str, Any], n_samples: int | None, width: float, inhibition: float, seed: int
) -> GaussianNeurons:
    """A model of a sweep before it learns."""
    draws = "auto" if n_samples is None else n_samples
    given = {name: value for name, value in parameters.items() if name != "covariance"}
    own = of_shape(width, parameters.get("covariance"), parameters["n_neurons"])
    return GaussianNeurons(**given, width=own, inhibition=inhibition, max_samples=draws, random_state=seed)


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    if callable(value):
        return name_of(value)
    return [_plain(part) for part in value] if isinstance(value, tuple | list) else value
