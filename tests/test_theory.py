"""The closed forms against the paper's numbers and numerical integration."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from gaussian_neurons import theory
from gaussian_neurons.learning import native, reference
from gaussian_neurons.learning.rule import Rule


@pytest.mark.parametrize(("side", "inhibition", "published"), [(9, 0.015, 4.14), (13, 0.01, 9.91)])
def test_equivalent_width_gives_the_published_widths(side, inhibition, published):
    assert theory.equivalent_width(side**2, inhibition) == pytest.approx(published, abs=0.005)


def test_same_layout_has_the_same_width():
    layout = theory.Layout(dimensions=25, width=1.3, inhibition=0.2)
    assert theory.equivalent_width(25, 0.2, like=layout) == pytest.approx(1.3, rel=1e-9)


def test_both_sides_of_the_width_equation_are_equal():
    width = theory.equivalent_width(81, 0.015)
    left = 0.015 / (9 * width**2) * np.exp(-81 / width)
    right = 1 / 9 / 5 * np.exp(-25)
    assert left == pytest.approx(right, rel=1e-9)
    assert width < 81 / 2  # the rising branch


def test_invalid_layouts_are_rejected():
    with pytest.raises(ValueError, match="raise the inhibition"):
        theory.equivalent_width(4, 1e-30)
    with pytest.raises(ValueError, match="dimensions must be positive, got 0"):
        theory.equivalent_width(0, 0.5)


def test_repulsion_distance_solves_its_differential_equation():
    times = np.array([0.0, 0.1, 1.0, 10.0, 1e3])
    integrated = solve_ivp(
        lambda t, mu: 2 * mu / 0.5 * np.exp(-(mu**2) / 0.5),
        (0, 1e3),
        [0.2],
        t_eval=times,
        rtol=1e-10,
        atol=1e-12,
    )
    found = theory.repulsion_distance(times, width=0.5, start=0.2)
    np.testing.assert_allclose(found, integrated.y[0], rtol=1e-6)


@pytest.mark.parametrize("start", [1e-10, 1e-7, 1e-3])
def test_repulsion_from_a_tiny_distance(start):
    # While u is small, d mu / dt = 2 mu: the distance grows by exp(2 t).
    found = theory.repulsion_distance(0.1, width=1.0, start=start)
    assert found == pytest.approx(start * np.exp(0.2), rel=1e-5)


def test_distant_neurons_do_not_move():
    assert theory.repulsion_distance(10.0, width=1.0, start=40.0) == 40.0


def test_two_neurons_of_the_core_follow_the_differential_equation():
    # Both neurons move, so the distance grows twice as fast as with one fixed: t = n eta.
    rate, n = 1e-3, 20_000
    start, far = np.array([[0.0], [0.3]]), np.full((n, 1), 1e6)
    centers, _ = native.learn(start, np.ones(2), far, None, Rule(rate, 0.5), 0)
    gap = centers[1, 0] - centers[0, 0]
    assert gap == pytest.approx(theory.repulsion_distance(n * rate, width=1.0, start=0.3).item(), rel=1e-3)


def test_rounding_ends_repulsion_at_the_limit():
    limit = theory.repulsion_limit(width=1.0, learning_rate=0.1, dtype=np.float32)
    for distance, moves in ((1.05 * limit, False), (0.9 * limit, True)):
        start = np.array([[0.0], [distance]], np.float32)
        far = np.full((1, 1), 1e6)  # a sample without attraction
        centers, _ = native.learn(start, np.ones(2, np.float32), far, None, Rule(0.1, 0.5), 0)
        assert (centers[1, 0] > start[1, 0]) == moves


FIGURE_1 = {"others": [[0.7, 0.3]], "sample": [0.3, 0.7], "widths": 0.2, "inhibition": 0.5}


def test_minimum_of_figure_1():
    lowest = theory.cost_minimum(**FIGURE_1)
    np.testing.assert_allclose(lowest, [0.24, 0.76], atol=0.005)
    grid = np.stack(np.meshgrid(*[np.linspace(0, 1, 51)] * 2), axis=-1)
    surface = theory.cost_surface(grid, **FIGURE_1)
    assert surface.min() >= theory.cost_surface(lowest, **FIGURE_1) - 1e-12
    np.testing.assert_allclose(grid.reshape(-1, 2)[surface.argmin()], lowest, atol=0.02)


def test_surface_is_flat_with_the_second_neuron_on_the_sample():
    grid = np.random.default_rng(0).random((50, 2))
    flat = theory.cost_surface(grid, **(FIGURE_1 | {"others": [[0.3, 0.7]]}))
    np.testing.assert_allclose(flat, -1, atol=1e-12)


def test_surface_is_the_cost():
    place = np.array([0.4, 0.5])
    expected = reference.sample_cost(
        np.array([0.3, 0.7]), np.array([[0.4, 0.5], [0.7, 0.3]]), np.array([0.2, 0.2]), 0.5
    )
    assert theory.cost_surface(place, **FIGURE_1) == pytest.approx(expected, rel=1e-14)


def test_width_with_power_1_equals_repulsion_steps():
    """With 1/sigma instead of 1/sigma^2, the steps of two neurons in opposite corners are equal."""

    def push(dimensions, width, inhibition):
        corners = np.array([np.zeros(dimensions), np.ones(dimensions)])
        far = np.full(dimensions, 1e6)  # a sample without attraction
        step = reference.center_step(far, corners, np.full(2, width), inhibition, learning_rate=1.0)
        return np.linalg.norm(step[0]) / dimensions

    width = theory.equivalent_width(81, 0.015, power=1)
    assert width == pytest.approx(3.85, abs=0.005)
    assert push(81, width, 0.015) == pytest.approx(push(25, 1.0, 1 / 9), rel=1e-6)
