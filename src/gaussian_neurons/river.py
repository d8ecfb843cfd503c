"""Gaussian neurons as a river clusterer: one sample at a time, as a dict of features."""

import math
from collections.abc import Collection, Hashable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gaussian_neurons.base import extras, tables
from gaussian_neurons.base.bad_rows import require_finite
from gaussian_neurons.clustering.numbering import Event
from gaussian_neurons.estimator import GaussianNeurons

try:
    from river import base
except ModuleNotFoundError:
    raise ModuleNotFoundError(f"gaussian_neurons.river needs river: {extras.install('river')}") from None

if TYPE_CHECKING:
    import pandas as pd

WAITING = 256  # samples that are learned together
FIRST = 1000  # samples before scores of anomalies
NO_CLUSTER = -1
SHOWN = 5  # features in a message


class RiverGaussianNeurons(base.Clusterer):
    """Online clustering with an unknown number of clusters, for river.

    It learns what `GaussianNeurons.partial_fit` learns from the same samples, bit for bit. Samples are
    collected and learned when an answer is needed or 256 are there, since learning from many costs hardly
    more than from one.

    A cluster keeps its number while others come and go.

    The features are those of the first valid sample. A feature that is missing later counts as 0, as
    elsewhere in river; a feature that appears later is ignored. A sample that has none of the features is
    refused. Distances decide: features of different scale need `scale="columns"` or "robust".

    Parameters
    ----------
    n_neurons
        K, an upper limit on the number of clusters. A sample costs K D operations with an automatic width,
        and K^2 D with a given one.
    width
        A squared length, about the distance at which two samples count as alike. The larger, the fewer
        clusters. "auto" finds it.
    inhibition
        The strength of the repulsion between neurons, or "auto". The larger, the fewer clusters. It needs a
        width.
    learning_rate
        A step is learning_rate / width times a distance; with an automatic width, the part of the way to a
        sample; or "auto".
    repulsion_every
        r: neurons repel each other every r-th sample, r times as strongly. 1 is exact, more is faster. It
        needs a width.
    init
        Starting centers: "uniform" in the domain, on "samples" of the first 1000, "spread" over them, or
        an array of centers, its columns in the order of the features' names. "auto" depends on the width.
    domain
        A pair (low, high): the box of the input. None takes it from the first 1000 samples.
    seed
        Seed of the starting centers.
    covariance_type
        What a neuron has: a width ("spherical"), a diagonal covariance ("diag") or a full one ("full"). The
        last two need a width: an array of covariances, (n_neurons, features) or (n_neurons, features,
        features), in the order of the features' names.
    shape
        With an automatic width, what a cluster is: one Gaussian ("compact"), or of "any" shape.
    scale
        "columns" divides each feature by its standard deviation, "robust" by one that outliers do not change;
        both follow the stream. None uses the numbers as they are. Widths are then in scaled features.
    memory
        With an automatic width, after how many samples a cluster that is not seen is forgotten; None: never.

    Examples
    --------
    >>> import random
    >>> from gaussian_neurons.river import RiverGaussianNeurons
    >>> model = RiverGaussianNeurons(n_neurons=10, width=1.0, seed=0)
    >>> source = random.Random(0)
    >>> for _ in range(5000):
    ...     x, y = source.choice([(0, 0), (0, 4), (4, 0)])
    ...     model.learn_one({"x": source.gauss(x, 0.3), "y": source.gauss(y, 0.3)})
    >>> model.n_clusters
    3
    >>> model.predict_one({"x": 50.0, "y": 50.0})  # no neuron responds
    -1
    """

    def __init__(
        self,
        n_neurons: int = 50,
        width: Any = "auto",
        inhibition: Any = "auto",
        learning_rate: Any = "auto",
        repulsion_every: int = 1,
        init: Any = "auto",
        domain: Any = None,
        seed: int | None = None,
        covariance_type: str = "spherical",
        shape: str = "compact",
        scale: str | None = None,
        memory: int | None = None,
    ) -> None:
        self.n_neurons = n_neurons
        self.width = width
        self.inhibition = inhibition
        self.learning_rate = learning_rate
        self.repulsion_every = repulsion_every
        self.init = init
        self.domain = domain
        self.seed = seed
        self.covariance_type = covariance_type
        self.shape = shape
        self.scale = scale
        self.memory = memory
        self._features: list[Hashable] | None = None  # in order, after the first sample
        self._model: GaussianNeurons | None = None
        self._waiting: list[list[float]] = []  # samples that are not yet learned

    def learn_one(self, x: Mapping[Any, Any]) -> None:
        """Learn from a sample.

        Parameters
        ----------
        x
            A number for each feature.
        """
        features = self._features or _names(x)
        row = _row(features, x)
        if len(self._waiting) >= WAITING:
            self._learn_waiting()
        self._waiting.append(row)
        self._features = features

    def predict_one(self, x: Mapping[Any, Any]) -> int:
        """The cluster of a sample, or -1 if no neuron responds or nothing was learned yet.

        Parameters
        ----------
        x
            A number for each feature.
        """
        if self._features is None:
            return NO_CLUSTER
        return int(self._learned().predict(np.array([_row(self._features, x)], np.float64))[0])

    def score_one(self, x: Mapping[Any, Any]) -> float:
        """How anomalous a sample is, from 0 to 1: 1 less the part of samples that are more so.

        A part p of the samples like the last 1000 reaches 1 - p, as in `GaussianNeurons.is_novel`. So 0.99
        can be the threshold of an `anomaly.ThresholdFilter`, and `anomaly.QuantileFilter` works as well. Both
        keep anomalies from being learned, also those that begin something new, unless
        `protect_anomaly_detector=False`. During the first 1000 samples, it is 0.

        Parameters
        ----------
        x
            A number for each feature.

        Examples
        --------
        >>> import random
        >>> from river import anomaly
        >>> model = RiverGaussianNeurons(seed=0)
        >>> source = random.Random(0)
        >>> for _ in range(2000):
        ...     model.learn_one({"x": source.gauss(0, 1), "y": source.gauss(0, 1)})
        >>> model.score_one({"x": 1.0, "y": 0.0}) < 0.9, model.score_one({"x": 4.5, "y": 0.0}) > 0.99
        (True, True)
        >>> filtered = anomaly.ThresholdFilter(model, threshold=0.99)
        >>> filtered.classify(filtered.score_one({"x": 9.0, "y": 0.0}))
        True
        """
        if self._features is None:
            return 0.0
        row, model = np.array([_row(self._features, x)], np.float64), self._learned()
        if model.n_samples_seen_ < FIRST or not model.n_clusters_:
            return 0.0
        return 1.0 - model._network.look.part_below(float(model.score_samples(row)[0]))

    def learn_many(self, X: Any) -> None:
        """Learn from the rows of a data frame, of pandas or another library, in their order."""
        columns = _columns(X)
        if not columns.rows:
            return
        features = self._features or _names(dict.fromkeys(columns.names))
        rows = _rows(features, columns)
        model = self._learned()
        try:
            model.partial_fit(rows)
        finally:  # an interrupt leaves whole samples
            if _received(model):
                self._features = features

    def predict_many(self, X: Any) -> "pd.Series[int]":
        """The cluster of each row of a data frame, as `predict_one` has it."""
        import pandas as pd

        columns = _columns(X)
        index = X.index if isinstance(X, pd.DataFrame) else pd.RangeIndex(columns.rows)
        if self._features is None or not columns.rows:
            return pd.Series(NO_CLUSTER, index, np.int64)
        return pd.Series(self._learned().predict(_rows(self._features, columns)), index)

    @property
    def n_clusters(self) -> int:
        """How many clusters were found so far."""
        return 0 if self._features is None else self._learned().n_clusters_

    @property
    def centers(self) -> dict[int, dict[Any, float]]:
        """The center of each cluster, as river's metrics need it."""
        if self._features is None:
            return {}
        model = self._learned()
        found = zip(model.cluster_numbers_.tolist(), model.cluster_centers_.tolist(), strict=True)
        return {number: dict(zip(self._features, center, strict=True)) for number, center in found}

    @property
    def events(self) -> list[Event]:
        """The last 1000 events: clusters that were born, moved or retired.

        Each is (samples seen, kind, number of the cluster, center), the center in the order of the features'
        names.
        """
        return [] if self._features is None else self._learned().events_

    def _model_now(self) -> GaussianNeurons:
        if self._model is None:
            given = {name: value for name, value in self._get_params().items() if name != "seed"}
            self._model = GaussianNeurons(**given, random_state=self.seed)
        return self._model

    def _learned(self) -> GaussianNeurons:
        """The model after learning from the samples that wait."""
        if self._waiting:
            self._learn_waiting()
        return self._model_now()

    def _learn_waiting(self) -> None:
        model = self._model_now()
        before = _received(model)
        try:
            model.partial_fit(np.array(self._waiting, np.float64))
        finally:  # after an interrupt, those that were learned do not wait any more
            self._waiting = self._waiting[_received(model) - before :]


def _received(model: GaussianNeurons) -> int:
    return model.n_samples_seen_ if model.__sklearn_is_fitted__() else 0


def _names(x: Any) -> list[Hashable]:
    """The features of a sample or a frame in the order of their names: that of a dict has no meaning."""
    try:
        names = list(x.keys())
    except AttributeError:
        raise _not_a_sample(x) from None
    if not names:
        raise ValueError("the first sample has no features: at least one is needed.")
    try:
        return sorted(names)
    except TypeError:  # names of several types
        return sorted(names, key=str)


def _row(features: list[Hashable], x: Mapping[Any, Any]) -> list[float]:
    """The values of the features as finite numbers."""
    try:
        values = [x.get(name, 0.0) for name in features]
    except AttributeError:
        raise _not_a_sample(x) from None
    _require_known(features, x)
    try:
        finite = math.isfinite(math.fsum(values))
    except Exception:  # a value may raise any error
        finite = False
    if not finite:  # or only the sum overflows
        for name, value in zip(features, values, strict=True):
            _require_finite(name, value)
    return list(map(float, values))


def _rows(features: list[Hashable], columns: tables.Columns) -> NDArray[np.float64]:
    """The columns of the features as finite numbers; 0 for one that is missing."""
    _require_known(features, columns.names)
    at = {name: k for k, name in enumerate(columns.names)}
    present = [j for j, name in enumerate(features) if name in at]
    rows = np.zeros((columns.rows, len(features)))
    for j, values in zip(present, columns.numbers(at[features[j]] for j in present), strict=True):
        rows[:, j] = values
    require_finite(rows, np.float64, features)
    return rows


def _columns(X: Any) -> tables.Columns:
    if not tables.is_frame(X):
        raise TypeError(f"rows must be a data frame, which has column names, got {type(X).__name__}.")
    return tables.columns_of(X)


def _require_known(features: list[Hashable], x: Collection[Hashable]) -> None:
    """A ValueError if a sample or a frame has none of the features: all of them would count as 0."""
    if not any(name in x for name in features):
        raise ValueError(
            f"a sample must have features of the first one, {features[:SHOWN]}, got "
            f"{list(x)[:SHOWN]}. Rename them, or start a new model."
        )


def _not_a_sample(x: Any) -> TypeError:
    return TypeError(f"a sample must be a dict with a number for each feature, got {type(x).__name__}.")


def _require_finite(name: Hashable, value: Any) -> None:
    try:
        good = math.isfinite(value)
    except Exception:  # a value may raise any error
        good = False
    if not good:
        raise ValueError(
            f"feature {name!r} must be a finite number, got {value!r:.80}. Convert or drop it before: "
            f"preprocessing.StatImputer fills missing values, preprocessing.OneHotEncoder replaces words."
        )
