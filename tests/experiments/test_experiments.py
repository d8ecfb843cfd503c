"""The experiments at toy size: their results, their pictures, their settings."""

import json
from dataclasses import asdict, replace

import numpy as np
import pytest
from matplotlib.figure import Figure

from gaussian_neurons import GaussianNeurons
from gaussian_neurons.datasets import ImageSet
from gaussian_neurons.experiments import (
    covariances,
    figure2b,
    figure2d,
    figure5c,
    layer,
    results,
    table1,
)
from gaussian_neurons.experiments.catalogue import EXPERIMENTS, select
from gaussian_neurons.experiments.lab import Lab

OF_THE_PAPER = [experiment.name for experiment in select(["all"])]
REQUIRED = {
    *("experiment", "config", "seed", "data", "learned", "domain_distance", "cosine", "widths"),
    *("samples_per_second", "seconds", "published"),
}
# The paper's K, side of a patch, sigma, lambda, eta_mu, eta_sigma, N.
PAPER = {
    "figure2a": (16, 5, 1.0, 1 / 2, 0.1, 0.0, 10**6),
    "figure2b": (16, 5, 1.0, 1 / 2, 0.1, 0.0, 10**7),
    "figure2c": (16, 5, 0.5, 1 / 2, 0.1, 0.0, 10**7),
    "figure2d": (16, 5, 1.0, 1 / 9, 0.1, 0.0, 10**7),
    "figure2e": (16, 5, 1.0, 1 / 2, 0.1, 0.0, 10**6),
    "figure2f": (16, 5, 0.5, 1 / 2, 0.1, 0.0, 10**6),
    "figure2g": (16, 5, 0.5, 1 / 2, 0.1, 0.0, 10**6),
    "table1": (16, 5, 1.0, 1 / 2, 0.1, 0.0, 10**6),
    "figure3a": (16, 9, 4.14, 0.015, 0.1, 0.0, 10**7),
    "figure3b": (16, 13, 9.91, 0.01, 0.1, 0.0, 10**7),
    "figure4": (50, 5, 1.75, 0.01, 0.1, 0.0, 10**7),
    "figure5a": (9, 5, 4.0, 1 / 2, 0.1, 0.0, 10**7),
    "figure5b": (9, 5, 14.0, 1 / 2, 0.1, 0.0, 10**7),
    "figure5c": (9, 5, 6.0, 1 / 2, 0.1, 0.1, 10**7),
    "figure5d": (9, 5, 10.0, 1 / 2, 0.1, 0.1, 10**7),
    "figure5e": (9, 5, 14.0, 1 / 2, 0.1, 0.1, 10**7),
    "figure5f": (50, 5, 10.0, 0.01, 0.1, 0.1, 10**7),
}


def images(colours=()):
    """A few noisy images of two classes, with edges."""
    random = np.random.default_rng(0)
    pixels = random.integers(0, 40, (20, 18, 18, *colours), dtype=np.uint8)
    pixels[:, :, 9:] += 200
    pixels[::2, 9:] //= 4
    return ImageSet(pixels, np.array([1, 2] * 10, np.uint8), "synthetic", "a test")


DATA = {"mnist": images(), "cifar10": images((3,)), None: None}


def toy(name, seed=0):
    """The result file of an experiment with few samples."""
    experiment = EXPERIMENTS[name]
    result = results.run_experiment(experiment, experiment.scaled(2e-4), seed, DATA[experiment.data])
    return json.loads(json.dumps(result, allow_nan=False))


@pytest.fixture(scope="module")
def toys():
    return {name: toy(name) for name in OF_THE_PAPER}


@pytest.mark.parametrize("name", OF_THE_PAPER)
def test_every_result_is_complete_and_enough_to_draw_the_figure(toys, name):
    result, experiment = toys[name], EXPERIMENTS[name]
    assert set(result) >= REQUIRED
    assert (result["experiment"], result["config"]) == (
        name,
        json.loads(json.dumps(asdict(experiment.scaled(2e-4)))),
    )
    if experiment.is_random and name != "figure2h":
        count = result["config"]["n_neurons"]
        assert len(result["domain_distance"]) == len(result["cosine"]) == len(result["widths"]) == count
        assert result["learned"] == sum(result["is_learned"])
        assert result["samples_per_second"] > 0
    figure = experiment.draw(result)
    assert isinstance(figure, Figure)
    assert figure.axes
    if experiment.draw_seeds is not None:
        assert experiment.draw_seeds([result, result]).axes
    for quantity in experiment.quantities:
        quantity.of(result)  # must not raise
    for claim in experiment.claims:
        assert all(isinstance(held, bool) for held in claim.holds(result))


def test_comparisons_decide_more_claims(toys):
    for name in OF_THE_PAPER:
        experiment = EXPERIMENTS[name]
        if experiment.compare is not None:
            others = {other: toys[other] for other in experiment.compares_with}
            added = experiment.compare(toys[name], others)
            assert added
            result = {**toys[name], "compared": added}
            cases = sum(len(claim.holds(result)) for claim in experiment.claims)
            assert cases > sum(len(claim.holds(toys[name])) for claim in experiment.claims), name


@pytest.mark.parametrize("name", PAPER)
def test_settings_are_the_papers(name):
    config = EXPERIMENTS[name].config
    neurons, size, width, inhibition, rate, width_rate, samples = PAPER[name]
    assert (config.n_neurons, config.size, config.learning_rate) == (neurons, size, rate)
    assert (config.inhibition, config.width_learning_rate, config.n_samples) == (
        inhibition,
        width_rate,
        samples,
    )
    assert round(config.width, 2) == width
    noise = {"figure5c": 0.1, "figure5d": 0.1, "figure5e": 0.1, "figure5f": 0.15}
    assert config.noise == noise.get(name)


def test_special_settings_are_the_papers():
    assert EXPERIMENTS["figure2d"].config.lower_inhibition == 0.1
    assert EXPERIMENTS["figure2e"].config.n_samples_after == 3 * 10**6
    assert EXPERIMENTS["figure2f"].config.digits == (1,)
    assert EXPERIMENTS["figure2g"].config.digits_after == (2,)
    assert EXPERIMENTS["figure2g"].config.n_samples_after == 10**6
    assert (EXPERIMENTS["figure2h"].config.n_clusters, EXPERIMENTS["figure2h"].config.n_samples) == (
        16,
        10**6,
    )
    assert EXPERIMENTS["figure5a"].config.caption_width == 6
    assert sum(table1.PUBLISHED["is_learned"]) == 7
    assert [k + 1 for k, it in enumerate(table1.PUBLISHED["is_learned"]) if it] == [3, 4, 5, 6, 12, 15, 16]


def test_figure_2b_continues_figure_2a(toys):
    assert toys["figure2b"]["at_2a"]["centers"] == toys["figure2a"]["centers"]


def test_figure_2g_continues_figure_2f(toys):
    assert toys["figure2g"]["at_2f"]["centers"] == toys["figure2f"]["centers"]


def test_second_runs_of_2d_and_5a_differ_in_one_setting(toys):
    config = replace(figure2d.Config(), n_samples=2000, inhibition=0.1)
    assert toys["figure2d"]["lower"]["centers"] == layer.run(config, 0, Lab(DATA["mnist"]))["centers"]
    assert toys["figure5a"]["caption"]["widths"] == [6.0] * 9
    assert toys["figure5a"]["widths"] == [4.0] * 9


def test_widths_beside_covariances_are_those_of_figure_5(toys):
    """With the type "spherical", the extension is the figure of the paper, with fewer samples."""
    for name, start in figure5c.STARTS.items():
        config = replace(EXPERIMENTS[name].config, n_samples=2000)
        expected = layer.run(config, 0, Lab(DATA["mnist"]))
        found = toys["covariances"]["layers"][f"{start:g}"]["spherical"]
        assert (found["centers"], found["widths"]) == (expected["centers"], expected["widths"])


def test_facts_of_a_covariance_by_hand():
    """(5 4; 4 5) has the eigenvalues 9 along (1, 1) and 1 across: the mean is 5."""
    width = np.array([[[5.0, 4.0], [4.0, 5.0]]])
    model = GaussianNeurons(1, covariance_type="full", width=width, domain=(0.0, 1.0), random_state=0)
    found = covariances.facts(model.partial_fit([[0.5, 0.5]]))
    assert (found["widths"], found["largest"]) == ([5.0], [9.0])
    np.testing.assert_allclose(found["longest_axes"], [[0.5**0.5, 0.5**0.5]], rtol=1e-5)
    assert covariances.elongation(found) == pytest.approx(9 / 5)


# ---- the lab and the catalogue --------------------------------------------------------------------


def test_the_lab_counts_samples_of_all_stages_and_resumes(tmp_path):
    reports = []
    config = replace(figure2b.Config(), n_samples=50_000, n_samples_before=20_000)
    first = Lab(DATA["mnist"], tmp_path / "checkpoints", lambda *facts: reports.append(facts))
    result = figure2b.run(config, 0, first)
    assert first.samples == 50_000
    assert reports[-1][0] == 50_000
    again = Lab(DATA["mnist"], tmp_path / "checkpoints")
    assert figure2b.run(config, 0, again) == result  # from checkpoints, without learning
    assert again.samples == 50_000
    assert again.seconds == pytest.approx(first.seconds)


def test_a_lab_without_images_raises_an_error():
    with pytest.raises(ValueError, match=r"Lab\(mnist\(\)\)"):
        layer.run(layer.LayerConfig(), 0, Lab())


def test_scaling_changes_only_the_numbers_of_samples():
    scaled = EXPERIMENTS["figure2e"].scaled(0.01)
    assert (scaled.n_samples, scaled.n_samples_after) == (10_000, 30_000)
    assert replace(scaled, n_samples=10**6, n_samples_after=3 * 10**6) == EXPERIMENTS["figure2e"].config
    assert EXPERIMENTS["figure1"].scaled(0.01) == EXPERIMENTS["figure1"].config
    least = EXPERIMENTS["figure2b"].scaled(1e-6)
    assert (least.n_samples_before, least.n_samples) == (2000, 20_000)  # the ratio stays


def test_experiments_are_selected_by_name():
    letters = [f"figure2{letter}" for letter in "abcdefgh"] + [f"figure5{letter}" for letter in "abcdef"]
    assert set(OF_THE_PAPER) == {
        *letters,
        *("figure1", "table1", "figure3a", "figure3b", "figure4", "width-equation"),
        *("inhibition", "repulsion", "widths", "covariances", "covariances-5f"),
    }
    assert [e.name for e in select(["Figure5"])] == letters[8:]
    assert [e.name for e in select(["width_equation", "figure1"])] == ["figure1", "width-equation"]
    assert len(select([])) == len(select(["all", "figure1"])) == 25
    with pytest.raises(ValueError, match="no experiment 'figure6'"):
        select(["figure6"])
