"""The computations of the benchmarks of quality, of the ablation and of repulsion."""

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("psutil")

from benchmarks import repulsion_cells
from benchmarks.quality import measure, sweep
from benchmarks.quality.drift import Curve, Point, read, write
from benchmarks.quality.measure import Outcome
from benchmarks.quality.results import Origin, Results, score, scored
from benchmarks.quality.sets import load, prepared
from benchmarks.quality.summary import cells, lines, lines_by_family, measured
from benchmarks.quality.systems import SYSTEMS, System, Task, ours
from benchmarks.repulsion import EVERY, SETTINGS, Match, Run, Speed, match, run
from benchmarks.repulsion import Results as RepulsionResults
from benchmarks.variants import Run as VariantRun
from benchmarks.variants import mean_of, patched, responses, run_set, standard_error, winner_takes_all
from gaussian_neurons.clustering import tree
from gaussian_neurons.datasets import ImageSet
from gaussian_neurons.learning import reference_shares

ORIGIN = Origin("1", "default", "rows", "a machine", 60.0)


def a_set(name="some/set"):
    return prepared(name, np.array([[0.0, 5], [1, 5], [8, 5], [9, 5]]), np.array([1, 1, 2, 0]), "compact")


def a_run(key="ours", seed=0, labels=(0, 0, 1, 1), microseconds=1.0, failed=None):
    """A run with these labels for the rows of `a_set`, before they are shuffled."""
    data = a_set()
    in_order = dict(zip([0.0, 1, 8, 9], labels, strict=True))
    raw = data.x[:, 0] * np.std([0, 1, 8, 9]) + np.mean([0, 1, 8, 9])
    found = np.array([in_order[round(value)] for value in raw])
    outcome = Outcome(failed=failed) if failed else Outcome(None, found, 2, microseconds, 3.0)
    return scored(key, data, seed, outcome, ORIGIN)


# ---- quality ----------------------------------------------------------------------------------------


def test_noise_is_not_scored():
    truth = np.array([1, 1, 2, 2, 0, 0])
    assert score(truth, np.array([5, 5, 7, 7, 5, 9])) == (1.0, 2)
    assert score(truth, np.array([5, 5, 5, 5, 6, 7])) == (0.0, 1)


def test_minus_one_is_a_group_but_not_a_cluster():
    assert score(np.array([1, 1, 2, 2]), np.array([0, 0, -1, -1])) == (1.0, 1)
    assert score(np.array([1, 1, 2, 2]), np.array([-1, -1, -1, -1])) == (0.0, 0)


def test_columns_are_standardised():
    data = a_set()
    assert data.x[:, 0].mean() == pytest.approx(0)
    assert data.x[:, 0].std() == pytest.approx(1)
    assert (data.x[:, 1] == 0).all()  # a constant column
    assert sorted(data.labels) == [0, 1, 1, 2]
    assert data.clusters == 2


def test_columns_can_keep_their_proportions():
    data = prepared("some/set", np.array([[0.0, 0.0], [2.0, 20.0]]), np.ones(2), "real", by_column=False)
    assert np.ptp(data.x, axis=0)[1] == pytest.approx(10 * np.ptp(data.x, axis=0)[0])
    assert data.x.mean(axis=0) == pytest.approx(0)


def test_suite_is_loaded_from_its_folder(tmp_path):
    for name in ("wut/x0", "graves/ring"):
        path = tmp_path / "clustering" / name
        path.parent.mkdir(parents=True)
        np.savetxt(f"{path}.data.gz", np.arange(12.0).reshape(4, 3))
        np.savetxt(f"{path}.labels0.gz", [1, 2, 2, 0], fmt="%d")
    first, second, *others = load(tmp_path)
    assert (first.name, first.x.shape, first.clusters, first.shape) == ("wut/x0", (4, 3), 2, "compact")
    assert (second.name, second.family, second.shape) == ("graves/ring", "shapes", "any")
    assert {data.family for data in others} == {"real"}
    assert {"sklearn/digits", "sklearn/digits_pca10"} <= {data.name for data in others}
    assert "mnist/pca20" not in {data.name for data in others}


class Recorder:
    """A learner that records the rows that it gets."""

    def __init__(self):
        self.seen = []

    def rows(self, x):
        return x

    def learn(self, rows):
        self.seen.append(rows)

    def predict(self, rows):
        return np.zeros(len(rows), int)

    def count(self):
        return 1


@pytest.mark.parametrize(("count", "batch", "times"), [(1999, False, 10), (2000, False, 1), (1999, True, 1)])
def test_online_systems_see_small_sets_ten_times_in_the_same_order(monkeypatch, count, batch, times):
    monkeypatch.setattr(measure, "reset_peak_memory", lambda: None)
    made = []

    def make(task):
        made.append(Recorder())
        return made[-1]

    monkeypatch.setitem(SYSTEMS, "recorder", System("Recorder", "numpy", "none", make, batch=batch))
    data = prepared("some/set", np.random.default_rng(0).normal(size=(count, 2)), np.ones(count), "compact")
    sent = []
    measure.learn_and_predict(sent.append, "recorder", Task(2, 1, 0), data.x, data.presentations)
    assert len(made[-1].seen) == times
    assert all(rows is data.x for rows in made[-1].seen)
    assert len(sent[-1].labels) == count


def test_results_are_read_as_written(tmp_path):
    results = Results(tmp_path / "some" / "quality.json")
    results.add(a_run())
    results.add(a_run(seed=1, failed="took over 60 s"))
    results.write()
    assert Results.read(results.path).runs == results.runs
    assert Results.read(tmp_path / "nothing.json").runs == {}


def test_stored_results_are_valid_only_for_the_same_origin():
    results, data = Results("nowhere"), a_set()
    for key in ("ours", "Birch"):
        results.add(a_run(key))
    assert results.has("Birch", data, 0, ORIGIN, ours_too=False)
    assert not results.has("Birch", data, 1, ORIGIN, ours_too=False)
    assert not results.has("Birch", data, 0, replace(ORIGIN, version="2"), ours_too=False)
    assert not results.has("ours", data, 0, ORIGIN, ours_too=False)
    assert results.has("ours", data, 0, ORIGIN, ours_too=True)


def test_only_missing_turns_are_run():
    systems = {"ours": SYSTEMS["ours"], "fixed": System("Fixed", "scikit-learn", "default", ours)}
    turns = [(key, seed) for key, _, seed, _ in sweep.turns(systems, a_set(), 3, 60.0)]
    assert turns == [("ours", 0), ("fixed", 0), ("ours", 1), ("ours", 2)]
    results, data = Results("nowhere"), a_set()
    systems = {"ours": SYSTEMS["ours"]}
    results.add(replace(a_run(), origin=Origin.of(systems["ours"], data, 60.0)))
    assert sweep.missing(results, systems, [data], 1, 60.0, ours_too=True, again=False) == []
    assert len(sweep.missing(results, systems, [data], 1, 60.0, ours_too=True, again=True)) == 1


def test_failed_system_is_not_run_with_other_seeds():
    results, data = Results("nowhere"), a_set()
    results.add(a_run("Birch", failed="took over 60 s"))
    sweep.take(("Birch", data, 3, ORIGIN), results)
    assert results.runs["some/set", "Birch", 3].failed == "took over 60 s"


def test_summary_counts_failed_runs_as_zero():
    results, data = Results("nowhere"), a_set()
    results.add(a_run("ours", microseconds=2.0))
    results.add(a_run("Birch", microseconds=8.0))
    results.add(a_run("DBSTREAM", labels=(4, 4, 4, 4)))
    results.add(a_run("DenStream", failed="took over 60 s"))
    found = {line.key: line for line in lines(cells(results, SYSTEMS, [data]), [data])}
    assert (found["ours"].score, found["ours"].exact, found["ours"].collapsed) == (1.0, 1, 0)
    assert found["Birch"].slower == 4.0
    assert (found["DBSTREAM"].score, found["DBSTREAM"].exact, found["DBSTREAM"].collapsed) == (0.0, 0, 1)
    assert (found["DenStream"].score, found["DenStream"].failed, found["DenStream"].off) == (0.0, 1, None)


def test_summary_of_a_family_has_the_systems_that_ran_on_all_its_sets():
    results, data, shaped = Results("nowhere"), a_set(), replace(a_set("other/set"), family="shapes")
    results.add(a_run("ours"))
    results.add(a_run("Birch"))
    results.add(replace(a_run("ours"), set="other/set"))
    sets = measured(results, [data, shaped, a_set("new/set")])
    assert sets == [data, shaped]
    families = lines_by_family(cells(results, SYSTEMS, sets), sets)
    assert {name: [line.key for line in own] for name, own in families.items()} == {
        "compact": ["ours", "Birch"],
        "shapes": ["ours"],
    }


def test_curves_are_read_as_written(tmp_path):
    points = [Point(1000, 3, 0.5, 2, None, 1.5), Point(2000, 3, 1.0, 3, 3, 1)]
    curve = Curve("ours", {"version": "1"}, None, points)
    write(tmp_path / "drift.json", {"ours": curve})
    assert read(tmp_path / "drift.json") == {"ours": curve}
    assert (curve.score, curve.off) == (0.75, 0.5)


# ---- ablation ---------------------------------------------------------------------------------------


def test_a_variant_is_undone():
    before = tree.REPRESENTED, tree._is_noise
    run_set("noise groups kept", a_set(), 1)
    with patched([(tree, "REPRESENTED", 0)]):
        assert tree.REPRESENTED == 0
    assert (tree.REPRESENTED, tree._is_noise) == before


def test_variants_share_a_sample_differently():
    """One neuron is on the sample, a second one of the same width is a distance of one width away."""
    given = np.zeros(1), np.array([[0.0], [1.0]]), np.ones(2)
    assert responses(*given) == pytest.approx([1, np.exp(-1)])
    assert winner_takes_all(*given).tolist() == [1, 0]
    assert reference_shares.shares(*given).sum() == pytest.approx(1)


def test_mean_of_a_family_weighs_sets_equally_and_uses_common_seeds():
    runs = [
        VariantRun("as it is", "a", "compact", "even", [1.0, 0.5, 0.0], [1.0, 0.0, 0.0]),
        VariantRun("as it is", "b", "compact", "odd", [0.25, 0.25], [0.0, 0.0]),
        VariantRun("K = 16", "a", "compact", "even", [0.0, 0.0], [0.0, 0.0]),
    ]
    assert mean_of(runs, "as it is", "compact") == 0.5
    assert mean_of(runs, "as it is", "compact", "odd") == 0.25
    assert mean_of(runs, "as it is", "shapes") is None
    assert standard_error(runs, "compact") == pytest.approx(0.125)  # of 0.625 and 0.375


# ---- repulsion --------------------------------------------------------------------------------------


BLACK, WHITE, GREY = np.zeros(4), np.ones(4), np.full(4, 0.55)


def test_filters_are_paired_in_any_order():
    found = match(np.array([BLACK, WHITE]), np.array([WHITE - 0.08, BLACK + 0.02]))
    assert (found.filters, found.pairs, found.matched) == (2, 2, 2)
    assert found.mean == pytest.approx(0.05)  # root mean square per pixel, 0.02 and 0.08
    assert found.largest == pytest.approx(0.08)
    assert found.cosine == pytest.approx(1)
    half = np.array([0.0, 0.0, 1.0, 1.0])
    assert match(np.array([half]), np.array([1 - half])).cosine == pytest.approx(-1)


def test_filters_are_paired_one_to_one():
    found = match(np.array([BLACK, BLACK + 0.05]), np.array([BLACK + 0.02, WHITE]))
    assert (found.pairs, found.matched) == (2, 1)
    assert found.largest == pytest.approx(0.95)
    fewer = match(np.array([BLACK, GREY, WHITE]), np.array([WHITE, BLACK]))
    assert (fewer.filters, fewer.pairs, fewer.matched, fewer.largest) == (3, 2, 2, 0.0)
    assert match(np.array([BLACK, WHITE]), np.zeros((0, 4))) == Match(2, 0, 0, None, None, None)


def results_of(*distances, learned=None):
    """Two exact models with distance 0.05, and one model for each r, with these distances and filters."""
    learned = learned or [4] * len(distances)
    runs = [Run("2a", 0, 1, False, None, 4, 0, 1.5, Match(4, 4, 4, 0.0, 0.0, 1.0))]
    runs.append(Run("2a", 0, 1, True, None, 4, 0, 1.5, Match(4, 4, 4, 0.05, 0.09, 0.99)))
    for every, mean, count in zip(EVERY[1:], distances, learned, strict=True):
        if mean is None:
            runs.append(Run("2a", 0, every, False, "not finite"))
        else:
            found = Match(4, count, min(count, 4), mean, mean, 0.99)
            runs.append(Run("2a", 0, every, False, None, count, 4 - count, 1.5, found))
    return RepulsionResults("a machine", {}, runs, [Speed("2a", every, 1 / every, 1.0) for every in EVERY])


def test_largest_r_is_found():
    results = results_of(0.01, 0.02, 0.05, 0.06, 0.01, 0.01)
    assert repulsion_cells.close_up_to(results, "2a") == 8  # the first r that is not close decides
    assert repulsion_cells.complete_up_to(results, "2a") == 64
    baseline = repulsion_cells.baseline(results, "2a")
    assert repulsion_cells.cell(results, "2a", 4).relative_to(baseline) == pytest.approx(0.4)
    assert repulsion_cells.speedup(results, "2a", 16) == 16
    results = results_of(0.01, 0.01, 0.01, 0.01, 0.02, None, learned=[4, 4, 3, 3, 2, 0])
    assert repulsion_cells.close_up_to(results, "2a") == repulsion_cells.complete_up_to(results, "2a") == 4
    assert repulsion_cells.cell(results, "2a", 64).failed == 1


def test_baseline_includes_both_exact_models():
    results = results_of(*[0.01] * 6)
    results.runs[1] = replace(results.runs[1], learned=6)
    assert repulsion_cells.baseline(results, "2a").filters == repulsion_cells.Mean(5.0, 1.0)  # 4 and 6
    assert repulsion_cells.complete_up_to(results, "2a") == 64


class NoProgress:
    def step(self, text):
        pass


def test_repulsion_runs_an_exact_model_a_baseline_and_each_r():
    pixels = np.random.default_rng(0).integers(0, 256, (10, 12, 12), np.uint8)
    images = ImageSet(pixels, np.zeros(10, np.uint8), "noise", "nowhere")
    runs = list(run(SETTINGS["2a"], images, 0, 2000, NoProgress()))
    assert [(it.every, it.another_stream) for it in runs[:3]] == [(1, False), (1, True), (2, False)]
    assert [it.every for it in runs[2:]] == list(EVERY[1:])
    assert runs[0].match.mean in (0.0, None)
