"""Stack: windows and features by hand, what does not change the result, scikit-learn's contract, errors."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from gaussian_neurons import GaussianNeurons, stack
from gaussian_neurons.learning import responses
from gaussian_neurons.sampling import Patches
from gaussian_neurons.stack import Layer, Stack, normalization, window


def images(count=60, side=12, channels=(), seed=0):
    """Noise with an edge in each image: upright in the first half, flat in the second."""
    random = np.random.default_rng(seed)
    x = random.integers(0, 60, (count, side, side, *channels), dtype=np.uint8)
    x[: count // 2, :, side // 2 :] += 190
    x[count // 2 :, side // 2 :] += 190
    return x


def neurons(count, width=0.3, **more):
    return GaussianNeurons(count, width=width, init="samples", inhibition=0.1, **more)


def two_layers(**more):
    layers = [Layer(neurons(6), kernel_size=3, pool=2), Layer(neurons(5), kernel_size=2)]
    return Stack(**{"layers": layers, "n_samples": 1500, "random_state": 0, **more})


@pytest.fixture
def small(monkeypatch):
    """Blocks and first patches for a few dozen images."""
    monkeypatch.setattr(stack, "BLOCK", 20)
    monkeypatch.setattr(stack, "FIRST", 150)


# ---- by hand --------------------------------------------------------------------------------------


def test_what_a_patch_sees_of_an_image():
    """Three squares of two places each are six places; their patches of 4 pixels see 5 + 4 of them."""
    n = neurons(3)
    assert window([Layer(n, kernel_size=7, stride=3)]) == 7
    assert window([Layer(n, kernel_size=4, pool=2), Layer(n, kernel_size=3)]) == 9
    assert window([Layer(n, kernel_size=4, stride=2, pool=2), Layer(n, kernel_size=3)]) == 5 * 2 + 4
    # the third sees 2 places, the second below them 2 + 1 = 3, of squares: 6, the first 5 * 2 + 3
    three = [Layer(n, kernel_size=3, stride=2, pool=2), Layer(n, kernel_size=2), Layer(n, kernel_size=2)]
    assert window(three) == 5 * 2 + 3


def test_the_excess_of_log_responses_by_hand():
    """log f = -1/2, -0 and -4: the mean is -3/2."""
    centers, widths = np.array([[0.0], [1.0], [3.0]]), np.array([2.0, 1.0, 1.0])
    np.testing.assert_allclose(responses.excess(np.array([[1.0]]), centers, widths), [[1.0, 1.5, 0.0]])


@pytest.mark.parametrize("shape", [(), (4,), (4, 4)])
def test_the_excess_is_that_of_the_responses(shape):
    random = np.random.default_rng(0)
    x, centers = random.normal(size=(50, 4)), random.normal(size=(7, 4))
    widths = random.uniform(0.5, 2.0, (7, *shape[:1]))
    if len(shape) == 2:
        widths = np.stack([np.diag(it) for it in widths])
    logs = np.log(responses.responses(x, centers, widths))
    expected = np.maximum(logs - logs.mean(axis=1, keepdims=True), 0)
    np.testing.assert_allclose(responses.excess(x, centers, widths), expected, atol=1e-12)


def test_normalization_by_hand():
    """Variances are 1, 1 and 4, with the mean 2; squared lengths are 25 and 75, with the mean 50."""
    rows = np.array([[0, 2], [3, 1], [0, 4]], np.float32)
    expected = [[-1, 1], [1, -1], [-2, 2]] / np.sqrt([[1 + 2], [1 + 2], [4 + 2]])
    np.testing.assert_allclose(normalization(("contrast",), rows)(rows), expected, rtol=1e-6)
    rows = np.array([[3, 4, 0], [5, 5, 5]], np.float32)
    expected = rows / np.sqrt([[25 + 50], [75 + 50]])
    np.testing.assert_allclose(normalization(("length",), rows)(rows), expected, rtol=1e-6)


def test_patches_of_low_contrast_teach_nothing_by_hand():
    """The mean variance is (4 + 1 + 0.04 + 0) / 4 = 1.26: half of it is 0.63."""
    rows = np.array([[0, 4], [1, 3], [0, 0.4], [7, 7]], np.float32)
    found = normalization(("contrast",), rows)
    np.testing.assert_array_equal(found.teaching(rows), found(rows[:2]))
    equal = np.array([[0, 2], [3, 1]], np.float32)
    assert len(normalization(("contrast",), equal).teaching(equal)) == 2


def test_flat_patches_stay_finite():
    rows = np.zeros((20, 4), np.float32)
    assert (normalization(stack.STEPS, rows)(rows) == 0).all()


def test_flat_patches_teach_nothing():
    """Half of the images are blank, and 2 of 10 places are at an edge: 150 of 1500 patches teach."""
    x = images(40)
    blank = np.full_like(x, 128)
    layer = Layer(neurons(5), kernel_size=3, normalize=("contrast",))
    fitted = Stack([layer], n_samples=1500, random_state=0).fit(np.concatenate([x, blank]))
    assert 100 < fitted.models_[0].n_samples_seen_ < 200
    assert np.abs(fitted.models_[0].centers_).max() > 0.5
    only_blank = Stack([layer], n_samples=1500, random_state=0)
    with pytest.raises(ValueError, match="flat"):
        only_blank.fit(blank)


def test_whitening_keeps_the_largest_directions():
    """Of a cloud that is long along (3, 4), one direction is kept: the place along it, in deviations."""
    along = np.random.default_rng(0).normal(size=(5000, 1)).astype(np.float32)
    rows = along * np.array([[3, 4]], np.float32) + 0.01 * np.random.default_rng(1).normal(size=(5000, 2))
    found = normalization(("whiten",), rows.astype(np.float32), n_directions=1)(rows)
    # the variance along is 25, and a tenth of the mean variance 12.5 is added
    np.testing.assert_allclose(np.abs(found[:, 0]), np.abs(along[:, 0]) * 5 / np.sqrt(26.25), atol=0.03)


def test_features_of_one_layer_by_hand():
    """A map of 2 x 2 places, each a patch of its own: features are the responses to the four patches."""
    x = images(side=6)
    layer = Layer(neurons(4), kernel_size=3, stride=3, normalize=("contrast",))
    fitted = Stack([layer], n_samples=500, grid=2, random_state=0).fit(x)
    image = x[0].astype(np.float32) / 255
    patches = np.stack([image[i : i + 3, j : j + 3].ravel() for i in (0, 3) for j in (0, 3)])
    model = fitted.models_[0]
    rows = normalization(("contrast",), Patches(x, 3, model.random_state).read(500))(patches)
    logs = np.log(responses.responses(rows, model.centers_, model.widths_))
    expected = np.maximum(logs - logs.mean(axis=1, keepdims=True), 0)
    np.testing.assert_allclose(fitted.transform(x[:1]), expected.reshape(1, -1), atol=1e-5)
    np.testing.assert_allclose(fitted.maps(x[:1]).reshape(4, 4), expected, atol=1e-5)


# ---- laws -----------------------------------------------------------------------------------------


def test_a_layer_learns_as_gaussian_neurons_do():
    """Without normalization the first layer is a model of its own on the library's patches."""
    x = images()
    fitted = Stack([Layer(neurons(6), kernel_size=4, normalize=())], n_samples=1300, random_state=3).fit(x)
    seed = fitted.models_[0].random_state
    alone = neurons(6, random_state=seed).partial_fit(Patches(x, 4, seed).read(1300))
    np.testing.assert_array_equal(fitted.models_[0].centers_, alone.centers_)


def test_the_lower_layer_does_not_depend_on_the_upper_one():
    x, both = images(), two_layers()
    one = Stack(both.layers[:1], n_samples=1500, random_state=0)
    np.testing.assert_array_equal(both.fit(x).models_[0].centers_, one.fit(x).models_[0].centers_)


def test_the_upper_layer_learns_patches_of_maps():
    """A window that the layers below transform is a patch of the map of the whole image."""
    x = images(4)
    fitted = two_layers().fit(x)
    size = window(fitted.layers)
    lower = fitted.encoders_[0]
    whole = lower(x[..., None].astype(np.float32) / 255)  # squares of 2 x 2 places: windows at even pixels
    part = lower(x[:, 2 : 2 + size, 4 : 4 + size, None].astype(np.float32) / 255)
    np.testing.assert_allclose(part, whole[:, 1:3, 2:4], atol=1e-5)


def test_the_same_seed_gives_the_same_bits():
    x = images()
    first, again, other = (two_layers(random_state=seed).fit(x).models_[1].centers_ for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


@pytest.mark.parametrize("sizes", [(60,), (1, 18, 1, 40), (25, 25, 10)])
def test_calls_do_not_change_what_a_stream_teaches(small, sizes):
    x = images(60)
    whole, parts = two_layers(), two_layers()
    whole.partial_fit(x)
    for chunk in np.split(x, np.cumsum(sizes)[:-1]):
        parts.partial_fit(chunk)
    assert parts.n_images_seen_ == 60
    for a, b in zip(whole.models_, parts.models_, strict=True):
        np.testing.assert_array_equal(a.centers_, b.centers_)
    np.testing.assert_array_equal(whole.transform(x), parts.transform(x))
    assert 0 < whole.models_[1].n_samples_seen_ <= 400  # it begins after 20 images


def test_all_layers_go_on_learning(small):
    fitted = two_layers().partial_fit(images(40))
    before = [it.centers_ for it in fitted.models_]
    fitted.partial_fit(images(40, seed=1))
    assert all((it.centers_ != old).any() for it, old in zip(fitted.models_, before, strict=True))


def test_images_are_transformed_alone():
    x = images()
    fitted = two_layers().fit(x)
    np.testing.assert_allclose(fitted.transform(x)[17:19], fitted.transform(x[17:19]), rtol=1e-4, atol=1e-5)


def test_contrast_does_not_see_brightness():
    """Images that are brighter have the same features, up to rounding."""
    x = images().astype(np.float32) / 255
    fitted = Stack([Layer(neurons(6), kernel_size=5)], n_samples=1500, random_state=0).fit(x)
    np.testing.assert_allclose(fitted.transform(x), fitted.transform(x + 0.2), rtol=1e-3, atol=1e-4)


def test_small_changes_of_flat_patches_stay_small():
    """The features of a flat image with noise are near those of the flat image: noise is not amplified."""
    x = images().astype(np.float32) / 255
    fitted = Stack([Layer(neurons(6), kernel_size=5)], n_samples=1500, random_state=0).fit(x)
    flat = np.full((20, 12, 12), 0.5, np.float32)
    noise = np.random.default_rng(0).normal(0, 0.02, flat.shape).astype(np.float32)
    change = np.abs(fitted.transform(flat + noise) - fitted.transform(flat)).mean()
    assert change < 0.1 * np.abs(fitted.transform(x) - fitted.transform(flat[:1])).mean()


def test_features_tell_the_edges_apart():
    x, y = images(200), np.repeat([0, 1], 100)
    features = two_layers().fit(x).transform(x)
    middle = [features[y == k].mean(axis=0) for k in (0, 1)]
    nearest = np.argmin([((features - it) ** 2).sum(axis=1) for it in middle], axis=0)
    assert (nearest == y).mean() > 0.8


def test_an_error_leaves_the_stack_as_it_was(small):
    fitted = two_layers().partial_fit(images(45))
    before = pickle.dumps([it.centers_ for it in fitted.models_])
    fitted.set_params(layers=[*fitted.layers])
    with pytest.raises(ValueError, match="NaN"):
        fitted.partial_fit(np.full((5, 12, 12), np.nan))
    assert pickle.dumps([it.centers_ for it in fitted.models_]) == before
    assert fitted.n_images_seen_ == 45


# ---- scikit-learn's contract ----------------------------------------------------------------------


def test_rows_names_clones_and_pickles():
    x = images()
    rows = x.reshape(len(x), -1)
    fitted = two_layers(shape=(12, 12)).fit(rows)
    features = fitted.transform(rows)
    np.testing.assert_array_equal(features, two_layers().fit(x).transform(x))
    assert features.dtype == np.float32
    assert fitted.n_features_in_ == 144
    assert fitted.get_feature_names_out()[-1] == f"stack{features.shape[1] - 1}"
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(fitted)).transform(rows), features)
    np.testing.assert_array_equal(clone(fitted).fit(rows).transform(rows), features)
    frame = fitted.set_output(transform="pandas").transform(rows)
    assert list(frame.columns) == list(fitted.get_feature_names_out())
    assert "layers" in fitted.get_params()


def test_it_is_a_step_of_a_pipeline():
    x = images()
    found = make_pipeline(two_layers(), StandardScaler()).fit_transform(x)
    assert found.shape == (60, 20)


def test_colours_and_floats():
    x = images(channels=(3,))
    layers = [Layer(GaussianNeurons(4, init="spread"), kernel_size=4)]  # an automatic width
    bytes_, floats = (
        Stack(layers, n_samples=1200, random_state=0).fit(it) for it in (x, x / np.float32(255))
    )
    np.testing.assert_array_equal(bytes_.models_[0].centers_, floats.models_[0].centers_)
    assert bytes_.n_features_in_ == 432


@pytest.mark.parametrize(
    ("change", "x", "message"),
    [
        ({"layers": []}, images(), "at least one Layer"),
        (
            {"layers": [Layer(neurons(3), kernel_size=13)]},
            images(),
            "13 x 13 pixels, but images have 12 x 12",
        ),
        ({"layers": [Layer(neurons(3), normalize=("centre",))]}, images(), "'contrast', 'whiten', 'length'"),
        ({"layers": [Layer(neurons(3), stride=0)]}, images(), "stride"),
        ({"layers": [Layer(neurons(3, scale="columns"))]}, images(), "scale=None"),
        ({"shape": (12, 11)}, images().reshape(60, -1), "132 numbers"),
        ({}, images().reshape(60, -1), "give their shape"),
        ({}, np.full((3, 12, 12), np.inf), "finite"),
    ],
)
def test_errors_say_what_to_do(change, x, message):
    with pytest.raises(ValueError, match=message):
        two_layers(**change).fit(x)


def test_a_grid_that_is_too_fine():
    with pytest.raises(ValueError, match="at most 4"):
        two_layers(grid=5).fit(images()).transform(images())


def test_layers_that_have_not_begun(small):
    with pytest.raises(NotFittedError, match="call fit"):
        two_layers().transform(images())
    with pytest.raises(NotFittedError, match="1 of 2 layers"):
        two_layers().partial_fit(images(39)).transform(images())
    with pytest.raises(ValueError, match="shape"):
        two_layers().fit(images()).transform(images(side=13))
