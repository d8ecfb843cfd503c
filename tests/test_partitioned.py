"""Partitions: what remains of rows, the same bits on any engine and number of workers, errors, quality."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse

from gaussian_neurons import GaussianNeurons, partitioned
from gaussian_neurons.partitioned import Pieces, reduced
from tests.runs import same

PLACES = np.array([[0.0, 0.0], [0.0, 6.0], [6.0, 0.0], [6.0, 6.0]])


def rows(cluster, count=1500, seed=0):
    return np.random.default_rng([cluster, seed]).normal(PLACES[cluster], 0.5, size=(count, 2))


PARTS = [rows(k % 4, seed=k) for k in range(6)]  # each has one of the four clusters
QUICK = {"n_neurons": 12, "max_samples": 3000}
MODEL = GaussianNeurons(**QUICK, random_state=0)


def quick(parts=PARTS, model=MODEL, **options):
    return partitioned.fit(parts, model, progress=False, **{"n_jobs": 1} | options)


def test_a_partition_that_sees_one_cluster_loses_none():
    model = quick()
    assert model.n_clusters_ == 4
    apart = np.linalg.norm(model.cluster_centers_[:, None] - PLACES, axis=2)
    assert apart.min(axis=0).max() < 0.15


def test_the_bits_do_not_depend_on_the_number_of_workers():
    assert same(quick(), quick(n_jobs=3))
    assert not same(quick(), quick(model=GaussianNeurons(**QUICK, random_state=1)))


def test_partitions_are_tables_of_any_kind():
    class Stream:
        def __init__(self, rows):
            self.table = pa.table({"a": rows[:, 0], "b": rows[:, 1]})

        def __arrow_c_stream__(self, requested_schema=None):
            return self.table.__arrow_c_stream__(requested_schema)

    parts = [Stream(part) for part in PARTS]
    assert same(quick(parts), quick([part.table for part in parts]))
    with pytest.raises(ValueError, match=r"partition 0: X is a sparse matrix .*toarray\(\)"):
        quick([scipy.sparse.csr_array(PARTS[0])])


def test_a_model_learns_on_and_is_saved(tmp_path):
    model = quick()
    model.save(tmp_path / "model.safetensors")
    again = GaussianNeurons.load(tmp_path / "model.safetensors")
    more = np.concatenate(PARTS)
    assert same(again.partial_fit(more), model.partial_fit(more))
    with pytest.raises(AttributeError, match="labels_"):
        _ = model.labels_


def test_pieces_keep_the_moments_of_all_rows():
    """By hand: two of three rows are merged, and mean and variance of all stay (10 / 3, 146 / 9)."""
    counts, means, variances = reduced(np.ones(3), np.array([[0.0], [1.0], [9.0]]), np.zeros((3, 1)), 2)
    assert (counts.tolist(), means.tolist(), variances.tolist()) == ([2, 1], [[0.5], [9]], [[0.25], [0]])
    random = np.random.default_rng(0)
    given = random.integers(1, 9, 60).astype(float), random.normal(size=(60, 3)), random.random((60, 3))
    for most in (40, 7, 1):
        counts, means, variances = reduced(*given, most)
        assert len(counts) == most
        middle = np.average(given[1], axis=0, weights=given[0])
        whole = np.average(given[2] + (given[1] - middle) ** 2, axis=0, weights=given[0])
        np.testing.assert_allclose(np.average(means, axis=0, weights=counts), middle, atol=1e-12)
        np.testing.assert_allclose(
            np.average(variances + (means - middle) ** 2, axis=0, weights=counts), whole, rtol=1e-12
        )


def test_the_cheapest_pair_is_merged_each_time():
    """Beside a plain search over all pairs."""
    random = np.random.default_rng(1)
    counts, means, variances = np.ones(12), random.normal(size=(12, 2)), np.full((12, 2), 0.01)
    middle = means.mean(axis=0)
    least = partitioned.FINEST * (variances + (means - middle) ** 2).mean(axis=0)

    def union(i, j):
        n = counts[i] + counts[j]
        mean = (counts[i] * means[i] + counts[j] * means[j]) / n
        second = (counts[i] * (variances[i] + means[i] ** 2) + counts[j] * (variances[j] + means[j] ** 2)) / n
        return n, mean, second - mean**2

    def level(count, variance):
        return count * np.log(variance + least).sum()

    given = counts.copy(), means.copy(), variances.copy()
    while len(counts) > 4:
        pairs = [(i, j) for j in range(len(counts)) for i in range(j)]
        loss = [
            level(*union(i, j)[::2]) - level(counts[i], variances[i]) - level(counts[j], variances[j])
            for i, j in pairs
        ]
        i, j = pairs[int(np.argmin(loss))]
        counts[i], means[i], variances[i] = union(i, j)
        counts, means, variances = (np.delete(values, j, axis=0) for values in (counts, means, variances))
    for ours, theirs in zip(reduced(*given, 4), (counts, means, variances), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)


def test_pieces_are_drawn_as_often_as_they_have_rows():
    pieces = Pieces(np.array([1.0, 3.0]), np.array([[0.0], [5.0]]), np.zeros((2, 1)), None, np.float64)
    drawn = pieces.drawn(8, np.random.default_rng(0))
    assert sorted(drawn.ravel().tolist()) == [0.0] * 2 + [5.0] * 6


def test_files_are_partitions_and_a_bad_one_is_named(tmp_path):
    files = []
    for k, part in enumerate(PARTS):
        files.append(tmp_path / f"{k}.{'csv' if k % 2 else 'parquet'}")
        frame = pd.DataFrame(part, columns=["a", "b"])
        frame.to_csv(files[-1], index=False) if k % 2 else frame.to_parquet(files[-1])
    model = quick(files)
    assert list(model.feature_names_in_) == ["a", "b"]
    assert model.n_clusters_ == 4
    frames = [pd.DataFrame(part, columns=["a", "b"]) for part in PARTS]
    assert same(model, quick(frames))
    files[3].write_text("a,b\n1,2\n1,x\n")
    with pytest.raises(ValueError, match=r"partition 3, '.*3\.csv': .*'x'"):
        quick(files)
    files[3].write_text("a,c\n1,2\n1,3\n")
    with pytest.raises(ValueError, match=r"partition 3 has the columns \('a', 'c'\), an earlier one"):
        quick(files)


def test_partitions_without_rows_do_not_count():
    model = quick([PARTS[0], np.empty((0, 2)), *PARTS[1:]])
    assert model.n_clusters_ == 4
    with pytest.raises(ValueError, match="the partitions have no rows"):
        quick([np.empty((0, 2))])


def test_columns_are_scaled_by_all_partitions():
    units = np.array([1.0, 1000.0])
    model = quick([part * units for part in PARTS], GaussianNeurons(**QUICK, scale="columns", random_state=0))
    assert model.n_clusters_ == 4


def test_other_models_can_be_fitted():
    model = quick(model=GaussianNeurons(**QUICK, width=3.0, init="samples", random_state=0))
    assert model.n_clusters_ == 4


@pytest.mark.parametrize("wrong", [PARTS[0], "a.csv", 3])
def test_one_table_is_refused(wrong):
    with pytest.raises(TypeError, match="partitions must be"):
        quick(wrong)


def test_an_invalid_row_is_named():
    bad = [*PARTS[:2], PARTS[2].copy()]
    bad[2][7, 1] = np.nan
    with pytest.raises(
        ValueError, match="partition 2: X must hold finite numbers, got NaN at row 7, column 1"
    ):
        quick(bad)
