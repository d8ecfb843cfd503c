"""The reference: numbers worked out by hand, and the gradient of the cost."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import check_grad

from gaussian_neurons import Neurons
from gaussian_neurons.learning import reference
from gaussian_neurons.learning.rule import Rule
from tests.learning.calls import learned

E = np.e


def test_the_response_is_exp_of_minus_squared_distance_over_width():
    response = reference.responses(
        np.array([3.0, 4.0]), np.array([[0.0, 0.0], [3.0, 4.0]]), np.array([25.0, 1.0])
    )
    np.testing.assert_allclose(response, [1 / E, 1.0], rtol=1e-15)


def test_a_single_neuron_moves_by_eta_f_over_sigma():
    # x - mu = 2, sigma = 4: f = exp(-1), step = 0.1 * exp(-1) / 4 * 2
    step = reference.center_step(np.array([2.0]), np.array([[0.0]]), np.array([4.0]), 0.5, 0.1)
    np.testing.assert_allclose(step, [[0.05 / E]], rtol=1e-15)


def test_two_neurons_with_different_widths_by_hand():
    # mu = 0, 1; sigma = 1, 2; x = 0: neuron 0 is not attracted; f_0(mu_1) = 1/e, f_1(mu_0) = exp(-1/2).
    # neuron 0: -0.1 * 0.25 * (1/e / 1 + exp(-1/2) / 2) * (1 - 0)
    # neuron 1: 0.1 * exp(-1/2) / 2 * (0 - 1) + the opposite repulsion
    push = 0.1 * 0.25 * (1 / E + np.exp(-0.5) / 2)
    step = reference.center_step(np.array([0.0]), np.array([[0.0], [1.0]]), np.array([1.0, 2.0]), 0.25, 0.1)
    np.testing.assert_allclose(step, [[-push], [push - 0.05 * np.exp(-0.5)]], rtol=1e-14)


def test_two_neurons_with_equal_widths_by_hand():
    # sigma = 1, lambda = 1/2, x = 1 on the second: 0.1 * (1/e * 1 - 1/e * 1) = 0 for the first,
    # and for the second no attraction, and a repulsion of 0.1 / e away from the first
    step = reference.center_step_equal(np.array([1.0]), np.array([[0.0], [1.0]]), 1.0, 0.5, 0.1)
    np.testing.assert_allclose(step, [[0.0], [0.1 / E]], atol=1e-16)


def test_the_width_step_by_hand():
    # x = 0 = mu_0, mu_1 = 1; sigma = 1, 2; sigma_x = 3; lambda = 0.1
    # neuron 0: match 1, others f_1(mu_0) = exp(-1/2): max{1 - 0.2 exp(-1/2), 0} * 1 * (3 - 1)
    # neuron 1: match exp(-1/3), others f_0(mu_1) = 1/e: (exp(-1/3) - 0.2/e) * exp(-1/2) * (3 - 2)
    step = reference.width_step(
        np.array([0.0]), 3.0, np.array([[0.0], [1.0]]), np.array([1.0, 2.0]), 0.1, 0.5
    )
    first = 0.5 * (1 - 0.2 * np.exp(-0.5)) * 2
    second = 0.5 * (np.exp(-1 / 3) - 0.2 / E) * np.exp(-0.5)
    np.testing.assert_allclose(step, [first, second], rtol=1e-14)


def test_a_neuron_with_close_neighbours_keeps_its_width():
    centers = np.array([[0.0], [0.1], [-0.1]])
    step = reference.width_step(np.array([0.0]), 3.0, centers, np.ones(3), 0.5, 0.5)
    np.testing.assert_array_equal(step, 0.0)


def test_a_sample_of_width_zero_changes_no_width():
    step = reference.width_step(np.array([0.0]), 0.0, np.array([[0.0]]), np.ones(1), 0.5, 0.5)
    np.testing.assert_array_equal(step, 0.0)


def test_the_cost_by_hand():
    # two neurons a unit apart, sigma = 1, x on the first: -1 - 1/e + lambda 2/e
    centers, widths = np.array([[0.0], [1.0]]), np.ones(2)
    expected = -1 - 1 / E + 0.5 * 2 / E
    assert reference.sample_cost(np.array([0.0]), centers, widths, 0.5) == pytest.approx(expected, rel=1e-14)
    both = reference.cost(np.array([[0.0], [1.0]]), centers, widths, 0.5)
    assert both == pytest.approx(2 * expected, rel=1e-14)


@given(st.integers(1, 6), st.integers(1, 5), st.integers(0, 10**6), st.floats(0, 1))
def test_a_step_is_half_the_rate_down_the_gradient_of_the_cost(K, D, seed, inhibition):
    random = np.random.default_rng(seed)
    x, centers, widths = random.random(D), random.random((K, D)), random.uniform(0.3, 2, K)

    def cost(flat):
        return reference.sample_cost(x, flat.reshape(K, D), widths, inhibition)

    def gradient(flat):
        return -2 * reference.center_step(x, flat.reshape(K, D), widths, inhibition, 1.0).ravel()

    assert check_grad(cost, gradient, centers.ravel()) < 1e-5  # of forward differences


@given(st.integers(1, 8), st.integers(1, 6), st.integers(0, 10**6))
def test_equal_widths_are_the_general_rule_simplified(K, D, seed):
    random = np.random.default_rng(seed)
    x, centers = random.random(D), random.random((K, D))
    general = reference.center_step(x, centers, np.full(K, 0.7), 0.3, 0.1)
    np.testing.assert_allclose(
        reference.center_step_equal(x, centers, 0.7, 0.3, 0.1), general, rtol=1e-12, atol=1e-15
    )


def test_all_centers_move_from_the_old_state_and_then_widths_from_the_new_centers():
    random = np.random.default_rng(0)
    x, centers, widths = random.random((1, 3)), random.random((4, 3)), random.uniform(0.5, 1, 4)
    neurons = learned(reference, Neurons.at(centers, widths), x, Rule(0.1, 0.2, 0.3), [0.8])
    moved = centers + reference.center_step(x[0], centers, widths, 0.2, 0.1)
    grown = widths + reference.width_step(x[0], 0.8, moved, widths, 0.2, 0.3)
    np.testing.assert_array_equal(neurons.centers, moved)
    np.testing.assert_array_equal(neurons.widths, grown)
    assert neurons.seen == 1


def test_learning_changes_no_argument():
    random = np.random.default_rng(0)
    arguments = random.random((4, 3)), random.uniform(0.5, 1, 4), random.random((9, 3)), random.random(9)
    before = [array.copy() for array in arguments]
    centers, widths = reference.learn(*arguments, Rule(0.1, 0.2, 0.3), 0)
    assert (centers != before[0]).any()
    assert (widths != before[1]).any()
    for array, copy in zip(arguments, before, strict=True):
        np.testing.assert_array_equal(array, copy)
