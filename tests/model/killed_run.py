"""A run for tests to kill: learns patches with a checkpoint and says when it begins and ends."""

import sys

import numpy as np

from gaussian_neurons import GaussianNeurons
from gaussian_neurons.sampling import Neighbourhoods


def main() -> None:
    """killed_run.py CHECKPOINT N_SAMPLES EVERY."""
    images = np.random.default_rng(0).integers(0, 256, (20, 28, 28), np.uint8)
    model = GaussianNeurons(
        24, width=10.0, learning_rate=0.1, width_learning_rate=0.1, domain=(0, 1), random_state=1
    )
    stream = Neighbourhoods(images, 5, 0.1, seed=2)
    print("begins", flush=True)
    model.learn(stream, int(sys.argv[2]), checkpoint=sys.argv[1], every=int(sys.argv[3]))
    print("ends", model.n_samples_seen_, flush=True)


if __name__ == "__main__":
    main()
