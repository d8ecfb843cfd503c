"""Draw neurons onto an Axes that the caller owns."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gaussian_neurons.sweeping import FAILED, Sweep

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from matplotlib.image import AxesImage

Array = NDArray[Any]

INK, MUTED_INK, MUTED, LEARNED, PUSHED_OUT = "#1b1f24", "#4b5563", "#9aa4af", "#c2410c", "#64748b"
BELOW, ABOVE, MARKED = "#3b82f6", "#ef4444", "#0f766e"
NOTICEABLE = 0.1  # how far outside of [0, 1] a channel of a colour patch must be to be marked
BEYOND = 0.5  # how far outside of [0, 1] values of a filter are told apart
BESIDE = 0.55  # how strongly cells beside a plateau are coloured
GAP = 0.36  # between filters, as a part of their height


def plane(axes: "Axes", samples: Array, centers: Array, widths: Array, learned: NDArray[np.bool_]) -> None:
    """Samples in the plane, learned neurons as circles of their width, the others as crosses.

    A circle has the radius sqrt(width): there a neuron responds with 1/e.

    Parameters
    ----------
    axes : where to draw
    samples : (n, 2)
    centers : (K, 2)
    widths : (K,)
    learned : (K,)
    """
    from matplotlib.patches import Circle

    axes.scatter(
        samples[:, 0], samples[:, 1], s=3, c=MUTED, alpha=0.35, linewidths=0, label="samples", rasterized=True
    )
    for center, width in zip(centers[learned], widths[learned], strict=True):
        axes.add_patch(Circle((center[0], center[1]), np.sqrt(width), fill=False, ec=LEARNED, lw=1.6))
    inside, outside = centers[learned], centers[~learned]
    axes.scatter(
        inside[:, 0],
        inside[:, 1],
        s=22,
        c=LEARNED,
        zorder=3,
        label=f"learned, circle of their width ({learned.sum()})",
    )
    axes.scatter(
        outside[:, 0],
        outside[:, 1],
        s=34,
        c=PUSHED_OUT,
        marker="x",
        zorder=3,
        label=f"pushed out ({(~learned).sum()})",
    )
    axes.set_aspect("equal")
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(colors=INK, labelsize=8)


def filters(
    axes: "Axes",
    centers: Array,
    shape: tuple[int, ...],
    learned: NDArray[np.bool_],
    columns: int | None = None,
    *,
    numbers: Sequence[int] | None = None,
    marked: Sequence[int] = (),
) -> "AxesImage":
    """Centers as the image patches that they are, numbered row by row; learned ones are framed.

    Grey is within the domain [0, 1]; blue is below it and red above. Colour patches are clipped to it, and
    a pixel with a channel well below bears a blue dot, one well above a red dot.

    Parameters
    ----------
    axes : where to draw
    centers : (K, D)
    shape : of a patch, (height, width) or (height, width, 3)
    learned : (K,)
    columns : filters side by side, or None: as square as it goes
    numbers : what to write above each filter, or None: 1 to K
    marked : filters to be pointed out with a double frame, counting from 0

    Returns
    -------
    AxesImage : for a colour bar
    """
    grid = _Grid(centers, shape, learned, columns)
    height, width, *colours = shape
    if colours:
        _mark_outside(axes, grid.canvas)
    shown = _clipped(grid.canvas) if colours else grid.canvas
    image = axes.imshow(shown, cmap=_colours(), vmin=-BEYOND, vmax=1 + BEYOND, interpolation="nearest")
    for k, (y, x) in enumerate(grid.corners):
        colour, line = (LEARNED, 2.0) if learned[k] else (PUSHED_OUT, 0.6)
        _frame(axes, (x, y), (width, height), 0.0, colour, line)
        out = grid.gap / 4 if k in marked else 0.0
        if out:
            _frame(axes, (x, y), (width, height), out, MARKED, 1.2)
        number = str(k + 1 if numbers is None else numbers[k])
        axes.text(x - 0.4, y - 0.5 - height * 0.06 - out, number, fontsize=6.5, color=colour)
    axes.set_axis_off()
    room = grid.gap / 2
    axes.set_xlim(-0.5 - room, shown.shape[1] - 0.5 + room)
    axes.set_ylim(shown.shape[0] - 0.5 + room, -0.5 - grid.gap)
    return image


def sweep_map(axes: "Axes", sweep: Sweep) -> "AxesImage":
    """The number of clusters over widths and inhibitions; the plateau is framed, its middle ringed.

    A cell bears the median over the seeds and, small, the fewest and the most where they differ; a cross
    where learning failed. Equal numbers have equal colours, so that a region is seen as one.

    Parameters
    ----------
    axes : where to draw
    sweep : what `gaussian_neurons.sweep` returned

    Returns
    -------
    AxesImage : for a colour bar
    """
    from matplotlib.colors import LogNorm

    counts, spread, plateau = sweep.typical, sweep.spread, sweep.plateau()
    most = int(sweep.parameters["n_neurons"])
    shown = np.where(counts > 0, counts, np.nan).T
    strong = np.ones(shown.shape) if plateau is None else np.where(plateau.cells.T, 1.0, BESIDE)
    colours: dict[str, Any] = {"cmap": _map_colours(), "norm": LogNorm(1, max(2, most)), "alpha": strong}
    image = axes.imshow(shown, aspect="auto", origin="lower", **colours)
    for w, k in np.ndindex(counts.shape):
        inside = plateau is not None and plateau.cells[w, k]
        found = sweep.n_clusters[w, k][sweep.n_clusters[w, k] != FAILED]
        style: dict[str, Any] = {"ha": "center", "va": "center", "color": INK if inside else MUTED_INK}
        number = str(counts[w, k]) if len(found) else "×"
        axes.text(w, k, number, fontsize=11, weight="bold" if inside else "normal", **style)
        if spread[w, k]:
            axes.text(w, k - 0.33, f"{found.min()}–{found.max()}", fontsize=6.5, **style)
    if plateau is not None:
        _outline(axes, plateau.cells)
        w = int(np.searchsorted(sweep.widths, plateau.width))
        k = int(np.searchsorted(sweep.inhibitions, plateau.inhibition))
        axes.scatter([w], [k], s=520, facecolors="none", edgecolors=LEARNED, linewidths=1.6)
    axes.set_xticks(range(len(sweep.widths)), [f"{width:.2g}" for width in sweep.widths])
    axes.set_yticks(range(len(sweep.inhibitions)), [f"{strength:g}" for strength in sweep.inhibitions])
    axes.set_xlabel("width σ, a squared length", color=INK)
    axes.set_ylabel("inhibition λ", color=INK)
    axes.tick_params(colors=INK, labelsize=8, length=0)
    axes.spines[:].set_visible(False)
    return image


def _outline(axes: "Axes", cells: NDArray[np.bool_]) -> None:
    """A line around cells, (W, L): along every edge with one of them on one side only."""
    from matplotlib.collections import LineCollection

    padded = np.pad(cells, 1)
    upright = np.argwhere(padded[1:, 1:-1] != padded[:-1, 1:-1]) - 0.5  # left or right of a cell
    level = np.argwhere(padded[1:-1, 1:] != padded[1:-1, :-1]) - 0.5  # below or above one
    lines = [((x, y), (x, y + 1)) for x, y in upright] + [((x, y), (x + 1, y)) for x, y in level]
    style: dict[str, Any] = {"colors": LEARNED, "linewidths": 2.4, "capstyle": "projecting"}
    axes.add_collection(LineCollection(lines, clip_on=False, zorder=3, **style))


def _mark_outside(axes: "Axes", canvas: Array) -> None:
    """A dot on each pixel of a colour patch with a channel well below 0, or well above 1."""
    for sign, colour in ((-1, BELOW), (1, ABOVE)):
        far = (sign * (np.nan_to_num(canvas, nan=0.5) - 0.5)).max(axis=2) > 0.5 + NOTICEABLE
        y, x = np.nonzero(far)
        axes.scatter(x, y, s=2.5, c=colour, linewidths=0, zorder=3)


def _clipped(canvas: Array) -> Array:
    """Colour patches within [0, 1], and nothing in the gaps between them, (height, width, 4)."""
    return np.dstack([np.clip(np.nan_to_num(canvas), 0, 1), ~np.isnan(canvas[..., 0])])


def _frame(
    axes: "Axes", corner: tuple[int, int], size: tuple[int, int], out: float, colour: str, line: float
) -> None:
    """A frame around a patch, so many pixels outside of it."""
    from matplotlib.patches import Rectangle

    (x, y), (width, height) = corner, size
    place, size_ = (x - 0.5 - out, y - 0.5 - out), (width + 2 * out, height + 2 * out)
    axes.add_patch(Rectangle(place, *size_, fill=False, ec=colour, lw=line))


def thumbnail(
    centers: Array,
    shape: tuple[int, ...],
    learned: NDArray[np.bool_],
    columns: int | None = None,
    pixels: int = 3,
) -> NDArray[np.uint8]:
    """The same as a small picture without numbers, (height, width, 4): so many pixels for each of a patch."""
    from matplotlib.colors import to_rgba

    grid = _Grid(centers, shape, learned, columns)
    height, width, *colours = shape
    grey = (grid.canvas + BEYOND) / (1 + 2 * BEYOND)
    painted = _clipped(grid.canvas) if colours else _colours()(grey)
    whole = np.pad(painted, ((1, 1), (1, 1), (0, 0))).repeat(pixels, axis=0).repeat(pixels, axis=1)
    for (y, x), it in zip(grid.corners, learned, strict=True):
        if it:
            top, left = (y + 1) * pixels - 2, (x + 1) * pixels - 2
            bottom, right = top + height * pixels + 4, left + width * pixels + 4
            inner = whole[top + 2 : bottom - 2, left + 2 : right - 2].copy()
            whole[top:bottom, left:right] = to_rgba(LEARNED)
            whole[top + 2 : bottom - 2, left + 2 : right - 2] = inner
    return (whole * 255).round().astype(np.uint8)


class _Grid:
    """Filters laid out row by row, with gaps that are NaN."""

    def __init__(
        self, centers: Array, shape: tuple[int, ...], learned: NDArray[np.bool_], columns: int | None
    ) -> None:
        if len(shape) not in (2, 3) or centers.shape != (len(learned), np.prod(shape)):
            raise ValueError(
                f"centers must be (K, {np.prod(shape)}) for patches of shape {shape}, and learned (K,); got "
                f"centers of shape {centers.shape} and {len(learned)} learned."
            )
        height, width, *colours = shape
        columns = columns or int(np.ceil(np.sqrt(len(centers))))
        rows = -(-len(centers) // columns)
        self.gap = max(2, round(GAP * height))
        down, right = height + self.gap, width + self.gap
        self.canvas = np.full((rows * down - self.gap, columns * right - self.gap, *colours), np.nan)
        self.corners = [(k // columns * down, k % columns * right) for k in range(len(centers))]
        for center, (y, x) in zip(centers, self.corners, strict=True):
            self.canvas[y : y + height, x : x + width] = center.reshape(shape)


def _colours() -> "Colormap":
    """Grey within [0, 1], blue below, red above."""
    from matplotlib.colors import LinearSegmentedColormap

    inside, outside = BEYOND / (1 + 2 * BEYOND), 1 / (1 + 2 * BEYOND)
    ramp = [(0.0, BELOW), (inside, "#000000"), (inside + outside, "#ffffff"), (1.0, ABOVE)]
    return LinearSegmentedColormap.from_list("domain", ramp).with_extremes(bad=(0.0, 0.0, 0.0, 0.0))


def _map_colours() -> "Colormap":
    """From few clusters to many; grey where there are none."""
    from matplotlib.colors import LinearSegmentedColormap

    ramp = ["#fef3c7", "#a7f3d0", "#7dd3fc", "#c4b5fd", "#e5e7eb"]
    return LinearSegmentedColormap.from_list("clusters", ramp).with_extremes(bad="#f8fafc")
