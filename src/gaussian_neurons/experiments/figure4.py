"""Figure 4: fifty neurons on colour patches of natural images."""

from dataclasses import dataclass

import numpy as np

from gaussian_neurons.experiments import layer, pictures
from gaussian_neurons.experiments.experiment import Claim, Experiment, Result, n_learned
from gaussian_neurons.experiments.lab import Lab

draw = pictures.draw_filters

GREY = 0.06  # largest mean range of the channels of a pixel in a grey filter
UNIFORM = 0.06  # largest standard deviation over the pixels of a uniform filter


@dataclass(frozen=True)
class Config(layer.LayerConfig):
    """The paper's settings for CIFAR-10."""

    n_samples: int = 10_000_000
    n_neurons: int = 50
    width: float = 1.75
    inhibition: float = 0.01


def run(config: Config, seed: int, lab: Lab) -> Result:
    """Learn, and classify the filters."""
    found = layer.facts(layer.learn(config, seed, lab))
    return {**found, "kinds": kinds(found, config.size)}


def kinds(found: Result, size: int) -> Result:
    """The indices of learned filters that are grey edges, uniform and bluish, or uniform and greenish."""
    patches = np.array(found["centers"]).reshape(-1, size * size, 3)
    learned = np.array(found["is_learned"], bool)
    colour = (patches.max(axis=2) - patches.min(axis=2)).mean(axis=1)
    contrast = patches.mean(axis=2).std(axis=1)
    red, green, blue = patches.mean(axis=1).T
    uniform = learned & (contrast <= UNIFORM)
    return {
        "grey_edges": np.flatnonzero(learned & (contrast > UNIFORM) & (colour <= GREY)).tolist(),
        "sky": np.flatnonzero(uniform & (colour > GREY) & (blue > green) & (green > red)).tolist(),
        "grass": np.flatnonzero(uniform & (colour > GREY) & (green > blue) & (green >= red)).tolist(),
    }


def _some(kind: str) -> Claim:
    texts = {
        "sky": "Some filters can detect patches of sky: uniform (within 0.06 over the pixels) and bluish.",
        "grass": "Some filters can detect patches of grass: uniform and greenish.",
        "grey_edges": "Some of the edge detecting filters are grey (within 0.06 over the channels).",
    }
    return Claim(texts[kind], lambda result: [len(result["kinds"][kind]) > 0])


KINDS = (_some("sky"), _some("grass"), _some("grey_edges"))

EXPERIMENT = Experiment(
    name="figure4",
    title="50 neurons on colour patches of CIFAR-10",
    config=Config(),
    run=run,
    draw=draw,
    data="cifar10",
    seconds=77,
    samples=10_000_000,
    seeds=8,
    prints="49 learned",
    published={"learned": 49},
    quantities=(n_learned(49),),
    claims=(
        Claim(
            "All filters except one learned patterns.",
            lambda result: [result["learned"] == len(result["centers"]) - 1],
        ),
        *KINDS,
    ),
)
