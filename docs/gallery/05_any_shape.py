"""
Clusters of any shape
=====================

With `shape="any"`, neurons that respond to the same samples form one cluster, so that bent clusters with a
clear gap between them stay whole. The default finds compact clusters and cuts the moons into pieces.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_moons

from gaussian_neurons import GaussianNeurons

X, _ = make_moons(4000, noise=0.06, random_state=0)
figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
for shape, place in zip(("compact", "any"), axes, strict=True):
    model = GaussianNeurons(50, shape=shape, random_state=0).fit(X)
    place.scatter(*X.T, s=3, c=model.labels_ % 20, cmap="tab20", vmin=0, vmax=19)
    count = f"{model.n_clusters_} clusters"
    place.set(title=f'shape="{shape}": {count}', aspect="equal", xticks=[], yticks=[])
plt.show()
