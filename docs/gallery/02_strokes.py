"""
Strokes of handwritten digits
=============================

The paper's Figure 2: sixteen neurons learn 5 x 5 patches of digits with a given width. Framed neurons have
learned a stroke, an edge or the background. The others were pushed out of the domain [0, 1]: blue is below
it, red above.
"""

import matplotlib.pyplot as plt

from gaussian_neurons import GaussianNeurons, plotting
from gaussian_neurons.datasets import mnist_sample
from gaussian_neurons.sampling import Patches

patches = Patches(mnist_sample().images, size=5, seed=0)
model = GaussianNeurons(16, width=1.0, learning_rate=0.1, domain=(0, 1), random_state=0)
model.learn(patches, 1_000_000)

figure, axes = plt.subplots(figsize=(5, 5), layout="constrained")
plotting.filters(axes, model.centers_, (5, 5), model.learned_)
axes.set_title(f"{model.n_clusters_} of 16 neurons learned")
plt.show()
