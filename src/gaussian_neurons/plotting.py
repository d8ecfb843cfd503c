"""Draw neurons onto an Axes that the caller owns."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = NDArray[Any]

INK, MUTED, LEARNED, PUSHED_OUT = "#1b1f24", "#9aa4af", "#c2410c", "#64748b"


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
