"""
A sweep over widths
===================

With a given width, the paper's rule, the number of clusters depends on the width and the inhibition. A
sweep learns many models; the largest region that agrees is framed, and its middle is circled. There are
eight clusters.
"""

import matplotlib.pyplot as plt

from gaussian_neurons import plotting, sweep
from gaussian_neurons.datasets.synthetic import Mixture

X = Mixture(8, seed=1, spread=0.02).read(3000)
found = sweep(X, n_neurons=30, widths=12, seeds=3, progress=False)

figure, axes = plt.subplots(figsize=(9, 3.6), layout="constrained")
plotting.sweep_map(axes, found)
plt.show()
