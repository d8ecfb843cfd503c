"""The commands on files: a person's first minutes with them, the answers of the library, and mistakes."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
import warnings
from contextlib import contextmanager

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from typer.testing import CliRunner

from gaussian_neurons import GaussianNeurons
from gaussian_neurons.cli import app
from gaussian_neurons.cli.trouble import told
from gaussian_neurons.sampling import rows_from_file

PLACES = np.array([[0.0, 0.0], [0.0, 4.0], [4.0, 0.0]])
KINDS = np.random.default_rng(0).integers(3, size=3000)
X = np.random.default_rng(1).normal(PLACES[KINDS], 0.4).round(4)
COMMAND = [sys.executable, "-m", "gaussian_neurons"]


def write_csv(path, x=X, header="x,y", extra=lambda k: ""):
    rows = [",".join(map(repr, row)) + extra(k) for k, row in enumerate(np.asarray(x).tolist())]
    path.write_text("\n".join(([header] if header else []) + rows) + "\n")


def write_jsonl(path):
    path.write_text("\n".join(json.dumps({"x": a, "y": b}) for a, b in X.tolist()))


def write_parquet(path):
    parquet.write_table(pa.table({"x": X[:, 0], "y": X[:, 1]}), path)


def write_npy(path):
    np.save(path, X)


WRITERS = {"a.csv": write_csv, "a.jsonl": write_jsonl, "a.parquet": write_parquet, "a.npy": write_npy}


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    return tmp_path


@pytest.fixture(scope="session")
def model_bytes(tmp_path_factory):
    place = tmp_path_factory.mktemp("model")
    write_csv(place / "a.csv")
    arguments = ["fit", str(place / "a.csv"), "--out", str(place / "m"), "--width", "1"]
    assert CliRunner().invoke(app, arguments).exit_code == 0
    return (place / "m").read_bytes()


@pytest.fixture
def model(here, model_bytes):
    """m.safetensors, learned from columns x and y."""
    (here / "m.safetensors").write_bytes(model_bytes)
    return GaussianNeurons.load("m.safetensors")


def call(*arguments, stdin=None):
    return CliRunner().invoke(app, [str(one) for one in arguments], input=stdin)


def good(*arguments, stdin=None):
    done = call(*arguments, stdin=stdin)
    assert done.exit_code == 0, done.output
    return done


def refused(*arguments, stdin=None):
    """What the one message says that a mistake ends in."""
    done = call(*arguments, stdin=stdin)
    assert done.exit_code == 1, done.output
    assert done.stderr.startswith("Error: ")
    assert done.stderr.count("\n") == 1
    return done.stderr


# ---- fit ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", WRITERS)
def test_three_blobs_in_a_file_are_three_clusters_as_the_library_finds_them(here, name):
    WRITERS[name](here / name)
    done = good("fit", name, "--out", "m.safetensors", "--width", "1")
    model = GaussianNeurons.load("m.safetensors")
    same = GaussianNeurons(width=1.0, random_state=0).fit(X)
    assert model.centers_.tobytes() == same.centers_.tobytes()
    assert "3,000 rows of 2 columns" in done.stdout
    assert "3 clusters of at most 16, by 100,000 samples" in done.stdout
    assert f"{np.bincount(same.labels_)[0]:,}" in done.stdout
    assert f"predict m.safetensors {name}" in done.stdout
    assert "width 1: a smaller one gives more clusters" in done.stdout
    names = getattr(model, "feature_names_in_", None)
    assert (names is None) if name == "a.npy" else (list(names) == ["x", "y"])


def test_options_are_those_of_the_library(here):
    write_csv(here / "a.csv")
    options = (
        "--neurons 9 --width 2 --inhibition 0.7 --learning-rate 0.05 --init samples --samples 5000 --seed 3"
    )
    good("fit", "a.csv", "--out", "m", *options.split())
    model = GaussianNeurons.load("m")
    same = GaussianNeurons(
        9, width=2.0, inhibition=0.7, learning_rate=0.05, init="samples", max_samples=5000, random_state=3
    ).fit(X)
    assert model.get_params() == same.get_params()
    assert model.centers_.tobytes() == same.centers_.tobytes()


def test_one_pass_learns_as_learn_does_from_a_file_and_from_standard_input(here):
    write_csv(here / "a.csv")
    done = good("fit", "a.csv", "--out", "one", "--one-pass", "--width", "1")
    piped = good("fit", "-", "--out", "two", "--width", "1", stdin=(here / "a.csv").read_bytes())
    same = GaussianNeurons(width=1.0, random_state=0).learn(rows_from_file("a.csv"))
    for path in ("one", "two"):
        model = GaussianNeurons.load(path)
        assert model.centers_.tobytes() == same.centers_.tobytes()
        assert list(model.feature_names_in_) == ["x", "y"]
    assert "of the last 1,000" in done.stdout
    assert "One pass of 3,000 rows is short" in done.stderr
    assert "predict two -" in piped.stdout


def test_samples_limit_a_pass(here):
    write_csv(here / "a.csv")
    good("fit", "a.csv", "-o", "m", "--one-pass", "--samples", "2000")
    assert GaussianNeurons.load("m").n_samples_seen_ == 2000


def test_columns_by_name_by_number_and_left_out(here):
    write_csv(here / "a.csv", header="x,y,kind", extra=lambda k: f",{'abc'[KINDS[k]]}")
    expected = {"--columns y,x": X[:, ::-1], "--columns 1": X[:, 1:], "--exclude kind": X, "--exclude -1": X}
    for option, x in expected.items():
        good("fit", "a.csv", "-o", "m", "--force", "--samples", "2000", *option.split())
        same = GaussianNeurons(max_samples=2000, random_state=0).fit(x)
        assert GaussianNeurons.load("m").centers_.tobytes() == same.centers_.tobytes()


def test_rows_that_cannot_be_read_are_named_or_skipped(here):
    (here / "a.csv").write_text("x,y\n" + "1,2\n1.5,2\n" * 20 + "oops,2\n" + "1,2.5\n" * 20 + "3\n")
    for way in ([], ["--one-pass"]):
        assert "row 40 (line 42 of a.csv): column 'x' holds 'oops'" in refused(
            "fit", "a.csv", "-o", "m", *way
        )
        assert "--on-bad skip" in refused("fit", "a.csv", "-o", "m", *way)
        assert not os.path.exists("m")
    for way in ([], ["--one-pass"]):
        done = good("fit", "a.csv", "-o", "m", "--on-bad", "skip", "--force", *way)
        assert "rows were skipped. The first: row 40 (line 42" in done.stderr
        assert "60 rows" in done.stdout
    parquet.write_table(pa.table({"x": [1.0, None, 2.0], "y": [1, 2, 3]}), "a.parquet")
    assert "row 1 (counting from 0) holds a value that is missing" in refused("fit", "a.parquet", "-o", "n")
    assert "1 of 3 rows were skipped" in good("fit", "a.parquet", "-o", "n", "--on-bad", "skip").stderr


def test_columns_of_different_scale_are_warned_of(here):
    write_csv(here / "a.csv", X * [1, 1000])
    for way in ([], ["--one-pass"]):
        done = good("fit", "a.csv", "-o", "m", "--force", *way)
        assert "Warning: Column 'y' spreads" in done.stderr
        assert "Scale the columns first" in done.stderr
    write_csv(here / "b.csv", np.column_stack([X * [1, 50], np.ones(len(X))]), header="x,y,constant")
    assert "spreads" not in good("fit", "b.csv", "-o", "m", "--force").stderr


def test_a_column_that_numbers_the_rows_is_warned_of(here):
    rows = "".join(f"{k},1.5,{k % 2}\n" for k in range(50))
    (here / "a.csv").write_text(",a,b\n" + rows)
    assert "A column has no name" in good("fit", "a.csv", "-o", "m", "--samples", "1000").stderr
    done = good("fit", "a.csv", "-o", "m", "--samples", "1000", "--force", "--exclude", "0")
    assert "has no name" not in done.stderr
    assert "2 columns: a, b" in done.stdout


def test_what_to_do_next_reads_the_file_as_it_was_read(here):
    write_csv(here / "a.data", header=None, extra=lambda k: ",word")
    done = good("fit", "a.data", "-o", "m", "--no-header", "--exclude", "2", "--samples", "1000")
    told = next(line for line in done.stdout.splitlines() if "predict" in line).split()
    assert " ".join(told) == "gaussian-neurons predict m a.data --no-header --columns 0,1"
    assert good(*told[1:]).stdout.count("\n") == 3001


def test_nothing_learned_is_told_in_the_words_of_the_command_line(here):
    write_csv(here / "a.csv")
    done = good("fit", "a.csv", "-o", "m", "--width", "1e-12", "--samples", "3000")
    assert "no neuron learned" in done.stderr.lower()
    assert "--init samples" in done.stderr
    assert "init=" not in done.stderr
    assert "0 clusters of at most 16" in done.stdout


def test_results_are_not_overwritten_without_a_word(here):
    write_csv(here / "a.csv")
    (here / "m").write_text("precious")
    assert "'m' exists already" in refused("fit", "a.csv", "--out", "m")
    assert (here / "m").read_text() == "precious"
    good("fit", "a.csv", "--out", "m", "--force", "--samples", "1000")
    assert "also what is read" in refused("fit", "a.csv", "--out", "a.csv", "--force")
    assert "also what is read" in refused("predict", "m", "a.csv", "--out", "m", "--force")
    assert "folder" in refused("fit", "a.csv", "--out", "none/m")
    os.mkdir("folder")
    assert "is a folder" in refused("fit", "a.csv", "--out", "folder")


def test_where_to_write_is_checked_before_anything_is_read(here):
    assert "does not exist" in refused("fit", "absent.csv", "--out", "none/m")


# ---- predict ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", WRITERS)
def test_predicted_clusters_are_those_of_the_library(here, model, name):
    WRITERS[name](here / name)
    lines = good("predict", "m.safetensors", name, "--scores").stdout.splitlines()
    assert lines[0] == "cluster,score"
    got = np.array([line.split(",") for line in lines[1:]], float)
    del model.feature_names_in_
    assert (got[:, 0] == model.predict(X)).all()
    assert (got[:, 1] == model.score_samples(X)).all()


def test_a_row_far_from_all_clusters_has_none(here, model):
    text = "x,y\n0,0\n50,50\n"
    assert good("predict", "m.safetensors", "-", stdin=text).stdout.splitlines()[2] == "-1"


def test_columns_are_found_by_name_in_any_order_and_among_others(here, model):
    write_csv(here / "a.csv")
    expected = good("predict", "m.safetensors", "a.csv").stdout
    swapped = np.column_stack([X[:, 1], X[:, 0]])
    write_csv(here / "b.csv", swapped, header="y,x,kind", extra=lambda k: ",word")
    assert good("predict", "m.safetensors", "b.csv").stdout == expected
    write_csv(here / "c.csv", header=None)
    assert good("predict", "m.safetensors", "c.csv").stdout == expected  # by place
    write_csv(here / "d.csv", swapped, header="b,a")
    assert good("predict", "m.safetensors", "d.csv", "--columns", "a,b").stdout == expected


def test_other_columns_than_the_models_are_refused(here, model):
    write_csv(here / "a.csv", header="x,z")
    said = refused("predict", "m.safetensors", "a.csv")
    assert "learned from x, y, but there is no y here; there are x, z" in said
    write_csv(here / "b.csv", np.ones((3, 3)), header=None)
    said = refused("predict", "m.safetensors", "b.csv")
    assert "learned from 2 columns (x, y), but here are 3: 0, 1, 2" in said
    good("predict", "m.safetensors", "b.csv", "--exclude", "2")


def test_lines_stay_aligned_where_rows_are_skipped(here, model):
    text = "x,y\n0,0\nbroken\n0,\n0,4\n"
    said = refused("predict", "m.safetensors", "-", stdin=text)
    assert "row 1 (line 3 of standard input): has 1 cells" in said
    del model.feature_names_in_
    a, b = (str(cluster) for cluster in model.predict([[0, 0], [0, 4]]))
    assert a != b
    done = good("predict", "m.safetensors", "-", "--on-bad", "skip", stdin=text)
    assert done.stdout.splitlines() == ["cluster", a, '""', '""', b]
    assert "2 of 4 rows could not be read" in done.stderr
    done = good("predict", "m.safetensors", "-", "--on-bad", "skip", "--scores", stdin=text)
    assert done.stdout.splitlines()[2:4] == [",", ","]
    np.save("a.npy", np.array([[0.0, 0.0], [np.nan, 0.0], [0.0, 4.0]]))
    assert good("predict", "m.safetensors", "a.npy", "--on-bad", "skip").stdout.splitlines()[1:] == [
        a,
        '""',
        b,
    ]
    done = call("predict", "m.safetensors", "a.npy")
    assert done.stdout.splitlines() == ["cluster", a]  # all before the bad row is there
    assert "row 1 (counting from 0) holds a value that is missing" in done.stderr


def test_out_is_written_whole_or_not_at_all(here, model):
    write_csv(here / "a.csv")
    done = good("predict", "m.safetensors", "a.csv", "--out", "c.csv")
    assert (here / "c.csv").read_text() == good("predict", "m.safetensors", "a.csv").stdout
    assert "3,000 rows" in done.stdout
    assert "exists already" in refused("predict", "m.safetensors", "a.csv", "--out", "c.csv")
    before = (here / "c.csv").read_text()
    (here / "b.csv").write_text("x,y\n0,0\nbroken\n")
    refused("predict", "m.safetensors", "b.csv", "--out", "c.csv", "--force")
    assert (here / "c.csv").read_text() == before
    assert sorted(os.listdir()) == ["a.csv", "b.csv", "c.csv", "m.safetensors"]


# ---- info ---------------------------------------------------------------------------------------------


def test_info_shows_the_facts_behind_the_model(here, model):
    shown = good("info", "m.safetensors").stdout
    for words in ("3 of at most 16", "100,000", "2 (x, y)", "width=1.0", "random_state=0", "twin of"):
        assert words in shown
    told = json.loads(good("info", "m.safetensors", "--json").stdout)
    assert told["clusters"] == 3
    assert told["columns"] == ["x", "y"]
    assert told["parameters"]["width"] == 1.0
    assert told["samples_seen"] == 100_000
    assert (X.min(axis=0) <= told["domain"]["low"]).all()
    assert (X.max(axis=0) >= told["domain"]["high"]).all()
    assert [one["learned"] for one in told["neurons"]] == model.learned_.tolist()
    lines = [line.split() for line in shown[shown.index("twin of") :].splitlines()]
    numbers = [int(line[0]) for line in lines if len(line) == 8 and line[0].isdecimal()]
    assert numbers[:3] == np.flatnonzero(model.learned_).tolist()
    assert sorted(numbers) == list(range(16))
    assert [one["share"] for one in told["neurons"]] == model.diagnosis_.share.tolist()
    assert [one["center"] for one in told["neurons"]] == model.centers_.tolist()
    clusters = [one["cluster"] for one in told["neurons"] if one["learned"]]
    assert clusters == [0, 1, 2]


def test_info_tells_a_checkpoint_from_a_model(here):
    write_csv(here / "a.csv")
    good("fit", "a.csv", "-o", "m", "--one-pass", "--checkpoint", "run")
    assert "a checkpoint at 3,000 samples" in good("info", "run").stdout
    assert "checkpoint" not in good("info", "m").stdout
    assert json.loads(good("info", "run", "--json").stdout)["checkpoint"]["samples"] == 3000


def test_info_of_many_neurons_shows_those_with_clusters_and_some_others(here):
    write_csv(here / "a.csv")
    good("fit", "a.csv", "-o", "m", "--width", "1", "--neurons", "60")
    learned = GaussianNeurons.load("m").n_clusters_
    assert f"and {60 - 16 - learned} more without a cluster" in good("info", "m").stdout
    assert len(json.loads(good("info", "m", "--json").stdout)["neurons"]) == 60


def test_info_of_a_model_that_still_waits_for_its_first_data(here):
    write_csv(here / "a.csv", X[:100])
    good("fit", "a.csv", "-o", "m", "--one-pass")
    assert "not known yet" in good("info", "m").stdout
    assert json.loads(good("info", "m", "--json").stdout)["domain"] is None


# ---- mistakes -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("", "the file is empty"),
        ("x,y\n", "holds no rows"),
        (
            "x,kind,name\n1,red,rose\n2,blue,iris\n",
            "column 'kind' holds 'red'.*--exclude kind,name.*x, kind, name",
        ),
        (
            "5.1,3.5,setosa\n4.9,3.0,setosa\n",
            "it holds numbers, but also 'setosa'. Say --header or --no-header",
        ),
        ("hello world\n", "holds no rows"),
    ],
)
def test_files_that_hold_no_table_of_numbers(here, content, says):
    (here / "a.csv").write_text(content)
    assert re.search(says, refused("fit", "a.csv", "--out", "m"))


def test_one_column_and_one_row_are_enough(here):
    (here / "a.csv").write_text("x\n" + "1\n2\n" * 50)
    assert "100 rows of 1 column: x" in good("fit", "a.csv", "-o", "m", "--samples", "1000").stdout
    (here / "b.csv").write_text("x,y\n1,2\n")
    assert "1 row of 2 columns" in good("fit", "b.csv", "-o", "n", "--samples", "1000").stdout


def test_paths_that_name_no_file_say_which_was_meant(here, model):
    write_csv(here / "flowers.csv")
    os.mkdir("folder")
    for command in (["fit", "flower.csv", "-o", "n"], ["predict", "m.safetensors", "flower.csv"]):
        assert "there is no file 'flower.csv'. Did you mean 'flowers.csv'?" in refused(*command)
    assert "there is no file 'n.safetensors'. Did you mean 'm.safetensors'?" in refused(
        "info", "n.safetensors"
    )
    assert "'folder' is a folder. Name the data file in it" in refused("fit", "folder", "-o", "n")
    assert "'folder' is a folder. Name the model file in it" in refused("predict", "folder", "flowers.csv")
    assert "is an address, not a file" in refused("fit", "https://example.com/a.csv", "-o", "n")
    assert "is not a plain file" in refused("fit", os.devnull, "-o", "n")


def test_swapped_and_mistaken_files_are_told_apart(here, model):
    write_csv(here / "a.csv")
    said = refused("predict", "a.csv", "m.safetensors")
    assert "'a.csv' is not a model, but 'm.safetensors' is: the model comes first" in said
    assert "gaussian-neurons predict m.safetensors a.csv" in said
    assert "'m.safetensors' is a model already, not data" in refused("fit", "m.safetensors", "-o", "n")
    assert "cannot be read as a model" in refused("info", "a.csv")
    (here / "odd.name").write_text("1,2\n")
    assert "Say --format csv, jsonl, npy or parquet." in refused("fit", "odd.name", "-o", "n")
    good("fit", "odd.name", "-o", "n", "--format", "csv", "--samples", "1000")


def test_columns_that_are_not_there_are_named(here):
    write_csv(here / "a.csv", header="length,width")
    said = refused("fit", "a.csv", "-o", "m", "--columns", "lenght")
    assert "no column 'lenght'; there are length, width. Did you mean 'length'?" in said
    assert "no column '2'" in refused("fit", "a.csv", "-o", "m", "--exclude", "2")
    assert "leaves no column" in refused("fit", "a.csv", "-o", "m", "--exclude", "length,width")
    assert "names or numbers" in refused("fit", "a.csv", "-o", "m", "--columns", ",")
    write_csv(here / "b.csv", header='"a, b",a')
    good("fit", "b.csv", "-o", "m", "--columns", '"a, b"', "--samples", "1000")
    assert list(GaussianNeurons.load("m").feature_names_in_) == ["a, b"]
    (here / "c.csv").write_text("a,a\n1,2\n")
    assert "several columns are named 'a'; give their numbers instead: 0, 1" in refused(
        "fit", "c.csv", "-o", "m", "--columns", "a", "--force"
    )


def test_a_column_of_words_in_parquet_is_named_with_what_to_do(here):
    parquet.write_table(pa.table({"x": [1.0], "kind": ["red"]}), "a.parquet")
    assert "column 'kind' holds string" in refused("fit", "a.parquet", "-o", "m")
    assert "--exclude kind" in refused("fit", "a.parquet", "-o", "m")
    good("fit", "a.parquet", "-o", "m", "--exclude", "kind", "--samples", "1000")


def test_a_column_of_words_is_no_reason_to_skip_all_rows(here):
    write_csv(here / "a.csv", header="x,y,kind", extra=lambda k: ",word")
    assert "--exclude kind" in refused("fit", "a.csv", "-o", "m", "--on-bad", "skip")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--neuron", "3"], "--neurons"),
        (["--width", "wide"], "neither a number above 0 nor auto"),
        (["--width", "-1"], "neither a number above 0 nor auto"),
        (["--neurons", "0"], "'--neurons'"),
        (["--init", "random"], "uniform"),
        (["--format", "xlsx"], "parquet"),
        ([], "--out"),
    ],
)
def test_mistaken_options_end_before_anything_is_done(here, options, says):
    write_csv(here / "a.csv")
    out = ["-o", "m"] if options else []
    done = call("fit", "a.csv", *out, *options)
    assert done.exit_code == 2
    assert says in done.stderr
    assert not os.path.exists("m")


def test_a_checkpoint_needs_a_pass_and_its_own_run(here, model):
    write_csv(here / "a.csv")
    assert "add --one-pass" in refused("fit", "a.csv", "-o", "n", "--checkpoint", "run")
    one_pass = ["fit", "a.csv", "--one-pass", "-o"]
    assert "also what is read" in refused(*one_pass, "run", "--checkpoint", "run")
    said = refused(*one_pass, "n", "--checkpoint", "m.safetensors")
    assert "Choose another name for --checkpoint" in said
    good(*one_pass, "n", "--checkpoint", "run")
    said = refused(*one_pass, "k", "--checkpoint", "run", "--width", "3")
    assert (
        "its parameters width was 'auto', here it is 3.0. To carry it on, give the data and the options"
        in said
    )


@pytest.mark.parametrize("command", ["fit", "predict", "info"])
def test_help_teaches_by_examples_that_fit_on_80_columns(command, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    shown = good(command, "--help").stdout
    assert "Examples" in shown
    examples = shown[shown.index("Examples") : shown.index("╭")].splitlines()[1:]
    commands = [line.strip() for line in examples if line.strip()]
    for line in commands:  # a line that was broken would begin with something else
        assert re.match(r"gaussian-neurons |-o |paste |zcat |tail ", line), line
    assert any(line.startswith(f"gaussian-neurons {command}") for line in commands)


def test_bugs_keep_their_traceback_and_warnings_have_no_line_of_code(capsys):
    with pytest.raises(TypeError), told():
        raise TypeError("a bug")
    with told():
        warnings.warn("something odd", UserWarning, stacklevel=1)
    assert capsys.readouterr().err == "Warning: Something odd\n"


def test_a_missing_package_is_named_with_what_brings_it(here, monkeypatch):
    write_csv(here / "a.csv")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert "pip install 'gaussian-neurons[files]'" in refused("fit", "a.csv", "-o", "m")


# ---- processes ----------------------------------------------------------------------------------------


def run(*arguments, **options):
    return subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, timeout=60, **options)


@contextmanager
def started(*arguments, **pipes):
    """A process that is ended, and the test with it, where it waits for something that does not come."""
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    options = {"stderr": subprocess.PIPE, "env": buffered, **pipes}
    with subprocess.Popen([*COMMAND, *arguments], **options) as process:
        patience = threading.Timer(60, process.kill)
        patience.start()
        try:
            yield process
        finally:
            patience.cancel()
            process.kill()


def test_a_pipe_that_closes_early_ends_quietly(here, model):
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with started("predict", "m.safetensors", "-", **pipes) as process:
        process.stdin.write(b"x,y\n0,0\n")
        process.stdin.flush()
        assert process.stdout.readline() == b"cluster\n"
        process.stdout.close()
        process.stdin.write(b"0,0\n")
        process.stdin.flush()
        assert process.wait(30) == 141
        assert process.stderr.read() == b""


def test_a_terminal_with_nothing_piped_in_is_told_at_once(here):
    ours, theirs = os.openpty()
    try:
        done = run("fit", "-", "--out", "m", stdin=theirs)
    finally:
        os.close(ours)
        os.close(theirs)
    assert done.returncode == 1
    assert done.stderr.startswith("Error: nothing is piped into standard input. Give a file instead of -")
    assert "Traceback" not in done.stderr


def test_lines_come_as_rows_do_and_ctrl_c_ends_the_wait(here, model):
    with started("predict", "m.safetensors", "-", stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdin.write(b"x,y\n0,0\n")
        process.stdin.flush()
        assert process.stdout.readline() == b"cluster\n"
        first = process.stdout.readline()
        process.stdin.write(b"50,50\n0,0\n")
        process.stdin.flush()
        assert process.stdout.readline() == b"-1\n"
        assert process.stdout.readline() == first
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130
        said = process.stderr.read().decode()
    assert said.startswith("Interrupted. ")
    assert "Traceback" not in said


def test_a_pass_that_was_interrupted_carries_on_to_the_same_bits(here):
    write_csv(here / "a.csv", np.tile(X, (50, 1)))
    text = (here / "a.csv").read_bytes()
    command = ["fit", "-", "--out", "m", "--width", "1", "--checkpoint", "run"]
    with started(*command, stdin=subprocess.PIPE) as process:
        process.stdin.write(text[: len(text) * 4 // 5])  # past the first 100,000 rows
        process.stdin.flush()
        while not os.path.exists("run") and process.poll() is None:
            time.sleep(0.02)
        time.sleep(0.5)  # until it waits for more, most likely: the harder case
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130
        assert b"Interrupted. The same command carries on from run." in process.stderr.read()
    assert not os.path.exists("m")
    assert 100_000 <= GaussianNeurons.load("run").n_samples_seen_ < 150_000
    assert run(*command, input=text.decode()).returncode == 0
    good("fit", "a.csv", "--out", "whole", "--width", "1", "--one-pass")
    carried, whole = GaussianNeurons.load("m"), GaussianNeurons.load("whole")
    assert carried.n_samples_seen_ == whole.n_samples_seen_ == 150_000
    assert carried.centers_.tobytes() == whole.centers_.tobytes()
