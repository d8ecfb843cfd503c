"""Model files: nothing is lost, nothing foreign is taken, nothing is run."""

import copy
import errno
import json
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import save_file

from gaussian_neurons import GaussianNeurons
from gaussian_neurons.model import archive as persistence
from tests.test_estimator import assert_same, blobs

MODELS = {
    "plain": {"width": 0.05, "domain": (0, 1), "random_state": 0},
    "auto": {"random_state": np.random.RandomState(4)},
    "arrays": {"width": np.linspace(0.04, 0.06, 6), "domain": ([0.0, 0.0], [1.0, 2.0]), "init": np.eye(6, 2)},
    "widths": {"width": 0.05, "width_learning_rate": 0.2, "random_state": 1},
    "numpy": {"width": np.float32(0.05), "inhibition": np.float64(0.4), "random_state": np.int64(3)},
    "none": {"random_state": None},
}


def learn(model, n: int, seed: int, dtype: type = np.float64):
    X = blobs(n, seed, dtype)[0]
    return model.partial_fit(X, sample_width=np.full(n, 0.02) if model.width_learning_rate else None)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("n", [300, 2500])  # before and after the first data is complete
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_learning_on_after_a_load_is_never_having_stopped(tmp_path, name, n, dtype):
    model = learn(GaussianNeurons(6, **MODELS[name]), n, 0, dtype)
    model.save(tmp_path / "model.safetensors")
    loaded = GaussianNeurons.load(tmp_path / "model.safetensors")
    assert_same(loaded, model)
    for each in (model, loaded):
        learn(each, 1500, 1, dtype)
        each.add_neurons(2)
        learn(each, 500, 2, dtype)
        each.remove_neurons(1)
    assert_same(loaded, model)
    assert loaded.centers_.dtype == dtype
    assert loaded.diagnosis_.share.tolist() == model.diagnosis_.share.tolist()


def test_parameters_names_and_labels_come_back(tmp_path):
    import pandas as pd

    frame = pd.DataFrame(blobs()[0], columns=["a", "b"])
    model = GaussianNeurons(
        6, width=[0.05] * 6, domain=(0, [1.0, 1.5]), max_samples=5000, random_state=2
    ).fit(frame)
    model.save(tmp_path / "model")
    loaded = GaussianNeurons.load(tmp_path / "model")
    for name, value in model.get_params().items():
        np.testing.assert_equal(_arrays(loaded.get_params()[name]), _arrays(value))
    np.testing.assert_array_equal(loaded.labels_, model.labels_)
    assert list(loaded.feature_names_in_) == ["a", "b"]
    assert_same(loaded.fit(frame), model.fit(frame))


def _arrays(value):
    return [np.asarray(part) for part in value] if isinstance(value, tuple) else np.asarray(value)


def test_a_subclass_loads_as_itself(tmp_path):
    class Mine(GaussianNeurons):
        pass

    learn(Mine(4, random_state=0), 200, 0).save(tmp_path / "m")
    assert type(Mine.load(tmp_path / "m")) is Mine


@pytest.fixture
def saved(tmp_path):
    model = learn(GaussianNeurons(6, width=0.05, domain=(0, 1), random_state=0), 2000, 0)
    model.save(tmp_path / "model.safetensors")
    return model, tmp_path / "model.safetensors"


def test_a_file_cut_off_anywhere_is_refused(saved):
    _, path = saved
    whole = path.read_bytes()
    for length in [0, 1, 7, 8, 9, 100, 1000, len(whole) // 2, len(whole) - 1]:
        path.write_bytes(whole[:length])
        with pytest.raises(ValueError, match=r"cannot be read as a model|checksum|not a complete model"):
            GaussianNeurons.load(path)


def test_a_changed_byte_is_noticed_wherever_it_is(saved):
    _, path = saved
    whole = bytearray(path.read_bytes())
    random = np.random.default_rng(0)
    for at in random.integers(len(whole), size=300):
        changed = whole.copy()
        changed[at] ^= 1 << random.integers(8)
        path.write_bytes(changed)
        with pytest.raises(ValueError, match="model"):
            GaussianNeurons.load(path)


@pytest.mark.parametrize("junk", [b"", b"PK\x03\x04" * 100, b"\xff" * 64, b"a,b\n1,2\n"])
def test_a_foreign_file_is_refused(tmp_path, junk):
    (tmp_path / "f").write_bytes(junk)
    with pytest.raises(ValueError, match="cannot be read as a model"):
        GaussianNeurons.load(tmp_path / "f")


def test_a_pickle_is_refused_and_not_run(tmp_path):
    class Trap:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "sprung"),)

    (tmp_path / "f").write_bytes(pickle.dumps(Trap()))
    with pytest.raises(ValueError, match="cannot be read as a model"):
        GaussianNeurons.load(tmp_path / "f")
    assert not (tmp_path / "sprung").exists()


def test_somebody_elses_tensors_are_refused(tmp_path):
    save_file({"weight": np.zeros(3)}, tmp_path / "f")
    with pytest.raises(ValueError, match="not a model of this library"):
        GaussianNeurons.load(tmp_path / "f")


def rewritten(path, change) -> None:
    """The same file with changed facts or arrays and a fitting checksum: what a forger would write."""
    arrays, facts = persistence.read(path)
    change(arrays, facts)
    persistence.write(path, arrays, facts)


FORGERIES = {
    "no parameters": lambda arrays, facts: facts.pop("parameters"),
    "foreign parameter": lambda arrays, facts: facts["parameters"].update(code="import os"),
    "no centers": lambda arrays, facts: arrays.pop("neurons.start"),
    "other columns": lambda arrays, facts: facts.update(n_features=3),
    "negative width": lambda arrays, facts: arrays.update({"neurons.widths": -arrays["neurons.widths"]}),
    "nan": lambda arrays, facts: arrays.update({"neurons.centers": arrays["neurons.centers"] * np.nan}),
    "wrong type": lambda arrays, facts: arrays.update({"neurons.seen": np.zeros(1, np.int8)}),
    "fewer widths": lambda arrays, facts: arrays.update({"neurons.widths": arrays["neurons.widths"][:2]}),
    "no neurons": lambda arrays, facts: arrays.update(
        {name: array[:0] for name, array in arrays.items() if name.startswith("neurons.") and len(array) > 1}
    ),
    "short memory": lambda arrays, facts: arrays.update({"recent": arrays["recent"][:10]}),
    "no memory": lambda arrays, facts: arrays.update({"neurons.held": arrays["neurons.held"][:1]}),
    "no ages": lambda arrays, facts: arrays.update({"neurons.born": arrays["neurons.born"].astype(float)}),
    "no columns": lambda arrays, facts: facts.update(n_features=0),
    "negative rate": lambda arrays, facts: facts.update(learning_rate=-1.0),
    "negative seed": lambda arrays, facts: facts.update(seed=-1),
    "nan kept": lambda arrays, facts: arrays.update({"recent": arrays["recent"] * np.nan}),
    "words": lambda arrays, facts: facts.update(received="many"),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forged_model_is_refused(saved, name):
    _, path = saved
    rewritten(path, FORGERIES[name])
    with pytest.raises(ValueError, match="not a complete model"):
        GaussianNeurons.load(path)


def test_a_newer_file_is_refused_with_what_to_do(saved, monkeypatch):
    model, path = saved
    monkeypatch.setattr(persistence, "VERSION", 2)
    model.save(path)
    monkeypatch.undo()
    with pytest.raises(ValueError, match=r"newer version .* Upgrade"):
        GaussianNeurons.load(path)


def test_no_file_is_said(tmp_path):
    with pytest.raises(FileNotFoundError, match="no model file at"):
        GaussianNeurons.load(tmp_path / "absent")


def test_where_no_file_can_be_is_said(saved, tmp_path):
    model, _ = saved
    with pytest.raises(IsADirectoryError, match="is a folder; name a file in it"):
        model.save(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"the folder '.*absent' does not exist"):
        model.save(tmp_path / "absent" / "model")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="left alone"):
        model.save(tmp_path / "pipe")
    with pytest.raises(IsADirectoryError):
        GaussianNeurons.load(tmp_path)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["model.safetensors", "pipe"]


def test_a_private_file_stays_private(saved):
    model, path = saved
    path.chmod(0o600)
    model.save(path)
    assert path.stat().st_mode & 0o777 == 0o600


def test_an_unfitted_model_is_not_saved(tmp_path):
    with pytest.raises(ValueError, match="not fitted"):
        GaussianNeurons().save(tmp_path / "m")
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_leaves_the_old_file_whole(saved, monkeypatch):
    model, path = saved
    old = path.read_bytes()

    def full(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        copy.deepcopy(model).partial_fit(blobs()[0]).save(path)
    monkeypatch.undo()
    assert path.read_bytes() == old
    assert list(path.parent.iterdir()) == [path]
    assert_same(GaussianNeurons.load(path), model)


def test_a_crash_while_saving_leaves_a_whole_file(tmp_path):
    """A child saves over and over and is killed: whatever is there loads."""
    path = tmp_path / "model"
    code = (
        "import numpy as np; from gaussian_neurons import GaussianNeurons\n"
        "m = GaussianNeurons(4, width=1.0, domain=(0, 1)).partial_fit(np.random.rand(2000, 200))\n"
        f"while True: m.save({str(path)!r}); print(flush=True)\n"
    )
    for _ in range(3):
        child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
        for _ in range(3):
            child.stdout.readline()
        child.kill()
        child.wait()
        child.stdout.close()
        assert GaussianNeurons.load(path).n_samples_seen_ == 2000


def test_the_file_is_plain_safetensors_and_says_what_it_is(saved):
    model, path = saved
    with safe_open(path, framework="np") as file:
        np.testing.assert_array_equal(file.get_tensor("neurons.centers"), model.centers_)
        metadata = file.metadata()
    assert metadata["format"] == "gaussian-neurons"
    assert metadata["format_version"] == "1"
    assert json.loads(metadata["facts"])["parameters"]["n_neurons"] == 6


def test_a_link_stays_a_link(saved, tmp_path):
    model, path = saved
    (tmp_path / "link").symlink_to(path)
    model.save(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
