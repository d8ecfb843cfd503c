"""Figure 5f: fifty neurons on colour patches that adapt their widths, from 10."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from gaussian_neurons.experiments import figure4, figure5c, pictures
from gaussian_neurons.experiments.experiment import Claim, Experiment, Quantity, Result, compared, learned

run, draw = figure4.run, pictures.draw_filters

ALMOST = 3  # filters fewer or more that are still "almost the same number"


@dataclass(frozen=True)
class Config(figure4.Config):
    """Figure 4's inhibition, with width updates, on neighbourhoods with noise 0.15."""

    width: float = 10.0
    width_learning_rate: float = 0.1
    noise: float | None = 0.15


def compare(result: Result, others: Mapping[str, Result]) -> Result:
    """How many filters more than Figure 4 with the same seed."""
    return {"more_than_4": result["learned"] - others["figure4"]["learned"]}


def almost_as_many(result: Result, twins: bool) -> list[bool]:
    """Whether there are almost as many as in Figure 4, neurons at equal places counted once or each."""
    difference = compared(result, "more_than_4")
    if difference is None:
        return []
    more = result["learned_with_twins"] - result["learned"] if twins else 0
    return [abs(difference + more) <= ALMOST]


def reduced(result: Result) -> list[bool]:
    """For each neuron that learned, whether its width has shrunk."""
    return [
        left for left, it in zip(figure5c.left_its_start(result), result["is_learned"], strict=True) if it
    ]


def median_width(result: Result) -> float | None:
    """The middle one of the learned widths."""
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
    prints="almost as 4",
    published={"learned": "almost as in figure4"},
    note="Widths shrink here also where nothing was learned: they do not tell the learned ones apart.",
    quantities=(
        learned(),
        Quantity(
            "neurons on learned patterns, equal ones counted each",
            lambda result: result["learned_with_twins"],
        ),
        Quantity("difference to Figure 4 with the same seed", lambda result: compared(result, "more_than_4")),
        Quantity("median width of the learned", median_width, digits=2),
        Quantity("neurons whose width left its start", lambda result: sum(figure5c.left_its_start(result))),
    ),
    claims=(
        Claim(
            f"Almost as many filters as Figure 4 (up to {ALMOST} fewer or more).",
            lambda result: almost_as_many(result, twins=False),
        ),
        Claim(
            "The same, with neurons at equal places counted each.",
            lambda result: almost_as_many(result, twins=True),
        ),
        Claim("The widths of the learned filters were reduced (to 0.9 or less).", reduced),
    ),
    compare=compare,
    compares_with=("figure4",),
)
