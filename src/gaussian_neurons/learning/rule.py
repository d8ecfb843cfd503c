"""The numbers of the learning rule."""

import math
from typing import NamedTuple

SHARED_RATE = 0.015  # least rate of neurons that share samples


class Rule(NamedTuple):
    """The constants of Equations 1 and 2. A named tuple, so that compiled functions (Numba) can take it."""

    learning_rate: float  # eta_mu
    inhibition: float  # lambda
    width_learning_rate: float = 0.0  # eta_sigma
    repulsion_every: int = 1  # r: centers repel each other every r-th sample, r times as strongly


class Shares(NamedTuple):
    """The constants of neurons that share each sample, and follow the samples with their widths [21-23]."""

    rate: float  # least rate of a neuron; at first it is 1 / (1 + its samples)
    least_width: float  # widths do not fall below it
    reach: float = math.inf  # largest |x - mu|^2 / sigma of a winner from which neurons learn
