"""Figure 2g: the neurons of 2f learn on from 2s. Their filters stay, and new ones are learned."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gaussian_neurons import GaussianNeurons
from gaussian_neurons.experiments import claims, figure2f, layer, pictures, similarity
from gaussian_neurons.experiments.experiment import Claim, Experiment, Quantity, Result, filters_learned
from gaussian_neurons.experiments.lab import Lab
from gaussian_neurons.sampling import Stream

if TYPE_CHECKING:
    from matplotlib.figure import Figure

EXCLUSIVE = 0.25  # largest ratio of the mean responses to 1s and to 2s of a pattern of the 2s only
UNSEEN = 1 << 40  # a position in the streams that learning does not reach
N_MEASURED = 100_000  # samples of each digit


@dataclass(frozen=True)
class Config(figure2f.Config):
    """Figure 2f's settings, then the same on images of 2s."""

    digits_after: tuple[int, ...] | None = (2,)
    n_samples_after: int = 1_000_000


def run(config: Config, seed: int, lab: Lab) -> Result:
    """Learn from 1s, then from 2s."""
    ones = config.stream(lab.data, seed)
    twos = replace(config, digits=config.digits_after).stream(lab.data, seed)
    model = lab.learn(config.neurons(seed), ones, config.n_samples, "as-2f")
    before = layer.facts(model)
    after = layer.facts(lab.learn(model, twos, config.n_samples_after, "after-2f"))
    return {**after, "at_2f": before, **kept_and_added(model, before, after, ones, twos)}


def kept_and_added(
    model: GaussianNeurons, before: Result, after: Result, ones: Stream, twos: Stream
) -> Result:
    """How the filters of the 1s changed, and whether the patterns of the new ones occur in 1s."""
    then, now = np.array(before["centers"]), np.array(after["centers"])
    known, knows = np.array(before["is_learned"], bool), np.array(after["is_learned"], bool)
    to_ones, to_twos = (model.transform(s.seek(UNSEEN).read(N_MEASURED)).mean(axis=0) for s in (ones, twos))
    moved, alike = similarity.distance(now, then), similarity.same(now, then)
    return {
        "kept": [
            {
                "neuron": int(k),
                "distance": float(moved[k]),
                "same": bool(alike[k]),
                "still_learned": bool(knows[k]),
            }
            for k in np.flatnonzero(known)
        ],
        "added": [
            {
                "neuron": int(k),
                "mean_response_to_ones": float(to_ones[k]),
                "mean_response_to_twos": float(to_twos[k]),
                "ones_to_twos": float(to_ones[k] / to_twos[k]),
                "only_in_twos": bool(to_ones[k] <= EXCLUSIVE * to_twos[k]),
            }
            for k in np.flatnonzero(knows & ~known)
        ],
    }


def draw(result: Result) -> "Figure":
    """The filters before and after; new ones are marked."""
    before = result["at_2f"]
    added: list[Any] = [filter["neuron"] for filter in result["added"]]
    return pictures.draw_panels(
        result,
        [
            pictures.Panel(f"1s (2f): {pictures.summary(before)}", before),
            pictures.Panel(f"then 2s (2g): {pictures.summary(result)}", result, marked=added),
        ],
    )


def farthest(result: Result) -> float | None:
    """The largest distance that a filter of the 1s moved."""
    return max((filter["distance"] for filter in result["kept"]), default=None)


EXPERIMENT = Experiment(
    name="figure2g",
    title="2f, then 2s: old filters stay",
    config=Config(),
    run=run,
    draw=draw,
    data="mnist",
    seconds=1,
    samples=2_000_000,
    prints="3 kept",
    published={"kept": 3},
    note="The paper has 3 learned filters of the 1s. Teal frames mark the filters that the 2s added.",
    quantities=(
        filters_learned(),
        Quantity("filters of the 1s (2f)", lambda r: len(r["kept"]), 3),
        Quantity("of them, no longer the same", lambda r: sum(not f["same"] for f in r["kept"]), 0),
        Quantity("largest movement of one, per pixel", farthest, digits=3),
        Quantity("filters added by the 2s", lambda r: len(r["added"])),
        Quantity("of them, patterns of the 2s only", lambda r: sum(f["only_in_twos"] for f in r["added"])),
    ),
    claims=(
        Claim(
            "Each filter of the 1s is largely similar after the 2s (within 0.2) and still learned.",
            lambda r: [f["same"] and f["still_learned"] for f in r["kept"]],
        ),
        Claim("Additional filters were learned.", lambda r: [len(r["added"]) > 0]),
        Claim(
            "Most of them are patterns of the 2s only (at most a quarter of the response for 1s).",
            lambda r: (
                [2 * sum(f["only_in_twos"] for f in r["added"]) > len(r["added"])] if r["added"] else []
            ),
        ),
        claims.OUTSIDE,
        claims.KEPT_DIRECTION,
    ),
)
