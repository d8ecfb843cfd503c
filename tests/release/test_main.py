"""`make release-check` fails if one of its checks does."""

import subprocess
import sys

import pytest

from release import __main__ as release


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.setattr(release, "ROOT", tmp_path)
    (tmp_path / "Makefile").write_text("good:\n\t@true\n\nbad:\n\t@false\n")
    return tmp_path


@pytest.mark.parametrize(
    ("target", "says"),
    [("good", []), ("bad", ["make bad failed"]), ("none", ["the Makefile has no target none"])],
)
def test_targets_of_make(project, target, says):
    assert release._make(target)() == says


def test_what_is_not_committed_is_named(project):
    assert "git status failed" in release._committed()[0]
    subprocess.run(["git", "init", "-q"], cwd=project, check=True)
    assert release._committed() == ["not committed: Makefile"]
    (project / ".gitignore").write_text("*\n")
    assert release._committed() == []


def fails():
    raise ValueError("no number")


@pytest.mark.parametrize(
    ("checks", "status", "says"),
    [
        ({"one": list, "two": list}, 0, "two        passed"),
        ({"one": list, "two": lambda: ["it is wrong"]}, 1, "two        FAILED\n           it is wrong"),
        ({"one": fails, "two": list}, 1, "one        FAILED\n           no number\ntwo        passed"),
    ],
)
def test_a_failing_check_is_listed_and_fails(monkeypatch, capsys, checks, status, says):
    monkeypatch.setattr(release, "CHECKS", checks)
    monkeypatch.setattr(sys, "argv", ["release"])
    assert release.main() == status
    assert says in capsys.readouterr().out


def test_a_name_that_is_gone_is_named(monkeypatch):
    promised = release.api.promised() | {
        "gaussian_neurons.gone": {"positional": [], "keyword": [], "needed": []}
    }
    monkeypatch.setattr(release.api, "promised", lambda: promised)
    assert release._api() == ["gaussian_neurons.gone is missing"]
