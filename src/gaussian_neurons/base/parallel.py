"""Calls on all cores, or on the cluster of `joblib.parallel_config`."""

import importlib
import warnings
from collections.abc import Generator, Iterable, Iterator
from typing import Any

import joblib
from joblib.parallel import get_active_backend

from gaussian_neurons.base.interrupts import children_ignore_interrupts

RETRIES = 3  # of a call whose worker dies, or that fails on a cluster


def shares_memory() -> bool:
    """Whether calls run in this process: nobody has chosen a backend that has processes."""
    return bool(getattr(_backend(), "supports_sharedmem", False))


def sent_once(value: Any) -> Any:
    """What to give to several calls for a large value, so that a cluster sends it to a worker only once."""
    backend = _backend()
    if _is_of(backend, "ray"):
        return importlib.import_module("ray").put(value)
    if hasattr(backend, "client"):  # Dask; all workers have it, since any of them can die
        return backend.client.scatter(value, broadcast=True, hash=False)
    return value


def unordered(n_jobs: int | None, calls: Iterable[Any], **options: Any) -> Generator[Any, None, None]:
    """Results in the order of completion. A call is repeated on a cluster if its worker dies.

    Parameters
    ----------
    n_jobs : as in `joblib.Parallel`; Ray runs as many calls at a time as it has processors
    calls : made by `joblib.delayed`
    options : of `joblib.Parallel`
    """
    if _is_of(_backend(), "ray"):
        yield from _on_ray(calls)
        return
    try:
        parallel = joblib.Parallel(n_jobs=n_jobs, return_as="generator_unordered", **options)
    except ValueError:  # the backend cannot do that
        yield from joblib.Parallel(n_jobs=n_jobs, **options)(calls)
        return
    with children_ignore_interrupts():
        found = parallel(calls)
    try:
        for result in found:  # noqa: UP028  (found must be closed here, without its warning)
            yield result
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # that tasks were cancelled
            found.close()  # on Ctrl-C, or the others would go on in the background


def in_order(results: Iterable[tuple[int, Any]]) -> Iterator[Any]:
    """The results of calls 0, 1, 2, ... in this order, from pairs of the number of a call and its result.

    Examples
    --------
    >>> list(in_order([(1, "b"), (0, "a"), (2, "c")]))
    ['a', 'b', 'c']
    """
    waiting: dict[int, Any] = {}
    following = 0
    for number, result in results:
        waiting[number] = result
        while following in waiting:
            yield waiting.pop(following)
            following += 1


def _on_ray(calls: Iterable[Any]) -> Iterator[Any]:
    """As tasks, which Ray repeats; joblib's backend for Ray fails if a worker dies."""
    ray = importlib.import_module("ray")
    left = [
        ray.remote(max_retries=RETRIES)(function).remote(*arguments, **named)
        for function, arguments, named in calls
    ]
    try:
        while left:
            (done,), left = ray.wait(left)
            yield ray.get(done)
    finally:
        for reference in left:
            ray.cancel(reference, force=True)


def _backend() -> Any:
    return get_active_backend(prefer="threads")[0]


def _is_of(value: Any, package: str) -> bool:
    return type(value).__module__.partition(".")[0] == package
