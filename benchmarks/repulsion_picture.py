"""The picture of `benchmarks.repulsion`: filters found, their distance, and speed, over r."""

from typing import TYPE_CHECKING

import numpy as np

from benchmarks.repulsion import EVERY, Results
from benchmarks.repulsion_cells import baseline, cell, speedup, timed
from gaussian_neurons.plotting import INK, LEARNED, MUTED

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = ("#164e63", "#3a7d8c", "#d1495b", "#e39aa3", "#e0a030", LEARNED)
LINES = ("-", "-", "-", "-", "--", "-")  # the lines of two settings coincide
ASIDE = 1.5  # the baseline is marked at this multiple of the last r


def draw(results: Results) -> "Figure":
    """Draw three charts with one legend."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 3.4), dpi=130, layout="constrained")
    matched, apart, speed = figure.subplots(1, 3)
    styles = {
        key: {"color": colour, "ls": line, "lw": 1.8, "marker": "o", "ms": 3.5}
        for key, colour, line in zip(results.settings, COLOURS, LINES, strict=False)
    }
    for key, facts in results.settings.items():
        base = baseline(results, key)
        cells = [cell(results, key, every) for every in EVERY]
        matched.plot(EVERY, [100 * it.share.value for it in cells], label=facts["what"], **styles[key])
        aside = styles[key] | {"marker": "_", "ms": 14, "mew": 2.2}
        matched.plot(EVERY[-1] * ASIDE, 100 * base.cell.share.value, **aside)
        shown = [
            it.relative_to(base) if it.learned.value >= cells[0].learned.value / 2 else None
            for it in cells[1:]
        ]
        apart.plot(EVERY[1:], [np.nan if it is None else it for it in shown], **styles[key])
    matched.text(EVERY[-1] * ASIDE, 3, "another\nstream", fontsize=7.5, color=INK, ha="center")
    apart.axhline(1, color=MUTED, lw=1, ls="--")
    apart.text(1, 1.06, "another\nstream", fontsize=7.5, color=INK, va="bottom")
    apart.set_yscale("log")
    apart.set_yticks([0.03, 0.1, 0.3, 1, 3], ["0.03", "0.1", "0.3", "1", "3"])
    for key in timed(results):
        facts, ratios = results.settings[key], [speedup(results, key, every) for every in EVERY]
        speed.plot(EVERY, ratios, **styles[key])
        speed.annotate(
            f"K = {facts['K']}, D = {facts['D']}",
            (EVERY[-1], ratios[-1]),
            (-2, 6),
            textcoords="offset points",
            fontsize=8,
            ha="right",
            color=styles[key]["color"],
        )
    speed.set_ylim(0, speed.get_ylim()[1] * 1.12)
    matched.set_ylim(0, 104)
    _tidy(matched, "exact filters found, %")
    _tidy(apart, "distance / that of another stream")
    apart.set_xlim(0.95, None)
    _tidy(speed, "times as fast as r = 1")
    figure.legend(
        *matched.get_legend_handles_labels(),
        loc="outside lower center",
        ncols=len(results.settings),
        fontsize=8,
        frameon=False,
        labelcolor=INK,
    )
    return figure


def _tidy(axes: "Axes", title: str) -> None:
    axes.set_xscale("log")
    axes.set_xticks(EVERY, [str(every) for every in EVERY])
    axes.minorticks_off()
    axes.set_title(title, fontsize=9, loc="left", color=INK)
    axes.set_xlabel("r", fontsize=9, color=INK)
    axes.tick_params(colors=INK, labelsize=8)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color=MUTED, alpha=0.25, lw=0.6)
