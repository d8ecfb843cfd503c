"""The experiment on dendrites: its measures by hand, the whole at toy size."""

import json
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure

from gaussian_neurons.experiments import results
from gaussian_neurons.experiments.beyond import dendrites
from gaussian_neurons.experiments.data import Split
from gaussian_neurons.experiments.lab import Lab
from tests.experiments.test_experiments import images

SMALL = {
    **{"n_samples": 600, "n_digits": 20, "n_pairs": 50, "n_dendrites": 12, "n_neurons": 3},
    **{"n_samples_plane": 600, "n_dendrites_plane": 12, "period": 50, "stay": 100},
    **{"n_train": 32, "n_test": 8, "n_directions": 4},
}


def test_every_part_has_its_numbers_and_the_figure_is_drawn():
    data = images()
    twice = Split(np.tile(data.images, (2, 1, 1)), np.tile(data.labels, 2), "synthetic", "a test", n_test=8)
    experiment = dendrites.EXPERIMENT
    result = results.run_experiment(experiment, replace(experiment.config, **SMALL), 0, twice)
    result = json.loads(json.dumps(result, allow_nan=False))
    assert set(result["shifts"]) == set(dendrites.IN_SHIFTS)
    for shape in dendrites.SHAPES:
        assert set(result["plane"][shape]["agreement"]) == set(dendrites.IN_THE_PLANE)
        assert len(result["plane"][shape]["points"]) == len(result["plane"][shape]["neurons"]) == 200
    for count in dendrites.Config.outputs:
        assert set(result["read_out"][str(count)]) == set(dendrites.IN_READ_OUTS)
    assert all(0 <= quantity.of(result) <= 100 for quantity in experiment.quantities if "%" in quantity.label)
    assert all(isinstance(held, bool) for claim in experiment.claims for held in claim.holds(result))
    assert isinstance(experiment.draw(result), Figure)
    assert experiment.draw_seeds([result, result]).axes


def test_a_cosine_by_hand():
    one, other = (
        np.array([[3.0, 4.0], [1.0, 0.0], [0.0, 0.0]]),
        np.array([[4.0, 3.0], [0.0, 2.0], [1.0, 1.0]]),
    )
    np.testing.assert_allclose(dendrites.cosine(one, other), [24 / 25, 0, 0])


def test_outputs_are_sums_of_dendrites_in_groups():
    responses = np.array([[0.5, 0.25, 0.125, 0.125]])
    found = dendrites.summed(responses, np.array([1, 0, 1, -1]), 3)
    np.testing.assert_allclose(found, [[0.25, 0.625, 0]])


def test_the_nearest_center_is_one():
    found = dendrites.nearest(np.array([[0.9, 0.0], [0.1, 0.2]]), np.array([[0.0, 0.0], [1.0, 0.0]]))
    np.testing.assert_array_equal(found, [[0, 1], [1, 0]])


def test_pairs_show_one_digit_at_two_places():
    digits = np.arange(1, 10, dtype=np.uint8).reshape(1, 3, 3)
    config = dendrites.Config(side=5, n_pairs=100)
    one, other, labels = dendrites.pairs(config, digits, np.array([7]), 0)
    assert (labels == 7).all()
    for frames in (one, other):
        np.testing.assert_allclose(frames.sum(axis=1), 45 / 255, rtol=1e-6)
    assert len(np.unique(one, axis=0)) == 9  # places
    assert (one != other).any(axis=1).mean() > 0.5


def test_shifted_images_keep_their_pixels():
    digits = np.zeros((30, 6, 6), np.uint8)
    digits[:, 2:4, 2:4] = 255
    found = dendrites.shifted(digits[..., None], 2, np.random.default_rng(0)).reshape(30, 6, 6)
    assert (found.sum(axis=(1, 2)) == 4).all()
    assert len(np.unique(found.reshape(30, -1), axis=0)) > 10


@pytest.mark.parametrize("shape", dendrites.SHAPES)
def test_a_walk_stays_near_its_curve_and_moves_in_small_steps(shape):
    config = dendrites.Config(period=100, stay=300)
    x, which = dendrites.walk(shape, 600, config, 0)
    assert which.tolist() == [0] * 300 + [1] * 300
    along = np.linspace(0, 1, 2000)
    curves = [dendrites.curve(shape, along, np.full(2000, k)) for k in range(2)]
    for k in range(2):
        apart = np.sqrt(((x[which == k][:, None] - curves[k]) ** 2).sum(axis=2)).min(axis=1)
        assert apart.mean() < 2 * dendrites.SHAPES[shape]
    assert np.abs(np.diff(dendrites.curve(shape, along, np.zeros(2000)), axis=0)).max() < 0.1


def test_groups_at_random_have_the_sizes_of_those_learned():
    from gaussian_neurons import GaussianNeurons

    x, _ = dendrites.walk("moons", 2000, dendrites.Config(), 0)
    model = GaussianNeurons(10, random_state=0).fit(x)
    found = dendrites.groupings(model, x, 2, 0, (dendrites.OVERLAP,), 10.0)
    assert set(found) == {dendrites.SUCCESSION, dendrites.OVERLAP, dendrites.SHUFFLED, dendrites.RANDOM}
    assert sorted(found[dendrites.RANDOM]) == sorted(found[dendrites.SUCCESSION])


def test_images_without_a_test_part_are_refused():
    with pytest.raises(TypeError, match="-split"):
        dendrites.read_out(dendrites.Config(), 0, Lab(images()))
