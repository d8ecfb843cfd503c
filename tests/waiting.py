"""Waiting for what will come, however busy or slow the machine is."""

import time

PATIENCE = 60.0  # seconds; machines that test are busy


def wait_for(condition, seconds=PATIENCE):
    """Wait until something holds; say what it was."""
    end = time.monotonic() + seconds
    while not (answer := condition()):
        assert time.monotonic() < end, "it never came"
        time.sleep(0.01)
    return answer
