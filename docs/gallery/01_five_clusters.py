"""
Five clusters
=============

The number of clusters is not given: at most 20 neurons learn, and those that describe one cluster together
are merged. The crosses are cluster centers. Grey rows belong to no cluster.
"""

import matplotlib.pyplot as plt
import numpy as np

from gaussian_neurons import GaussianNeurons

random = np.random.default_rng(0)
places = np.array([[0, 0], [0, 4], [4, 0], [4, 4], [2, 2]])
X = random.normal(places[random.integers(5, size=5000)], 0.4)
model = GaussianNeurons(20, random_state=0).fit(X)

colours = plt.get_cmap("tab10")(model.labels_)
colours[model.labels_ < 0] = 0.7
figure, axes = plt.subplots(figsize=(6, 5), layout="constrained")
axes.scatter(*X.T, s=4, c=colours)
axes.scatter(*model.cluster_centers_.T, s=90, c="black", marker="x")
axes.set(title=f"{model.n_clusters_} clusters", aspect="equal")
plt.show()
