"""What the benchmark of quality makes of its runs."""

import json
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("psutil")

from benchmarks.quality import sweep
from benchmarks.quality.drift import Curve, Point, read, write
from benchmarks.quality.measure import Outcome, _listen
from benchmarks.quality.results import Origin, Results, score, scored
from benchmarks.quality.sets import load, prepared
from benchmarks.quality.summary import cells, lines
from benchmarks.quality.systems import SYSTEMS, System, Task, chosen, ours
from benchmarks.quality.table import document, row, summary, text

ORIGIN = Origin("1", "as it is", "rows", "a machine", 60.0)


def a_set(name="some/set", of_suite=True):
    return prepared(name, np.array([[0.0, 5], [1, 5], [8, 5], [9, 5]]), np.array([1, 1, 2, 0]), of_suite)


def a_run(key="ours", seed=0, labels=(0, 0, 1, 1), microseconds=1.0, failed=None):
    data = a_set()
    in_order = dict(zip([0.0, 1, 8, 9], labels, strict=True))
    raw = data.x[:, 0] * np.std([0, 1, 8, 9]) + np.mean([0, 1, 8, 9])
    found = np.array([in_order[round(value)] for value in raw])
    outcome = Outcome(failed=failed) if failed else Outcome(None, found, 2, microseconds, 3.0)
    return scored(key, data, seed, outcome, ORIGIN)


def test_noise_is_not_scored():
    truth = np.array([1, 1, 2, 2, 0, 0])
    assert score(truth, np.array([5, 5, 7, 7, 5, 9])) == (1.0, 2)
    assert score(truth, np.array([5, 5, 5, 5, 6, 7])) == (0.0, 1)


def test_in_no_cluster_is_a_group_but_no_cluster():
    assert score(np.array([1, 1, 2, 2]), np.array([0, 0, -1, -1])) == (1.0, 1)
    assert score(np.array([1, 1, 2, 2]), np.array([-1, -1, -1, -1])) == (0.0, 0)


def test_columns_are_standardised_and_constant_ones_are_zero():
    data = a_set()
    assert data.x[:, 0].mean() == pytest.approx(0)
    assert data.x[:, 0].std() == pytest.approx(1)
    assert (data.x[:, 1] == 0).all()
    assert sorted(data.labels) == [0, 1, 1, 2]
    assert (data.clusters, data.presentations) == (2, 10)


def test_a_folder_of_the_suite_is_read(tmp_path):
    folder = tmp_path / "clustering" / "wut"
    folder.mkdir(parents=True)
    np.savetxt(folder / "x0.data.gz", np.arange(12.0).reshape(4, 3))
    np.savetxt(folder / "x0.labels0.gz", [1, 2, 2, 0], fmt="%d")
    first, *others = load(tmp_path)
    assert (first.name, first.x.shape, first.clusters) == ("wut/x0", (4, 3), 2)
    assert [data.name for data in others] == ["sklearn/digits", "sklearn/breast_cancer"]
    assert [data.name for data in load(tmp_path / "nowhere")][2:] == ["sklearn/iris", "sklearn/wine"]


def test_results_come_back_from_their_file(tmp_path):
    results = Results(tmp_path / "some" / "quality.json")
    results.add(a_run())
    results.add(a_run(seed=1, failed="took over 60 s"))
    results.write()
    assert Results.read(results.path).runs == results.runs
    assert Results.read(tmp_path / "nothing.json").runs == {}


def test_only_what_may_have_changed_is_run_again():
    results, data = Results("nowhere"), a_set()
    for key in ("ours", "Birch"):
        results.add(a_run(key))
    assert results.answers("Birch", data, 0, ORIGIN, ours_too=False)
    assert not results.answers("Birch", data, 1, ORIGIN, ours_too=False)
    assert not results.answers("Birch", data, 0, replace(ORIGIN, version="2"), ours_too=False)
    assert not results.answers("ours", data, 0, ORIGIN, ours_too=False)
    assert results.answers("ours", data, 0, ORIGIN, ours_too=True)


def test_a_system_without_seeds_has_one_turn():
    systems = {
        "ours": SYSTEMS["ours"],
        "fixed": System("Fixed", "scikit-learn", "as it is", ours),
    }
    taken = [(key, seed) for key, _, seed, _ in sweep.turns(systems, a_set(), 3, 60.0)]
    assert taken == [("ours", 0), ("fixed", 0), ("ours", 1), ("ours", 2)]


def test_all_is_run_again_where_that_is_asked_for():
    results, data = Results("nowhere"), a_set()
    systems = {"ours": SYSTEMS["ours"]}
    origin = Origin.of(systems["ours"], data, 60.0)
    results.add(replace(a_run(), origin=origin))
    assert sweep.missing(results, systems, [data], 1, 60.0, ours_too=True, again=False) == []
    assert len(sweep.missing(results, systems, [data], 1, 60.0, ours_too=True, again=True)) == 1


def test_what_failed_once_is_not_tried_again():
    results, data = Results("nowhere"), a_set()
    results.add(a_run("Birch", failed="took over 60 s"))
    sweep.take(("Birch", data, 3, ORIGIN), results)
    assert results.runs["some/set", "Birch", 3].failed == "took over 60 s"


def test_the_summary_counts_what_failed_as_nothing():
    results, data = Results("nowhere"), a_set()
    results.add(a_run("ours", microseconds=2.0))
    results.add(a_run("Birch", microseconds=8.0))
    results.add(a_run("DBSTREAM", labels=(4, 4, 4, 4)))
    results.add(a_run("DenStream", failed="took over 60 s"))
    table = cells(results, SYSTEMS, [data])
    found = {line.key: line for line in lines(table, [data])}
    assert (found["ours"].score, found["ours"].exact, found["ours"].collapsed) == (1.0, 1, 0)
    assert found["Birch"].slower == 4.0
    assert (found["DBSTREAM"].score, found["DBSTREAM"].exact, found["DBSTREAM"].collapsed) == (0.0, 0, 1)
    assert (found["DenStream"].score, found["DenStream"].failed, found["DenStream"].off) == (0.0, 1, None)
    assert "failed" in row(data, SYSTEMS, table)
    assert "DBSTREAM" in text(summary(list(found.values())))


def test_the_document_tells_what_failed(monkeypatch):
    monkeypatch.setattr(System, "version", "1.0")
    results, sets = Results("nowhere"), [a_set()]
    results.add(a_run("ours"))
    results.add(a_run("DenStream", failed="took over 60 s"))
    table = cells(results, SYSTEMS, sets)
    written = document(lines(table, sets), table, sets, "a machine", 5, 60.0, "")
    assert "- DenStream on some/set: took over 60 s" in written
    assert "| some/set | 4 | 2 | 2 | 1.00 (2) | failed |" in written


def test_an_unknown_system_is_answered_with_those_that_there_are():
    with pytest.raises(SystemExit, match=r"no such system: Brich\. There are: ours, DBSTREAM"):
        chosen("ours,Brich")


def test_our_own_learner_does_what_is_asked():
    x = np.random.default_rng(0).normal(size=(50, 2))
    model = ours(Task(2, 1, 0))
    model.learn(model.rows(x))
    assert len(model.predict(model.rows(x))) == 50
    assert model.count() >= 1


class Said:
    """A pipe on which everything has been said already."""

    def __init__(self, *words):
        self.words = list(words)

    def poll(self, _):
        return bool(self.words)

    def recv(self):
        word = self.words.pop(0)
        if word is EOFError:
            raise EOFError
        return word


def test_it_is_told_why_nothing_came():
    got = []
    assert _listen(Said(None, 1, 2, ""), 5, got.append) == ""
    assert got == [1, 2]
    assert _listen(Said(None), 5, got.append) == "took over 5 s"
    assert _listen(Said(), 5, got.append) == "was not ready after 120 s"
    assert _listen(Said(None, EOFError), 5, got.append) == "the process died"
    assert _listen(Said(None, "ValueError: no"), 5, got.append) == "ValueError: no"


def test_curves_come_back_from_their_file(tmp_path):
    curve = Curve(
        "ours", {"version": "1"}, None, [Point(1000, 3, 0.5, 2, None, 1.5), Point(2000, 3, 1.0, 3, 3, 1)]
    )
    write(tmp_path / "drift.json", {"ours": curve})
    assert read(tmp_path / "drift.json") == {"ours": curve}
    assert (curve.score, curve.off) == (0.75, 0.5)
    assert json.loads((tmp_path / "drift.json").read_text())["curves"][0]["points"][0] == [
        1000,
        3,
        0.5,
        2,
        None,
        1.5,
    ]
