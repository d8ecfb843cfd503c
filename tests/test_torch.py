"""PyTorch: responses and maps by hand, the twins of NumPy, gradients, the bits of what is learned."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install 'gaussian-neurons[torch]'")

from gaussian_neurons import GaussianNeurons  # noqa: E402
from gaussian_neurons.learning import responses  # noqa: E402
from gaussian_neurons.stack import Layer, Stack  # noqa: E402
from gaussian_neurons.torch import excess, from_stack, log_responses, patches  # noqa: E402

RANDOM = np.random.default_rng(0)
KINDS = ((), (4,), (4, 4))  # of a width of four columns


def images(count=60, height=12, width=12, channels=()):
    """Noise with an edge in each image: upright in the first half, flat in the second."""
    x = np.random.default_rng(0).integers(0, 60, (count, height, width, *channels), dtype=np.uint8)
    x[: count // 2, :, width // 2 :] += 190
    x[count // 2 :, height // 2 :] += 190
    return x


def as_torch(x):
    """Images (n, height, width) or (n, height, width, channels) of bytes, as PyTorch has them."""
    x = x[..., None] if x.ndim == 3 else x
    return torch.from_numpy(x).movedim(-1, 1) / 255


def neurons_of(kind, K=7, D=4):
    """Centers, and widths or covariances."""
    centers, widths = RANDOM.normal(size=(K, D)), RANDOM.uniform(0.5, 2.0, (K, *kind[:1]))
    if len(kind) == 2:
        turns = np.linalg.qr(RANDOM.normal(size=(K, D, D)))[0]
        widths = turns @ (widths[:, :, None] * turns.transpose(0, 2, 1))
    return centers, widths


# ---- functions --------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_responses_are_those_of_numpy(kind):
    centers, widths = neurons_of(kind)
    x = np.concatenate([RANDOM.normal(size=(30, 4)), centers[:2]])
    given = [torch.from_numpy(it) for it in (x, centers, widths)]
    expected = responses.responses(x, centers, widths)
    np.testing.assert_allclose(log_responses(*given).exp(), expected, rtol=1e-10, atol=1e-300)
    np.testing.assert_allclose(excess(*given), responses.excess(x, centers, widths), atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("function", [log_responses, excess])
def test_gradients(kind, function):
    x = torch.from_numpy(RANDOM.normal(size=(3, 4))).requires_grad_()
    given = [torch.from_numpy(it) for it in neurons_of(kind, K=3)]
    assert torch.autograd.gradcheck(lambda x: function(x, *given), x)


def test_patches_are_those_of_unfold():
    x = torch.from_numpy(RANDOM.normal(size=(2, 3, 7, 8)))
    found = patches(x, (3, 2), (2, 3))
    assert found.shape == (2, 3, 3, 18)
    columns = torch.nn.functional.unfold(x, (3, 2), stride=(2, 3))
    assert (found.flatten(1, 2) == columns.transpose(1, 2)).all()


# ---- a Stack ----------------------------------------------------------------------------------------


def stack_of(normalize, channels=(), grid=2, **parameters):
    parameters = {"width": 0.3, "init": "samples", "inhibition": 0.1} | parameters
    layers = [
        Layer(GaussianNeurons(6, **parameters), kernel_size=3, pool=2, normalize=normalize),
        Layer(GaussianNeurons(5, **parameters), kernel_size=2, stride=2, normalize=normalize, n_directions=9),
    ]
    return Stack(layers, n_samples=1500, grid=grid, random_state=0).fit(images(channels=channels))


@pytest.mark.parametrize(
    "normalize", [("contrast", "whiten", "length"), ("contrast",), ("length",), ("whiten",), ()]
)
@pytest.mark.parametrize("channels", [(), (3,)])
def test_a_stack_gives_the_same_features(normalize, channels):
    stack = stack_of(normalize, channels)
    x = images(20, channels=channels)
    found, expected = from_stack(stack)(as_torch(x)), stack.transform(x)
    assert expected.max() > 0.1
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5 * expected.max())


@pytest.mark.parametrize(
    "parameters",
    [{"width": "auto", "init": "auto", "inhibition": "auto"}, {"width": 0.3, "covariance_type": "diag"}],
)
def test_a_stack_with_widths_of_its_own_gives_the_same_features(parameters):
    stack = stack_of(("length",), grid=1, **parameters)
    found, expected = from_stack(stack)(as_torch(images(20))), stack.transform(images(20))
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-4 * expected.max())


def test_gradients_of_a_stack():
    module = from_stack(stack_of(("contrast", "whiten", "length"))).double()
    x = as_torch(images(2)).double().requires_grad_()
    assert torch.autograd.gradcheck(module, x, fast_mode=True)
    assert not any(it.requires_grad for it in module.parameters())
    module.requires_grad_()(x).sum().backward()
    assert all((it.grad != 0).any() for it in module.parameters())


def test_a_stack_that_has_not_learned():
    with pytest.raises(ValueError, match="call fit or partial_fit first"):
        from_stack(Stack([Layer(GaussianNeurons(3))]))
    with pytest.raises(TypeError, match=r"must be a gaussian_neurons\.stack\.Stack, got int"):
        from_stack(3)


@pytest.mark.parametrize(
    ("x", "message"),
    [
        (torch.zeros(2, 12, 12, 1), r"must have the shape \(n, 1, height, width\), got \(2, 12, 12, 1\)"),
        (torch.zeros(2, 1, 12, 12, dtype=torch.uint8), "got torch.uint8: divide bytes by 255"),
        (torch.zeros(2, 1, 2, 12), "at least 3 x 3"),
    ],
)
def test_images_that_a_stack_does_not_take(x, message):
    with pytest.raises(ValueError, match=message):
        from_stack(stack_of(()))(x)
