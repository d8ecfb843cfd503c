"""Figure 5b: nine neurons with a fixed, large width."""

from dataclasses import dataclass

from gaussian_neurons.experiments import layer, pictures
from gaussian_neurons.experiments.experiment import Experiment, filters_learned

run = layer.run
draw = pictures.draw_filters


@dataclass(frozen=True)
class Config(layer.LayerConfig):
    """Figure 5's settings without width updates."""

    n_samples: int = 10_000_000
    n_neurons: int = 9
    width: float = 14.0


EXPERIMENT = Experiment(
    name="figure5b",
    title="9 neurons, σ = 14",
    config=Config(),
    run=run,
    draw=draw,
    data="mnist",
    seconds=4,
    samples=10_000_000,
    prints="2 learned",
    published={"learned": 2},
    quantities=(filters_learned(2),),
)
