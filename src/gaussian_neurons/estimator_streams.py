"""The part of the estimator that learns from streams."""

import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from gaussian_neurons.base import checks
from gaussian_neurons.model import archive as persistence
from gaussian_neurons.model import model_file, settings
from gaussian_neurons.model import run as training
from gaussian_neurons.model.learner import Learner
from gaussian_neurons.sampling import as_stream
from gaussian_neurons.views.notebook import Shown, Watched, audience

Array = NDArray[Any]


class LearnsFromStreams(Watched):
    """`GaussianNeurons.learn`."""

    _learner: Learner
    _labels: NDArray[np.int64] | None
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    n_clusters_: Any
    get_params: Callable[..., dict[str, Any]]
    __sklearn_is_fitted__: Callable[..., bool]
    _unchanged_on_error: Callable[..., AbstractContextManager[None]]
    _settings: Callable[..., settings.Settings]
    _check_widths: Callable[..., Array | None]
    _start: Callable[..., Learner]
    _contents: Callable[..., model_file.Contents]
    _restore: Callable[..., None]

    def learn(
        self,
        stream: Any,
        n_samples: int | None = None,
        *,
        progress: bool = True,
        checkpoint: str | os.PathLike[str] | None = None,
        every: int = 100_000,
        callback: Callable[[Self, int], Any] | None = None,
        on_bad: str = "raise",
        on_write_error: str = "raise",
    ) -> Self:
        """Learn from a stream, on top of what was learned before, with constant memory.

        The next chunk is drawn in a second thread while this one is learned. Ctrl-C leaves what was learned
        until then, and the stream where learning ended.

        Parameters
        ----------
        stream : a stream of `gaussian_neurons.sampling` or `datasets.synthetic`, which remembers its place; a
            table (n, n_features); or any iterable of rows, of mappings, of chunks of rows, or of pairs
            (rows, widths), see `sampling.Iterated`
        n_samples : how many rows to take from it; None: all, of a stream that ends
        progress : show a bar, if this is a terminal or a notebook
        checkpoint : a file that keeps the run, written every `every` samples, at the end and on Ctrl-C.
            If the file is there already, the run carries on from it: the same command again, after a crash,
            ends in the same bits. It is a model file: `load` reads it
        every : samples between two checkpoints, and between two calls of `callback`
        callback : called with the model and the number of rows taken so far, every `every` samples and at
            the end; if it returns True, learning stops
        on_bad : "raise" at a row that cannot be learned from (it is named, and everything before it is
            learned), or "skip" such rows: they are counted in `n_skipped_`, and reported at the end
        on_write_error : "raise" where a checkpoint cannot be written, or "warn" and go on. The last one that
            was written stays

        Examples
        --------
        >>> from gaussian_neurons import GaussianNeurons
        >>> from gaussian_neurons.datasets.synthetic import Mixture
        >>> model = GaussianNeurons(20, width=0.008, domain=(0, 1), random_state=0)
        >>> model.learn(Mixture(8, seed=1), 200_000).n_clusters_
        8
        """
        source = as_stream(stream)
        if callback is not None and not callable(callback):
            raise ValueError(f"callback must be a function of (model, t), got {callback!r}.")
        told = None if callback is None else partial(callback, self)
        bar = progress and audience(self) is None  # a picture that follows says as much
        plan = training.Plan(n_samples, bar, checkpoint, every, told, on_bad, on_write_error)
        with Shown(self, at_once=True):
            training.learn(_Streamed(self, source.feature_names), source, plan)
        return self


@dataclass(frozen=True)
class _Streamed:
    """A model as `training` sees it."""

    model: LearnsFromStreams
    names: list[str] | None  # of the columns of the stream

    def take(self, x: Array, widths: Array | None) -> None:
        if not len(x):
            return
        model = self.model
        first = not model.__sklearn_is_fitted__()
        with model._unchanged_on_error():
            if first:
                model.n_features_in_ = x.shape[1]
                if self.names is not None:
                    model.feature_names_in_ = np.array(self.names, object)
            elif x.shape[1] != model.n_features_in_:
                raise ValueError(
                    f"the stream has {x.shape[1]} columns, but the model learned from {model.n_features_in_}."
                )
            known = getattr(model, "feature_names_in_", None)
            if self.names is not None and known is not None and self.names != list(known):
                raise ValueError(f"the columns are {self.names}, but the model learned from {list(known)}.")
            given = model._settings()
            own = model._check_widths(widths, x, first, given)
            model._labels = None
            if first:
                model._learner = model._start(x)
            model._learner.learn(checks.as_numbers(x), own, given, audience(model))

    def received(self) -> int:
        return self.model._learner.received if self.model.__sklearn_is_fitted__() else 0

    def good_rows(self, x: Array, widths: Array | None) -> NDArray[np.bool_]:
        dtype: Any = np.float32 if x.dtype == np.float32 else np.float64
        if self.model.__sklearn_is_fitted__():
            dtype = self.model._learner.recent.dtype
        with np.errstate(over="ignore", invalid="ignore"):
            good: NDArray[np.bool_] = np.isfinite(x.astype(dtype)).all(axis=1)
            if widths is not None:
                good &= np.isfinite(widths.astype(dtype)) & (widths >= 0)
        return good

    def skip(self, rows: int) -> None:
        if self.model.__sklearn_is_fitted__():
            self.model._learner.skipped += rows

    def learned(self) -> int:
        return self.model.n_clusters_ if self.model.__sklearn_is_fitted__() else 0

    def began(self) -> dict[str, Any]:
        parameters = model_file.plain_parameters(self.model.get_params(deep=False))
        before = None
        if self.model.__sklearn_is_fitted__():
            before = persistence.digest(*self.model._contents())
        return {"parameters": parameters, "model": before}

    def contents(self) -> model_file.Contents:
        return self.model._contents()

    def restore(self, loaded: model_file.Loaded) -> None:
        self.model._restore(loaded)
