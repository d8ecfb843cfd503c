"""Figure 5c: nine neurons adapt their widths from 6. 5d and 5e start from other widths and should agree."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gaussian_neurons.experiments import layer, pictures, similarity
from gaussian_neurons.experiments.experiment import Claim, Experiment, Result, comparison, filters_learned

if TYPE_CHECKING:
    from matplotlib.figure import Figure

run = layer.run

ALIKE = 0.1  # largest relative difference of two widths that count as the same
REDUCED = 0.9  # largest ratio to the starting width of a width that was reduced
STARTS = {"figure5c": 6.0, "figure5d": 10.0, "figure5e": 14.0}


@dataclass(frozen=True)
class Config(layer.LayerConfig):
    """Figure 5's settings with width updates, on neighbourhoods with noise 0.1."""

    n_samples: int = 10_000_000
    n_neurons: int = 9
    width: float = STARTS["figure5c"]
    width_learning_rate: float = 0.1
    noise: float | None = 0.1


def learned_widths(result: Result) -> list[float]:
    """The widths of the learned neurons, sorted."""
    return sorted(width for width, it in zip(result["widths"], result["is_learned"], strict=True) if it)


def compare(result: Result, others: Mapping[str, Result]) -> Result:
    """Whether the other starting widths led to the same filters and widths with the same seed."""
    return {"other_starts": {name: compare_learned(result, other) for name, other in others.items()}}


def compare_learned(one: Result, other: Result) -> Result:
    """The learned filters and widths of two results, compared in pairs."""
    centers_of = [layer.learned_centers(result) for result in (one, other)]
    widths_of = [np.array(result["widths"])[np.array(result["is_learned"], bool)] for result in (one, other)]
    first, second = similarity.paired(*centers_of)
    apart = similarity.distance(centers_of[0][first], centers_of[1][second])
    widths = widths_of[0][first], widths_of[1][second]
    unlike = np.abs(widths[0] - widths[1]) / np.maximum(*widths)
    as_many = len(centers_of[0]) == len(centers_of[1])
    return {
        "something_learned": max(map(len, centers_of)) > 0,
        "as_many": as_many,
        "distances": layer.rounded(apart),
        "width_differences": layer.rounded(unlike),
        "same_filters": bool(as_many and (apart <= similarity.ALIKE).all()),
        "same_widths": bool(as_many and (unlike <= ALIKE).all()),
    }


def draw(result: Result) -> "Figure":
    """The filters, and the widths of the learned ones."""
    widths = ", ".join(f"{width:.1f}" for width in learned_widths(result))
    start = result["config"]["width"]
    title = f"σ from {start:g}: {pictures.summary(result)}\nwidths {widths or '-'}"
    return pictures.draw_panels(result, [pictures.Panel(title, result)])


def same_from_other_starts(what: str, how: str) -> Claim:
    """The claim that other starting widths lead to the same filters or widths."""
    return Claim(
        f"The starting widths of 5c, 5d and 5e lead to equally many filters with similar {what} ({how}).",
        lambda result: [
            other[f"same_{what}"]
            for other in (comparison(result, "other_starts") or {}).values()
            if other["something_learned"]
        ],
    )


def is_reduced(result: Result) -> list[bool]:
    """For each neuron, whether its width was reduced."""
    return [width <= REDUCED * result["config"]["width"] for width in result["widths"]]


def width_shows_learned(result: Result) -> list[bool]:
    """For each neuron, whether its width is reduced if and only if it learned."""
    return [reduced == it for reduced, it in zip(is_reduced(result), result["is_learned"], strict=True)]


CLAIMS = (
    same_from_other_starts("filters", "within 0.2 per pixel"),
    same_from_other_starts("widths", "within a tenth"),
    Claim("Widths tell which neurons learned: those below 0.9 of the starting width.", width_shows_learned),
)


def others_than(name: str) -> tuple[str, ...]:
    """The figures with other starting widths."""
    return tuple(other for other in STARTS if other != name)


EXPERIMENT = Experiment(
    name="figure5c",
    title="9 neurons adapt their widths, from 6",
    config=Config(),
    run=run,
    draw=draw,
    data="mnist",
    seconds=8,
    samples=10_000_000,
    prints="like 5d",
    published={"like": "figure5d"},
    quantities=(filters_learned(),),
    claims=CLAIMS,
    compare=compare,
    compares_with=others_than("figure5c"),
)
