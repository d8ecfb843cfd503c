"""Patterns of removed neurons, and the neurons that learn them again."""

from collections import deque
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gaussian_neurons import GaussianNeurons
from gaussian_neurons.experiments import similarity
from gaussian_neurons.learning.responses import responses

Array = NDArray[Any]

MAX_PATTERNS = 16
NEAR = 0.5  # response of the removed neuron to the center of one that has its pattern


class RemovedPatterns:
    """The patterns that removed neurons had learned.

    Parameters
    ----------
    model : the model that the neurons were removed from
    are_images : whether centers are images, which are compared by similarity and not by distance
    """

    def __init__(self, model: GaussianNeurons, are_images: bool) -> None:
        self._model, self._are_images = model, are_images
        self._patterns: deque[tuple[int, Array, Array]] = deque(maxlen=MAX_PATTERNS)

    def add(self, number: int, center: Array, width: Array, learned: Array) -> None:
        """Remember a removed neuron, unless another learned neuron has its pattern."""
        if not (learned & self._alike(center, width)).any():
            self._patterns.append((number, center, width))

    def relearned(self, learned: Array) -> list[tuple[int, int]]:
        """Numbers of removed neurons, each once, with the index of the neuron that has the pattern now."""
        found = {}
        for number, center, width in self._patterns:
            alike = learned & self._alike(center, width)
            if alike.any():
                found[number] = int(np.argmax(alike))
        self._patterns = deque((one for one in self._patterns if one[0] not in found), MAX_PATTERNS)
        return list(found.items())

    def _alike(self, center: Array, width: Array) -> Array:
        """Which neurons have this pattern, (K,)."""
        centers = self._model.centers_
        if self._are_images:
            return similarity.same(centers, center)
        alike: Array = responses(centers, center[None], width[None])[:, 0] > NEAR
        return alike
