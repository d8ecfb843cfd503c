"""Inputs of all kinds at all entrances."""

import copy
import decimal
import fractions
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import scipy.sparse
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from fuzz.shared import (
    COUNTS,
    CUTS,
    PARAMETERS,
    SEEDS,
    attempt,
    digest,
    needs_widths,
    pieces,
    silent,
    table,
    unchanged,
    widths_for,
)
from fuzz.target import target
from gaussian_neurons import GaussianNeurons, sweep
from gaussian_neurons.base.bad_rows import BadRow
from gaussian_neurons.river import RiverGaussianNeurons
from gaussian_neurons.sampling import Rows

SPECIAL = [0.0, -0.0, 1.0, np.nan, np.inf, -np.inf, 1e308, -1e200, 1e160, 1e39, 1e-19, 1e-155, 1e-170, 5e-324]
NUMBERS = st.one_of(st.floats(-5, 5, width=32), st.sampled_from(SPECIAL))
DTYPES = ["?", "i1", "u8", ">i4", "f2", "f4", "f8", ">f8", "g", "c16", "M8[s]", "m8[s]", "U3", "S3", "O"]
ODD = [None, "", "1.5", "word", b"1", decimal.Decimal("1.5"), fractions.Fraction(1, 3), 10**400, 1j, True, ()]
LAYOUTS = ["C", "F", "strided", "reversed", "read-only"]
SHAPES = st.one_of(
    st.sampled_from([(5, 2), (4, 2), (2, 2), (1, 2)]), hnp.array_shapes(min_dims=0, max_dims=3, min_side=0)
)
NAMES = st.sampled_from([["a", "b"], ["b", "a"], ["a", "a"], [0, 1], ["a", 1], [None, "b"], ["", " "]])


def _layout(x: Any, how: str) -> Any:
    """The same values in another memory layout."""
    if how == "strided" and x.ndim:
        return np.repeat(x, 2, axis=-1)[..., ::2]
    if how == "reversed" and x.ndim:
        return x[::-1].copy()[::-1]
    if how == "read-only":
        x = x.copy()
        x.flags.writeable = False
    return np.asfortranarray(x) if how == "F" else x


@st.composite
def _arrays(draw: Any) -> Any:
    dtype = draw(st.sampled_from(["f8", "f4", *DTYPES]))
    elements = NUMBERS if dtype == "f8" else st.sampled_from([1.0, *ODD]) if dtype == "O" else None
    x = draw(hnp.arrays(dtype, draw(SHAPES), elements=elements))
    return _layout(x, draw(st.sampled_from(LAYOUTS)))


@st.composite
def _columns(draw: Any) -> list[Any]:
    """Two columns of five cells, as pandas has them."""
    kinds = ["float32", "int64", "Int64", "Float64", "boolean", "category", "string", "object", "m"]
    columns = []
    for _ in range(2):
        kind = draw(st.sampled_from(["float64", "float64", *kinds]))
        cells = draw(st.lists(st.integers(0, 3), min_size=5, max_size=5))
        column = pd.Series(cells) % 2 == 1 if kind == "boolean" else pd.Series(cells)
        column = column.astype("timedelta64[s]" if kind == "m" else kind)
        if kind not in ("int64", "m") and draw(st.booleans()):
            column = column.where(pd.Series(cells) != 3)
        columns.append(column)
    return columns


def _frame(columns: list[Any], names: list[Any]) -> Any:
    frame = pd.concat(columns, axis=1)
    frame.columns = pd.Index(names, dtype=object)
    return frame


FRAMES = st.builds(_frame, _columns(), NAMES)
CELLS = st.one_of(st.none(), st.floats(-5, 5), st.sampled_from([0.0, 1.0, float("nan"), float("inf")]))
NAMED = st.dictionaries(st.sampled_from("ab"), st.lists(CELLS, min_size=3, max_size=3), min_size=1)
SCALARS = st.one_of(st.integers(), NUMBERS, st.text(max_size=3), st.sampled_from([True, *ODD]))
JUNK = st.recursive(SCALARS, lambda inner: st.one_of(st.lists(inner, max_size=3), st.tuples(inner, inner)))
MASKED = st.builds(
    lambda x, mask: np.ma.masked_array(x, mask), hnp.arrays("f8", (5, 2)), hnp.arrays("?", (5, 2))
)
THINGS = st.one_of(
    _arrays(),
    _arrays(),
    hnp.arrays("f8", (5, 2), elements=NUMBERS),
    hnp.arrays("f8", (5, 2), elements=NUMBERS).map(lambda x: x.tolist()),
    FRAMES,
    NAMED.map(pl.DataFrame),
    NAMED.map(lambda columns: pl.LazyFrame(columns)),
    NAMED.map(pa.table),
    NAMED.map(pa.RecordBatch.from_pydict),
    NAMED,
    MASKED,
    hnp.arrays("f8", (5, 2), elements=NUMBERS).map(scipy.sparse.csr_array),
    hnp.arrays("f8", (5, 2), elements=NUMBERS).map(scipy.sparse.coo_matrix),
    st.lists(st.dictionaries(st.sampled_from("ab"), SCALARS, max_size=2), max_size=3),
    st.lists(hnp.arrays("f8", (2,), elements=NUMBERS), max_size=3),
    JUNK,
)
WIDTHS = st.one_of(
    st.none(),
    st.sampled_from([None, 0.1, [0.1] * 5]),
    st.sampled_from([widths_for(5, kind="diag"), widths_for(5, kind="full"), np.ones((5, 2, 2)), -np.eye(2)]),
    hnp.arrays("f8", st.sampled_from([5, (5, 2), (5, 2, 2)]), elements=NUMBERS),
    JUNK,
    MASKED,
)

ENTRANCES = {
    "fit": lambda model, x, widths: model.fit(x, sample_width=widths),
    "fit_weighted": lambda model, x, widths: model.fit(x, sample_weight=widths),
    "partial_fit": lambda model, x, widths: model.partial_fit(x, sample_width=widths),
    "learn": lambda model, x, widths: model.learn(x, progress=False),
    "learn_pairs": lambda model, x, widths: model.learn([(x, widths)], progress=False),
    "learn_iterator": lambda model, x, widths: model.learn(iter(x), progress=False),
    "learn_skip": lambda model, x, widths: model.learn(x, progress=False, on_bad="skip"),
    "predict": lambda model, x, widths: model.predict(x),
    "transform": lambda model, x, widths: model.transform(x),
    "score_samples": lambda model, x, widths: model.score_samples(x),
    "is_novel": lambda model, x, widths: model.is_novel(x),
    "cost": lambda model, x, widths: model.cost(x),
    "predict_proba": lambda model, x, widths: model.predict_proba(x),
    "score": lambda model, x, widths: model.score(x),
    "Rows": lambda model, x, widths: Rows(x, sample_width=widths).read(7),
    "sweep": lambda model, x, widths: sweep(
        x, 20, n_neurons=2, widths=[1.0, 0.1], inhibitions=[0.5], seeds=1, n_jobs=1, progress=False
    ),
    "river": lambda model, x, widths: _river(x),
}
ANSWERS = ("predict", "transform", "score_samples", "is_novel", "cost", "predict_proba", "score")
LEARNS = ("fit", "fit_weighted", "partial_fit", "learn", "learn_pairs", "learn_iterator", "learn_skip")


def _river(x: Any) -> Any:
    model = RiverGaussianNeurons(2, width=0.3, seed=0)
    if isinstance(x, pd.DataFrame):
        model.learn_many(x)
        return model.predict_many(x)
    for one in x if isinstance(x, list) else [x]:
        if isinstance(one, dict):
            model.learn_one(one)
            model.predict_one(one)
    return model.n_clusters


@target(
    "inputs_outcome",
    thing=THINGS,
    widths=WIDTHS,
    entrance=st.sampled_from(sorted(ENTRANCES)),
    parameters=PARAMETERS,
    learned=st.sampled_from([0, 0, 3, 98, 998]),  # a look comes after 100 samples, a review after 1000
    single=st.booleans(),
)
def inputs(
    thing: Any, widths: Any, entrance: str, parameters: dict[str, Any], learned: int, single: bool
) -> None:
    """Any input at any entrance gives a result, or a ValueError, TypeError or FloatingPointError with a
    sentence, and no warning but a UserWarning. An error leaves the model as it was; `learn` keeps the rows
    before a bad row. Answers are finite or -inf, and the input stays as it was.
    """
    model = GaussianNeurons(**parameters)
    if learned:
        kind = parameters.get("covariance_type", "spherical")
        own = widths_for(learned, kind=kind) if needs_widths(parameters) else None
        with silent():
            model.partial_fit(table(learned, dtype=np.float32 if single else np.float64), sample_width=own)
    state, before, same = model._state, digest(model), copy.deepcopy(thing)
    from_source = entrance == "learn_iterator"  # iter(thing) itself may fail
    result, error = attempt(lambda: ENTRANCES[entrance](model, thing, widths), foreign=from_source)
    if error is not None and not (entrance.startswith("learn") and isinstance(error, BadRow)):
        assert model._state is state, "an error changed the model"
        assert digest(model) == before, "an error changed the model in place"
    if entrance not in LEARNS:
        assert digest(model) == before, "reading changed the model"
    elif model._state is not None and model.n_samples_seen_:
        assert np.isfinite(model.recent_samples_).all(), "a sample that is not finite was learned"
        _, wrong = attempt(lambda: (model.centers_, model.n_clusters_, model.predict(model.recent_samples_)))
        assert wrong is None or isinstance(wrong, FloatingPointError | ValueError)
        assert wrong is not None or np.isfinite(model.centers_).all()
    if error is None and entrance in ("transform", "score_samples", "cost", "predict_proba", "score"):
        assert not np.isnan(np.asarray(result, float)).any(), "an answer is NaN"
    if error is None and entrance in ANSWERS and type(thing) is np.ndarray and thing.dtype.kind == "f":
        assert np.isfinite(thing).all(), "an answer about a row that is not finite"
    if type(thing) is np.ndarray and thing.dtype.kind in "fiub":
        assert np.array_equal(thing, same, equal_nan=thing.dtype.kind == "f"), "the input was changed"


SOURCES = {
    "rows": lambda x, cuts: Rows(x, passes=1),
    "array": lambda x, cuts: x,
    "list of rows": lambda x, cuts: list(x),
    "list of lists": lambda x, cuts: x.tolist() if x.dtype != np.float32 else list(x),
    "chunks": lambda x, cuts: [x[part] for part in pieces(len(x), cuts)],
    "iterator of chunks": lambda x, cuts: (x[part] for part in pieces(len(x), cuts)),
}


@target(
    "inputs_bits",
    source=st.sampled_from(sorted(SOURCES)),
    rows=COUNTS,
    columns=st.integers(1, 4),
    dtype=st.sampled_from(["f8", "f4", "i4", "u1", "f2", ">f8", ">i4"]),
    layout=st.sampled_from(LAYOUTS),
    scale=st.sampled_from([1.0, 1.0, 1.0, 40.0, 1e-12, 1e9, 1e-155, 1e150]),
    seed=SEEDS,
    cuts=CUTS,
    parameters=PARAMETERS.filter(lambda parameters: not needs_widths(parameters)),
)
def same_bits(
    source: str,
    rows: int,
    columns: int,
    dtype: str,
    layout: str,
    scale: float,
    seed: int,
    cuts: list[int],
    parameters: dict[str, Any],
) -> None:
    """The same rows through `partial_fit` in one call or several, and through `learn` from any source, give
    the same bits, or each the same kind of error.
    """
    x = table(rows, columns, seed)
    x = (x * scale).astype(dtype) if dtype == "f8" or 1e-3 < scale < 1e3 else x.astype(dtype)
    x = _layout(x, layout)
    models = [GaussianNeurons(**parameters) for _ in range(3)]

    def in_pieces() -> None:
        for part in pieces(len(x), cuts):
            models[1].partial_fit(x[part])

    found = [
        attempt(lambda: models[0].partial_fit(x))[1],
        attempt(in_pieces)[1],
        attempt(lambda: models[2].learn(SOURCES[source](x, cuts), progress=False))[1],
    ]
    kinds = {None if error is None else type(error) for error in found}
    assert len(kinds) == 1, f"different outcomes: {found}"
    if kinds == {None}:
        assert digest(models[0]) == digest(models[1]), "cut into calls, it learned something else"
        assert digest(models[0]) == digest(models[2]), "from a stream, it learned something else"


TABLES = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "arrow": pa.table,
    "batch": pa.RecordBatch.from_pydict,
    "dicts": lambda columns: [
        dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)
    ],
}


@target(
    "inputs_names",
    first=st.sampled_from(sorted(TABLES)),
    then=st.sampled_from(sorted(TABLES)),
    rows=st.sampled_from([1, 2, 3, 30, 1001]),
    entrances=st.tuples(
        st.sampled_from(["partial_fit", "learn", "fit"]),
        st.sampled_from(["partial_fit", "learn", "learn chunks", "predict", "transform", "score_samples"]),
    ),
    order=st.permutations("abc"),
    names=st.sampled_from(["abc", "abd"]),
    parameters=PARAMETERS.filter(lambda parameters: not needs_widths(parameters)),
)
def names(
    first: str,
    then: str,
    rows: int,
    entrances: tuple[str, str],
    order: list[str],
    names: str,
    parameters: dict[str, Any],
) -> None:
    """A table with named columns is learned row by row, as the array of its values is. Later columns with the
    same names in another order are matched by name or refused, other names are refused; nothing is swapped.
    """
    x = table(rows, 3) * [1.0, 10.0, 100.0]
    model, twin = GaussianNeurons(**parameters), GaussianNeurons(**parameters)

    def give(to: Any, entrance: str, kind: str, columns: Any) -> tuple[Any, Any]:
        what = TABLES[kind](columns)
        if entrance == "learn chunks":
            return attempt(lambda: to.learn(what if kind == "dicts" else [what], progress=False))
        options = {"progress": False} if entrance == "learn" else {}
        return attempt(lambda: getattr(to, entrance)(what, **options))

    _, error = give(model, entrances[0], first, dict(zip("abc", x.T.tolist(), strict=True)))
    if error is not None:
        rows_only = first == "dicts" and entrances[0] != "learn"  # a list of dicts is no table
        assert rows_only, f"a table of numbers is refused: {error}"
        return
    with silent():
        twin.fit(x) if entrances[0] == "fit" else twin.partial_fit(x)
    assert digest(model, names=None) == digest(twin, names=None), "rows were not learned as rows"
    columns = dict(zip(names, x.T.tolist(), strict=True))
    if names != "abc":
        order = list(names)
    result, error = give(model, entrances[1], then, {name: columns[name] for name in order})
    if error is not None:
        rows_only = then == "dicts" and not entrances[1].startswith("learn")
        assert rows_only or names != "abc" or order != list("abc"), f"the same columns are refused: {error}"
        return
    if names != "abc":
        assert model._state.names is None, "columns of other names were taken"
    with silent():
        if entrances[1] in ("partial_fit", "learn", "learn chunks"):
            twin.partial_fit(x)
            assert digest(model, names=None) == digest(twin, names=None), "columns were swapped"
        else:
            expected = getattr(twin, entrances[1])(x)
            assert np.array_equal(result, expected), "columns were swapped"


@target(
    "inputs_masked",
    mask=hnp.arrays("?", (6, 2)),
    hidden=st.sampled_from([0.5, 1e6, np.nan, 1e20]),
    entrance=st.sampled_from(
        ["fit", "partial_fit", "predict", "transform", "score_samples", "cost", "Rows", "sweep", "learn"]
    ),
    form=st.sampled_from(["table", "rows", "chunks", "iterator"]),
    skip=st.booleans(),
    learned=st.sampled_from([0, 5]),
)
def masked(mask: Any, hidden: float, entrance: str, form: str, skip: bool, learned: int) -> None:
    """A masked entry is refused, or its row is skipped with on_bad="skip"; what it hides is never used."""
    x = table(6)
    covered = np.ma.masked_array(np.where(mask, hidden, x), mask)
    model, twin = (
        GaussianNeurons(3, width=0.3, domain=(0, 3), random_state=0, max_samples=40) for _ in range(2)
    )
    if learned or entrance not in ("fit", "partial_fit", "learn", "Rows", "sweep"):
        model.partial_fit(table(5))
        twin.partial_fit(table(5))
    if entrance != "learn":
        _, error = attempt(lambda: ENTRANCES[entrance](model, covered, None))
        assert error is not None or not mask.any(), "masked entries were used"
        return
    source = {"table": covered, "rows": list(covered), "chunks": [covered[:2], covered[2:]]}.get(
        form, iter(list(covered))
    )
    with unchanged(twin):
        _, error = attempt(lambda: model.learn(source, progress=False, on_bad="skip" if skip else "raise"))
    good = ~mask.any(axis=1)
    if error is None:
        assert skip or good.all(), "masked entries were used"
        if good.any():
            twin.partial_fit(x[good])
        assert digest(model, skipped=0) == digest(twin), "other rows than the unmasked ones were learned"
    elif form != "table" and not skip:
        if good[: int(np.argmin(good))].any():
            twin.partial_fit(x[: int(np.argmin(good))])
        assert digest(model) == digest(twin), "other rows than those before the masked one were learned"
