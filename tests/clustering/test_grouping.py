"""Groups of centers: by hand, merged as scipy does, with the silhouettes of scikit-learn."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import cdist
from sklearn.metrics import silhouette_score

from gaussian_neurons import _core
from gaussian_neurons.clustering.grouping import (
    distinct_rows,
    eigenvalues,
    join_centers,
    of_a_cloud,
    valley,
    variances_of,
)

seeds = st.integers(0, 10**6)
LINE = np.array([[0.0], [1.0], [10.0], [11.0], [12.0]])


def scene(seed: int, n: int = 60, k: int = 9, D: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """(rows, centers)"""
    random = np.random.default_rng(seed)
    rows = random.normal(2 * random.integers(0, 3, (n, D)), 1.0)
    return rows, rows[random.permutation(n)[:k]] + 0.1 * random.normal(size=(k, D))


def as_sets(labels) -> set[frozenset]:
    """The groups as sets, whatever their labels."""
    return {frozenset(np.flatnonzero(labels == label).tolist()) for label in np.unique(labels)}


def join_brute_force(centers: np.ndarray, counts: np.ndarray) -> list[set[frozenset]]:
    """Ward's groups, from one for each center to two: all means are computed again for each step."""
    groups = [[k] for k in range(len(centers))]
    found = [{frozenset(group) for group in groups}]
    while len(groups) > 2:
        size = [counts[group].sum() for group in groups]
        middle = [np.average(centers[group], axis=0, weights=counts[group]) for group in groups]
        _, i, j = min(
            (size[i] * size[j] / (size[i] + size[j]) * ((middle[i] - middle[j]) ** 2).sum(), i, j)
            for i in range(len(groups))
            for j in range(i + 1, len(groups))
        )
        groups[i] += groups.pop(j)
        found.append({frozenset(group) for group in groups})
    return found


# ---- joining ----------------------------------------------------------------------------------------


def test_five_rows_on_a_line_by_hand():
    found = join_centers(LINE, cdist(LINE, LINE), LINE)
    # Pairs at a distance of 1 cost 1/2, and the first of them is joined first; then 10 + 11 beside 12.
    assert (found.first, found.second) == ([0, 2, 2], [1, 3, 4])
    assert found.groups(5).tolist() == [0, 1, 2, 3, 4]
    assert found.groups(4).tolist() == [0, 0, 1, 2, 3]
    assert found.groups(3).tolist() == [0, 0, 1, 1, 2]
    assert found.groups(2).tolist() == [0, 0, 1, 1, 1]
    # Alone in its group a row has the silhouette 0: here all five, then all but 0 and 1, whose own mean is
    # 1 and whose nearest other is at 10 and at 9.
    assert found.silhouettes[0] == 0.0
    assert found.silhouettes[1] == pytest.approx((9 / 10 + 8 / 9) / 5)
    assert found.silhouettes_of(6).tolist() == [-1, -1, *reversed(found.silhouettes), -1]


def test_one_group_contains_all_centers():
    found = join_centers(LINE, cdist(LINE, LINE), LINE)
    assert found.groups(1).tolist() == [0, 0, 0, 0, 0]


def test_one_center_is_one_group():
    found = join_centers(LINE, cdist(LINE, LINE), LINE[:1])
    assert (found.first, found.silhouettes) == ([], [0.0])
    assert found.groups(1).tolist() == [0]
    assert found.silhouettes_of(3).tolist() == [-1, -1, -1, -1]


def test_a_center_without_nearest_rows_is_in_no_group():
    found = join_centers(LINE, cdist(LINE, LINE), np.array([[0.0], [-50.0], [11.0]]))
    assert found.used.tolist() == [0, 2]
    assert found.label.tolist() == [0, 0, 1, 1, 1]
    assert found.groups(2).tolist() == [0, 1]


@settings(max_examples=12)
@given(seeds)
def test_a_center_for_each_row_gives_the_groups_of_scipy(seed):
    rows, _ = scene(seed, n=25)
    found = join_centers(rows, cdist(rows, rows), rows)
    tree = linkage(rows, "ward")
    for count in range(2, 26):
        assert as_sets(found.groups(count)) == as_sets(fcluster(tree, count, "maxclust"))


@settings(max_examples=12)
@given(seeds, st.integers(2, 14))
def test_centers_are_weighted_by_their_rows(seed, k):
    rows, centers = scene(seed, k=k)
    found = join_centers(rows, cdist(rows, rows), centers)
    counts = np.bincount(found.label)
    expected = join_brute_force(centers[found.used], counts)
    for groups in expected:
        assert as_sets(found.groups(len(groups))) == groups
    # The same as scipy's, given every center as often as it has rows.
    tree = linkage(np.repeat(centers[found.used], counts, axis=0), "ward")
    first = np.cumsum(counts) - counts
    for count in range(2, len(counts) + 1):
        assert as_sets(found.groups(count)) == as_sets(fcluster(tree, count, "maxclust")[first])


@settings(max_examples=12)
@given(seeds, st.integers(2, 14))
def test_silhouettes_are_those_of_scikit_learn(seed, k):
    rows, centers = scene(seed, k=k)
    found = join_centers(rows, cdist(rows, rows), centers)
    silhouettes = found.silhouettes_of(k)
    for count in range(2, len(found.used) + 1):
        label = found.groups(count)[found.label]
        assert silhouettes[count] == pytest.approx(silhouette_score(rows, label), abs=1e-12)


@pytest.mark.parametrize("rows", [np.zeros((6, 2)), np.repeat([[0.0, 0.0], [1.0, 1.0]], 3, axis=0)])
def test_equal_rows(rows):
    found = join_centers(rows, cdist(rows, rows), rows)
    places = len(np.unique(rows, axis=0))
    assert len(found.used) == places  # of equal centers, the first has all rows
    assert found.silhouettes == [float(places == 2)]


def test_ties_and_duplicates_leave_each_group_whole():
    label = np.arange(6)
    rows = np.repeat([[0.0], [1.0]], 3, axis=0)
    gaps = (rows - rows.T) ** 2
    first, second, silhouettes = _core.join_groups(abs(rows - rows.T), label, gaps)
    for into, gone in zip(first, second, strict=True):
        label[label == gone] = into
    assert as_sets(label) == {frozenset({0, 1, 2}), frozenset({3, 4, 5})}
    assert silhouettes[-1] == 1.0
    assert np.isfinite(silhouettes).all()


def test_infinite_costs_still_give_two_groups():
    """Squared distances of very large data overflow."""
    gaps = np.full((4, 4), np.inf)
    first, second, silhouettes = _core.join_groups(np.ones((4, 4)), np.arange(4), gaps)
    assert len(first) == len(second) == len(silhouettes) - 1 == 2
    assert all(into != gone for into, gone in zip(first, second, strict=True))


# ---- errors of the core -----------------------------------------------------------------------------

SQUARE = np.ones((3, 3))


@pytest.mark.parametrize("label", [[0, 1, 3], [0, 1, -1], [0, 1, 2**40]])
def test_a_label_out_of_range_is_an_error(label):
    with pytest.raises(ValueError, match="label must be in"):
        _core.join_groups(SQUARE, np.array(label), SQUARE)


def test_a_group_without_rows_is_an_error():
    with pytest.raises(ValueError, match="every group must have a row"):
        _core.join_groups(SQUARE, np.array([0, 0, 2]), SQUARE)


@pytest.mark.parametrize(
    ("distances", "gaps"),
    [
        (np.ones((3, 2)), SQUARE),
        (np.ones((2, 3)), SQUARE),
        (np.ones((4, 4)), SQUARE),
        (SQUARE, SQUARE[:, :2]),
    ],
)
def test_arrays_of_different_lengths_are_an_error(distances, gaps):
    with pytest.raises(ValueError, match="must be"):
        _core.join_groups(distances, np.arange(3), np.ascontiguousarray(gaps))


@pytest.mark.parametrize(
    ("distances", "label"),
    [(SQUARE.astype(np.float32), np.arange(3)), (SQUARE, np.arange(3.0)), (SQUARE[0], np.arange(3))],
)
def test_arrays_of_another_type_are_an_error(distances, label):
    with pytest.raises(TypeError):
        _core.join_groups(distances, label, SQUARE)


# ---- valleys ----------------------------------------------------------------------------------------


def test_a_valley_by_hand():
    # Two clusters with centers at 0 and 8: a band reaches one to each side of 0, 4 and 8.
    one, other = [-0.5, 0.0, 0.5, -3.2, 3.2], [7.5, 8.0, 8.5, 7.8, 8.2, 4.8, 11.2]
    rows = np.array(one + other)[:, None]
    label = np.repeat([0, 1], [len(one), len(other)])
    assert rows[label == 0].mean() == pytest.approx(0.0)
    assert rows[label == 1].mean() == pytest.approx(8.0)
    # For both: 3.2 and 4.8 lie midway; the center with fewer rows has three.
    assert valley(rows, label) == pytest.approx((2 + 2) / (3 + 3))


def test_the_valley_is_0_without_rows_between_clusters_and_1_for_a_single_cluster():
    rows = np.array([[0.0], [0.1], [0.2], [3.0], [3.1], [3.2]])
    assert valley(rows, np.array([0, 0, 0, 1, 1, 1])) == 0.0
    assert valley(rows, np.zeros(6, np.int64)) == 1.0


def test_rows_of_a_third_cluster_do_not_count():
    rows = np.array([[0.0, 0], [0.1, 0], [8, 0], [8.1, 0], [4, 90], [4, 91]])
    assert valley(rows, np.array([0, 0, 1, 1, 2, 2])) == 0.0


def test_two_halves_of_a_normal_distribution_have_no_valley():
    rows = np.random.default_rng(0).normal(size=(2000, 2))
    assert valley(rows, (rows[:, 0] > 0).astype(np.int64)) > 1
    assert valley(rows + 8 * (rows[:, :1] > 0), (rows[:, 0] > 0).astype(np.int64)) == 0


# ---- repeated rows ----------------------------------------------------------------------------------


def test_repeated_rows_count_once_in_their_order():
    rows = np.array([[5.0, 1.0], [2.0, 0.0], [5.0, 1.0], [1.0, 9.0], [2.0, 0.0]])
    np.testing.assert_array_equal(distinct_rows(rows, values=2), rows[[0, 1, 3]])


def test_rows_with_only_a_few_values_all_count():
    rows = np.tile([[5.0], [2.0], [7.0]], (10, 1))
    np.testing.assert_array_equal(distinct_rows(rows, values=3), rows)  # ten of each
    assert len(distinct_rows(rows, values=2)) == 3  # more values than allowed
    assert len(distinct_rows(rows[:15], values=3)) == 3  # five of each are not many
    np.testing.assert_array_equal(distinct_rows(rows[:2], values=3), rows[:2])


@given(seeds)
def test_distinct_rows_are_the_set_of_rows(seed):
    rows = np.random.default_rng(seed).integers(0, 3, (50, 3)).astype(float)
    found = distinct_rows(rows, values=1)
    assert sorted(map(tuple, found)) == sorted(set(map(tuple, rows)))


# ---- clouds -----------------------------------------------------------------------------------------


def variances(rows: np.ndarray) -> np.ndarray:
    return variances_of(rows, np.sqrt(((rows[:, None] - rows) ** 2).sum(axis=2)))


def one_cloud(rows: np.ndarray, centers: int, seed: int) -> float:
    return of_a_cloud(len(rows), variances(rows), centers, np.random.default_rng(seed))


def cloud_of(rows: np.ndarray) -> float:
    return float(np.mean([one_cloud(rows, 20, seed) for seed in range(5)]))


def test_eigenvalues_by_hand():
    np.testing.assert_allclose(eigenvalues(np.array([[3.0]])), [3])
    np.testing.assert_allclose(eigenvalues(np.array([[2.0, 1.0], [1.0, 2.0]])), [1, 3])
    second_differences = 2 * np.eye(3) - np.eye(3, k=1) - np.eye(3, k=-1)
    np.testing.assert_allclose(eigenvalues(second_differences), [2 - 2**0.5, 2, 2 + 2**0.5])


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e160, 1e300])
def test_eigenvalues_of_any_scale(scale):
    matrix = np.array([[2.0, 1.0, 0.0], [1.0, 2.0, 1.0], [0.0, 1.0, 2.0]])
    np.testing.assert_allclose(eigenvalues(matrix * scale) / scale, eigenvalues(matrix))
    assert eigenvalues(np.zeros((3, 3))).tolist() == [0, 0, 0]


@pytest.mark.parametrize("power", range(-320, -100, 5))
def test_eigenvalues_of_numbers_whose_squares_underflow(power):
    tiny = 10.0**power
    found = eigenvalues(np.array([[1.0, tiny, 0.0], [tiny, tiny**2, tiny], [0.0, tiny, 0.5]]))
    np.testing.assert_allclose(found, [0, 0.5, 1], atol=1e-15)


@given(seeds, st.integers(1, 40))
def test_eigenvalues_are_those_of_lapack(seed, size):
    rows = np.random.default_rng(seed).normal(size=(size, 1 + seed % 50))
    matrix = rows @ rows.T
    np.testing.assert_allclose(eigenvalues(matrix), np.linalg.eigvalsh(matrix), atol=1e-12 * np.trace(matrix))


@pytest.mark.parametrize("D", [3, 30, 300])
def test_variances_are_those_along_the_principal_axes(D):
    """Also with more dimensions than rows: then the smaller matrix is used, and the others are 0."""
    rows = np.random.default_rng(0).normal(size=(50, D)) * np.linspace(1, 3, D) + 7
    expected = np.linalg.svd(rows - rows.mean(axis=0), compute_uv=False) ** 2 / 49
    np.testing.assert_allclose(variances(rows)[::-1], expected, atol=1e-9)
    assert len(variances(rows)) == min(50, D)


@pytest.mark.parametrize("D", [1, 2, 10])
def test_a_cloud_depends_on_the_covariance_only(D):
    """Not on the clusters in the rows."""
    random = np.random.default_rng(0)
    normal = random.normal(size=(400, D))
    clustered = random.normal(random.choice([-10.0, 10.0], (400, D)), 0.1)
    assert cloud_of(clustered) == pytest.approx(cloud_of(normal), rel=0.15)
    assert cloud_of(normal) < 0.65


def test_a_long_cloud_has_a_larger_silhouette_than_a_round_one():
    rows = np.random.default_rng(0).normal(size=(400, 8))
    assert cloud_of(rows * [20, 1, 1, 1, 1, 1, 1, 1]) > 2 * cloud_of(rows)


@given(seeds)
def test_a_cloud_does_not_depend_on_rotation_shift_and_scale(seed):
    random = np.random.default_rng(seed)
    rows = random.normal(size=(100, 3)) * [5, 1, 0.2]
    turn, _ = np.linalg.qr(random.normal(size=(3, 3)))
    expected = one_cloud(rows, 10, seed=1)
    found = one_cloud(1000 * rows @ turn + 7, 10, seed=1)
    assert found == pytest.approx(expected, abs=1e-9)


def test_a_cloud_of_equal_rows():
    assert one_cloud(np.ones((10, 2)), 4, seed=0) == 0.0
