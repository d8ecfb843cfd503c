"""The demo: its numbers, its picture, and its picture again from the numbers."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from gaussian_neurons.experiments import demo


@pytest.fixture(scope="module")
def result():
    return json.loads(json.dumps(demo.run(demo.Config(n_samples=50_000))))


def test_it_finds_the_clusters(result):
    assert abs(result["clusters_found"] - result["clusters_true"]) <= 1
    assert result["adjusted_rand_index"] > 0.97
    assert result["clusters_found"] == sum(result["learned"])


def test_the_picture_is_drawn_from_the_result_alone(result, tmp_path):
    demo.draw(result, tmp_path / "demo.png")
    assert (tmp_path / "demo.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "demo.png").stat().st_size > 20_000


def test_the_table_tells_what_was_found(result):
    text = demo.table(result)
    for name in ("neurons learned", "clusters found", "adjusted Rand index", "samples a second"):
        assert name in text


def test_the_command_leaves_its_files(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "gaussian_neurons.experiments.demo", "--out", str(tmp_path)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "clusters found" in done.stdout
    assert {path.name for path in Path(tmp_path).iterdir()} == {"demo.json", "demo.png"}
