"""Where an experiment learns: its data, its checkpoints, its clock, and who is told how far it is."""

import json
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from gaussian_neurons import GaussianNeurons
from gaussian_neurons.datasets import ImageSet
from gaussian_neurons.sampling import Stream

WORK = 2e10  # pairs times dimensions between two checkpoints: under a second
CLOCK = "seconds.json"
MOST, LEAST = 500_000, 20_000  # samples between two checkpoints


class Lab:
    """What a run needs besides its settings and its seed.

    Parameters
    ----------
    data : the images, where it needs some
    keep : a folder for checkpoints, from which the same run carries on after a kill; None keeps nothing
    tell : called now and then with the samples learned so far and the neurons that have learned
    """

    def __init__(
        self,
        data: ImageSet | None = None,
        keep: Path | None = None,
        tell: Callable[[int, int], None] | None = None,
    ) -> None:
        self._data, self._keep, self._tell = data, keep, tell
        self.samples, self.seconds = 0, 0.0  # learned so far, and the time that took
        self._earlier: dict[str, float] = {}  # stage → seconds that it took before a kill
        if keep is not None:
            keep.mkdir(parents=True, exist_ok=True)
            with suppress(OSError, ValueError):  # none yet, or killed while it was written
                self._earlier = json.loads((keep / CLOCK).read_text())

    @property
    def data(self) -> ImageSet:
        """The images."""
        if self._data is None:
            raise ValueError("this experiment learns from images: give Lab some, Lab(mnist()).")
        return self._data

    def learn(self, model: GaussianNeurons, stream: Stream, n_samples: int, stage: str) -> GaussianNeurons:
        """Let a model learn from a stream; a stage that was done before a kill is not done again."""
        done, spent, begin = self.samples, self.seconds, time.perf_counter()
        earlier = self._earlier.get(stage, 0.0)
        every = int(min(MOST, max(LEAST, WORK / (model.n_neurons**2 * (stream.n_features or 1)))))
        self.samples, self.seconds = done + n_samples, spent + earlier  # where all of it was done before

        def mark(model: GaussianNeurons, taken: int) -> None:
            seconds = earlier + time.perf_counter() - begin
            self.samples, self.seconds = done + taken, spent + seconds
            self._keep_time(stage, seconds)
            if self._tell is not None:
                self._tell(self.samples, model.n_clusters_)

        checkpoint = None if self._keep is None else self._keep / f"{stage}.safetensors"
        model.learn(stream, n_samples, progress=False, checkpoint=checkpoint, every=every, callback=mark)
        return model

    def _keep_time(self, stage: str, seconds: float) -> None:
        self._earlier[stage] = seconds
        if self._keep is not None:
            (self._keep / CLOCK).write_text(json.dumps(self._earlier))

    def count(self, samples: int, seconds: float) -> None:
        """Say that samples were learned from by other means than `learn`."""
        self.samples, self.seconds = self.samples + samples, self.seconds + seconds
        if self._tell is not None:
            self._tell(self.samples, 0)
