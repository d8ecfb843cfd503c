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
# # First steps
#
# A model that finds the clusters of a table, what it says about them, and how it goes on with a stream.

# %%
import matplotlib.pyplot as plt
import numpy as np

from gaussian_neurons import GaussianNeurons, plotting

# %% [markdown]
# ## Data
#
# Six clusters of different size and density in the plane, and one row in fifty anywhere.

# %%
random = np.random.default_rng(7)
places = np.array([[0, 0], [6, 0], [3, 5], [9, 5], [0, 8], [6.5, 9]])
spreads = np.array([0.9, 0.5, 0.7, 0.3, 0.6, 0.8])
which = random.integers(6, size=8000)
X = places[which] + spreads[which, None] * random.normal(size=(8000, 2))
X[::50] = random.uniform(-3, 12, size=X[::50].shape)

# %% [markdown]
# ## Fit
#
# 50 neurons are the default, and an upper limit on the number of clusters. A cell that ends with a model
# shows what it found.

# %%
model = GaussianNeurons(random_state=0).fit(X)
model

# %% [markdown]
# The clusters have numbers, centers and, for each row of `fit`, a label. Rows far from all clusters have
# the label −1.

# %%
print(model.n_clusters_, "clusters")
print(model.cluster_centers_.round(1))
print((model.labels_ == -1).sum(), "rows belong to no cluster")

# %%
figure, axes = plt.subplots(figsize=(6, 5), layout="constrained")
colours = plt.get_cmap("tab10")(model.labels_ % 10)
colours[model.labels_ < 0] = 0.7
axes.scatter(*X.T, s=3, c=colours)
for center, width in zip(model.centers_, model.widths_, strict=True):
    axes.add_patch(plt.Circle(center, np.sqrt(width), fill=False, color="0.3", lw=0.7))
axes.scatter(*model.cluster_centers_.T, marker="x", s=80, c="black")
axes.set_aspect("equal")
plt.show()

# %% [markdown]
# The thin circles are the neurons. A wide cluster has several; together they describe it.
#
# ## How sure is the number?
#
# The score of each number of clusters, in nats above that of one cluster:

# %%
plotting.cluster_counts(model)
plt.show()

# %% [markdown]
# The same model can be asked for another number. With two clusters:

# %%
print(np.bincount(model.predict(X, n_clusters=2)))

# %% [markdown]
# ## Columns of different scale
#
# If one column is in millimetres and the other in metres, distances are those of the first. A warning says
# so. `scale="columns"` lets both count.

# %%
mixed = X * [1000.0, 1.0]
print(GaussianNeurons(scale="columns", random_state=0).fit(mixed).n_clusters_, "clusters")

# %% [markdown]
# ## A stream
#
# The same rows one after another, in portions of 500. The model never needs old rows again.

# %%
stream = GaussianNeurons(random_state=0)
for rows in np.array_split(X, 16):
    stream.partial_fit(rows)
print(stream.n_samples_seen_, "samples,", stream.n_clusters_, "clusters")

# %% [markdown]
# A seventh cluster appears. The model reports it, keeps the others, and calls their absence by its name.

# %%
stream.partial_fit(random.normal([12, -2], 0.4, size=(3000, 2)))
for event in stream.events_[-4:]:
    print(event, "-", event.reason)

# %% [markdown]
# ## Save
#
# One file has the whole state. A loaded model learns on with the same bits.

# %%
import tempfile
from pathlib import Path

path = Path(tempfile.mkdtemp()) / "model.safetensors"
stream.save(path)
print(f"{path.stat().st_size:,} bytes, {GaussianNeurons.load(path).n_clusters_} clusters")
