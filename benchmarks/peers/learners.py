"""The common interface of all systems, and an adapter for each library.

`rows` converts rows to the format of the library. It is not timed.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from benchmarks.peers.rules import Competition, Rule, currents, krotov_hopfield

Array = NDArray[Any]

INHIBITION = 0.5


@dataclass(frozen=True)
class Task:
    """What a system may know in advance. All data is in [0, 1]."""

    K: int
    D: int

    @property
    def width(self) -> float:
        """1 for the 5 x 5 patches of the paper, in proportion to D for other workloads."""
        return self.D / 25

    @property
    def rule(self) -> Rule:
        """The rule with the settings of the paper."""
        return Rule(self.width, INHIBITION, 0.1 * self.width)

    def centers(self, dtype: type) -> Array:
        """The starting centers: uniformly random in the domain."""
        return np.random.default_rng(0).random((self.K, self.D)).astype(dtype)


@dataclass(kw_only=True)
class Needs:
    """How many rows a system needs."""

    portion: int = 1  # it gets multiples of this number
    first: int = 1  # before its first prediction
    settled: int = 0  # until its usual behaviour: some systems only collect rows at first
    most: int | None = None  # it would ignore further rows


class Learner(Protocol):
    """A model that continues to learn, with the attributes of `Needs`."""

    portion: int
    first: int
    settled: int
    most: int | None

    def rows(self, x: Array) -> Any: ...

    def learn(self, rows: Any) -> None: ...

    def predict(self, rows: Any) -> Any: ...


@dataclass
class Whole(Needs):
    """An estimator with `partial_fit` of arrays of any length."""

    model: Any
    dtype: type = np.float32

    def rows(self, x: Array) -> Array:
        return np.ascontiguousarray(x, self.dtype)

    def learn(self, rows: Array) -> None:
        self.model.partial_fit(rows)

    def predict(self, rows: Array) -> Array:
        return self.model.predict(rows)


@dataclass
class Portions(Whole):
    """`partial_fit` with `size` rows per call."""

    size: int = 1

    def __post_init__(self) -> None:
        self.portion = self.size
        self.first = max(self.first, self.size)
        self.begun = False

    def rows(self, x: Array) -> list[Array]:
        return [x[begin : begin + self.size] for begin in range(0, len(x), self.size)]

    def learn(self, rows: Sequence[Array]) -> None:
        if not self.begun and self.first > self.size:  # the first call needs more rows
            count = self.first // self.size
            self.model.partial_fit(np.concatenate(rows[:count]))
            rows = rows[count:]
        self.begun = True
        for each in rows:
            self.model.partial_fit(each)

    def predict(self, rows: Sequence[Array]) -> Array:
        return self.model.predict(rows[0])


@dataclass
class InRiver(Needs):
    """A model of river: one dictionary for each row."""

    model: Any

    def rows(self, x: Array) -> list[dict[int, float]]:
        return [dict(enumerate(row)) for row in x.tolist()]

    def learn(self, rows: Sequence[dict[int, float]]) -> None:
        for row in rows:
            self.model.learn_one(row)

    def predict(self, rows: Sequence[dict[int, float]]) -> Any:
        return [self.model.predict_one(row) for row in rows]


@dataclass
class InArtlib(Whole):
    """A model of artlib, which is given the bounds of the data and prepares the rows."""

    columns: int = 1

    def __post_init__(self) -> None:
        self.model.set_data_bounds(np.zeros(self.columns), np.ones(self.columns))

    def rows(self, x: Array) -> Array:
        return self.model.prepare_data(x.astype(np.float64))


@dataclass
class InMiniSom(Needs):
    """MiniSom, one sample at a time; its rates decay over `horizon` samples."""

    model: Any
    horizon: int
    seen: int = 0

    def rows(self, x: Array) -> Array:
        return x.astype(np.float64)

    def learn(self, rows: Array) -> None:
        model = self.model
        for x in rows:
            model.update(x, model.winner(x), self.seen, self.horizon)
            self.seen += 1

    def predict(self, rows: Array) -> Any:
        return [self.model.winner(x) for x in rows]


@dataclass
class InFaiss(Needs):
    """faiss: all rows at once; each call begins again."""

    make: Callable[[], Any]
    model: Any = None

    def rows(self, x: Array) -> Array:
        return np.ascontiguousarray(x, np.float32)

    def learn(self, rows: Array) -> None:
        self.model = self.make()
        self.model.train(rows)

    def predict(self, rows: Array) -> Array:
        return self.model.index.search(rows, 1)[1]


@dataclass
class ByHand(Needs):
    """Our rule as a function that changes the centers or returns new ones."""

    step: Callable[[Any, Any, Rule], Any]
    centers: Any
    rule: Rule
    convert: Callable[[Array], Any]
    dtype: type = np.float32
    call: int | None = None  # rows per call; None: all

    def rows(self, x: Array) -> Any:
        step = self.call or len(x)
        return [
            self.convert(np.ascontiguousarray(x[begin : begin + step], self.dtype))
            for begin in range(0, len(x), step)
        ]

    def learn(self, rows: Sequence[Any]) -> None:
        for each in rows:
            changed = self.step(each, self.centers, self.rule)
            if changed is not None:
                self.centers = changed

    def predict(self, rows: Sequence[Any]) -> Any:
        away = np.asarray(rows[0])[:, None, :] - np.asarray(self.centers)
        return (away**2).sum(axis=2).argmin(axis=1)


@dataclass
class Competing(Needs):
    """The rule of Krotov and Hopfield."""

    weights: Array
    rule: Competition

    def rows(self, x: Array) -> Array:
        return np.ascontiguousarray(x, np.float32)

    def learn(self, rows: Array) -> None:
        krotov_hopfield(rows, self.weights, self.rule)

    def predict(self, rows: Array) -> Any:
        return [int(currents(x, self.weights, self.rule.p).argmax()) for x in rows]
