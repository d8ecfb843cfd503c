"""The command that installs an extra fits the way in which the library was installed."""

import json
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

from gaussian_neurons.base import extras


class Installed:
    """A distribution with this direct_url.json, or without one."""

    def __init__(self, origin):
        self.origin = origin

    def read_text(self, name):
        assert name == "direct_url.json"
        return None if self.origin is None else json.dumps(self.origin)


@pytest.fixture
def shell(monkeypatch):
    """A shell that finds the pip of this environment."""
    monkeypatch.setattr(extras.shutil, "which", lambda name: str(Path(sys.executable).parent / name))


@pytest.fixture
def clone(tmp_path):
    folder = tmp_path / "a clone"
    folder.mkdir()
    (folder / "pyproject.toml").touch()
    return folder


def installed(monkeypatch, origin):
    monkeypatch.setattr(extras.metadata, "distribution", lambda name: Installed(origin))


@pytest.mark.usefixtures("shell")
@pytest.mark.parametrize("origin", [None, {"url": "file:///tmp/a.whl", "archive_info": {}}])
def test_a_wheel_is_named(monkeypatch, origin):
    installed(monkeypatch, origin)
    assert extras.install("plot") == "pip install 'gaussian-neurons[plot]'"
    assert extras.install("plot", "data") == "pip install 'gaussian-neurons[plot,data]'"


@pytest.mark.usefixtures("shell")
def test_sources_that_are_not_installed_are_named(monkeypatch):
    def distribution(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(extras.metadata, "distribution", distribution)
    assert extras.install("plot") == "pip install 'gaussian-neurons[plot]'"


@pytest.mark.usefixtures("shell")
@pytest.mark.parametrize(("editable", "option"), [(True, "--editable "), (False, "")])
def test_a_clone_is_installed_in_the_same_way_again(monkeypatch, clone, tmp_path, editable, option):
    installed(monkeypatch, {"url": clone.as_uri(), "dir_info": {"editable": editable} if editable else {}})
    monkeypatch.chdir(clone)
    assert extras.install("plot") == f"pip install {option}'.[plot]'"
    monkeypatch.chdir(tmp_path)
    assert extras.install("plot") == f"pip install {option}'{clone}[plot]'"
    (clone / "pyproject.toml").unlink()
    assert extras.install("plot") == "pip install 'gaussian-neurons[plot]'"


@pytest.mark.parametrize("found", [None, "/usr/bin/pip"])
def test_a_pip_of_another_python_is_not_named(monkeypatch, tmp_path, found):
    installed(monkeypatch, None)
    monkeypatch.setattr(extras.shutil, "which", lambda name: found)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "bin" / "python"))
    assert extras.install("plot") == f"{tmp_path}/bin/python -m pip install 'gaussian-neurons[plot]'"
    monkeypatch.chdir(tmp_path)
    assert extras.install("plot") == "bin/python -m pip install 'gaussian-neurons[plot]'"


def test_all_missing_modules_are_named(monkeypatch):
    installed(monkeypatch, None)
    extras.require("this needs", "plot", "numpy", "json")
    with pytest.raises(
        ModuleNotFoundError, match=r"^this needs nowhere and nothing: .*pip install '.*\[plot\]'$"
    ):
        extras.require("this needs", "plot", "numpy", "nowhere", "nothing")


def test_the_river_module_names_its_extra():
    program = (
        "import sys; sys.modules['river'] = None\n"
        "try:\n    import gaussian_neurons.river\n"
        "except ModuleNotFoundError as error:\n    print(error)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == f"gaussian_neurons.river needs river: {extras.install('river')}\n"
