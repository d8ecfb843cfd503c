"""Views of a model in a notebook, drawn anew while it learns."""

import warnings
import weakref
from collections.abc import Callable
from time import monotonic
from typing import Any, Self, cast
from uuid import uuid4

from gaussian_neurons.base.checks import number
from gaussian_neurons.model.learner import Learner
from gaussian_neurons.views.svg import WAITING, Scene, checked_shape, picture

Show = Callable[[str, str], Any]  # takes a picture, HTML, and the same in words

MOST_VIEWS = 3  # of a model: a cell that is run again leaves one behind that nobody sees
PATIENCE = 4.0  # a picture that took so long is followed by this many times as long without one
BYTES_A_SECOND = 500_000  # Jupyter holds messages back where there are twice as many
NO_NOTEBOOK = "watch() draws in a Jupyter notebook, and {}. In a terminal: gaussian-neurons live"


class View:
    """A picture of a model that follows what it learns, until it is closed: see `GaussianNeurons.watch`.

    Parameters
    ----------
    model : whom to watch; it knows nothing of that, and so no copy of it does
    shape : of a patch, or None: guessed
    every : seconds from one picture to the next, at least
    show : called with each picture
    """

    def __init__(self, model: "Watched", shape: Any, every: float, show: Show) -> None:
        self._shape, self._every = checked_shape(shape), number("every", every, least=0.0)
        self._show, self._next, self._is_late = show, 0.0, False
        self._model = weakref.ref(model, lambda _: self._end())
        self._error: Exception | None = None
        self.at_end: Callable[[], Any] = bool  # called when the view is closed
        self._draw()
        _open.append(self)

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
        """Whether the picture no longer changes."""
        return self not in _open

    def close(self) -> None:
        """Show the last of what was learned, and no more from here on."""
        self.catch_up()
        self._end()

    def catch_up(self, *_: object) -> None:
        """Show now what was learned since the last picture."""
        model = self._model()
        if self._is_late and not self.closed and model is not None:
            self._try_to_draw()
            _tell(model)

    def _watches(self, model: "Watched") -> bool:
        return self._model() is model

    def _is_due(self) -> bool:
        return monotonic() >= self._next

    def _try_to_draw(self) -> None:
        try:
            self._draw()
        except Exception as error:  # whatever it is, learning goes on
            self._error = error
            self._end()
            _failed.append(self)

    def _draw(self) -> None:
        model = self._model()
        if model is None:
            return
        began = monotonic()
        scene = model._scene()
        text = picture(scene, self._shape)
        self._show(text, WAITING if scene is None else scene.words)
        took = monotonic() - began
        pause = max(self._every, PATIENCE * took, len(text) / BYTES_A_SECOND)
        self._next, self._is_late = began + took + pause, False
        if scene is None:
            self._next = 0.0

    def _end(self) -> None:
        if not self.closed:
            _open.remove(self)
            self.at_end()


_open: list[View] = []
_failed: list[View] = []  # of which nothing was said yet


class Audience:
    """The views of a model, for a learner that has many rows to take in."""

    def __init__(self, views: list[View]) -> None:
        self.views = views

    def is_due(self) -> bool:
        """Whether somebody wants to look."""
        return any(view._is_due() and not view.closed for view in self.views)

    def look(self) -> None:
        """Let those look who want to."""
        for view in self.views:
            if view._is_due() and not view.closed:
                view._try_to_draw()


class Shown:
    """A block after which the views of a model show what it did: at once, or else when they are due."""

    __slots__ = ("at_once", "model")

    def __init__(self, model: "Watched", at_once: bool = False) -> None:
        self.model, self.at_once = model, at_once

    def __enter__(self) -> None:
        for view in _views(self.model):
            view._is_late = True

    def __exit__(self, *_: object) -> None:
        for view in _views(self.model):
            if self.at_once or (view._is_late and view._is_due()):
                view._try_to_draw()
        _tell(self.model)


def audience(model: "Watched") -> Audience | None:
    """Those who watch a model; None where nobody does."""
    views = _views(model)
    return Audience(views) if views else None


def _views(model: "Watched") -> list[View]:
    return [view for view in _open if view._watches(model)] if _open else []


def _tell(model: "Watched") -> None:
    """Say what went wrong, once learning is through: no row is lost where warnings are errors."""
    for view in [view for view in _failed if view._watches(model)] if _failed else ():
        _failed.remove(view)
        text = f"a view was closed, since drawing failed ({type(view._error).__name__}: {view._error})"
        warnings.warn(f"{text}. Learning went on; watch() opens another view.", RuntimeWarning, stacklevel=4)


def notebook() -> tuple[Show, Any]:
    """What shows pictures in the output of this cell, and the shell; an error where there is no notebook."""
    try:
        from IPython import get_ipython
        from IPython.display import display, update_display
    except ModuleNotFoundError:
        text = NO_NOTEBOOK.format("IPython is not installed here (pip install jupyterlab)")
        raise ModuleNotFoundError(text, name="IPython") from None
    shell = get_ipython()
    if shell is None or any(kind.__name__ == "TerminalInteractiveShell" for kind in type(shell).__mro__):
        raise RuntimeError(NO_NOTEBOOK.format("there is none here: run it in a cell of one"))
    place, put = uuid4().hex, cast(Any, display)

    def show(html: str, text: str) -> None:
        nonlocal put
        put({"text/html": html, "text/plain": text}, raw=True, display_id=place)
        put = update_display

    return show, shell


class Watched:
    """`GaussianNeurons.watch`."""

    _learner: Learner
    _now: Any  # Ready
    learned_: Any
    n_clusters_: Any
    __sklearn_is_fitted__: Callable[..., bool]

    def watch(self, shape: tuple[int, ...] | None = None, every: float = 0.1) -> View:
        """Show the neurons in this notebook, and go on showing them while they learn.

        Whatever learns from here on (`fit`, `partial_fit`, `learn`) or changes neurons draws the picture
        anew: while it runs, and at its end. Many short calls of `partial_fit` draw it when `every` seconds
        are over, and at the end of the cell. What is learned stays the same, bit for bit. The view is no part
        of the model: copies and files know nothing of it.

        Neurons that learned are framed, the others dimmed; the number of each is its index in `centers_`.
        Grey is within the domain, blue below it and red above. With two columns it is the plane: the last
        samples, circles of the radius sqrt(width) around neurons that learned, crosses where the others are.

        Parameters
        ----------
        shape : of a center: (height, width), (height, width, 3) for colours, (columns,) for rows of cells.
            None: two columns are a plane, s*s a square patch, 3*s*s one in colour, all others rows
        every : seconds between two pictures, at least

        Returns
        -------
        View : `close()` ends it, as does leaving it as a context manager, or three newer views of the model;
            the last picture stays
        """
        show, shell = notebook()
        view = View(self, shape, every, show)
        for old in _views(self)[:-MOST_VIEWS]:
            old.close()
        shell.events.register("post_run_cell", view.catch_up)
        view.at_end = lambda: shell.events.unregister("post_run_cell", view.catch_up)
        return view

    def _scene(self) -> Scene | None:
        """What there is to see, None before the first samples."""
        if not self.__sklearn_is_fitted__():
            return None
        now, learner = self._now, self._learner
        neurons, found = (now.neurons.centers, now.neurons.widths, self.learned_), self.n_clusters_
        return Scene(*neurons, learner.samples, now.low, now.high, learner.seen, found)
