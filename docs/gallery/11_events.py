"""
Events over time
================

A model reports when a cluster is born, moves, is absent, returns or retires. Each line is a cluster for as
long as it is known; it is dotted while the cluster is absent.
"""

import matplotlib.pyplot as plt

from gaussian_neurons import GaussianNeurons
from gaussian_neurons.datasets.synthetic import Drifting

model = GaussianNeurons(30, memory=10_000, random_state=0).partial_fit(
    Drifting(4, seed=5, life=12_000).read(60_000)
)

marks = {"born": "o", "moved": "d", "absent": "|", "returned": "^", "retired": "x"}
figure, axes = plt.subplots(figsize=(10, 4), layout="constrained")
for number in sorted({event.cluster for event in model.events_}):
    own = [event for event in model.events_ if event.cluster == number]
    ends = [event.samples for event in own[1:]]
    if own[-1].kind != "retired":
        ends.append(model.n_samples_seen_)
    for event, end in zip(own, ends, strict=False):
        style = ":" if event.kind == "absent" else "-"
        axes.plot([event.samples, end], [number, number], style, color="0.7", zorder=1)
for kind, mark in marks.items():
    some = [(event.samples, event.cluster) for event in model.events_ if event.kind == kind]
    axes.scatter(*zip(*some, strict=True), marker=mark, s=30, label=kind) if some else None
axes.set(xlabel="samples", ylabel="number of the cluster")
axes.legend(loc="upper left")
plt.show()
