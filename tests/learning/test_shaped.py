"""Neurons with covariances: numbers worked out by hand, laws, and the compiled core against the reference."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import check_grad

from gaussian_neurons import Neurons
from gaussian_neurons.base.bad_rows import BadRow
from gaussian_neurons.learning import native, reference, responses
from gaussian_neurons.learning import reference_shaped as shaped
from gaussian_neurons.learning.rule import Rule
from tests.learning.calls import PRECISIONS, learned, same_bits

E = np.e
TYPES = ("diag", "full")
RULE = Rule(learning_rate=0.05, inhibition=0.4, width_learning_rate=0.2)
seeds = st.integers(0, 10**6)
types = st.sampled_from(TYPES)


def covariances(kind: str, count: int, D: int, random: np.random.Generator):
    """Random covariances around 1/2, (count, D) or (count, D, D)."""
    if kind == "diag":
        return random.uniform(0.3, 0.8, (count, D))
    factor = random.normal(size=(count, D, D)) / np.sqrt(D)
    return 0.3 * np.eye(D) + 0.2 * factor @ factor.transpose(0, 2, 1)


def scene(kind: str, seed: int, K: int = 7, D: int = 3, n: int = 200):
    """(neurons, samples, sample covariances)"""
    random = np.random.default_rng(seed)
    neurons = Neurons.at(random.random((K, D)), covariances(kind, K, D, random))
    return neurons, random.random((n, D)), covariances(kind, n, D, random)


# ---- by hand ----------------------------------------------------------------------------------------


def test_the_response_by_hand():
    # Sigma = [[2, 1], [1, 2]], inverse [[2, -1], [-1, 2]] / 3; (1, 0): 2/3, (1, 1): 2/3, (1, -1): 2
    full = np.array([[[2.0, 1.0], [1.0, 2.0]]])
    for x, exponent in (((1, 0), 2 / 3), ((1, 1), 2 / 3), ((1, -1), 2)):
        response = shaped.responses(np.array(x, float), np.zeros((1, 2)), full)
        np.testing.assert_allclose(response, [np.exp(-exponent)], rtol=1e-15)


def test_two_neurons_by_hand():
    # mu = (0, 0), (1, 0); Sigma = diag(1, 1), diag(2, 1); x = (0, 0) on the first; as in one dimension
    centers, diagonals = np.array([[0.0, 0], [1, 0]]), np.array([[1.0, 1], [2, 1]])
    push = 0.1 * 0.25 * (1 / E + np.exp(-0.5) / 2)
    expected = [[-push, 0], [push - 0.05 * np.exp(-0.5), 0]]
    for given_as in (diagonals, np.array([np.diag(row) for row in diagonals])):
        step = shaped.center_step(np.zeros(2), centers, given_as, 0.25, 0.1)
        np.testing.assert_allclose(step, expected, rtol=1e-14, atol=1e-17)


def test_the_covariance_step_by_hand():
    # One neuron on the sample: max{1, 0} * 1 * 0.5 (Sigma_x - Sigma)
    step = shaped.covariance_step(
        np.zeros(2), np.array([3.0, 1]), np.zeros((1, 2)), np.ones((1, 2)), 0.5, 0.5
    )
    np.testing.assert_allclose(step, [[1.0, 0.0]], rtol=1e-15)
    # At (1, 0) with Sigma_x = diag(2, 1): match exp(-1/2), response exp(-1)
    step = shaped.covariance_step(
        np.array([1.0, 0]), np.diag([2.0, 1]), np.zeros((1, 2)), np.eye(2)[None], 0.5, 1.0
    )
    np.testing.assert_allclose(step, [[[np.exp(-1.5), 0], [0, 0]]], rtol=1e-15)


# ---- laws -------------------------------------------------------------------------------------------


@given(seeds, types)
def test_the_center_step_is_half_the_rate_down_the_gradient(seed, kind):
    neurons, x, _ = scene(kind, seed, K=4, n=1)
    shape = neurons.centers.shape

    def cost(flat):
        return shaped.sample_cost(x[0], flat.reshape(shape), neurons.widths, 0.4)

    def gradient(flat):
        return -2 * shaped.center_step(x[0], flat.reshape(shape), neurons.widths, 0.4, 1.0).ravel()

    assert check_grad(cost, gradient, neurons.centers.ravel()) < 1e-6


@pytest.mark.parametrize("twin", [reference, native])
@given(seed=seeds, kind=types)
def test_multiples_of_the_identity_equal_the_scalar_rule(twin, seed, kind):
    random = np.random.default_rng(seed)
    centers, x = random.random((5, 3)), random.random((50, 3))
    widths, own = random.uniform(0.3, 0.6, 5), random.uniform(0.2, 0.8, 50)

    def as_covariances(numbers):
        diagonals = np.repeat(numbers[:, None], 3, axis=1)
        return diagonals if kind == "diag" else diagonals[:, :, None] * np.eye(3)

    plain = learned(twin, Neurons.at(centers, widths), x, RULE, own)
    same = learned(twin, Neurons.at(centers, as_covariances(widths)), x, RULE, as_covariances(own))
    np.testing.assert_allclose(same.centers, plain.centers, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(same.widths, as_covariances(plain.widths), rtol=1e-9, atol=1e-12)


@given(seeds)
def test_full_covariances_that_are_diagonal_equal_diagonals(seed):
    neurons, x, own = scene("diag", seed)
    matrices = Neurons.at(neurons.centers, np.array([np.diag(row) for row in neurons.widths]))
    plain = learned(native, neurons, x, RULE, own)
    full = learned(native, matrices, x, RULE, np.array([np.diag(row) for row in own]))
    np.testing.assert_allclose(full.centers, plain.centers, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(np.diagonal(full.widths, axis1=1, axis2=2), plain.widths, rtol=1e-9)


@given(seeds)
def test_full_covariances_rotate_with_the_data(seed):
    neurons, x, own = scene("full", seed)
    turn, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))
    turned = Neurons.at(neurons.centers @ turn, turn.T @ neurons.widths @ turn)
    plain = learned(native, neurons, x, RULE, own)
    after = learned(native, turned, x @ turn, RULE, turn.T @ own @ turn)
    np.testing.assert_allclose(after.centers, plain.centers @ turn, atol=1e-9)
    np.testing.assert_allclose(after.widths, turn.T @ plain.widths @ turn, atol=1e-9)


@given(seeds, st.permutations(range(3)))
def test_diagonals_permute_with_the_columns(seed, order):
    neurons, x, own = scene("diag", seed)
    permuted = Neurons.at(neurons.centers[:, order], neurons.widths[:, order])
    plain = learned(native, neurons, x, RULE, own)
    after = learned(native, permuted, x[:, order], RULE, own[:, order])
    np.testing.assert_allclose(after.centers, plain.centers[:, order], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(after.widths, plain.widths[:, order], rtol=1e-9)


@given(seeds, types, st.lists(st.floats(0.1, 10), min_size=3, max_size=3))
def test_columns_in_other_units_give_the_same_responses(seed, kind, units):
    neurons, x, _ = scene(kind, seed)
    scale = np.array(units)
    square = scale**2 if kind == "diag" else np.outer(scale, scale)
    here = shaped.responses(x[0], neurons.centers, neurons.widths)
    there = shaped.responses(x[0] * scale, neurons.centers * scale, neurons.widths * square)
    np.testing.assert_allclose(there, here, rtol=1e-9)


@given(seeds, types, st.permutations(range(7)))
def test_the_order_of_the_neurons_does_not_matter(seed, kind, order):
    neurons, x, own = scene(kind, seed)
    plain = learned(native, neurons, x, RULE, own)
    shuffled = learned(native, Neurons.at(neurons.centers[order], neurons.widths[order]), x, RULE, own)
    np.testing.assert_allclose(shuffled.centers, plain.centers[order], rtol=1e-8, atol=1e-11)
    np.testing.assert_allclose(shuffled.widths, plain.widths[order], rtol=1e-8, atol=1e-11)


@given(seeds, types)
def test_without_inhibition_neurons_are_independent(seed, kind):
    neurons, x, own = scene(kind, seed)
    rule = RULE._replace(inhibition=0.0)
    together = learned(native, neurons, x, rule, own)
    for i in range(len(neurons)):
        alone = learned(native, neurons.keep(np.arange(7) == i), x, rule, own)
        np.testing.assert_allclose(together.centers[i], alone.centers[0], rtol=1e-11)
        np.testing.assert_allclose(together.widths[i], alone.widths[0], rtol=1e-11, atol=1e-13)


@given(seeds)
def test_covariances_stay_positive_definite_toward_nearly_singular_ones(seed):
    neurons, x, _ = scene("full", seed)
    direction = np.random.default_rng(seed).normal(size=(len(x), 3))
    thin = direction[:, :, None] * direction[:, None, :] + 1e-6 * np.eye(3)
    after = learned(native, neurons, x, RULE._replace(width_learning_rate=1.0), thin)
    assert np.linalg.eigvalsh(after.widths).min() > 0


@pytest.mark.parametrize("twin", [reference, native])
def test_a_sample_with_a_singular_covariance_changes_no_covariance(twin):
    for kind, own in (("diag", np.array([[1.0, 0, 1]])), ("full", np.ones((1, 3, 3)))):
        neurons, x, _ = scene(kind, 0, n=1)
        after = learned(twin, neurons, x, RULE, own)
        np.testing.assert_array_equal(after.widths, neurons.widths)
        assert (after.centers != neurons.centers).any()


# ---- the compiled core ------------------------------------------------------------------------------


def assert_native_equals_reference(kind: str, K: int, D: int, n: int, seed: int, rule: Rule) -> None:
    random = np.random.default_rng(seed)
    scale = max(1.0, D / 4)  # distances grow with D
    neurons = Neurons.at(random.random((K, D)), scale * covariances(kind, K, D, random))
    x = random.random((n, D))
    own = scale * covariances(kind, n, D, random) if rule.width_learning_rate > 0 else None
    slow = learned(reference, neurons, x, rule, own)
    for name in native.available():
        for dtype, tolerance in PRECISIONS:
            with native.using(name):
                fast = learned(native, Neurons.at(neurons.centers, neurons.widths, dtype), x, rule, own)
            for found, expected in ((fast.centers, slow.centers), (fast.widths, slow.widths)):
                atol = tolerance * max(1.0, float(np.abs(expected).max()))
                np.testing.assert_allclose(found, expected, rtol=tolerance, atol=atol, err_msg=name)


RULES = {
    "centers": RULE._replace(width_learning_rate=0.0),
    "both": RULE,
    "covariances": RULE._replace(learning_rate=0.0),
    "every third": RULE._replace(repulsion_every=3),
}


@pytest.mark.parametrize(("K", "D"), [(1, 1), (2, 3), (8, 16), (9, 25), (17, 2), (20, 40)])
@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("rule", RULES)
def test_native_equals_reference(kind, rule, K, D):
    assert_native_equals_reference(kind, K, D, 30, 0, RULES[rule])


@pytest.mark.parametrize("K", [3, 18])
def test_native_equals_reference_for_tiles_of_every_size(K):
    for D in range(1, 60):
        assert_native_equals_reference("full", K, D, 1, D, RULE)


@settings(max_examples=25)
@given(st.integers(1, 40), st.integers(1, 60), types, st.sampled_from(sorted(RULES)), seeds)
def test_native_equals_reference_for_any_size(K, D, kind, rule, seed):
    assert_native_equals_reference(kind, K, D, 3, seed, RULES[rule])


@pytest.mark.parametrize(("K", "first", "second"), [(2, 0, 1), (17, 3, 16), (50, 0, 49)])
@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("rule", RULES)
def test_neurons_at_one_place_stay_together_to_the_last_bit(kind, rule, K, first, second):
    """As in the reference. A difference of one bit could grow."""
    neurons, x, own = scene(kind, 0, K, D=5)
    both = neurons.with_rows([second], centers=neurons.centers[first], widths=neurons.widths[first])
    for name in native.available():
        for dtype, _ in PRECISIONS:
            start = Neurons.at(both.centers, both.widths, dtype)
            with native.using(name):
                after = learned(native, start, x, RULES[rule], own)
            np.testing.assert_array_equal(after.centers[first], after.centers[second], err_msg=name)
            np.testing.assert_array_equal(after.widths[first], after.widths[second], err_msg=name)
            moved = rule != "covariances"
            assert (after.centers[first] != start.centers[first]).any() == moved


@pytest.mark.parametrize("kind", TYPES)
def test_neurons_at_one_place_narrow_each_others_freedom(kind):
    """Two neurons on the sample, lambda = 1/5: the factor of the step is 1 - 2/5 (f = 1 of the other)."""
    start, own = np.ones((2, 2)), np.full((1, 2), 3.0)
    if kind == "full":
        start, own = start[:, :, None] * np.eye(2), own[:, :, None] * np.eye(2)
    for twin in (reference, native):
        after = learned(twin, Neurons.at(np.zeros((2, 2)), start), np.zeros((1, 2)), Rule(0.1, 0.2, 0.5), own)
        np.testing.assert_allclose(after.widths, start * (1 + 0.5 * 0.6 * 2), rtol=1e-12)


@given(seeds, types, st.lists(st.integers(0, 200), max_size=4), st.sampled_from(sorted(RULES)))
def test_chunks_do_not_change_what_is_learned(seed, kind, cuts, rule):
    neurons, x, own = scene(kind, seed)
    for dtype, _ in PRECISIONS:
        start = Neurons.at(neurons.centers, neurons.widths, dtype)
        whole = learned(native, start, x, RULES[rule], own)
        pieces = start
        for part, widths in zip(np.split(x, sorted(cuts)), np.split(own, sorted(cuts)), strict=True):
            pieces = learned(native, pieces, part, RULES[rule], widths)
        assert same_bits(whole, pieces)


@pytest.mark.parametrize("covariance", [np.full((1, 1), 0.01), np.full((1, 1, 1), 0.01)])
def test_a_neuron_that_diverges_is_named(covariance):
    neurons = Neurons.at([[0.0]], covariance)  # a step of 1e308 / e * 0.1 / 0.01
    with pytest.raises(FloatingPointError, match="neuron 0 became infinite or NaN at sample 1 of"):
        learned(native, neurons, [[5.0], [0.1]], Rule(1e308, 0.5))


# ---- responses --------------------------------------------------------------------------------------


@given(seeds, types)
def test_responses_of_the_core_equal_those_of_the_reference(seed, kind):
    neurons, x, _ = scene(kind, seed)
    expected = np.array([shaped.responses(row, neurons.centers, neurons.widths) for row in x])
    for dtype, tolerance in PRECISIONS:
        now = Neurons.at(neurons.centers, neurons.widths, dtype)
        arrays = now.centers, now.widths
        np.testing.assert_allclose(responses.responses(x, *arrays), expected, rtol=10 * tolerance)
        winner, log_response = responses.strongest(x, *arrays)
        np.testing.assert_allclose(np.exp(log_response), expected.max(axis=1), rtol=10 * tolerance)
        np.testing.assert_array_equal(
            expected[np.arange(len(x)), winner] >= 0.999 * expected.max(axis=1), True
        )


@given(seeds, types)
def test_responses_to_other_centers_and_to_places(seed, kind):
    neurons, x, _ = scene(kind, seed)
    pairs = shaped.pair_responses(neurons.centers, neurons.widths)  # [i, j] = f_j(mu_i)
    ((begin, both),) = responses.mutual(neurons.centers, neurons.widths)
    np.testing.assert_allclose(np.exp(both), np.minimum(pairs, pairs.T), rtol=1e-9)
    places = x[: len(neurons)].copy()
    places[2] = np.nan
    expected = [shaped.responses(place, neurons.centers, neurons.widths)[i] for i, place in enumerate(places)]
    found = np.exp(responses.own(places, neurons.centers, neurons.widths))
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    assert begin == 0


@pytest.mark.parametrize("kind", TYPES)
def test_a_bad_value_is_named_and_many_rows_are_measured_in_blocks(kind, monkeypatch):
    neurons, x, _ = scene(kind, 0)
    whole = responses.responses(x, neurons.centers, neurons.widths)
    monkeypatch.setattr(native, "NUMBERS_AT_ONCE", 100)
    np.testing.assert_array_equal(responses.responses(x, neurons.centers, neurons.widths), whole)
    x[150, 2] = np.nan
    with pytest.raises(BadRow, match="got NaN at row 150, column 2"):
        responses.strongest(x, neurons.centers, neurons.widths)
