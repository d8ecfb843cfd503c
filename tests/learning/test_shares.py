"""Neurons that share samples: numbers by hand, laws, and the compiled twin."""

import numpy as np
import pytest

from gaussian_neurons import Neurons
from gaussian_neurons.base.bad_rows import BadRow
from gaussian_neurons.learning import native, reference_shares
from gaussian_neurons.learning.backends import learn_many
from gaussian_neurons.learning.rule import Shares
from gaussian_neurons.learning.starts import widths_at

RULE = Shares(rate=0.02, least_width=1e-9)
TWINS = [reference_shares.learn, native.learn_shares]


@pytest.fixture(params=native.available())
def instruction_set(request):
    with native.using(request.param):
        yield request.param


def problem(K=7, D=3, n=400, seed=0):
    """Centers, widths, totals and samples of three clusters."""
    random = np.random.default_rng(seed)
    places = random.normal(size=(3, D)) * 4
    samples = random.normal(places[random.integers(3, size=n)], 1.0)
    return samples[:K].copy(), random.uniform(0.5, 2.0, K), np.zeros(K), samples


# ---- by hand ----------------------------------------------------------------------------------------


def test_shares_are_parts_of_the_density():
    """exp(-1) / 1 and exp(-4/4) / 2 in one dimension: the first has two thirds."""
    share = reference_shares.shares(np.array([1.0]), np.array([[0.0], [3.0]]), np.array([1.0, 4.0]))
    np.testing.assert_allclose(share, [2 / 3, 1 / 3])


@pytest.mark.parametrize("learn", TWINS)
def test_two_neurons_share_a_sample(learn):
    """Shares 2/3 and 1/3; both are new, so the rates are 1 / (1 + 2/3) = 3/5 and 1 / (1 + 1/3) = 3/4."""
    start = np.array([[0.0], [3.0]])
    centers, widths, totals = learn(start, np.array([1.0, 4.0]), np.zeros(2), np.array([[1.0]]), RULE)
    np.testing.assert_allclose(totals, [2 / 3, 1 / 3])
    np.testing.assert_allclose(centers.ravel(), [0.4, 3 - 0.25 * 2])  # steps 2/5 and 1/4
    # own widths 2 * 1 and 2 * 4: 1 + 2/5 (3/5 * 2 - 1), 4 + 1/4 (3/4 * 8 - 4)
    np.testing.assert_allclose(widths, [1.08, 4.5])


@pytest.mark.parametrize("learn", TWINS)
def test_an_old_neuron_moves_by_the_rate(learn):
    _, _, totals = found = learn(np.zeros((1, 1)), np.ones(1), np.array([1000.0]), np.array([[1.0]]), RULE)
    np.testing.assert_allclose(found[0], [[0.02]])
    np.testing.assert_allclose(found[1], [1 + 0.02 * (0.98 * 2 - 1)])
    assert totals.tolist() == [1001.0]


@pytest.mark.parametrize("learn", TWINS)
def test_a_width_does_not_fall_below_the_least(learn):
    rule = Shares(0.5, 0.25)
    widths = learn(np.zeros((1, 2)), np.ones(1), np.zeros(1), np.zeros((50, 2)), rule)[1]
    assert widths.tolist() == [0.25]


@pytest.mark.parametrize("learn", TWINS)
def test_a_sample_whose_squared_distance_overflows_changes_nothing(learn):
    start = np.array([[0.0], [3.0]]), np.ones(2), np.ones(2)
    for value in (1e308, 1e200, -1e160):
        for old, new in zip(start, learn(*start, np.array([[value]]), RULE), strict=True):
            np.testing.assert_array_equal(new, old)


@pytest.mark.parametrize("K", [1, 10, 16])  # with and without padding lanes
@pytest.mark.parametrize(("dtype", "far", "apart"), [(np.float32, 3e19, 1e14), (np.float64, 1e160, 1e150)])
def test_samples_far_from_the_origin_whose_squares_overflow(K, dtype, far, apart):
    samples = (far + apart * np.random.default_rng(0).random((200, 2))).astype(dtype)
    start = samples[:K].copy(), np.full(K, apart, dtype) * dtype(apart / 10), np.zeros(K)
    centers, widths, totals = native.learn_shares(*start, samples, Shares(0.02, 1e-9))
    assert np.isfinite(centers).all()
    assert np.isfinite(widths).all()
    assert totals.sum() == pytest.approx(200, rel=0.05)


# ---- laws -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("K", "D"), [(1, 1), (7, 3), (16, 25), (50, 2), (33, 64)])
def test_the_core_computes_the_reference(instruction_set, K, D):
    *start, samples = problem(K, D, 300)
    ours, others = native.learn_shares(*start, samples, RULE), reference_shares.learn(*start, samples, RULE)
    for one, other in zip(ours, others, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)


def test_float32_is_close_to_the_reference(instruction_set):
    centers, widths, totals, samples = problem(16, 5, 300)
    exact = reference_shares.learn(centers, widths, totals, samples, RULE)
    single = centers.astype(np.float32), widths.astype(np.float32), totals
    found = native.learn_shares(*single, samples.astype(np.float32), RULE)
    assert found[0].dtype == found[1].dtype == np.float32
    for one, other in zip(found, exact, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("cut", [1, 64, 1025])
def test_cuts_change_nothing(cut):
    *start, samples = problem(n=3000)
    whole = native.learn_shares(*start, samples, RULE)
    first = native.learn_shares(*start, samples[:cut], RULE)
    for one, other in zip(whole, native.learn_shares(*first, samples[cut:], RULE), strict=True):
        assert one.tobytes() == other.tobytes()


@pytest.mark.parametrize("learn", TWINS)
def test_the_order_of_neurons_does_not_matter(learn):
    centers, widths, totals, samples = problem()
    turn = np.array([3, 0, 6, 1, 5, 2, 4])
    one = learn(centers, widths, totals, samples, RULE)
    other = learn(centers[turn], widths[turn], totals, samples, RULE)
    for a, b in zip(one, other, strict=True):
        np.testing.assert_allclose(a[turn], b, rtol=1e-9)


@pytest.mark.parametrize("learn", TWINS)
def test_units_rotations_and_shifts_do_not_matter(learn):
    centers, widths, totals, samples = problem()
    turn, _ = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))
    one = learn(centers, widths, totals, samples, RULE)
    other = learn(10 * centers @ turn + 5, 100 * widths, totals, 10 * samples @ turn + 5, Shares(0.02, 1e-7))
    np.testing.assert_allclose(other[0], 10 * one[0] @ turn + 5, rtol=1e-8)
    np.testing.assert_allclose(other[1], 100 * one[1], rtol=1e-8)
    np.testing.assert_allclose(other[2], one[2], rtol=1e-8)


def test_every_sample_is_shared_out():
    *start, samples = problem()
    assert native.learn_shares(*start, samples, RULE)[2].sum() == pytest.approx(len(samples), rel=1e-2)


def test_widths_converge_to_twice_the_variance():
    """One neuron on a normal distribution with the variance 4: sigma = 8, the center at its mean."""
    samples = np.random.default_rng(0).normal(1.0, 2.0, size=(20_000, 3))
    rule = Shares(0.001, 1e-9)
    centers, widths, _ = native.learn_shares(np.zeros((1, 3)), np.ones(1), np.zeros(1), samples, rule)
    np.testing.assert_allclose(widths, [8.0], rtol=0.1)
    np.testing.assert_allclose(centers, np.ones((1, 3)), atol=0.3)


# ---- learn_many -------------------------------------------------------------------------------------


def test_a_bad_row_is_named_and_the_arguments_stay():
    centers, widths, _, samples = problem()
    neurons, bad = Neurons.at(centers, widths), samples.copy()
    bad[100, 1] = np.inf
    for backend in ("native", "reference"):
        with pytest.raises(BadRow, match="row 100"):
            list(learn_many([neurons], bad, [RULE], backend=backend))
    np.testing.assert_array_equal(neurons.centers, centers)


def test_a_rate_of_zero_keeps_neurons_and_counts_samples():
    centers, widths, _, samples = problem()
    *_, (after,) = learn_many([Neurons.at(centers, widths)], samples, [Shares(0.0, 1e-9)])
    assert after.seen == len(samples)
    np.testing.assert_array_equal(after.centers, centers)


def test_a_function_cannot_find_widths():
    centers, widths, _, samples = problem()
    with pytest.raises(ValueError, match=r"cannot find a width: give width=\.\.\."):
        list(learn_many([Neurons.at(centers, widths)], samples, [RULE], backend=lambda *_: None))


# ---- starting widths --------------------------------------------------------------------------------


def test_starting_widths_by_hand():
    """Nearest centers at 2 and 2 and 8, but the samples of the last one at a mean square of 100; D = 1."""
    centers = np.array([[0.0], [2.0], [10.0]])
    samples = np.array([[0.0], [2.0], [20.0]])
    np.testing.assert_allclose(widths_at(centers, samples), [8.0, 8.0, 200.0])


def test_neurons_at_one_place_start_with_the_width_of_the_others():
    centers, samples = np.array([[0.0], [0.0], [5.0]]), np.array([[0.0], [5.0]])
    np.testing.assert_allclose(widths_at(centers, samples), [50.0, 50.0, 50.0])
    np.testing.assert_allclose(widths_at(centers[:1], samples[:1]), [2.0])  # nothing else is known
