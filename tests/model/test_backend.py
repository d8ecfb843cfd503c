"""The backend of a model: names and functions give the same model, and a failing one changes nothing."""

import copy

import numpy as np
import pytest

from gaussian_neurons import GaussianNeurons
from gaussian_neurons.learning import reference
from gaussian_neurons.sampling import Rows
from tests.runs import X, model_of, same

WIDTHS = np.random.default_rng(0).uniform(0.005, 0.02, len(X))
RULES = {
    "centers": {},
    "widths": {"width_learning_rate": 0.1, "learning_rate": 0.001},
    "repulsion": {"repulsion_every": 3},
    "first data": {"init": "samples", "domain": None},
}


def own(centers, widths, samples, sample_widths, rule, seen):
    """A backend of a user."""
    return reference.learn(centers, widths, samples, sample_widths, rule, seen)


def taught(model, begin, end):
    given = WIDTHS[begin:end] if model.width_learning_rate else None
    return model.partial_fit(X[begin:end], sample_width=given)


@pytest.mark.parametrize("parameters", RULES.values(), ids=RULES)
def test_native_and_reference_agree_to_rounding(parameters):
    native, python = (
        taught(model_of(backend=name, **parameters), 0, 2000) for name in ("native", "reference")
    )
    np.testing.assert_allclose(native.centers_, python.centers_, rtol=1e-9)
    np.testing.assert_allclose(native.widths_, python.widths_, rtol=1e-9)
    np.testing.assert_array_equal(native.learned_, python.learned_)
    np.testing.assert_array_equal(native.predict(X[:100]), python.predict(X[:100]))
    assert native.n_samples_seen_ == python.n_samples_seen_ == 2000


def test_an_automatic_width_learns_on_any_backend():
    native, python = (
        model_of(width="auto", domain=None, backend=name).partial_fit(X[:1100])
        for name in ("native", "reference")
    )
    np.testing.assert_allclose(native.centers_, python.centers_, rtol=1e-6)
    assert native.n_clusters_ == python.n_clusters_


@pytest.mark.parametrize("parameters", RULES.values(), ids=RULES)
def test_a_function_gives_the_bits_of_the_backend_it_calls(parameters):
    function, name = (taught(model_of(backend=it, **parameters), 0, 1300) for it in (own, "reference"))
    for array in ("centers_", "widths_", "learned_", "cluster_numbers_"):
        np.testing.assert_array_equal(getattr(function, array), getattr(name, array))
    assert same(function.set_params(backend="reference"), name)


def test_auto_is_native():
    assert same(
        model_of().partial_fit(X[:1500]).set_params(backend="native"),
        model_of(backend="native").partial_fit(X[:1500]),
    )


@pytest.mark.parametrize("backend", ["reference", own])
def test_only_the_compiled_core_has_float32(backend):
    rows = X[:200].astype(np.float32)
    assert model_of().partial_fit(rows).centers_.dtype == np.float32
    model = model_of(backend=backend).partial_fit(rows)
    assert model.centers_.dtype == model.transform(rows).dtype == np.float64
    assert same(model, model_of(backend=backend).partial_fit(rows.astype(np.float64)))


def test_a_loaded_model_answers_and_learns_once_it_has_its_function_again(tmp_path):
    model = model_of(backend=own).partial_fit(X[:1200])
    model.save(tmp_path / "model")
    loaded = GaussianNeurons.load(tmp_path / "model")
    assert loaded.backend == f"{__name__}:own"
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    np.testing.assert_array_equal(loaded.learned_, model.learned_)
    assert loaded.cost(X[:10]) == model.cost(X[:10])
    before = loaded._state
    for learn in (loaded.partial_fit, loaded.fit, loaded.learn):
        with pytest.raises(
            ValueError, match=r":own' is the name of a function.* model.set_params\(backend=...\)"
        ):
            learn(X[:10])
    assert loaded._state is before
    loaded.set_params(backend=own)
    assert same(loaded.partial_fit(X[1200:1400]), model.partial_fit(X[1200:1400]))


def test_a_run_with_a_function_resumes(tmp_path):
    for samples in (600, 1300):
        model = model_of(backend=own).learn(Rows(X), samples, checkpoint=tmp_path / "run")
    assert model.backend is own
    assert same(model, model_of(backend=own).partial_fit(X[:1300]))


@pytest.mark.parametrize("backend", ["gpu", "", None, 3, ["native"]])
def test_unknown_backends_are_refused_with_the_known_ones(backend):
    model = model_of().partial_fit(X[:100])
    before = model._state
    model.set_params(backend=backend)
    for learn in (model.partial_fit, model.fit, model.learn, model_of(backend=backend).partial_fit):
        with pytest.raises(ValueError, match="must be one of 'auto', 'native', 'cuda', 'reference' or a"):
            learn(X[:10])
    assert model._state is before


def failing(centers, widths, samples, sample_widths, rule, seen):
    if seen >= 300:
        raise RuntimeError("no device")
    return own(centers, widths, samples, sample_widths, rule, seen)


def infinite(centers, widths, samples, sample_widths, rule, seen):
    centers, widths = own(centers, widths, samples, sample_widths, rule, seen)
    if seen + len(samples) > 321:
        centers[2] = np.inf
    return centers, widths


@pytest.mark.parametrize(
    ("backend", "error", "message"),
    [
        (failing, RuntimeError, "no device"),
        (infinite, FloatingPointError, r"infinite gave neuron 2 the center \[inf inf\] .* at sample 321"),
        (lambda *_: None, TypeError, r"must return \(centers, widths\) .* got NoneType"),
    ],
)
def test_a_function_that_fails_leaves_the_state_as_it_was(backend, error, message):
    model = model_of(backend=own).partial_fit(X[:100])
    before, again = model._state, copy.deepcopy(model)
    with pytest.raises(error, match=message):
        model.set_params(backend=backend).partial_fit(X[100:1000])
    assert model._state is before
    model.set_params(backend=own)
    assert same(model.partial_fit(X[100:200]), again.partial_fit(X[100:200]))


@pytest.mark.parametrize("backend", ["reference", own])
def test_bad_rows_are_named_by_python_backends_too(backend):
    model = model_of(backend=backend).partial_fit(X[:100])
    before, rows = model._state, X[:600].copy()
    rows[555, 1] = np.inf
    with pytest.raises(ValueError, match="row 555, column 1"):
        model.partial_fit(rows)
    with pytest.raises(ValueError, match=r"got -1.0 at row 3"):
        model.partial_fit(X[:5], sample_width=[1, 1, 1, -1, 1])
    assert model._state is before


def test_a_function_can_change_neither_the_state_nor_the_rows_of_the_caller():
    buffer = np.empty((4, 2))
    calls = []

    def rude(centers, widths, samples, sample_widths, rule, seen):
        calls.append(seen)
        samples -= 1
        buffer[:] = len(calls)
        if len(calls) > 1:
            raise RuntimeError("the second call fails")
        return buffer, widths

    X = np.random.default_rng(0).random((20, 2))
    rows = X.copy()
    model = GaussianNeurons(4, width=1.0, domain=(0, 1), random_state=0, backend=rude).partial_fit(X)
    with pytest.raises(RuntimeError, match="second call"):
        model.partial_fit(X)
    np.testing.assert_array_equal(X, rows)
    np.testing.assert_array_equal(model.centers_, np.ones((4, 2)))


def test_a_float32_model_cannot_change_to_a_backend_without_float32():
    X = np.random.default_rng(0).random((50, 2)).astype(np.float32)
    model = GaussianNeurons(4, width=1.0, domain=(0, 1), random_state=0).partial_fit(X)
    before = model._state
    with pytest.raises(ValueError, match="learned in float32, which only 'native' and 'cuda' can do"):
        model.set_params(backend="reference").partial_fit(X)
    assert model._state is before
