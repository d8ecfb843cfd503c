"""Dendrites: Gaussian neurons that respond one after the other are combined into neurons."""

from dataclasses import dataclass
from reprlib import repr as short
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import eigh, qr, svd
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from gaussian_neurons.base import checks
from gaussian_neurons.estimator import GaussianNeurons
from gaussian_neurons.learning import responses

__all__ = ["DendriticNeurons"]

Array = NDArray[Any]
Indices = NDArray[np.int64]

SIMILARITIES = ("succession", "overlap", "tree")
BLOCK = 256  # samples whose affinities are learned together
FLOATS = (np.float64, np.float32)


@dataclass(frozen=True, eq=False)
class Affinities:
    """How often dendrites respond together, or one after the other."""

    seen: int  # samples
    pairs: Array  # (K, K) mean of s_i q_j
    activity: Array  # (K,) mean of s_i
    trace: Array  # (K,) q, of the samples so far

    @classmethod
    def none(cls, dendrites: int) -> Self:
        """Before the first sample."""
        return cls(0, np.zeros((dendrites, dendrites)), np.zeros(dendrites), np.zeros(dendrites))


def learn(known: Affinities, shares: Array, trace: float, rate: float) -> Affinities:
    """The affinities after the shares of some more samples [30], [31].

    Sample t moves `pairs` to s_i(t) q_j(t - 1), and `activity` to s_i(t), by the part a = max(rate, 1/t) of
    the way. The sums over the samples are products of matrices.

    Parameters
    ----------
    known : Affinities
    shares : (n, K) of n successive samples
    trace : how many of the last samples q is about an average of, at least 1; 0: q is s of the same sample
    rate : from 0 to 1
    """
    n = len(shares)
    t = np.arange(n)
    part = np.maximum(rate, 1 / (known.seen + 1 + t))
    kept = np.cumprod((1 - part)[::-1])[::-1]  # of what was known before sample t, at the end
    weight = part * np.append(kept[1:], 1.0)
    before, after = shares, known.trace
    if trace:
        decay = 1 - 1 / trace
        gap = t[:, None] - t - 1  # between a sample and one before it
        past = np.where(gap < 0, 0.0, decay ** np.maximum(gap, 0)) / trace
        before = past @ shares + decay ** t[:, None] * known.trace
        after = decay**n * known.trace + decay ** t[::-1] / trace @ shares
    return Affinities(
        known.seen + n,
        kept[0] * known.pairs + shares.T @ (weight[:, None] * before),
        kept[0] * known.activity + weight @ shares,
        after,
    )


def groups_of(affinity: Array, count: int) -> Indices:
    """The group of each dendrite, (K,): `count` groups with little affinity between them.

    These are normalized cuts (Shi and Malik 2000): the largest eigenvectors of D^-1/2 A D^-1/2, D the sums of
    the rows of A, are rotated to the groups by a QR decomposition with pivoting (Damle, Minden, Ying 2019).
    Groups are numbered in the order of their first dendrites.

    Parameters
    ----------
    affinity : (K, K), symmetric, at least 0
    count : number of groups, at most K

    Examples
    --------
    >>> groups_of(np.array([[4.0, 0, 3, 0], [0, 4, 0, 1], [3, 0, 4, 0], [0, 1, 0, 4]]), 2)
    array([0, 1, 0, 1])
    """
    degree = np.sqrt(np.maximum(affinity.sum(axis=1), np.finfo(float).tiny))
    K = len(affinity)
    axes = eigh(affinity / degree / degree[:, None], subset_by_index=(K - count, K - 1))[1]
    pivots = qr(axes.T, mode="r", pivoting=True)[1][:count]
    left, _, right = svd(axes[pivots].T)
    label = np.abs(axes @ (left @ right)).argmax(axis=1)
    first = np.unique(label, return_index=True)[1]
    order = np.full(count, -1)
    order[label[np.sort(first)]] = np.arange(len(first))
    found: Indices = order[label]
    return found


def shares(model: GaussianNeurons, x: Array) -> Array:
    """The share of each neuron of a model in the response to each row, (n, K); rows have the sum 1.

    Examples
    --------
    >>> model = GaussianNeurons(2, init=[[0.0], [1.0]], width=1.0, learning_rate=0).fit([[0.0], [1.0]])
    >>> shares(model, np.array([[0.5]]))
    array([[0.5, 0.5]])
    """
    network, scaled = model._asked(x)
    neurons = network.neurons
    return responses.parts(scaled, neurons.centers, neurons.widths, np.arange(len(neurons)), network.shared)


class DendriticNeurons(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Neurons that are sums of Gaussian dendrites, which need not be at neighbouring places.

    The dendrites are the neurons of a `GaussianNeurons` model. Dendrites that respond one after the other
    become one neuron: what follows each other is likely the same thing, seen differently. So neurons respond
    to a thing wherever it is, or all along a long and bent cluster (docs/dendrites.md).

    A neuron gives the sum of the shares of its dendrites. The share of a dendrite is the part of its response
    in that of all; with an automatic width it is that of the rule (docs/algorithm.md [21]).

    Parameters
    ----------
    dendrites : GaussianNeurons or None, default=None
        The model that learns the dendrites; None: `GaussianNeurons()`. In sklearn's `FrozenEstimator`, a
        model that has learned stays as it is.
    n_neurons : int, default=10
        How many neurons the dendrites are combined into. Neurons without dendrites give 0.
    similarity : "succession", "overlap" or "tree", default="succession"
        Which dendrites are combined: those that respond one after the other, those that respond to the same
        samples, or those that the model merges into a cluster (`cluster_tree_`, which needs an automatic
        width).
    trace : float, default=10.0
        With "succession": about how many samples count as one after the other. At least 1.
    learning_rate : float, default=1e-5
        How fast affinities follow a change; at first they are averages over all samples. 0: always.

    Attributes
    ----------
    dendrites_ : the model of the dendrites
    groups_ : (K,), the neuron of each dendrite, -1 if it has hardly responded
    affinity_ : (K, K), how much dendrites respond to the same samples, or one after the other
    n_samples_seen_ : how many samples the affinities are learned from
    n_features_in_ : D

    Notes
    -----
    `partial_fit` takes rows in the order in which they come, and so does `fit`, once the dendrites have
    learned. The result does not depend on how a stream is cut into calls, up to rounding. Patches at
    neighbouring places of an image, or views of one thing, can also be presented one after the other.

    Examples
    --------
    A point that moves back and forth along one of two half circles, and jumps to the other now and then:

    >>> import numpy as np
    >>> from gaussian_neurons import GaussianNeurons
    >>> from gaussian_neurons.dendrites import DendriticNeurons
    >>> t = np.arange(20_000)
    >>> angle, which = np.pi * np.abs(t % 100 - 50) / 50, t // 500 % 2
    >>> x = np.column_stack([np.cos(angle) + which, (1 - 2 * which) * np.sin(angle) + which / 2])
    >>> X = x + np.random.default_rng(0).normal(0, 0.05, x.shape)
    >>> model = DendriticNeurons(GaussianNeurons(30, random_state=0), n_neurons=2).fit(X)
    >>> found = model.predict(X)
    >>> round(abs(float(np.corrcoef(found, which)[0, 1])), 2)
    1.0
    """

    def __init__(
        self,
        dendrites: Any = None,
        n_neurons: int = 10,
        *,
        similarity: str = "succession",
        trace: float = 10.0,
        learning_rate: float = 1e-5,
    ) -> None:
        self.dendrites = dendrites
        self.n_neurons = n_neurons
        self.similarity = similarity
        self.trace = trace
        self.learning_rate = learning_rate

    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Start over: learn the dendrites, then their affinities from the rows in their order.

        Parameters
        ----------
        X : (n_rows, n_features)
        y : ignored
        """
        self._check()
        x = validate_data(self, X, dtype=FLOATS)
        self._begin()
        if not self._frozen:
            self.dendrites_.fit(x)
        self._affinities = Affinities.none(self._count)
        self._waiting = x[:0]
        for begin in range(0, len(x), BLOCK):
            self._take(x[begin : begin + BLOCK])
        return self

    def partial_fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Let dendrites and affinities learn from the rows of X in their order.

        Affinities are learned in blocks of 256 samples, each after the dendrites have learned from it.

        Parameters
        ----------
        X : (n_rows, n_features)
        y : ignored
        """
        self._check()
        new = not hasattr(self, "dendrites_")
        x = validate_data(self, X, dtype=FLOATS, reset=new)
        if new:
            self._begin()
            self._waiting = x[:0]
        begin = 0
        while begin < len(x):
            end = min(begin + BLOCK - len(self._waiting), len(x))
            if not self._frozen:
                self.dendrites_.partial_fit(x[begin:end])
            self._take(x[begin:end])
            begin = end
        return self

    def transform(self, X: ArrayLike) -> Array:
        """The response of each neuron to each row, the shares of its dendrites added up: (n_rows, n_neurons).

        Parameters
        ----------
        X : (n_rows, n_features)
        """
        x = self._checked(X)
        weights = (self.groups_[:, None] == np.arange(self.n_neurons)).astype(np.float64)
        found: Array = self._shares(x) @ weights
        return found.astype(x.dtype, copy=False)

    def predict(self, X: ArrayLike) -> Indices:
        """The neuron that responds most to each row, (n_rows,)."""
        found: Indices = self.transform(X).argmax(axis=1)
        return found

    @property
    def affinity_(self) -> Array:  # noqa: D102  (documented above, as scikit-learn does)
        pairs = self._learned.pairs
        return (pairs + pairs.T) / 2

    @property
    def groups_(self) -> Indices:  # noqa: D102
        check_is_fitted(self)
        if self.n_neurons not in self._known:
            self._known[self.n_neurons] = self._grouped()
        return self._known[self.n_neurons].copy()

    @property
    def n_samples_seen_(self) -> int:  # noqa: D102
        return self._learned.seen

    @property
    def _n_features_out(self) -> int:
        return self.n_neurons

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_affinities")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    # ---- what is not public -----------------------------------------------------------------------

    _affinities: Affinities
    _waiting: Array  # the rows of an incomplete block
    _known: dict[int, Indices]  # the groups for a number of neurons, until more is learned

    @property
    def _frozen(self) -> bool:
        return isinstance(self.dendrites, FrozenEstimator)

    @property
    def _count(self) -> int:
        return len(self.dendrites_.widths_)

    @property
    def _learned(self) -> Affinities:
        """The affinities after all samples, also those of an incomplete block."""
        check_is_fitted(self)
        return self._after(self._waiting)

    def _check(self) -> None:
        checks.whole_number("n_neurons", self.n_neurons)
        checks.one_of("similarity", self.similarity, SIMILARITIES)
        checks.number("trace", self.trace, least=1.0)
        checks.number("learning_rate", self.learning_rate, least=0.0, most=1.0)
        given = self.dendrites.estimator if self._frozen else self.dendrites
        if given is not None and not isinstance(given, GaussianNeurons):
            raise ValueError(f"dendrites must be a GaussianNeurons model, got {short(given)}.")

    def _begin(self) -> None:
        """A model of dendrites that has learned nothing, or the frozen one."""
        if self._frozen:
            check_is_fitted(self.dendrites.estimator)
            self.dendrites_ = self.dendrites.estimator
        else:
            self.dendrites_ = GaussianNeurons() if self.dendrites is None else clone(self.dendrites)
        self._known = {}

    def _take(self, rows: Array) -> None:
        """Learn the affinities of a block once it is complete."""
        if not hasattr(self, "_affinities"):
            self._affinities = Affinities.none(self._count)
        waiting = np.concatenate([self._waiting, rows])
        if len(waiting) == BLOCK:
            self._affinities, waiting = self._after(waiting), waiting[:0]
        self._waiting, self._known = waiting, {}

    def _after(self, rows: Array) -> Affinities:
        if not len(rows):
            return self._affinities
        trace = self.trace if self.similarity == "succession" else 0.0
        return learn(self._affinities, self._shares(rows), trace, self.learning_rate)

    def _shares(self, x: Array) -> Array:
        return shares(self.dendrites_, x)

    def _grouped(self) -> Indices:
        """The neuron of each dendrite."""
        found = np.full(self._count, -1)
        if self.similarity == "tree":
            tree = self.dendrites_._tree
            found[tree.used] = tree.groups(self.n_neurons)
            return found
        learned = self._learned
        least = max(self.learning_rate, 1 / learned.seen)  # what one sample gives
        used = np.flatnonzero(learned.activity >= least)
        found[used] = groups_of(self.affinity_[np.ix_(used, used)], min(self.n_neurons, len(used)))
        return found

    def _checked(self, X: ArrayLike) -> Array:
        check_is_fitted(self)
        x: Array = validate_data(self, X, dtype=FLOATS, reset=False)
        return x
