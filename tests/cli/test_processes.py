"""The command line as a process: pipes and interrupts."""

import os
import signal
import subprocess
import threading
from contextlib import contextmanager

import numpy as np

from gaussian_neurons import GaussianNeurons
from tests.cli.calls import COMMAND, X, good, write_csv
from tests.waiting import wait_for


@contextmanager
def started(*arguments, **pipes):
    """A process that is killed after a timeout, so that a test does not wait forever."""
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    options = {"stdin": subprocess.PIPE, "stderr": subprocess.PIPE, "env": buffered, **pipes}
    with subprocess.Popen([*COMMAND, *arguments], **options) as process:
        timeout = threading.Timer(300, process.kill)
        timeout.start()
        try:
            yield process
        finally:
            timeout.cancel()
            process.kill()


def send(process, text):
    process.stdin.write(text)
    process.stdin.flush()


def test_a_closed_pipe_ends_without_a_message(here, model):
    with started("predict", "m.safetensors", "-", stdout=subprocess.PIPE) as process:
        send(process, b"x,y\n0,0\n")
        assert process.stdout.readline() == b"x,y,cluster\n"
        process.stdout.close()
        send(process, b"0,0\n")
        assert process.wait(300) == 141
        assert process.stderr.read() == b""


def test_lines_are_printed_as_rows_arrive_until_ctrl_c(here, model):
    with started("predict", "m.safetensors", "-", stdout=subprocess.PIPE) as process:
        send(process, b"x,y\n0,0\n")
        assert process.stdout.readline() == b"x,y,cluster\n"
        first = process.stdout.readline()
        send(process, b"50,50\n0,0\n")
        assert process.stdout.readline() == b"50,50,-1\n"
        assert process.stdout.readline() == first
        process.send_signal(signal.SIGINT)
        assert process.wait(300) == 130
        message = process.stderr.read().decode()
    assert message.startswith("Interrupted. ")
    assert "Traceback" not in message


def test_an_interrupted_fit_resumes_to_the_same_bits(here):
    write_csv(here / "a.csv", np.tile(X, (40, 1)))
    text = (here / "a.csv").read_bytes()
    part = sum(map(len, text.splitlines(keepends=True)[:100_100]))  # checkpoints are 100,000 rows apart
    command = ["fit", "-", "--out", "m", "--width", "1", "--checkpoint", "run"]
    with started(*command) as process:
        send(process, text[:part])
        wait_for(lambda: os.path.exists("run") or process.poll() is not None)
        process.send_signal(signal.SIGINT)
        assert process.wait(300) == 130
        assert b"Interrupted. The same command resumes from run." in process.stderr.read()
    assert not os.path.exists("m")
    assert 100_000 <= GaussianNeurons.load("run").n_samples_seen_ < 120_000
    good(*command, stdin=text)
    good("fit", "a.csv", "--out", "whole", "--width", "1", "--one-pass")
    resumed, whole = GaussianNeurons.load("m"), GaussianNeurons.load("whole")
    assert resumed.n_samples_seen_ == whole.n_samples_seen_ == 120_000
    assert resumed.centers_.tobytes() == whole.centers_.tobytes()
