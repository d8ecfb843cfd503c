"""A trial: the same bits as the library alone, numbers that neurons keep, a script that repeats it all."""

import json

import numpy as np
import pytest

from gaussian_neurons import GaussianNeurons
from gaussian_neurons.live.frames import decoded, encoded, pixels
from gaussian_neurons.live.history import MOST_POINTS, History
from gaussian_neurons.live.pace import LISTEN, MOST_ROWS, Pace
from gaussian_neurons.live.presets import named, presets
from gaussian_neurons.live.setup import Setup
from gaussian_neurons.live.sources import MOST_POINTS as MOST_IN_THE_PLANE
from gaussian_neurons.live.sources import STAND_INS, Sources, defaults, from_rows, mixture, one_sample
from gaussian_neurons.live.trial import Trial
from tests.live.serving import STRIPES, striped_sources, stripes


@pytest.fixture
def trial():
    one = Trial(STRIPES, stripes())
    yield one
    one.close()


def taught(trial, samples):
    while samples:
        samples -= trial.learn(samples)
    return trial


def in_the_plane(**changes):
    setup = Setup("mixture", 8, 0.01, learning_rate=0.001)
    source = mixture(setup.seed)
    return Trial(setup.changed(changes), source)


def test_it_learns_the_bits_of_the_library(trial):
    taught(trial, 5000)
    stream = stripes().stream(STRIPES)
    alone = GaussianNeurons(
        6, width=1.0, inhibition=0.5, learning_rate=0.1, domain=(0.0, 1.0), random_state=0
    )
    alone.learn(stream, 5000, progress=False)
    assert (trial.model.centers_ == alone.centers_).all()
    assert trial.seen == 5000


def test_before_the_first_sample_there_are_neurons_to_see(trial):
    arrays = trial.arrays()
    assert arrays["centers"].shape == (6, 16)
    assert arrays["samples"].shape == (0, 16)
    assert trial.facts() == {"seen": 0, "learned": 0, "cost": None}
    assert trial.strongest(1)["patches"].shape == (0, 16)


def test_neurons_keep_their_numbers(trial):
    taught(trial, 1000)
    centers = trial.model.centers_
    trial.remove([2])
    trial.add(2, None)
    assert trial.ids == [1, 3, 4, 5, 6, 7, 8]
    assert (trial.model.centers_[1] == centers[2]).all()
    with pytest.raises(ValueError, match="there is no neuron 2 any more"):
        trial.remove([2])
    for neuron in trial.ids[1:]:
        trial.remove([neuron])
    with pytest.raises(ValueError, match="the last neuron cannot be removed"):
        trial.remove([1])
    assert trial.ids == [1]


def test_fewer_neurons_are_those_that_learned_nothing(trial):
    taught(trial, 20_000)
    learned = {n for n, it in zip(trial.ids, trial.model.learned_, strict=True) if it}
    assert 0 < len(learned) < 6
    trial.change("K", trial.setup.changed({"K": len(learned)}))
    assert set(trial.ids) == learned
    trial.change("K", trial.setup.changed({"K": 10}))
    assert len(trial.ids) == 10
    assert trial.ids[-1] == 6 + 10 - len(learned)


def test_a_neuron_in_the_hand_stays_there():
    trial = in_the_plane()
    taught(trial, 1000)
    trial.hold(3, (0.25, 0.75))
    for _ in range(5):
        trial.learn(100)
        assert trial.model.centers_[2].tolist() == [0.25, 0.75]
    trial.release([3])
    taught(trial, 1000)
    assert trial.model.centers_[2].tolist() != [0.25, 0.75]
    trial.remove([3])
    with pytest.raises(ValueError, match="there is no neuron 3"):
        trial.hold(3, (0.0, 0.0))
    assert trial.held == {}
    trial.close()


def test_points_are_painted_and_taken_back():
    trial = in_the_plane()
    before = len(trial.points()["points"])
    trial.paint(np.full((150, 2), 0.5))
    assert trial.points()["painted"].sum() == 150
    taught(trial, before + 150)  # a pass: each of them came
    trial.unpaint()
    assert len(trial.points()["points"]) == before
    with pytest.raises(ValueError, match="there is room for 20,000 points"):
        trial.paint(np.zeros((MOST_IN_THE_PLANE, 2)))
    assert len(trial.points()["points"]) == before
    trial.close()


def test_what_is_for_the_plane_is_refused_for_images(trial):
    for wrong in (
        lambda: trial.paint(np.zeros((1, 2))),
        lambda: trial.hold(1, (0.0, 0.0)),
        lambda: trial.add(1, (0.0, 0.0)),
    ):
        with pytest.raises(ValueError, match="in the plane only"):
            wrong()


def test_a_change_that_fails_changes_nothing(trial):
    taught(trial, 100)
    centers = trial.model.centers_
    with pytest.raises(ValueError, match="no image has a label of"):
        trial.change("classes", trial.setup.changed({"classes": [7]}))
    with pytest.raises(ValueError, match="at most 400 neurons"):
        trial.add(395, None)
    assert trial.setup == STRIPES
    assert (trial.model.centers_ == centers).all()
    assert trial.learn(10) == 10


def test_classes_choose_what_comes(trial):
    trial.change("classes", trial.setup.changed({"classes": [1]}))
    taught(trial, 500)
    patches = trial.arrived.reshape(-1, 4, 4)
    assert (patches == patches[:, :1]).all()  # upright stripes: every row the same


def test_widths_are_learned_where_samples_carry_some(trial):
    trial.change("eta_sigma", trial.setup.changed({"eta_sigma": 0.5}))
    taught(trial, 3000)
    assert (trial.model.widths_ != 1.0).any()
    plane = in_the_plane(eta_sigma=0.5, sample_width=0.002)
    taught(plane, 5000)
    assert plane.model.widths_.min() < 0.005
    plane.close()


def test_a_new_width_is_that_of_every_neuron(trial):
    taught(trial, 100)
    trial.change("sigma", trial.setup.changed({"sigma": 0.25}))
    assert (trial.model.widths_ == 0.25).all()


# ---- the script -----------------------------------------------------------------------------------


def repeated(trial):
    """What a script that repeats the trial makes of its model."""
    names = {"images": stripes().images, "labels": stripes().labels}
    text = trial.script().replace("images = None\n", "")
    exec(text, names)
    return names["model"]


def test_the_script_learns_the_same_bits(trial, capsys):
    taught(trial, 3000)
    model = repeated(trial)
    assert (model.centers_ == trial.model.centers_).all()
    assert "of 6 neurons learned" in capsys.readouterr().out


def test_the_script_repeats_what_was_done_on_the_way(trial):
    taught(trial, 1000)
    trial.remove([2, 5])
    trial.change("lambda", trial.setup.changed({"lambda": 0.2}))
    taught(trial, 500)
    trial.add(3, None)
    trial.change("classes", trial.setup.changed({"classes": [0]}))
    taught(trial, 250)
    trial.change("sigma", trial.setup.changed({"sigma": 0.7}))
    trial.change("eta_sigma", trial.setup.changed({"eta_sigma": 0.1}))
    taught(trial, 700)
    trial.change("noise", trial.setup.changed({"noise": 0.3}))
    trial.change("K", trial.setup.changed({"K": 5}))
    taught(trial, 300)
    model = repeated(trial)
    assert (model.centers_ == trial.model.centers_).all()
    assert (model.widths_ == trial.model.widths_).all()


@pytest.mark.parametrize("kind", ["mixture", "one-sample"])
def test_the_script_repeats_the_plane(kind):
    source = mixture(0) if kind == "mixture" else one_sample()
    trial = Trial(defaults(kind, source), source)
    taught(trial, 2000)
    trial.hold(2, (0.1, 0.2))
    trial.release([2])
    trial.change("eta_sigma", trial.setup.changed({"eta_sigma": 0.2}))
    taught(trial, 1000)
    model = repeated(trial)
    assert (model.centers_ == trial.model.centers_).all()
    assert (model.widths_ == trial.model.widths_).all()
    trial.close()


def test_the_script_repeats_what_was_done_before_the_first_sample_and_at_rest(trial):
    trial.change("sigma", trial.setup.changed({"sigma": 0.4}))
    model = repeated(trial)
    assert model.n_samples_seen_ == 0
    assert (model.centers_ == trial.model.centers_).all()
    taught(trial, 100)
    for _ in range(2):  # the same line twice is done twice
        trial.add(1, None)
        trial.remove([trial.ids[0]])
        trial.remove([trial.ids[0]])
    trial.add(2, None)
    taught(trial, 100)
    model = repeated(trial)
    assert model.centers_.shape == trial.model.centers_.shape
    assert (model.centers_ == trial.model.centers_).all()


def test_samples_that_could_not_be_learned_from_come_again(trial, monkeypatch):
    taught(trial, 100)
    with monkeypatch.context() as patched:
        patched.setattr(trial.model, "partial_fit", _fails)
        with pytest.raises(FloatingPointError):
            trial.learn(50)
    assert (trial.seen, trial.position) == (100, 100)
    taught(trial, 100)
    assert (repeated(trial).centers_ == trial.model.centers_).all()


def _fails(*_, **__):
    raise FloatingPointError("no")


def test_neurons_held_at_rest_are_repeated_and_others_are_told_of():
    trial = in_the_plane()
    taught(trial, 100)
    trial.hold(2, (0.25, 0.5))
    assert repeated(trial).centers_[1].tolist() == [0.25, 0.5]
    trial.remove([2])
    taught(trial, 100)
    assert (repeated(trial).centers_ == trial.model.centers_).all()
    trial.hold(3, (0.25, 0.5))
    taught(trial, 100)
    trial.release([3])
    assert "# until here neurons were held while others learned" in trial.script()
    trial.close()


def test_a_script_says_what_it_does_not_repeat():
    trial = in_the_plane()
    taught(trial, 10)
    trial.paint(np.full((150, 2), 0.5))
    assert "# here 150 points were added by hand" in trial.script()
    for k in range(600):
        trial.journal.note(k, f"model.remove_neurons([{k}])")
    text = trial.journal.script(1000)
    assert "more was done than the 500 changes" in text
    assert len(text.splitlines()) < 1100
    trial.close()


# ---- sources and presets --------------------------------------------------------------------------


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
    assert named(found["figure2b"].setup, found, "figure2b") == "figure2b"
    assert named(found["figure2b"].setup, found, None) == "figure2a"
    assert named(Setup(width=3.3), found, None) is None
    json.dumps([preset.told() for preset in found.values()], allow_nan=False)


def test_what_is_not_here_is_said_once_for_all(tmp_path, monkeypatch):
    monkeypatch.setenv("GAUSSIAN_NEURONS_DATA", str(tmp_path))
    monkeypatch.setattr("gaussian_neurons.datasets.fetch.cache_directory", lambda: None)
    sources = Sources()
    sources.look()
    told = {one["name"]: one for one in sources.known()}
    assert not told["mnist"]["available"]
    assert "MNIST is not here" in told["mnist"]["why"]
    assert not told["file"]["available"]
    assert told["mixture"]["available"]
    assert [sources.here(name)[0] for name in STAND_INS] == list(STAND_INS.values())
    with pytest.raises(FileNotFoundError, match="MNIST"):
        sources.load("mnist", 0)


def test_a_file_with_many_rows_is_shown_in_part():
    rows = np.random.default_rng(0).normal(size=(50_000, 2)) * [1, 5] + [100, 0]
    points = from_rows(rows, "many.csv", ("points = rows",))
    assert points.points.shape == (MOST_IN_THE_PLANE, 2)
    assert points.text == "many.csv: 20,000 of its 50,000 points, drawn at random"
    again = {"rows": rows, "np": np}
    exec("\n".join(points.code), again)
    assert (again["points"] == points.points).all()


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
    assert history.marks == [(20, "λ = 0.3"), (30, "λ = 0.2"), (40, "σ = 1")]


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
