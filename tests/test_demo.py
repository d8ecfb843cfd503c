"""The demo: its output, its numbers, its picture; plots of neurons."""

import json
import os

import numpy as np
import pytest
from matplotlib.figure import Figure
from typer.testing import CliRunner

from gaussian_neurons.cli import app
from gaussian_neurons.experiments import demo
from gaussian_neurons.plotting import filters, plane


@pytest.fixture(scope="module")
def output(tmp_path_factory):
    """The folder and the text that the command leaves."""
    folder = tmp_path_factory.mktemp("demo")
    done = CliRunner().invoke(app, ["demo", "--out", str(folder)])
    assert done.exit_code == 0, done.output
    assert done.stderr == ""
    return folder, done.stdout


@pytest.fixture(scope="module")
def result(output):
    return json.loads((output[0] / "demo.json").read_text())


def test_the_command_writes_a_picture_and_the_numbers(output):
    folder, text = output
    assert sorted(os.listdir(folder)) == ["demo.json", "demo.png"]
    assert (folder / "demo.png").read_bytes().startswith(b"\x89PNG")
    assert "of 16 neurons learned" in text


def test_neurons_learn_and_the_others_are_pushed_out(result):
    learned, distance = np.array(result["is_learned"]), np.array(result["domain_distance"])
    assert 5 <= result["learned"] == learned.sum() <= 9
    assert distance[learned].max() < 1.1 < 1.2 < distance[~learned].min()
    assert result["samples"] == 1_000_000
    assert result["data"]["images"] == [5000, 28, 28]


def test_the_table_has_a_column_for_each_neuron_and_marks_learned_ones(result):
    neuron, learned, distance, cosine = demo.rows(result)
    assert neuron[1:] == [str(k) for k in range(1, 17)]
    assert learned.count("*") == result["learned"]
    assert [float(d) for d in distance[1:]] == pytest.approx(result["domain_distance"], abs=0.051)
    assert len(cosine) == 17


def test_filters_of_a_wrong_shape_are_refused():
    axes = Figure().add_subplot()
    for shape, count in (((5, 4), 16), ((5, 5), 15), ((25,), 16)):
        with pytest.raises(ValueError, match="centers must be"):
            filters(axes, np.zeros((16, 25)), shape, np.ones(count, bool))


def test_colour_filters_mark_pixels_outside_the_domain():
    axes = Figure().add_subplot()
    centers = np.random.default_rng(0).random((5, 12))
    centers[1, 3:6] = (-0.5, 0.5, 1.5)  # one pixel, below and above
    image = filters(axes, centers, (2, 2, 3), np.array([True, False] * 2 + [True]), columns=5)
    assert image.get_array().shape[2] == 4
    assert len(axes.patches) == 5
    below, above = (dots.get_offsets().tolist() for dots in axes.collections)
    assert below == above == [[5.0, 0.0]]  # the second pixel of the second filter, after a gap of two


def test_filters_have_the_given_numbers_and_marks():
    axes = Figure().add_subplot()
    filters(axes, np.zeros((3, 4)), (2, 2), np.ones(3, bool), numbers=[1, 3, 4], marked=[1])
    assert [text.get_text() for text in axes.texts] == ["1", "3", "4"]
    assert len(axes.patches) == 4


def test_clusters_in_the_plane_are_circles_or_ellipses():
    turned = np.array([[5.0, 4.0], [4.0, 5.0]])  # half axes 3 along (1, 1) and 1 across
    for widths, expected in (
        (np.ones(2), (2.0, 2.0, 0.0)),
        (np.array([[4.0, 1.0], [1.0, 1.0]]), (4.0, 2.0, 0.0)),
        (np.array([turned, np.eye(2)]), (6.0, 2.0, 45.0)),
    ):
        axes = Figure().add_subplot()
        plane(axes, np.zeros((9, 2)), np.eye(2), widths, np.array([True, False]))
        (patch,) = axes.patches
        assert (patch.width, patch.height, patch.angle) == pytest.approx(expected)
