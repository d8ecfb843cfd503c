"""The network of a Stack, trained by backpropagation: convolutions, means over a grid, a linear read-out."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gaussian_neurons.stack import Layer, scaled

if TYPE_CHECKING:
    import torch

Array = NDArray[Any]

NEEDS = {"torch": "torch"}  # package -> the extra that installs it
AT_ONCE = 500  # images, when none is learned from
BATCH = 100
RATE = 3e-3


def network(
    shape: tuple[int, int, int], layers: Sequence[Layer], *, grid: int, seed: int, n_classes: int = 10
) -> "torch.nn.Sequential":
    """A network before training: (n, channels, height, width), from 0 to 1 -> (n, n_classes).

    Each layer has as many neurons, as large patches and as large squares of averages as that of a Stack. A
    neuron is a rectified linear unit. Patches are not normalized, as usual in networks that are trained by
    backpropagation: the two first modules only subtract the mean of the training images and divide by their
    standard deviation, once `standardize` has set it.

    Parameters
    ----------
    shape : (height, width, channels) of an image
    layers : those of a Stack. Of their neurons, only the number matters
    grid : side of the grid of averages

    Examples
    --------
    >>> from gaussian_neurons import GaussianNeurons
    >>> net = network((8, 8, 1), [Layer(GaussianNeurons(5), kernel_size=3)], grid=2, seed=0)
    >>> [tuple(it.shape) for it in net.parameters()]  # the first two do not learn
    [(1, 1, 1, 1), (1,), (5, 1, 3, 3), (5,), (10, 20), (10,)]
    """
    import torch
    from torch import nn

    channels = shape[2]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        standard = nn.Conv2d(channels, channels, 1, groups=channels).requires_grad_(False)
        modules: list[nn.Module] = [standard]
        for layer in layers:
            count = int(layer.neurons.n_neurons)
            modules += [nn.Conv2d(channels, count, layer.kernel_size, layer.stride), nn.ReLU()]
            if layer.pool > 1:
                modules.append(nn.AvgPool2d(layer.pool))
            channels = count
        modules += [nn.AdaptiveAvgPool2d(grid), nn.Flatten(), nn.Linear(grid**2 * channels, n_classes)]
    return nn.Sequential(*modules)


def standardize(net: "torch.nn.Sequential", images: Array) -> None:
    """Let the first module subtract the mean of each channel and divide by its standard deviation."""
    import torch

    pixels = scaled(images).reshape(-1, images.shape[-1]).astype(np.float64)
    scale = 1 / np.maximum(pixels.std(axis=0), 1e-6)
    with torch.no_grad():
        net[0].weight.copy_(torch.from_numpy(scale).reshape(-1, 1, 1, 1))
        net[0].bias.copy_(torch.from_numpy(-pixels.mean(axis=0) * scale))


def training(
    net: "torch.nn.Module",
    images: Array,
    labels: Array,
    *,
    epochs: int,
    seed: int,
    rate: float = RATE,
    falls: bool = True,
    every: int | None = None,
) -> Iterator[int]:
    """Train with Adam on the cross-entropy; yields the number of images so far after every `every`.

    Parameters
    ----------
    images : (n, height, width, channels)
    labels : (n,)
    seed : of the order of the images
    rate, falls : the learning rate, and whether it falls to 0 along a cosine
    every : images between two moments at which the caller may look or stop. None: an epoch
    """
    import torch

    random, steps = np.random.default_rng(seed), 0
    learning = [it for it in net.parameters() if it.requires_grad]
    adam = torch.optim.Adam(learning, lr=rate)
    total = epochs * -(-len(images) // BATCH)
    taken, shown = 0, 0
    for _ in range(epochs):
        order = random.permutation(len(images))
        for begin in range(0, len(images), BATCH):
            rows = order[begin : begin + BATCH]
            if falls:
                adam.param_groups[0]["lr"] = rate * (1 + np.cos(np.pi * steps / total)) / 2
            with one_thread():
                outputs = net(tensor(images[rows]))
                loss = torch.nn.functional.cross_entropy(outputs, torch.from_numpy(labels[rows]).long())
                adam.zero_grad()
                loss.backward()
                adam.step()
            steps, taken = steps + 1, taken + len(rows)
            if taken - shown >= (every or len(images)):
                shown = taken
                yield taken


def trained(
    images: Array,
    labels: Array,
    layers: Sequence[Layer],
    *,
    grid: int,
    seed: int,
    epochs: int = 20,
    rate: float = RATE,
) -> "torch.nn.Sequential":
    """The network of the layers, trained from images (n, height, width, channels) and labels from 0 to 9.

    Examples
    --------
    >>> from gaussian_neurons import GaussianNeurons
    >>> images = np.zeros((60, 8, 8, 1), np.uint8)
    >>> images[30:, ::2] = 255  # stripes
    >>> layers = [Layer(GaussianNeurons(5), kernel_size=3)]
    >>> net = trained(images, np.repeat([0, 1], 30), layers, grid=2, seed=0)
    >>> predicted(net, images[[0, 30]])
    array([0, 1])
    """
    height, width, channels = images.shape[1:]
    net = network((height, width, channels), layers, grid=grid, seed=seed)
    standardize(net, images)
    for _ in training(net, images, labels, epochs=epochs, seed=seed, rate=rate):
        pass
    return net


def outputs(net: "torch.nn.Module", images: Array) -> Array:
    """What a network answers to images (n, height, width, channels), (n, number of outputs)."""
    import torch

    with torch.no_grad(), one_thread():
        found = [
            net(tensor(images[first : first + AT_ONCE])).numpy() for first in range(0, len(images), AT_ONCE)
        ]
    return np.concatenate(found)


def predicted(net: "torch.nn.Module", images: Array) -> Array:
    """The class of each image, (n,)."""
    found: Array = outputs(net, images).argmax(axis=1)
    return found


def accuracy(net: "torch.nn.Module", images: Array, labels: Array) -> float:
    """Percent of the images with the right class."""
    return 100 * float((predicted(net, images) == labels).mean())


def tensor(images: Array) -> "torch.Tensor":
    """Images (n, height, width, channels) as PyTorch has them: (n, channels, height, width), from 0 to 1."""
    import torch

    return torch.from_numpy(np.ascontiguousarray(scaled(images).transpose(0, 3, 1, 2)))


@contextmanager
def one_thread() -> Iterator[None]:
    """Compute with one thread: sums are in one order, and experiments run side by side."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
