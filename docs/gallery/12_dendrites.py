"""
Neurons with dendrites
======================

A digit moves through the frame, then another one does. Frames that follow each other are likely the same
digit, so the order of the frames tells which dendrites belong to one neuron. Each row shows dendrites of
one neuron.
"""

import matplotlib.pyplot as plt
import numpy as np

from gaussian_neurons import GaussianNeurons
from gaussian_neurons.datasets.synthetic import MovingDigits
from gaussian_neurons.dendrites import DendriticNeurons

frames = MovingDigits(side=12, seed=0, life=20).read(10_000)
model = DendriticNeurons(GaussianNeurons(60, random_state=0), n_neurons=10).partial_fit(frames)

centers = model.dendrites_.centers_
figure, axes = plt.subplots(5, 10, figsize=(9, 4.8), layout="constrained")
largest = np.argsort(-np.bincount(model.groups_[model.groups_ >= 0]))[:5]
for neuron, row in zip(largest, axes, strict=True):
    own = np.flatnonzero(model.groups_ == neuron)
    for place in row:
        place.axis("off")
    for dendrite, place in zip(own, row, strict=False):
        place.imshow(centers[dendrite].reshape(12, 12), cmap="gray_r", vmin=0, vmax=1)
    row[0].set_title(f"neuron {neuron}: {len(own)} dendrites", loc="left", fontsize=9)
plt.show()
