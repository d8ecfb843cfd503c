"""Views of a model in a notebook, updated while it learns: see `GaussianNeurons.watch`."""

import weakref
from collections.abc import Callable
from time import monotonic
from typing import Any, Self, cast
from uuid import uuid4

from gaussian_neurons.base.checks import number
from gaussian_neurons.base.warn import warn
from gaussian_neurons.model.state import State
from gaussian_neurons.views import observers
from gaussian_neurons.views.svg import WAITING, Scene, checked_shape, picture

Show = Callable[[str, str], Any]  # takes a picture as HTML, and the same as text

MOST_VIEWS = 3  # of a model: a cell that is run again leaves an invisible one behind
PAUSE = 4.0  # times the seconds that a picture took: the pause after it
BYTES_A_SECOND = 500_000  # Jupyter delays messages from twice as many on
SMALL = 380  # width of the picture below the parameters of a model, in pixels
NO_NOTEBOOK = "watch() draws in a Jupyter notebook, and {}. In a terminal: gaussian-neurons live"


class View:
    """A picture of a model that is updated while it learns, until it is closed.

    Parameters
    ----------
    model : a GaussianNeurons; it does not know its views, so copies have none
    shape : of a patch, or None to guess it
    every : least seconds between two pictures
    show : called with each picture
    """

    def __init__(self, model: Any, shape: Any, every: float, show: Show) -> None:
        self._shape, self._every = checked_shape(shape), number("every", every, least=0.0)
        self._show, self._next = show, 0.0
        self._drawn: State | None = None
        self._model = weakref.ref(model, lambda _: self._end())
        self._error: Exception | None = None
        self.at_end: Callable[[], Any] = bool  # called when the view is closed
        self._draw(model._state)
        _open.append(self)
        observers.add(model, self.see)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<{'closed view' if self.closed else 'view'} of {self._model()!r}>"

    def _ipython_display_(self) -> None:
        """Nothing: the picture is there already."""

    @property
    def closed(self) -> bool:
        """Whether the picture is no longer updated."""
        return self not in _open

    def close(self) -> None:
        """Update the picture a last time."""
        self.catch_up()
        self._end()

    def catch_up(self, *_: object) -> None:
        """Show what was learned since the last picture."""
        model = self._model()
        if model is not None and self.is_late():
            self.try_to_draw(model._state)
            _warn_of_failures(model)

    def watches(self, model: Any) -> bool:
        """Whether this is a view of the model."""
        return self._model() is model

    def is_due(self) -> bool:
        """Whether it is time for the next picture."""
        return monotonic() >= self._next and not self.closed

    def is_late(self) -> bool:
        """Whether the model has another state than the one in the picture."""
        model = self._model()
        return model is not None and model._state is not self._drawn and not self.closed

    def see(self, state: State) -> None:
        """Draw a state if it is time."""
        if self.is_due():
            self.try_to_draw(state)

    def try_to_draw(self, state: State | None) -> None:
        """Draw; an error closes the view, and learning goes on."""
        try:
            self._draw(state)
        except Exception as error:
            self._error = error
            self._end()
            _failed.append(self)

    def _draw(self, state: State | None) -> None:
        model = self._model()
        if model is None:
            return
        began = monotonic()
        scene = None if state is None else _scene(model, state)
        text = picture(scene, self._shape)
        self._show(text, WAITING if scene is None else scene.words)
        took = monotonic() - began
        pause = max(self._every, PAUSE * took, len(text) / BYTES_A_SECOND)
        self._next, self._drawn = began + took + pause, state
        if scene is None:
            self._next = 0.0

    def _end(self) -> None:
        if not self.closed:
            _open.remove(self)
            observers.remove(self.see)
            self.at_end()


_open: list[View] = []
_failed: list[View] = []  # without a warning yet


class Shown:
    """A block after which the views of a model are updated: in any case, or if they are due."""

    __slots__ = ("at_once", "model")

    def __init__(self, model: Any, at_once: bool = False) -> None:
        self.model, self.at_once = model, at_once

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        for view in views_of(self.model):
            if view.is_late() and (self.at_once or view.is_due()):
                view.try_to_draw(self.model._state)
        if _failed:
            _warn_of_failures(self.model)


def views_of(model: Any) -> list[View]:
    """The open views of a model."""
    return [view for view in _open if view.watches(model)] if _open else []


def _warn_of_failures(model: Any) -> None:
    """Warn after learning, so that no sample is lost if warnings are errors."""
    for view in [view for view in _failed if view.watches(model)]:
        _failed.remove(view)
        text = f"a view was closed because drawing failed ({type(view._error).__name__}: {view._error})"
        warn(f"{text}. Learning went on; watch() opens another view.", RuntimeWarning)


def _scene(model: Any, state: State) -> Scene:
    network = model._network_of(state)
    neurons, look, scaling = network.neurons, network.look, network.scaling
    return Scene(
        network.undone(neurons.centers),
        neurons.widths if scaling is None else scaling.undone_widths(neurons.widths),
        look.diagnosis.learned,
        state.recent.raw,
        network.undone(network.low),
        network.undone(network.high),
        state.received,
        len(look.found_then.numbers),
    )


def found(model: Any) -> str:
    """A small picture of what a model has found, as HTML; none before it has learned."""
    state = model._state
    if state is None:
        return ""
    return f'<div style="max-width:{SMALL}px">{picture(_scene(model, state))}</div>'


def watch(model: Any, shape: tuple[int, ...] | None, every: float) -> View:
    """Open a view in the output of this notebook cell."""
    show, shell = _notebook()
    view = View(model, shape, every, show)
    for old in views_of(model)[:-MOST_VIEWS]:
        old.close()
    shell.events.register("post_run_cell", view.catch_up)
    view.at_end = lambda: shell.events.unregister("post_run_cell", view.catch_up)
    return view


def _notebook() -> tuple[Show, Any]:
    """A function that shows pictures in this cell, and the shell; an error outside a notebook."""
    try:
        from IPython import get_ipython
        from IPython.display import display, update_display
    except ModuleNotFoundError:
        text = NO_NOTEBOOK.format("IPython is not installed here (pip install jupyterlab)")
        raise ModuleNotFoundError(text, name="IPython") from None
    shell = get_ipython()
    if shell is None or any(kind.__name__ == "TerminalInteractiveShell" for kind in type(shell).__mro__):
        raise RuntimeError(NO_NOTEBOOK.format("this is not one: run it in a cell of a notebook"))
    place, put = uuid4().hex, cast(Any, display)

    def show(html: str, text: str) -> None:
        nonlocal put
        put({"text/html": html, "text/plain": text}, raw=True, display_id=place)
        put = update_display

    return show, shell
