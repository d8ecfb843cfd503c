"""Trees of neurons: what is merged, and where the tree is cut."""

import numpy as np
import pytest
from scipy.cluster.hierarchy import fcluster, is_valid_linkage
from sklearn.metrics import adjusted_rand_score

from gaussian_neurons import GaussianNeurons, Neurons, _core
from gaussian_neurons.clustering import tree as trees
from gaussian_neurons.clustering.tree import distinct_rows, groups_of, tree_of


def evidence(groups, centers, variances, counts, directions):
    """The log-evidence of groups, each as one Gaussian, from its definition [24]."""
    total = 0.0
    for group in groups:
        part = counts[group] / counts[group].sum()
        mean = part @ centers[group]
        apart = centers[group] - mean
        covariance = (part @ variances[group]) * np.eye(centers.shape[1]) + (part * apart.T) @ apart
        n = counts[group].sum()
        total += n * np.log(n) - n / 2 * np.linalg.slogdet(covariance)[1]
        total -= (2 * directions + 1) / 2 * np.log(counts.sum())
    return total


def rows_of(places, spread, n=1000, seed=0):
    random = np.random.default_rng(seed)
    places = np.asarray(places, float)
    return random.normal(places[random.integers(len(places), size=n)], spread)


def learned(rows, **parameters):
    return GaussianNeurons(30, random_state=0, **parameters).partial_fit(rows)


# ---- merging ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("D", [1, 2, 5, 40])  # by the scatter and, for more dimensions, by inner products
def test_each_merge_costs_what_the_evidence_loses_and_no_other_costs_less(D):
    random = np.random.default_rng(D)
    k = 8
    centers, variances = random.normal(size=(k, D)) * 3, random.uniform(0.5, 2, k)
    counts = random.integers(1, 50, k).astype(float)
    first, second, costs = _core.merge_gaussians(centers, variances, counts, float(D))
    groups = [[i] for i in range(k)]
    for one, other, cost in zip(first, second, costs, strict=True):
        now = evidence(groups, centers, variances, counts, D)
        losses = {}
        for a in range(len(groups)):
            for b in range(a + 1, len(groups)):
                merged = [g for c, g in enumerate(groups) if c not in (a, b)] + [groups[a] + groups[b]]
                losses[a, b] = now - evidence(merged, centers, variances, counts, D)
        a, b = (next(c for c, g in enumerate(groups) if i in g) for i in (one, other))
        a, b = min(a, b), max(a, b)
        assert cost == pytest.approx(losses[a, b], rel=1e-9, abs=1e-6)
        assert cost <= min(losses.values()) + 1e-6
        groups[a] += groups.pop(b)


def test_halves_of_a_normal_distribution_merge_and_separate_ones_do_not():
    """Half a normal has 1 - 2/pi of its variance, 0.80 from the middle."""
    for apart, merges in ((0.798, True), (3.0, False)):
        centers = np.array([[-apart], [apart]])
        cost = _core.merge_gaussians(centers, np.full(2, 1 - 2 / np.pi), np.full(2, 500.0), 1.0)[2][0]
        assert (cost < 0) is merges


# ---- changes of groups --------------------------------------------------------------------------------


def changes(groups):
    """Every other grouping that joins two groups, or moves one member, to another or to a new group."""
    for a in range(len(groups)):
        others = [g for c, g in enumerate(groups) if c != a]
        for b, other in enumerate(others):
            yield [*others[:b], other + groups[a], *others[b + 1 :]]
        for i in groups[a] if len(groups[a]) > 1 else ():
            rest = [j for j in groups[a] if j != i]
            yield [*others, rest, [i]]
            for b, other in enumerate(others):
                yield [rest, *others[:b], [*other, i], *others[b + 1 :]]


@pytest.mark.parametrize("D", [1, 2, 12])
@pytest.mark.parametrize("margin", [0.0, 40.0])
def test_groups_change_until_no_change_gains_more_than_the_margin(D, margin):
    random = np.random.default_rng(D)
    k = 9
    centers, variances = random.normal(size=(k, D)) * 2, random.uniform(0.5, 2, k)
    counts, given = random.integers(1, 50, k).astype(float), random.integers(3, size=k)
    given[:3] = range(3)

    def of(labels):
        return [np.flatnonzero(labels == g).tolist() for g in np.unique(labels)]

    found = given.copy()
    gained = _core.refine_groups(centers, variances, counts, float(D), margin, found)
    before, after = (evidence(of(labels), centers, variances, counts, D) for labels in (given, found))
    alone = evidence([[i] for i in range(k)], centers, variances, counts, D)
    assert gained == pytest.approx(after - alone, rel=1e-9)
    assert after == before or after > before + margin
    best = max(evidence(groups, centers, variances, counts, D) for groups in changes(of(found)))
    assert best <= after + margin + 1e-6


def test_a_group_of_two_clusters_is_divided_and_two_halves_of_one_are_joined():
    """Four Gaussians at 0, 1, 9 and 10, in the groups {0, 9}, {1}, {10}."""
    centers = np.array([[0.0], [1.0], [9.0], [10.0]])
    groups = np.array([0, 1, 0, 2])
    _core.refine_groups(centers, np.ones(4), np.full(4, 250.0), 1.0, 0.0, groups)
    assert groups[0] == groups[1] != groups[2] == groups[3]
    unchanged = np.array([0, 1, 0, 2])
    _core.refine_groups(centers, np.ones(4), np.full(4, 250.0), 1.0, 1e6, unchanged)
    assert unchanged.tolist() == [0, 1, 0, 2]


# ---- cuts -------------------------------------------------------------------------------------------

FIVE = [[0, 0], [0, 6], [6, 0], [6, 6], [3, 3]]


def test_the_number_with_the_largest_score_is_used():
    model = learned(rows_of(FIVE, 0.4, 3000))
    scores = model.cluster_counts_
    assert model.n_clusters_ == 5 == max(scores, key=scores.get)
    assert scores[1] == 0.0


def test_a_given_number_is_obeyed():
    X = rows_of(FIVE, 0.4, 3000)
    for number in (1, 3, 8):
        assert learned(X, n_clusters=number).n_clusters_ == number
    model = learned(X)
    for number in (1, 4, 5, 9):
        assert len(np.unique(model.predict(X, n_clusters=number))) == number
    with pytest.raises(ValueError, match="n_clusters must be at most"):
        model.predict(X, n_clusters=31)


def test_cuts_are_nested():
    X = rows_of(FIVE, 1.0, 3000)
    model = learned(X)
    for number in range(1, 12):
        fewer, more = model.predict(X, n_clusters=number), model.predict(X, n_clusters=number + 1)
        assert all(len(np.unique(fewer[more == label])) == 1 for label in np.unique(more))


@pytest.mark.parametrize("shape", ["compact", "any"])
def test_the_tree_is_a_linkage(shape):
    model = learned(rows_of(FIVE, 0.4, 3000), shape=shape)
    linkage = model.cluster_tree_
    assert is_valid_linkage(linkage)
    assert len(np.unique(fcluster(linkage, 5, "maxclust"))) == 5


def test_a_given_width_has_no_tree():
    model = GaussianNeurons(8, width=1.0, random_state=0).partial_fit(rows_of(FIVE, 0.4))
    for name in ("cluster_tree_", "cluster_counts_"):
        assert not hasattr(model, name)


def test_long_clusters_are_not_cut_into_pieces():
    random = np.random.default_rng(1)
    X = random.normal(size=(6000, 2)) * [4.0, 1.0] + np.array([0, 8])[None] * random.integers(
        3, size=(6000, 1)
    )
    turn = np.array([[0.6, 0.8], [-0.8, 0.6]])
    assert learned(X @ turn).n_clusters_ == 3


@pytest.mark.parametrize("part", [0.06, 0.3])
def test_background_noise_is_no_cluster(part):
    random, noisy = np.random.default_rng(0), int(5000 * part)
    X = np.concatenate([rows_of(FIVE, 0.2, 5000 - noisy), random.uniform(-4, 10, (noisy, 2))])
    assert learned(random.permutation(X)).n_clusters_ == 5


def test_evenly_spread_data_is_one_cluster():
    assert learned(np.random.default_rng(0).random((3000, 3))).n_clusters_ == 1


# ---- any shape --------------------------------------------------------------------------------------


def rings(n=4000, seed=0):
    random = np.random.default_rng(seed)
    label = random.integers(2, size=n)
    angle = random.uniform(0, 2 * np.pi, n)
    return np.stack([np.cos(angle), np.sin(angle)], 1) * (1 + 2 * label[:, None]) + random.normal(
        scale=0.1, size=(n, 2)
    ), label


def test_rings_are_clusters_of_any_shape_and_many_compact_ones():
    X, label = rings()
    model = learned(X, shape="any")
    assert model.n_clusters_ == 2
    assert adjusted_rand_score(label, model.predict(X)) > 0.99
    assert learned(X).n_clusters_ > 4


@pytest.mark.parametrize("shape", ["compact", "any"])
@pytest.mark.parametrize(("D", "k"), [(10, 3), (200, 8)])
def test_clusters_without_any_overlap_are_apart(D, k, shape):
    random = np.random.default_rng(1)
    X = rows_of(random.uniform(0, 10, (k, D)), 0.3, 4000)
    assert learned(X, shape=shape).n_clusters_ == k


@pytest.mark.parametrize("shape", ["compact", "any"])
def test_samples_whose_squares_overflow_are_ignored(shape):
    X = rows_of(FIVE, 0.4, 3000)
    X[[500, 2500]] = 1e200
    assert learned(X, shape=shape).n_clusters_ == 5
    assert GaussianNeurons(30, random_state=0, shape=shape, max_samples=5000).fit(X).n_clusters_ == 5


def test_one_cluster_of_any_shape():
    assert learned(np.random.default_rng(0).normal(size=(3000, 2)), shape="any").n_clusters_ == 1


# ---- rows -------------------------------------------------------------------------------------------


def test_rows_that_repeat_count_once():
    rows = np.array([[2.0], [1.0], [2.0], [-0.0], [0.0]])
    np.testing.assert_array_equal(distinct_rows(rows, 1).ravel(), [2.0, 1.0, 0.0])
    few = np.array([[1.0], [2.0]] * 20)
    assert len(distinct_rows(few, 5)) == 40  # a few values, repeated: the repetition is the data


def test_neurons_without_samples_are_in_no_group():
    neurons = Neurons.at([[0.0], [0.5], [10.0], [99.0]], 1.0)
    recent = np.random.default_rng(0).normal([[0.25], [10.0]] * 100, 0.3)
    tree = tree_of(neurons, recent, "compact")
    assert tree.used.tolist() == [0, 1, 2]
    assert groups_of(tree, neurons, None).tolist() == [0, 0, 1, -1]
    assert tree_of(neurons, recent[:0], "compact") is None


# ---- cores and halos --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("apart", "variance", "joined"),
    [  # of the wider one; the narrower one has the radius 1
        (0.9, 9.0, True),  # radius 3: 0.9 is less than 1 and than 3 - 1
        (1.1, 9.0, False),  # its center is outside of the core
        (0.4, 2.25, True),  # radius 1.5: 0.4 is less than 1.5 - 1
        (0.6, 2.25, False),  # the ball of the core is not within that of the halo
        (0.0, 1.0, False),  # not wider
    ],
)
@pytest.mark.parametrize("D", [1, 3])  # a variance is that of a column
def test_a_halo_is_around_its_core(apart, variance, joined, D):
    centers = np.zeros((2, D))
    centers[1, 0] = apart
    given = centers, np.array([1.0, variance]) / D, np.array([10.0, 20.0])
    assert trees._without_halos(*given, np.array([0, 1])).tolist() == ([0, 0] if joined else [0, 1])


def test_the_nearest_core_and_halo_are_joined_first():
    """Together, the first two have the radius 1.7 and contain the center of the third; the first does not."""
    centers, variances = np.array([[0.0], [0.1], [1.5]]), np.array([1.0, 9.0, 16.0])
    found = trees._without_halos(centers, variances, np.array([30.0, 10.0, 10.0]), np.arange(3))
    assert found.tolist() == [0, 0, 0]
    found = trees._without_halos(centers[[0, 2]], variances[[0, 2]], np.array([30.0, 10.0]), np.arange(2))
    assert found.tolist() == [0, 1]


@pytest.mark.parametrize("D", [4, 8])
def test_a_cluster_with_heavy_tails_is_one(D, monkeypatch):
    random = np.random.default_rng(0)
    labels = random.integers(3, size=6000)
    places = np.eye(3, D) * 14
    rows = places[labels] + random.normal(size=(6000, D)) * random.choice([1, 3], size=(6000, 1))
    assert learned(rows).n_clusters_ == 3
    monkeypatch.setattr(trees, "_without_halos", lambda *given: given[-1])
    assert learned(rows).n_clusters_ > 4
