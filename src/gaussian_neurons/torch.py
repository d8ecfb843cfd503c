"""Gaussian neurons as modules of PyTorch: they respond, differentiably, and learn by their own rule."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from gaussian_neurons.stack import Encoder, Stack, edges

try:
    import torch
    from torch import Tensor, nn
    from torch.nn import functional
except ModuleNotFoundError:
    raise ModuleNotFoundError("this needs PyTorch: pip install 'gaussian-neurons[torch]'") from None


# ---- a Stack --------------------------------------------------------------------------------------


def from_stack(stack: Stack) -> "StackFeatures":
    """The features of a Stack that has learned, as a differentiable module.

    Parameters
    ----------
    stack : Stack

    Examples
    --------
    >>> from gaussian_neurons import GaussianNeurons
    >>> from gaussian_neurons.stack import Layer
    >>> images = np.random.default_rng(0).integers(256, size=(50, 8, 8), dtype=np.uint8)
    >>> layer = Layer(GaussianNeurons(6, width=0.5, init="samples"), kernel_size=3)
    >>> stack = Stack([layer], n_samples=1500, random_state=0).fit(images)
    >>> features = from_stack(stack)(torch.from_numpy(images[:, None] / np.float32(255)))
    >>> bool((features - torch.from_numpy(stack.transform(images))).abs().max() < 1e-5)
    True
    """
    if not isinstance(stack, Stack):
        raise TypeError(f"stack must be a gaussian_neurons.stack.Stack, got {type(stack).__name__}.")
    return StackFeatures(stack.begun(), stack.grid)


class StackFeatures(nn.Module):
    """What `Stack.transform` computes, from images (n, channels, height, width) with numbers in [0, 1].

    All arrays of the stack are parameters, of float32, that no optimizer changes: `requires_grad_()` lets
    backpropagation train them. A large batch needs much memory, since all maps of all images exist at once:
    about a hundred images at a time are fast.

    Parameters
    ----------
    encoders : sequence of stack.Encoder, the lowest first
    grid : features are means over grid x grid parts of the last map
    """

    def __init__(self, encoders: Sequence[Encoder], grid: int = 2) -> None:
        super().__init__()
        self.layers = nn.Sequential(*(_Encoded(it) for it in encoders))
        self.grid = grid

    def forward(self, images: Tensor) -> Tensor:
        """Features, (n, grid * grid * n_neurons of the last layer)."""
        return averaged(self.layers(images), self.grid)


def averaged(maps: Tensor, grid: int) -> Tensor:
    """Means over the parts of a grid, (n, K, height, width) -> (n, grid * grid * K).

    Examples
    --------
    >>> averaged(torch.arange(16.0).reshape(1, 1, 4, 4), 2)
    tensor([[ 2.5000,  4.5000, 10.5000, 12.5000]])
    """
    heights, widths = (np.diff(it).tolist() for it in edges(maps.shape[2], maps.shape[3], grid))
    rows = maps.movedim(1, -1).split(heights, 1)  # as the maps are in memory
    parts = [part.mean((1, 2)) for row in rows for part in row.split(widths, 2)]
    return torch.cat(parts, 1)


class _Encoded(nn.Module):
    """The twin of `stack.Encoder`: maps below (n, channels, height, width) -> (n, K, height', width')."""

    def __init__(self, encoder: Encoder) -> None:
        super().__init__()
        layer, normalized = encoder.layer, encoder.normalized
        self.size, self.stride, self.pool = layer.kernel_size, layer.stride, layer.pool
        self.channels = len(normalized.mean) // self.size**2
        self.floor = normalized.floor if "contrast" in normalized.steps else None
        self.length = normalized.length if "length" in normalized.steps else None
        # The numbers of a patch are ordered by row, column and channel there, by channel, row, column here.
        order = np.arange(len(normalized.mean)).reshape(self.size, self.size, -1).transpose(2, 0, 1).ravel()
        centers, widths = encoder.centers, encoder.widths
        self.whitening: nn.Parameter | None = None
        if normalized.whitening is None:
            centers = centers[:, order]
            for axis in range(1, widths.ndim):
                widths = widths.take(order, axis)
        else:
            self.whitening = _frozen(normalized.whitening.T[:, order])
            self.middle = _frozen(normalized.mean @ normalized.whitening)
        self.centers, self.widths = _frozen(centers), _frozen(widths)

    def forward(self, maps: Tensor) -> Tensor:
        size, stride = (self.size, self.size), (self.stride, self.stride)
        rows = patches(_checked(maps, self.channels, size), size, stride)
        if self.floor is not None:
            rows = functional.layer_norm(rows, rows.shape[-1:], eps=self.floor)
        if self.whitening is not None:
            rows = functional.linear(rows, self.whitening, -self.middle)
        if self.length is not None:
            rows = rows / (rows.square().sum(-1, keepdim=True) + self.length).sqrt()
        found = excess(rows, self.centers, self.widths).movedim(-1, 1)
        return found if self.pool == 1 else functional.avg_pool2d(found, self.pool)


def _frozen(array: Any) -> nn.Parameter:
    return nn.Parameter(torch.from_numpy(np.array(array, np.float32)), requires_grad=False)


# ---- functions ------------------------------------------------------------------------------------


def patches(images: Tensor, size: tuple[int, int], stride: tuple[int, int]) -> Tensor:
    """The patches of images (n, channels, height, width), (n, height', width', D).

    The numbers of a patch are ordered by channel, row and column, as `torch.nn.functional.unfold` has them.

    Examples
    --------
    >>> patches(torch.arange(9.0).reshape(1, 1, 3, 3), (2, 2), (1, 1))[0, 1, 0]
    tensor([3., 4., 6., 7.])
    """
    places = images.unfold(2, size[0], stride[0]).unfold(3, size[1], stride[1])
    return places.permute(0, 2, 3, 1, 4, 5).flatten(3)


def excess(x: Tensor, centers: Tensor, widths: Tensor) -> Tensor:
    """The twin of `learning.responses.excess`: how far log-responses exceed their mean, (..., K).

    Examples
    --------
    >>> centers, widths = torch.tensor([[0.0], [1.0], [2.0]]), torch.ones(3)
    >>> excess(torch.tensor([[1.0]]), centers, widths)  # the logarithms are -1, 0 and -1
    tensor([[0.0000, 0.6667, 0.0000]])
    """
    if widths.ndim > 1:
        logs = log_responses(x, centers, widths)
        return functional.relu(logs - logs.mean(-1, keepdim=True))
    inverse = 1 / widths
    weight = torch.cat([2 * centers * inverse[:, None], -inverse[:, None]], 1)
    level = centers.square().sum(1) * inverse
    x = torch.cat([x, x.square().sum(-1, keepdim=True)], -1)
    return functional.relu(functional.linear(x, weight - weight.mean(0), level.mean() - level))


def log_responses(x: Tensor, centers: Tensor, widths: Tensor) -> Tensor:
    """log f_i(x), the twin of `learning.responses.log_response_blocks`: (..., D) -> (..., K).

    Examples
    --------
    >>> log_responses(torch.tensor([2.0, 0.0]), torch.zeros(1, 2), torch.tensor([[4.0, 1.0]]))  # a covariance
    tensor([-1.])
    """
    if widths.ndim == 1:
        rows = x.reshape(-1, x.shape[-1])
        distances = torch.cdist(rows, centers, compute_mode="donot_use_mm_for_euclid_dist")
        return (-distances.square() / widths).reshape(*x.shape[:-1], len(centers))
    differences = x[..., None, :] - centers
    if widths.ndim == 2:
        return -(differences.square() / widths).sum(-1)
    factors = torch.linalg.cholesky(widths)  # L, with |L^-1 d|^2 = d^T Sigma^-1 d
    inverse = torch.linalg.solve_triangular(factors, torch.eye(len(factors[0])).to(factors), upper=False)
    return -torch.einsum("kde,...ke->...kd", inverse, differences).square().sum(-1)


# ---- checks ---------------------------------------------------------------------------------------


def _checked(images: Tensor, channels: int, size: tuple[int, int]) -> Tensor:
    if images.ndim != 4 or images.shape[1] != channels:
        raise ValueError(
            f"images must have the shape (n, {channels}, height, width), got {tuple(images.shape)}."
        )
    if not images.is_floating_point():
        raise ValueError(f"images must hold floating-point numbers, got {images.dtype}: divide bytes by 255.")
    if images.shape[2] < size[0] or images.shape[3] < size[1]:
        raise ValueError(
            f"images must have at least {size[0]} x {size[1]} places, as a patch has, got "
            f"{images.shape[2]} x {images.shape[3]}."
        )
    return images
