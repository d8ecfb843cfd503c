"""Files of arrays and facts: damaged and foreign ones are refused, and a file is replaced as a whole."""

import copy
import errno
import json
import os
import pickle

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import save_file

from gaussian_neurons import GaussianNeurons
from gaussian_neurons.model import archive
from tests.runs import X, model_of, same


@pytest.fixture
def saved(tmp_path):
    model = model_of(n_neurons=6).partial_fit(X[:2000])
    model.save(tmp_path / "model.safetensors")
    return model, tmp_path / "model.safetensors"


def test_a_truncated_file_is_refused(saved):
    _, path = saved
    whole = path.read_bytes()
    for length in [0, 1, 7, 8, 9, 100, 1000, len(whole) // 2, len(whole) - 1]:
        path.write_bytes(whole[:length])
        with pytest.raises(ValueError, match=r"cannot be read as a model|checksum|not a complete model"):
            GaussianNeurons.load(path)


def test_a_changed_bit_is_noticed(saved):
    _, path = saved
    whole = bytearray(path.read_bytes())
    random = np.random.default_rng(0)
    for at in random.integers(len(whole), size=100):
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
            return os.mkdir, (str(tmp_path / "executed"),)

    (tmp_path / "f").write_bytes(pickle.dumps(Trap()))
    with pytest.raises(ValueError, match="cannot be read as a model"):
        GaussianNeurons.load(tmp_path / "f")
    assert not (tmp_path / "executed").exists()


def test_tensors_of_another_library_are_refused(tmp_path):
    save_file({"weight": np.zeros(3)}, tmp_path / "f")
    with pytest.raises(ValueError, match="not a model of this library"):
        GaussianNeurons.load(tmp_path / "f")


@pytest.mark.parametrize(
    ("version", "says"),
    [
        (archive.VERSION + 1, r"newer version .* Upgrade"),
        (2, r"before version 0.2.0 \(format 2; .* Train the model again"),
        (0, "no valid format version: '0'"),
        ("two", "no valid format version: 'two'"),
    ],
)
def test_files_of_other_versions_are_refused(saved, monkeypatch, version, says):
    model, path = saved
    monkeypatch.setattr(archive, "VERSION", version)
    model.save(path)
    monkeypatch.undo()
    with pytest.raises(ValueError, match=says):
        GaussianNeurons.load(path)


def test_a_missing_file_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError, match="no model file at"):
        GaussianNeurons.load(tmp_path / "absent")


def test_a_path_that_cannot_be_a_file_is_refused(saved, tmp_path):
    model, _ = saved
    with pytest.raises(IsADirectoryError, match="is a folder; give the name of a file"):
        model.save(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"the folder '.*absent' does not exist"):
        model.save(tmp_path / "absent" / "model")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="is not a regular file"):
        model.save(tmp_path / "pipe")
    with pytest.raises(IsADirectoryError):
        GaussianNeurons.load(tmp_path)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["model.safetensors", "pipe"]


def test_a_file_keeps_its_permissions(saved):
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
        copy.deepcopy(model).partial_fit(X).save(path)
    monkeypatch.undo()
    assert path.read_bytes() == old
    assert list(path.parent.iterdir()) == [path]
    assert same(GaussianNeurons.load(path), model)


def test_the_file_is_plain_safetensors_with_its_format(saved):
    model, path = saved
    with safe_open(path, framework="np") as file:
        np.testing.assert_array_equal(file.get_tensor("neurons.centers"), model.centers_)
        metadata = file.metadata()
    assert metadata["format"] == "gaussian-neurons"
    assert metadata["format_version"] == "8"
    assert json.loads(metadata["facts"])["parameters"]["n_neurons"] == 6


def test_a_link_stays_a_link(saved, tmp_path):
    model, path = saved
    (tmp_path / "link").symlink_to(path)
    model.save(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()


def test_a_path_in_the_home_folder_is_expanded(saved, tmp_path, monkeypatch):
    model, _ = saved
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    model.save("~/mine")
    assert (tmp_path / "mine").is_file()
    assert same(GaussianNeurons.load("~/mine"), model)


def test_what_is_not_a_regular_file_is_refused_without_opening_it(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", "/dev/zero"):
        with pytest.raises(ValueError, match=r"is not a regular file\. Use a file that save\(\) wrote"):
            GaussianNeurons.load(path)


@pytest.mark.parametrize("depth", [200, 5_000, 100_000])
@pytest.mark.parametrize("where", ["facts", "run", "parameters"])
def test_deep_nesting_is_refused(saved, monkeypatch, depth, where):
    _, path = saved
    arrays, facts = archive.read(path)
    text = json.dumps(facts)
    deep = "[" * depth + "]" * depth
    if where == "facts":
        text = deep
    elif where == "run":
        text = text[:-1] + f', "run": {{"began": {{"stream": {deep}}}}}}}'
    else:
        text = text.replace('"parameters": {', f'"parameters": {{"deep": {deep}, ', 1)
    monkeypatch.setattr(json, "dumps", lambda *_, **__: text)
    archive.write(path, arrays, {})
    monkeypatch.undo()
    with pytest.raises(ValueError, match=r"is not a complete model .*100 levels deep"):
        GaussianNeurons.load(path)


def test_deep_nesting_of_the_header_is_refused(saved):
    _, path = saved
    header = b"[" * 200_000
    path.write_bytes(len(header).to_bytes(8, "little") + header)
    with pytest.raises(ValueError, match="cannot be read as a model"):
        GaussianNeurons.load(path)
