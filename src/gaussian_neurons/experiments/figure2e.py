"""Figure 2e: a learned filter of 2a is removed, and another neuron learns its pattern again."""

import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gaussian_neurons import GaussianNeurons
from gaussian_neurons.experiments import layer, pictures, places
from gaussian_neurons.experiments.experiment import Claim, Experiment, Quantity, Result
from gaussian_neurons.experiments.lab import Lab
from gaussian_neurons.sampling import Stream

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Config(layer.Layer):
    """Figure 2's settings: N = 10^6 as in 2a, then 3 x 10^6 without one filter."""

    n_samples_after: int = 3_000_000


def run(config: Config, seed: int, lab: Lab) -> Result:
    """Learn as in 2a; then remove each learned filter in turn, each time from there."""
    model, stream = config.neurons(seed), config.stream(lab.data, seed)
    before = layer.facts(lab.learn(model, stream, config.n_samples, "as-2a"))
    place = stream.position
    removals = []
    for neuron in np.flatnonzero(before["is_learned"]).tolist():
        stream.seek(place)
        removals.append(without(copy.deepcopy(model), stream, neuron, before, config, lab))
    return {**before, "removals": removals}


def without(
    model: GaussianNeurons, stream: Stream, neuron: int, before: Result, config: Config, lab: Lab
) -> Result:
    """Remove one neuron and learn on: who takes its place, and what becomes of the others."""
    model.remove_neurons([neuron])
    after = layer.facts(lab.learn(model, stream, config.n_samples_after, f"without-{neuron + 1}"))
    left = np.delete(np.arange(len(before["centers"])), neuron)  # numbers in `before` of those in `after`
    then, now = np.array(before["centers"]), np.array(after["centers"])
    removed = then[neuron]
    others = np.flatnonzero(np.array(before["is_learned"])[left])
    old = then[left[others]]
    candidates = np.flatnonzero(after["is_learned"])
    found: Result = {"relearned_by": None, "had_learned": None, "distance": None, "relearned": False}
    if len(candidates):
        nearest = int(candidates[np.argmin(places.distance(now[candidates], removed))])
        found = {
            "relearned_by": int(left[nearest]),
            "had_learned": bool(before["is_learned"][left[nearest]]),  # something else, which it left
            "distance": float(places.distance(now[nearest], removed)),
            "relearned": bool(places.same(now[nearest], removed)),
        }
    return {
        "neuron": neuron,
        **found,
        "others": left[others].tolist(),
        "others_moved": layer.rounded(places.distance(now[others], old)),
        "others_same": places.same(now[others], old).tolist(),
        "others_known": [bool(places.same(now[candidates], filter).any()) for filter in old],
        "numbers": (left + 1).tolist(),
        "after": after,
    }


def of_others(result: Result, fact: str) -> list[bool]:
    """A fact about each other learned filter after each removal."""
    return [bool(it) for removal in result["removals"] for it in removal[fact]]


def median_distance(result: Result) -> float | None:
    """How close the pattern was found again, where it was."""
    close = [removal["distance"] for removal in result["removals"] if removal["relearned"]]
    return float(np.median(close)) if close else None


def draw(result: Result) -> "Figure":
    """Before, and after the removal of one learned filter: the middle one of them."""
    if not result["removals"]:
        return pictures.draw_filters(result)
    removal: dict[str, Any] = result["removals"][len(result["removals"]) // 2]
    after = removal["after"]
    by, title = [], f"without μ{removal['neuron'] + 1}: {pictures.summary(after)}"
    if removal["relearned"]:
        by = [removal["numbers"].index(removal["relearned_by"] + 1)]
        title = f"without μ{removal['neuron'] + 1}: learned again by μ{removal['relearned_by'] + 1}"
    return pictures.draw_panels(
        result,
        [
            pictures.Panel(f"before: {pictures.summary(result)}", result, marked=[removal["neuron"]]),
            pictures.Panel(
                title,
                after,
                numbers=removal["numbers"],
                marked=by,
            ),
        ],
    )


EXPERIMENT = Experiment(
    name="figure2e",
    title="a filter removed, and learned again",
    config=Config(),
    run=run,
    draw=draw,
    data="mnist",
    seconds=9,
    samples=20_000_000,
    prints="μ₅ by μ₈",
    published={"removed": 1, "relearned": 1},
    quantities=(
        Quantity("filters removed in turn", lambda result: len(result["removals"])),
        Quantity(
            "of them learned again",
            lambda result: sum(removal["relearned"] for removal in result["removals"]),
        ),
        Quantity(
            "of these by a neuron that had learned nothing",
            lambda result: sum(it["relearned"] and not it["had_learned"] for it in result["removals"]),
        ),
        Quantity("how close, a pixel's root mean square", median_distance, digits=3),
    ),
    claims=(
        Claim(
            "The pattern of a removed filter is learned again by another neuron.",
            lambda result: [removal["relearned"] for removal in result["removals"]],
        ),
        Claim(
            "The other learned filters remain where they were.",
            lambda result: of_others(result, "others_same"),
        ),
        Claim(
            "Their patterns are still known, by the same neuron or by another.",
            lambda result: of_others(result, "others_known"),
        ),
    ),
)
