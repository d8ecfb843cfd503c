"""Waiting for a condition, however busy or slow the machine is."""

import time

PATIENCE = 60.0  # seconds until a test gives up


def wait_for(condition, seconds=PATIENCE):
    """Wait until a condition is true; returns its value."""
    end = time.monotonic() + seconds
    while not (answer := condition()):
        assert time.monotonic() < end, "timeout"
        time.sleep(0.01)
    return answer
