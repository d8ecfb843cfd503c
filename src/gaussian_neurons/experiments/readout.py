"""A linear read-out of features: ridge regression to the classes, in closed form."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Labels = NDArray[np.int64]

PENALTIES = (1e-6, 1e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3)  # times the number of rows
SILENT = 1e-5  # least standard deviation of a feature that counts, as a part of the largest
HELD_OUT = 6  # one of so many rows chooses the penalty
AT_ONCE = 4096  # rows


@dataclass(frozen=True)
class Accuracy:
    """What a read-out reaches."""

    test: float  # percent of the test rows
    held_out: float  # percent of the training rows that chose the penalty
    penalty: float
    n_features: int


def accuracy(train: Array, labels: Labels, test: Array, test_labels: Labels) -> Accuracy:
    """The accuracy on test rows of a ridge regression to +1 for the class of a row and -1 for the others.

    Features are standardized. One of six training rows chooses the penalty; the weights are then those of
    all training rows.

    Parameters
    ----------
    train : (n, D), float32
    labels : (n,), from 0 to 9
    test, test_labels : the same, of other rows

    Examples
    --------
    >>> random = np.random.default_rng(0)
    >>> y = random.integers(10, size=600)
    >>> x = np.eye(10, dtype=np.float32)[y] + random.normal(0, 0.1, (600, 10)).astype(np.float32)
    >>> accuracy(x[:500], y[:500], x[500:], y[500:]).test
    100.0
    """
    mean, scale = train.mean(axis=0), train.std(axis=0)
    scale = np.where(scale > SILENT * scale.max(), scale, np.inf)
    held = np.arange(len(train)) % HELD_OUT == 0
    targets = _targets(labels)
    first, second = (_moments(train[part], targets[part], mean, scale) for part in (~held, held))
    found = []
    for penalty in PENALTIES:
        try:
            weights = _weights(*first, penalty)
            found.append(_correct(train[held], labels[held], mean, scale, weights))
        except np.linalg.LinAlgError:  # the penalty is less than the rounding error of float32
            found.append(0.0)
    best = int(np.argmax(found))
    while True:
        try:
            weights = _weights(first[0] + second[0], first[1] + second[1], PENALTIES[best])
            break
        except np.linalg.LinAlgError:  # enough for some rows, and less than the rounding error of all
            best += 1
    correct = _correct(test, test_labels, mean, scale, weights)
    return Accuracy(correct, found[best], PENALTIES[best], train.shape[1])


def _targets(labels: Labels) -> Array:
    return np.where(np.arange(10) == labels[:, None], 1, -1).astype(np.float32)


def _rows(x: Array, mean: Array, scale: Array) -> Array:
    """Standardized rows, with a 1 at the end, for the offset."""
    rows: Array = np.concatenate([(x - mean) / scale, np.ones((len(x), 1), x.dtype)], axis=1)
    return rows


def _moments(x: Array, targets: Array, mean: Array, scale: Array) -> tuple[Array, Array]:
    """X'X and X'Y, summed in float64 over blocks of rows."""
    size = x.shape[1] + 1
    square, product = np.zeros((size, size)), np.zeros((size, targets.shape[1]))
    for begin in range(0, len(x), AT_ONCE):
        rows = _rows(x[begin : begin + AT_ONCE], mean, scale)
        square += rows.T @ rows
        product += rows.T @ targets[begin : begin + AT_ONCE]
    return square, product


def _weights(square: Array, product: Array, penalty: float) -> Array:
    """The weights of a ridge regression; the offset is not penalized."""
    from scipy.linalg import cho_factor, cho_solve

    count = square[-1, -1]
    penalties = np.full(len(square), penalty * count)
    penalties[-1] = 1e-9 * count
    weights: Array = cho_solve(cho_factor(square + np.diag(penalties)), product).astype(np.float32)
    return weights


def _correct(x: Array, labels: Labels, mean: Array, scale: Array, weights: Array) -> float:
    """Percent of the rows whose largest output is that of their class."""
    correct = 0
    for begin in range(0, len(x), AT_ONCE):
        outputs = _rows(x[begin : begin + AT_ONCE], mean, scale) @ weights
        correct += int((outputs.argmax(axis=1) == labels[begin : begin + AT_ONCE]).sum())
    return 100 * correct / len(x)


def ridge(x: Array, labels: Labels, penalty: float = 0.01) -> tuple[Array, Array]:
    """The weights (10, D) and offsets (10,) of a ridge regression with a given penalty, of rows as they are.

    Examples
    --------
    >>> weights, offsets = ridge(np.eye(10).repeat(30, axis=0), np.arange(10).repeat(30))
    >>> (weights @ [0, 0, 1, 0, 0, 0, 0, 0, 0, 0] + offsets).argmax()
    np.int64(2)
    """
    mean, scale = x.mean(axis=0), x.std(axis=0)
    scale = np.where(scale > SILENT * scale.max(), scale, np.inf)
    found = _weights(*_moments(x, _targets(labels), mean, scale), penalty).T
    weights = found[:, :-1] / scale
    return weights, found[:, -1] - weights @ mean
