"""Streams: samples do not depend on how they are read; invalid arguments are rejected."""

import copy
import hashlib
import io
import itertools
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaussian_neurons.base.bad_rows import BadRow
from gaussian_neurons.datasets import ImageSet
from gaussian_neurons.datasets.synthetic import Drifting, Mixture, MovingDigits, TwoMoons
from gaussian_neurons.sampling import (
    Chunk,
    Frames,
    Iterated,
    Neighbourhoods,
    Patches,
    Rows,
    Stream,
    rows_from_file,
    rows_from_pipe,
)
from gaussian_neurons.sampling.ahead import chunks_ahead

IMAGES = np.random.default_rng(0).integers(0, 256, (6, 12, 12), np.uint8)
LABELS = np.array([0, 1, 2, 0, 1, 2])

STREAMS = {
    "patches": lambda: Patches(IMAGES, 5, seed=3),
    "patches of a class": lambda: Patches(IMAGES, 5, seed=3, labels=LABELS, classes=[1]),
    "neighbourhoods": lambda: Neighbourhoods(IMAGES, 5, 0.1, seed=3),
    "neighbourhoods with covariances": lambda: Neighbourhoods(IMAGES, 5, 0.1, seed=3, covariance="full"),
    "frames": lambda: Frames(IMAGES, 5, 3, seed=3, noise=0.1),
    "frames with covariances": lambda: Frames(IMAGES, 5, 3, seed=3, noise=0.1, covariance="full"),
    "rows": lambda: Rows(np.arange(14.0).reshape(7, 2)),
    "shuffled rows": lambda: Rows(np.arange(14.0).reshape(7, 2), shuffle=True, seed=3),
    "mixture": lambda: Mixture(5, 3, seed=3, noise=0.1, drift=0.2, period=50, new_every=20),
    "drifting": lambda: Drifting(3, 3, seed=3, noise=0.1, life=50),
    "moons": lambda: TwoMoons(seed=3),
    "moving digits": lambda: MovingDigits(side=10, seed=3, life=30),
    "iterated": lambda: Iterated([np.full(2, float(k)) for k in range(400)]),
}


def first_of(samples):
    return samples[0] if isinstance(samples, tuple) else samples


@pytest.mark.parametrize("make", STREAMS.values(), ids=STREAMS)
@given(cuts=st.lists(st.integers(0, 40), max_size=8))
def test_samples_do_not_depend_on_chunk_sizes(make, cuts):
    whole = first_of(make().read(200))
    stream = make()
    parts = [first_of(stream.read(n)) for n in [*cuts, 200 - min(sum(cuts), 200)]]
    together = np.concatenate(parts)[:200]
    assert together.tobytes() == whole[: len(together)].tobytes()


@pytest.mark.parametrize("make", STREAMS.values(), ids=STREAMS)
@given(t=st.integers(0, 150))
def test_seek_equals_reading_up_to_there(make, t):
    stream = make()
    whole = first_of(stream.read(200))
    again = first_of(stream.seek(t).read(20))
    assert again.tobytes() == whole[t : t + 20].tobytes()
    assert stream.position == t + 20


@pytest.mark.parametrize("name", [name for name in STREAMS if name != "iterated"])
def test_samples_do_not_depend_on_threads(name):
    stream = STREAMS[name]()
    whole = first_of(stream.read(4000))
    with ThreadPoolExecutor(4) as pool:
        parts = list(pool.map(lambda first: stream.draw(first, 250).x, range(0, 4000, 250)))
    assert np.concatenate(parts).tobytes() == whole.tobytes()


def rows_from_files(folder):
    x = np.arange(400.0).reshape(200, 2)
    np.save(folder / "a.npy", x)
    frame = pd.DataFrame(x, columns=["a", "b"])
    frame.to_csv(folder / "a.csv", index=False)
    frame.to_parquet(folder / "a.parquet")
    return [rows_from_file(folder / f"a.{kind}") for kind in ("npy", "csv", "parquet")]


def test_copies_and_pickles_are_independent(tmp_path):
    for stream in [*rows_from_files(tmp_path), *(make() for make in STREAMS.values())]:
        list(chunks_ahead(stream, 0, 50, 1000, 0))  # leaves a thread and an open reader
        stream.seek(100)
        expected = first_of(stream.read(20)).tobytes()
        stream.seek(100)
        for other in (pickle.loads(pickle.dumps(stream)), copy.copy(stream)):
            assert first_of(other.read(20)).tobytes() == expected
            assert (stream.position, other.position) == (100, 120)


def test_single_pass_sources_cannot_be_copied():
    with pytest.raises(TypeError, match="can be read only once"):
        copy.copy(rows_from_pipe(io.BytesIO(b"1,2\n3,4\n")))
    with pytest.raises(TypeError, match="gives each item only once"):
        pickle.dumps(Iterated(iter([[1.0], [2.0]])))


@pytest.mark.parametrize("make", STREAMS.values(), ids=STREAMS)
def test_equal_streams_have_equal_descriptions(make):
    assert make().describe() == make().describe()


def test_different_streams_have_different_descriptions():
    streams = [
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
        Neighbourhoods(IMAGES, 5, 0.1, seed=3, covariance="diag"),
        Neighbourhoods(IMAGES, 5, 0.1, seed=3, covariance="full"),
        Frames(IMAGES, 5, 3, seed=3),
        Frames(IMAGES, 5, 4, seed=3),
        Frames(IMAGES, 5, 3, seed=3, noise=0.1),
        Frames(IMAGES, 5, 3, seed=3, covariance="diag"),
        MovingDigits(10, seed=3),
        MovingDigits(10, seed=3, life=99),
        MovingDigits(10, seed=3, speed=2.0),
        MovingDigits(10, seed=3, images=np.ones((2, 3, 3), np.uint8)),
        Rows(np.ones((3, 2))),
        Rows(np.ones((3, 2)), shuffle=True),
        Rows(np.ones((3, 2)), sample_width=np.ones(3)),
    ]
    described = [str(stream.describe()) for stream in streams]
    assert len(set(described)) == len(described)


# first half of the SHA-256 of 1000 samples around number 2^32, the same on every machine
DIGESTS = {
    "patches": "1d0b5be54ea724514a38d6ef278f5747",
    "neighbourhoods": "102f825e0bf16b76d694ccf200a91936",
    "diagonals": "2b5b8d6a177cb800189106ad64104156",
    "covariances": "4d349cfcf641d6834f36da7a8061c4eb",
    "frames": "f5b70a93165dd99c39f92566fc98bdcf",
    "rows": "dc20928e08cb83ea2b68412f60c24c0a",
    "mixture": "8373264e0339aae75c6ac3bb2a29c2c1",
    "drifting": "a697e1f9c120fb0c889ae0df04c19e6c",
    "moons": "76b23eb4dd37365eea64f91040c3b5e0",
    "moving digits": "cdd69fca3278e2cb0218095989dd53b1",
}


@pytest.mark.parametrize("name", DIGESTS)
def test_samples_are_identical_on_every_machine(name):
    pixels = (np.arange(9 * 12 * 12 * 3, dtype=np.uint32) * 2654435761 >> 24).astype(np.uint8)
    images = pixels.reshape(9, 12, 12, 3)
    drift = {"noise": 0.1, "drift": 0.2, "period": 500, "new_every": 100}
    stream = {
        "patches": lambda: Patches(images, 5, seed=2**40 + 7),
        "neighbourhoods": lambda: Neighbourhoods(images, 5, 0.1, seed=2**40 + 7),
        "diagonals": lambda: Neighbourhoods(images, 5, 0.1, seed=2**40 + 7, covariance="diag"),
        "covariances": lambda: Neighbourhoods(images, 5, 0.1, seed=2**40 + 7, covariance="full"),
        "frames": lambda: Frames(images, 5, 4, seed=2**40 + 7, noise=0.1),
        "rows": lambda: Rows(np.arange(50.0)[:, None], shuffle=True, seed=3),
        "mixture": lambda: Mixture(6, 3, seed=5, **drift, dtype=np.float64),
        "drifting": lambda: Drifting(3, 3, seed=5, noise=0.1, life=400, dtype=np.float64),
        "moons": lambda: TwoMoons(seed=5, dtype=np.float64),
        "moving digits": lambda: MovingDigits(14, seed=5, life=37, speed=1.5, dtype=np.float64),
    }[name]()
    samples = stream.seek(2**32 - 500).read(1000)
    parts = samples if isinstance(samples, tuple) else (samples,)
    digest = hashlib.sha256(b"".join(np.ascontiguousarray(part).tobytes() for part in parts)).hexdigest()
    assert digest[:32] == DIGESTS[name]


# ---- images -----------------------------------------------------------------------------------------


def test_only_images_of_the_classes_are_drawn():
    marked = np.repeat(np.arange(6, dtype=np.uint8), 144).reshape(6, 12, 12)
    drawn = np.rint(Patches(marked, 5, 0, LABELS, [0, 2]).read(500) * 255)
    assert set(np.unique(drawn)) == {0, 2, 3, 5}
    assert set(np.unique(np.rint(Patches(marked, 5, 0, LABELS, classes=1).read(500) * 255))) == {1, 4}


def test_uint8_is_scaled_and_float_is_not():
    assert Patches(np.full((1, 5, 5), 255, np.uint8), 5).read(1).max() == 1
    assert Patches(np.full((1, 5, 5), 51, np.uint8), 5, dtype=np.float64).read(1)[0, 0] == 51 / 255
    assert Patches(np.full((1, 5, 5), -2.5), 5).read(1).max() == -2.5


def test_channels_of_a_pixel_are_adjacent():
    image = np.arange(4 * 4 * 3, dtype=np.uint8).reshape(1, 4, 4, 3)
    patch = np.rint(Patches(image, 4).read(1) * 255).reshape(4, 4, 3)
    assert (patch == image[0]).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"images": np.zeros((5, 5), np.uint8)}, r"\(n, height, width\).*got shape \(5, 5\).*images\[None\]"),
        ({"images": np.zeros((0, 5, 5), np.uint8)}, "shape"),
        ({"images": np.zeros((9, 784), np.uint8)}, r"got shape \(9, 784\)"),
        ({"images": np.zeros((2, 3, 32, 32), np.uint8)}, "channels must come last"),
        ({"images": ImageSet(IMAGES, LABELS, "a", "b")}, r"a data set. Pass its .images"),
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
        ({"labels": LABELS, "classes": 7}, r"no image has a label of \[7\]; the labels are \[0, 1, 2\]"),
        ({"labels": LABELS, "classes": []}, "no image has a label"),
        ({"labels": LABELS[:3], "classes": 1}, r"shape \(6,\), one for each image"),
        ({"dtype": np.int32}, "dtype must be one of float32, float64"),
    ],
)
def test_invalid_arguments_of_patches_are_rejected(arguments, message):
    with pytest.raises(ValueError, match=message):
        Patches(**{"images": IMAGES, "size": 5, **arguments})


def test_classes_may_be_strings():
    names = np.array(["one", "two", "three"] * 2)
    assert len(Patches(IMAGES, 5, labels=names, classes="two").read(3)) == 3
    with pytest.raises(ValueError, match=r"label of \['four'\]; the labels are \['one', 'three', 'two'\]"):
        Patches(IMAGES, 5, labels=names, classes=["one", "four"])
    with pytest.raises(ValueError, match=r"label of \['1'\]; the labels are \[0, 1, 2\]"):
        Patches(IMAGES, 5, labels=LABELS, classes=["1"])


def test_bytes_stored_as_floats_give_a_warning():
    with pytest.warns(UserWarning, match="not scaled, and these reach 255.*divide them by 255"):
        Patches(IMAGES.astype(np.float32), 5)


def test_neighbourhoods_need_a_margin_of_one_pixel():
    Neighbourhoods(IMAGES, 10, 0.1)
    with pytest.raises(ValueError, match="at most 10"):
        Neighbourhoods(IMAGES, 11, 0.1)
    with pytest.raises(ValueError, match="noise"):
        Neighbourhoods(IMAGES, 5, -0.1)


def test_unknown_covariances_of_neighbourhoods_are_rejected():
    with pytest.raises(ValueError, match="covariance must be one of 'spherical', 'diag', 'full', got 'tied'"):
        Neighbourhoods(IMAGES, 5, 0.1, covariance="tied")


# ---- rows -------------------------------------------------------------------------------------------


def test_each_pass_is_a_new_order_of_all_rows():
    stream = Rows(np.arange(50.0)[:, None], shuffle=True, seed=1)
    passes = [stream.read(50).ravel() for _ in range(4)]
    for order in passes:
        assert sorted(order) == list(range(50))
    assert all((a != b).any() for a, b in itertools.combinations(passes, 2))


def test_orders_are_uniform():
    """Three rows have six orders, which are equally frequent."""
    x = Rows(np.arange(3.0)[:, None], shuffle=True, seed=2).read(3 * 6000).reshape(6000, 3)
    counts = np.unique(x, axis=0, return_counts=True)[1]
    assert len(counts) == 6
    assert ((counts - 1000) ** 2 / 1000).sum() < 25  # chi-squared with 5 degrees of freedom


def test_rows_end_after_the_last_pass():
    stream = Rows(np.arange(3.0)[:, None], passes=2)
    assert len(stream.read(100)) == 6
    assert len(stream.read(100)) == 0


def test_widths_are_shuffled_with_their_rows():
    x, widths = Rows(np.arange(4.0)[:, None], shuffle=True, seed=5, sample_width=np.arange(4) / 10).read(8)
    assert (x.ravel() / 10 == widths).all()


def test_data_frames_give_feature_names():
    frame = pd.DataFrame({"a": pd.array([1, None, 3], "Int64"), "b": [0.5, 1.5, 2.5]})
    stream = Rows(frame)
    assert stream.feature_names == ["a", "b"]
    assert np.isnan(stream.read(3)[1, 0])
    with pytest.raises(ValueError, match="these columns do not: name"):
        Rows(frame.assign(name="x"))


def test_seek_beyond_2_to_62_is_rejected():
    with pytest.raises(ValueError, match="below 2\\^62"):
        Rows(np.zeros((3, 2))).seek(1 << 62)


@pytest.mark.parametrize("bad", [np.zeros(3), np.zeros((0, 2)), [["a", "b"]], np.zeros((2, 2, 2))])
def test_other_shapes_than_tables_are_rejected(bad):
    with pytest.raises(ValueError, match=r"one dimension|0 sample|numbers|3 dimensions"):
        Rows(bad)


# ---- chunks -----------------------------------------------------------------------------------------


@given(
    good=st.lists(st.booleans(), max_size=12),
    cut=st.integers(0, 14),
)
def test_cut_keeps_the_order_of_rows(good, cut):
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
def test_chunks_end_at_multiples_of_every(every):
    stream = Rows(np.arange(40_000.0)[:, None], passes=1)
    at = 5
    for chunk in chunks_ahead(stream, 5, 3000, every, 5):
        assert (at - 5) // every == (at - 5 + chunk.taken - 1) // every
        assert chunk.x[0, 0] == at
        at += chunk.taken
    assert at == 3000


def test_error_in_the_prefetching_thread_is_raised():
    class Broken(Stream):
        def draw(self, first, count):
            raise RuntimeError("broken")

    with pytest.raises(RuntimeError, match="broken"):
        list(chunks_ahead(Broken(), 0, 10, 10, 0))


def test_a_stream_may_have_attributes_of_any_name():
    class Own(Stream):
        def __init__(self):
            self.lock, self.drawn, self._lock_step = "mine", 0, 3

        def draw(self, first, count):
            self.drawn += count
            return Chunk(np.zeros((count, 2)))

    stream = Own()
    assert len(stream.read(5)) == 5
    again = copy.copy(stream)
    assert (again.lock, again.drawn, again._lock_step, again.position) == ("mine", 5, 3, 5)
    assert len(again.read(2)) == 2
