"""Plot neurons, filters, sweeps and numbers of clusters on given matplotlib axes."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gaussian_neurons.base.covariances import ellipse
from gaussian_neurons.sweeping import FAILED, Sweep

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from matplotlib.image import AxesImage

    from gaussian_neurons.estimator import GaussianNeurons

Array = NDArray[Any]

INK, MUTED_INK, MUTED, LEARNED, PUSHED_OUT = "#1b1f24", "#4b5563", "#9aa4af", "#c2410c", "#64748b"
BELOW, ABOVE, MARKED = "#3b82f6", "#ef4444", "#0f766e"
NOTICEABLE = 0.1  # a channel of a colour patch is marked if it is outside [0, 1] by more than this
BEYOND = 0.5  # the colours of a filter cover [0, 1] and this much on both sides
BESIDE = 0.55  # opacity of the cells outside a plateau
GAP = 0.36  # between filters, as a fraction of their height


def plane(axes: "Axes", samples: Array, centers: Array, widths: Array, learned: NDArray[np.bool_]) -> None:
    """Plot samples in the plane, learned neurons as circles or ellipses, the others as crosses.

    A circle has the radius sqrt(width), at which the response is 1/e; so it is on an ellipse.

    Parameters
    ----------
    axes : matplotlib axes
    samples : (n, 2)
    centers : (K, 2)
    widths : (K,), (K, 2) or (K, 2, 2)
    learned : (K,)
    """
    from matplotlib.patches import Ellipse

    axes.scatter(
        samples[:, 0], samples[:, 1], s=3, c=MUTED, alpha=0.35, linewidths=0, label="samples", rasterized=True
    )
    for center, width in zip(centers[learned], widths[learned], strict=True):
        across, up, angle = ellipse(width, np.ones(2))
        axes.add_patch(Ellipse(center, 2 * across, 2 * up, angle=angle, fill=False, ec=LEARNED, lw=1.6))
    inside, outside = centers[learned], centers[~learned]
    axes.scatter(
        inside[:, 0],
        inside[:, 1],
        s=22,
        c=LEARNED,
        zorder=3,
        label=f"learned, {'circle of their width' if widths.ndim == 1 else 'response 1/e'} ({learned.sum()})",
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
    """Plot centers as image patches, numbered row by row, with frames around learned ones.

    Values in the domain [0, 1] are grey, values below it blue, values above it red. Colour patches are
    clipped; a blue dot marks a pixel with a channel below the domain, a red dot one with a channel above.

    Parameters
    ----------
    axes : matplotlib axes
    centers : (K, D)
    shape : of a patch, (height, width) or (height, width, 3)
    learned : (K,)
    columns : filters in a row, or None for a square grid
    numbers : the label of each filter, or None for 1 to K
    marked : indices of filters with a double frame

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
    margin = grid.gap / 2
    axes.set_xlim(-0.5 - margin, shown.shape[1] - 0.5 + margin)
    axes.set_ylim(shown.shape[0] - 0.5 + margin, -0.5 - grid.gap)
    return image


def sweep_map(axes: "Axes", sweep: Sweep) -> "AxesImage":
    """Plot the number of clusters over widths and inhibitions, with a frame around the plateau.

    A cell shows the median over the seeds and, if they differ, the smallest and the largest number; a cross
    if learning failed. A ring marks the middle of the plateau. If the plateau is weak, the frame is dashed
    and the label of the widths says so. Equal numbers have equal colours.

    Parameters
    ----------
    axes : matplotlib axes
    sweep : the result of `gaussian_neurons.sweep`

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
        _outline(axes, plateau.cells, "dashed" if plateau.weak else "solid")
        w = int(np.searchsorted(sweep.widths, plateau.width))
        k = int(np.searchsorted(sweep.inhibitions, plateau.inhibition))
        axes.scatter([w], [k], s=520, facecolors="none", edgecolors=LEARNED, linewidths=1.6)
    axes.set_xticks(range(len(sweep.widths)), [f"{width:.2g}" for width in sweep.widths])
    axes.set_yticks(range(len(sweep.inhibitions)), [f"{strength:g}" for strength in sweep.inhibitions])
    weak = "\nweak plateau: data without clusters gives such a region, too"
    said = weak if plateau is not None and plateau.weak else ""
    axes.set_xlabel(f"width σ, a squared length{said}", color=INK)
    axes.set_ylabel("inhibition λ", color=INK)
    axes.tick_params(colors=INK, labelsize=8, length=0)
    axes.spines[:].set_visible(False)
    return image


def cluster_counts(model: "GaussianNeurons", axes: "Axes | None" = None) -> "Axes":
    """Plot the score of each number of clusters of a model with an automatic width; the largest decides.

    A ring marks the number of clusters that the model has now.

    Parameters
    ----------
    model : GaussianNeurons
    axes : matplotlib axes, or None for the current ones

    Returns
    -------
    Axes : those that were given, or the current ones
    """
    from matplotlib.ticker import MaxNLocator

    if axes is None:
        from matplotlib import pyplot

        axes = pyplot.gca()
    scores, chosen = model.cluster_counts_, model.n_clusters_
    axes.axhline(0, color=MUTED, linewidth=0.8)
    axes.plot(list(scores), list(scores.values()), color=MUTED_INK, marker=".", linewidth=1.2)
    if chosen in scores:
        place = (chosen, scores[chosen])
        axes.scatter(*place, s=160, facecolors="none", edgecolors=LEARNED, linewidths=2, zorder=3)
        axes.annotate(
            str(chosen),
            place,
            xytext=(0, 11),
            textcoords="offset points",
            ha="center",
            color=LEARNED,
            weight="bold",
        )
    axes.set_xlabel("number of clusters", color=INK)
    axes.set_ylabel("score", color=INK)
    axes.margins(y=0.12)
    axes.set_xlim(left=0)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(colors=INK, labelsize=8)
    return axes


def _outline(axes: "Axes", cells: NDArray[np.bool_], line: str) -> None:
    """Draw a line around cells (W, L), along each edge with a cell on one side only."""
    from matplotlib.collections import LineCollection

    padded = np.pad(cells, 1)
    vertical = np.argwhere(padded[1:, 1:-1] != padded[:-1, 1:-1]) - 0.5  # vertical edges
    horizontal = np.argwhere(padded[1:-1, 1:] != padded[1:-1, :-1]) - 0.5  # horizontal edges
    lines = [((x, y), (x, y + 1)) for x, y in vertical] + [((x, y), (x + 1, y)) for x, y in horizontal]
    style: dict[str, Any] = {"colors": LEARNED, "linewidths": 2.4, "capstyle": "projecting"}
    style["linestyles"] = line
    axes.add_collection(LineCollection(lines, clip_on=False, zorder=3, **style))


def _mark_outside(axes: "Axes", canvas: Array) -> None:
    """Draw a dot on each pixel of a colour patch with a channel well below 0 or above 1."""
    for sign, colour in ((-1, BELOW), (1, ABOVE)):
        far = (sign * (np.nan_to_num(canvas, nan=0.5) - 0.5)).max(axis=2) > 0.5 + NOTICEABLE
        y, x = np.nonzero(far)
        axes.scatter(x, y, s=2.5, c=colour, linewidths=0, zorder=3)


def _clipped(canvas: Array) -> Array:
    """Colour patches clipped to [0, 1], with transparent gaps, (height, width, 4)."""
    return np.dstack([np.clip(np.nan_to_num(canvas), 0, 1), ~np.isnan(canvas[..., 0])])


def _frame(
    axes: "Axes", corner: tuple[int, int], size: tuple[int, int], out: float, colour: str, line: float
) -> None:
    """Draw a frame around a patch, `out` pixels outside it."""
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
    """The filters as a small image without numbers, (height, width, 4); `pixels` is the magnification."""
    from matplotlib.colors import to_rgba

    grid = _Grid(centers, shape, learned, columns)
    height, width, *colours = shape
    grey = (grid.canvas + BEYOND) / (1 + 2 * BEYOND)
    painted = _clipped(grid.canvas) if colours else _colours()(grey)
    whole = np.pad(painted, ((1, 1), (1, 1), (0, 0))).repeat(pixels, axis=0).repeat(pixels, axis=1)
    for (y, x), is_learned in zip(grid.corners, learned, strict=True):
        if is_learned:
            top, left = (y + 1) * pixels - 2, (x + 1) * pixels - 2
            bottom, right = top + height * pixels + 4, left + width * pixels + 4
            inner = whole[top + 2 : bottom - 2, left + 2 : right - 2].copy()
            whole[top:bottom, left:right] = to_rgba(LEARNED)
            whole[top + 2 : bottom - 2, left + 2 : right - 2] = inner
    return (whole * 255).round().astype(np.uint8)


class _Grid:
    """Filters in a grid, row by row, with gaps of NaN."""

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
    """Colours from few clusters to many; grey for none."""
    from matplotlib.colors import LinearSegmentedColormap

    ramp = ["#fef3c7", "#a7f3d0", "#7dd3fc", "#c4b5fd", "#e5e7eb"]
    return LinearSegmentedColormap.from_list("clusters", ramp).with_extremes(bad="#f8fafc")
