"""Measures and claims of the experiments: numbers worked out by hand."""

from dataclasses import replace

import numpy as np
import pytest

from gaussian_neurons.experiments import (
    claims,
    figure2b,
    figure2d,
    figure2e,
    figure2g,
    figure4,
    figure5c,
    layer,
    orientation,
    pictures,
    repulsion,
    similarity,
    table1,
)
from gaussian_neurons.experiments import inhibition as inhibition_experiment
from gaussian_neurons.experiments.catalogue import EXPERIMENTS
from gaussian_neurons.experiments.lab import Lab
from tests.experiments.test_experiments import images


def facts(centers, learned, **more):
    return {"centers": centers, "is_learned": learned, "learned": sum(learned), "twins": [], **more}


def test_movement_of_filters():
    before = facts([[0.0, 0.0], [1.0, 1.0], [3.0, 3.0]], [True, True, False])
    after = facts([[0.1, 0.1], [1.0, 0.0], [3.0, 3.0]], [True, False, True])
    found = figure2b.moved(before, after)
    first, second = found["moved"]
    assert first == {"neuron": 0, "distance": pytest.approx(0.1), "still_learned": True, "same": True}
    assert second == {
        "neuron": 1,
        "distance": pytest.approx(np.sqrt(0.5), rel=1e-5),
        "still_learned": False,
        "same": False,
    }
    assert found["found_later"] == [2]
    assert figure2b.stayed(found) == [True, False]
    lost = figure2b.moved(before, {**after, "is_learned": [False, False, True]})
    assert figure2b.stayed(lost) == [False, False]  # not moved, but no longer learned
    assert figure2b.farthest(found) == pytest.approx(np.sqrt(0.5), rel=1e-5)


# ---- orientation ------------------------------------------------------------------------------------


def test_the_orientation_of_an_image():
    right = np.tile(np.arange(5.0), (5, 1))
    for straight in (right, right.T, right + right.T, right - 2 * right.T, 0.5 - right):
        assert orientation.coherence(straight) == pytest.approx(1)
    around = np.hypot(*np.meshgrid(np.arange(-3, 4), np.arange(-3, 4)))
    assert orientation.coherence(np.exp(-around)) == pytest.approx(0, abs=1e-12)
    assert orientation.coherence(np.ones((5, 5))) == 0
    saddle = np.outer([-1.0, 0, 1], [-1.0, 0, 1])  # x y: as much down as across
    assert orientation.coherence(saddle) == pytest.approx(0)
    # 1 across everywhere; -1/4, 0, 1/4 down
    bent = np.array([[0.0, 1, 2]] * 3) + np.array([[0.5], [0.25], [0.5]])
    across, down = 9.0, 3 * (0.25**2 + 0.0 + 0.25**2)
    assert orientation.coherence(bent) == pytest.approx((across - down) / (across + down))


def test_the_orientation_of_learned_filters():
    edge, blank = np.repeat([0, 0, 1, 1.0], 4), np.full(16, 0.3)
    spot = np.exp(-(np.hypot(*np.meshgrid([-1.5, -0.5, 0.5, 1.5], [-1.5, -0.5, 0.5, 1.5])) ** 2)).ravel()
    found = facts([edge, blank, spot, edge], [True, True, True, False], config={"size": 4})
    np.testing.assert_allclose(orientation.of_filters(found), [1.0, 0.0], atol=1e-12)
    assert orientation.median_coherence(found) == pytest.approx(0.5)
    assert orientation.EDGES.holds(found) == [True, False]
    assert orientation.median_coherence({**found, "is_learned": [False] * 4}) is None
    beside = facts([edge], [True], config={"size": 4})
    rounder = EXPERIMENTS["figure3a"].claims[1]
    compare = EXPERIMENTS["figure3a"].compare
    assert rounder.holds({**found, "compared": compare(found, {"figure2d": beside})}) == [True]
    assert rounder.holds({**beside, "compared": compare(beside, {"figure2d": found})}) == [False]
    assert rounder.holds({**found, "compared": compare(found, {})}) == []


# ---- claims of the text -----------------------------------------------------------------------------


def test_a_step_toward_a_sample_with_a_neuron_on_it():
    """Equation 1 by hand: eta f / sigma (1 - 2 lambda) d, with f = exp(-d² / sigma)."""
    config = replace(EXPERIMENTS["inhibition"].config, dimensions=3)
    distances = np.array([0.5, 1.0, 2.0])
    for inhibition in (0.1, 0.5, 0.75):
        expected = (1 - 2 * inhibition) * distances * np.exp(-(distances**2))
        found = inhibition_experiment.steps(config, distances, inhibition, config.width)
        np.testing.assert_allclose(found, expected, atol=1e-15)


def test_a_neuron_is_pushed_as_the_equation_says():
    config = EXPERIMENTS["repulsion"].config
    assert repulsion.pushed(config, 0.5, 1, np.float64) == pytest.approx(0.5 + 0.05 * np.exp(-0.25))
    assert repulsion.standstill(config, np.float32) == pytest.approx(3.8721, abs=1e-3)
    assert repulsion.pushed(config, 3.9, 100, np.float32) == np.float32(3.9)
    assert repulsion.pushed(config, 3.8, 100, np.float32) > 3.8
    limits = {"float32": {"reached": 3, "expected": 4}}
    failed = {"distances": [1.0, 2.0], "solution": [1.0, 1.5], "limits": limits}
    assert [claim.holds(failed) for claim in EXPERIMENTS["repulsion"].claims] == [[False], [False]]


def test_fewer_filters_at_small_widths():
    def holds(*learned):
        layers = {f"{w:g}": {"learned": n} for w, n in zip((1, 0.5, 0.35, 0.25, 0.2), learned, strict=True)}
        return [claim.holds({"layers": layers}) for claim in EXPERIMENTS["widths"].claims]

    assert holds(6, 7, 2, 0, 0) == [[True], [True]]
    assert holds(6, 7, 8, 9, 10) == [[False], [False]]


# ---- comparisons ------------------------------------------------------------------------------------


def with_comparison(name, learned, *others, **more):
    """The first claim of an experiment, given how many filters it and others learned."""
    experiment = EXPERIMENTS[name]
    result = {"learned": learned, "is_learned": [], "centers": [], "cosine": [], "widths": [], **more}
    learned_by = dict(zip(experiment.compares_with, others, strict=True))
    unlearned = {"config": {"size": 5}, "is_learned": [], "centers": np.zeros((0, 25)).tolist()}
    result["compared"] = experiment.compare(
        result, {it: {**unlearned, "learned": count} for it, count in learned_by.items()}
    )
    return experiment.claims[0].holds(result)


def test_claims_about_the_number_of_filters():
    assert with_comparison("figure2c", 9, 8) == [True]
    assert with_comparison("figure2c", 8, 8) == [False]
    assert with_comparison("figure2h", 16, 8, 15, 16) == [True, True, False]
    assert with_comparison("figure3a", 9, 12, 13) == [True, False]
    assert with_comparison("figure3a", 16, 12, 13) == [False, True]
    assert with_comparison("figure5f", 45, 48, learned_with_twins=50) == [True]
    assert with_comparison("figure5f", 44, 48, learned_with_twins=50) == [False]
    assert with_comparison("figure5f", 50, 44, learned_with_twins=50) == [False]
    all_but_one = EXPERIMENTS["figure4"].claims[0]
    assert [all_but_one.holds({"learned": k, "centers": [0] * 50})[0] for k in (48, 49, 50)] == [
        False,
        True,
        False,
    ]


def test_equal_centers_near_zero():
    centers = [[0.01, 0.0], [0.9, 0.9], [0.01, 0.01], [0.9, 0.9]]
    found = facts(centers, [True, True, False, False], twins=[[2, 0], [3, 1]])
    found["twins"] = [[2, 0], [3, 1]]
    assert figure2d.equal_near_zero(found) == [0, 2]
    assert figure2d.equal_near_zero(facts(centers, [True] * 4)) == []


def test_a_removed_filter_is_relearned_by_another_neuron():
    data = images()
    config = replace(figure2e.Config(), n_samples=60_000, n_samples_after=60_000, n_neurons=8)
    result = figure2e.run(config, 1, Lab(data))
    assert len(result["removals"]) == result["learned"] > 0
    for removal in result["removals"]:
        assert len(removal["others"]) == len(removal["others_moved"]) == result["learned"] - 1
        assert removal["neuron"] not in removal["others"]
        assert removal["neuron"] + 1 not in removal["numbers"]
        assert len(removal["after"]["centers"]) == 7
        centers = np.array(removal["after"]["centers"])
        if removal["relearned"]:
            by = removal["numbers"].index(removal["relearned_by"] + 1)
            gap = similarity.distance(centers[by], np.array(result["centers"][removal["neuron"]]))
            assert gap == pytest.approx(removal["distance"], abs=1e-5)
            assert gap <= similarity.ALIKE
            assert removal["after"]["is_learned"][by]
    assert any(removal["relearned"] for removal in result["removals"])
    alone = replace(config, n_samples_after=2000)
    again = figure2e.run(alone, 1, Lab(data))["removals"]
    model, stream = config.neurons(1), config.stream(data, 1)
    model.learn(stream, config.n_samples).remove_neurons([again[-1]["neuron"]])
    model.learn(stream, 2000)  # each removal continues at the same position in the stream
    assert layer.facts(model)["centers"] == again[-1]["after"]["centers"]


def test_filters_that_are_kept_and_added():
    class Model:
        def transform(self, rows):
            return rows

    class Responses:
        """A stream whose samples are the responses of this model."""

        def __init__(self, *responses):
            self.responses = responses

        def seek(self, position):
            return self

        def read(self, count):
            return np.tile(self.responses, (10, 1))

    before = facts([[0.0], [1.0], [5.0], [6.0]], [True, True, False, False])
    after = facts([[0.1], [2.0], [5.0], [6.0]], [True, True, True, True])
    ones, twos = Responses(0.5, 0.1, 0.1, 0.02), Responses(0.5, 0.1, 0.2, 0.2)
    found = figure2g.kept_and_added(Model(), before, after, ones, twos)
    assert [it["same"] for it in found["kept"]] == [True, False]
    assert [(it["neuron"], it["only_in_twos"]) for it in found["added"]] == [(2, False), (3, True)]


def test_kinds_of_colour_filters():
    def patch(*colours):
        return np.array(colours, float).ravel().tolist()

    sky, grass, grey, sand = (0.5, 0.6, 0.9), (0.3, 0.6, 0.2), (0.5, 0.5, 0.5), (0.7, 0.6, 0.4)
    edge = patch(*[(0.1, 0.1, 0.1)] * 2, *[(0.9, 0.9, 0.9)] * 2)
    centers = [
        patch(*[sky] * 4),
        patch(*[grass] * 4),
        patch(*[grey] * 4),
        edge,
        patch(*[sky] * 4),
        patch(*[sand] * 4),
    ]
    found = figure4.kinds(facts(centers, [True, True, True, True, False, True]), size=2)
    assert found == {"grey_edges": [3], "sky": [0], "grass": [1]}


def test_filters_and_widths_from_other_starting_widths():
    one = facts([[0.0], [1.0], [9.0]], [True, True, False], widths=[0.6, 4.6, 10.0])
    other = facts([[9.0], [1.1], [0.0]], [False, True, True], widths=[6.0, 4.5, 0.61])
    found = figure5c.compare_learned(one, other)
    assert found["as_many"]
    assert found["same_filters"]
    assert found["same_widths"]
    assert found["distances"] == pytest.approx([0.0, 0.1])
    assert not figure5c.compare_learned(one, {**other, "widths": [6.0, 4.5, 0.8]})["same_widths"]
    assert not figure5c.compare_learned(one, {**other, "centers": [[9.0], [1.3], [0.0]]})["same_filters"]
    fewer = figure5c.compare_learned(one, {**other, "is_learned": [False, True, False]})
    assert (fewer["as_many"], fewer["same_filters"]) == (False, False)
    assert not fewer["same_widths"]
    assert figure5c.learned_widths(other) == [0.61, 4.5]
    nothing = {**one, "is_learned": [False] * 3}
    empty = figure5c.compare_learned(nothing, nothing)
    assert not empty["something_learned"]
    assert figure5c.CLAIMS[0].holds({"compared": {"other_starts": {"figure5d": empty}}}) == []
    result = {
        "widths": [5.0, 5.0, 9.9, 9.9],
        "is_learned": [True, False, True, False],
        "config": {"width": 10.0},
    }
    assert figure5c.width_shows_learned(result) == [True, False, False, True]


def test_twins_are_counted_once_or_separately():
    model = (
        replace(layer.LayerConfig(), n_neurons=3)
        .neurons(0)
        .set_params(init=[[0.5], [0.5], [9.0]], domain=(0, 1))
    )
    model.learn(np.full((5000, 1), 0.5), progress=False)
    found = layer.facts(model)
    assert (found["learned"], found["learned_with_twins"], found["twins"]) == (1, 2, [[1, 0]])


def test_columns_of_table_1():
    assert table1.median(table1.PUBLISHED, "domain_distance", of_learned=True) == 0.9
    assert table1.median(table1.PUBLISHED, "domain_distance", of_learned=False) == 1.5
    assert all(claims.kept_direction(table1.PUBLISHED))
    assert all(table1.close_to_the_domain(table1.PUBLISHED))
    assert all(table1.farther_than_the_corners(table1.PUBLISHED))
    ours = {"domain_distance": [0.9, 1.06, 1.2, 0.99], "is_learned": [True, True, False, False]}
    assert table1.close_to_the_domain(ours) == [True, False]
    assert table1.farther_than_the_corners(ours) == [True, False]
    assert claims.unlearned_are_farther(ours) == [False]
    assert claims.unlearned_are_farther({**ours, "is_learned": [True, False, False, False]}) == [True]
    assert claims.kept_direction({"cosine": [0.9, 0.76, 0.74], "is_learned": [True, False, False]}) == [
        True,
        False,
    ]


def test_neurons_outside_the_domain():
    found = facts([[0.5, 1.2], [0.5, 1.05], [-0.2, 0.5], [2.0, 2.0]], [False, False, False, True])
    assert claims.is_outside(found) == [True, False, True]
    together = {**found, "twins": [[1, 3]]}  # the twin of a learned neuron
    assert claims.is_outside(together) == [True, True]


def test_a_removal_as_in_the_paper():
    published = {"relearned": True, "had_learned": False, "others_same": [True, True]}
    assert figure2e.as_published(published)
    for change in ({"relearned": False}, {"had_learned": True}, {"others_same": [True, False]}):
        assert not figure2e.as_published({**published, **change})


def test_thumbnails_frame_the_learned_filters():
    result = facts([[0.0] * 4, [1.0] * 4], [True, False])
    result |= {"config": {"size": 2}, "data": {"images": [1, 9, 9]}}
    picture = pictures.thumbnail(result, pixels=4)
    assert picture.shape == (4 * 4, 8 * 4, 4)
    frame = picture[2, 4:12]
    assert (frame == frame[0]).all()
    assert frame[0].tolist() != picture[2, 20].tolist()
    assert picture[6, 6].tolist() == [0, 0, 0, 255]
    assert picture[6, 22].min() > 250
