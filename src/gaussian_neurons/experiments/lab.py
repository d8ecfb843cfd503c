"""Lab: the data, checkpoints, clock, progress reports and backend of a running experiment."""

import json
import time
from collections.abc import Callable
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any

from gaussian_neurons import GaussianNeurons
from gaussian_neurons.base.json_text import parsed
from gaussian_neurons.datasets import ImageSet
from gaussian_neurons.learning import cuda
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
    backend : the `backend` of each model that learns here and has none of its own
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
        self._recorded = 0, 0.0  # samples and seconds
        self._samples: dict[str, int] = {}  # of each stage, learned so far
        self._seconds: dict[str, float] = {}  # that it took, with the time before a kill
        if checkpoints is not None:
            checkpoints.mkdir(parents=True, exist_ok=True)
            with suppress(OSError, ValueError):  # absent, or incomplete after a kill
                self._seconds = parsed((checkpoints / CLOCK).read_text())

    @property
    def samples(self) -> int:
        """How many samples were learned so far."""
        return self._recorded[0] + sum(self._samples.values())

    @property
    def seconds(self) -> float:
        """How long that took. Stages that learn at once count each."""
        return self._recorded[1] + sum(self._seconds.values())

    @property
    def data(self) -> ImageSet:
        """The images."""
        if self._data is None:
            raise ValueError("this experiment needs images. Pass them to Lab, for example Lab(mnist()).")
        return self._data

    def learn(self, model: GaussianNeurons, stream: Stream, n_samples: int, stage: str) -> GaussianNeurons:
        """Let a model learn from a stream; after a kill, a finished stage is loaded from its checkpoint."""
        earlier, begin = self._seconds.get(stage, 0.0), time.perf_counter()
        every = int(min(MOST, max(LEAST, WORK / (model.n_neurons**2 * (stream.n_features or 1)))))
        self._samples[stage] = n_samples  # if the stage is finished

        def on_chunk(model: GaussianNeurons, taken: int) -> None:
            self._samples[stage] = taken
            self._store_seconds(stage, earlier + time.perf_counter() - begin)
            if self._on_progress is not None:
                self._on_progress(self.samples, model.n_clusters_)

        if model.backend == "auto":
            model.set_params(backend=self._backend)
        checkpoint = None if self._checkpoints is None else self._checkpoints / f"{stage}.safetensors"
        on_gpu = model.backend == "cuda"
        if on_gpu and isinstance(stream, Patches):
            checkpoint = None  # it would take longer than to learn again
        with nullcontext() if on_gpu else cuda.without_turn():
            model.learn(
                stream, n_samples, progress=False, checkpoint=checkpoint, every=every, callback=on_chunk
            )
        return model

    def each(self, *calls: Callable[[], GaussianNeurons]) -> list[GaussianNeurons]:
        """What each call gives, such as of `learn`: on a GPU all at once, else one after another."""
        return cuda.each(calls)

    def _store_seconds(self, stage: str, seconds: float) -> None:
        self._seconds[stage] = seconds
        if self._checkpoints is not None:
            (self._checkpoints / CLOCK).write_text(json.dumps(self._seconds))

    def record(self, samples: int, seconds: float) -> None:
        """Count samples that were learned without `learn`."""
        self._recorded = self._recorded[0] + samples, self._recorded[1] + seconds
        if self._on_progress is not None:
            self._on_progress(self.samples, 0)
