"""GaussianNeurons: the learning rule as a scikit-learn estimator."""

import copy
import inspect
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from gaussian_neurons.base import checks, tables
from gaussian_neurons.base.bad_rows import require_finite
from gaussian_neurons.base.covariances import shape_of
from gaussian_neurons.base.memory_maps import FLOATS, release, require_whole, row_blocks
from gaussian_neurons.base.warn import warn
from gaussian_neurons.clustering.diagnosis import Diagnosis
from gaussian_neurons.clustering.mixture import mean_log_density, mixture_of
from gaussian_neurons.clustering.numbering import Event
from gaussian_neurons.clustering.tree import Tree, tree_of
from gaussian_neurons.learning import responses
from gaussian_neurons.learning.backends import has_float32, name_of, require
from gaussian_neurons.model import learner, model_file, run
from gaussian_neurons.model.advice import AdviceWarning, advice
from gaussian_neurons.model.columns import require_columns
from gaussian_neurons.model.look import LEAST_SCORE
from gaussian_neurons.model.recent import Recent
from gaussian_neurons.model.settings import Settings, checked, checked_before, checked_draws
from gaussian_neurons.model.state import Network, State
from gaussian_neurons.sampling import Stream, as_stream
from gaussian_neurons.sampling.drawing import blocks, drawing
from gaussian_neurons.views import notebook, observers

Array = NDArray[Any]

LEAST_DRAWS = 100_000  # samples that fit presents at least, with a given width ...
LEAST_DRAWS_OF_SHARES = 20_000  # ... and with an automatic one, whose neurons start spread over the data
SEEDS = int(np.iinfo(np.int32).max)
NOTHING_LEARNED = (
    "no neuron learned: every row is labelled -1. The width may be too small for the distances in X, or the "
    "neurons may have started out of reach: try a larger width, more neurons or init='samples'."
)
WEIGHTED_STREAM = (
    "partial_fit takes no sample_weight: each row is one step of the rule. Repeat rows and shuffle them, or "
    "give the weights to fit, which draws rows in proportion to them."
)


class GaussianNeurons(
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    ClusterMixin,
    BaseEstimator,
):
    """Online clustering with an unknown number of clusters.

    `n_neurons` Gaussian neurons are attracted by every sample in proportion to their response to it, and
    repelled by each other. Neurons that find a pattern stay on it (`learned_`); the surplus is pushed out.

    With a given `width` this is the paper's rule, and each learned neuron is a cluster. With "auto", neurons
    compete for the samples instead of repelling each other: each moves toward a sample, and adapts its width
    to it, in proportion to its share of the response. Several neurons can then form a cluster
    (docs/any-data.md).

    Parameters
    ----------
    n_neurons : int, default=50
        The paper's K: an upper limit on the number of clusters. A sample costs K D operations with an
        automatic width, and K^2 D with a given one.
    covariance_type : "spherical", "diag" or "full", default="spherical"
        What a neuron has: a width (the paper's rule), a diagonal covariance or a full one. The last two need
        a `width`, or covariances of the samples.
    width : float, array (n_neurons,) or "auto", default="auto"
        The paper's sigma, a squared length: f(x) = exp(-|x - center|^2 / width). The larger, the fewer
        clusters. "auto": each neuron finds its own. With other covariance types, also an array (n_neurons,
        n_features) of diagonals or, for "full", (n_neurons, n_features, n_features): f(x) = exp(-(x -
        center)^T width^-1 (x - center)). A number stands for that times the identity.
    inhibition : float or "auto", default="auto"
        The paper's lambda: the strength of the repulsion. The larger, the fewer clusters; from 1/2 on, a
        sample with a neuron exactly on it attracts no second one. "auto" is 1/2. With an automatic width
        there is no repulsion.
    learning_rate : float or "auto", default="auto"
        The paper's eta_mu. A step is learning_rate / width times a distance. "auto" is 0.1 times the
        smallest width: the paper's 0.1 at its width of 1, and as stable at any other scale. With an automatic
        width it is the part of the way to a sample that a neuron goes if the sample is its own: "auto" is
        0.015, and more for its first 65 samples; 0 keeps all neurons at their start.
    width_learning_rate : float, default=0.0
        The paper's eta_sigma, from 0 to 1: how fast widths follow those of the samples. Above 0,
        samples need a `sample_width`.
    repulsion_every : int, default=1
        r: neurons repel each other every r-th sample, r times as strongly. 1 is the exact rule; a larger
        number is faster and approximate. Safe up to about 4 with the default rate (docs/algorithm.md). It
        needs a given width.
    init : "auto", "uniform", "samples", "spread" or array (n_neurons, n_features), default="auto"
        Starting centers: drawn uniformly from the domain (the paper's), on samples drawn from the first data,
        spread over it (a few rounds of k-means), or given. "auto" is "uniform" for a given width, "spread"
        for an automatic one.
    domain : pair (low, high) or None, default=None
        The box of the input, as numbers or one number for each column. None takes it from the first data.
    max_samples : int or "auto", default="auto"
        How many samples `fit` draws from its rows. "auto": as many as there are rows (of weight above 0), and
        at least 100,000 (20,000 if the width is automatic). `partial_fit` has no limit.
    random_state : int, RandomState instance or None, default=None
        Seed of the starting centers and of the draws.
    backend : "auto", "native", "cuda", "reference" or a function, default="auto"
        What computes the rule: the compiled core ("native"), an NVIDIA GPU ("cuda"), the equations in NumPy,
        or a function with the signature of `gaussian_neurons.learning.reference.learn`
        (docs/your-own-rule.md). "auto" is the compiled core, but a GPU for large layers if there is one.
        The last two convert samples to float64. "cuda" and functions need a given width.
    shape : "compact" or "any", default="compact"
        With an automatic width, what a cluster is: one Gaussian, or any chain of neurons that respond to the
        same samples, such as a ring.
    n_clusters : int or "auto", default="auto"
        With an automatic width, how many clusters there are, if you know. With a given one, `shape` and
        `n_clusters` have no effect: each learned neuron is a cluster.
    memory : int or None, default=None
        With an automatic width, after how many samples a cluster that is no longer seen is forgotten. None:
        never, as long as nothing takes its place.
    scale : None, "columns" or "robust", default=None
        What neurons see of a column: the numbers as they are, or less its location and divided by its scale.
        "columns": the mean and the standard deviation. "robust": the median and the median distance from it,
        which outliers do not change. They are taken from the first data, and again from the last 1000 samples
        if the scale has changed by more than a factor of 2. Rows, centers, `init` and `domain` are in the
        units of the data; widths are squared lengths in scaled columns.

    Attributes
    ----------
    centers_ : (n_neurons, n_features), the paper's mu
    widths_ : (n_neurons,), the paper's sigma; for "diag" (n_neurons, n_features), for "full" (n_neurons,
        n_features, n_features). In scaled columns if there is a `scale`: widths_ * scale_[j]**2 in column j
    initial_centers_ : (n_neurons, n_features), the starting centers
    learned_ : (n_neurons,) of bool, which neurons found a pattern; twins are counted once
    n_clusters_ : the number of clusters
    cluster_numbers_ : (n_clusters_,), their numbers, which they keep; 0 to n_clusters_ - 1 after `fit`
    cluster_centers_ : (n_clusters_, n_features), their centers
    neuron_clusters_ : (n_neurons,), the number of each neuron's cluster, -1 if it has none
    events_ : the last 1000 events, each (samples seen, kind, number, center, share of the recent samples);
        the kinds are "born", "moved", "absent", "returned" and "retired"
    cluster_tree_ : with an automatic width: how neurons are merged into clusters, a matrix that
        scipy.cluster.hierarchy.dendrogram draws
    cluster_counts_ : with an automatic width: the score of each number of clusters, as a dictionary
    diagnosis_ : the facts behind learned_, see `gaussian_neurons.diagnostics.Diagnosis`
    labels_ : (n_rows,), the clusters of the rows given to `fit`
    n_samples_seen_ : how many samples the model has learned from
    recent_samples_ : (n, n_features), the last 1000 of them, in no particular order
    n_skipped_ : how many rows of streams `learn` has skipped
    location_, scale_ : (n_features,), of the columns as neurons see them: (x - location_) / scale_
    n_features_in_ : D

    Notes
    -----
    "The first data" are the first 1000 samples. They are learned from once they are complete; until then all
    answers are those that would result if the stream had ended at the last look.

    Which neurons learned is decided at *looks*: fixed sample numbers, whatever the calls. A look is at most
    1000 samples old, and at most a tenth of the stream; `fit` ends with one. `centers_` and `widths_` are
    always current. With a given width a look counts the neurons that the last 1000 samples hold, and those
    that many samples held before and that have not left their place; a cluster is where its neuron is. With
    an automatic width, which neurons form which cluster is decided every 1000 samples, more often at first; a
    cluster is at the mean of those of the last 1000 samples that its neurons won at the look, and a cluster
    without such samples rests (`memory`).

    `inhibition`, the rates and `repulsion_every` are read at every call and can be changed in the middle of
    a stream; `n_neurons`, `width`, `init`, `domain` and `scale` describe the start of a model.

    An automatic width depends on distances alone: rows that are scaled, shifted or rotated as a whole give
    the same clusters. Columns of different scale, such as meters and years, need a `scale`. Without it, and
    without a `domain`, a warning names columns that are more than ten times as large as the median one.

    An error leaves a model as it was. Ctrl-C leaves whole samples, and `n_samples_seen_` counts them. Other
    threads can read a model while one thread learns; a second thread that learns at the same time gets an
    error.

    Rows of a memory-mapped file are read in place. `partial_fit` releases their pages as it goes; `fit`
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
        n_neurons: int = 50,
        *,
        covariance_type: str = "spherical",
        width: Any = "auto",
        inhibition: Any = "auto",
        learning_rate: Any = "auto",
        width_learning_rate: float = 0.0,
        repulsion_every: int = 1,
        init: Any = "auto",
        domain: Any = None,
        max_samples: Any = "auto",
        random_state: Any = None,
        backend: Any = "auto",
        shape: Any = "compact",
        n_clusters: Any = "auto",
        scale: Any = None,
        memory: Any = None,
    ) -> None:
        self.n_neurons = n_neurons
        self.covariance_type = covariance_type
        self.width = width
        self.inhibition = inhibition
        self.learning_rate = learning_rate
        self.width_learning_rate = width_learning_rate
        self.repulsion_every = repulsion_every
        self.init = init
        self.domain = domain
        self.max_samples = max_samples
        self.random_state = random_state
        self.backend = backend
        self.shape = shape
        self.n_clusters = n_clusters
        self.scale = scale
        self.memory = memory

    _state: State | None = None  # everything that was learned; replaced as a whole

    # ---- learning ---------------------------------------------------------------------------------

    def fit(
        self,
        X: ArrayLike,
        y: Any = None,
        *,
        sample_width: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Start over and learn from `max_samples` samples drawn at random from the rows of X.

        Parameters
        ----------
        X : (n_rows, n_features)
        y : ignored
        sample_width : (n_rows,) or None, the paper's sigma_x of each row; for other covariance types also
            covariances of the rows, (n_rows, n_features) or (n_rows, n_features, n_features)
        sample_weight : (n_rows,) or None, rows are drawn in proportion to it: a row of weight 2 as often as
            two equal rows, a row of weight 0 never. Only ratios count
        """
        with notebook.Shown(self, at_once=True):
            before = self._state
            x, names = _table(X)
            require_finite(x, x.dtype, names)
            state, given = self._new_state(x, names), self._settings(x.shape[1])
            widths = self._sample_widths(sample_width, state, x)
            weights = None if sample_weight is None else checks.checked_sample_weights(sample_weight, len(x))
            self._commit(before, self._fitted(state, x, widths, weights, given))
        if not self.learned_.any():
            warn(NOTHING_LEARNED, ConvergenceWarning)
        return self

    def _fitted(
        self, state: State, x: Array, widths: Array | None, weights: Array | None, given: Settings
    ) -> Iterator[State]:
        draw = drawing(len(x), weights, learner.random_for(state.seed, learner.DRAWN))
        count = self.draws(len(x) if weights is None else int(np.count_nonzero(weights)))
        for rows in blocks(draw, count):
            own = None if widths is None else widths[rows]
            require_whole(x)
            for state in learner.advance(state, x[rows], own, given):  # noqa: B020
                yield state
            release(x)
        parts = np.ones(len(x)) if weights is None else weights / weights.max()
        state = learner.concluded(state, given, parts.sum() ** 2 / (parts**2).sum())
        network = state.network
        assert network is not None
        labels = [_predicted(network, state.recent.scaled(rows)) for _, rows in row_blocks(x)]
        yield replace(state, labels=np.concatenate(labels))

    def partial_fit(
        self,
        X: ArrayLike,
        y: Any = None,
        *,
        sample_width: ArrayLike | None = None,
        sample_weight: None = None,
    ) -> Self:
        """Learn from the rows of X in their order, one at a time, on top of what was learned before.

        The result does not depend on how a stream is cut into calls, to the last bit.

        Parameters
        ----------
        X : (n_rows, n_features)
        y : ignored
        sample_width : (n_rows,) or None, the paper's sigma_x of each row; for other covariance types also
            covariances of the rows, (n_rows, n_features) or (n_rows, n_features, n_features)
        sample_weight : must be None. A row is one step, and a step is no multiple of another: w steps
            toward one row are neither a step w times as long nor w rows among others
        """
        if sample_weight is not None:
            raise ValueError(WEIGHTED_STREAM)
        with notebook.Shown(self):
            state = before = self._state
            if state is None:
                x, names = _table(X)
                state = self._new_state(x, names)
            else:
                x = self._more_rows(X, state)
            self._learn_rows(before, state, x, sample_width)
        return self

    def _learn_rows(self, before: State | None, state: State, x: Any, sample_width: Any) -> None:
        """Learn from rows, an array or `sampling.undrawn.Elsewhere`."""
        given = self._settings(state.recent.n_features)
        widths = self._sample_widths(sample_width, state, x)
        self._commit(before, learner.advance(state, x, widths, given))

    def learn(
        self,
        stream: Any,
        n_samples: int | None = None,
        *,
        progress: bool = True,
        checkpoint: str | os.PathLike[str] | None = None,
        every: int = 100_000,
        callback: Callable[[Self, int], Any] | None = None,
        on_bad: str = "raise",
        on_write_error: str = "raise",
        on_event: Callable[[Event], Any] | None = None,
        on_novel: Callable[[run.Novel], Any] | None = None,
        false_alarms: float = 0.01,
    ) -> Self:
        """Learn from a stream, on top of what was learned before, with constant memory.

        A second thread draws the next chunk while this one is learned. Ctrl-C leaves what was learned until
        then, and the stream at the place where learning stopped.

        Parameters
        ----------
        stream : a stream of `gaussian_neurons.sampling` or `datasets.synthetic`, which remembers its
            position; a table (n, n_features); or any iterable of rows, of mappings, of chunks of rows, or of
            pairs (rows, widths), see `sampling.Iterated`. `sampling.Resumable` is for queues and databases
        n_samples : how many rows to take from it; None: all, of a stream that ends
        progress : show a progress bar on a terminal or in a notebook
        checkpoint : a file for the state of the run, written every `every` samples, at the end and on Ctrl-C.
            If the file exists, the run resumes from it: the same command after a crash gives the same
            bits. It is a model file: `load` reads it
        every : samples between two checkpoints, and between two calls of `callback`
        callback : called with the model and the number of rows taken so far, every `every` samples and at
            the end, after these rows are in the checkpoint; if it returns True, learning stops. It may read
            the stream, if that can be read again: learning goes on with the sample after the last one that
            was learned
        on_bad : "raise" an error that names the first row that cannot be learned from, after learning all
            rows before it; or "skip" such rows: they are counted in `n_skipped_` and reported at the end
        on_write_error : "raise" if a checkpoint cannot be written, or "warn" and go on. The last checkpoint
            stays
        on_event : called with each new event of `events_` once the rows that caused it are learned
        on_novel : called with the (samples, row, score, threshold) of each row that is novel before it is
            learned: `is_novel` of the model that has learned all rows before it, from the 1001st on. Rows are
            then learned one by one, about 0.1 ms each
        false_alarms : of `on_novel`, as in `is_novel`. With `on_event` or `on_novel`, a checkpoint is also
            written after events and once a second. It holds nothing that is not reported: after a kill,
            reports that came after the last checkpoint are made again

        Examples
        --------
        >>> from gaussian_neurons import GaussianNeurons
        >>> from gaussian_neurons.datasets.synthetic import Mixture
        >>> model = GaussianNeurons(20, width=0.008, domain=(0, 1), random_state=0)
        >>> model.learn(Mixture(8, seed=1), 200_000).n_clusters_
        8
        """
        source = as_stream(stream)
        if callback is not None and not callable(callback):
            raise ValueError(f"callback must be a function of (model, t), got {callback!r}.")
        call = None if callback is None else partial(callback, self)
        bar = progress and not notebook.views_of(self)  # a view that follows shows as much
        reports = on_event, on_novel, false_alarms
        plan = run.Plan(n_samples, bar, checkpoint, every, call, on_bad, on_write_error, *reports)
        model = run.Model(
            state=lambda: self._state,
            exchange=self._exchange,
            restore=self._restore,
            new_state=self._new_state,
            settings=self._settings,
            parameters=lambda: self.get_params(deep=False),
            n_clusters=lambda: self.n_clusters_,
            follow=partial(observers.following, self),
            events=lambda: self.events_,
            scores=lambda x: _scores(self._network, self._network.look.recent.scaled(x)),
        )
        with notebook.Shown(self, at_once=True):
            run.learn(model, source, plan)
        return self

    def draws(self, rows: int) -> int:
        """How many samples `fit` draws from so many rows."""
        given = checked_draws(self.max_samples)
        if given is not None:
            return given
        shared = isinstance(self.width, str) and self.width_learning_rate == 0
        return max(rows, LEAST_DRAWS_OF_SHARES if shared else LEAST_DRAWS)

    # ---- answers ----------------------------------------------------------------------------------

    def transform(self, X: ArrayLike) -> Array:
        """f_i(x), the response of every neuron to every row: (n_rows, n_neurons)."""
        network, x = self._asked(X)
        return responses.responses(x, network.neurons.centers, network.neurons.widths)

    def predict(self, X: ArrayLike, n_clusters: int | None = None) -> NDArray[np.int64]:
        """The number of the cluster of each row, or -1 if it belongs to none.

        That is the cluster of the neuron that responds most or, with an automatic width, has the largest
        share. With an automatic width a row belongs to none if it is novel at a rate of 0.1 %: if
        `is_novel(X, 0.001)`. A given width is a reach: a row belongs to none if no learned neuron responds
        with at least 0.001, however many of the recent samples are such rows.

        Parameters
        ----------
        X : (n_rows, n_features)
        n_clusters : with an automatic width, another number of clusters: the same tree is cut elsewhere. The
            clusters are numbered from 0, and every row belongs to one
        """
        network, x = self._asked(X)
        if n_clusters is None:
            return _predicted(network, x)
        tree, count = self._tree, checks.whole_number("n_clusters", n_clusters)
        if count > len(tree.cuts) + 1:
            raise ValueError(
                f"n_clusters must be at most {len(tree.cuts) + 1} here, got {count}: only so many groups of "
                f"neurons can be told apart."
            )
        neurons = network.neurons
        used = neurons.centers[tree.used], neurons.widths[tree.used]
        return tree.groups(count)[responses.strongest(x, *used, shared=True)[0]]

    def score_samples(self, X: ArrayLike) -> Array:
        """The largest log-response of a learned neuron to each row: the lower, the more novel the row.

        Minus infinity if nothing was learned.
        """
        return _scores(*self._asked(X))

    def predict_proba(self, X: ArrayLike) -> Array:
        """The part of each cluster in each row: (n_rows, n_clusters_), columns as in `cluster_numbers_`.

        A cluster counts as its strongest neuron: with a given width the response of it, with an automatic one
        its density; divided by the sum over all clusters. The largest part is that of the cluster that
        `predict` gives. A row that belongs to none has parts, too: mostly 1 for the nearest cluster.

        Examples
        --------
        >>> from gaussian_neurons import GaussianNeurons
        >>> model = GaussianNeurons(2, width=1.0, init=[[0.0], [1.0]], domain=(0, 1), learning_rate=0.0)
        >>> model.partial_fit([[0.0], [1.0], [0.0], [1.0]]).predict_proba([[0.0], [0.5]]).round(3)
        array([[0.731, 0.269],
               [0.5  , 0.5  ]])
        """
        network, x = self._asked(X)
        look, neurons = network.look, network.neurons
        group = np.unique(look.clusters.number[look.learned], return_inverse=True)[1]
        chosen = neurons.centers[look.learned], neurons.widths[look.learned]
        return responses.parts(x, *chosen, group, network.shared)

    def score(self, X: ArrayLike, y: Any = None) -> float:
        """The mean log-density of the rows: the larger, the better does the model describe them.

        Every neuron is a Gaussian at its center, weighted by how many of the last 1000 samples it wins. With
        an automatic width, its variance is width / 2. A given width is a reach and no variance: only learned
        neurons count, and each has the variance of the samples that it wins. So models of all widths can be
        compared on rows that they have not learned from, and scikit-learn's GridSearchCV needs no other
        scorer. `shape` and `n_clusters` change clusters and not neurons, and so no score: for these, see
        `cluster_counts_`. Minus infinity if nothing was learned.

        Parameters
        ----------
        X : (n_rows, n_features)
        y : ignored

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn.model_selection import GridSearchCV
        >>> from gaussian_neurons import GaussianNeurons
        >>> random = np.random.default_rng(0)
        >>> X = random.normal(random.choice([0.0, 5.0, 10.0], size=(900, 1)), 0.5)
        >>> search = GridSearchCV(GaussianNeurons(random_state=0), {"n_neurons": [1, 2, 3]})
        >>> search.fit(X).best_params_
        {'n_neurons': 3}
        """
        state = self._fitted_state
        network = self._network_of(state)
        recent = network.look.recent if state.network is None else state.recent
        x = recent.scaled(self._more_rows(X, state))
        which = slice(None) if network.shared else network.look.learned
        chosen = network.neurons.centers[which], network.neurons.widths[which]
        found = mixture_of(*chosen, recent.samples, network.shared)
        unit = 0.0 if network.scaling is None else float(np.log(network.scaling.scale).sum())
        return mean_log_density(x, found) - unit  # a density in the units of the data

    def novelty_threshold(self, false_alarms: float = 0.01) -> float:
        """The score below which a row is novel: this part of the last samples is below it.

        It is taken from the 1000 samples before the last look: 0.01 rests on ten of them. It is infinite if
        nothing was learned: every row is novel then.

        Parameters
        ----------
        false_alarms : part of the rows like those seen that may be called novel, from 0 to 1
        """
        part = checks.number("false_alarms", false_alarms, least=0.0, most=1.0)
        return self._network.look.score_below(part)

    def is_novel(self, X: ArrayLike, false_alarms: float = 0.01) -> NDArray[np.bool_]:
        """Which rows are unlike what the model has seen: their score is below `novelty_threshold`."""
        part = checks.number("false_alarms", false_alarms, least=0.0, most=1.0)
        network, x = self._asked(X)
        novel: NDArray[np.bool_] = _scores(network, x) < network.look.score_below(part)
        return novel

    def cost(self, X: ArrayLike) -> float:
        """E, the paper's cost of the rows, which learning descends. Divide by the rows for a mean."""
        network, x = self._asked(X)
        given = self._settings(x.shape[1]).inhibition
        inhibition = network.layer.inhibition if given is None else given
        return responses.cost(x, network.neurons.centers, network.neurons.widths, inhibition)

    # ---- neurons ----------------------------------------------------------------------------------

    def add_neurons(
        self, n_neurons: int | None = None, *, centers: ArrayLike | None = None, width: Any = None
    ) -> Self:
        """Add neurons in the middle of a stream; the present ones stay bit for bit.

        Before the first data is complete, neurons are first placed by all samples there are. The same holds
        for `remove_neurons` and `move_neurons`.

        Parameters
        ----------
        n_neurons : how many, drawn uniformly from the domain; 1 by default
        centers : (n, n_features) or None, where to place them instead
        width : a number, an array or None: the starting width of the first neuron; with an automatic width
            the median of all widths
        """
        state, given = self._changing()
        if centers is not None and n_neurons is not None:
            raise ValueError("give n_neurons or centers, not both.")
        placed = None
        if centers is not None:
            placed = checks.checked_centers("centers", centers, None, state.recent.n_features)
            if not len(placed):
                raise ValueError("centers must have at least one row.")
            n_neurons = len(placed)
        count = checks.whole_number("n_neurons", 1 if n_neurons is None else n_neurons)
        widths = None if width is None else self._widths(width, count, state)
        with notebook.Shown(self):
            self._exchange(state, learner.added(state, placed, count, widths, given))
        return self

    def remove_neurons(self, indices: ArrayLike) -> Self:
        """Remove neurons in the middle of a stream; the others stay bit for bit.

        Parameters
        ----------
        indices : an index into `centers_`, or several (negative ones count from the end), or a mask
        """
        state, given = self._changing()
        count = len(self._network.neurons)
        stays = np.ones(count, bool)
        stays[checks.checked_indices(indices, count)] = False
        if not stays.any():
            raise ValueError(f"cannot remove all {count} neurons: at least one must stay.")
        if stays.all():
            return self
        with notebook.Shown(self):
            self._exchange(state, learner.kept(state, stays, given))
        return self

    def move_neurons(
        self, indices: ArrayLike, *, centers: ArrayLike | None = None, width: ArrayLike | None = None
    ) -> Self:
        """Give neurons another center or another width in the middle of a stream.

        The others stay bit for bit. A neuron that moves counts as new: its cluster is retired, and it
        counts as learned after 1000 samples at the earliest. A new width alone changes none of that, and
        replaces the starting width. The starting center stays in `initial_centers_`, and an automatic
        learning rate stays as it was: give a smaller one along with a much smaller width. Neurons with an
        automatic width go on to adapt theirs.

        Parameters
        ----------
        indices : an index into `centers_`, or several (negative ones count from the end), or a mask
        centers : (n, n_features) or None, a row for each index
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
        state, given = self._changing()
        count = len(self._network.neurons)
        which = checks.checked_indices(indices, count) % count
        if len(np.unique(which)) < len(which):
            raise ValueError(f"indices must name each neuron once, got {indices!r}.")
        if centers is None and width is None:
            raise ValueError("nothing to change: give centers, width, or both.")
        placed = None
        if centers is not None:
            placed = checks.checked_centers("centers", centers, None, state.recent.n_features)
            if len(placed) != len(which):
                raise ValueError(
                    f"centers must have a row for each of the {len(which)} neurons, got {len(placed)}."
                )
        widths = None if width is None else self._widths(width, len(which), state)
        if not len(which):
            return self
        with notebook.Shown(self):
            self._exchange(state, learner.moved(state, which, placed, widths, given))
        return self

    def place_neurons(self, n_features: int, dtype: Any = np.float64) -> Self:
        """Start over with the neurons at their starting centers, before the first sample.

        Only for models that take nothing from the first data: those with a `width`, a `domain` and, if
        widths are learned, a `learning_rate`. Columns have no names then: give arrays.

        Parameters
        ----------
        n_features : D
        dtype : float32 or float64, the precision of the model
        """
        columns = checks.whole_number("n_features", n_features)
        given = self._settings(columns)
        if given.needs_first_data:
            raise ValueError(
                "the starting centers depend on the first data. Give a width, a domain and, if widths are "
                "learned, a learning_rate, and init='uniform' or an array, and no scale."
            )
        before, empty = self._state, np.empty((0, columns), checks.checked_precision(dtype))
        with notebook.Shown(self):
            self._exchange(before, learner.settled(self._new_state(empty), given))
        return self

    # ---- files and views --------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model, with everything needed to learn on, to one safetensors file.

        The old file is replaced in one step: a crash or a full disk leaves it whole.
        """
        model_file.write(path, model_file.contents(self.get_params(deep=False), self._fitted_state))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a model that `save` wrote; it learns on as if it had never stopped.

        No code of the file is run. A file that is truncated, foreign, newer or changed is refused. A model
        that learned with a function as its backend needs it again, `set_params(backend=...)`, to learn on.
        """
        signature = inspect.signature(cls).parameters
        loaded = model_file.load(path, {name: signature[name].default for name in cls._get_param_names()})
        model = cls(**loaded.parameters)
        model._state = loaded.state
        model._say_no_more(loaded.state)
        return model

    def watch(self, shape: tuple[int, ...] | None = None, every: float = 0.1) -> notebook.View:
        """Show the neurons in this notebook, and update the picture while they learn.

        `fit`, `partial_fit`, `learn` and changes of neurons update the picture while they run and at their
        end. Many short calls of `partial_fit` update it every `every` seconds, and at the end of the cell.
        What is learned stays the same, bit for bit. The view is not part of the model: copies and files
        do not contain it.

        Neurons that learned are framed, the others dimmed; the number of each is its index in `centers_`.
        Gray is within the domain, blue below it and red above. Two columns are drawn as a plane: the last
        samples, circles of the radius sqrt(width) around neurons that learned, crosses for the others.

        Parameters
        ----------
        shape : of a center: (height, width), (height, width, 3) for colours, (columns,) for rows of cells.
            None: two columns are a plane, s*s a square patch, 3*s*s one in colour, all others rows
        every : least seconds between two pictures

        Returns
        -------
        View : `close()` ends it, as does leaving it as a context manager, or three newer views of the model;
            the last picture stays
        """
        return notebook.watch(self, shape, every)

    # ---- what was learned -------------------------------------------------------------------------

    @property
    def centers_(self) -> Array:  # noqa: D102  (documented above, as scikit-learn does)
        return self._shown(lambda network: network.neurons.centers)

    @property
    def widths_(self) -> Array:  # noqa: D102
        return _frozen(self._network.neurons.widths)

    @property
    def initial_centers_(self) -> Array:  # noqa: D102
        return self._shown(lambda network: network.neurons.start)

    @property
    def diagnosis_(self) -> Diagnosis:  # noqa: D102
        return self._network.look.diagnosis

    @property
    def learned_(self) -> NDArray[np.bool_]:  # noqa: D102
        return _frozen(self.diagnosis_.learned)

    @property
    def n_clusters_(self) -> int:  # noqa: D102
        return len(self._network.look.found_then.numbers)

    @property
    def cluster_centers_(self) -> Array:  # noqa: D102
        return self._shown(lambda network: network.found.centers)

    @property
    def cluster_numbers_(self) -> NDArray[np.int64]:  # noqa: D102
        return _frozen(self._network.look.found_then.numbers)

    @property
    def neuron_clusters_(self) -> NDArray[np.int64]:  # noqa: D102
        return self._network.look.clusters.number.copy()

    @property
    def cluster_tree_(self) -> Array:  # noqa: D102
        return self._tree.linkage()

    @property
    def cluster_counts_(self) -> dict[int, float]:  # noqa: D102
        return {number: float(score) for number, score in enumerate(self._tree.scores, start=1)}

    @property
    def events_(self) -> list[Event]:  # noqa: D102
        network = self._network
        return [
            event._replace(center=_frozen(network.undone(event.center))) for event in network.clusters.events
        ]

    @property
    def labels_(self) -> NDArray[np.int64]:  # noqa: D102
        labels = self._fitted_state.labels
        if labels is None:
            raise AttributeError("labels_ are those of the rows given to fit(); use predict(X) for others.")
        return _frozen(labels)

    @property
    def recent_samples_(self) -> Array:  # noqa: D102
        return _frozen(self._fitted_state.recent.raw)

    @property
    def location_(self) -> NDArray[np.float64]:  # noqa: D102
        scaling = self._network.scaling
        return np.zeros(self.n_features_in_) if scaling is None else _frozen(scaling.location)

    @property
    def scale_(self) -> NDArray[np.float64]:  # noqa: D102
        scaling = self._network.scaling
        return np.ones(self.n_features_in_) if scaling is None else _frozen(scaling.scale)

    @property
    def n_samples_seen_(self) -> int:  # noqa: D102
        return self._fitted_state.received

    @property
    def n_skipped_(self) -> int:  # noqa: D102
        return self._fitted_state.skipped

    @property
    def n_features_in_(self) -> int:  # noqa: D102
        if self._state is None:
            raise AttributeError("n_features_in_ is known once the model has learned.")
        return self._state.recent.n_features

    @property
    def feature_names_in_(self) -> NDArray[np.object_]:  # noqa: D102
        if self._state is None or self._state.names is None:
            raise AttributeError("feature_names_in_ are those of the rows, if they have any.")
        return np.array(self._state.names, object)

    @feature_names_in_.setter
    def feature_names_in_(self, names: ArrayLike) -> None:
        state, given = self._fitted_state, tuple(str(name) for name in np.asarray(names))
        if not len(set(given)) == len(given) == state.recent.n_features:
            raise ValueError(
                f"feature_names_in_ must have {state.recent.n_features} different names, got {given}."
            )
        self._exchange(state, replace(state, names=given))

    # ---- scikit-learn's contract ------------------------------------------------------------------

    def __copy__(self) -> Self:
        return copy.deepcopy(self)

    def __sklearn_is_fitted__(self) -> bool:
        return self._state is not None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        shown = super()._repr_mimebundle_(**kwargs)
        if "text/html" in shown:
            shown["text/html"] += notebook.found(self)
        return shown

    def _repr_html_inner(self) -> Any:
        return super()._repr_html_inner() + notebook.found(self)

    @property
    def _n_features_out(self) -> int:
        return len(self._network.neurons)

    # ---- the state --------------------------------------------------------------------------------

    def _exchange(self, before: State | None, state: State) -> None:
        """Replace the state that a call began with; a RuntimeError if another thread has replaced it."""
        if self._state is not before:  # with the GIL, no thread runs between this and the assignment
            raise learner.ChangedMeanwhile
        self._state = state
        if before is None or before.seed != state.seed:  # the seed was drawn from a copy, see _new_state
            check_random_state(self.random_state).randint(SEEDS)
        known = None if before is None or before.early is not state.early else before.network
        if state.network is not None and (known is None or known.clusters is not state.network.clusters):
            for text in self._advice(state, first=known is None):
                warn(text, AdviceWarning)

    def _advice(self, state: State, first: bool) -> Iterator[str]:
        """What was not yet said about the clusters of a state."""
        for kind, text in advice(state, self._settings(state.recent.n_features), first):
            if kind not in state.early.told:
                state.early.told.add(kind)
                yield text

    def _restore(self, loaded: model_file.Loaded) -> None:
        """Take the parameters and the state of a checkpoint; a file does not contain a function."""
        given = dict(loaded.parameters)
        if callable(self.backend) and given.get("backend") == name_of(self.backend):
            del given["backend"]
        self.__dict__.update(given, _state=loaded.state)
        self._say_no_more(loaded.state)

    def _say_no_more(self, state: State) -> None:
        """What there is to say about a loaded state was said before it was saved."""
        if state.network is not None:
            list(self._advice(state, first=True))

    def _commit(self, before: State | None, states: Iterator[State]) -> None:
        learner.commit(partial(self._exchange, before), observers.following(self, states))

    @property
    def _fitted_state(self) -> State:
        state = self._state
        if state is None:
            check_is_fitted(self)
        assert state is not None
        return state

    @property
    def _network(self) -> Network:
        return self._network_of(self._fitted_state)

    def _network_of(self, state: State) -> Network:
        if state.network is not None:
            return state.network
        return learner.network_of(state, self._settings(state.recent.n_features))

    def _shown(self, places: Callable[[Network], Array]) -> Array:
        """Places of the network in the units of the data."""
        network = self._network
        return _frozen(network.undone(places(network)))

    @property
    def _tree(self) -> Tree:
        network = self._network
        if not network.shared:
            raise AttributeError(
                "there is a tree of clusters only with width='auto': with a given width each learned neuron "
                "is a cluster."
            )
        look = network.look
        given = self._settings(look.recent.n_features)
        tree = tree_of(look.neurons, look.recent.samples, given.shape)
        if tree is None:
            raise AttributeError("there is no tree of clusters before the first sample.")
        return tree

    def _asked(self, X: Any) -> tuple[Network, Array]:
        """The network and rows to answer about: both of one state."""
        state = self._fitted_state
        x, network = self._more_rows(X, state), self._network_of(state)
        return network, network.look.recent.scaled(x)

    def _changing(self) -> tuple[State, Settings]:
        state = self._fitted_state
        return state, self._settings(state.recent.n_features)

    def _new_state(self, x: Array, names: tuple[str, ...] | None = None) -> State:
        # A generator of the caller advances once the state is assigned: a failed call does not change it.
        seed = copy.deepcopy(check_random_state(self.random_state)).randint(SEEDS)
        require(self.backend)
        single = x.dtype == np.float32 and has_float32(self.backend)
        dtype = np.float32 if single else np.float64
        each = shape_of(self._settings(x.shape[1]).covariance_type, x.shape[1])
        return State(Recent.empty(x.shape[1], dtype, each=each), int(seed), names)

    def _settings(self, n_features: int) -> Settings:
        given = (
            self.n_neurons,
            self.covariance_type,
            self.width,
            self.inhibition,
            self.learning_rate,
            self.width_learning_rate,
            self.repulsion_every,
            self.init,
            self.domain,
            self.backend,
            self.shape,
            self.n_clusters,
            self.scale,
            self.memory,
        )
        if not isinstance(self.backend, str):  # the cache would keep a function alive
            return checked(n_features, *given)
        try:
            return checked_before(n_features, *given)
        except TypeError:  # an array, which can be changed in place, cannot be hashed
            return checked(n_features, *given)

    def _widths(self, width: Any, count: int, state: State) -> Array:
        recent = state.recent
        return checks.checked_widths(width, count, recent.covariance_type, recent.n_features)

    def _sample_widths(self, sample_width: Any, state: State, x: Array) -> Array | None:
        if sample_width is not None:
            recent = state.recent
            return checks.checked_sample_widths(
                sample_width, len(x), recent.dtype, recent.covariance_type, recent.n_features
            )
        if self.width_learning_rate > 0:
            raise ValueError(
                f"sample_width is needed to learn widths (width_learning_rate={self.width_learning_rate!r}): "
                f"give one number for each row."
            )
        return None

    def _more_rows(self, X: Any, state: State) -> Array:
        """Rows with the columns of the model. Plain ones skip scikit-learn's checks, which take longer."""
        if (
            type(X) is np.ndarray
            and X.dtype in FLOATS
            and X.ndim == 2
            and len(X)
            and X.shape[1] == state.recent.n_features
            and state.names is None
        ):
            return X
        x, names = _table(X, state.names)
        require_columns(names, x.shape[1], state.names, state.recent.n_features)
        if state.names is not None:
            require_finite(x, state.recent.dtype, state.names)  # others are found later, by index
        return x


def _table(X: Any, known: tuple[str, ...] | None = None) -> tables.Table:
    if isinstance(X, Stream):
        raise TypeError(f"rows are needed, got the stream {X!r}: use learn(stream, n_samples).")
    return tables.read(X, known)


def _frozen(array: Array) -> Array:
    """A copy that cannot be mistaken for the model's own array."""
    copied = array.copy()
    copied.flags.writeable = False
    return copied


def _scores(network: Network, x: Array) -> Array:
    """The largest log-response of a learned neuron to each row."""
    learned, neurons = network.look.learned, network.neurons
    return responses.strongest(x, neurons.centers[learned], neurons.widths[learned], network.shared)[1]


def _predicted(network: Network, x: Array) -> NDArray[np.int64]:
    """The cluster of each row."""
    learned, neurons, look = network.look.learned, network.neurons, network.look
    chosen = neurons.centers[learned], neurons.widths[learned]
    winner, scores = responses.strongest(x, *chosen, network.shared)
    if not len(learned):
        return winner  # -1
    least = look.novel_score if network.shared else LEAST_SCORE
    found: NDArray[np.int64] = np.where(scores < least, -1, look.clusters.number[learned][winner])
    return found
