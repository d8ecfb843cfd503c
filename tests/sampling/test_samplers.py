"""Random numbers, patches and neighbourhoods: test vectors, hand calculations, both twins, statistics."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.covariance import OAS

from gaussian_neurons.base.covariances import TYPES, mean_widths
from gaussian_neurons.learning.native import available, using
from gaussian_neurons.sampling import native, reference

RANDOM = np.random.default_rng(5)


@pytest.fixture(params=available())
def instruction_set(request):
    with using(request.param):
        yield request.param


# Random123's kat_vectors, philox4x32 with 10 rounds: counter, key, result
TEST_VECTORS = [
    ("00000000 00000000 00000000 00000000", "00000000 00000000", "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
    ("ffffffff ffffffff ffffffff ffffffff", "ffffffff ffffffff", "408f276d 41c83b0e a20bc7c6 6d5451fd"),
    ("243f6a88 85a308d3 13198a2e 03707344", "a4093822 299f31d0", "d16cfe09 94fdcceb 5001e420 24126ea1"),
]


def as_words(text):
    return np.array([int(word, 16) for word in text.split()], np.uint32)


@pytest.mark.parametrize(("counter", "key", "result"), TEST_VECTORS)
def test_philox_matches_the_published_vectors(counter, key, result):
    assert (reference.philox(as_words(counter), as_words(key)) == as_words(result)).all()


def test_core_matches_the_published_vector_of_zeros(instruction_set):
    assert (native.words(0, 0, 0, 1, 4)[0] == as_words(TEST_VECTORS[0][2])).all()


def images_of(shape, kind):
    if kind == "float32":
        return RANDOM.normal(size=shape).astype(np.float32)
    return RANDOM.integers(0, 256, shape, np.uint8)


SHAPES = [
    ((20, 28, 28, 1), 5),
    ((7, 9, 12, 3), 4),
    ((3, 5, 5, 1), 3),
    ((3, 6, 7, 2), 1),
    ((2, 15, 15, 3), 13),
]


@pytest.mark.parametrize("first", [0, 3, 2**32 - 5, 2**63])
def test_words_and_normals_equal_the_reference(first, instruction_set):
    seed = 2**63 + 12345
    assert (native.words(seed, 3, first, 37, 7) == reference.words(seed, 3, first, 37, 7)).all()
    expected = reference.normals(seed, 1, first, 37, 131)
    assert native.normals(seed, 1, first, 37, 131).tobytes() == expected.tobytes()


@pytest.mark.parametrize("kind", ["uint8", "float32"])
@pytest.mark.parametrize(("shape", "size"), SHAPES)
def test_patches_and_neighbourhoods_equal_the_reference(shape, size, kind, instruction_set):
    images = images_of(shape, kind)
    for chosen in (None, np.array([shape[0] - 1, 0])):
        for dtype in (np.float32, np.float64):
            fast = native.patches(images, size, 9, 3, 100, chosen, dtype)
            expected = reference.patches(images, size, 9, 3, 100, chosen, dtype)
            assert fast.dtype == dtype
            assert fast.tobytes() == expected.tobytes()
        for covariance in TYPES:
            fast = native.neighbourhoods(images, size, 0.1, 9, 3, 50, chosen, covariance)
            expected = reference.neighbourhoods(images, size, 0.1, 9, 3, 50, chosen, covariance)
            assert fast[1].shape == expected[1].shape
            assert fast[0].tobytes() == expected[0].tobytes()
            assert fast[1].tobytes() == expected[1].tobytes()


@given(first=st.integers(0, 2**40), cut=st.integers(0, 70))
def test_samples_do_not_depend_on_chunk_sizes(first, cut):
    images = np.arange(4 * 8 * 8, dtype=np.uint8).reshape(4, 8, 8, 1)
    for draw in (
        lambda first, count: native.patches(images, 5, 1, first, count),
        lambda first, count: native.neighbourhoods(images, 5, 0.2, 1, first, count)[0],
        lambda first, count: native.neighbourhoods(images, 3, 0.2, 1, first, count, None, "diag")[1],
        lambda first, count: native.neighbourhoods(images, 3, 0.2, 1, first, count, None, "full")[1],
        lambda first, count: native.normals(1, 1, first, count, 3),
        lambda first, count: native.words(1, 2, first, count, 5),
    ):
        whole = draw(first, 70)
        parts = np.concatenate([draw(first, cut), draw(first + cut, 70 - cut)])
        assert whole.tobytes() == parts.tobytes()


def test_position_of_a_patch_by_hand():
    """From the random words of sample 4."""
    images = np.arange(10 * 6 * 7, dtype=np.uint8).reshape(10, 6, 7, 1)
    word = [int(w) for w in reference.words(11, reference.PLACE, 4, 1, 4)[0]]
    image = (word[0] + (word[1] << 32)) * 10 >> 64
    row, column = word[2] * 4 >> 32, word[3] * 5 >> 32
    expected = images[image, row : row + 3, column : column + 3, 0] / 255
    assert native.patches(images, 3, 11, 4, 1)[0] == pytest.approx(expected.ravel())


def test_images_rows_and_columns_are_uniform():
    images = np.zeros((50, 28, 28, 1), np.uint8)
    image, row, column = reference.positions(images, 5, 3, 0, 200_000)
    for found, count in ((image, 50), (row, 24), (column, 24), (row * 24 + column, 576)):
        assert stats.chisquare(np.bincount(found, minlength=count)).pvalue > 1e-4
    pairs = np.bincount(image[:-1] % 8 * 8 + image[1:] % 8, minlength=64)  # of successive samples
    expected = np.outer(*2 * [np.bincount(np.arange(50) % 8) / 50]).ravel() * pairs.sum()
    assert stats.chisquare(pairs, expected).pvalue > 1e-4


def test_core_draws_uniformly():
    """The value of each pixel identifies its image, row and column."""
    images = np.arange(4 * 8 * 8, dtype=np.uint8).reshape(4, 8, 8, 1)
    corner = np.rint(native.patches(images, 5, 8, 0, 160_000)[:, 0] * 255).astype(int)
    positions = [i * 64 + r * 8 + c for i in range(4) for r in range(4) for c in range(4)]
    counts = np.bincount(corner, minlength=256)
    assert counts.sum() == counts[positions].sum()
    assert stats.chisquare(counts[positions]).pvalue > 1e-4


def test_normal_numbers_are_normal():
    x = native.normals(1, 1, 0, 5_000, 100).astype(np.float64)
    n = x.size
    assert abs(x.mean()) < 4 / np.sqrt(n)
    assert abs(x.var() - 1) < 4 * np.sqrt(2 / n)
    assert abs(stats.skew(x.ravel())) < 4 * np.sqrt(6 / n)
    assert abs(stats.kurtosis(x.ravel())) < 4 * np.sqrt(24 / n)
    assert stats.kstest(x.ravel(), "norm").pvalue > 1e-4
    correlation = np.corrcoef(x[:, :70].T) - np.eye(70)  # across the border of a group of 64
    assert np.abs(correlation).max() < 6 / np.sqrt(len(x))
    assert np.abs(np.corrcoef(x[:-1, 0], x[1:, 0])[0, 1]) < 4 / np.sqrt(len(x))


def test_normal_numbers_match_box_muller_in_double_precision():
    words = reference.words(2, 1, 0, 2000, 64).reshape(2000, 16, 4).astype(np.float64)
    radius = np.sqrt(-2 * np.log((words[..., 0] // 256 + 1) * 2.0**-24))
    turn = words[..., 1].astype(np.uint64)
    low = ((turn << np.uint64(2)).astype(np.uint32).view(np.int32) >> 8).reshape(2000, -1)[:, ::1]
    angle = (turn >> np.uint64(30)) * (np.pi / 2) + low.reshape(2000, 16) * (np.pi / 4 / 2**23)
    drawn = native.normals(2, 1, 0, 2000, 64).reshape(2000, 4, 16)
    assert np.allclose(drawn[:, 0], radius * np.cos(angle), rtol=0, atol=2e-6)
    assert np.allclose(drawn[:, 1], radius * np.sin(angle), rtol=0, atol=2e-6)


def test_neighbourhood_without_noise_by_hand():
    """A horizontal ramp of grey levels: nine patches of one pixel hold 10, 11 and 12, three times each."""
    images = np.broadcast_to(np.arange(10, 13, dtype=np.uint8), (1, 3, 3))[..., None].copy()
    mean, width = native.neighbourhoods(images, 1, 0.0, 0, 0, 1)
    assert mean[0, 0] == pytest.approx(11 / 255)
    assert width[0] == pytest.approx(2 / 9 * 6 / 255**2)


def test_covariance_without_noise_by_hand():
    """Patches of two channels a and b, with b = 2a: S = 6/255^2 (1 2; 2 4), so that tr(S^2) = tr(S)^2.

    Sigma_x is 4/9 S before shrinking, and rho = (1 + 1) / (10 (1 - 1/2)) = 2/5 takes it toward
    sigma_x = 2/9 tr(S) = 60/9/255^2.
    """
    ramp = np.broadcast_to(np.arange(10, 13, dtype=np.uint8), (1, 3, 3))
    images = np.stack([ramp, 2 * ramp], axis=3)
    unit = 2 / 3 / 255**2
    _, diagonal = native.neighbourhoods(images, 1, 0.0, 0, 0, 1, None, "diag")
    assert diagonal[0] == pytest.approx(np.array([4, 16]) * unit, rel=1e-5)
    _, covariance = native.neighbourhoods(images, 1, 0.0, 0, 0, 1, None, "full")
    expected = 0.6 * np.array([[4, 8], [8, 16]]) + 0.4 * np.diag([10, 10])
    np.testing.assert_allclose(covariance[0], expected * unit, rtol=1e-5)


def nine_patches(images, size, noise, seed, first, count):
    """The nine patches of each sample with their noise, (count, 9, D)."""
    window = reference.patches(images, size + 2, seed, first, count, dtype=np.float64)
    window = window.reshape(count, size + 2, size + 2, -1)
    nine = np.stack([window[:, y : y + size, x : x + size] for y in range(3) for x in range(3)], axis=1)
    normal = reference.normals(seed, reference.NOISE, first, count, nine[0].size)
    return nine.reshape(count, 9, -1) + noise * normal.reshape(count, 9, -1)


@pytest.mark.parametrize(("shape", "size"), SHAPES[:3])
@pytest.mark.parametrize("noise", [0.03, 0.3])
def test_full_covariances_are_those_of_scikit_learn(shape, size, noise):
    images = images_of(shape, "uint8") // 2 + np.arange(shape[2], dtype=np.uint8)[:, None] * 9
    _, covariances = native.neighbourhoods(images, size, noise, 4, 0, 20, None, "full")
    for patches, found in zip(nine_patches(images, size, noise, 4, 0, 20), covariances, strict=True):
        D = patches.shape[1]
        np.testing.assert_allclose(found, 2 * D * OAS().fit(patches).covariance_, rtol=2e-4, atol=2e-5)


@pytest.mark.parametrize(("shape", "size"), SHAPES)
def test_covariances_agree_with_widths_and_are_symmetric_and_regular(shape, size):
    images = images_of(shape, "uint8")
    widths, diagonals, covariances = (
        native.neighbourhoods(images, size, 0.1, 9, 3, 50, None, covariance)[1] for covariance in TYPES
    )
    np.testing.assert_allclose(mean_widths(diagonals), widths, rtol=1e-5)
    np.testing.assert_allclose(mean_widths(covariances), widths, rtol=1e-5)
    assert (covariances == covariances.transpose(0, 2, 1)).all()
    # rho is above 1/5: no eigenvalue is below that part of the width
    assert (np.linalg.eigvalsh(covariances.astype(np.float64))[:, 0] > 0.1999 * widths).all()


def test_covariances_scale_with_the_square_of_the_images():
    images = images_of((4, 9, 9, 1), "float32")
    for covariance in TYPES:
        plain, scaled = (
            native.neighbourhoods(images * factor, 5, 0.5 * factor, 2, 0, 30, None, covariance)[1]
            for factor in (np.float32(1), np.float32(2**20))
        )
        assert (scaled == plain * np.float32(2**40)).all()


def test_equal_patches_have_the_covariance_0(instruction_set):
    images = np.full((1, 9, 9, 1), 200, np.uint8)
    for sample in (native, reference):
        for covariance in TYPES:
            assert not sample.neighbourhoods(images, 5, 0.0, 0, 0, 3, None, covariance)[1].any()


def test_noise_has_the_right_mean_and_variance():
    """On black images: the mean has variance noise^2 / 9, the width 2 D noise^2 (1 - 1/9) on average."""
    images = np.zeros((2, 9, 9, 1), np.uint8)
    D, noise, n = 25, 0.1, 40_000
    means, widths = native.neighbourhoods(images, 5, noise, 7, 0, n)
    assert abs(means.mean()) < 4 * noise / 3 / np.sqrt(means.size)
    assert means.var() == pytest.approx(noise**2 / 9, rel=4 * np.sqrt(2 / means.size))
    scaled = 9 / 2 * widths.astype(np.float64) / noise**2  # chi-squared with 8 D degrees of freedom
    assert stats.kstest(scaled, "chi2", args=(8 * D,)).pvalue > 1e-4
    assert np.abs(np.corrcoef(means.T) - np.eye(D)).max() < 6 / np.sqrt(n)


def test_noisy_values_are_not_clipped():
    white = np.full((1, 9, 9, 1), 255, np.uint8)
    means, _ = native.neighbourhoods(white, 5, 0.5, 7, 0, 1000)
    assert means.max() > 1.2
    assert means.mean() == pytest.approx(1, abs=0.01)


def test_window_at_the_end_of_the_images(instruction_set):
    """The only possible window ends with the last byte of the array."""
    images = RANDOM.integers(0, 256, (1, 7, 7, 3), np.uint8)
    means, _ = native.neighbourhoods(images, 5, 0.0, 0, 0, 3)
    windows = [images[0, r : r + 5, c : c + 5].reshape(-1) for r in range(3) for c in range(3)]
    assert means[0] == pytest.approx(np.mean(windows, axis=0) / 255, abs=1e-6)


@pytest.mark.parametrize(
    "bad", [{"size": 29}, {"size": 0}, {"chosen": np.array([7])}, {"chosen": np.array([-1])}]
)
def test_core_rejects_windows_outside_the_images(bad):
    images = np.zeros((3, 28, 28, 1), np.uint8)
    arguments = {"size": 5, "chosen": None} | bad
    with pytest.raises(ValueError, match=r"size|chosen"):
        native.patches(images, arguments["size"], 0, 0, 10, arguments["chosen"])
