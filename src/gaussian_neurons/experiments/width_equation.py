"""The width equation: the width that gives larger patches the repulsion of Figure 2d's 5 x 5."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gaussian_neurons.experiments import pictures
from gaussian_neurons.experiments.experiment import Claim, Experiment, Quantity, Result
from gaussian_neurons.experiments.lab import Lab
from gaussian_neurons.experiments.layer import rounded
from gaussian_neurons.plotting import LEARNED, MUTED
from gaussian_neurons.theory import SUBFIGURE_2D, Layout, equivalent_width, log_repulsion

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PUBLISHED = (4.14, 9.91)


@dataclass(frozen=True)
class Config:
    """The patch sizes and inhibitions of Figures 3a and 3b, and those of 2d to match."""

    sides: tuple[int, ...] = (9, 13)
    inhibitions: tuple[float, ...] = (0.015, 0.01)
    like_side: int = 5
    like_width: float = SUBFIGURE_2D.width
    like_inhibition: float = SUBFIGURE_2D.inhibition


def run(config: Config, seed: int, lab: Lab) -> Result:
    """Solve the equation for both patch sizes, with a curve of each for the picture."""
    wanted = log_repulsion(config.like_width, config.like_side**2, config.like_inhibition)
    solutions = []
    for side, inhibition in zip(config.sides, config.inhibitions, strict=True):
        like = Layout(config.like_side**2, config.like_width, config.like_inhibition)
        width = equivalent_width(side**2, inhibition, like)
        widths = np.geomspace(width / 3, side**2 / 2, 80)
        solutions.append(
            {
                "side": side,
                "inhibition": inhibition,
                "width": width,
                "width_by_equation_1": equivalent_width(side**2, inhibition, like, power=1),
                "off_by": float(np.expm1(log_repulsion(width, side**2, inhibition) - wanted)),
                "curve": [rounded(widths), rounded(np.exp(log_repulsion(widths, side**2, inhibition)))],
            }
        )
    return {"repulsion": float(np.exp(wanted)), "solutions": solutions}


def draw(result: Result) -> "Figure":
    """Both curves, and their intersections with the wanted repulsion."""
    figure, axes = pictures.curve_figure("width σ", "repulsion between opposite corners")
    axes.axhline(result["repulsion"], color=MUTED, lw=1, ls="--", label="Figure 2d: 5 × 5, σ = 1, λ = 1/9")
    for solution, line in zip(result["solutions"], ("-", ":"), strict=True):
        side = solution["side"]
        label = f"{side} × {side}, λ = {solution['inhibition']:g}: σ = {solution['width']:.2f}"
        axes.loglog(*solution["curve"], color=LEARNED, ls=line, lw=1.8, label=label)
        axes.plot(solution["width"], result["repulsion"], "o", color=LEARNED)
    axes.set_ylim(result["repulsion"] * 1e-6, None)
    pictures.add_legend(axes)
    return figure


def _width(which: int) -> Quantity:
    label = f"σ for {Config.sides[which]} × {Config.sides[which]}"
    return Quantity(label, lambda result: result["solutions"][which]["width"], PUBLISHED[which], digits=2)


def _by_equation_1(which: int) -> Quantity:
    label = f"σ with 1/σ as in Equation 1, for {Config.sides[which]} × {Config.sides[which]}"
    return Quantity(label, lambda result: result["solutions"][which]["width_by_equation_1"], digits=2)


def _rounds_to(which: int) -> Claim:
    text = f"σ = {PUBLISHED[which]} for {Config.sides[which]} × {Config.sides[which]} patches."
    return Claim(text, lambda result: [round(result["solutions"][which]["width"], 2) == PUBLISHED[which]])


EXPERIMENT = Experiment(
    name="width-equation",
    title="the widths of Figure 3",
    config=Config(),
    run=run,
    draw=draw,
    data=None,
    is_random=False,
    seconds=1,
    samples=0,
    prints="4.14, 9.91",
    published={"widths": list(PUBLISHED)},
    note="Solved as printed, with 1/σ². Equation 1 implies 1/σ, but only 1/σ² gives the paper's widths.",
    quantities=(_width(0), _width(1), _by_equation_1(0), _by_equation_1(1)),
    claims=(_rounds_to(0), _rounds_to(1)),
)
