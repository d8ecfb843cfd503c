"""Common parts of the pictures: colours, titles, axes at positions in inches."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK, PALE, FAINT, MARK = "#22303c", "#6f7a83", "#c9d0d3", "#d1495b"
DARK, TEAL, LIGHT, OCHRE = "#164e63", "#3a7d8c", "#9cc5ca", "#b07d12"
WIDE = 10.0  # inches


def titled(high: float, title: str, subtitle: str) -> "Figure":
    """An empty figure with a title; `high` is its height in inches."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDE, high), dpi=150)
    figure.text(0.02, 1 - 0.18 / high, title, fontsize=13, weight="bold", color=INK, va="top")
    figure.text(0.02, 1 - 0.47 / high, subtitle, fontsize=9, color=PALE, va="top")
    return figure


def place(figure: "Figure", left: float, bottom: float, wide: float, high: float) -> "Axes":
    """Axes at a position in inches."""
    across, up = figure.get_size_inches()
    axes = figure.add_axes((left / across, bottom / up, wide / across, high / up))
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(FAINT)
    axes.tick_params(which="both", color=FAINT, labelcolor=INK, labelsize=8.5)
    return axes


def count(value: float) -> str:
    """A number with three digits, with k for thousands and M for millions."""
    for size, sign in ((1e6, " M"), (1e3, " k")):
        if value >= size * 0.9995:
            return f"{value / size:.3g}{sign}"
    return f"{value:.3g}"
