"""Model files: everything comes back, and forged ones are refused."""

import numpy as np
import pandas as pd
import pytest

from gaussian_neurons import GaussianNeurons
from gaussian_neurons.datasets.synthetic import Mixture
from gaussian_neurons.learning import reference
from gaussian_neurons.model import archive, model_file
from gaussian_neurons.sampling import Rows
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
    for name in ("transform", "predict", "predict_proba", "score_samples", "is_novel", "score"):
        np.testing.assert_array_equal(getattr(loaded, name)(X), getattr(model, name)(X), err_msg=name)
    assert str(loaded.events_) == str(model.events_)
    assert loaded.cost(X[:50]) == model.cost(X[:50])


def working_models():
    """Models of many kinds, each with the rows that it can learn on from."""
    random = np.random.default_rng(0)
    x = blobs(1500)[0]
    names = pd.DataFrame(x, columns=["a", "b"])
    yield "unnumbered", GaussianNeurons(3, width=0.05, domain=(0, 1)).place_neurons(2), x
    yield "one row", GaussianNeurons(3, random_state=0).partial_fit(x[:1]), x
    yield "equal rows", GaussianNeurons(3, random_state=0).partial_fit(np.ones((1500, 2))), x
    yield "few rows", GaussianNeurons(3, width=0.05, random_state=0).partial_fit(x[:57]), x
    yield "one column", GaussianNeurons(3, random_state=0).fit(x[:, :1]), x[:, :1]
    yield "nothing learned", GaussianNeurons(3, width=1e-9, domain=(5, 6)).partial_fit(x), x
    yield "fitted", GaussianNeurons(12, random_state=0, max_samples=3000).fit(x), x
    yield "fitted with a width", GaussianNeurons(12, width=0.05, max_samples=3000).fit(names), names
    yield "wide rows", GaussianNeurons(4, random_state=0).partial_fit(random.normal(size=(1200, 300))), None
    yield "function", GaussianNeurons(4, width=0.05, backend=reference.learn).partial_fit(x), None
    yield "reference", GaussianNeurons(4, width=0.05, backend="reference").partial_fit(x[:500]), x
    twins = GaussianNeurons(4, width=0.05, init=np.full((4, 2), 0.5), domain=(0, 1)).partial_fit(x)
    yield "twins", twins, x
    named = GaussianNeurons(4, random_state=0).learn(Rows(names), 1100)
    yield "columns with names", named, names
    bad = np.where(np.arange(2000)[:, None] % 7 == 0, np.nan, blobs(2000)[0])
    with pytest.warns(UserWarning, match="skipped"):
        yield "skipped", GaussianNeurons(4, random_state=0).learn(Rows(bad, passes=1), on_bad="skip"), x
    changed = GaussianNeurons(8, random_state=0).partial_fit(x).add_neurons(3)
    changed.move_neurons(0, centers=[[0, 9]]).partial_fit(x[:333]).remove_neurons([1, 2])
    yield "changed", changed, x
    others = {"n_neurons": 9, "width": np.full(9, 0.1), "inhibition": 0.2, "repulsion_every": 2}
    yield "other parameters", learn(GaussianNeurons(4, width=0.05), 1500, 0).set_params(**others), x
    yield "unused parameters", GaussianNeurons(4, width=0.05).partial_fit(x).set_params(max_samples=9**30), x
    moving = GaussianNeurons(6, random_state=0)
    for shift in range(0, 60, 10):
        moving.partial_fit(x + shift)
    yield "moving", moving, x
    held = GaussianNeurons(6, width=0.05, domain=(0, 1), random_state=0)
    for shift in range(0, 60, 10):
        held.partial_fit(x + shift / 50)
        yield f"moving a given width by {shift}", held, None
    for scale, dtype in ((1e148, np.float64), (1e-140, np.float64), (1e13, np.float32), (1e-12, np.float32)):
        scaled = (x * scale).astype(dtype)
        yield f"scaled by {scale}", GaussianNeurons(6, random_state=0).partial_fit(scaled), None
        wide = GaussianNeurons(6, width=1.0, domain=(0, 1), learning_rate=1e-9).partial_fit(scaled)
        yield f"a width of 1 at {scale}", wide, None


def test_every_working_model_comes_back(tmp_path):
    with np.errstate(all="ignore"):
        for name, model, rows in working_models():
            model.save(tmp_path / "model")
            loaded = GaussianNeurons.load(tmp_path / "model")
            model.set_params(backend=loaded.backend, random_state=loaded.random_state)
            assert same(loaded, model), name
            if rows is not None:
                assert same(loaded.partial_fit(rows), model.partial_fit(rows)), name


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"learning_rate": np.inf}, "learning_rate must be finite and at least 0, got inf"),
        ({"inhibition": -1}, "inhibition must be finite"),
        ({"max_samples": float("nan")}, "max_samples must be a whole number of at least 1, got nan"),
        ({"max_samples": {1: 2}}, "max_samples must be a whole number of at least 1"),
        ({"n_neurons": 2**20 + 1}, "n_neurons must be at most 1048576, got 1048577"),
    ],
)
def test_a_parameter_that_cannot_be_stored_is_named_and_the_old_file_stays(tmp_path, change, says):
    model = learn(GaussianNeurons(4, width=0.05), 200, 0)
    model.save(tmp_path / "model")
    before = (tmp_path / "model").stat()
    with pytest.raises(ValueError, match=says):
        model.set_params(**change).save(tmp_path / "model")
    assert (tmp_path / "model").stat() == before


# ---- forged files -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def contents(tmp_path_factory):
    """Arrays and facts of a model with an automatic width and of one with a given width."""
    automatic = GaussianNeurons(20, random_state=0).partial_fit(X)
    single = GaussianNeurons(6, width=0.02, domain=(0, 1), random_state=0).partial_fit(X[:2000])
    path = tmp_path_factory.mktemp("models") / "model"
    found = {}
    for name, model in (("automatic", automatic), ("single", single)):
        model.save(path)
        found[name] = archive.read(path)
    assert found["automatic"][1]["shared"]
    assert len(found["automatic"][1]["clusters"]["events"]) >= 5
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


def put(name, value):
    """Add an array."""

    def forge(arrays, facts):
        arrays[name] = value

    return forge


def seen(facts, count):
    """Set the number of samples seen, consistently."""
    facts["received"] = count
    facts["layer"]["seen"] = count


def element(index, value):
    def change(array):
        array[index] = value
        return array

    return change


def fewer_neurons(count):
    def forge(arrays, facts):
        arrays |= {name: arrays[name][:count] for name in arrays if name.startswith("neurons.")}

    return forge


FORGED = {
    "no parameters": lambda arrays, facts: facts.pop("parameters"),
    "an unknown parameter": fact("parameters", "code", value="import os"),
    "other columns": fact("n_features", value=3),
    "no columns": fact("n_features", value=0),
    "a negative seed": fact("seed", value=-1),
    "a seed of more than 32 bits": fact("seed", value=2**32),
    "a count that is a word": fact("received", value="many"),
    "a count that is a fraction": fact("skipped", value=0.5),
    "a negative count of skipped rows": fact("skipped", value=-1),
    "additions without end": fact("additions", value=2**56),
    "samples without end": lambda arrays, facts: seen(facts, 2**63 - 1),
    "more samples than random numbers": lambda arrays, facts: seen(facts, 2**56),
    "a negative number of samples seen": lambda arrays, facts: seen(facts, -5),
    "too many neurons": fact("parameters", "n_neurons", value=2**31),
    "a number of draws that is a list": fact("parameters", "max_samples", value=[0, [1]]),
    "a random state that is a list": fact("parameters", "random_state", value=[0, [1]]),
    "a negative width parameter": fact("parameters", "width", value=-1.0),
    "an unknown backend": fact("parameters", "backend", value="magic"),
    "a learning rate that is a word": fact("parameters", "learning_rate", value="fast"),
    "an empty domain": fact("parameters", "domain", value=[1, 0]),
    "a domain of other columns": fact("parameters", "domain", value=[[0, 0, 0], 1]),
    "an init of other columns": fact("parameters", "init", value={"array": "neurons.widths"}),
    "few names of columns": fact("feature_names", value=["x"]),
    "names of columns that are numbers": fact("feature_names", value=[1, 2]),
    "labels that are fractions": put("labels", np.zeros(5)),
    "labels in two dimensions": put("labels", np.zeros((5, 1), np.int64)),
    "a label that was never given": put("labels", np.full(5, 99)),
    "a label below -1": put("labels", np.full(5, -2)),
    "recent widths that are negative": array("recent_widths", lambda values: np.full_like(values, -1.0)),
    "recent widths that are infinite": array("recent_widths", lambda values: np.full_like(values, np.inf)),
    "few recent samples": array("recent", lambda values: values[:10]),
    "recent samples that are NaN": array("recent", lambda values: values * np.nan),
    "no starting centers": lambda arrays, facts: arrays.pop("neurons.start"),
    "centers that are NaN": array("neurons.centers", lambda values: values * np.nan),
    "a negative width": array("neurons.widths", lambda values: -values),
    "fewer widths": array("neurons.widths", lambda values: values[:2]),
    "no neurons": fewer_neurons(0),
    "fewer held centers": array("neurons.held", lambda values: values[:1]),
    "births that are fractions": array("neurons.born", lambda values: values.astype(float)),
    "a birth after the last sample": array("neurons.born", element(0, 2001)),
    "a birth before the first sample": array("neurons.born", element(0, -1)),
    "wins that are fractions": array("neurons.won", lambda values: values.astype(float)),
    "a negative number of wins": array("neurons.won", element(0, -1)),
    "more wins than samples": array("neurons.won", element(0, 3001)),
    "more samples in reviews than in the stream": array("neurons.looked", element(0, 3001)),
    "held centers that are infinite": array("neurons.held", lambda values: np.full_like(values, np.inf)),
    "a domain that is NaN": array("low", lambda values: values * np.nan),
    "a domain whose ends are exchanged": array("low", lambda values: values + 5),
    "numbers of clusters without end": fact("clusters", "given", value=2**63),
    "an event after the last sample": fact("clusters", "events", 0, 0, value=2001),
    "an event before the first sample": fact("clusters", "events", 0, 0, value=-1),
    "an event of a cluster without a number": fact("clusters", "events", 0, 2, value=2**40),
    "an event of cluster -1": fact("clusters", "noted", 0, 2, value=-1),
    "shares that are integers": array("look.share", lambda values: values.astype(np.int64)),
    "a share above 1": array("look.share", element(0, 1.5)),
    "a negative mean response": array("look.mean_response", element(0, -0.1)),
    "learned neurons that are numbers": array("look.learned", lambda values: values.astype(np.float64)),
    "a twin that does not exist": array("look.twin_of", element(0, 77)),
    "a twin of itself": array("look.twin_of", element(3, 3)),
    "a last look with a number below -1": array("look.number", element(0, -2)),
    "a last look with a number that is too large": array("look.number", element(0, 1000)),
    "scores that are integers": array("look.scores", lambda values: values.astype(np.int64)),
    "scores that are NaN": array("look.scores", lambda values: values * np.nan),
    "more scores than samples": array("look.scores", lambda values: np.zeros(1001)),
    "another number of samples seen": fact("layer", "seen", value=1999),
    "samples seen that are a word": fact("layer", "seen", value="many"),
    "a negative learning rate": fact("layer", "learning_rate", value=-1.0),
    "a negative inhibition": fact("layer", "inhibition", value=-1.0),
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
    "no last look": lambda arrays, facts: arrays.pop("look.learned"),
    "a last look of fewer neurons": array("look.learned", lambda values: values[:-1]),
    "a last look with clusters that are NaN": array("look.cluster_centers", lambda values: values * np.nan),
    "a last look with other clusters": array("look.cluster_centers", lambda values: values[:-1]),
    "a last look with numbers that are fractions": array("look.number", lambda values: values.astype(float)),
    "scores in two dimensions": array("look.scores", lambda values: values[None]),
}
FORGED_SHARES = {
    "shares that are whole numbers": array("neurons.total", lambda values: values.astype(int)),
    "a negative share": array("neurons.total", element(0, -1.0)),
    "more shares than samples": array("neurons.total", element(0, 1e9)),
    "shares that are NaN": array("neurons.total", element(0, np.nan)),
    "no shares": lambda arrays, facts: arrays.pop("neurons.total"),
    "another number of neurons": fewer_neurons(-1),
}


@pytest.mark.parametrize(
    ("model", "forge"),
    [
        *(pytest.param("single", forge, id=name) for name, forge in FORGED.items()),
        *(pytest.param("automatic", forge, id=name) for name, forge in FORGED_SHARES.items()),
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
