"""
A stream that drifts
====================

Clusters move, vanish and appear elsewhere. One model learns the whole stream, each sample once, in constant
memory. Each picture shows the latest samples in the colour of their cluster, and the true centers as
circles. A cluster keeps its number, so it keeps its colour.
"""

import matplotlib.pyplot as plt

from gaussian_neurons import GaussianNeurons
from gaussian_neurons.datasets.synthetic import Drifting

stream = Drifting(5, seed=2, life=15_000)
model = GaussianNeurons(30, memory=5000, random_state=0)
figure, axes = plt.subplots(1, 4, figsize=(11, 3.2), layout="constrained", sharex=True, sharey=True)
for place in axes:
    model.partial_fit(stream.read(6000))
    latest = stream.read(600)
    place.scatter(*latest.T, s=5, c=model.predict(latest) % 20, cmap="tab20", vmin=0, vmax=19)
    model.partial_fit(latest)
    place.scatter(*stream.centers_at(stream.position).T, s=250, facecolors="none", edgecolors="black")
    place.set(title=f"after {stream.position:,} samples", xticks=[], yticks=[], aspect="equal")
plt.show()
