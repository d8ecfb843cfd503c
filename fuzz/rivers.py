"""The river interface beside the estimator."""

import decimal
import math
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import strategies as st

from fuzz.shared import attempt, digest, silent
from fuzz.target import target
from gaussian_neurons import GaussianNeurons
from gaussian_neurons.river import RiverGaussianNeurons

ODD = [math.nan, math.inf, "word", "1.5", None, 10**400, decimal.Decimal("1.5"), np.float32(0.5), True, [1.0]]
NUMBERS = st.floats(-3, 3, width=32)
NAMES = st.sampled_from(["a", "b", "c", 1])
SAMPLES = st.one_of(
    st.fixed_dictionaries({"a": NUMBERS, "b": NUMBERS}),
    st.fixed_dictionaries({"a": NUMBERS, "b": NUMBERS}),
    st.fixed_dictionaries({"b": NUMBERS, "a": NUMBERS, "c": NUMBERS}),
    st.dictionaries(NAMES, st.one_of(NUMBERS, st.sampled_from(ODD)), max_size=3),
)
FRAMES = st.one_of(
    st.lists(SAMPLES, max_size=4),
    st.tuples(st.integers(0, 9), st.sampled_from([1, 255, 256, 257, 900])).map(
        lambda drawn: [
            dict(zip("ab", row, strict=True))
            for row in np.random.default_rng(drawn[0]).normal(size=(drawn[1], 2)).tolist()
        ]
    ),
)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(["learn_one", "learn_one", "predict_one"]), SAMPLES),
        st.tuples(st.sampled_from(["learn_many", "learn_each", "predict_many"]), FRAMES),
        st.tuples(st.sampled_from(["n_clusters", "centers"]), st.none()),
    ),
    max_size=10,
)


def _finite(value: Any) -> bool:
    try:
        return math.isfinite(value)
    except (TypeError, OverflowError):
        return False


class _Twin:
    """What must result: an estimator that gets the accepted rows."""

    def __init__(self, parameters: dict[str, Any]) -> None:
        self.model = GaussianNeurons(3, **parameters, random_state=1)
        self.features: list[Any] | None = None

    def rows(self, samples: list[Any], columns: list[Any], learns: bool) -> list[list[float]] | None:
        """The rows of samples, or None if they must be refused."""
        features = self.features
        if features is None:
            features = sorted(columns, key=str)
        rows = [[sample.get(name, 0.0) for name in features] for sample in samples]
        if not set(features) & set(columns) or not all(_finite(value) for row in rows for value in row):
            return None
        if learns:
            self.features = features
            self.model.partial_fit(np.array(rows, np.float64))
        return rows


@target(
    "river",
    steps=STEPS,
    parameters=st.sampled_from(
        [
            {"width": 0.3, "domain": (0.0, 3.0)},
            {"width": 0.3},
            {},
            {"scale": "columns"},
            {"width": 0.3, "covariance_type": "full"},
        ]
    ),
)
def river(steps: list[tuple[str, Any]], parameters: dict[str, Any]) -> None:
    """A river model equals a GaussianNeurons that got the accepted rows; a refused sample, with a ValueError
    or TypeError that has a sentence, changes nothing and settles no features.
    """
    model, twin = RiverGaussianNeurons(3, **parameters, seed=1), _Twin(parameters)
    with silent():
        for do, what in steps:
            if do in ("n_clusters", "centers"):
                attempt(lambda do=do: getattr(model, do))
                continue
            if do == "learn_each":
                parts = [("learn_one", one) for one in what]
            else:
                parts = [(do, pd.DataFrame(what) if do.endswith("many") else what)]
            for call, given in parts:
                _step(model, twin, call, given)
        if twin.features is None:
            assert model.n_clusters == 0, "clusters without a sample"
            assert model.centers == {}, "centers without a sample"
            return
        (found, refused), (wanted, too) = (
            attempt(lambda: model.n_clusters),
            attempt(lambda: twin.model.n_clusters_),
        )
        assert found == wanted, "another number of clusters"
        assert type(refused) is type(too), "another outcome"
        assert digest(model._model) == digest(twin.model), "it learned something else"
        centers = {} if refused else model.centers
        assert all(list(center) == twin.features for center in centers.values()), "other features"


def _step(model: Any, twin: _Twin, call: str, given: Any) -> None:
    """One call, of the model and of the twin."""
    many, learns = call.endswith("many"), call.startswith("learn")
    columns = list(given)
    samples = given.to_dict("records") if many else [given]
    began = twin.features is not None
    if not learns and not began:
        expected: Any = []
    elif many and not len(given):
        expected = []
    else:
        expected = twin.rows(samples, columns, learns=False)
    if many and (learns or began) and expected is not None and "O" in {kind.kind for kind in given.dtypes}:
        used = given.reindex(columns=twin.features or columns, fill_value=0.0)
        try:
            used.to_numpy(np.float64)
        except (TypeError, ValueError, OverflowError):
            expected = None  # such as Decimal beside a list
    result, error = attempt(lambda: getattr(model, call)(given))
    if error is not None:
        alone = None if learns or not expected else attempt(lambda: twin.model.predict(np.array(expected)))[1]
        assert expected is None or alone, f"a good sample was refused: {error}"
        return
    assert expected is not None, "a sample that must be refused was taken"
    if learns and len(samples):
        twin.rows(samples, columns, learns=True)
    elif not learns:
        wanted = twin.model.predict(np.array(expected, np.float64)) if expected and began else -1
        assert (np.atleast_1d(result) == wanted).all(), "another answer"
