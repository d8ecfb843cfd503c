"""The examples of modules that need an optional package run if it is installed."""

from importlib.util import find_spec

OF_TORCH = ["gaussian_neurons/torch.py", "gaussian_neurons/experiments/backprop.py"]
collect_ignore = [] if find_spec("torch") else OF_TORCH
