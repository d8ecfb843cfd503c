"""The compiled core against the reference, on every instruction set."""

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gaussian_neurons import Neurons
from gaussian_neurons.base import memory_maps
from gaussian_neurons.base.bad_rows import BadRow
from gaussian_neurons.clustering.diagnosis import find_twins
from gaussian_neurons.datasets import mnist_sample
from gaussian_neurons.learning import native, reference, responses
from gaussian_neurons.learning.rule import Rule
from gaussian_neurons.sampling import Patches
from tests.learning.calls import PRECISIONS, last, learned, same_bits

CASES = ("equal", "own", "both", "widths")
SHAPES = [(1, 1), (2, 3), (7, 200), (8, 16), (9, 25), (17, 2), (31, 7), (64, 33), (70, 200)]
RULE = Rule(learning_rate=0.05, inhibition=0.3)


@pytest.fixture(params=native.available())
def instruction_set(request):
    with native.using(request.param):
        yield request.param


def problem(case: str, K: int, D: int, n: int, seed: int = 0):
    """(neurons, samples, rule, sample widths) with equal widths, different ones, or learned ones."""
    random = np.random.default_rng(seed)
    scale = D / 8
    widths = np.full(K, scale) if case == "equal" else scale * random.uniform(0.7, 1.3, K)
    learns_widths = case in ("both", "widths")
    own = scale * random.uniform(0.5, 1.5, n) if learns_widths else None
    rule = Rule(0.0 if case == "widths" else 0.1 * scale, 0.3, 0.1 if learns_widths else 0.0)
    return Neurons.at(random.random((K, D)), widths), random.random((n, D)), rule, own


def in_precision(neurons: Neurons, dtype: type) -> Neurons:
    return Neurons.at(neurons.centers, neurons.widths, dtype)


def assert_native_equals_reference(case: str, K: int, D: int, n: int, seed: int = 0) -> None:
    neurons, *given = problem(case, K, D, n, seed)
    slow = learned(reference, neurons, *given)
    for name in native.available():
        for dtype, tolerance in PRECISIONS:
            with native.using(name):
                fast = learned(native, in_precision(neurons, dtype), *given)
            atol = tolerance * max(1.0, float(np.abs(slow.centers).max()))
            np.testing.assert_allclose(fast.centers, slow.centers, rtol=tolerance, atol=atol, err_msg=name)
            np.testing.assert_allclose(fast.widths, slow.widths, rtol=tolerance, err_msg=name)
            assert fast.seen == slow.seen == n


@pytest.mark.parametrize(("K", "D"), SHAPES)
@pytest.mark.parametrize("case", CASES)
def test_native_equals_reference(case, K, D):
    assert_native_equals_reference(case, K, D, n=20 if K * D > 5000 else 100)


@settings(max_examples=25)
@given(st.integers(1, 70), st.integers(1, 200), st.sampled_from(CASES), st.integers(0, 10**6))
def test_native_equals_reference_for_any_shape(K, D, case, seed):
    assert_native_equals_reference(case, K, D, n=3, seed=seed)


@pytest.mark.parametrize("case", ["equal", "own", "both"])
def test_native_equals_reference_for_tiles_of_every_size(case):
    for D in range(1, 19):
        assert_native_equals_reference(case, 66, D, n=3, seed=D)


@pytest.mark.parametrize("case", CASES)
def test_native_equals_reference_over_many_samples(case):
    assert_native_equals_reference(case, 16, 25, n=1500, seed=16)


def test_a_sample_by_hand(instruction_set):
    # mu = 0, 1, sigma = 1, lambda = 1/2, x = 1: see test_reference
    for dtype, _ in PRECISIONS:
        neurons = learned(native, Neurons.at([[0.0], [1.0]], 1.0, dtype), [[1.0]], Rule(0.1, 0.5))
        np.testing.assert_allclose(neurons.centers, [[0.0], [1 + 0.1 / np.e]], atol=1e-7)


def test_the_exponential_is_exact_at_both_ends(instruction_set):
    # One neuron is on the sample, the other so far away that all responses are 0: no step.
    neurons = learned(native, Neurons.at([[0.0], [1e3]], 1.0), [[0.0]], Rule(0.1, 0.5))
    np.testing.assert_array_equal(neurons.centers, [[0.0], [1e3]])


def test_learning_changes_no_argument():
    neurons, samples, rule, own = problem("both", 5, 3, 50)
    arrays = (neurons.centers, neurons.widths, samples, own)
    before = [array.copy() for array in arrays]
    assert (learned(native, neurons, samples, rule, own).centers != before[0]).any()
    for array, copy in zip(arrays, before, strict=True):
        np.testing.assert_array_equal(array, copy)


def test_distances_agree_with_numpy(instruction_set):
    random = np.random.default_rng(0)
    for K, D in SHAPES:
        centers, x = random.random((K, D)), random.random((50, D))
        expected = ((x[:, None] - centers) ** 2).sum(axis=2)
        np.testing.assert_allclose(native.squared_distances(x, centers), expected, rtol=1e-12)
        single = native.squared_distances(x, centers.astype(np.float32))
        np.testing.assert_allclose(single, expected, rtol=1e-3, atol=1e-6)


def layouts(x: np.ndarray) -> dict[str, np.ndarray]:
    """The same rows with other strides, alignment, byte order or flags."""
    n, D = x.shape
    gaps = np.zeros((2 * n, 3 * D))
    gaps[::2, ::3] = x
    frozen = x.copy()
    frozen.flags.writeable = False
    record = np.zeros(n, dtype=[("flag", np.int8), ("row", np.float64, (D,))])
    record["row"] = x
    backward = x[::-1, ::-1].copy()
    return {
        "fortran": np.asfortranarray(x),
        "strided": gaps[::2, ::3],
        "read-only": frozen,
        "unaligned": record["row"],
        "backward": backward[::-1, ::-1],
        "big-endian": x.astype(">f8"),
        "one row repeated": np.broadcast_to(x[:1], x.shape),
    }


@pytest.mark.parametrize("name", list(layouts(np.zeros((2, 2)))))
def test_the_layout_of_samples_does_not_matter(name):
    samples = layouts(np.random.default_rng(0).random((100, 5)))[name]
    neurons = Neurons.at(np.random.default_rng(1).random((6, 5)), 0.5)
    expected = last([neurons], np.array(samples, np.float64, order="C"), [RULE])
    assert same_bits(*last([neurons], samples, [RULE]), *expected)


@pytest.mark.parametrize("dtype", [np.int64, np.uint8, np.float16, np.float32, bool])
def test_other_types_of_samples_are_converted(dtype):
    samples = np.random.default_rng(0).integers(0, 2, (100, 3)).astype(dtype)
    neurons = Neurons.at(np.random.default_rng(1).random((4, 3)), 0.5)
    expected = last([neurons], samples.astype(np.float64), [RULE])
    assert same_bits(*last([neurons], samples, [RULE]), *expected)


def test_a_value_too_large_for_the_precision_is_an_error():
    neurons = Neurons.at([[0.0]], 1.0, np.float32)
    with pytest.raises(ValueError, match=r"1e\+300 at row 1, column 0.*float32"):
        learned(native, neurons, [[0.0], [1e300]], Rule(0.1, 0.5))


def run_python(code: str, **environment: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("isa", native.available())
def test_the_variable_forces_an_instruction_set(isa):
    done = run_python("import gaussian_neurons as g; g.show_config()", GAUSSIAN_NEURONS_ISA=isa)
    assert f"instruction set {isa} " in done.stdout


def test_an_unknown_instruction_set_lists_the_known_ones():
    done = run_python("import gaussian_neurons.learning.native", GAUSSIAN_NEURONS_ISA="mmx")
    assert done.returncode != 0
    assert "no instruction set 'mmx' here" in done.stderr
    assert "baseline" in done.stderr


def test_divergence_in_the_padding_is_ignored():
    """The lanes beside a single neuron may overflow; no sample may be counted twice for that."""
    rule, own = Rule(0.01, 0.0, 1.0), np.full(10, 1e-17)
    slow, fast = (
        learned(twin, Neurons.at([[0.3]], 0.1), np.zeros((10, 1)), rule, own) for twin in (reference, native)
    )
    assert slow.centers[0, 0] == pytest.approx(fast.centers[0, 0], rel=1e-12)


def test_the_core_leaves_the_state_before_a_divergence():
    centers, widths = np.zeros((1, 2)), np.ones(1)
    own = np.array([1.0, 1.0, 1e-310, 1.0])
    ended = native._core.learn(centers, widths, np.zeros((4, 2)), own, 0, 0, *Rule(0.1, 0.5, 1.0))
    assert ended == (native.DIVERGED, 2, 0)
    assert (widths > 0).all()
    assert np.isfinite(centers).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("K", "first", "second"), [(2, 0, 1), (17, 3, 16), (50, 0, 49)])
def test_neurons_at_one_place_stay_together_to_the_last_bit(instruction_set, dtype, K, first, second):
    """As in the reference. A difference of one bit could grow."""
    for case in CASES:
        neurons, *given = problem(case, K, 25, 200)
        neurons = in_precision(neurons.move(np.array([second]), neurons.centers[[first]], None), dtype)
        neurons = neurons.with_rows([second], widths=neurons.widths[first])
        after = learned(native, neurons, *given)
        np.testing.assert_array_equal(after.centers[first], after.centers[second])
        assert after.widths[first] == after.widths[second]
        assert (after.centers[first] != neurons.centers[first]).any() or case == "widths"


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_neurons_that_meet_in_the_reference_meet_in_the_core(dtype):
    """Two of three neurons are attracted by the blank samples: 4 lambda is less than their share."""
    random = np.random.default_rng(4)
    x = random.random((2500, 25)) * (random.random(2500) > 0.6)[:, None]
    start = np.array([np.full(25, 0.1), np.full(25, 0.5), random.random(25) * 0.2])
    rule = Rule(0.1, 0.05)
    ends = [learned(reference, Neurons.at(start, 1.0), x, rule)]
    for name in native.available():
        with native.using(name):
            ends.append(learned(native, Neurons.at(start, 1.0, dtype), x, rule))
    for neurons in ends:
        assert find_twins(neurons).tolist() == [-1, -1, 0]


def test_rounding_does_not_make_neurons_equal():
    """Figure 2d's settings: neurons that meet early separate again, in both precisions.

    With arithmetic that treats both neurons alike, rounding made them equal for ever: in 25 of these 32 seeds
    in float32, and in 15 in float64.
    """
    images = mnist_sample().images
    counts = []
    for dtype in (np.float32, np.float64):
        ends = [
            learned(
                native,
                Neurons.at(np.random.default_rng(seed).random((16, 25)), 1.0, dtype),
                Patches(images, 5, seed).read(30_000),
                Rule(0.1, 1 / 9),
            )
            for seed in range(32)
        ]
        counts.append(sum((find_twins(neurons) >= 0).any() for neurons in ends))
    assert max(counts) <= 6
    assert abs(counts[0] - counts[1]) <= 3


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("K", "D", "width", "own", "every"),
    [
        (40, 3, 0.0004, False, 1),
        (70, 5, 0.002, True, 3),
        (33, 60, 0.05, True, 1),
        (200, 2, 0.00005, False, 1),
        (200, 1, 0.00002, True, 2),
        (130, 4, 0.002, True, 1),
        (35, 1, 0.0001, False, 1),
        (44, 4, 0.002, False, 2),
        (45, 6, 0.004, False, 1),
        (46, 24, 0.02, False, 1),
        (55, 9, 0.01, True, 1),
        (71, 2, 0.0002, True, 1),
        (36, 3, 0.0005, True, 1),
        (130, 5, 0.002, False, 1),
    ],
)
def test_lists_of_neighbours_do_not_change_the_result(dtype, K, D, width, own, every):
    """The neurons move far enough that the lists are renewed."""
    random = np.random.default_rng(K)
    x = random.random((400, D)).astype(dtype)
    start = x[:K] + dtype(0.01)
    widths = width * random.uniform(0.5, 1.5, K) if own else np.full(K, width)
    rule = Rule(0.3 * width, 0.5, 0.0, every)
    slow = learned(reference, Neurons.at(start, widths), x, rule)
    for name in native.available():
        ends = []
        for lists in (True, False):
            neurons, row = Neurons.at(start, widths, dtype), 0
            while row < len(x):
                with native.using(name):
                    status, row, _ = native._core.learn(
                        neurons.centers, neurons.widths, x, None, row, row, *rule, lists
                    )
                assert status == native.DONE
            ends.append(neurons.centers)
        np.testing.assert_array_equal(*ends)
        assert (ends[0] != start).any()
        atol = 1e-12 if dtype is np.float64 else 1e-4
        np.testing.assert_allclose(ends[0], slow.centers, rtol=0, atol=atol)


@pytest.mark.parametrize(("K", "D"), [(0, 3), (3, 0)])
def test_no_neurons_or_no_columns_are_an_error(K, D):
    with pytest.raises(ValueError, match="at least one row and one column"):
        learned(native, Neurons.at(np.zeros((K, D)), 1.0), np.zeros((5, D)), RULE)


@pytest.mark.parametrize("first", [-(10**12), 5])
def test_a_first_row_out_of_range_is_an_error(first):
    with pytest.raises(ValueError, match="first must be in"):
        native._core.learn(np.zeros((1, 2)), np.ones(1), np.zeros((4, 2)), None, first, 0, *RULE)


# ---- the strongest response -------------------------------------------------------------------------


def strongest(samples, centers, widths, offsets=None):
    winner, log_response = np.empty(len(samples), np.int64), np.empty(len(samples), centers.dtype)
    less = np.zeros_like(widths) if offsets is None else offsets
    assert native._core.strongest(samples, centers, widths, less, winner, log_response) == (-1, -1)
    return winner, log_response


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("K", "D"), [(1, 1), (9, 25), (17, 2), (70, 200), (130, 3)])
def test_strongest_agrees_with_squared_distances(instruction_set, dtype, K, D):
    random = np.random.default_rng(K * D)
    centers, widths = random.random((K, D)).astype(dtype), random.uniform(0.5, 1.5, K).astype(dtype)
    offsets = random.normal(size=K).astype(dtype)
    centers[K // 2 :: 3] = centers[0]  # ties, if their widths and offsets are equal
    widths[K // 2 :: 3], offsets[K // 2 :: 3] = widths[0], offsets[0]
    x = np.concatenate([random.random((300, D)), centers.astype(np.float64)])
    for rows in (x, x.astype(np.float32), np.asfortranarray(x), x[::-1, ::-1], x[:1], x[:3], x[:4], x[:0]):
        distances = np.empty((len(rows), K), dtype)
        assert native._core.squared_distances(rows, centers, distances) == (-1, -1)
        scores = -distances / widths
        winner, log_response = strongest(rows, centers, widths)
        np.testing.assert_array_equal(winner, scores.argmax(axis=1))
        np.testing.assert_array_equal(log_response, scores.max(axis=1))
        for row in range(min(len(rows), 20)):  # one row at a time: the same bits
            alone = np.empty((1, K), dtype)
            native._core.squared_distances(rows[row : row + 1], centers, alone)
            np.testing.assert_array_equal(alone[0], distances[row])
            assert strongest(rows[row : row + 1], centers, widths) == (winner[row], log_response[row])
        winner, log_response = strongest(rows, centers, widths, offsets)
        np.testing.assert_array_equal(winner, (scores - offsets).argmax(axis=1))
        np.testing.assert_array_equal(log_response, scores[np.arange(len(rows)), winner])


@pytest.mark.parametrize("n", [1, 20])
def test_if_all_distances_overflow_the_first_neuron_is_the_strongest(instruction_set, n):
    """The padding of the lanes must not win."""
    far = np.full((3, 2), 1e30, np.float32)
    winner, log_response = strongest(np.zeros((n, 2)), far, np.ones(3, np.float32))
    assert (winner == 0).all()
    assert (log_response == -np.inf).all()


@pytest.mark.parametrize("name", ["squared_distances", "strongest"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_position_of_the_first_value_that_is_not_finite(name, dtype):
    centers, widths = np.zeros((4, 3), dtype), np.ones(4, dtype)
    x = np.zeros((3000, 3))
    x[2345, 1] = x[2999, 0] = 1e300 if dtype is np.float32 else np.nan
    if name == "strongest":
        out = (widths, np.zeros_like(widths), np.empty(len(x), np.int64), np.empty(len(x), dtype))
    else:
        out = (np.empty((len(x), 4), dtype),)
    assert getattr(native._core, name)(x, centers, *out) == (2345, 1)


@pytest.mark.parametrize("answer", [responses.strongest, responses.responses])
def test_a_bad_value_in_a_later_block_is_named_by_its_row(monkeypatch, answer):
    monkeypatch.setattr(memory_maps, "NUMBERS_AT_ONCE", 30)
    x = np.zeros((100, 3), ">f8")  # of another byte order: converted block by block
    x[57, 1] = np.inf
    with pytest.raises(BadRow, match=r"infinity .* at row 57, column 1"):
        answer(x, np.zeros((2, 3)), np.ones(2))


def test_strongest_with_wrong_shapes_is_an_error():
    one, index = np.ones(1), np.zeros(1, np.int64)
    for centers, *others in [
        (np.ones((0, 2)), np.ones(0), np.ones(0), index, one),
        (np.ones((1, 3)), one, one, index, one),
        (np.ones((1, 2)), np.ones(2), one, index, one),
        (np.ones((1, 2)), one, np.ones(2), index, one),
        (np.ones((1, 2)), one, one, np.zeros(2, np.int64), one),
        (np.ones((1, 2)), one, one, index, np.ones(2)),
    ]:
        with pytest.raises(ValueError, match="must have"):
            native._core.strongest(np.ones((1, 2)), centers, *others)


@pytest.mark.parametrize("kind", [np.float16, np.int64, ">f8"])
def test_arrays_of_another_type_are_an_error(kind):
    with pytest.raises(TypeError):
        native._core.learn(np.ones((1, 2)), np.ones(1), np.ones((4, 2), kind), None, 0, 0, *RULE)
    with pytest.raises(TypeError):
        native._core.learn(np.ones((1, 2), kind), np.ones(1), np.ones((4, 2)), None, 0, 0, *RULE)


def test_centers_that_cannot_be_written_are_an_error():
    for centers in (np.asfortranarray(np.ones((2, 2))), np.broadcast_to(np.ones(2), (2, 2))):
        with pytest.raises(TypeError):
            native._core.learn(centers, np.ones(2), np.ones((4, 2)), None, 0, 0, *RULE)
