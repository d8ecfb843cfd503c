"""GaussianNeurons: the learning rule with scikit-learn's face."""

import copy
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from gaussian_neurons.base import checks
from gaussian_neurons.base.memory_maps import mapping_of, release
from gaussian_neurons.clustering.diagnosis import Diagnosis
from gaussian_neurons.clustering.numbering import Event, Found
from gaussian_neurons.estimator_neurons import ChangesNeurons
from gaussian_neurons.estimator_streams import LearnsFromStreams
from gaussian_neurons.learning import native
from gaussian_neurons.learning import responses as answers
from gaussian_neurons.learning.neurons import Neurons
from gaussian_neurons.model import model_file, settings
from gaussian_neurons.model.first_data import Ready
from gaussian_neurons.model.learner import DRAWN, Learner
from gaussian_neurons.sampling import Stream
from gaussian_neurons.views import notebook as watching
from gaussian_neurons.views.notebook import Shown

Array = NDArray[Any]

BEYOND = 2.0  # a row belongs to no cluster where its log-response is this many times that of a rare one
NO_RESPONSE = (
    1e-3  # where a width is given, a row to which every learned neuron responds less belongs to no cluster
)
LEAST_DRAWS = 100_000  # samples that fit presents at least, however few rows there are, at a given width ...
LEAST_DRAWS_OF_A_LADDER = 20_000  # ... and where neurons start spread over the data
PLAIN = (np.dtype(np.float32), np.dtype(np.float64))  # of rows that are read where they lie
DRAWS_AT_ONCE = 4096
NOTHING_LEARNED = (
    "no neuron learned: every row is labelled -1. The width may be too small for the distances in X, or the "
    "neurons may have started out of reach: try a larger width, more neurons or init='samples'."
)


def _frozen(array: Array) -> Array:
    """A copy that learning does not change, and that cannot be mistaken for the model's own."""
    copied = array.copy()
    copied.flags.writeable = False
    return copied


class GaussianNeurons(
    LearnsFromStreams,
    ChangesNeurons,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    ClusterMixin,
    BaseEstimator,
):
    """Online clustering without knowing the number of clusters.

    `n_neurons` Gaussian neurons are pulled toward every sample in proportion to their response to it and
    pushed off each other. Those that find a pattern stay on it (`learned_`); the surplus is pushed out.

    With a given `width` this is the paper's rule, and each learned neuron is a cluster. With "auto", layers
    of five widths learn side by side, and the one whose clusters stand apart best answers: docs/any-data.md
    tells how. Then several neurons may share a cluster.

    Parameters
    ----------
    n_neurons : int, default=16
        The paper's K: an upper limit on the number of clusters.
    width : float, array (n_neurons,) or "auto", default="auto"
        The paper's sigma, a squared length: f(x) = exp(-|x - center|^2 / width). The larger, the fewer
        clusters. "auto" finds it, at five times the cost of a given one and some more.
    inhibition : float or "auto", default="auto"
        The paper's lambda: how strongly neurons push each other off. The larger, the fewer clusters;
        from 1/2 on, a sample with a neuron exactly on it attracts no second one. "auto" is 1/2 for a given
        width, and for an automatic one the response that a sample typically gets.
    learning_rate : float or "auto", default="auto"
        The paper's eta_mu. A step is learning_rate / width times a distance. "auto" is 0.1 times the
        smallest width: the paper's 0.1 at its width of 1, and as stable at any other scale. For an automatic
        width it is larger by as much as the typical response is smaller than 1, up to the width.
    width_learning_rate : float, default=0.0
        The paper's eta_sigma, from 0 to 1: how fast widths follow those of the samples. Above 0,
        samples need a `sample_width`.
    repulsion_every : int, default=1
        r: neurons push each other off at every r-th sample only, r times as strongly. 1 is the exact rule;
        more is faster, since that costs most, and no longer exact. Safe up to about 4 at a given width with
        the default rate and inhibition, up to 2 where inhibition is small; with an automatic width leave it
        at 1. docs/algorithm.md has the reasons.
    init : "auto", "uniform", "samples", "spread" or array (n_neurons, n_features), default="auto"
        Where the neurons start: drawn uniformly from the domain (the paper's), on samples drawn from
        the first data, spread over it (some rounds of k-means), or at given centers. "auto" is "uniform" for
        a given width, "spread" for an automatic one.
    domain : pair (low, high) or None, default=None
        The box of the input, numbers or one number for each column. None takes it from the first data.
    max_samples : int or "auto", default="auto"
        How many samples `fit` draws from its rows. "auto": as many as there are rows, and at least
        100,000 (20,000 where the width is automatic). `partial_fit` knows no limit.
    random_state : int, RandomState instance or None, default=None
        Seed of the starting centers and of the draws.

    Attributes
    ----------
    centers_ : (n_neurons, n_features), the paper's mu
    widths_ : (n_neurons,), the paper's sigma
    initial_centers_ : (n_neurons, n_features), where they started
    learned_ : (n_neurons,) of bool, which neurons found a pattern; twins are counted once
    n_clusters_ : how many clusters there are
    cluster_numbers_ : (n_clusters_,), their numbers, which they keep; 0 to n_clusters_ - 1 after `fit`
    cluster_centers_ : (n_clusters_, n_features), where they are
    neuron_clusters_ : (n_neurons,), the number of each neuron's cluster, -1 where it has none
    events_ : the last 1000 events, each (samples seen, "born", "moved" or "retired", number, center)
    diagnosis_ : the facts behind learned_, see `gaussian_neurons.clustering.diagnosis.Diagnosis`
    labels_ : (n_rows,), the clusters of the rows given to `fit`
    n_samples_seen_ : how many samples the model has learned from
    recent_samples_ : (n, n_features), the last 1000 of them, in no particular order
    n_skipped_ : how many rows of streams `learn` was told to skip
    n_features_in_ : D

    Notes
    -----
    What is taken from "the first data" comes from the first 1000 samples. They are learned from like all
    others once they are complete; until then the attributes tell what would come out if the stream
    ended there.

    `learned_` asks which neurons the last 1000 samples hold. At a given width it remembers those that were
    held by many before and have not left their place: a cluster that no longer comes is not forgotten. An
    automatic width follows its stream instead: what the last 1000 samples do not show is retired. Which
    neurons share a cluster is looked at every 3000 samples, more often at first.

    `inhibition`, the rates and `repulsion_every` are read at every call and may be changed in the middle of
    a stream; `n_neurons`, `width`, `init` and `domain` say how a model starts.

    An automatic width depends on distances alone: rows that are scaled, shifted or turned as a whole give the
    same clusters. Columns that are of different scale, as meters and years are, should be standardised first.

    Rows of a memory-mapped file are read in place. `partial_fit` gives their pages back as it goes; `fit`
    draws rows at random, for which the system may map as much of the file as it likes.

    Examples
    --------
    >>> import numpy as np
    >>> from gaussian_neurons import GaussianNeurons
    >>> random = np.random.default_rng(0)
    >>> places = np.array([[0.0, 0.0], [0.0, 3.0], [3.0, 0.0]])
    >>> X = random.normal(places[random.integers(3, size=2000)], 0.3)
    >>> GaussianNeurons(random_state=0).fit(X).n_clusters_
    3
    >>> model = GaussianNeurons(n_neurons=10, width=1.0, random_state=0).fit(X)  # the paper's rule
    >>> model.n_clusters_
    3
    >>> model.predict([[0.1, 2.9], [0.1, 3.1], [50.0, 50.0]]) == model.predict([[0.0, 3.0]])
    array([ True,  True, False])
    """

    def __init__(
        self,
        n_neurons: int = 16,
        *,
        width: Any = "auto",
        inhibition: Any = "auto",
        learning_rate: Any = "auto",
        width_learning_rate: float = 0.0,
        repulsion_every: int = 1,
        init: Any = "auto",
        domain: Any = None,
        max_samples: Any = "auto",
        random_state: Any = None,
    ) -> None:
        self.n_neurons = n_neurons
        self.width = width
        self.inhibition = inhibition
        self.learning_rate = learning_rate
        self.width_learning_rate = width_learning_rate
        self.repulsion_every = repulsion_every
        self.init = init
        self.domain = domain
        self.max_samples = max_samples
        self.random_state = random_state

    _learner: Learner
    _labels: NDArray[np.int64] | None
    n_features_in_: int

    # ---- learning ---------------------------------------------------------------------------------

    def fit(self, X: ArrayLike, y: Any = None, sample_width: ArrayLike | None = None) -> Self:
        """Start over and learn from `max_samples` samples drawn at random from the rows of X.

        Parameters
        ----------
        X : (n_rows, n_features)
        y : ignored
        sample_width : (n_rows,) or None, the paper's sigma_x of each row
        """
        with Shown(self, at_once=True), self._unchanged_on_error():
            x, widths, given = self._check_rows(X, sample_width, first=True)
            native.require_finite(x, x.dtype)
            self._learner, self._labels = self._start(x), None
            random, mapping = self._learner.random(DRAWN), mapping_of(x)
            left = self.draws(len(x))
            while left:
                rows = random.integers(len(x), size=min(left, DRAWS_AT_ONCE))
                drawn_widths = None if widths is None else widths[rows]
                self._learner.learn(x[rows], drawn_widths, given, watching.audience(self))
                release(mapping)
                left -= len(rows)
            self._learner.conclude(given)
            self._labels = self._predict(x)
        if not self.learned_.any():
            warnings.warn(NOTHING_LEARNED, ConvergenceWarning, stacklevel=2)
        return self

    def partial_fit(self, X: ArrayLike, y: Any = None, sample_width: ArrayLike | None = None) -> Self:
        """Learn from the rows of X in their order, one at a time, on top of what was learned before.

        However a stream is cut into calls, the same is learned, bit for bit.

        Parameters
        ----------
        X : (n_rows, n_features)
        y : ignored
        sample_width : (n_rows,) or None, the paper's sigma_x of each row
        """
        first = not self.__sklearn_is_fitted__()
        with Shown(self), self._unchanged_on_error():
            x, widths, given = self._check_rows(X, sample_width, first)
            if first:
                self._learner = self._start(x)
            self._labels = None
            self._learner.learn(x, widths, given, watching.audience(self))
        return self

    def draws(self, rows: int) -> int:
        """How many samples `fit` draws from so many rows."""
        if not isinstance(self.max_samples, str):
            return checks.whole_number("max_samples", self.max_samples)
        if self.max_samples != "auto":
            raise ValueError(f"max_samples must be a whole number or 'auto', got {self.max_samples!r}.")
        is_ladder = isinstance(self.width, str) and self.width_learning_rate == 0
        return max(rows, LEAST_DRAWS_OF_A_LADDER if is_ladder else LEAST_DRAWS)

    # ---- answers ----------------------------------------------------------------------------------

    def transform(self, X: ArrayLike) -> Array:
        """f_i(x), the response of every neuron to every row: (n_rows, n_neurons)."""
        return answers.responses(self._now.neurons, self._check_more_rows(X))

    def predict(self, X: ArrayLike) -> NDArray[np.int64]:
        """The number of the cluster of each row, or -1 where it belongs to none.

        That is the cluster whose center responds most. A row belongs to none where no learned neuron
        responds: at a given width, by at least 0.001; at an automatic one, as if the squared distance were no
        more than twice what it is for all but 1 % of the last samples.
        """
        return self._predict(self._check_more_rows(X))

    def score_samples(self, X: ArrayLike) -> Array:
        """The largest log-response of a learned neuron to each row: the lower, the newer the row.

        Minus infinity where nothing was learned.
        """
        return self._scores(self._check_more_rows(X))

    def novelty_threshold(self, false_alarms: float = 0.01) -> float:
        """The score below which a row is new: this part of what the model saw last is below it.

        It is taken from the last 1000 samples: 0.01 rests on ten of them.

        Parameters
        ----------
        false_alarms : part of the rows like those seen that may be called new, from 0 to 1
        """
        part = checks.number("false_alarms", false_alarms, least=0.0, most=1.0)
        check_is_fitted(self)
        return float(np.quantile(self._scores(self._learner.samples), part))

    def is_novel(self, X: ArrayLike, false_alarms: float = 0.01) -> NDArray[np.bool_]:
        """Which rows are unlike what the model has seen: their score is below `novelty_threshold`."""
        novel: NDArray[np.bool_] = self.score_samples(X) < self.novelty_threshold(false_alarms)
        return novel

    def cost(self, X: ArrayLike) -> float:
        """E, the paper's cost of the rows: what learning descends. Divide by the rows for a mean."""
        given = self._settings().inhibition
        inhibition = self._now.layer.inhibition if given is None else given
        return answers.cost(self._now.neurons, self._check_more_rows(X), inhibition)

    # ---- files ------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model, with everything needed to learn on, to one safetensors file.

        The old file is replaced in one step: a crash or a full disk leaves it whole.
        """
        check_is_fitted(self)
        model_file.write(path, self._contents())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a model that `save` wrote; it learns on as if it had never stopped.

        No code of the file is run. A file that is cut off, foreign, newer or changed is refused.
        """
        model = cls()
        model._restore(model_file.load(path))
        return model

    # ---- what was learned -------------------------------------------------------------------------

    @property
    def centers_(self) -> Array:  # noqa: D102  (documented above, as scikit-learn does)
        return _frozen(self._now.neurons.centers)

    @property
    def widths_(self) -> Array:  # noqa: D102
        return _frozen(self._now.neurons.widths)

    @property
    def initial_centers_(self) -> Array:  # noqa: D102
        return _frozen(self._now.neurons.start)

    @property
    def diagnosis_(self) -> Diagnosis:  # noqa: D102
        now = self._now
        return self._learner.diagnose(now)

    @property
    def learned_(self) -> NDArray[np.bool_]:  # noqa: D102
        return self.diagnosis_.learned

    @property
    def n_clusters_(self) -> int:  # noqa: D102
        return len(self._found.numbers)

    @property
    def cluster_centers_(self) -> Array:  # noqa: D102
        return _frozen(self._found.centers)

    @property
    def cluster_numbers_(self) -> NDArray[np.int64]:  # noqa: D102
        return self._found.numbers

    @property
    def neuron_clusters_(self) -> NDArray[np.int64]:  # noqa: D102
        now = self._now
        return self._learner.clusters(now).number.copy()

    @property
    def events_(self) -> list[Event]:  # noqa: D102
        return list(self._now.clusters.events)

    @property
    def labels_(self) -> NDArray[np.int64]:  # noqa: D102
        check_is_fitted(self)
        if self._labels is None:
            raise AttributeError("labels_ are those of the rows given to fit(); use predict(X) for others.")
        return self._labels

    @property
    def recent_samples_(self) -> Array:  # noqa: D102
        check_is_fitted(self)
        return _frozen(self._learner.samples)

    @property
    def n_samples_seen_(self) -> int:  # noqa: D102
        check_is_fitted(self)
        return self._learner.seen

    @property
    def n_skipped_(self) -> int:  # noqa: D102
        check_is_fitted(self)
        return self._learner.skipped

    # ---- scikit-learn's contract ------------------------------------------------------------------

    def __copy__(self) -> Self:
        return copy.deepcopy(self)  # a copy that learned on would change this one

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_learner")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    @contextmanager
    def _unchanged_on_error(self) -> Iterator[None]:
        """Put the model back on any error; an interrupt is none, and leaves what was learned."""
        before = self.__dict__.copy()
        received = before["_learner"].received if "_learner" in before else 0
        try:
            yield
        except BaseException as error:
            learner = self.__dict__.get("_learner")
            is_new = learner is not before.get("_learner")
            has_learned = learner is not None and learner.received > (0 if is_new else received)
            if not has_learned or (is_new and isinstance(error, Exception)):
                self.__dict__ = before
            raise

    def _contents(self) -> model_file.Contents:
        self._learner.catch_up()
        return model_file.contents(self.get_params(deep=False), self._learner, self.__dict__)

    def _restore(self, loaded: model_file.Loaded) -> None:
        known = self._get_param_names()
        if not set(loaded.parameters) <= set(known):
            unknown = ", ".join(sorted(set(loaded.parameters) - set(known)))
            raise ValueError(f"the file is not a complete model (unknown parameters: {unknown}).")
        self.__dict__.update(loaded.parameters, **loaded.attributes, _learner=loaded.learner)

    @property
    def _n_features_out(self) -> int:
        return len(self.centers_)

    @property
    def _now(self) -> Ready:
        check_is_fitted(self)
        self._learner.catch_up()
        return self._learner.ready or self._learner.now(self._settings())

    def _settings(self) -> settings.Settings:
        given = {field.name: getattr(self, field.name) for field in fields(settings.Settings)}
        try:
            return settings.checked_before(n_features=self.n_features_in_, **given)
        except TypeError:  # an array among them, which may have changed
            return settings.checked(n_features=self.n_features_in_, **given)

    def _start(self, x: Array) -> Learner:
        seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        dtype = np.float32 if x.dtype == np.float32 else np.float64
        return Learner.new(x.shape[1], dtype, int(seed))

    def _check_rows(
        self, X: Any, sample_width: Any, first: bool
    ) -> tuple[Array, Array | None, settings.Settings]:
        x = self._numbers(X, first)
        given = self._settings()
        return x, self._check_widths(sample_width, x, first, given), given

    def _check_widths(
        self, sample_width: Any, x: Array, first: bool, given: settings.Settings
    ) -> Array | None:
        if sample_width is not None:
            dtype = x.dtype if first else self._learner.recent.dtype
            return checks.checked_sample_widths(sample_width, len(x), dtype)
        if given.width_learning_rate > 0:
            raise ValueError(
                f"sample_width is needed where widths are learned "
                f"(width_learning_rate={self.width_learning_rate!r}): give one number for each row."
            )
        return None

    def _check_more_rows(self, X: Any) -> Array:
        check_is_fitted(self)
        return self._numbers(X, first=False)

    def _numbers(self, X: Any, first: bool) -> Array:
        """Rows as they lie, if they hold numbers."""
        if isinstance(X, Stream):
            raise TypeError(f"rows are needed, got the stream {X!r}: use learn(stream, n_samples).")
        if not first and self._are_plain_rows(X):
            return X  # type: ignore[no-any-return]
        rows: Array = validate_data(self, X, reset=first, dtype="numeric", ensure_all_finite=False)
        return checks.as_numbers(rows)

    def _are_plain_rows(self, X: Any) -> bool:
        """Whether scikit-learn's checks, which take longer than a row does, would find nothing to say."""
        return (
            type(X) is np.ndarray
            and X.dtype in PLAIN
            and X.ndim == 2
            and len(X) > 0
            and X.shape[1] == self.n_features_in_
            and not hasattr(self, "feature_names_in_")
        )

    @property
    def _found(self) -> Found:
        now = self._now
        return self._learner.found(now)

    def _scores(self, x: Array) -> Array:
        """The largest log-response of a learned neuron to each row."""
        return answers.strongest(self._now.neurons.keep(self.learned_), x)[1]

    def _predict(self, x: Array) -> NDArray[np.int64]:
        found = self._found
        if not len(found.numbers):
            return np.full(len(x), -1)
        clusters = Neurons.at(found.centers, found.widths, found.centers.dtype.type)
        label, scores = answers.strongest(clusters, x)
        least = np.log(NO_RESPONSE)
        if self._now.is_ladder:
            scores = self._scores(x)
            least = BEYOND * self.novelty_threshold()
        if found.numbers[-1] >= len(found.numbers):  # they are not 0, 1, 2, ...
            label = found.numbers[label]
        label[scores < least] = -1
        return label
