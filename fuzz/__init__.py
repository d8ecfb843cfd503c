"""Random inputs, files and orders of calls, checked against what the library promises.

    python -m fuzz [--seconds N] [--seed S] [--only NAME ...] [--jobs J] [--list]

A target is a statement (its docstring), strategies for its inputs, and a function that checks it. Failures
are shrunk, kept in .fuzz/ and tried first in the next run.
"""
