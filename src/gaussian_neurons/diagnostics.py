"""Which neurons learned something, and the facts behind it."""

from gaussian_neurons.clustering.diagnosis import Diagnosis, diagnose

__all__ = ["Diagnosis", "diagnose"]
