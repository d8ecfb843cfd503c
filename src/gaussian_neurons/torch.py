"""Gaussian neurons as modules of PyTorch: they respond, differentiably, and learn by their own rule."""

from __future__ import annotations  # the documentation is built without PyTorch

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from gaussian_neurons.base.checks import one_of, whole_number
from gaussian_neurons.estimator import GaussianNeurons
from gaussian_neurons.learning import backends
from gaussian_neurons.learning.cuda.rows import RowsOnGPU
from gaussian_neurons.model import archive, model_file
from gaussian_neurons.sampling import native
from gaussian_neurons.sampling.reference import PLACE
from gaussian_neurons.stack import FIRST as DECIDING
from gaussian_neurons.stack import STEPS, Encoder, Normalization, Stack, edges, normalization

try:
    import torch
    from torch import Tensor, nn
    from torch.nn import functional
except ModuleNotFoundError:
    raise ModuleNotFoundError(
        "gaussian_neurons.torch needs PyTorch: pip install 'gaussian-neurons[torch]'"
    ) from None

Array = NDArray[Any]

SEEDS = int(np.iinfo(np.int32).max)
FROM_IMAGE = 10  # patches that a convolution learns from an image
FIRST = 1000  # samples that a layer learns from before others learn from it, if all learn at once


# ---- layers ---------------------------------------------------------------------------------------


class _Neurons(nn.Module):
    """What both layers have in common: a model that learns, and its numbers as tensors."""

    def __init__(
        self, in_features: int, n_neurons: int, activation: str, device: Any, dtype: Any, parameters: Any
    ) -> None:
        super().__init__()
        self.in_features = in_features
        self.activation = one_of("activation", activation, tuple(ACTIVATIONS))
        known = GaussianNeurons._get_param_names()
        unknown = [name for name in parameters if name not in known]
        if unknown:
            raise TypeError(
                f"{type(self).__name__} has no parameter {unknown[0]!r}; beside its own it takes those of "
                f"GaussianNeurons: {', '.join(known)}."
            )
        if parameters.get("random_state") is None:
            parameters["random_state"] = int(torch.randint(SEEDS, (), device="cpu"))
        self._model = GaussianNeurons(n_neurons, **parameters)
        empty = torch.empty(0, device=device, dtype=dtype)
        if not empty.is_floating_point():
            raise ValueError(f"dtype must be a floating-point type, got {dtype}.")
        self.register_buffer("_centers", empty, persistent=False)  # the extra state contains them
        self.register_buffer("_widths", empty, persistent=False)
        self._start()

    # ---- answers

    @property
    def centers(self) -> Tensor:
        """The centers, (n_neurons, D), in the memory of the model."""
        return self._centers

    @property
    def widths(self) -> Tensor:
        """The widths or covariances, in the memory of the model."""
        return self._widths

    @property
    def n_neurons(self) -> int:
        """How many neurons there are: the outputs of the layer."""
        return len(self.centers) or int(self._model.n_neurons)

    @property
    def learned(self) -> Tensor:
        """Which neurons found a pattern, (n_neurons,) of bool; the others are surplus."""
        return torch.from_numpy(self._begun().learned_.copy()).to(self.centers.device)

    @property
    def n_clusters(self) -> int:
        """The number of clusters."""
        return self._begun().n_clusters_

    @property
    def n_samples_seen(self) -> int:
        """How many rows or patches the layer has learned from."""
        return self._model.n_samples_seen_

    @property
    def model(self) -> GaussianNeurons:
        """A copy of the model of the layer; a model that is assigned replaces it."""
        found: GaussianNeurons = clone(self._model)
        found._state = self._model._state
        return found

    @model.setter
    def model(self, model: GaussianNeurons) -> None:
        if not isinstance(model, GaussianNeurons):
            raise TypeError(f"model must be GaussianNeurons, got {type(model).__name__}.")
        if not model.__sklearn_is_fitted__():
            raise ValueError("model has learned nothing: give its parameters to the layer instead.")
        self._require_features(model.n_features_in_)
        found = clone(model)
        found._state = model._state
        self._model = found
        self._show()

    def extra_repr(self) -> str:
        return f"n_neurons={self.n_neurons}, activation={self.activation!r}, samples={self.n_samples_seen}"

    # ---- changes

    def prune(self) -> Tensor:
        """Remove the neurons that did not learn, in place; `forward` has fewer outputs then.

        Gives the indices of the neurons that stay, with which a layer above can be adapted:
        `above.weight[:, kept]`.
        """
        learned = self._begun().learned_
        if not learned.any():
            raise RuntimeError(
                "no neuron has learned, so none would be left. Learn from more samples, or try a larger "
                "width."
            )
        self._model.remove_neurons(~learned)
        self._show()
        return torch.from_numpy(np.flatnonzero(learned)).to(self.centers.device)

    def get_extra_state(self) -> Tensor:
        model = self._model
        data = model_file.packed(model_file.contents(model.get_params(deep=False), model._fitted_state))
        return torch.frombuffer(bytearray(data), dtype=torch.uint8)

    def set_extra_state(self, state: Any) -> None:
        loaded = model_file.unpacked(_bytes_of(state), GaussianNeurons().get_params(deep=False), STATE)
        self._require_features(loaded.state.recent.n_features)
        self._model._restore(loaded)
        self._show()

    def __setstate__(self, state: Any) -> None:
        super().__setstate__(state)
        self._show()

    # ---- internals

    def _learn(self, rows: Tensor, sample_width: Tensor | None = None) -> None:
        """Learn from rows (n, D) as `GaussianNeurons.partial_fit` does."""
        if not len(rows):
            raise ValueError("there is nothing to learn from: the batch is empty.")
        if not self.n_samples_seen:
            if self._model._fitted_state.recent.dtype != self._precision:
                self._start()  # the layer was moved to another precision
            rows = rows.to(getattr(torch, self._precision.name))
        elif rows.dtype not in (torch.float32, torch.float64):
            rows = rows.float()
        widths = None if sample_width is None else sample_width.numpy(force=True)
        before = self._model._state
        on_gpu = self._rows_on_gpu(rows)
        try:
            if on_gpu is None:
                self._model.partial_fit(rows.numpy(force=True), sample_width=widths)
            else:
                self._model._learn_rows(before, self._model._fitted_state, on_gpu, widths)
        finally:
            if self._model._state is not before:  # an interrupt leaves whole samples
                self._show()

    def _rows_on_gpu(self, rows: Tensor) -> RowsOnGPU | None:
        """The rows for a GPU that learns from them where they are; None if they are to be read here."""
        network, settings = self._model._fitted_state.network, self._model._settings(self.in_features)
        if not rows.is_cuda or network is None or network.shared or network.scaling is not None:
            return None
        if not backends.uses_gpu(settings.backend, network.neurons, settings.width_learning_rate > 0):
            return None
        return RowsOnGPU.shared(rows.detach())

    def _responses(self, rows: Tensor) -> Tensor:
        """What the neurons give for rows (..., D)."""
        if not len(self.centers):
            raise RuntimeError(NO_NEURONS)
        return ACTIVATIONS[self.activation](rows.to(self.centers.dtype), self.centers, self.widths)

    @property
    def _precision(self) -> np.dtype[Any]:
        """The precision in which the layer begins to learn."""
        return np.dtype(np.float64 if self.centers.dtype == torch.float64 else np.float32)

    def _start(self) -> None:
        """The model before its first sample, with neurons if these need no data."""
        model, columns = self._model, self.in_features
        backends.require(model.backend)
        if not model._settings(columns).needs_first_data:
            model.place_neurons(columns, self._precision)
        else:
            model._exchange(model._state, model._new_state(np.empty((0, columns), self._precision)))
        self._show()

    def _begun(self) -> GaussianNeurons:
        """The model, if it has neurons."""
        if not len(self.centers):
            raise RuntimeError(NO_NEURONS)
        return self._model

    def _require_features(self, n_features: int) -> None:
        if n_features != self.in_features:
            raise ValueError(
                f"the model has learned from {n_features} columns, but the layer has {self.in_features}."
            )

    def _show(self) -> None:
        """The numbers of the model as tensors, which share its memory if device and precision allow."""
        state = self._model._fitted_state
        if state.network is None and not state.received:
            arrays: list[Array] = [np.empty((0, self.in_features)), np.empty(0)]
        else:
            network = self._model._network
            arrays = [network.undone(network.neurons.centers), network.neurons.widths]
            if network.scaling is not None:
                arrays[1] = network.scaling.undone_widths(arrays[1])
        self._centers, self._widths = map(self._tensor, arrays)

    def _tensor(self, array: Array) -> Tensor:
        """An array on the device and in the precision of the layer; not copied if these allow it."""
        with torch.inference_mode(False):  # or gradients could not pass through it later
            return torch.from_numpy(array if array.flags.writeable else array.copy()).to(self._centers)


class GaussianLayer(_Neurons):
    """Gaussian neurons in the place of `torch.nn.Linear`: rows (..., in_features) -> (..., n_neurons).

    `forward` is differentiable with respect to its input. `learn` is the rule of `GaussianNeurons` without
    autograd, in the compiled core or on a GPU: the bits of `GaussianNeurons.partial_fit` on the same rows.

    Parameters
    ----------
    in_features : int
    n_neurons : int, default=50
    activation : "response", "log" or "excess", default="response"
        What a neuron gives: f(x), log f(x), or how far log f(x) exceeds the mean of all neurons, 0 if it does
        not.
    device, dtype : of the tensors, as for other modules
    **parameters : those of `GaussianNeurons`; without a `random_state`, PyTorch draws the seed

    Attributes
    ----------
    centers : (n_neurons, in_features), empty before the first sample if neurons are placed by the data
    widths : (n_neurons,); with covariances or a `scale`, (n_neurons, in_features) or (n_neurons, in_features,
        in_features)
    learned : (n_neurons,) of bool, which neurons found a pattern
    n_clusters : the number of clusters
    model : a copy of the `GaussianNeurons`; a model that is assigned replaces it

    Notes
    -----
    `centers` and `widths` share the memory of the model and must not be changed: change a copy of `model`,
    with its `move_neurons`, and assign it. Each call of `learn` makes new tensors.

    `state_dict` contains the whole model, so a module that is loaded learns on with the same bits. A layer
    learns in float64 if it had that precision at its first sample, else in float32. `to` changes the tensors
    and so `forward`, and not the model.

    Examples
    --------
    >>> places = torch.tensor([[0.0, 0.0], [0.0, 3.0], [3.0, 0.0]])
    >>> layer = GaussianLayer(2, 10, width=1.0, random_state=0)
    >>> random = torch.Generator().manual_seed(0)
    >>> x = places.repeat(500, 1) + 0.3 * torch.randn(1500, 2, generator=random)
    >>> layer.learn(x).n_clusters
    3
    >>> kept = layer.prune()
    >>> layer(places).shape
    torch.Size([3, 3])
    """

    def __init__(
        self,
        in_features: int,
        n_neurons: int = 50,
        *,
        activation: str = "response",
        device: Any = None,
        dtype: Any = None,
        **parameters: Any,
    ) -> None:
        columns = whole_number("in_features", in_features)
        super().__init__(columns, n_neurons, activation, device, dtype, parameters)

    def forward(self, x: Tensor) -> Tensor:
        """What each neuron gives for each row, (..., n_neurons)."""
        return self._responses(self._rows(x))

    def learn(self, x: Tensor, sample_width: Tensor | None = None) -> Self:
        """Learn from the rows in their order, one at a time, on top of what was learned before.

        Parameters
        ----------
        x : (..., in_features)
        sample_width : the paper's sigma_x of each row, (...); needed if `width_learning_rate` is above 0
        """
        rows, own = self._rows(x), None
        if rows.layout != torch.strided:
            raise ValueError(f"x must be dense to be learned from, got {rows.layout}: use x.to_dense().")
        if sample_width is not None:
            own = torch.as_tensor(sample_width)
            own = own.reshape(-1, *own.shape[max(rows.ndim - 1, 1) :])
        self._learn(rows.reshape(-1, self.in_features), own)
        return self

    def extra_repr(self) -> str:  # noqa: D102
        return f"in_features={self.in_features}, {super().extra_repr()}"

    def _rows(self, x: Any) -> Tensor:
        if not isinstance(x, Tensor):
            raise TypeError(f"x must be a tensor, got {type(x).__name__}: use torch.as_tensor(x).")
        if not x.ndim or x.shape[-1] != self.in_features:
            raise ValueError(f"x must have the shape (..., {self.in_features}), got {tuple(x.shape)}.")
        if not x.is_floating_point():
            raise ValueError(f"x must hold real floating-point numbers, got {x.dtype}: use x.float().")
        return x


class GaussianConv2d(_Neurons):
    """Gaussian neurons in the place of `torch.nn.Conv2d`: images (n, channels, height, width) -> maps.

    Each neuron responds to each patch of the images: (n, n_neurons, height', width'). The numbers of a center
    are ordered as the weights of `Conv2d`: `centers.view(-1, in_channels, *kernel_size)`.

    Parameters
    ----------
    in_channels : int
    n_neurons : int, default=50
    kernel_size, stride : int or pair, default=5 and 1
    patches_per_image : int or None, default=10
        How many patches `learn` draws from each image, at random places. They depend on the seed and on the
        number of patches before, not on how images are divided into calls. None: all patches, row by row.
    normalize : of "contrast", "whiten", "length", default none
        What is done to a patch before neurons see it, as in `gaussian_neurons.stack.Layer`. The first call of
        `learn` decides it, from all patches of its images, or 10,000 of them. Centers are then normalized
        patches, and with "contrast", patches of low contrast teach nothing.
    n_directions : int or None, default=40
        How many principal components "whiten" keeps at most.
    activation, device, dtype, **parameters : as for `GaussianLayer`

    Notes
    -----
    Attributes are those of `GaussianLayer`; a row is a patch.

    Examples
    --------
    >>> layer = GaussianConv2d(1, 8, kernel_size=3, width=1.0, domain=(0, 1), random_state=0)
    >>> images = torch.rand(100, 1, 12, 12, generator=torch.Generator().manual_seed(0))
    >>> layer.learn(images)(images).shape
    torch.Size([100, 8, 10, 10])
    """

    _normalization: Normalization | None = None

    def __init__(
        self,
        in_channels: int,
        n_neurons: int = 50,
        kernel_size: int | tuple[int, int] = 5,
        stride: int | tuple[int, int] = 1,
        *,
        patches_per_image: int | None = FROM_IMAGE,
        normalize: Sequence[str] = (),
        n_directions: int | None = 40,
        activation: str = "response",
        device: Any = None,
        dtype: Any = None,
        **parameters: Any,
    ) -> None:
        channels, size = whole_number("in_channels", in_channels), _pair("kernel_size", kernel_size)
        chosen = [one_of("normalize", it, STEPS) for it in np.atleast_1d(normalize or ()).tolist()]
        steps = tuple(it for it in STEPS if it in chosen)
        directions, columns = _whole_or_none("n_directions", n_directions), channels * size[0] * size[1]
        if parameters.get("width_learning_rate"):
            raise ValueError(
                "a GaussianConv2d cannot learn widths by width_learning_rate, since patches have no "
                "sample_width: leave it out, or give width='auto'."
            )
        if "whiten" in steps and directions is not None:
            columns = min(directions, columns)
        super().__init__(columns, n_neurons, activation, device, dtype, parameters)
        self.in_channels, self.kernel_size, self.stride = channels, size, _pair("stride", stride)
        self.patches_per_image = _whole_or_none("patches_per_image", patches_per_image)
        self.normalize, self.n_directions = steps, directions
        self._drawn = 0  # patches so far, flat ones included

    def forward(self, images: Tensor) -> Tensor:
        """What each neuron gives for each patch, (n, n_neurons, height', width')."""
        rows = self._places(images).flatten(3)
        if self.normalize:
            if self._normalization is None:
                raise RuntimeError(NO_NORMALIZATION)
            rows = rows.to(self.centers.dtype)
            rows = normalized(rows, self._floor, self._whitening, self._middle, self._length)
        return self._responses(rows).movedim(-1, 1)

    def learn(self, images: Tensor) -> Self:
        """Learn from patches of the images, in their order, on top of what was learned before.

        Parameters
        ----------
        images : (n, in_channels, height, width)
        """
        places = self._places(images)
        if not torch.isfinite(images).all():
            raise ValueError("images must hold finite numbers, got NaN or infinity.")
        rows, known = self._chosen(places), self._normalization
        try:
            if self.normalize and len(rows):
                self._normalization = known or self._decided(places)
                self._learn_normalized(rows, self._normalization)
            else:
                self._learn(rows)
        except Exception:
            self._normalization = known
            raise
        self._drawn += len(rows)
        return self

    def get_extra_state(self) -> Tensor:  # noqa: D102
        arrays = {"model": super().get_extra_state().numpy()}
        facts = {"drawn": self._drawn, "settings": self._settings}
        found = self._normalization
        if found is not None:
            facts |= {"floor": found.floor, "length": found.length}
            arrays["mean"] = found.mean
            if found.whitening is not None:
                arrays["whitening"] = found.whitening
        return torch.frombuffer(bytearray(archive.packed(arrays, facts)), dtype=torch.uint8)

    def set_extra_state(self, state: Any) -> None:  # noqa: D102
        arrays, facts = archive.unpacked(_bytes_of(state), STATE)
        if facts.get("settings") != self._settings:
            raise ValueError(
                f"{STATE} must be that of a GaussianConv2d with {self._settings}, got "
                f"{facts.get('settings', 'that of a GaussianLayer')}."
            )
        before, self._normalization = self._normalization, None
        if "mean" in arrays:
            self._normalization = Normalization(
                self.normalize, facts["floor"], arrays["mean"], arrays.get("whitening"), facts["length"]
            )
        try:
            super().set_extra_state(torch.from_numpy(arrays["model"].copy()))
        except Exception:
            self._normalization = before
            raise
        self._drawn = facts["drawn"]

    def extra_repr(self) -> str:  # noqa: D102
        sizes = f"kernel_size={self.kernel_size}, stride={self.stride}"
        return f"in_channels={self.in_channels}, {sizes}, {super().extra_repr()}"

    @property
    def _settings(self) -> dict[str, Any]:
        """What a state must have in common with the layer, as JSON."""
        return {
            "in_channels": self.in_channels,
            "kernel_size": list(self.kernel_size),
            "normalize": list(self.normalize),
            "n_directions": self.n_directions if "whiten" in self.normalize else None,
        }

    def _chosen(self, places: Tensor) -> Tensor:
        """The patches to learn from, (number of patches, D)."""
        per_image, (count, height, width) = self.patches_per_image, map(int, places.shape[:3])
        if per_image is None:
            return places.flatten(0, 2).flatten(1)
        seed = self._model._fitted_state.seed
        words = native.words(seed, PLACE, self._drawn, count * per_image, 1)[:, 0]
        at = torch.from_numpy((words.astype(np.float64) * (height * width / 2**32)).astype(np.int64))
        return places[torch.arange(count * per_image) // per_image, at // width, at % width].flatten(1)

    def _learn_normalized(self, rows: Tensor, how: Normalization) -> None:
        with threadpool_limits(1):  # sums are in one order
            taught = how.teaching(rows.float().numpy(force=True))
        if len(taught):
            self._learn(torch.from_numpy(taught))
        else:
            self._show()  # the normalization may be new

    def _decided(self, places: Tensor) -> Normalization:
        """The normalization that patches (n, height, width, ...) decide: all of them, or some thousand."""
        rows = places.flatten(0, 2)
        rows = rows[:: -(-len(rows) // DECIDING)].flatten(1).float().numpy(force=True)
        with threadpool_limits(1):
            return normalization(self.normalize, rows, self.n_directions)

    def _show(self) -> None:
        super()._show()
        found = self._normalization
        self._floor = found.floor if found is not None and "contrast" in found.steps else None
        self._length = found.length if found is not None and "length" in found.steps else None
        whitening, middle = None, None
        if found is not None and found.whitening is not None:
            whitening = self._tensor(found.whitening.T)
            middle = self._tensor(found.mean @ found.whitening)
        self.register_buffer("_whitening", whitening, persistent=False)
        self.register_buffer("_middle", middle, persistent=False)

    def _places(self, images: Tensor) -> Tensor:
        _require_images(images, self.in_channels, self.kernel_size)
        return patches(images, self.kernel_size, self.stride)


STATE = "the state of the layer"  # in messages
NO_NORMALIZATION = "the first images decide the normalization of this layer: call learn first."
NO_NEURONS = (
    "this layer has no neurons yet, since data decides where they start: call learn first. Neurons with a "
    "width, a domain and init='uniform' (or an array) are there from the start."
)


def _bytes_of(state: Any) -> bytes:
    if not isinstance(state, Tensor) or state.dtype != torch.uint8:
        kind = state.dtype if isinstance(state, Tensor) else type(state).__name__
        raise ValueError(f"{STATE} must be a tensor of torch.uint8, got {kind}.")
    data: bytes = state.numpy(force=True).tobytes()
    return data


def _whole_or_none(name: str, value: Any) -> int | None:
    return None if value is None else whole_number(name, value)


def _pair(name: str, value: Any) -> tuple[int, int]:
    """One number for both sides, or two."""
    both = value if isinstance(value, tuple | list) else (value, value)
    if len(both) != 2:
        raise ValueError(f"{name} must be a whole number or a pair of them, got {value!r}.")
    return whole_number(name, both[0]), whole_number(name, both[1])


# ---- networks -------------------------------------------------------------------------------------


def learn_layers(network: Iterable[nn.Module], batches: Iterable[Any], *, at_once: bool = False) -> None:
    """Let all layers of Gaussian neurons of a network learn without labels, each from what is below it.

    Parameters
    ----------
    network : nn.Sequential or another iterable of modules; those without `learn` only pass on
    batches : tensors, or tuples whose first element is one, such as a DataLoader gives; unless `at_once`,
        they are read once for each layer that learns
    at_once : all layers learn from each batch, a layer as soon as each one below has learned from 1000
        samples. Otherwise one layer learns after the other, the lowest first

    Examples
    --------
    >>> x = torch.rand(3000, 4, generator=torch.Generator().manual_seed(0))
    >>> settings = {"domain": (0, 1), "random_state": 0}
    >>> lower = GaussianLayer(4, 9, width=0.3, **settings)
    >>> network = nn.Sequential(lower, GaussianLayer(9, 5, width=1.0, **settings))
    >>> learn_layers(network, x.split(100))
    >>> [layer.n_samples_seen for layer in network]
    [3000, 3000]
    """
    if isinstance(batches, Tensor):
        raise TypeError("batches must be several tensors, got one: use x.split(1000), or [x].")
    modules = list(_flat([network] if isinstance(network, nn.Module) else network))
    learning = [k for k, module in enumerate(modules) if isinstance(module, _Neurons)]
    if not learning:
        raise ValueError("network must contain a GaussianLayer or a GaussianConv2d, got none.")
    if not at_once and len(learning) > 1 and iter(batches) is batches:
        raise ValueError("batches can be read only once: give a list or a DataLoader, or use at_once=True.")
    for turn in [learning] if at_once else [[k] for k in learning]:
        empty = True
        for batch in batches:
            empty, x = False, batch[0] if isinstance(batch, tuple | list) else batch
            _pass_upward(modules[: turn[-1] + 1], x, turn)
        if empty:
            raise ValueError("batches must be at least one tensor, got none.")


def _flat(network: Iterable[nn.Module]) -> Iterator[nn.Module]:
    """The modules of a network in their order."""
    for module in network:
        if isinstance(module, nn.Sequential | nn.ModuleList):
            yield from _flat(module)
        elif not isinstance(module, _Neurons) and any(isinstance(it, _Neurons) for it in module.modules()):
            raise ValueError(
                f"{type(module).__name__} contains layers that learn, in an order that is unknown here: give "
                f"them as an nn.Sequential or a list."
            )
        else:
            yield module


def _pass_upward(modules: Sequence[nn.Module], x: Tensor, learning: Sequence[int]) -> None:
    """Let the layers with these indices learn from a batch; the last module is one of them."""
    with torch.no_grad():
        for k, module in enumerate(modules):
            if k in learning:
                module.learn(x)
            if k + 1 < len(modules):
                if k in learning and module.n_samples_seen < FIRST:
                    return
                x = module(x)


# ---- a Stack --------------------------------------------------------------------------------------


def from_stack(stack: Stack) -> StackFeatures:
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
        self.grid = whole_number("grid", grid)

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
        self.whitening, self.middle = None, None
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
        _require_images(maps, self.channels, size)
        rows = patches(maps, size, stride).flatten(3)
        rows = normalized(rows, self.floor, self.whitening, self.middle, self.length)
        found = excess(rows, self.centers, self.widths).movedim(-1, 1)
        return found if self.pool == 1 else functional.avg_pool2d(found, self.pool)


def _frozen(array: Any) -> nn.Parameter:
    return nn.Parameter(torch.from_numpy(np.array(array, np.float32)), requires_grad=False)


# ---- functions ------------------------------------------------------------------------------------


def patches(images: Tensor, size: tuple[int, int], stride: tuple[int, int]) -> Tensor:
    """The patches of images (n, channels, height, width), (n, height', width', channels, *size), not copied.

    The numbers of a patch are in the order of `torch.nn.functional.unfold`.

    Examples
    --------
    >>> patches(torch.arange(9.0).reshape(1, 1, 3, 3), (2, 2), (1, 1))[0, 1, 0].flatten()
    tensor([3., 4., 6., 7.])
    """
    places = images.unfold(2, size[0], stride[0]).unfold(3, size[1], stride[1])
    return places.permute(0, 2, 3, 1, 4, 5)


def normalized(
    rows: Tensor, floor: float | None, whitening: Tensor | None, middle: Tensor | None, length: float | None
) -> Tensor:
    """The twin of `stack.Normalization`, of rows (..., D); what is None is not done.

    Examples
    --------
    >>> normalized(torch.tensor([3.0, 4.0]), None, None, None, 11.0)
    tensor([0.5000, 0.6667])
    """
    if floor is not None:
        rows = functional.layer_norm(rows, rows.shape[-1:], eps=floor)
    if whitening is not None and middle is not None:
        rows = functional.linear(rows, whitening, -middle)
    if length is not None:
        rows = rows / (rows.square().sum(-1, keepdim=True) + length).sqrt()
    return rows


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


def responses(x: Tensor, centers: Tensor, widths: Tensor) -> Tensor:
    """f_i(x), the twin of `learning.responses.responses`: (..., D) -> (..., K) [1]."""
    return log_responses(x, centers, widths).exp()


def log_responses(x: Tensor, centers: Tensor, widths: Tensor) -> Tensor:
    """log f_i(x), the twin of `learning.responses.log_response_blocks`: (..., D) -> (..., K).

    It is computed in float64, and given in the precision of x.

    Examples
    --------
    >>> log_responses(torch.tensor([2.0, 0.0]), torch.zeros(1, 2), torch.tensor([[4.0, 1.0]]))  # a covariance
    tensor([-1.])
    """
    precision = x.dtype
    x, centers, widths = x.double(), centers.double(), widths.double()  # products lose digits
    if widths.ndim == 1:
        middle = centers.mean(0)
        x, centers = x - middle, centers - middle
        squares = x.square().sum(-1, keepdim=True) - 2 * x @ centers.T + centers.square().sum(-1)
        return (-squares / widths).to(precision)
    differences = x[..., None, :] - centers
    if widths.ndim == 2:
        return -(differences.square() / widths).sum(-1).to(precision)
    factors = torch.linalg.cholesky(widths)  # L, with |L^-1 d|^2 = d^T Sigma^-1 d
    identity = torch.eye(x.shape[-1], dtype=x.dtype, device=x.device)
    inverse = torch.linalg.solve_triangular(factors, identity, upper=False)
    return -torch.einsum("kde,...ke->...kd", inverse, differences).square().sum(-1).to(precision)


ACTIVATIONS: dict[str, Callable[[Tensor, Tensor, Tensor], Tensor]] = {
    "response": responses,
    "log": log_responses,
    "excess": excess,
}


# ---- checks ---------------------------------------------------------------------------------------


def _require_images(images: Any, channels: int, size: tuple[int, int]) -> None:
    if not isinstance(images, Tensor):
        raise TypeError(f"images must be a tensor, got {type(images).__name__}: use torch.as_tensor(images).")
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
