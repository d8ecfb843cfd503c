"""Experiments: each file has a `Config`, a `run` that returns plain facts, and a `draw`."""
