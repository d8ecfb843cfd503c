"""Eigenvalues of symmetric matrices, with bits that do not depend on BLAS threads."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigvalsh_tridiagonal

from gaussian_neurons import _core

Array = NDArray[Any]

NEGLIGIBLE = 1e-140  # part of the largest number of a matrix, whose square underflows


def eigenvalues(matrix: Array) -> Array:
    """The eigenvalues of a symmetric matrix, increasing."""
    diagonal, off_diagonal = np.zeros(len(matrix)), np.zeros(len(matrix) - 1)
    largest = float(np.abs(matrix).max())  # squares of the numbers could overflow
    if largest > 0:
        scaled = matrix / largest
        scaled[np.abs(scaled) < NEGLIGIBLE] = 0.0
        _core.tridiagonal(scaled, diagonal, off_diagonal)
    if not len(off_diagonal):
        return diagonal * largest
    found: Array = eigvalsh_tridiagonal(diagonal, off_diagonal, lapack_driver="sterf")
    return found * largest
