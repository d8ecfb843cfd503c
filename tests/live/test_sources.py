"""Data sources and presets, and frames, history and pace of a run."""

import json
from math import inf

import numpy as np
import pytest

from gaussian_neurons.cli.shown_files import points_from_rows
from gaussian_neurons.datasets import ImageSet
from gaussian_neurons.live.frames import encoded, pixels
from gaussian_neurons.live.history import MAX_POINTS as MAX_HISTORY
from gaussian_neurons.live.history import History
from gaussian_neurons.live.pace import MAX_ROWS, SLICE, Pace
from gaussian_neurons.live.presets import presets
from gaussian_neurons.live.setup import Setup
from gaussian_neurons.live.sources import (
    MAX_POINTS,
    SETS,
    SUBSTITUTES,
    Sources,
    default_setup,
)
from tests.live.serving import decoded, striped_sources


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
    assert "--data mnist" in found["figure2a"].note
    assert found["figure1"].note is None
    twos = found["figure2g"].setup.changed({"classes": [2]})
    assert [found[name].is_of(twos) for name in ("figure2f", "figure2g")] == [False, True]
    assert found["figure2g"].is_of(found["figure2f"].setup.changed({"seed": 7}))
    json.dumps([preset.as_json() for preset in found.values()], allow_nan=False)


def test_default_settings_are_rounded():
    sources = striped_sources()
    rows = np.random.default_rng(0).normal(size=(200, 2))
    setups = [preset.setup for preset in presets(sources).values()]
    setups += [
        default_setup("mixture", sources.load("mixture", 0)),
        default_setup("file", points_from_rows(rows, "a.csv", ())),
    ]
    for setup in setups:
        values = {**setup.as_json(), "lambda": None}.values()  # lambda of one figure is 1/9
        assert all(len(repr(value)) <= 8 for value in values if isinstance(value, float))
    assert presets(sources)["figure1"].setup.learning_rate == 0.02


def test_absent_data(tmp_path, monkeypatch):
    monkeypatch.setenv("GAUSSIAN_NEURONS_DATA", str(tmp_path))
    monkeypatch.setattr("gaussian_neurons.datasets.fetch.cache_directory", lambda: None)
    sources = Sources()
    sources.find_published()
    found = {one["name"]: one for one in sources.as_json()}
    assert not found["mnist"]["available"]
    assert "--data mnist" in found["mnist"]["text"]
    assert not found["file"]["available"]
    assert found["mixture"]["available"]
    assert [sources.available(name)[0] for name in SUBSTITUTES] == list(SUBSTITUTES.values())
    with pytest.raises(FileNotFoundError, match="MNIST"):
        sources.load("mnist", 0)


def test_no_path_is_sent_to_the_page(tmp_path, monkeypatch):
    def unreadable(**_):
        raise PermissionError(13, "Permission denied", "/home/user/mnist/train.gz")

    found = ImageSet(np.zeros((2, 8, 8), np.uint8), np.zeros(2, np.uint8), "blank", "/home/user/cifar10")
    monkeypatch.setitem(SETS, "mnist", unreadable)
    monkeypatch.setitem(SETS, "cifar10", lambda **_: found)
    sources = Sources()
    sources.find_published()
    texts = {one["name"]: one["text"] for one in sources.as_json()}
    assert texts["mnist"] == "cannot be read: Permission denied"
    assert texts["cifar10"].startswith("Patches of")
    assert sources.load("cifar10", 0).text == "blank: 2 images of 8 × 8"


def test_a_random_subset_of_many_rows_is_used():
    rows = np.random.default_rng(0).normal(size=(50_000, 2)) * [1, 5] + [100, 0]
    points = points_from_rows(rows, "many.csv", ("points = rows",))
    assert points.points.shape == (MAX_POINTS, 2)
    assert points.text == "many.csv: random 20,000 of 50,000 points"
    again = {"rows": rows, "np": np}
    exec("\n".join(points.code), again)
    assert (again["points"] == points.points).all()


def test_skipped_rows_are_counted():
    rows = np.random.default_rng(0).normal(size=(20_001, 2))
    assert points_from_rows(rows[:3], "a.csv", (), skipped=2).text == "a.csv: 3 points, 2 rows skipped"
    assert points_from_rows(rows, "a.csv", (), skipped=1).text.endswith("points, 1 row skipped")


@pytest.mark.parametrize("rows", [[[1.0, 2.0]], [[1.0, 2.0]] * 5])
def test_a_single_point_is_refused(rows):
    with pytest.raises(ValueError, match="at least two different points"):
        points_from_rows(np.array(rows), "one.csv", ())


def test_a_constant_column_has_a_domain():
    points = points_from_rows(np.array([[1.0, 5.0], [2.0, 5.0]]), "flat.csv", ())
    assert points.low.tolist() == [1.0, 4.5]
    assert points.high.tolist() == [2.0, 5.5]


@pytest.mark.parametrize("factor", [1e9, 1e-9])
def test_default_settings_are_valid_for_points_of_any_scale(factor):
    rows = np.random.default_rng(0).normal(size=(200, 2)) * factor
    setup = default_setup("file", points_from_rows(rows, "far.csv", ()))
    assert Setup().changed(setup.as_json()) == setup


def test_points_outside_the_limits_are_refused():
    for rows in (np.array([[0.0, 1e200], [1.0, 2.0]]), np.array([[0.0, 0.0], [1e-20, 0.0]])):
        with pytest.raises(ValueError, match=r"Scale the columns first"):
            points_from_rows(rows, "odd.csv", ())


# ---- frames, history, pace ------------------------------------------------------------------------


def test_a_frame_is_encoded_and_decoded():
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


def test_pixels_cover_more_than_the_domain():
    assert pixels(np.array([-9.0, -0.5, 0.0, 0.5, 1.0, 1.5, 9.0])).tolist() == [0, 0, 64, 128, 191, 255, 255]


def test_history_is_thinned_out_and_keeps_both_ends():
    history = History()
    for k in range(5000):
        history.add(k, 1, None, 2.0)
    assert 400 < len(history.points) <= MAX_HISTORY
    seen = [point[0] for point in history.points]
    assert seen[0] == 0
    assert seen[-1] > 4980
    assert len(set(np.diff(seen))) == 1


def test_quick_marks_of_the_same_kind_are_merged():
    history = History()
    history.mark(10, "lambda", "λ = 0.4", 0.0)
    history.mark(20, "lambda", "λ = 0.3", 1.0)
    history.mark(30, "lambda", "λ = 0.2", 9.0)
    history.mark(40, "sigma", "σ = 1", 9.1)
    assert history.marks == [(10, "λ = 0.3"), (30, "λ = 0.2"), (40, "σ = 1")]


def test_a_limited_speed_is_kept():
    pace, now, learned = Pace(), 0.0, 0
    pace.restart(now)
    while now < 10.0:
        now += pace.wait(now, 300.0) + 1e-4
        rows = pace.rows(now, 300.0)
        learned += rows
        pace.learned(rows, now, now, learned)
    assert learned == pytest.approx(3000, abs=10)
    assert pace.speed() == pytest.approx(300, rel=0.05)


def test_the_speed_is_unknown_until_it_is_measured():
    pace = Pace()
    pace.restart(0.0)
    assert pace.speed() is None
    pace.learned(16, 0.0, 0.1, 16)
    assert pace.speed() is None
    pace.learned(16, 0.1, 0.2, 32)
    assert pace.speed() == pytest.approx(160)
    pace.restart(1.0)
    assert pace.speed() is None


def test_calls_are_small_after_a_restart():
    pace = Pace()
    for k in range(20):
        pace.learned(MAX_ROWS, 0.0, 1e-6, k)
    assert pace.rows(1.0, inf) == MAX_ROWS
    pace.restart(2.0)  # for example, after K was changed
    assert pace.rows(2.0, inf) <= 16


def test_a_speed_below_one_sample_per_second():
    pace = Pace()
    pace.restart(0.0)
    assert pace.wait(0.0, 0.5) == 2.0
    assert pace.rows(1.0, 0.5) == 0
    assert pace.wait(1.0, 0.5) == pytest.approx(1.0)
    assert pace.rows(2.0, 0.5) == 1


def test_a_long_delay_is_not_caught_up():
    pace = Pace()
    pace.restart(0.0)
    for _ in range(20):
        pace.learned(16, 0.0, 1e-6, 0)
    assert pace.rows(1000.0, 1000.0) <= 200


def test_the_size_of_calls_adapts_to_their_duration():
    pace = Pace()
    pace.restart(0.0)
    for _ in range(30):
        rows = pace.rows(0.0, inf)
        pace.learned(rows, 0.0, rows * 1e-6, 0)
    assert SLICE / 2 <= pace.rows(0.0, inf) * 1e-6 <= 1.5 * SLICE
    for _ in range(30):
        rows = pace.rows(0.0, inf)
        pace.learned(rows, 0.0, rows * 0.1, 0)
    assert pace.rows(0.0, inf) == 1
    assert pace.rows(0.0, inf, most=1) == 1
    assert MAX_ROWS >= 1000
