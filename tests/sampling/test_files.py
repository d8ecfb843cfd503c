"""Files as streams: all formats give the same rows; invalid lines are reported; memory is constant."""

import _thread
import bz2
import copy
import gzip
import io
import json
import os
import pickle
import re
import subprocess
import sys
import threading
import tracemalloc
import warnings
from contextlib import suppress

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from gaussian_neurons import GaussianNeurons
from gaussian_neurons.base import extras
from gaussian_neurons.base.bad_rows import BadRow
from gaussian_neurons.sampling import files, rows_from_file, text
from gaussian_neurons.sampling.piped import rows_from_pipe
from gaussian_neurons.sampling.text import Csv, JsonLines, NoNumbers

X = np.random.default_rng(0).normal(size=(2000, 3)) * [1, 1e-200, 1e20]
NAMES = ["a", "b", "c d"]


def write_csv(path):
    lines = [",".join(NAMES), *(",".join(map(repr, row)) for row in X.tolist())]
    path.write_text("\n".join(lines) + "\n")


def write_tsv(path):
    path.write_text("\n".join("\t".join(map(repr, row)) for row in X.tolist()))


def write_spaced(path):
    path.write_text("\n".join("  ".join(map(repr, row)) for row in X.tolist()))


def write_gzip(path):
    with gzip.open(path, "wt") as file:
        file.writelines(";".join(map(repr, row)) + "\r\n" for row in X.tolist())


def write_bzip2(path):
    path.write_bytes(bz2.compress("\n".join(",".join(map(repr, row)) for row in X.tolist()).encode()))


def write_objects(path):
    path.write_text("\n".join(json.dumps(dict(zip(NAMES, row, strict=True))) for row in X.tolist()))


def write_arrays(path):
    path.write_text("\n".join(json.dumps(row) for row in X.tolist()) + "\n\n")


def write_npy(path):
    np.save(path, X)


def write_parquet(path):
    table = pa.table({name: X[:, k] for k, name in enumerate(NAMES)})
    parquet.write_table(table, path, row_group_size=700)


WRITERS = {
    "rows.csv": write_csv,
    "rows.tsv": write_tsv,
    "rows.txt": write_spaced,
    "rows.csv.gz": write_gzip,
    "rows.csv.bz2": write_bzip2,
    "rows.jsonl": write_objects,
    "rows.ndjson": write_arrays,
    "rows.npy": write_npy,
    "rows.parquet": write_parquet,
}


@pytest.fixture(params=WRITERS)
def path(request, tmp_path, monkeypatch):
    """A file with the rows X, which is read in many small blocks."""
    monkeypatch.setattr(files, "BLOCK", 10_000)
    WRITERS[request.param](tmp_path / request.param)
    return tmp_path / request.param


def test_all_formats_give_the_same_rows(path):
    read = rows_from_file(path).read(10_000)
    assert read.dtype == np.float64
    assert read.tobytes() == X.tobytes()


def test_all_formats_can_seek_forward_and_backward(path):
    stream = rows_from_file(path)
    for t in (1200, 1199, 0, 1999, 700, 701):
        assert (stream.seek(t).read(2) == X[t : t + 2]).all()
    assert len(stream.seek(2000).read(1)) == 0
    assert len(stream.seek(5).read(10_000)) == 1995


def test_all_formats_select_columns_and_precision(path):
    stream = rows_from_file(path, columns=[2, 0], dtype=np.float32)
    rows = stream.read(10)
    assert rows.dtype == np.float32
    assert (rows == X[:10, [2, 0]].astype(np.float32)).all()
    assert stream.n_features == 2
    named = path.name in ("rows.csv", "rows.jsonl", "rows.parquet")
    assert stream.feature_names == (["c d", "a"] if named else None)
    last = rows_from_file(path, columns=lambda names: [len(names) - 1])
    assert (last.read(10) == X[:10, 2:]).all()


def test_all_formats_describe_how_they_are_read(path):
    settings = [{}, {"dtype": np.float32}, {"columns": [0]}]
    described = [str(rows_from_file(path, **each).describe()) for each in settings]
    assert len(set(described)) == 3


def test_columns_by_name(tmp_path):
    for name in ("rows.csv", "rows.jsonl", "rows.parquet"):
        WRITERS[name](tmp_path / name)
        assert (rows_from_file(tmp_path / name, columns=["c d", "a"]).read(5) == X[:5, [2, 0]]).all()
        with pytest.raises(ValueError, match="no column 'z'; there are a, b, c d"):
            rows_from_file(tmp_path / name, columns=["z"])


def test_parse_block_equals_parse_line():
    lines = [b"1,2.5e3,-0.1", b"1e-320,+3,0.30000000000000004", b"9007199254740993,1e308,.5"]
    form, header = Csv.of([line.decode() for line in lines], None, None, None)
    assert not header
    slow = np.array([form.parse_line(line.decode()) for line in lines])
    assert form.parse_block(b"\n".join(lines)).tobytes() == slow.tobytes()
    objects = [b'{"x": 1, "y": 0.1}', b'{"y": 2, "x": 1e-320, "z": "other"}']
    form = JsonLines.of(objects[0].decode(), None)
    slow = np.array([form.parse_line(line.decode()) for line in objects])
    assert form.parse_block(b"\n".join(objects)).tobytes() == slow.tobytes()


@given(
    cells=st.lists(
        st.lists(st.text('0123456789.,;eE+-_ "naif\t', max_size=6), min_size=2, max_size=2),
        min_size=1,
        max_size=5,
    )
)
def test_parse_block_equals_parse_line_for_any_text(cells):
    lines = [",".join(row).encode() for row in cells]
    lines = [line for line in lines if line.strip()]
    form = Csv(["x", "y"], [0, 1], ",")
    whole = form.parse_block(b"\n".join(lines)) if lines else None
    chunk = text.parse_lines(form, b"\n".join(lines), list(enumerate(lines, 1)), "file", np.float64)
    assert chunk.taken == len(lines)
    if whole is not None and len(whole) == len(lines) and np.isfinite(whole).all():
        assert not chunk.bad
        assert [form.parse_line(line.decode()) for line in lines] == whole.tolist()


def test_invalid_lines_are_reported_and_the_others_read(tmp_path):
    (tmp_path / "odd.csv").write_text(
        'x;y;z\r\n1;2;3\r\n\r\n4;abc;6\r\n7;8\r\n9;nan;1\r\n 1.5 ;2;3\r\n1;;2\r\n"1";"2";3\r\n1_0;2;3'
    )
    stream = rows_from_file(tmp_path / "odd.csv")
    good, bad = [], []
    while (chunk := stream.draw(len(good) + len(bad), 100)).taken:
        first = len(good) + len(bad)
        good += chunk.x.tolist()
        bad += [str(row.later(first)) for row in chunk.bad]
    assert good == [[1, 2, 3], [1.5, 2, 3], [1, 2, 3]]
    assert bad == [
        "row 1 (line 4 of odd.csv): column 'y' holds 'abc', not a number.",
        "row 2 (line 5 of odd.csv): has 2 cells, expected 3: '7;8'.",
        "row 3 (line 6 of odd.csv): column 'y' holds nan; numbers must be finite in float64.",
        "row 5 (line 8 of odd.csv): column 'y' is empty.",
        "row 7 (line 10 of odd.csv): column 'x' holds '1_0', not a number.",
    ]
    with pytest.raises(BadRow, match="line 4 of odd"):
        stream.seek(0).read(5)


def test_numbers_too_large_for_float32_are_reported(tmp_path):
    (tmp_path / "a.csv").write_text("1,2\n1,1e200\n3,4\n")
    chunk = rows_from_file(tmp_path / "a.csv", dtype=np.float32).draw(0, 9)
    assert chunk.x.tolist() == [[1, 2], [3, 4]]
    assert "line 2 of a.csv): column '1' holds 1e+200; numbers must be finite in float32" in str(chunk.bad[0])


def test_invalid_json_lines_are_reported(tmp_path):
    lines = [
        '{"x": 1, "y": 2}',
        "{not json",
        '{"x": 1}',
        "[1, 2]",
        '{"x": "a", "y": 1}',
        '{"y": 4, "x": 3}',
        "9" * 5000,
    ]
    (tmp_path / "odd.jsonl").write_text("\n".join(lines) + "\n")
    chunk = rows_from_file(tmp_path / "odd.jsonl").draw(0, 100)
    assert chunk.x.tolist() == [[1, 2], [3, 4]]
    assert [bad.row for bad in chunk.bad] == [1, 2, 3, 4, 6]
    assert "line 3" in str(chunk.bad[1])
    assert "column 'y' is empty" in str(chunk.bad[1])
    assert "not an object like the first line: '[1, 2]'" in str(chunk.bad[2])


@pytest.mark.parametrize("depth", [200, 5000, 100_000])
def test_deep_nesting_of_json_lines_is_a_bad_row(tmp_path, depth):
    deep = "[" * depth + "]" * depth
    for first, bad in (('{"x": 1, "y": 2}', f'{{"x": {deep}, "y": 1}}'), ("[1, 2]", f"[{deep}, 3]")):
        (tmp_path / "a.jsonl").write_text(f"{first}\n{bad}\n{first}\n")
        chunk = rows_from_file(tmp_path / "a.jsonl").draw(0, 9)
        assert chunk.x.tolist() == [[1, 2], [1, 2]]
        assert "line 2 of a.jsonl): the JSON text is nested more than 100 levels deep" in str(chunk.bad[0])
        (tmp_path / "a.jsonl").write_text(f"{bad}\n")
        with pytest.raises(ValueError, match="neither a JSON object nor an array"):
            rows_from_file(tmp_path / "a.jsonl")


def test_undecodable_bytes_are_a_bad_row(tmp_path):
    (tmp_path / "odd.csv").write_bytes(b"1,2\n\xff\xfe,3\n4,5\n")
    chunk = rows_from_file(tmp_path / "odd.csv").draw(0, 100)
    assert chunk.x.tolist() == [[1, 2], [4, 5]]
    assert [bad.row for bad in chunk.bad] == [1]


def test_columns_of_the_same_name_are_selected_by_index(tmp_path):
    (tmp_path / "a.csv").write_text("a,a,b\n1,2,3\n4,5,6\n")
    assert rows_from_file(tmp_path / "a.csv").read(9).tolist() == [[1, 2, 3], [4, 5, 6]]
    assert rows_from_file(tmp_path / "a.csv", columns=np.array([1])).read(9).tolist() == [[2], [5]]
    assert rows_from_file(tmp_path / "a.csv").feature_names is None
    with pytest.raises(ValueError, match="several columns are named 'a'"):
        rows_from_file(tmp_path / "a.csv", columns=["a"])


def test_lines_that_the_csv_parser_rejects_are_bad_rows(tmp_path):
    (tmp_path / "a.csv").write_bytes(b"a,b\n1,2\n3,\r4\n" + b"x" * 200_000 + b",1\n5,6\n")
    chunk = rows_from_file(tmp_path / "a.csv").draw(0, 9)
    assert chunk.x.tolist() == [[1, 2], [5, 6]]
    assert [bad.row for bad in chunk.bad] == [1, 2]


def test_json_arrays_must_have_the_length_of_the_first(tmp_path):
    (tmp_path / "a.jsonl").write_text("[1,2]\n[3,4,5]\n[6]\n[1,2],[3,4]\n[5\n6]\n[7,8]\n")
    chunk = rows_from_file(tmp_path / "a.jsonl").draw(0, 9)
    assert chunk.x.tolist() == [[1, 2], [7, 8]]
    assert [bad.row for bad in chunk.bad] == [1, 2, 3, 4, 5]
    assert "has 3 numbers, expected 2" in str(chunk.bad[0])


def test_missing_value_in_the_first_row_is_not_a_header(tmp_path):
    for content in ("1,NA,3\n4,5,6\n", "1,,3\n4,5,6\n"):
        (tmp_path / "a.csv").write_text(content)
        assert rows_from_file(tmp_path / "a.csv").draw(0, 9).taken == 2
    (tmp_path / "a.csv").write_text("id,2019,2020\n4,5,6\n")
    with pytest.raises(ValueError, match=r"cannot tell whether the first line is a header.*header=True"):
        rows_from_file(tmp_path / "a.csv")
    assert len(rows_from_file(tmp_path / "a.csv", header=True).read(9)) == 1


def test_delimiter_is_detected_outside_quotes_and_names(tmp_path):
    (tmp_path / "a.csv").write_text('"a, x, y";"b"\n1;2\n')
    assert rows_from_file(tmp_path / "a.csv").read(9).tolist() == [[1, 2]]
    (tmp_path / "b.csv").write_text("total width\n1\n2\n")
    assert rows_from_file(tmp_path / "b.csv").read(9).tolist() == [[1], [2]]
    (tmp_path / "c.csv").write_text("x y\n1 2\n")
    assert rows_from_file(tmp_path / "c.csv").read(9).tolist() == [[1, 2]]


def test_header_is_detected_or_given(tmp_path):
    (tmp_path / "a.csv").write_text("1,2\n3,4\n")
    assert len(rows_from_file(tmp_path / "a.csv").read(9)) == 2
    assert len(rows_from_file(tmp_path / "a.csv", header=True).read(9)) == 1
    (tmp_path / "b.csv").write_text("\ufeffx,y\n3,4\n")  # with a byte order mark
    assert (rows_from_file(tmp_path / "b.csv", columns="x").read(9) == [[3]]).all()


def test_missing_values_of_parquet_are_nan(tmp_path):
    parquet.write_table(pa.table({"x": [1.0, None], "n": [1, 2]}), tmp_path / "a.parquet")
    read = rows_from_file(tmp_path / "a.parquet").read(9)
    assert read[0].tolist() == [1, 1]
    assert np.isnan(read[1, 0])
    parquet.write_table(pa.table({"x": [1.0], "name": ["a"]}), tmp_path / "b.parquet")
    with pytest.raises(ValueError, match=r"column 'name' holds string.*columns=.*there are x, name"):
        rows_from_file(tmp_path / "b.parquet")
    assert len(rows_from_file(tmp_path / "b.parquet", columns=["x"]).read(9)) == 1


def test_float32_columns_stay_float32(tmp_path):
    parquet.write_table(pa.table({"x": pa.array([1.5], pa.float32())}), tmp_path / "a.parquet")
    assert rows_from_file(tmp_path / "a.parquet").read(1).dtype == np.float32
    np.save(tmp_path / "a.npy", np.zeros((2, 2), np.float32))
    assert rows_from_file(tmp_path / "a.npy").read(1).dtype == np.float32


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", b"", "the file is empty"),
        ("a.csv", b"\n\n", "the file is empty"),
        ("a.csv.gz", b"not gzipped", "cannot be read after line 0"),
        ("a.jsonl", b"hello\n", "neither a JSON object nor an array: 'hello'"),
        ("a.parquet", b"PAR1", "cannot be read as a Parquet file"),
        ("a.npy", b"\x93NUMPY", "cannot be read as an NPY file"),
        ("a.npy", b"junk", "cannot be read as an NPY file"),
        ("a.jsonl", b"{}\n", "there are no columns"),
        ("a.jsonl", b"[]\n", "there are no columns"),
        ("a.xyz", b"1,2", "cannot tell the format of 'a.xyz'.*Say format"),
    ],
)
def test_invalid_files_are_rejected(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=message):
        rows_from_file(tmp_path / name).read(1)


def test_invalid_paths_and_formats_are_rejected(tmp_path):
    with pytest.raises(FileNotFoundError, match="no file at"):
        rows_from_file(tmp_path / "none.csv")
    with pytest.raises(ValueError, match="not a file"):
        rows_from_file(tmp_path)
    (tmp_path / "a.csv").write_text("1\n")
    with pytest.raises(ValueError, match="format must be one of csv, jsonl, npy, parquet"):
        rows_from_file(tmp_path / "a.csv", format="xlsx")
    with pytest.raises(ValueError, match="dtype"):
        rows_from_file(tmp_path / "a.csv", dtype=int)
    with pytest.raises(ValueError, match="is an address, not a file"):
        rows_from_file("https://example.com/a.csv")
    np.savez(tmp_path / "a.npz", x=np.zeros((2, 2)))
    (tmp_path / "a.npz").rename(tmp_path / "a.npy")
    with pytest.raises(ValueError, match="several arrays"):
        rows_from_file(tmp_path / "a.npy")
    np.save(tmp_path / "b.npy", np.zeros((5, 0)))
    with pytest.raises(ValueError, match="table of numbers"):
        rows_from_file(tmp_path / "b.npy")


def test_pickle_in_an_npy_file_is_not_loaded(tmp_path):
    np.save(tmp_path / "pickle.npy", np.array([{"a": 1}], object), allow_pickle=True)
    with pytest.raises(ValueError, match="must hold a table of numbers"):
        rows_from_file(tmp_path / "pickle.npy")


def test_file_without_line_ends_is_rejected_in_limited_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "LONGEST_LINE", 1 << 20)
    (tmp_path / "a.csv").write_bytes(b"1" * (16 << 20))
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match="longer than 1 MiB"):
            rows_from_file(tmp_path / "a.csv")
        assert tracemalloc.get_traced_memory()[1] < 12 << 20
    finally:
        tracemalloc.stop()


def test_memory_is_constant_over_a_large_file(tmp_path):
    lines = "\n".join(
        ",".join(f"{v:.6f}" for v in row) for row in np.random.default_rng(0).random((10_000, 8))
    )
    with open(tmp_path / "large.csv", "w") as file:
        for _ in range(20):  # 14 MB
            file.write(lines + "\n")
    stream = rows_from_file(tmp_path / "large.csv")
    rows, peaks, of_arrow = 0, [], []
    tracemalloc.start()
    try:
        while (chunk := stream.draw(rows, 20_000)).taken:
            rows += chunk.taken
            peaks.append(tracemalloc.get_traced_memory()[1])
            of_arrow.append(pa.total_allocated_bytes())
    finally:
        tracemalloc.stop()
    assert rows == 200_000
    assert peaks[-1] - peaks[len(peaks) // 4] < 1 << 20
    assert of_arrow[-1] - of_arrow[len(peaks) // 4] < 1 << 20


def test_missing_pyarrow_names_the_extra(tmp_path, monkeypatch):
    (tmp_path / "a.csv").write_text("1\n")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ModuleNotFoundError, match=re.escape(extras.install("files"))):
        rows_from_file(tmp_path / "a.csv")


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["<f8", ">f8", "<f4", ">f4", "<f2", "<i8", ">i4", "|u1", "|b1"])
@pytest.mark.parametrize("columns", [None, [2, 0]])
def test_arrays_of_any_type_and_order(tmp_path, order, dtype, columns):
    x = np.asarray(np.random.default_rng(0).integers(0, 100, (500, 3)).astype(dtype), order=order)
    np.save(tmp_path / "rows.npy", x)
    wanted = x if columns is None else x[:, columns]
    stream = rows_from_file(tmp_path / "rows.npy", columns=columns)
    for t, n in ((0, 500), (499, 5), (17, 100), (500, 3)):
        read = stream.draw(t, n).x
        assert read.dtype == x.dtype
        np.testing.assert_array_equal(read, wanted[t : t + n])
    single = rows_from_file(tmp_path / "rows.npy", columns=columns, dtype=np.float32).read(500)
    assert single.dtype == np.float32
    np.testing.assert_array_equal(single, wanted.astype(np.float32))


def test_copies_of_an_npy_stream_read_by_themselves(tmp_path):
    write_npy(tmp_path / "rows.npy")
    stream = rows_from_file(tmp_path / "rows.npy").seek(100)
    for other in (copy.copy(stream), copy.deepcopy(stream), pickle.loads(pickle.dumps(stream))):
        assert (other.read(10) == X[100:110]).all()
        assert (stream.seek(100).read(10) == X[100:110]).all()
    (tmp_path / "rows.npy").unlink()
    assert (stream.seek(0).read(9999) == X).all()  # it is open


def test_any_damage_of_an_npy_header_is_a_value_error(tmp_path):
    write_npy(tmp_path / "rows.npy")
    whole = (tmp_path / "rows.npy").read_bytes()
    random = np.random.default_rng(0)
    for _ in range(1000):
        changed = bytearray(whole)
        for at in random.integers(0, 128, size=random.integers(1, 4)):
            changed[at] = random.integers(256)
        (tmp_path / "rows.npy").write_bytes(changed)
        with suppress(ValueError):
            rows_from_file(tmp_path / "rows.npy").read(9999)


def test_a_damaged_npy_header_causes_no_warning_of_python(tmp_path):
    np.save(tmp_path / "rows.npy", X)
    whole = (tmp_path / "rows.npy").read_bytes()
    (tmp_path / "rows.npy").write_bytes(whole.replace(b"'descr'", b"'\\\\escr'"))
    with warnings.catch_warnings(action="error"), pytest.raises(ValueError, match="cannot be read as an NPY"):
        rows_from_file(tmp_path / "rows.npy")


def test_a_parquet_column_whose_name_is_not_text_is_refused(tmp_path):
    parquet.write_table(pa.table({"column": [1.0, 2.0]}), tmp_path / "rows.parquet")
    whole = (tmp_path / "rows.parquet").read_bytes()
    (tmp_path / "rows.parquet").write_bytes(whole.replace(b"column", b"c\x80lumn"))
    with pytest.raises(ValueError, match=r"rows.parquet' cannot be read as a Parquet file"):
        rows_from_file(tmp_path / "rows.parquet")


def test_an_npy_file_shorter_than_its_header_says_is_refused(tmp_path):
    write_npy(tmp_path / "rows.npy")
    os.truncate(tmp_path / "rows.npy", 128 + X.nbytes - 1)
    with pytest.raises(ValueError, match=r"cannot be read as an NPY file \(its header requires 48128"):
        rows_from_file(tmp_path / "rows.npy")


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.filterwarnings("ignore:columns differ in scale")
def test_an_npy_file_that_is_shortened_ends_with_an_error(tmp_path, order):
    np.save(tmp_path / "rows.npy", np.asarray(X, order=order))
    stream = rows_from_file(tmp_path / "rows.npy")
    assert len(stream.read(100)) == 100
    left = 1500 if order == "C" else 2 * 2000 + 500  # of the last column, 500 numbers
    os.truncate(tmp_path / "rows.npy", 128 + left * 8 * (3 if order == "C" else 1))
    model = GaussianNeurons(4, width=1.0, learning_rate=0.0, random_state=0)
    rows = 1500 if order == "C" else 500
    with pytest.raises(ValueError, match=f"rows.npy' ends after {rows} of 2000 rows: it was shortened"):
        model.learn(stream.seek(0))
    assert model.n_samples_seen_ == stream.position == rows
    np.testing.assert_array_equal(model.recent_samples_[0], X[1000 if rows > 1000 else 0])


def test_a_parquet_file_that_is_shortened_ends_with_an_error(tmp_path):
    table = pa.table({name: np.random.default_rng(0).random(400_000) for name in "abc"})
    parquet.write_table(table, tmp_path / "rows.parquet", row_group_size=100_000)
    stream = rows_from_file(tmp_path / "rows.parquet")
    assert len(stream.read(100)) == 100
    os.truncate(tmp_path / "rows.parquet", 4096)
    with pytest.raises(ValueError, match=r"rows.parquet' (cannot be read after row|ends after) \d+"):
        stream.read(400_000)


def test_a_parquet_file_that_loses_row_groups_ends_with_an_error(tmp_path):
    """The reader of Arrow ends there as if the file were complete."""
    rows = np.random.default_rng(0).random((200_000, 2))
    table = pa.table({"a": rows[:, 0], "b": rows[:, 1]})
    parquet.write_table(table, tmp_path / "rows.parquet", row_group_size=5000)
    stream = rows_from_file(tmp_path / "rows.parquet")
    model = GaussianNeurons(2, width=0.1, domain=(0, 1))

    def shorten(_, t):
        if t == 50_000:
            os.truncate(tmp_path / "rows.parquet", os.path.getsize(tmp_path / "rows.parquet") // 2)

    with pytest.raises(
        ValueError, match=r"ends after \d+ of 200000 rows: it was shortened|cannot be read after"
    ):
        model.learn(stream, every=50_000, callback=shorten)
    learned = model.n_samples_seen_
    assert 50_000 <= learned == stream.position < 200_000
    assert sorted(map(tuple, model.recent_samples_)) == sorted(map(tuple, rows[learned - 1000 : learned]))


def test_memory_is_constant_over_a_large_npy_file(tmp_path):
    np.save(tmp_path / "large.npy", np.zeros((1_000_000, 4)))  # 32 MB
    stream, rows = rows_from_file(tmp_path / "large.npy"), 0
    tracemalloc.start()
    try:
        while (chunk := stream.draw(rows, 20_000)).taken:
            rows += chunk.taken
        assert tracemalloc.get_traced_memory()[1] < 2 << 20
    finally:
        tracemalloc.stop()
    assert rows == 1_000_000


def test_words_in_the_first_row_are_reported(tmp_path):
    (tmp_path / "a.csv").write_text("x,kind,y,name\n1,red,NA,rose\n")
    stream = rows_from_file(tmp_path / "a.csv")
    with pytest.raises(
        NoNumbers, match=r"column 'kind' holds 'red', not.*there are x, kind, y, name"
    ) as found:
        stream.require_numbers()
    assert found.value.held == {"kind": "'red'", "name": "'rose'"}
    rows_from_file(
        tmp_path / "a.csv", columns=["x", "y"]
    ).require_numbers()  # NA is a missing value, not a word
    (tmp_path / "a.jsonl").write_text('{"x": 1, "kind": "red"}\n')
    with pytest.raises(NoNumbers, match="column 'kind'"):
        rows_from_file(tmp_path / "a.jsonl").require_numbers()
    (tmp_path / "b.csv").write_text("x,y\n")
    rows_from_file(tmp_path / "b.csv").require_numbers()


TEXTS = [name for name in WRITERS if not name.endswith((".gz", ".bz2", ".npy", ".parquet"))]


@pytest.mark.parametrize("name", TEXTS)
def test_pipe_gives_the_rows_of_the_file(tmp_path, name):
    WRITERS[name](tmp_path / name)
    with open(tmp_path / name, "rb") as file:
        assert rows_from_pipe(file).read(10_000).tobytes() == X.tobytes()
    with open(tmp_path / name, "rb") as file:  # a resumed run
        assert (rows_from_pipe(file, columns=[1]).seek(1500).read(10_000) == X[1500:, 1:2]).all()


def test_rows_of_a_pipe_are_available_before_it_ends():
    reading_end, writing_end = os.pipe()
    with os.fdopen(reading_end, "rb") as file, os.fdopen(writing_end, "wb", buffering=0) as writer:
        writer.write(b"a,b\n1,2\n3,")
        stream = rows_from_pipe(file)
        assert stream.feature_names == ["a", "b"]
        assert stream.draw(0, 100).x.tolist() == [[1, 2]]
        assert stream.draw(0, 100).x.tolist() == [[1, 2]]  # the last chunk can be drawn again
        writer.write(b"4\n5,6")
        assert stream.draw(1, 100).x.tolist() == [[3, 4]]
        writer.close()
        assert stream.draw(2, 100).x.tolist() == [[5, 6]]
        assert stream.draw(3, 100).taken == 0
        with pytest.raises(ValueError, match="cannot go back to row 0: standard input can be read only once"):
            stream.draw(0, 1)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "no data came from standard input"),
        (b"\n\n", "'standard input': the file is empty"),
        (gzip.compress(b"1,2\n", mtime=0), "compressed with gzip.*zcat"),
        (b"PAR1....", "a Parquet file, which cannot be read from a pipe"),
        (b"\x93NUMPY", "an NPY file"),
        (b"1,2\n3\n", r"row 1 \(line 2 of standard input\): has 1 cells, expected 2"),
    ],
)
def test_invalid_pipes_are_rejected(content, message):
    with pytest.raises(ValueError, match=message):
        rows_from_pipe(io.BytesIO(content)).read(2)


def test_binary_formats_cannot_be_read_from_pipes(monkeypatch):
    with pytest.raises(ValueError, match="only csv and jsonl can be read from standard input, not npy"):
        rows_from_pipe(io.BytesIO(b"1"), format="npy")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ModuleNotFoundError, match=re.escape(extras.install("files"))):
        rows_from_pipe(io.BytesIO(b"1"))


@pytest.mark.parametrize("kind", ["npy", "csv", "parquet"])
def test_a_stream_can_be_read_in_forked_processes(tmp_path, kind):
    """They share the position in the file."""
    script = f"""
import os, sys
import numpy as np
from gaussian_neurons.sampling import rows_from_file

stream = rows_from_file({str(tmp_path / kind)!r} + ".{kind}")
expected = np.arange(60_000.0).reshape(-1, 2)
stream.read(10)
child = os.fork()
for begin in range(10, 30_000, 997):
    rows = stream.read(997)
    if not np.array_equal(rows, expected[begin : begin + 997]):
        os._exit(3)
if not child:
    os._exit(0)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    rows = np.arange(60_000.0).reshape(-1, 2)
    path = tmp_path / f"{kind}.{kind}"
    if kind == "npy":
        np.save(path, rows)
    elif kind == "csv":
        np.savetxt(path, rows, delimiter=",")
    else:
        parquet.write_table(pa.table({"a": rows[:, 0], "b": rows[:, 1]}), path, row_group_size=3000)
    assert subprocess.run([sys.executable, "-c", script], timeout=100).returncode == 0


DECIMAL_COMMAS = {
    "semicolons": "a;b;kind\n1,5;2;x\n-0,25;1e3;y\n,5;3,0e-1;z\n",
    "tabs": "a\tb\tkind\n1,5\t2\tx\n-0,25\t1e3\ty\n,5\t3,0e-1\tz\n",
    "no header": "1,5;2;0\n-0,25;1e3;0\n,5;3,0e-1;0\n",
    "blanks": "a b kind\n1,5 2 0\n-0,25 1e3 0\n,5 3,0e-1 0\n",
    "quotes": '"a";"b";"kind"\n"1,5";"2";"x"\n"-0,25";"1e3";"y"\n",5";"3,0e-1";"z"\n',
}


@pytest.mark.parametrize("kind", DECIMAL_COMMAS)
def test_decimal_commas_are_read(tmp_path, kind):
    (tmp_path / "a.csv").write_text(DECIMAL_COMMAS[kind])
    expected = [[1.5, 2], [-0.25, 1000], [0.5, 0.3]]
    assert rows_from_file(tmp_path / "a.csv", columns=[0, 1]).read(9).tolist() == expected
    with open(tmp_path / "a.csv", "rb") as file:
        assert rows_from_pipe(file, columns=[0, 1]).read(9).tolist() == expected


def test_decimal_commas_in_one_column_and_after_whole_numbers_are_read(tmp_path):
    (tmp_path / "a.csv").write_text("a\n1,5\n2\n")
    assert rows_from_file(tmp_path / "a.csv").read(9).tolist() == [[1.5], [2]]
    (tmp_path / "b.csv").write_text("a;b\n" + "1;2\n" * 500 + "1,5;2\n")
    stream = rows_from_file(tmp_path / "b.csv")
    assert stream.seek(500).read(1).tolist() == [[1.5, 2]]
    with open(tmp_path / "b.csv", "rb") as file, pytest.raises(ValueError, match="Write decimal commas as"):
        rows_from_pipe(file).read(999)  # of which two lines determine the format


def test_commas_between_cells_are_no_decimal_commas(tmp_path):
    for lines in ("1,5\n2,6\n", "a,b\n1,5\n2,6\n", "1, 5\n2, 6\n", "a, b\n1, 5\n2, 6\n"):
        (tmp_path / "a.csv").write_text(lines)
        assert rows_from_file(tmp_path / "a.csv").read(9).tolist() == [[1, 5], [2, 6]]


def test_a_point_among_decimal_commas_is_not_guessed(tmp_path):
    """It may separate thousands."""
    rows = "a;b\n" + "1,5;2\n" * 1000
    (tmp_path / "a.csv").write_text(rows + "1.234;2\n")
    with pytest.raises(ValueError, match=r"column 'a' holds '1.234', but other numbers have a decimal comma"):
        rows_from_file(tmp_path / "a.csv").read(2000)
    (tmp_path / "b.csv").write_text("a;b\n1,5;1.234\n")
    with pytest.raises(ValueError, match=r"column 'a' holds '1,5', not a number. Write decimal commas as"):
        rows_from_file(tmp_path / "b.csv").read(9)
    assert rows_from_file(tmp_path / "b.csv", columns=["a"]).read(9).tolist() == [[1.5]]


def test_a_signal_that_arrives_just_before_a_pipe_is_read_is_handled():
    """`interrupt_main` leaves a signal as one that came too late to end the system's read."""
    read_end, write_end = os.pipe()
    with os.fdopen(read_end, "rb") as file, os.fdopen(write_end, "wb", buffering=0) as pipe:
        pipe.write(b"1,2\n3,4\n")
        stream = rows_from_pipe(file)
        assert len(stream.read(2)) == 2
        threading.Timer(0.2, _thread.interrupt_main).start()
        too_late = threading.Timer(30.0, pipe.write, [b"5,6\n"])
        too_late.start()
        with pytest.raises(KeyboardInterrupt):
            stream.draw(2, 1)
        assert too_late.is_alive()
        too_late.cancel()
