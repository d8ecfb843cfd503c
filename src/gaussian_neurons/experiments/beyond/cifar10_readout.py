"""A linear read-out of layers that learned from CIFAR-10 without labels."""

from dataclasses import dataclass

from gaussian_neurons.experiments import layers
from gaussian_neurons.experiments.experiment import Experiment


@dataclass(frozen=True)
class Config(layers.Config):
    """400 neurons, as many as the smallest dictionary of Coates, Ng and Lee (2011) has."""

    three: bool = True


run = layers.run
EXPERIMENT = Experiment(
    name="cifar10-readout",
    title="a linear read-out of CIFAR-10",
    config=Config(),
    run=run,
    draw=layers.draw,
    draw_seeds=layers.draw_seeds,
    data="cifar10-split",
    seconds=400,
    samples=800_000,
    seeds=3,
    prints="accuracies",
    published={},
    beyond=True,
    note=layers.note(
        Config(),
        "k-means with 4,000 centers 79.6 % (Coates, Ng, Lee 2011), SoftHebb 80.3 %, with all 50,000 images",
    ),
    quantities=layers.quantities((*layers.NAMES, layers.THREE)),
    claims=(*layers.CLAIMS, layers.DEEPER),
)
