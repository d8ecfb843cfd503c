"""The targets of `fuzz` run, and its runner reports what fails."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from fuzz import target

WRONG = '''
from hypothesis import strategies as st

from fuzz.target import target


@target("wrong", number=st.integers(), word=st.text())
def wrong(number, word):
    """No number is above 1000."""
    assert number <= 1000
'''


APART = ("files_shortened", "streams_callback")  # a failure of these is a crash or a hang


def run(*options: str, path: str = "") -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": f"{path}:{Path(__file__).parents[1]}"}
    command = [sys.executable, "-m", "fuzz", *options]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=100)


@pytest.mark.parametrize("name", target.NAMES)
def test_a_target_holds_for_a_few_examples(name, tmp_path):
    one = target.load(name)
    assert one.statement
    if name in APART:
        found = run("--only", name, "--seconds", "1", "--seed", "1", f"--database={tmp_path}")
        assert found.returncode == 0, found.stdout
        return
    found = target.run(one, seed=None, examples=4)
    assert found.failure is None, found.failure
    assert found.examples


def test_a_failure_is_shrunk_and_replayed(tmp_path):
    (tmp_path / "wrong_target.py").write_text(WRONG)

    options = ("--only", "wrong_target:wrong", "--seconds", "1", f"--database={tmp_path}/found", "--seed")
    first = run(*options, "1", path=str(tmp_path))
    assert first.returncode == 1, first.stderr
    assert "number=1001" in first.stdout
    assert "word=''" in first.stdout
    assert f"Replay: python -m fuzz --only wrong_target:wrong --database {tmp_path}/found" in first.stdout
    again = run(*options, "2", path=str(tmp_path))
    assert "number=1001" in again.stdout
