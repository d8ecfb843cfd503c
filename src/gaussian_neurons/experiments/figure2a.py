"""Figure 2a: sixteen neurons after a million 5 x 5 patches of handwritten digits."""

from dataclasses import dataclass

import numpy as np

from gaussian_neurons.experiments import layer, pictures
from gaussian_neurons.experiments.experiment import Claim, Experiment, Result, learned

run, draw = layer.run, pictures.draw_filters


@dataclass(frozen=True)
class Config(layer.Layer):
    """Figure 2's settings, N = 10^6."""


def pushed_out(result: Result) -> list[bool]:
    """Whether every neuron that learned nothing is farther out than every one that learned."""
    it, distance = np.array(result["is_learned"], bool), np.array(result["domain_distance"])
    return [bool(distance[it].max() < distance[~it].min())] if it.any() and not it.all() else []


EXPERIMENT = Experiment(
    name="figure2a",
    title="16 neurons after 10⁶ patches of MNIST",
    config=Config(),
    run=run,
    draw=draw,
    data="mnist",
    seconds=0.4,
    samples=1_000_000,
    prints="7 learned",
    published={"learned": 7},
    quantities=(learned(7),),
    claims=(Claim("The neurons that learned nothing lie farther out than those that learned.", pushed_out),),
)
