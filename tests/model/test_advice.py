"""Advice: each kind is given once per model, only if it holds, and says what to do."""

import warnings

import numpy as np
import pytest

from gaussian_neurons import GaussianNeurons
from gaussian_neurons.model.advice import AdviceWarning

PLACES = np.array([[i % 5, i % 4] for i in range(20)]) * 10.0


def blobs(count, n, seed=0):
    random = np.random.default_rng(seed)
    return random.normal(PLACES[random.integers(count, size=n)], 0.5)


def said(work):
    """The advice that is given meanwhile."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        work()
    assert all(one.category is AdviceWarning for one in found)
    assert not any("\n" in str(one.message) for one in found)
    return [str(one.message) for one in found]


@pytest.mark.parametrize("step", [100, 1000, 8000])
def test_too_few_neurons_are_reported_once(step):
    X, model = blobs(20, 8000), GaussianNeurons(16, random_state=0)
    texts = said(lambda: [model.partial_fit(X[begin : begin + step]) for begin in range(0, 8000, step)])
    assert len(texts) == 1
    assert texts[0].startswith("16 clusters are many for 16 neurons")
    assert said(lambda: model.partial_fit(X)) == []
    assert len(said(lambda: model.fit(X))) == 1  # it starts over


def test_the_advised_number_of_neurons_is_enough():
    X = blobs(20, 8000)
    model = GaussianNeurons(64, random_state=0)
    assert said(lambda: model.partial_fit(X)) == []
    assert model.n_clusters_ == 20


def test_a_loaded_model_does_not_repeat_it(tmp_path):
    X, model = blobs(20, 8000), GaussianNeurons(16, random_state=0)
    said(lambda: model.partial_fit(X))
    model.save(tmp_path / "m")
    loaded = []
    assert said(lambda: loaded.append(GaussianNeurons.load(tmp_path / "m"))) == []
    assert said(lambda: loaded[0].partial_fit(X)) == []


def test_nothing_is_said_before_clusters_have_settled():
    assert said(lambda: GaussianNeurons(16, random_state=0).partial_fit(blobs(20, 3000))) == []


def test_few_rows_are_reported_and_the_advice_helps():
    X = blobs(3, 40)
    (text,) = said(lambda: GaussianNeurons(random_state=0).fit(X))
    assert text.startswith("40 rows are few for 50 neurons")
    assert "n_neurons=8" in text
    advised = GaussianNeurons(8, random_state=0)
    said(lambda: advised.fit(X))
    assert advised.n_clusters_ == 3


def test_one_cluster_is_reported_with_its_evidence_by_fit_only():
    X = np.random.default_rng(0).normal(size=(2000, 2))
    model = GaussianNeurons(random_state=0)
    (text,) = said(lambda: model.fit(X))
    counts = model.cluster_counts_
    other = max((count for count in counts if count > 1), key=lambda count: counts[count])
    assert f"{other} clusters have {counts[1] - counts[other]:.3g} less" in text
    for given in ({"n_clusters": 1}, {"n_neurons": 3}):
        assert said(lambda given=given: GaussianNeurons(random_state=0, **given).fit(X)) == []
    assert said(lambda: GaussianNeurons(random_state=0).partial_fit(np.tile(X, (4, 1)))) == []


def test_samples_out_of_reach_of_a_given_width_are_reported():
    """Sixteen neurons cannot be on twenty clusters."""
    model = GaussianNeurons(16, width=1.5, init="spread", random_state=0)
    (text,) = said(lambda: model.fit(blobs(20, 8000)))
    assert "are out of reach of all clusters" in text
    assert (model.predict(blobs(20, 8000)) == -1).mean() > 0.25
    enough = GaussianNeurons(50, width=6.0, init="spread", random_state=0)
    assert said(lambda: enough.fit(blobs(5, 8000))) == []


def test_given_widths_with_a_cluster_for_each_neuron_are_reported():
    model = GaussianNeurons(5, width=1.5, init=PLACES[:5], random_state=0)
    (text,) = said(lambda: model.fit(blobs(5, 5000)))
    assert text.startswith("all 5 neurons are clusters")


def test_a_stream_that_no_neuron_learns_from_is_reported_once():
    X, model = blobs(20, 50_000), GaussianNeurons(20, width=1e-4, random_state=0)
    texts = said(lambda: [model.partial_fit(X) for _ in range(3)])
    assert model.n_clusters_ == 0
    assert len(texts) == 1
    assert texts[0].startswith("100% of the last samples are out of reach")


def test_one_row_gets_no_advice_that_cannot_help():
    assert said(lambda: GaussianNeurons(random_state=0).fit([[1.0, 2.0]]))[0].endswith("Use more rows.")
