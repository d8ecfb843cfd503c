"""A separate folder for each test, and a model file in it."""

import pytest
from typer.testing import CliRunner

from gaussian_neurons import GaussianNeurons
from gaussian_neurons.cli import app
from tests.cli.calls import write_csv


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    return tmp_path


@pytest.fixture(scope="session")
def model_bytes(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    write_csv(folder / "a.csv")
    arguments = ["fit", str(folder / "a.csv"), "--out", str(folder / "m"), "--width", "1"]
    assert CliRunner().invoke(app, arguments).exit_code == 0
    return (folder / "m").read_bytes()


@pytest.fixture
def model(here, model_bytes):
    """m.safetensors, learned from columns x and y."""
    (here / "m.safetensors").write_bytes(model_bytes)
    return GaussianNeurons.load("m.safetensors")
