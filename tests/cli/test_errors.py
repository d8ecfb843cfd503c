"""Error messages of the command line."""

import os
import re
import warnings
from types import SimpleNamespace

import pyarrow as pa
import pytest
import typer
from pyarrow import parquet

from gaussian_neurons import GaussianNeurons
from gaussian_neurons.base import extras
from gaussian_neurons.cli import app
from gaussian_neurons.cli.errors import handle_errors
from gaussian_neurons.cli.reading import Data
from tests.cli.calls import call, good, refused, write_csv


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "the file is empty"),
        ("x,y\n", "has no rows"),
        (
            "x,kind,name\n1,red,rose\n2,blue,iris\n",
            "'kind' holds 'red', column 'name' holds 'rose', not numbers: exclude them with .* kind,name",
        ),
        (
            "5.1,3.5,setosa\n4.9,3.0,setosa\n",
            "'setosa'.* --header or --no-header",
        ),
        ("hello world\n", "has no rows"),
        ("a,b\nx,y\n", "has no column of numbers: column 'a' holds 'x', column 'b' holds 'y'"),
        (
            "at,x\n2024-01-05,1\n2024-01-06,2\n",
            "a.csv': column 'at' holds '2024-01-05', not numbers: exclude it with --exclude at\\.$",
        ),
        ("x,y\n1,2\n,3\n", r"row 1 \(line 3 of a.csv\): column 'x' is empty"),
        ("x,y\n1,2\n3,nan\n", r"row 1 \(line 3 of a.csv\): column 'y' holds nan"),
    ],
)
def test_files_without_a_table_of_numbers(here, content, message):
    (here / "a.csv").write_text(content)
    assert re.search(message, refused("fit", "a.csv", "--out", "m"))


def test_one_column_and_one_row_are_enough(here):
    (here / "a.csv").write_text("x\n" + "1\n2\n" * 50)
    assert "100 rows of 1 column: x" in good("fit", "a.csv", "-o", "m", "--samples", "1000").stdout
    (here / "b.csv").write_text("x,y\n1,2\n")
    assert "1 row of 2 columns" in good("fit", "b.csv", "-o", "n", "--samples", "1000").stdout


def test_missing_files_get_a_suggestion(here, model):
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
    assert "is not a regular file" in refused("fit", os.devnull, "-o", "n")


def test_swapped_files_are_recognized(here, model):
    write_csv(here / "a.csv")
    message = refused("predict", "a.csv", "m.safetensors")
    assert "'a.csv' is not a model, but 'm.safetensors' is" in message
    assert "gaussian-neurons predict m.safetensors a.csv" in message
    assert "'m.safetensors' is a model, not data" in refused("fit", "m.safetensors", "-o", "n")
    assert "cannot be read as a model" in refused("info", "a.csv")
    (here / "odd.name").write_text("1,2\n")
    assert "--format csv, jsonl, npy or parquet" in refused("fit", "odd.name", "-o", "n")
    good("fit", "odd.name", "-o", "n", "--format", "csv", "--samples", "1000")


def test_unknown_columns_are_refused(here):
    write_csv(here / "a.csv", header="length,width")
    message = refused("fit", "a.csv", "-o", "m", "--columns", "lenght")
    assert "there is no column 'lenght'. The columns are length, width. Did you mean 'length'?" in message
    assert "no column '2'" in refused("fit", "a.csv", "-o", "m", "--exclude", "2")
    assert "removes all columns" in refused("fit", "a.csv", "-o", "m", "--exclude", "length,width")
    assert "names or indices" in refused("fit", "a.csv", "-o", "m", "--columns", ",")
    write_csv(here / "b.csv", header='"a, b",a')
    good("fit", "b.csv", "-o", "m", "--columns", '"a, b"', "--samples", "1000")
    assert list(GaussianNeurons.load("m").feature_names_in_) == ["a, b"]
    (here / "c.csv").write_text("a,a\n1,2\n")
    assert "several columns are named 'a'. Use their indices instead: 0, 1" in refused(
        "fit", "c.csv", "-o", "m", "--columns", "a", "--force"
    )


def test_a_text_column_in_parquet_is_refused_with_advice(here):
    parquet.write_table(pa.table({"x": [1.0], "kind": ["red"]}), "a.parquet")
    assert "column 'kind' holds string" in refused("fit", "a.parquet", "-o", "m")
    assert "--exclude kind" in refused("fit", "a.parquet", "-o", "m")
    days = pa.table({"x": [1.0], "day": pa.array([1], pa.date32()), "at": pa.array([1], pa.timestamp("ms"))})
    parquet.write_table(days, "b.parquet")
    assert refused("fit", "b.parquet", "-o", "m") == (
        "Error: 'b.parquet': column 'day' holds date32[day], column 'at' holds timestamp[ms], not numbers: "
        "exclude them with --exclude day,at.\n"
    )
    good("fit", "a.parquet", "-o", "m", "--exclude", "kind", "--samples", "1000")


def test_a_text_column_does_not_skip_all_rows(here):
    write_csv(here / "a.csv", header="x,y,kind", extra=lambda k: ",word")
    assert "--exclude kind" in refused("fit", "a.csv", "-o", "m", "--on-bad", "skip")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--neuron", "3"], "--neurons"),
        (["--width", "wide"], "must be a number above 0 or auto"),
        (["--width", "-1"], "must be a number above 0 or auto"),
        (["--neurons", "0"], "'--neurons'"),
        (["--init", "random"], "uniform"),
        (["--format", "xlsx"], "parquet"),
        ([], "--out"),
    ],
)
def test_invalid_options_are_refused(here, options, message):
    write_csv(here / "a.csv")
    out = ["-o", "m"] if options else []
    done = call("fit", "a.csv", *out, *options)
    assert done.exit_code == 2
    assert message in done.stderr
    assert not os.path.exists("m")


def test_a_checkpoint_needs_one_pass_and_the_same_options(here, model):
    write_csv(here / "a.csv")
    assert "Add --one-pass" in refused("fit", "a.csv", "-o", "n", "--checkpoint", "run")
    one_pass = ["fit", "a.csv", "--one-pass", "-o"]
    assert "is also read or written" in refused(*one_pass, "run", "--checkpoint", "run")
    message = refused(*one_pass, "n", "--checkpoint", "m.safetensors")
    assert "Choose another file for --checkpoint" in message
    good(*one_pass, "n", "--checkpoint", "run")
    message = refused(*one_pass, "k", "--checkpoint", "run", "--width", "3")
    assert "width was 'auto', here it is 3.0" in message
    assert "use the data and options that it began with" in message


@pytest.mark.parametrize("command", app.registered_commands, ids=lambda it: it.callback.__name__)
def test_examples_in_help_are_not_wrapped_at_80_columns(command, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    name, text = command.callback.__name__, command.callback.__doc__
    shown = [line.strip() for line in good(name, "--help").stdout.splitlines()]
    examples = [line.strip() for line in text[text.index("Examples") :].splitlines()[1:] if line.strip()]
    assert any(line.startswith(f"gaussian-neurons {name}") for line in examples)
    assert set(examples) <= set(shown)


@pytest.mark.parametrize("name", ["fit", "predict", "sweep"])
def test_help_fits_a_screen_and_names_every_option(name, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    shown = good(name, "--help").stdout
    assert len(shown.splitlines()) <= 50
    (command,) = (one for one in typer.main.get_command(app).commands.values() if one.name == name)
    for parameter in command.params:
        assert all(f"{option} " in shown for option in parameter.opts if option.startswith("--"))


def test_standard_input_must_not_be_a_terminal(monkeypatch):
    monkeypatch.setattr("sys.stdin", SimpleNamespace(isatty=lambda: True))
    with pytest.raises(ValueError, match="standard input is a terminal"):
        Data("-", None, None, None, None, skip=False).open()


def test_bugs_keep_their_traceback_and_warnings_are_one_line(capsys):
    with pytest.raises(TypeError), handle_errors():
        raise TypeError("a bug")
    with handle_errors():
        warnings.warn("something odd", UserWarning, stacklevel=1)
    assert capsys.readouterr().err == "Warning: Something odd\n"


def test_a_missing_package_is_named_with_its_extra(here, monkeypatch):
    write_csv(here / "a.csv")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert extras.install("files") in refused("fit", "a.csv", "-o", "m")
