"""A trial: the same bits as the library, numbers of neurons, changes, and the script that reproduces it."""

from copy import copy

import numpy as np
import pytest

from gaussian_neurons import GaussianNeurons
from gaussian_neurons.base.covariances import as_type, ellipse, mean_widths
from gaussian_neurons.cli.shown_files import points_from_rows
from gaussian_neurons.experiments import similarity
from gaussian_neurons.live.removed import RemovedPatterns
from gaussian_neurons.live.script import MAX_CHANGES, TRUNCATED
from gaussian_neurons.live.setup import Setup
from gaussian_neurons.live.sources import MAX_POINTS, default_setup, mixture, one_sample
from gaussian_neurons.live.trial import MAX_COVARIANCES, Trial
from gaussian_neurons.sampling import Neighbourhoods
from tests.live.serving import STRIPES, stripes


@pytest.fixture
def trial():
    one = Trial(STRIPES, stripes())
    yield one
    one.close()


def learn(trial, samples):
    while samples:
        samples -= trial.learn(samples)
    return trial


def plane_trial(**changes):
    setup = Setup("mixture", 8, 0.01, learning_rate=0.001)
    source = mixture(setup.seed)
    return Trial(setup.changed(changes), source)


def test_a_trial_learns_the_same_bits_as_the_library(trial):
    learn(trial, 5000)
    stream = stripes().stream(STRIPES)
    alone = GaussianNeurons(
        6, width=1.0, inhibition=0.5, learning_rate=0.1, domain=(0.0, 1.0), random_state=0
    )
    alone.learn(stream, 5000, progress=False)
    assert (trial.model.centers_ == alone.centers_).all()
    assert trial.seen == 5000


def test_neurons_exist_before_the_first_sample(trial):
    arrays = trial.arrays()
    assert arrays["centers"].shape == (6, 16)
    assert arrays["samples"].shape == (0, 16)
    assert trial.facts() == {"seen": 0, "learned": 0, "cost": None, "moved": 0.0}
    assert trial.strongest(1)["patches"].shape == (0, 16)


def test_no_neuron_counts_as_learned_after_few_samples(trial):
    learn(trial, 1)
    assert trial.model.learned_.any()
    assert not trial.arrays()["learned"].any()
    assert trial.facts()["learned"] == 0
    learn(trial, 5000)
    assert trial.facts()["learned"] == trial.model.learned_.sum() > 0


def test_neurons_outside_the_domain(trial):
    assert not trial.arrays()["outside"].any()
    learn(trial, 20_000)
    centers = trial.model.centers_
    assert (trial.arrays()["outside"] == ((centers < 0) | (centers > 1)).any(axis=1)).all()
    assert trial.arrays()["outside"].any()


def test_a_removed_pattern_that_is_learned_again_is_reported_once(trial):
    learn(trial, 50_000)
    which = int(np.flatnonzero(trial.learned)[0])
    number, center = trial.ids[which], trial.model.centers_[which].copy()
    trial.remove([number])
    assert trial.relearned() == []
    trial.model.move_neurons([0], centers=[center])
    learn(trial, 20_000)
    found = trial.relearned()
    assert [old for old, _, _ in found] == [number]
    assert (found[0][2] == center).all()
    assert similarity.same(trial.model.centers_[trial.index(found[0][1])], center)
    assert trial.relearned() == []


def test_a_removed_pattern_is_learned_again_in_the_plane():
    trial = learn(plane_trial(), 30_000)
    which = int(np.flatnonzero(trial.learned)[0])
    number, center = trial.ids[which], trial.model.centers_[which].copy()
    trial.remove([number])
    trial.change("sigma", trial.setup.changed({"sigma": 10.0}))  # all respond, but none moved there
    assert trial.relearned() == []
    trial.change("sigma", trial.setup.changed({"sigma": 0.01}))
    trial.add(1, tuple(center))
    learn(trial, 5000)
    assert [one[:2] for one in trial.relearned()] == [(number, trial.ids[-1])]
    trial.close()


def test_neurons_keep_their_numbers(trial):
    learn(trial, 1000)
    centers = trial.model.centers_
    trial.remove([2])
    trial.add(2, None)
    assert trial.ids == [1, 3, 4, 5, 6, 7, 8]
    assert (trial.model.centers_[1] == centers[2]).all()
    with pytest.raises(ValueError, match="There is no neuron 2"):
        trial.remove([2])
    for neuron in trial.ids[1:]:
        trial.remove([neuron])
    with pytest.raises(ValueError, match="last neuron"):
        trial.remove([1])
    assert trial.ids == [1]


def test_a_smaller_k_removes_neurons_that_learned_nothing_first(trial):
    learn(trial, 20_000)
    kept = {n for n, it in zip(trial.ids, trial.model.learned_, strict=True) if it}
    assert 0 < len(kept) < 6
    trial.change("K", trial.setup.changed({"K": len(kept)}))
    assert set(trial.ids) == kept
    trial.change("K", trial.setup.changed({"K": 10}))
    assert len(trial.ids) == 10
    assert trial.ids[-1] == 6 + 10 - len(kept)


def test_a_held_neuron_stays():
    trial = plane_trial()
    learn(trial, 1000)
    trial.hold(3, (0.25, 0.75))
    for _ in range(5):
        trial.learn(100)
        assert trial.model.centers_[2].tolist() == [0.25, 0.75]
    trial.release([3])
    learn(trial, 1000)
    assert trial.model.centers_[2].tolist() != [0.25, 0.75]
    trial.remove([3])
    with pytest.raises(ValueError, match="There is no neuron 3"):
        trial.hold(3, (0.0, 0.0))
    assert trial.held == {}
    trial.close()


def test_points_are_painted_and_removed():
    trial = plane_trial()
    before = len(trial.points()["points"])
    trial.paint(np.full((150, 2), 0.5))
    assert trial.points()["painted"].sum() == 150
    learn(trial, before + 150)  # one pass
    trial.unpaint()
    assert len(trial.points()["points"]) == before
    with pytest.raises(ValueError, match="At most 20,000 points"):
        trial.paint(np.zeros((MAX_POINTS, 2)))
    assert len(trial.points()["points"]) == before
    trial.close()


def test_neurons_on_points_that_were_taken_back_have_learned_nothing():
    """However long the points held them. The others stay, and the script has the same neurons."""
    trial = learn(plane_trial(K=12), 60_000)
    points = trial.points()["points"]
    corners = np.array([[0.02, 0.02], [0.98, 0.02], [0.02, 0.98], [0.98, 0.98]])
    empty = corners[np.argmax([np.abs(points - at).max(axis=1).min() for at in corners])]
    trial.add(1, tuple(empty.tolist()))
    trial.paint(np.random.default_rng(0).normal(empty, 0.01, (800, 2)))
    learn(trial, 60_000)
    assert trial.learned[12]
    assert trial.model.diagnosis_.remembered[12]
    others = trial.learned[:12].copy()
    trial.unpaint()
    assert trial.learned.tolist() == [*others, False]
    learn(trial, 20_000)
    assert not trial.learned[12]
    assert (from_script(trial).centers_ == trial.model.centers_).all()
    trial.close()


def test_noise_raises_the_number_of_learned_neurons_neither_at_first_nor_taken_back():
    trial = learn(plane_trial(K=16), 60_000)
    before = trial.learned.copy()
    trial.add_noise(200)
    trial.paint(np.random.default_rng(0).normal([1.2, 0.5], 0.03, (300, 2)))
    trial.add(1, (1.2, 0.5))
    trial.add_noise(200)
    learn(trial, 60_000)
    assert trial.model.learned_.sum() > before.sum() + 1  # noise holds neurons
    assert trial.learned.tolist() == [*before, True]  # points painted between noise count
    trial.unpaint()
    winner = trial.model.transform(trial.points()["points"]).argmax(axis=1)
    share = np.bincount(winner, minlength=17) / len(winner)
    assert trial.learned.sum() <= before.sum()
    assert (share[trial.learned] >= 0.005).all()
    trial.close()


def test_a_copy_is_the_state_at_that_time_and_learns_on_by_itself():
    trial = learn(plane_trial(), 2000)
    before = copy(trial)
    centers = trial.model.centers_.copy()
    trial.remove([2])
    trial.paint(np.full((20, 2), 0.9))
    learn(trial, 500)
    assert before.ids == list(range(1, 9))
    assert (before.model.centers_ == centers).all()
    assert (from_script(before).centers_ == centers).all()
    learn(before, 1000)
    again = learn(plane_trial(), 3000)
    assert (before.model.centers_ == again.model.centers_).all()
    for one in (trial, before, again):
        one.close()


def test_commands_for_the_plane_are_refused_for_images(trial):
    for wrong in (
        lambda: trial.paint(np.zeros((1, 2))),
        lambda: trial.hold(1, (0.0, 0.0)),
        lambda: trial.add(1, (0.0, 0.0)),
    ):
        with pytest.raises(ValueError, match="in the plane only"):
            wrong()


def test_a_change_that_fails_changes_nothing(trial):
    learn(trial, 100)
    centers = trial.model.centers_
    with pytest.raises(ValueError, match="label"):
        trial.change("classes", trial.setup.changed({"classes": [7]}))
    with pytest.raises(ValueError, match="At most 400 neurons"):
        trial.add(395, None)
    assert trial.setup == STRIPES
    assert (trial.model.centers_ == centers).all()
    assert trial.learn(10) == 10


def test_classes_select_the_samples(trial):
    trial.change("classes", trial.setup.changed({"classes": [1]}))
    learn(trial, 500)
    patches = trial.newest.reshape(-1, 4, 4)
    assert (patches == patches[:, :1]).all()  # vertical stripes: all rows are equal


def test_widths_are_learned_from_samples_with_widths(trial):
    trial.change("eta_sigma", trial.setup.changed({"eta_sigma": 0.5}))
    learn(trial, 3000)
    assert (trial.model.widths_ != 1.0).any()
    plane = plane_trial(eta_sigma=0.5, sample_width=0.002)
    learn(plane, 5000)
    assert plane.model.widths_.min() < 0.005
    plane.close()


def test_a_new_width_applies_to_all_neurons(trial):
    learn(trial, 100)
    trial.change("sigma", trial.setup.changed({"sigma": 0.25}))
    assert (trial.model.widths_ == 0.25).all()


# ---- covariances ----------------------------------------------------------------------------------


@pytest.fixture(params=["diag", "full"])
def kind(request):
    return request.param


def long_clusters():
    """Two clusters that are three times as long as wide: one along x, one turned by 45 degrees."""
    random = np.random.default_rng(0)
    along, across = random.normal(0, 0.09, 2000), random.normal(0, 0.03, 2000)
    rows = np.column_stack([0.3 + along, 0.2 + across])
    rows[1000:] = (0.7 + np.column_stack([along - across, along + across]) / np.sqrt(2))[1000:]
    return points_from_rows(rows, "long.csv", ("points = None",))


def test_covariances_start_round_and_stay_unless_widths_are_learned(kind):
    for trial in (
        Trial(STRIPES.changed({"covariance_type": kind}), stripes()),
        plane_trial(covariance_type=kind),
    ):
        D, width = trial.model.n_features_in_, trial.setup.width
        learn(trial, 2000)
        expected = as_type(np.full(6 if trial.mode == "image" else 8, width), kind, D)
        assert (trial.model.widths_ == expected).all()
        assert np.allclose(trial.arrays()["widths"], width)
        trial.close()


def test_covariances_of_filters_are_learned_from_neighbourhoods(kind):
    setup = STRIPES.with_covariances(kind)
    trial = learn(Trial(setup, stripes()), 3000)
    alone = GaussianNeurons(
        6,
        covariance_type=kind,
        width=1.0,
        inhibition=0.5,
        learning_rate=0.1,
        width_learning_rate=0.1,
        domain=(0.0, 1.0),
        random_state=0,
    )
    alone.learn(Neighbourhoods(stripes().images, 4, 0.1, 0, covariance=kind), 3000, progress=False)
    assert (trial.model.widths_ == alone.widths_).all()
    assert trial.arrays()["widths"].shape == (6,)
    assert np.allclose(trial.arrays()["widths"], mean_widths(alone.widths_))
    squares = np.linalg.svd(as_type(alone.widths_, "full", 16)[0], compute_uv=False)
    assert np.allclose(trial.strongest(1)["axes"] ** 2, [squares.max(), squares.min()], rtol=1e-4)
    trial.close()


def test_neurons_in_the_plane_take_the_shape_of_their_clusters():
    setup = Setup("file", 2, 0.04, learning_rate=0.002, sample_width=0.02).with_covariances("full")
    trial = Trial(setup, long_clusters())
    trial.model.move_neurons([0, 1], centers=[[0.3, 0.2], [0.7, 0.7]])
    learn(trial, 10_000)
    for k, expected in ((0, 0), (1, 45)):
        long, short, angle = ellipse(trial.model.widths_[k], np.ones(2))
        assert abs((angle - expected + 90) % 180 - 90) < 10
        assert long > 1.4 * short
    xx, xy, yy = trial.arrays()["covariances"].T
    assert (np.stack([[xx, xy], [xy, yy]]).transpose(2, 0, 1) == trial.model.widths_).all()
    assert np.allclose(trial.arrays()["widths"], 0.02, rtol=1e-3)
    trial.close()


def test_widths_in_the_plane_are_sent_as_round_covariances():
    trial = plane_trial()
    assert trial.arrays()["covariances"].tolist() == [[0.01, 0.0, 0.01]] * 8
    trial.close()


def test_neurons_with_covariances_are_changed_like_others(kind):
    trial = learn(plane_trial(covariance_type=kind, eta_sigma=0.2), 2000)
    trial.add(1, (0.5, 0.5))
    trial.add(2, None)
    trial.remove([1])
    trial.hold(2, (0.25, 0.75))
    trial.release([2])
    assert trial.arrays()["covariances"][-3:].tolist() == [[0.01, 0.0, 0.01]] * 3
    learn(trial, 1000)
    trial.change("sample_width", trial.setup.changed({"sample_width": 0.004}))
    trial.paint(np.random.default_rng(0).normal(0.5, [0.1, 0.01], (100, 2)))
    learn(trial, 1000)
    model = from_script(trial)
    assert (model.centers_ == trial.model.centers_).all()
    assert (model.widths_ == trial.model.widths_).all()
    trial.change("sigma", trial.setup.changed({"sigma": 0.02}))
    assert (trial.arrays()["covariances"] == [0.02, 0.0, 0.02]).all()
    trial.close()


def test_a_removed_pattern_is_as_long_as_the_covariance_of_its_neuron():
    """A center within a response of 1/2 has the pattern, whichever way the ellipse is turned."""
    centers = np.array([[0.3, 0.0], [0.0, 0.3]])
    removed = RemovedPatterns(are_images=False)
    removed.add(7, np.zeros(2), np.diag([0.16, 0.01]), centers, np.zeros(2, bool))
    assert removed.relearned(centers, np.array([False, True])) == []
    assert [one[:2] for one in removed.relearned(centers, np.array([True, True]))] == [(7, 0)]


def test_full_covariances_that_are_too_large_are_refused():
    setup = STRIPES.changed({"covariance_type": "full", "size": 10, "K": 52})
    trial = Trial(setup, stripes())
    with pytest.raises(ValueError, match="53 full covariances of 100 × 100 numbers are too many"):
        trial.add(1, None)
    with pytest.raises(ValueError, match="at most 524,288 numbers"):
        trial.change("K", trial.setup.changed({"K": 60}))
    assert len(trial.ids) == trial.setup.n_neurons == 52
    trial.close()
    with pytest.raises(ValueError, match="smaller patch size, or diag"):
        Trial(setup.changed({"K": 53}), stripes())
    assert 52 * 100**2 <= MAX_COVARIANCES < 53 * 100**2


# ---- the script -----------------------------------------------------------------------------------


def from_script(trial):
    """The model of the trial's script."""
    names = {"images": stripes().images, "labels": stripes().labels}
    text = trial.script().replace("images = None\n", "")
    exec(text, names)
    return names["model"]


def test_the_script_learns_the_same_bits(trial, capsys):
    learn(trial, 3000)
    model = from_script(trial)
    assert (model.centers_ == trial.model.centers_).all()
    assert "of 6 neurons learned" in capsys.readouterr().out


def test_the_script_reproduces_changes(trial):
    learn(trial, 1000)
    trial.remove([2, 5])
    trial.change("lambda", trial.setup.changed({"lambda": 0.2}))
    learn(trial, 500)
    trial.add(3, None)
    trial.change("classes", trial.setup.changed({"classes": [0]}))
    learn(trial, 250)
    trial.change("sigma", trial.setup.changed({"sigma": 0.7}))
    trial.change("eta_sigma", trial.setup.changed({"eta_sigma": 0.1}))
    learn(trial, 700)
    trial.change("noise", trial.setup.changed({"noise": 0.3}))
    trial.change("K", trial.setup.changed({"K": 5}))
    learn(trial, 300)
    model = from_script(trial)
    assert (model.centers_ == trial.model.centers_).all()
    assert (model.widths_ == trial.model.widths_).all()


def test_the_script_reproduces_filters_with_covariances(kind):
    trial = learn(Trial(STRIPES.with_covariances(kind), stripes()), 1000)
    trial.change("noise", trial.setup.changed({"noise": 0.3}))
    learn(trial, 500)
    model = from_script(trial)
    assert (model.centers_ == trial.model.centers_).all()
    assert (model.widths_ == trial.model.widths_).all()
    trial.close()


@pytest.mark.parametrize("shape", ["compact", "any"])
def test_neurons_that_find_their_own_width(shape):
    """Clusters, joined neurons and scores are the model's, and the script reproduces the trial."""
    trial = Trial(Setup("mixture", 16).with_automatic_width(shape), mixture(0))
    assert trial.seen == 1  # such neurons start on samples
    learn(trial, 4000)
    arrays, model = trial.arrays(), trial.model
    assert arrays["clusters"].tolist() == model.neuron_clusters_.tolist()
    assert arrays["scores"].tolist() == list(model.cluster_counts_.values())
    assert trial.facts()["learned"] == model.n_clusters_ == 7
    joined = arrays["clusters"][arrays["links"]]
    assert (joined[:, 0] == joined[:, 1]).all()
    in_clusters = int((arrays["clusters"] >= 0).sum())
    assert len(joined) == (0 if shape == "compact" else in_clusters - 7)  # a tree in each cluster
    assert trial.preview()["answer"].sum() == pytest.approx(1.0)
    trial.remove([3])
    trial.add(2, None)
    learn(trial, 100)
    trial.hold(5, (0.5, 0.5))
    trial.release([5])
    learn(trial, 10)
    model = from_script(trial)
    assert (model.centers_ == trial.model.centers_).all()
    assert (model.widths_ == trial.model.widths_).all()
    trial.close()
    with pytest.raises(ValueError, match="plane only"):
        Trial(STRIPES.with_automatic_width(shape), stripes())


@pytest.mark.parametrize("name", ["mixture", "one-sample"])
def test_the_script_reproduces_a_trial_in_the_plane(name):
    source = mixture(0) if name == "mixture" else one_sample()
    trial = Trial(default_setup(name, source), source)
    learn(trial, 2000)
    trial.hold(2, (0.1, 0.2))
    trial.release([2])
    trial.change("eta_sigma", trial.setup.changed({"eta_sigma": 0.2}))
    learn(trial, 1000)
    model = from_script(trial)
    assert (model.centers_ == trial.model.centers_).all()
    assert (model.widths_ == trial.model.widths_).all()
    trial.close()


def test_the_script_reproduces_changes_before_the_first_sample_and_between_two(trial):
    trial.change("sigma", trial.setup.changed({"sigma": 0.4}))
    model = from_script(trial)
    assert model.n_samples_seen_ == 0
    assert (model.centers_ == trial.model.centers_).all()
    learn(trial, 100)
    for _ in range(2):  # equal lines are executed twice
        trial.add(1, None)
        trial.remove([trial.ids[0]])
        trial.remove([trial.ids[0]])
    trial.add(2, None)
    learn(trial, 100)
    model = from_script(trial)
    assert model.centers_.shape == trial.model.centers_.shape
    assert (model.centers_ == trial.model.centers_).all()


def test_samples_of_a_failed_call_are_drawn_again(trial, monkeypatch):
    learn(trial, 100)
    with monkeypatch.context() as patched:
        patched.setattr(trial.model, "partial_fit", _fails)
        with pytest.raises(FloatingPointError):
            trial.learn(50)
    assert (trial.seen, trial.sample) == (100, 100)
    learn(trial, 100)
    assert (from_script(trial).centers_ == trial.model.centers_).all()


def _fails(*_, **__):
    raise FloatingPointError("no")


def test_the_script_reproduces_held_neurons_unless_others_learned_meanwhile():
    trial = plane_trial()
    learn(trial, 100)
    trial.hold(2, (0.25, 0.5))
    assert from_script(trial).centers_[1].tolist() == [0.25, 0.5]
    trial.remove([2])
    learn(trial, 100)
    assert (from_script(trial).centers_ == trial.model.centers_).all()
    trial.hold(3, (0.25, 0.5))
    learn(trial, 100)
    trial.release([3])
    assert "held while others learned" in trial.script()
    trial.close()


def sampling_imports(trial):
    """The line of a script that imports from gaussian_neurons.sampling."""
    return [line for line in trial.script().splitlines() if line.startswith("from gaussian_neurons.sampling")]


def test_a_script_has_the_imports_it_needs(trial):
    assert sampling_imports(trial) == ["from gaussian_neurons.sampling import Patches"]
    trial.change("eta_sigma", trial.setup.changed({"eta_sigma": 0.5}))
    assert sampling_imports(trial) == ["from gaussian_neurons.sampling import Neighbourhoods, Patches"]
    read = (
        "from gaussian_neurons.sampling import rows_from_file",
        "points = rows_from_file('a.csv').read(2)",
    )
    plane = Trial(Setup("file", 2), points_from_rows(np.eye(2), "a.csv", read))
    assert sampling_imports(plane) == ["from gaussian_neurons.sampling import Rows, rows_from_file"]
    plane.close()


def painted(trial, count, seed=1):
    trial.paint(np.random.default_rng(seed).uniform(-0.5, 1.5, (count, 2)))


def restarted(trial, seed=0):
    """As the buttons Restart and New seed do."""
    setup = trial.setup.changed({"seed": seed})
    return Trial(setup, trial.with_added(mixture(seed)))


def noise(trial):
    learn(trial, 10)
    trial.add_noise(200)
    learn(trial, 100)
    trial.change("eta_sigma", trial.setup.changed({"eta_sigma": 0.2}))
    trial.add_noise(7)
    return trial


def stroke(trial):
    painted(trial, 3)
    for k in range(20):
        learn(trial, 1)
        painted(trial, 2, seed=k)
    return trial


def paint_and_unpaint(trial):
    painted(trial, 150)
    learn(trial, 2000)
    trial.add_noise(20)
    learn(trial, 30)
    trial.unpaint()
    learn(trial, 500)
    painted(trial, 1)
    return trial


def paint_noise_and_restart(trial):
    painted(trial, 50)
    learn(trial, 200)
    trial.add_noise(100)
    trial = restarted(restarted(trial), seed=3)
    trial.add_noise(10)
    return trial


@pytest.mark.parametrize("do", [noise, stroke, paint_and_unpaint, paint_noise_and_restart])
def test_the_script_reproduces_painted_points(do):
    trial = learn(do(plane_trial()), 4000)
    model = from_script(trial)
    assert "not reproduced" not in trial.script()
    assert (model.centers_ == trial.model.centers_).all()
    assert (model.widths_ == trial.model.widths_).all()
    trial.close()


def test_noise_is_one_line_and_changes_between_two_samples_make_one_stream():
    trial = plane_trial()
    learn(trial, 10)
    for _ in range(3):
        trial.add_noise(200)
    text = trial.script()
    assert max(map(len, text.splitlines())) < 120
    assert text.count("default_rng(") == 3
    assert text.count("stream = ") == 2
    trial.close()


def test_a_script_ends_at_the_maximum_number_of_changes():
    trial = plane_trial()
    for k in range(MAX_CHANGES):
        trial.journal.record(k, "model.set_params(inhibition=0.5)")
    text = trial.journal.script(2 * MAX_CHANGES)
    assert TRUNCATED not in text
    assert text.count("model.learn(") == MAX_CHANGES
    for k in range(MAX_CHANGES, MAX_CHANGES + 100):
        trial.journal.record(k, f"model.set_params(inhibition={k})")
    text = trial.journal.script(2 * MAX_CHANGES)
    counts = [int(line[20:-1].replace("_", "")) for line in text.splitlines() if "model.learn(" in line]
    assert sum(counts) == MAX_CHANGES  # no sample with outdated settings
    assert TRUNCATED in text
    trial.close()


@pytest.mark.parametrize("shape", ["spherical", "diag", "full"])
def test_the_previewed_step_is_the_step_that_is_made(shape):
    trial = learn(plane_trial(covariance_type=shape, eta_sigma=0.0 if shape == "spherical" else 0.1), 500)
    for _ in range(5):
        before, found = trial.model.centers_.copy(), trial.preview()
        trial.learn(1)
        assert (trial.newest[-1] == found["x"]).all()
        step = trial.model.centers_ - before
        assert np.abs(found["pull"] + found["push"] - step).max() < 1e-12
        assert np.abs(step).max() > 0
        toward = (found["x"] - before) * found["pull"]
        assert (toward.sum(axis=1) >= 0).all()  # pulled toward the sample
        if shape == "spherical":  # in proportion to the response
            away = np.hypot(*(found["x"] - before).T)
            assert np.allclose(np.hypot(*found["pull"].T), 0.1 * found["answer"] * away)
    trial.close()
