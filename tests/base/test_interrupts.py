"""held_back: Ctrl-C waits for the end of a block."""

import signal

import pytest

from gaussian_neurons.base.interrupts import held_back


def test_ctrl_c_works_again_if_another_handler_raised_before_the_end_of_a_block():
    def left_half_way():
        held_back().__enter__()
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
        with held_back() as outer:
            with held_back() as inner:
                signal.raise_signal(signal.SIGINT)
                noted.append((len(inner), len(outer)))
            noted.append((len(inner), len(outer)))

    with pytest.raises(KeyboardInterrupt):
        nested()
    assert noted == [(1, 0), (1, 1)]
