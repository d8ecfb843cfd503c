"""Figure 2d: with less inhibition more filters are learned than in 2b; with too little, they collapse."""

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from gaussian_neurons.experiments import claims, figure2c, layer, orientation, pictures
from gaussian_neurons.experiments.experiment import Claim, Experiment, Quantity, Result, n_learned
from gaussian_neurons.experiments.lab import Lab

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NEAR_ZERO = 0.15  # largest root mean square of the pixels of a filter near (0, ..., 0)


@dataclass(frozen=True)
class Config(layer.LayerConfig):
    """Figure 2's settings with less inhibition, N = 10^7."""

    n_samples: int = 10_000_000
    inhibition: float = 1 / 9
    lower_inhibition: float = 0.1  # for which the paper's text reports equal centers near 0
    reference_samples: int = 20_000  # for the NumPy reference: neurons meet early, and it is slow


def run(config: Config, seed: int, lab: Lab) -> Result:
    """Learn with both inhibitions, and with the lower one also in the NumPy reference."""
    lower = replace(config, inhibition=config.lower_inhibition)
    model = lower.neurons(seed).set_params(backend="reference")
    stream = lower.stream(lab.data, seed)
    models = lab.each(
        partial(layer.learn, config, seed, lab),
        partial(layer.learn, lower, seed, lab, "lower"),
        partial(lab.learn, model, stream, config.reference_samples, "reference"),
    )
    found, collapsed, reference = map(layer.facts, models)
    return {
        **found,
        "equal_near_zero": equal_near_zero(found),
        "lower": {**collapsed, "equal_near_zero": equal_near_zero(collapsed)},
        "equal_near_zero_in_the_reference": equal_near_zero(reference),
    }


def equal_near_zero(found: Result) -> list[int]:
    """The indices of neurons that share a center near (0, ..., 0) with another neuron."""
    size = np.sqrt((np.array(found["centers"]) ** 2).mean(axis=1))
    together = sorted({k for pair in found["twins"] for k in pair})
    return [k for k in together if size[k] < NEAR_ZERO]


def draw(result: Result) -> "Figure":
    """The filters of both inhibitions."""
    lower = result["lower"]
    return pictures.draw_panels(
        result,
        [
            pictures.Panel(f"λ = 1/9: {pictures.summary(result)}", result, marked=result["equal_near_zero"]),
            pictures.Panel(f"λ = 1/10: {pictures.summary(lower)}", lower, marked=lower["equal_near_zero"]),
        ],
    )


EXPERIMENT = Experiment(
    name="figure2d",
    title="less inhibition: more filters, or twins",
    config=Config(),
    run=run,
    draw=draw,
    data="mnist",
    seconds=9,
    samples=20_000_000,
    prints="12 learned",
    published={"learned": 12, "equal_near_zero_at_lower_inhibition": 2},
    note="The paper has 12 learned filters here and 8 in 2b. Teal frames mark equal centers near 0. In exact "
    "arithmetic neurons that meet separate again. Rounding can make them equal, more often if it treats both "
    "alike (docs/algorithm.md).",
    quantities=(
        replace(n_learned(12), label="learned filters at λ = 1/9"),
        figure2c.MORE_THAN_2B,
        Quantity(
            "equal centers near 0 at λ = 1/10", lambda result: len(result["lower"]["equal_near_zero"]), 2
        ),
        Quantity(
            "the same in the NumPy reference, after 20,000 samples",
            lambda result: len(result["equal_near_zero_in_the_reference"]),
            2,
        ),
        Quantity(
            "neurons with the center of another at λ = 1/10", lambda result: len(result["lower"]["twins"])
        ),
        Quantity("neurons with the center of another at λ = 1/9", lambda result: len(result["twins"])),
        orientation.COHERENCE,
    ),
    claims=(
        Claim("Less inhibition finds more patterns than 2b.", figure2c.more_than_2b),
        Claim(
            "At λ = 1/10, filters collapse into each other near (0, …, 0) (within 0.15 per pixel).",
            lambda result: [len(result["lower"]["equal_near_zero"]) >= 2],
        ),
        Claim(
            "The same in the NumPy reference, which rounds neurons that meet alike.",
            lambda result: [len(result["equal_near_zero_in_the_reference"]) >= 2],
        ),
        claims.OUTSIDE,
        claims.KEPT_DIRECTION,
        orientation.EDGES,
    ),
    compare=figure2c.compare,
    compares_with=("figure2b",),
)
