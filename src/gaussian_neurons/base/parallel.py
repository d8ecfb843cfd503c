"""Calls on all cores, or on the cluster of `joblib.parallel_config`."""

import warnings
from collections.abc import Generator, Iterable
from typing import Any

import joblib

from gaussian_neurons.base.interrupts import children_ignore_interrupts


def unordered(n_jobs: int | None, calls: Iterable[Any], **options: Any) -> Generator[Any, None, None]:
    """Results in the order of completion, or all at the end if the backend cannot do that.

    Parameters
    ----------
    n_jobs : as in `joblib.Parallel`
    calls : made by `joblib.delayed`
    options : of `joblib.Parallel`
    """
    try:
        parallel = joblib.Parallel(n_jobs=n_jobs, return_as="generator_unordered", **options)
    except ValueError:
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
