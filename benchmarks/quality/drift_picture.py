"""The picture of the drifting stream: clusters, adjusted Rand index and number of clusters found."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.quality.drift import SAMPLES, WINDOW, Curve, stream
from benchmarks.quality.picture import INK, MARK, PALE
from benchmarks.quality.systems import OURS, SYSTEMS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = {
    OURS: MARK,
    "DBSTREAM": "#2a6f97",
    "DenStream": "#e09f3e",
    "STREAMKMeans": "#7a5195",
    "MiniBatchKMeans": "#7d8a90",
}
TITLE = "Clusters that move, vanish and appear"
BEFORE = 8_000  # samples for which the path of a cluster is drawn
SMOOTH = 3  # windows
MOST = 12  # larger numbers of clusters are clipped


def draw(curves: Mapping[str, Curve]) -> "Figure":
    """Draw the picture."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.6, 7.4), dpi=150, layout="constrained")
    figure.get_layout_engine().set(w_pad=0.08, h_pad=0.08)
    grid = figure.add_gridspec(3, 4, height_ratios=[1.15, 1, 1])
    for column, t in enumerate(SAMPLES * np.array([0.05, 0.35, 0.65, 0.95])):
        _plane(figure.add_subplot(grid[0, column]), int(t))
    _scores(figure.add_subplot(grid[1, :]), curves)
    _counts(figure.add_subplot(grid[2, :]), curves)
    figure.suptitle(TITLE, fontsize=12.5, weight="bold", color=INK, x=0.02, ha="left")
    return figure


def _plane(axes: "Axes", t: int) -> None:
    """The samples of a window, and the paths of the clusters before it."""
    source = stream().seek(t - WINDOW // 2)
    x, labels = source.read_labelled(WINDOW)
    axes.scatter(*x[labels < 0].T, s=2, color="#d5d8da", linewidths=0)
    axes.scatter(*x[labels >= 0].T, s=2.5, color="#3a7d8c", linewidths=0)
    before = max(0, t - BEFORE)
    for label in source.labels_at(t):
        times = [at for at in range(before, t + 1, 500) if label in source.labels_at(at)]
        path = np.array([source.centers_at(at)[list(source.labels_at(at)).index(label)] for at in times])
        axes.plot(*path.T, color=MARK, linewidth=1.4, solid_capstyle="round")
        axes.plot(*path[-1], "o", color=MARK, markersize=3.5)
    axes.set(xlim=(0, 1), ylim=(0, 1), xticks=[], yticks=[], aspect="equal")
    axes.set_title(f"sample {t:,}: {len(source.labels_at(t))} clusters", fontsize=8.5, color=INK)
    axes.set_xlabel(
        f"red: paths of the last {BEFORE:,} samples" if t < SAMPLES / 10 else "", fontsize=7, color=PALE
    )
    for spine in axes.spines.values():
        spine.set_color("#d5d8da")


def _smooth(values: list[float]) -> np.ndarray:
    kernel = np.ones(SMOOTH)
    return np.convolve(values, kernel, "same") / np.convolve(np.ones(len(values)), kernel, "same")


def _scores(axes: "Axes", curves: Mapping[str, Curve]) -> None:
    for key, curve in reversed(curves.items()):
        if curve.points:
            t = [point.t for point in curve.points]
            label = (
                f"{SYSTEMS[key].name}{' (given 6)' if SYSTEMS[key].knows_number else ''}: {curve.score:.2f}"
            )
            wide = 2.2 if key == OURS else 1.3
            axes.plot(
                t,
                _smooth([point.score for point in curve.points]),
                color=COLOURS[key],
                linewidth=wide,
                label=label,
            )
    axes.set_ylim(0, 1.02)
    axes.set_ylabel("adjusted Rand index,\nbefore learning", fontsize=8.5, color=INK)
    handles, labels = axes.get_legend_handles_labels()
    axes.legend(
        handles[::-1],
        labels[::-1],
        ncols=len(handles),
        fontsize=7.5,
        frameon=False,
        loc="lower center",
        bbox_to_anchor=(0.5, 1.0),
        handlelength=1.4,
        columnspacing=1.4,
    )
    _tidy(axes)


def _counts(axes: "Axes", curves: Mapping[str, Curve]) -> None:
    longest = max(curves.values(), key=lambda curve: len(curve.points)).points
    axes.step(
        [p.t for p in longest],
        [p.clusters for p in longest],
        where="mid",
        color=INK,
        linewidth=5,
        alpha=0.16,
        label="true number",
    )
    for key, curve in reversed(curves.items()):
        if not SYSTEMS[key].knows_number:
            found = np.clip([point.found for point in curve.points], 0, MOST)
            wide = 1.8 if key == OURS else 1.2
            axes.step([p.t for p in curve.points], found, where="mid", color=COLOURS[key], linewidth=wide)
    axes.set_ylim(bottom=0)
    if axes.get_ylim()[1] > MOST:
        axes.set_yticks([0, 3, 6, 9, MOST], ["0", "3", "6", "9", f"{MOST} or more"])
    axes.set_ylabel("clusters found\n(grey: true number)", fontsize=8.5, color=INK)
    axes.set_xlabel("samples", fontsize=8.5, color=INK)
    _tidy(axes)


def _tidy(axes: "Axes") -> None:
    axes.set_xlim(0, SAMPLES)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.tick_params(labelsize=8, colors=INK, length=2)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color=PALE, alpha=0.2, linewidth=0.6)
