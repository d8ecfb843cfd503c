"""Lab: the data, checkpoints, clock, progress reports and backend of a running experiment."""

import json
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from gaussian_neurons import GaussianNeurons
from gaussian_neurons.base.json_text import parsed
from gaussian_neurons.datasets import ImageSet
from gaussian_neurons.sampling import Patches, Stream

WORK = 2e10  # pairs of neurons times dimensions between two checkpoints: less than a second
CLOCK = "seconds.json"
MOST, LEAST = 500_000, 20_000  # samples between two checkpoints


class Lab:
    """What a run needs besides its settings and its seed.

    Parameters
    ----------
    data : the images, if the experiment needs them
    checkpoints : a folder from which the same run resumes after a kill; None writes no checkpoints
    on_progress : called with the number of samples and of learned neurons so far
    backend : the `backend` of every model that learns here
    """

    def __init__(
        self,
        data: ImageSet | None = None,
        checkpoints: Path | None = None,
        on_progress: Callable[[int, int], None] | None = None,
        backend: Any = "auto",
    ) -> None:
        self._data, self._checkpoints, self._on_progress = data, checkpoints, on_progress
        self._backend = backend
        self.samples, self.seconds = 0, 0.0  # learned so far, and how long that took
        self._stage_seconds: dict[str, float] = {}  # includes the time before a kill
        if checkpoints is not None:
            checkpoints.mkdir(parents=True, exist_ok=True)
            with suppress(OSError, ValueError):  # absent, or incomplete after a kill
                self._stage_seconds = parsed((checkpoints / CLOCK).read_text())

    @property
    def data(self) -> ImageSet:
        """The images."""
        if self._data is None:
            raise ValueError("this experiment needs images. Pass them to Lab, for example Lab(mnist()).")
        return self._data

    def learn(self, model: GaussianNeurons, stream: Stream, n_samples: int, stage: str) -> GaussianNeurons:
        """Let a model learn from a stream; after a kill, a finished stage is loaded from its checkpoint."""
        samples, seconds, begin = self.samples, self.seconds, time.perf_counter()
        earlier = self._stage_seconds.get(stage, 0.0)
        every = int(min(MOST, max(LEAST, WORK / (model.n_neurons**2 * (stream.n_features or 1)))))
        self.samples, self.seconds = samples + n_samples, seconds + earlier  # if the stage is finished

        def on_chunk(model: GaussianNeurons, taken: int) -> None:
            spent = earlier + time.perf_counter() - begin
            self.samples, self.seconds = samples + taken, seconds + spent
            self._store_seconds(stage, spent)
            if self._on_progress is not None:
                self._on_progress(self.samples, model.n_clusters_)

        if self._backend != "auto":
            model.set_params(backend=self._backend)
        checkpoint = None if self._checkpoints is None else self._checkpoints / f"{stage}.safetensors"
        if self._backend == "cuda" and isinstance(stream, Patches):
            checkpoint = None  # it would take longer than to learn again
        model.learn(stream, n_samples, progress=False, checkpoint=checkpoint, every=every, callback=on_chunk)
        return model

    def _store_seconds(self, stage: str, seconds: float) -> None:
        self._stage_seconds[stage] = seconds
        if self._checkpoints is not None:
            (self._checkpoints / CLOCK).write_text(json.dumps(self._stage_seconds))

    def record(self, samples: int, seconds: float) -> None:
        """Count samples that were learned without `learn`."""
        self.samples, self.seconds = self.samples + samples, self.seconds + seconds
        if self._on_progress is not None:
            self._on_progress(self.samples, 0)
