"""
Columns of different scale
==========================

The wines of three growers, described by 13 columns. Proline is hundreds of times as large as most other
columns, so without a scale it alone decides. With `scale="columns"` each column counts as much as any
other. The index is the adjusted Rand index: 1 if the clusters are the growers, 0 for chance.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.metrics import adjusted_rand_score

from gaussian_neurons import GaussianNeurons

X, grower = load_wine(return_X_y=True)
figure, axes = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
for scale, place in zip((None, "columns"), axes, strict=True):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # without a scale, a warning names the large columns
        model = GaussianNeurons(20, scale=scale, random_state=0).fit(X)
    index = adjusted_rand_score(grower, model.labels_)
    colours = np.where(model.labels_ < 0, 7, model.labels_ % 7)
    place.scatter(X[:, 6], X[:, 12], c=colours, cmap="Set1", vmin=0, vmax=8, s=22)
    place.set_title(f"scale={scale!r}: {model.n_clusters_} clusters, Rand index {index:.2f}", fontsize=11)
    place.set(xlabel="flavanoids", ylabel="proline")
plt.show()
