"""Figure 2c: with half the width, more filters are learned than in 2b."""

from collections.abc import Mapping
from dataclasses import dataclass

from gaussian_neurons.experiments import claims, layer, pictures
from gaussian_neurons.experiments.experiment import (
    Claim,
    Experiment,
    Quantity,
    Result,
    comparison,
    filters_learned,
)

run = layer.run
draw = pictures.draw_filters


@dataclass(frozen=True)
class Config(layer.LayerConfig):
    """Figure 2's settings with half the width, N = 10^7."""

    n_samples: int = 10_000_000
    width: float = 0.5


def compare(result: Result, others: Mapping[str, Result]) -> Result:
    """The number of learned filters minus that of Figure 2b with the same seed."""
    return {"more_than_2b": result["learned"] - others["figure2b"]["learned"]}


def more_than_2b(result: Result) -> list[bool]:
    """Whether more filters are learned than in 2b."""
    difference = comparison(result, "more_than_2b")
    return [] if difference is None else [difference > 0]


MORE_THAN_2B = Quantity(
    "difference from 2b with the same seed", lambda result: comparison(result, "more_than_2b")
)

EXPERIMENT = Experiment(
    name="figure2c",
    title="half the width: more filters than 2b",
    config=Config(),
    run=run,
    draw=draw,
    data="mnist",
    seconds=5,
    samples=10_000_000,
    prints="11 learned",
    published={"learned": 11},
    note="The paper has 11 learned filters here and 8 in 2b.",
    quantities=(filters_learned(11), MORE_THAN_2B),
    claims=(
        Claim("A smaller width finds more patterns than 2b.", more_than_2b),
        claims.OUTSIDE,
        claims.KEPT_DIRECTION,
    ),
    compare=compare,
    compares_with=("figure2b",),
)
