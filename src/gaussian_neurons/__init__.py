"""Gaussian neurons: online clustering that finds the number of clusters by itself.

`GaussianNeurons` is the scikit-learn estimator. `learning.reference` is the rule as the paper writes it,
`learning.native` its compiled twin, `theory` the closed forms, `diagnostics` tells which neurons learned.
"""

from gaussian_neurons.config import show_config
from gaussian_neurons.estimator import GaussianNeurons
from gaussian_neurons.state import Neurons

__version__ = "0.1.0"
__all__ = ["GaussianNeurons", "Neurons", "show_config"]
