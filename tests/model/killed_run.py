"""A run for a test to kill: learns patches for ever, with a checkpoint."""

import sys

import numpy as np

from gaussian_neurons import GaussianNeurons
from gaussian_neurons.sampling import Neighbourhoods


def learn(checkpoint, n_samples: int) -> GaussianNeurons:
    """The run up to so many samples."""
    images = np.random.default_rng(0).integers(0, 256, (20, 28, 28), np.uint8)
    model = GaussianNeurons(
        24, width=10.0, learning_rate=0.1, width_learning_rate=0.1, domain=(0, 1), random_state=1
    )
    return model.learn(Neighbourhoods(images, 5, 0.1, seed=2), n_samples, checkpoint=checkpoint, every=5000)


if __name__ == "__main__":
    learn(sys.argv[1], 10**10)
