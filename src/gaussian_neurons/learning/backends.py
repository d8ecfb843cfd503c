"""Backends: the functions that compute the learning rule, and `learn_many`, the one way to call them."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gaussian_neurons.base.bad_rows import BadRow, bad_width, finite_rows, require_finite
from gaussian_neurons.base.covariances import flat, variances
from gaussian_neurons.base.interrupts import interruption_point
from gaussian_neurons.base.memory_maps import row_blocks
from gaussian_neurons.learning import cuda, native, reference, reference_shares
from gaussian_neurons.learning.neurons import Neurons
from gaussian_neurons.learning.rule import Rule, Shares
from gaussian_neurons.sampling.undrawn import Elsewhere

Array = NDArray[Any]
Learn = Callable[[Array, Array, Array, Array | None, Rule, int], tuple[Array, Array]]  # see reference.learn
LearnEach = Callable[..., list[tuple[Array, Array]]]  # see native.learn_each
Layers = tuple[Neurons, ...]

WORK_AT_ONCE = 5e8  # products in a block of samples: about 10 ms of the compiled core
LEAST_ROWS = 16  # samples in a block of large layers: lists of neighbours need some samples to pay
ROWS_AT_ONCE = 256  # samples in a block of a Python function
LAYERS_OF_GPU = 1000  # small layers that a GPU learns in the time of one
# Products of a layer, and samples, in a block of a GPU: about 0.2 s. Each block copies the layer twice.
WORK_OF_GPU, LEAST_ROWS_OF_GPU, MOST_ROWS_OF_GPU = 1e10, 500, 1 << 16


def learn_many(
    layers: Sequence[Neurons],
    samples: Array | Elsewhere,
    rules: Sequence[Rule | Shares],
    sample_widths: Array | None = None,
    backend: str | Learn = "auto",
    threads: int = 1,
) -> Iterator[Layers]:
    """Let layers learn from the same samples, each by its own rule.

    The samples are learned in blocks; after each block come all layers as they are then. A bad row or a
    neuron that diverges raises an error. The arguments are not changed.

    Parameters
    ----------
    layers : neurons of one precision
    samples : (n, D)
    rules : one for each layer
    sample_widths : (n,), (n, D), (n, D, D) or None
    backend : a name in `BACKENDS`, or a function with the signature of `reference.learn`
    threads : of the compiled core, which learns several layers at a time; the bits do not depend on it

    Examples
    --------
    >>> neurons = Neurons.at([[0.0]], width=1.0)
    >>> for (after,) in learn_many([neurons], np.ones((2, 1)), [Rule(0.1, 0.5)]):
    ...     print(after.seen, after.centers)
    2 [[0.07487639]]
    """
    own = None if sample_widths is None else np.ascontiguousarray(sample_widths, np.float64)
    now = tuple(layers)
    learn, rows_at_once = resolved(_chosen(backend, now, own is not None))
    each = EACH.get(learn) if _are_alike(now, rules) else None
    most = rows_at_once(now) * threads
    for begin, rows in _blocks(samples, most, on_gpu=learn is cuda.learn):
        interruption_point()
        widths = None if own is None else own[begin : begin + len(rows)]
        try:
            if each is not None:
                arrays = [(layer.centers, layer.widths) for layer in now]
                own_rules = [rule for rule in rules if isinstance(rule, Rule)]
                seen = [layer.seen for layer in now]
                found = each(arrays, rows, widths, own_rules, seen, threads)
                now = tuple([layer.after(*one, len(rows)) for layer, one in zip(now, found, strict=True)])
            else:
                now = tuple(
                    [
                        _after_shares(layer, rows, rule, backend)
                        if isinstance(rule, Shares)
                        else layer.after(
                            *learn(layer.centers, layer.widths, rows, widths, rule, layer.seen), len(rows)
                        )
                        for layer, rule in zip(now, rules, strict=True)
                    ]
                )
        except BadRow as bad:
            raise bad.later(begin) from None
        yield now


def _blocks(samples: Array | Elsewhere, most: int, on_gpu: bool) -> Iterator[tuple[int, Any]]:
    if on_gpu and isinstance(samples, Elsewhere):
        return samples.blocks(most)
    return row_blocks(np.asarray(samples), most)


def _are_alike(layers: Layers, rules: Sequence[Rule | Shares]) -> bool:
    """Whether these are several layers of one size, with given widths."""
    sizes = {(layer.centers.shape, layer.widths.shape, layer.centers.dtype) for layer in layers}
    return 1 < len(layers) == len(rules) and len(sizes) == 1 and all(isinstance(rule, Rule) for rule in rules)


def _after_shares(layer: Neurons, rows: Array, rule: Shares, backend: str | Learn) -> Neurons:
    learn = SHARES.get(backend) if isinstance(backend, str) else None
    if learn is None:
        raise ValueError(
            f"the backend {name_of(backend)} computes the rule for given widths, and cannot find a width: "
            f"give width=..., or use one of {', '.join(map(repr, SHARES))}."
        )
    if rule.rate == 0:
        require_finite(rows, layer.centers.dtype)
        return layer.after(layer.centers, layer.widths, len(rows))
    centers, widths, total = learn(layer.centers, layer.widths, layer.total, rows, rule, layer.resting)
    return layer.after(centers, widths, len(rows), total)


def _reference_shares(
    centers: Array, widths: Array, totals: Array, samples: Array, rule: Shares, resting: NDArray[np.bool_]
) -> tuple[Array, Array, Array]:
    require_finite(samples, np.float64)
    return reference_shares.learn(centers, widths, totals, np.asarray(samples, np.float64), rule, resting)


def resolved(backend: str | Learn) -> tuple[Learn, Callable[[Layers], int]]:
    """The function of a backend, and how many samples it takes at a time."""
    if isinstance(backend, str) and backend in BACKENDS:
        return BACKENDS[backend]
    if callable(backend):
        return partial(_checked, backend), lambda _: ROWS_AT_ONCE
    if is_function_name(backend):
        raise ValueError(
            f"{backend!r} is the name of a function, not the function. A model file stores only the name: "
            f"give the function itself, model.set_params(backend=...)."
        )
    raise ValueError(
        f"backend must be one of {', '.join(map(repr, BACKENDS))} or a function with the signature of "
        f"gaussian_neurons.learning.reference.learn, got {backend!r}."
    )


def rows_at_once(layers: Sequence[Neurons], backend: str | Learn) -> int:
    """How many samples `learn_many` learns between two values that it gives, at most."""
    return resolved(_chosen(backend, layers))[1](tuple(layers))


def _chosen(backend: str | Learn, layers: Sequence[Neurons], learns_widths: bool = False) -> str | Learn:
    """The backend, "cuda" or "native" in place of "auto"."""
    if not isinstance(backend, str) or backend != "auto":
        return backend
    large = not learns_widths and all(cuda.is_faster(it.centers, it.widths) for it in layers)
    return "cuda" if large else "native"


def has_float32(backend: Any) -> bool:
    """Whether a backend learns in float32: the compiled core and the GPU do."""
    return isinstance(backend, str) and resolved(backend)[0] in EACH


def require(backend: Any) -> None:
    """Raise an error if a backend cannot learn on this machine."""
    if isinstance(backend, str) and resolved(backend)[0] is cuda.learn:
        cuda.require()


def uses_gpu(backend: str | Learn, layer: Neurons, learns_widths: bool) -> bool:
    """Whether a layer with given widths, or that learns widths by samples that have them, learns on a GPU."""
    return resolved(_chosen(backend, (layer,), learns_widths))[0] is cuda.learn


def is_function_name(backend: Any) -> bool:
    """Whether a backend is what `name_of` gives for a function: it can answer, but not learn."""
    return isinstance(backend, str) and ":" in backend


def name_of(backend: str | Learn) -> str:
    """The name of a backend; of a function "module:name".

    Examples
    --------
    >>> name_of("native"), name_of(reference.learn)
    ('native', 'gaussian_neurons.learning.reference:learn')
    """
    if isinstance(backend, str):
        return backend
    function = getattr(backend, "py_func", backend)  # of a function compiled by Numba
    return f"{getattr(function, '__module__', '?')}:{getattr(function, '__qualname__', repr(function))}"


def _rows_of_native(layers: Layers) -> int:
    neurons, dimensions = layers[0].centers.shape
    of_row = len(layers) * (neurons + 8) ** 2 * (dimensions + 8)
    if layers[0].widths.ndim == 3:
        of_row *= dimensions + 8
    return max(LEAST_ROWS, int(WORK_AT_ONCE / of_row))


def _rows_of_cuda(layers: Layers) -> int:
    neurons, dimensions = layers[0].centers.shape
    work = max(1.0, len(layers) / LAYERS_OF_GPU) * neurons**2 * dimensions
    return int(min(MOST_ROWS_OF_GPU, max(LEAST_ROWS_OF_GPU, WORK_OF_GPU / work)))


def _checked(
    learn: Learn,
    centers: Array,
    widths: Array,
    samples: Array,
    sample_widths: Array | None,
    rule: Rule,
    seen: int,
) -> tuple[Array, Array]:
    """Call a Python function: float64, contiguous arrays and valid samples in, valid neurons out."""
    if centers.dtype != np.float64:
        raise ValueError(
            f"this model learned in {centers.dtype.name}, which only 'native' and 'cuda' can do. Start a new "
            f"model with this backend, or go on with backend='native'."
        )
    x = np.array(samples, np.float64, order="C")  # copies, which the function may change
    require_finite(x, np.float64)
    if sample_widths is not None:
        bad = np.flatnonzero(~finite_rows(x, np.float64, sample_widths))
        if len(bad):
            raise bad_width(int(bad[0]), sample_widths[bad[0]].tolist())

    def learned(first: int, rows: Array, centers: Array, widths: Array) -> tuple[Array, Array]:
        own = None if sample_widths is None else sample_widths[first : first + len(rows)].copy()
        with np.errstate(all="ignore"):
            found = learn(centers.copy(), widths.copy(), rows, own, rule, seen + first)
        arrays = [np.asarray(array) for array in found] if isinstance(found, tuple) else None
        got = type(found).__name__ if arrays is None else [(it.dtype.name, *it.shape) for it in arrays]
        fits = arrays is not None and [it.shape for it in arrays] == [centers.shape, widths.shape]
        if arrays is None or not fits or any(it.dtype.kind not in "fiu" for it in arrays):
            raise TypeError(
                f"the backend {name_of(learn)} must return (centers, widths) of the shapes {centers.shape} "
                f"and {widths.shape}, real numbers, got {got}."
            )
        return np.array(arrays[0], np.float64, order="C"), np.array(arrays[1], np.float64, order="C")

    found = learned(0, x, centers, widths)
    if not _valid(*found).all():  # learn again, one sample at a time, to name the sample
        now = centers, widths
        for t in range(len(x)):
            now = learned(t, x[t : t + 1], *now)
            if not _valid(*now).all():
                raise _diverged(learn, int(np.argmin(_valid(*now))), seen + t, *now, widths, rule)
        raise _diverged(learn, int(np.argmin(_valid(*found))), seen + len(x) - 1, *found, widths, rule)
    return found


def _diverged(
    learn: Learn, neuron: int, sample: int, centers: Array, widths: Array, before: Array, rule: Rule
) -> FloatingPointError:
    if learn is reference.learn:
        return native.diverged(neuron, sample, before, rule)
    return FloatingPointError(
        f"the backend {name_of(learn)} gave neuron {neuron} the center {centers[neuron]} and the width "
        f"{widths[neuron]} at sample {sample} of the stream. Centers must be finite, and widths also "
        f"positive. The model is unchanged."
    )


def _valid(centers: Array, widths: Array) -> NDArray[np.bool_]:
    """Whether the numbers of each neuron are finite and its width or variances are positive, (K,)."""
    numbers, diagonals = np.concatenate([centers, flat(widths)], axis=1), flat(variances(widths))
    valid: NDArray[np.bool_] = np.isfinite(numbers).all(axis=1) & (diagonals > 0).all(axis=1)
    return valid


EACH: dict[Learn, LearnEach] = {native.learn: native.learn_each, cuda.learn: cuda.learn_each}
BACKENDS: dict[str, tuple[Learn, Callable[[Layers], int]]] = {
    "auto": (native.learn, _rows_of_native),
    "native": (native.learn, _rows_of_native),
    "cuda": (cuda.learn, _rows_of_cuda),
    "reference": (partial(_checked, reference.learn), lambda _: ROWS_AT_ONCE),
}
SHARES: dict[str, Callable[..., tuple[Array, Array, Array]]] = {
    "auto": native.learn_shares,
    "native": native.learn_shares,
    "reference": _reference_shares,
}
