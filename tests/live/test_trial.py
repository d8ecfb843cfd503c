"""A trial: the same bits as the library alone, numbers that neurons keep, a script that repeats it all."""

import numpy as np
import pytest

from gaussian_neurons import GaussianNeurons
from gaussian_neurons.experiments import similarity
from gaussian_neurons.live.script import MOST_LETTERS, MOST_NOTES
from gaussian_neurons.live.setup import Setup
from gaussian_neurons.live.sources import MOST_POINTS as MOST_IN_THE_PLANE
from gaussian_neurons.live.sources import defaults, from_rows, mixture, one_sample
from gaussian_neurons.live.trial import Trial
from tests.live.serving import STRIPES, stripes


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


def test_few_samples_teach_nobody(trial):
    taught(trial, 1)
    assert trial.model.learned_.any()
    assert not trial.arrays()["learned"].any()
    assert trial.facts()["learned"] == 0
    taught(trial, 5000)
    assert trial.facts()["learned"] == trial.model.learned_.sum() > 0


def test_who_has_left_the_domain_is_told(trial):
    assert not trial.arrays()["outside"].any()
    taught(trial, 20_000)
    centers = trial.model.centers_
    assert (trial.arrays()["outside"] == ((centers < 0) | (centers > 1)).any(axis=1)).all()
    assert trial.arrays()["outside"].any()


def test_a_pattern_that_is_learned_again_is_told_once(trial):
    taught(trial, 50_000)
    which = int(np.flatnonzero(trial.learned)[0])
    number, center = trial.ids[which], trial.model.centers_[which].copy()
    trial.remove([number])
    assert trial.found_again() == []
    trial.model.move_neurons([0], centers=[center])
    taught(trial, 20_000)  # it stays there, and answers
    found = trial.found_again()
    assert [old for old, _ in found] == [number]
    assert similarity.same(trial.model.centers_[trial.index(found[0][1])], center)
    assert trial.found_again() == []


def test_in_the_plane_too_a_pattern_is_found_again():
    trial = taught(in_the_plane(), 30_000)
    which = int(np.flatnonzero(trial.learned)[0])
    number, center = trial.ids[which], trial.model.centers_[which].copy()
    trial.remove([number])
    trial.change("sigma", trial.setup.changed({"sigma": 10.0}))  # all answer everywhere, but nobody came
    assert trial.found_again() == []
    trial.change("sigma", trial.setup.changed({"sigma": 0.01}))
    trial.add(1, tuple(center))
    taught(trial, 5000)
    assert trial.found_again() == [(number, trial.ids[-1])]
    trial.close()


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


def sampling(trial):
    """What a script takes from the module of that name."""
    return [line for line in trial.script().splitlines() if line.startswith("from gaussian_neurons.sampling")]


def test_a_script_imports_what_it_uses(trial):
    assert sampling(trial) == ["from gaussian_neurons.sampling import Patches"]
    trial.change("eta_sigma", trial.setup.changed({"eta_sigma": 0.5}))
    assert sampling(trial) == ["from gaussian_neurons.sampling import Neighbourhoods, Patches"]
    read = (
        "from gaussian_neurons.sampling import rows_from_file",
        "points = rows_from_file('a.csv').read(2)",
    )
    plane = Trial(Setup("file", 2), from_rows(np.eye(2), "a.csv", read))
    assert sampling(plane) == ["from gaussian_neurons.sampling import Rows, rows_from_file"]
    plane.close()


def painted(trial, count, seed=1):
    trial.paint(np.random.default_rng(seed).uniform(-0.5, 1.5, (count, 2)))


def begun_again(trial, seed=0):
    """As Start again does it, or New seed."""
    setup = trial.setup.changed({"seed": seed})
    return Trial(setup, trial.with_added(mixture(seed)))


def noise(trial):
    taught(trial, 10)
    trial.drop_noise(200)
    taught(trial, 100)
    trial.change("eta_sigma", trial.setup.changed({"eta_sigma": 0.2}))
    trial.drop_noise(7)
    return trial


def stroke(trial):
    painted(trial, 3)
    for k in range(20):
        taught(trial, 1)
        painted(trial, 2, seed=k)
    return trial


def paint_and_take_back(trial):
    painted(trial, 150)
    taught(trial, 2000)
    trial.drop_noise(20)
    taught(trial, 30)
    trial.unpaint()
    taught(trial, 500)
    painted(trial, 1)
    return trial


def paint_noise_and_start_again(trial):
    painted(trial, 50)
    taught(trial, 200)
    trial.drop_noise(100)
    trial = begun_again(begun_again(trial), seed=3)
    trial.drop_noise(10)
    return trial


@pytest.mark.parametrize("do", [noise, stroke, paint_and_take_back, paint_noise_and_start_again])
def test_the_script_repeats_what_was_painted(do):
    trial = taught(do(in_the_plane()), 4000)
    model = repeated(trial)
    assert "not repeat" not in trial.script()
    assert (model.centers_ == trial.model.centers_).all()
    assert (model.widths_ == trial.model.widths_).all()
    trial.close()


def test_noise_is_a_line_and_painted_at_rest_makes_one_stream():
    trial = in_the_plane()
    taught(trial, 10)
    for _ in range(3):
        trial.drop_noise(200)
    text = trial.script()
    assert max(map(len, text.splitlines())) < 120
    assert text.count("default_rng(") == 3
    assert text.count("stream = ") == 2
    trial.close()


def test_as_much_as_the_plane_holds_can_be_painted_once_and_then_the_script_ends():
    trial = in_the_plane()
    room = MOST_IN_THE_PLANE - trial.n_points
    painted(trial, room)
    taught(trial, 10)
    assert (repeated(trial).centers_ == trial.model.centers_).all()
    trial.unpaint()
    painted(trial, room)
    taught(trial, 10)
    text = trial.script()
    assert "here the run went on: a script keeps" in text
    assert len(text) < MOST_LETTERS + 2000
    model = repeated(trial)
    assert model.n_samples_seen_ == 10
    trial.close()


def test_a_script_ends_where_more_was_done_than_it_keeps():
    trial = in_the_plane()
    for k in range(MOST_NOTES):
        trial.journal.note(k, "model.set_params(inhibition=0.5)")
    text = trial.journal.script(2 * MOST_NOTES)
    assert "went on" not in text
    assert text.count("model.learn(") == MOST_NOTES
    for k in range(MOST_NOTES, MOST_NOTES + 100):
        trial.journal.note(k, f"model.set_params(inhibition={k})")
    text = trial.journal.script(2 * MOST_NOTES)
    learned = [int(line[20:-1].replace("_", "")) for line in text.splitlines() if "model.learn(" in line]
    assert sum(learned) == MOST_NOTES  # and not a sample with settings that were no longer
    assert "here the run went on: a script keeps 5,000 changes" in text
    trial.close()
