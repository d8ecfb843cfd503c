"""A changed rule: only the neuron that responds most is attracted. Repulsion is as in the paper."""

import numpy as np

from gaussian_neurons.learning.reference import pair_responses, responses


def learn(centers, widths, samples, sample_widths, rule, seen):
    """Learn from the samples in their order: Equation 1 with one winner."""
    for x in samples:
        response = responses(x, centers, widths)
        wins = np.arange(len(centers)) == response.argmax()
        attraction = (wins * response / widths)[:, None] * (x - centers)
        push = pair_responses(centers, widths) / widths
        toward = centers[None, :, :] - centers[:, None, :]
        repulsion = ((push + push.T)[:, :, None] * toward).sum(axis=1)
        centers = centers + rule.learning_rate * (attraction - rule.inhibition * repulsion)
    return centers, widths
