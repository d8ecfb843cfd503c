"""Repulsion at every r-th sample: by hand, native against reference, any cut of a stream, files."""

from dataclasses import asdict, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gaussian_neurons import GaussianNeurons, Neurons
from gaussian_neurons.experiments.catalogue import EXPERIMENTS
from gaussian_neurons.learning import native, reference
from gaussian_neurons.learning.rule import Rule
from gaussian_neurons.sampling import Rows
from tests.learning.calls import learned, same_bits
from tests.runs import X, model_of, same

TWINS = (reference, native)
RULE = Rule(learning_rate=0.1, inhibition=0.5)
OUT_OF_REACH = [[100_000.0]]  # a sample to which no neuron responds


@pytest.fixture(params=native.available())
def instruction_set(request):
    with native.using(request.param):
        yield request.param


def problem(K=9, D=7, n=60, learns_widths=False):
    """(neurons, samples, rule, sample widths) of a layer whose neurons repel each other."""
    random = np.random.default_rng(K)
    widths, own = np.ones(K), None
    if learns_widths:
        widths, own = random.uniform(0.7, 1.3, K), random.uniform(0.5, 1.5, n)
    rule = Rule(0.1, 0.3, 0.1 if learns_widths else 0.0)
    return Neurons.at(random.random((K, D)), widths), random.random((n, D)), rule, own


def in_precision(neurons, dtype):
    return Neurons.at(neurons.centers, neurons.widths, dtype)


def every(r, rule=RULE):
    return rule._replace(repulsion_every=r)


# ---- by hand ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("twin", TWINS)
def test_neurons_do_not_repel_at_the_first_sample_and_repel_twice_as_strongly_at_the_second(twin):
    first = learned(twin, Neurons.at([[0.0], [1.0]], width=1.0), OUT_OF_REACH, every(2))
    assert first.centers.ravel().tolist() == [0.0, 1.0]
    second = learned(twin, first, OUT_OF_REACH, every(2))
    # 2 r eta lambda / sigma f d = 2 * 2 * 0.1 * 0.5 / e = 0.2 / e
    np.testing.assert_allclose(second.centers.ravel(), [-0.07357589, 1.07357589], atol=1e-8)


@pytest.mark.parametrize("twin", TWINS)
def test_every_sample_attracts(twin):
    first = learned(twin, Neurons.at([[0.0], [1.0]], width=1.0), [[0.0]], every(2))
    np.testing.assert_allclose(first.centers.ravel(), [0.0, 0.96321206], atol=1e-8)  # 1 - 0.1 / e
    second = learned(twin, first, [[0.0]], every(2))
    # f d = 0.96321206 exp(-0.92777747) = 0.38088448: both are repelled by 0.2 of it, and the second is
    # attracted by 0.1 of it
    np.testing.assert_allclose(second.centers.ravel(), [-0.07617690, 1.00130050], atol=1e-8)


@pytest.mark.parametrize("twin", TWINS)
def test_samples_are_counted_from_the_start_of_the_stream(twin):
    neurons = replace(Neurons.at([[0.0], [1.0]], width=1.0), seen=4)
    neurons = learned(twin, neurons, OUT_OF_REACH, every(5))
    assert neurons.centers[0, 0] == pytest.approx(-0.5 / np.e)


@pytest.mark.parametrize("twin", TWINS)
def test_widths_learn_at_every_sample(twin):
    """Equation 2 does not contain r; the centers do not move here."""
    neurons, x, rule, own = problem(learns_widths=True)
    rule = rule._replace(learning_rate=0.0, inhibition=0.01)  # weak enough that widths learn
    exact, seldom = (learned(twin, neurons, x, every(r, rule), own) for r in (1, 7))
    assert seldom.widths.tobytes() == exact.widths.tobytes() != neurons.widths.tobytes()


def distance_after(distance, r):
    """The distance between two neurons of width 1 after one repulsion."""
    neurons = replace(Neurons.at([[0.0], [distance]], width=1.0), seen=r - 1)
    return float(np.diff(learned(native, neurons, OUT_OF_REACH, every(r)).centers.ravel())[0])


@pytest.mark.parametrize(("r", "keeps"), [(1, True), (11, True), (12, False), (30, False)])
def test_a_closer_pair_overtakes_a_farther_one_from_r_12_on(r, keeps):
    """r eta lambda / sigma < e^(3/2) / 8 = 0.56, which is r < 11.2 here: docs/algorithm.md [13]."""
    apart = [distance_after(distance, r) for distance in np.linspace(0.01, 3, 300)]
    assert bool((np.diff(apart) > 0).all()) is keeps


def test_from_r_10_on_two_close_neurons_move_by_more_than_their_distance():
    """2 r eta lambda / sigma each, which is r / 10 here [13]."""
    assert distance_after(1e-4, 9) / 1e-4 == pytest.approx(1 + 2 * 0.9, rel=1e-6)
    assert distance_after(1e-4, 10) / 1e-4 == pytest.approx(1 + 2 * 1.0, rel=1e-6)


@pytest.mark.parametrize(("r", "factor"), [(8, 0.9**7 * (0.9 + 1.6)), (16, 0.9**15 * (0.9 + 3.2))])
def test_two_neurons_on_one_sample_separate_at_r_8_and_meet_at_r_16(r, factor):
    """Each sample multiplies the distance by 0.9, and the repulsion adds 0.2 r of it once [15]."""
    neurons = learned(native, Neurons.at([[-5e-5], [5e-5]], width=1.0), np.zeros((r, 1)), every(r))
    assert float(np.diff(neurons.centers.ravel())[0]) / 1e-4 == pytest.approx(factor, rel=1e-6)
    assert (factor > 1) is (r == 8)


# ---- laws -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("learns_widths", [False, True])
@pytest.mark.parametrize("r", [1, 2, 7])
def test_native_equals_reference_after_every_sample(instruction_set, r, learns_widths):
    start, x, rule, own = problem(learns_widths=learns_widths)
    for dtype, tolerance in ((np.float64, 1e-11), (np.float32, 2e-5)):
        slow, fast = start, in_precision(start, dtype)
        for t in range(len(x)):
            width = None if own is None else own[t : t + 1]
            slow, fast = (
                learned(twin, neurons, x[t : t + 1], every(r, rule), width)
                for twin, neurons in ((reference, slow), (native, fast))
            )
            np.testing.assert_allclose(fast.centers, slow.centers, rtol=tolerance, atol=tolerance)
            np.testing.assert_allclose(fast.widths, slow.widths, rtol=tolerance)


@pytest.mark.parametrize("learns_widths", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_cutting_a_stream_changes_nothing(instruction_set, dtype, learns_widths):
    start, x, rule, own = problem(learns_widths=learns_widths)
    start, rule = in_precision(start, dtype), every(3, rule)
    whole = learned(native, start, x, rule, own)
    for piece in (1, 2, 5, 31):
        neurons = start
        for begin in range(0, len(x), piece):
            part = slice(begin, begin + piece)
            neurons = learned(native, neurons, x[part], rule, None if own is None else own[part])
        assert same_bits(neurons, whole)


@settings(max_examples=15)
@given(cut=st.integers(1, 2999))
def test_cutting_the_stream_of_a_model_changes_nothing(cut):
    whole = model_of(repulsion_every=3).partial_fit(X[:3000])
    parts = model_of(repulsion_every=3).partial_fit(X[:cut]).partial_fit(X[cut:3000])
    assert parts.centers_.tobytes() == whole.centers_.tobytes()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_neurons_at_one_place_stay_together(instruction_set, dtype):
    start, x, rule, _ = problem()
    start = in_precision(start.with_rows([5], centers=start.centers[2]), dtype)
    for twin in TWINS:
        neurons = learned(twin, start, x, every(3, rule))
        assert neurons.centers[5].tobytes() == neurons.centers[2].tobytes() != start.centers[2].tobytes()


def test_with_small_steps_it_approaches_the_exact_rule():
    """The difference is of second order: a tenth of the rate, with ten times the samples, a tenth of it."""
    neurons, x, rule, _ = problem(K=4, n=20)
    apart = []
    for part in (1, 10):
        samples = np.repeat(x, part, axis=0)
        small = rule._replace(learning_rate=rule.learning_rate / part)
        exact, seldom = (learned(reference, neurons, samples, every(r, small)) for r in (1, 5))
        apart.append(np.abs(exact.centers - seldom.centers).max())
    assert apart[1] < apart[0] / 5


# ---- the setting ------------------------------------------------------------------------------------


def test_it_needs_a_width():
    with pytest.raises(ValueError, match="repulsion_every=4 needs a width"):
        GaussianNeurons(8, repulsion_every=4).partial_fit(X[:2000])


def test_a_model_learns_what_the_core_learns():
    model = model_of(repulsion_every=4, learning_rate=0.001, inhibition=0.5).partial_fit(X[:2000])
    start = Neurons.at(model.initial_centers_, 0.01)
    by_hand = learned(native, start, X[:2000], Rule(0.001, 0.5, 0.0, 4))
    assert model.centers_.tobytes() == by_hand.centers.tobytes()


def test_it_can_change_in_the_middle_of_a_stream():
    model = model_of().partial_fit(X[:3000]).set_params(repulsion_every=2).partial_fit(X[3000:4000])
    assert model.centers_.tobytes() != model_of().partial_fit(X[:4000]).centers_.tobytes()


@pytest.mark.parametrize("bad", [0, -1, 2.5, 1.0, True, "2", None, np.nan, 1 << 31, 1 << 80])
def test_an_invalid_value_is_an_error(bad):
    with pytest.raises(ValueError, match=r"repulsion_every must be a whole number from 1 .* exact rule\."):
        model_of(repulsion_every=bad).partial_fit(X[:10])


def test_figures_can_be_run_with_it_and_their_results_record_it():
    config = EXPERIMENTS["figure2a"].config
    assert config.neurons(0).repulsion_every == 1  # the paper's
    assert replace(config, repulsion_every=4).neurons(0).repulsion_every == 4
    assert asdict(config) != asdict(replace(config, repulsion_every=4))  # by which a stored result is found


# ---- files ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [500, 2500])  # before and after the first data is complete
def test_a_loaded_model_learns_on_to_the_same_bits(tmp_path, n):
    model = model_of(repulsion_every=np.int64(7)).partial_fit(X[:n])
    model.save(tmp_path / "model")
    loaded = GaussianNeurons.load(tmp_path / "model")
    assert loaded.repulsion_every == 7
    assert same(loaded.partial_fit(X[n:6001]), model.partial_fit(X[n:6001]))


def test_a_checkpoint_resumes_with_the_same_setting_only(tmp_path):
    model_of(repulsion_every=3).learn(Rows(X), 2000, checkpoint=tmp_path / "run")
    with pytest.raises(ValueError, match="its parameters repulsion_every was 3, here it is 1"):
        model_of().learn(Rows(X), 4000, checkpoint=tmp_path / "run")
    model = model_of(repulsion_every=3).learn(Rows(X), 4000, checkpoint=tmp_path / "run")
    assert same(model, model_of(repulsion_every=3).learn(Rows(X), 4000))
