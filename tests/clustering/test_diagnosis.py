"""Which neurons learned: facts by hand, and the paper's settings on the real data."""

import numpy as np
import pytest

from gaussian_neurons import GaussianNeurons, Neurons
from gaussian_neurons.clustering.diagnosis import cosine, diagnose, domain_distance, find_twins, remember
from gaussian_neurons.sampling import Neighbourhoods, Patches

UNIT = (np.zeros(2), np.ones(2))


def test_distances_and_cosines_of_numbers_whose_squares_overflow():
    centers = np.array([[0.5, 0.5], [3.0, 3.0], [1e200, 0.0]])
    expected = [0.0, 5.0, 1e200 / 0.5**0.5]
    np.testing.assert_allclose(domain_distance(centers, np.zeros(2), np.ones(2)), expected)
    np.testing.assert_allclose(cosine(centers, np.array([[1e-200, 0.0]] * 3)), [0.5**0.5, 0.5**0.5, 1.0])


def test_facts_by_hand():
    neurons = Neurons.at([[1.0, 0.0], [0.5, 0.5]], [1.0, 2.0])
    neurons = neurons.with_rows([0], centers=[0.0, 1.0], widths=0.5)
    recent = np.array([[0.0, 1.0], [0.0, 1.0], [0.0, 1.0], [0.5, 0.5]])
    facts = diagnose(neurons, recent, *UNIT)
    np.testing.assert_allclose(facts.domain_distance, [1.0, 0.0])
    np.testing.assert_allclose(facts.cosine, [0.0, 1.0], atol=1e-15)
    np.testing.assert_allclose(facts.width_change, [0.5, 1.0])
    np.testing.assert_allclose(facts.share, [0.75, 0.25])
    np.testing.assert_allclose(facts.mean_response, [1.0, 1.0])


def test_a_neuron_that_wins_with_a_small_response_has_not_learned():
    # It is the nearest to half of the samples, but responds with exp(-9) to them.
    neurons = Neurons.at([[0.0, 0.0], [4.0, 0.0]], 1.0)
    facts = diagnose(neurons, np.array([[0.0, 0.0], [7.0, 0.0]]), *UNIT)
    np.testing.assert_allclose(facts.share, 0.5)
    assert facts.learned.tolist() == [True, False]


def test_a_neuron_on_a_single_sample_has_not_learned():
    recent = np.zeros((1000, 2))
    recent[0] = 5.0
    facts = diagnose(Neurons.at([[0.0, 0.0], [5.0, 5.0]], 1.0), recent, *UNIT)
    assert facts.mean_response.tolist() == [1.0, 1.0]
    assert facts.learned.tolist() == [True, False]


def test_twins_are_one_cluster():
    neurons = Neurons.at([[0.0, 0.0], [3.0, 3.0], [0.0, 3e-4], [3.0, 3.0], [3.0, 3.0]], 1.0)
    assert find_twins(neurons).tolist() == [-1, -1, 0, 1, 1]
    facts = diagnose(neurons, np.array([[0.0, 0.0], [3.0, 3.0]]), *UNIT)
    assert facts.learned.tolist() == [True, True, False, False, False]
    assert facts.twins == [(2, 0), (3, 1), (4, 1)]
    np.testing.assert_allclose(facts.share, 0.5)


def test_a_neuron_is_no_twin_of_a_twin():
    places = [[0.0, 0.0], [0.0, 3e-4], [0.0, 6e-4]]  # the first and the last are too far apart
    assert find_twins(Neurons.at(places, 1.0)).tolist() == [-1, 0, -1]


def test_neurons_that_are_only_similar_are_no_twins():
    """Distinct neurons of Figure 5f respond to each other's center with up to 0.98."""
    apart = np.sqrt(-np.log(0.99))
    for dtype in (np.float32, np.float64):
        assert find_twins(Neurons.at([[0.0, 0.0], [apart, 0.0]], 1.0, dtype)).tolist() == [-1, -1]
        assert find_twins(Neurons.at([[0.0, 0.0], [4e-4, 0.0]], 1.0, dtype)).tolist() == [-1, -1]
        assert find_twins(Neurons.at([[0.0, 0.0], [1e-7, 0.0]], 1.0, dtype)).tolist() == [-1, 0]


def test_a_narrow_neuron_inside_a_wide_one_is_not_a_twin():
    neurons = Neurons.at([[0.0, 0.0], [0.0, 1e-3]], [100.0, 0.1])
    assert find_twins(neurons).tolist() == [-1, -1]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_collapsed_neurons_count_once(dtype):
    model = GaussianNeurons(4, width=1.0, inhibition=0.01, init=[[0.1], [0.1], [0.12], [0.9]], domain=(0, 1))
    model.partial_fit(np.random.default_rng(0).normal(0.5, 0.05, (5000, 1)).astype(dtype))
    assert model.n_clusters_ == 1
    assert len(model.diagnosis_.twins) == 3


def test_a_domain_without_extent_gives_infinite_distances():
    facts = diagnose(Neurons.at([[1.0, 1.0], [2.0, 2.0]], 1.0), np.ones((5, 2)), np.ones(2), np.ones(2))
    assert facts.domain_distance.tolist() == [0.0, np.inf]


# ---- values -----------------------------------------------------------------------------------------


def copies(neurons):
    return [np.copy(array) for array in vars(neurons).values()]


def test_diagnosing_changes_nothing_and_gives_the_same_facts_again():
    random = np.random.default_rng(0)
    neurons = Neurons.at(random.random((5, 2)), 0.2).with_rows([1], held=0.5)
    recent = random.random((300, 2))
    before, samples = copies(neurons), recent.copy()
    once, again = (diagnose(neurons, recent, *UNIT) for _ in range(2))
    for name, value in vars(once).items():
        np.testing.assert_array_equal(value, getattr(again, name), err_msg=name)
        assert not value.flags.writeable, name
    for one, other in zip(copies(neurons), before, strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(recent, samples)


def test_remember_returns_new_neurons():
    neurons = Neurons.at([[0.0, 0.0], [9.0, 9.0]], 1.0)
    before = copies(neurons)
    noted = remember(neurons, np.zeros((500, 2)))
    np.testing.assert_array_equal(noted.held, [[0.0, 0.0], [np.nan, np.nan]])
    assert (noted.won.tolist(), noted.looked.tolist()) == ([500, 0], [500, 0])
    for one, other in zip(copies(neurons), before, strict=True):
        np.testing.assert_array_equal(one, other)
    assert not diagnose(neurons, np.ones((5, 2)), *UNIT).remembered.any()
    assert diagnose(noted, np.ones((5, 2)), *UNIT).remembered.tolist() == [True, False]


def test_of_twins_the_first_is_remembered():
    neurons = remember(Neurons.at([[0.0, 0.0], [0.0, 0.0], [9.0, 9.0]], 1.0), np.zeros((50, 2)))
    np.testing.assert_array_equal(neurons.held, [[0.0, 0.0], [np.nan, np.nan], [np.nan, np.nan]])


def reviewed(neurons, *windows):
    """The neurons after a review of each window, and whether each is remembered."""
    for recent in windows:
        neurons = remember(neurons, recent)
    return neurons, diagnose(neurons, np.full((5, 2), 50.0), *UNIT).remembered.tolist()


def window(share, place):
    """A thousand samples, some of them at a place, the others at (9, 9)."""
    recent = np.full((1000, 2), 9.0)
    recent[: round(1000 * share)] = place
    return recent


def test_a_neuron_is_remembered_if_it_won_many_samples():
    neurons = Neurons.at([[0.0, 0.0], [9.0, 9.0]], 1.0)
    held = window(0.2, 0.0)
    assert reviewed(neurons, held, held)[1] == [False, True]  # 400 samples and 1600
    after, remembered = reviewed(neurons, held, held, held)
    assert remembered == [True, True]
    assert (after.won.tolist(), after.looked.tolist()) == ([600, 2400], [3000, 3000])


def test_a_neuron_without_samples_is_forgotten_when_its_share_is_small():
    """600 samples are half a percent of 120,000: it is remembered for 39 times as many samples as held it."""
    neurons, empty = Neurons.at([[0.0, 0.0], [9.0, 9.0]], 1.0), window(0.0, 0.0)
    assert reviewed(neurons, *[window(0.2, 0.0)] * 3, *[empty] * 117)[1] == [True, True]
    assert reviewed(neurons, *[window(0.2, 0.0)] * 3, *[empty] * 118)[1] == [False, True]


def test_a_neuron_that_moved_on_starts_again():
    neurons, _ = reviewed(Neurons.at([[0.0, 0.0], [9.0, 9.0]], 1.0), *[window(0.9, 0.0)] * 3)
    beside = neurons.with_rows([0], centers=[[0.6, 0.6]])  # it responds with 0.49 to its old place
    after, remembered = reviewed(beside, window(0.1, 0.6))
    assert remembered == [False, True]
    assert (after.won[0], after.looked[0]) == (100, 1000)
    np.testing.assert_array_equal(after.held[0], [0.6, 0.6])
    gone, _ = reviewed(beside, window(0.0, 0.0))
    assert (gone.won[0], gone.looked[0]) == (0, 0)
    assert np.isnan(gone.held[0]).all()


@pytest.mark.parametrize(("response", "learned"), [(0.012, True), (0.008, False)])
def test_least_mean_response_of_a_learned_neuron(response, learned):
    neurons = Neurons.at([[0.0]], 1.0)
    sample = np.array([[np.sqrt(-np.log(response))]])
    assert diagnose(neurons, sample, np.zeros(1), np.ones(1)).learned[0] == learned


@pytest.mark.parametrize(
    ("K", "wins", "learned"), [(2, 5, True), (2, 4, False), (100, 3, True), (100, 2, False)]
)
def test_least_share_of_a_learned_neuron(K, wins, learned):
    recent = np.zeros((1000, 1))
    recent[:wins] = 100.0
    centers = np.concatenate([[[0.0], [100.0]], 1e4 * np.arange(1, K - 1)[:, None]])
    assert diagnose(Neurons.at(centers, 1.0), recent, np.zeros(1), np.ones(1)).learned[1] == learned


# ---- the paper's settings ---------------------------------------------------------------------------


def is_pattern(center: np.ndarray) -> bool:
    """Whether neighbouring pixels are similar: the mean squared difference between neighbours, divided by
    that between any two pixels, is 1 for uniform noise."""
    image = np.clip(center, 0, 1).reshape(int(np.sqrt(len(center))), -1)
    steps = np.concatenate([np.diff(image, axis=0).ravel(), np.diff(image, axis=1).ravel()])
    return bool((steps**2).mean() < 0.5 * 2 * image.var() or image.std() < 0.1)


@pytest.mark.parametrize(
    ("name", "width", "inhibition", "digit", "least", "most", "seed"),
    [
        ("2a", 1.0, 1 / 2, None, 4, 9, 0),
        ("2c", 0.5, 1 / 2, None, 2, 12, 0),  # a tenth of the published samples
        ("2d", 1.0, 1 / 9, None, 8, 15, 2),
        ("2f", 0.5, 1 / 2, 1, 0, 6, 1),
    ],
)
def test_learned_neurons_are_smooth_filters(mnist, name, width, inhibition, digit, least, most, seed):
    stream = Patches(mnist.images, 5, seed, mnist.labels, digit)
    model = GaussianNeurons(
        16, width=width, inhibition=inhibition, learning_rate=0.1, domain=(0, 1), random_state=seed
    ).learn(stream, 10**6)
    facts = model.diagnosis_
    # Neurons that still move (a response between those of noise and of a filter) are not compared.
    settled = (facts.mean_response >= 0.01) | (facts.mean_response < 3e-4)
    settled &= facts.twin_of < 0  # of several filters at one place, one counts
    picture = np.array([is_pattern(center) for center in model.centers_])
    np.testing.assert_array_equal(facts.learned[settled], picture[settled])
    assert least <= model.n_clusters_ <= most
    if name == "2a":  # Table 1: learned ones near or inside the domain, the others at 1.3 to 1.6
        outside = facts.domain_distance[~facts.learned]
        assert (facts.domain_distance[facts.learned] < 1.1).all()
        assert (outside > 1.1).all()
        assert (outside < 1.7).all()
        assert 1.25 < np.quantile(outside, 0.2) < np.quantile(outside, 0.8) < 1.6
        assert (facts.cosine[~facts.learned] > 0.75).all()
        assert facts.cosine[~facts.learned].mean() == pytest.approx(0.9, abs=0.05)


@pytest.mark.parametrize("seed", range(2))
def test_learned_neurons_are_those_whose_width_changed(mnist, seed):
    """Figure 5d: the paper recognises learned neurons by their widths."""
    model = GaussianNeurons(
        9, width=10.0, learning_rate=0.1, width_learning_rate=0.1, domain=(0, 1), random_state=seed
    ).learn(Neighbourhoods(mnist.images, 5, 0.1, seed), 200_000)
    facts = model.diagnosis_
    assert 3 <= model.n_clusters_ <= 5
    assert (facts.width_change[facts.learned] < 0.7).all()
    assert (facts.width_change[~facts.learned] > 0.8).all()
    assert model.widths_[facts.learned].min() == pytest.approx(0.6, abs=0.15)  # the black patch


# ---- memory ------------------------------------------------------------------------------------------

PLACES = np.array([[0.2, 0.2], [0.2, 0.8], [0.8, 0.2], [0.8, 0.8], [0.5, 0.5]])


def clusters(which: np.ndarray, n: int, seed: int) -> np.ndarray:
    random = np.random.default_rng(seed)
    return random.normal(PLACES[random.choice(which, n)], 0.04)


def test_a_cluster_without_new_samples_is_remembered():
    model = GaussianNeurons(12, width=0.04, domain=(0, 1), random_state=0)
    model.partial_fit(clusters(np.arange(5), 20_000, 0))
    assert model.n_clusters_ == 5
    labels = model.predict(PLACES)
    model.partial_fit(clusters(np.array([0]), 20_000, 1))
    assert model.n_clusters_ == 5
    np.testing.assert_array_equal(model.predict(PLACES), labels)
    assert model.diagnosis_.remembered.sum() == 5


def test_a_neuron_that_left_its_place_is_forgotten():
    model = GaussianNeurons(1, width=0.04, init=[[0.2, 0.2]], domain=(0, 1))
    model.partial_fit(clusters(np.array([0]), 5000, 0))
    assert model.learned_.all()
    for step in np.linspace(0.2, 0.8, 30):  # the pattern moves, and the neuron with it; then it stops
        model.partial_fit(np.random.default_rng(0).normal([step, 0.2], 0.04, (700, 2)))
    held = model.diagnosis_
    assert held.learned.all()
    far = model.centers_[0] - [0.2, 0.2]
    assert np.linalg.norm(far) > 0.4


def test_outliers_are_not_remembered():
    random = np.random.default_rng(0)
    X = clusters(np.array([0]), 30_000, 0)
    X[::200] = random.normal([0.8, 0.8], 0.01, (150, 2))  # one in two hundred
    model = GaussianNeurons(2, width=0.04, init=[[0.2, 0.2], [0.8, 0.8]], domain=(0, 1)).partial_fit(X)
    assert not model.diagnosis_.remembered[1]


def test_a_neuron_on_empty_ground_is_not_learned():
    """Few samples came there, and none for long: taken back, or passed on the way."""
    model = GaussianNeurons(12, width=0.04, domain=(0, 1), random_state=0)
    model.partial_fit(clusters(np.arange(5), 2000, 0))  # 400 of each
    labels = model.predict(PLACES)
    assert (labels >= 0).all()
    model.partial_fit(clusters(np.array([0]), 2000, 1))
    facts = model.diagnosis_
    assert (facts.share[facts.learned] > 0).all()
    assert model.n_clusters_ < 5


def test_one_sample_is_no_pattern():
    model = GaussianNeurons(3, width=1.0, init=[[0.0], [10.0], [20.0]], domain=(0, 20))
    model.partial_fit(np.array([[0.0], [0.1], [0.0], [10.0]]))
    assert model.learned_.tolist() == [True, False, False]


def test_an_added_neuron_counts_after_a_thousand_samples():
    X = clusters(np.arange(5), 20_000, 0)
    model = GaussianNeurons(12, width=0.04, domain=(0, 1), random_state=0).partial_fit(X)
    model.add_neurons(centers=PLACES + 0.05)
    assert model.n_clusters_ == 5
    assert not model.learned_[12:].any()
    model.partial_fit(X)
    assert model.n_clusters_ == 5
