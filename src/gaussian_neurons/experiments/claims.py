"""Claims of the paper, in several figures, about neurons that learned no pattern."""

import numpy as np
from numpy.typing import NDArray

from gaussian_neurons.experiments.experiment import Claim, Result

OUTSIDE_BY = 0.1  # least distance of a pixel from [0, 1]
LEAST_COSINE = 0.8  # the smallest of the paper's Table 1 among the neurons that learned nothing


def is_unlearned(result: Result) -> NDArray[np.bool_]:
    """Which neurons learned no pattern, (K,). Twins of a learned neuron are not among them."""
    unlearned: NDArray[np.bool_] = ~np.array(result["is_learned"], bool)
    unlearned[[twin for twin, _ in result.get("twins", [])]] = False
    return unlearned


def unlearned_are_farther(result: Result) -> list[bool]:
    """Whether every unlearned neuron is farther from the middle of the domain than every learned one."""
    learned, unlearned = np.array(result["is_learned"], bool), is_unlearned(result)
    distance = np.array(result["domain_distance"])
    if not learned.any() or not unlearned.any():
        return []
    return [bool(distance[learned].max() < distance[unlearned].min())]


def is_outside(result: Result) -> list[bool]:
    """For each unlearned neuron, whether its center is outside the box [0, 1]^D."""
    outside = np.abs(np.array(result["centers"]) - 0.5).max(axis=1) > 0.5 + OUTSIDE_BY
    return [bool(it) for it in outside[is_unlearned(result)]]


def kept_direction(result: Result) -> list[bool]:
    """For each unlearned neuron, whether its center has about the direction that it had at the start."""
    kept = np.round(np.array(result["cosine"]), 1) >= LEAST_COSINE
    return [bool(it) for it in kept[is_unlearned(result)]]


OUTSIDE = Claim(
    "The remaining filters were pushed outside the input domain [0, 1] (some pixel by 0.1 or more).",
    is_outside,
)
KEPT_DIRECTION = Claim(
    "The remaining filters have a high cosine similarity to their start (0.8 or more, rounded).",
    kept_direction,
)
