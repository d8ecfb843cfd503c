"""Sweeps: the right number on a plateau, the same on all backends of joblib, wrong arguments."""

import copy
import json
import os
import signal
import subprocess
import sys
import threading
import warnings

import joblib
import numpy as np
import pytest
from matplotlib.figure import Figure

from gaussian_neurons import plotting, sweep
from gaussian_neurons.base.bad_rows import BadRow
from gaussian_neurons.datasets.synthetic import Mixture
from gaussian_neurons.sampling import Iterated, Rows
from gaussian_neurons.sweeping import Sweep, ladder
from tests.runs import same
from tests.waiting import wait_for

X = Mixture(4, seed=2, dtype=np.float64).read(3000)
QUICK = {"n_neurons": 12, "widths": 5, "inhibitions": (0.5, 1.0), "seeds": 2, "n_jobs": 1}


def map_of(*layers, n_neurons=9):
    """A sweep that found these counts: for each seed a map (W, L)."""
    counts = np.stack(layers, axis=2)
    widths, inhibitions = 2.0 ** np.arange(counts.shape[0]), 1.0 + np.arange(counts.shape[1])
    seeds = tuple(range(counts.shape[2]))
    response = np.where(counts < 0, np.nan, 0.5)
    return Sweep(widths, inhibitions, seeds, counts, response, (), 1000, {"n_neurons": n_neurons})


def test_a_sweep_of_scaled_columns_is_that_of_standardized_ones():
    units = np.array([1.0, 2.0**30])
    with pytest.warns(UserWarning, match=r"columns differ in scale: that of column 1 \("):
        sweep(X * units, 1000, widths=[1.0], inhibitions=[0.5], seeds=1, n_jobs=1)
    one = sweep(X, 5000, scale="columns", **QUICK)
    other = sweep(X * units, 5000, scale="columns", **QUICK)
    np.testing.assert_array_equal(one.widths, other.widths)
    np.testing.assert_array_equal(one.n_clusters, other.n_clusters)
    assert same(Sweep.from_dict(one.to_dict()).model().fit(X), one.model().fit(X))
    assert 0.1 < one.widths[-1] < 100  # in scaled columns


@pytest.fixture(scope="module")
def found():
    return sweep(X, 10_000, n_neurons=12, widths=8, seeds=2, n_jobs=1)


# ---- plateaus, worked out by hand -----------------------------------------------------------------------


def test_the_largest_region_that_agrees_is_the_plateau():
    counts = np.array([[7, 6], [3, 3], [3, 3], [3, 2], [2, 2], [1, 1], [1, 1], [1, 1], [1, 1]])
    found = map_of(counts).plateau()
    assert (found.n_clusters, found.agreement) == (3, 1.0)
    assert found.cells.tolist() == (counts == 3).tolist()
    # Its cells have their mean at (1.8, 0.4); the nearest of them is (2, 0).
    assert (found.width, found.inhibition, found.seed) == (4.0, 1.0, 0)


def test_regions_that_touch_only_at_a_corner_are_separate():
    counts = np.array([[3, 8], [8, 3], [2, 2], [8, 7]])
    assert map_of(counts).plateau().n_clusters == 2
    counts = np.array([[3, 8], [3, 8], [8, 3], [8, 3], [2, 2], [2, 8]])
    assert map_of(counts).plateau().n_clusters == 2


def test_a_plateau_is_weighed_by_runs_not_cells():
    """Three cells with 4 clusters by one seed of three weigh less than two cells by all."""
    seeds = [[[4], [4], [4], [6], [5], [5]], [[3], [3], [2], [6], [5], [5]], [[8], [8], [8], [6], [5], [5]]]
    found = map_of(*(np.array(one) for one in seeds))
    assert found.typical.ravel().tolist() == [4, 4, 4, 6, 5, 5]
    assert found.spread.ravel().tolist() == [5, 5, 6, 0, 0, 0]
    assert (found.plateau().n_clusters, found.plateau().width) == (5, 16.0)


def test_trivial_counts_are_no_plateau():
    assert map_of(np.array([[9, 9], [1, 1], [0, 0], [-1, -1]])).plateau() is None
    assert "no plateau" in repr(map_of(np.array([[9, 1]])))
    with pytest.raises(ValueError, match="the sweep has no plateau"):
        map_of(np.array([[9, 1]])).model()


def test_failures_do_not_count_and_the_median_is_the_lower_one():
    found = map_of(np.array([[-1], [2], [-1]]), np.array([[5], [3], [-1]]), np.array([[6], [4], [-1]]))
    assert found.typical.ravel().tolist() == [5, 3, -1]
    assert found.spread.ravel().tolist() == [1, 2, 0]


# ---- what is found --------------------------------------------------------------------------------------


def test_four_clusters_are_found_by_the_plateau_and_by_its_model(found):
    plateau = found.plateau()
    assert plateau.n_clusters == 4
    assert plateau.cells.sum() >= 6
    model = found.model().fit(X)
    assert model.n_clusters_ == 4
    nearest = ((model.cluster_centers_[:, None] - Mixture(4, seed=2).places) ** 2).sum(axis=2).min(axis=1)
    assert nearest.max() < 0.03**2
    assert "4 clusters around width" in repr(found)
    assert (found.mean_response[found.n_clusters > 0] > 0).all()


def test_a_stream_is_read_from_its_position_and_left_there():
    stream = Mixture(4, seed=2).seek(100)
    found = sweep(stream, 2000, **QUICK)
    assert stream.position == 100
    model = found.model(float(found.widths[2]), 1.0, 1).learn(stream, 2000)
    assert model.n_clusters_ == found.n_clusters[2, 1, 1]


def test_the_result_is_the_same_on_all_joblib_backends():
    quick = QUICK | {"widths": 2, "seeds": 1}
    others = [sweep(X, 500, **quick | {"n_jobs": 2})]
    for backend in ("threading", "sequential"):
        with joblib.parallel_config(backend=backend, n_jobs=2):
            others.append(sweep(X, 500, **quick | {"n_jobs": None}))
    expected = sweep(X, 500, **quick).to_dict()
    for other in others:
        assert other.to_dict() == expected


@pytest.mark.parametrize(
    ("data", "n_samples", "options"),
    [
        (X, 7000, {}),
        (X, 700, {}),  # fewer than the first data
        (X * np.repeat([1.0, 9.0], 1500)[:, None], 5000, {"scale": "columns"}),  # renewed in between
        (X, 3000, {"covariance_type": "full", "covariance": [[2.0, 1.0], [1.0, 2.0]]}),
        (X.astype(np.float32), 2500, {"init": "uniform", "domain": (0, 1), "repulsion_every": 3}),
        (Rows(X, passes=2), 5500, {}),
        (Rows(X), 90, {}),
    ],
)
def test_each_model_is_that_of_the_estimator(data, n_samples, options):
    """Bit for bit: the mean response is a number of all neurons and recent samples."""
    found = sweep(data, n_samples, **QUICK | {"widths": 3, "n_jobs": 3} | options)
    assert (found.n_clusters >= 0).all()
    for w, k, s in np.ndindex(found.n_clusters.shape):
        model = found.model(float(found.widths[w]), float(found.inhibitions[k]), found.seeds[s])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if isinstance(data, Rows):
                model.learn(copy.copy(data), n_samples, progress=False)
            else:
                model.fit(data)
        facts = model.diagnosis_
        share = facts.share[facts.learned]
        response = share @ facts.mean_response[facts.learned] / share.sum() if share.any() else 0.0
        assert (found.n_clusters[w, k, s], found.mean_response[w, k, s]) == (model.n_clusters_, response)


def test_a_small_plateau_is_weak():
    """By hand: 8 of 12 runs for 2 clusters are 2/3 of the map, more than 1/2; 5 of 12 are less."""
    strong = map_of(np.array([[2, 2], [2, 2], [2, 2], [2, 2], [1, 1], [1, 1]])).plateau()
    weak = map_of(np.array([[7, 5], [4, 3], [2, 2], [2, 2], [1, 2], [1, 1]])).plateau()
    assert (strong.support, strong.weak) == (8 / 12, False)
    assert (weak.support, weak.weak) == (5 / 12, True)
    assert "weak" in str(weak)
    assert "weak" not in str(strong)


def test_widths_scale_with_the_data():
    widths = ladder(X, 12)
    assert len(widths) == 12
    assert np.allclose(ladder(100 * X, 12), 1e4 * widths)
    few = np.array([[0.0], [0.0], [1.0]])  # two places: from a tenth of 1 to the 95 % quantile, 1
    assert np.allclose(ladder(few, 5, 3), [0.1, 0.316, 1.0])
    for rows in (np.ones((50, 2)), X[:1]):
        with pytest.raises(ValueError, match="all the same"):
            sweep(rows, **QUICK)


def test_one_neuron_has_widths_of_a_decade():
    assert np.allclose(ladder(np.array([[0.0], [1.0]]), 1, 3), [0.1, 0.316, 1.0])
    assert (sweep(X, 1500, **QUICK | {"n_neurons": 1}).n_clusters <= 1).all()


def test_distances_that_underflow_beside_larger_ones_do_not_matter():
    """The narrowest width is the least that the precision resolves, 2^-1022 / 2^-52."""
    near = np.column_stack([np.arange(200) % 2, X[:200] * 1e-170])
    widths = ladder(near, 50, 3)
    assert widths[0] == pytest.approx(2.0**-970, rel=0.01)
    assert widths[-1] == 1.0


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (X * 1e160, "so far apart that squared distances overflow"),
        (X * 1e-170, "differ by so little that float64 cannot resolve"),
        (X.astype(np.float32) * np.float32(1e-20), "differ by so little that float32 cannot resolve"),
    ],
)
def test_widths_cannot_be_derived_at_the_limits_of_the_precision(data, says):
    for source in (data, Rows(data, passes=1)):
        with pytest.raises(ValueError, match=says):
            sweep(source, **QUICK)


@pytest.mark.parametrize("rows", [X[[0]], X[[0, 0]], X[:2], X[:4], X * [1.0, 0.0]])
@pytest.mark.parametrize("n_samples", [1, 500])
def test_few_or_flat_rows_have_a_result(rows, n_samples):
    found = sweep(rows, n_samples, **QUICK | {"widths": 1 if len(rows) > 2 else [1.0]})
    assert found.n_clusters.shape == (1, 2, 2)
    assert not found.failures


def test_a_sweep_is_stored_as_json(found):
    stored = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    again = Sweep.from_dict(stored)
    assert again.to_dict() == found.to_dict()
    assert stored["plateau"]["n_clusters"] == 4
    assert same(again.model().fit(X), found.model().fit(X))


def test_models_that_diverge_are_reported_and_the_others_are_learned():
    rate = {"learning_rate": 1e10, "widths": (1e-30, 10.0)}
    found = sweep(X.astype(np.float32), 2000, **QUICK | rate)
    failed = found.n_clusters == -1
    assert failed[0].any()
    assert not failed[1].any()
    assert np.isnan(found.mean_response[failed]).all()
    assert len(found.failures) == failed.sum()
    assert "failed" in repr(found)
    assert "learning_rate=1e+10 is too large for a width of 1e-30" in found.failures[0].reason
    single = sweep(X.astype(np.float32), 2000, **QUICK | {"widths": (1e-60, 1.0)})
    assert "out of the range of float32" in single.failures[0].reason
    few = sweep(Rows(X.astype(np.float32)), 500, **QUICK | rate)  # learned when asked
    assert (few.n_clusters == -1)[0].any()
    assert not (few.n_clusters == -1)[1].any()
    assert "learning_rate=1e+10 is too large" in few.failures[0].reason
    assert json.dumps(found.to_dict(), allow_nan=False)


def test_learning_nothing_is_no_warning_in_a_sweep():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = sweep(X, 1000, **QUICK | {"widths": [1e-12], "init": "uniform", "domain": (5, 6)})
    assert (found.n_clusters == 0).all()


# ---- wrong arguments -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"widths": "wide"}, "widths must be a list of numbers, got 'wide'"),
        ({"widths": []}, "widths must be a list"),
        ({"widths": 0}, "widths must be a whole number of at least 1"),
        ({"widths": [0.0, 1.0]}, "widths must be above 0"),
        ({"widths": [np.nan]}, "widths must be finite"),
        ({"inhibitions": 0.5}, "inhibitions must be a list of numbers"),
        ({"inhibitions": [-1.0]}, "inhibitions must be finite and at least 0"),
        ({"seeds": "0-3"}, "seeds must be a list of whole numbers, or their count"),
        ({"seeds": [0.5]}, "seeds must be a whole number"),
        ({"n_neurons": 0}, "n_neurons must be a whole number"),
        ({"init": "random"}, "init must be 'auto', one of"),
        ({"learning_rate": "fast"}, "learning_rate must be a number or 'auto'"),
        ({"n_samples": 0}, "n_samples must be a whole number"),
    ],
)
def test_wrong_arguments_are_refused_before_learning(options, says):
    with pytest.raises(ValueError, match=says):
        sweep(X, **QUICK | options)


def test_data_that_cannot_be_read_again_is_refused():
    with pytest.raises(TypeError, match="can be read only once"):
        sweep(iter(X), **QUICK)
    with pytest.raises(TypeError, match="gives each item only once"):
        sweep(Iterated(iter(X)), **QUICK)
    with pytest.raises(TypeError, match="rows_from_file"):
        sweep("a.csv", **QUICK)
    with pytest.raises(ValueError, match="one dimension"):
        sweep(X[0], **QUICK)
    with pytest.raises(ValueError, match="never ends: give the number of samples"):
        sweep(Mixture(4), **QUICK)
    with pytest.raises(ValueError, match="holds no samples"):
        sweep(Rows(X, passes=1).seek(len(X)), **QUICK)
    bad = X.copy()
    bad[2000] = np.nan
    for data in (bad, Rows(bad, passes=1)):
        with pytest.raises(BadRow, match="2000"):
            sweep(data, **QUICK | {"n_jobs": 2})


class Announced(Rows):
    """Rows that write a file once a model has begun to learn from them."""

    note = None

    def draw(self, first, count):
        if first > 0:
            self.note.touch()
        return super().draw(first, count)


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_interrupt_ends_a_sweep(jobs, tmp_path):
    rows = Announced(X)
    rows.note = tmp_path / "learning"

    def interrupt():
        wait_for(rows.note.exists)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        sweep(rows, 10**10, **QUICK | {"n_jobs": jobs})
    thread.join()


def test_sweep_is_listed_without_being_imported():
    code = "import sys, gaussian_neurons as g; 'sweep' in dir(g); print('sklearn' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


# ---- the picture ----------------------------------------------------------------------------------------


def test_the_map_shows_the_numbers_and_frames_the_plateau(found):
    axes = Figure().subplots()
    plotting.sweep_map(axes, found)
    bold = [text.get_text() for text in axes.texts if text.get_weight() == "bold"]
    assert bold == ["4"] * int(found.plateau().cells.sum())
    assert axes.get_xticklabels()[0].get_text() == f"{found.widths[0]:.2g}"


def test_the_frame_of_three_cells_has_eight_sides_and_other_maps_none():
    cells = np.array([[3, 3], [3, 8], [1, 0], [-1, 9]])
    axes = Figure().subplots()
    plotting.sweep_map(axes, map_of(cells))
    frame, middle = axes.collections
    assert "weak" not in axes.get_xlabel()
    assert len(frame.get_segments()) == 8
    assert middle.get_offsets().tolist() == [[0, 0]]
    assert [text.get_text() for text in axes.texts] == ["3", "3", "3", "8", "1", "0", "×", "9"]
    axes = Figure().subplots()
    plotting.sweep_map(axes, map_of(np.array([[1], [9]])))
    assert not axes.collections


def test_the_map_says_that_a_plateau_is_weak():
    axes = Figure().subplots()
    plotting.sweep_map(axes, map_of(np.array([[7, 5], [4, 3], [2, 2], [2, 2], [1, 2], [1, 1]])))
    assert "weak plateau" in axes.get_xlabel()
