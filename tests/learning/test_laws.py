"""Laws of the rule, for any numbers: they find mistakes that reference and native have in common."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gaussian_neurons import GaussianNeurons, Neurons
from gaussian_neurons.learning import native, reference
from gaussian_neurons.learning.rule import Rule
from tests.learning.calls import learned

RULE = Rule(learning_rate=0.05, inhibition=0.4, width_learning_rate=0.2)
seeds = st.integers(0, 10**6)


def scene(seed: int, K: int = 7, D: int = 3, n: int = 200):
    """(centers, widths, samples, sample widths)"""
    random = np.random.default_rng(seed)
    return (
        random.random((K, D)),
        random.uniform(0.3, 0.6, K),
        random.random((n, D)),
        random.uniform(0.2, 0.8, n),
    )


def end(centers, widths, x, sample_widths, **changes) -> Neurons:
    """The neurons after all samples, with some constants of the rule changed."""
    return learned(native, Neurons.at(centers, widths), x, RULE._replace(**changes), sample_widths)


@settings(max_examples=15)
@given(cuts=st.lists(st.integers(0, 1500), max_size=6), seed=st.integers(0, 5), auto=st.booleans())
def test_chunks_do_not_change_what_is_learned(cuts, seed, auto):
    random = np.random.default_rng(seed)
    X = random.normal(random.integers(0, 4, (1500, 1)), 0.2, (1500, 3))
    given_parameters = {} if auto else {"width": 0.5, "domain": (0.0, 4.0)}
    whole = GaussianNeurons(8, random_state=1, **given_parameters).partial_fit(X)
    pieces = GaussianNeurons(8, random_state=1, **given_parameters)
    for part in np.split(X, sorted(cuts)):
        if len(part):
            pieces.partial_fit(part)
    np.testing.assert_array_equal(pieces.centers_, whole.centers_)
    np.testing.assert_array_equal(pieces.learned_, whole.learned_)
    assert pieces.n_samples_seen_ == 1500


def test_one_row_at_a_time_is_the_same_as_all_at_once():
    X, widths = np.random.default_rng(0).random((1300, 2)), np.random.default_rng(1).uniform(0.05, 0.1, 1300)
    model = {"n_neurons": 5, "width_learning_rate": 0.1, "random_state": 3}
    whole = GaussianNeurons(**model).partial_fit(X, sample_width=widths)
    rows = GaussianNeurons(**model)
    for row, width in zip(X, widths, strict=True):
        rows.partial_fit(row[None], sample_width=[width])
    np.testing.assert_array_equal(rows.centers_, whole.centers_)
    np.testing.assert_array_equal(rows.widths_, whole.widths_)


@given(seeds, st.permutations(range(7)))
def test_the_order_of_the_neurons_does_not_matter(seed, order):
    centers, widths, x, own = scene(seed)
    plain = end(centers, widths, x, own)
    shuffled = end(centers[order], widths[order], x, own)
    np.testing.assert_allclose(shuffled.centers, plain.centers[order], rtol=1e-9)
    np.testing.assert_allclose(shuffled.widths, plain.widths[order], rtol=1e-9)


@given(seeds, st.floats(-1e4, 1e4))
def test_shifting_data_and_centers_shifts_the_result(seed, shift):
    centers, widths, x, own = scene(seed)
    here, there = end(centers, widths, x, own), end(centers + shift, widths, x + shift, own)
    np.testing.assert_allclose(there.centers - shift, here.centers, atol=1e-8)


@given(seeds, st.floats(1e-3, 1e3))
def test_scaling_data_by_c_scales_widths_and_rate_by_c_squared(seed, c):
    centers, widths, x, own = scene(seed)
    plain = end(centers, widths, x, own)
    scaled = end(c * centers, c**2 * widths, c * x, c**2 * own, learning_rate=c**2 * RULE.learning_rate)
    np.testing.assert_allclose(scaled.centers / c, plain.centers, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(scaled.widths / c**2, plain.widths, rtol=1e-8)


@given(seeds)
def test_without_inhibition_neurons_are_independent(seed):
    centers, widths, x, own = scene(seed)
    together = end(centers, widths, x, own, inhibition=0.0)
    for i in range(len(centers)):
        alone = end(centers[i : i + 1], widths[i : i + 1], x, own, inhibition=0.0)
        np.testing.assert_allclose(together.centers[i], alone.centers[0], rtol=1e-12)
        np.testing.assert_allclose(together.widths[i], alone.widths[0], rtol=1e-12)


@given(seeds, st.integers(0, 6))
def test_a_removed_neuron_has_no_effect(seed, gone):
    centers, widths, x, own = scene(seed)
    stays = np.arange(7) != gone
    removed = learned(native, Neurons.at(centers, widths).keep(stays), x, RULE, own)
    never = end(centers[stays], widths[stays], x, own)
    np.testing.assert_array_equal(removed.centers, never.centers)
    np.testing.assert_array_equal(removed.widths, never.widths)


@given(seeds)
def test_learning_rotates_with_the_data(seed):
    centers, widths, x, own = scene(seed)
    turn, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))
    plain, turned = end(centers, widths, x, own), end(centers @ turn, widths, x @ turn, own)
    np.testing.assert_allclose(turned.centers, plain.centers @ turn, atol=1e-9)


@given(seeds)
def test_widths_stay_between_their_start_and_those_of_the_samples(seed):
    centers, widths, x, own = scene(seed)
    after = end(centers, widths, x, own).widths
    assert (after >= min(widths.min(), own.min())).all()
    assert (after <= max(widths.max(), own.max())).all()


@settings(max_examples=10)
@given(seeds)
def test_learning_descends_the_cost(seed):
    centers, widths, x, _ = scene(seed)
    neurons = Neurons.at(centers, widths)
    before = reference.cost(x, neurons.centers, neurons.widths, 0.4)
    neurons = learned(native, neurons, np.tile(x, (5, 1)), Rule(0.005, 0.4))
    assert reference.cost(x, neurons.centers, neurons.widths, 0.4) < before


@pytest.mark.parametrize("twin", [reference, native])
def test_equal_centers_do_not_repel_each_other(twin):
    neurons = Neurons.at([[0.3, 0.3], [0.3, 0.3]], 1.0)
    neurons = learned(twin, neurons, np.random.default_rng(0).random((100, 2)), Rule(0.05, 0.1))
    np.testing.assert_allclose(neurons.centers[0], neurons.centers[1], rtol=1e-12)
