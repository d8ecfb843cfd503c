"""Shared by the tests of the command line: three clusters in files, and calls of commands."""

import json
import sys

import numpy as np
import pyarrow as pa
from pyarrow import parquet
from typer.testing import CliRunner

from gaussian_neurons.cli import app

CENTERS = np.array([[0.0, 0.0], [0.0, 4.0], [4.0, 0.0]])
KINDS = np.random.default_rng(0).integers(3, size=3000)
X = np.random.default_rng(1).normal(CENTERS[KINDS], 0.4).round(4)
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


def call(*arguments, stdin=None):
    return CliRunner().invoke(app, [str(one) for one in arguments], input=stdin)


def good(*arguments, stdin=None):
    done = call(*arguments, stdin=stdin)
    assert done.exit_code == 0, done.output
    return done


def refused(*arguments, stdin=None):
    """The error message of a command that must fail."""
    done = call(*arguments, stdin=stdin)
    assert done.exit_code == 1, done.output
    assert done.stderr.startswith("Error: ")
    assert done.stderr.count("\n") == 1
    return done.stderr
