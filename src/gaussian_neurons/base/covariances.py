"""Widths and covariances: (n,), (n, D) or (n, D, D), for each number of dimensions a type."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

TYPES = ("spherical", "diag", "full")  # scikit-learn's words, in the order of their numbers of dimensions
ASYMMETRY = 1e-6  # largest difference of mirrored elements, as a part of the largest element
SMALLEST_PIVOT = 2.0**-40  # of a regular covariance, as a part of its variance


def shape_of(kind: str, dimensions: int) -> tuple[int, ...]:
    """The shape of one width or covariance.

    Examples
    --------
    >>> shape_of("spherical", 3), shape_of("full", 3)
    ((), (3, 3))
    """
    return (dimensions,) * TYPES.index(kind)


def as_type(widths: Array, kind: str, dimensions: int) -> Array:
    """Widths or covariances as those of a type that can represent them.

    Examples
    --------
    >>> as_type(np.array([2.0]), "diag", 3)
    array([[2., 2., 2.]])
    >>> as_type(np.array([[2.0, 3.0]]), "full", 2)
    array([[[2., 0.],
            [0., 3.]]])
    """
    wanted = TYPES.index(kind) + 1
    if widths.ndim == 1 and wanted > 1:
        widths = np.repeat(widths[:, None], dimensions, axis=1)
    if widths.ndim == 2 and wanted > 2:
        widths = widths[:, :, None] * np.eye(dimensions, dtype=widths.dtype)
    return widths


def of_shape(width: float, shape: Any, count: int) -> Any:
    """The width times a shape, (D,) or (D, D), for each of `count` neurons; the width if there is no shape.

    Examples
    --------
    >>> of_shape(0.5, [2.0, 4.0], 2)
    array([[1., 2.],
           [1., 2.]])
    """
    return width if shape is None else np.repeat(width * np.array([shape]), count, axis=0)


def variances(widths: Array) -> Array:
    """The widths (n,), or the diagonals of covariances (n, D)."""
    diagonals: Array = np.diagonal(widths, axis1=1, axis2=2) if widths.ndim == 3 else widths
    return diagonals


def flat(widths: Array) -> Array:
    """The numbers of each, (n, 1), (n, D) or (n, D * D)."""
    return widths.reshape(len(widths), math.prod(widths.shape[1:]))


def mean_widths(widths: Array) -> Array:
    """One width for each: the mean of the diagonal, (n,)."""
    found: Array = widths if widths.ndim == 1 else variances(widths).mean(axis=1)
    return found


def ellipse(width: Array, scale: Array) -> tuple[float, float, float]:
    """The ellipse on which a neuron in the plane responds with 1/e, in scaled coordinates.

    Parameters
    ----------
    width : a number, (2,) or (2, 2)
    scale : (2,), of the coordinates

    Returns
    -------
    half axes, and the angle of the first in degrees

    Examples
    --------
    >>> [round(number, 3) for number in ellipse(np.array([[5.0, 4.0], [4.0, 5.0]]), np.ones(2))]
    [3.0, 1.0, 45.0]
    """
    if width.ndim < 2:
        across, up = np.sqrt(width) * np.abs(scale)
        return float(across), float(up), 0.0
    squares, directions = np.linalg.eigh(width * np.outer(scale, scale))
    angle = np.degrees(np.arctan2(directions[1, 1], directions[0, 1])) % 180
    return float(np.sqrt(squares[1])), float(np.sqrt(squares[0])), float(angle)


def is_symmetric(covariances: Array) -> Any:
    """Whether matrices, (..., D, D), are symmetric, apart from rounding errors: (...).

    Examples
    --------
    >>> is_symmetric(np.array([[[1.0, 2.0], [2.0, 1.0]], [[1.0, 2.0], [0.0, 1.0]]]))
    array([ True, False])
    """
    difference = np.abs(covariances - np.swapaxes(covariances, -1, -2))
    largest = np.abs(covariances).max(axis=(-1, -2), initial=0.0)
    return difference.max(axis=(-1, -2), initial=0.0) <= ASYMMETRY * largest


def is_regular(covariance: Array) -> bool:
    """Whether a covariance, (D,) or (D, D), is positive definite, as far as rounding lets it be told.

    Examples
    --------
    >>> is_regular(np.array([1.0, 0.0])), is_regular(np.ones((2, 2))), is_regular(np.eye(2))
    (False, False, True)
    """
    if covariance.ndim == 1:
        return bool((covariance > 0).all())
    try:
        pivots = np.diagonal(np.linalg.cholesky(covariance)) ** 2
    except np.linalg.LinAlgError:
        return False
    return bool((pivots > SMALLEST_PIVOT * np.diagonal(covariance)).all())
