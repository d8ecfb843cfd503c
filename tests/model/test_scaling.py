"""Scaled columns: their numbers, what neurons see of them, what users see, and columns that drift."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.metrics import adjusted_rand_score

from gaussian_neurons import GaussianNeurons
from gaussian_neurons.base.bad_rows import BadRow
from gaussian_neurons.datasets import mnist_sample
from gaussian_neurons.learning import reference
from gaussian_neurons.model import archive, model_file
from gaussian_neurons.model.scaling import LEAST, UNEVEN_TEXT, Scaling, uneven
from gaussian_neurons.model.state import Network
from gaussian_neurons.sampling import Patches
from tests.runs import digest, disturb, interrupt_at, same

UNITS = np.array([1.0, 1000.0, 0.01])
PLACES = np.array([[0, 0, 0], [0, 6, 0], [6, 0, 0], [6, 6, 6], [0, 0, 9.0]])
KINDS = np.random.default_rng(0).integers(5, size=20_000)
SHIFT = np.array([0, 5e5, -3])
X = np.random.default_rng(1).normal(PLACES[KINDS], 0.6) * UNITS + SHIFT
GIVEN = {"auto": {}, "given": {"width": 0.5, "init": "samples"}}


def drifting(factor=10.0, n=20_000):
    """The same with a first column that grows and a second that shrinks, in the middle half of the stream."""
    part = np.clip((np.arange(n) - n / 4) / (n / 2), 0, 1)
    return (X[:n] - SHIFT) * np.column_stack([factor**part, factor**-part, np.ones(n)]) + SHIFT


def model_of(**given):
    return GaussianNeurons(**{"n_neurons": 12, "random_state": 0, "scale": "columns"} | given)


# ---- location and scale ---------------------------------------------------------------------------------


def test_columns_have_their_mean_and_standard_deviation():
    scaling = Scaling.of(np.array([[1.0, 0.0], [3.0, 0.0], [5.0, 0.0], [7.0, 8.0]]), "columns")
    np.testing.assert_array_equal(scaling.location, [4.0, 2.0])
    np.testing.assert_allclose(scaling.scale, [5**0.5, 12**0.5], rtol=1e-15)
    np.testing.assert_allclose(
        scaling.scaled(np.array([[9.0, 2.0]]), np.float64), [[5**0.5, 0.0]], rtol=1e-15
    )


def test_robust_is_the_median_and_the_median_distance_of_values_that_differ_from_it():
    first, second = [1.0, 2.0, 3.0, 4.0, 1e9], [0.0, 0.0, 0.0, 0.0, 7.0]
    scaling = Scaling.of(np.column_stack([first, second]), "robust")
    np.testing.assert_array_equal(scaling.location, [3.0, 0.0])
    np.testing.assert_allclose(scaling.scale, [1.4826 * 1.5, 1.4826 * 7], rtol=1e-15)  # 1, 1, 2, 1e9 and 7


@pytest.mark.parametrize("kind", ["columns", "robust"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_constant_column_has_the_scale_1_until_it_varies(kind, dtype):
    rows = np.column_stack([np.full(1000, 0.1), X[:1000, 0]]).astype(dtype)
    scaling = Scaling.of(rows, kind)
    assert scaling.scale[0] == 1
    assert scaling.renewed(rows) is scaling
    later = rows.copy()
    later[:, 0] = X[:1000, 1]
    renewed = scaling.renewed(later)
    assert renewed.scale[0] == Scaling.of(later, kind).scale[0] > 1000
    assert renewed.scale[1] == scaling.scale[1]
    assert renewed.renewed(rows) is renewed  # a column that is constant now keeps its scale


@pytest.mark.parametrize(("factor", "changed"), [(1.9, False), (0.6, False), (2.1, True), (0.4, True)])
def test_a_column_is_scaled_anew_if_its_scale_has_changed_by_more_than_2(factor, changed):
    scaling = Scaling.of(X[:1000], "columns")
    later = X[:1000] * [1, factor, 1]
    renewed = scaling.renewed(later)
    assert (renewed is not scaling) == changed
    if changed:
        np.testing.assert_array_equal(renewed.scale[[0, 2]], scaling.scale[[0, 2]])
        np.testing.assert_array_equal(renewed.location[[0, 2]], scaling.location[[0, 2]])
        assert renewed.scale[1] == Scaling.of(later, "columns").scale[1]


@pytest.mark.parametrize("kind", ["columns", "robust"])
def test_the_largest_and_the_smallest_numbers_have_a_location_and_a_scale(kind):
    random = np.random.default_rng(0)
    for rows in (random.choice([-1.7e308, 1.7e308], (100, 1)), random.random((100, 1)) * 1e-305):
        scaling = Scaling.of(rows, kind)
        assert np.isfinite(scaling.location).all()
        assert LEAST <= scaling.scale[0] < np.inf
        z = scaling.scaled(rows, np.float64)
        assert np.isfinite(z).all()
        np.testing.assert_allclose(scaling.undone(z), rows, rtol=1e-12)
    far = Scaling.of(X[:100] * 1e-200, kind).scaled(np.full((1, 3), 1e300), np.float64)
    assert (far == np.finfo(np.float64).max).all()


def test_places_and_widths_in_other_columns():
    old = Scaling("columns", np.array([1.0, 2.0]), np.array([1.0, 0.7]))
    new = Scaling("columns", np.array([3.0, 2.0]), np.array([4.0, 0.7]))
    z = np.array([[10.0, 0.1], [np.nan, 0.3]])
    np.testing.assert_array_equal(old.places_in(new, z), [[2.0, 0.1], [np.nan, 0.3]])  # (11 - 3) / 4
    # A neuron of width 2 in the new columns has widths of 32 and 2 in the old ones: 17 on average.
    np.testing.assert_allclose(old.widths_in(new, np.array([17.0])), [2.0])
    np.testing.assert_array_equal(new.undone_widths(np.array([2.0])), [[32.0, 2 * 0.7**2]])
    np.testing.assert_array_equal(old.undone_widths(np.ones((1, 2, 2)))[0], [[1.0, 0.7], [0.7, 0.7**2]])


# ---- what neurons see -----------------------------------------------------------------------------------


@pytest.mark.parametrize("given", GIVEN.values(), ids=GIVEN)
@pytest.mark.parametrize("kind", ["columns", "robust"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_neurons_learn_from_rows_scaled_by_the_first_thousand(given, kind, dtype):
    """Bit for bit what a model without a scale learns from them."""
    rows = X[:6000].astype(dtype)
    scaling = Scaling.of(rows[:1000], kind)
    expected = model_of(scale=None, **given).partial_fit(scaling.scaled(rows, dtype))
    model = model_of(scale=kind, **given).partial_fit(rows)
    np.testing.assert_array_equal(model.scale_, scaling.scale)
    np.testing.assert_array_equal(model.location_, scaling.location)
    np.testing.assert_array_equal(model.widths_, expected.widths_)
    np.testing.assert_array_equal(model.centers_, scaling.undone(expected.centers_))
    np.testing.assert_array_equal(model.predict(rows), expected.predict(scaling.scaled(rows, dtype)))
    np.testing.assert_array_equal(model.transform(rows), expected.transform(scaling.scaled(rows, dtype)))
    np.testing.assert_array_equal(
        model.score_samples(rows), expected.score_samples(scaling.scaled(rows, dtype))
    )
    np.testing.assert_array_equal(model.is_novel(rows), expected.is_novel(scaling.scaled(rows, dtype)))
    assert model.cost(rows) == expected.cost(scaling.scaled(rows, dtype))
    assert model.centers_.dtype == model.cluster_centers_.dtype == dtype


def test_units_do_not_matter():
    """Powers of two are exact."""
    rows, units = X[:4000], np.array([2.0**40, 2.0**-30, 1.0])
    one, other = model_of().partial_fit(rows), model_of().partial_fit(rows * units)
    np.testing.assert_array_equal(other.widths_, one.widths_)
    np.testing.assert_array_equal(other.centers_, one.centers_ * units)
    np.testing.assert_array_equal(other.cluster_centers_, one.cluster_centers_ * units)


def test_a_function_as_backend_gets_scaled_rows():
    got = []

    def learn(centers, widths, samples, sample_widths, rule, seen):
        got.append(samples.copy())
        return reference.learn(centers, widths, samples, sample_widths, rule, seen)

    model = model_of(width=0.5, backend=learn).partial_fit(X[:1500])
    np.testing.assert_array_equal(
        np.concatenate(got), Scaling.of(X[:1000], "columns").scaled(X[:1500], float)
    )
    assert model.n_samples_seen_ == 1500


def test_without_a_scale_nothing_is_scaled():
    model = GaussianNeurons(4, domain=(0, 1), random_state=0).partial_fit(X[:1200] / UNITS)
    np.testing.assert_array_equal(model.scale_, 1)
    np.testing.assert_array_equal(model.location_, 0)
    np.testing.assert_array_equal(model.centers_, model._state.network.neurons.centers)


@pytest.mark.parametrize("rows", [1, 2, 10])
def test_few_rows(rows):
    model = model_of().partial_fit(X[:rows])
    assert np.isfinite(model.centers_).all()
    np.testing.assert_array_equal(model.scale_, Scaling.of(X[:rows], "columns").scale)
    model = model_of(max_samples=2000).fit(X[:rows])
    assert model.labels_.shape == (rows,)
    assert (model.predict(X[:rows]) == model.labels_).all()


# ---- what users see -------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["columns", "robust"])
def test_clusters_and_events_are_in_the_units_of_the_data(kind):
    model = model_of(scale=kind).partial_fit(X)
    assert model.n_clusters_ == 5
    centers = PLACES * UNITS + SHIFT
    for found in (model.cluster_centers_, [event.center for event in model.events_ if event.kind == "born"]):
        off = np.abs((np.array(found)[:, None] - centers) / UNITS).max(axis=2)
        assert (off.min(axis=0) < 0.3).all()
    np.testing.assert_array_equal(np.sort(model.recent_samples_, axis=0), np.sort(X[-1000:], axis=0))
    assert adjusted_rand_score(KINDS, model.predict(X)) > 0.99


def test_starting_centers_and_the_domain_are_in_the_units_of_the_data():
    init = PLACES * UNITS + SHIFT
    domain = (X.min(axis=0) - 1, X.max(axis=0) + 1)
    model = GaussianNeurons(5, scale="columns", width=0.1, init=init, domain=domain).partial_fit(X[:1000])
    np.testing.assert_allclose(model.initial_centers_, init, rtol=1e-12, atol=1e-12)
    network = model._state.network
    np.testing.assert_allclose(network.undone(network.low), domain[0], rtol=1e-12)
    np.testing.assert_allclose(network.undone(network.high), domain[1], rtol=1e-12)
    uniform = model_of(width=0.1, init="uniform", domain=domain).partial_fit(X[:1000]).initial_centers_
    assert ((uniform >= domain[0]) & (uniform <= domain[1])).all()


@pytest.mark.parametrize("rows", [300, 1500])
def test_neurons_are_added_and_moved_in_the_units_of_the_data(rows):
    model = model_of().partial_fit(X[:rows])
    place = np.array([[3.0, 5.03e5, -2.95]])
    model.add_neurons(centers=place).move_neurons(0, centers=place + UNITS)
    np.testing.assert_allclose(model.centers_[[-1, 0]], [place[0], place[0] + UNITS], rtol=1e-12)
    model.add_neurons(3).remove_neurons([1])
    assert model.centers_.shape == (15, 3)
    assert ((model.centers_[-3:] >= X.min(axis=0)) & (model.centers_[-3:] <= X.max(axis=0))).all()
    model.partial_fit(X[rows : rows + 2000])
    assert model.n_samples_seen_ == rows + 2000


# ---- the stream -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("given", GIVEN.values(), ids=GIVEN)
@pytest.mark.parametrize("kind", ["columns", "robust"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_result_does_not_depend_on_the_calls(given, kind, dtype):
    rows = drifting().astype(dtype)
    whole = model_of(scale=kind, **given).partial_fit(rows)
    assert whole.scale_[0] > 4 * np.abs(Scaling.of(rows[:1000], kind).scale[0])
    random, parts, begin = np.random.default_rng(2), model_of(scale=kind, **given), 0
    while begin < len(rows):
        step = int(random.choice([1, 7, 300, 1001, 4000]))
        parts.partial_fit(rows[begin : begin + step])
        begin += step
        if random.random() < 0.2:
            assert np.isfinite(parts.cluster_centers_).all()  # asking changes nothing
    assert same(whole, parts)
    streamed = model_of(scale=kind, **given).learn(rows, progress=False)
    assert same(whole, streamed)


@pytest.mark.parametrize("given", GIVEN.values(), ids=GIVEN)
@pytest.mark.parametrize("cut", [500, 1000, 9000, 10_300])
def test_a_loaded_model_learns_on_with_the_same_bits(tmp_path, given, cut):
    rows = drifting()
    whole = model_of(**given).partial_fit(rows)
    model_of(**given).partial_fit(rows[:cut]).save(tmp_path / "m")
    model = GaussianNeurons.load(tmp_path / "m")
    np.testing.assert_array_equal(model.centers_, model_of(**given).partial_fit(rows[:cut]).centers_)
    assert same(whole, model.partial_fit(rows[cut:]))


def test_a_file_with_invalid_scales_is_refused(tmp_path):
    model = model_of().partial_fit(X[:1200])
    arrays, facts = model_file.contents(model.get_params(deep=False), model._state)
    wrong = (
        ({"scaling.scale": np.array([1.0, 0.0, 1.0])}, {}, "not positive"),
        ({"scaling.scale": np.ones(2)}, {}, "wrong shape"),
        ({"scaling.location": np.array([1.0, np.nan, 1.0])}, {}, "not finite"),
        ({}, {"scaling": "median"}, "kind of scale"),
    )
    for other, fact, text in wrong:
        archive.write(tmp_path / "m", arrays | other, facts | fact)
        with pytest.raises(ValueError, match=text):
            GaussianNeurons.load(tmp_path / "m")


@pytest.mark.parametrize("kind", ["columns", "robust"])
def test_scales_that_drift_are_followed(kind):
    rows = drifting()
    model = model_of(scale=kind).partial_fit(rows)
    assert adjusted_rand_score(KINDS[-2000:], model.predict(rows[-2000:])) > 0.95
    last = Scaling.of(rows[-1000:], kind)
    assert (np.abs(np.log2(model.scale_ / last.scale)) < 1).all()


def test_given_widths_are_those_of_scaled_columns_and_stay():
    model = model_of(width=0.5, init="samples").partial_fit(drifting())
    assert (model.widths_ == 0.5).all()
    assert model.scale_[0] > 4 * model_of(width=0.5).partial_fit(X[:1000]).scale_[0]


def test_outliers_do_not_set_a_robust_scale():
    random = np.random.default_rng(3)
    rows = X[:6000].copy()
    rows[random.random(6000) < 0.01] *= 1e4
    clean = Scaling.of(X[:1000], "robust")
    model = model_of(scale="robust").partial_fit(rows)
    np.testing.assert_allclose(model.scale_, clean.scale, rtol=0.1)
    assert adjusted_rand_score(KINDS[:6000], model.predict(X[:6000])) > 0.95
    assert (Scaling.of(rows[:1000], "columns").scale > 50 * clean.scale).all()


def test_an_error_while_columns_are_scaled_anew_leaves_the_model_as_it_was():
    model = model_of().partial_fit(drifting()[:6000])
    before = digest(model)
    with pytest.raises(MemoryError), disturb(Network, "rescaled", MemoryError()):
        model.partial_fit(drifting()[6000:])
    assert digest(model) == before
    with pytest.raises(BadRow, match="NaN at row 3, column 1"):
        model.partial_fit(np.where(np.arange(15).reshape(5, 3) == 10, np.nan, X[:5]))
    with pytest.raises(BadRow, match=r"infinity .* row 1, column 2"):
        model.predict([[0.0, 0.0, 0.0], [0.0, 0.0, np.inf]])
    assert digest(model) == before


def test_after_an_interrupt_the_rest_gives_the_same_bits():
    rows = drifting()
    model = model_of()
    with pytest.raises(KeyboardInterrupt), interrupt_at(model, 9000):
        model.partial_fit(rows)
    assert 9000 <= model.n_samples_seen_ < len(rows)
    assert same(model.partial_fit(rows[model.n_samples_seen_ :]), model_of().partial_fit(rows))


# ---- wrong arguments ------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", ["standard", True, 1.0, ["columns"]])
def test_an_unknown_scale_is_refused(scale):
    with pytest.raises(ValueError, match="scale must be None or one of 'columns', 'robust', got"):
        GaussianNeurons(scale=scale).fit(X[:10])


def test_what_cannot_be_combined_with_a_scale_is_refused():
    with pytest.raises(ValueError, match="scale='robust' cannot be used if widths are learned"):
        GaussianNeurons(width_learning_rate=0.1, scale="robust").fit(X[:10], sample_width=np.ones(10))
    with pytest.raises(ValueError, match="and no scale"):
        GaussianNeurons(width=1.0, domain=(0, 1), scale="columns").place_neurons(3)
    model = model_of().partial_fit(X[:1000])
    with pytest.raises(ValueError, match="scale=None cannot be used: this model started with 'columns'"):
        model.set_params(scale=None).partial_fit(X[:10])


# ---- the warning ----------------------------------------------------------------------------------------


def caught(function):
    """The warnings about columns; other advice is tested elsewhere."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        function()
    return [str(one.message) for one in found if UNEVEN_TEXT in str(one.message)]


def test_uneven_columns_give_one_warning_by_name(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X[:6000], columns=["size", "price", "part"])
    model = GaussianNeurons(4, random_state=0)
    assert caught(lambda: model.partial_fit(frame[:999])) == []
    (text,) = caught(lambda: model.partial_fit(frame[999:2000]))
    assert text.startswith("columns differ in scale: that of 'price' (")
    assert "'size'" not in text
    assert "scale='columns'" in text
    assert caught(lambda: model.partial_fit(frame[2000:])) == []
    model.save(tmp_path / "m")
    assert caught(lambda: GaussianNeurons.load(tmp_path / "m").partial_fit(frame[:100])) == []
    for _ in range(2):  # a model that starts over
        (again,) = caught(lambda: model.fit(X[:500]))
        assert "that of column 1 (" in again


@pytest.mark.parametrize(
    "given",
    [
        {"scale": "columns"},
        {"scale": "robust"},
        {"domain": (0, 1)},
        {"covariance_type": "diag", "init": "samples", "width": np.repeat([UNITS**2], 4, axis=0)},
    ],
    ids=str,
)
def test_no_warning_if_the_scales_are_known(given):
    assert caught(lambda: GaussianNeurons(4, max_samples=1000, random_state=0, **given).fit(X[:100])) == []


def test_a_given_width_is_no_reason_not_to_warn():
    """It is the same length in all columns."""
    texts = caught(lambda: GaussianNeurons(4, width=1e6, max_samples=1000, random_state=0).fit(X[:100]))
    assert "columns differ in scale" in texts[0]


def test_which_data_gives_the_warning():
    assert "'proline' (" in uneven(load_wine().data, load_wine().feature_names)
    assert "worst area" in uneven(load_breast_cancer().data, load_breast_cancer().feature_names)
    images = mnist_sample().images
    for rows in (
        load_digits().data,
        load_iris().data,
        images[:1000].reshape(1000, -1),
        Patches(images, size=5).read(1000),
    ):
        assert uneven(rows) is None
    money = np.random.default_rng(0).normal(size=(1000, 3)) * [10, 2e4, 1e4]
    said = uneven(money, ["age", "income", "debt"])
    assert "'income' (" in said
    assert "'debt' (" in said
    assert "'age'" not in said
    assert uneven(np.where(money > money.std(axis=0), money, 0)) is None  # each has mostly one value
    components = np.random.default_rng(0).normal(size=(1000, 10)) * 1.5 ** -np.arange(10)  # no gap
    assert uneven(components) is None
    components[:, -1] *= 1e-15  # a column of rounding errors
    assert uneven(components) is None
    outlier = np.random.default_rng(0).normal(size=(1000, 3))
    outlier[:10, 0] = 1e6
    assert uneven(outlier) is None
    assert uneven(np.zeros((5, 2))) is None
    assert uneven(np.repeat(X[:9], 100, axis=0)) is None  # too few to tell
    assert uneven(X[:10]) is not None
    assert uneven(np.array([[0.0, 1e9], [1.0, 1e9], [2.0, 1e9]])) is None  # a constant column
