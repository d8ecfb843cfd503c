"""Orientation of filters: 1 for a straight edge or line, 0 for a round shape."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gaussian_neurons.experiments.experiment import Claim, Quantity, Result
from gaussian_neurons.experiments.layer import learned_centers

Array = NDArray[Any]

CONTRAST = 0.1  # least standard deviation of the pixels of a filter with a shape
EDGE = 0.5  # least coherence of an edge; noise of 5 x 5 pixels has 0.21 in the median, a round spot 0


def coherence(image: Array) -> float:
    """How far the gradients of an image have one direction, from 0 to 1.

    With the structure tensor, the sum of g gᵀ over the pixels for the gradient g, it is the difference of the
    two eigenvalues divided by their sum.

    Examples
    --------
    >>> edge = np.repeat([[0.0, 0.0, 1.0, 1.0]], 4, axis=0)
    >>> spot = np.outer([0, 1, 0], [0.0, 1.0, 0.0])
    >>> round(coherence(edge), 6), round(coherence(spot), 6)
    (1.0, 0.0)
    """
    down, right = np.gradient(image)
    across, mixed, along = (right**2).sum(), (right * down).sum(), (down**2).sum()
    total = across + along
    return float(np.hypot(across - along, 2 * mixed) / total) if total > 0 else 0.0


def of_filters(result: Result) -> list[float]:
    """The coherence of each learned grey filter that has a shape; colours are limited to [0, 1]."""
    shown = np.clip(learned_centers(result), 0, 1)
    size = result["config"]["size"]
    return [coherence(it.reshape(size, size)) for it in shown if it.std() >= CONTRAST]


def median_coherence(result: Result) -> float | None:
    """The median coherence of the learned filters."""
    found = of_filters(result)
    return float(np.median(found)) if found else None


COHERENCE = Quantity("median orientation of the filters (1: straight edge)", median_coherence, digits=2)
EDGES = Claim(
    f"The learned filters can act as edge detectors (orientation {EDGE} or more, unless blank).",
    lambda result: [it >= EDGE for it in of_filters(result)],
)
