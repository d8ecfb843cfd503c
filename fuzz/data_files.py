"""Data files: valid, damaged, and shortened while they are read."""

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from pyarrow import parquet

from fuzz.shared import CHANGES, attempt, folder, mutated, table
from fuzz.target import target
from gaussian_neurons.sampling import Stream, rows_from_file
from gaussian_neurons.sampling.stream import Chunk, concatenated

KINDS = ("csv", "jsonl", "npy", "parquet")
VALUES = st.one_of(
    st.floats(-1e3, 1e3), st.sampled_from([0.0, -0.0, 5e-324, 1e308, 0.1, 1e-5, 123456789.125])
)
TABLES = st.one_of(
    hnp.arrays("f8", st.tuples(st.integers(1, 8), st.integers(1, 3)), elements=VALUES),
    st.builds(table, st.sampled_from([40, 300]), st.integers(1, 3)),
)
FORMS = st.fixed_dictionaries(
    {
        "delimiter": st.sampled_from([",", ";", "\t", "|", " "]),
        "header": st.booleans(),
        "newline": st.sampled_from(["\n", "\r\n", "\n\n"]),
        "end": st.sampled_from(["", "\n", " \n\n"]),
        "quoted": st.booleans(),
        "objects": st.booleans(),
        "dtype": st.sampled_from(["f8", "f4", ">f8", "i8"]),
        "order": st.sampled_from("CF"),
        "group": st.sampled_from([1, 3, 100]),
    }
)
READS = st.lists(st.tuples(st.sampled_from(["read", "seek", "draw"]), st.integers(0, 60)), max_size=8)


def written(kind: str, x: Any, form: dict[str, Any]) -> tuple[bytes, Any]:
    """A file of these rows, and the rows that it holds."""
    names = [f"column {k}" if form["quoted"] else f"x{k}" for k in range(x.shape[1])]
    if kind == "npy":
        x = np.clip(x, -1e9, 1e9) if form["dtype"] in ("i8", "f4") else x
        x = np.asarray(x.astype(form["dtype"]), order=form["order"])
        file = io.BytesIO()
        np.save(file, x)
        return file.getvalue(), x
    if kind == "parquet":
        sink = io.BytesIO()
        columns = pa.table(dict(zip(names, x.T, strict=True)))
        parquet.write_table(columns, sink, row_group_size=form["group"])
        return sink.getvalue(), x
    if kind == "jsonl":
        lines = [dict(zip(names, row, strict=True)) if form["objects"] else row for row in x.tolist()]
        lines = [json.dumps(line) for line in lines]
    else:
        blank = form["delimiter"] == " "
        quote = '"{}"'.format if form["quoted"] and not blank else str
        cells = [[quote(repr(value)) for value in row] for row in x.tolist()]
        if form["header"]:
            cells.insert(0, [name.replace(" ", "_") if blank else quote(name) for name in names])
        lines = [form["delimiter"].join(line) for line in cells]
    return (form["newline"].join(lines) + form["end"]).encode(), x


def whole(stream: Stream, count: int) -> Chunk:
    """All rows of a stream that ends, drawn so many at a time."""
    chunks = [Chunk(np.empty((0, stream.n_features or 0)))]
    first = 0
    while (chunk := stream.draw(first, count)).taken:
        chunks.append(chunk)
        first += chunk.taken
    return concatenated(chunks)


def check_reads(stream: Stream, x: Any, reads: list[tuple[str, int]]) -> None:
    """Reading, seeking and drawing in any order gives the rows of one pass."""
    at = 0
    for what, n in reads:
        if what == "seek":
            at = min(n, len(x))
            stream.seek(at)
        elif what == "read":
            assert np.array_equal(stream.read(n), x[at : at + n]), f"other rows at {at}"
            at = min(at + n, len(x))
            assert stream.position == at, "the position is wrong"
        else:
            first = min(n, len(x))
            drawn = stream.draw(first, n + 1).x
            assert len(drawn) or first == len(x), f"no rows at {first}"
            assert np.array_equal(drawn, x[first : first + len(drawn)]), f"other rows at {first}"


@target("files_valid", kind=st.sampled_from(KINDS), x=TABLES, form=FORMS, reads=READS)
def valid(kind: str, x: Any, form: dict[str, Any], reads: list[tuple[str, int]]) -> None:
    """A file is read as the values that were written, in any order of reads."""
    content, x = written(kind, x, form)
    with folder() as place:
        path = place / f"rows.{kind}"
        path.write_bytes(content)
        options: dict[str, Any] = {"delimiter": form["delimiter"]} if kind == "csv" else {}
        stream = rows_from_file(path, **options)
        assert np.array_equal(whole(stream, 1000).x, x), "other values than written"
        check_reads(stream, x, reads)


def _both(path: Path, count: int) -> list[tuple[Any, Any]]:
    """What two ways of reading give: (rows with numbers, invalid rows with texts), or an error."""
    found = []
    for size in (count, 1000):
        chunk, error = attempt(lambda size=size: whole(rows_from_file(path), size))  # type: ignore[misc]
        if error is None:
            bad = [(one.row, one.text) for one in chunk.bad]
            found.append((chunk.x.tolist(), bad))
            assert chunk.x.dtype.kind in "fiub", chunk.x.dtype
        else:
            found.append((type(error), None))
    return found


HOSTILE = st.sampled_from(
    [
        b"[" * 100_000,
        b'{"a":' * 50_000,
        b"1," * 5000,
        b'"',
        b"\x00" * 50,
        b"\xff\xfe1\x00",
        b"1e999",
        b"9" * 5000,
        b"nan",
        b"\n[1",
        b"{}",
        b"[]\n[]",
        b"\n\n",
        b"\x93NUMPY\x01\x00\x05\x00{'a'}",
        b"PAR1" * 9,
    ]
)


@target(
    "files_damaged",
    kind=st.sampled_from(KINDS),
    x=TABLES,
    form=FORMS,
    changes=st.one_of(
        CHANGES,
        st.lists(st.tuples(st.just("insert"), st.floats(0, 1), HOSTILE), min_size=1, max_size=2),
        HOSTILE,
    ),
    count=st.integers(1, 9),
)
def damaged(kind: str, x: Any, form: dict[str, Any], changes: Any, count: int) -> None:
    """A damaged or foreign file gives rows and invalid rows, or a ValueError with a sentence; the same ones
    for any number of rows at a time.
    """
    content = written(kind, x, form)[0]
    content = changes if isinstance(changes, bytes) else mutated(content, changes)
    with folder() as place:
        path = place / f"rows.{kind}"
        path.write_bytes(content)
        first, second = _both(path, count)
        assert repr(first) == repr(second), "the rows depend on how many are read at a time"


@target(
    "files_shortened",
    kind=st.sampled_from(KINDS),
    rows=st.sampled_from([5, 3000]),
    before=st.integers(0, 5),
    part=st.floats(0, 1, exclude_max=True),
)
def shortened(kind: str, rows: int, before: int, part: float) -> None:
    """A file that another process shortens while it is read gives rows, or a ValueError with a sentence."""
    form = {
        "delimiter": ",",
        "header": False,
        "newline": "\n",
        "end": "\n",
        "quoted": False,
        "objects": False,
    }
    content, x = written(kind, table(rows, 3), form | {"dtype": "f8", "order": "C", "group": 100})
    with folder() as place:
        path = place / f"rows.{kind}"
        path.write_bytes(content)
        stream = rows_from_file(path)
        first, error = attempt(lambda: stream.read(before))
        assert error is None, "a whole file cannot be read"
        assert np.array_equal(first, x[:before]), "other rows"
        with open(path, "r+b") as file:
            file.truncate(int(part * len(content)))
        attempt(lambda: float(np.sum(stream.read(rows))))
