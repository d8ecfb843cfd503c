"""Read-outs and dictionaries by hand; the experiments on layers at toy size."""

import json
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure

from gaussian_neurons.experiments import dictionaries, layers, readout, results
from gaussian_neurons.experiments.beyond import cifar10_readout, mnist_readout
from gaussian_neurons.experiments.data import Split
from gaussian_neurons.experiments.lab import Lab
from tests.experiments.test_experiments import images

SMALL = {
    **{"n_samples": 300, "n_train": 30, "n_test": 10, "n_neurons": 5, "n_lower": 4},
    **{"size": 4, "lower_size": 3, "upper_size": 2, "grid": 2},
}


def toy(module, colours, seed=0):
    data = images(colours)
    twice = Split(
        np.concatenate([data.images, data.images]), np.tile(data.labels, 2), "synthetic", "a test", n_test=10
    )
    experiment = module.EXPERIMENT
    result = results.run_experiment(experiment, replace(experiment.config, **SMALL), seed, twice)
    return json.loads(json.dumps(result, allow_nan=False))


@pytest.mark.parametrize(("module", "colours"), [(mnist_readout, ()), (cifar10_readout, (3,))])
def test_every_method_has_an_accuracy_and_the_figure_is_drawn(module, colours, monkeypatch):
    monkeypatch.setattr(layers, "ROWS", 500)
    experiment = module.EXPERIMENT
    result = toy(module, colours)
    found = result["accuracies"]
    skipped = {layers.TRAINED} if "skipped" in result else set()
    three = {layers.THREE} if experiment.config.three else set()
    assert set(found) == {*layers.NAMES, *three} - skipped
    assert all(0 <= it["test"] <= 100 for it in found.values())
    larger = (layers.RAW, layers.BOTH, layers.DOUBLE)
    assert {it["n_features"] for name, it in found.items() if name not in larger} == {20}
    assert found[layers.BOTH]["n_features"] == found[layers.DOUBLE]["n_features"] == 40
    assert found[layers.RAW]["n_features"] == 18 * 18 * (colours or (1,))[0]
    assert found[layers.ONE]["test"] > 80  # half of the images have another edge
    assert len(result["filters"]) == 5
    assert isinstance(experiment.draw(result), Figure)
    without_errors = {name: {**it, "test": 100.0} for name, it in found.items()}
    assert isinstance(experiment.draw({**result, "accuracies": without_errors}), Figure)
    assert experiment.draw_seeds([result, result]).axes
    assert sum(quantity.of(result) is None for quantity in experiment.quantities) == len(skipped)
    assert all(isinstance(held, bool) for claim in experiment.claims for held in claim.holds(result))


def test_claims_compare_accuracies():
    result = {"accuracies": {layers.ONE: {"test": 60.0}, layers.RANDOM: {"test": 59.5}}}
    claim = layers.at_least("A claim.", layers.ONE, layers.of(layers.RANDOM), 0.5)
    assert claim.holds(result) == [True]
    assert layers.at_least("A claim.", layers.ONE, layers.of(layers.RANDOM), 0.6).holds(result) == [False]
    absent = layers.at_least("A claim.", layers.ONE, layers.of(layers.TRAINED))
    assert absent.holds(result) == []


def test_images_without_a_test_part_are_refused():
    with pytest.raises(TypeError, match="-split"):
        layers.run(layers.Config(), 0, Lab(images()))


# ---- the read-out ---------------------------------------------------------------------------------


def test_ridge_weights_by_hand():
    """x = -1 and 1, targets likewise: with X'X = 2 and the penalty 2 * 0.5, the weight is 2 / (2 + 1)."""
    x, y = np.array([[-1.0], [1.0]], np.float32), np.array([[-1.0], [1.0]], np.float32)
    square, product = readout._moments(x, y, np.zeros(1), np.ones(1))
    np.testing.assert_allclose(readout._weights(square, product, 0.5), [[2 / 3], [0.0]], atol=1e-6)


def test_the_read_out_does_not_depend_on_units():
    random = np.random.default_rng(0)
    y = random.integers(10, size=900)
    x = (random.normal(size=(10, 20))[y] + random.normal(0, 2, (900, 20))).astype(np.float32)
    first = readout.accuracy(x[:600], y[:600], x[600:], y[600:])
    scaled = x * np.logspace(-2, 2, 20, dtype=np.float32) + 3
    again = readout.accuracy(scaled[:600], y[:600], scaled[600:], y[600:])
    assert 40 < first.test < 100
    assert abs(first.test - again.test) < 1
    assert first.penalty == again.penalty


def test_constant_features_do_no_harm():
    random = np.random.default_rng(0)
    y = random.integers(10, size=600)
    x = np.eye(12, dtype=np.float32)[y]
    x[:, :10] += random.normal(0, 0.1, (600, 10))
    assert readout.accuracy(x[:500], y[:500], x[500:], y[500:]).test == 100


# ---- other dictionaries ---------------------------------------------------------------------------


def test_the_triangle_by_hand():
    """The distances to 0, 3 and 6 from 1 are 1, 2 and 5; their mean is 8/3."""
    centers = np.array([[0.0], [3.0], [6.0]], np.float32)
    found = layers.Triangle(None, None, centers, np.ones(3)).responses(np.array([[1.0]], np.float32))
    np.testing.assert_allclose(found, [[5 / 3, 2 / 3, 0]], rtol=1e-6)


def test_k_means_finds_separate_places():
    places = np.array([[0.0, 0.0], [5.0, 0.0], [0.0, 5.0]])
    rows = np.repeat(places, 50, axis=0) + np.random.default_rng(0).normal(0, 0.1, (150, 2))
    found = dictionaries.k_means(rows, 3, seed=0)
    assert np.abs(np.sort(found.sum(axis=1)) - [0, 5, 5]).max() < 0.2


def test_weights_of_krotov_and_hopfield_have_length_one():
    """The fixed point of dw = v - <w, v> w for a constant input v has |w| = 1 and the direction of v."""
    v = np.array([0.6, 0.8], np.float32) * 3
    weights = dictionaries.krotov_hopfield(np.tile(v, (500, 1)), 3, seed=0, passes=60)
    winner = weights[np.argmax(weights @ v)]
    np.testing.assert_allclose(winner, [0.6, 0.8], atol=0.02)
