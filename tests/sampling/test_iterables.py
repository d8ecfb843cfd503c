"""Iterables as streams: rows, chunks, mappings, invalid items, errors of the source."""

import itertools
import sqlite3
import threading
import time
import tracemalloc
from decimal import Decimal
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from gaussian_neurons.base.bad_rows import BadRow
from gaussian_neurons.sampling import Chunk, Iterated, Rows, Stream, as_stream, iterables
from gaussian_neurons.sampling.ahead import chunks_ahead
from gaussian_neurons.sampling.stream import Forward


def test_rows_and_chunks_may_be_mixed():
    items = [[1, 2], np.array([[3.0, 4.0], [5.0, 6.0]]), [], (7, 8)]
    assert Iterated(items).read(100).tolist() == [[1, 2], [3, 4], [5, 6], [7, 8]]
    x, widths = Iterated([([1, 2], 0.5), (np.array([[3, 4], [5, 6]]), [0.25, 1])]).read(100)
    assert x.tolist() == [[1, 2], [3, 4], [5, 6]]
    assert widths.tolist() == [0.5, 0.25, 1]


def test_first_row_decides_columns_precision_and_widths():
    """The result must not depend on which items arrive together."""
    chunk = Iterated([np.zeros(2, np.float32), np.full(2, 0.1), ([1, 2], 0.5), [1], [3, 4]]).draw(0, 9)
    assert chunk.x.dtype == np.float32
    assert len(chunk.x) == 3
    assert "row 2 must have no width, like the first" in str(chunk.bad[0])
    chunk = Iterated([([1.0, 2.0], 0.5), [1.0, 2.0], ([[1.0, 2.0]], [1, 2]), ([1, 2], "x")]).draw(0, 9)
    assert [bad.row for bad in chunk.bad] == [1, 2, 3]
    assert "row 1 must have a width, like the first" in str(chunk.bad[0])


def test_rows_may_be_mappings():
    items = [{"x": 1, "y": 2.0}, {"y": 4, "x": 3, "z": "other"}, {"x": 5}]
    drawn = Iterated(items).draw(0, 9)
    assert drawn.x.tolist() == [[1, 2], [3, 4]]
    assert str(drawn.bad[0]) == "row 2: it has no value for 'y'."


def test_word_in_a_table_invalidates_only_its_row():
    table = pd.DataFrame({"a": np.arange(5, dtype=object), "b": 1.0})
    table.loc[3, "a"] = "oops"
    chunk = Iterated([table]).draw(0, 99)
    assert chunk.x[:, 0].tolist() == [0, 1, 2, 4]
    assert [bad.row for bad in chunk.bad] == [3]


def test_ragged_chunk_loses_only_invalid_rows():
    chunk = Iterated([([[1.0, 2.0], [3.0], [4.0, 5.0]], [0.1, 0.2, 0.3])]).draw(0, 9)
    assert chunk.x.tolist() == [[1, 2], [4, 5]]
    assert chunk.widths.tolist() == [0.1, 0.3]
    assert [bad.row for bad in chunk.bad] == [1]


def test_only_requested_items_are_fetched():
    items = iter([float(k)] for k in range(100))
    Iterated(items).read(10)
    assert next(items) == [10.0]


def test_pair_of_numbers_is_a_row():
    assert Iterated(iter([(1.0, 2.0), (3.0, 4.0)])).read(9).tolist() == [[1, 2], [3, 4]]


def test_data_frames_are_chunks():
    frames = (pd.DataFrame({"a": [k, k], "b": [0.0, 1.0]}) for k in range(3))
    assert Iterated(frames).read(99).tolist() == [[k, b] for k in range(3) for b in (0, 1)]


def test_float32_stays_float32():
    assert Iterated([np.zeros(3, np.float32)] * 4).read(4).dtype == np.float32


def test_invalid_rows_are_reported():
    items = [[1, 2], [1, 2, 3], "text", None, [["x", 2], [3, 4]], {1, 2}, [7, 8]]
    chunk = Iterated(items).draw(0, 100)
    assert chunk.x.tolist() == [[1, 2], [3, 4], [7, 8]]
    assert len(Iterated([np.empty((2, 0))]).draw(0, 9).bad) == 2
    assert len(Iterated([([1.0, 2.0], 1j), ([1.0, 2.0], "3")]).draw(0, 9).bad) == 2  # widths
    assert [bad.row for bad in chunk.bad] == [1, 2, 3, 4, 6]
    assert "row 1 has 3 numbers, expected 2" in str(chunk.bad[0])
    assert "row 2 holds no numbers: 'text'" in str(chunk.bad[1])


def test_reading_an_invalid_row_keeps_the_position():
    stream = Iterated([[1.0], [2.0], ["x"], [3.0]])
    with pytest.raises(BadRow, match="row 2"):
        stream.read(4)
    assert stream.position == 0
    assert stream.read(2).ravel().tolist() == [1, 2]
    assert stream.seek(3).read(5).ravel().tolist() == [3]


def test_endless_generator():
    stream = Iterated([float(k)] for k in itertools.count())
    assert stream.read(3).ravel().tolist() == [0, 1, 2]
    assert stream.seek(10_000).read(2).ravel().tolist() == [10_000, 10_001]
    with pytest.raises(ValueError, match="cannot go back to row 5"):
        stream.seek(5).read(1)


def test_list_can_be_read_again():
    stream = Iterated([[0.0], [1.0], [2.0]])
    stream.read(3)
    assert stream.seek(0).read(2).ravel().tolist() == [0, 1]


def test_seek_beyond_the_end_is_rejected():
    with pytest.raises(ValueError, match="row 7: the stream has 3 rows"):
        Iterated([[0.0], [1.0], [2.0]]).seek(7).read(1)


def test_error_of_the_source_is_raised_after_the_rows_before_it():
    def source():
        yield [1.0]
        yield [2.0]
        raise ConnectionError("lost")

    stream = Iterated(source())
    assert stream.draw(0, 10).x.ravel().tolist() == [1, 2]
    with pytest.raises(ConnectionError, match="lost"):
        stream.draw(2, 10)


def test_slow_source_is_not_waited_for(monkeypatch):
    clock = SimpleNamespace(now=0.0, monotonic=lambda: clock.now)
    monkeypatch.setattr(iterables, "time", clock)

    def source():
        yield [1.0]
        clock.now += 1
        yield [2.0]
        raise AssertionError("a third row was fetched")

    assert Iterated(source()).draw(0, 10).x.ravel().tolist() == [1, 2]


def test_source_restarts_after_an_error():
    class Flaky:
        def __init__(self):
            self.failed = False

        def __iter__(self):
            for k in range(20):
                if k == 10 and not self.failed:
                    self.failed = True
                    raise ConnectionError("once")
                yield [float(k)]

    stream = Iterated(Flaky())
    assert len(stream.read(10)) == 10
    with pytest.raises(ConnectionError, match="once"):
        stream.read(1)
    assert stream.read(99).ravel().tolist() == list(range(10, 20))
    stream = Iterated(iter(Flaky()))
    assert len(stream.draw(0, 99).x) == 10
    with pytest.raises(ConnectionError, match="once"):
        stream.draw(10, 9)
    with pytest.raises(ValueError, match=r"an error or an interrupt ended .+ after row 10"):
        stream.draw(10, 9)


def test_reused_memory_is_copied():
    def source():
        buffer = np.zeros(2)
        for k in range(5):
            buffer[:] = k
            yield buffer

    assert Iterated(source()).read(5)[:, 0].tolist() == [0, 1, 2, 3, 4]


def test_invalid_first_rows_do_not_decide_the_columns():
    class Unconvertible:
        def __array__(self, *_, **__):
            raise RuntimeError("no")

    invalid = [{"error": "timeout"}, [np.nan], ([1, 2], [1, 2]), [10**400, 1], Unconvertible()]
    chunk = Iterated([*invalid, *[[1.0, 2.0]] * 3]).draw(0, 99)
    assert chunk.x.tolist() == [[1, 2]] * 3
    assert len(chunk.bad) == 5


def test_decimals_are_numbers():
    assert Iterated([(Decimal("1.5"), Decimal("2"))]).read(1).tolist() == [[1.5, 2]]


def test_invalid_row_after_several_draws_has_the_right_number():
    class OneRowAtATime(Stream):
        def draw(self, first, count):
            return (
                Chunk(np.empty((0, 1)), None, (BadRow(0, "row {row}"),))
                if first == 2
                else Chunk(np.zeros((1, 1)))
            )

    with pytest.raises(BadRow, match="row 2"):
        OneRowAtATime().read(5)


def test_interrupted_file_begins_again():
    class Blocks(Forward):
        interrupted = False

        def _begin(self, row):
            self.left = [Chunk(np.full((2, 1), float(k))) for k in range(3)]
            return 0

        def _next_block(self):
            block = self.left.pop(0) if self.left else None
            if len(self.left) == 1 and not self.interrupted:
                self.interrupted = True
                raise KeyboardInterrupt
            return block

    stream = Blocks()
    stream.draw(0, 2)
    with pytest.raises(KeyboardInterrupt):
        stream.draw(2, 2)
    assert stream.draw(2, 2).x.ravel().tolist() == [1, 1]


def test_two_threads_never_draw_from_one_stream():
    class Counting(Stream):
        drawing = most = 0

        def draw(self, first, count):
            self.drawing += 1
            self.most = max(self.most, self.drawing)
            time.sleep(0.05)
            self.drawing -= 1
            return Chunk(np.zeros((1, 1)))

    stream = Counting()
    first = chunks_ahead(stream, 0, None, 100, 0)
    next(first)
    second = chunks_ahead(stream, 0, None, 100, 0)
    for _ in range(3):
        next(first), next(second), stream.read(1)
    first.close(), second.close()
    assert stream.most == 1


def test_interrupt_while_a_thread_starts_leaves_no_waiting_thread(monkeypatch):
    start = threading.Thread.start

    started = []

    def interrupted(thread):
        start(thread)
        started.append(thread)
        raise KeyboardInterrupt

    stream = Rows(np.zeros((100, 2)))
    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", interrupted)
        with pytest.raises(KeyboardInterrupt):
            next(chunks_ahead(stream, 0, None, 10, 0))
    assert len(started) == 1
    started[0].join(20)
    assert not started[0].is_alive()
    assert len(list(chunks_ahead(stream, 0, 100, 10, 0))) == 10


def test_database_cursor_is_read_in_the_thread_that_opened_it():
    base = sqlite3.connect(":memory:")
    base.execute("create table t (a real, b real)")
    base.executemany("insert into t values (?, ?)", [(k, k / 2) for k in range(100)])
    stream = Iterated(base.execute("select a, b from t order by a"))
    chunks = list(chunks_ahead(stream, 0, None, 1000, 0))
    assert np.concatenate([chunk.x for chunk in chunks])[:, 0].tolist() == list(range(100))
    base.close()


def test_as_stream():
    assert isinstance(as_stream(np.zeros((3, 2))), Rows)
    assert as_stream(pd.DataFrame({"a": [1.0]})).length == 1
    rows = Rows(np.zeros((3, 2)))
    assert as_stream(rows) is rows
    assert isinstance(as_stream([[1.0]]), Iterated)
    with pytest.raises(TypeError, match=r"rows_from_file\('data.csv'\)"):
        as_stream("data.csv")
    assert as_stream({"a": [1.0, 2.0]}).feature_names == ["a"]
    for invalid in (None, object()):
        with pytest.raises(TypeError, match="X must be an array"):
            as_stream(invalid)
    with pytest.raises(ValueError, match=r"one dimension[.] Reshape your data: x\[:, None\]"):
        as_stream(np.zeros(5))
    with pytest.raises(ValueError, match=r"3 dimensions[.] For images, draw patches"):
        as_stream(np.zeros((6, 12, 12), np.uint8))


def test_empty_items_are_not_kept():
    """A source may give them while it waits for rows."""
    stream = Iterated(itertools.chain(([] for _ in range(100_000)), [[1.0]]))
    tracemalloc.start()
    try:
        assert stream.read(1).tolist() == [[1.0]]
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()
