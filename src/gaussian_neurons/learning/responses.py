"""What neurons say about rows: their responses, the strongest one, the cost. Any number of rows."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gaussian_neurons.learning import native
from gaussian_neurons.learning.neurons import Neurons

Array = NDArray[Any]


def responses(neurons: Neurons, x: Array) -> Array:
    """f_i(x) for every row and neuron, (n, K) [1].

    Examples
    --------
    >>> responses(Neurons.at([[0.0], [1.0]], width=1.0), np.array([[1.0]])).round(3)
    array([[0.368, 1.   ]])
    """
    found: Array = np.exp(-native.squared_distances(x, neurons.centers) / neurons.widths)
    return found


def strongest(neurons: Neurons, x: Array) -> tuple[NDArray[np.int64], Array]:
    """For each row the neuron that responds most, and its log-response: -1, -inf without any neurons."""
    winner = np.full(len(x), -1)
    response = np.full(len(x), -np.inf, neurons.centers.dtype)
    for begin, distances in native.distance_blocks(x, neurons.centers):
        if len(neurons):
            with np.errstate(over="ignore"):  # minus infinity is what it is
                scores = -distances / neurons.widths
            rows = slice(begin, begin + len(scores))
            winner[rows] = best = scores.argmax(axis=1)
            response[rows] = scores[np.arange(len(scores)), best]
    return winner, response


def nearest(centers: Array, x: Array) -> NDArray[np.int64]:
    """For each row the center that is nearest, (n,)."""
    found = np.empty(len(x), np.int64)
    for begin, distances in native.distance_blocks(x, centers):
        found[begin : begin + len(distances)] = distances.argmin(axis=1)
    return found


def cost(neurons: Neurons, x: Array, inhibition: float) -> float:
    """E, the cost of the rows [3]."""
    repulsion = responses(neurons, neurons.centers).sum(dtype=np.float64) - len(neurons)
    attraction = 0.0
    for _, distances in native.distance_blocks(x, neurons.centers):
        attraction += np.exp(-distances / neurons.widths).sum(dtype=np.float64)
    return float(-attraction + len(x) * inhibition * repulsion)
