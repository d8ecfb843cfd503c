"""Forgetting and attacks at toy size; read-outs and measures by hand."""

import json
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure

from gaussian_neurons.datasets import mnist_sample
from gaussian_neurons.experiments import data, results
from gaussian_neurons.experiments.beyond import attacks, forgetting
from gaussian_neurons.experiments.data import Split
from gaussian_neurons.experiments.experiment import Experiment
from gaussian_neurons.experiments.lab import Lab
from tests.experiments.test_experiments import images

pytest.importorskip("torch", reason="needs PyTorch: pip install 'gaussian-neurons[torch]'")

SMALL = {"n_samples": 300, "n_test": 60, "n_neurons": 10, "size": 9, "stride": 5, "grid": 2}


def digits():
    sample = mnist_sample()
    order = np.random.default_rng(0).permutation(len(sample.images))[:600]
    return Split(sample.images[order], sample.labels[order], "a sample", "a test", n_test=100)


def toy(module, **changes):
    experiment: Experiment = module.EXPERIMENT
    config = replace(experiment.config, **SMALL, **changes)
    result = json.loads(json.dumps(results.run_experiment(experiment, config, 0, digits()), allow_nan=False))
    assert isinstance(experiment.draw(result), Figure)
    assert experiment.draw_seeds([result, result]).axes
    for quantity in experiment.quantities:
        assert np.isfinite(quantity.of(result))
    assert all(isinstance(held, bool) for claim in experiment.claims for held in claim.holds(result))
    return result


@pytest.mark.parametrize("module", [forgetting, attacks])
def test_images_without_a_test_part_are_refused(module):
    with pytest.raises(TypeError, match="-split"):
        module.run(module.Config(), 0, Lab(images()))


# ---- forgetting -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def course():
    return toy(forgetting, whole_width=0.3)


def test_a_class_is_unknown_before_its_task_to_read_outs_of_one_task_after_another(course):
    one_after_another = [
        course["accuracies"][name][readout]
        for name, readout in [
            (forgetting.LAYER, forgetting.MEANS),
            (forgetting.NETWORK, forgetting.MEANS),
            (forgetting.STORED, forgetting.COUNTS),
        ]
    ]
    for rows in one_after_another:
        assert np.shape(rows) == (5, 5)
        assert np.triu(rows, 1).max() == 0
        assert rows[0][0] > 40
    assert np.shape(course["accuracies"][f"{forgetting.LAYER}, shuffled"][forgetting.MEANS]) == (1, 5)


def test_a_layer_that_never_changes_keeps_what_a_read_out_of_all_classes_finds(course):
    for name in (forgetting.FROZEN, forgetting.STOPPED):
        rows = course["accuracies"][name][forgetting.TOGETHER]
        assert all(row == rows[0] for row in rows)
    assert forgetting.of(forgetting.FROZEN, forgetting.TOGETHER)(course) > 40  # 10 by chance
    assert course["moved"][forgetting.LAYER] > 0


def test_descent_forgets_rows_that_it_no_longer_sees():
    random = np.random.default_rng(0)
    rows = random.normal(0, 0.1, (2000, 4)).astype(np.float32)
    rows[:1000, 0] += 1
    rows[1000:, 1] += 1
    labels = np.repeat([2, 5], 1000)
    readout, means = forgetting.Descent(4, seed=0), forgetting.ClassMeans(4)
    known = []
    for part in (slice(1000), slice(1000, 2000)):
        for _ in range(10):
            readout.learn(rows[part], labels[part])
        means.learn(rows[part], labels[part])
        known.append((readout.predicted(rows) == labels).reshape(2, 1000).mean(axis=1))
    assert (known[0] == [1, 0]).all()
    assert known[1][0] < 0.9
    assert known[1][1] == 1
    assert (means.predicted(rows) == labels).all()


def test_whole_digits_are_means_of_four_pixels_with_length_1():
    """The means of the left and right half of 2 x 4 pixels are 3 and 4: divided by 5."""
    pixels = np.array([[3, 3, 0, 8], [3, 3, 8, 0]], np.uint8)[None, :, :, None]
    np.testing.assert_allclose(forgetting.whole(data.Part(pixels, np.zeros(1))).images, [[0.6, 0.8]])


# ---- attacks --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def art():
    return pytest.importorskip("art", reason="needs ART: pip install 'gaussian-neurons[attacks]'")


CHEAP = {
    **{"n_train": 300, "n_held_out": 100, "n_attacked": 20, "plain_width": 10.0},
    **{"steps": 3, "more_steps": 4, "queries": 3, "maximum": (0.01, 0.05, 0.1, 0.2, 0.5)},
    **{"euclid": (0.1, 0.5, 1.0, 2.0, 4.0, 8.0)},
}


@pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")  # ART and NumPy 2
def test_every_model_is_attacked_and_large_changes_mislead_more_than_small_ones(art):
    result = toy(attacks, **CHEAP)
    assert set(result["attacked"]) == set(attacks.MODELS)
    for name in attacks.MODELS:
        assert result["clean"][name] > 30  # 10 by chance
        for norm in attacks.NORMS:
            found = result["attacked"][name][norm][attacks.PGD]
            assert found[0] >= found[-1]
            assert found[-1] < 40
    assert np.shape(result["shown"][attacks.LAYER]) == (8, 28, 28)


def test_changes_are_within_their_size_and_a_seed_gives_the_same_bits(art):
    config = attacks.Config(**{**SMALL, **CHEAP})
    random = np.random.get_state()[1].copy()  # noqa: NPY002
    trials = [attacks.Trial(config, 0, Lab(digits())) for _ in range(2)]
    nets = [trial._models()[attacks.LAYER] for trial in trials]
    x = trials[0]._x
    for norm in attacks.NORMS:
        for size in config.sizes(norm):
            changed, same = (it._descended(net, norm, size) for it, net in zip(trials, nets, strict=True))
            assert (changed == same).all()
            assert changed.min() >= 0
            assert changed.max() <= 1
            change = (changed - x).reshape(len(x), -1)
            sizes = np.abs(change).max(axis=1) if norm == attacks.MAXIMUM else np.linalg.norm(change, axis=1)
            assert 0 < sizes.max() <= size * 1.001
    assert (np.random.get_state()[1] == random).all()  # noqa: NPY002
