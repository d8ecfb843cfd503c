"""Pictures like the paper's: grids of numbered filters side by side, with one colour bar."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from gaussian_neurons import plotting
from gaussian_neurons.experiments.experiment import Result
from gaussian_neurons.plotting import BEYOND, INK, filters

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CELL = 0.62  # inches for one filter
TITLE_HEIGHT = 0.62  # inches


@dataclass(frozen=True)
class Panel:
    """One grid of filters."""

    title: str
    layer: Result  # centers and is_learned, as in `layer.facts`
    numbers: Sequence[int] | None = None  # of the filters; None numbers them 1 to K
    marked: Sequence[int] = ()  # indices of filters with another frame


def draw_filters(result: Result) -> "Figure":
    """The filters of a result as one grid."""
    return draw_panels(result, [Panel(summary(result), result)])


def summary(layer: Result) -> str:
    """The number of learned neurons, of how many."""
    return f"{layer['learned']} of {len(layer['centers'])} learned"


def draw_panels(result: Result, panels: Sequence[Panel], in_row: int | None = None) -> "Figure":
    """Grids side by side, or at most `in_row` of them, above a line about the data."""
    from matplotlib.figure import Figure

    shape = patch_shape(result)
    across = len(panels) if in_row is None else in_row
    lines = -(-len(panels) // across)
    grids = [columns_for(len(panel.layer["centers"])) for panel in panels]
    rows = max(
        -(-len(panel.layer["centers"]) // columns) for panel, columns in zip(panels, grids, strict=True)
    )
    figure = Figure(
        figsize=(sum(grids[:across]) * CELL + 0.5 * across + 0.7, lines * (rows * CELL + TITLE_HEIGHT) + 0.4),
        dpi=150,
        layout="constrained",
    )
    axes = figure.subplots(lines, across, squeeze=False, width_ratios=grids[:across]).ravel()
    for axis, panel, columns in zip(axes, panels, grids, strict=True):
        image = filters(
            axis,
            np.array(panel.layer["centers"]),
            shape,
            np.array(panel.layer["is_learned"], bool),
            columns,
            numbers=panel.numbers,
            marked=panel.marked,
        )
        axis.set_title(panel.title, fontsize=9, loc="left", color=INK)
    if len(shape) == 2:
        bar = figure.colorbar(image, ax=list(axes), shrink=0.75, aspect=18, ticks=[-BEYOND, 0, 1, 1 + BEYOND])
        bar.outline.set_visible(False)
        bar.ax.tick_params(colors=INK, labelsize=8)
    add_origin(figure, result)
    return figure


def curve_figure(x: str, y: str) -> tuple["Figure", "Axes"]:
    """A figure for curves, with the names of its axes."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5.6, 3.6), dpi=150, layout="constrained")
    axes = figure.add_subplot()
    axes.set_xlabel(x, fontsize=9, color=INK)
    axes.set_ylabel(y, fontsize=9, color=INK)
    plain(axes)
    return figure, axes


def plain(axes: "Axes", grid: Literal["x", "y"] | None = None) -> None:
    """Show two of four sides, and lines across at the values of one axis."""
    if grid is not None:
        axes.grid(axis=grid, alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(colors=INK, labelsize=8)


def add_legend(axes: "Axes") -> None:
    """Add the names of the curves."""
    axes.legend(fontsize=8, frameon=False, labelcolor=INK)


def add_origin(figure: "Figure", result: Result) -> None:
    """Add a line with the data and the seed of a picture."""
    data = "" if result["data"] is None else f"{result['data']['name']}, seed {result['seed']}"
    figure.supxlabel(data, fontsize=7, x=0.02, ha="left", color=INK)


def patch_shape(result: Result) -> tuple[int, ...]:
    """The shape of a filter: height, width and, in colour, 3."""
    size = result["config"]["size"]
    colours = result["data"]["images"][3:]
    return (size, size, *colours)


def columns_for(neurons: int) -> int:
    """The columns of a grid: a square for few filters, ten columns for many, as in the paper."""
    return 10 if neurons > 25 else int(np.ceil(np.sqrt(neurons)))


def thumbnail(result: Result, pixels: int = 3) -> NDArray[np.uint8]:
    """All filters of a result as a small picture with learned ones framed, (height, width, 4)."""
    centers, learned = np.array(result["centers"]), np.array(result["is_learned"], bool)
    return plotting.thumbnail(centers, patch_shape(result), learned, columns_for(len(centers)), pixels)
