"""Figure 3a: patches of 9 x 9, with the width that the width equation gives."""

from collections.abc import Mapping
from dataclasses import dataclass

from gaussian_neurons.experiments import layer, pictures
from gaussian_neurons.experiments.experiment import Claim, Experiment, Quantity, Result, compared, learned
from gaussian_neurons.theory import equivalent_width

run, draw = layer.run, pictures.draw_filters

ROUGHLY = 3  # filters more or fewer that are still "roughly the same number"


@dataclass(frozen=True)
class Config(layer.Layer):
    """D = 9 x 9, N = 10^7; K as in Figure 2."""

    n_samples: int = 10_000_000
    size: int = 9
    width: float = equivalent_width(9 * 9, inhibition=0.015)
    inhibition: float = 0.015


def compare(result: Result, others: Mapping[str, Result]) -> Result:
    """How many filters more than Figure 2d, and than the other of Figure 3, with the same seed."""
    return {"more_than": {name: result["learned"] - other["learned"] for name, other in others.items()}}


def more_than_2d(result: Result) -> float | None:
    """How many filters more than 2d, where that is there."""
    count: float | None = (compared(result, "more_than") or {}).get("figure2d")
    return count


def roughly_as_many(result: Result) -> list[bool]:
    """Whether there are about as many as in 2d, and as in the other of Figure 3."""
    return [abs(more) <= ROUGHLY for more in (compared(result, "more_than") or {}).values()]


QUANTITIES = (
    learned(),
    Quantity("difference to 2d with the same seed", more_than_2d),
    Quantity("neurons at a place with another", lambda result: len(result["twins"])),
)
CLAIMS = (
    Claim(
        f"Roughly as many filters as 2d, and as the other of Figure 3 (up to {ROUGHLY} more or fewer).",
        roughly_as_many,
    ),
)
NOTE = "There can be no more than K = 16. That the filters are more rounded than 2's is left to the eye."

EXPERIMENT = Experiment(
    name="figure3a",
    title="9 × 9 patches, σ by the width equation",
    config=Config(),
    run=run,
    draw=draw,
    data="mnist",
    seconds=12,
    samples=10_000_000,
    prints="σ = 4.14",
    published={"width": 4.14},
    note=NOTE,
    quantities=(Quantity("σ", lambda result: result["config"]["width"], 4.14, digits=2), *QUANTITIES),
    claims=CLAIMS,
    compare=compare,
    compares_with=("figure2d", "figure3b"),
)
