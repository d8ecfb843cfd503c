"""One layer of neurons that learns from image patches, as most of the paper's experiments do."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gaussian_neurons import GaussianNeurons
from gaussian_neurons.clustering.diagnosis import Diagnosis
from gaussian_neurons.datasets import ImageSet
from gaussian_neurons.experiments.experiment import Result
from gaussian_neurons.experiments.lab import Lab
from gaussian_neurons.sampling import Neighbourhoods, Patches, Stream

Array = NDArray[Any]


@dataclass(frozen=True)
class Layer:
    """The paper's K, sigma, lambda, eta_mu, eta_sigma and N, and what the samples are."""

    n_samples: int = 1_000_000
    n_neurons: int = 16
    size: int = 5  # side of a patch in pixels
    width: float = 1.0
    inhibition: float = 0.5
    learning_rate: float = 0.1
    width_learning_rate: float = 0.0
    repulsion_every: int = 1  # r; the paper knows no other
    noise: float | None = None  # standard deviation; samples are then neighbourhoods with widths of their own
    digits: tuple[int, ...] | None = None  # only images of these classes

    def neurons(self, seed: int) -> GaussianNeurons:
        """Neurons before the first sample: centers uniform on [0, 1]^D."""
        return GaussianNeurons(
            self.n_neurons,
            width=self.width,
            inhibition=self.inhibition,
            learning_rate=self.learning_rate,
            width_learning_rate=self.width_learning_rate,
            repulsion_every=self.repulsion_every,
            domain=(0.0, 1.0),
            random_state=seed,
        )

    def stream(self, data: ImageSet, seed: int) -> Stream:
        """The samples."""
        chosen: dict[str, Any] = {}
        if self.digits is not None:
            chosen = {"labels": data.labels, "classes": self.digits}
        if self.noise is None:
            return Patches(data.images, self.size, seed, **chosen)
        return Neighbourhoods(data.images, self.size, self.noise, seed, **chosen)


def learn(config: Layer, seed: int, lab: Lab, stage: str = "layer") -> GaussianNeurons:
    """Learn as configured, from the start."""
    return lab.learn(config.neurons(seed), config.stream(lab.data, seed), config.n_samples, stage)


def run(config: Layer, seed: int, lab: Lab) -> Result:
    """Learn, and say what was learned."""
    return facts(learn(config, seed, lab))


def facts(model: GaussianNeurons) -> Result:
    """The neurons as they are now, for a result file."""
    diagnosis = model.diagnosis_
    return {
        "learned": int(diagnosis.learned.sum()),
        "learned_with_twins": int(_with_twins(diagnosis).sum()),
        "is_learned": diagnosis.learned.tolist(),
        "domain_distance": rounded(diagnosis.domain_distance),
        "cosine": rounded(diagnosis.cosine),
        "widths": rounded(model.widths_),
        "share": rounded(diagnosis.share),
        "mean_response": rounded(diagnosis.mean_response),
        "twins": [list(pair) for pair in diagnosis.twins],
        "centers": rounded(model.centers_),
    }


def _with_twins(diagnosis: Diagnosis) -> NDArray[np.bool_]:
    """The neurons that learned, and those that sit on the same places."""
    found: NDArray[np.bool_] = diagnosis.learned | diagnosis.learned[diagnosis.twin_of] & (
        diagnosis.twin_of >= 0
    )
    return found


def rounded(values: Array) -> Any:
    """Numbers of an array as JSON has them, to six digits: all that float32 is good for."""
    return np.vectorize(lambda value: float(f"{value:.6g}"), otypes=[float])(values).tolist()


def learned_centers(result: Result) -> Array:
    """The filters that were learned, (learned, D)."""
    found: Array = np.array(result["centers"])[np.array(result["is_learned"], bool)]
    return found
