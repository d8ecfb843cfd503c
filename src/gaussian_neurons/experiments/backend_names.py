"""Backends by name: a built-in one, or a function of the user's as "module:function"."""

import importlib
import os
import sys
from pathlib import Path
from typing import Any

from gaussian_neurons.learning import cuda
from gaussian_neurons.learning.backends import BACKENDS

AUTO = "auto"


def load(name: str) -> Any:
    """The value of `GaussianNeurons(backend=...)` for a name.

    A module is found in the current directory or on the Python path.

    Parameters
    ----------
    name : "auto", "native", "cuda", "reference" or "module:function"

    Examples
    --------
    >>> load("native")
    'native'
    >>> load("math:dist")
    <built-in function dist>
    """
    if name in BACKENDS:
        return name
    module_name, colon, function_name = name.partition(":")
    if not (module_name and colon and function_name):
        raise ValueError(
            f"unknown backend {name!r}. Choose {', '.join(BACKENDS)}, or name a function of your own as "
            f"module:function, such as my_module:learn."
        )
    module = _import(module_name)
    if not hasattr(module, function_name):
        raise ValueError(f"module {module_name!r} has no function {function_name!r} to use as a backend.")
    function = getattr(module, function_name)
    if not callable(function):
        raise ValueError(f"backend {name!r} must be a function, got {type(function).__name__}.")
    return function


def source(name: str) -> bytes:
    """The code of a backend that is not Python code of this package: a file, or the kernels of a GPU."""
    if name == "cuda":
        return b"".join(path.read_bytes() for path in sorted(Path(cuda.__file__).parent.glob("*.cu")))
    if name in BACKENDS:
        return b""
    path = getattr(_import(name.partition(":")[0]), "__file__", None)
    return b"" if path is None else Path(path).read_bytes()


def _import(name: str) -> Any:
    here = os.getcwd()
    if here not in sys.path:  # an installed command does not search the current directory
        sys.path.insert(0, here)
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and f"{name}.".startswith(f"{error.name}."):
            raise ValueError(
                f"there is no module {error.name!r} for the backend, neither in the current directory nor on "
                f"the Python path."
            ) from None
        raise ValueError(f"the backend's module {name!r} cannot be imported: {error}") from error
    except Exception as error:
        raise ValueError(
            f"the backend's module {name!r} cannot be imported: {type(error).__name__}: {error}"
        ) from error
