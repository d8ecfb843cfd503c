"""The roofline picture: limits of arithmetic and memory, and what the core reaches."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.peers.ink import DARK, FAINT, INK, LIGHT, MARK, PALE, TEAL, place, titled
from benchmarks.peers.kernels import Point, points, widest
from benchmarks.peers.results import Results, Spread

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from matplotlib.text import Text

LOOKS = {"float32": (MARK, "o"), "float64": (DARK, "s")}


def roofline(results: Results) -> "Figure | None":
    """Draw the kernels below the limits of arithmetic and memory, and their shares of the peak."""
    if not results.kernels:
        return None
    found = points(results.kernels)
    best = widest(results.kernels)
    mine = [point for point in found if point.instruction_set == best]
    shares = [point.share.middle for point in mine]
    subtitle = (
        f"The compiled core with {best}: the arithmetic of the equations reaches {min(shares):.0%} to "
        f"{max(shares):.0%} of the peak; labels are K × D"
    )
    figure = titled(5.3, "Limits of one processor core, and the speed of the rule", subtitle)
    _roofs(place(figure, 0.75, 0.6, 5.3, 3.75), mine)
    single = [point for point in found if point.precision == "float32"] or found
    _shares(place(figure, 7.35, 0.6, 2.4, 3.75), single)
    return figure


def _roofs(axes: "Axes", mine: Sequence[Point]) -> None:
    lowest = min(point.intensity for point in mine)
    x = np.geomspace(min(0.4, lowest / 2), 4 * max(point.intensity for point in mine), 300)
    axes.set_xscale("log")
    axes.set_yscale("log")
    lines, texts, heights = [], [], {}
    for precision, (colour, marker) in LOOKS.items():
        some = [point for point in mine if point.precision == precision]
        if not some:
            continue
        peak = Spread.of([point.peak for point in some]).middle / 1e9
        heights |= {point: point.share.middle * peak for point in some}  # relative to the peak of its turn
        slow, fast = (pick(point.bandwidth for point in some) / 1e9 for pick in (min, max))
        axes.fill_between(
            x, np.minimum(slow * x, peak), np.minimum(fast * x, peak), color=colour, alpha=0.15, linewidth=0
        )
        roof = np.minimum(fast * x, peak)
        lines += axes.plot(x, roof, color=colour, linewidth=1.5)
        label = f"{precision}: at most {peak:.0f} GFLOP/s"
        texts.append(axes.text(peak / fast, peak * 1.04, label, fontsize=8, color=colour, va="bottom"))
        axes.plot(
            [point.intensity for point in some],
            [heights[point] for point in some],
            marker,
            color=colour,
            markersize=6,
            markerfacecolor=colour if precision == "float32" else "white",
        )
    axes.set_xlim(x[0], x[-1])
    axes.set_ylim(min(heights.values()) / 2.5, max(point.peak for point in mine) / 1e9 * 1.5)
    slow, fast = (pick(point.bandwidth for point in mine) / 1e9 for pick in (min, max))
    label = f"slanted: layers are read\nat {slow:.0f} to {fast:.0f} GB/s"
    texts.append(axes.text(0.12, 0.03, label, fontsize=8, color=PALE, transform=axes.transAxes))
    _name_points(axes, heights, texts, lines)
    axes.set_xlabel("necessary operations per byte of memory traffic", fontsize=9, color=INK)
    axes.set_title("billions of operations per second", fontsize=9, color=INK, loc="left")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(lambda value, _: f"{value:g}")
        axis.set_minor_formatter(lambda value, _: "")
    axes.yaxis.set_minor_formatter(lambda value, _: f"{value:g}" if str(value)[0] in "25" else "")


def _name_points(
    axes: "Axes", heights: Mapping[Point, float], texts: Sequence["Text"], lines: Sequence["Line2D"]
) -> None:
    """Write shape and share at each point, if they do not overlap other labels."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    renderer = FigureCanvasAgg(axes.figure).get_renderer()
    dots = [axes.transData.transform((point.intensity, height)) for point, height in heights.items()]
    taken = [text.get_window_extent(renderer) for text in texts]
    roofs = [line.get_path().transformed(axes.transData) for line in lines]
    for point, height in heights.items():
        for across, up, side in (
            (7, -4, "left"),
            (-7, -4, "right"),
            (0, 8, "center"),
            (0, -15, "center"),
            (7, 6, "left"),
            (7, -14, "left"),
            (-7, 6, "right"),
            (-7, -14, "right"),
            (0, 18, "center"),
            (0, -26, "center"),
        ):
            text = axes.annotate(
                f"{point.K} × {point.D}  {point.share.middle:.0%}",
                (point.intensity, height),
                (across, up),
                textcoords="offset points",
                fontsize=7.5,
                color=LOOKS[point.precision][0],
                ha=side,
            )
            box = text.get_window_extent(renderer)
            overlaps = any(box.overlaps(other) for other in taken) or any(
                box.padded(6).contains(*dot) for dot in dots
            )
            if not overlaps and not any(roof.intersects_bbox(box, filled=False) for roof in roofs):
                break
            text.remove()
        else:
            continue  # the table has it
        taken.append(box)


def _shares(axes: "Axes", found: Sequence[Point]) -> None:
    """Draw a bar for each shape and instruction set."""
    shapes = list(dict.fromkeys((point.K, point.D) for point in found))
    sets = list(dict.fromkeys(point.instruction_set for point in found))
    colours = dict(zip(sets, (MARK, TEAL, LIGHT, FAINT), strict=False))
    thick = 0.8 / len(sets)
    for point in found:
        y = (
            shapes.index((point.K, point.D))
            + (sets.index(point.instruction_set) - (len(sets) - 1) / 2) * thick
        )
        colour = colours.get(point.instruction_set, FAINT)
        axes.barh(y, point.share.middle, height=thick * 0.9, color=colour)
        first = point.instruction_set == sets[0]
        axes.text(
            point.share.middle + 0.01,
            y,
            f"{point.share.middle:.0%}",
            fontsize=8 if first else 6.5,
            color=INK if first else PALE,
            va="center",
        )
    axes.set_yticks(range(len(shapes)), [f"{K} × {D}" for K, D in shapes])
    axes.set_ylim(len(shapes) - 0.5, -0.5)
    axes.set_xlim(0, 1)
    axes.set_xticks([0, 0.5, 1], ["0", "50%", "100%"])
    axes.tick_params(axis="y", length=0)
    axes.set_title(f"share of the peak, {found[0].precision}", fontsize=9, color=INK, loc="left")
    for k, name in enumerate(sets):
        axes.text(
            1.0,
            1 - 0.045 * k,
            name,
            fontsize=8,
            color=colours.get(name, PALE),
            weight="bold",
            transform=axes.transAxes,
            ha="right",
            va="top",
        )
