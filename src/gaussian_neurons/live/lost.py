"""Patterns of neurons that were removed, and who has learned them since."""

from collections import deque
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gaussian_neurons import GaussianNeurons
from gaussian_neurons.experiments import similarity

Array = NDArray[Any]

MOST = 16  # patterns that are looked for
ALIKE = 0.5  # response in the plane of the lost neuron to the place of one that has its pattern


class Lost:
    """What removed neurons had learned.

    Parameters
    ----------
    model : whose neurons they were
    are_pixels : whether a center is a picture, which a person compares with another
    """

    def __init__(self, model: GaussianNeurons, are_pixels: bool) -> None:
        self._model, self._are_pixels = model, are_pixels
        self._patterns: deque[tuple[int, Array, float]] = deque(maxlen=MOST)

    def add(self, number: int, center: Array, width: float, learned: Array) -> None:
        """A neuron is gone; where another has its pattern as well, that is not lost."""
        if not (learned & self._alike(center, width)).any():
            self._patterns.append((number, center, width))

    def found(self, learned: Array) -> list[tuple[int, int]]:
        """Numbers of removed neurons, each with the index of one that has its pattern: told once."""
        found = []
        for number, center, width in list(self._patterns):
            alike = learned & self._alike(center, width)
            if alike.any():
                found.append((number, int(np.argmax(alike))))
        gone = [number for number, _ in found]
        self._patterns = deque((one for one in self._patterns if one[0] not in gone), MOST)
        return found

    def _alike(self, center: Array, width: float) -> Array:
        """Which neurons stand where that one stood, (K,)."""
        centers = self._model.centers_
        if self._are_pixels:
            return similarity.same(centers, center)
        alike: Array = np.exp(-((centers - center) ** 2).sum(axis=1) / width) > ALIKE
        return alike
