"""Table 1: the distance of Figure 2a's neurons from the domain, and the cosine with their start."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gaussian_neurons.experiments import claims, figure2a, layer, pictures
from gaussian_neurons.experiments.experiment import Claim, Experiment, Quantity, Result, filters_learned
from gaussian_neurons.plotting import INK, LEARNED, MUTED, PUSHED_OUT

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

run = layer.run
Config = figure2a.Config

PUBLISHED: Result = {
    "domain_distance": [1.5, 1.5, 1.0, 1.0, 0.8, 0.9, 1.4, 1.4, 1.5, 1.4, 1.5, 0.9, 1.6, 1.5, 0.8, 0.9],
    "cosine": [0.9, 0.8, 0.4, -0.1, 0.8, 0.7, 0.9, 0.9, 0.9, 0.9, 0.9, 0.7, 0.9, 0.9, 0.8, 0.6],
    "is_learned": [k in (3, 4, 5, 6, 12, 15, 16) for k in range(1, 17)],
    "learned": 7,
}


def median(result: Result, name: str, of_learned: bool) -> float | None:
    """The median of a column, over the learned neurons or over the others."""
    values = _column(result, name, of_learned)
    return float(np.median(values)) if len(values) else None


def _column(result: Result, name: str, of_learned: bool) -> NDArray[np.float64]:
    chosen: NDArray[np.float64] = np.array(result[name])[np.array(result["is_learned"]) == of_learned]
    return chosen


def close_to_the_domain(result: Result) -> list[bool]:
    """For each learned neuron, whether it is no farther from the middle than the corners of the domain."""
    return [bool(round(distance, 1) <= 1) for distance in _column(result, "domain_distance", True)]


def farther_than_the_corners(result: Result) -> list[bool]:
    """For each other neuron, whether it is farther from the middle than the corners of the domain."""
    return [bool(distance > 1) for distance in _column(result, "domain_distance", False)]


def draw(result: Result) -> "Figure":
    """The distance and cosine of each neuron and of the paper's, as a scatter plot over the table."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.2, 5.2), dpi=150, layout="constrained")
    axes, below = figure.subplots(2, 1, height_ratios=[3, 1])
    for of_learned, colour, name in ((True, LEARNED, "learned"), (False, PUSHED_OUT, "not learned")):
        axes.scatter(
            _column(PUBLISHED, "domain_distance", of_learned),
            _column(PUBLISHED, "cosine", of_learned),
            s=90,
            facecolors="none",
            edgecolors=colour,
            label=f"the paper, {name}",
        )
        x, y = _column(result, "domain_distance", of_learned), _column(result, "cosine", of_learned)
        axes.scatter(x, y, s=18, c=colour, label=f"ours, {name}")
        numbers = np.flatnonzero(np.array(result["is_learned"]) == of_learned) + 1
        for k, at, height in zip(numbers, x, y, strict=True):
            axes.annotate(
                str(k), (at, height), (3, 3), textcoords="offset points", fontsize=6.5, color=colour
            )
    axes.axvline(1, color=MUTED, lw=0.8, ls=":")
    axes.set_xlabel("distance from the middle of the domain, 1 at its corners: $d_i$", fontsize=9, color=INK)
    axes.set_ylabel(r"similarity to the start: $\cos\,\theta_i$", fontsize=9, color=INK)
    axes.legend(fontsize=7.5, frameon=False, loc="lower right", labelcolor=INK)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(colors=INK, labelsize=8)
    _write(below, result)
    pictures.add_origin(figure, result)
    return figure


def _write(axes: "Axes", result: Result) -> None:
    """The table, ours above the paper's; learned neurons are bold."""
    axes.set_axis_off()
    axes.set(xlim=(-1.6, 16), ylim=(5.6, -0.6))
    columns = (("domain_distance", "$d_i$"), ("cosine", r"$\cos\,\theta_i$"))
    rows = [
        (of, name, f"{source} {title}")
        for of, source in ((result, "ours"), (PUBLISHED, "paper"))
        for name, title in columns
    ]
    for y, (of, name, title) in enumerate(rows):
        at = y + 1 + 0.4 * (y > 1)
        axes.text(-1.6, at, title, fontsize=7.5, color=INK, va="center")
        for k, (value, it) in enumerate(zip(of[name], of["is_learned"], strict=True)):
            cell = axes.text(k + 0.5, at, f"{value:.1f}", fontsize=7.5, ha="center", va="center", color=INK)
            if it:
                cell.set(color=LEARNED, weight="bold")
    for k in range(len(result["is_learned"])):
        axes.text(k + 0.5, 0, f"$\\mu_{{{k + 1}}}$", fontsize=7.5, ha="center", va="center", color=INK)


def _quantity(label: str, name: str, of_learned: bool) -> Quantity:
    published = median(PUBLISHED, name, of_learned)
    return Quantity(label, lambda result: median(result, name, of_learned), published, digits=1)


EXPERIMENT = Experiment(
    name="table1",
    title="2a's final neurons: d and cos θ",
    config=Config(),
    run=run,
    draw=draw,
    data="mnist",
    seconds=0.5,
    samples=1_000_000,
    prints="d 0.9 and 1.5",
    published=PUBLISHED,
    note="The paper's medians are computed from its table. Neurons have another order in each seed.",
    quantities=(
        filters_learned(7),
        _quantity("median d of the learned neurons", "domain_distance", True),
        _quantity("median d of the other neurons", "domain_distance", False),
        _quantity("median cos θ of the learned neurons", "cosine", True),
        _quantity("median cos θ of the other neurons", "cosine", False),
    ),
    claims=(
        Claim(
            "The learned filters are within or close to the input domain (d of 1.0 or less).",
            close_to_the_domain,
        ),
        Claim("The others were pushed out of the input domain (d above 1).", farther_than_the_corners),
        claims.KEPT_DIRECTION,
    ),
)
