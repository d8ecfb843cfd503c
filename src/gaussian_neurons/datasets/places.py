"""Random places, directions and ways in the unit box that keep their distance; the same bits everywhere."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gaussian_neurons.sampling import native
from gaussian_neurons.sampling.reference import SHUFFLE

Array = NDArray[Any]

TRIES = 10_000  # places or ways that are tried


def apart(count: int, features: int, least: float, seed: int) -> Array:
    """Places in the unit box, a little inside, that keep their distance: (count, features)."""
    found: list[Array] = []
    for place in _inside(seed, features):
        if all(length(place - other) >= least for other in found):
            found.append(place)
            if len(found) == count:
                return np.array(found)
    raise ValueError(
        f"{count} clusters at least {least:g} apart (six spreads) do not fit into the unit box: only "
        f"{len(found)} did. Make the spread smaller, or give their places."
    )


def ways(births: NDArray[np.int64], life: int, features: int, least: float, seed: int) -> Array:
    """Straight ways from a place to another on which no two ever come too near: (n, count, 2, features).

    Parameters
    ----------
    births : (n, count) when each is begun, n in each column one after the other without a gap; after the
        last comes the first again
    life : how long each takes
    least : the distance that is kept
    """
    turns, count = births.shape
    found: dict[tuple[int, int], Array] = {}
    candidates = iter(_inside(seed, 2 * features))
    for turn in range(turns):
        for column in range(count):
            others = _at_the_same_time(births, life, turn, column, found)
            for candidate in candidates:
                way = candidate.reshape(2, features)
                if all(_nearest(way, found[other], later) >= least for other, later in others):
                    found[turn, column] = way
                    break
            else:
                raise ValueError(
                    f"{count} clusters at least {least:g} apart (six spreads) cannot move about in the unit "
                    "box. Make the spread smaller, or have fewer."
                )
    return np.array([[found[turn, column] for column in range(count)] for turn in range(turns)])


def directions(count: int, features: int, seed: int) -> Array:
    """Unit vectors in random directions, (count, features)."""
    drawn = native.normals(seed, SHUFFLE, 0, count, features).astype(np.float64)
    return np.array([way / length(way) for way in drawn])


def length(vector: Array) -> float:
    """The length of a vector, summed in one order on every machine."""
    return float(np.sqrt(_product(vector.tolist(), vector.tolist())))


def _inside(seed: int, features: int) -> Array:
    """Places a little inside of the unit box, to be tried."""
    return 0.1 + 0.8 * 2.0**-32 * native.words(seed, SHUFFLE, 0, TRIES, features)


def _product(a: Sequence[float], b: Sequence[float]) -> float:
    total = 0.0
    for x, y in zip(a, b, strict=True):
        total += x * y
    return total


def _at_the_same_time(
    births: NDArray[np.int64], life: int, turn: int, column: int, found: dict[tuple[int, int], Array]
) -> list[tuple[tuple[int, int], float]]:
    """The other ways that are gone while this one is, and how many lives later they begin."""
    cycle = len(births) * life
    there = []
    for other in found:
        later = int(births[other] - births[turn, column] + cycle // 2) % cycle - cycle // 2
        if other[1] != column and abs(later) < life:
            there.append((other, later / life))
    return there


def _nearest(way: Array, other: Array, later: float) -> float:
    """How near two come that go along their ways at the same time, the other beginning later."""
    speed, others = way[1] - way[0], other[1] - other[0]
    gap = (way[0] - other[0] + others * later).tolist()
    change = (speed - others).tolist()
    square = _product(change, change)
    when = -_product(gap, change) / square if square > 0 else 0.0
    when = min(max(when, 0.0, later), 1.0, 1.0 + later)
    return length(np.array([g + when * c for g, c in zip(gap, change, strict=True)]))
