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
    pictures,
    similarity,
    table1,
)
from gaussian_neurons.experiments.catalogue import EXPERIMENTS
from gaussian_neurons.experiments.lab import Lab
from tests.test_experiments import images


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


def with_comparison(name, learned, *others, **more):
    """The first claim of an experiment, given how many filters it and others learned."""
    experiment = EXPERIMENTS[name]
    result = {"learned": learned, "is_learned": [], "centers": [], "cosine": [], "widths": [], **more}
    learned_by = dict(zip(experiment.compares_with, others, strict=True))
    result["compared"] = experiment.compare(
        result, {it: {"learned": count} for it, count in learned_by.items()}
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
