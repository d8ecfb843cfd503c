"""Figure 5f: fifty neurons on colour patches adapt their widths from 10."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from gaussian_neurons.experiments import figure4, figure5c, pictures
from gaussian_neurons.experiments.experiment import Claim, Experiment, Quantity, Result, comparison, n_learned

run = figure4.run
draw = pictures.draw_filters

ALMOST = 3  # largest difference for "almost the same number" of filters


@dataclass(frozen=True)
class Config(figure4.Config):
    """Figure 4's inhibition, with width updates, on neighbourhoods with noise 0.15."""

    width: float = 10.0
    width_learning_rate: float = 0.1
    noise: float | None = 0.15


def compare(result: Result, others: Mapping[str, Result]) -> Result:
    """The number of learned filters minus that of Figure 4 with the same seed."""
    return {"more_than_4": result["learned"] - others["figure4"]["learned"]}


def almost_as_many(result: Result, twins: bool) -> list[bool]:
    """Whether almost as many filters are learned as in Figure 4, with or without twins."""
    difference = comparison(result, "more_than_4")
    if difference is None:
        return []
    more = result["learned_with_twins"] - result["learned"] if twins else 0
    return [abs(difference + more) <= ALMOST]


def reduced(result: Result) -> list[bool]:
    """For each learned neuron, whether its width was reduced."""
    return [
        reduced for reduced, it in zip(figure5c.is_reduced(result), result["is_learned"], strict=True) if it
    ]


def median_width(result: Result) -> float | None:
    """The median of the learned widths."""
    widths = figure5c.learned_widths(result)
    return float(np.median(widths)) if widths else None


EXPERIMENT = Experiment(
    name="figure5f",
    title="50 neurons adapt their widths, in colour",
    config=Config(),
    run=run,
    draw=draw,
    data="cifar10",
    seconds=94,
    samples=10_000_000,
    seeds=8,
    prints="almost like 4",
    published={"learned": "almost as in figure4"},
    note="Widths are also reduced for neurons that learned nothing. They do not show which neurons learned.",
    quantities=(
        n_learned(),
        Quantity(
            "learned filters, including equal ones",
            lambda result: result["learned_with_twins"],
        ),
        Quantity(
            "difference from Figure 4 with the same seed", lambda result: comparison(result, "more_than_4")
        ),
        Quantity("median width of the learned neurons", median_width, digits=2),
        Quantity("neurons with a reduced width", lambda result: sum(figure5c.is_reduced(result))),
    ),
    claims=(
        Claim(
            f"Almost as many filters as in Figure 4 (within {ALMOST}).",
            lambda result: almost_as_many(result, twins=False),
        ),
        Claim(
            "The same if neurons with equal centers are counted separately.",
            lambda result: almost_as_many(result, twins=True),
        ),
        Claim("The widths of the learned filters were reduced (to 0.9 of the start or less).", reduced),
    ),
    compare=compare,
    compares_with=("figure4",),
)
