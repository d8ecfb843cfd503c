"""Systems for tests of the benchmark beside the peers: two real ones, and some that go wrong."""

import os
import time
from dataclasses import dataclass

from benchmarks.peers import systems
from benchmarks.peers.learners import Whole
from benchmarks.peers.systems import System


@dataclass
class Odd(Whole):
    """Does one thing instead of learning, from the third call on."""

    calls: int = 0

    def learn(self, rows):
        self.calls += 1
        if self.calls > 2:
            self.model()

    def predict(self, rows):
        return rows


class Slows(Odd):
    """Takes 2 ms for a sample once it has seen 50."""

    seen = 0

    def learn(self, rows):
        slow = max(0, min(len(rows), self.seen + len(rows) - 50))
        self.seen += len(rows)
        time.sleep(0.002 * slow)


def breaks():
    raise ValueError("no such thing")


def odd(instead):
    return System("Odd", "numpy", "none", lambda task: Odd(instead), "import numpy")


SYSTEMS = {
    "ours-float32": systems.SYSTEMS["ours-float32"],
    "sklearn-minibatch-1": systems.SYSTEMS["sklearn-minibatch-1"],
    "breaks": odd(breaks),
    "hangs": odd(lambda: time.sleep(60)),
    "dies": odd(lambda: os._exit(3)),
    "slows": System("Slows", "numpy", "none", lambda task: Slows(None), "import numpy"),
    "gathers": System("Gathers", "numpy", "none", lambda task: Slows(None, settled=50), "import numpy"),
    "large": System(
        "Large", "numpy", "none", lambda task: Odd(breaks), "import numpy", bytes=lambda task: 3.0 * 2**30
    ),
    "unknown": System("Unknown", "numpy", "none", lambda task: Odd(breaks), "import no_such_module"),
}
