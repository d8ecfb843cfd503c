"""Calls of the learning rule with neurons in and neurons out."""

import numpy as np

from gaussian_neurons import Neurons
from gaussian_neurons.learning.backends import learn_many
from gaussian_neurons.learning.rule import Rule

PRECISIONS = ((np.float64, 1e-10), (np.float32, 1e-4))  # of the compiled core, and how exact each is


def learned(twin, neurons: Neurons, samples, rule: Rule, sample_widths=None) -> Neurons:
    """The neurons after one call of `reference.learn` or `native.learn`."""
    own = None if sample_widths is None else np.ascontiguousarray(sample_widths, np.float64)
    rows = np.asarray(samples, np.float64)
    centers, widths = twin.learn(neurons.centers, neurons.widths, rows, own, rule, neurons.seen)
    return neurons.after(centers, widths, len(rows))


def last(layers, samples, rules, sample_widths=None, backend="auto", threads=1):
    """The layers after the last block of `learn_many`."""
    end = tuple(layers)
    for end in learn_many(layers, samples, rules, sample_widths, backend, threads):  # noqa: B007
        pass
    return end


def same_bits(one: Neurons, other: Neurons) -> bool:
    """Whether centers and widths have the same bits, after as many samples."""
    return (
        one.centers.tobytes() == other.centers.tobytes()
        and one.widths.tobytes() == other.widths.tobytes()
        and one.seen == other.seen
    )
