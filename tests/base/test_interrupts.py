"""deferred_interrupts: Ctrl-C waits for the end of a block."""

import signal
from contextlib import nullcontext

import pytest

from gaussian_neurons.base.interrupts import deferred_interrupts, interruption_point


def test_ctrl_c_works_again_if_another_handler_raised_before_the_end_of_a_block():
    def left_half_way():
        deferred_interrupts().__enter__()
        signal.raise_signal(signal.SIGINT)  # waits

    before = signal.getsignal(signal.SIGINT)
    left_half_way()
    assert signal.getsignal(signal.SIGINT) is not before
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before


def test_an_interrupt_in_an_inner_block_waits_for_the_outer_one():
    noted = []

    def nested():
        with deferred_interrupts() as outer:
            with deferred_interrupts() as inner:
                signal.raise_signal(signal.SIGINT)
                noted.append((len(inner), len(outer)))
            noted.append((len(inner), len(outer)))

    with pytest.raises(KeyboardInterrupt):
        nested()
    assert noted == [(1, 0), (1, 1)]


@pytest.mark.parametrize("depth", [1, 2])
def test_an_interrupt_arrives_at_a_point(depth):
    passed = []

    def block():
        with (
            deferred_interrupts(points=True),
            deferred_interrupts(points=True) if depth > 1 else nullcontext(),
        ):
            interruption_point()
            signal.raise_signal(signal.SIGINT)
            passed.append("deferred")
            interruption_point()
            passed.append("never")

    with pytest.raises(KeyboardInterrupt):
        block()
    assert passed == ["deferred"]
    assert deferred_interrupts.innermost is None
    interruption_point()  # outside of any block


@pytest.mark.parametrize("outer", [False, True])
def test_a_block_without_points_is_completed(outer):
    """A file that is being written, for example, whatever is computed for it."""
    passed = []

    def block():
        with deferred_interrupts(points=outer), deferred_interrupts(points=not outer):
            signal.raise_signal(signal.SIGINT)
            interruption_point()
            passed.append("inner")
            with deferred_interrupts(points=True):
                interruption_point()
            passed.append("after")

    with pytest.raises(KeyboardInterrupt):
        block()
    assert passed == ["inner", "after"]
