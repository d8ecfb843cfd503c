"""The rule on a GPU beside the reference, and what happens where there is no GPU."""

import re
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from functools import partial

import numpy as np
import pytest

from gaussian_neurons import GaussianNeurons, Neurons, sweep
from gaussian_neurons.base import extras
from gaussian_neurons.learning import backends, cuda, native, reference
from gaussian_neurons.learning.cuda import device, large, many, patches
from gaussian_neurons.learning.cuda.ahead import BLOCKS, Ahead, in_blocks
from gaussian_neurons.learning.cuda.gathering import Gathering
from gaussian_neurons.learning.cuda.rows import RowsOnGPU
from gaussian_neurons.learning.cuda.task import Task
from gaussian_neurons.learning.rule import Rule
from gaussian_neurons.sampling import Patches
from gaussian_neurons.sampling.undrawn import Undrawn
from tests.learning.calls import last, same_bits
from tests.runs import same

gpu = pytest.mark.gpu
EXACT = {np.float64: 1e-10, np.float32: 1e-4}


def task_of(K, D, dtype, equal=True, learns_widths=False, every=1, n=150, shift=0.0) -> Task:
    random = np.random.default_rng(K * D)
    scale = D / 4  # of squared distances between samples
    widths = np.full(K, scale) if equal else random.uniform(0.5, 1.5, K) * scale
    own = random.uniform(0.0, 0.5, n) * scale if learns_widths else None
    rule = Rule(0.02 * scale, 0.3, 0.1 if learns_widths else 0.0, every)
    centers, samples = (random.random((count, D)) + shift for count in (K, n))
    return Task(centers.astype(dtype), widths.astype(dtype), samples.astype(dtype), own, rule, 5, equal)


def expected(task: Task):
    arrays = (task.centers.astype(float), task.widths.astype(float), task.samples.astype(float))
    return reference.learn(*arrays, task.sample_widths, task.rule, task.seen)


def assert_like_the_reference(engine, task: Task, within: float):
    (found,) = engine.learn([task])
    exact = expected(task)
    assert (np.abs(exact[0] - task.centers) > 100 * within).any()
    for one, other in zip(found, exact, strict=True):
        assert one.dtype == task.centers.dtype
        np.testing.assert_allclose(one, other, rtol=within, atol=within)


# ---- beside the reference ---------------------------------------------------------------------------------


@gpu
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("learns_widths", [False, True])
@pytest.mark.parametrize("every", [1, 3])
@pytest.mark.parametrize(
    ("K", "D"), [(1, 2), (3, 1), (5, 3), (16, 25), (32, 4), (33, 2), (100, 30), (256, 64)]
)
def test_many_small_layers(K, D, dtype, learns_widths, every):
    for equal in (True, False):
        assert_like_the_reference(many, task_of(K, D, dtype, equal, learns_widths, every), EXACT[dtype])


@gpu
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("every", [1, 3])
@pytest.mark.parametrize(("K", "D"), [(1, 2), (64, 25), (100, 37), (300, 130), (33, 784)])
def test_a_large_layer(K, D, dtype, every):
    for equal in (True, False):
        assert_like_the_reference(large, task_of(K, D, dtype, equal, every=every, n=40), EXACT[dtype])


@gpu
@pytest.mark.parametrize(("engine", "K", "D"), [(many, 16, 25), (large, 100, 37)])
def test_float32_over_10_000_samples(engine, K, D):
    assert_like_the_reference(engine, task_of(K, D, np.float32, n=10_000), 1e-4)


@gpu
@pytest.mark.parametrize(("engine", "K", "D"), [(many, 16, 25), (large, 100, 37)])
def test_data_far_from_the_origin_loses_only_its_own_rounding(engine, K, D):
    task = task_of(K, D, np.float32, n=100, shift=64.0)
    rounding = np.spacing(np.float32(64.0))
    assert_like_the_reference(engine, task, 50 * rounding)


@gpu
@pytest.mark.parametrize(("K", "D"), [(16, 25), (300, 70)])
def test_a_neuron_at_rest_in_numbers_worked_out_by_hand(K, D):
    """One neuron at the sample, the others out of reach: only the second nearest moves, by 0.1 / e."""
    centers = 1000.0 * np.arange(1, K + 1)[:, None] * np.ones(D)
    centers[:2] = 0
    centers[1, 0] = 1
    after, _ = cuda.learn(centers, np.ones(K), np.zeros((1, D)), None, Rule(0.1, 0.0), 0)
    assert after[1, 0] == pytest.approx(1 - 0.1 / np.e, rel=1e-12)
    np.testing.assert_array_equal(np.delete(after, 1, axis=0), np.delete(centers, 1, axis=0))


# ---- bits -------------------------------------------------------------------------------------------------


@gpu
@pytest.mark.parametrize(("K", "D"), [(16, 25), (40, 3), (300, 70)])
def test_the_bits_depend_on_nothing_but_the_samples(K, D, monkeypatch):
    task = task_of(K, D, np.float32, n=90)
    whole = cuda.learn(task.centers, task.widths, task.samples, None, task.rule, 0)
    layer = Neurons.at(task.centers, task.widths, np.float32)
    first = last([layer], task.samples[:37], [task.rule], backend="cuda")
    parts = last(first, task.samples[37:], [task.rule], backend="cuda")
    assert parts[0].centers.tobytes() == whole[0].tobytes()
    others = [task_of(K, D, np.float32, equal=False, n=90) for _ in range(5)]
    layers = [(it.centers, it.widths) for it in (others[0], task, *others)]
    rules = [Rule(0.01, 0.1 * k) for k in range(len(layers))]
    rules[1] = task.rule
    together = cuda.learn_each(layers, task.samples, None, rules, [0] * len(layers))
    assert together[1][0].tobytes() == whole[0].tobytes()
    monkeypatch.setattr(device, "room", lambda: 5 * task.samples[0].nbytes)  # a few rows, a layer at a time
    in_turns = cuda.learn_each(layers, task.samples, None, rules, [0] * len(layers))
    assert [it[0].tobytes() for it in in_turns] == [it[0].tobytes() for it in together]


@gpu
def test_a_model_moves_between_devices(tmp_path):
    x = np.random.default_rng(0).random((3000, 4), np.float32)
    given = {"n_neurons": 8, "width": 0.1, "inhibition": 0.2, "random_state": 0}
    moved = GaussianNeurons(**given, backend="cuda").partial_fit(x[:1500])
    moved.save(tmp_path / "model")
    on_processor = GaussianNeurons.load(tmp_path / "model").set_params(backend="native").partial_fit(x[1500:])
    on_gpu = GaussianNeurons.load(tmp_path / "model").partial_fit(x[1500:])
    alone = GaussianNeurons(**given, backend="native").partial_fit(x)
    assert moved.centers_.dtype == on_gpu.centers_.dtype == np.float32
    for model in (on_processor, on_gpu):
        np.testing.assert_allclose(model.centers_, alone.centers_, rtol=1e-4, atol=1e-4)
        assert model.n_clusters_ == alone.n_clusters_


@gpu
def test_the_models_of_a_sweep_are_those_of_fit():
    x = np.random.default_rng(0).normal(size=(500, 2)) + 6 * np.random.default_rng(1).integers(
        3, size=(500, 1)
    )
    given = {"n_neurons": 12, "widths": 4, "inhibitions": [0.5, 1.0], "seeds": 2, "progress": False}
    found, exact = sweep(x, backend="cuda", **given), sweep(x, **given)
    np.testing.assert_array_equal(found.n_clusters, exact.n_clusters)
    model = found.model(found.widths[1], 0.5, 1).fit(x)
    assert model.backend == "cuda"
    assert model.n_clusters_ == found.n_clusters[1, 0, 1]


@gpu
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("chosen", [None, [3, 0]])
def test_patches_drawn_on_the_gpu_have_the_same_bits(dtype, chosen):
    random = np.random.default_rng(0)
    for images in (
        random.integers(256, size=(4, 9, 11, 3)).astype(np.uint8),
        random.random((5, 8, 7), np.float32),
    ):
        labels = {} if chosen is None else {"labels": np.arange(len(images)), "classes": chosen}
        stream = Patches(images, 5, seed=2**40 + 3, dtype=dtype, **labels)
        for first, count in ((0, 1), (2**33 - 100, 1000)):
            other = Patches(images, 5, seed=7, dtype=dtype, **labels)
            few = Patches(images, 5, seed=7, dtype=dtype, labels=np.arange(len(images)), classes=[2, 1])
            rows = [
                Undrawn(stream, first, count),
                np.ones((2, 3)),
                Undrawn(few, 3, 90),
                Undrawn(other, 5, 70),
                Undrawn(stream, 9, 0),
            ]
            for drawn, row in zip(patches.on_gpu(rows), rows, strict=True):
                assert drawn.get().tobytes() == np.asarray(row).tobytes()
            assert patches._copy(few.images) is patches._copy(other.images)  # copied once


@gpu
def test_patches_are_learned_as_if_they_were_read():
    images = np.random.default_rng(0).integers(256, size=(20, 12, 12)).astype(np.uint8)
    given = {"n_neurons": 8, "width": 0.5, "backend": "cuda", "random_state": 0}
    for domain in (None, (0, 1)):
        rows, stream = Patches(images, 3).read(7000), Patches(images, 3)
        read = GaussianNeurons(**given, domain=domain).partial_fit(rows)
        drawn = GaussianNeurons(**given, domain=domain).learn(stream, 7000, every=1234)
        assert same(read, drawn)
        assert stream.position == 7000


@gpu
def test_layers_that_threads_learn_are_gathered(monkeypatch):
    calls = []

    def recorded(tasks, together=cuda._together):
        calls.append(len(tasks))
        return together(tasks)

    monkeypatch.setattr(cuda, "_together", recorded)
    images = np.random.default_rng(0).integers(256, size=(20, 12, 12)).astype(np.uint8)
    with cuda.served() as address, cuda.gathered(address), ThreadPoolExecutor(20) as threads:

        def learned(seed):
            model = GaussianNeurons(8, width=0.5, domain=(0, 1), backend="cuda", random_state=seed)
            return model.learn(Patches(images, 3, seed), 200_000, progress=False)

        together = list(threads.map(learned, range(20)))
    assert max(calls) > 1
    monkeypatch.undo()
    assert all(same(model, learned(seed)) for seed, model in enumerate(together))


@pytest.fixture
def numpy_for_cupy(monkeypatch):
    """NumPy in place of CuPy, and the compiled core in place of a GPU; counts the rows that are copied."""
    copied = []

    def learn(tasks):
        arrays = [rows.array if isinstance(rows := it.samples, RowsOnGPU) else rows for it in tasks]
        own = [it.sample_widths for it in tasks]
        return [
            native.learn(it.centers, it.widths, x, widths, it.rule, it.seen)
            for it, x, widths in zip(tasks, arrays, own, strict=True)
        ]

    def received(array):
        copied.append(len(array))
        return np.array(array)

    monkeypatch.setattr(cuda, "_together", learn)
    monkeypatch.setattr(device, "cupy", lambda: np)
    monkeypatch.setattr(cuda, "require", lambda: None)
    monkeypatch.setattr(device, "received", received)
    monkeypatch.setattr(device, "memory_errors", nullcontext)
    return copied


@pytest.mark.parametrize("learns_widths", [False, True])
def test_rows_on_a_gpu_are_learned_where_they_are(numpy_for_cupy, learns_widths):
    random = np.random.default_rng(0)
    x, own = random.random((30_000, 3)).astype(np.float32), None
    parameters = {"width": 0.1, "domain": (0, 1), "backend": "cuda", "random_state": 0}
    if learns_widths:
        own, parameters["width_learning_rate"] = random.uniform(0.0, 0.2, len(x)), 0.05
        parameters["learning_rate"] = 0.01

    def model():
        return GaussianNeurons(8, **parameters).place_neurons(3, np.float32)

    def learn(model, rows, own=own):
        model._learn_rows(model._state, model._state, RowsOnGPU(rows), own)

    there = model()
    learn(there, x)
    assert same(there, model().partial_fit(x, sample_width=own))
    assert set(numpy_for_cupy) == {1000}  # the last ones before each review
    bad = x[:50].copy()
    bad[[17, 20], 1] = np.nan, np.inf
    before = there.centers_.copy()
    with pytest.raises(ValueError, match="got NaN at row 17, column 1"):
        learn(there, bad, None if own is None else own[:50])
    np.testing.assert_array_equal(there.centers_, before)
    if learns_widths:
        own[12] = np.inf
        with pytest.raises(ValueError, match=r"sample_width must be finite .*, got inf at row 12"):
            learn(there, bad, own[:50])


# ---- errors -----------------------------------------------------------------------------------------------


@gpu
@pytest.mark.parametrize("K", [16, 300])
def test_the_first_sample_after_which_a_neuron_is_invalid_is_found(K):
    centers, samples = 3 + np.random.default_rng(0).random((K, 3)), np.zeros((400, 3))  # out of reach
    samples[271] = centers[5] + 0.1
    samples[300] = np.nan
    arrays = centers, np.full(K, 0.01)
    with pytest.raises(FloatingPointError, match=r"at sample 1271 .*lower learning_rate"):
        cuda.learn(*arrays, samples, None, Rule(1e308, 0.0), 1000)
    with pytest.raises(ValueError, match="NaN at row 29, column 0"):
        cuda.learn(*arrays, samples[271:], None, Rule(0.1, 0.5), 0)


@gpu
def test_what_a_gpu_cannot_learn_is_said():
    x = np.random.default_rng(0).random((1200, 3))
    with pytest.raises(ValueError, match=r"not with covariances. Use backend='native'"):
        GaussianNeurons(4, width=0.1, covariance_type="full", backend="cuda").partial_fit(x)
    with pytest.raises(ValueError, match=r"cannot learn the widths of 2000 neurons .* at most 1024"):
        many.learn([task_of(2000, 3, np.float32, learns_widths=True, n=2)])
    with pytest.raises(ValueError, match=r"bytes of shared memory, of which this GPU has"):
        many.learn([task_of(1000, 100, np.float64, learns_widths=True, n=2)])


@gpu
def test_memory_that_does_not_suffice_is_a_sentence(monkeypatch):
    rows = np.random.default_rng(0).random((50, 9))
    model = GaussianNeurons(300, width=0.1, domain=(0, 1), backend="cuda").partial_fit(rows)
    before = model.centers_.copy()
    pool = device.cupy().get_default_memory_pool()
    pool.free_all_blocks()  # of earlier tests
    pool.set_limit(size=1000)
    try:
        with pytest.raises(MemoryError, match=r"memory of the GPU does not suffice.*The model is unchanged"):
            model.partial_fit(np.zeros((5, 9)))
    finally:
        pool.set_limit(size=0)
    np.testing.assert_array_equal(model.centers_, before)


@gpu
def test_automatic_widths_name_the_backends_that_find_them():
    with pytest.raises(ValueError, match=r"cuda computes the rule for given widths.*one of 'auto', 'native'"):
        GaussianNeurons(4, backend="cuda").partial_fit(np.random.default_rng(0).random((2000, 3)))


@pytest.fixture
def unknown_gpu():
    device.cupy.cache_clear()
    device.available.cache_clear()
    yield
    device.cupy.cache_clear()
    device.available.cache_clear()


def test_without_cupy_the_extra_is_named(monkeypatch, unknown_gpu):
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(ModuleNotFoundError, match=re.escape(extras.install("cuda"))):
        GaussianNeurons(4, width=0.1, backend="cuda").partial_fit(np.random.default_rng(0).random((20, 3)))
    assert not device.available()


class NoDriver(RuntimeError):
    pass


@pytest.mark.parametrize("count", [0, NoDriver("no driver")])
def test_without_a_gpu_the_other_backend_is_named(monkeypatch, unknown_gpu, count):
    def devices():
        if isinstance(count, Exception):
            raise count
        return count

    runtime = type("runtime", (), {"CUDARuntimeError": NoDriver, "getDeviceCount": staticmethod(devices)})
    cuda_of_cupy = type("cuda", (), {"runtime": runtime})
    monkeypatch.setitem(sys.modules, "cupy", type("cupy", (), {"cuda": cuda_of_cupy}))
    with pytest.raises(OSError, match=r"needs an NVIDIA GPU.*Use backend='native'"):
        GaussianNeurons(4, width=0.1, backend="cuda").partial_fit(np.random.default_rng(0).random((20, 3)))
    assert not device.available()


# ---- threads ----------------------------------------------------------------------------------------------


def test_tasks_of_threads_are_computed_together_and_fail_alone():
    calls = []

    def inverses(tasks):
        calls.append(len(tasks))
        if len(calls) == 1:
            time.sleep(0.2)  # the others arrive
        return [1 / task for task in tasks]

    with Gathering(inverses, nullcontext, type) as gathering, ThreadPoolExecutor(30) as threads:
        answers = [threads.submit(gathering.compute, [k, -2]) for k in range(30)]
        with pytest.raises(ZeroDivisionError):
            answers[0].result()
        assert [answer.result() for answer in answers[1:]] == [[1 / k, -0.5] for k in range(1, 30)]
    assert max(calls) > 2


def test_one_thread_at_a_time_has_the_turn_and_all_wait_for_one_batch():
    together, in_turn, at_once = [], [], []

    def doubled(tasks):
        together.append(len(tasks))
        time.sleep(0.2)  # all others arrive, which they cannot while one that waits keeps the turn
        return [2 * task for task in tasks]

    def two_steps(task):
        with gathering.turn():
            for _ in range(2):
                in_turn.append(task)
                at_once.append(len(in_turn))
                time.sleep(0.001)
                in_turn.remove(task)
                (task,) = gathering.compute([task])
        return task

    with Gathering(doubled, nullcontext, type) as gathering, ThreadPoolExecutor(20) as threads:
        assert list(threads.map(two_steps, range(20))) == [4 * task for task in range(20)]
    assert max(at_once) == 1
    assert sum(together) == 40
    assert max(together) > 2


def test_tasks_of_two_kinds_are_not_computed_together():
    kinds = []

    def doubled(tasks):
        kinds.append({type(task) for task in tasks})
        time.sleep(0.05)
        return [2 * task for task in tasks]

    with Gathering(doubled, nullcontext, type) as gathering, ThreadPoolExecutor(40) as threads:
        found = list(threads.map(gathering.compute, ([k if k % 3 else float(k)] for k in range(40))))
    assert found == [[2 * k] for k in range(40)]
    assert all(len(some) == 1 for some in kinds)
    assert len(kinds) < 40


def test_a_thread_that_fails_passes_its_turn_on():
    def inverses(tasks):
        return [1 / task for task in tasks]

    def inverse(task):
        with gathering.turn():
            return gathering.compute([task])

    with Gathering(inverses, nullcontext, type) as gathering, ThreadPoolExecutor(1) as threads:
        with pytest.raises(ZeroDivisionError):
            threads.submit(inverse, 0).result()
        assert threads.submit(inverse, 4).result(timeout=60) == [0.25]


def test_calls_in_turn_may_wait_for_calls_of_their_own():
    with Gathering(lambda tasks: [2 * task for task in tasks], nullcontext, type) as gathering:

        def twice(task):
            (found,) = gathering.compute([task])
            return sum(gathering.each([lambda: gathering.compute([found])[0]] * 3))

        assert gathering.each([partial(twice, task) for task in range(20)]) == [12 * k for k in range(20)]


def test_blocks_that_follow_are_learned_ahead_and_used_only_if_nothing_changed():
    asked = []

    def together(tasks):
        tasks = [(it, np.asarray(it.samples)) for it in tasks]
        return [native.learn(it.centers, it.widths, x, None, it.rule, it.seen) for it, x in tasks]

    def compute(tasks):
        asked.append([task.blocks for task in tasks])
        return in_blocks(together, tasks)

    stream = Patches(np.random.default_rng(0).integers(256, size=(20, 12, 12)).astype(np.uint8), 3, seed=1)
    learner, first, rule = Ahead(compute), 0, Rule(0.1, 0.5)
    layer = np.random.default_rng(1).random((4, 9), np.float32), np.full(4, 0.5, np.float32)
    moved = {9: 0.25, 23: -0.5}  # after that many blocks
    for block, count in enumerate([10] * 30 + [7] * 5):
        task = Task(*layer, Undrawn(stream, first, count), None, rule, first, True)
        (found,), (exact,) = learner.learned([task]), together([task])
        assert [array.tobytes() for array in found] == [array.tobytes() for array in exact]
        layer, first = (found[0] + np.float32(moved.get(block, 0.0)), found[1]), first + count
    several = [Task(*layer, Undrawn(stream, first, 5), None, rule, first, True)] * 2
    assert len(learner.learned(several)) == 2
    expected = [1, BLOCKS]  # to block 9, after which neurons move
    expected += [1, BLOCKS, BLOCKS]  # to block 23, likewise
    expected += [1, BLOCKS]  # to the last block of 10 samples
    expected += [1, BLOCKS]  # blocks of 7
    assert asked == [[blocks] for blocks in expected] + [[1, 1]]


# ---- the rule of "auto" -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("K", "D", "there", "learns_widths", "on_gpu"),
    [
        (1024, 784, True, False, True),
        (1024, 784, False, False, False),
        (1024, 784, True, True, False),
        (16, 25, True, False, False),
    ],
)
def test_auto_uses_a_gpu_for_large_layers(monkeypatch, K, D, there, learns_widths, on_gpu):
    called = []

    def recording(centers, widths, samples, sample_widths, rule, seen):
        called.append(len(centers))
        return centers, widths

    monkeypatch.setattr(cuda, "available", lambda: there)
    for backend in ("cuda", "native"):
        entry = (recording if backend == "cuda" else native.learn, lambda _: 100)
        monkeypatch.setitem(backends.BACKENDS, backend, entry)
    layer, own = Neurons.at(np.random.default_rng(0).random((K, D)), float(D), np.float32), np.full(1, 0.1)
    rule = Rule(0.1, 0.5, 0.1 if learns_widths else 0.0)
    (after,) = last([layer], np.zeros((1, D), np.float32), [rule], own if learns_widths else None)
    assert called == ([K] if on_gpu else [])
    assert same_bits(after, layer.after(layer.centers, layer.widths, 1)) == on_gpu
