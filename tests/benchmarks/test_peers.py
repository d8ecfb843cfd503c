"""The computations of the speed benchmarks: peers, counts, growth, claims, comparison of two results."""

from dataclasses import dataclass, replace
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("psutil")

from benchmarks.peers import claims, compare, worker, workloads
from benchmarks.peers.growth import fitted, slopes, worst_step
from benchmarks.peers.kernels import moving_numbers, points
from benchmarks.peers.learners import Needs, Task
from benchmarks.peers.measure import too_slow_before
from benchmarks.peers.results import (
    OURS,
    First,
    Import,
    Kernel,
    Memory,
    Refusal,
    Results,
    System,
    Turn,
    Workload,
)
from benchmarks.peers.rules import Competition, currents, krotov_hopfield
from benchmarks.peers.systems import SYSTEMS
from benchmarks.peers.worker import Bench
from benchmarks.speed import Counts, budget, counts
from gaussian_neurons.learning import reference
from gaussian_neurons.learning.rule import Rule

TASK = Task(16, 25)


# ---- peers ------------------------------------------------------------------------------------------


RULES = [key for key, system in SYSTEMS.items() if system.kind in ("ours", "rule") and key != "ours-auto"]


@pytest.mark.parametrize("key", RULES)
def test_all_implementations_of_the_rule_equal_the_reference(key):
    if not SYSTEMS[key].installed():
        pytest.skip(f"{SYSTEMS[key].package} is not installed")
    x = np.random.default_rng(1).random((40, TASK.D), np.float32)
    model = SYSTEMS[key].make(TASK)
    for part in (x[:16], x[16:32], x[32:]):
        model.learn(model.rows(part))
    if SYSTEMS[key].kind == "ours":
        start, found = model.model.initial_centers_, model.model.centers_
        assert found.dtype == (np.float64 if key == "ours-float64" else np.float32)
    else:
        start, found = TASK.centers(np.float64), np.asarray(model.centers)
    widths, rule = np.full(TASK.K, TASK.width), Rule(TASK.rule.learning_rate, TASK.rule.inhibition)
    expected, _ = reference.learn(start.astype(np.float64), widths, x.astype(np.float64), None, rule, 0)
    assert np.abs(expected - start).max() > 0.1
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_one_step_of_krotov_and_hopfield_by_hand():
    weights = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.5]])
    krotov_hopfield(np.array([[2.0, 1.0]]), weights, Competition(learning_rate=0.1))
    # currents 2, 1, -1.5: the first learns (2, 1) - 2 (1, 0) = (0, 1), the second unlearns
    # -0.4 ((2, 1) - 1 (0, 1)) = (-0.8, 0); the largest number is 1, so 0.1 scales both
    np.testing.assert_allclose(weights, [[1.0, 0.1], [-0.08, 1.0], [-1.0, 0.5]])
    weights = np.array([[0.5, 0.0], [0.0, 0.25]])
    krotov_hopfield(np.array([[4.0, 0.0]]), weights, Competition(learning_rate=0.1))
    # currents 2, 0: (4, 0) - 2 (0.5, 0) = (3, 0) and -0.4 (4, 0) = (-1.6, 0), divided by 3
    np.testing.assert_allclose(weights, [[0.6, 0.0], [-0.16 / 3, 0.25]])
    krotov_hopfield(np.zeros((1, 2)), weights, Competition())  # no change, and no division by zero
    np.testing.assert_allclose(weights, [[0.6, 0.0], [-0.16 / 3, 0.25]])
    assert currents(np.array([1.0, 2.0]), np.array([[-2.0, 3.0]]), 3.0) == [-4 + 18]


@dataclass
class Recorder(Needs):
    """A learner that records the rows that it gets."""

    seen: list

    def rows(self, x):
        return x

    def learn(self, rows):
        self.seen.extend(rows[:, 0].tolist())


def test_all_peers_get_the_same_samples(tmp_path, monkeypatch):
    """With any portions, and again from the first sample after the last."""
    monkeypatch.setattr(worker, "gc", SimpleNamespace(collect=int))  # slow in a process with many objects
    np.save(tmp_path / "x.npy", np.arange(2050.0, dtype=np.float32)[:, None])
    for needs in ({}, {"portion": 10}, {"first": 16, "settled": 40}):
        seen = []
        system = replace(SYSTEMS["rule-numpy"], make=lambda task, n=needs, s=seen: Recorder(s, **n))
        bench = Bench(system)
        bench.open(tmp_path / "x.npy", 16, 1)
        assert bench.restart(100)[0] == 100
        assert bench.turn(5000)[0] == 100
        assert bench.turn(10)[0] == 5100
        assert seen == [k % 2048 for k in range(5110)]


def test_mixtures_are_in_the_domain_and_reproducible():
    x, _ = workloads.mixture(16, 2)(1000)
    assert (x.shape, x.dtype) == ((1000, 2), np.float32)
    assert x.min() >= 0
    assert x.max() <= 1
    np.testing.assert_array_equal(x, workloads.mixture(16, 2)(1000)[0])


# ---- operation counts -------------------------------------------------------------------------------


def test_operations_by_hand():
    # One pair: 3 for its distance, 6 to move both. Two neurons: 3 each for the distance to the sample, 3 each
    # to move. In vectors of 4: two rows of pairs and two sums with 4 lanes each, three passes over 4 lanes.
    assert counts(2, 3, False, lanes=4, group=8) == Counts(9 + 12, 8 * 3 + 8 * 3 + 12 * 3, 8 + 4)
    # Nine neurons in groups of eight: rows 0 to 7 have 8 lanes, row 8 has 16.
    assert counts(9, 1, False, lanes=8, group=8) == Counts(36 * 3 + 18, 80 + 9 * 16 + 3 * 16, 80 + 16)
    assert counts(9, 1, True, lanes=8, group=8) == Counts(36 * 3 + 27, 80 + 144 + 64, 160 + 144 + 48)
    assert moving_numbers(3, 5) == 15 + 15 + 3 + 3  # centers and pairs, read and written


def test_shares_of_the_time_by_hand():
    core = {"multiply_adds": 1e-9, "exponentials": 1e-9, "lanes": 4, "group": 8}  # one per second
    parts = budget(2, 3, False, core, measured=120.0)
    expected = {"useful": 21 / 120, "padding": 63 / 120, "exponentials": 0.1, "waiting": 0.2}
    assert parts == pytest.approx(expected)


def test_point_of_a_kernel_by_hand():
    facts = {"needed": 30.0, "done": 40.0, "numbers": 25.0, "peak": 100.0, "bandwidth": 1000.0}
    turns = [Kernel(2, 3, "float32", "some", k, s, **facts) for k, s in enumerate((0.5, 0.4, 0.8))]
    [point] = points(turns)
    assert point.share.middle == pytest.approx(0.6)  # 30 of the 50 of half a second
    assert (point.padding, point.memory, point.rest) == pytest.approx((0.2, 0.2, 0.2))
    assert point.intensity == pytest.approx(60 / 100)  # two operations each, per four bytes each
    assert point.gigaflops == pytest.approx(0.6 * 200e-9)
    assert point.layer == 2 * 2 * (3 + 2) * 4


# ---- growth -----------------------------------------------------------------------------------------


def results_of(times, lengths=()):
    """Results with these microseconds per sample: (system, workload) -> time; and (system, N, seconds)."""
    results = Results({"processor": "none"})
    for (key, workload), microseconds in times.items():
        kind = key.split("-")[0] if key.split("-")[0] in ("ours", "rule") else "peer"
        results.systems[key] = System(key, key.title(), "numpy", "1", "default", kind, True)
        K, D = (int(part[1:]) for part in workload.split("-")[:0:-1]) if "rows" in workload else (16, 25)
        results.workloads[workload] = Workload(workload, workload, K, D)
        results.turns += [
            Turn(key, workload, r, 0, 10, microseconds * factor / 1e5)
            for r, factor in enumerate((0.98, 0.99, 1, 1.01, 1.02))
        ]
    results.lengths = [Turn(key, "mnist-5x5", 0, 0, n, seconds) for key, n, seconds in lengths]
    return results


def on_grid(time, keys=(OURS,)):
    sizes = [(K, D) for K in (16, 64, 256) for D in (2, 16, 128)]
    return {(key, f"rows-D{D}-K{K}"): time(K, D) for key in keys for K, D in sizes}


def test_known_exponents_are_found():
    times = on_grid(lambda K, D: 0.1 * K**1.7 * D**0.6)
    lengths = [(OURS, n, 3e-6 * n**1.25) for n in (1024, 4096, 16384)]
    found = slopes(results_of(times, lengths))[OURS]
    assert found == {"N": pytest.approx(1.25), "D": pytest.approx(0.6), "K": pytest.approx(1.7)}
    del times[OURS, "rows-D128-K256"], times[OURS, "rows-D2-K64"]
    found = slopes(results_of(times))[OURS]
    assert found == {"N": None, "D": pytest.approx(0.6), "K": pytest.approx(1.7)}


def test_exponents_that_are_not_determined_are_none():
    assert fitted([[2, 4, 8], [5, 5, 5]], [1, 2, 4]) == [pytest.approx(1.0), None]
    assert fitted([[2, 4], [3, 9]], [1, 2]) == [None, None]
    assert slopes(results_of({(OURS, "rows-D2-K16"): 1.0}))[OURS] == {"N": None, "D": None, "K": None}
    results = results_of(on_grid(lambda K, D: K * D, keys=("peer",)))
    results.systems["peer"] = replace(results.systems["peer"], takes_K=False)
    assert slopes(results)["peer"] == {"N": None, "D": pytest.approx(1), "K": None}


def test_worst_step_is_found():
    times = on_grid(lambda K, D: K**2 * D)
    times[OURS, "rows-D128-K256"] *= 1.5
    worst = worst_step(results_of(times), OURS)
    assert (worst.beyond, worst.end) == (pytest.approx(1.5), (256, 128))
    assert worst_step(results_of({(OURS, "rows-D2-K16"): 1.0}), OURS) is None


# ---- claims -----------------------------------------------------------------------------------------


def kernel(K, D, share, instruction_set="avx512"):
    return Kernel(K, D, "float32", instruction_set, 0, 1e-6, share * 1e5, 2e5, 100, 1e11, 1e10)


def supporting():
    """Results that support all claims."""
    paper = {(OURS, "mnist-5x5"): 0.5, ("peer", "mnist-5x5"): 15.5, ("rule-numba", "mnist-5x5"): 20.0}
    paper |= {(claims.MINI_BATCH, "mnist-5x5"): 0.6}
    results = results_of(paper | on_grid(lambda K, D: 0.001 * K**1.9 * D**0.9))
    results.systems[claims.MINI_BATCH] = replace(results.systems[claims.MINI_BATCH], per_sample=False)
    results.kernels = [kernel(16, 25, 0.45), kernel(16, 25, 0.2, "avx2"), kernel(256, 128, 0.7)]
    results.imports = [Import(OURS, 0, 1.2, 0.9)]
    return results


def failed_claims(change):
    results = supporting()
    change(results)
    return [number for number, claim in enumerate(claims.claims(results)) if claim.holds is False]


def scaled(results, key, workload, factor):
    results.turns = [
        replace(turn, seconds=turn.seconds * factor)
        if key in (None, turn.system) and workload in (None, turn.workload)
        else turn
        for turn in results.turns
    ]
    return results


def test_claims_hold():
    found = claims.claims(supporting())
    assert [claim.holds for claim in found] == [True] * 9
    assert [found[k].figure.split()[0] for k in (0, 1, 3, 5, 8)] == ["31.0", "40.0", "45%,", "K^1.90", "0.30"]


def test_each_claim_can_fail():
    assert failed_claims(lambda results: scaled(results, "peer", "mnist-5x5", 0.9)) == [0]
    assert failed_claims(lambda results: scaled(results, "rule-numba", "mnist-5x5", 0.02)) == [1]
    assert failed_claims(lambda results: scaled(results, claims.MINI_BATCH, "mnist-5x5", 0.5)) == [2]
    assert failed_claims(lambda results: results.kernels.__setitem__(0, kernel(16, 25, 0.39))) == [3]
    assert failed_claims(lambda results: results.kernels.__setitem__(2, kernel(256, 128, 0.49))) == [4]
    assert failed_claims(lambda results: scaled(results, OURS, "rows-D128-K256", 1.6)) == [7]
    assert failed_claims(lambda results: results.imports.__setitem__(0, Import(OURS, 0, 1.5, 0.9))) == [8]


@pytest.mark.parametrize(("time", "number"), [(lambda K, D: K**2.1, 5), (lambda K, D: D**1.1 * K, 6)])
def test_faster_growth_than_the_rule_fails(time, number):
    found = claims.claims(results_of(on_grid(time)))
    assert (found[number].holds, found[11 - number].holds) == (False, True)


def test_claims_without_measurements_are_undecided():
    assert [claim.holds for claim in claims.claims(Results({}))] == [None] * 9


# ---- results ----------------------------------------------------------------------------------------


def test_results_are_read_as_written(tmp_path):
    results = supporting()
    results.firsts = [First(OURS, "mnist-5x5", 0.1)]
    results.memory = [Memory(OURS, "mnist-5x5", 2.5)]
    results.refusals = [Refusal("peer", "rows-D2-K16", "took over 20 s")]
    results.lengths = [Turn(OURS, "mnist-5x5", 0, 0, 1024, 0.1)]
    results.write(tmp_path / "some" / "peers.json")
    assert Results.read(tmp_path / "some" / "peers.json") == results


def test_other_workloads_are_kept_if_one_is_measured_again():
    stored = results_of({(OURS, "a"): 1.0, (OURS, "b"): 2.0, ("other", "b"): 3.0})
    now = Results({"processor": "now"}, {OURS: stored.systems[OURS]})
    both = stored.without({"a"}, now)
    assert both.machine == {"processor": "now"}
    assert {(turn.system, turn.workload) for turn in both.turns} == {(OURS, "b")}
    assert list(both.workloads) == ["b"]
    assert now.turns == []


def test_system_is_skipped_after_two_timeouts_on_smaller_sizes():
    results = Results({})
    for key, K, D in (("a", 64, 2), ("b", 64, 16)):
        results.workloads[key] = Workload(key, key, K, D)
        results.refusals += [
            Refusal("slow", key, "took over 15 s to warm up"),
            Refusal("broken", key, "ValueError: no"),
        ]
    results.refusals.append(Refusal("once", "a", "took over 15 s"))
    assert too_slow_before(results, "slow", 256, 128) is not None
    for other in (("slow", 16, 128), ("slow", 1024, 2), ("once", 1024, 128), ("broken", 256, 128)):
        assert too_slow_before(results, *other) is None


# ---- comparison of two results ----------------------------------------------------------------------


TIMES = {(key, on): 10.0 for key in (OURS, "ours-one", "peer", "rule-numba") for on in ("a", "b")}


def regressions(before, after, tolerance=0.1):
    factor, _ = compare.machine(before, after)
    changes = compare.changes(before, after, factor)
    return {(change.system, change.where) for change in changes if change.regressed(tolerance)}


def test_only_our_slower_systems_are_regressions():
    before = results_of(TIMES)
    assert regressions(before, results_of(TIMES)) == set()
    assert regressions(before, scaled(results_of(TIMES), "ours-one", "b", 1.3)) == {("ours-one", "b")}
    assert regressions(before, scaled(results_of(TIMES), "ours-one", "b", 1.3), tolerance=0.4) == set()
    assert regressions(before, scaled(results_of(TIMES), "ours-one", None, 0.5)) == set()
    assert regressions(before, scaled(results_of(TIMES), "peer", None, 3.0)) == set()


def test_speed_of_the_machine_is_corrected():
    before = results_of(TIMES)
    assert regressions(before, scaled(results_of(TIMES), None, None, 1.6)) == set()
    faster = scaled(results_of(TIMES), None, None, 0.5)
    assert regressions(before, scaled(faster, OURS, None, 1.8)) == {(OURS, "a"), (OURS, "b")}
    updated = scaled(results_of(TIMES), "peer", None, 4.0)
    updated.systems["peer"] = replace(updated.systems["peer"], version="2")
    assert compare.machine(before, updated) == (pytest.approx(1.0), 2)  # the other version does not count


def test_overlapping_quartiles_are_noise():
    before, after = results_of({(OURS, "a"): 10.0}), results_of({(OURS, "a"): 10.0})
    for results, factors in ((before, (1, 1, 1, 2, 2)), (after, (1, 1, 1.5, 2, 2))):
        pairs = zip(results.turns, factors, strict=True)
        results.turns = [replace(turn, seconds=turn.seconds * factor) for turn, factor in pairs]
    [change] = compare.changes(before, after, 1.0)
    assert change.ratio == pytest.approx(1.5, rel=0.02)
    assert not change.regressed(0.1)


def test_memory_imports_and_shares_of_the_peak_are_compared():
    before, after = supporting(), supporting()
    before.memory = [Memory(OURS, "mnist-5x5", 2.5), Memory("ours-one", "mnist-5x5", 2.5)]
    after.memory = [Memory(OURS, "mnist-5x5", 3.0), Memory("ours-one", "mnist-5x5", 22.5)]
    after.systems["ours-one"] = before.systems["ours-one"] = replace(after.systems[OURS], key="ours-one")
    after.imports = [Import(OURS, 0, 1.8, 0.9)]
    after.kernels = [kernel(16, 25, 0.3), *after.kernels[1:]]
    found = regressions(before, after)
    assert found == {("ours-one", "mnist-5x5"), (OURS, ""), ("the core", "K=16 D=25 float32 avx512")}


def test_missing_figures_of_ours_are_reported():
    after = results_of({pair: 10.0 for pair in TIMES if pair != ("ours-one", "a")})
    assert compare.missing(results_of(TIMES), after) == [("ours-one", "a")]
