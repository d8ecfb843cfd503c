"""A linear read-out of layers that learned from CIFAR-10 without labels."""

from dataclasses import dataclass

from gaussian_neurons.experiments import layers
from gaussian_neurons.experiments.experiment import Experiment


@dataclass(frozen=True)
class Config(layers.Config):
    """400 neurons, as many as the smallest dictionary of Coates, Ng and Lee (2011) has."""

    three: bool = True


run = layers.run
CHOSEN = (
    " How many directions are kept of a patch of neurons was chosen on 3,000 other training images, after "
    "5,000 images and with one seed, when 1 % of the mean variance and length was added before patches are "
    "divided, in place of the mean itself: with 40, two layers had 61.0 %, one layer 60.8 %, both together "
    "64.3 %; with 100, two layers had 62.6 %, both together 64.5 %. One layer had 58.8 % with 25 directions, "
    "59.4 % with 64, 61.3 % with 70, 61.6 % with all 108; one of 800 neurons with 64 had 61.3 %. The "
    "standard error of each is 0.9 %. Backpropagation is not trained to its end: in 40 passes, its network "
    "has 61.7 % of 5,000 other training images (one seed)."
)

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
    )
    + CHOSEN,
    quantities=layers.quantities((*layers.NAMES, layers.THREE)),
    claims=(*layers.CLAIMS, layers.DEEPER),
)
