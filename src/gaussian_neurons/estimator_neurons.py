"""The part of the estimator that adds, removes, moves and places neurons."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from gaussian_neurons.base import checks
from gaussian_neurons.base.interrupts import held_back
from gaussian_neurons.model import settings
from gaussian_neurons.model.learner import Learner
from gaussian_neurons.views.notebook import Shown, Watched


class ChangesNeurons(Watched):
    """`GaussianNeurons.add_neurons` and its siblings."""

    _learner: Learner
    _labels: NDArray[np.int64] | None
    n_features_in_: int
    centers_: Any
    _unchanged_on_error: Callable[..., AbstractContextManager[None]]
    _settings: Callable[..., settings.Settings]
    _start: Callable[..., Learner]

    def add_neurons(
        self, n_neurons: int | None = None, *, centers: ArrayLike | None = None, width: Any = None
    ) -> Self:
        """Add neurons in the middle of a stream; those that are there stay bit for bit.

        A model with an automatic width keeps the one that answers now, and every neuron counts by itself.

        Parameters
        ----------
        n_neurons : how many, drawn uniformly from the domain (one, where nothing is said)
        centers : (n, n_features) or None, where to place them instead
        width : a number, an array or None: the width that the first neuron started with
        """
        check_is_fitted(self)
        if centers is not None and n_neurons is not None:
            raise ValueError("give n_neurons or centers, not both.")
        placed = None
        if centers is not None:
            placed = checks.checked_centers("centers", centers, None, self.n_features_in_)
            n_neurons = len(placed)
        count = checks.whole_number("n_neurons", 1 if n_neurons is None else n_neurons)
        given = self._settings()
        if width is None:
            width = self._learner.now(given).neurons.start_widths[0]
        with Shown(self), held_back():
            self._learner.add(placed, count, checks.checked_widths(width, count), given)
            self._labels = None
        return self

    def remove_neurons(self, indices: ArrayLike) -> Self:
        """Remove neurons in the middle of a stream; the others stay bit for bit.

        A model with an automatic width keeps the one that answers now, and every neuron counts by itself.

        Parameters
        ----------
        indices : an index into `centers_`, or several (negative ones count from the end), or a mask
        """
        check_is_fitted(self)
        count = len(self.centers_)
        stays = np.ones(count, bool)
        stays[checks.checked_indices(indices, count)] = False
        if not stays.any():
            raise ValueError(f"cannot remove all {count} neurons: at least one must stay.")
        with Shown(self), held_back():
            self._learner.keep(stays, self._settings())
            self._labels = None
        return self

    def move_neurons(
        self, indices: ArrayLike, *, centers: ArrayLike | None = None, width: ArrayLike | None = None
    ) -> Self:
        """Put neurons elsewhere, or give them another width, in the middle of a stream.

        All others stay bit for bit. A neuron that moves is as good as new where it is put: what samples held
        it before is forgotten, its cluster is retired, and it counts as learned after 1000 samples at the
        earliest. A new width alone forgets nothing, and counts as the one that the neuron started with. Where
        it started stays in `initial_centers_`, and an automatic learning rate stays what it was: give one
        along with a width that is much smaller.

        A model with an automatic width keeps the one that answers now, and every neuron counts by itself.

        Parameters
        ----------
        indices : an index into `centers_`, or several (negative ones count from the end), or a mask
        centers : (n, n_features) or None, where to put them: a row for each index
        width : a number, an array (n,) or None, their new width

        Examples
        --------
        >>> from gaussian_neurons import GaussianNeurons
        >>> model = GaussianNeurons(2, width=1.0, init=[[0.0, 0.0], [5.0, 5.0]], domain=(0, 5))
        >>> model.partial_fit([[0.0, 0.0]]).move_neurons(-1, centers=[[3.0, 1.0]], width=0.5).centers_[1]
        array([3., 1.])
        >>> model.widths_
        array([1. , 0.5])
        """
        check_is_fitted(self)
        count = len(self.centers_)
        which = checks.checked_indices(indices, count) % count
        if len(np.unique(which)) < len(which):
            raise ValueError(f"indices must name each neuron once, got {indices!r}.")
        if centers is None and width is None:
            raise ValueError("nothing to change: give centers, width, or both.")
        placed = None
        if centers is not None:
            placed = checks.checked_centers("centers", centers, None, self.n_features_in_)
            if len(placed) != len(which):
                raise ValueError(
                    f"centers must have a row for each of the {len(which)} neurons, got {len(placed)}."
                )
        widths = None if width is None else checks.checked_widths(width, len(which))
        with Shown(self), held_back():
            self._learner.move(which, placed, widths, self._settings())
            self._labels = None
        return self

    def place_neurons(self, n_features: int, dtype: Any = np.float64) -> Self:
        """Start over with the neurons in their places, before the first sample: to see where learning begins.

        Only for models that take nothing from the first data: those with a `width`, a `domain` and, where
        widths are learned, a `learning_rate` of their own. Columns have no names then: give arrays.

        Parameters
        ----------
        n_features : D
        dtype : float32 or float64, the precision of the model; the samples' own, where bits matter
        """
        with Shown(self), self._unchanged_on_error():
            self.__dict__.pop("feature_names_in_", None)
            self.n_features_in_ = checks.whole_number("n_features", n_features)
            given = self._settings()
            if given.needs_first_data:
                raise ValueError(
                    "where neurons start depends on the first data here. Give a width, a domain and, where "
                    "widths are learned, a learning_rate, and init='uniform' or an array."
                )
            self._learner = self._start(np.empty((0, n_features), checks.checked_precision(dtype)))
            self._labels = None
            self._learner.settle(given)
        return self
