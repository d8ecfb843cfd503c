"""
The tree of clusters
====================

Neurons are merged step by step, always the two groups whose union loses least. The tree is a matrix that
SciPy draws; its leaves are the neurons that win samples. Three groups of three clusters each: cut low, it
has nine clusters, cut high, three.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.cluster.hierarchy import dendrogram

from gaussian_neurons import GaussianNeurons

random = np.random.default_rng(0)
groups = np.array([[0, 0], [12, 0], [6, 10]])
corners = np.array([[0, 0], [3, 0], [1.5, 2.6]])
which, corner = random.integers(3, size=(2, 6000))
X = groups[which] + corners[corner] + 0.35 * random.normal(size=(6000, 2))
model = GaussianNeurons(20, random_state=0).fit(X)

figure, (plane, tree) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained", width_ratios=(1, 1.4))
plane.scatter(*X.T, s=3, c=model.predict(X, n_clusters=3), cmap="tab10", vmin=0, vmax=9)
plane.scatter(*model.cluster_centers_.T, s=60, c="black", marker="x")
plane.set(title=f"{model.n_clusters_} clusters in 3 groups", aspect="equal")
dendrogram(model.cluster_tree_, ax=tree, no_labels=True, color_threshold=0, above_threshold_color="0.3")
tree.set(title="cluster_tree_", yscale="symlog", ylabel="loss of log-evidence")
plt.show()
