"""The commands reproduce and demo at the edge: names, seeds, folders, completion, and the display."""

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

from gaussian_neurons.cli import app
from gaussian_neurons.cli.display import Display
from gaussian_neurons.cli.reproducing import _names, _out, parse_seeds
from gaussian_neurons.experiments.catalogue import EXPERIMENTS
from gaussian_neurons.experiments.reproduction import Board, Job, Outcome
from gaussian_neurons.experiments.results import Question
from tests.waiting import wait_for


def invoke(*words):
    return CliRunner().invoke(app, ["reproduce", *words], env={"COLUMNS": "80"})


def test_the_list_has_a_line_for_each_experiment():
    lines = invoke("--list").output.splitlines()
    assert [line.split()[0] for line in lines[1:21]] == list(EXPERIMENTS)  # none is wrapped
    assert all(len(line) <= 80 for line in lines)
    assert "7 learned" in lines[2]


@pytest.mark.parametrize(
    ("text", "seeds"),
    [("0", [0]), ("0-3", [0, 1, 2, 3]), ("7,0-1, 5", [0, 1, 5, 7]), ("3-3", [3]), ("1,1", [1])],
)
def test_seeds_as_one_writes_them(text, seeds):
    assert parse_seeds(text) == seeds


@pytest.mark.parametrize("text", ["", "a", "3-1", "-1", "0-99999999", "1.5", "0;1", "0-"])
def test_seeds_that_are_none(text, tmp_path):
    done = invoke("figure1", "--seeds", text, "--out", str(tmp_path))
    assert done.exit_code == 1
    assert "--seeds" in done.stderr
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["figure9"], "there is no experiment 'figure9'. Known: all, figure1, figure2a"),
        (["figure1", "--markdown", "report"], "--markdown must name a file that ends in .md"),
        (["figur2a"], "Did you mean 'figure2a'?"),
        (["figure1", "--data-dir", "/nowhere"], "--data-dir '/nowhere' is no folder"),
        (["figure1", "--jobs", "0"], "--jobs"),
        (["figure1", "--samples-scale", "0"], "--samples-scale"),
        (["figure1", "--samples-scale", "2"], "--samples-scale"),
        (["figure1", "--samples-scale", "nan"], "--samples-scale"),
        (["figure1", "--data", "other"], "--data"),
    ],
)
def test_mistakes_are_told(words, says, tmp_path):
    done = invoke(*words, "--out", str(tmp_path / "out"))
    assert done.exit_code in (1, 2)
    assert says in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out").exists()


def test_what_is_no_folder_is_told(tmp_path):
    (tmp_path / "file").write_text("mine")
    done = invoke("figure1", "--out", str(tmp_path / "file"))
    assert done.exit_code == 1
    assert "file" in done.stderr
    assert (tmp_path / "file").read_text() == "mine"


def test_other_data_and_scales_have_folders_of_their_own():
    assert _out(None, 1.0, "full") == Path("reproduction")
    assert _out(None, 0.01, "full") == Path("reproduction-scale-0.01")
    assert _out(None, 0.5, "sample") == Path("reproduction-sample-scale-0.5")
    assert _out(Path("mine"), 0.5, "sample") == Path("mine")


def test_the_command_ends_with_numbers_and_a_report(tmp_path):
    done = invoke("figure1", "width-equation", "--out", str(tmp_path), "--jobs", "1")
    assert done.exit_code == 0, done.output
    assert "4.14" in done.stdout
    assert "report.html has it all" in done.stdout.replace("\n", "")
    assert (tmp_path / "report.html").is_file()
    solved = json.loads((tmp_path / "report.json").read_text())["results"][1]
    assert solved["experiment"] == "width-equation"
    assert solved["quantities"][0]["published"] == 4.14
    assert solved["quantities"][0]["ours"]["null"] == pytest.approx(4.139, abs=1e-3)
    assert solved["claims"][0] == {
        "text": "σ = 4.14 for 9 × 9 patches.",
        "held": 1,
        "cases": 1,
        "seeds": 1,
    }
    again = invoke("figure1", "--out", str(tmp_path))
    assert "Nothing to run: 1 done before." in again.stdout
    assert "width-equation" in (tmp_path / "report.html").read_text()  # and stays in the report


def test_an_experiment_that_fails_is_told_in_full(tmp_path, monkeypatch):
    from dataclasses import replace

    def broken(config, seed, lab):
        raise RuntimeError("on purpose")

    monkeypatch.setitem(EXPERIMENTS, "figure1", replace(EXPERIMENTS["figure1"], run=broken))
    done = invoke("figure1", "width-equation", "--out", str(tmp_path), "--jobs", "1")
    assert done.exit_code == 1
    assert "RuntimeError: on purpose" in done.stdout
    assert "in broken" in done.stdout  # where it happened
    assert (tmp_path / "report.html").is_file()


def test_names_are_completed_by_the_shell():
    complete = {
        "_GAUSSIAN_NEURONS_COMPLETE": "complete_bash",
        "COMP_WORDS": "gaussian-neurons reproduce figure2",
    }
    command = Path(sys.executable).with_name("gaussian-neurons")
    done = subprocess.run(
        [command], env={**os.environ, **complete, "COMP_CWORD": "2"}, capture_output=True, text=True
    )
    assert done.stdout.split() == ["figure2", *(f"figure2{letter}" for letter in "abcdefgh")]


def test_completion_knows_all_names_without_importing_them():
    assert set(_names("")) == {"all", *EXPERIMENTS, "figure2", "figure3", "figure5"}


def test_help_does_not_wait_for_scikit_learn():
    """Nor does an interrupt in the first second, which nobody would answer."""
    code = "import sys; from gaussian_neurons.cli import app; print('sklearn' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_the_version():
    assert CliRunner().invoke(app, ["--version"]).output.startswith("gaussian-neurons 0.")


def test_the_display_shows_what_runs_and_what_is_done(tmp_path):
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=100, color_system=None)
    questions = [Question("figure2a", seed, 1.0, "full", None) for seed in (0, 1)]
    jobs = [Job(it, tmp_path, tmp_path / "board", slot, {}, 0) for slot, it in enumerate(questions)]
    board = Board(tmp_path / "board", 2)
    with Display(console) as display:
        display.begins(jobs, 3, board)
        Board(tmp_path / "board")[0] = (500_000, 4)  # as another process would
        wait_for(lambda: "4 learned" in screen.getvalue())
        display.ended(Outcome(jobs[0], 0.5, None))
        display.ended(Outcome(jobs[1], 0.0, "ValueError: [broken]\nmore"))
    shown = screen.getvalue()
    assert "2 runs to do; 3 done before." in shown
    assert "0.5 M samples, 4 learned" in shown
    assert "50%" in shown
    assert "1/2 figure2a seed 0" in shown
    assert "failed figure2a seed 1: ValueError: [broken]" in shown
