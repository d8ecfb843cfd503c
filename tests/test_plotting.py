"""Plots of a model."""

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from matplotlib.figure import Figure

from gaussian_neurons import GaussianNeurons, plotting
from gaussian_neurons.datasets.synthetic import Mixture

X = Mixture(4, seed=2, dtype=np.float64).read(3000)


def test_the_score_of_each_number_of_clusters_is_shown_and_the_present_number_marked():
    model = GaussianNeurons(12, random_state=0).partial_fit(X)
    axes = Figure().subplots()
    assert plotting.cluster_counts(model, axes) is axes
    curve = next(line for line in axes.lines if len(line.get_xdata()) > 2)
    assert dict(zip(*curve.get_data(), strict=True)) == model.cluster_counts_
    (ring,) = axes.collections
    assert ring.get_offsets().tolist() == [[4, model.cluster_counts_[4]]]
    assert [text.get_text() for text in axes.texts] == ["4"]


def test_the_scores_of_a_given_width_are_not_plotted():
    model = GaussianNeurons(12, width=0.01, random_state=0).partial_fit(X)
    with pytest.raises(AttributeError, match="width='auto'"):
        plotting.cluster_counts(model, Figure().subplots())
