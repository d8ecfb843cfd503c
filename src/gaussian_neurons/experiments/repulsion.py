"""The text's differential equation: how far a neuron is pushed by another one, and where rounding ends it."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gaussian_neurons.experiments import pictures
from gaussian_neurons.experiments.experiment import Claim, Experiment, Quantity, Result
from gaussian_neurons.experiments.lab import Lab
from gaussian_neurons.experiments.layer import rounded
from gaussian_neurons.learning.native import learn
from gaussian_neurons.learning.rule import Rule
from gaussian_neurons.plotting import LEARNED, MUTED, PUSHED_OUT
from gaussian_neurons.theory import repulsion_distance, repulsion_limit

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = NDArray[np.float64]

OUT_OF_REACH = 1e6  # a sample that no neuron responds to
CLOSE = 0.01  # largest relative difference from the solution at the end
AROUND = 0.5  # how far from the expected limit a standstill is searched


@dataclass(frozen=True)
class Config:
    """D = 1, K = 2, λ = ½, one neuron fixed at 0, no sample in reach."""

    width: float = 1.0
    learning_rate: float = 0.1
    start: float = 0.1
    n_steps: int = 100_000
    shown: int = 60  # points of the curve


def run(config: Config, seed: int, lab: Lab) -> Result:
    """The distance over the samples beside the equation's solution, and where each precision stops."""
    counts = np.unique(np.geomspace(1, config.n_steps, config.shown).astype(int))
    found, distance, done = [], config.start, 0
    for count in counts:
        distance = pushed(config, distance, int(count) - done, np.float64)
        done = int(count)
        found.append(distance)
    solution = repulsion_distance(counts * config.learning_rate / 2, config.width, config.start)
    return {
        "counts": counts.tolist(),
        "distances": rounded(np.array(found)),
        "solution": rounded(solution),
        "limits": {
            dtype.__name__: {
                "expected": repulsion_limit(config.width, config.learning_rate, dtype),
                "reached": standstill(config, dtype),
            }
            for dtype in (np.float32, np.float64)
        },
    }


def pushed(config: Config, distance: float, n: int, dtype: Any) -> float:
    """The distance after n steps of the core in one precision, with the other neuron put back to 0."""
    rule, sample = Rule(config.learning_rate, 0.5), np.full((1, 1), OUT_OF_REACH, dtype)
    widths = np.full(2, config.width, dtype)
    for _ in range(n):
        centers, _ = learn(np.array([[0.0], [distance]], dtype), widths, sample, None, rule, 0)
        if centers[1, 0] == distance:
            break
        distance = centers[1, 0]
    return float(distance)


def standstill(config: Config, dtype: Any) -> float:
    """The smallest distance that a step no longer changes, by bisection: too many steps lead there."""
    limit = repulsion_limit(config.width, config.learning_rate, dtype)
    moves, stands = limit - AROUND, limit + AROUND
    for _ in range(40):
        middle = float(dtype((moves + stands) / 2))
        if pushed(config, middle, 1, dtype) == middle:
            stands = middle
        else:
            moves = middle
    return stands


def draw(result: Result) -> "Figure":
    """The distance over the number of samples, the solution, and the limits of both precisions."""
    figure, axes = pictures.curve_figure("samples", "distance, in √σ")
    axes.semilogx(
        result["counts"], result["solution"], color=LEARNED, lw=1.8, label="the equation's solution"
    )
    axes.plot(result["counts"], result["distances"], ".", color=PUSHED_OUT, ms=5, label="the rule, float64")
    for name, line in (("float32", ":"), ("float64", "--")):
        limit = result["limits"][name]["reached"]
        axes.axhline(limit, color=MUTED, lw=1, ls=line, label=f"{name} stops at {limit:.2f}")
    pictures.add_legend(axes)
    return figure


def differences(result: Result) -> Array:
    """The relative differences between the rule and the solution."""
    apart: Array = np.abs(np.array(result["distances"]) / np.array(result["solution"]) - 1)
    return apart


def stops_as_computed(result: Result) -> list[bool]:
    """For each precision, whether it stops where the theory says."""
    return [bool(abs(it["reached"] - it["expected"]) < 0.01) for it in result["limits"].values()]


def _limit(name: str) -> Quantity:
    return Quantity(f"distance at which {name} stops", lambda r: r["limits"][name]["reached"], digits=2)


EXPERIMENT = Experiment(
    name="repulsion",
    title="the repulsion equation and its limit",
    config=Config(),
    run=run,
    draw=draw,
    data=None,
    is_random=False,
    seconds=2,
    samples=0,
    prints="an equation",
    published={},
    note="The distance grows as √(σ log t), without a limit; rounding ends it. The learning rate is 0.1.",
    quantities=(
        Quantity(
            "largest relative difference from the solution", lambda r: float(differences(r).max()), digits=3
        ),
        Quantity("the same after 100,000 samples", lambda result: float(differences(result)[-1]), digits=5),
        _limit("float32"),
        _limit("float64"),
    ),
    claims=(
        Claim(
            f"The rule follows the equation (after 100,000 samples within {100 * CLOSE:.0f} %).",
            lambda result: [bool(differences(result)[-1] < CLOSE)],
        ),
        Claim(
            "The precision of the numbers limits the distance, as computed (within 0.01).",
            stops_as_computed,
        ),
    ),
)
