"""What the benchmark beside the peers measures, and what it makes of it."""

import multiprocessing
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("psutil")

from benchmarks.peers import claims as said
from benchmarks.peers import table, worker, workloads
from benchmarks.peers.claims import claims
from benchmarks.peers.crew import Crew, Refused
from benchmarks.peers.growth import fitted, slopes, worst_step
from benchmarks.peers.learners import Task
from benchmarks.peers.measure import (
    Plan,
    import_seconds,
    measure_imports,
    measure_lengths,
    measure_workload,
    too_slow_already,
)
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
from benchmarks.peers.rules import (
    Competition,
    Rule,
    currents,
    jax_scan,
    krotov_hopfield,
    numba_kernel,
    numpy_broadcast,
    numpy_products,
    torch_steps,
)
from benchmarks.peers.systems import SYSTEMS, chosen
from benchmarks.peers.worker import Bench, TooSlow
from benchmarks.quality.progress import Progress
from gaussian_neurons import Neurons
from gaussian_neurons.learning import reference
from tests import odd_systems

TASK = Task(16, 25)


# The rule, written in several ways


@pytest.fixture
def expected():
    """Samples, centers before, and centers after the reference learned from them."""
    x = np.random.default_rng(1).random((40, TASK.D), np.float32)
    neurons = Neurons.at(TASK.centers(np.float64), TASK.width)
    rule = TASK.rule
    reference.learn(neurons, x, inhibition=rule.inhibition, learning_rate=rule.learning_rate)
    assert np.abs(neurons.centers - TASK.centers(np.float64)).max() > 0.1  # there is something to learn
    return x, neurons.centers


def test_numpy_is_right(expected):
    x, after = expected
    centers = TASK.centers(np.float64)
    numpy_broadcast(x, centers, TASK.rule)
    np.testing.assert_allclose(centers, after, atol=1e-12)


def test_numpy_with_products_is_right(expected):
    x, after = expected
    centers = TASK.centers(np.float32)
    numpy_products(x, centers, TASK.rule)
    assert centers.dtype == np.float32
    np.testing.assert_allclose(centers, after, atol=1e-5)


def test_numba_is_right(expected):
    pytest.importorskip("numba")
    x, after = expected
    centers = TASK.centers(np.float32)
    numba_kernel()(x, centers, TASK.rule)
    np.testing.assert_allclose(centers, after, atol=1e-5)


def test_torch_is_right(expected):
    torch = pytest.importorskip("torch")
    x, after = expected
    centers = torch.from_numpy(TASK.centers(np.float32))
    torch_steps(torch.from_numpy(x), centers, TASK.rule)
    np.testing.assert_allclose(centers.numpy(), after, atol=1e-5)


def test_jax_is_right(expected):
    pytest.importorskip("jax")
    x, after = expected
    centers = jax_scan()(x, TASK.centers(np.float32), TASK.rule)
    assert centers.dtype == np.float32
    np.testing.assert_allclose(np.asarray(centers), after, atol=1e-5)


RULES = [key for key, system in SYSTEMS.items() if system.kind in ("ours", "rule") and key != "ours-auto"]


@pytest.mark.parametrize("key", RULES)
def test_all_models_of_the_rule_learn_the_same(key, expected):
    if not SYSTEMS[key].installed():
        pytest.skip(f"{SYSTEMS[key].package} is not installed")
    x, after = expected
    model = SYSTEMS[key].make(TASK)
    for part in (x[:16], x[16:32], x[32:]):  # as in turns
        model.learn(model.rows(part))
    if SYSTEMS[key].kind == "ours":  # which starts elsewhere
        start = Neurons.at(model.model.initial_centers_, TASK.width)
        reference.learn(start, x, inhibition=0.5, learning_rate=0.1 * TASK.width)
        found, after = model.model.centers_, start.centers
        assert found.dtype == (np.float64 if key == "ours-float64" else np.float32)
    else:
        found = np.asarray(model.centers)
    np.testing.assert_allclose(found, after, atol=1e-5)
    assert len(model.predict(model.rows(x[:1]))) == 1


def test_one_step_of_krotov_and_hopfield_by_hand():
    weights = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.5]])
    krotov_hopfield(np.array([[2.0, 1.0]]), weights, Competition(learning_rate=0.1))
    # currents 2, 1, -1.5: the first learns (2, 1) - 2 (1, 0) = (0, 1), the second unlearns
    # -0.4 ((2, 1) - 1 (0, 1)) = (-0.8, 0); the largest number is 1, so that 0.1 scales both
    np.testing.assert_allclose(weights, [[1.0, 0.1], [-0.08, 1.0], [-1.0, 0.5]])


def test_the_change_is_scaled_by_its_largest_number():
    weights = np.array([[0.5, 0.0], [0.0, 0.25]])
    krotov_hopfield(np.array([[4.0, 0.0]]), weights, Competition(learning_rate=0.1))
    # currents 2, 0: (4, 0) - 2 (0.5, 0) = (3, 0) and -0.4 (4, 0) = (-1.6, 0), divided by 3
    np.testing.assert_allclose(weights, [[0.6, 0.0], [-0.16 / 3, 0.25]])


def test_a_sample_that_changes_nothing_is_no_division_by_zero():
    weights = np.array([[1.0, 0.0], [0.0, 1.0]])
    krotov_hopfield(np.zeros((1, 2)), weights, Competition())
    np.testing.assert_array_equal(weights, np.eye(2))


def test_currents_of_another_norm():
    assert currents(np.array([1.0, 2.0]), np.array([[-2.0, 3.0]]), 3.0) == [-4 + 18]


# Growth


def results_of(times, lengths=None):
    """Made up: microseconds of systems on workloads, and seconds for so many samples."""
    results = Results({"processor": "made up"})
    for (key, on), microseconds in times.items():
        results.systems[key] = System(key, key.title(), "numpy", "1", "as it is", kind_of(key), True)
        K, D = (int(part[1:]) for part in on.split("-")[:0:-1]) if on.startswith("rows") else (16, 25)
        results.workloads[on] = Workload(on, on, K, D)
        results.turns += [Turn(key, on, r, 0, 10, microseconds * f / 1e5) for r, f in enumerate((0.9, 1, 2))]
    results.lengths = [Turn(key, "mnist-5x5", 0, 0, n, s) for key, n, s in lengths or []]
    return results


def kind_of(key):
    return key.split("-")[0] if key.split("-")[0] in ("ours", "rule") else "peer"


def on_grid(time, keys=(OURS,)):
    sizes = [(K, D) for K in (16, 64, 256) for D in (2, 16, 128)]
    return {(key, f"rows-D{D}-K{K}"): time(K, D) for key in keys for K, D in sizes}


def test_known_exponents_are_found():
    times = on_grid(lambda K, D: 0.1 * K**1.7 * D**0.6)
    lengths = [(OURS, n, 3e-6 * n**1.25) for n in (1024, 4096, 16384)]
    found = slopes(results_of(times, lengths))[OURS]
    assert found == {"N": pytest.approx(1.25), "D": pytest.approx(0.6), "K": pytest.approx(1.7)}


def test_missing_points_do_not_bend_the_exponents():
    times = on_grid(lambda K, D: 0.1 * K**1.7 * D**0.6)
    del times[OURS, "rows-D128-K256"], times[OURS, "rows-D2-K64"]
    found = slopes(results_of(times))[OURS]
    assert found == {"N": None, "D": pytest.approx(0.6), "K": pytest.approx(1.7)}


def test_what_does_not_vary_has_no_exponent():
    assert fitted([[2, 4, 8], [5, 5, 5]], [1, 2, 4]) == [pytest.approx(1.0), None]
    assert fitted([[2, 4], [3, 9]], [1, 2]) == [None, None]  # both at once: which of them was it?
    assert slopes(results_of({(OURS, "rows-D2-K16"): 1.0}))[OURS] == {"N": None, "D": None, "K": None}


def test_the_worst_step_is_named():
    times = on_grid(lambda K, D: K**2 * D)
    times[OURS, "rows-D128-K256"] *= 1.5
    worst = worst_step(results_of(times), OURS)
    assert (worst.beyond, worst.end) == (pytest.approx(1.5), (256, 128))
    assert worst_step(results_of({(OURS, "rows-D2-K16"): 1.0}), OURS) is None


# Claims


def kernel(K, D, share, instruction_set="avx512", precision="float32"):
    return Kernel(K, D, precision, instruction_set, 0, 1e-6, share * 1e5, 2e5, 100, 1e11, 1e10)


def all_well():
    """Results in which everything holds."""
    paper = {(OURS, "mnist-5x5"): 0.5, ("peer", "mnist-5x5"): 15.5, ("rule-numba", "mnist-5x5"): 20.0}
    paper |= {(said.MINI_BATCH, "mnist-5x5"): 0.6}
    results = results_of(paper | on_grid(lambda K, D: 0.001 * K**1.9 * D**0.9))
    results.systems[said.MINI_BATCH] = replace(results.systems[said.MINI_BATCH], per_sample=False)
    results.kernels = [kernel(16, 25, 0.45), kernel(16, 25, 0.2, "avx2"), kernel(256, 128, 0.7)]
    results.imports = [Import(OURS, 0, 1.2, 0.9)]
    return results


def verdicts(results):
    return [claim.verdict for claim in claims(results)]


def spoilt(change):
    results = all_well()
    change(results)
    return [number for number, verdict in enumerate(verdicts(results)) if verdict == "NO"]


def slower(results, key, on, times):
    results.turns = [
        replace(turn, seconds=turn.seconds * times) if (turn.system, turn.workload) == (key, on) else turn
        for turn in results.turns
    ]


def test_what_holds_is_said_to_hold():
    found = claims(all_well())
    assert [claim.holds for claim in found] == [True] * 9
    assert found[0].figure == "31.0 times Peer"
    assert found[1].figure == "40.0 times Rule-Numba"
    assert found[3].figure == "45%, avx512"
    assert found[5].figure == "K^1.90"
    assert found[8].figure == "0.30 s"


def test_each_claim_can_fail():
    assert spoilt(lambda results: slower(results, "peer", "mnist-5x5", 0.9)) == [0]
    assert spoilt(lambda results: slower(results, "rule-numba", "mnist-5x5", 0.02)) == [1]
    assert spoilt(lambda results: slower(results, said.MINI_BATCH, "mnist-5x5", 0.5)) == [2]
    assert spoilt(lambda results: results.kernels.__setitem__(0, kernel(16, 25, 0.39))) == [3]
    assert spoilt(lambda results: results.kernels.__setitem__(2, kernel(256, 128, 0.49))) == [4]
    assert spoilt(lambda results: results.imports.__setitem__(0, Import(OURS, 0, 1.5, 0.9))) == [8]
    assert spoilt(lambda results: slower(results, OURS, "rows-D128-K256", 1.6)) == [7]


@pytest.mark.parametrize(("time", "failed"), [(lambda K, D: K**2.1, 5), (lambda K, D: D**1.1 * K, 6)])
def test_growth_beyond_the_rule_is_told(time, failed):
    found = claims(results_of(on_grid(time)))
    assert found[failed].verdict == "NO"
    assert found[11 - failed].verdict == "yes"


def test_what_was_not_measured_is_no_claim():
    assert verdicts(Results({})) == ["not measured"] * 9


# Turns


class Quiet(Progress):
    """Says nothing."""

    def __init__(self):
        super().__init__(0)

    def say(self, what):
        self.done += 1


def tiny(K=4, D=3, rows=2048):
    return workloads.Workload("tiny", K, D, lambda count: workloads.mixture(K, D)(rows))


def bench(key, tmp_path, rows=2048, K=4):
    made = Bench(odd_systems.SYSTEMS[key])
    np.save(tmp_path / "x.npy", workloads.mixture(K, 3)(rows)[0])
    made.open(tmp_path / "x.npy", K, 3)
    return made


ONE_OF_EACH = ("ours-float32", "breaks", "dies", "large", "sklearn-minibatch-1")


def test_systems_take_turns_in_their_own_processes(tmp_path):
    results, plan = Results({}), Plan(2, 0.005, (1024,))
    systems = {key: odd_systems.SYSTEMS[key] for key in ONE_OF_EACH}
    others = set(multiprocessing.active_children())  # which other tests left
    with Crew("tests.odd_systems") as crew:
        left = measure_workload(crew, systems, "tiny", tiny(), plan, tmp_path, results, Quiet())
        measure_lengths(crew, ["ours-float32"], "tiny", plan, results, Quiet())
        processes = set(multiprocessing.active_children()) - others
    assert not any(process.is_alive() for process in processes)
    assert len(processes) == 3
    assert list(left) == ["ours-float32", "sklearn-minibatch-1"]
    assert results.refusals == [
        Refusal("breaks", "tiny", "ValueError: no such thing"),
        Refusal("dies", "tiny", "its process died (exit code 3)"),
        Refusal("large", "tiny", "needs 3.0 GiB, over 2 GiB"),
    ]
    for key in left:
        turns = [turn for turn in results.turns if turn.system == key]
        assert [turn.repetition for turn in turns] == [0, 1]
        assert turns[1].begin == turns[0].begin + turns[0].samples
        assert all(turn.seconds > 0 and turn.samples == left[key] for turn in turns)
    assert {each.system for each in results.firsts} == {each.system for each in results.memory} == set(left)
    assert [(turn.begin, turn.samples) for turn in results.lengths] == [(1, 1024), (1, 1024)]
    assert results.workloads["tiny"] == Workload("tiny", "tiny", 4, 3)
    assert "breaks: ValueError: no such thing" in table.workload(results, "tiny")


def test_nobody_waits_for_one_that_hangs(tmp_path):
    others = set(multiprocessing.active_children())
    np.save(tmp_path / "x.npy", np.zeros((8, 3), np.float32))
    with Crew("tests.odd_systems", limit=1.0) as crew:
        crew.ask("hangs", "open", tmp_path / "x.npy", 4, 3)
        with pytest.raises(Refused, match="took over 1 s to warm up"):
            crew.ask("hangs", "fill", 0.01)
        assert set(multiprocessing.active_children()) <= others


def test_a_package_that_does_not_load_is_a_refusal():
    with pytest.raises(ModuleNotFoundError, match="no_such_module"):
        Bench(odd_systems.SYSTEMS["unknown"])  # which its process answers as it does other errors
    results = Results({})
    measure_imports({"unknown": odd_systems.SYSTEMS["unknown"]}, 1, None, results, Quiet())
    assert results.imports == []
    assert "no_such_module" in results.refusals[0].why
    assert import_seconds("import json", None) > 0


def test_who_is_too_slow_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(worker, "SLOWEST", 0.0)
    with pytest.raises(TooSlow, match=r"took over 0 s for \d+ samples"):
        bench("ours-float32", tmp_path).fill(0.01)


def test_a_turn_shrinks_again_where_a_system_slows_down(tmp_path):
    made = bench("slows", tmp_path)
    made.samples = made.samples[:1024]
    found = made.fill(0.02)
    assert 1 <= found <= 20  # 2 ms for each sample from the 50th on; none before


def test_who_was_too_slow_twice_for_smaller_sizes_is_not_tried_again():
    results = Results({})
    for key, K, D in (("a", 64, 2), ("b", 64, 16)):
        results.workloads[key] = Workload(key, key, K, D)
        results.refusals += [
            Refusal("slow", key, "took over 15 s to warm up"),
            Refusal("broken", key, "ValueError: no"),
            Refusal("slowing", key, "turn 3: took over 15 s"),
        ]
    results.refusals.append(Refusal("once", "a", "took over 15 s"))
    expected = "not tried: with K = 64, D = 16 it took over 15 s to warm up"
    assert too_slow_already(results, "slow", 256, 128) == expected
    for other in (("slow", 16, 128), ("slow", 1024, 2), ("once", 1024, 128), ("broken", 256, 128)):
        assert too_slow_already(results, *other) is None
    assert too_slow_already(results, "slowing", 256, 128) is None


def test_after_the_last_sample_comes_the_first(tmp_path):
    made = bench("ours-float32", tmp_path, rows=2050)
    assert list(made._pieces(2000, 4096)) == [(2000, 48), (0, 2048), (0, 2000)]
    made.anew(100)
    assert made.turn(5000)[0] == 100
    assert made.turn(1)[0] == 5100
    assert made.model.model.n_samples_seen_ == 5101


def test_the_first_call_has_what_it_needs(tmp_path):
    made = bench("sklearn-minibatch-1", tmp_path)
    assert made.first() > 0
    assert made.anew(1)[0] == 4  # K rows to begin with
    assert made.turn(3)[0] == 4


def test_turns_begin_where_a_system_has_settled(tmp_path):
    made = bench("gathers", tmp_path)
    assert made.fill(0.02) <= 20  # not the many that it would gather in that time
    assert made.anew(1)[0] == 50


def test_samples_lie_in_the_domain():
    x, remark = workloads.mixture(16, 2)(1000)
    assert (x.shape, x.dtype, remark) == ((1000, 2), np.float32, "")
    assert x.min() >= 0
    assert x.max() <= 1
    np.testing.assert_array_equal(x, workloads.mixture(16, 2)(1000)[0])
    for workload in workloads.WORKLOADS.values():
        assert workload.rows >= 39 * workload.K


# What is told


def test_results_come_back_from_their_file(tmp_path):
    results = all_well()
    results.firsts = [First(OURS, "mnist-5x5", 0.1)]
    results.memory = [Memory(OURS, "mnist-5x5", 2.5)]
    results.refusals = [Refusal("peer", "rows-D2-K16", "took over 20 s")]
    results.lengths = [Turn(OURS, "mnist-5x5", 0, 0, 1024, 0.1)]
    results.write(tmp_path / "some" / "peers.json")
    assert Results.read(tmp_path / "some" / "peers.json") == results


def test_the_tables_hold_the_figures():
    results = all_well()
    results.memory = [Memory(OURS, "mnist-5x5", 2.5)]
    lines = table.workload(results, "mnist-5x5").splitlines()
    assert lines[3].split() == [OURS, "2,000,000", "0.500", "0.475", "to", "0.750", "2.5", "–", "1.00"]
    assert lines[5].split()[-1] == "31.0"
    assert table.growth(results).splitlines()[1].split() == [OURS, "–", "0.90", "1.90"]
    assert table.imports(results).split()[-3:] == [OURS, "1.20", "+0.30"]
    assert table.refusals(results) == "Every system was measured on every workload."
    assert "  yes           arrays one sample at a time faster than MiniBatchKMeans" in table.shown(results)


def test_an_unknown_name_is_answered_with_those_that_there_are():
    with pytest.raises(SystemExit, match=r"no such system: river\. There are: ours-float32"):
        chosen("river")
    with pytest.raises(SystemExit, match=r"no such workload: mnist\. There are: mnist-5x5"):
        workloads.chosen("mnist", quick=False)
    assert list(workloads.chosen(None, quick=True)) == list(workloads.QUICK)


def test_the_settings_are_those_of_the_paper_for_its_patches():
    assert TASK.rule == Rule(1.0, 0.5, 0.1)


def test_one_workload_is_measured_again_and_the_others_stay():
    kept = results_of({("ours-float32", "a"): 1.0, ("ours-float32", "b"): 2.0, ("gone", "b"): 3.0})
    now = Results({"processor": "now"}, {OURS: kept.systems[OURS]})
    both = kept.without({"a"}, now)
    assert both.machine == {"processor": "now"}
    assert {(turn.system, turn.workload) for turn in both.turns} == {(OURS, "b")}
    assert list(both.workloads) == ["b"]
    assert now.turns == []


def test_who_is_not_told_how_many_has_no_exponent_of_them():
    results = results_of(on_grid(lambda K, D: K * D, keys=(OURS, "peer")))
    results.systems["peer"] = replace(results.systems["peer"], takes_K=False)
    found = slopes(results)
    assert found["peer"]["K"] is None
    assert found["peer"]["D"] == pytest.approx(1)
    assert found[OURS]["K"] == pytest.approx(1)


def test_growth_as_the_rule_has_it_is_no_failure():
    found = claims(results_of(on_grid(lambda K, D: K**2.001 * D)))
    assert found[5].verdict == found[6].verdict == "yes"
