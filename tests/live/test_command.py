"""The command live: starting, stopping, options, and reading files."""

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

from gaussian_neurons.cli import app, living, shown_files
from gaussian_neurons.cli.reading import Data
from gaussian_neurons.live.setup import DATA
from gaussian_neurons.live.sources import Images, Points, default_setup
from gaussian_neurons.live.trial import Trial
from tests.cli.calls import call
from tests.waiting import PATIENCE


@pytest.fixture
def command(tmp_path):
    """A function that starts the command and returns process, URL and output."""
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


def test_ctrl_c_stops_the_command(command):
    process, url, _ = command("--data", "mixture")
    with urllib.request.urlopen(url, timeout=PATIENCE) as response:
        assert b"Gaussian Neurons" in response.read()
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    assert errors == ""


def test_a_token_for_other_addresses_is_printed_once_and_several_ctrl_c_stop_the_command(command):
    process, url, printed = command("--data", "mixture", "--host", "0.0.0.0")
    token = re.search(r"token=(\S+)", url).group(1)
    assert printed.count(token) == 1
    with pytest.raises(urllib.error.HTTPError, match="401"):
        urllib.request.urlopen(re.sub(r"//[^:]+:(\d+)/.*", r"//127.0.0.1:\1/", url), timeout=PATIENCE)
    for _ in range(3):
        process.send_signal(signal.SIGINT)
    rest, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode in (0, -signal.SIGINT)  # the last signal may come during the exit of Python
    assert rest + errors == ""


@pytest.mark.parametrize(
    ("options", "opens"), [([], True), (["--no-browser"], False), (["--host", ""], False)]
)
def test_the_browser_is_opened_without_a_token_only(monkeypatch, options, opens):
    """All users of a machine can see the URL in the command line of a browser."""

    def serve(application, bound, host, token):
        bound.close()

    opened = []
    monkeypatch.setattr("gaussian_neurons.live.server.serve", serve)
    monkeypatch.setattr(living, "_open", opened.append)
    done = CliRunner().invoke(app, ["live", "--data", "mixture", "--port", "0", *options])
    assert done.exit_code == 0, done.output
    assert bool(opened) is opens
    assert not any("token" in url for url in opened)


@pytest.mark.parametrize("kind", ["spherical", "diag", "full"])
def test_the_covariance_type_of_the_first_run(monkeypatch, kind):
    def serve(application, bound, host, token):
        setups.append(application.run.trial.setup)
        application.run.trial.close()
        bound.close()

    setups = []
    monkeypatch.setattr("gaussian_neurons.live.server.serve", serve)
    done = CliRunner().invoke(app, ["live", "--data", "mixture", "--port", "0", "--covariance-type", kind])
    assert done.exit_code == 0, done.output
    assert setups[0].covariance_type == kind
    assert (setups[0].width_learning_rate > 0) == (kind != "spherical")


def test_known_names_are_those_of_the_page():
    assert set(living.KNOWN) == set(DATA) - {"file"}


def test_help_has_examples():
    assert "gaussian-neurons live --data mixture" in call("live", "--help").stdout


# ---- files ----------------------------------------------------------------------------------------


def read(path, columns=None, header=None, standardize=False):
    return shown_files.read(
        Data(str(path), None, header, columns, None, skip=True), living.KNOWN, standardize
    )


def from_code(points):
    """The points that the Python code of points reads."""
    names = {"np": np}
    exec("\n".join(points.code), names)
    return names["points"]


def test_a_file_with_two_columns(tmp_path):
    path = tmp_path / "points.csv"
    path.write_text("x,y,name\n" + "".join(f"{k},{k % 3},a\n" for k in range(50)))
    points = read(path, "x,y")
    assert isinstance(points, Points)
    assert points.points.shape == (50, 2)
    assert points.text == "points.csv: 50 points"
    assert points.axes == ("x", "y")
    assert (from_code(points) == points.points).all()
    np.savetxt(tmp_path / "plain.csv", np.arange(12.0).reshape(6, 2), delimiter=",")
    assert read(tmp_path / "plain.csv").axes is None


def test_the_code_of_points_reads_the_same_numbers(tmp_path):
    rows = np.random.default_rng(0).normal(size=(20, 4)).astype(np.float32)
    np.save(tmp_path / "four.npy", rows)
    np.savetxt(tmp_path / "four.csv", rows, delimiter=",", header="4,5,6,7", comments="")
    for name, header in (("four.npy", None), ("four.csv", True)):
        for columns in ("0,1", "3,1"):
            points = read(tmp_path / name, columns, header)
            found = from_code(points)
            assert found.dtype == points.points.dtype
            assert (found == points.points).all()


def test_a_file_of_images(tmp_path):
    np.save(tmp_path / "images.npy", np.random.default_rng(0).integers(0, 256, (5, 9, 9, 3), np.uint8))
    found = read(tmp_path / "images.npy")
    assert isinstance(found, Images)
    assert found.text == "images.npy: 5 images of 9 × 9 × 3"
    assert found.labels is None
    np.save(tmp_path / "small.npy", np.zeros((3, 4, 4), np.uint8))
    assert default_setup("file", read(tmp_path / "small.npy")).size == 4
    np.save(tmp_path / "two.npy", np.zeros((3, 8, 8, 2), np.uint8))
    with pytest.raises(ValueError, match="one channel or three"):
        read(tmp_path / "two.npy")


@pytest.mark.parametrize(
    ("name", "content", "error"),
    [
        ("three.csv", "a,b,c\n1,2,3\n4,5,6\n", "two columns, got a, b, c .*--columns a,b"),
        ("one.csv", "a\n1\n2\n", "two columns, but .* has one: a\\."),
        ("holes.csv", "a,b\n1,\n,2\n", r"no readable row of 2\. The first: row 0 \(line 2 of"),
        ("nan.csv", "nan,nan\nnan,nan\n", "no readable row"),
        ("same.csv", "a,b\n1,2\n1,2\n", "at least two different points"),
        ("words.csv", "a,b\nx,y\n", "number"),
        ("empty.csv", "", "."),
        ("empty.npy", "", "not an NPY file"),
        ("pickle.npy", "\x80\x04 no array", "not an NPY file"),
    ],
)
def test_a_file_that_cannot_be_used(tmp_path, name, content, error):
    (tmp_path / name).write_text(content, encoding="latin-1")
    with pytest.raises(ValueError, match=error):
        read(tmp_path / name)


def test_an_array_of_objects_is_refused(tmp_path):
    np.save(tmp_path / "a.npy", np.array([{}, 1], object))
    with pytest.raises(ValueError, match="not an NPY file of numbers"):
        read(tmp_path / "a.npy")


def test_one_column_is_too_few(tmp_path):
    (tmp_path / "three.csv").write_text("a,b,c\n1,2,3\n")
    with pytest.raises(ValueError, match=r"two columns, got c of .* Choose two of a, b, c: --columns a,b"):
        read(tmp_path / "three.csv", "c")


@pytest.mark.parametrize("shape", [(5,), (5, 1), (5, 9), (2, 2, 2, 2, 2)])
def test_an_array_of_another_shape_is_refused_with_the_valid_shapes(tmp_path, shape):
    np.save(tmp_path / "odd.npy", np.zeros(shape))
    with pytest.raises(ValueError, match=r"\(n, 2\), or images, \(n, height, width"):
        read(tmp_path / "odd.npy")


def test_unreadable_rows_are_skipped_with_a_warning(tmp_path, capsys):
    (tmp_path / "bad.csv").write_text("x,y\n1,2\n3,\n4,5\nfoo,6\n7,8\n")
    points = read(tmp_path / "bad.csv")
    printed = " ".join(capsys.readouterr().err.split())
    assert "2 unreadable rows skipped. The first: row 1 (line 3 of bad.csv)" in printed
    assert "line 5 of bad.csv" in printed
    assert points.text == "bad.csv: 3 points, 2 rows skipped"


def test_a_wrong_name():
    with pytest.raises(ValueError, match="Did you mean mnist"):
        read("mnsit")
    with pytest.raises(ValueError, match=r"there is no file 'nothing.csv'"):
        read("nothing.csv")
    with pytest.raises(ValueError, match="standard input"):
        read("-")


# ---- standardized columns -------------------------------------------------------------------------


@pytest.fixture
def uneven(tmp_path):
    """A file with two columns of very different scale."""
    rows = np.random.default_rng(0).normal(size=(500, 2)) * [3e6, 1e-4] + [1e6, 0.5]
    np.savetxt(tmp_path / "uneven.csv", rows, delimiter=",", header="revenue,p", comments="")
    return tmp_path / "uneven.csv"


def test_columns_of_very_different_scale_cause_a_warning(uneven, tmp_path, capsys):
    note = read(uneven).note
    assert note.startswith("Columns differ in scale: that of 'revenue' (")
    assert "Use --standardize, or" in note
    assert f"Warning: {note}" in capsys.readouterr().err
    np.savetxt(tmp_path / "constant.csv", np.array([[1e6, 0.1], [2e6, 0.1], [3e6, 0.1]]), delimiter=",")
    assert read(tmp_path / "constant.csv").note is None


def test_standardized_columns_have_mean_0_and_standard_deviation_1(uneven):
    points = read(uneven, standardize=True)
    assert points.points.mean(axis=0) == pytest.approx([0, 0], abs=1e-9)
    assert points.points.std(axis=0) == pytest.approx([1, 1])
    assert points.axes == ("revenue (standardized)", "p (standardized)")
    assert points.note is None


@pytest.mark.parametrize("kind", ["csv", "npy"])
def test_the_script_standardizes_to_the_same_bits(uneven, tmp_path, kind):
    path = uneven
    if kind == "npy":
        path = tmp_path / "uneven.npy"
        np.save(path, np.asfortranarray(np.loadtxt(uneven, delimiter=",", skiprows=1)).astype(np.float32))
    points = read(path, standardize=True)
    trial = Trial(default_setup("file", points), points)
    trial.add_noise(20)
    for _ in range(20):
        trial.learn(100)
    names = {}
    exec(trial.script(), names)
    assert names["model"].n_samples_seen_ == trial.seen > 0
    assert (names["model"].centers_ == trial.model.centers_).all()
    trial.close()


def test_a_constant_column_is_standardized_to_zeros(tmp_path):
    np.savetxt(tmp_path / "constant.csv", np.array([[1e6, 0.1], [3e6, 0.1]]), delimiter=",")
    points = read(tmp_path / "constant.csv", standardize=True)
    assert points.points.tolist() == [[-1, 0], [1, 0]]
    assert points.axes == ("column 0 (standardized)", "column 1 (standardized)")


def test_standardize_needs_columns(tmp_path):
    np.save(tmp_path / "images.npy", np.zeros((3, 8, 8), np.uint8))
    with pytest.raises(ValueError, match="--standardize requires columns"):
        read(tmp_path / "images.npy", standardize=True)
    np.save(tmp_path / "vast.npy", np.array([[1.6e308, 1.0], [-1.6e308, 2.0]]))
    assert read(tmp_path / "vast.npy", standardize=True).points.tolist() == [[1, -1], [-1, 1]]
    refused = call("live", "--data", "mixture", "--standardize")
    assert refused.exit_code == 1
    assert "--standardize requires a file" in refused.stderr
