"""Checkpoints: runs that resume or are extended, files of other runs, full disks."""

import errno
import itertools
import os
import resource
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest

from gaussian_neurons import GaussianNeurons
from gaussian_neurons.base import files
from gaussian_neurons.model import archive
from gaussian_neurons.sampling import Rows, rows_from_file
from tests.model import killed_run
from tests.runs import X, interrupt_at, model_of, same
from tests.waiting import wait_for


def test_a_complete_run_does_nothing_when_repeated(tmp_path):
    calls = []

    def run():
        stream = Rows(X)
        model = model_of().learn(
            stream, 5000, checkpoint=tmp_path / "run", every=1000, callback=lambda m, t: calls.append(t)
        )
        assert stream.position == 5000
        return model

    first = run()
    written = (tmp_path / "run").stat().st_mtime_ns
    again = run()
    assert same(first, again)
    assert calls == [1000, 2000, 3000, 4000, 5000]
    assert (tmp_path / "run").stat().st_mtime_ns == written


def test_a_notebook_cell_that_is_run_again_resumes(tmp_path):
    """The model and the stream still exist, as after Ctrl-C in a notebook."""
    model, stream = model_of(), Rows(X).seek(100)

    def cell(n):
        model.learn(stream, n, checkpoint=tmp_path / "run", every=1000)

    with pytest.raises(KeyboardInterrupt), interrupt_at(model, 2000):
        cell(10**9)
    reached = model.n_samples_seen_
    cell(reached + 3000)
    cell(reached + 3000)  # complete
    assert stream.position == 100 + reached + 3000
    assert same(model, model_of().learn(Rows(X).seek(100), reached + 3000))
    model.learn(stream, 10)  # the model has changed
    with pytest.raises(ValueError, match="belongs to another run"):
        cell(reached + 5000)


def test_a_run_can_be_extended(tmp_path):
    model_of().learn(Rows(X), 3000, checkpoint=tmp_path / "run")
    longer = model_of().learn(Rows(X), 7000, checkpoint=tmp_path / "run")
    assert same(longer, model_of().learn(Rows(X), 7000))
    with pytest.raises(ValueError, match="already holds 7,000 samples, more than n_samples=100"):
        model_of().learn(Rows(X), 100, checkpoint=tmp_path / "run")


def test_a_longer_run_does_not_repeat_the_last_callback(tmp_path):
    calls = []
    for n in (2000, 4000):
        model_of().learn(
            Rows(X), n, checkpoint=tmp_path / "run", every=1000, callback=lambda _, t: calls.append(t)
        )
    assert calls == [1000, 2000, 3000, 4000]


def test_a_run_stopped_by_its_callback_stays_stopped(tmp_path):
    for _ in range(2):
        model = model_of().learn(
            Rows(X), 10_000, checkpoint=tmp_path / "run", every=1000, callback=lambda _, t: t == 3000
        )
        assert model.n_samples_seen_ == 3000


def test_changes_by_the_callback_are_resumed(tmp_path):
    def run(n):
        def change(model, t):
            if t == 2000:
                model.add_neurons(2).set_params(inhibition=0.3)

        return model_of().learn(Rows(X), n, checkpoint=tmp_path / f"run{n}", every=1000, callback=change)

    whole = run(6000)
    run(3000)
    os.rename(tmp_path / "run3000", tmp_path / "run6000")
    resumed = run(6000)
    assert same(whole, resumed)
    assert resumed.inhibition == 0.3
    assert len(resumed.centers_) == 10


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
    state = model._state
    with pytest.raises(ValueError, match=f"belongs to another run: {says}"):
        model.learn(parts["stream"](), 3000, checkpoint=tmp_path / "run")
    assert (tmp_path / "run").read_bytes() == before
    assert model._state is state


def test_phases_with_a_file_each_resume(tmp_path):
    """First one stream, then another, as in Subfigures 2f and 2g."""

    def both(stop=None):
        model = model_of()
        model.learn(Rows(X[:5000]), 4000, checkpoint=tmp_path / "first")
        if stop:
            model.learn(Rows(X[5000:]), stop, checkpoint=tmp_path / "second")
        return model.learn(Rows(X[5000:]), 4000, checkpoint=tmp_path / "second") if not stop else model

    both(stop=1500)
    resumed = both()
    assert same(resumed, model_of().learn(Rows(X[:5000]), 4000).learn(Rows(X[5000:]), 4000))


def test_a_model_without_a_seed_resumes_as_itself(tmp_path):
    first = model_of(random_state=None).learn(Rows(X), 2000, checkpoint=tmp_path / "run")
    second = model_of(random_state=None).learn(Rows(X), 2000, checkpoint=tmp_path / "run")
    assert same(first, second)


def test_a_checkpoint_is_a_model_but_a_saved_model_is_not_a_checkpoint(tmp_path):
    model = model_of().learn(Rows(X), 2000, checkpoint=tmp_path / "run")
    assert same(GaussianNeurons.load(tmp_path / "run"), model)
    model.save(tmp_path / "model")
    with pytest.raises(ValueError, match=r"written by save\(\), not a run to resume"):
        model_of().learn(Rows(X), 3000, checkpoint=tmp_path / "model")


def test_a_forged_checkpoint_cannot_set_other_attributes(tmp_path):
    model_of().learn(Rows(X), 2000, checkpoint=tmp_path / "run")
    arrays, facts = archive.read(tmp_path / "run")
    facts["parameters"]["predict"] = "everything"
    archive.write(tmp_path / "run", arrays, facts)
    with pytest.raises(ValueError, match="unknown parameters: predict"):
        model_of().learn(Rows(X), 3000, checkpoint=tmp_path / "run")


def test_a_damaged_checkpoint_is_refused_and_left_alone(tmp_path):
    model_of().learn(Rows(X), 2000, checkpoint=tmp_path / "run")
    whole = (tmp_path / "run").read_bytes()
    for damaged in (whole[:-10], whole[:100], b"", whole[:-1] + bytes([whole[-1] ^ 1])):
        (tmp_path / "run").write_bytes(damaged)
        with pytest.raises(ValueError, match="run"):
            model_of().learn(Rows(X), 3000, checkpoint=tmp_path / "run")
        assert (tmp_path / "run").read_bytes() == damaged


def test_a_file_resumes_at_its_row_even_if_it_has_grown(tmp_path):
    lines = [",".join(map(repr, row)) for row in X.tolist()]
    (tmp_path / "rows.csv").write_text("\n".join(lines[:7000]) + "\n")
    model_of().learn(rows_from_file(tmp_path / "rows.csv"), checkpoint=tmp_path / "run")
    (tmp_path / "rows.csv").write_text("\n".join(lines) + "\n")  # the file has grown
    model = model_of().learn(rows_from_file(tmp_path / "rows.csv"), checkpoint=tmp_path / "run")
    assert same(model, model_of().partial_fit(X))
    (tmp_path / "rows.csv").write_text("\n".join(lines[::-1]) + "\n")
    with pytest.raises(ValueError, match="its stream file is another one"):
        model_of().learn(rows_from_file(tmp_path / "rows.csv"), checkpoint=tmp_path / "run")


def test_an_iterable_resumes_after_the_learned_rows(tmp_path):
    model_of().learn(iter(X), 5000, checkpoint=tmp_path / "run")
    model = model_of().learn(iter(X), 9000, checkpoint=tmp_path / "run")
    assert same(model, model_of().partial_fit(X[:9000]))


def test_the_checkpoint_stays_in_its_folder_if_the_callback_changes_the_folder(tmp_path, monkeypatch):
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path)
    model_of().learn(
        Rows(X), 3000, checkpoint="run", every=1000, callback=lambda m, t: os.chdir(tmp_path / "other")
    )
    assert sorted(path.name for path in tmp_path.iterdir()) == ["other", "run"]
    assert not list((tmp_path / "other").iterdir())


def test_temporary_files_of_a_killed_process_are_removed(tmp_path):
    (tmp_path / ".run.0123abcd.tmp").touch()
    (tmp_path / ".other.0123abcd.tmp").touch()
    model_of().learn(Rows(X), 100, checkpoint=tmp_path / "run")
    assert sorted(path.name for path in tmp_path.iterdir()) == [".other.0123abcd.tmp", "run"]


# ---- two runs ---------------------------------------------------------------------------------------


def test_a_second_run_with_the_same_checkpoint_is_refused(tmp_path):
    refused = []

    def second(*_):
        try:
            model_of().learn(Rows(X), 2000, checkpoint=tmp_path / "run")
        except OSError as error:
            refused.append(str(error))

    def twice(model, t):
        second()
        thread = threading.Thread(target=second)
        thread.start()
        thread.join()

    model = model_of().learn(Rows(X), 2000, checkpoint=tmp_path / "run", every=1000, callback=twice)
    assert len(refused) == 4
    assert f"run' is in use by another run, in process {os.getpid()}. Wait until" in refused[0]
    assert same(model, model_of().learn(Rows(X), 2000))
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_the_lock_of_a_killed_run_is_free_and_that_of_a_live_one_is_not(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "LOCK_TIMEOUT", 0.2)
    command = [sys.executable, "-m", "tests.model.killed_run", str(tmp_path / "run")]
    process = subprocess.Popen(command)
    try:
        wait_for(lambda: (tmp_path / "run").exists())
        with pytest.raises(BlockingIOError, match=f"in process {process.pid}. Wait until that run ends"):
            killed_run.learn(tmp_path / "run", 10_000)
        assert process.poll() is None
    finally:
        process.kill()
        process.wait()
    reached = GaussianNeurons.load(tmp_path / "run").n_samples_seen_
    assert killed_run.learn(tmp_path / "run", reached + 10).n_samples_seen_ == reached + 10
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_the_lock_is_released_after_an_error_and_an_interrupt(tmp_path):
    model = model_of()
    with pytest.raises(KeyboardInterrupt), interrupt_at(model, 2000):
        model.learn(Rows(X), 5000, checkpoint=tmp_path / "run", every=1000)
    with pytest.raises(ValueError, match="another run"):
        model_of().learn(Rows(X[1:]), 5000, checkpoint=tmp_path / "run")
    with pytest.raises(ZeroDivisionError):
        model_of().learn(Rows(X), 5000, checkpoint=tmp_path / "run", callback=lambda m, t: 1 / 0)
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_a_complete_run_is_resumed_from_a_folder_without_a_lock(tmp_path, monkeypatch):
    model = model_of().learn(Rows(X), 2000, checkpoint=tmp_path / "run")

    def read_only(*_):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(os, "open", read_only)
    assert same(model_of().learn(Rows(X), 2000, checkpoint=tmp_path / "run"), model)


# ---- disks ------------------------------------------------------------------------------------------


def failing_from(monkeypatch, number, error):
    """Let writing fail from the n-th call on."""
    calls = itertools.count(1)
    write = archive.write

    def failing(*arguments):
        if next(calls) >= number:
            raise error
        write(*arguments)

    monkeypatch.setattr(archive, "write", failing)


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
    resumed = model_of().learn(Rows(X), 10_000, checkpoint=tmp_path / "run", every=1000)
    assert same(resumed, model_of().learn(Rows(X), 10_000))


def test_a_full_disk_is_only_a_warning_if_wanted(tmp_path, monkeypatch):
    failing_from(monkeypatch, 4, FULL)
    with pytest.warns(RuntimeWarning, match="cannot be written.*going on without it") as caught:
        model = model_of().learn(
            Rows(X), 10_000, checkpoint=tmp_path / "run", every=1000, on_write_error="warn"
        )
    assert len(caught) == 7
    assert same(model, model_of().learn(Rows(X), 10_000))
    assert GaussianNeurons.load(tmp_path / "run").n_samples_seen_ == 3000


def test_a_limit_on_file_sizes_leaves_the_last_checkpoint(tmp_path):
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


def test_a_missing_folder_is_an_error_before_learning(tmp_path):
    model = model_of()
    with pytest.raises(OSError, match=r"folder .* does not exist; create it first.*Nothing is learned"):
        model.learn(Rows(X), 5000, checkpoint=tmp_path / "none" / "run")
    assert not model.__sklearn_is_fitted__()
    with pytest.raises(OSError, match="is a folder"):
        model.learn(Rows(X), 5000, checkpoint=tmp_path)
    with pytest.warns(RuntimeWarning, match="cannot be written"):
        model.learn(Rows(X), 2000, checkpoint=tmp_path / "none" / "run", on_write_error="warn")
    assert model.n_samples_seen_ == 2000
