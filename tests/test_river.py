"""RiverGaussianNeurons: river's checks, the bits of partial_fit, features that come and go."""

import copy
import pickle
import random
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from gaussian_neurons import GaussianNeurons
from gaussian_neurons.model import learner

river = pytest.importorskip("river", reason="river is not installed: pip install 'gaussian-neurons[river]'")

from river import anomaly, checks, compose, evaluate, metrics, preprocessing, stream  # noqa: E402
from river.checks import common  # noqa: E402

from gaussian_neurons.river import WAITING, RiverGaussianNeurons  # noqa: E402

PLACES = np.array([[0.0, 0.0, 0.0], [0.0, 4.0, 0.0], [4.0, 0.0, 0.0], [4.0, 4.0, 0.0]])
KINDS = np.random.default_rng(0).integers(4, size=3000)
X = np.random.default_rng(1).normal(PLACES[KINDS], 0.4)
SAMPLES = [dict(zip("abc", row, strict=True)) for row in X.tolist()]


def model_of(**given):
    return RiverGaussianNeurons(**{"n_neurons": 12, "width": 2.0, "seed": 0} | given)


def same_as(model, rows):
    """Whether the model is what partial_fit would have made of these rows."""
    expected = GaussianNeurons(12, width=2.0, random_state=0).partial_fit(rows)
    return model._learned().centers_.tobytes() == expected.centers_.tobytes()


@pytest.mark.parametrize("kind", ["diag", "full"])
def test_neurons_can_have_covariances(kind):
    shape = np.diag([1.0, 2.0, 3.0]) if kind == "full" else np.array([1.0, 2.0, 3.0])
    width = np.repeat(shape[None], 12, axis=0)
    model = model_of(covariance_type=kind, width=width)
    for sample in SAMPLES[:1500]:
        model.learn_one(sample)
    expected = GaussianNeurons(12, covariance_type=kind, width=width, random_state=0).partial_fit(X[:1500])
    assert model.n_clusters == expected.n_clusters_
    assert model._learned().centers_.tobytes() == expected.centers_.tobytes()


def test_features_of_different_scale_can_be_scaled():
    units = np.array([1.0, 1000.0, 1.0])
    model = model_of(width="auto", scale="columns")
    for sample in SAMPLES:
        model.learn_one(
            {name: value * unit for (name, value), unit in zip(sample.items(), units, strict=True)}
        )
    expected = GaussianNeurons(12, scale="columns", random_state=0).partial_fit(X * units)
    assert model._learned().centers_.tobytes() == expected.centers_.tobytes()
    assert len(model.centers) == expected.n_clusters_


@pytest.mark.parametrize(
    "check", list(checks.yield_checks(RiverGaussianNeurons())), ids=lambda it: it.__name__
)
def test_rivers_checks(check):
    check(RiverGaussianNeurons())


IS_OLD = not hasattr(common, "check_bounded_memory_growth")  # an old version
OF_DATA = [
    "learn_one",
    "pickling",
    "shuffle_features_no_impact",
    "emerging_features",
    "disappearing_features",
    "radically_disappearing_features",
    "no_state_aliasing_with_input",
    "clone_is_independent",
    "seeding_is_idempotent",
    "bounded_memory_growth",
]


@pytest.mark.skipif(IS_OLD, reason="the checks of this river call learn_one(x, y)")
@pytest.mark.parametrize("name", OF_DATA)
def test_rivers_checks_that_need_data(name):
    # Nine features, as in river's Phishing: of six, a check takes away all that the model knows.
    wide = [{k: float(value) for k, value in enumerate(np.tile(row, 3))} for row in X[:400]]
    getattr(common, f"check_{name}")(model_of(domain=(-2, 6)), [(x, 0) for x in wide])


def test_it_learns_the_bits_of_partial_fit_however_often_it_answers():
    model = model_of()
    source = random.Random(0)
    for t, x in enumerate(SAMPLES, 1):
        model.learn_one(x)
        assert len(model._waiting) <= WAITING
        if source.random() < 0.01:
            assert same_as(model, X[:t])
    assert same_as(model, X)
    assert model.n_clusters == 4


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
@pytest.mark.parametrize("late", [False, True])
def test_an_interrupt_or_an_error_learns_no_sample_twice(error, late, monkeypatch):
    """It comes before or after the model has taken the samples."""
    model = model_of(domain=(-2, 6))
    for x in SAMPLES[:200]:
        model.learn_one(x)
    commit = learner.commit

    def interrupted(assign, states):
        if late:
            commit(assign, states)
        raise error

    monkeypatch.setattr(learner, "commit", interrupted)
    with pytest.raises(error):
        _ = model.n_clusters
    monkeypatch.undo()
    assert len(model._waiting) == (0 if late else 200)
    assert model.n_clusters >= 0
    assert model._model.n_samples_seen_ == 200


def test_frames_and_dicts_can_alternate():
    model, frame = model_of(), pd.DataFrame(X, columns=list("abc"))
    model.learn_many(frame[:700])
    for x in SAMPLES[700:1100]:
        model.learn_one(x)
    model.learn_many(frame[1100:])
    model.learn_many(frame[:0])
    assert same_as(model, X)
    many = model.predict_many(frame[["c", "a", "b"]][5:50])
    assert many.tolist() == [model.predict_one(x) for x in SAMPLES[5:50]]
    assert many.index.tolist() == list(range(5, 50))
    with pytest.raises(ValueError, match="NaN"):
        model.learn_many(frame * np.nan)
    assert same_as(model, X)


def test_clusters_have_the_numbers_of_the_model():
    model = model_of()
    model.learn_many(pd.DataFrame(X, columns=list("abc")))
    inner = model._learned()
    assert list(model.centers) == inner.cluster_numbers_.tolist()
    for x, row in zip(SAMPLES[:50], X, strict=False):
        assert model.predict_one(x) == inner.neuron_clusters_[inner.transform([row])[0].argmax()]
    assert model.predict_one({"a": 99.0}) == -1


def test_before_the_first_sample_there_is_no_cluster():
    model = model_of()
    assert model.predict_one(SAMPLES[0]) == -1
    assert (model.n_clusters, model.centers) == (0, {})
    assert model.predict_many(pd.DataFrame(X[:3])).tolist() == [-1] * 3


def test_features_are_those_of_the_first_sample_and_missing_ones_are_zero():
    model = model_of()
    for t, x in enumerate(SAMPLES):
        model.learn_one(x if t % 2 == 0 else {"z": 9.0, "b": x["b"], "a": x["a"]})
    rows = X.copy()
    rows[1::2, 2] = 0.0
    assert same_as(model, rows)
    frame = pd.DataFrame({"b": [4.0], "z": [1.0]})
    assert model.predict_many(frame)[0] == model.predict_one({"a": 0.0, "b": 4.0, "c": 0.0})
    assert list(next(iter(model.centers.values()))) == ["a", "b", "c"]
    mixed = model_of()
    mixed.learn_one({"b": 1.0, 0: 2.0})
    assert mixed._features == [0, "b"]


def test_a_sample_without_any_known_feature_is_refused():
    model = model_of()
    for x in SAMPLES[:1500]:
        model.learn_one(x)
    for act in (model.learn_one, model.predict_one):
        for x in ({}, {"A": 1.0, "B": 2.0}):
            with pytest.raises(ValueError, match=r"of the first one, \['a', 'b', 'c'\], got .*Rename them"):
                act(x)
    for act in (model.learn_many, model.predict_many):
        with pytest.raises(ValueError, match=r"got \['A'\]"):
            act(pd.DataFrame({"A": [1.0]}))
    assert same_as(model, X[:1500])


def test_events_are_those_of_the_model():
    model = model_of()
    assert model.events == []
    for x in SAMPLES:
        model.learn_one(x)
    expected = GaussianNeurons(12, width=2.0, random_state=0).partial_fit(X).events_
    assert [event.kind for event in model.events[:4]] == ["born"] * 4
    assert str(model.events) == str(expected)


INVALID = [np.nan, -np.inf, "red", "1.5", None, np.ma.masked, pd.NA, 1j, Decimal("sNaN"), 10**400]


@pytest.mark.parametrize("value", INVALID, ids=lambda value: f"{value!r:.8}")
def test_invalid_values_are_named_at_once_and_change_nothing(value):
    model = model_of()
    for x in SAMPLES[:1500]:
        model.learn_one(x)
    for act in (model.learn_one, model.predict_one):
        with pytest.raises(ValueError, match="feature 'b' must be a finite number"):
            act({"a": 1.0, "b": value, "c": 1.0})
    assert same_as(model, X[:1500])


def frame_of(*values):
    return pd.DataFrame({"z": values}, dtype=object)


REFUSED = [
    *(("learn_one", {"z": value}, ValueError, "feature 'z' must be a finite number") for value in INVALID),
    ("learn_one", {}, ValueError, "no features"),
    *(("learn_one", x, TypeError, "must be a dict") for x in (None, 5, "z", [1.0], {"z"}, np.ones(2))),
    *(
        ("learn_many", frame_of(1.0, value), ValueError, "columns do not: z|got .* at row 1, column 'z'")
        for value in INVALID
    ),
    ("learn_many", pd.DataFrame({"z": [1.0, np.nan]}), ValueError, "must hold finite numbers, got NaN"),
    ("learn_many", frame_of(pd.Timestamp(0)), ValueError, "columns do not: z"),
    (
        "learn_many",
        pd.DataFrame([[1.0, 2.0]], columns=["z", "z"]),
        ValueError,
        "several columns named 'z'",
    ),
    ("learn_many", pd.DataFrame(index=[0, 1]), ValueError, "no features"),
    *(("learn_many", X, TypeError, "must be a data frame") for X in (None, [[1.0]], X, {"z": [1.0]})),
]


@pytest.mark.parametrize(
    ("method", "given", "error", "says"),
    REFUSED,
    ids=lambda it: f"{it!r:.30}" if isinstance(it, dict) else "",
)
def test_what_is_refused_first_determines_nothing(method, given, error, says):
    model = model_of()
    with pytest.raises(error, match=says):
        getattr(model, method)(given)
    assert (model._features, model._waiting, model.n_clusters, model.centers) == (None, [], 0, {})
    for x in SAMPLES[:1500]:
        model.learn_one(x)
    assert same_as(model, X[:1500])


@pytest.mark.parametrize("bad", [np.nan, "red"])
def test_a_refused_frame_loses_no_sample_that_waits(bad):
    model = model_of()
    for x in SAMPLES[:100]:
        model.learn_one(x)
    with pytest.raises(ValueError, match="must hold"):
        model.learn_many(pd.DataFrame({"a": [1.0, bad], "b": [1.0, 1.0]}))
    model.learn_many(pd.DataFrame(X[100:1500], columns=list("abc")))
    assert same_as(model, X[:1500])


def test_an_interrupted_first_frame_determines_the_features_if_samples_were_learned(monkeypatch):
    commit = learner.commit

    def interrupted(assign, states):
        commit(assign, states)
        raise KeyboardInterrupt

    model, frame = model_of(), pd.DataFrame(X[:1500], columns=list("abc"))
    monkeypatch.setattr(learner, "commit", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.learn_many(frame)
    monkeypatch.undo()
    assert same_as(model, X[:1500])
    assert list(model.centers[0]) == ["a", "b", "c"]


def test_numbers_of_any_type_are_valid():
    model, array = model_of(domain=(0, 1)), np.array(1.0)
    model.learn_one({"a": 1e308, "b": 1e308, "c": np.float32(1)})
    model.learn_one({"a": True, "b": 1, "c": np.int8(1)})
    model.learn_one({"a": Decimal("1"), "b": Fraction(1), "c": array})
    array += 1  # the caller's
    assert model._waiting[1:] == [[1.0, 1.0, 1.0]] * 2
    series, by_frames = pd.Series({"b": 2.0, "a": 1.0}), model_of(domain=(0, 1))
    by_frames.learn_one(series)
    assert (by_frames._features, by_frames._waiting) == (["a", "b"], [[1.0, 2.0]])
    frame = pd.DataFrame({"a": [Decimal("1"), True], "b": pd.array([1, 2], "Int8")}).assign(c=True)
    by_frames.learn_many(frame.astype({"c": "boolean"}))
    assert by_frames._model.n_samples_seen_ == 3


def test_copies_and_pickles_learn_on_alike():
    model = model_of()
    for x in SAMPLES[:1300]:
        model.learn_one(x)
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        for x in SAMPLES[1300:]:
            other.learn_one(x)
        assert same_as(other, X)
    assert same_as(model, X[:1300])
    assert model.clone().n_clusters == 0
    assert model.clone({"width": 3.0}).width == 3.0


def test_a_wrong_parameter_is_an_error_and_no_sample_is_lost():
    model = model_of(width=-1.0)
    model.learn_one(SAMPLES[0])
    with pytest.raises(ValueError, match="width must be positive"):
        model.predict_one(SAMPLES[0])
    assert len(model._waiting) == 1


def test_it_works_in_a_pipeline_with_rivers_metrics():
    flat = [({"a": x["a"], "b": x["b"]}, kind) for x, kind in zip(SAMPLES, KINDS.tolist(), strict=True)]
    model = compose.Pipeline(preprocessing.StandardScaler(), model_of(width=0.3, domain=(-2, 2)))
    for x, _ in flat[:2000]:
        model.learn_one(x)
    judged = evaluate.progressive_val_score(flat[2000:2500], model, metrics.AdjustedRand())
    assert judged.get() > 0.9


def test_the_order_of_the_features_has_no_meaning_in_a_pipeline():
    """Progressive validation asks, then learns; the answers are those of rows with ordered columns."""
    source, scaler, rows, expected = random.Random(0), preprocessing.StandardScaler(), [], []
    alone = GaussianNeurons(random_state=0)
    for x in SAMPLES[:1500]:
        if rows:
            expected.append(int(alone.predict([list(scaler.transform_one(x).values())])[0]))
        scaler.learn_one(x)
        rows.append(list(scaler.transform_one(x).values()))
        alone.partial_fit(rows[-1:])
    shuffled = [dict(source.sample(list(x.items()), 3)) for x in SAMPLES[:1500]]
    pipeline = preprocessing.StandardScaler() | RiverGaussianNeurons(seed=0)
    answers = []
    for x in shuffled:
        answers.append(pipeline.predict_one(x))
        pipeline.learn_one(x)
    assert answers == [-1, *expected]
    judged = [(x, label) for x, label in zip(shuffled, answers, strict=True)]
    again = preprocessing.StandardScaler() | RiverGaussianNeurons(seed=0)
    assert evaluate.progressive_val_score(judged, again, metrics.Accuracy()).get() == 1.0


@pytest.mark.skipif(IS_OLD, reason="evaluate of this river gives metrics no centers")
def test_its_centers_suit_rivers_metrics():
    silhouette = evaluate.progressive_val_score(stream.iter_array(X[:300]), model_of(), metrics.Silhouette())
    assert 0 < silhouette.get() < 1


def test_repulsion_every_is_passed_to_the_model():
    model = model_of(repulsion_every=3)
    for sample in SAMPLES:
        model.learn_one(sample)
    expected = GaussianNeurons(12, width=2.0, repulsion_every=3, random_state=0).partial_fit(X)
    assert model._learned().centers_.tobytes() == expected.centers_.tobytes()
    assert not same_as(model, X)


# ---- anomalies ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("given", [{"width": "auto"}, {}])
def test_score_is_the_false_alarm_rate_at_which_a_sample_is_novel(given):
    model = model_of(**given)
    for sample in SAMPLES[:2000]:
        model.learn_one(sample)
    rows = [*SAMPLES[2000:], *({name: 1.5 * value for name, value in one.items()} for one in SAMPLES[:50])]
    learned = model._learned()
    for row in rows:
        score = model.score_one(row)
        assert 0 <= score <= 1
        for rate in (0.2, 0.01, 0.001):
            novel = learned.is_novel([[row[name] for name in "abc"]], rate)[0]
            assert novel == (score >= 1 - rate), (score, rate)
    usual = [model.score_one(sample) for sample in SAMPLES[2000:]]
    assert 0.85 < np.mean(np.array(usual) < 0.9) < 0.95
    assert np.mean(np.array(usual) < 0.99) > 0.97


def test_scores_are_zero_until_the_first_data_is_complete():
    model = model_of()
    assert model.score_one(SAMPLES[0]) == 0.0
    for sample in SAMPLES[:999]:
        model.learn_one(sample)
    far = {"a": 99.0, "b": 99.0, "c": 99.0}
    assert model.score_one(far) == 0.0
    model.learn_one(SAMPLES[999])
    assert model.score_one(far) > 0.999
    with pytest.raises(ValueError, match="must be a finite number"):
        model.score_one({"a": float("nan")})


@pytest.mark.parametrize(
    "make",
    [
        lambda model: anomaly.ThresholdFilter(model, threshold=0.999),
        lambda model: anomaly.QuantileFilter(model, q=0.999),
    ],
)
def test_filters_of_river_keep_anomalies_from_being_learned(make):
    filtered = make(model_of(width="auto"))
    pipeline = compose.Pipeline(preprocessing.StandardScaler(), filtered)
    for sample in SAMPLES[:2500]:
        pipeline.learn_one(sample)
    model = filtered.anomaly_detector
    before = model._learned().n_samples_seen_
    assert before > 2400
    far = {"a": 99.0, "b": 99.0, "c": 99.0}
    score = pipeline.score_one(far)
    assert score > 0.999
    assert filtered.classify(score)
    filtered.learn_one(far)
    assert model._learned().n_samples_seen_ == before
