"""Streams: the same samples however they are read; what is refused; iterables of every kind."""

import hashlib
import itertools
import sqlite3
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaussian_neurons.bad_rows import BadRow
from gaussian_neurons.datasets import ImageSet
from gaussian_neurons.datasets.synthetic import Mixture, TwoMoons
from gaussian_neurons.sampling import Chunk, Iterated, Neighbourhoods, Patches, Rows, Stream, as_stream
from gaussian_neurons.sampling.ahead import chunks_ahead
from gaussian_neurons.sampling.stream import Forward

IMAGES = np.random.default_rng(0).integers(0, 256, (6, 12, 12), np.uint8)
LABELS = np.array([0, 1, 2, 0, 1, 2])

STREAMS = {
    "patches": lambda: Patches(IMAGES, 5, seed=3),
    "patches of a class": lambda: Patches(IMAGES, 5, seed=3, labels=LABELS, classes=[1]),
    "neighbourhoods": lambda: Neighbourhoods(IMAGES, 5, 0.1, seed=3),
    "rows": lambda: Rows(np.arange(14.0).reshape(7, 2)),
    "shuffled rows": lambda: Rows(np.arange(14.0).reshape(7, 2), shuffle=True, seed=3),
    "mixture": lambda: Mixture(5, 3, seed=3, noise=0.1, drift=0.2, period=50, new_every=20),
    "moons": lambda: TwoMoons(seed=3),
    "iterated": lambda: Iterated([np.full(2, float(k)) for k in range(400)]),
}


def first_of(samples):
    return samples[0] if isinstance(samples, tuple) else samples


@pytest.mark.parametrize("make", STREAMS.values(), ids=STREAMS)
@given(cuts=st.lists(st.integers(0, 40), max_size=8))
def test_any_portions_give_the_same_bits(make, cuts):
    whole = first_of(make().read(200))
    stream = make()
    parts = [first_of(stream.read(n)) for n in [*cuts, 200 - min(sum(cuts), 200)]]
    together = np.concatenate(parts)[:200]
    assert together.tobytes() == whole[: len(together)].tobytes()


@pytest.mark.parametrize("make", STREAMS.values(), ids=STREAMS)
@given(t=st.integers(0, 150))
def test_seeking_gives_what_reading_would(make, t):
    stream = make()
    whole = first_of(stream.read(200))
    again = first_of(stream.seek(t).read(20))
    assert again.tobytes() == whole[t : t + 20].tobytes()
    assert stream.position == t + 20


@pytest.mark.parametrize("name", [name for name in STREAMS if name != "iterated"])
def test_any_number_of_threads_gives_the_same_bits(name):
    stream = STREAMS[name]()
    whole = stream.draw(0, 4000).x
    with ThreadPoolExecutor(4) as pool:
        parts = list(pool.map(lambda first: stream.draw(first, 250).x, range(0, 4000, 250)))
    assert np.concatenate(parts).tobytes() == whole.tobytes()


@pytest.mark.parametrize("make", STREAMS.values(), ids=STREAMS)
def test_equal_streams_describe_themselves_equally(make):
    assert make().describe() == make().describe()


def test_different_streams_describe_themselves_differently():
    others = [
        Patches(IMAGES, 5, seed=3),
        Patches(IMAGES, 5, seed=4),
        Patches(IMAGES, 4, seed=3),
        Patches(IMAGES[:-1], 5, seed=3),
        Patches(IMAGES ^ 1, 5, seed=3),
        Patches(IMAGES, 5, seed=3, dtype=np.float64),
        Patches(IMAGES, 5, seed=3, labels=LABELS, classes=1),
        Patches(IMAGES, 5, seed=3, labels=LABELS, classes=2),
        Neighbourhoods(IMAGES, 5, 0.1, seed=3),
        Neighbourhoods(IMAGES, 5, 0.2, seed=3),
        Rows(np.ones((3, 2))),
        Rows(np.ones((3, 2)), shuffle=True),
        Rows(np.ones((3, 2)), sample_width=np.ones(3)),
    ]
    described = [str(stream.describe()) for stream in others]
    assert len(set(described)) == len(described)


# SHA-256, first half, of 1000 samples around number 2^32, as every machine must give them
SAME_BITS_EVERYWHERE = {
    "patches": "1d0b5be54ea724514a38d6ef278f5747",
    "neighbourhoods": "102f825e0bf16b76d694ccf200a91936",
    "rows": "dc20928e08cb83ea2b68412f60c24c0a",
    "mixture": "8373264e0339aae75c6ac3bb2a29c2c1",
    "moons": "76b23eb4dd37365eea64f91040c3b5e0",
}


@pytest.mark.parametrize("name", SAME_BITS_EVERYWHERE)
def test_samples_are_the_same_bits_on_every_machine(name):
    pixels = (np.arange(9 * 12 * 12 * 3, dtype=np.uint32) * 2654435761 >> 24).astype(np.uint8)
    images = pixels.reshape(9, 12, 12, 3)
    drift = {"noise": 0.1, "drift": 0.2, "period": 500, "new_every": 100}
    stream = {
        "patches": lambda: Patches(images, 5, seed=2**40 + 7),
        "neighbourhoods": lambda: Neighbourhoods(images, 5, 0.1, seed=2**40 + 7),
        "rows": lambda: Rows(np.arange(50.0)[:, None], shuffle=True, seed=3),
        "mixture": lambda: Mixture(6, 3, seed=5, **drift, dtype=np.float64),
        "moons": lambda: TwoMoons(seed=5, dtype=np.float64),
    }[name]()
    samples = stream.seek(2**32 - 500).read(1000)
    parts = samples if isinstance(samples, tuple) else (samples,)
    digest = hashlib.sha256(b"".join(np.ascontiguousarray(part).tobytes() for part in parts)).hexdigest()
    assert digest[:32] == SAME_BITS_EVERYWHERE[name]


# ---- images -----------------------------------------------------------------------------------------


def test_classes_limit_the_images():
    marked = np.repeat(np.arange(6, dtype=np.uint8), 144).reshape(6, 12, 12)
    drawn = np.rint(Patches(marked, 5, 0, LABELS, [0, 2]).read(500) * 255)
    assert set(np.unique(drawn)) == {0, 2, 3, 5}
    assert set(np.unique(np.rint(Patches(marked, 5, 0, LABELS, classes=1).read(500) * 255))) == {1, 4}


def test_bytes_are_scaled_and_floats_are_not():
    assert Patches(np.full((1, 5, 5), 255, np.uint8), 5).read(1).max() == 1
    assert Patches(np.full((1, 5, 5), 51, np.uint8), 5, dtype=np.float64).read(1)[0, 0] == 51 / 255
    assert Patches(np.full((1, 5, 5), -2.5), 5).read(1).max() == -2.5


def test_colours_of_a_pixel_stay_together():
    image = np.arange(4 * 4 * 3, dtype=np.uint8).reshape(1, 4, 4, 3)
    patch = np.rint(Patches(image, 4).read(1) * 255).reshape(4, 4, 3)
    assert (patch == image[0]).all()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"images": np.zeros((5, 5), np.uint8)}, r"\(n, height, width\).*got shape \(5, 5\).*images\[None\]"),
        ({"images": np.zeros((0, 5, 5), np.uint8)}, "shape"),
        ({"images": np.zeros((9, 784), np.uint8)}, r"got shape \(9, 784\)"),
        ({"images": np.zeros((2, 3, 32, 32), np.uint8)}, "channels must come last"),
        ({"images": ImageSet(IMAGES, LABELS, "a", "b")}, r"a whole data set. Pass its .images"),
        ({"images": [np.zeros((5, 5)), np.zeros((6, 5))]}, "different sizes"),
        ({"images": "folder/"}, "got shape"),
        ({"images": np.zeros((2, 5, 5), np.int32)}, "uint8.*got int32"),
        ({"images": np.full((2, 5, 5), np.nan)}, "finite"),
        ({"size": 13}, "no patch of size 13 fits into images of 12 x 12.*at most 12"),
        ({"size": 0}, "size must be a whole number of at least 1, got 0"),
        ({"size": 2.5}, "size must be a whole number"),
        ({"seed": -1}, "seed"),
        ({"seed": 1 << 64}, "below 2\\^64"),
        ({"classes": 3}, "classes need labels"),
        ({"labels": LABELS, "classes": 7}, r"no image has a label of \[7\]; there are \[0, 1, 2\]"),
        ({"labels": LABELS, "classes": []}, "no image has a label"),
        ({"labels": LABELS[:3], "classes": 1}, "one for each of the 6 images"),
        ({"dtype": np.int32}, "dtype must be one of float32, float64"),
    ],
)
def test_what_cannot_be_drawn_from_is_refused(arguments, says):
    with pytest.raises(ValueError, match=says):
        Patches(**{"images": IMAGES, "size": 5, **arguments})


def test_classes_may_be_words():
    words = np.array(["one", "two", "three"] * 2)
    assert len(Patches(IMAGES, 5, labels=words, classes="two").read(3)) == 3
    with pytest.raises(
        ValueError, match=r"no image has a label of \['four'\]; there are \['one', 'three', 'two'\]"
    ):
        Patches(IMAGES, 5, labels=words, classes=["one", "four"])
    with pytest.raises(ValueError, match=r"no image has a label of \['1'\]; there are \[0, 1, 2\]"):
        Patches(IMAGES, 5, labels=LABELS, classes=["1"])


def test_bytes_as_floats_are_warned_of():
    with pytest.warns(UserWarning, match="taken as they are, here up to 255. .*divide them by 255"):
        Patches(IMAGES.astype(np.float32), 5)


def test_neighbours_need_a_pixel_around():
    Neighbourhoods(IMAGES, 10, 0.1)
    with pytest.raises(ValueError, match="at most 10"):
        Neighbourhoods(IMAGES, 11, 0.1)
    with pytest.raises(ValueError, match="noise"):
        Neighbourhoods(IMAGES, 5, -0.1)


# ---- rows -------------------------------------------------------------------------------------------


def test_every_pass_is_a_new_order_of_all_rows():
    stream = Rows(np.arange(50.0)[:, None], shuffle=True, seed=1)
    passes = [stream.read(50).ravel() for _ in range(4)]
    for one in passes:
        assert sorted(one) == list(range(50))
    assert all((a != b).any() for a, b in itertools.combinations(passes, 2))


def test_orders_are_uniform():
    """Three rows have six orders; each comes equally often over the passes."""
    x = Rows(np.arange(3.0)[:, None], shuffle=True, seed=2).read(3 * 6000).reshape(6000, 3)
    counts = np.unique(x, axis=0, return_counts=True)[1]
    assert len(counts) == 6
    assert ((counts - 1000) ** 2 / 1000).sum() < 25  # chi-squared with 5 degrees of freedom


def test_rows_end_after_their_passes():
    stream = Rows(np.arange(3.0)[:, None], passes=2)
    assert len(stream.read(100)) == 6
    assert len(stream.read(100)) == 0


def test_rows_bring_their_widths_along():
    x, widths = Rows(np.arange(4.0)[:, None], shuffle=True, seed=5, sample_width=np.arange(4) / 10).read(8)
    assert (x.ravel() / 10 == widths).all()


def test_frames_are_tables_with_names():
    frame = pd.DataFrame({"a": pd.array([1, None, 3], "Int64"), "b": [0.5, 1.5, 2.5]})
    stream = Rows(frame)
    assert stream.feature_names == ["a", "b"]
    assert np.isnan(stream.read(3)[1, 0])
    with pytest.raises(ValueError, match="these columns do not: name"):
        Rows(frame.assign(name="x"))


def test_masked_values_are_not_learned_unseen():
    with pytest.raises(ValueError, match=r"masked: use X.filled"):
        Rows(np.ma.masked_less(np.zeros((3, 2)), 1))


def test_samples_too_far_on_are_refused():
    with pytest.raises(ValueError, match="below 2\\^62"):
        Rows(np.zeros((3, 2))).seek(1 << 62)


@pytest.mark.parametrize("bad", [np.zeros(3), np.zeros((0, 2)), [["a", "b"]], np.zeros((2, 2, 2))])
def test_what_is_no_table_is_refused(bad):
    with pytest.raises(ValueError, match="X must"):
        Rows(bad)


# ---- iterables --------------------------------------------------------------------------------------


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


def test_rows_that_trickle_in_are_handed_on_without_waiting_for_more():
    more = threading.Event()

    def source():
        yield [1.0]
        assert more.wait(10)
        yield [2.0]
        more.clear()
        assert more.wait(10), "the second row was not handed on"
        yield [3.0]

    stream = Iterated(source())
    threading.Timer(0.3, more.set).start()
    assert stream.draw(0, 10).x.ravel().tolist() == [1, 2]
    more.set()


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

    begin = time.monotonic()
    assert 1 <= len(Iterated(source()).draw(0, 1000).x) < 100
    assert time.monotonic() - begin < 5


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


# ---- chunks -----------------------------------------------------------------------------------------


@given(
    good=st.lists(st.booleans(), max_size=12),
    cut=st.integers(0, 14),
)
def test_cutting_a_chunk_keeps_every_row_in_its_place(good, cut):
    numbers = np.arange(len(good))
    x = numbers[np.array(good, bool)].astype(float)[:, None]
    bad = tuple(BadRow(int(k), "row {row}") for k in numbers[~np.array(good, bool)])
    chunk = Chunk(x, x[:, 0], bad)
    first, rest = chunk.cut(cut)
    assert first.taken == min(cut, len(good))
    assert first.taken + rest.taken == len(good)
    assert np.concatenate([first.x, rest.x]).ravel().tolist() == x.ravel().tolist()
    assert [b.row for b in first.bad] + [b.row + cut for b in rest.bad] == [b.row for b in bad]
    for k, value in enumerate(x.ravel()):
        assert chunk.rows_up_to(k) == value
    assert chunk.rows_up_to(len(x)) == len(good)


@pytest.mark.parametrize("every", [1, 7, 1000, 10**9])
def test_chunks_ahead_never_reach_over_a_mark(every):
    stream = Rows(np.arange(40_000.0)[:, None], passes=1)
    at = 5
    for chunk in chunks_ahead(stream, 5, 3000, every, 5):
        assert (at - 5) // every == (at - 5 + chunk.taken - 1) // every
        assert chunk.x[0, 0] == at
        at += chunk.taken
    assert at == 3000


def test_an_error_in_the_second_thread_reaches_the_first():
    class Broken(Stream):
        def draw(self, first, count):
            raise RuntimeError("broken")

    with pytest.raises(RuntimeError, match="broken"):
        list(chunks_ahead(Broken(), 0, 10, 10, 0))


# ---- synthetic --------------------------------------------------------------------------------------


def test_a_mixture_is_what_it_says():
    stream = Mixture(4, 3, seed=1, spread=0.02, noise=0.2, dtype=np.float64)
    x, labels = stream.read_labelled(40_000)
    assert x.dtype == np.float64
    assert (labels == -1).mean() == pytest.approx(0.2, abs=0.01)
    for k in range(4):
        own = x[labels == k]
        assert len(own) / len(x) == pytest.approx(0.2, abs=0.01)
        assert own.mean(axis=0) == pytest.approx(stream.places[k], abs=0.002)
        assert own.std(axis=0) == pytest.approx(0.02, rel=0.05)
    noise = x[labels == -1]
    assert noise.mean(axis=0) == pytest.approx(0.5, abs=0.02)
    assert noise.min() >= 0
    assert noise.max() < 1
    gaps = np.linalg.norm(stream.places[:, None] - stream.places, axis=2) + np.eye(4)
    assert gaps.min() >= 6 * 0.02


def test_clusters_drift_there_and_back():
    stream = Mixture(3, seed=1, drift=0.3, period=1000)
    assert stream.centers_at(0) == pytest.approx(stream.places)
    assert stream.centers_at(1000) == pytest.approx(stream.places)
    away = np.linalg.norm(stream.centers_at(500) - stream.places, axis=1)
    assert away == pytest.approx(0.3)
    x, labels = stream.seek(495).read_labelled(10)
    assert np.abs(x - stream.centers_at(500)[labels]).max() < 0.15


def test_clusters_come_one_after_the_other():
    stream = Mixture(5, seed=1, new_every=100)
    _, labels = stream.read_labelled(1000)
    for part in range(10):
        assert labels[part * 100 : (part + 1) * 100].max() <= min(part, 4)
    assert set(labels[400:]) == set(range(5))
    assert [len(stream.centers_at(t)) for t in (0, 99, 100, 250, 10**6)] == [1, 1, 2, 3, 5]
    assert stream.position == 1000


def test_other_precisions_are_refused():
    for make in (Mixture, TwoMoons):
        with pytest.raises(ValueError, match="dtype must be one of float32, float64"):
            make(dtype=int)


def test_clusters_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="do not fit into the unit box"):
        Mixture(50, spread=0.1)


def test_moons_are_half_circles():
    x, moon = TwoMoons(seed=2, spread=0.0, dtype=np.float64).read_labelled(5000)
    assert moon.mean() == pytest.approx(0.5, abs=0.03)
    assert (x[moon == 0] ** 2).sum(axis=1) == pytest.approx(1)
    assert ((x[moon == 1] - [1, 0.5]) ** 2).sum(axis=1) == pytest.approx(1)
    assert x[moon == 0, 1].min() >= 0
    assert x[moon == 1, 1].max() <= 0.5
    angle = np.arccos(x[moon == 0, 0]) / np.pi  # uniform along the arc
    assert np.histogram(angle, 10, (0, 1))[0] / len(angle) == pytest.approx(0.1, abs=0.025)
