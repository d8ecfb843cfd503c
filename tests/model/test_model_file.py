"""Model files of a ladder: older ones still load, forged ones are refused."""

import numpy as np
import pytest

from gaussian_neurons import GaussianNeurons
from gaussian_neurons.model import archive as persistence
from gaussian_neurons.model import model_file
from tests.test_any_data import mixture, told

X, LABELS = mixture(5, 2, n=4500)


@pytest.fixture
def saved(tmp_path):
    """(path, arrays, facts) of a model with several layers, clusters and events."""
    path = tmp_path / "model"
    GaussianNeurons(20, random_state=0).partial_fit(X).save(path)
    return path, *persistence.read(path)


def without_clusters(arrays: dict, facts: dict) -> tuple[dict, dict]:
    """What a version that knew one layer would have written."""
    old = {name: array for name, array in arrays.items() if not name.startswith(("clusters.", "layer"))}
    return old, {
        name: fact for name, fact in facts.items() if name not in ("clusters", "layers", "inhibition")
    }


def test_everything_comes_back_whatever_layer_answers(saved):
    path, _, facts = saved
    model = GaussianNeurons(20, random_state=0).partial_fit(X)
    assert len(facts["layers"]) == 4
    assert len(facts["clusters"]["events"]) >= 5
    assert told(GaussianNeurons.load(path)) == told(model)


def test_a_file_from_before_there_were_clusters_loads_and_learns_on(tmp_path):
    given = {"width": 6.0, "domain": (-30, 30), "random_state": 0}
    model = GaussianNeurons(20, **given).partial_fit(X[:3000])
    model.save(tmp_path / "new")
    persistence.write(tmp_path / "old", *without_clusters(*persistence.read(tmp_path / "new")))
    old = GaussianNeurons.load(tmp_path / "old")
    assert old.events_ == []
    assert old.n_clusters_ == model.n_clusters_ > 1
    for each in (model, old):
        each.partial_fit(X[3000:])
    np.testing.assert_array_equal(old.centers_, model.centers_)
    np.testing.assert_array_equal(old.learned_, model.learned_)
    old.partial_fit(X[:1000])
    assert {event.kind for event in old.events_} == {"born"}


def test_a_file_of_an_automatic_model_from_before_there_were_layers_goes_on_with_one(saved):
    path, arrays, facts = saved
    persistence.write(path, *without_clusters(arrays, facts))
    old = GaussianNeurons.load(path)
    widths = old.widths_
    old.partial_fit(X)
    np.testing.assert_array_equal(old.widths_, widths)
    assert old.n_samples_seen_ == 9000


def edited(**changes):
    """Other values for some of the facts about clusters."""
    return lambda arrays, facts: facts["clusters"].update(changes)


def put(name, change):
    def forge(arrays, facts):
        arrays[name] = change(arrays[name].copy())

    return forge


def set_at(index, value):
    def change(array):
        array[index] = value
        return array

    return change


FORGED = {
    "an answering layer that there is not": edited(layer=5),
    "a negative one": edited(layer=-1),
    "several layers without a ladder": edited(ladder=False),
    "fewer numbers given than used": edited(given=1),
    "an event of no kind": lambda arrays, facts: facts["clusters"]["events"][0].__setitem__(1, "burst"),
    "events without places": put("clusters.events", lambda array: array[:-1]),
    "places of other dimensions": put("clusters.noted", lambda array: array[:, :1]),
    "numbers for fewer neurons": put("clusters.number", lambda array: array[:-1]),
    "numbers that are none": put("clusters.number", lambda array: array.astype(float)),
    "a layer that is missing": lambda arrays, facts: arrays.pop("layer2.centers"),
    "a layer with other samples seen": put("layer3.seen", lambda array: array - 1),
    "a layer with a width below zero": put("layer1.widths", set_at(0, -1.0)),
    "a layer with fewer neurons": lambda arrays, facts: arrays.update(
        {
            f"layer1.{name}": arrays[f"layer1.{name}"][:-1]
            for name in ("centers", "widths", "start", "start_widths", "held", "born")
        }
    ),
    "a rate that is none": lambda arrays, facts: facts["layers"][1].__setitem__(0, -1.0),
    "an inhibition below zero": lambda arrays, facts: facts["layers"][1].__setitem__(1, -1.0),
    "no numbers": lambda arrays, facts: arrays.pop("clusters.number"),
    "facts that are missing": lambda arrays, facts: facts["clusters"].pop("noted"),
    "a cloud that is none": edited(cloud="high"),
    "a number below that of none": put("clusters.number", set_at(0, -7)),
    "an event that is not finite": put("clusters.events", set_at((0, 0), np.nan)),
}


@pytest.mark.parametrize("what", FORGED)
def test_forged_clusters_are_refused(saved, what):
    path, arrays, facts = saved
    model_file.load(path)
    FORGED[what](arrays, facts)
    persistence.write(path, arrays, facts)
    with pytest.raises(ValueError, match="not a complete model"):
        GaussianNeurons.load(path)
