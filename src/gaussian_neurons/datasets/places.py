"""Random points and paths in the unit box with a minimum distance; identical bits on every machine."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gaussian_neurons.sampling import native
from gaussian_neurons.sampling.reference import SHUFFLE

Array = NDArray[Any]

TRIES = 10_000  # candidate points or paths


def apart(count: int, features: int, least: float, seed: int) -> Array:
    """Points in the unit box, at least `least` apart: (count, features)."""
    found: list[Array] = []
    for point in _candidates(seed, features):
        if all(length(point - other) >= least for other in found):
            found.append(point)
            if len(found) == count:
                return np.array(found)
    raise ValueError(
        f"{count} clusters at least {least:g} apart (six spreads) do not fit into the unit box: only "
        f"{len(found)} do. Use a smaller spread, or pass the centers."
    )


def paths(births: NDArray[np.int64], life: int, features: int, least: float, seed: int) -> Array:
    """Straight paths of points that stay at least `least` apart at all times: (n, count, 2, features).

    Parameters
    ----------
    births : (n, count) start times; the n paths of a column follow each other without a gap, in a cycle
    life : duration of each path
    features : D
    least : minimum distance
    seed : of the random paths
    """
    generations, count = births.shape
    found: dict[tuple[int, int], Array] = {}
    candidates = iter(_candidates(seed, 2 * features))
    for generation in range(generations):
        for column in range(count):
            others = _concurrent(births, life, generation, column, found)
            for candidate in candidates:
                path = candidate.reshape(2, features)
                if all(_closest(path, found[other], later) >= least for other, later in others):
                    found[generation, column] = path
                    break
            else:
                raise ValueError(
                    f"{count} moving clusters at least {least:g} apart (six spreads) do not fit into the "
                    "unit box. Use a smaller spread or fewer clusters."
                )
    return np.array(
        [[found[generation, column] for column in range(count)] for generation in range(generations)]
    )


def directions(count: int, features: int, seed: int) -> Array:
    """Unit vectors in random directions, (count, features)."""
    drawn = native.normals(seed, SHUFFLE, 0, count, features).astype(np.float64)
    return np.array([vector / length(vector) for vector in drawn])


def length(vector: Array) -> float:
    """The length of a vector, summed in the same order on every machine."""
    return float(np.sqrt(_product(vector.tolist(), vector.tolist())))


def _candidates(seed: int, features: int) -> Array:
    """Candidate points, at least 0.1 from the faces of the unit box: (TRIES, features)."""
    return 0.1 + 0.8 * 2.0**-32 * native.words(seed, SHUFFLE, 0, TRIES, features)


def _product(a: Sequence[float], b: Sequence[float]) -> float:
    total = 0.0
    for x, y in zip(a, b, strict=True):
        total += x * y
    return total


def _concurrent(
    births: NDArray[np.int64], life: int, generation: int, column: int, found: dict[tuple[int, int], Array]
) -> list[tuple[tuple[int, int], float]]:
    """The paths of other columns that overlap this one in time, and how many lives later they begin."""
    cycle = len(births) * life
    concurrent = []
    for other in found:
        later = int(births[other] - births[generation, column] + cycle // 2) % cycle - cycle // 2
        if other[1] != column and abs(later) < life:
            concurrent.append((other, later / life))
    return concurrent


def _closest(path: Array, other: Array, later: float) -> float:
    """The smallest distance of two points on their paths, if the other begins `later` lives later."""
    speed, others = path[1] - path[0], other[1] - other[0]
    gap = (path[0] - other[0] + others * later).tolist()
    change = (speed - others).tolist()
    square = _product(change, change)
    when = -_product(gap, change) / square if square > 0 else 0.0
    when = min(max(when, 0.0, later), 1.0, 1.0 + later)
    return length(np.array([g + when * c for g, c in zip(gap, change, strict=True)]))
