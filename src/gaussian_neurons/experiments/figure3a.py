"""Figure 3a: patches of 9 x 9, with the width from the width equation."""

from collections.abc import Mapping
from dataclasses import dataclass

from gaussian_neurons.experiments import layer, orientation, pictures
from gaussian_neurons.experiments.experiment import Claim, Experiment, Quantity, Result, comparison, n_learned
from gaussian_neurons.theory import equivalent_width

run = layer.run
draw = pictures.draw_filters

ROUGHLY = 3  # largest difference for "roughly the same number" of filters


@dataclass(frozen=True)
class Config(layer.LayerConfig):
    """D = 9 x 9, N = 10^7; K as in Figure 2."""

    n_samples: int = 10_000_000
    size: int = 9
    width: float = equivalent_width(9 * 9, inhibition=0.015)
    inhibition: float = 0.015


def compare(result: Result, others: Mapping[str, Result]) -> Result:
    """With the same seed: more filters than in 2d and in the other Figure 3, and 2d's orientation."""
    found: Result = {
        "more_than": {name: result["learned"] - other["learned"] for name, other in others.items()}
    }
    if "figure2d" in others:
        found["orientation_of_2d"] = orientation.median_coherence(others["figure2d"])
    return found


def more_than_2d(result: Result) -> float | None:
    """The number of learned filters minus that of 2d, if there is a result of 2d."""
    count: float | None = (comparison(result, "more_than") or {}).get("figure2d")
    return count


def roughly_as_many(result: Result) -> list[bool]:
    """Whether about as many filters are learned as in 2d and as in the other Figure 3."""
    return [abs(more) <= ROUGHLY for more in (comparison(result, "more_than") or {}).values()]


def is_rounder(result: Result) -> list[bool]:
    """Whether the filters have less of one direction than those of 2d."""
    ours, theirs = orientation.median_coherence(result), comparison(result, "orientation_of_2d")
    return [] if ours is None or theirs is None else [ours < theirs]


QUANTITIES = (
    n_learned(),
    Quantity("difference from 2d with the same seed", more_than_2d),
    Quantity("neurons with the center of another", lambda result: len(result["twins"])),
    orientation.COHERENCE,
)
CLAIMS = (
    Claim(
        f"Roughly as many filters as in 2d and in the other part of Figure 3 (within {ROUGHLY}).",
        roughly_as_many,
    ),
    Claim("The filters are more rounded than those of 2d (smaller orientation).", is_rounder),
)
NOTE = "The limit is K = 16."

EXPERIMENT = Experiment(
    name="figure3a",
    title="9 × 9 patches, σ by the width equation",
    config=Config(),
    run=run,
    draw=draw,
    data="mnist",
    seconds=12,
    samples=10_000_000,
    seeds=8,
    prints="σ = 4.14",
    published={"width": 4.14},
    note=NOTE,
    quantities=(Quantity("σ", lambda result: result["config"]["width"], 4.14, digits=2), *QUANTITIES),
    claims=CLAIMS,
    compare=compare,
    compares_with=("figure2d", "figure3b"),
)
