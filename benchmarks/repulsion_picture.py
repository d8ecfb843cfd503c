"""Three small charts: filters found again, how far off they are, and speed, over r."""

from typing import TYPE_CHECKING

import numpy as np

from benchmarks.repulsion import EVERY, Results
from benchmarks.repulsion_page import cell, faster, timed, yardstick
from gaussian_neurons.plotting import INK, LEARNED, MUTED

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = ("#164e63", "#3a7d8c", "#d1495b", "#7fb7be", LEARNED)


def draw(results: Results) -> "Figure":
    """All three side by side, with one legend."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 3.5), dpi=130, layout="constrained")
    matched, apart, speed = figure.subplots(1, 3)
    colours = dict(zip(results.settings, COLOURS, strict=False))
    for key, facts in results.settings.items():
        stick = yardstick(results, key)
        cells = [cell(results, key, every) for every in EVERY]
        style = {"color": colours[key], "lw": 1.8, "marker": "o", "ms": 3.5}
        matched.plot(EVERY, [100 * it.share.value for it in cells], label=facts["what"], **style)
        matched.plot(
            EVERY[-1] * 1.45, 100 * stick.share.value, marker="_", ms=14, mew=2.2, color=colours[key]
        )
        ratios = [it.to(stick) for it in cells[1:]]
        apart.plot(EVERY[1:], [np.nan if it is None else it for it in ratios], **style)
    apart.axhline(1, color=MUTED, lw=1, ls="--")
    apart.text(EVERY[1], 1.06, "another stream", fontsize=7.5, color=INK, va="bottom")
    apart.set_yscale("log")
    apart.set_yticks([0.03, 0.1, 0.3, 1, 3], ["0.03", "0.1", "0.3", "1", "3"])
    for key in timed(results):
        facts, ratios = results.settings[key], [faster(results, key, every) for every in EVERY]
        speed.plot(EVERY, ratios, color=colours[key], lw=1.8, marker="o", ms=3.5)
        speed.annotate(
            f"K = {facts['K']}, D = {facts['D']}",
            (EVERY[-1], ratios[-1]),
            (-2, 6),
            textcoords="offset points",
            fontsize=8,
            ha="right",
            color=colours[key],
        )
    speed.set_ylim(0, speed.get_ylim()[1] * 1.12)
    matched.set_ylim(0, 104)
    _tidy(matched, "exact filters found again, %")
    matched.set_xticks([*EVERY, EVERY[-1] * 1.45], [*map(str, EVERY), "\n other\n stream"])
    _tidy(apart, "how far off, as a multiple of another stream")
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
