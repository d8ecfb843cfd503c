"""The text's remark on small widths: they can lead to fewer patterns, since samples attract too little."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from gaussian_neurons.experiments import layer, pictures
from gaussian_neurons.experiments.experiment import Claim, Experiment, Quantity, Result
from gaussian_neurons.experiments.lab import Lab
from gaussian_neurons.plotting import LEARNED, MUTED

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Config(layer.LayerConfig):
    """Figure 2's settings with several widths, N = 3 x 10^6."""

    n_samples: int = 3_000_000
    widths: tuple[float, ...] = (1.0, 0.5, 0.35, 0.25, 0.2)


def run(config: Config, seed: int, lab: Lab) -> Result:
    """Learn with each width."""
    found = {
        f"{width:g}": layer.facts(layer.learn(replace(config, width=width), seed, lab, f"width-{width:g}"))
        for width in config.widths
    }
    return {**found[f"{config.widths[0]:g}"], "layers": found}


def learned(result: Result, width: float) -> int:
    """The number of learned filters at one width."""
    return int(result["layers"][f"{width:g}"]["learned"])


def draw(result: Result) -> "Figure":
    """The filters of each width."""
    panels = [
        pictures.Panel(f"σ = {width}: {found['learned']}", found) for width, found in result["layers"].items()
    ]
    return pictures.draw_panels(result, panels)


def draw_seeds(results: Sequence[Result]) -> "Figure":
    """The number of learned filters over the width: a dot for each seed, and the mean."""
    figure, axes = pictures.curve_figure("width σ", "learned filters")
    widths = results[0]["config"]["widths"]
    counts = np.array([[learned(result, width) for width in widths] for result in results])
    shift = np.linspace(-0.08, 0.08, len(results)) if len(results) > 1 else [0.0]
    for row, up in zip(counts, shift, strict=True):  # equal numbers of several seeds side by side
        axes.plot(widths, row + up, ".", color=MUTED, ms=6)
    axes.plot(widths, counts.mean(axis=0), "-o", color=LEARNED, lw=1.8, label=f"mean of {len(results)} seeds")
    axes.set_xscale("log")
    axes.set_xticks(widths, [f"{width:g}" for width in widths])
    axes.minorticks_off()
    pictures.add_legend(axes)
    return figure


def _quantity(width: float) -> Quantity:
    return Quantity(f"learned filters at σ = {width:g}", partial(learned, width=width))


EXPERIMENT = Experiment(
    name="widths",
    title="smaller widths can learn fewer filters",
    config=Config(),
    run=run,
    draw=draw,
    draw_seeds=draw_seeds,
    data="mnist",
    seconds=7,
    samples=15_000_000,
    seeds=8,
    prints="fewer",
    published={},
    note="The paper gives no numbers. Other settings as in Figure 2.",
    quantities=tuple(map(_quantity, Config.widths)),
    claims=(
        Claim(
            "Reducing the widths can lead to fewer patterns: fewer at σ = 0.25 than at σ = 1.",
            lambda result: [learned(result, 0.25) < learned(result, 1.0)],
        ),
        Claim(
            "The reason is too little attraction: no neuron learns at σ = 0.2.",
            lambda result: [learned(result, 0.2) == 0],
        ),
    ),
)
