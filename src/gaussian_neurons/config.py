"""Print the configuration of this installation."""

import platform
from importlib.metadata import version

from gaussian_neurons import _core
from gaussian_neurons.learning import native


def show_config() -> None:
    """Print the versions, the compiler and the instruction set in use.

    Examples
    --------
    >>> show_config()  # doctest: +ELLIPSIS
    gaussian-neurons ...
    """
    packages = ("gaussian-neurons", "numpy", "scikit-learn", "safetensors")
    lines = [f"{name} {version(name)}" for name in packages]
    lines += [
        f"python {platform.python_version()} on {platform.machine()}",
        f"core built by {_core.compiler}",
        f"instruction set {native.instruction_set()} (of {', '.join(native.available())}; "
        f"set {native.VARIABLE} to force one)",
    ]
    print("\n".join(lines))
