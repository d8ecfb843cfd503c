"""Gaussian neurons: online clustering that finds the number of clusters by itself.

`GaussianNeurons` is the scikit-learn estimator. `learning.reference` is the rule as the paper writes it,
`learning.native` its compiled twin, `theory` the closed forms, `diagnostics` tells which neurons learned.
`sweep` learns many models, to find the width and the inhibition at which the number of clusters is settled.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gaussian_neurons.config import show_config
    from gaussian_neurons.estimator import GaussianNeurons
    from gaussian_neurons.learning.neurons import Neurons
    from gaussian_neurons.sweeping import sweep

__version__ = "0.2.0"
__all__ = ["GaussianNeurons", "Neurons", "show_config", "sweep"]

# Loaded when they are asked for: scikit-learn takes a second, and the command line often does without.
_ROOMS = {
    "GaussianNeurons": "estimator",
    "Neurons": "learning.neurons",
    "show_config": "config",
    "sweep": "sweeping",
}


def __getattr__(name: str) -> Any:
    if name not in _ROOMS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(importlib.import_module(f"{__name__}.{_ROOMS[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
