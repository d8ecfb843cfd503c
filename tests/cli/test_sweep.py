"""The command sweep: the map as a table, as a picture and as JSON, and the fit that follows from it."""

import json
import os
import shlex
import signal
import subprocess
import time

import numpy as np
import psutil
import pytest

from gaussian_neurons import GaussianNeurons, sweep
from gaussian_neurons.cli.sweeping import _widths
from tests.cli.calls import COMMAND, KINDS, X, call, good, refused, write_csv
from tests.waiting import PATIENCE, wait_for

QUICK = ["--widths=5", "--inhibitions=0.5,1", "--seeds=2", "--samples=5000", "--neurons=12", "--jobs=1"]


def test_three_blobs_are_three_clusters_and_the_fit_that_is_told_finds_them(here):
    write_csv(here / "a.csv", header="x,y,kind", extra=lambda k: f",{'abc'[KINDS[k]]}")
    done = good("sweep", "a.csv", "--exclude", "kind", *QUICK)
    expected = sweep(X, 5000, n_neurons=12, widths=5, inhibitions=(0.5, 1), seeds=2, n_jobs=1, progress=False)
    plateau = expected.plateau()
    assert "3,000 rows of 2 columns: x, y" in done.stdout
    assert "20 models in" in done.stdout
    assert f"3 clusters agree best: at {plateau.cells.sum()} of 10 pairs" in done.stdout
    for width, counts in zip(expected.widths, expected.typical, strict=True):
        (line,) = (line for line in done.stdout.splitlines() if line.split()[:1] == [f"{width:g}"])
        assert line.split()[1] == str(counts[0])
    assert done.stdout.count(" •") + done.stdout.count(" ●") == plateau.cells.sum() + 2  # and the caption
    told = next(line for line in done.stdout.splitlines() if " fit " in line)
    good(*shlex.split(told)[1:])
    model, same = GaussianNeurons.load("model.safetensors"), expected.model().fit(X)
    assert model.n_clusters_ == 3
    assert model.centers_.tobytes() == same.centers_.tobytes()


def test_how_often_neurons_repel_is_told_to_every_model_and_to_the_fit_that_follows(here):
    write_csv(here / "a.csv")
    told = good("sweep", "a.csv", "--repulsion-every", "4", "--json", "map.json", *QUICK).stdout
    assert json.loads((here / "map.json").read_text())["parameters"]["repulsion_every"] == 4
    good(*shlex.split(next(line for line in told.splitlines() if " fit " in line))[1:])
    given = {"widths": 5, "inhibitions": (0.5, 1), "seeds": 2, "n_jobs": 1, "progress": False}
    expected = sweep(X, 5000, n_neurons=12, repulsion_every=4, **given).model().fit(X)
    assert GaussianNeurons.load("model.safetensors").centers_.tobytes() == expected.centers_.tobytes()
    assert "--repulsion-every" not in good("sweep", "a.csv", *QUICK).stdout


def test_the_picture_and_the_numbers_are_written(here):
    write_csv(here / "a.csv")
    done = good("sweep", "a.csv", "-o", "map.png", "--json", "map.json", *QUICK)
    assert "Written to map.png and map.json." in done.stdout
    assert (here / "map.png").read_bytes().startswith(b"\x89PNG")
    told = json.loads((here / "map.json").read_text())
    assert told["plateau"]["n_clusters"] == 3
    assert told["parameters"]["n_neurons"] == 12
    good("sweep", "a.csv", "-o", "map.svg", *QUICK)
    assert "<svg" in (here / "map.svg").read_text()
    piped = good("sweep", "-", *QUICK, stdin=(here / "a.csv").read_bytes())
    assert "3 clusters agree best" in piped.stdout


def test_results_are_not_overwritten_without_a_word(here):
    write_csv(here / "a.csv")
    for option, name in (("--out", "map.png"), ("--json", "map.json")):
        (here / name).write_text("precious")
        said = refused("sweep", "a.csv", option, name, *QUICK)
        assert f"'{name}' exists already. Choose another {option}, or replace it with --force" in said
        assert (here / name).read_text() == "precious"
    good("sweep", "a.csv", "--json", "map.json", "--force", *QUICK)
    assert json.loads((here / "map.json").read_text())
    assert "also what is read" in refused("sweep", "a.csv", "--json", "a.csv", "--force", *QUICK)
    assert "must end in .png, .svg or .pdf" in refused("sweep", "a.csv", "--out", "map", *QUICK)
    assert "does not exist" in refused("sweep", "absent.csv", "--out", "none/map.png")
    assert sorted(os.listdir()) == ["a.csv", "map.json", "map.png"]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--widths", "wide"], "'wide' is no list of numbers like 0.5,1,2"),
        (["--inhibitions", "0.5;1"], "is no list of numbers"),
        (["--seeds", "0"], "'--seeds'"),
        (["--learning-rate", "fast"], "neither a number above 0 nor auto"),
        (["--jobs", "0"], "'--jobs'"),
    ],
)
def test_mistaken_options_end_before_anything_is_done(here, options, says):
    write_csv(here / "a.csv")
    done = call("sweep", "a.csv", *options)
    assert done.exit_code == 2
    assert says in done.stderr


def test_what_the_library_refuses_is_told(here):
    write_csv(here / "a.csv")
    assert "widths must be above 0" in refused("sweep", "a.csv", "--widths", "0,1")
    assert "inhibitions must be finite and at least 0" in refused("sweep", "a.csv", "--inhibitions=-1,1")
    write_csv(here / "b.csv", [[1.0, 2.0]] * 9)
    assert "all the same" in refused("sweep", "b.csv")


def test_no_plateau_and_models_that_failed_are_told(here):
    write_csv(here / "a.csv")
    done = good("sweep", "a.csv", *QUICK, "--widths", "1e6,1e7", "--inhibitions", "1")
    assert "There is no plateau" in done.stdout
    assert "Next:" not in done.stdout
    np.save("a.npy", X.astype(np.float32))  # in which a width of 1e-60 is 0
    done = good("sweep", "a.npy", *QUICK, "--widths", "1e-60,1")
    assert "4 of 8 models could not be learned. The first, with width 1e-60 and inhibition 0.5" in done.stderr
    assert "failed" in done.stdout
    said = refused("sweep", "a.npy", *QUICK, "--widths", "1e-60,1e-61")
    assert "8 of 8 models could not be learned" in said
    assert "out of the range of float32" in said


def test_a_count_is_no_list():
    assert (_widths("8"), _widths("8,"), _widths("0.5,2")) == (8, [8.0], [0.5, 2.0])


def test_help_teaches_by_examples_that_fit_on_80_columns(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    shown = good("sweep", "--help").stdout
    examples = shown[shown.index("Examples") : shown.index("╭")].splitlines()[1:]
    for line in (line.strip() for line in examples if line.strip()):
        assert line.startswith(("gaussian-neurons sweep ", "-o ")), line


@pytest.mark.parametrize("jobs", ["2"])
def test_an_interrupt_ends_it_without_a_trace(here, jobs):
    write_csv(here / "a.csv")
    arguments = ["sweep", "a.csv", "--samples", "1000000000", "--jobs", jobs, "--json", "map.json"]
    group = {"start_new_session": True, "stderr": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([*COMMAND, *arguments], **group) as process:
        wait_for(lambda: len(psutil.Process(process.pid).children()) > 1)  # who do the work
        time.sleep(1)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does, to the workers too
        try:
            out, said = process.communicate(timeout=PATIENCE)
        finally:
            process.kill()
    assert process.returncode == 130, said
    assert said.decode().strip() == "Interrupted. Nothing was written."
    assert out == b""
    assert os.listdir() == ["a.csv"]
