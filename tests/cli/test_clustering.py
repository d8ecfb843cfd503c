"""The commands fit, predict and info agree with the library."""

import json
import os

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from gaussian_neurons import GaussianNeurons
from gaussian_neurons.sampling import rows_from_file
from tests.cli.calls import (
    CENTERS,
    KINDS,
    WRITERS,
    X,
    call,
    good,
    refused,
    write_csv,
)

# ---- fit ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", WRITERS)
def test_fit_learns_the_model_of_the_library(here, name):
    WRITERS[name](here / name)
    done = good("fit", name, "--out", "m.safetensors", "--width", "1")
    model = GaussianNeurons.load("m.safetensors")
    same = GaussianNeurons(width=1.0, random_state=0).fit(X)
    assert model.centers_.tobytes() == same.centers_.tobytes()
    assert "3,000 rows of 2 columns" in done.stdout
    assert "3 clusters of at most 50, by 100,000 samples" in done.stdout
    assert f"{np.bincount(same.labels_)[0]:,}" in done.stdout
    assert f"predict m.safetensors {name}" in done.stdout
    names = getattr(model, "feature_names_in_", None)
    assert (names is None) if name == "a.npy" else (list(names) == ["x", "y"])


@pytest.mark.parametrize(
    ("kind", "text", "shape"),
    [
        ("diag", "2,0.5", [2, 0.5]),
        ("full", "2,0.5", [[2, 0], [0, 0.5]]),
        ("full", "2,1;1,2", [[2, 1], [1, 2]]),
    ],
)
def test_a_covariance_is_multiplied_with_the_width(here, kind, text, shape):
    write_csv(here / "a.csv")
    options = ["--width", "0.5", "--covariance-type", kind, "--covariance", text, "--samples", "5000"]
    done = good("fit", "a.csv", "--out", "m", *options)
    mean = np.mean(np.diag(shape) if kind == "full" else shape) / 2
    assert f"mean width {mean:.4g}; a smaller" in done.stdout
    width = 0.5 * np.repeat([shape], 50, axis=0)
    same = GaussianNeurons(covariance_type=kind, width=width, max_samples=5000, random_state=0).fit(X)
    model = GaussianNeurons.load("m")
    assert model.centers_.tobytes() == same.centers_.tobytes()
    assert f"covariance_type={kind}" in good("info", "m").stdout
    assert good("predict", "m", "a.csv", "--only").stdout.split()[1:] == [
        str(label) for label in same.predict(X)
    ]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (
            "--covariance-type diag --width 1",
            "needs --covariance: with a width alone, neurons would be round",
        ),
        ("--covariance 1,2 --width 1", "--covariance needs --covariance-type diag or full"),
        ("--covariance-type diag --covariance 1,2", "--covariance needs a number as --width"),
        ("--covariance-type diag --covariance 1,x --width 1", "must be numbers such as 4,1"),
        ("--covariance-type diag --covariance 1 --width 1", "the shape (2,) for 2 columns, got (1,)"),
        ("--covariance-type full --covariance 1,2;2,1 --width 1", "must be symmetric and positive definite"),
        ("--covariance-type full --covariance 1,2;2 --width 1", "covariance must be an array of numbers"),
    ],
)
def test_wrong_covariances_are_refused(here, options, says):
    write_csv(here / "a.csv")
    assert says in refused("fit", "a.csv", "--out", "m", *options.split())
    assert not (here / "m").exists()


def test_options_are_parameters_of_the_library(here):
    write_csv(here / "a.csv")
    options = (
        "--neurons 9 --width 2 --inhibition 0.7 --learning-rate 0.05 --repulsion-every 3 --init samples "
        "--samples 5000 --seed 3"
    )
    good("fit", "a.csv", "--out", "m", *options.split())
    model = GaussianNeurons.load("m")
    same = GaussianNeurons(
        9,
        width=2.0,
        inhibition=0.7,
        learning_rate=0.05,
        repulsion_every=3,
        init="samples",
        max_samples=5000,
        random_state=3,
    ).fit(X)
    assert model.get_params() == same.get_params()
    assert model.centers_.tobytes() == same.centers_.tobytes()
    assert "repulsion_every=3" in good("info", "m").stdout.replace("\n", "")


def test_the_number_and_the_shape_of_clusters_can_be_given(here):
    write_csv(here / "a.csv")
    good(
        "fit",
        "a.csv",
        "--out",
        "m",
        *["--neurons", "20", "--clusters", "4", "--shape", "any", "--samples", "3000"],
    )
    model = GaussianNeurons.load("m")
    assert (model.n_clusters, model.shape) == (4, "any")
    for option in (["--clusters", "4"], ["--shape", "any"], ["--memory", "9"]):
        assert "need an automatic width" in refused("fit", "a.csv", "--out", "n", "--width", "1", *option)


def test_fit_uses_the_backend(here):
    write_csv(here / "a.csv")
    (here / "still_neurons.py").write_text("def learn(centers, widths, *_):\n    return centers, widths\n")
    options = ["--width", "1", "--samples", "2000", "--backend", "still_neurons:learn"]
    good("fit", "a.csv", "-o", "m", *options)
    model = GaussianNeurons.load("m")
    assert (model.centers_ == model.initial_centers_).all()
    good("info", "m")
    assert "unknown backend 'fast'" in refused("fit", "a.csv", "-o", "n", "--backend", "fast")


def test_one_pass_learns_as_learn_from_a_file_and_from_standard_input(here):
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


def test_samples_limit_one_pass(here):
    write_csv(here / "a.csv")
    good("fit", "a.csv", "-o", "m", "--one-pass", "--samples", "2000")
    assert GaussianNeurons.load("m").n_samples_seen_ == 2000


def test_columns_by_name_by_index_and_excluded(here):
    write_csv(here / "a.csv", header="x,y,kind", extra=lambda k: f",{'abc'[KINDS[k]]}")
    expected = {"--columns y,x": X[:, ::-1], "--columns 1": X[:, 1:], "--exclude kind": X, "--exclude -1": X}
    for option, x in expected.items():
        good("fit", "a.csv", "-o", "m", "--force", "--samples", "2000", *option.split())
        same = GaussianNeurons(max_samples=2000, random_state=0).fit(x)
        assert GaussianNeurons.load("m").centers_.tobytes() == same.centers_.tobytes()


def test_bad_rows_are_named_or_skipped(here):
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
    for way in ([], ["--one-pass"]):
        message = refused("fit", "a.parquet", "-o", "n", *way)
        assert "DATA must hold finite numbers, got NaN at row 1, column 'x'." in message
        assert "--on-bad skip" in message
    done = good("fit", "a.parquet", "-o", "n", "--on-bad", "skip")
    assert (
        "1 of 3 rows were skipped. The first: DATA must hold finite numbers, got NaN at row 1" in done.stderr
    )


def test_columns_of_different_scales_give_one_warning_by_name(here):
    write_csv(here / "a.csv", X * [1, 1000])
    for way in ([], ["--one-pass"]):
        done = good("fit", "a.csv", "-o", "m", "--force", *way)
        assert done.stderr.count("Warning: Columns differ in scale: that of 'y' (") == 1
        assert "Use --standardize, or" in done.stderr
    write_csv(here / "b.csv", np.column_stack([X * [1, 5], np.ones(len(X))]), header="x,y,constant")
    assert "scale" not in good("fit", "b.csv", "-o", "m", "--force").stderr


@pytest.mark.parametrize("way", [[], ["--one-pass"]])
def test_standardized_columns_of_different_scales_give_the_clusters(here, way):
    write_csv(here / "a.csv", X * [1, 1000])
    done = good("fit", "a.csv", "--standardize", "-o", "m", *way)
    assert "scale" not in done.stderr
    assert "3 clusters" in done.stdout
    centers = np.array(list(json.loads(good("info", "m", "--json").stdout)["centers"].values()))
    found = centers / [1, 1000]
    assert all(np.abs(found - center).max(axis=1).min() < 0.1 for center in CENTERS)
    assert set(good("predict", "m", "a.csv", "--only").stdout.split()[1:]) <= {"0", "1", "2", "-1"}


def test_memory_and_scale_are_parameters_of_the_library(here):
    write_csv(here / "a.csv", X * [1, 1000])
    good("fit", "a.csv", "-o", "m", "--scale", "robust", "--memory", "2000", "--samples", "3000")
    model = GaussianNeurons.load("m")
    same = GaussianNeurons(scale="robust", memory=2000, max_samples=3000, random_state=0).fit(X * [1, 1000])
    assert model.get_params() == same.get_params()
    assert model.centers_.tobytes() == same.centers_.tobytes()
    assert "--standardize means" in refused("fit", "a.csv", "-o", "n", "--scale", "robust", "--standardize")


def test_novel_rows_are_marked(here, model):
    far = np.vstack([X[:50], [[50.0, 50.0], [0.9, 0.9]]])
    write_csv(here / "a.csv", far)
    done = good("predict", "m.safetensors", "a.csv", "--novel")
    assert done.stdout.splitlines()[0] == "x,y,cluster,novel"
    table = pd.read_csv(here / "a.csv")
    found = [int(line.split(",")[-1]) for line in done.stdout.splitlines()[1:]]
    assert found == model.is_novel(table).astype(int).tolist()
    assert found[-2:] == [1, 1]
    options = ["--novel", "--false-alarms", "0.5", "--scores", "--only"]
    lines = good("predict", "m.safetensors", "a.csv", *options).stdout.splitlines()
    assert lines[0] == "cluster,score,novel"
    assert [int(line[-1]) for line in lines[1:]] == model.is_novel(table, 0.5).astype(int).tolist()
    rows = "\n".join(json.dumps({"x": a, "y": b}) for a, b in far[-2:].tolist())
    (last,) = good("predict", "m.safetensors", "-", "--novel", stdin=rows).stdout.splitlines()[1:]
    assert json.loads(last)["novel"] == 1


def test_a_column_without_a_name_gives_a_warning(here):
    rows = "".join(f"{k},1.5,{k % 2}\n" for k in range(50))
    (here / "a.csv").write_text(",a,b\n" + rows)
    assert "A column has no name" in good("fit", "a.csv", "-o", "m", "--samples", "1000").stderr
    done = good("fit", "a.csv", "-o", "m", "--samples", "1000", "--force", "--exclude", "0")
    assert "has no name" not in done.stderr
    assert "2 columns: a, b" in done.stdout


def test_the_printed_command_reads_the_file_in_the_same_way(here):
    write_csv(here / "a.data", header=None, extra=lambda k: ",word")
    done = good("fit", "a.data", "-o", "m", "--no-header", "--exclude", "2", "--samples", "1000")
    command = next(line for line in done.stdout.splitlines() if "predict" in line).split()
    assert " ".join(command) == "gaussian-neurons predict m a.data --no-header --columns 0,1"
    assert good(*command[1:]).stdout.count("\n") == 3000


def test_a_model_without_clusters_gives_a_warning_with_options(here):
    write_csv(here / "a.csv")
    done = good("fit", "a.csv", "-o", "m", "--width", "1e-12", "--samples", "3000")
    assert "no neuron learned" in done.stderr.lower()
    assert "--init samples" in done.stderr
    assert "init=" not in done.stderr
    assert "0 clusters of at most 50" in done.stdout


def test_files_are_overwritten_only_with_force(here):
    write_csv(here / "a.csv")
    (here / "m").write_text("precious")
    assert "'m' exists already" in refused("fit", "a.csv", "--out", "m")
    assert (here / "m").read_text() == "precious"
    good("fit", "a.csv", "--out", "m", "--force", "--samples", "1000")
    assert "is also read or written" in refused("fit", "a.csv", "--out", "a.csv", "--force")
    assert "is also read or written" in refused("predict", "m", "a.csv", "--out", "m", "--force")
    assert "folder" in refused("fit", "a.csv", "--out", "none/m")
    os.mkdir("folder")
    assert "is a folder" in refused("fit", "a.csv", "--out", "folder")


def test_the_output_is_checked_before_data_is_read(here):
    assert "does not exist" in refused("fit", "absent.csv", "--out", "none/m")


# ---- predict ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", WRITERS)
def test_predict_prints_the_clusters_of_the_library(here, model, name):
    WRITERS[name](here / name)
    lines = good("predict", "m.safetensors", name, "--only", "--scores").stdout.splitlines()
    assert lines[0] == "cluster,score"
    got = np.array([line.split(",") for line in lines[1:]], float)
    table = pd.DataFrame(X, columns=["x", "y"])
    assert (got[:, 0] == model.predict(table)).all()
    assert (got[:, 1] == model.score_samples(table)).all()


def test_a_row_far_from_all_clusters_has_no_cluster(here, model):
    text = "x,y\n0,0\n50,50\n"
    assert good("predict", "m.safetensors", "-", stdin=text).stdout.splitlines()[2] == "50,50,-1"


def test_columns_are_matched_by_name_or_position(here, model):
    write_csv(here / "a.csv")
    expected = good("predict", "m.safetensors", "a.csv", "--only").stdout
    swapped = np.column_stack([X[:, 1], X[:, 0]])
    write_csv(here / "b.csv", swapped, header="y,x,kind", extra=lambda k: ",word")
    assert good("predict", "m.safetensors", "b.csv", "--only").stdout == expected
    write_csv(here / "c.csv", header=None)
    assert good("predict", "m.safetensors", "c.csv", "--only").stdout == expected  # by position
    write_csv(here / "d.csv", swapped, header="b,a")
    assert good("predict", "m.safetensors", "d.csv", "--columns", "a,b", "--only").stdout == expected


def test_missing_columns_are_refused(here, model):
    write_csv(here / "a.csv", header="x,z")
    message = refused("predict", "m.safetensors", "a.csv")
    assert "the model needs the columns x, y, but y is missing; the columns are x, z" in message
    write_csv(here / "b.csv", np.ones((3, 3)), header=None)
    message = refused("predict", "m.safetensors", "b.csv")
    assert "the model needs 2 columns (x, y), but got 3: 0, 1, 2" in message
    good("predict", "m.safetensors", "b.csv", "--exclude", "2")


def test_skipped_rows_have_empty_cells(here, model):
    text = "x,y\n0,0\nbroken\n0,\n0,4\n"
    message = refused("predict", "m.safetensors", "-", stdin=text)
    assert "row 1 (line 3 of standard input): has 1 cells" in message
    a, b = map(str, model.predict(pd.DataFrame({"x": [0, 0], "y": [0, 4]})))
    assert a != b
    done = good("predict", "m.safetensors", "-", "--only", "--on-bad", "skip", stdin=text)
    assert done.stdout.splitlines() == ["cluster", a, '""', '""', b]
    assert "2 of 4 rows could not be read" in done.stderr
    done = good("predict", "m.safetensors", "-", "--only", "--on-bad", "skip", "--scores", stdin=text)
    assert done.stdout.splitlines()[2:4] == [",", ","]
    np.save("a.npy", np.array([[0.0, 0.0], [np.nan, 0.0], [0.0, 4.0]]))
    assert good("predict", "m.safetensors", "a.npy", "--only", "--on-bad", "skip").stdout.splitlines()[
        1:
    ] == [
        a,
        '""',
        b,
    ]
    done = call("predict", "m.safetensors", "a.npy", "--only")
    assert done.stdout.splitlines() == ["cluster", a]  # all rows before the bad one
    assert "got NaN at row 1, column '0'" in done.stderr


KEPT = {
    "a.csv": ('x;name;y\n0;Zoë;0\n0;"a;b";4\n', "x;name;y;cluster", ["0;Zoë;0;{}", '0;"a;b";4;{}']),
    "b.csv": ("0,0\n0,4.0\n", None, ["0,0,{}", "0,4.0,{}"]),
    "c.csv": ("x y\n0  0\n0 4\n", "x y cluster", ["0  0 {}", "0 4 {}"]),
    "d.jsonl": (
        '{"y": 0, "x": 0.0, "at": "Zoë"}\n{ "x": 0, "y": 4 }\n',
        None,
        ['{{"y": 0, "x": 0.0, "at": "Zoë", "cluster": {}}}', '{{"x": 0, "y": 4, "cluster": {}}}'],
    ),
    "e.jsonl": ("[0, 0]\n[0, 4]\n", None, ["[0, 0, {}]", "[0, 4, {}]"]),
}


@pytest.mark.parametrize("name", KEPT)
def test_predict_keeps_the_lines_of_a_text_file(here, model, name):
    text, header, lines = KEPT[name]
    (here / name).write_text(text)
    clusters = model.predict(pd.DataFrame({"x": [0, 0], "y": [0, 4]}))
    expected = [line.format(cluster) for line, cluster in zip(lines, clusters, strict=True)]
    expected = expected if header is None else [header, *expected]
    done = good("predict", "m.safetensors", name)
    assert done.stdout.splitlines() == expected
    assert good("predict", "m.safetensors", "-", stdin=text).stdout == done.stdout
    good("predict", "m.safetensors", name, "--out", "out")
    assert (here / "out").read_text() == done.stdout


def test_predict_writes_other_files_as_csv_with_all_columns(here, model):
    a, b = model.predict(pd.DataFrame({"x": [0, 0], "y": [0, 4]})).tolist()
    days = pa.array([0, 1], pa.date32())
    table = {"note": ["a, b", None], "y": [0.0, 4.0], "day": days, "x": [0, 0]}
    parquet.write_table(pa.table(table), "a.parquet")
    assert good("predict", "m.safetensors", "a.parquet").stdout.splitlines() == [
        "note,y,day,x,cluster",
        f'"a, b",0.0,1970-01-01,0,{a}',
        f",4.0,1970-01-02,0,{b}",
    ]
    for order in "CF":
        np.save("a.npy", np.array([[7.0, 0.0, 0.0], [7.0, 0.0, 4.0]], order=order))
        done = good("predict", "m.safetensors", "a.npy", "--columns", "1,2")
        assert done.stdout.splitlines() == [f"7.0,0.0,0.0,{a}", f"7.0,0.0,4.0,{b}"]


def test_lines_of_skipped_rows_are_kept_and_filled_up(here, model):
    a, b = model.predict(pd.DataFrame({"x": [0, 0], "y": [0, 4]})).tolist()
    skip = ["--on-bad", "skip"]
    done = good("predict", "m.safetensors", "-", *skip, stdin="x,y\n0,0\nbroken\n0,\n0,4\n")
    assert done.stdout.splitlines() == ["x,y,cluster", f"0,0,{a}", "broken,,", "0,,", f"0,4,{b}"]
    done = good("predict", "m.safetensors", "-", *skip, stdin='{"x": 0, "y": 0}\nbroken\n{"x": 0}\n')
    assert [json.loads(line) for line in done.stdout.splitlines()] == [
        {"x": 0, "y": 0, "cluster": a},
        {"cluster": None},
        {"x": 0, "cluster": None},
    ]


def test_a_column_that_predict_would_add_must_not_exist(here, model):
    (here / "a.csv").write_text("x,y,cluster\n0,0,1\n")
    message = refused("predict", "m.safetensors", "a.csv")
    assert "has a column 'cluster' already. Rename it, or add --only" in message
    good("predict", "m.safetensors", "a.csv", "--only")


def test_decimal_commas_are_read_and_written(here):
    rows = [";".join(repr(value).replace(".", ",") for value in row) for row in X.tolist()]
    (here / "a.csv").write_text("\n".join(["x;y", *rows]) + "\n")
    good("fit", "a.csv", "--out", "m", "--width", "1")
    same = GaussianNeurons(width=1.0, random_state=0).fit(X)
    assert GaussianNeurons.load("m").centers_.tobytes() == same.centers_.tobytes()
    lines = good("predict", "m", "a.csv", "--scores").stdout.splitlines()
    assert lines[0] == "x;y;cluster;score"
    assert lines[1].startswith(rows[0] + ";")
    scores = [float(line.split(";")[3].replace(",", ".")) for line in lines[1:]]
    assert scores == same.score_samples(X).tolist()


def test_the_output_file_is_written_as_a_whole(here, model):
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


def test_info_shows_the_facts_of_a_model(here, model):
    shown = good("info", "m.safetensors").stdout
    for words in ("3 of at most 50", "100,000", "2 (x, y)", "width=1.0", "random_state=0", "twin of"):
        assert words in shown
    info = json.loads(good("info", "m.safetensors", "--json").stdout)
    assert info["clusters"] == 3
    assert info["columns"] == ["x", "y"]
    assert info["parameters"]["width"] == 1.0
    assert info["samples_seen"] == 100_000
    assert (X.min(axis=0) <= info["domain"]["low"]).all()
    assert (X.max(axis=0) >= info["domain"]["high"]).all()
    assert [one["learned"] for one in info["neurons"]] == model.learned_.tolist()
    lines = [line.split() for line in shown[shown.index("twin of") :].splitlines()]
    numbers = [int(line[0]) for line in lines if len(line) == 8 and line[0].isdecimal()]
    assert numbers[:3] == np.flatnonzero(model.learned_).tolist()
    assert len(set(numbers)) == len(numbers) == 3 + 16  # those without a cluster are shortened
    assert [one["share"] for one in info["neurons"]] == model.diagnosis_.share.tolist()
    assert [one["center"] for one in info["neurons"]] == model.centers_.tolist()
    clusters = [one["cluster"] for one in info["neurons"] if one["learned"]]
    assert clusters == [0, 1, 2]


def test_info_names_a_checkpoint(here):
    write_csv(here / "a.csv")
    good("fit", "a.csv", "-o", "m", "--one-pass", "--checkpoint", "run")
    assert "a checkpoint at 3,000 samples" in good("info", "run").stdout
    assert "checkpoint" not in good("info", "m").stdout
    assert json.loads(good("info", "run", "--json").stdout)["checkpoint"]["samples"] == 3000


def test_info_shortens_the_table_of_many_neurons(here):
    write_csv(here / "a.csv")
    good("fit", "a.csv", "-o", "m", "--width", "1", "--neurons", "60")
    learned = GaussianNeurons.load("m").n_clusters_
    assert f"and {60 - 16 - learned} more without a cluster" in good("info", "m").stdout
    assert len(json.loads(good("info", "m", "--json").stdout)["neurons"]) == 60


def test_info_of_a_model_before_its_domain_is_known(here):
    write_csv(here / "a.csv", X[:100])
    good("fit", "a.csv", "-o", "m", "--one-pass")
    assert "unknown until" in good("info", "m").stdout
    assert json.loads(good("info", "m", "--json").stdout)["domain"] is None


def test_doubtful_results_are_reported_once_in_the_words_of_the_command_line(here):
    write_csv(here / "a.csv", X[:40])
    done = good("fit", "a.csv", "-o", "m")
    assert done.stderr.count("Warning:") == 1
    assert "Warning: 40 rows are few for 50 neurons" in done.stderr
    assert "Use more rows, or --neurons 8." in done.stderr
    assert good("info", "m").stderr == good("predict", "m", "a.csv", "--only").stderr == ""


def test_an_index_of_pandas_is_not_learned_and_texts_that_cannot_be_read_are_explained(here):
    import pandas as pd

    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(50, 2)), columns=["a", "b"])
    frame.sample(frac=1, random_state=0).to_parquet("a.parquet")
    assert "50 rows of 2 columns: a, b" in good("fit", "a.parquet", "-o", "m").stdout
    assert good("predict", "m", "a.parquet").stdout.startswith("a,b,cluster\n")
    (here / "t.csv").write_text("a;b\n1.234,5;2\n2.000,1;3\n")
    assert "without separators of thousands" in refused("fit", "t.csv", "-o", "x")
    (here / "u.csv").write_text("a,b\n1,2\n", encoding="utf-16")
    assert "Save it as UTF-8" in refused("fit", "u.csv", "-o", "x")
