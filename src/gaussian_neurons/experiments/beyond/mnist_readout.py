"""A linear read-out of layers that learned from MNIST without labels."""

from dataclasses import dataclass

from gaussian_neurons.experiments import layers
from gaussian_neurons.experiments.experiment import Experiment


@dataclass(frozen=True)
class Config(layers.Config):
    """All training images, and a single layer with larger patches."""

    n_train: int = 60_000
    n_neurons: int = 200
    size: int = 9
    grid: int = 3
    n_lower: int = 64
    lower_size: int = 5
    upper_size: int = 4
    epochs: int = 3


run = layers.run
GOOD = layers.at_least("One layer has at least 98.0 %.", layers.ONE, lambda _: 98.0)
BEST = layers.at_least("One and two layers together have at least 99.2 %.", layers.BOTH, lambda _: 99.2)

EXPERIMENT = Experiment(
    name="mnist-readout",
    title="a linear read-out of MNIST",
    config=Config(),
    run=run,
    draw=layers.draw,
    draw_seeds=layers.draw_seeds,
    data="mnist-split",
    seconds=400,
    samples=500_000,
    seeds=3,
    prints="accuracies",
    published={},
    beyond=True,
    note=layers.note(Config(), "the rule of Krotov and Hopfield (2019) 98.5 %, SoftHebb 99.4 %"),
    quantities=layers.quantities(layers.NAMES),
    claims=(GOOD, BEST, *layers.CLAIMS),
)
