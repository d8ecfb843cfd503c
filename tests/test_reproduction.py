"""Reproductions: what is done is kept, what is killed carries on to the same bits, nothing is mixed up."""

import json
import os
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from gaussian_neurons.datasets.fetch import AbsentData
from gaussian_neurons.experiments import data, provenance, reproduction, results
from gaussian_neurons.experiments.catalogue import EXPERIMENTS, chosen
from tests.test_experiments import DATA
from tests.waiting import wait_for

COMMAND = [sys.executable, "-m", "gaussian_neurons", "reproduce"]


class Listener(reproduction.Audience):
    def __init__(self):
        self.jobs, self.done, self.outcomes = [], None, []

    def begins(self, jobs, done, board):
        self.jobs, self.done = [(job.question.name, job.question.seed) for job in jobs], done

    def ended(self, outcome):
        self.outcomes.append(outcome)


@pytest.fixture
def small_data(monkeypatch):
    """Made up images in place of both sets, in this process."""
    monkeypatch.setattr(data, "_loaded", {(name, data.FULL, None): it for name, it in DATA.items() if name})


def plan(out, *names, seeds=(0,), scale=2e-4, **more):
    return reproduction.Plan(chosen(names), seeds, out, scale, jobs=1, **more)


def run(plan):
    listener = Listener()
    failures = reproduction.reproduce(plan, listener)
    return listener, failures


def test_every_result_is_written_with_its_pictures(small_data, tmp_path):
    listener, failures = run(plan(tmp_path, "figure2a", "figure1", seeds=(3, 5)))
    assert failures == []
    assert sorted(listener.jobs, key=str) == [("figure1", None), ("figure2a", 3), ("figure2a", 5)]
    names = sorted(path.name for path in (tmp_path / "figure2a").iterdir())
    assert names == ["figure2a.png", "figure2a.svg", "seed-3.json", "seed-5.json"]  # no litter
    result = json.loads((tmp_path / "figure2a" / "seed-5.json").read_text())
    assert result["seed"] == 5
    assert result["data"]["sha256"] == DATA["mnist"].sha256
    assert (tmp_path / "figure1" / "result.json").exists()


def test_what_is_done_and_unchanged_is_not_done_again(small_data, tmp_path):
    run(plan(tmp_path, "figure2a"))
    before = (tmp_path / "figure2a" / "seed-0.json").read_bytes()
    listener, _ = run(plan(tmp_path, "figure2a"))
    assert listener.jobs == []
    assert (tmp_path / "figure2a" / "seed-0.json").read_bytes() == before
    listener, _ = run(plan(tmp_path, "figure2a", "figure2f", seeds=(0, 1)))
    assert set(listener.jobs) == {("figure2a", 1), ("figure2f", 0), ("figure2f", 1)}
    assert listener.done == 1


@pytest.mark.parametrize("changed", ["code", "data", "config", "damaged"])
def test_what_changed_is_done_again(small_data, tmp_path, monkeypatch, changed):
    run(plan(tmp_path, "figure2a"))
    path = tmp_path / "figure2a" / "seed-0.json"
    if changed == "code":
        monkeypatch.setattr(provenance, "fingerprint", lambda name: "0" * 64)
    elif changed == "data":
        other = replace(DATA["mnist"], images=DATA["mnist"].images[::-1].copy())
        monkeypatch.setattr(data, "_loaded", {("mnist", data.FULL, None): other})
    elif changed == "config":
        result = json.loads(path.read_text())
        result["config"]["width"] = 2.0
        results.write(path, result)
    else:
        path.write_text(path.read_text()[:100])
    listener, _ = run(plan(tmp_path, "figure2a"))
    assert listener.jobs == [("figure2a", 0)]
    assert json.loads(path.read_text())["config"]["width"] == 1.0


def test_comparisons_come_as_soon_as_both_are_there(small_data, tmp_path):
    run(plan(tmp_path, "figure2c"))
    path = tmp_path / "figure2c" / "seed-0.json"
    assert "compared" not in json.loads(path.read_text())
    listener, _ = run(plan(tmp_path, "figure2b"))
    assert listener.jobs == [("figure2b", 0)]
    both = [json.loads((tmp_path / name / "seed-0.json").read_text()) for name in ("figure2c", "figure2b")]
    difference = both[0]["learned"] - both[1]["learned"]
    assert both[0]["compared"] == {"with": ["figure2b"], "more_than_2b": difference}
    assert run(plan(tmp_path, "figure2c"))[0].jobs == []  # a comparison does not make it another result
    (tmp_path / "figure2b" / "seed-0.json").unlink()
    run(plan(tmp_path, "figure2c"))
    assert "compared" not in json.loads(path.read_text())  # with what is no more


def test_results_stay_in_the_report_where_their_data_is_not_at_hand(small_data, tmp_path, monkeypatch):
    run(plan(tmp_path, "figure2a"))

    def nowhere(directory, download):
        assert not download  # nobody asked for it
        raise AbsentData("MNIST is not here.")

    monkeypatch.setattr(data, "_loaded", {})
    monkeypatch.setitem(data.SETS, ("mnist", data.FULL), nowhere)
    second = plan(tmp_path, "figure1")
    run(second)
    assert set(reproduction.collected(second)) == {"figure1", "figure2a"}


def test_a_run_carries_on_from_its_checkpoint_and_its_clock(small_data, tmp_path):
    question = plan(tmp_path, "figure3b", scale=0.05).questions()[0]
    code = provenance.code("figure3b")
    told = []

    def stop(samples, learned):
        told.append(samples)
        if samples >= 400_000:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        reproduction.answer(question, tmp_path, code, stop)
    (clock,) = tmp_path.glob("figure3b/seed-0.*/seconds.json")
    spent = json.loads(clock.read_text())["layer"]
    later = []
    reproduction.answer(question, tmp_path, code, lambda samples, learned: later.append(samples))
    assert later[0] > 400_000  # and not from the start
    result = json.loads((tmp_path / "figure3b" / "seed-0.json").read_text())
    assert result["samples"] == 500_000
    assert result["seconds"] > spent
    assert not clock.parent.exists()


def test_checkpoints_of_other_code_are_not_carried_on(small_data, tmp_path):
    old = tmp_path / "figure2a" / "seed-0.0123456789ab"
    old.mkdir(parents=True)
    (old / "layer.safetensors").write_bytes(b"not even a checkpoint")
    assert run(plan(tmp_path, "figure2a"))[1] == []
    assert not old.exists()


def test_a_job_that_fails_does_not_stop_the_others(small_data, tmp_path, monkeypatch):
    def broken(config, seed, lab):
        raise RuntimeError("on purpose")

    monkeypatch.setitem(EXPERIMENTS, "figure2a", replace(EXPERIMENTS["figure2a"], run=broken))
    listener, (failure,) = run(plan(tmp_path, "figure2a", "figure2f"))
    assert "RuntimeError: on purpose" in failure.error
    assert "Traceback" in failure.error
    assert len(listener.outcomes) == 2
    assert (tmp_path / "figure2f" / "seed-0.json").exists()
    assert not (tmp_path / "figure2a" / "seed-0.json").exists()


def test_a_full_disk_is_told_without_a_traceback(small_data, tmp_path, monkeypatch):
    def full(path, result):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(results, "write", full)
    question = plan(tmp_path, "figure1").questions()[0]
    reproduction.Board(tmp_path / "board", 1)
    job = reproduction.Job(question, tmp_path, tmp_path / "board", 0, provenance.code("figure1"), os.getpid())
    assert reproduction.work(job).error == "[Errno 28] No space left on device"


def test_the_report_is_written_while_the_folder_is_locked(small_data, tmp_path):
    def finish():
        with pytest.raises(BlockingIOError), reproduction.locked(tmp_path):
            pass

    reproduction.reproduce(plan(tmp_path, "figure1"), Listener(), finish)


def test_two_at_a_time_in_one_folder_are_refused(small_data, tmp_path):
    with (
        reproduction.locked(tmp_path),
        pytest.raises(BlockingIOError, match="another reproduction is at work"),
    ):
        run(plan(tmp_path, "figure1"))
    run(plan(tmp_path, "figure1"))  # once it is free


def test_results_of_another_scale_or_other_data_are_not_mixed_in(small_data, tmp_path):
    run(plan(tmp_path, "figure2a"))
    for other in (plan(tmp_path, "figure2a", scale=3e-4), plan(tmp_path, "figure2a", choice=data.SAMPLE)):
        with pytest.raises(ValueError, match=r"holds results of --data full --samples-scale 0.0002"):
            run(other)
    assert (tmp_path / "figure2a" / "seed-0.json").exists()


def start(out, *words, jobs=1):
    """The command in a process group of its own, so that Ctrl-C can be sent to all of it."""
    command = [*COMMAND, *words, "--data", "sample", "--out", str(out), "--jobs", str(jobs)]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    )


WORDS = ("figure3a", "figure2b", "--samples-scale", "0.1")


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    out = tmp_path_factory.mktemp("undisturbed")
    process = start(out, *WORDS, jobs=2)
    said = process.communicate()[0]
    assert process.returncode == 0, said
    return out


@pytest.mark.parametrize(("how", "jobs"), [("ctrl-c", 1), ("kill", 2)])
def test_a_run_that_is_broken_off_carries_on_to_the_same_bits(tmp_path, undisturbed, how, jobs):
    out = tmp_path / "out"

    def broken_off():
        """How it ended, and what it said; None where it was over before it was disturbed."""
        disturbed = start(out, *WORDS, jobs=jobs)
        wait_for(lambda: any(out.glob("*/*/*.safetensors")) or disturbed.poll() is not None)
        if how == "kill":
            disturbed.kill()  # the parent alone: its workers must notice
        elif disturbed.poll() is None:
            os.killpg(disturbed.pid, signal.SIGINT)
        said = disturbed.communicate()[0]
        if disturbed.returncode:
            return disturbed.returncode, said
        return shutil.rmtree(out)

    code, said = wait_for(broken_off)
    assert code == (130 if how == "ctrl-c" else -signal.SIGKILL), said
    if how == "ctrl-c":
        assert "the same command carries on" in said
        assert "Traceback" not in said
    assert not (out / "report.html").exists()
    again = start(out, *WORDS, jobs=jobs)
    said = again.communicate()[0]
    assert again.returncode == 0, said
    for name in ("figure3a", "figure2b"):
        ours, theirs = (json.loads((it / name / "seed-0.json").read_text()) for it in (out, undisturbed))
        for changing in ("seconds", "samples_per_second"):
            del ours[changing], theirs[changing]
        assert ours == theirs
    left = [path for path in out.rglob("*") if path.suffix not in (".json", ".png", ".svg")]
    assert {path.name for path in left if path.is_file()} == {"report.html", ".lock"}


def test_absent_data_is_told_of_before_anything_is_run(tmp_path):
    nowhere = {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path), "GAUSSIAN_NEURONS_DATA": ""}
    proxies = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), "http://127.0.0.1:9")
    done = subprocess.run(
        [*COMMAND, "all", "--out", str(tmp_path / "out")],
        capture_output=True,
        text=True,
        env={**os.environ, **nowhere, **proxies, "no_proxy": "", "NO_PROXY": ""},
    )
    assert done.returncode == 1
    assert "MNIST" in done.stderr
    assert "--data sample" in done.stderr
    assert "--data-dir" in done.stderr
    assert "Traceback" not in done.stderr
    assert not list((tmp_path / "out").glob("*/*.json"))


def test_the_result_says_which_commit_it_came_from():
    found = provenance.commit()
    root = Path(__file__).parents[1]
    if not (root / ".git").exists():
        pytest.skip("not a checkout")
    head = subprocess.run(
        ["git", "-C", str(root), "rev-parse", "HEAD"], capture_output=True, text=True
    ).stdout
    assert found is not None
    assert found.startswith(head.strip())
    machine = provenance.machine()
    assert machine["cores"] >= 1
    assert machine["instruction_set"] in ("avx512", "avx2", "baseline")
