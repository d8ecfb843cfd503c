"""
How sure is the number of clusters?
===================================

`cluster_counts_` has the score of each number of clusters, in nats: how much more likely the recent samples
are than with one cluster. On the left the five clusters are clear. On the right they overlap, and the
scores of several numbers are close.
"""

import matplotlib.pyplot as plt
import numpy as np

from gaussian_neurons import GaussianNeurons, plotting

random = np.random.default_rng(0)
places = np.array([[0, 0], [0, 4], [4, 0], [4, 4], [2, 2]])
which = random.integers(5, size=5000)
figure, axes = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
for spread, place in zip((0.4, 0.65), axes, strict=True):
    model = GaussianNeurons(20, random_state=0).fit(random.normal(places[which], spread))
    plotting.cluster_counts(model, place)
    place.set_title(f"standard deviation {spread}: {model.n_clusters_} clusters")
plt.show()
