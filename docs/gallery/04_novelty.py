"""
Novel rows
==========

A row is novel if it is farther from all neurons than all but 1 % of the recent samples. The shaded region
is novel. The model has learned the grey rows only; the red ones are new to it, the blue ones are not.
"""

import matplotlib.pyplot as plt
import numpy as np

from gaussian_neurons import GaussianNeurons

random = np.random.default_rng(3)
places = np.array([[0.0, 0.0], [3.0, 2.5], [6.0, 0.5]])
spreads = np.array([0.9, 0.4, 0.6])
which = random.integers(3, size=6000)
X = places[which] + spreads[which, None] * random.normal(size=(6000, 2))
model = GaussianNeurons(20, random_state=0).fit(X)

x, y = np.meshgrid(np.linspace(-4, 9, 260), np.linspace(-4, 5, 180))
novel = model.is_novel(np.c_[x.ravel(), y.ravel()], false_alarms=0.01).reshape(x.shape)
fresh = random.uniform([-4, -4], [9, 5], size=(60, 2))
colours = np.where(model.is_novel(fresh), "tab:red", "tab:blue")
figure, axes = plt.subplots(figsize=(7, 5), layout="constrained")
axes.contourf(x, y, novel, levels=[0.5, 1], colors=["0.93"])
axes.scatter(*X[:2000].T, s=3, c="0.6")
axes.scatter(*fresh.T, s=28, c=colours)
axes.set(aspect="equal", title=f"{model.is_novel(fresh).sum()} of {len(fresh)} fresh rows are novel")
plt.show()
