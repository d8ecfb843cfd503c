"""Shared by several tests: a small model, its samples, how models are compared, interrupts."""

import itertools
import signal
from contextlib import contextmanager

import numpy as np
import pytest

from gaussian_neurons import GaussianNeurons
from gaussian_neurons.datasets.synthetic import Mixture
from gaussian_neurons.model import archive, model_file
from gaussian_neurons.views.observers import observing

IMAGES = np.random.default_rng(0).integers(0, 256, (20, 12, 12), np.uint8)
X = Mixture(6, seed=1, dtype=np.float64).read(12_000)


def model_of(**parameters):
    return GaussianNeurons(
        **{"n_neurons": 8, "width": 0.01, "domain": (0, 1), "random_state": 0} | parameters
    )


def digest(model):
    """Equal for models that are equal bit for bit, with everything needed to learn on."""
    return archive.digest(*model_file.contents(model.get_params(deep=False), model._state))


def same(one, other):
    """Whether two models are equal bit for bit."""
    return digest(one) == digest(other)


@contextmanager
def interrupt_at(model, samples):
    """Press Ctrl-C when the model has learned from so many samples. Put it inside `pytest.raises`."""
    pressed = []

    def press(state):
        if state.received >= samples and not pressed:
            pressed.append(state.received)
            signal.raise_signal(signal.SIGINT)

    with observing(model, press):
        yield


@contextmanager
def disturb(owner, name, error=None, call=1):
    """At the n-th call of a function raise an error, or press Ctrl-C if there is none."""
    function, calls = getattr(owner, name), itertools.count(1)

    def disturbed(*arguments, **named):
        if next(calls) == call:
            if error is not None:
                raise error
            signal.raise_signal(signal.SIGINT)
        return function(*arguments, **named)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(owner, name, disturbed)
        yield
