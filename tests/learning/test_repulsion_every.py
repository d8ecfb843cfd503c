"""Repulsion at every r-th sample: by hand, twin against twin, however a stream is cut, kept in files."""

from dataclasses import asdict, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaussian_neurons import GaussianNeurons, Neurons
from gaussian_neurons.experiments.catalogue import EXPERIMENTS
from gaussian_neurons.learning import native, reference
from gaussian_neurons.model import archive as persistence
from gaussian_neurons.sampling import Rows
from tests.runs import X, model_of, same

TWINS = (reference.learn, native.learn)
RULE = {"inhibition": 0.5, "learning_rate": 0.1}
OTHER = 100_000.0  # a sample to which nobody responds


@pytest.fixture(params=native.available())
def instruction_set(request):
    with native.using(request.param):
        yield request.param


def problem(K=9, D=7, n=60, learned_widths=False):
    """(centers, widths, samples, rule) of a layer whose neurons feel each other."""
    random = np.random.default_rng(K)
    rule = {"inhibition": 0.3, "learning_rate": 0.1}
    widths = np.ones(K)
    if learned_widths:
        widths = random.uniform(0.7, 1.3, K)
        rule |= {"width_learning_rate": 0.1, "sample_widths": random.uniform(0.5, 1.5, n)}
    return random.random((K, D)), widths, random.random((n, D)), rule


def learned(learn, centers, widths, x, dtype=np.float64, **rule):
    neurons = Neurons.at(centers, widths, dtype)
    learn(neurons, x, **rule)
    return neurons


# ---- by hand ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("learn", TWINS)
def test_nothing_repels_at_the_first_sample_and_twice_as_much_at_the_second(learn):
    neurons = Neurons.at([[0.0], [1.0]], width=1.0)
    learn(neurons, [[OTHER]], repulsion_every=2, **RULE)
    assert neurons.centers.ravel().tolist() == [0.0, 1.0]
    learn(neurons, [[OTHER]], repulsion_every=2, **RULE)
    # 2 r eta lambda / sigma f d = 2 * 2 * 0.1 * 0.5 / e = 0.2 / e
    np.testing.assert_allclose(neurons.centers.ravel(), [-0.07357589, 1.07357589], atol=1e-8)


@pytest.mark.parametrize("learn", TWINS)
def test_attraction_comes_with_every_sample(learn):
    neurons = Neurons.at([[0.0], [1.0]], width=1.0)
    learn(neurons, [[0.0]], repulsion_every=2, **RULE)
    np.testing.assert_allclose(neurons.centers.ravel(), [0.0, 0.96321206], atol=1e-8)  # 1 - 0.1 / e
    learn(neurons, [[0.0]], repulsion_every=2, **RULE)
    # f d = 0.96321206 exp(-0.92777747) = 0.38088448: the first is pushed by 0.2 of it, the second as much,
    # less the 0.1 of it that it is drawn
    np.testing.assert_allclose(neurons.centers.ravel(), [-0.07617690, 1.00130050], atol=1e-8)


@pytest.mark.parametrize("learn", TWINS)
def test_it_is_the_r_th_sample_that_the_neurons_saw_not_that_of_a_call(learn):
    neurons = Neurons.at([[0.0], [1.0]], width=1.0)
    neurons.seen += 4
    learn(neurons, [[OTHER]], repulsion_every=5, **RULE)
    assert neurons.centers[0, 0] == pytest.approx(-0.5 / np.e)


@pytest.mark.parametrize("learn", TWINS)
def test_a_width_learns_at_every_sample_as_it_did(learn):
    """By Equation 2 with the neurons held still: no r is in it."""
    centers, widths, x, rule = problem(learned_widths=True)
    still = rule | {"learning_rate": 0.0, "inhibition": 0.01}  # so little that widths are free to learn
    every = learned(learn, centers, widths, x, **still)
    seldom = learned(learn, centers, widths, x, repulsion_every=7, **still)
    assert seldom.widths.tobytes() == every.widths.tobytes() != widths.tobytes()


def pushed(distance, every, inhibition=0.5, rate=0.1):
    """How far two neurons of width 1 are apart after a push alone."""
    neurons = Neurons.at([[0.0], [distance]], width=1.0)
    neurons.seen += every - 1
    rule = {"inhibition": inhibition, "learning_rate": rate}
    native.learn(neurons, [[OTHER]], repulsion_every=every, **rule)
    return float(np.diff(neurons.centers.ravel())[0])


@pytest.mark.parametrize(("every", "keeps"), [(1, True), (11, True), (12, False), (30, False)])
def test_a_closer_pair_overtakes_a_farther_one_from_r_12_on(every, keeps):
    """r eta lambda / sigma < e^(3/2) / 8 = 0.56, which is r < 11.2 here: docs/algorithm.md [13]."""
    apart = [pushed(distance, every) for distance in np.linspace(0.01, 3, 300)]
    assert bool((np.diff(apart) > 0).all()) is keeps


def test_from_r_10_on_two_close_neurons_are_pushed_by_more_than_their_distance():
    """2 r eta lambda / sigma each, which is r / 10 here [13]."""
    assert pushed(1e-4, 9) / 1e-4 == pytest.approx(1 + 2 * 0.9, rel=1e-6)
    assert pushed(1e-4, 10) / 1e-4 == pytest.approx(1 + 2 * 1.0, rel=1e-6)


@pytest.mark.parametrize(("every", "factor"), [(8, 0.9**7 * (0.9 + 1.6)), (16, 0.9**15 * (0.9 + 3.2))])
def test_two_neurons_under_the_same_samples_part_at_r_8_and_meet_at_r_16(every, factor):
    """Drawn by 0.9 at each sample, pushed by 0.2 r once [15]."""
    neurons = Neurons.at([[-5e-5], [5e-5]], width=1.0)
    native.learn(neurons, np.zeros((every, 1)), repulsion_every=every, **RULE)
    assert float(np.diff(neurons.centers.ravel())[0]) / 1e-4 == pytest.approx(factor, rel=1e-6)
    assert (factor > 1) is (every == 8)


# ---- laws -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("learned_widths", [False, True])
@pytest.mark.parametrize("every", [1, 2, 3, 7])
def test_the_twins_agree_after_every_sample(instruction_set, every, learned_widths):
    centers, widths, x, rule = problem(learned_widths=learned_widths)
    own = rule.pop("sample_widths", None)
    for dtype, tolerance in ((np.float64, 1e-11), (np.float32, 2e-5)):
        slow, fast = Neurons.at(centers, widths), Neurons.at(centers, widths, dtype)
        for t in range(len(x)):
            part = None if own is None else own[t : t + 1]
            for learn, neurons in ((reference.learn, slow), (native.learn, fast)):
                learn(neurons, x[t : t + 1], sample_widths=part, repulsion_every=every, **rule)
            np.testing.assert_allclose(fast.centers, slow.centers, rtol=tolerance, atol=tolerance)
            np.testing.assert_allclose(fast.widths, slow.widths, rtol=tolerance)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_one_is_the_rule_as_it_always_was(instruction_set, dtype):
    centers, widths, x, rule = problem()
    as_it_was = learned(native.learn, centers, widths, x, dtype, **rule)
    told = learned(native.learn, centers, widths, x, dtype, repulsion_every=1, **rule)
    other = learned(native.learn, centers, widths, x, dtype, repulsion_every=2, **rule)
    assert told.centers.tobytes() == as_it_was.centers.tobytes() != other.centers.tobytes()


@pytest.mark.parametrize("learned_widths", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_cutting_a_stream_changes_nothing(instruction_set, dtype, learned_widths):
    centers, widths, x, rule = problem(learned_widths=learned_widths)
    own = rule.pop("sample_widths", None)
    whole = learned(native.learn, centers, widths, x, dtype, sample_widths=own, repulsion_every=3, **rule)
    for piece in (1, 2, 5, 31):
        neurons = Neurons.at(centers, widths, dtype)
        for begin in range(0, len(x), piece):
            part = None if own is None else own[begin : begin + piece]
            native.learn(neurons, x[begin : begin + piece], sample_widths=part, repulsion_every=3, **rule)
        assert neurons.centers.tobytes() == whole.centers.tobytes()
        assert neurons.widths.tobytes() == whole.widths.tobytes()


@given(cut=st.integers(1, 2999))
def test_cutting_the_stream_of_a_model_changes_nothing(cut):
    whole = model_of(repulsion_every=3).partial_fit(X[:3000])
    parts = model_of(repulsion_every=3).partial_fit(X[:cut]).partial_fit(X[cut:3000])
    assert parts.centers_.tobytes() == whole.centers_.tobytes()


@pytest.mark.parametrize("cut", [1, 700, 1000, 2501])
def test_nor_does_it_where_layers_of_several_widths_learn(cut):
    whole = GaussianNeurons(8, repulsion_every=3, random_state=0).partial_fit(X[:4000])
    parts = (
        GaussianNeurons(8, repulsion_every=3, random_state=0).partial_fit(X[:cut]).partial_fit(X[cut:4000])
    )
    assert same(parts, whole)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_neurons_at_the_same_place_stay_together(instruction_set, dtype):
    centers, widths, x, rule = problem()
    centers[5] = centers[2]
    for learn in TWINS:
        neurons = learned(learn, centers, widths, x, dtype, repulsion_every=3, **rule)
        assert neurons.centers[5].tobytes() == neurons.centers[2].tobytes() != centers[2].tobytes()


def test_in_small_steps_it_is_the_exact_rule():
    """The difference is of second order: a tenth of the rate, over ten times the samples, a tenth of it."""
    centers, widths, x, rule = problem(K=4, n=20)
    apart = []
    for part in (1, 10):
        samples = np.repeat(x, part, axis=0)
        small = rule | {"learning_rate": rule["learning_rate"] / part}
        exact = learned(reference.learn, centers, widths, samples, **small)
        seldom = learned(reference.learn, centers, widths, samples, repulsion_every=5, **small)
        apart.append(np.abs(exact.centers - seldom.centers).max())
    assert apart[1] < apart[0] / 5


# ---- the setting ------------------------------------------------------------------------------------


def test_every_layer_of_an_automatic_width_is_told():
    exact, seldom = (GaussianNeurons(8, repulsion_every=r, random_state=0).partial_fit(X) for r in (1, 4))
    layers = zip(exact._learner.ready.layers, seldom._learner.ready.layers, strict=True)
    assert all((one.neurons.centers != other.neurons.centers).any() for one, other in layers)


def test_a_model_learns_what_the_core_learns():
    model = model_of(repulsion_every=4, learning_rate=0.001, inhibition=0.5).partial_fit(X[:2000])
    by_hand = Neurons.at(model.initial_centers_, 0.01)
    native.learn(by_hand, X[:2000], inhibition=0.5, learning_rate=0.001, repulsion_every=4)
    assert model.centers_.tobytes() == by_hand.centers.tobytes()


def test_it_may_change_in_the_middle_of_a_stream():
    model = model_of().partial_fit(X[:3000]).set_params(repulsion_every=2).partial_fit(X[3000:4000])
    assert model.centers_.tobytes() != model_of().partial_fit(X[:4000]).centers_.tobytes()


@pytest.mark.parametrize("bad", [0, -1, 2.5, 1.0, True, "2", None, np.nan, 1 << 31, 1 << 80])
def test_bad_values_are_refused_with_a_sentence(bad):
    with pytest.raises(ValueError, match=r"repulsion_every must be a whole number from 1 .* exact rule\."):
        model_of(repulsion_every=bad).partial_fit(X[:10])


def test_figures_can_be_run_with_it_and_their_results_know():
    config = EXPERIMENTS["figure2a"].config
    assert config.neurons(0).repulsion_every == 1  # the paper's
    assert replace(config, repulsion_every=4).neurons(0).repulsion_every == 4
    assert asdict(config) != asdict(replace(config, repulsion_every=4))  # what a kept result is known by


# ---- files ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [0.01, "auto"])
@pytest.mark.parametrize("n", [500, 2500])  # before and after the first data is complete
def test_a_loaded_model_learns_on_to_the_same_bits(tmp_path, width, n):
    model = model_of(width=width, repulsion_every=np.int64(7)).partial_fit(X[:n])
    model.save(tmp_path / "model")
    loaded = GaussianNeurons.load(tmp_path / "model")
    assert loaded.repulsion_every == 7
    assert same(loaded.partial_fit(X[n:6001]), model.partial_fit(X[n:6001]))


def older(path, arrays, facts):
    """Write the file as it was before there was the setting."""
    del facts["parameters"]["repulsion_every"]
    if "run" in facts:
        del facts["run"]["began"]["parameters"]["repulsion_every"]
    persistence.write(path, arrays, facts)


def test_a_file_from_before_loads_as_exact(tmp_path):
    model = model_of().partial_fit(X[:3000])
    model.save(tmp_path / "model")
    older(tmp_path / "model", *persistence.read(tmp_path / "model"))
    loaded = GaussianNeurons.load(tmp_path / "model")
    assert loaded.repulsion_every == 1
    assert same(loaded.partial_fit(X[3000:]), model.partial_fit(X[3000:]))


def test_a_checkpoint_carries_on_with_the_same_setting_only(tmp_path):
    model_of(repulsion_every=3).learn(Rows(X), 2000, checkpoint=tmp_path / "run")
    with pytest.raises(ValueError, match="its parameters repulsion_every was 3, here it is 1"):
        model_of().learn(Rows(X), 4000, checkpoint=tmp_path / "run")
    model = model_of(repulsion_every=3).learn(Rows(X), 4000, checkpoint=tmp_path / "run")
    assert same(model, model_of(repulsion_every=3).learn(Rows(X), 4000))


def test_a_checkpoint_from_before_carries_on_as_exact(tmp_path):
    path = tmp_path / "run"
    model_of().learn(Rows(X), 2000, checkpoint=path)
    older(path, *persistence.read(path))
    with pytest.raises(ValueError, match="its parameters repulsion_every was 1, here it is 3"):
        model_of(repulsion_every=3).learn(Rows(X), 4000, checkpoint=path)
    assert same(model_of().learn(Rows(X), 4000, checkpoint=path), model_of().learn(Rows(X), 4000))
