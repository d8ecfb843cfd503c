"""Model files: damaged, and forged with a valid checksum."""

import copy
import functools
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st

from fuzz.shared import CHANGES, check_sentence, digest, folder, mutated, silent, table, widths_for
from fuzz.target import target
from gaussian_neurons import GaussianNeurons
from gaussian_neurons.model import archive

KINDS = {
    "given width": ({"width": 0.3, "domain": (0.0, 3.0)}, 40, np.float64),
    "float32": ({"width": [0.3, 0.2, 0.1], "init": [[0.0, 1.0]] * 3, "domain": (0.0, 3.0)}, 1300, np.float32),
    "first data": ({"width": 0.3}, 40, np.float64),
    "automatic": ({}, 1300, np.float64),
    "scaled": ({"scale": "robust"}, 1300, np.float64),
    "automatic, first data": ({}, 7, np.float32),
    "widths": ({"width": 0.3, "width_learning_rate": 0.01, "learning_rate": 0.02}, 1200, np.float64),
    "diagonals": ({"width": 0.3, "covariance_type": "diag", "domain": (0.0, 3.0)}, 1300, np.float32),
    "covariances": (
        {"width": 0.3, "covariance_type": "full", "width_learning_rate": 0.01, "learning_rate": 0.002},
        1200,
        np.float64,
    ),
    "covariances, first data": ({"covariance_type": "full", "width_learning_rate": 0.01}, 40, np.float64),
    "changed": ({}, 1100, np.float64),
    "names": ({"width": 0.3, "domain": (0.0, 3.0)}, 40, np.float64),
    "fit": ({"max_samples": 1500}, 30, np.float64),
}


@functools.cache
def saved(kind: str) -> bytes:
    """The file of a model of this kind."""
    parameters, rows, dtype = KINDS[kind]
    model = GaussianNeurons(3, random_state=0, **parameters)
    x = table(rows, dtype=dtype)
    with silent(), folder() as place:
        if kind == "fit":
            model.fit(x)
        else:
            own = widths_for(rows, kind=model.covariance_type) if model.width_learning_rate else None
            model.partial_fit(x, sample_width=own)
        if kind == "changed":
            model.add_neurons(2).move_neurons(0, centers=[[1.0, 1.0]])
        if kind == "names":
            model.feature_names_in_ = ["a", "b"]
        model.save(place / "model")
        return (place / "model").read_bytes()


def _use(path: Path, expected: str | None = None) -> None:
    """Load a file; if that succeeds, answer, learn on and save. Only refusals may be raised."""
    with silent():
        try:
            model = GaussianNeurons.load(path)
        except ValueError as error:
            check_sentence(error)
            return
        assert expected in (None, digest(model)), "a changed file was taken"
        columns = model.n_features_in_
        x = table(50, columns)
        try:
            model.save(path)
            again = GaussianNeurons.load(path)
            assert digest(again) == digest(model), "saved and loaded, it is another model"
            labels = model.predict(x)
            assert np.isin(labels, [-1, *model.cluster_numbers_]).all(), "a label that no cluster has"
            model.score_samples(x), model.is_novel(x), model.transform(x), model.cost(x), model.events_
            model.predict_proba(x), model.score(x)
            before = model.n_samples_seen_
            model.partial_fit(x, sample_width=widths_for(50) if model.width_learning_rate else None)
            assert model.n_samples_seen_ == before + 50, "the count is wrong"
            model.predict(x)
            model.save(path)
            GaussianNeurons.load(path)
        except (ValueError, FloatingPointError) as error:
            check_sentence(error)


@target("model_files_damaged", kind=st.sampled_from(sorted(KINDS)), changes=CHANGES)
def damaged(kind: str, changes: list[tuple[str, float, bytes]]) -> None:
    """A file with changed, inserted or missing bytes is refused with a ValueError, or is the same model."""
    with folder() as place:
        path = place / "model"
        path.write_bytes(saved(kind))
        before = digest(GaussianNeurons.load(path))
        path.write_bytes(mutated(saved(kind), changes))
        _use(path, before)


NUMBERS = [0, -1, 1, 2, 1000, 1 << 31, 1 << 63, 10**30, 0.5, -0.5, 1e308, 5e-324]
VALUES = st.one_of(
    st.sampled_from(
        [*NUMBERS, None, True, "", "auto", "word", "uniform", "reference", "a.b", [], {}, [1, 2]]
    ),
    st.sampled_from([{"array": "recent"}, {"array": "low"}, {"array": "none"}, {"array": 1}, [[0], [1]]]),
)
FORGERIES = st.lists(
    st.one_of(
        st.tuples(st.just("fact"), st.integers(0, 200), VALUES),
        st.tuples(st.just("delete fact"), st.integers(0, 200), st.none()),
        st.tuples(
            st.just("value"), st.integers(0, 60), st.sampled_from([np.nan, np.inf, *NUMBERS[:4], 9e18, 1e308])
        ),
        st.tuples(st.just("type"), st.integers(0, 60), st.sampled_from(["f4", "f8", "i8", "i4", "u8", "?"])),
        st.tuples(
            st.just("shape"),
            st.integers(0, 60),
            st.sampled_from(["shorter", "longer", "flat", "deeper", "wide"]),
        ),
        st.tuples(st.just("delete array"), st.integers(0, 60), st.none()),
    ),
    min_size=1,
    max_size=2,
)


def _places(facts: Any) -> list[tuple[Any, Any]]:
    """All containers and keys of nested facts."""
    keys = list(facts) if isinstance(facts, dict) else list(range(len(facts)))
    inner = [facts[key] for key in keys if isinstance(facts[key], dict | list)]
    return [(facts, key) for key in keys] + [place for one in inner for place in _places(one)]


def _forge(arrays: dict[str, Any], facts: dict[str, Any], what: str, at: int, value: Any) -> None:
    if "fact" in what:
        places = _places(facts)
        container, key = places[at % len(places)]
        if what == "fact":
            container[key] = copy.deepcopy(value)
        else:
            del container[key]
        return
    name = sorted(arrays)[at % len(arrays)]
    array = arrays[name].copy()
    if what == "delete array":
        del arrays[name]
    elif what == "type":
        arrays[name] = array.astype(value)
    elif what == "value":
        if array.size:
            array.flat[at % array.size] = value
        arrays[name] = array
    else:
        shapes = {
            "shorter": lambda: array[:-1],
            "longer": lambda: np.concatenate([array, array[:1]]),
            "flat": array.ravel,
            "deeper": lambda: array[None],
            "wide": lambda: np.repeat(array, 2, axis=-1),
        }
        arrays[name] = shapes[value]()


@target("model_files_forged", kind=st.sampled_from(sorted(KINDS)), forgeries=FORGERIES)
def forged(kind: str, forgeries: list[tuple[str, int, Any]]) -> None:
    """A file whose facts or arrays were changed, with a valid checksum, is refused with a ValueError, or is a
    model that answers, learns on and can be saved, or refuses to.
    """
    with folder() as place, np.errstate(all="ignore"):
        path = place / "model"
        path.write_bytes(saved(kind))
        arrays, facts = archive.read(path)
        for what, at, value in forgeries:
            try:
                _forge(arrays, facts, what, at, value)
            except (OverflowError, ValueError):
                return  # no such array can be made
        archive.write(path, arrays, facts)
        _use(path)
