"""The text's remark on λ = ½: a sample with a neuron on it attracts no second neuron of the same width."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gaussian_neurons.experiments import pictures
from gaussian_neurons.experiments.experiment import Claim, Experiment, Quantity, Result
from gaussian_neurons.experiments.lab import Lab
from gaussian_neurons.experiments.layer import rounded
from gaussian_neurons.learning.reference import center_step
from gaussian_neurons.plotting import LEARNED, MUTED, PUSHED_OUT

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Config:
    """A sample, a neuron on it, and a second neuron at several distances from it."""

    inhibitions: tuple[float, ...] = (0.1, 0.25, 0.5, 0.75)
    width: float = 1.0
    other_width: float = 2.0  # of the neuron on the sample, where widths differ
    farthest: float = 3.0
    points: int = 121
    dimensions: int = 25


def run(config: Config, seed: int, lab: Lab) -> Result:
    """How far one sample moves the second neuron toward itself, divided by the learning rate."""
    distances = np.linspace(0, config.farthest, config.points)[1:]
    return {
        "distances": rounded(distances),
        "steps": {
            f"{inhibition:g}": steps(config, distances, inhibition, config.width).tolist()
            for inhibition in config.inhibitions
        },
        "steps_beside_another_width": steps(config, distances, 0.5, config.other_width).tolist(),
    }


def steps(config: Config, distances: Array, inhibition: float, other: float) -> Array:
    """The step of a neuron toward a sample that carries a neuron of width `other`, at each distance."""
    sample = np.full(config.dimensions, 0.5)
    direction = np.eye(config.dimensions)[0]
    widths = np.array([config.width, other])
    found = [
        center_step(sample, np.stack([sample - d * direction, sample]), widths, inhibition, 1.0)[0, 0]
        for d in distances
    ]
    return np.array(found)


def draw(result: Result) -> "Figure":
    """The steps over the distance, for each inhibition."""
    figure, axes = pictures.curve_figure("distance from the sample, in √σ", "step toward the sample / η")
    colours = {"0.5": LEARNED, "0.75": PUSHED_OUT}
    styles = iter(("--", ":", "-", "-"))
    for inhibition, found in result["steps"].items():
        colour = colours.get(inhibition, MUTED)
        label = f"λ = {inhibition}"
        axes.plot(result["distances"], found, color=colour, ls=next(styles), lw=1.8, label=label)
    pictures.add_legend(axes)
    return figure


def largest(result: Result, inhibition: float) -> float:
    """The largest absolute value of a step."""
    return float(np.abs(result["steps"][f"{inhibition:g}"]).max())


def changes_sign(result: Result) -> list[bool]:
    """For each inhibition but ½, whether the sample attracts at every distance just if it is smaller."""
    return [
        bool(min(found) > 0) == (float(name) < 0.5)
        for name, found in result["steps"].items()
        if name != "0.5"
    ]


EXPERIMENT = Experiment(
    name="inhibition",
    title="no second neuron on a sample at λ = ½",
    config=Config(),
    run=run,
    draw=draw,
    data=None,
    is_random=False,
    seconds=1,
    samples=0,
    prints="λ = ½",
    published={"largest_step_at_a_half": 0.0},
    note="Computed with the NumPy reference in 25 dimensions.",
    quantities=(
        Quantity("largest step at λ = ½", lambda result: largest(result, 0.5), 0.0, digits=3),
        Quantity("largest step at λ = ¼", lambda result: largest(result, 0.25), digits=3),
    ),
    claims=(
        Claim(
            "λ = ½ nullifies the attraction of a sample with a neuron on it, at every distance.",
            lambda result: [largest(result, 0.5) < 1e-15],
        ),
        Claim(
            "Larger λ: the second neuron is repelled. Smaller λ: it is attracted.",
            changes_sign,
        ),
        Claim(
            "The widths must be equal: beside a neuron of twice the width, attraction remains.",
            lambda result: [bool(max(result["steps_beside_another_width"]) > 0.01)],
        ),
    ),
)
