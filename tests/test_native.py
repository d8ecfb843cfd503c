"""The compiled twin against the reference, sample by sample, on every instruction set."""

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaussian_neurons import Neurons
from gaussian_neurons.learning import native, reference

CASES = ("equal", "own", "both", "widths")
SHAPES = [
    (1, 1),
    (2, 3),
    (7, 200),
    (8, 16),
    (9, 25),
    (16, 25),
    (17, 2),
    (31, 7),
    (50, 75),
    (64, 33),
    (70, 200),
]


@pytest.fixture(params=native.available())
def instruction_set(request):
    with native.using(request.param):
        yield request.param


def problem(case: str, K: int, D: int, n: int, seed: int = 0):
    """Start, samples and rule of a case: (centers, widths, samples, rule)."""
    random = np.random.default_rng(seed)
    scale = D / 8
    widths = np.full(K, scale) if case == "equal" else scale * random.uniform(0.7, 1.3, K)
    rule = {"inhibition": 0.3, "learning_rate": 0.0 if case == "widths" else 0.1 * scale}
    if case in ("both", "widths"):
        rule["width_learning_rate"] = 0.1
        rule["sample_widths"] = scale * random.uniform(0.5, 1.5, n)
    return random.random((K, D)), widths, random.random((n, D)), rule


def assert_twins(case: str, K: int, D: int, n: int, seed: int = 0) -> None:
    centers, widths, x, rule = problem(case, K, D, n, seed)
    slow = Neurons.at(centers, widths)
    reference.learn(slow, x, **rule)
    for dtype, tolerance in ((np.float64, 1e-10), (np.float32, 1e-4)):
        fast = Neurons.at(centers, widths, dtype)
        native.learn(fast, x, **rule)
        np.testing.assert_allclose(fast.centers, slow.centers, rtol=tolerance, atol=tolerance)
        np.testing.assert_allclose(fast.widths, slow.widths, rtol=tolerance)
        assert fast.seen == slow.seen == n


@pytest.mark.parametrize(("K", "D"), SHAPES)
@pytest.mark.parametrize("case", CASES)
def test_core_is_reference(instruction_set, case, K, D):
    assert_twins(case, K, D, n=40 if K * D > 5000 else 200)


@given(st.integers(1, 70), st.integers(1, 200), st.sampled_from(CASES), st.integers(0, 10**6))
def test_core_is_reference_for_any_shape(K, D, case, seed):
    for isa in native.available():
        with native.using(isa):
            assert_twins(case, K, D, n=5, seed=seed)


@pytest.mark.parametrize(
    ("case", "K", "D"),
    [*((case, K, D) for case in CASES for K, D in [(3, 2), (16, 25), (37, 11)]), ("both", 47, 120)],
)
def test_core_is_reference_over_thousands_of_samples(case, K, D):
    centers, widths, x, rule = problem(case, K, D, 4000 if D < 100 else 2000, seed=K)
    slow = Neurons.at(centers, widths)
    reference.learn(slow, x, **rule)
    for isa in native.available():
        with native.using(isa):
            for dtype, tolerance in ((np.float64, 1e-10), (np.float32, 1e-4)):
                fast = Neurons.at(centers, widths, dtype)
                native.learn(fast, x, **rule)
                scale = np.abs(slow.centers).max()
                assert np.abs(fast.centers - slow.centers).max() < tolerance * scale, (isa, dtype)
                np.testing.assert_allclose(fast.widths, slow.widths, rtol=tolerance)


def test_a_sample_by_hand_on_every_instruction_set(instruction_set):
    # mu = 0, 1, sigma = 1, lambda = 1/2, x = 1: see test_reference
    for dtype in (np.float32, np.float64):
        neurons = Neurons.at([[0.0], [1.0]], 1.0, dtype)
        native.learn(neurons, [[1.0]], inhibition=0.5, learning_rate=0.1)
        np.testing.assert_allclose(neurons.centers, [[0.0], [1 + 0.1 / np.e]], atol=1e-7)


def test_the_exponential_is_exact_at_the_ends(instruction_set):
    neurons = Neurons.at([[0.0], [1e3]], 1.0)  # one on the sample, one out of reach: no push, no pull
    native.learn(neurons, [[0.0]], inhibition=0.5, learning_rate=0.1)
    np.testing.assert_array_equal(neurons.centers, [[0.0], [1e3]])


def test_distances_agree_with_numpy(instruction_set):
    random = np.random.default_rng(0)
    for K, D in SHAPES:
        centers, x = random.random((K, D)), random.random((50, D))
        expected = ((x[:, None] - centers) ** 2).sum(axis=2)
        np.testing.assert_allclose(native.squared_distances(x, centers), expected, rtol=1e-12)
        single = native.squared_distances(x, centers.astype(np.float32))
        np.testing.assert_allclose(single, expected, rtol=1e-3, atol=1e-6)


def layouts(x: np.ndarray) -> dict[str, np.ndarray]:
    """The same rows in every way that an array may lie."""
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
def test_any_layout_is_read_as_it_lies(name):
    x = np.random.default_rng(0).random((100, 5))
    given = layouts(x)[name]
    results = []
    for samples in (given, np.array(given, np.float64, order="C")):
        neurons = Neurons.at(np.random.default_rng(1).random((6, 5)), 0.5)
        native.learn(neurons, samples, inhibition=0.3, learning_rate=0.05)
        results.append(neurons.centers)
    np.testing.assert_array_equal(*results)


@pytest.mark.parametrize("dtype", [np.int64, np.uint8, np.float16, np.float32, bool])
def test_other_types_are_read_as_numbers(dtype):
    x = np.random.default_rng(0).integers(0, 2, (100, 3)).astype(dtype)
    results = []
    for samples in (x, x.astype(np.float64)):
        neurons = Neurons.at(np.random.default_rng(1).random((4, 3)), 0.5)
        native.learn(neurons, samples, inhibition=0.3, learning_rate=0.05)
        results.append(neurons.centers)
    np.testing.assert_array_equal(*results)


@pytest.mark.parametrize("twin", [reference, native])
def test_running_away_is_named_and_changes_nothing(twin):
    # The width follows that of the sample at once, and 1 + (1e-310 - 1) rounds to 0.
    sample_widths = np.ones(200)
    sample_widths[150] = 1e-310
    neurons = Neurons.at([[0.0, 0.0], [50.0, 0.0]], 1.0)
    before = neurons.copy()
    rule = {"inhibition": 0.5, "learning_rate": 0.1, "width_learning_rate": 1.0}
    with pytest.raises(FloatingPointError, match=r"neuron 0 .* at sample 150 .*lower learning_rate"):
        twin.learn(neurons, np.zeros((200, 2)), sample_widths=sample_widths, **rule)
    np.testing.assert_array_equal(neurons.centers, before.centers)
    np.testing.assert_array_equal(neurons.widths, before.widths)
    assert neurons.seen == [0]


@pytest.mark.parametrize("twin", [reference, native])
def test_a_rate_far_too_large_for_the_width_says_what_to_lower_it_to(twin):
    neurons = Neurons.at([[0.0]], 1e-3)
    with pytest.raises(FloatingPointError, match=r"lower learning_rate to about 0\.0001"):
        twin.learn(neurons, [[0.0], [0.01]], inhibition=0.5, learning_rate=1e308)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_bad_value_is_named_and_changes_nothing(bad):
    x = np.random.default_rng(0).random((10_000, 3))
    x[8765, 1] = bad
    neurons = Neurons.at(np.random.default_rng(1).random((4, 3)), 0.5)
    before = neurons.copy()
    with pytest.raises(ValueError, match="row 8765, column 1"):
        native.learn(neurons, x, inhibition=0.5, learning_rate=0.05)
    np.testing.assert_array_equal(neurons.centers, before.centers)
    assert neurons.seen == [0]


def test_a_value_too_large_for_the_model_is_named():
    neurons = Neurons.at([[0.0]], 1.0, np.float32)
    with pytest.raises(ValueError, match=r"1e\+300 at row 1, column 0.*float32"):
        native.learn(neurons, [[0.0], [1e300]], inhibition=0.5, learning_rate=0.1)


def test_a_bad_sample_width_is_named_and_changes_nothing():
    neurons = Neurons.at([[0.0]], 1.0)
    rule = {"inhibition": 0.5, "learning_rate": 0.1, "width_learning_rate": 0.1}
    with pytest.raises(ValueError, match=r"-1\.0 at row 2"):
        native.learn(neurons, np.zeros((3, 1)), sample_widths=[1.0, 1.0, -1.0], **rule)
    assert neurons.seen == [0]


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


def test_an_unknown_instruction_set_lists_those_there_are():
    done = run_python("from gaussian_neurons import GaussianNeurons", GAUSSIAN_NEURONS_ISA="mmx")
    assert done.returncode != 0
    assert "no instruction set 'mmx' here" in done.stderr
    assert "baseline" in done.stderr


def test_what_runs_away_in_the_padding_does_not_count():
    """One neuron in lanes for many: the others' lanes may overflow, and must not count a sample twice."""
    rule = {"inhibition": 0.0, "learning_rate": 0.01, "width_learning_rate": 1.0}
    ends = []
    for twin in (reference, native):
        neurons = Neurons.at([[0.3]], 0.1)
        twin.learn(neurons, np.zeros((10, 1)), sample_widths=np.full(10, 1e-17), **rule)
        ends.append(neurons.centers[0, 0])
        assert neurons.seen == [10]
    assert ends[0] == pytest.approx(ends[1], rel=1e-12)


def test_the_core_never_hands_back_an_invalid_state():
    centers, widths = np.zeros((1, 2)), np.ones(1)
    own = np.array([1.0, 1.0, 1e-310, 1.0])
    found = native._core.learn(centers, widths, np.zeros((4, 2)), own, 0, 0, 0.1, 0.5, 1.0, 1)
    assert found == (native.DIVERGED, 2, 0)
    assert (widths > 0).all()
    assert np.isfinite(centers).all()


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("K", "first", "second"), [(2, 0, 1), (9, 1, 8), (16, 2, 13), (17, 3, 16), (50, 0, 49)]
)
def test_neurons_at_one_place_stay_together_to_the_last_bit(instruction_set, case, dtype, K, first, second):
    """As in the reference. A bit between them would grow: together they are not always at rest."""
    centers, widths, x, rule = problem(case, K, 25, 300)
    centers[second], widths[second] = centers[first], widths[first]
    neurons = Neurons.at(centers, widths, dtype)
    native.learn(neurons, x, **rule)
    np.testing.assert_array_equal(neurons.centers[first], neurons.centers[second])
    assert neurons.widths[first] == neurons.widths[second]
    assert (neurons.centers[first] != centers[first].astype(dtype)).any() or case == "widths"


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_neurons_that_meet_in_the_reference_meet_in_the_core(instruction_set, dtype):
    """Of three neurons two are drawn onto the blank samples: 4 lambda is less than the share of those."""
    random = np.random.default_rng(4)
    x = random.random((4000, 25)) * (random.random(4000) > 0.6)[:, None]
    start = np.array([np.full(25, 0.1), np.full(25, 0.5), random.random(25) * 0.2])
    slow, fast = Neurons.at(start, 1.0), Neurons.at(start, 1.0, dtype)
    for neurons, twin in ((slow, reference), (fast, native)):
        twin.learn(neurons, x, inhibition=0.05, learning_rate=0.1)
        np.testing.assert_array_equal(neurons.centers[0], neurons.centers[2])
        assert (neurons.centers[0] != neurons.centers[1]).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("K", "D", "width", "own", "every"),
    [(40, 3, 0.0004, False, 1), (70, 5, 0.002, True, 3), (130, 2, 0.0005, False, 1), (33, 60, 0.05, True, 1)],
)
def test_neurons_too_far_apart_need_not_meet(instruction_set, dtype, K, D, width, own, every):
    """With lists of neighbours or without: the same bits. Neurons chase samples, so that lists get old."""
    random = np.random.default_rng(K)
    x = random.random((700, D)).astype(dtype)
    start = x[:K] + dtype(0.01)
    widths = width * random.uniform(0.5, 1.5, K) if own else np.full(K, width)
    ends = []
    for lists in (True, False):
        neurons = Neurons.at(start, widths, dtype)
        row = 0
        while row < len(x):
            arrays = (neurons.centers, neurons.widths, x, None)
            status, row, _ = native._core.learn(*arrays, row, row, 0.3 * width, 0.5, 0.0, every, lists)
            assert status == 0
        ends.append(neurons.centers)
    np.testing.assert_array_equal(*ends)
    assert (ends[0] != start).any()
    slow = Neurons.at(start, widths)
    rule = {"inhibition": 0.5, "learning_rate": 0.3 * width, "repulsion_every": every}
    reference.learn(slow, x, **rule)
    np.testing.assert_allclose(ends[0], slow.centers, rtol=0, atol=1e-12 if dtype is np.float64 else 1e-4)


@pytest.mark.parametrize(("K", "D"), [(0, 3), (3, 0)])
def test_no_neurons_or_no_columns_are_refused(K, D):
    neurons = Neurons.at(np.zeros((K, D)), 1.0)
    with pytest.raises(ValueError, match="at least one row and one column"):
        native.learn(neurons, np.zeros((5, D)), inhibition=0.5, learning_rate=0.1)


def test_a_first_row_before_the_first_is_refused():
    for first in (-(10**12), 5):
        with pytest.raises(ValueError, match="first must be in"):
            native._core.learn(
                np.zeros((1, 2)), np.ones(1), np.zeros((4, 2)), None, first, 0, 0.1, 0.5, 0.0, 1
            )


# ---- the strongest response -------------------------------------------------------------------------


def strongest(samples, centers, widths):
    winner, log_response = np.empty(len(samples), np.int64), np.empty(len(samples), centers.dtype)
    assert native._core.strongest(samples, centers, widths, winner, log_response) == (-1, -1)
    return winner, log_response


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("K", "D"), [*SHAPES, (130, 3), (5, 4)])
def test_strongest_is_the_largest_of_the_distances_over_the_widths(instruction_set, dtype, K, D):
    random = np.random.default_rng(K * D)
    centers, widths = random.random((K, D)).astype(dtype), random.uniform(0.5, 1.5, K).astype(dtype)
    centers[K // 2 :: 3] = centers[0]  # ties, if their widths are equal
    widths[K // 2 :: 3] = widths[0]
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


@pytest.mark.parametrize("n", [1, 20])
def test_of_neurons_out_of_reach_the_first_is_the_strongest(instruction_set, n):
    """Squared distances overflow; the padding of the lanes must not win."""
    far = np.full((3, 2), 1e30, np.float32)
    winner, log_response = strongest(np.zeros((n, 2)), far, np.ones(3, np.float32))
    assert (winner == 0).all()
    assert (log_response == -np.inf).all()


@pytest.mark.parametrize("name", ["squared_distances", "strongest"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_first_value_that_is_not_finite_is_named(name, dtype):
    centers, widths = np.zeros((4, 3), dtype), np.ones(4, dtype)
    x = np.zeros((3000, 3))
    x[2345, 1] = x[2999, 0] = 1e300 if dtype is np.float32 else np.nan
    if name == "strongest":
        out = (widths, np.empty(len(x), np.int64), np.empty(len(x), dtype))
    else:
        out = (np.empty((len(x), 4), dtype),)
    assert getattr(native._core, name)(x, centers, *out) == (2345, 1)


def test_strongest_without_neurons_or_with_wrong_shapes_is_refused():
    one, index = np.ones(1), np.zeros(1, np.int64)
    for centers, widths, winner, response in [
        (np.ones((0, 2)), np.ones(0), index, one),
        (np.ones((1, 3)), one, index, one),
        (np.ones((1, 2)), np.ones(2), index, one),
        (np.ones((1, 2)), one, np.zeros(2, np.int64), one),
        (np.ones((1, 2)), one, index, np.ones(2)),
    ]:
        with pytest.raises(ValueError, match="must have"):
            native._core.strongest(np.ones((1, 2)), centers, widths, winner, response)


@pytest.mark.parametrize("kind", [np.float16, np.int64, ">f8"])
def test_arrays_of_another_type_are_refused(kind):
    with pytest.raises(TypeError):
        native._core.learn(np.ones((1, 2)), np.ones(1), np.ones((4, 2), kind), None, 0, 0, 0.1, 0.5, 0.0, 1)
    with pytest.raises(TypeError):
        native._core.learn(np.ones((1, 2), kind), np.ones(1), np.ones((4, 2)), None, 0, 0, 0.1, 0.5, 0.0, 1)


def test_centers_that_cannot_be_written_are_refused():
    for centers in (np.asfortranarray(np.ones((2, 2))), np.broadcast_to(np.ones(2), (2, 2))):
        with pytest.raises(TypeError):
            native._core.learn(centers, np.ones(2), np.ones((4, 2)), None, 0, 0, 0.1, 0.5, 0.0, 1)
