"""Made-up samples are what they say."""

import numpy as np
import pytest

from gaussian_neurons.datasets.synthetic import Mixture, TwoMoons


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
