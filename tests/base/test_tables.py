"""Tables of every kind are read right, or refused by name, at every entrance."""

import sqlite3
import warnings
from collections import deque, namedtuple

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse

from gaussian_neurons import GaussianNeurons, sweep
from gaussian_neurons.base import tables
from gaussian_neurons.sampling import Iterated, Rows, as_stream

A, B = [1.0, 2.0, 3.0], [4.5, 5.0, 6.0]
WHOLE = [[1.0, 4.5], [2.0, 5.0], [3.0, 6.0]]
COLUMNS = {"a": A, "b": B}


class Interchange:
    """A table of an unknown library that has the interchange protocol only."""

    def __dataframe__(self, nan_as_null=False, allow_copy=True):
        return pa.table(COLUMNS).__dataframe__()


class Arrow:
    """The same with the Arrow protocol."""

    columns = ("a", "b")

    def __arrow_c_stream__(self, requested_schema=None):
        return pa.table(COLUMNS).__arrow_c_stream__(requested_schema)


class Array:
    def __array__(self, dtype=None, copy=None):
        return np.array(WHOLE, dtype)


FRAMES = {
    "pandas": pd.DataFrame(COLUMNS),
    "pandas, several types": pd.DataFrame({"a": np.array(A, np.int8), "b": B}),
    "pandas, nullable": pd.DataFrame({"a": pd.array([1, 2, 3], "Int64"), "b": pd.array(B, "Float32")}),
    "pandas, Arrow": pd.DataFrame(COLUMNS).convert_dtypes(dtype_backend="pyarrow"),
    "pandas, Arrow floats": pd.DataFrame(COLUMNS, dtype="float64[pyarrow]"),
    "pandas, objects": pd.DataFrame({"a": np.array(A, object), "b": B}),
    "polars": pl.DataFrame(COLUMNS),
    "polars, several types": pl.DataFrame({"a": pl.Series([1, 2, 3], dtype=pl.UInt8), "b": B}),
    "Arrow table": pa.table(COLUMNS),
    "Arrow batch": pa.record_batch(COLUMNS),
    "Arrow protocol": Arrow(),
    "interchange protocol": Interchange(),
}
PLAIN = {
    "lists": WHOLE,
    "tuples": tuple(map(tuple, WHOLE)),
    "Fortran": np.array(WHOLE, order="F"),
    "big endian": np.array(WHOLE, ">f8"),
    "float16": np.array(WHOLE, np.float16),
    "strided": np.repeat(np.array(WHOLE), 2, axis=1)[:, ::2],
    "objects": np.array(WHOLE, object),
    "__array__": Array(),
    "masked, nothing hidden": np.ma.array(WHOLE, mask=False),
    "masked rows": [np.ma.array(row) for row in WHOLE],
}


@pytest.mark.parametrize("kind", [*FRAMES, *PLAIN])
def test_tables_of_every_kind_are_read(kind):
    x, names = tables.read(FRAMES[kind] if kind in FRAMES else PLAIN[kind])
    assert x.tolist() == WHOLE
    assert names == (("a", "b") if kind in FRAMES else None)


@pytest.mark.parametrize("kind", [*FRAMES, *PLAIN])
def test_every_entrance_reads_the_same(kind):
    given = FRAMES[kind] if kind in FRAMES else PLAIN[kind]
    if kind != "tuples" and not isinstance(given, list):
        assert as_stream(given).read(9).tolist() == WHOLE
    assert Rows(given).read(3).tolist() == WHOLE
    assert Iterated([given]).read(9).tolist() == WHOLE
    model = GaussianNeurons(2, random_state=0)
    for learned in (model.partial_fit(given), model.fit(given), GaussianNeurons(2).learn(given)):
        assert learned.recent_samples_.min() == 1.0
        assert learned.recent_samples_.max() == 6.0
        assert getattr(learned, "feature_names_in_", np.array([])).tolist() == (
            ["a", "b"] if kind in FRAMES else []
        )
    expected = model.fit(np.array(WHOLE)).predict(WHOLE)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        np.testing.assert_array_equal(model.predict(given), expected)


def test_bools_are_numbers():
    for frame in (
        pd.DataFrame({"a": [True, False], "b": [1, 2]}),
        pl.DataFrame({"a": [True, False], "b": [1, 2]}),
        pa.table({"a": [True, False], "b": [1, 2]}),
    ):
        assert tables.read(frame).x.tolist() == [[1, 1], [0, 2]]
        assert tables.read(frame).x.dtype.kind in "fiu"


def test_frames_without_names_are_chunks_as_well():
    frame = pd.DataFrame(WHOLE)  # the columns are 0 and 1
    for items in ([frame, frame], [np.array(WHOLE), frame], [frame, WHOLE]):
        stream = Iterated(items)
        assert stream.read(9).tolist() == 2 * WHOLE
        assert stream.feature_names is None


def test_missing_values_are_nan():
    for frame in (
        pd.DataFrame({"a": [1.0, None], "b": pd.array([1, None], "Int64")}),
        pl.DataFrame({"a": [1.0, None], "b": [1, None]}),
        pa.table({"a": [1.0, None], "b": [1, None]}),
    ):
        np.testing.assert_array_equal(tables.read(frame).x, [[1, 1], [np.nan, np.nan]])
        with pytest.raises(ValueError, match="got NaN at row 1, column 0"):
            GaussianNeurons(2).partial_fit(frame)


def test_precision_is_kept():
    for frame in (
        pd.DataFrame({"a": np.ones(2, np.float32)}),
        pl.DataFrame({"a": pl.Series([1.0], dtype=pl.Float32)}),
        pa.table({"a": pa.array([1.0], pa.float32())}),
    ):
        assert tables.read(frame).x.dtype == np.float32


WORDS = ["x", "y", "z"]
REFUSED = {
    "words": (pd.DataFrame({"a": A, "word": WORDS}), "these columns do not: word"),
    "polars words": (pl.DataFrame({"a": A, "word": WORDS}), "these columns do not: word"),
    "Arrow words": (pa.table({"a": A, "word": WORDS}), "these columns do not: word"),
    "categories": (pd.DataFrame({"a": A, "kind": pd.Categorical([1, 2, 1])}), "do not: kind"),
    "times": (pd.DataFrame({"a": A, "at": pd.date_range("2020", periods=3)}), "do not: at"),
    "complex": (pd.DataFrame({"a": A, "c": [1j, 2, 3]}), "do not: c"),
    "equal names": (pd.DataFrame(WHOLE, columns=["a", "a"]), "several columns named 'a'"),
    "mixed names": (pd.DataFrame(WHOLE, columns=["a", 1]), "must be strings"),
    "no columns": (pd.DataFrame(index=range(3)), "0 feature"),
    "no rows": (pd.DataFrame({"a": []}), "0 sample"),
    "no Arrow rows": (pa.table({"a": pa.array([], pa.float64())}), "0 sample"),
    "sparse": (scipy.sparse.csr_array(np.eye(3)), "[Ss]parse"),
    "hidden": (np.ma.array(WHOLE, mask=[[0, 0], [0, 1], [0, 0]]), "masked entry at row 1, column 1"),
    "hidden in a row": (
        [WHOLE[0], np.ma.array(WHOLE[1], mask=[0, 1])],
        r"X\[1\] has a masked entry at index 1",
    ),
    "one dimension": (np.zeros(3), "Expected 2D"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_what_cannot_be_read_is_refused_by_name(kind):
    given, says = REFUSED[kind]
    model = GaussianNeurons(2, width=1.0).partial_fit(WHOLE)
    entrances = [tables.read, Rows, GaussianNeurons(2).fit, GaussianNeurons(2).partial_fit, model.predict]
    entrances += [model.transform, model.is_novel, model.score_samples, lambda it: sweep(it, 10, n_jobs=1)]
    before = model._state
    for enter in entrances:
        with pytest.raises((ValueError, TypeError), match=says):
            enter(given)
    with pytest.raises((ValueError, TypeError)):
        GaussianNeurons(2).learn(given)
    assert model._state is before


@pytest.mark.parametrize("argument", ["sample_width", "init", "domain", "centers"])
def test_masked_entries_of_other_arguments_are_refused(argument):
    hidden = np.ma.array([1.0, 2.0, 3.0], mask=[0, 1, 0])
    model = GaussianNeurons(3, width=1.0, random_state=0)
    calls = {
        "sample_width": lambda: model.partial_fit(WHOLE, sample_width=hidden),
        "init": lambda: model.set_params(init=np.ma.array(WHOLE, mask=[[0, 1]] * 3)).partial_fit(WHOLE),
        "domain": lambda: model.set_params(domain=(hidden[:2] - 9, 9)).partial_fit(WHOLE),
        "centers": lambda: model.partial_fit(WHOLE).add_neurons(centers=np.ma.array([[1, 2]], mask=[[0, 1]])),
    }
    with pytest.raises(ValueError, match=f"{argument} has a masked entry"):
        calls[argument]()
    with pytest.raises(ValueError, match=r"width\[1\] is masked"):
        GaussianNeurons(2, width=[1.0, np.ma.masked]).partial_fit(WHOLE)


# ---- names ------------------------------------------------------------------------------------------

Point = namedtuple("Point", "b a")


def database_row(**values):
    base = sqlite3.connect(":memory:")
    base.row_factory = sqlite3.Row
    return base.execute(
        "select " + ", ".join(f"{value} as {name}" for name, value in values.items())
    ).fetchone()


NAMED_ROWS = {
    "dict": {"b": 100.0, "a": 0.0},
    "more names": {"c": "word", "b": 100.0, "a": 0.0},
    "columns": {"b": [100.0], "a": [0.0]},
    "named tuple": Point(100.0, 0.0),
    "series": pd.Series({"b": 100.0, "a": 0.0}),
    "database": database_row(b=100.0, a=0.0),
}


def named_model() -> GaussianNeurons:
    return GaussianNeurons(2, width=1.0, random_state=0).partial_fit(pd.DataFrame(COLUMNS))


@pytest.mark.parametrize("kind", NAMED_ROWS)
def test_rows_with_names_are_matched_by_name(kind):
    model = named_model().learn([NAMED_ROWS[kind]])
    assert model.recent_samples_[-1].tolist() == [0.0, 100.0]
    fresh = Iterated([{"a": 1.0, "b": 2.0}, NAMED_ROWS[kind]])
    assert fresh.read(2).tolist() == [[1.0, 2.0], [0.0, 100.0]]
    assert fresh.feature_names == ["a", "b"]


def test_a_mapping_of_columns_is_a_chunk():
    model = GaussianNeurons(2, random_state=0).learn([{"a": [1, 2, 3], "b": [4, 5, 6]}])
    assert model.recent_samples_.tolist() == [[1, 4], [2, 5], [3, 6]]
    assert model.feature_names_in_.tolist() == ["a", "b"]


SWAPPED = {
    "pandas": pd.DataFrame({"b": B, "a": A}),
    "polars": pl.DataFrame({"b": B, "a": A}),
    "Arrow": pa.table({"b": B, "a": A}),
}


@pytest.mark.parametrize("kind", SWAPPED)
def test_tables_with_columns_in_another_order_are_refused(kind):
    model = named_model()
    before = model._state
    for enter in (
        model.partial_fit,
        model.predict,
        model.learn,
        lambda table: model.learn(Rows(table), 3),
        lambda table: model.learn([table]),
    ):
        with pytest.raises(ValueError, match="must be in the same order"):
            enter(SWAPPED[kind])
    assert model._state is before
    with pytest.raises(ValueError, match=r"row 3: its columns are 'b', 'a', expected 'a', 'b'"):
        named_model().learn([pd.DataFrame(COLUMNS), SWAPPED[kind]])


def test_rows_without_a_named_value_are_skipped():
    rows = [{"a": 1.0, "b": 2.0}, {"a": 3.0}, {"b": 5.0, "a": 4.0}, [6.0, 7.0]]
    with pytest.warns(UserWarning, match=r"row 1: it has no value for 'b'; row 3: it has no column names"):
        model = GaussianNeurons(2, random_state=0).learn(rows, on_bad="skip")
    assert model.recent_samples_.tolist() == [[1, 2], [4, 5]]
    with pytest.raises(ValueError, match="row 1: it has column names, but earlier rows have none"):
        GaussianNeurons(2).learn([[1.0, 2.0], {"a": 1.0, "b": 2.0}])


def test_a_table_with_words_in_some_rows_is_learned_without_these():
    frame = pd.DataFrame({"b": [4.0, "?", 6.0], "a": [1.0, 2.0, 3.0]})
    with pytest.warns(UserWarning, match="1 row was skipped"):
        model = named_model().learn([frame], on_bad="skip")
    assert model.recent_samples_[-2:].tolist() == [[1, 4], [3, 6]]


def test_masked_rows_of_a_stream_are_refused_or_skipped():
    chunk = np.ma.array(WHOLE, mask=[[0, 0], [0, 1], [0, 0]])
    for items in ([chunk], list(chunk), [{"a": chunk[k, 0], "b": chunk[k, 1]} for k in range(3)]):
        with pytest.raises(ValueError, match=r"row 1: .* has a masked entry"):
            GaussianNeurons(2).learn(items)
        with pytest.warns(UserWarning, match="1 row was skipped"):
            model = GaussianNeurons(2, random_state=0).learn(items, on_bad="skip")
        assert model.recent_samples_.tolist() == [WHOLE[0], WHOLE[2]]


def test_rows_without_names_for_a_model_with_names_are_matched_by_position_with_a_warning():
    for enter in (named_model().partial_fit, named_model().predict, named_model().learn):
        with pytest.warns(UserWarning, match="Columns are matched by position"):
            enter(np.array(WHOLE))
    plain = GaussianNeurons(2, width=1.0).partial_fit(WHOLE)
    with pytest.warns(UserWarning, match="without names"):
        plain.learn(pd.DataFrame(COLUMNS))


class MaskedVariable:
    """As of a library whose arrays are masked."""

    def __array__(self, dtype=None, copy=None):
        return np.ma.array(WHOLE, mask=[[0, 0], [0, 1], [0, 0]])


def test_masked_entries_in_other_containers_are_refused():
    hidden = np.ma.array([2.0, 5.0], mask=[0, 1])
    for given in (MaskedVariable(), deque([hidden])):
        with pytest.raises(ValueError, match="masked entry"):
            GaussianNeurons(2).partial_fit(given)
    with pytest.raises(ValueError, match="masked entry"):
        GaussianNeurons(2).learn([deque([np.array([1.0, 4.5]), hidden])])


def test_rows_with_a_name_twice_are_refused():
    base = sqlite3.connect(":memory:")
    base.row_factory = sqlite3.Row
    twice = base.execute("select 1.0 as a, 2.0 as a").fetchone()
    for row in (twice, pd.Series([1.0, 2.0], index=["a", "a"])):
        with pytest.raises(ValueError, match="several values of one name: 'a', 'a'"):
            GaussianNeurons(2).learn([row])


@pytest.mark.parametrize("kind", ["categories", "times"])
def test_columns_without_numbers_are_refused_in_an_iterable_as_well(kind):
    with pytest.raises(ValueError, match="these columns do not"):
        GaussianNeurons(2).learn([REFUSED[kind][0]])


def test_numbers_as_text_are_refused():
    for table in (
        pl.DataFrame({"a": ["1", "2"]}),
        pa.table({"a": ["1", "2"]}),
        pd.DataFrame({"a": ["1", "2"]}),
    ):
        with pytest.raises(ValueError, match="these columns do not: a"):
            GaussianNeurons(2).partial_fit(table)


def test_other_items_that_are_no_rows_are_named():
    for item in (scipy.sparse.csr_array(np.eye(3)), [[[["x"]]]]):
        with pytest.raises(ValueError, match=r"row 0 (holds no numbers|has shape)"):
            GaussianNeurons(2).learn([item])
