"""Model files: everything comes back, and forged ones are refused."""

import numpy as np
import pandas as pd
import pytest

from gaussian_neurons import GaussianNeurons
from gaussian_neurons.datasets.synthetic import Mixture
from gaussian_neurons.model import archive, model_file
from tests.runs import same
from tests.test_estimator import blobs

X = Mixture(5, seed=0, dtype=np.float64).read(4500)

MODELS = {
    "plain": {"width": 0.05, "domain": (0, 1), "random_state": 0},
    "automatic": {"random_state": np.random.RandomState(4)},
    "arrays": {"width": np.linspace(0.04, 0.06, 6), "domain": ([0.0, 0.0], [1.0, 2.0]), "init": np.eye(6, 2)},
    "widths": {"width": 0.05, "width_learning_rate": 0.2, "random_state": 1},
    "numpy": {"width": np.float32(0.05), "inhibition": np.float64(0.4), "random_state": np.int64(3)},
    "no seed": {"random_state": None},
}


def learn(model, n: int, seed: int, dtype: type = np.float64):
    rows = blobs(n, seed, dtype)[0]
    return model.partial_fit(rows, sample_width=np.full(n, 0.02) if model.width_learning_rate else None)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("n", [300, 1700])  # before and after the first data is complete
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_learning_on_after_a_load_is_learning_without_a_break(tmp_path, name, n, dtype):
    model = learn(GaussianNeurons(6, **MODELS[name]), n, 0, dtype)
    model.save(tmp_path / "model.safetensors")
    loaded = GaussianNeurons.load(tmp_path / "model.safetensors")
    model.set_params(random_state=loaded.random_state)  # a generator is stored as the seed it gave
    assert same(loaded, model)
    for each in (model, loaded):
        learn(each, 1100, 1, dtype)
        each.add_neurons(2)
        learn(each, 500, 2, dtype)
        each.remove_neurons(1)
    assert same(loaded, model)
    assert loaded.centers_.dtype == dtype
    assert loaded.diagnosis_.share.tolist() == model.diagnosis_.share.tolist()


def test_parameters_names_and_labels_come_back(tmp_path):
    frame = pd.DataFrame(blobs(500)[0], columns=["a", "b"])
    model = GaussianNeurons(
        6, width=[0.05] * 6, domain=(0, [1.0, 1.5]), max_samples=2000, random_state=2
    ).fit(frame)
    model.save(tmp_path / "model")
    loaded = GaussianNeurons.load(tmp_path / "model")
    for name, value in model.get_params().items():
        np.testing.assert_equal(_arrays(loaded.get_params()[name]), _arrays(value))
    np.testing.assert_array_equal(loaded.labels_, model.labels_)
    assert list(loaded.feature_names_in_) == ["a", "b"]
    assert same(loaded.fit(frame), model.fit(frame))


def _arrays(value):
    return [np.asarray(part) for part in value] if isinstance(value, tuple) else np.asarray(value)


def test_a_subclass_loads_as_itself(tmp_path):
    class Mine(GaussianNeurons):
        pass

    learn(Mine(4, random_state=0), 200, 0).save(tmp_path / "model")
    assert type(Mine.load(tmp_path / "model")) is Mine


@pytest.mark.parametrize("parameters", [{}, {"width": 0.02, "domain": (0, 1)}])
@pytest.mark.parametrize("n", [700, 3333, 4500])
def test_every_answer_comes_back(tmp_path, parameters, n):
    model = GaussianNeurons(12, random_state=0, **parameters).partial_fit(X[:n])
    model.save(tmp_path / "model")
    loaded = GaussianNeurons.load(tmp_path / "model")
    for name in ("centers_", "widths_", "initial_centers_", "learned_", "n_clusters_", "cluster_numbers_"):
        np.testing.assert_array_equal(getattr(loaded, name), getattr(model, name), err_msg=name)
    for name in ("cluster_centers_", "neuron_clusters_", "n_samples_seen_", "recent_samples_"):
        np.testing.assert_array_equal(getattr(loaded, name), getattr(model, name), err_msg=name)
    for name in ("transform", "predict", "score_samples", "is_novel"):
        np.testing.assert_array_equal(getattr(loaded, name)(X), getattr(model, name)(X), err_msg=name)
    assert str(loaded.events_) == str(model.events_)
    assert loaded.cost(X[:50]) == model.cost(X[:50])


def test_the_silhouette_without_structure_comes_back(tmp_path):
    model = GaussianNeurons(8, random_state=0).partial_fit(np.random.default_rng(0).normal(size=(1100, 2)))
    model.save(tmp_path / "model")
    assert model._state.network.cloud is not None
    assert GaussianNeurons.load(tmp_path / "model")._state.network.cloud == model._state.network.cloud


# ---- forged files -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def contents(tmp_path_factory):
    """Arrays and facts of a model of several widths and of one with a single width."""
    several = GaussianNeurons(20, random_state=0).partial_fit(X)
    single = GaussianNeurons(6, width=0.02, domain=(0, 1), random_state=0).partial_fit(X[:2000])
    path = tmp_path_factory.mktemp("models") / "model"
    found = {}
    for name, model in (("several", several), ("single", single)):
        model.save(path)
        found[name] = archive.read(path)
    assert len(found["several"][1]["layers"]) > 3
    assert len(found["several"][1]["clusters"]["events"]) >= 5
    return found


def fact(*names, value):
    """Set a fact."""

    def forge(arrays, facts):
        for name in names[:-1]:
            facts = facts[name]
        facts[names[-1]] = value

    return forge


def array(name, change):
    """Change an array."""

    def forge(arrays, facts):
        arrays[name] = change(arrays[name].copy())

    return forge


def element(index, value):
    def change(array):
        array[index] = value
        return array

    return change


def fewer_neurons(layer, count):
    names = ("centers", "widths", "start", "start_widths", "held", "born")

    def forge(arrays, facts):
        arrays |= {f"{layer}.{name}": arrays[f"{layer}.{name}"][:count] for name in names}

    return forge


FORGED = {
    "no parameters": lambda arrays, facts: facts.pop("parameters"),
    "an unknown parameter": fact("parameters", "code", value="import os"),
    "other columns": fact("n_features", value=3),
    "no columns": fact("n_features", value=0),
    "a negative seed": fact("seed", value=-1),
    "a count that is a word": fact("received", value="many"),
    "few recent samples": array("recent", lambda values: values[:10]),
    "recent samples that are NaN": array("recent", lambda values: values * np.nan),
    "no starting centers": lambda arrays, facts: arrays.pop("layer0.start"),
    "centers that are NaN": array("layer0.centers", lambda values: values * np.nan),
    "a negative width": array("layer0.widths", lambda values: -values),
    "fewer widths": array("layer0.widths", lambda values: values[:2]),
    "no neurons": fewer_neurons("layer0", 0),
    "fewer held centers": array("layer0.held", lambda values: values[:1]),
    "births that are fractions": array("layer0.born", lambda values: values.astype(float)),
    "another number of samples seen": fact("layers", 0, "seen", value=1999),
    "samples seen that are a word": fact("layers", 0, "seen", value="many"),
    "a negative learning rate": fact("layers", 0, "learning_rate", value=-1.0),
    "a negative inhibition": fact("layers", 0, "inhibition", value=-1.0),
    "a layer that answers but does not exist": fact("clusters", "layer", value=5),
    "a layer of a negative index": fact("clusters", "layer", value=-1),
    "fewer cluster numbers given than used": fact("clusters", "given", value=1),
    "an event of an unknown kind": fact("clusters", "events", 0, 1, value="burst"),
    "events without centers": array("clusters.events", lambda values: values[:-1]),
    "events of other columns": array("clusters.noted", lambda values: values[:, :1]),
    "an event that is not finite": array("clusters.events", element((0, 0), np.nan)),
    "no cluster numbers": lambda arrays, facts: arrays.pop("clusters.number"),
    "cluster numbers of fewer neurons": array("clusters.number", lambda values: values[:-1]),
    "cluster numbers that are fractions": array("clusters.number", lambda values: values.astype(float)),
    "a cluster number below -1": array("clusters.number", element(0, -7)),
    "no noted events": lambda arrays, facts: facts["clusters"].pop("noted"),
    "a silhouette that is a word": fact("cloud", value="high"),
    "no last look": lambda arrays, facts: arrays.pop("look.learned"),
    "a last look of fewer neurons": array("look.learned", lambda values: values[:-1]),
    "a last look with clusters that are NaN": array("look.cluster_centers", lambda values: values * np.nan),
    "a last look with other clusters": array("look.cluster_centers", lambda values: values[:-1]),
    "a last look with numbers that are fractions": array("look.number", lambda values: values.astype(float)),
    "scores in two dimensions": array("look.scores", lambda values: values[None]),
}
FORGED_LADDERS = {
    "several layers but one width": fact("is_ladder", value=False),
    "a layer that is missing": lambda arrays, facts: arrays.pop("layer2.centers"),
    "a layer with another number of samples": fact("layers", 3, "seen", value=4499),
    "a layer with a negative width": array("layer1.widths", element(0, -1.0)),
    "a layer with fewer neurons": fewer_neurons("layer1", -1),
}


@pytest.mark.parametrize(
    ("model", "forge"),
    [
        *(pytest.param("single", forge, id=name) for name, forge in FORGED.items()),
        *(pytest.param("several", forge, id=name) for name, forge in FORGED_LADDERS.items()),
    ],
)
def test_a_forged_model_is_refused(contents, tmp_path, model, forge):
    arrays, facts = contents[model][0].copy(), archive.json.loads(archive.json.dumps(contents[model][1]))
    archive.write(tmp_path / "model", arrays, facts)
    model_file.load(tmp_path / "model")
    forge(arrays, facts)
    archive.write(tmp_path / "model", arrays, facts)
    with pytest.raises(ValueError, match="not a complete model"):
        GaussianNeurons.load(tmp_path / "model")
