"""What the paper says about neurons that learned nothing, in several figures."""

import numpy as np
from numpy.typing import NDArray

from gaussian_neurons.experiments.experiment import Claim, Result

NOTICEABLE = 0.1  # how far outside of [0, 1] a pixel must be
KEPT_ITS_DIRECTION = 0.8  # the least cosine of Table 1's neurons that learned nothing


def learned_nothing(result: Result) -> NDArray[np.bool_]:
    """The neurons that are at no pattern: those that share the place of a learned one are not meant, (K,)."""
    nothing: NDArray[np.bool_] = ~np.array(result["is_learned"], bool)
    nothing[[twin for twin, _ in result.get("twins", [])]] = False
    return nothing


def pushed_out(result: Result) -> list[bool]:
    """Whether every neuron that learned nothing is farther out than every one that learned."""
    it, others = np.array(result["is_learned"], bool), learned_nothing(result)
    distance = np.array(result["domain_distance"])
    return [bool(distance[it].max() < distance[others].min())] if it.any() and others.any() else []


def is_outside(result: Result) -> list[bool]:
    """For each neuron that learned nothing, whether its center lies outside of the box [0, 1]^D."""
    beyond = np.abs(np.array(result["centers"]) - 0.5).max(axis=1) > 0.5 + NOTICEABLE
    return [bool(it) for it in beyond[learned_nothing(result)]]


def kept_direction(result: Result) -> list[bool]:
    """For each neuron that learned nothing, whether it looks as it did at the start."""
    kept = np.round(np.array(result["cosine"]), 1) >= KEPT_ITS_DIRECTION
    return [bool(it) for it in kept[learned_nothing(result)]]


OF_THE_OTHERS = (
    Claim(
        "The remaining filters were pushed outside of the input domain [0, 1] (a pixel by 0.1 or more).",
        is_outside,
    ),
    Claim(
        "They have a high cosine similarity to their start (0.8 or more, rounded as in Table 1).",
        kept_direction,
    ),
)
