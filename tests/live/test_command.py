"""The command live: what it shows, what it says of a wrong file, and how it ends."""

import os
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request

import numpy as np
import pytest
from typer.testing import CliRunner

from gaussian_neurons.cli import app, living
from gaussian_neurons.cli.reading import Data
from gaussian_neurons.live.setup import DATA, Setup
from gaussian_neurons.live.sources import Images, Points, defaults, from_rows
from gaussian_neurons.live.trial import Trial
from tests.cli.calls import call
from tests.waiting import PATIENCE


def opened(path, columns=None, standardize=False):
    """What a file is taken for."""
    return living._file(Data(str(path), None, None, columns, None, skip=True), standardize)


@pytest.fixture
def server(tmp_path):
    """A function that starts the command and gives process, address and all that was printed before."""
    started = []

    def start(*options):
        environment = {**os.environ, "GAUSSIAN_NEURONS_DATA": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)}
        process = subprocess.Popen(
            [sys.executable, "-u", "-m", "gaussian_neurons", "live", "--no-browser", "--port", "0", *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
        )
        started.append(process)
        printed = []
        for line in process.stdout:
            printed.append(line)
            if "Ctrl-C" in line:
                break
        found = re.search(r"http://\S+", "".join(printed))
        return process, found.group(), "".join(printed)

    yield start
    for process in started:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("times", [1, 3])
def test_it_serves_until_ctrl_c_however_often_that_is_pressed(server, times):
    process, url, _ = server("--data", "mixture")
    with urllib.request.urlopen(url, timeout=PATIENCE) as answer:
        assert b"Gaussian Neurons" in answer.read()
    for _ in range(times):
        process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode in (0, -signal.SIGINT)[:times]  # the last may come when all is done
    assert errors == ""


def test_other_addresses_get_a_token_that_is_printed_once(server):
    process, url, printed = server("--data", "mixture", "--host", "0.0.0.0")
    token = re.search(r"token=(\S+)", url).group(1)
    assert printed.count(token) == 1
    with pytest.raises(urllib.error.HTTPError, match="401"):
        urllib.request.urlopen(re.sub(r"//[^:]+:(\d+)/.*", r"//127.0.0.1:\1/", url), timeout=PATIENCE)
    process.send_signal(signal.SIGINT)
    rest, errors = process.communicate(timeout=PATIENCE)
    assert token not in rest + errors


@pytest.mark.parametrize(
    ("options", "opens"), [([], True), (["--no-browser"], False), (["--host", ""], False)]
)
def test_a_browser_is_opened_but_never_told_a_token(monkeypatch, options, opens):
    """What a browser is told to open stands in the list of processes, for everybody on the machine."""

    def serve(page, bound, host, token, ready):
        ready()
        bound.close()

    opened = []
    monkeypatch.setattr("gaussian_neurons.live.server.serve", serve)
    monkeypatch.setattr(living, "_open", opened.append)
    done = CliRunner().invoke(app, ["live", "--data", "mixture", "--port", "0", *options])
    assert done.exit_code == 0, done.output
    assert bool(opened) is opens
    assert not any("token" in where for where in opened)


def test_two_columns_are_points(tmp_path):
    path = tmp_path / "points.csv"
    path.write_text("x,y,name\n" + "".join(f"{k},{k % 3},a\n" for k in range(50)))
    points = opened(path, "x,y")
    assert isinstance(points, Points)
    assert points.points.shape == (50, 2)
    assert points.text == "points.csv: 50 points"
    assert points.axes == ("x", "y")
    again = {"np": np}
    exec("\n".join(points.code), again)
    assert (again["points"] == points.points).all()


def test_without_names_columns_are_counted(tmp_path):
    np.savetxt(tmp_path / "plain.csv", np.arange(12.0).reshape(6, 2), delimiter=",")
    points = opened(tmp_path / "plain.csv")
    assert points.axes is None
    again = {"np": np}
    exec("\n".join(points.code), again)
    assert (again["points"] == points.points).all()


def test_a_script_reads_the_file_as_it_was_read(tmp_path):
    rows = np.random.default_rng(0).normal(size=(20, 4)).astype(np.float32)
    np.save(tmp_path / "four.npy", rows)
    np.savetxt(tmp_path / "four.csv", rows, delimiter=",", header="4,5,6,7", comments="")
    for name, options in (("four.npy", {}), ("four.csv", {"header": True})):
        for columns in ("0,1", "3,1"):
            data = Data(str(tmp_path / name), None, options.get("header"), columns, None, skip=True)
            points = living._file(data)
            again = {"np": np}
            exec("\n".join(points.code), again)
            assert again["points"].dtype == points.points.dtype
            assert (again["points"] == points.points).all()


def test_known_names_are_known_to_the_page():
    assert set(living.KNOWN) == set(DATA) - {"file"}


@pytest.mark.parametrize("factor", [1e9, 1e-9])
def test_points_of_any_scale_make_a_link_that_is_taken(factor):
    rows = np.random.default_rng(0).normal(size=(200, 2)) * factor
    setup = defaults("file", from_rows(rows, "far.csv", ()))
    assert Setup().changed(setup.told()) == setup


def test_points_out_of_reach_are_refused():
    for rows in (np.array([[0.0, 1e200], [1.0, 2.0]]), np.array([[0.0, 0.0], [1e-20, 0.0]])):
        with pytest.raises(ValueError, match=r"Scale the columns first"):
            from_rows(rows, "odd.csv", ())


def test_small_images_begin_with_small_patches(tmp_path):
    np.save(tmp_path / "small.npy", np.zeros((3, 4, 4), np.uint8))
    assert defaults("file", opened(tmp_path / "small.npy")).size == 4
    np.save(tmp_path / "two.npy", np.zeros((3, 8, 8, 2), np.uint8))
    with pytest.raises(ValueError, match="one channel or three"):
        opened(tmp_path / "two.npy")


def test_images_as_npy(tmp_path):
    images = np.random.default_rng(0).integers(0, 256, (5, 9, 9, 3), np.uint8)
    np.save(tmp_path / "images.npy", images)
    found = opened(tmp_path / "images.npy")
    assert isinstance(found, Images)
    assert found.text == "images.npy: 5 images of 9 × 9 × 3"
    assert found.labels is None


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        (
            "three.csv",
            "a,b,c\n1,2,3\n4,5,6\n",
            "has the columns a, b, c, and the page shows two. .*--columns a,b",
        ),
        ("one.csv", "a\n1\n2\n", "needs two columns, and .* has one: a\\."),
        ("commas.csv", "x;y\n1,5;2,5\n", "decimal commas, as in 1,5;2,5, .* tr , \\. < .*commas.csv"),
        ("bare.csv", "1,5;-2,5\n2,5;3\n", "decimal commas"),
        ("tabs.csv", "x\ty\n-1\t2,5\n", "decimal commas"),
        ("holes.csv", "a,b\n1,\n,2\n", r"no row that could be read, of 2\. The first: row 0 \(line 2 of"),
        ("same.csv", "a,b\n1,2\n1,2\n", "there must be two to show"),
        ("words.csv", "a,b\nx,y\n", "no number"),
        ("empty.csv", "", "."),
    ],
)
def test_a_file_that_cannot_be_shown(tmp_path, name, text, said):
    (tmp_path / name).write_text(text)
    with pytest.raises(ValueError, match=said):
        opened(tmp_path / name)


def test_one_column_of_several_is_too_few(tmp_path):
    (tmp_path / "three.csv").write_text("a,b,c\n1,2,3\n")
    with pytest.raises(
        ValueError, match=r"needs two columns, and c is one\. Choose two of a, b, c: --columns a,b"
    ):
        opened(tmp_path / "three.csv", "c")


@pytest.mark.parametrize("shape", [(5,), (5, 1), (5, 9), (2, 2, 2, 2, 2)])
def test_an_array_of_another_shape_is_told_of_those_that_are_taken(tmp_path, shape):
    np.save(tmp_path / "odd.npy", np.zeros(shape))
    with pytest.raises(ValueError, match=r"\(n, 2\), or images, \(n, height, width\)"):
        opened(tmp_path / "odd.npy")


def test_rows_that_cannot_be_read_are_named(tmp_path, capsys):
    (tmp_path / "bad.csv").write_text("x,y\n1,2\n3,\n4,5\nfoo,6\n7,8\n")
    points = opened(tmp_path / "bad.csv")
    said = " ".join(capsys.readouterr().err.split())
    assert "2 rows could not be read and are left out. The first: row 1 (line 3 of bad.csv)" in said
    assert "line 5 of bad.csv" in said
    assert points.text == "bad.csv: 3 points, 2 rows left out"


# ---- standardized ---------------------------------------------------------------------------------


@pytest.fixture
def uneven(tmp_path):
    """A file with two columns of which one is not seen beside the other."""
    rows = np.random.default_rng(0).normal(size=(500, 2)) * [3e6, 1e-4] + [1e6, 0.5]
    np.savetxt(tmp_path / "uneven.csv", rows, delimiter=",", header="revenue,p", comments="")
    return tmp_path / "uneven.csv"


def test_columns_that_differ_much_lead_to_standardize(uneven, tmp_path, capsys):
    note = opened(uneven).note
    assert note.startswith("Column 'revenue' spreads more than a million times as far as 'p'")
    assert note.endswith("Start again with --standardize.")
    assert "Warning: Column 'revenue'" in capsys.readouterr().err
    np.savetxt(tmp_path / "less.csv", np.arange(8.0).reshape(4, 2) * [500, 1], delimiter=",")
    assert "spreads 500 times as far as '1'" in opened(tmp_path / "less.csv").note
    np.savetxt(tmp_path / "flat.csv", np.array([[1e6, 0.1], [2e6, 0.1], [3e6, 0.1]]), delimiter=",")
    assert opened(tmp_path / "flat.csv").note is None


def test_standardized_columns_have_mean_0_and_standard_deviation_1(uneven):
    points = opened(uneven, standardize=True)
    assert points.points.mean(axis=0) == pytest.approx([0, 0], abs=1e-9)
    assert points.points.std(axis=0) == pytest.approx([1, 1])
    assert points.axes == ("revenue (standardized)", "p (standardized)")
    assert points.note is None


@pytest.mark.parametrize("kind", ["csv", "npy"])
def test_the_script_standardizes_to_the_last_bit(uneven, tmp_path, kind):
    path = uneven
    if kind == "npy":
        path = tmp_path / "uneven.npy"
        np.save(path, np.asfortranarray(np.loadtxt(uneven, delimiter=",", skiprows=1)).astype(np.float32))
    points = opened(path, standardize=True)
    trial = Trial(defaults("file", points), points)
    trial.drop_noise(20)
    for _ in range(20):
        trial.learn(100)
    again = {}
    exec(trial.script(), again)
    assert again["model"].n_samples_seen_ == trial.seen > 0
    assert (again["model"].centers_ == trial.model.centers_).all()
    trial.close()


def test_a_column_that_never_changes_is_not_standardized(tmp_path):
    np.savetxt(tmp_path / "flat.csv", np.array([[1e6, 0.1], [3e6, 0.1]]), delimiter=",")
    points = opened(tmp_path / "flat.csv", standardize=True)
    assert points.points.tolist() == [[-1, 0.1], [1, 0.1]]
    assert points.note == "Column '1' never changes, and is not standardized."
    assert points.axes == ("column 0 (standardized)", "column 1")


def test_standardize_is_for_columns_that_can_be(tmp_path):
    np.save(tmp_path / "images.npy", np.zeros((3, 8, 8), np.uint8))
    with pytest.raises(ValueError, match="--standardize is for columns"):
        opened(tmp_path / "images.npy", standardize=True)
    np.save(tmp_path / "vast.npy", np.array([[1e300, 1.0], [-1e300, 2.0]]))
    with pytest.raises(ValueError, match="too large"):
        opened(tmp_path / "vast.npy", standardize=True)
    refused = call("live", "--data", "mixture", "--standardize")
    assert refused.exit_code == 1
    assert "--standardize is for a file with two columns" in refused.stderr


def test_a_name_that_is_almost_right():
    with pytest.raises(ValueError, match="Did you mean mnist"):
        opened("mnsit")
    with pytest.raises(ValueError, match=r"there is no file 'nothing.csv'"):
        opened("nothing.csv")
    with pytest.raises(ValueError, match="over and over"):
        opened("-")


def test_help_teaches_by_examples():
    text = call("live", "--help").stdout
    assert "gaussian-neurons live --data mixture" in text
    assert "--host" in text
