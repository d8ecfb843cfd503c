"""place_neurons: where learning begins; what is learned stays the same. recent_samples_: the last ones."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from gaussian_neurons import GaussianNeurons

X = np.random.default_rng(0).random((3000, 3))


def model(**changes):
    given = {"width": 0.1, "learning_rate": 0.01, "domain": (0.0, 1.0), "random_state": 3}
    return GaussianNeurons(5, **{**given, **changes})


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_it_shows_where_learning_begins_and_changes_nothing(dtype):
    placed = model().place_neurons(3, dtype)
    assert placed.n_samples_seen_ == 0
    assert not placed.learned_.any()
    assert placed.centers_.dtype == dtype
    assert (placed.centers_ == placed.initial_centers_).all()
    alone = model().partial_fit(X.astype(dtype))
    assert (placed.centers_ == alone.initial_centers_).all()
    placed.partial_fit(X.astype(dtype))
    assert (placed.centers_ == alone.centers_).all()
    assert (placed.learned_ == alone.learned_).all()


def test_given_centers_are_where_it_begins():
    start = np.arange(15.0).reshape(5, 3)
    assert (model(init=start).place_neurons(3).centers_ == start).all()


def test_it_starts_over():
    again = model().partial_fit(X).place_neurons(2)
    assert again.n_features_in_ == 2
    assert again.n_samples_seen_ == 0
    assert len(again.recent_samples_) == 0


@pytest.mark.parametrize(
    "changes",
    [
        {"width": "auto"},
        {"domain": None},
        {"init": "samples"},
        {"learning_rate": "auto", "width_learning_rate": 0.1},
    ],
)
def test_what_depends_on_the_first_data_cannot_be_placed(changes):
    one = model(**changes)
    with pytest.raises(ValueError, match="depends on the first data"):
        one.place_neurons(3)
    with pytest.raises(NotFittedError):
        _ = one.centers_


def test_wrong_arguments_change_nothing():
    one = model().partial_fit(X)
    before = one.centers_
    for arguments, said in (((0,), "n_features"), ((3, np.int8), "dtype")):
        with pytest.raises(ValueError, match=said):
            one.place_neurons(*arguments)
    assert (one.centers_ == before).all()


def test_recent_samples_are_the_last_thousand():
    one = model().partial_fit(X)
    kept = one.recent_samples_
    assert sorted(map(tuple, kept)) == sorted(map(tuple, X[-1000:]))
    with pytest.raises(ValueError, match="read-only"):
        kept[0] = 0
