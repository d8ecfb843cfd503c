"""The default model on any data: nothing is told but the samples, nothing but answers is looked at."""

import gzip

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from gaussian_neurons import GaussianNeurons, Neurons
from gaussian_neurons.base.bad_rows import BadRow
from gaussian_neurons.clustering import ladder
from gaussian_neurons.datasets.synthetic import Drifting
from gaussian_neurons.learning import native
from gaussian_neurons.model import learner
from tests.conftest import data_directory
from tests.runs import comes, interrupt_after, learns, same


def mixture(k: int, D: int, n: int = 5000, seed: int = 0, apart: float = 10.0):
    """Round clusters of spread 1 whose centers are at least so far apart: (rows, labels)."""
    random = np.random.default_rng(seed)
    places: list[np.ndarray] = []
    while len(places) < k:
        place = random.uniform(-1, 1, D) * apart * (k if D == 1 else k**0.5) / D**0.5
        if all(np.linalg.norm(place - other) > apart for other in places):
            places.append(place)
        else:
            apart *= 0.9999  # until there is room for all
    labels = random.integers(k, size=n)
    return random.normal(np.array(places)[labels], 1.0), labels


def learned(X, n_neurons: int = 30, seed: int = 0) -> GaussianNeurons:
    return GaussianNeurons(n_neurons, random_state=seed).partial_fit(X)


def told(model: GaussianNeurons) -> list:
    """Every answer about the clusters."""
    events = [(event.samples, event.kind, event.cluster, event.center.tolist()) for event in model.events_]
    arrays = (model.centers_, model.widths_, model.cluster_centers_, model.cluster_numbers_)
    return [*(array.tolist() for array in arrays), model.neuron_clusters_.tolist(), events]


# ---- clusters are found -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("D", "k"), [(1, 3), (1, 6), (2, 3), (2, 8), (2, 20), (20, 5), (20, 20), (200, 3), (200, 10), (500, 4)]
)
def test_clusters_that_stand_apart_are_found(D, k):
    X, labels = mixture(k, D, n=5000 if D < 500 else 2500)
    model = learned(X, 50 if k > 10 else 30)
    assert model.n_clusters_ == k == len(model.cluster_centers_)
    assert adjusted_rand_score(labels, model.predict(X)) >= 0.95


def test_fit_finds_them_too_and_labels_its_rows():
    X, labels = mixture(7, 3, n=800)
    model = GaussianNeurons(30, random_state=0).fit(X)
    assert model.n_clusters_ == 7
    assert adjusted_rand_score(labels, model.labels_) >= 0.95
    assert model.cluster_numbers_.tolist() == list(range(7))
    assert [event.kind for event in model.events_] == ["born"] * 7


@pytest.mark.parametrize("n", [4000, 5000, 5999])  # of which only at the first it was just looked
def test_centers_lie_in_the_middle_of_their_clusters_at_any_time(n):
    X, labels = mixture(4, 3, n=n)
    model = learned(X)
    means = np.array([X[labels == label].mean(axis=0) for label in range(4)])
    gaps = np.linalg.norm(model.cluster_centers_[:, None] - means, axis=2)
    assert sorted(gaps.argmin(axis=1)) == list(range(4))
    assert gaps.min(axis=1).max() < 1.0  # a spread


def test_every_neuron_says_which_cluster_it_belongs_to():
    model = learned(mixture(5, 2)[0])
    belongs = model.neuron_clusters_ >= 0
    assert model.neuron_clusters_.shape == (30,)
    np.testing.assert_array_equal(np.unique(model.neuron_clusters_[belongs]), model.cluster_numbers_)
    np.testing.assert_array_equal(model.learned_, belongs)
    np.testing.assert_array_equal(model.predict(model.centers_[belongs]), model.neuron_clusters_[belongs])


@pytest.mark.parametrize("D", [1, 2, 20])
@pytest.mark.parametrize("seed", range(3))
def test_a_single_blob_is_one_cluster(D, seed):
    X = np.random.default_rng(seed).normal(size=(6000, D))
    model = learned(X, 16, seed)
    assert model.n_clusters_ == 1
    assert set(model.predict(X[:1000])) <= {0, -1}


@pytest.mark.parametrize("n_neurons", [16, 50])
def test_a_single_blob_in_five_dimensions_is_hardly_ever_two(n_neurons):
    counts = [
        learned(np.random.default_rng(100 + seed).normal(size=(1000, 5)), n_neurons, seed).n_clusters_
        for seed in range(8)
    ]
    assert np.mean(np.array(counts) == 1) >= 0.75


# ---- what must not matter ---------------------------------------------------------------------------

turn, _ = np.linalg.qr(np.random.default_rng(5).normal(size=(6, 6)))
CHANGES = {
    "a thousand times as large": lambda X: 1000 * X,
    "a thousand times smaller": lambda X: 1e-3 * X,
    "far away": lambda X: X + 1e6,
    "columns in another order": lambda X: X[:, [3, 1, 5, 0, 2, 4]],
    "turned": lambda X: X @ turn,
    "mirrored": lambda X: -X,
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("seed", range(2))
def test_labels_are_the_same_whatever_the_units_and_the_axes(change, seed):
    X, _ = mixture(6, 6, n=4000, seed=seed, apart=7.0)
    plain, changed = learned(X, seed=seed), learned(CHANGES[change](X), seed=seed)
    assert plain.n_clusters_ == 6
    assert adjusted_rand_score(plain.predict(X), changed.predict(CHANGES[change](X))) == 1.0


STREAM = mixture(6, 3, n=7000)[0]


@pytest.mark.parametrize("cut", [37, 999, 2500])
@pytest.mark.parametrize("end", [611, 1250, 6500])
def test_however_a_stream_is_cut_the_same_is_learned_bit_for_bit(cut, end):
    whole, pieces = learned(STREAM[:end]), GaussianNeurons(30, random_state=0)
    for begin in range(0, end, cut):
        pieces.partial_fit(STREAM[begin : min(begin + cut, end)])
        if begin % 5 == 0:  # asking in between changes nothing
            pieces.predict(STREAM[:3])
    assert told(pieces) == told(whole)
    assert same(pieces, whole)
    np.testing.assert_array_equal(pieces.predict(STREAM), whole.predict(STREAM))


@pytest.mark.parametrize("stop", [1, 400, 1000, 1250, 4000, 5100])
def test_a_model_that_was_saved_learns_on_as_if_it_had_never_stopped(tmp_path, stop):
    model = learned(STREAM[:stop])
    model.save(tmp_path / "model")
    loaded = GaussianNeurons.load(tmp_path / "model")
    assert told(loaded) == told(model)
    assert repr(loaded.events_) == repr(model.events_)
    for each in (model, loaded):
        each.partial_fit(STREAM[stop:])
    assert told(loaded) == told(model)
    assert same(loaded, model)
    assert loaded.n_clusters_ == 6


def test_the_seed_decides_and_nothing_else():
    assert told(learned(STREAM[:3000], seed=1)) == told(learned(STREAM[:3000], seed=1))
    assert told(learned(STREAM[:3000], seed=1)) != told(learned(STREAM[:3000], seed=2))


# ---- errors and interrupts --------------------------------------------------------------------------


@pytest.mark.parametrize(("before", "row"), [(0, 200), (0, 3900), (500, 1700), (3000, 200), (3000, 3900)])
def test_a_bad_row_changes_nothing_wherever_it_is(tmp_path, before, row):
    model = GaussianNeurons(30, random_state=0)
    untouched = GaussianNeurons(30, random_state=0)
    if before:
        model.partial_fit(STREAM[:before])
        untouched.partial_fit(STREAM[:before])
    bad = STREAM[before : before + 4000].copy()
    bad[row, 1] = np.nan
    with pytest.raises(BadRow, match=f"row {row}"):
        model.partial_fit(bad)
    if before:
        assert same(model, untouched)
    assert same(model.partial_fit(STREAM[before:]), untouched.partial_fit(STREAM[before:]))


@pytest.mark.alone
def test_an_interrupt_leaves_layers_that_belong_together_and_learn_on():
    X = np.tile(mixture(6, 40, n=5000)[0], (400, 1))
    model = learned(X[:2000])
    with pytest.raises(KeyboardInterrupt), interrupt_after(0.1, learns(model, 2000)):
        model.partial_fit(X[2000:])
    reached = model.n_samples_seen_
    assert 2000 < reached < len(X)
    end = min(reached + 3000, len(X))
    model.partial_fit(X[reached:end])
    assert same(model, learned(X[:end]))
    assert model.n_clusters_ == 6


def test_a_bad_row_long_after_others_changes_nothing():
    """In a call between two reviews, in which layers have learned from many rows before they meet it."""
    rows = np.tile(STREAM, (2, 1))
    model, before, bad = learned(rows[:9000], 50), learned(rows[:9000], 50), rows[9000:11000].copy()
    bad[1900] = np.nan
    with pytest.raises(BadRow, match="row 1900"):
        model.partial_fit(bad)
    assert same(model, before)


@pytest.mark.parametrize(
    ("module", "name", "call"),
    [
        (learner, "prepare", 1),
        *((ladder, "shift", call) for call in (1, 4)),
        *((ladder, "revive", call) for call in (2, 19)),
        *((ladder, "choose", call) for call in (1, 3)),
    ],
)
def test_what_is_raised_in_a_review_costs_nothing(tmp_path, module, name, call):
    """An alarm of one's own, for one: Ctrl-C waits until a review is over."""
    X = mixture(5, 3)[0]
    model = GaussianNeurons(30, random_state=0)
    with pytest.raises(KeyboardInterrupt), comes("alarm", module, name, call):
        model.partial_fit(X)
    reached = model.n_samples_seen_
    assert told(model) == told(learned(X[:reached]))
    model.save(tmp_path / "model")
    if reached > 1000:  # the neurons are placed, otherwise that waits for the next row
        assert same(model, learned(X[:reached]))
    assert same(GaussianNeurons.load(tmp_path / "model").partial_fit(X[reached:]), learned(X))


# ---- streams that change ----------------------------------------------------------------------------


def test_clusters_that_drift_are_followed_and_keep_their_numbers():
    stream = Drifting(5, 2, seed=3, life=25_000)
    model = GaussianNeurons(30, random_state=0)
    scores, kept, of_before = [], [], {}
    for _ in range(40):
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
    assert len(kept) > 80
    assert np.mean(kept) >= 0.9
    kinds = {event.kind for event in model.events_}
    assert kinds == {"born", "moved", "retired"}
    times = [event.samples for event in model.events_]
    assert times == sorted(times)


@pytest.mark.parametrize("factor", [100.0, 0.01])
def test_a_scale_that_grows_or_shrinks_a_hundredfold_is_followed(factor):
    X, labels = mixture(5, 2, n=40_000)
    grown = X * factor ** np.linspace(0, 1, len(X))[:, None]
    model = learned(grown)
    assert model.n_clusters_ == 5
    assert adjusted_rand_score(labels[-500:], model.predict(grown[-500:])) >= 0.95
    assert model.widths_[0] / learned(X[:4000]).widths_[0] > 100 if factor > 1 else True


def test_a_jump_of_everything_is_followed():
    X, labels = mixture(5, 2, n=12_000)
    X[6000:] = 1e4 * (X[6000:] + 1e3)
    model = learned(X)
    assert model.n_clusters_ == 5
    assert adjusted_rand_score(labels[-500:], model.predict(X[-500:])) >= 0.95


def test_a_cluster_that_goes_retires_and_one_that_comes_is_born():
    random = np.random.default_rng(0)
    places = np.array([[0.0, 0], [20, 0], [0, 20], [20, 20]])
    model = GaussianNeurons(20, random_state=0)
    model.partial_fit(random.normal(places[random.integers(0, 3, 6000)], 1.0))
    numbers = model.predict(places[:3])
    assert sorted(numbers) == [0, 1, 2]
    model.partial_fit(random.normal(places[random.integers(1, 4, 6000)], 1.0))
    assert model.cluster_numbers_.tolist() == sorted([*numbers[1:], 3])
    assert model.predict(places[1:]).tolist() == [*numbers[1:], 3]
    late = [(event.kind, event.cluster) for event in model.events_ if event.samples > 6000]
    assert ("born", 3) in late
    assert ("retired", int(numbers[0])) in late
    assert not [event for event in late if event[0] == "moved"]


def test_no_array_grows_with_the_stream(tmp_path):
    X, _ = mixture(3, 2, n=10_000)
    model, sizes = GaussianNeurons(8, random_state=0), []
    for turn in range(30):
        model.partial_fit(X)
        if turn in (0, 29):
            model.save(tmp_path / "model")
            sizes.append((tmp_path / "model").stat().st_size)
    assert model.n_samples_seen_ == 300_000
    assert sizes[1] < sizes[0] + 2000  # a few events at most


# ---- data at the edge -------------------------------------------------------------------------------


def test_constant_columns_change_nothing():
    X, _ = mixture(5, 2, n=3000)
    more = np.column_stack([np.full(3000, 7.0), X, np.zeros(3000)])
    np.testing.assert_array_equal(learned(X).predict(X), learned(more).predict(more))
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
def test_two_rows_are_learned_without_trouble(fit):
    model = getattr(GaussianNeurons(8, random_state=0), fit)([[0.0, 1.0], [5.0, 5.0]])
    assert 0 <= model.n_clusters_ <= 2
    assert model.predict([[0.0, 1.0], [5.0, 5.0]]).shape == (2,)


def test_two_values_are_two_clusters():
    X = np.random.default_rng(0).choice([2.0, 3.0], (3000, 1))
    model = learned(X, 8)
    assert model.n_clusters_ == 2
    assert sorted(model.cluster_centers_.ravel()) == pytest.approx([2.0, 3.0])
    assert adjusted_rand_score(X.ravel(), model.predict(X)) == 1.0


def test_rows_that_come_ten_times_are_the_same_clusters():
    X, labels = mixture(4, 3, n=200)
    model = GaussianNeurons(50, random_state=0)
    for _ in range(10):
        model.partial_fit(X)
    assert model.n_clusters_ == 4
    assert adjusted_rand_score(labels, model.predict(X)) >= 0.95


def test_heavy_tails_are_no_clusters():
    random = np.random.default_rng(0)
    labels = random.integers(3, size=8000)
    places = np.array([[0.0, 0.0], [100.0, 0.0], [0.0, 100.0]])
    X = places[labels] + random.standard_t(2, (8000, 2))
    model = learned(X, 20)
    assert model.n_clusters_ == 3
    assert adjusted_rand_score(labels, model.predict(X)) >= 0.95


@pytest.mark.parametrize("seed", range(3))
def test_clusters_in_noise_are_found(seed):
    random = np.random.default_rng(seed)
    X, labels = mixture(6, 2, n=8000, seed=seed, apart=15.0)
    noise = random.random(8000) < 0.3
    X[noise] = random.uniform(X.min(axis=0), X.max(axis=0), (noise.sum(), 2))
    model = learned(X)
    assert 6 <= model.n_clusters_ <= 15
    assert adjusted_rand_score(labels[~noise], model.predict(X[~noise])) >= 0.95


@pytest.mark.parametrize("dtype", [np.float32, np.int16, np.int64])
def test_numbers_of_other_kinds_are_learned_alike(dtype):
    X, labels = mixture(5, 3)
    model = learned((10 * X).astype(dtype))
    assert model.n_clusters_ == 5
    assert model.centers_.dtype == (np.float32 if dtype == np.float32 else np.float64)
    assert adjusted_rand_score(labels, model.predict((10 * X).astype(dtype))) >= 0.95


# ---- one layer --------------------------------------------------------------------------------------


def test_a_model_that_learns_widths_has_one_layer(tmp_path):
    X, _ = mixture(4, 2, n=3000)
    model = GaussianNeurons(10, width_learning_rate=0.1, random_state=0)
    model.partial_fit(X, sample_width=np.full(3000, 2.0))
    assert len(np.unique(model.widths_)) > 1  # which a ladder's never are
    assert (model.neuron_clusters_ >= 0).sum() == model.n_clusters_  # each neuron by itself


def test_neurons_added_to_an_automatic_model_leave_the_others_bit_for_bit():
    model = learned(STREAM[:3000])
    centers, widths, number = model.centers_, model.widths_, model.predict(STREAM[:200])
    model.add_neurons(centers=STREAM[:2])
    np.testing.assert_array_equal(model.centers_[:30], centers)
    np.testing.assert_array_equal(model.centers_[30:], STREAM[:2])
    np.testing.assert_array_equal(model.widths_, np.append(widths, widths[:2]))
    model.partial_fit(STREAM[3000:])
    assert len(model.centers_) == 32
    assert len(np.unique(model.widths_)) == 1
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
    assert model.widths_[0] == widths[0]  # nothing is moved to another scale any more


@pytest.mark.parametrize("n", [600, 2500])
def test_what_is_given_is_the_rule_of_the_paper_itself(n):
    X = STREAM[:n]
    given = {"width": 9.0, "inhibition": 0.4, "learning_rate": 0.7}
    model = GaussianNeurons(12, domain=(-20, 20), random_state=3, **given).partial_fit(X)
    by_hand = Neurons.at(model.initial_centers_, 9.0)
    native.learn(by_hand, X, inhibition=0.4, learning_rate=0.7)
    np.testing.assert_array_equal(model.centers_, by_hand.centers)
    assert (by_hand.centers != by_hand.start).any()
    auto = GaussianNeurons(12, domain=(-20, 20), random_state=3, width=9.0).partial_fit(X)
    by_default = Neurons.at(model.initial_centers_, 9.0)
    native.learn(by_default, X, inhibition=0.5, learning_rate=0.9)
    np.testing.assert_allclose(auto.centers_, by_default.centers, rtol=1e-12)


# ---- novelty ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("D", [1, 2, 10])
def test_false_alarms_are_as_rare_as_was_asked_for(D):
    X, _ = mixture(4, D, n=26_000)
    model = learned(X[:6000])
    assert 0.003 <= model.is_novel(X[6000:]).mean() <= 0.03
    assert 0.07 <= model.is_novel(X[6000:], false_alarms=0.1).mean() <= 0.15


def test_rows_from_far_away_are_novel_and_belong_to_no_cluster():
    X, _ = mixture(4, 3, n=6000)
    model = learned(X)
    far = X[:50] + 300.0
    assert model.is_novel(far).all()
    assert set(model.predict(far)) == {-1}
    assert not model.is_novel(model.cluster_centers_).any()
    assert (model.score_samples(far) < model.novelty_threshold()).all()
    assert model.novelty_threshold(0.001) <= model.novelty_threshold() <= model.novelty_threshold(0.1)


@pytest.mark.parametrize("part", [-0.1, 1.1, "few"])
def test_a_part_that_is_none_is_refused(part):
    with pytest.raises((ValueError, TypeError), match="false_alarms"):
        learned(STREAM[:500]).novelty_threshold(part)


# ---- published data ---------------------------------------------------------------------------------

NEVER_ONE = {"s1", "s2", "a1", "a2", "hepta", "tetra", "mk1", "x1", "iris", "twodiamonds"}


def test_published_sets():
    """Standardised, in a random order, the small ones ten times over: 22 sets, nothing set by hand."""
    folder = data_directory("clustering") / "clustering"
    scores, exact, counts = {}, 0, {}
    for path in sorted(folder.glob("*/*.data.gz")):
        name = path.name.removesuffix(".data.gz")
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
    assert np.mean(list(scores.values())) >= 0.72, scores
    assert exact >= 11, counts
    several = NEVER_ONE | {name for name in counts if name.startswith("g2mg")}
    assert min(counts[name] for name in several) >= 2, counts


@pytest.mark.parametrize(("scale", "says"), [(1e-170, "differ by so little"), (1e170, "so far apart")])
def test_data_whose_squares_are_no_numbers_is_refused(scale, says):
    X = mixture(3, 2, n=2000)[0] * scale
    with pytest.raises(ValueError, match=says):
        GaussianNeurons(10, random_state=0).partial_fit(X)


def test_samples_that_stand_still_do_not_change_the_widths():
    X, labels = mixture(4, 2, n=6000)
    model = GaussianNeurons(16, random_state=0).partial_fit(X)
    before = [layer.neurons.widths[0] for layer in model._learner.ready.layers]
    model.partial_fit(np.repeat(X[:1], 4000, axis=0))
    assert [layer.neurons.widths[0] for layer in model._learner.ready.layers] == before
    assert adjusted_rand_score(labels, model.partial_fit(X).predict(X)) == pytest.approx(1.0)


@pytest.mark.parametrize("count", [2, 4, 5, 8])
def test_a_stream_with_a_rhythm_is_seen_whole(count):
    places = np.arange(count)[:, None] * [10.0, 3.0]
    X = np.random.default_rng(0).normal(places[np.arange(5000) % count], 0.5)
    assert GaussianNeurons(16, random_state=0).partial_fit(X).n_clusters_ == count


def test_small_clusters_far_from_large_ones_are_found():
    random = np.random.default_rng(0)
    places = np.array([[0, 0], [10, 0], [0, 10], [10, 10]])
    for seed in range(3):
        X = random.normal(places[random.choice(4, p=[0.4, 0.4, 0.1, 0.1], size=5000)], 0.5)
        assert GaussianNeurons(16, random_state=seed).fit(X).n_clusters_ == 4


def test_widths_cannot_begin_to_be_learned_in_the_middle_of_a_ladder():
    X = mixture(3, 2, n=2000)[0]
    model = GaussianNeurons(10, random_state=0).partial_fit(X)
    with pytest.raises(ValueError, match="cannot learn widths"):
        model.set_params(width_learning_rate=0.1).partial_fit(X, sample_width=np.ones(len(X)))
