"""Synthetic streams have the documented statistics."""

import numpy as np
import pytest

from gaussian_neurons.datasets.synthetic import Drifting, Mixture, MovingDigits, TwoMoons


def test_mixture_has_the_given_centers_spread_and_noise():
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


def test_drift_goes_away_and_returns():
    stream = Mixture(3, seed=1, drift=0.3, period=1000)
    assert stream.centers_at(0) == pytest.approx(stream.places)
    assert stream.centers_at(1000) == pytest.approx(stream.places)
    away = np.linalg.norm(stream.centers_at(500) - stream.places, axis=1)
    assert away == pytest.approx(0.3)
    x, labels = stream.seek(495).read_labelled(10)
    assert np.abs(x - stream.centers_at(500)[labels]).max() < 0.15


def test_clusters_appear_one_after_the_other():
    stream = Mixture(5, seed=1, new_every=100)
    _, labels = stream.read_labelled(1000)
    for part in range(10):
        assert labels[part * 100 : (part + 1) * 100].max() <= min(part, 4)
    assert set(labels[400:]) == set(range(5))
    assert [len(stream.centers_at(t)) for t in (0, 99, 100, 250, 10**6)] == [1, 1, 2, 3, 5]
    assert stream.position == 1000


def test_drifting_cluster_moves_along_a_straight_path():
    stream = Drifting(1, seed=1, life=1000, gone=0.0)
    (begin,) = (t for t in range(1, 1001) if stream.labels_at(t) != stream.labels_at(t - 1))
    (label,) = stream.labels_at(begin)
    places = np.concatenate([stream.centers_at(begin + t) for t in (0, 250, 500, 750)])
    assert np.diff(places, axis=0) == pytest.approx(np.tile((places[3] - places[0]) / 3, (3, 1)))
    assert np.linalg.norm(places[3] - places[0]) > 0.1
    assert stream.labels_at(begin + 999) == label
    assert stream.labels_at(begin + 1000) == label + 1
    assert stream.centers_at(begin + 16_000) == pytest.approx(places[:1])  # another cluster on the same path
    assert stream.labels_at(begin + 16_000) == label + 16


def test_drifting_samples_are_around_the_present_clusters():
    stream = Drifting(5, seed=1, spread=0.02, noise=0.2, life=10_000, dtype=np.float64)
    x, labels = stream.seek(35_000).read_labelled(500)
    assert (labels == -1).mean() == pytest.approx(0.2, abs=0.06)
    there = dict(zip(stream.labels_at(35_250).tolist(), stream.centers_at(35_250), strict=True))
    assert set(labels) <= {-1, *there}
    for label, center in there.items():
        own = x[labels == label]
        assert len(own) == pytest.approx(400 / len(there), rel=0.4)
        assert own.mean(axis=0) == pytest.approx(center, abs=0.01)


def test_drifting_clusters_vanish_and_stay_apart():
    stream = Drifting(6, seed=2, life=1000, gone=0.4)
    seen: dict[int, list[int]] = {}
    step = 50
    for t in range(0, 20_000, step):
        labels, centers = stream.labels_at(t), stream.centers_at(t)
        gaps = np.linalg.norm(centers[:, None] - centers, axis=2) + np.eye(len(centers))
        assert gaps.min() >= 6 * stream.spread - 1e-9
        assert 1 <= len(labels) <= 6
        for label in labels.tolist():
            seen.setdefault(label, []).append(t)
    lives = [times[-1] - times[0] + step for times in seen.values()]
    assert max(lives) <= 1000
    assert min(lives[6:-6]) < 400
    assert all(len(times) * step == life for times, life in zip(seen.values(), lives, strict=True))


def test_other_precisions_are_rejected():
    for make in (Mixture, Drifting, TwoMoons):
        with pytest.raises(ValueError, match="dtype must be one of float32, float64"):
            make(dtype=int)


def test_too_many_clusters_are_rejected():
    with pytest.raises(ValueError, match="do not fit into the unit box"):
        Mixture(50, spread=0.1)
    with pytest.raises(ValueError, match="do not fit into the unit box"):
        Drifting(50, spread=0.1)


def test_moons_are_uniform_half_circles():
    x, moon = TwoMoons(seed=2, spread=0.0, dtype=np.float64).read_labelled(5000)
    assert moon.mean() == pytest.approx(0.5, abs=0.03)
    assert (x[moon == 0] ** 2).sum(axis=1) == pytest.approx(1)
    assert ((x[moon == 1] - [1, 0.5]) ** 2).sum(axis=1) == pytest.approx(1)
    assert x[moon == 0, 1].min() >= 0
    assert x[moon == 1, 1].max() <= 0.5
    angle = np.arccos(x[moon == 0, 0]) / np.pi  # uniform along the arc
    assert np.histogram(angle, 10, (0, 1))[0] / len(angle) == pytest.approx(0.1, abs=0.025)


def test_a_digit_moves_in_a_straight_line_and_is_reflected():
    """A digit of one pixel, so that its place can be read from each frame."""
    stream = MovingDigits(9, seed=4, images=np.full((2, 1, 1), 200, np.uint8), life=500, speed=0.9)
    frames = stream.video(1000)
    assert (frames.reshape(1000, -1) > 0).sum(axis=1).tolist() == [1] * 1000
    assert set(np.unique(frames)) == {0, 200}
    place = np.argwhere(frames)[:, 1:]
    assert place.min() == 0
    assert place.max() == 8
    for life in (place[:500], place[500:]):
        steps = np.abs(np.diff(life, axis=0))
        assert steps.max() <= 1
        for line in steps.T:  # the speed is the same in all parts of a life
            assert line[:250].mean() == pytest.approx(line[250:].mean(), abs=0.05)
    x, labels = stream.read_labelled(1000)
    assert x == pytest.approx(frames.reshape(1000, -1) / 255)
    assert len(set(labels[:500])) == len(set(labels[500:])) == 1


def test_digits_and_places_are_uniform():
    images = np.arange(1, 5, dtype=np.uint8)[:, None, None] * np.ones((1, 2, 2), np.uint8)
    stream = MovingDigits(5, seed=1, images=images, labels=[7, 8, 8, 9], life=1)
    frames, labels = stream.read_labelled(20_000)
    corner = (frames.reshape(-1, 5, 5) > 0).reshape(-1, 25).argmax(axis=1)
    counts = np.bincount(corner, minlength=25).reshape(5, 5)
    assert counts[:4, :4].sum() == 20_000
    assert np.abs(counts[:4, :4] - 1250).max() < 5 * np.sqrt(1250)
    assert np.bincount(labels)[7:] / 20_000 == pytest.approx([0.25, 0.5, 0.25], abs=0.02)
    assert (np.rint(frames.max(axis=1) * 255).astype(int) == 1)[labels == 7].all()


def test_the_digits_of_scikit_learn_are_the_default():
    stream = MovingDigits(8, seed=0, life=1)
    assert len(stream.images) == 1797
    frames, labels = stream.read_labelled(50)
    assert frames.max() == 1
    first = np.rint(frames[0] * 255).reshape(8, 8)
    (found,) = np.flatnonzero((stream.images == first).all(axis=(1, 2)))
    assert stream.labels[found] == labels[0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"side": 7}, "side must be a whole number of at least 8, got 7"),
        ({"images": np.zeros((2, 3, 3))}, r"uint8 of shape \(n, height, width\), got float64 of \(2, 3, 3\)"),
        ({"images": np.zeros((2, 3), np.uint8)}, r"got uint8 of \(2, 3\)"),
        ({"labels": [1, 2]}, r"labels must have shape \(1797,\), one for each image, got \(2,\)"),
        ({"life": 0}, "life must be a whole number of at least 1"),
        ({"speed": -1.0}, "speed must be finite and at least 0"),
    ],
)
def test_invalid_arguments_of_moving_digits_are_rejected(arguments, message):
    with pytest.raises(ValueError, match=message):
        MovingDigits(**arguments)
