"""Figure 2f: only images of the digit 1."""

from dataclasses import dataclass

from gaussian_neurons.experiments import claims, layer, pictures
from gaussian_neurons.experiments.experiment import Experiment, learned

run, draw = layer.run, pictures.draw_filters


@dataclass(frozen=True)
class Config(layer.Layer):
    """Figure 2's settings at half the width, on 1s."""

    width: float = 0.5
    digits: tuple[int, ...] | None = (1,)


EXPERIMENT = Experiment(
    name="figure2f",
    title="from 1s only",
    config=Config(),
    run=run,
    draw=draw,
    data="mnist",
    seconds=0.5,
    samples=1_000_000,
    prints="3 learned",
    published={"learned": 3},
    quantities=(learned(3),),
    claims=claims.OF_THE_OTHERS,
)
