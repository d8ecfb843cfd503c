"""Draw neurons onto an Axes that the caller owns."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.image import AxesImage

Array = NDArray[Any]

INK, MUTED, LEARNED, PUSHED_OUT = "#1b1f24", "#9aa4af", "#c2410c", "#64748b"
BEYOND = 0.5  # how far outside of [0, 1] values of a filter are told apart
GAP = 2  # pixels between filters


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
) -> "AxesImage":
    """Centers as the image patches that they are, numbered row by row; learned ones are framed.

    Grey is within the domain [0, 1]; blue is below it and red above. Colour patches are clipped to it.

    Parameters
    ----------
    axes : where to draw
    centers : (K, D)
    shape : of a patch, (height, width) or (height, width, 3)
    learned : (K,)
    columns : filters side by side, or None: as square as it goes

    Returns
    -------
    AxesImage : for a colour bar
    """
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.patches import Rectangle

    if len(shape) not in (2, 3) or centers.shape != (len(learned), np.prod(shape)):
        raise ValueError(
            f"centers must be (K, {np.prod(shape)}) for patches of shape {shape}, and learned (K,); got "
            f"centers of shape {centers.shape} and {len(learned)} learned."
        )
    height, width, *colours = shape
    columns = columns or int(np.ceil(np.sqrt(len(centers))))
    rows = -(-len(centers) // columns)
    canvas = np.full((rows * (height + GAP) - GAP, columns * (width + GAP) - GAP, *colours), np.nan)
    corners = [(k // columns * (height + GAP), k % columns * (width + GAP)) for k in range(len(centers))]
    for center, (y, x) in zip(centers, corners, strict=True):
        canvas[y : y + height, x : x + width] = center.reshape(shape)
    inside, outside = BEYOND / (1 + 2 * BEYOND), 1 / (1 + 2 * BEYOND)
    ramp = [(0.0, "#3b82f6"), (inside, "#000000"), (inside + outside, "#ffffff"), (1.0, "#ef4444")]
    cmap = LinearSegmentedColormap.from_list("domain", ramp).with_extremes(bad=(0.0, 0.0, 0.0, 0.0))
    shown = np.clip(np.nan_to_num(canvas, nan=1.0), 0, 1) if colours else canvas
    image = axes.imshow(shown, cmap=cmap, vmin=-BEYOND, vmax=1 + BEYOND, interpolation="nearest")
    for k, (y, x) in enumerate(corners):
        colour, line = (LEARNED, 2.4) if learned[k] else (PUSHED_OUT, 0.6)
        axes.add_patch(Rectangle((x - 0.5, y - 0.5), width, height, fill=False, ec=colour, lw=line))
        axes.text(x - 0.4, y - 0.65, str(k + 1), fontsize=7, color=colour)
    axes.set_axis_off()
    axes.set_xlim(-1, canvas.shape[1])
    axes.set_ylim(canvas.shape[0], -2)
    return image
