"""Observers see the states of one model while it learns, and change nothing."""

import copy

import pytest

from gaussian_neurons.sampling import Rows
from gaussian_neurons.views import observers
from gaussian_neurons.views.observers import observing
from tests.runs import X, model_of, same

LEARN = {
    "partial_fit": lambda model: model.partial_fit(X[:3000]),
    "pieces": lambda model: [model.partial_fit(X[begin : begin + 500]) for begin in range(0, 3000, 500)],
    "fit": lambda model: model.set_params(max_samples=3000).fit(X),
    "learn": lambda model: model.learn(Rows(X), 3000, every=700),
}


@pytest.mark.parametrize("how", LEARN)
@pytest.mark.parametrize("parameters", [{}, {"width": "auto", "domain": None}])
def test_counts_increase_and_nothing_changes(how, parameters):
    observed, alone, seen = model_of(**parameters), model_of(**parameters), []
    with observing(observed, lambda state: seen.append(state.received)):
        LEARN[how](observed)
    LEARN[how](alone)
    assert same(observed, alone)
    assert seen == sorted(seen)
    assert seen[-1] == 3000
    assert len(set(seen)) > 1


def test_only_the_given_model_is_observed_and_only_in_the_block():
    model, other, seen = model_of(), model_of(), []
    with observing(model, seen.append):
        other.partial_fit(X[:10])
        copy.deepcopy(model).partial_fit(X[:10])
        assert seen == []
        model.partial_fit(X[:10])
        assert seen[-1] is model._state
    count = len(seen)
    model.partial_fit(X[:10])
    assert len(seen) == count
    assert observers._observers == []


def test_an_error_of_an_observer_leaves_the_state_as_it_was():
    def broken(state):
        raise RuntimeError("no screen")

    model = model_of().partial_fit(X[:1000])
    before = model._state
    with pytest.raises(RuntimeError, match="no screen"), observing(model, broken):
        model.partial_fit(X[1000:2000])
    assert model._state is before
    assert observers._observers == []
