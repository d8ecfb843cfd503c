"""What the tests of runs share: a small model, its samples, and a way to interrupt it."""

import signal
import threading
import time

import numpy as np

from gaussian_neurons import GaussianNeurons, persistence
from gaussian_neurons.datasets.synthetic import Mixture

IMAGES = np.random.default_rng(0).integers(0, 256, (20, 12, 12), np.uint8)
X = Mixture(6, seed=1, dtype=np.float64).read(12_000)


def model_of(**parameters):
    return GaussianNeurons(
        **{"n_neurons": 8, "width": 0.01, "domain": (0, 1), "random_state": 0} | parameters
    )


def same(one, other):
    """Bit for bit, with everything needed to learn on."""
    return persistence.digest(*one._contents()) == persistence.digest(*other._contents())


class interrupt_after:
    """Interrupts the main thread; once more where Python swallowed it, as it does in finalizers."""

    def __init__(self, seconds):
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.work, args=(seconds,), daemon=True)
        self.thread.start()

    def work(self, seconds):
        time.sleep(seconds)
        signal.raise_signal(signal.SIGINT)
        while not self.over.wait(5):
            signal.raise_signal(signal.SIGINT)

    def join(self):
        self.over.set()
        self.thread.join()
