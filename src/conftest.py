"""The examples of modules that need an optional package run if it is installed."""

from importlib.util import find_spec

collect_ignore = [] if find_spec("torch") else ["gaussian_neurons/torch.py"]
