"""Observers: functions that are called with each state of a model while it learns."""

import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from gaussian_neurons.model.state import State

Observer = Callable[[State], Any]

_observers: list[tuple[weakref.ref[Any], Observer]] = []  # a model does not know them, so copies have none


@contextmanager
def observing(model: Any, observer: Observer) -> Iterator[None]:
    """Call the observer with each state while the model learns in this block.

    Examples
    --------
    >>> from gaussian_neurons import GaussianNeurons
    >>> model, seen = GaussianNeurons(2, width=1.0, domain=(0, 1)), []
    >>> with observing(model, lambda state: seen.append(state.received)):
    ...     model = model.partial_fit([[0.0], [1.0]])
    >>> seen[-1]
    2
    """
    add(model, observer)
    try:
        yield
    finally:
        remove(observer)


def add(model: Any, observer: Observer) -> None:
    """Call the observer from now on."""
    _observers.append((weakref.ref(model), observer))


def remove(observer: Observer) -> None:
    """Do not call the observer any more."""
    _observers[:] = [one for one in _observers if one[1] != observer]


def following(model: Any, states: Iterator[State]) -> Iterator[State]:
    """The same states, shown to the observers of the model."""
    return _following(model, states) if _observers else states


def _following(model: Any, states: Iterator[State]) -> Iterator[State]:
    for state in states:
        yield state
        for whom, observer in list(_observers):
            if whom() is model:
                observer(state)
