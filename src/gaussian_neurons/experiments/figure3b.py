"""Figure 3b: patches of 13 x 13, with the width from the width equation."""

from dataclasses import dataclass

from gaussian_neurons.experiments import figure3a, layer, pictures
from gaussian_neurons.experiments.experiment import Experiment, Quantity
from gaussian_neurons.theory import equivalent_width

run = layer.run
draw = pictures.draw_filters


@dataclass(frozen=True)
class Config(layer.LayerConfig):
    """D = 13 x 13, N = 10^7; K as in Figure 2."""

    n_samples: int = 10_000_000
    size: int = 13
    width: float = equivalent_width(13 * 13, inhibition=0.01)
    inhibition: float = 0.01


EXPERIMENT = Experiment(
    name="figure3b",
    title="13 × 13 patches, σ by the width equation",
    config=Config(),
    run=run,
    draw=draw,
    data="mnist",
    seconds=22,
    samples=10_000_000,
    seeds=8,
    prints="σ = 9.91",
    published={"width": 9.91},
    note=figure3a.NOTE,
    quantities=(
        Quantity("σ", lambda result: result["config"]["width"], 9.91, digits=2),
        *figure3a.QUANTITIES,
    ),
    claims=figure3a.CLAIMS,
    compare=figure3a.compare,
    compares_with=("figure2d", "figure3a"),
)
