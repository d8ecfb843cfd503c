"""Files that released versions wrote are read, and their models answer as they did."""

import json
import shutil

import numpy as np
import pytest

from gaussian_neurons import GaussianNeurons
from gaussian_neurons.model import archive
from tests.model import stored_files
from tests.runs import same

VERSIONS = sorted(path.name for path in stored_files.FOLDER.iterdir())
FIRST = "0.2.0"


def expected(version):
    return json.loads((stored_files.FOLDER / version / "answers.json").read_text())


@pytest.mark.parametrize(
    ("version", "name"),
    [(version, name) for version in VERSIONS for name in expected(version) if name != "run"],
)
def test_a_stored_model_answers_as_it_did(version, name):
    model = GaussianNeurons.load(stored_files.FOLDER / version / f"{name}.safetensors")
    before, now = expected(version)[name], stored_files.answers(model)
    exact = [key for key in before if key != "scores"]
    assert {key: now[key] for key in exact} == {key: before[key] for key in exact}
    np.testing.assert_allclose(now["scores"], before["scores"], rtol=1e-4, atol=1e-4)
    if version == FIRST:
        for parameter, value in stored_files.MODELS[name].items():
            assert getattr(model, parameter) == value
    model.partial_fit(stored_files.X.astype(np.float32))  # it learns on
    assert model.n_samples_seen_ == before["seen"] + len(stored_files.X)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_stored_checkpoint_is_a_model_and_is_resumed(version, tmp_path):
    path = tmp_path / "run.checkpoint"
    shutil.copy(stored_files.FOLDER / version / "run.checkpoint", path)
    seen = expected(version)["run"]["resumed from"]
    assert 0 < GaussianNeurons.load(path).n_samples_seen_ == seen < stored_files.RUN
    if version.rpartition(".")[0] != FIRST.rpartition(".")[0]:
        return  # resumed by versions with the same first two numbers
    resumed = stored_files.run(path)
    assert resumed.n_samples_seen_ == stored_files.RUN
    whole = stored_files.run(tmp_path / "another")
    np.testing.assert_allclose(resumed.centers_, whole.centers_, rtol=1e-4, atol=1e-4)


def test_the_first_version_is_stored():
    assert FIRST in VERSIONS
    assert set(expected(FIRST)) == {*stored_files.MODELS, "run"}


def test_a_parameter_of_a_newer_version_is_refused(tmp_path):
    path = stored_files.FOLDER / FIRST / "given.safetensors"
    arrays, facts = archive.read(path)
    facts["parameters"]["colour"] = "blue"
    archive.write(tmp_path / "newer", arrays, facts)
    with pytest.raises(ValueError, match="unknown parameters: colour"):
        GaussianNeurons.load(tmp_path / "newer")


def test_a_parameter_that_a_file_does_not_have_gets_its_default(tmp_path):
    path = stored_files.FOLDER / FIRST / "given.safetensors"
    arrays, facts = archive.read(path)
    del facts["parameters"]["memory"], facts["parameters"]["shape"]
    archive.write(tmp_path / "older", arrays, facts)
    assert same(GaussianNeurons.load(tmp_path / "older"), GaussianNeurons.load(path))
