"""Tables of every kind are read right, or refused by name, in the same way by every method."""

import re
import sqlite3
from collections import deque, namedtuple
from contextlib import closing
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse

from gaussian_neurons import GaussianNeurons, sweep
from gaussian_neurons.base import extras, tables
from gaussian_neurons.river import RiverGaussianNeurons
from gaussian_neurons.sampling import Iterated, Rows

A, B = [1.0, 2.0, 3.0], [4.5, 5.0, 6.0]
WHOLE = [[1.0, 4.5], [2.0, 5.0], [3.0, 6.0]]
COLUMNS = {"a": A, "b": B}
DICTS = [dict(zip("ab", row, strict=True)) for row in WHOLE]
Pair = namedtuple("Pair", "a b")


class Interchange:
    """A table of an unknown library that has the interchange protocol only."""

    def __dataframe__(self, nan_as_null=False, allow_copy=True):
        return pa.table(COLUMNS).__dataframe__()


class ArrowStream:
    """The same with the Arrow protocol for streams."""

    def __arrow_c_stream__(self, requested_schema=None):
        return pa.table(COLUMNS).__arrow_c_stream__(requested_schema)


class ArrowArray:
    """The same with the Arrow protocol for arrays."""

    def __arrow_c_array__(self, requested_schema=None):
        return pa.record_batch(COLUMNS).__arrow_c_array__(requested_schema)


class Tensor:
    """An array of another library, such as PyTorch."""

    def __init__(self, rows=WHOLE, error=None):
        self.rows, self.error = np.array(rows), error
        self.shape, self.ndim = self.rows.shape, self.rows.ndim

    def __len__(self):
        return len(self.rows)

    def __iter__(self):
        return (Tensor(row) for row in self.rows)

    def __array__(self, dtype=None, copy=None):
        if self.error is not None:
            raise self.error
        return np.asarray(self.rows, dtype)


class ArrayInterface:
    def __init__(self):
        self.rows = np.array(WHOLE)
        self.__array_interface__ = self.rows.__array_interface__


class MaskedVariable:
    """As of a library whose arrays are masked."""

    def __array__(self, dtype=None, copy=None):
        return np.ma.array(WHOLE, mask=[[0, 0], [0, 1], [0, 0]])


# ---- what is read -----------------------------------------------------------------------------------

FRAMES = {
    "pandas": pd.DataFrame(COLUMNS),
    "pandas, several types": pd.DataFrame({"a": np.array(A, np.int8), "b": B}),
    "pandas, bools": pd.DataFrame({"a": [True, True, False], "b": B}),
    "pandas, nullable": pd.DataFrame({"a": pd.array([1, 2, 3], "Int64"), "b": pd.array(B, "Float32")}),
    "pandas, nullable bools": pd.DataFrame({"a": pd.array([True, True, False], "boolean"), "b": B}),
    "pandas, Arrow": pd.DataFrame(COLUMNS).convert_dtypes(dtype_backend="pyarrow"),
    "pandas, Arrow floats": pd.DataFrame(COLUMNS, dtype="float64[pyarrow]"),
    "pandas, objects": pd.DataFrame({"a": np.array(A, object), "b": B}),
    "pandas, decimals": pd.DataFrame({"a": [Decimal(1), Decimal(2), Decimal(3)], "b": B}),
    "pandas, sparse": pd.DataFrame({"a": pd.arrays.SparseArray(A), "b": B}),
    "polars": pl.DataFrame(COLUMNS),
    "polars, several types": pl.DataFrame({"a": pl.Series([1, 2, 3], dtype=pl.UInt8), "b": B}),
    "polars, bools": pl.DataFrame({"a": [True, True, False], "b": B}),
    "polars, decimals": pl.DataFrame({"a": pl.Series([Decimal(1), Decimal(2), Decimal(3)]), "b": B}),
    "Arrow table": pa.table(COLUMNS),
    "Arrow table in parts": pa.concat_tables([pa.table(COLUMNS).slice(0, 2), pa.table(COLUMNS).slice(2)]),
    "Arrow batch": pa.record_batch(COLUMNS),
    "Arrow bools": pa.table({"a": [True, True, False], "b": B}),
    "Arrow float16": pa.table({name: np.array(column, np.float16) for name, column in COLUMNS.items()}),
    "Arrow stream protocol": ArrowStream(),
    "Arrow array protocol": ArrowArray(),
    "interchange protocol": Interchange(),
}
NAMED = {
    "mapping of lists": COLUMNS,
    "mapping of series": {"a": pd.Series(A), "b": np.array(B)},
    "dicts": DICTS,
    "dicts in any order": [DICTS[0], {"b": 5.0, "c": "more", "a": 2.0}, DICTS[2]],
    "tuple of dicts": tuple(DICTS),
    "named tuples": [Pair(*row) for row in WHOLE],
    "series": [pd.Series(row) for row in DICTS],
}
PLAIN = {
    "floats": np.array(WHOLE),
    "int8": np.array(WHOLE, np.int8),
    "uint64": np.array(WHOLE, np.uint64),
    "bool": np.array([[True, True], [False, True], [True, False]]),
    "float16": np.array(WHOLE, np.float16),
    "float32": np.array(WHOLE, np.float32),
    "long double": np.array(WHOLE, np.longdouble),
    "big endian": np.array(WHOLE, ">f8"),
    "big endian, int": np.array(WHOLE, ">i4"),
    "Fortran": np.array(WHOLE, order="F"),
    "strided": np.repeat(np.array(WHOLE), 2, axis=1)[:, ::2],
    "reversed": np.array(WHOLE)[::-1][::-1],
    "read-only": np.broadcast_to(np.array(WHOLE[0]), (3, 2)),
    "objects": np.array(WHOLE, object),
    "matrix": np.array(WHOLE).view(np.matrix),
    "memory view": memoryview(np.array(WHOLE)),
    "masked, nothing hidden": np.ma.array(WHOLE, mask=False),
    "masked rows": [np.ma.array(row) for row in WHOLE],
    "lists": WHOLE,
    "tuples": tuple(map(tuple, WHOLE)),
    "deque": deque(WHOLE),
    "decimals": [[Decimal(str(value)) for value in row] for row in WHOLE],
    "rows of tensors": [Tensor(row) for row in WHOLE],
    "__array__": Tensor(),
    "__array_interface__": ArrayInterface(),
    "pandas without names": pd.DataFrame(WHOLE),
    "pandas, names of two levels": pd.DataFrame(
        WHOLE, columns=pd.MultiIndex.from_product([["a"], ["x", "y"]])
    ),
}
READ = FRAMES | NAMED | PLAIN
ROUNDED = ("int8", "uint64", "big endian, int")
BOOLS = ("pandas, bools", "pandas, nullable bools", "polars, bools", "Arrow bools")


def rows_in(kind):
    """The rows of a table of this kind."""
    if kind in ROUNDED:
        return np.array(WHOLE).astype(int).tolist()
    if kind in BOOLS:
        return [[1, 4.5], [1, 5], [0, 6]]
    return {"bool": [[1, 1], [0, 1], [1, 0]], "read-only": [WHOLE[0]] * 3}.get(kind, WHOLE)


def of_model(model):
    """The rows that a model has learned, and the names of their columns."""
    return model.recent_samples_.tolist(), getattr(model, "feature_names_in_", np.array([])).tolist() or None


def fitted(given):
    model = GaussianNeurons(2, max_samples=100, random_state=0).fit(given)
    rows, names = of_model(model)
    assert len(model.labels_) == 3
    return sorted(set(map(tuple, rows))), names  # as drawn


def learned(given):
    return of_model(GaussianNeurons(2, random_state=0).learn(given))


def streamed(stream):
    return stream.read(3).tolist(), stream.feature_names


def by_river(given):
    model = RiverGaussianNeurons(2, width=1.0, seed=0)
    model.learn_many(given)
    assert (
        model.predict_many(given).tolist()
        == model._learned().predict(model._learned().recent_samples_).tolist()
    )
    return model._learned().recent_samples_.tolist(), model._features


def swept(given, n_samples=30):
    return sweep(given, n_samples, n_neurons=2, widths=[1.0], inhibitions=[1.0], seeds=1, n_jobs=1)


READERS = {
    "tables.read": lambda given: (
        tables.read(given).x.tolist(),
        list(tables.read(given).names or []) or None,
    ),
    "fit": fitted,
    "partial_fit": lambda given: of_model(GaussianNeurons(2, random_state=0).partial_fit(given)),
    "learn": learned,
    "learn from a list": lambda given: learned([given]),
    "learn from a generator": lambda given: learned(table for table in [given]),
    "Rows": lambda given: streamed(Rows(given)),
    "Iterated": lambda given: streamed(Iterated([given])),
}
ANSWERS = ("predict", "transform", "score_samples", "is_novel", "cost")


@pytest.mark.parametrize("kind", READ)
@pytest.mark.parametrize("method", READERS)
def test_every_method_reads_tables_of_every_kind(kind, method):
    given, rows, names = READ[kind], rows_in(kind), ["a", "b"] if kind in FRAMES | NAMED else None
    assert READERS[method](given) == (sorted(set(map(tuple, rows))) if method == "fit" else rows, names)


@pytest.mark.parametrize("kind", FRAMES)
def test_river_reads_frames_of_every_kind(kind):
    assert by_river(FRAMES[kind]) == (rows_in(kind), ["a", "b"])


@pytest.mark.parametrize("kind", READ)
def test_a_sweep_reads_tables_of_every_kind(kind):
    rows = np.array(rows_in(kind), np.float64)
    expected = swept(rows)
    assert swept(READ[kind]).n_clusters == expected.n_clusters
    np.testing.assert_allclose(swept(READ[kind]).mean_response, expected.mean_response, rtol=1e-5)


@pytest.mark.parametrize("kind", READ)
@pytest.mark.parametrize("method", ANSWERS)
def test_every_method_answers_about_tables_of_every_kind(kind, method):
    rows = np.array(rows_in(kind), np.float64)
    frame = pd.DataFrame(rows, columns=["a", "b"]) if kind in FRAMES | NAMED else rows
    model = GaussianNeurons(4, width=1.0, random_state=0).fit(frame)
    np.testing.assert_array_equal(getattr(model, method)(READ[kind]), getattr(model, method)(frame))


@pytest.mark.parametrize("kind", READ)
def test_a_model_learns_on_from_tables_of_every_kind(kind):
    rows = np.array(rows_in(kind), np.float64)
    frame = pd.DataFrame(rows, columns=["a", "b"]) if kind in FRAMES | NAMED else rows
    model = GaussianNeurons(4, width=1.0, random_state=0).partial_fit(frame)
    assert model.partial_fit(READ[kind]).learn(READ[kind]).recent_samples_.tolist() == 3 * rows.tolist()


def test_tensors_of_pytorch_are_read():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    for given in (torch.tensor(WHOLE), torch.tensor(WHOLE, dtype=torch.float16), [torch.tensor(WHOLE[0])]):
        assert tables.read(given).x.tolist() == WHOLE[: len(given)]
        assert learned(given)[0] == WHOLE[: len(given)]
    with pytest.raises(ValueError, match=r"X cannot be converted to an array: .*requires grad"):
        tables.read(torch.tensor(WHOLE, requires_grad=True))


def test_dtypes_are_kept():
    for given, dtype in (
        (pd.DataFrame({"a": np.ones(2, np.float32)}), np.float32),
        (pl.DataFrame({"a": pl.Series([1.0], dtype=pl.Float32)}), np.float32),
        (pa.table({"a": pa.array([1.0], pa.float32())}), np.float32),
        ([{"a": np.float32(1)}], np.float32),
        (pd.DataFrame({"a": [True], "b": [1.5]}), np.float64),
    ):
        assert tables.read(given).x.dtype == dtype


def test_an_array_is_not_copied():
    rows = np.array(WHOLE)
    assert tables.read(rows).x is rows


def test_frames_without_names_are_chunks_as_well():
    frame = pd.DataFrame(WHOLE)  # the columns are 0 and 1
    for items in ([frame, frame], [np.array(WHOLE), frame], [frame, WHOLE]):
        stream = Iterated(items)
        assert stream.read(9).tolist() == 2 * WHOLE
        assert stream.feature_names is None
    words = pd.DataFrame([[1.0, "x"], [2.0, 5.0]])
    assert Iterated([frame, words]).draw(0, 9).x.tolist() == [*WHOLE, [2, 5]]


def test_readers_of_batches_are_learned_batch_by_batch():
    table = pa.table(COLUMNS)
    for source in (table.to_reader(1), iter(table.to_batches(1)), (pl.DataFrame(COLUMNS) for _ in range(1))):
        assert learned(source) == (WHOLE, ["a", "b"])


# ---- what is missing --------------------------------------------------------------------------------

HOLES = {
    "pandas": pd.DataFrame({"a": A, "b": [4.5, np.nan, 6.0]}),
    "pandas, None": pd.DataFrame({"a": A, "b": [4.5, None, 6.0]}, dtype=object),
    "pandas, NA": pd.DataFrame({"a": A, "b": pd.array([4, pd.NA, 6], "Int64")}),
    "pandas, NA of floats": pd.DataFrame({"a": A, "b": pd.array([4, pd.NA, 6], "Float64")}),
    "pandas, NA of bools": pd.DataFrame({"a": A, "b": pd.array([True, pd.NA, False], "boolean")}),
    "pandas, NA as an object": pd.DataFrame({"a": A, "b": np.array([4, pd.NA, 6], object)}),
    "pandas, Arrow": pd.DataFrame({"a": A, "b": [4, None, 6]}).convert_dtypes(dtype_backend="pyarrow"),
    "polars": pl.DataFrame({"a": A, "b": [4, None, 6]}),
    "polars, bools": pl.DataFrame({"a": A, "b": [True, None, False]}),
    "Arrow": pa.table({"a": A, "b": [4, None, 6]}),
    "Arrow, bools": pa.table({"a": A, "b": [True, None, False]}),
    "dicts": [{"a": 1.0, "b": 4.5}, {"a": 2.0, "b": None}],
    "dicts, NA": [{"a": 1.0, "b": 4.5}, {"a": 2.0, "b": pd.NA}],
    "mapping of columns": {"a": A, "b": [4.5, None, 6.0]},
}


def named_model() -> GaussianNeurons:
    return GaussianNeurons(2, width=1.0, random_state=0).partial_fit(pd.DataFrame(COLUMNS))


def fresh():
    return GaussianNeurons(2, width=1.0, random_state=0)


ENTRANCES = {
    "fit": lambda _, given: fresh().fit(given),
    "partial_fit": lambda _, given: fresh().partial_fit(given),
    "learn": lambda _, given: fresh().learn(given),
    "learn from a list": lambda _, given: fresh().learn([given]),
    "learn from Rows": lambda _, given: fresh().learn(Rows(given), 3),
    "sweep": lambda _, given: swept(given),
    "partial_fit again": lambda model, given: model.partial_fit(given),
    "learn again": lambda model, given: model.learn(given),
    **{method: lambda model, given, method=method: getattr(model, method)(given) for method in ANSWERS},
}


@pytest.mark.parametrize("kind", HOLES)
@pytest.mark.parametrize("method", ENTRANCES)
def test_missing_values_are_named_with_row_and_column(kind, method):
    model = named_model()
    before = model._state
    with pytest.raises(ValueError, match="must hold finite numbers, got NaN at row 1, column 'b'"):
        ENTRANCES[method](model, HOLES[kind])
    if method != "learn again":  # which learns the rows before
        assert model._state is before


NO_NAMES = ([[1.0, 2.0], [3.0, np.nan]], [[1.0, 2.0], [3.0, None]], [[1.0, 2.0], [3.0, pd.NA]])


@pytest.mark.parametrize("rows", NO_NAMES)
@pytest.mark.parametrize("method", ENTRANCES)
def test_missing_values_without_names_are_named_by_index(rows, method):
    model = fresh().partial_fit(WHOLE)
    with pytest.raises(ValueError, match="got NaN at row 1, column 1"):
        ENTRANCES[method](model, rows)


def test_each_skipped_row_of_the_report_has_its_column():
    frame = pd.DataFrame({"a": [1.0, np.nan, 2.0, np.inf], "b": [np.nan, 1.0, 2.0, 3.0]})
    says = r"row 0, column 'b'.*row 1, column 'a'.*infinity \(inf\) at row 3, column 'a'"
    for source in (frame, [frame], frame.to_dict("records")):
        with pytest.warns(UserWarning, match=says):
            assert GaussianNeurons(2).learn(source, on_bad="skip").recent_samples_.tolist() == [[2, 2]]


# ---- what is refused --------------------------------------------------------------------------------

WORDS = ["x", "y", "z"]
REFUSED = {
    "words": (pd.DataFrame({"a": A, "word": WORDS}), r"do not: word \((str|object)\)|'x' at column 'word'"),
    "polars words": (pl.DataFrame({"a": A, "word": WORDS}), r"do not: word \(String\)|'x' at column 'word'"),
    "Arrow words": (pa.table({"a": A, "word": WORDS}), r"do not: word \(string\)|'x' at column 'word'"),
    "numbers as words": (pl.DataFrame({"a": A, "b": ["1", "2", "3"]}), r"do not: b|'1' at column 'b'"),
    "categories": (pd.DataFrame({"a": A, "kind": pd.Categorical([1, 2, 1])}), r"do not: kind \(category\)"),
    "polars categories": (
        pl.DataFrame({"a": A, "kind": pl.Series(WORDS, dtype=pl.Categorical)}),
        r"do not: kind \(Categorical|'x' at column 'kind'",
    ),
    "Arrow dictionary": (
        pa.table({"a": A, "kind": pa.array([1, 2, 1]).dictionary_encode()}),
        r"do not: kind \(dictionary",
    ),
    "times": (pd.DataFrame({"a": A, "at": pd.date_range("2020", periods=3)}), r"do not: at \(datetime64"),
    "polars dates": (pl.DataFrame({"a": A, "at": pd.date_range("2020", periods=3)}), r"do not: at \(Date"),
    "Arrow dates": (pa.table({"a": A, "at": pa.array([1, 2, 3], pa.date32())}), r"do not: at \(date32"),
    "rows in a column": (
        pd.Series([np.ones(2), np.ones(2)]),
        r"got array\(\[1., 1.\]\) at .*numpy.stack\(X\)",
    ),
    "numbers that NumPy lacks": (
        pl.DataFrame({"a": A, "b": pl.Series([1, 2, 3], dtype=pl.Int128)}),
        r"do not: b \(Int128\)",
    ),
    "lists in a column": (pl.DataFrame({"a": [[1.0, 2.0]] * 3}), r"do not: a \(List|row 0 has shape"),
    "complex column": (pd.DataFrame({"a": A, "c": [1j, 2, 3]}), r"do not: c \(complex128\)"),
    "equal names": (pd.DataFrame(WHOLE, columns=["a", "a"]), "several columns named 'a'"),
    "mixed names": (pd.DataFrame(WHOLE, columns=["a", 1]), "must be strings"),
    "lazy frame": (pl.LazyFrame(COLUMNS), r"LazyFrame"),
    "complex": (np.array(WHOLE, complex), "Complex data not supported"),
    "structured": (
        np.array([(1.0, 2.0)], [("a", float), ("b", float)]),
        "structured array with the fields a, b",
    ),
    "text": (np.array(WHOLE, str), "must hold numbers, got text"),
    "dates": (np.zeros((2, 2), "M8[D]"), r"must hold numbers, got datetime64\[D\]"),
    "objects": (np.array([[1.0, {}]], object), r"got \{\} at .*column 1 \(.*real number"),
    "numbers too large": ([[1.0, 10**400]], "got 1000.* at .*column 1 .*too large"),
    "list with a word": ([[1.0, "x"], [2.0, 3.0]], "got 'x' at .*column 1"),
    "dict with a word": ([{"a": 1.0, "b": "x"}], "got 'x' at .*column 'b'"),
    "columns of two lengths": ({"a": [1.0], "b": B}, "one number, or as many numbers, for each name"),
    "ragged": ([[1.0, 2.0], [3.0]], "row 1 has 1 numbers, expected 2"),
    "sparse array": (scipy.sparse.csr_array(np.eye(3)), r"sparse matrix \(csr_array\).*toarray\(\)"),
    "sparse matrix": (scipy.sparse.dok_matrix(np.eye(3)), r"sparse matrix \(dok_matrix\).*toarray\(\)"),
    "masked": (np.ma.array(WHOLE, mask=[[0, 0], [0, 1], [0, 0]]), "masked entry at (row 1, column|index) 1"),
    "masked row": ([WHOLE[0], np.ma.array(WHOLE[1], mask=[0, 1])], "has a masked entry at index 1"),
    "masked value": ([{"a": 1.0, "b": np.ma.masked}], "has a masked entry in 'b'"),
    "masked variable": (MaskedVariable(), "masked entry at (row 1, column|index) 1"),
    "masked deque": (deque([np.ma.array([2.0, 5.0], mask=[0, 1])]), "masked entry at index 1"),
    "three dimensions": (np.zeros((3, 2, 2)), r"3 dimensions.*Patches|shape \(3, 2, 2\)"),
    "tensor that cannot be converted": (Tensor(error=TypeError("on a GPU: use cpu()")), r"use cpu\(\)"),
    "path": ("data.csv", r"rows_from_file\('data.csv'\)|row 0 holds no numbers: 'data.csv'"),
    "nothing": (None, "got NoneType|row 0 holds no numbers: None"),
    "number": (5.0, r"one number|row 0 has shape \(\)"),
}

if tuple(map(int, pl.__version__.split(".")[:2])) < (2, 1):
    del REFUSED["numbers that NumPy lacks"]  # older versions panic instead of raising an exception


@pytest.mark.parametrize("kind", REFUSED)
@pytest.mark.parametrize("method", ENTRANCES)
def test_every_method_refuses_what_it_cannot_read_by_name(kind, method):
    given, says = REFUSED[kind]
    model = fresh().partial_fit(WHOLE)
    before = model._state
    with pytest.raises((ValueError, TypeError), match=says) as refused:
        ENTRANCES[method](model, given)
    assert len(str(refused.value)) < 300
    assert model._state is before or method == "learn again"


def test_river_refuses_in_the_same_way():
    model = RiverGaussianNeurons(2)
    for kind, (given, says) in REFUSED.items():
        if tables.is_frame(given) and kind != "mixed names":  # which are features as well
            with pytest.raises(ValueError, match=says):
                model.learn_many(given)
    for kind, given in HOLES.items():
        if kind in FRAMES:
            with pytest.raises(ValueError, match="got NaN at row 1, column 'b'"):
                model.learn_many(given)
    for given in (*PLAIN.values(), *NAMED.values()):
        if not tables.is_frame(given):
            with pytest.raises(TypeError, match="must be a data frame, which has column names"):
                model.learn_many(given)
    assert model.n_clusters == 0


@pytest.mark.parametrize("method", ENTRANCES)
def test_a_row_without_a_named_value_is_refused(method):
    with pytest.raises(ValueError, match=r"row 1.* has no value for 'b'"):
        ENTRANCES[method](named_model(), [DICTS[0], {"a": 1.0}])


ONE_ROW = {
    "dict": DICTS[0],
    "series": pd.Series(DICTS[0]),
    "array": np.ones(2),
    "tensor": Tensor(WHOLE[0]),
    "polars": pl.Series(A),
    "Arrow": pa.chunked_array([A]),
}
EMPTY = {
    "array": (np.empty((0, 2)), "0 sample"),
    "frame": (pd.DataFrame({"a": []}), "0 sample"),
    "Arrow": (pa.table({"a": pa.array([], pa.float64())}), "0 sample"),
    "no columns": (np.empty((3, 0)), "0 feature"),
    "frame without columns": (pd.DataFrame(index=range(3)), "0 feature"),
}


def test_one_row_and_no_rows_are_tables_of_a_stream_only():
    refused = [(row, "one dimension. Reshape your data") for row in ONE_ROW.values()] + list(EMPTY.values())
    for given, says in refused:
        for name, enter in ENTRANCES.items():
            if name != "learn from a list":
                with pytest.raises(ValueError, match=says):
                    enter(fresh().partial_fit(WHOLE), given)
    for row in ONE_ROW.values():
        assert len(Iterated([row]).read(9)) == 1
    for given, says in EMPTY.values():
        assert not len(Iterated([given, WHOLE]).draw(0, 9).bad) or "feature" in says


def test_an_unknown_library_that_fails_is_named():
    class Broken:
        def __arrow_c_stream__(self, requested_schema=None):
            raise RuntimeError("not today")

    with pytest.raises(ValueError, match="X cannot be read as a table: not today"):
        tables.read(Broken())


def test_tables_of_other_libraries_need_pyarrow(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ModuleNotFoundError, match=re.escape(extras.install("files"))):
        tables.read(Interchange())


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
    return row_of("select " + ", ".join(f"{value} as {name}" for name, value in values.items()))


def row_of(query):
    with closing(sqlite3.connect(":memory:")) as base:
        base.row_factory = sqlite3.Row
        return base.execute(query).fetchone()


NAMED_ROWS = {
    "dict": {"b": 100.0, "a": 0.0},
    "more names": {"c": "word", "b": 100.0, "a": 0.0},
    "columns": {"b": [100.0], "a": [0.0]},
    "named tuple": Point(100.0, 0.0),
    "series": pd.Series({"b": 100.0, "a": 0.0}),
    "database": database_row(b=100.0, a=0.0),
}


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


def test_rows_with_a_name_twice_are_refused():
    for row in (row_of("select 1.0 as a, 2.0 as a"), pd.Series([1.0, 2.0], index=["a", "a"])):
        with pytest.raises(ValueError, match="several values of one name: 'a', 'a'"):
            GaussianNeurons(2).learn([row])


def test_the_index_of_pandas_in_an_arrow_table_is_no_column():
    frame = pd.DataFrame(COLUMNS)
    kept = frame.iloc[[0, 2, 1]]  # the index is stored as a column
    table = pa.Table.from_pandas(kept)
    assert len(table.column_names) > len(COLUMNS)
    x, names = tables.read(table)
    assert names == tuple(COLUMNS)
    np.testing.assert_array_equal(x, kept.to_numpy(float))
    forged = pa.table(COLUMNS).replace_schema_metadata({"pandas": "{"})
    assert tables.read(forged)[1] == tuple(COLUMNS)
