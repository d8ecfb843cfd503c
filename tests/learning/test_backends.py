"""`learn_many`: several layers, blocks of samples, errors, and functions as backends."""

from dataclasses import replace

import numpy as np
import pytest

from gaussian_neurons import GaussianNeurons, Neurons
from gaussian_neurons.base.bad_rows import BadRow
from gaussian_neurons.learning import backends, native, reference
from gaussian_neurons.learning.backends import learn_many, name_of, resolved
from gaussian_neurons.learning.rule import Rule
from tests.learning.calls import last, learned, same_bits
from tests.runs import X, model_of, same


def unpacking(centers, widths, samples, sample_widths, rule, seen):
    """The rule for neurons of one width as plain loops over arrays, in the manner of Numba."""
    learning_rate, inhibition, _, repulsion_every = rule
    centers, (K, D) = centers.copy(), centers.shape
    for t in range(len(samples)):
        step = np.zeros((K, D))
        for i in range(K):
            toward = samples[t] - centers[i]
            step[i] += np.exp(-(toward @ toward) / widths[i]) * toward
            if (seen + t + 1) % repulsion_every == 0:
                for j in range(K):
                    away = centers[i] - centers[j]
                    step[i] += 2 * repulsion_every * inhibition * np.exp(-(away @ away) / widths[i]) * away
        centers += learning_rate / widths[0] * step
    return centers, widths


GPU = pytest.param("cuda", marks=pytest.mark.gpu)
BACKENDS = ["native", "reference", reference.learn, GPU]
RULES = [Rule(0.05, 0.3, 0.1), Rule(0.02, 0.5, 0.0, 3), Rule(0.0, 0.1, 0.2)]
SAMPLES = np.random.default_rng(1).random((600, 2))
SAMPLE_WIDTHS = np.random.default_rng(2).uniform(0.1, 0.5, 600)


def three_layers(dtype=np.float64) -> list[Neurons]:
    start = np.random.default_rng(0).random((4, 2))
    return [Neurons.at(start, width, dtype) for width in (1.0, 0.25, 0.0625)]


def bits(layers) -> list[bytes]:
    return [array.tobytes() for layer in layers for array in (layer.centers, layer.widths)]


# ---- layers and blocks ------------------------------------------------------------------------------


@pytest.mark.parametrize("backend", BACKENDS)
def test_each_layer_learns_as_it_does_alone(backend):
    layers = three_layers()
    together = last(layers, SAMPLES, RULES, SAMPLE_WIDTHS, backend)
    for layer, rule, end in zip(layers, RULES, together, strict=True):
        (alone,) = last([layer], SAMPLES, [rule], SAMPLE_WIDTHS, backend)
        assert same_bits(end, alone)
        assert (end.centers != layer.centers).any() or rule.learning_rate == 0


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_single_layer_is_one_call_of_the_core(dtype):
    neurons = three_layers(dtype)[1]
    for rule in RULES:
        (end,) = last([neurons], SAMPLES, [rule], SAMPLE_WIDTHS, "native")
        assert same_bits(end, learned(native, neurons, SAMPLES, rule, SAMPLE_WIDTHS))


@pytest.mark.parametrize(
    ("backend", "dtype"),
    [
        ("native", np.float32),
        ("native", np.float64),
        ("reference", np.float64),
        (reference.learn, np.float64),
        pytest.param("cuda", np.float32, marks=pytest.mark.gpu),
        pytest.param("cuda", np.float64, marks=pytest.mark.gpu),
    ],
)
def test_blocks_do_not_change_the_result(monkeypatch, backend, dtype):
    layers = three_layers(dtype)
    whole = last(layers, SAMPLES, RULES, SAMPLE_WIDTHS, backend)
    monkeypatch.setattr(backends, "WORK_AT_ONCE", 70.5 * 3 * (4 + 8) ** 2 * (2 + 8))
    monkeypatch.setattr(backends, "ROWS_AT_ONCE", 70)
    monkeypatch.setattr(backends, "MOST_ROWS_OF_GPU", 70)
    blocks = list(learn_many(layers, SAMPLES, RULES, SAMPLE_WIDTHS, backend))
    assert [block[0].seen for block in blocks] == [70, 140, 210, 280, 350, 420, 490, 560, 600]
    assert all(layer.seen == block[0].seen for block in blocks for layer in block)
    assert bits(blocks[-1]) == bits(whole)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("cut", [1, 255, 500])
def test_calls_do_not_change_the_result(backend, cut):
    layers = three_layers()
    first = last(layers, SAMPLES[:cut], RULES, SAMPLE_WIDTHS[:cut], backend)
    second = last(first, SAMPLES[cut:], RULES, SAMPLE_WIDTHS[cut:], backend)
    assert bits(second) == bits(last(layers, SAMPLES, RULES, SAMPLE_WIDTHS, backend))


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_arguments_are_not_changed(backend):
    layers, samples, own = three_layers(), SAMPLES.copy(), SAMPLE_WIDTHS.copy()
    last(layers, samples, RULES, own, backend)
    assert bits(layers) == bits(three_layers())
    assert [layer.seen for layer in layers] == [0, 0, 0]
    np.testing.assert_array_equal(samples, SAMPLES)
    np.testing.assert_array_equal(own, SAMPLE_WIDTHS)


@pytest.mark.parametrize("backend", BACKENDS)
def test_no_samples_give_no_blocks(backend):
    assert list(learn_many(three_layers(), np.empty((0, 2)), RULES, None, backend)) == []


def test_there_must_be_a_rule_for_each_layer():
    with pytest.raises(ValueError, match="zip"):
        last(three_layers(), SAMPLES, RULES[:2])


# ---- errors -----------------------------------------------------------------------------------------


def assert_raises_and_changes_nothing(error, match, samples, sample_widths, rules, backend, layers=None):
    layers = three_layers() if layers is None else layers
    before = bits(layers)
    with pytest.raises(error, match=match) as raised:
        last(layers, samples, rules, sample_widths, backend)
    assert bits(layers) == before
    return raised.value


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("row", "value"), [(0, np.nan), (300, np.inf), (599, -np.inf)])
def test_a_bad_value_is_an_error_with_its_row_and_column(backend, row, value):
    bad = SAMPLES.copy()
    bad[row, 1] = value
    match = f"got {'NaN' if np.isnan(value) else 'infinity'}.* at row {row}, column 1"
    error = assert_raises_and_changes_nothing(BadRow, match, bad, None, RULES, backend)
    assert error.row == row


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("value", [-1.0, np.nan, np.inf])
def test_a_bad_sample_width_is_an_error_with_its_row(backend, value):
    own = SAMPLE_WIDTHS.copy()
    own[300] = value
    match = f"sample_width must be finite and not negative, got {value} at row 300"
    error = assert_raises_and_changes_nothing(BadRow, match, SAMPLES, own, RULES[:1] * 3, backend)
    assert error.row == 300


def test_the_row_of_a_later_block_is_counted_from_the_first_row(monkeypatch):
    monkeypatch.setattr(backends, "WORK_AT_ONCE", 70.5 * 3 * (4 + 8) ** 2 * (2 + 8))
    bad = SAMPLES.copy()
    bad[150] = np.nan
    layers, blocks = three_layers(), []
    with pytest.raises(BadRow, match="row 150"):
        blocks.extend(learn_many(layers, bad, RULES))
    assert [block[0].seen for block in blocks] == [70, 140]
    assert bits(blocks[-1]) == bits(last(layers, bad[:140], RULES))


@pytest.mark.parametrize("backend", BACKENDS)
def test_divergence_is_an_error_with_the_neuron_and_the_sample(backend):
    # The width becomes that of the sample in one step, and 1 + (1e-310 - 1) rounds to 0.
    own = np.ones(400)
    own[350] = 1e-310
    layers = [replace(Neurons.at([[0.0, 0.0], [50.0, 0.0]], 1.0), seen=1000)]
    match = r"neuron 0 .* at sample 1350 .*lower learning_rate"
    given = np.zeros((400, 2)), own, [Rule(0.1, 0.5, 1.0)]
    assert_raises_and_changes_nothing(FloatingPointError, match, *given, backend, layers)


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_error_of_a_divergence_proposes_a_learning_rate(backend):
    layers, samples = [Neurons.at([[0.0]], 1e-3)], np.array([[0.0], [0.01]])
    match = r"lower learning_rate to about 0\.0001"
    given = samples, None, [Rule(1e308, 0.5)]
    assert_raises_and_changes_nothing(FloatingPointError, match, *given, backend, layers)


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_an_error_between_two_layers_leaves_the_last_whole_block(error):
    def stops(centers, widths, samples, sample_widths, rule, seen):
        if seen == 256 and rule is RULES[1]:
            raise error("now")
        return reference.learn(centers, widths, samples, sample_widths, rule, seen)

    blocks = []
    with pytest.raises(error):
        blocks.extend(learn_many(three_layers(), SAMPLES, RULES, backend=stops))
    assert [layer.seen for layer in blocks[-1]] == [256] * 3
    assert bits(blocks[-1]) == bits(last(three_layers(), SAMPLES[:256], RULES, backend="reference"))


# ---- functions and names ----------------------------------------------------------------------------


def test_a_function_that_unpacks_the_rule_learns_like_the_reference():
    rules = [Rule(0.05, 0.3), Rule(0.02, 0.5, 0.0, 3), Rule(0.01, 0.0)]
    found, expected = (
        last(three_layers(), SAMPLES[:100], rules, None, it) for it in (unpacking, "reference")
    )
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one.centers, other.centers, rtol=1e-10)


def test_a_model_learns_with_a_function():
    given = {"learning_rate": 0.001, "inhibition": 0.5}
    model = model_of(backend=unpacking, **given).partial_fit(X[:300])
    exact = model_of(backend="native", **given).partial_fit(X[:300])
    np.testing.assert_allclose(model.centers_, exact.centers_, rtol=1e-10)
    assert (model.centers_ != model.initial_centers_).any()


@pytest.mark.parametrize("width", [0.01, "auto"])
def test_a_stream_can_be_cut_anywhere_with_any_backend(width):
    for backend in ("native", "reference"):
        whole, parts = (model_of(n_neurons=4, width=width, backend=backend) for _ in range(2))
        parts.partial_fit(X[:37]).partial_fit(X[37:1100])
        assert same(parts, whole.partial_fit(X[:1100]))


def test_a_function_gets_float64_arrays_that_it_may_change():
    def careless(centers, widths, samples, sample_widths, rule, seen):
        assert all(array.dtype == np.float64 and array.flags.c_contiguous for array in (centers, samples))
        centers += 1.0
        widths *= 2.0
        return centers, widths

    layer = three_layers()[0]
    (end,) = last([layer], np.asfortranarray(SAMPLES[:10].astype(np.float32)), [RULES[0]], None, careless)
    np.testing.assert_array_equal(end.centers, layer.centers + 1.0)
    np.testing.assert_array_equal(end.widths, layer.widths * 2.0)
    np.testing.assert_array_equal(layer.widths, 1.0)


@pytest.mark.parametrize(
    ("result", "found"),
    [
        (lambda centers, widths: None, "got NoneType"),
        (lambda centers, widths: centers, "got ndarray"),
        (lambda centers, widths: (centers,), r"got \[\('float64', 4, 2\)\]"),
        (lambda centers, widths: (centers[:2], widths), r"got \[\('float64', 2, 2\), \('float64', 4\)\]"),
        (lambda centers, widths: (centers, 1.0), r"got \[\('float64', 4, 2\), \('float64',\)\]"),
        (lambda centers, widths: (centers + 1j, widths), r"got \[\('complex128', 4, 2\)"),
        (lambda centers, widths: (centers, widths.astype(str)), "'str"),
    ],
)
def test_a_function_that_returns_something_else_is_named(result, found):
    def wrong(centers, widths, samples, sample_widths, rule, seen):
        return result(centers, widths)

    match = (
        rf"test_backends:.*wrong must return \(centers, widths\) of the shapes \(4, 2\) and \(4,\).*{found}"
    )
    assert_raises_and_changes_nothing(TypeError, match, SAMPLES, None, RULES, wrong)


@pytest.mark.parametrize("what", ["centers", "widths", "negative"])
def test_a_function_that_diverges_is_an_error_with_the_sample(what):
    def diverging(centers, widths, samples, sample_widths, rule, seen):
        if seen <= 300 < seen + len(samples):
            if what == "centers":
                centers[2, 1] = np.inf
            else:
                widths[2] = np.nan if what == "widths" else -1.0
        return centers, widths

    match = "neuron 2 .* at sample 300 "
    assert_raises_and_changes_nothing(FloatingPointError, match, SAMPLES, None, RULES, diverging)


def test_a_function_that_diverges_with_whole_blocks_only_is_an_error():
    def diverging(centers, widths, samples, sample_widths, rule, seen):
        return centers if len(samples) == 1 else np.full_like(centers, np.nan), widths

    match = "neuron 0 .* at sample 255 "
    assert_raises_and_changes_nothing(FloatingPointError, match, SAMPLES, None, RULES, diverging)


@pytest.mark.parametrize("unknown", ["gpu", "", None, 3])
def test_an_unknown_backend_lists_the_known_ones(unknown):
    with pytest.raises(
        ValueError, match=r"one of 'auto', 'native', 'cuda', 'reference' or a function .*, got"
    ):
        resolved(unknown)
    with pytest.raises(ValueError, match="backend must be one of"):
        GaussianNeurons(2, backend=unknown).partial_fit(SAMPLES)


def test_the_name_of_a_backend():
    def compiled():
        pass

    assert name_of("native") == "native"
    assert name_of(reference.learn) == "gaussian_neurons.learning.reference:learn"
    assert name_of(unpacking) == "tests.learning.test_backends:unpacking"
    dispatcher = type("Dispatcher", (), {"py_func": staticmethod(unpacking)})()  # of Numba
    assert name_of(dispatcher) == name_of(unpacking)
    assert name_of(compiled).endswith("test_the_name_of_a_backend.<locals>.compiled")


# ---- threads --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("sample_widths", [None, SAMPLE_WIDTHS])
def test_the_bits_do_not_depend_on_the_number_of_threads(dtype, sample_widths):
    layers = [Neurons.at(SAMPLES[k : k + 40], 0.02 + 0.01 * k, dtype) for k in range(7)]
    rules = [Rule(0.001 * (k + 1), 0.5, 0.1 * (sample_widths is not None), 1 + k % 3) for k in range(7)]
    alone = [
        last([layer], SAMPLES, [rule], sample_widths)[0] for layer, rule in zip(layers, rules, strict=True)
    ]
    for threads in (1, 2, 5, 20):
        together = last(layers, SAMPLES, rules, sample_widths, threads=threads)
        for one, other in zip(alone, together, strict=True):
            assert same_bits(one, other)


def test_the_first_layer_that_diverges_is_named():
    layers = [Neurons.at(SAMPLES[:5], 0.5)] * 3
    rules = [Rule(0.1, 0.5), Rule(1.5e308, 0.5), Rule(1.6e308, 0.5)]
    with pytest.raises(FloatingPointError, match=r"learning_rate=1\.5e\+308 is too large"):
        last(layers, SAMPLES, rules, threads=3)
    bad = SAMPLES.copy()
    bad[7, 1] = np.inf
    with pytest.raises(BadRow, match="row 7, column 1"):
        last(layers, bad, [Rule(0.1, 0.5)] * 3, threads=3)


def test_rows_at_odd_addresses_are_learned():
    """As a cluster can send them."""
    odd = np.frombuffer(b"x" + SAMPLES.tobytes(), np.uint8)[1:].view(np.float64).reshape(SAMPLES.shape)
    assert not odd.flags.aligned
    layer, rule = [Neurons.at(SAMPLES[:5], 0.5)], [Rule(0.01, 0.5)]
    assert same_bits(last(layer, odd, rule)[0], last(layer, SAMPLES, rule)[0])
