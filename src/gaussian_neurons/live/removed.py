"""Patterns of removed neurons, and the neurons that learn them again."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gaussian_neurons.experiments import similarity
from gaussian_neurons.learning.responses import responses

Array = NDArray[Any]

MAX_PATTERNS = 16
NEAR = 0.5  # response of the removed neuron to the center of one that has its pattern


class RemovedPatterns:
    """The patterns that removed neurons had learned. A copy is independent.

    Parameters
    ----------
    are_images : whether centers are images, which are compared by similarity and not by distance
    """

    def __init__(self, are_images: bool) -> None:
        self._are_images = are_images
        self._patterns: tuple[tuple[int, Array, Array], ...] = ()  # number, center, width

    def add(self, number: int, center: Array, width: Array, centers: Array, learned: Array) -> None:
        """Remember a removed neuron, unless a learned one of the other neurons has its pattern."""
        if not (learned & self._alike(centers, center, width)).any():
            self._patterns = (*self._patterns, (number, center, width))[-MAX_PATTERNS:]

    def relearned(self, centers: Array, learned: Array) -> list[tuple[int, int, Array]]:
        """Removed neurons, each once: number, index of the neuron that has the pattern now, old center."""
        found, rest = [], []
        for one in self._patterns:
            number, center, width = one
            alike = learned & self._alike(centers, center, width)
            if alike.any():
                found.append((number, int(np.argmax(alike)), center))
            else:
                rest.append(one)
        self._patterns = tuple(rest)
        return found

    def _alike(self, centers: Array, center: Array, width: Array) -> Array:
        """Which neurons have this pattern, (K,)."""
        if self._are_images:
            return similarity.same(centers, center)
        alike: Array = responses(centers, center[None], width[None])[:, 0] > NEAR
        return alike
