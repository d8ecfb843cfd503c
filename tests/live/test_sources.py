"""Where samples come from, the figures as presets, and what is kept and told of a run."""

import json

import numpy as np
import pytest

from gaussian_neurons.datasets import ImageSet
from gaussian_neurons.live.frames import decoded, encoded, pixels
from gaussian_neurons.live.history import MOST_POINTS, History
from gaussian_neurons.live.pace import LISTEN, MOST_ROWS, Pace
from gaussian_neurons.live.presets import named, presets
from gaussian_neurons.live.setup import Setup
from gaussian_neurons.live.sources import MOST_POINTS as MOST_IN_THE_PLANE
from gaussian_neurons.live.sources import SETS, STAND_INS, Sources, defaults, from_rows
from tests.live.serving import striped_sources


def test_presets_are_the_papers_settings():
    found = presets(striped_sources())
    assert list(found) == [
        "figure1",
        *(f"figure2{part}" for part in "abcdefg"),
        *("figure3a", "figure3b", "figure4"),
        *(f"figure5{part}" for part in "abcdef"),
    ]
    assert found["figure2a"].label == "Figure 2a"
    assert found["figure2a"].setup == Setup("mnist-sample", 16, 1.0, 0.5, 0.1)
    assert found["figure4"].setup == Setup("photographs", 50, 1.75, 0.01, 0.1)
    assert found["figure2f"].setup.classes == (1,)
    assert found["figure3a"].setup.width == pytest.approx(4.14, abs=0.005)
    assert found["figure5d"].setup.width_learning_rate == 0.1
    assert "MNIST is not here" in found["figure2a"].note
    assert found["figure1"].note is None
    same, ones = found["figure2b"].setup, found["figure2f"].setup
    assert named(same, same, found, "figure2b") == "figure2b"
    assert named(same, same, found, None) == "figure2a"
    assert named(Setup(width=3.3), same, found, None) is None
    assert named(ones, ones, found, None) == "figure2f"
    twos = ones.changed({"classes": [2]})
    assert named(twos, ones, found, "figure2f") == "figure2g"  # from 1s to 2s
    assert named(twos, twos, found, "figure2f") is None
    json.dumps([preset.told() for preset in found.values()], allow_nan=False)


def test_numbers_are_told_as_one_would_write_them():
    sources = striped_sources()
    rows = np.random.default_rng(0).normal(size=(200, 2))
    setups = [preset.setup for preset in presets(sources).values()]
    setups += [
        defaults("mixture", sources.load("mixture", 0)),
        defaults("file", from_rows(rows, "a.csv", ())),
    ]
    for setup in setups:
        told = {name: value for name, value in setup.told().items() if name != "lambda"}  # which is 1/9 once
        assert all(len(repr(value)) <= 8 for value in told.values() if isinstance(value, float))
    assert presets(sources)["figure1"].setup.learning_rate == 0.02


def test_what_is_not_here_is_said_once_for_all(tmp_path, monkeypatch):
    monkeypatch.setenv("GAUSSIAN_NEURONS_DATA", str(tmp_path))
    monkeypatch.setattr("gaussian_neurons.datasets.fetch.cache_directory", lambda: None)
    sources = Sources()
    sources.look()
    told = {one["name"]: one for one in sources.known()}
    assert not told["mnist"]["available"]
    assert told["mnist"]["why"].startswith("not here; start with --data mnist")
    assert not told["file"]["available"]
    assert told["mixture"]["available"]
    assert [sources.here(name)[0] for name in STAND_INS] == list(STAND_INS.values())
    with pytest.raises(FileNotFoundError, match="MNIST"):
        sources.load("mnist", 0)


def test_no_folder_of_the_machine_is_told(tmp_path, monkeypatch):
    def unreadable(**_):
        raise PermissionError(13, "Permission denied", "/home/somebody/mnist/train.gz")

    found = ImageSet(np.zeros((2, 8, 8), np.uint8), np.zeros(2, np.uint8), "blank", "/home/somebody/cifar10")
    monkeypatch.setitem(SETS, "mnist", unreadable)
    monkeypatch.setitem(SETS, "cifar10", lambda **_: found)
    sources = Sources()
    sources.look()
    told = {one["name"]: one["why"] for one in sources.known()}
    assert told["mnist"] == "cannot be read: Permission denied"
    assert told["cifar10"] is None
    assert sources.load("cifar10", 0).text == "blank: 2 images of 8 × 8"


def test_a_file_with_many_rows_is_shown_in_part():
    rows = np.random.default_rng(0).normal(size=(50_000, 2)) * [1, 5] + [100, 0]
    points = from_rows(rows, "many.csv", ("points = rows",))
    assert points.points.shape == (MOST_IN_THE_PLANE, 2)
    assert points.text == "many.csv: 20,000 of its 50,000 points, drawn at random"
    again = {"rows": rows, "np": np}
    exec("\n".join(points.code), again)
    assert (again["points"] == points.points).all()


def test_rows_left_out_are_told():
    rows = np.random.default_rng(0).normal(size=(20_001, 2))
    assert from_rows(rows[:3], "a.csv", (), left_out=2).text == "a.csv: 3 points, 2 rows left out"
    assert from_rows(rows, "a.csv", (), left_out=1).text.endswith("points, drawn at random, 1 row left out")


@pytest.mark.parametrize("rows", [[[1.0, 2.0]], [[1.0, 2.0]] * 5])
def test_one_place_alone_is_nothing_to_show(rows):
    with pytest.raises(ValueError, match="there must be two to show"):
        from_rows(np.array(rows), "one.csv", ())


def test_a_column_that_never_changes_still_has_a_domain():
    points = from_rows(np.array([[1.0, 5.0], [2.0, 5.0]]), "flat.csv", ())
    assert points.low.tolist() == [1.0, 4.5]
    assert points.high.tolist() == [2.0, 5.5]


# ---- frames, history, pace ------------------------------------------------------------------------


def test_a_frame_goes_there_and_back():
    arrays = {
        "a": np.arange(5, dtype=np.float32),
        "b": np.arange(6, dtype=np.uint8).reshape(2, 3),
        "c": np.zeros((0, 4), np.uint8),
        "d": np.array([7], np.int32),
        "e": np.array([1e9 + 1e-3]),
    }
    message = encoded({"kind": "frame", "text": "μ₁"}, arrays)
    facts, back = decoded(message)
    assert facts == {"kind": "frame", "text": "μ₁"}
    assert set(back) == set(arrays)
    for name, array in arrays.items():
        assert back[name].shape == array.shape
        assert (back[name] == array).all()
    offsets = [
        one["offset"]
        for one in json.loads(message[4 : 4 + int.from_bytes(message[:4], "little")])["arrays"].values()
    ]
    assert all(offset % 8 == 0 for offset in offsets)


def test_pixels_span_from_below_the_domain_to_above_it():
    assert pixels(np.array([-9.0, -0.5, 0.0, 0.5, 1.0, 1.5, 9.0])).tolist() == [0, 0, 64, 128, 191, 255, 255]


def test_history_is_thinned_out_and_keeps_its_ends():
    history = History()
    for k in range(5000):
        history.add(k, 1, None, 2.0)
    assert 400 < len(history.points) <= MOST_POINTS
    seen = [point[0] for point in history.points]
    assert seen[0] == 0
    assert seen[-1] > 4980
    assert len(set(np.diff(seen))) == 1


def test_marks_of_one_kind_at_once_are_one():
    history = History()
    history.mark(10, "lambda", "λ = 0.4", 0.0)
    history.mark(20, "lambda", "λ = 0.3", 1.0)
    history.mark(30, "lambda", "λ = 0.2", 9.0)
    history.mark(40, "sigma", "σ = 1", 9.1)
    assert history.marks == [(10, "λ = 0.3"), (30, "λ = 0.2"), (40, "σ = 1")]


def test_a_given_speed_is_kept():
    pace, now, learned = Pace(), 0.0, 0
    pace.restart(now)
    while now < 10.0:
        now += pace.wait(now, 300.0) + 1e-4
        rows = pace.rows(now, 300.0)
        learned += rows
        pace.learned(rows, now, now, learned)
    assert learned == pytest.approx(3000, abs=10)
    assert pace.speed() == pytest.approx(300, rel=0.05)


def test_a_speed_is_told_once_it_is_known():
    pace = Pace()
    pace.restart(0.0)
    assert pace.speed() is None
    pace.learned(16, 0.0, 0.1, 16)
    assert pace.speed() is None
    pace.learned(16, 0.1, 0.2, 32)
    assert pace.speed() == pytest.approx(160)
    pace.restart(1.0)
    assert pace.speed() is None


def test_after_a_restart_slices_are_small_again():
    pace = Pace()
    for k in range(20):
        pace.learned(MOST_ROWS, 0.0, 1e-6, k)
    assert pace.rows(1.0, None) == MOST_ROWS
    pace.restart(2.0)  # many more neurons, for instance
    assert pace.rows(2.0, None) <= 16


def test_one_sample_in_two_seconds():
    pace = Pace()
    pace.restart(0.0)
    assert pace.wait(0.0, 0.5) == 2.0
    assert pace.rows(1.0, 0.5) == 0
    assert pace.wait(1.0, 0.5) == pytest.approx(1.0)
    assert pace.rows(2.0, 0.5) == 1


def test_nothing_is_made_up_for_after_a_long_break():
    pace = Pace()
    pace.restart(0.0)
    for _ in range(20):
        pace.learned(16, 0.0, 1e-6, 0)
    assert pace.rows(1000.0, 1000.0) <= 200


def test_slices_grow_until_they_take_as_long_as_one_may_listen():
    pace = Pace()
    pace.restart(0.0)
    for _ in range(30):
        rows = pace.rows(0.0, None)
        pace.learned(rows, 0.0, rows * 1e-6, 0)
    assert LISTEN / 2 <= pace.rows(0.0, None) * 1e-6 <= 1.5 * LISTEN
    for _ in range(30):
        rows = pace.rows(0.0, None)
        pace.learned(rows, 0.0, rows * 0.1, 0)
    assert pace.rows(0.0, None) == 1
    assert pace.rows(0.0, None, most=1) == 1
    assert MOST_ROWS >= 1000
