"""Figure 2a: sixteen neurons after a million 5 x 5 patches of handwritten digits."""

from dataclasses import dataclass

import numpy as np

from gaussian_neurons.experiments import layer, pictures
from gaussian_neurons.experiments.experiment import Claim, Experiment, Result, learned

run, draw = layer.run, pictures.draw_filters

NOTICEABLE = 0.1  # how far outside of [0, 1] a pixel must be
KEPT_ITS_DIRECTION = 0.8  # the least cosine of Table 1's neurons that learned nothing


@dataclass(frozen=True)
class Config(layer.Layer):
    """Figure 2's settings, N = 10^6."""


def pushed_out(result: Result) -> list[bool]:
    """Whether every neuron that learned nothing is farther out than every one that learned."""
    it, distance = np.array(result["is_learned"], bool), np.array(result["domain_distance"])
    return [bool(distance[it].max() < distance[~it].min())] if it.any() and not it.all() else []


def is_outside(result: Result) -> list[bool]:
    """For each neuron that learned nothing, whether its center lies outside of the box [0, 1]^D."""
    beyond = np.abs(np.array(result["centers"]) - 0.5).max(axis=1) > 0.5 + NOTICEABLE
    return [bool(it) for it in beyond[~np.array(result["is_learned"], bool)]]


def kept_direction(result: Result) -> list[bool]:
    """For each neuron that learned nothing, whether it looks as it did at the start."""
    kept = np.round(np.array(result["cosine"]), 1) >= KEPT_ITS_DIRECTION
    return [bool(it) for it in kept[~np.array(result["is_learned"], bool)]]


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

EXPERIMENT = Experiment(
    name="figure2a",
    title="16 neurons on 5 × 5 patches of MNIST",
    config=Config(),
    run=run,
    draw=draw,
    data="mnist",
    seconds=0.5,
    samples=1_000_000,
    prints="7 learned",
    published={"learned": 7},
    quantities=(learned(7),),
    claims=(
        *OF_THE_OTHERS,
        Claim("They lie farther out than those that learned (larger d).", pushed_out),
    ),
)
