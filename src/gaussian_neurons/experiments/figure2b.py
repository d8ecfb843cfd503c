"""Figure 2b: the neurons of 2a after ten times as many samples. The filters stay."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gaussian_neurons.experiments import claims, layer, pictures, similarity
from gaussian_neurons.experiments.experiment import Claim, Experiment, Quantity, Result, filters_learned
from gaussian_neurons.experiments.lab import Lab

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Config(layer.LayerConfig):
    """Figure 2's settings, N = 10^7."""

    n_samples: int = 10_000_000
    n_samples_before: int = 1_000_000  # as in Figure 2a; the filters are compared with those at this point


def run(config: Config, seed: int, lab: Lab) -> Result:
    """Learn as long as Figure 2a, then ten times as long, and measure how far each filter moved."""
    model, stream = config.neurons(seed), config.stream(lab.data, seed)
    before = layer.facts(lab.learn(model, stream, config.n_samples_before, "as-2a"))
    after = layer.facts(lab.learn(model, stream, config.n_samples - config.n_samples_before, "after-2a"))
    return {**after, "at_2a": before, **moved(before, after)}


def moved(before: Result, after: Result) -> Result:
    """How far each learned neuron moved, and which neurons learned later."""
    then, now = np.array(before["centers"]), np.array(after["centers"])
    numbers = np.flatnonzero(before["is_learned"])
    return {
        "moved": [
            {"neuron": int(k), "distance": d, "still_learned": after["is_learned"][k], "same": same}
            for k, d, same in zip(
                numbers,
                layer.rounded(similarity.distance(now, then)[numbers]),
                similarity.same(now, then)[numbers].tolist(),
                strict=True,
            )
        ],
        "found_later": np.flatnonzero(
            np.array(after["is_learned"]) & ~np.array(before["is_learned"])
        ).tolist(),
    }


def stayed(result: Result) -> list[bool]:
    """For each filter that was learned before, whether it is still learned and the same."""
    return [filter["same"] and filter["still_learned"] for filter in result["moved"]]


def farthest(result: Result) -> float | None:
    """The largest distance that a filter moved."""
    return max((filter["distance"] for filter in result["moved"]), default=None)


def draw(result: Result) -> "Figure":
    """The filters before and after."""
    before, after, config = result["at_2a"], result, result["config"]
    return pictures.draw_panels(
        result,
        [
            pictures.Panel(f"N = {config['n_samples_before']:,} (2a): {before['learned']} learned", before),
            pictures.Panel(f"N = {config['n_samples']:,} (2b): {after['learned']} learned", after),
        ],
    )


EXPERIMENT = Experiment(
    name="figure2b",
    title="2a after ten times as many samples",
    config=Config(),
    run=run,
    draw=draw,
    data="mnist",
    seconds=5,
    samples=10_000_000,
    prints="8 learned",
    published={"learned": 8},
    quantities=(
        filters_learned(8),
        Quantity("largest movement of a filter, per pixel", farthest, digits=3),
        Quantity("filters learned after 2a", lambda result: len(result["found_later"])),
    ),
    claims=(
        Claim(
            "The filters are similar to those of 2a: each is still learned and the same (within 0.2).", stayed
        ),
        claims.OUTSIDE,
        claims.KEPT_DIRECTION,
    ),
)
