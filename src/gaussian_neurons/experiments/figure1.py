"""Figure 1: the surface of F with two neurons, its minimum, and the flat case."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gaussian_neurons.experiments.experiment import Claim, Experiment, Quantity, Result
from gaussian_neurons.experiments.lab import Lab
from gaussian_neurons.experiments.layer import rounded
from gaussian_neurons.plotting import INK, LEARNED, MUTED, PUSHED_OUT
from gaussian_neurons.theory import cost_minimum, cost_surface

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Config:
    """The paper's example: one sample and a fixed second neuron; F is a function of the first center."""

    sample: tuple[float, float] = (0.3, 0.7)
    second: tuple[float, float] = (0.7, 0.3)
    width: float = 0.2
    inhibition: float = 0.5
    points: int = 61  # along each side of the surface


def run(config: Config, seed: int, lab: Lab) -> Result:
    """F over the unit square, its minimum, and F with the second neuron on the sample."""
    side = np.linspace(0, 1, config.points)
    grid = np.stack(np.meshgrid(side, side), axis=-1)  # (points, points, 2): row y, column x
    rule = (config.sample, config.width, config.inhibition)
    surface = cost_surface(grid, [config.second], *rule)
    flat = cost_surface(grid, [config.sample], *rule)
    lowest = cost_minimum([config.second], *rule)
    along = np.stack([side, 1 - side], axis=-1)  # from (0, 1) to (1, 0), through the sample and the neuron
    return {
        "slice": rounded(cost_surface(along, [config.second], *rule)),
        "flat_slice": rounded(cost_surface(along, [config.sample], *rule)),
        "lowest_on_the_grid": rounded(grid[np.unravel_index(surface.argmin(), surface.shape)]),
        "surface": rounded(surface),
        "minimum": rounded(lowest),
        "cost_at_minimum": float(cost_surface(lowest, [config.second], *rule)),
        "flat_lowest": float(flat.min()),
        "flat_highest": float(flat.max()),
    }


def draw(result: Result) -> "Figure":
    """The surface in 3D as in the paper, as a contour map, and a slice of it beside the flat case."""
    from matplotlib.figure import Figure

    config, surface = result["config"], np.array(result["surface"])
    side = np.linspace(0, 1, len(surface))
    figure = Figure(figsize=(10.2, 3.8), dpi=150, layout="constrained")
    relief = figure.add_subplot(1, 3, 1, projection="3d")
    relief.plot_surface(*np.meshgrid(side, side), surface, cmap="viridis", lw=0, rcount=61, ccount=61)
    relief.view_init(32, -120)
    relief.set_zlabel("F", fontsize=9, color=INK)
    contours = figure.add_subplot(1, 3, 2)
    levels = contours.contourf(side, side, surface, levels=24, cmap="viridis")
    bar = figure.colorbar(levels, ax=contours, shrink=0.85)
    for point, mark, name in (
        (config["sample"], "x", "the sample x"),
        (config["second"], "o", r"the second neuron $\mu_2$"),
        (result["minimum"], "*", f"minimum: ({result['minimum'][0]:.2f}, {result['minimum'][1]:.2f})"),
    ):
        colour = {"x": MUTED, "o": PUSHED_OUT, "*": LEARNED}[mark]
        edge = None if mark == "x" else "white"
        contours.scatter(point[0], point[1], marker=mark, s=60, c=colour, edgecolors=edge, label=name)
    figure.legend(fontsize=7.5, loc="outside lower center", ncols=3, frameon=False, labelcolor=INK)
    contours.set_aspect("equal")
    cut = figure.add_subplot(1, 3, 3)
    cut.plot(side, result["slice"], color=LEARNED, lw=1.8, label=r"$\mu_2$ as given")
    cut.plot(
        side, result["flat_slice"], color=PUSHED_OUT, lw=1.8, ls="--", label=r"$\mu_2 = x$: flat, $F = -1$"
    )
    cut.set_title("along the line through x and $\\mu_2$", fontsize=8, color=INK, loc="left")
    cut.legend(fontsize=7.5, loc="upper left", frameon=False, labelcolor=INK)
    cut.spines[["top", "right"]].set_visible(False)
    for axes in (relief, contours, cut):
        axes.set_xlabel(r"$\mu_1$, first coordinate", fontsize=8, color=INK)
        axes.set_ylabel("F" if axes is cut else "second", fontsize=8, color=INK)
        axes.tick_params(colors=INK, labelsize=7)
    bar.ax.tick_params(colors=INK, labelsize=7)
    return figure


EXPERIMENT = Experiment(
    name="figure1",
    title="F of two neurons: minimum, flat case",
    config=Config(),
    run=run,
    draw=draw,
    data=None,
    is_random=False,
    seconds=1,
    samples=0,
    prints="(0.24, 0.76)",
    published={"minimum": [0.24, 0.76], "flat": -1.0},
    quantities=(
        Quantity("minimum, first coordinate", lambda result: result["minimum"][0], 0.24, digits=2),
        Quantity("minimum, second coordinate", lambda result: result["minimum"][1], 0.76, digits=2),
        Quantity(
            "F if the second neuron is on the sample", lambda result: result["flat_lowest"], -1, digits=2
        ),
    ),
    claims=(
        Claim(
            "The minimum is at about (0.24, 0.76).",
            lambda result: [bool(np.allclose(result["minimum"], [0.24, 0.76], atol=0.005))],
        ),
        Claim(
            "With μ₂ = x the surface is flat, F = −1.",
            lambda result: [
                bool(np.allclose([result["flat_lowest"], result["flat_highest"]], -1, atol=1e-12))
            ],
        ),
    ),
)
