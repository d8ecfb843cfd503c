"""Experiments on what the paper leaves to future work: the group "beyond"."""
