"""The numbers of the learning rule."""

from typing import NamedTuple


class Rule(NamedTuple):
    """The constants of Equations 1 and 2. A named tuple, so that compiled functions (Numba) can take it."""

    learning_rate: float  # eta_mu
    inhibition: float  # lambda
    width_learning_rate: float = 0.0  # eta_sigma
    repulsion_every: int = 1  # r: centers repel each other every r-th sample, r times as strongly
