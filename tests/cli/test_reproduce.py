"""The command reproduce: names, seeds, folders, backends, errors, completion, the display."""

import io
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from gaussian_neurons.cli.display import Display
from gaussian_neurons.cli.reproducing import _names, _out, parse_seeds
from gaussian_neurons.experiments import data, reproduction
from gaussian_neurons.experiments.catalogue import EXPERIMENTS
from gaussian_neurons.experiments.reproduction import Board, Job, Outcome
from gaussian_neurons.experiments.results import RunSpec
from tests.cli.calls import call, good, refused
from tests.waiting import wait_for


@pytest.fixture
def no_pictures(monkeypatch):
    def draw(name, result, out):
        for suffix in ("png", "svg"):
            (out / name / f"{name}.{suffix}").write_text("<svg >")

    monkeypatch.setattr(reproduction, "draw", draw)


def test_the_list_has_a_line_for_each_experiment(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    lines = good("reproduce", "--list").stdout.splitlines()
    first = [line.split()[0] for line in lines if line]
    listed = [name for name in first if name in EXPERIMENTS]  # none is wrapped
    assert listed == list(EXPERIMENTS)
    assert all(len(line) <= 80 for line in lines)


@pytest.mark.parametrize(
    ("text", "seeds"),
    [("0", [0]), ("0-3", [0, 1, 2, 3]), ("7,0-1, 5", [0, 1, 5, 7]), ("3-3", [3]), ("1,1", [1])],
)
def test_lists_of_seeds(text, seeds):
    assert parse_seeds(text) == seeds


@pytest.mark.parametrize("text", ["", "a", "3-1", "-1", "0-99999999", "1.5", "0;1", "0-"])
def test_invalid_lists_of_seeds(text):
    with pytest.raises(ValueError, match="--seeds"):
        parse_seeds(text)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["figure9"], "there is no experiment 'figure9'"),
        (["figur2a"], "Did you mean 'figure2a'?"),
        (["figure1", "--seeds", "3-1"], "--seeds"),
        (["figure1", "--markdown", "report"], "--markdown"),
        (["figure1", "--data-dir", "/nowhere"], "--data-dir '/nowhere' is not a folder"),
        (["figure2a", "--backend", "fast"], "unknown backend 'fast'"),
    ],
)
def test_invalid_options_are_refused_before_anything_is_written(here, words, message):
    assert message in refused("reproduce", *words, "--out", "out")
    assert os.listdir() == []


@pytest.mark.parametrize("option", ["--jobs=0", "--samples-scale=0", "--samples-scale=nan", "--data=other"])
def test_options_out_of_range_are_refused(option):
    done = call("reproduce", "figure1", option)
    assert done.exit_code == 2
    assert option.split("=")[0] in done.stderr


def test_a_file_in_place_of_the_folder_is_not_changed(here):
    (here / "file").write_text("mine")
    assert "file" in refused("reproduce", "figure1", "--out", "file")
    assert (here / "file").read_text() == "mine"


def test_missing_data_is_reported_before_anything_runs(here, monkeypatch):
    monkeypatch.setattr(data, "_loaded", {})
    for name in ("HOME", "XDG_CACHE_HOME", "GAUSSIAN_NEURONS_DATA"):
        monkeypatch.setenv(name, str(here))
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.setenv(name, "")
    done = call("reproduce", "all", "--out", "out")
    assert done.exit_code == 1
    for words in ("MNIST", "--data sample", "--data-dir"):
        assert words in done.stderr
    assert not list(Path("out").glob("*/*.json"))


def test_other_data_scales_and_backends_have_separate_folders():
    assert _out(None, 1.0, "full", "auto") == Path("reproduction")
    assert _out(None, 0.01, "full", "auto") == Path("reproduction-scale-0.01")
    assert _out(None, 0.5, "sample", "auto") == Path("reproduction-sample-scale-0.5")
    assert _out(None, 1.0, "full", "rules.mine:learn") == Path("reproduction-backend-rules.mine-learn")
    assert _out(Path("mine"), 0.5, "sample", "native") == Path("mine")


def test_the_command_prints_numbers_and_writes_a_report(here, no_pictures):
    done = good("reproduce", "figure1", "width-equation", "--out", "out", "--jobs", "1")
    assert "4.14" in done.stdout
    solved = json.loads(Path("out/report.json").read_text())["results"][1]
    assert solved["experiment"] == "width-equation"
    assert solved["quantities"][0]["published"] == 4.14
    assert solved["quantities"][0]["ours"]["null"] == pytest.approx(4.139, abs=1e-3)
    assert [solved["claims"][0][name] for name in ("held", "cases", "seeds")] == [1, 1, 1]
    good("reproduce", "figure1", "--out", "out")
    assert "width-equation" in Path("out/report.html").read_text()  # earlier results stay in the report


def test_a_failed_experiment_is_printed_with_its_traceback(here, no_pictures, monkeypatch):
    def broken(config, seed, lab):
        raise RuntimeError("on purpose")

    monkeypatch.setitem(EXPERIMENTS, "figure1", replace(EXPERIMENTS["figure1"], run=broken))
    done = call("reproduce", "figure1", "width-equation", "--out", "out", "--jobs", "1")
    assert done.exit_code == 1
    assert "RuntimeError: on purpose" in done.stdout
    assert "in broken" in done.stdout
    assert Path("out/report.html").is_file()


def test_ctrl_c_ends_with_a_message(here, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(reproduction, "reproduce", interrupted)
    done = call("reproduce", "figure1")
    assert done.exit_code == 130
    assert done.stderr.startswith("Interrupted. ")


def test_completion_does_not_import_scikit_learn():
    code = (
        "import sys\nfrom gaussian_neurons.__main__ import main\nsys.argv[0] = 'gaussian-neurons'\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\nprint('sklearn' in sys.modules)"
    )
    words = {"COMP_WORDS": "gaussian-neurons reproduce figure2", "COMP_CWORD": "2"}
    environment = {**os.environ, **words, "_GAUSSIAN_NEURONS_COMPLETE": "complete_bash"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    *names, imported = done.stdout.split()
    assert names == ["figure2", *(f"figure2{letter}" for letter in "abcdefgh")]
    assert imported == "False"
    assert set(_names("")) == {"all", "beyond", *EXPERIMENTS, "figure2", "figure3", "figure5"}


def test_the_version():
    assert good("--version").stdout.startswith("gaussian-neurons 0.")


def test_the_display_shows_running_and_ended_jobs(tmp_path):
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=100, color_system=None)
    runs = [RunSpec("figure2a", seed, 1.0, "full", None) for seed in (0, 1)]
    jobs = [Job(run, tmp_path, tmp_path / "board", slot, {}, 0) for slot, run in enumerate(runs)]
    board = Board(tmp_path / "board", 2)
    with Display(console) as display:
        display.on_start(jobs, 3, board)
        Board(tmp_path / "board")[0] = (500_000, 4)  # as another process does
        wait_for(lambda: "4 learned" in screen.getvalue())
        display.on_end(Outcome(jobs[0], 0.5, None))
        display.on_end(Outcome(jobs[1], 0.0, "ValueError: [broken]\nmore"))
    shown = screen.getvalue()
    assert "0.5 M samples, 4 learned" in shown
    assert "50%" in shown
    assert "1/2 figure2a seed 0" in shown
    assert "failed figure2a seed 1: ValueError: [broken]" in shown
