"""Strategies and helpers that several targets use."""

import gc
import signal
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st

from gaussian_neurons import GaussianNeurons
from gaussian_neurons.model import archive, model_file

REFUSALS = (ValueError, TypeError, FloatingPointError)
WINDOW = 1000  # samples of the first data
FEW = st.integers(1, 12)
COUNTS = st.one_of(FEW, st.sampled_from([30, 99, 101, 256, 257, 999, 1000, 1001, 1250, 1600]))
SEEDS = st.integers(0, 9)
CUTS = st.lists(st.integers(1, 700), min_size=1, max_size=6)  # lengths of pieces, repeated to the end


def digest(model: GaussianNeurons, **changes: Any) -> str | None:
    """A hash of everything that a model has learned, with parts of the state replaced."""
    if model._state is None:
        return None
    state = replace(model._state, **changes)
    return archive.digest(*model_file.contents(model.get_params(deep=False), state))


def table(rows: int, columns: int = 2, seed: int = 0, dtype: Any = np.float64, scale: float = 1.0) -> Any:
    """Rows around three centers."""
    random = np.random.default_rng([seed, rows, columns])
    centers = random.uniform(0, 3, (3, columns))
    return (random.normal(centers[random.integers(3, size=rows)], 0.2) * scale).astype(dtype)


def widths_for(rows: int, seed: int = 0, kind: str = "spherical", columns: int = 2) -> Any:
    """A sample width, or a covariance of the type, for each row."""
    random = np.random.default_rng(seed)
    if kind == "spherical":
        return random.uniform(0.01, 0.1, rows)
    if kind == "diag":
        return random.uniform(0.01, 0.1, (rows, columns))
    factor = random.normal(0, 0.2, (rows, columns, columns))
    return factor @ factor.transpose(0, 2, 1) + 0.01 * np.eye(columns)


def pieces(rows: int, lengths: list[int]) -> Iterator[slice]:
    """Consecutive slices of these lengths, again and again."""
    begin = turn = 0
    while begin < rows:
        end = min(rows, begin + lengths[turn % len(lengths)])
        yield slice(begin, end)
        begin, turn = end, turn + 1


# Parameters of models: with neurons from the first sample on, after the first data, with several widths.
PARAMETERS = st.builds(
    lambda kind, count, seed, more: (
        {"n_neurons": count, "random_state": seed, "max_samples": 60}
        | kind
        | {name: min(value, count) if name == "n_clusters" else value for name, value in more.items()}
    ),
    st.sampled_from(
        [
            {"width": 0.3, "domain": (0.0, 3.0)},
            {"width": 0.3},
            {"width": 0.3, "init": "samples"},
            {"width": 0.3, "inhibition": 1.0, "repulsion_every": 3},
            {"shape": "any"},
            {"scale": "columns"},
            {"width": 0.3, "scale": "robust"},
            {},
            {"width": 0.3, "width_learning_rate": 0.01, "learning_rate": 0.02, "domain": (0.0, 3.0)},
            {"width_learning_rate": 0.01},
            {"covariance_type": "diag", "width": 0.3},
            {"covariance_type": "full", "width": 0.3, "domain": (0.0, 3.0)},
            {"covariance_type": "diag", "width_learning_rate": 0.01},
            {"covariance_type": "full", "width": 0.3, "width_learning_rate": 0.01, "learning_rate": 0.002},
        ]
    ),
    st.integers(1, 6),
    SEEDS,
    st.sampled_from([{}, {}, {}, {"learning_rate": 0.05}, {"n_clusters": 2}, {"backend": "reference"}]),
)


def needs_widths(parameters: dict[str, Any]) -> bool:
    """Whether samples of such a model need widths."""
    return parameters.get("width_learning_rate", 0.0) > 0


def attempt(call: Callable[[], Any], foreign: bool = False) -> tuple[Any, Exception | None]:
    """The result, or an error that is a refusal with a sentence. Anything else fails.

    `foreign` allows errors of other libraries, such as those of an iterator.
    """
    error = result = None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = call()
        except REFUSALS as refusal:
            error = refusal
    if error is not None:
        check_sentence(error, foreign)
    for one in caught:
        assert issubclass(one.category, UserWarning), f"{one.category.__name__}: {one.message}"
    return result, error


def check_sentence(error: Exception, foreign: bool = False) -> None:
    """An error says in a sentence of bounded length what is wrong, and is not one of another library."""
    raised_in = traceback.extract_tb(error.__traceback__)[-1].filename
    own = any(f"/{name}/" in raised_in for name in ("gaussian_neurons", "sklearn", "fuzz"))
    assert own or foreign, f"an error of another library: {error!r}"
    assert len(str(error).split()) > 2, f"no sentence: {error!r}"
    assert len(str(error)) < 5000, f"a sentence of {len(str(error))} characters"


@contextmanager
def unchanged(model: GaussianNeurons) -> Iterator[None]:
    """The block leaves the state of a model as it was."""
    state, before = model._state, digest(model)
    yield
    assert model._state is state, "the state was replaced"
    assert digest(model) == before, "the state was changed in place"


@contextmanager
def folder() -> Iterator[Path]:
    """A temporary folder, in which nothing but the named files may remain."""
    with tempfile.TemporaryDirectory(prefix="fuzz-") as name:
        yield Path(name)


@contextmanager
def silent() -> Iterator[None]:
    """Without warnings: that nothing was learned, or that rows were skipped."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        yield


def interrupted(call: Callable[[], Any], seconds: float) -> bool:
    """Call, and send an interrupt after so many seconds; whether it arrived before the end."""
    hooks = gc.callbacks[:]
    gc.callbacks.clear()  # Python ignores an interrupt in a hook, and Hypothesis has one
    before = signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(signal.SIGINT))
    try:
        try:
            signal.setitimer(signal.ITIMER_REAL, seconds)
            call()
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    except KeyboardInterrupt:
        return True
    finally:
        signal.signal(signal.SIGALRM, before)
        gc.callbacks[:] = hooks
    return False


def mutated(content: bytes, changes: list[tuple[str, float, bytes]]) -> bytes:
    """Bytes after changes: (what, where as a part of the length, bytes)."""
    for what, part, new in changes:
        at = int(part * len(content))
        after = {"insert": at, "cut": len(content), "drop": at + len(new)}.get(what, at + len(new))
        put = b"" if what in ("cut", "drop") else new
        content = content[:at] + put + content[after:]
    return content


CHANGES = st.lists(
    st.tuples(
        st.sampled_from(["replace", "replace", "insert", "cut", "drop"]),
        st.one_of(st.floats(0, 1, exclude_max=True), st.floats(0, 0.05)),
        st.one_of(st.binary(min_size=1, max_size=8), st.sampled_from([b"\x00" * 8, b"\xff" * 8, b"9" * 6])),
    ),
    min_size=1,
    max_size=3,
)
