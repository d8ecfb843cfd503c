"""Figure 2e: a learned filter of 2a is removed, and another neuron learns its pattern again."""

import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gaussian_neurons import GaussianNeurons
from gaussian_neurons.experiments import layer, pictures, similarity
from gaussian_neurons.experiments.experiment import Claim, Experiment, Quantity, Result
from gaussian_neurons.experiments.lab import Lab
from gaussian_neurons.sampling import Stream

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Config(layer.LayerConfig):
    """Figure 2's settings: N = 10^6 as in 2a, then 3 x 10^6 without one filter."""

    n_samples_after: int = 3_000_000


def run(config: Config, seed: int, lab: Lab) -> Result:
    """Learn as in 2a; then remove each learned filter in turn, each time from the same model."""
    model, stream = config.neurons(seed), config.stream(lab.data, seed)
    before = layer.facts(lab.learn(model, stream, config.n_samples, "as-2a"))
    position = stream.position
    removals = []
    for neuron in np.flatnonzero(before["is_learned"]).tolist():
        stream.seek(position)
        removals.append(remove(copy.deepcopy(model), stream, neuron, before, config, lab))
    return {**before, "removals": removals}


def remove(
    model: GaussianNeurons, stream: Stream, neuron: int, before: Result, config: Config, lab: Lab
) -> Result:
    """Remove one neuron and learn on: which neuron learns its pattern, and how the others change."""
    model.remove_neurons([neuron])
    after = layer.facts(lab.learn(model, stream, config.n_samples_after, f"without-{neuron + 1}"))
    remaining = np.delete(np.arange(len(before["centers"])), neuron)  # the neurons of `after`, in `before`
    then, now = np.array(before["centers"]), np.array(after["centers"])
    removed = then[neuron]
    others = np.flatnonzero(np.array(before["is_learned"])[remaining])
    old = then[remaining[others]]
    candidates = np.flatnonzero(after["is_learned"])
    found: Result = {"nearest": None, "had_learned": None, "distance": None, "relearned": False}
    if len(candidates):
        nearest = int(candidates[np.argmin(similarity.distance(now[candidates], removed))])
        found = {
            "nearest": int(remaining[nearest]),
            "had_learned": bool(before["is_learned"][remaining[nearest]]),  # a pattern of its own
            "distance": float(similarity.distance(now[nearest], removed)),
            "relearned": bool(similarity.same(now[nearest], removed)),
        }
    found["relearned_by"] = found["nearest"] if found["relearned"] else None
    return {
        "neuron": neuron,
        **found,
        "others": remaining[others].tolist(),
        "others_moved": layer.rounded(similarity.distance(now[others], old)),
        "others_same": similarity.same(now[others], old).tolist(),
        "others_known": [bool(similarity.same(now[candidates], filter).any()) for filter in old],
        "numbers": (remaining + 1).tolist(),
        "after": after,
    }


def as_published(removal: Result) -> bool:
    """Whether a neuron that had learned nothing learned the pattern, and all other filters stayed."""
    return bool(removal["relearned"] and not removal["had_learned"] and all(removal["others_same"]))


def of_others(result: Result, fact: str) -> list[bool]:
    """A fact about the other learned filters, over all removals."""
    return [bool(it) for removal in result["removals"] for it in removal[fact]]


def median_distance(result: Result) -> float | None:
    """The median distance of relearned filters from the removed ones."""
    close = [removal["distance"] for removal in result["removals"] if removal["relearned"]]
    return float(np.median(close)) if close else None


def farthest(result: Result) -> float | None:
    """The largest distance that another learned filter moved."""
    return max((moved for removal in result["removals"] for moved in removal["others_moved"]), default=None)


def draw(result: Result) -> "Figure":
    """Before and after a removal: the first with the paper's outcome, or else the middle one."""
    removals = result["removals"]
    if not removals:
        return pictures.draw_filters(result)
    removal: dict[str, Any] = next(filter(as_published, removals), removals[len(removals) // 2])
    after = removal["after"]
    by, title = [], f"without μ{removal['neuron'] + 1}: {pictures.summary(after)}"
    if removal["relearned"]:
        by = [removal["numbers"].index(removal["relearned_by"] + 1)]
        which = "which lost its own" if removal["had_learned"] else "which had learned nothing"
        title = f"μ{removal['neuron'] + 1} removed: relearned by\nμ{removal['relearned_by'] + 1}, {which}"
    return pictures.draw_panels(
        result,
        [
            pictures.Panel(f"before: {pictures.summary(result)}", result, marked=[removal["neuron"]]),
            pictures.Panel(title, after, numbers=removal["numbers"], marked=by),
        ],
    )


EXPERIMENT = Experiment(
    name="figure2e",
    title="a filter removed and relearned",
    config=Config(),
    run=run,
    draw=draw,
    data="mnist",
    seconds=8,
    samples=20_000_000,
    prints="μ₅ by μ₈",
    published={"removed": 5, "relearned_by": 8, "counted_from": 1},
    note="The paper removes one filter of one seed. Here each learned filter is removed in turn. "
    "Teal frames mark the removed filter and the neuron that relearned its pattern.",
    quantities=(
        Quantity("filters removed in turn", lambda result: len(result["removals"])),
        Quantity(
            "of them, relearned as in the paper", lambda result: sum(map(as_published, result["removals"]))
        ),
        Quantity("of them, relearned by any neuron", lambda r: sum(it["relearned"] for it in r["removals"])),
        Quantity("distance of a relearned filter, per pixel", median_distance, digits=3),
        Quantity("largest movement of another filter, per pixel", farthest, digits=3),
    ),
    claims=(
        Claim(
            "A neuron that had learned nothing learns the removed pattern, and all other filters stay.",
            lambda result: [as_published(removal) for removal in result["removals"]],
        ),
        Claim(
            "This happens for at least one of the filters.",
            lambda result: [any(map(as_published, result["removals"]))] if result["removals"] else [],
        ),
        Claim(
            "Weaker: any neuron learns the removed pattern, possibly one that loses its own.",
            lambda result: [removal["relearned"] for removal in result["removals"]],
        ),
        Claim(
            "Each of the other learned filters stays the same.",
            lambda result: of_others(result, "others_same"),
        ),
        Claim(
            "Weaker: each of the other patterns is still learned, by the same neuron or by another.",
            lambda result: of_others(result, "others_known"),
        ),
    ),
)
