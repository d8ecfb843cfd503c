"""A network that is trained by backpropagation: shapes and a step by hand, what it learns, its bits."""

import numpy as np
import pytest

from gaussian_neurons import GaussianNeurons
from gaussian_neurons.experiments import backprop
from gaussian_neurons.stack import Layer, Stack

torch = pytest.importorskip("torch", reason="needs PyTorch: pip install 'gaussian-neurons[torch]'")

LAYERS = [Layer(GaussianNeurons(4, width=0.5), 3, pool=2), Layer(GaussianNeurons(6, width=0.5), 2, stride=2)]


def stripes(count=40):
    """Horizontal stripes, class 0, and vertical ones, class 1, in noise."""
    random = np.random.default_rng(0)
    images = random.integers(0, 60, (count, 12, 12, 2), dtype=np.uint8)
    images[::2, ::3] += 150
    images[1::2, :, ::3] += 150
    return images, np.arange(count) % 2


def test_the_output_by_hand():
    """Pixels of 3 with the mean 2 and the deviation 1/2 are 2; the filter's 4 weights of 1 and the offset -1
    make 7, at all places; the read-out doubles it."""
    net = backprop.network((3, 3, 1), [Layer(GaussianNeurons(1), 2)], grid=1, seed=0, n_classes=1)
    with torch.no_grad():
        for parameter, value in zip(net.parameters(), (2, -4, 1, -1, 2, 0), strict=True):
            parameter.fill_(value)
    assert net(torch.full((1, 1, 3, 3), 3.0)).item() == 14


def test_maps_and_features_are_as_large_as_those_of_a_stack():
    images, _ = stripes()
    stack = Stack(LAYERS, n_samples=500, grid=2, random_state=0).fit(images)
    net = backprop.network((12, 12, 2), LAYERS, grid=2, seed=0)
    x = backprop.tensor(images[:3])
    assert net[:-3](x).shape[1:] == np.transpose(stack.maps(images[:3]), (0, 3, 1, 2)).shape[1:]
    assert net[:-1](x).shape == stack.transform(images[:3]).shape


def test_standardized_images_have_mean_0_and_deviation_1():
    images, _ = stripes()
    net = backprop.network((12, 12, 2), LAYERS, grid=2, seed=0)
    backprop.standardize(net, images)
    found = net[0](backprop.tensor(images)).numpy()
    np.testing.assert_allclose(found.mean(axis=(0, 2, 3)), 0, atol=1e-4)
    np.testing.assert_allclose(found.std(axis=(0, 2, 3)), 1, atol=1e-4)


def test_it_learns_what_it_is_shown_and_a_seed_gives_the_same_bits():
    images, labels = stripes()
    nets = [
        backprop.trained(images, labels, LAYERS, grid=2, seed=seed, epochs=30, rate=1e-2)
        for seed in (0, 0, 1)
    ]
    assert backprop.accuracy(nets[0], images, labels) == 100
    assert backprop.accuracy(nets[0], images, 1 - labels) == 0
    first, again, other = (
        np.concatenate([it.detach().numpy().ravel() for it in net.parameters()]) for net in nets
    )
    assert (first == again).all()
    assert (first != other).any()


def test_training_yields_after_so_many_images_and_leaves_the_state_of_torch():
    images, labels = stripes(250)
    torch.manual_seed(5)
    before, threads = torch.get_rng_state(), torch.get_num_threads()
    net = backprop.network((12, 12, 2), LAYERS, grid=2, seed=0)
    assert list(backprop.training(net, images, labels, epochs=2, seed=0)) == [250, 500]
    assert list(backprop.training(net, images, labels, epochs=1, seed=0, every=100)) == [100, 200]
    assert (torch.get_rng_state() == before).all()
    assert torch.get_num_threads() == threads
