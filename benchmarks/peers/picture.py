"""Pictures of the results."""

from collections.abc import Sequence
from math import ceil, log10
from textwrap import fill
from typing import TYPE_CHECKING

from benchmarks.peers.ink import DARK, FAINT, INK, LIGHT, MARK, OCHRE, PALE, TEAL, WIDE, count, place, titled
from benchmarks.peers.results import OURS, Results, Spread, System, Workload
from benchmarks.peers.roofs import roofline

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["roofline", "scaling", "throughput"]

KINDS = {"ours": MARK, "peer": TEAL, "rule": LIGHT}
KIND_WORDS = {"ours": "this library", "peer": "another method", "rule": "the same rule, other implementation"}
NAMED = ("mnist-5x5", "mnist-13x13", "cifar10-5x5x3")  # the first is that of the paper
# Systems with a colour and a label; the lines of the others are grey.
FEATURED = {
    OURS: (MARK, "-"),
    "rule-numba": (DARK, "-"),
    "rule-numpy": (DARK, "--"),
    "river-dbstream": (OCHRE, "-"),
    "river-streamkmeans": (OCHRE, "--"),
    "sklearn-minibatch-1": (TEAL, "-"),
    "sklearn-minibatch-1024": (TEAL, "--"),
}
LABEL = 0.135  # inches between the labels of two lines


def _spread(results: Results, system: str, workload: str) -> Spread | None:
    values = results.microseconds(system, workload)
    return Spread.of(values) if values else None


# ---- samples per second ------------------------------------------------------------------------------


def throughput(results: Results) -> "Figure | None":
    """Draw a bar for each system on each of the three workloads of images."""
    shown = [results.workloads[key] for key in NAMED if key in results.workloads]
    shown = [it for it in shown if any(_spread(results, key, it.key) for key in results.systems)]
    if not shown:
        return None
    rows = _ranked(results, shown)
    bars = 0.235 * len(rows)
    figure = titled(
        bars + 1.85, "Samples learned per second, on one core", _nearest_peer(results, rows, shown[0])
    )
    left, gap = 2.55, 0.2
    shares = [1.0] if len(shown) == 1 else [1.7, *[1.0] * (len(shown) - 1)]
    unit = (WIDE - left - 0.25 - gap * (len(shown) - 1)) / sum(shares)
    for k, (workload, share) in enumerate(zip(shown, shares, strict=True)):
        axes = place(figure, left, 0.62, unit * share, bars)
        _bars(axes, results, rows, workload)
        axes.set_yticks(range(len(rows)), [system.name for system in rows] if k == 0 else [])
        if k == 0:
            for text, system in zip(axes.get_yticklabels(), rows, strict=True):
                text.set_weight("bold" if system.key == OURS else "normal")
        left += unit * share + gap
    _key(figure, rows)
    return figure


def _ranked(results: Results, workloads: Sequence[Workload]) -> list[System]:
    """The systems with a bar, the fastest on the first workload first."""
    found = []
    for system in results.systems.values():
        spreads = [_spread(results, system.key, workload.key) for workload in workloads]
        if any(spreads):
            first = next(k for k, spread in enumerate(spreads) if spread)
            found.append(((spreads[0] is None, spreads[first].middle), system))
    return [system for _, system in sorted(found, key=lambda pair: pair[0])]


def _nearest_peer(results: Results, rows: Sequence[System], workload: Workload) -> str:
    """Our speed, compared with the fastest other system that learns sample by sample."""
    ours = _spread(results, OURS, workload.key)
    others = [
        (spread.middle, system)
        for system in rows
        if system.kind != "ours"
        and system.per_sample
        and (spread := _spread(results, system.key, workload.key))
    ]
    if ours is None or not others:
        return "Logarithmic scale; longer is faster"
    nearest, system = min(others, key=lambda pair: pair[0])
    ratio = nearest / ours.middle
    return (
        f"{workload.name}: {count(1e6 / ours.middle)} per second, {ratio:.3g} times as many as the fastest "
        f"other system that learns sample by sample ({system.name})"
    )


def _bars(axes: "Axes", results: Results, rows: Sequence[System], workload: Workload) -> None:
    spreads = {system.key: _spread(results, system.key, workload.key) for system in rows}
    speeds = [1e6 / spread.middle for spread in spreads.values() if spread]
    least, most = min(speeds) / 4, max(speeds) * 14  # space for the labels
    for y, system in enumerate(rows):
        spread = spreads[system.key]
        if spread is None:
            axes.text(least * 1.15, y, "not measured", fontsize=8, color=PALE, style="italic", va="center")
            continue
        speed, colour = 1e6 / spread.middle, KINDS[system.kind]
        look = (
            {"color": colour}
            if system.per_sample
            else {"facecolor": "white", "edgecolor": colour, "hatch": "////"}
        )
        axes.barh(y, speed - least, left=least, height=0.68, linewidth=0.8, **look)
        axes.plot(
            [1e6 / spread.high, 1e6 / spread.low], [y, y], color=INK, linewidth=1, solid_capstyle="butt"
        )
        weight = "bold" if system.key == OURS else "normal"
        edge = 1e6 / spread.low
        axes.text(edge * 1.12, y, count(speed), fontsize=8.5, color=INK, va="center", weight=weight)
    axes.set_xscale("log")
    axes.set_xlim(least, most)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.xaxis.set_major_formatter(lambda value, _: count(value))
    step = 2 if most / least > 1e4 else 1
    axes.set_xticks([10.0**k for k in range(ceil(log10(least)), ceil(log10(most))) if k % step == 0])
    axes.minorticks_off()
    wide = axes.get_position().width * WIDE
    title = f"{fill(workload.name, int(wide * 14))}\nK = {workload.K}, D = {workload.D}"
    axes.set_title(title, fontsize=9, color=INK, loc="left")


def _key(figure: "Figure", rows: Sequence[System]) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles = [
        Patch(color=colour, label=KIND_WORDS[kind])
        for kind, colour in KINDS.items()
        if any(system.kind == kind for system in rows)
    ]
    if not all(system.per_sample for system in rows):
        handles.append(Patch(facecolor="white", edgecolor=PALE, hatch="////", label="in batches"))
    handles.append(Line2D([], [], color=INK, linewidth=1, label="interquartile range of the turns"))
    legend = figure.legend(
        handles=handles,
        loc="lower left",
        bbox_to_anchor=(0.012, 0.0),
        ncols=len(handles),
        frameon=False,
        fontsize=8.5,
        labelcolor=INK,
        handlelength=1.5,
        columnspacing=1.6,
    )
    legend.set_in_layout(False)


# ---- growth with K and D ---------------------------------------------------------------------------


def scaling(results: Results) -> "Figure | None":
    """Draw the time per sample over K, a panel for each D, and over D, for two values of K."""
    grid = [it for key, it in results.workloads.items() if key.startswith("rows-")]
    grid = [it for it in grid if any(_spread(results, key, it.key) for key in results.systems)]
    panels = _panels(grid)
    if not panels:
        return None
    across = min(2, len(panels))
    down = -(-len(panels) // across)
    high, wide, tall = down * 2.75 + 1.3, (WIDE - 0.85) / across, 2.1
    figure = titled(
        high, "Time per sample with more neurons and columns", "Microseconds; both axes logarithmic"
    )
    grey = set()
    for k, (along, fixed, workloads) in enumerate(panels):
        left = 0.75 + (k % across) * wide
        axes = place(figure, left, high - 1.1 - (k // across + 1) * 2.75 + 0.55, wide - 0.55, tall)
        grey |= _curves(axes, results, along, workloads)
        other = "D" if along == "K" else "K"
        axes.set_title(f"over {along}, {other} = {fixed}", fontsize=9.5, color=INK, loc="left")
    key = "Dotted: growth as K² (over K) or as D (over D), for comparison."
    if grey:
        key += "   Grey: the other systems, see the tables."
    figure.text(0.02, 0.15 / high, key, fontsize=8.5, color=PALE)
    return figure


def _panels(grid: Sequence[Workload]) -> list[tuple[str, int, list[Workload]]]:
    """For each panel: the varied size, the value of the other size, and the workloads."""
    found: list[tuple[str, int, list[Workload]]] = []
    for along, other in (("K", "D"), ("D", "K")):
        lines: dict[int, list[Workload]] = {}
        for workload in sorted(grid, key=lambda it: (getattr(it, other), getattr(it, along))):
            lines.setdefault(getattr(workload, other), []).append(workload)
        kept = [(along, fixed, line) for fixed, line in lines.items() if len(line) > 1]
        found += kept if along == "K" or len(kept) < 3 else [kept[0], kept[-2]]
    return found


def _curves(axes: "Axes", results: Results, along: str, workloads: Sequence[Workload]) -> set[str]:
    """Draw all systems of a panel; returns those in grey."""
    grey, ends = set(), []
    for key in sorted(results.systems, key=lambda key: (key in FEATURED, key == OURS)):
        spreads = [(getattr(it, along), _spread(results, key, it.key)) for it in workloads]
        at = [(x, spread.middle) for x, spread in spreads if spread]
        if not at:
            continue
        colour, style = FEATURED.get(key, (FAINT, "-"))
        name = results.systems[key].name if key in FEATURED else ""
        wide = 3.0 if key == OURS else 1.5 if name else 0.9
        dot = {"marker": "o", "markersize": 5 if key == OURS else 3} if name or len(at) == 1 else {}
        axes.plot(*zip(*at, strict=True), color=colour, linestyle=style, linewidth=wide, **dot)
        if name:
            ends.append((*at[-1], name, colour, key == OURS))
        else:
            grey.add(key)
    axes.set_xscale("log")
    axes.set_yscale("log")
    places = [getattr(it, along) for it in workloads]
    axes.set_xticks(places, [str(at) for at in places])
    axes.minorticks_off()
    axes.set_xlim(places[0] / 1.25, places[-1] * (places[-1] / places[0]) ** 0.85)
    axes.spines["bottom"].set_bounds(places[0] / 1.25, places[-1] * 1.1)
    _guide(axes, ends, along, places)
    _label(axes, ends, places[-1])
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:,g}")
    axes.grid(axis="y", color=FAINT, linewidth=0.4)
    axes.set_axisbelow(True)
    return grey


def _guide(axes: "Axes", ends: Sequence[tuple], along: str, places: Sequence[int]) -> None:
    """Draw a thin line with the slope of the rule, below ours."""
    ours = [(x, y) for x, y, _, _, own in ends if own]
    if not ours:
        return
    (x, y), power = ours[0], 2 if along == "K" else 1
    heights = [0.4 * y * (at / x) ** power for at in places]
    least, most = axes.get_ylim()
    axes.plot(places, heights, color=PALE, linewidth=1, linestyle=":")
    axes.set_ylim(max(least / 3, min(heights[0], least)), most * 3)


def _label(axes: "Axes", ends: Sequence[tuple], last: int) -> None:
    """Write names at the right ends of the lines, without overlaps."""
    inside = axes.transData + axes.transAxes.inverted()  # from data to axes coordinates
    high = axes.get_position().height * axes.figure.get_size_inches()[1]
    heights = apart([inside.transform((x, y))[1] for x, y, *_ in ends], LABEL / high)
    for (x, y, name, colour, own), height in zip(ends, heights, strict=True):
        axes.annotate(
            name,
            (x, y),
            (inside.transform((last, y))[0] + 0.035, height),
            textcoords=axes.transAxes,
            fontsize=8,
            color=colour,
            weight="bold" if own else "normal",
            va="center",
            arrowprops={
                "arrowstyle": "-",
                "color": colour,
                "alpha": 1.0 if x == last else 0.5,
                "linewidth": 0.5,
                "shrinkA": 1,
                "shrinkB": 3,
            },
        )


def apart(heights: Sequence[float], least: float) -> list[float]:
    """Move positions as little as possible so that they are `least` apart, in the same order."""

    def middle(group: list[int]) -> float:
        return sum(heights[k] for k in group) / len(group)

    groups: list[list[int]] = []
    for k in sorted(range(len(heights)), key=lambda k: heights[k]):
        groups.append([k])
        while len(groups) > 1:
            needed = least * (len(groups[-1]) + len(groups[-2])) / 2
            if middle(groups[-1]) - middle(groups[-2]) >= needed:
                break
            last = groups.pop()
            groups[-1] += last
    found = list(heights)
    for group in groups:
        for rank, k in enumerate(group):
            found[k] = middle(group) + (rank - (len(group) - 1) / 2) * least
    return found
