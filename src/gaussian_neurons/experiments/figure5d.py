"""Figure 5d: nine neurons adapt their widths from 10."""

from dataclasses import dataclass

from gaussian_neurons.experiments import figure5c, layer
from gaussian_neurons.experiments.experiment import Experiment, Quantity, Result, filters_learned

run = layer.run
draw = figure5c.draw

WIDTHS = [10, 9.5, 4.6, 0.6, 5, 10, 10, 4.6, 10]  # of all neurons; those below 9 learned
LEARNED = [False, False, True, True, True, False, False, True, False]


@dataclass(frozen=True)
class Config(figure5c.Config):
    """Figure 5c's settings with another starting width."""

    width: float = figure5c.STARTS["figure5d"]


def _width(rank: int, published: float) -> Quantity:
    def of(result: Result) -> float | None:
        widths = figure5c.learned_widths(result)
        return widths[rank] if rank < len(widths) else None

    name = ("smallest", "second smallest", "third smallest", "fourth smallest")[rank]
    return Quantity(f"{name} width of a learned neuron", of, published, digits=1)


EXPERIMENT = Experiment(
    name="figure5d",
    title="9 neurons adapt their widths, from 10",
    config=Config(),
    run=run,
    draw=draw,
    data="mnist",
    seconds=8,
    samples=10_000_000,
    prints="4 learned",
    published={"learned": 4, "widths": WIDTHS, "is_learned": LEARNED},
    quantities=(filters_learned(4), _width(0, 0.6), _width(1, 4.6), _width(2, 4.6), _width(3, 5.0)),
    claims=figure5c.CLAIMS,
    compare=figure5c.compare,
    compares_with=figure5c.others_than("figure5d"),
)
