"""The default model, with an automatic width, on data of many kinds."""

import gzip
import os
import signal
import subprocess
import sys
import warnings

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from gaussian_neurons import GaussianNeurons, Neurons
from gaussian_neurons.base.bad_rows import BadRow
from gaussian_neurons.base.interrupts import interruption_point
from gaussian_neurons.datasets.synthetic import Drifting
from gaussian_neurons.learning import native
from gaussian_neurons.learning.rule import Rule
from gaussian_neurons.model import learner
from tests.conftest import data_directory
from tests.learning.calls import learned as learned_by
from tests.runs import disturb, same


def mixture(k: int, D: int, n: int = 5000, seed: int = 0, apart: float = 10.0):
    """Round clusters of spread 1 whose centers are at least so far apart: (rows, labels)."""
    random = np.random.default_rng(seed)
    places: list[np.ndarray] = []
    while len(places) < k:
        place = random.uniform(-1, 1, D) * apart * (k if D == 1 else k**0.5) / D**0.5
        if all(np.linalg.norm(place - other) > apart for other in places):
            places.append(place)
        else:
            apart *= 0.9999  # until all fit
    labels = random.integers(k, size=n)
    return random.normal(np.array(places)[labels], 1.0), labels


def learned(X, n_neurons: int = 30, seed: int = 0) -> GaussianNeurons:
    return GaussianNeurons(n_neurons, random_state=seed).partial_fit(X)


def answers(model: GaussianNeurons) -> list:
    """Every answer about the clusters."""
    events = [(event.samples, event.kind, event.cluster, event.center.tolist()) for event in model.events_]
    arrays = (model.centers_, model.widths_, model.cluster_centers_, model.cluster_numbers_)
    return [*(array.tolist() for array in arrays), model.neuron_clusters_.tolist(), events]


# ---- clusters are found -----------------------------------------------------------------------------


@pytest.mark.parametrize(("D", "k"), [(1, 6), (2, 3), (2, 20), (20, 5), (200, 10), (500, 4)])
def test_separate_clusters_are_found(D, k):
    X, labels = mixture(k, D, n=3000 if D < 500 else 1500)
    model = learned(X, 50 if k > 10 else 30)
    assert model.n_clusters_ == k == len(model.cluster_centers_)
    assert adjusted_rand_score(labels, model.predict(X)) >= 0.95


def test_fit_finds_clusters_and_labels_its_rows():
    X, labels = mixture(7, 3, n=800)
    model = GaussianNeurons(30, random_state=0, max_samples=6000).fit(X)
    assert model.n_clusters_ == 7
    assert adjusted_rand_score(labels, model.labels_) >= 0.95
    assert model.cluster_numbers_.tolist() == list(range(7))
    assert [event.kind for event in model.events_] == ["born"] * 7


@pytest.mark.parametrize("n", [4000, 4999])  # at a look and long after it
def test_cluster_centers_are_near_the_means_at_any_time(n):
    """The clusters have a spread of 1."""
    X, labels = mixture(4, 3, n=n)
    model = learned(X)
    means = np.array([X[labels == label].mean(axis=0) for label in range(4)])
    gaps = np.linalg.norm(model.cluster_centers_[:, None] - means, axis=2)
    assert sorted(gaps.argmin(axis=1)) == list(range(4))
    assert gaps.min(axis=1).max() < 0.5


def test_the_clusters_of_neurons_match_the_numbers_and_the_predictions():
    model = learned(mixture(5, 2)[0])
    belongs = model.neuron_clusters_ >= 0
    assert model.neuron_clusters_.shape == (30,)
    np.testing.assert_array_equal(np.unique(model.neuron_clusters_[belongs]), model.cluster_numbers_)
    np.testing.assert_array_equal(model.learned_, belongs)
    np.testing.assert_array_equal(model.predict(model.centers_[belongs]), model.neuron_clusters_[belongs])


@pytest.mark.parametrize(("D", "seed"), [(1, 0), (2, 1), (20, 2)])
def test_a_single_blob_is_one_cluster(D, seed):
    X = np.random.default_rng(seed).normal(size=(4000, D))
    model = learned(X, 16, seed)
    assert model.n_clusters_ == 1
    assert set(model.predict(X[:1000])) <= {0, -1}


def test_a_single_blob_in_five_dimensions_is_rarely_more_than_one_cluster():
    counts = [
        learned(np.random.default_rng(100 + seed).normal(size=(1000, 5)), 16, seed).n_clusters_
        for seed in range(6)
    ]
    assert np.mean(np.array(counts) == 1) >= 0.75


# ---- invariance -------------------------------------------------------------------------------------

turn, _ = np.linalg.qr(np.random.default_rng(5).normal(size=(6, 6)))
CHANGES = {
    "larger": lambda X: 1000 * X,
    "smaller": lambda X: 1e-3 * X,
    "shifted": lambda X: X + 1e6,
    "permuted": lambda X: X[:, [3, 1, 5, 0, 2, 4]],
    "rotated": lambda X: X @ turn,
}


def test_labels_do_not_depend_on_scale_shift_and_rotation():
    X, _ = mixture(6, 6, n=2500, apart=7.0)
    plain = learned(X)
    assert plain.n_clusters_ == 6
    for name, change in CHANGES.items():
        changed = learned(change(X)).predict(change(X))
        assert adjusted_rand_score(plain.predict(X), changed) == 1.0, name


STREAM = mixture(6, 3, n=7000)[0]


@pytest.mark.parametrize(("cut", "end"), [(37, 611), (999, 1250), (37, 3500), (2500, 6500)])
def test_the_cuts_of_a_stream_do_not_change_a_bit(cut, end):
    whole, pieces = learned(STREAM[:end]), GaussianNeurons(30, random_state=0)
    for begin in range(0, end, cut):
        pieces.partial_fit(STREAM[begin : min(begin + cut, end)])
        if begin % 5 == 0:  # asking in between changes nothing
            pieces.predict(STREAM[:3])
    assert answers(pieces) == answers(whole)
    assert same(pieces, whole)
    np.testing.assert_array_equal(pieces.predict(STREAM), whole.predict(STREAM))


@pytest.mark.parametrize("stop", [1, 1000, 1250, 5100])
def test_a_saved_model_continues_with_the_same_bits(tmp_path, stop):
    model = learned(STREAM[:stop])
    model.save(tmp_path / "model")
    loaded = GaussianNeurons.load(tmp_path / "model")
    assert answers(loaded) == answers(model)
    assert repr(loaded.events_) == repr(model.events_)
    for each in (model, loaded):
        each.partial_fit(STREAM[stop:])
    assert answers(loaded) == answers(model)
    assert same(loaded, model)
    assert loaded.n_clusters_ == 6


def test_the_result_depends_on_the_seed_only():
    assert answers(learned(STREAM[:1500], seed=1)) == answers(learned(STREAM[:1500], seed=1))
    assert answers(learned(STREAM[:1500], seed=1)) != answers(learned(STREAM[:1500], seed=2))


# ---- errors and interrupts --------------------------------------------------------------------------


@pytest.mark.parametrize(("before", "row"), [(0, 200), (0, 2900), (500, 1700), (3000, 2900)])
def test_a_bad_row_changes_nothing(before, row):
    model = GaussianNeurons(30, random_state=0)
    untouched = GaussianNeurons(30, random_state=0)
    if before:
        model.partial_fit(STREAM[:before])
        untouched.partial_fit(STREAM[:before])
    bad = STREAM[before : before + 3000].copy()
    bad[row, 1] = np.nan
    with pytest.raises(BadRow, match=f"row {row}"):
        model.partial_fit(bad)
    if before:
        assert same(model, untouched)
    assert same(model.partial_fit(STREAM[before:]), untouched.partial_fit(STREAM[before:]))


@pytest.mark.parametrize("call", [1, 2, 4])
def test_an_interrupt_leaves_whole_samples(call):
    model = learned(STREAM[:2000])
    with pytest.raises(KeyboardInterrupt), disturb(native._core, "learn_shares", call=call):
        model.partial_fit(STREAM[2000:])
    reached = model.n_samples_seen_
    assert model._state.network.neurons.seen == reached
    assert same(model, learned(STREAM[:reached]))
    assert same(model.partial_fit(STREAM[reached:4500]), learned(STREAM[:4500]))


def test_a_bad_row_long_after_others_changes_nothing():
    """In a call between two reviews, after many rows."""
    rows = np.tile(STREAM, (2, 1))
    model, before, bad = learned(rows[:9000], 50), learned(rows[:9000], 50), rows[9000:11000].copy()
    bad[1900] = np.nan
    with pytest.raises(BadRow, match="row 1900"):
        model.partial_fit(bad)
    assert same(model, before)


@pytest.mark.parametrize(
    ("module", "name", "call"),
    [
        (learner, "settled", 1),
        (learner, "tree_of", 1),
        (learner, "tree_of", 4),
        (learner, "groups_of", 3),
    ],
)
def test_an_exception_during_a_review_leaves_a_valid_model(tmp_path, module, name, call):
    """Such as an exception from the handler of an alarm; Ctrl-C waits until a review is over."""
    X = STREAM[:4000]
    model = GaussianNeurons(30, random_state=0)
    with pytest.raises(KeyboardInterrupt), disturb(module, name, KeyboardInterrupt, call):
        model.partial_fit(X)
    reached = model.n_samples_seen_
    assert 1000 <= reached < 4000
    assert answers(model) == answers(learned(X[:reached]))
    model.save(tmp_path / "model")
    if reached > 1000:  # otherwise the neurons are placed with the next row
        assert same(model, learned(X[:reached]))
    assert same(GaussianNeurons.load(tmp_path / "model").partial_fit(X[reached:]), learned(X))


# ---- streams that change ----------------------------------------------------------------------------


def test_drifting_clusters_keep_their_numbers():
    stream = Drifting(5, 2, seed=3, life=25_000)
    model = GaussianNeurons(30, random_state=0)
    scores, kept, of_before = [], [], {}
    for _ in range(30):
        X, labels = stream.read_labelled(1000)
        model.partial_fit(X)
        found = model.predict(X)
        scores.append(adjusted_rand_score(labels, found))
        number = {}
        for label in np.unique(labels):
            values, counts = np.unique(found[labels == label], return_counts=True)
            if counts.max() > 0.9 * counts.sum() and counts.sum() > 100:
                number[label] = int(values[counts.argmax()])
        kept += [number[label] == of_before[label] for label in number.keys() & of_before.keys()]
        of_before = number
    assert np.mean(scores) >= 0.8
    assert len(kept) > 60
    assert np.mean(kept) >= 0.9
    kinds = {event.kind for event in model.events_}
    assert kinds >= {"born", "moved", "absent"}
    times = [event.samples for event in model.events_]
    assert times == sorted(times)


@pytest.mark.parametrize("factor", [100.0, 0.01])
def test_a_scale_that_changes_by_a_factor_of_hundred_is_followed(factor):
    X, labels = mixture(5, 2, n=30_000)
    grown = X * factor ** np.linspace(0, 1, len(X))[:, None]
    model = GaussianNeurons(30, random_state=0, memory=1000).partial_fit(grown)
    assert model.n_clusters_ == 5
    assert adjusted_rand_score(labels[-500:], model.predict(grown[-500:])) >= 0.95
    change = np.median(model.widths_[model.learned_]) / np.median(learned(X[:1000]).widths_)
    assert (change if factor > 1 else 1 / change) > 100


@pytest.mark.parametrize(("memory", "kind"), [(None, "absent"), (2000, "retired")])
def test_a_cluster_without_samples_rests_or_is_forgotten_and_a_new_one_is_born(memory, kind):
    random = np.random.default_rng(0)
    places = np.array([[0.0, 0], [20, 0], [0, 20], [20, 20]])
    model = GaussianNeurons(20, random_state=0, memory=memory)
    model.partial_fit(random.normal(places[random.integers(0, 3, 6000)], 1.0))
    numbers = model.predict(places[:3])
    assert sorted(numbers) == [0, 1, 2]
    model.partial_fit(random.normal(places[random.integers(1, 4, 6000)], 1.0))
    assert model.cluster_numbers_.tolist() == sorted([*(numbers if memory is None else numbers[1:]), 3])
    assert model.predict(places[1:]).tolist() == [*numbers[1:], 3]
    assert model.predict(places[:1]).tolist() == [numbers[0] if memory is None else -1]
    late = [(event.kind, event.cluster) for event in model.events_ if event.samples > 6000]
    assert ("born", 3) in late
    assert (kind, int(numbers[0])) in late
    assert not [event for event in late if event[0] == "moved"]


def test_a_model_file_does_not_grow_with_the_stream(tmp_path):
    X, _ = mixture(3, 2, n=10_000)
    model, sizes = GaussianNeurons(8, random_state=0), []
    for turn in range(6):
        model.partial_fit(X)
        if turn in (0, 5):
            model.save(tmp_path / "model")
            sizes.append((tmp_path / "model").stat().st_size)
    assert model.n_samples_seen_ == 60_000
    assert sizes[1] < sizes[0] + 2000  # a few events at most


# ---- unusual data -----------------------------------------------------------------------------------


def test_constant_columns_change_hardly_anything():
    """They count as dimensions: the reach and the limit of novelty of a normal distribution are others."""
    X, _ = mixture(5, 2, n=3000)
    more = np.column_stack([np.full(3000, 7.0), X, np.zeros(3000)])
    assert np.mean(learned(X).predict(X) == learned(more).predict(more)) > 0.98
    assert learned(more).n_clusters_ == 5


@pytest.mark.parametrize("rows", [[[3.0, 4.0]], [[3.0, 4.0]] * 2, [[3.0, 4.0]] * 3000])
def test_one_value_is_one_cluster(rows):
    model = GaussianNeurons(8, random_state=0).partial_fit(rows)
    if len(rows) > 2:
        assert model.n_clusters_ == 1
        np.testing.assert_allclose(model.cluster_centers_, [[3.0, 4.0]])
        assert model.predict(rows[:5]).tolist() == [0] * 5
    assert model.n_clusters_ <= 1
    assert np.isfinite(model.centers_).all()


@pytest.mark.parametrize("fit", ["fit", "partial_fit"])
def test_two_rows_can_be_learned(fit):
    model = getattr(GaussianNeurons(8, random_state=0), fit)([[0.0, 1.0], [5.0, 5.0]])
    assert 0 <= model.n_clusters_ <= 2
    assert model.predict([[0.0, 1.0], [5.0, 5.0]]).shape == (2,)


def test_two_values_are_two_clusters():
    X = np.random.default_rng(0).choice([2.0, 3.0], (6000, 1))
    model = learned(X, 8)
    assert model.n_clusters_ == 2
    assert sorted(model.cluster_centers_.ravel()) == pytest.approx([2.0, 3.0])
    assert adjusted_rand_score(X.ravel(), model.predict(X)) == 1.0


def test_rows_presented_ten_times_give_the_same_clusters():
    X, labels = mixture(4, 3, n=200)
    model = GaussianNeurons(50, random_state=0)
    for _ in range(10):
        model.partial_fit(X)
    assert model.n_clusters_ == 4
    assert adjusted_rand_score(labels, model.predict(X)) >= 0.95


def test_heavy_tails_are_not_clusters():
    random = np.random.default_rng(0)
    labels = random.integers(3, size=8000)
    places = np.array([[0.0, 0.0], [100.0, 0.0], [0.0, 100.0]])
    X = places[labels] + random.standard_t(5, (8000, 2))
    model = learned(X, 20)
    assert model.n_clusters_ == 3
    assert adjusted_rand_score(labels, model.predict(X)) >= 0.95


@pytest.mark.parametrize("seed", range(2))
def test_clusters_in_noise_are_found(seed):
    random = np.random.default_rng(seed)
    X, labels = mixture(6, 2, n=8000, seed=seed, apart=15.0)
    noise = random.random(8000) < 0.3
    X[noise] = random.uniform(X.min(axis=0), X.max(axis=0), (noise.sum(), 2))
    model = learned(X)
    assert 6 <= model.n_clusters_ <= 15
    assert adjusted_rand_score(labels[~noise], model.predict(X[~noise])) >= 0.9


@pytest.mark.parametrize("dtype", [np.float32, np.int16])
def test_other_types_of_numbers_give_the_same_clusters(dtype):
    X, labels = mixture(5, 3)
    model = learned((10 * X).astype(dtype))
    assert model.n_clusters_ == 5
    assert model.centers_.dtype == (np.float32 if dtype == np.float32 else np.float64)
    assert adjusted_rand_score(labels, model.predict((10 * X).astype(dtype))) >= 0.95


# ---- a single layer ---------------------------------------------------------------------------------


def test_a_model_that_learns_widths_has_one_layer():
    X, _ = mixture(4, 2, n=3000)
    model = GaussianNeurons(10, width_learning_rate=0.1, random_state=0)
    model.partial_fit(X, sample_width=np.full(3000, 2.0))
    assert len(np.unique(model.widths_)) > 1
    assert (model.neuron_clusters_ >= 0).sum() == model.n_clusters_  # one neuron for each


def test_neurons_added_to_an_automatic_model_leave_the_others_bit_for_bit():
    model = learned(STREAM[:3000])
    centers, widths, number = model.centers_, model.widths_, model.predict(STREAM[:200])
    model.add_neurons(centers=STREAM[:2])
    np.testing.assert_array_equal(model.centers_[:30], centers)
    np.testing.assert_array_equal(model.centers_[30:], STREAM[:2])
    np.testing.assert_array_equal(model.widths_, np.append(widths, [np.median(widths)] * 2))
    model.partial_fit(STREAM[3000:])
    assert len(model.centers_) == 32
    assert model.n_clusters_ == 6
    assert adjusted_rand_score(number, model.predict(STREAM[:200])) >= 0.8


def test_neurons_removed_from_an_automatic_model_leave_the_others_bit_for_bit():
    model = learned(STREAM[:3000])
    centers, widths = model.centers_, model.widths_
    model.remove_neurons([0, 7])
    stays = np.delete(np.arange(30), [0, 7])
    np.testing.assert_array_equal(model.centers_, centers[stays])
    np.testing.assert_array_equal(model.widths_, widths[stays])
    model.partial_fit(STREAM[3000:])
    assert len(model.centers_) == 28
    assert model.n_clusters_ == 6


@pytest.mark.parametrize("n", [600, 2500])
def test_a_given_width_is_the_rule_of_the_paper(n):
    given = {"n_neurons": 12, "width": 9.0, "domain": (-20, 20), "random_state": 3}
    model = GaussianNeurons(**given, inhibition=0.4, learning_rate=0.7).partial_fit(STREAM[:n])
    start = Neurons.at(model.initial_centers_, 9.0)
    by_hand = learned_by(native, start, STREAM[:n], Rule(0.7, 0.4))
    np.testing.assert_array_equal(model.centers_, by_hand.centers)
    assert (by_hand.centers != by_hand.start).any()
    auto = GaussianNeurons(**given).partial_fit(STREAM[:n])
    by_default = learned_by(native, start, STREAM[:n], Rule(0.9, 0.5))
    np.testing.assert_allclose(auto.centers_, by_default.centers, rtol=1e-12)


# ---- novelty ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("D", [1, 10])
def test_false_alarms_are_as_rare_as_requested(D):
    X, _ = mixture(4, D, n=24_000)
    model = learned(X[:4000])
    assert 0.003 <= model.is_novel(X[4000:]).mean() <= 0.03
    assert 0.07 <= model.is_novel(X[4000:], false_alarms=0.1).mean() <= 0.15


@pytest.mark.parametrize("dimensions", [2, 10, 60])
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_the_rate_of_false_alarms_is_kept_after_few_rows(method, dimensions):
    """Rows that fit draws again and again have decided the neurons, and fresh rows have not."""
    novel, alone = [], []
    for seed in range(4):
        random = np.random.default_rng(seed)
        places = random.normal(size=(5, dimensions)) * 6 / np.sqrt(dimensions)
        rows = random.normal(places[random.integers(5, size=10_600)], 1.0)
        model = GaussianNeurons(30, random_state=seed)
        getattr(model, method)(rows[:600])
        novel.append([model.is_novel(rows[600:], rate).mean() / rate for rate in (0.05, 0.01)])
        alone.append((model.predict(rows[600:]) == -1).mean())
    assert (np.abs(np.log(np.mean(novel, axis=0))) < np.log(1.8)).all()
    assert np.mean(alone) < 0.005


def test_distant_rows_are_novel_and_belong_to_no_cluster():
    X, _ = mixture(4, 3, n=6000)
    model = learned(X)
    far = X[:50] + 300.0
    assert model.is_novel(far).all()
    assert set(model.predict(far)) == {-1}
    assert not model.is_novel(model.cluster_centers_).any()
    assert (model.score_samples(far) < model.novelty_threshold()).all()
    assert model.novelty_threshold(0.001) <= model.novelty_threshold() <= model.novelty_threshold(0.1)


@pytest.mark.parametrize("part", [-0.1, 1.1, "few"])
def test_an_invalid_part_of_false_alarms_is_an_error(part):
    with pytest.raises((ValueError, TypeError), match="false_alarms"):
        learned(STREAM[:50]).novelty_threshold(part)


# ---- published data ---------------------------------------------------------------------------------

SHAPES = (  # long, bent or ringed clusters
    *("jain", "pathbased", "spiral", "chainlink", "atom", "ring", "zigzag", "parabolic", "chameleon_t4_8k"),
    *("hdbscan", "smile", "windows", "z1", "isolation"),
)
NEVER_ONE = {"s1", "s2", "a1", "a2", "hepta", "tetra", "mk1", "x1", "iris", "twodiamonds"}


def test_published_sets():
    """22 sets with mostly compact clusters: standardised, in a random order, small ones ten times."""
    folder = data_directory("clustering") / "clustering"
    scores, exact, counts = {}, 0, {}
    for path in sorted(folder.glob("*/*.data.gz")):
        name = path.name.removesuffix(".data.gz")
        if name in SHAPES:
            continue
        with gzip.open(path) as rows, gzip.open(path.with_name(f"{name}.labels0.gz")) as of:
            X, labels = np.loadtxt(rows), np.loadtxt(of).astype(int)
        order = np.random.default_rng(0).permutation(len(X))
        X, labels = ((X - X.mean(axis=0)) / X.std(axis=0))[order], labels[order]
        model = GaussianNeurons(50, random_state=0)
        for _ in range(10 if len(X) < 2000 else 1):
            model.partial_fit(X)
        scores[name] = adjusted_rand_score(labels, model.predict(X))
        counts[name] = model.n_clusters_
        exact += model.n_clusters_ == len(np.unique(labels))
    assert len(scores) == 22
    assert np.mean(list(scores.values())) >= 0.78, scores
    assert exact >= 11, counts
    several = NEVER_ONE | {name for name in counts if name.startswith("g2mg")}
    assert min(counts[name] for name in several) >= 2, counts


@pytest.mark.parametrize(("dtype", "least", "most"), [(np.float32, -16, 16), (np.float64, -147, 151)])
def test_data_of_any_scale_is_clustered_or_refused(dtype, least, most):
    """Squared distances underflow and overflow long before the numbers themselves."""
    X = mixture(5, 2, n=2000)[0]
    cloud = np.random.default_rng(0).normal(size=(2000, 3))  # compared with a normal distribution
    beyond = np.linspace(0, 30 if dtype == np.float32 else 170, 12)
    for exponent in (*(least - beyond), least + 2, least + 5, 0, most - 2, *(most + beyond)):
        with np.errstate(over="ignore"):
            scaled = (X * 10.0**exponent).astype(dtype)
        model = GaussianNeurons(10, random_state=0)
        if least < exponent < most:
            assert model.partial_fit(scaled).n_clusters_ == 5
            scaled = (cloud * 10.0**exponent).astype(dtype)
            if least + 4 < exponent:
                assert GaussianNeurons(10, random_state=0).partial_fit(scaled).n_clusters_ == 1
        elif np.isfinite(scaled).all() and (scaled != scaled[0]).any():
            with pytest.raises(ValueError, match=r"differ by so little|so far apart|out of the range"):
                model.partial_fit(scaled)


def test_the_mean_of_a_cluster_whose_sum_overflows_is_computed():
    X = np.array([[0.0, 1], [1e308, 1], [1, 1], [1, 1], [1, 1]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = GaussianNeurons(1, random_state=0, max_samples=60).fit(X)
    drawn = model.recent_samples_
    np.testing.assert_allclose(model.cluster_centers_, (drawn / len(drawn)).sum(axis=0)[None], rtol=1e-12)


def test_equal_samples_do_no_harm():
    X, labels = mixture(4, 2, n=4000)
    model = GaussianNeurons(16, random_state=0).partial_fit(X)
    model.partial_fit(np.repeat(X[:1], 3000, axis=0))
    assert (model.widths_ > 0).all()
    assert adjusted_rand_score(labels, model.partial_fit(X).predict(X)) > 0.995


@pytest.mark.parametrize("count", [4, 5])
def test_all_clusters_of_a_periodic_stream_are_found(count):
    places = np.arange(count)[:, None] * [10.0, 3.0]
    X = np.random.default_rng(0).normal(places[np.arange(3000) % count], 0.5)
    assert GaussianNeurons(16, random_state=0).partial_fit(X).n_clusters_ == count


def test_small_clusters_far_from_large_ones_are_found():
    random = np.random.default_rng(0)
    places = np.array([[0, 0], [10, 0], [0, 10], [10, 10]])
    X = random.normal(places[random.choice(4, p=[0.4, 0.4, 0.1, 0.1], size=5000)], 0.5)
    for seed in range(2):
        assert GaussianNeurons(16, random_state=seed, max_samples=5000).fit(X).n_clusters_ == 4


def test_an_automatic_width_cannot_be_changed_to_learned_widths():
    X = mixture(3, 2, n=2000)[0]
    model = GaussianNeurons(10, random_state=0).partial_fit(X)
    with pytest.raises(ValueError, match="cannot learn widths"):
        model.set_params(width_learning_rate=0.1).partial_fit(X, sample_width=np.ones(len(X)))


def test_the_rate_of_an_automatic_width_stays_at_most_one():
    X = mixture(3, 2, n=2000)[0]
    model = GaussianNeurons(10, random_state=0).partial_fit(X).set_params(width=1.0, learning_rate=5.0)
    with pytest.raises(ValueError, match="learning_rate must be at most 1"):
        model.partial_fit(X)


def test_bits_do_not_depend_on_the_threads_of_blas():
    """Reviews at D = 100 need determinants."""
    script = (
        "import numpy as np\n"
        "from gaussian_neurons import GaussianNeurons\n"
        "from gaussian_neurons.model import archive, model_file\n"
        "X = np.random.default_rng(0).normal(size=(1500, 100)) * np.linspace(1, 3, 100)\n"
        "model = GaussianNeurons(random_state=0).partial_fit(X)\n"
        "print(archive.digest(*model_file.contents(model.get_params(), model._state)))\n"
    )
    found = [
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "OPENBLAS_NUM_THREADS": threads, "OMP_NUM_THREADS": threads},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for threads in "12"
    ]
    assert found[0] == found[1]


def test_an_interrupt_ends_a_review_at_the_next_point(monkeypatch):
    """A review takes seconds in many dimensions; the model keeps what was learned before it."""
    X = np.random.default_rng(0).normal(size=(3000, 3))
    model = GaussianNeurons(10, random_state=0).partial_fit(X[:2000])
    later = []

    def interrupted(*_):
        signal.raise_signal(signal.SIGINT)

    def point():
        later.append("point")
        interruption_point()
        later.append("passed")

    made = learner.tree_of
    monkeypatch.setattr(learner, "tree_of", lambda *arguments: interrupted() or made(*arguments))
    monkeypatch.setattr(native, "interruption_point", point)
    with pytest.raises(KeyboardInterrupt):
        model.partial_fit(X[2000:])
    assert later[-1] == "point"
    assert model.n_samples_seen_ in (2000, 2500)
