"""Figure 2a: sixteen neurons after a million 5 x 5 patches of handwritten digits."""

from dataclasses import dataclass

from gaussian_neurons.experiments import claims, layer, orientation, pictures
from gaussian_neurons.experiments.experiment import Claim, Experiment, n_learned

run = layer.run
draw = pictures.draw_filters


@dataclass(frozen=True)
class Config(layer.LayerConfig):
    """Figure 2's settings, N = 10^6."""


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
    quantities=(n_learned(7), orientation.COHERENCE),
    claims=(
        claims.OUTSIDE,
        claims.KEPT_DIRECTION,
        Claim(
            "The remaining filters are farther from the domain's middle than the learned ones (larger d).",
            claims.unlearned_are_farther,
        ),
        orientation.EDGES,
    ),
)
