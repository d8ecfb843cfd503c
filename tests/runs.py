"""What the tests of runs share: a small model, its samples, and a way to interrupt it."""

import itertools
import signal
import threading
import time
from contextlib import contextmanager

import numpy as np
import pytest

from gaussian_neurons import GaussianNeurons
from gaussian_neurons.datasets.synthetic import Mixture
from gaussian_neurons.model import archive, model_file

IMAGES = np.random.default_rng(0).integers(0, 256, (20, 12, 12), np.uint8)
X = Mixture(6, seed=1, dtype=np.float64).read(12_000)


def model_of(**parameters):
    return GaussianNeurons(
        **{"n_neurons": 8, "width": 0.01, "domain": (0, 1), "random_state": 0} | parameters
    )


def digest(model):
    """A hash of everything that a model file holds."""
    return archive.digest(*model_file.contents(model.get_params(deep=False), model._state))


def same(one, other):
    """Bit for bit, with everything needed to learn on."""
    return digest(one) == digest(other)


def learns(model, after=0):
    """Whether a model has learned from more than so many samples; to be asked while it learns, too."""
    return lambda: getattr(model, "_learner", None) is not None and model._learner.seen > after


class interrupt_after:
    """Interrupts the main thread in a block; once more where Python swallowed it, as it does in finalizers.

    Where an error is expected of it, the block lies within what expects it: the interrupt may be early.
    The seconds begin when something holds, where it is said what: machines that test may stand still.
    """

    def __init__(self, seconds, once=lambda: True):
        self.seconds, self.once, self.over = seconds, once, threading.Event()
        self.thread = threading.Thread(target=self.work, daemon=True)

    def __enter__(self):
        try:
            self.thread.start()
        except BaseException:
            self.over.set()
            raise

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()

    def work(self):
        while not self.once() and not self.over.is_set():
            time.sleep(0.001)
        time.sleep(self.seconds)
        signal.raise_signal(signal.SIGINT)
        while not self.over.wait(20):
            signal.raise_signal(signal.SIGINT)


@contextmanager
def comes(how, owner, name, call=1):
    """At a call of a function something comes: Ctrl-C, or what an alarm of one's own raises."""
    step, calls = getattr(owner, name), itertools.count(1)

    def disturbed(*arguments):
        if next(calls) == call:
            if how == "alarm":
                raise KeyboardInterrupt
            signal.raise_signal(signal.SIGINT)
        return step(*arguments)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(owner, name, disturbed)
        yield
