"""Mistakes on the command line, and what they are answered with."""

import os
import re
import warnings

import pyarrow as pa
import pytest
from pyarrow import parquet

from gaussian_neurons import GaussianNeurons
from gaussian_neurons.cli.errors import told
from tests.cli.calls import call, good, refused, write_csv


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
