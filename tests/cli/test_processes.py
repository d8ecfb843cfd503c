"""The command line as a process: pipes, interrupts, terminals."""

import os
import signal
import subprocess
import threading
import time
from contextlib import contextmanager

import numpy as np

from gaussian_neurons import GaussianNeurons
from tests.cli.calls import COMMAND, X, good, write_csv
from tests.waiting import wait_for


def run(*arguments, **options):
    return subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, timeout=300, **options)


@contextmanager
def started(*arguments, **pipes):
    """A process that is ended, and the test with it, where it waits for something that does not come."""
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    options = {"stderr": subprocess.PIPE, "env": buffered, **pipes}
    with subprocess.Popen([*COMMAND, *arguments], **options) as process:
        patience = threading.Timer(300, process.kill)
        patience.start()
        try:
            yield process
        finally:
            patience.cancel()
            process.kill()


def test_a_pipe_that_closes_early_ends_quietly(here, model):
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with started("predict", "m.safetensors", "-", **pipes) as process:
        process.stdin.write(b"x,y\n0,0\n")
        process.stdin.flush()
        assert process.stdout.readline() == b"cluster\n"
        process.stdout.close()
        process.stdin.write(b"0,0\n")
        process.stdin.flush()
        assert process.wait(300) == 141
        assert process.stderr.read() == b""


def test_a_terminal_with_nothing_piped_in_is_told_at_once(here):
    ours, theirs = os.openpty()
    try:
        done = run("fit", "-", "--out", "m", stdin=theirs)
    finally:
        os.close(ours)
        os.close(theirs)
    assert done.returncode == 1
    assert done.stderr.startswith("Error: nothing is piped into standard input. Give a file instead of -")
    assert "Traceback" not in done.stderr


def test_lines_come_as_rows_do_and_ctrl_c_ends_the_wait(here, model):
    with started("predict", "m.safetensors", "-", stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdin.write(b"x,y\n0,0\n")
        process.stdin.flush()
        assert process.stdout.readline() == b"cluster\n"
        first = process.stdout.readline()
        process.stdin.write(b"50,50\n0,0\n")
        process.stdin.flush()
        assert process.stdout.readline() == b"-1\n"
        assert process.stdout.readline() == first
        process.send_signal(signal.SIGINT)
        assert process.wait(300) == 130
        said = process.stderr.read().decode()
    assert said.startswith("Interrupted. ")
    assert "Traceback" not in said


def test_a_pass_that_was_interrupted_carries_on_to_the_same_bits(here):
    write_csv(here / "a.csv", np.tile(X, (50, 1)))
    text = (here / "a.csv").read_bytes()
    command = ["fit", "-", "--out", "m", "--width", "1", "--checkpoint", "run"]
    with started(*command, stdin=subprocess.PIPE) as process:
        process.stdin.write(text[: len(text) * 4 // 5])  # past the first 100,000 rows
        process.stdin.flush()
        wait_for(lambda: os.path.exists("run") or process.poll() is not None)
        time.sleep(0.5)  # until it waits for more, most likely: the harder case
        process.send_signal(signal.SIGINT)
        assert process.wait(300) == 130
        assert b"Interrupted. The same command carries on from run." in process.stderr.read()
    assert not os.path.exists("m")
    assert 100_000 <= GaussianNeurons.load("run").n_samples_seen_ < 150_000
    assert run(*command, input=text.decode()).returncode == 0
    good("fit", "a.csv", "--out", "whole", "--width", "1", "--one-pass")
    carried, whole = GaussianNeurons.load("m"), GaussianNeurons.load("whole")
    assert carried.n_samples_seen_ == whole.n_samples_seen_ == 150_000
    assert carried.centers_.tobytes() == whole.centers_.tobytes()
