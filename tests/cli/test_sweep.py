"""The command sweep: the table, the picture, the JSON file, and the fit command that it prints."""

import json
import os
import re
import shlex
import signal
import subprocess

import numpy as np
import psutil
import pytest

from gaussian_neurons import GaussianNeurons, sweep
from gaussian_neurons.cli.sweeping import _widths
from tests.cli.calls import COMMAND, KINDS, X, call, good, refused, write_csv
from tests.waiting import PATIENCE, wait_for

QUICK = ["--widths=5", "--inhibitions=0.5,1", "--seeds=2", "--samples=5000", "--neurons=12", "--jobs=1"]
SAME = {"widths": 5, "inhibitions": (0.5, 1), "seeds": 2, "n_neurons": 12, "n_jobs": 1, "progress": False}


def fit_command(text):
    """The words of the printed fit command."""
    return shlex.split(next(line for line in text.splitlines() if " fit " in line))[1:]


def test_the_table_and_the_printed_fit_agree_with_the_library(here):
    write_csv(here / "a.csv", header="x,y,kind", extra=lambda k: f",{'abc'[KINDS[k]]}")
    done = good("sweep", "a.csv", "--exclude", "kind", *QUICK)
    expected = sweep(X, 5000, **SAME)
    plateau = expected.plateau()
    assert "3,000 rows of 2 columns: x, y" in done.stdout
    assert re.search(r"^20 models in [\d.]+ (s|minutes)$", done.stdout, re.MULTILINE)
    assert f"3 clusters, at {plateau.cells.sum()} of 10 pairs" in done.stdout
    for width, counts in zip(expected.widths, expected.typical, strict=True):
        (line,) = (line for line in done.stdout.splitlines() if line.split()[:1] == [f"{width:g}"])
        assert line.split()[1] == str(counts[0])
    assert done.stdout.count(" •") + done.stdout.count(" ●") == plateau.cells.sum() + 2  # and the caption
    assert "--repulsion-every" not in done.stdout
    good(*fit_command(done.stdout))
    model, same = GaussianNeurons.load("model.safetensors"), expected.model().fit(X)
    assert model.n_clusters_ == 3
    assert model.centers_.tobytes() == same.centers_.tobytes()


def test_the_printed_fit_has_the_covariance(here):
    write_csv(here / "a.csv")
    shape = ["--covariance-type", "full", "--covariance", "2,1;1,2"]
    done = good("sweep", "a.csv", *shape, *QUICK)
    expected = sweep(X, 5000, covariance_type="full", covariance=[[2, 1], [1, 2]], **SAME)
    good(*fit_command(done.stdout))
    same = expected.model().fit(X)
    assert GaussianNeurons.load("model.safetensors").centers_.tobytes() == same.centers_.tobytes()
    assert "needs --covariance" in refused("sweep", "a.csv", *shape[:2])


def test_the_printed_fit_standardizes_as_the_sweep_did(here):
    write_csv(here / "a.csv", X * [1, 1000])
    assert good("sweep", "a.csv", *QUICK).stderr.count("Warning: Columns differ in scale") == 1
    done = good("sweep", "a.csv", "--standardize", *QUICK)
    assert "Warning" not in done.stderr
    assert "Best agreement: 3 clusters" in done.stdout
    assert "--standardize" in fit_command(done.stdout)
    good(*fit_command(done.stdout))
    same = sweep(X * [1, 1000], 5000, scale="columns", **SAME).model().fit(X * [1, 1000])
    assert GaussianNeurons.load("model.safetensors").centers_.tobytes() == same.centers_.tobytes()


def test_the_picture_and_the_json_file_are_written(here):
    write_csv(here / "a.csv")
    (here / "map.json").write_text("old")
    files = ["--out", "map.png", "--json", "map.json", "--force"]
    done = good("sweep", "a.csv", "--repulsion-every", "4", *files, *QUICK)
    assert "Written to map.png and map.json." in done.stdout
    assert (here / "map.png").read_bytes().startswith(b"\x89PNG")
    written = json.loads((here / "map.json").read_text())
    assert written["plateau"]["n_clusters"] == 3
    assert written["parameters"]["n_neurons"] == 12
    assert written["parameters"]["repulsion_every"] == 4
    assert "--repulsion-every 4" in " ".join(fit_command(done.stdout))


def test_a_weak_plateau_is_called_weak(here):
    """Rows without clusters; by the clusters of the other tests it is not said."""
    write_csv(here / "even.csv", np.random.default_rng(0).random((500, 2)))
    more = ["--widths=8", "--samples=4000", "--neurons=20"]
    done = good("sweep", "even.csv", *QUICK, *more, "--out", "map.svg")
    assert re.search(r"This is weak evidence: \d+% of all models agree there", done.stdout)
    write_csv(here / "a.csv")
    assert "weak" not in good("sweep", "a.csv", *QUICK).stdout


def test_output_files_are_checked_before_learning(here):
    write_csv(here / "a.csv")
    for option, name in (("--out", "map.png"), ("--json", "map.json")):
        (here / name).write_text("precious")
        assert f"'{name}' exists already. Choose another {option}" in refused("sweep", "a.csv", option, name)
        assert (here / name).read_text() == "precious"
    assert "is also read or written" in refused("sweep", "a.csv", "--json", "a.csv", "--force")
    assert "must end in .png, .svg or .pdf" in refused("sweep", "a.csv", "--out", "map")
    assert "does not exist" in refused("sweep", "absent.csv", "--out", "none/map.png")
    assert sorted(os.listdir()) == ["a.csv", "map.json", "map.png"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--widths", "wide"], "must be numbers such as 0.5,1,2, got 'wide'"),
        (["--inhibitions", "0.5;1"], "must be numbers"),
        (["--seeds", "0"], "'--seeds'"),
        (["--learning-rate", "fast"], "must be a number above 0 or auto"),
        (["--jobs", "0"], "'--jobs'"),
    ],
)
def test_invalid_options_are_refused(here, options, message):
    write_csv(here / "a.csv")
    done = call("sweep", "a.csv", *options)
    assert done.exit_code == 2
    assert message in done.stderr


def test_errors_of_the_library_are_printed(here):
    write_csv(here / "a.csv")
    assert "widths must be above 0" in refused("sweep", "a.csv", "--widths", "0,1")
    assert "inhibitions must be" in refused("sweep", "a.csv", "--inhibitions=-1,1")
    write_csv(here / "b.csv", [[1.0, 2.0]] * 9)
    assert "all the same" in refused("sweep", "b.csv")


def test_a_missing_plateau_and_failed_models_are_reported(here):
    write_csv(here / "a.csv")
    few = ["--inhibitions=1", "--seeds=2", "--samples=1000", "--jobs=1"]
    done = good("sweep", "a.csv", *few, "--widths", "1e6,1e7")
    assert "There is no plateau" in done.stdout
    assert "Next:" not in done.stdout
    np.save("a.npy", X.astype(np.float32))  # in which a width of 1e-60 is 0
    done = good("sweep", "a.npy", *few, "--widths", "1e-60,1")
    assert "2 of 4 models failed. The first, with width 1e-60 and inhibition 1" in done.stderr
    assert "failed" in done.stdout
    assert "4 of 4 models failed" in refused("sweep", "a.npy", *few, "--widths", "1e-60,1e-61")


def test_a_count_is_not_a_list():
    assert (_widths("8"), _widths("8,"), _widths("0.5,2")) == (8, [8.0], [0.5, 2.0])


def test_ctrl_c_ends_a_sweep_without_a_traceback(here):
    write_csv(here / "a.csv")
    arguments = ["sweep", "a.csv", "--samples", "1000000000", "--jobs", "2", "--json", "map.json"]
    group = {"start_new_session": True, "stderr": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([*COMMAND, *arguments], **group) as process:
        wait_for(lambda: psutil.Process(process.pid).cpu_times().user > 6)  # more than the imports take
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does
        try:
            output, message = process.communicate(timeout=PATIENCE)
        finally:
            process.kill()
    assert process.returncode == 130, message
    assert message.decode().strip() == "Interrupted. Nothing was written."
    assert output == b""
    assert os.listdir() == ["a.csv"]
