"""One layer of neurons that learns from image patches, as in most of the paper's experiments."""

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
class LayerConfig:
    """The paper's K, sigma, lambda, eta_mu, eta_sigma and N, and the kind of samples."""

    n_samples: int = 1_000_000
    n_neurons: int = 16
    size: int = 5  # side of a patch in pixels
    width: float = 1.0
    inhibition: float = 0.5
    learning_rate: float = 0.1
    width_learning_rate: float = 0.0
    repulsion_every: int = 1  # the paper has no other value
    noise: float | None = None  # standard deviation; if given, samples are neighbourhoods with sample widths
    digits: tuple[int, ...] | None = None  # the classes of the images; None uses all

    def neurons(self, seed: int) -> GaussianNeurons:
        """A model before its first sample, with centers uniform on [0, 1]^D."""
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
        """The stream of samples."""
        classes: dict[str, Any] = {}
        if self.digits is not None:
            classes = {"labels": data.labels, "classes": self.digits}
        if self.noise is None:
            return Patches(data.images, self.size, seed, **classes)
        return Neighbourhoods(data.images, self.size, self.noise, seed, **classes)


def learn(config: LayerConfig, seed: int, lab: Lab, stage: str = "layer") -> GaussianNeurons:
    """A new model that learned from `config.n_samples` samples."""
    return lab.learn(config.neurons(seed), config.stream(lab.data, seed), config.n_samples, stage)


def run(config: LayerConfig, seed: int, lab: Lab) -> Result:
    """Learn, and describe the neurons."""
    return facts(learn(config, seed, lab))


def facts(model: GaussianNeurons) -> Result:
    """The current neurons of a model, for a result file."""
    diagnosis = model.diagnosis_
    return {
        "learned": int(diagnosis.learned.sum()),
        "learned_with_twins": int(_learned_or_twin(diagnosis).sum()),
        "is_learned": diagnosis.learned.tolist(),
        "domain_distance": rounded(diagnosis.domain_distance),
        "cosine": rounded(diagnosis.cosine),
        "widths": rounded(model.widths_),
        "share": rounded(diagnosis.share),
        "mean_response": rounded(diagnosis.mean_response),
        "twins": [list(pair) for pair in diagnosis.twins],
        "centers": rounded(model.centers_),
    }


def _learned_or_twin(diagnosis: Diagnosis) -> NDArray[np.bool_]:
    """Which neurons learned, or have the same center as one that learned, (K,)."""
    found: NDArray[np.bool_] = diagnosis.learned | diagnosis.learned[diagnosis.twin_of] & (
        diagnosis.twin_of >= 0
    )
    return found


def rounded(values: Array) -> Any:
    """An array as nested lists for JSON, rounded to the six digits that float32 provides."""
    return np.vectorize(lambda value: float(f"{value:.6g}"), otypes=[float])(values).tolist()


def learned_centers(result: Result) -> Array:
    """The centers of the learned neurons, (learned, D)."""
    found: Array = np.array(result["centers"])[np.array(result["is_learned"], bool)]
    return found
