"""
Filters of a stack
==================

The first layer of a `Stack` learns normalized patches of two colour photographs, without labels: edges in
many directions, some of them coloured.
"""

import matplotlib.pyplot as plt
import numpy as np

from gaussian_neurons import GaussianNeurons
from gaussian_neurons.datasets import photographs
from gaussian_neurons.stack import Layer, Stack

neurons = GaussianNeurons(64, random_state=0)
stack = Stack([Layer(neurons, kernel_size=7)], n_samples=20_000, random_state=0).fit(photographs().images)

# Neurons learn whitened patches of fewer numbers: back to pixels.
whitening = stack.encoders_[0].normalized.whitening
filters = stack.models_[0].centers_ @ np.linalg.pinv(whitening)
order = np.argsort(-np.abs(filters).max(axis=1))
figure, axes = plt.subplots(4, 12, figsize=(9, 3.2), layout="constrained")
for index, place in zip(order, axes.flat, strict=False):
    low, high = filters[index].min(), filters[index].max()
    place.imshow(((filters[index] - low) / (high - low)).reshape(7, 7, 3))
    place.axis("off")
plt.show()
