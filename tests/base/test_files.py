"""Files that are replaced as a whole, their temporary files, and locks."""

import os
import signal
import subprocess
import sys
import threading

import pytest

from gaussian_neurons.base import files
from gaussian_neurons.base.files import locked, replace_file, sweep

fcntl = pytest.importorskip("fcntl")


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_the_temporary_file_of_a_live_writer_stays(tmp_path, monkeypatch):
    fsync = os.fsync

    def swept(file):
        sweep(tmp_path / "model")  # another process does this meanwhile
        fsync(file)

    monkeypatch.setattr(os, "fsync", swept)
    replace_file(tmp_path / "model", b"new")
    assert (tmp_path / "model").read_bytes() == b"new"
    assert names(tmp_path) == ["model"]


def test_the_temporary_file_of_a_killed_writer_is_removed_by_the_next_one(tmp_path):
    code = f"""
import os, signal
from gaussian_neurons.base.files import replace_file
os.fsync = lambda file: os.kill(os.getpid(), signal.SIGKILL)
replace_file({str(tmp_path / "model")!r}, b"old")
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == -signal.SIGKILL
    assert len(names(tmp_path)) == 1
    replace_file(tmp_path / "other", b"new")
    assert len(names(tmp_path)) == 2
    replace_file(tmp_path / "model", b"new")
    assert names(tmp_path) == ["model", "other"]


def test_a_temporary_file_that_is_removed_before_it_is_locked_is_created_again(tmp_path, monkeypatch):
    flock, calls = fcntl.flock, []

    def late(file, operation):
        if not calls:
            calls.append(file.name)
            sweep(tmp_path / "model")
        return flock(file, operation)

    monkeypatch.setattr(fcntl, "flock", late)
    replace_file(tmp_path / "model", b"new")
    assert names(tmp_path) == ["model"]
    assert (tmp_path / "model").read_bytes() == b"new"


def test_threads_that_replace_the_same_file_do_not_disturb_each_other(tmp_path):
    errors = []

    def write(number):
        try:
            for _ in range(50):
                replace_file(tmp_path / "model", bytes([number]) * 1000)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert names(tmp_path) == ["model"]
    assert len(set((tmp_path / "model").read_bytes())) == 1


@pytest.mark.parametrize("missing", ["module", "file system"])
def test_files_are_replaced_without_locks(tmp_path, monkeypatch, missing):
    def unsupported(file, operation):
        raise OSError(95, "Operation not supported")

    if missing == "module":
        monkeypatch.setattr(files, "fcntl", None)
    else:
        monkeypatch.setattr(fcntl, "flock", unsupported)
    with locked(tmp_path / "model"), locked(tmp_path / "model"):
        replace_file(tmp_path / "model", b"new")
    assert names(tmp_path) == ["model"]


def test_a_lock_is_exclusive_and_leaves_nothing(tmp_path):
    with locked(tmp_path / "run"):
        assert (tmp_path / ".run.lock").read_text() == f"{os.getpid()}\n"
        (tmp_path / "link").symlink_to("run")
        for name in ("run", "link"):
            with pytest.raises(BlockingIOError, match=f"in use by another run, in process {os.getpid()}"):
                locked(tmp_path / name).__enter__()
    assert names(tmp_path) == ["link"]
    with pytest.raises(KeyboardInterrupt), locked(tmp_path / "run"):
        raise KeyboardInterrupt
    assert names(tmp_path) == ["link"]


def test_a_run_waits_for_another_process_that_is_ending(tmp_path):
    code = f"""
import time
from gaussian_neurons.base.files import locked
with locked({str(tmp_path / "run")!r}):
    print("held", flush=True)
    time.sleep(0.5)
"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"held\n"
        with locked(tmp_path / "run"):
            pass
    assert names(tmp_path) == []


def test_only_one_thread_at_a_time_holds_a_lock_that_others_remove(tmp_path):
    inside, held, errors = [], [], []

    def hold():
        for _ in range(300):
            try:
                with locked(tmp_path / "run"):
                    inside.append(1)
                    held.append(len(inside))
                    inside.pop()
            except BlockingIOError:
                pass
            except Exception as error:
                errors.append(error)

    threads = [threading.Thread(target=hold) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert set(held) == {1}
    assert names(tmp_path) == []


def test_a_lock_file_that_cannot_be_created_locks_nothing(tmp_path):
    (tmp_path / ".run.lock").mkdir()
    with locked(tmp_path / "run"), locked(tmp_path / "absent" / "run"):
        pass
    assert names(tmp_path) == [".run.lock"]


def test_a_link_in_place_of_the_lock_file_is_not_followed(tmp_path):
    (tmp_path / "precious").write_text("text")
    (tmp_path / ".run.lock").symlink_to("precious")
    with locked(tmp_path / "run"):
        pass
    assert (tmp_path / "precious").read_text() == "text"


def test_names_as_long_as_the_system_allows_can_be_written(tmp_path):
    for name in ("n" * 255, "ü" * 127):
        with files.locked(tmp_path / name):
            files.replace_file(tmp_path / name, b"new")
        assert (tmp_path / name).read_bytes() == b"new"
    assert len(list(tmp_path.iterdir())) == 2


def test_a_forked_process_leaves_the_lock_of_its_parent(tmp_path):
    script = f"""
import os, sys
from gaussian_neurons.base import files

with files.locked({str(tmp_path / "run")!r}):
    child = os.fork()
    if not child:
        sys.exit()
    os.waitpid(child, 0)
    assert os.path.exists({str(tmp_path / ".run.lock")!r})
"""
    subprocess.run([sys.executable, "-c", script], check=True, timeout=100)
    assert not list(tmp_path.iterdir())


def test_a_lock_file_that_cannot_be_written_is_respected(tmp_path, monkeypatch):
    """It may belong to another user."""
    monkeypatch.setattr(files, "LOCK_TIMEOUT", 0.0)
    opened = files._opened

    def forbidden(path, mode="r+b", flags=0):
        if mode == "r+b":
            raise PermissionError(13, "not yours", str(path))
        return opened(path, mode, flags)

    with files.locked(tmp_path / "run"):
        monkeypatch.setattr(files, "_opened", forbidden)
        with pytest.raises(BlockingIOError, match="in use by another run"), files.locked(tmp_path / "run"):
            pass
