"""The picture of all systems and sets: adjusted Rand index and number of clusters found."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.quality.sets import LabelledSet
from benchmarks.quality.summary import Cell, Line
from benchmarks.quality.systems import OURS, SYSTEMS
from benchmarks.quality.table import FAMILY_NAMES, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK, PALE, MARK = "#22303c", "#8a949c", "#d1495b"
COLOURS = ("#f6f5f1", "#cfe3e2", "#7fb7be", "#3a7d8c", "#164e63")  # index 0 to 1
FIELD = (0.92, 0.31)  # width and height in inches
BAR = 0.85  # height of a row of bars in inches
TITLE = "Clusters found when their number is unknown"
SUBTITLE = "One setting for all sets, from each library's documentation; ours has shape='any' on the shapes"
KEY = (
    "Left in a field: adjusted Rand index, 1 for the true clusters, 0 for chance.   "
    "Right: number of clusters found, bold if it is the true number, red if it is one or none."
)
LINES = {
    "Gaussian neurons": "Gaussian\nneurons",
    "Hypersphere ART": "Hypersphere\nART",
    "Gaussian ART": "Gaussian\nART",
    "Bayesian mixture": "Bayesian\nmixture",
    "STREAMKMeans": "STREAM\nKMeans",
    "MiniBatchKMeans": "MiniBatch\nKMeans",
}


def draw(
    table: Mapping[tuple[str, str], Cell], families: Mapping[str, Sequence[Line]], sets: Sequence[LabelledSet]
) -> "Figure":
    """Draw all systems that have run on all sets of a family."""
    from matplotlib.figure import Figure

    keys = [key for key in SYSTEMS if any(line.key == key for lines in families.values() for line in lines)]
    rows = [(data, [table.get((key, data.name)) for key in keys]) for data in sets]
    wide, fields, bars = len(keys) * FIELD[0] + 2.6, len(rows) * FIELD[1], len(families) * BAR
    high = fields + bars + 2.0
    figure = Figure(figsize=(wide, high), dpi=150)
    left, across = 1.75 / wide, 1 - 2.6 / wide
    _fields(figure.add_axes((left, 0.5 / high, across, fields / high)), rows, keys)
    for number, (family, lines) in enumerate(reversed(families.items())):
        bottom = (fields + 1.25 + number * BAR) / high
        axes = figure.add_axes((left, bottom, across, (BAR - 0.22) / high))
        _bars(axes, f"mean ARI,\n{FAMILY_NAMES[family]}", lines, keys)
        if number == 0:
            _names(axes, keys)
    figure.text(0.02, 1 - 0.15 / high, TITLE, fontsize=13, weight="bold", color=INK, va="top")
    figure.text(0.02, 1 - 0.42 / high, SUBTITLE, fontsize=8.5, color=PALE, va="top")
    figure.text(0.02, 0.2 / high, KEY, fontsize=8, color=PALE)
    return figure


def _fields(axes: "Axes", rows: Sequence[tuple[LabelledSet, list[Cell | None]]], keys: Sequence[str]) -> None:
    from matplotlib.colors import LinearSegmentedColormap

    colours = LinearSegmentedColormap.from_list("index", COLOURS)
    values = np.array([[cell.score if cell else np.nan for cell in cells] for _, cells in rows])
    axes.imshow(np.clip(values, 0, 1), cmap=colours, vmin=0, vmax=1, aspect="auto")
    for y, (_, cells) in enumerate(rows):
        for x, cell in enumerate(cells):
            if cell is not None:
                _write(axes, x, y, cell)
    axes.set_xticks(np.arange(len(keys)), [])
    axes.set_yticks(np.arange(len(rows)), [data.name for data, _ in rows])
    axes.tick_params(length=0, labelsize=8.5, labelcolor=INK)
    second = axes.secondary_yaxis("right")
    second.set_yticks(np.arange(len(rows)), [f"{data.clusters}" for data, _ in rows])
    second.tick_params(length=0, labelsize=8.5, labelcolor=INK)
    second.spines[:].set_visible(False)
    axes.text(len(keys) - 0.5, -0.95, " true\n number", fontsize=7, color=PALE, va="center", ha="left")
    axes.set_xticks(np.arange(len(keys) - 1) + 0.5, minor=True)
    axes.set_yticks(np.arange(len(rows) - 1) + 0.5, minor=True)
    axes.grid(which="minor", color="white", linewidth=1.5)
    axes.tick_params(which="minor", length=0)
    axes.spines[:].set_visible(False)
    for y in range(1, len(rows)):
        if rows[y][0].family != rows[y - 1][0].family:
            axes.axhline(y - 0.5, color="white", linewidth=7)
    for before in _borders(keys):
        axes.axvline(before - 0.5, color="white", linewidth=7)


def _borders(keys: Sequence[str]) -> list[int]:
    """The columns at which another kind of system begins."""
    remarks = [SYSTEMS[key].remark for key in keys]
    return [k for k in range(1, len(keys)) if remarks[k] != remarks[k - 1]]


def _write(axes: "Axes", x: int, y: int, cell: Cell) -> None:
    """Write the index and the number of clusters found: bold if it is true, red if it is one or none."""
    dark = cell.score > 0.64
    ink = "white" if dark else INK
    if cell.found is None:
        axes.text(x, y, "failed", fontsize=7, color=MARK, ha="center", va="center", style="italic")
        return
    axes.text(x - 0.4, y, f"{max(cell.score, 0):.2f}", fontsize=8, color=ink, ha="left", va="center")
    exact, collapsed = cell.found == cell.clusters, cell.found <= 1 < cell.clusters
    colour = MARK if collapsed else ink
    weight = "bold" if exact or collapsed else "normal"
    alpha = 1.0 if exact or collapsed else 0.75
    axes.text(
        x + 0.42,
        y,
        short(cell.found),
        fontsize=8,
        color=colour,
        weight=weight,
        alpha=alpha,
        ha="right",
        va="center",
    )


def _bars(axes: "Axes", title: str, lines: Sequence[Line], keys: Sequence[str]) -> None:
    for line in lines:
        x, system = keys.index(line.key), SYSTEMS[line.key]
        colour = MARK if line.key == OURS else COLOURS[3] if not system.remark else "#b9c2c6"
        axes.bar(x, max(line.score, 0), width=0.72, color=colour)
        axes.text(x, max(line.score, 0) + 0.04, f"{line.score:.2f}", ha="center", fontsize=9, color=INK)
    axes.set_xlim(-0.5, len(keys) - 0.5)
    axes.set_ylim(0, 1)
    axes.set_xticks([])
    axes.set_yticks([])
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.spines["bottom"].set_color(PALE)
    axes.set_ylabel(title, rotation=0, ha="right", va="center", fontsize=8.5, color=INK)


def _names(axes: "Axes", keys: Sequence[str]) -> None:
    """The names of the systems below the bars."""
    for x, key in enumerate(keys):
        system = SYSTEMS[key]
        name = LINES.get(system.name, system.name)
        weight = "bold" if key == OURS else "normal"
        axes.text(x, -0.16, name, ha="center", va="top", fontsize=8, color=INK, weight=weight)
        axes.text(x, -0.7, system.remark, ha="center", va="top", fontsize=7, color=PALE)
