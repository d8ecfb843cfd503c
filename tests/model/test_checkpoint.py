"""Checkpoints: runs that are killed, interrupted, extended; full disks; files of other runs."""

import errno
import itertools
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from gaussian_neurons import GaussianNeurons
from gaussian_neurons.model import archive as persistence
from gaussian_neurons.sampling import Rows, rows_from_file
from tests.runs import X, interrupt_after, learns, model_of, same
from tests.waiting import wait_for

# An interrupt that hits Python's own clean-up after a thread is ignored by Python, which says so.
LOST = "ignore:Exception ignored in.*WeakSet:pytest.PytestUnraisableExceptionWarning"
pytestmark = [pytest.mark.alone, pytest.mark.filterwarnings(LOST)]

# ---- checkpoints ------------------------------------------------------------------------------------


def test_the_same_command_again_does_nothing_more(tmp_path):
    told = []

    def run():
        stream = Rows(X)
        model = model_of().learn(
            stream, 5000, checkpoint=tmp_path / "run", every=1000, callback=lambda m, t: told.append(t)
        )
        assert stream.position == 5000
        return model

    first = run()
    written = (tmp_path / "run").stat().st_mtime_ns
    again = run()
    assert same(first, again)
    assert told == [1000, 2000, 3000, 4000, 5000]
    assert (tmp_path / "run").stat().st_mtime_ns == written


def test_a_cell_that_is_run_again_goes_on(tmp_path):
    """The model and the stream are still there, as after Ctrl-C in a notebook."""
    model, stream = model_of(), Rows(X).seek(100)

    def cell(n):
        model.learn(stream, n, checkpoint=tmp_path / "run", every=1000)

    with pytest.raises(KeyboardInterrupt), interrupt_after(0.2, learns(model)):
        cell(10**9)
    reached = model.n_samples_seen_
    cell(reached + 3000)
    cell(reached + 3000)  # there is nothing left to do
    assert stream.position == 100 + reached + 3000
    assert same(model, model_of().learn(Rows(X).seek(100), reached + 3000))
    model.learn(stream, 10)  # something else happened to it
    with pytest.raises(ValueError, match="belongs to another run"):
        cell(reached + 5000)


def test_a_run_can_be_extended(tmp_path):
    model_of().learn(Rows(X), 3000, checkpoint=tmp_path / "run")
    longer = model_of().learn(Rows(X), 7000, checkpoint=tmp_path / "run")
    assert same(longer, model_of().learn(Rows(X), 7000))
    with pytest.raises(ValueError, match="has come to 7,000 samples already, 100 are asked for"):
        model_of().learn(Rows(X), 100, checkpoint=tmp_path / "run")


def test_a_run_that_the_callback_ended_stays_ended(tmp_path):
    for _ in range(2):
        model = model_of().learn(
            Rows(X), 10_000, checkpoint=tmp_path / "run", every=1000, callback=lambda _, t: t == 3000
        )
        assert model.n_samples_seen_ == 3000


def test_what_the_callback_changed_is_carried_on(tmp_path):
    def run(n):
        def change(model, t):
            if t == 2000:
                model.add_neurons(2).set_params(inhibition=0.3)

        return model_of().learn(Rows(X), n, checkpoint=tmp_path / f"run{n}", every=1000, callback=change)

    whole = run(6000)
    run(3000)
    os.rename(tmp_path / "run3000", tmp_path / "run6000")
    carried_on = run(6000)
    assert same(whole, carried_on)
    assert carried_on.inhibition == 0.3
    assert len(carried_on.centers_) == 10


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"stream": lambda: Rows(X, shuffle=True)}, "its stream shuffle was False, here it is True"),
        ({"stream": lambda: Rows(X[:-1])}, "its stream rows is another one"),
        ({"stream": lambda: Rows(X).seek(5)}, "its position was 0, here it is 5"),
        (
            {"model": lambda: model_of(inhibition=0.25)},
            "its parameters inhibition was 'auto', here it is 0.25",
        ),
        ({"model": lambda: model_of(init=np.zeros((8, 2)))}, "its parameters init was 'auto'"),
        ({"model": lambda: model_of().learn(X[:10])}, "its model had learned nothing before"),
    ],
)
def test_the_checkpoint_of_another_run_is_refused(tmp_path, change, says):
    model_of().learn(Rows(X), 2000, checkpoint=tmp_path / "run")
    before = (tmp_path / "run").read_bytes()
    parts = {"stream": lambda: Rows(X), "model": model_of} | change
    model = parts["model"]()
    contents = persistence.digest(*model._contents()) if model.__sklearn_is_fitted__() else None
    with pytest.raises(ValueError, match=f"belongs to another run: {says}"):
        model.learn(parts["stream"](), 3000, checkpoint=tmp_path / "run")
    assert (tmp_path / "run").read_bytes() == before
    assert (persistence.digest(*model._contents()) if contents else None) == contents


def test_phases_with_a_file_each_carry_on(tmp_path):
    """First the one stream, then the other: as Subfigures 2f and 2g."""

    def both(stop=None):
        model = model_of()
        model.learn(Rows(X[:5000]), 4000, checkpoint=tmp_path / "first")
        if stop:
            model.learn(Rows(X[5000:]), stop, checkpoint=tmp_path / "second")
        return model.learn(Rows(X[5000:]), 4000, checkpoint=tmp_path / "second") if not stop else model

    both(stop=1500)
    carried_on = both()
    assert same(carried_on, model_of().learn(Rows(X[:5000]), 4000).learn(Rows(X[5000:]), 4000))


def test_a_random_model_carries_on_as_itself(tmp_path):
    first = model_of(random_state=None).learn(Rows(X), 2000, checkpoint=tmp_path / "run")
    second = model_of(random_state=None).learn(Rows(X), 2000, checkpoint=tmp_path / "run")
    assert same(first, second)


def test_a_saved_model_is_no_run_but_a_checkpoint_is_a_model(tmp_path):
    model = model_of().learn(Rows(X), 2000, checkpoint=tmp_path / "run")
    assert same(GaussianNeurons.load(tmp_path / "run"), model)
    model.save(tmp_path / "model")
    with pytest.raises(ValueError, match=r"no run to carry on: save\(\) wrote it"):
        model_of().learn(Rows(X), 3000, checkpoint=tmp_path / "model")


def test_a_damaged_checkpoint_is_refused_and_left_alone(tmp_path):
    model_of().learn(Rows(X), 2000, checkpoint=tmp_path / "run")
    whole = (tmp_path / "run").read_bytes()
    for damaged in (whole[:-10], whole[:100], b"", whole[:-1] + bytes([whole[-1] ^ 1])):
        (tmp_path / "run").write_bytes(damaged)
        with pytest.raises(ValueError, match="run"):
            model_of().learn(Rows(X), 3000, checkpoint=tmp_path / "run")
        assert (tmp_path / "run").read_bytes() == damaged


def test_files_carry_on_at_their_row(tmp_path):
    lines = [",".join(map(repr, row)) for row in X.tolist()]
    (tmp_path / "rows.csv").write_text("\n".join(lines[:7000]) + "\n")
    model_of().learn(rows_from_file(tmp_path / "rows.csv"), checkpoint=tmp_path / "run")
    (tmp_path / "rows.csv").write_text("\n".join(lines) + "\n")  # the file has grown
    model = model_of().learn(rows_from_file(tmp_path / "rows.csv"), checkpoint=tmp_path / "run")
    assert same(model, model_of().partial_fit(X))
    (tmp_path / "rows.csv").write_text("\n".join(lines[::-1]) + "\n")
    with pytest.raises(ValueError, match="its stream file is another one"):
        model_of().learn(rows_from_file(tmp_path / "rows.csv"), checkpoint=tmp_path / "run")


def test_an_iterable_carries_on_after_what_was_learned(tmp_path):
    model_of().learn(iter(X), 5000, checkpoint=tmp_path / "run")
    model = model_of().learn(iter(X), 9000, checkpoint=tmp_path / "run")
    assert same(model, model_of().partial_fit(X[:9000]))


# ---- crashes ----------------------------------------------------------------------------------------


def start(folder, samples, every):
    command = [sys.executable, "-m", "tests.killed_run", str(folder / "run"), str(samples), str(every)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, cwd=Path(__file__).parents[1], text=True)


def test_killed_again_and_again_it_ends_in_the_same_bits(tmp_path):
    """A real process, killed at random moments, six times, while it learns and writes."""
    (tmp_path / "whole").mkdir()
    (tmp_path / "killed").mkdir()
    random = np.random.default_rng(8)
    run, reached = tmp_path / "killed" / "run", [0]

    def written():
        return run.stat().st_mtime_ns if run.exists() else None

    for _ in range(6):
        before = written()
        with start(tmp_path / "killed", 10**10, 5000) as process:
            assert process.stdout.readline() == "begins\n"
            if len(reached) % 2:  # every other time it is let come to a checkpoint first
                wait_for(lambda before=before: written() != before)
            time.sleep(random.uniform(0, 0.05))
            process.send_signal(signal.SIGKILL)
        reached.append(GaussianNeurons.load(run).n_samples_seen_)
    assert reached == sorted(reached)
    assert len(set(reached)) > 3
    samples = reached[-1] + 123_456
    for name, every in (("killed", 5000), ("whole", 10**9)):
        with start(tmp_path / name, samples, every) as process:
            assert process.stdout.read() == f"begins\nends {samples}\n"
    one, other = (GaussianNeurons.load(tmp_path / name / "run") for name in ("whole", "killed"))
    assert same(one, other)
    assert [path.name for path in (tmp_path / "killed").iterdir()] == ["run"]  # no litter


# ---- disks ------------------------------------------------------------------------------------------


def failing_from(monkeypatch, number, error):
    """From its n-th call on, writing fails."""
    calls = itertools.count(1)
    write = persistence.write

    def failing(*arguments):
        if next(calls) >= number:
            raise error
        write(*arguments)

    monkeypatch.setattr(persistence, "write", failing)


FULL = OSError(errno.ENOSPC, "No space left on device")


def test_a_full_disk_stops_the_run_and_the_last_checkpoint_stays(tmp_path, monkeypatch):
    failing_from(monkeypatch, 4, FULL)
    model = model_of()
    with pytest.raises(OSError, match=r"cannot be written.*No space left.*on_write_error='warn'") as caught:
        model.learn(Rows(X), 10_000, checkpoint=tmp_path / "run", every=1000)
    assert caught.value.errno == errno.ENOSPC
    assert model.n_samples_seen_ == 4000
    assert GaussianNeurons.load(tmp_path / "run").n_samples_seen_ == 3000
    monkeypatch.undo()
    carried_on = model_of().learn(Rows(X), 10_000, checkpoint=tmp_path / "run", every=1000)
    assert same(carried_on, model_of().learn(Rows(X), 10_000))


def test_a_full_disk_is_reported_and_the_run_goes_on_if_wanted(tmp_path, monkeypatch):
    failing_from(monkeypatch, 4, FULL)
    with pytest.warns(RuntimeWarning, match="cannot be written.*going on without it") as caught:
        model = model_of().learn(
            Rows(X), 10_000, checkpoint=tmp_path / "run", every=1000, on_write_error="warn"
        )
    assert len(caught) == 7
    assert same(model, model_of().learn(Rows(X), 10_000))
    assert GaussianNeurons.load(tmp_path / "run").n_samples_seen_ == 3000


def test_a_file_system_that_is_really_full(tmp_path):
    """/dev/full would do for one file; a limit on the size of files is the same for a temporary one."""
    if not hasattr(resource, "RLIMIT_FSIZE"):
        pytest.skip("no limits on file sizes here")
    model_of().learn(Rows(X), 1000, checkpoint=tmp_path / "run")
    good = (tmp_path / "run").read_bytes()
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
        with pytest.raises(OSError, match="cannot be written"):
            model_of().learn(Rows(X), 5000, checkpoint=tmp_path / "run", every=1000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    assert (tmp_path / "run").read_bytes() == good
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_a_folder_that_is_not_there_is_told_before_anything_is_learned(tmp_path):
    model = model_of()
    with pytest.raises(OSError, match=r"the folder .* does not exist; make it first.*Nothing is learned yet"):
        model.learn(Rows(X), 5000, checkpoint=tmp_path / "none" / "run")
    assert not model.__sklearn_is_fitted__()
    with pytest.raises(OSError, match="is a folder"):
        model.learn(Rows(X), 5000, checkpoint=tmp_path)
    with pytest.warns(RuntimeWarning, match="cannot be written"):
        model.learn(Rows(X), 2000, checkpoint=tmp_path / "none" / "run", on_write_error="warn")
    assert model.n_samples_seen_ == 2000
