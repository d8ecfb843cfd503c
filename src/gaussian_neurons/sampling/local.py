"""Covariances of rows, each from the rows around it."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gaussian_neurons.base import tables
from gaussian_neurons.base.bad_rows import require_finite
from gaussian_neurons.base.checks import number, one_of
from gaussian_neurons.base.covariances import TYPES, variances

Array = NDArray[np.float64]

MOST_COMPARED = 500  # rows that each row is compared with
NUMBERS_AT_ONCE = 1 << 16  # differences; they stay in the cache
FAR = 1e3  # square roots of the width; a row farther away has the weight 0


def local_covariances(X: Any, width: float, covariance: str = "full") -> Array:
    """A `sample_width` for each row: its size is given, its shape is that of the rows around it.

    It is the covariance of the rows around it, weighted with exp(-distance^2 / width), and scaled so that the
    mean of its diagonal is `width` (docs/algorithm.md [27]). It is `width` times the identity for a row that
    is alone, or among rows that scatter equally in all directions.

    Parameters
    ----------
    X : (n_rows, n_features); of more than 500 rows, each is compared with at most 500, evenly spaced
    width : above 0, a squared length
    covariance : "spherical" for widths (n_rows,), "diag" for diagonals of covariances (n_rows, n_features),
        "full" for covariances (n_rows, n_features, n_features)

    Examples
    --------
    >>> X = np.column_stack([np.linspace(0.0, 4.0, 50), np.zeros(50)])  # a line
    >>> local_covariances(X, width=0.5)[25].round(2)
    array([[0.94, 0.  ],
           [0.  , 0.06]])
    """
    kind = one_of("covariance", covariance, TYPES)
    sigma = number("width", width, least=np.finfo(np.float64).tiny)
    given = tables.read(X).x
    require_finite(given, np.float64)
    if kind == "spherical":
        return np.full(len(given), sigma)
    rows = given.astype(np.float64, copy=False)
    others = rows[:: -(-len(rows) // MOST_COMPARED)]
    found = np.empty((len(rows), *(rows.shape[1],) * TYPES.index(kind)))
    at_once = max(1, NUMBERS_AT_ONCE // others.size)
    for begin in range(0, len(rows), at_once):
        block = slice(begin, begin + at_once)
        shapes = _shapes(rows[block], others, np.sqrt(sigma))
        found[block] = sigma * (variances(shapes) if kind == "diag" else shapes)
    return found


def _shapes(rows: Array, others: Array, unit: float) -> Array:
    """Sigma_x / sigma_x (n, D, D) of rows (n, D), from other rows (m, D); lengths are divided by `unit`."""
    count, D = rows.shape
    with np.errstate(over="ignore"):
        differences = np.clip((others.T[:, None] - rows.T[:, :, None]) / unit, -FAR, FAR)  # (D, n, m)
    weights = np.exp(-(differences**2).sum(axis=0))  # (n, m)
    total = 1 + weights.sum(axis=1)  # with the row itself, whose weight is 1
    scatter = np.empty((count, D, D))
    sums = np.empty((count, D))
    for i in range(D):
        weighted = weights * differences[i]
        sums[:, i] = weighted.sum(axis=1)
        for j in range(i + 1):
            mean_product = sums[:, i] * sums[:, j] / total
            scatter[:, i, j] = np.einsum("nm,nm->n", weighted, differences[j]) - mean_product
            scatter[:, j, i] = scatter[:, i, j]
    scatter += np.eye(D) / 2  # the row itself is round
    shapes: Array = scatter * (D / np.trace(scatter, axis1=1, axis2=2))[:, None, None]
    return shapes
