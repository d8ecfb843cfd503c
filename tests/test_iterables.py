"""Iterables of every kind as streams: rows, chunks, mappings, what is odd, what fails."""

import itertools
import sqlite3
import threading
import time
from decimal import Decimal
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from gaussian_neurons.base.bad_rows import BadRow
from gaussian_neurons.sampling import Chunk, Iterated, Rows, Stream, as_stream, iterables
from gaussian_neurons.sampling.ahead import chunks_ahead
from gaussian_neurons.sampling.stream import Forward

IMAGES = np.random.default_rng(0).integers(0, 256, (6, 12, 12), np.uint8)


def test_rows_and_chunks_may_be_mixed_and_bring_widths():
    items = [[1, 2], np.array([[3.0, 4.0], [5.0, 6.0]]), [], (7, 8)]
    assert Iterated(items).read(100).tolist() == [[1, 2], [3, 4], [5, 6], [7, 8]]
    x, widths = Iterated([([1, 2], 0.5), (np.array([[3, 4], [5, 6]]), [0.25, 1])]).read(100)
    assert x.tolist() == [[1, 2], [3, 4], [5, 6]]
    assert widths.tolist() == [0.5, 0.25, 1]


def test_the_first_row_settles_columns_precision_and_widths():
    """So that what arrives together, which depends on time, changes nothing."""
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
    assert drawn.x[:2].tolist() == [[1, 2], [3, 4]]
    assert np.isnan(drawn.x[2, 1])


def test_a_table_with_a_word_in_it_loses_only_that_row():
    table = pd.DataFrame({"a": np.arange(5, dtype=object), "b": 1.0})
    table.loc[3, "a"] = "oops"
    chunk = Iterated([table]).draw(0, 99)
    assert chunk.x[:, 0].tolist() == [0, 1, 2, 4]
    assert [bad.row for bad in chunk.bad] == [3]


def test_a_ragged_chunk_with_widths_loses_only_what_is_odd():
    chunk = Iterated([([[1.0, 2.0], [3.0], [4.0, 5.0]], [0.1, 0.2, 0.3])]).draw(0, 9)
    assert chunk.x.tolist() == [[1, 2], [4, 5]]
    assert chunk.widths.tolist() == [0.1, 0.3]
    assert [bad.row for bad in chunk.bad] == [1]


def test_no_more_is_fetched_than_asked_for():
    items = iter([float(k)] for k in range(100))
    Iterated(items).read(10)
    assert next(items) == [10.0]


def test_a_row_of_two_numbers_is_a_row():
    assert Iterated(iter([(1.0, 2.0), (3.0, 4.0)])).read(9).tolist() == [[1, 2], [3, 4]]


def test_frames_in_chunks_are_rows():
    frames = (pd.DataFrame({"a": [k, k], "b": [0.0, 1.0]}) for k in range(3))
    assert Iterated(frames).read(99).tolist() == [[k, b] for k in range(3) for b in (0, 1)]


def test_single_precision_stays_single():
    assert Iterated([np.zeros(3, np.float32)] * 4).read(4).dtype == np.float32


def test_odd_rows_are_told_apart():
    items = [[1, 2], [1, 2, 3], "text", None, [["x", 2], [3, 4]], {1, 2}, [7, 8]]
    chunk = Iterated(items).draw(0, 100)
    assert chunk.x.tolist() == [[1, 2], [3, 4], [7, 8]]
    assert [bad.row for bad in chunk.bad] == [1, 2, 3, 4, 6]
    assert "row 1 has 3 numbers, expected 2" in str(chunk.bad[0])
    assert "row 2 holds no numbers: 'text'" in str(chunk.bad[1])


def test_reading_a_bad_row_names_it_and_stays():
    stream = Iterated([[1.0], [2.0], ["x"], [3.0]])
    with pytest.raises(BadRow, match="row 2"):
        stream.read(4)
    assert stream.position == 0
    assert stream.read(2).ravel().tolist() == [1, 2]
    assert stream.seek(3).read(5).ravel().tolist() == [3]


def test_a_generator_that_never_ends_is_read_as_far_as_asked():
    stream = Iterated([float(k)] for k in itertools.count())
    assert stream.read(3).ravel().tolist() == [0, 1, 2]
    assert stream.seek(10_000).read(2).ravel().tolist() == [10_000, 10_001]
    with pytest.raises(ValueError, match="cannot go back to row 5"):
        stream.seek(5).read(1)


def test_a_list_can_be_read_again():
    stream = Iterated([[0.0], [1.0], [2.0]])
    stream.read(3)
    assert stream.seek(0).read(2).ravel().tolist() == [0, 1]


def test_going_past_the_end_says_how_many_there_are():
    with pytest.raises(ValueError, match="row 7: there are only 3"):
        Iterated([[0.0], [1.0], [2.0]]).seek(7).read(1)


def test_an_error_of_the_source_comes_after_what_came_before_it():
    def source():
        yield [1.0]
        yield [2.0]
        raise ConnectionError("lost")

    stream = Iterated(source())
    assert stream.draw(0, 10).x.ravel().tolist() == [1, 2]
    with pytest.raises(ConnectionError, match="lost"):
        stream.draw(2, 10)


def test_rows_that_trickle_in_are_handed_on_without_waiting_for_more(monkeypatch):
    clock = SimpleNamespace(now=0.0, monotonic=lambda: clock.now)
    monkeypatch.setattr(iterables, "time", clock)

    def source():
        yield [1.0]
        clock.now += 1
        yield [2.0]
        raise AssertionError("the second row was not handed on")

    assert Iterated(source()).draw(0, 10).x.ravel().tolist() == [1, 2]


def test_a_source_that_was_left_by_an_error_is_not_taken_for_finished():
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
    with pytest.raises(ValueError, match=r"was left by an error or an interrupt after row 10. Make it anew"):
        stream.draw(10, 9)


def test_memory_that_the_source_uses_again_is_copied():
    def source():
        buffer = np.zeros(2)
        for k in range(5):
            buffer[:] = k
            yield buffer

    assert Iterated(source()).read(5)[:, 0].tolist() == [0, 1, 2, 3, 4]


def test_odd_numbers_are_bad_rows_and_settle_nothing():
    class Refuses:
        def __array__(self, *_, **__):
            raise RuntimeError("no")

    odd = [{"error": "timeout"}, [np.nan], ([1, 2], [1, 2]), [10**400, 1], Refuses()]
    chunk = Iterated([*odd, *[[1.0, 2.0]] * 3]).draw(0, 99)
    assert chunk.x.tolist() == [[1, 2]] * 3
    assert len(chunk.bad) == 5


def test_exact_numbers_of_a_database_are_rows():
    assert Iterated([(Decimal("1.5"), Decimal("2"))]).read(1).tolist() == [[1.5, 2]]


def test_masked_values_are_no_numbers():
    masked = np.ma.array([[1.0, 2.0], [3.0, 4.0]], mask=[[False, True], [False, False]])
    assert np.isnan(Iterated([masked]).read(2)[0, 1])


def test_a_stream_that_gives_little_at_a_time_names_its_bad_row():
    class Slow(Stream):
        def draw(self, first, count):
            return (
                Chunk(np.empty((0, 1)), None, (BadRow(0, "row {row}"),))
                if first == 2
                else Chunk(np.zeros((1, 1)))
            )

    with pytest.raises(BadRow, match="row 2"):
        Slow().read(5)


def test_an_interrupt_in_the_middle_of_a_block_makes_a_file_begin_anew():
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


def test_rows_that_keep_coming_are_handed_on_after_a_tenth_of_a_second():
    def source():
        while True:
            time.sleep(0.02)
            yield [1.0]

    assert 1 <= len(Iterated(source()).draw(0, 1000).x) < 100


def test_two_threads_never_draw_from_one_stream():
    class Counting(Stream):
        drawing = most = 0

        def draw(self, first, count):
            self.drawing += 1
            self.most = max(self.most, self.drawing)
            time.sleep(0.2)
            self.drawing -= 1
            return Chunk(np.zeros((1, 1)))

    stream = Counting()
    first = chunks_ahead(stream, 0, None, 100, 0)
    next(first)
    helper = stream.helper
    helper.join = lambda: None  # as if a second interrupt had come while it was waited for
    first.close()
    del helper.join
    second = chunks_ahead(stream, 0, None, 100, 0)
    next(second)
    second.close()
    assert stream.most == 1


def test_an_interrupt_while_a_thread_begins_leaves_none_that_waits(monkeypatch):
    start = threading.Thread.start

    def interrupted(thread):
        start(thread)
        raise KeyboardInterrupt

    stream = Rows(np.zeros((100, 2)))
    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", interrupted)
        with pytest.raises(KeyboardInterrupt):
            next(chunks_ahead(stream, 0, None, 10, 0))
    stream.helper.join(20)
    assert not stream.helper.is_alive()
    assert len(list(chunks_ahead(stream, 0, 100, 10, 0))) == 10


def test_a_database_cursor_is_read_in_the_thread_that_opened_it():
    base = sqlite3.connect(":memory:")
    base.execute("create table t (a real, b real)")
    base.executemany("insert into t values (?, ?)", [(k, k / 2) for k in range(100)])
    stream = Iterated(base.execute("select a, b from t order by a"))
    chunks = list(chunks_ahead(stream, 0, None, 1000, 0))
    assert np.concatenate([chunk.x for chunk in chunks])[:, 0].tolist() == list(range(100))
    base.close()


def test_what_becomes_a_stream_and_what_does_not():
    assert isinstance(as_stream(np.zeros((3, 2))), Rows)
    assert as_stream(pd.DataFrame({"a": [1.0]})).length == 1
    own = Rows(np.zeros((3, 2)))
    assert as_stream(own) is own
    assert isinstance(as_stream([[1.0]]), Iterated)
    with pytest.raises(TypeError, match=r"rows_from_file\('data.csv'\)"):
        as_stream("data.csv")
    for odd in (5, {"a": [1.0]}):
        with pytest.raises(TypeError, match="something to iterate over"):
            as_stream(odd)
    with pytest.raises(ValueError, match=r"one dimension: use x\[:, None\]"):
        as_stream(np.zeros(5))
    with pytest.raises(ValueError, match=r"3 dimensions[.] For images, draw patches"):
        as_stream(IMAGES)
