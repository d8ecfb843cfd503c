"""Figure 2f: only images of the digit 1."""

from dataclasses import dataclass

from gaussian_neurons.experiments import claims, layer, pictures
from gaussian_neurons.experiments.experiment import Experiment, filters_learned

run = layer.run
draw = pictures.draw_filters


@dataclass(frozen=True)
class Config(layer.LayerConfig):
    """Figure 2's settings with half the width, on images of 1s."""

    width: float = 0.5
    digits: tuple[int, ...] | None = (1,)


EXPERIMENT = Experiment(
    name="figure2f",
    title="only images of 1s",
    config=Config(),
    run=run,
    draw=draw,
    data="mnist",
    seconds=0.5,
    samples=1_000_000,
    prints="3 learned",
    published={"learned": 3},
    quantities=(filters_learned(3),),
    claims=(claims.OUTSIDE, claims.KEPT_DIRECTION),
)
