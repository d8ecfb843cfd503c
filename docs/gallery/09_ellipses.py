"""
Neurons with covariances
========================

A neuron can be long in some directions. Here each row comes with the covariance of the rows around it, and
each neuron learns the covariance of the samples that it wins. On an ellipse, the response is 1/e.
"""

import matplotlib.pyplot as plt
import numpy as np

from gaussian_neurons import GaussianNeurons, plotting
from gaussian_neurons.sampling import local_covariances

random = np.random.default_rng(1)
which = random.integers(3, size=3000)
stretch = np.array([[[1.5, 0.0], [0.0, 0.15]], [[0.2, 0.0], [0.0, 1.2]], [[0.9, 0.8], [0.8, 0.9]]])
places = np.array([[0.0, 4.0], [4.0, 0.0], [-2.0, -1.0]])
X = places[which] + np.einsum("nij,nj->ni", stretch[which], random.normal(size=(3000, 2)))

model = GaussianNeurons(
    8, covariance_type="full", width=1.5, width_learning_rate=0.1, init="spread", random_state=0
).fit(X, sample_width=local_covariances(X, width=1.5))
figure, axes = plt.subplots(figsize=(7, 5), layout="constrained")
plotting.plane(axes, X, model.centers_, model.widths_, model.learned_)
axes.legend(loc="lower right")
plt.show()
