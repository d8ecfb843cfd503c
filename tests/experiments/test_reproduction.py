"""Reproductions: current results are kept, killed runs resume to the same bits, folders are not mixed."""

import json
import os
import shutil
import signal
import subprocess
import sys
from dataclasses import replace

import pytest

from gaussian_neurons.datasets import mnist_sample
from gaussian_neurons.datasets.fetch import AbsentData
from gaussian_neurons.experiments import backend_names, data, provenance, reproduction, results
from gaussian_neurons.experiments.catalogue import EXPERIMENTS, select
from tests.cli.calls import good
from tests.experiments.test_experiments import DATA
from tests.waiting import wait_for


class Listener(reproduction.Listener):
    def __init__(self):
        self.jobs, self.done, self.outcomes = [], None, []

    def on_start(self, jobs, done, board):
        self.jobs, self.done = [(job.run.name, job.run.seed) for job in jobs], done

    def on_end(self, outcome):
        self.outcomes.append(outcome)


@pytest.fixture
def small_data(monkeypatch):
    """Synthetic images in place of both sets, in this process."""
    monkeypatch.setattr(data, "_loaded", {(name, data.FULL, None): it for name, it in DATA.items() if name})


@pytest.fixture
def quick(small_data, monkeypatch):
    """Synthetic images, and no pictures."""
    monkeypatch.setattr(reproduction, "draw", lambda name, result, out: None)


def plan(out, *names, seeds=(0,), scale=2e-4, **more):
    return reproduction.Plan(select(names), seeds, out, scale, jobs=1, **more)


def run(plan):
    listener = Listener()
    failures = reproduction.reproduce(plan, listener)
    return listener, failures


def stored(out, name, seed=0):
    return json.loads((out / name / f"seed-{seed}.json").read_text())


def test_results_and_pictures_are_written(small_data, tmp_path):
    listener, failures = run(plan(tmp_path, "figure2a", "width-equation", seeds=(3, 5)))
    assert failures == []
    assert sorted(listener.jobs, key=str) == [("figure2a", 3), ("figure2a", 5), ("width-equation", None)]
    names = sorted(path.name for path in (tmp_path / "figure2a").iterdir())
    assert names == ["figure2a.png", "figure2a.svg", "seed-3.json", "seed-5.json"]  # no temporary files
    result = stored(tmp_path, "figure2a", 5)
    assert result["seed"] == 5
    assert result["data"]["sha256"] == DATA["mnist"].sha256
    assert (tmp_path / "width-equation" / "result.json").exists()


def test_current_results_are_not_computed_again(quick, tmp_path):
    run(plan(tmp_path, "figure2a"))
    before = (tmp_path / "figure2a" / "seed-0.json").read_bytes()
    listener, _ = run(plan(tmp_path, "figure2a", "figure2f", seeds=(0, 1)))
    assert set(listener.jobs) == {("figure2a", 1), ("figure2f", 0), ("figure2f", 1)}
    assert listener.done == 1
    assert (tmp_path / "figure2a" / "seed-0.json").read_bytes() == before


@pytest.mark.parametrize("changed", ["code", "data", "config", "damaged"])
def test_changed_results_are_computed_again(quick, tmp_path, monkeypatch, changed):
    run(plan(tmp_path, "figure2a"))
    path = tmp_path / "figure2a" / "seed-0.json"
    if changed == "code":
        monkeypatch.setattr(provenance, "fingerprint", lambda name, backend: "0" * 64)
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


def test_results_are_compared_when_both_are_there(quick, tmp_path):
    run(plan(tmp_path, "figure2c"))
    assert "compared" not in stored(tmp_path, "figure2c")
    listener, _ = run(plan(tmp_path, "figure2b"))
    assert listener.jobs == [("figure2b", 0)]
    result = stored(tmp_path, "figure2c")
    difference = result["learned"] - stored(tmp_path, "figure2b")["learned"]
    assert result["compared"] == {"with": ["figure2b"], "more_than_2b": difference}
    (tmp_path / "figure2b" / "seed-0.json").unlink()
    listener, _ = run(plan(tmp_path, "figure2c"))
    assert listener.jobs == []  # a comparison does not make a result out of date
    assert "compared" not in stored(tmp_path, "figure2c")


def test_results_stay_current_if_their_data_is_missing(quick, tmp_path, monkeypatch):
    run(plan(tmp_path, "figure2a"))

    def missing(directory, download):
        assert not download
        raise AbsentData("MNIST is missing.")

    monkeypatch.setattr(data, "_loaded", {})
    monkeypatch.setitem(data.SETS, ("mnist", data.FULL), missing)
    second = plan(tmp_path, "figure1")
    run(second)
    assert set(reproduction.current_results(second)) == {"figure1", "figure2a"}


def test_a_run_resumes_from_its_checkpoint_and_its_clock(small_data, tmp_path):
    (spec,) = plan(tmp_path, "figure5b", scale=0.1).runs()
    origin = provenance.origin("figure5b")

    def stop(samples, learned):
        if samples >= 500_000:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        reproduction.run_and_store(spec, tmp_path, origin, stop)
    (clock,) = tmp_path.glob("figure5b/seed-0.*/seconds.json")
    seconds = json.loads(clock.read_text())["layer"]
    progress = []
    reproduction.run_and_store(spec, tmp_path, origin, lambda samples, learned: progress.append(samples))
    assert progress[0] >= 500_000  # not from the start
    result = stored(tmp_path, "figure5b")
    assert result["samples"] == 1_000_000
    assert result["seconds"] > seconds
    assert not clock.parent.exists()


def test_checkpoints_of_other_code_are_deleted(quick, tmp_path):
    old = tmp_path / "figure2a" / "seed-0.0123456789ab"
    old.mkdir(parents=True)
    (old / "layer.safetensors").write_bytes(b"not a checkpoint")
    assert run(plan(tmp_path, "figure2a"))[1] == []
    assert not old.exists()


def test_a_failed_job_does_not_stop_the_others(quick, tmp_path, monkeypatch):
    def broken(config, seed, lab):
        raise RuntimeError("on purpose")

    monkeypatch.setitem(EXPERIMENTS, "figure2a", replace(EXPERIMENTS["figure2a"], run=broken))
    listener, (failure,) = run(plan(tmp_path, "figure2a", "figure2f"))
    assert "RuntimeError: on purpose" in failure.error
    assert "Traceback" in failure.error
    assert len(listener.outcomes) == 2
    assert (tmp_path / "figure2f" / "seed-0.json").exists()
    assert not (tmp_path / "figure2a" / "seed-0.json").exists()


def test_a_full_disk_is_reported_without_a_traceback(quick, tmp_path, monkeypatch):
    def full(path, result):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(results, "write", full)
    (spec,) = plan(tmp_path, "figure1").runs()
    reproduction.Board(tmp_path / "board", 1)
    job = reproduction.Job(spec, tmp_path, tmp_path / "board", 0, provenance.origin("figure1"), os.getpid())
    assert reproduction.execute(job).error == "[Errno 28] No space left on device"


def test_a_folder_is_locked_until_the_report_is_written(quick, tmp_path):
    def finish():
        with pytest.raises(BlockingIOError, match="in use by another run"):
            run(plan(tmp_path, "figure1"))

    reproduction.reproduce(plan(tmp_path, "figure1"), Listener(), finish)
    run(plan(tmp_path, "figure1"))


def test_results_of_another_scale_data_or_backend_are_not_mixed(quick, tmp_path):
    run(plan(tmp_path, "figure1"))
    for other in ({"scale": 3e-4}, {"data": data.SAMPLE}, {"backend": "native"}):
        with pytest.raises(ValueError, match=r"holds results of --data full --samples-scale 0.0002"):
            run(plan(tmp_path, "figure1", **other))


# ---- backends -------------------------------------------------------------------------------------


@pytest.fixture
def own_backend(tmp_path, monkeypatch):
    """A backend in the current directory that never moves a neuron."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)  # is removed afterwards
    source = "def learn(centers, widths, samples, sample_widths, rule, seen):\n    return centers, widths\n"
    (tmp_path / "still_neurons.py").write_text(source + "number = 1\n")
    yield "still_neurons:learn"
    sys.modules.pop("still_neurons", None)


def test_every_layer_learns_with_a_backend_of_the_user(quick, own_backend, tmp_path):
    _, failures = run(plan(tmp_path, "figure2a", "figure2h", "figure5c", backend=own_backend))
    assert failures == []
    for name in ("figure2a", "figure5c"):
        result = stored(tmp_path, name)
        assert result["backend"] == own_backend
        assert result["cosine"] == pytest.approx([1.0] * len(result["centers"]))  # as at the start
    assert stored(tmp_path, "figure2h")["backend"] is None


def test_the_reference_finds_what_the_compiled_core_finds(quick, tmp_path):
    for backend in ("native", "reference"):
        assert run(plan(tmp_path / backend, "figure2a", backend=backend))[1] == []
    ours, theirs = (stored(tmp_path / name, "figure2a") for name in ("native", "reference"))
    assert (ours["backend"], theirs["backend"]) == ("native", "reference")
    for one, other in zip(ours["centers"], theirs["centers"], strict=True):
        assert one == pytest.approx(other, abs=1e-3)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("fast", "unknown backend 'fast'"),
        ("still_neurons", "unknown backend 'still_neurons'"),
        ("still_neurons:", "unknown backend"),
        ("no_such_module:learn", "there is no module 'no_such_module'"),
        ("still_neurons:teach", "has no function 'teach'"),
        ("still_neurons:number", "must be a function, got int"),
        ("broken_backend:learn", "cannot be imported: ZeroDivisionError"),
        ("needy_backend:learn", "cannot be imported: No module named 'no_such_library'"),
    ],
)
def test_unknown_backends_are_refused(own_backend, tmp_path, name, message):
    (tmp_path / "broken_backend.py").write_text("1 / 0")
    (tmp_path / "needy_backend.py").write_text("import no_such_library")
    with pytest.raises(ValueError, match=message):
        backend_names.load(name)


# ---- processes ------------------------------------------------------------------------------------


def test_a_killed_reproduction_resumes_to_the_same_bits(tmp_path):
    out = tmp_path / "out"
    command = ["reproduce", "figure2c", "figure5b", "--samples-scale=0.1", "--data=sample", f"--out={out}"]

    def killed():
        """Kill the parent at the first checkpoint, if it is early enough: the workers must end too."""
        process = subprocess.Popen([sys.executable, "-m", "gaussian_neurons", *command, "--jobs=2"])
        wait_for(lambda: any(out.glob("*/*/*.safetensors")) or process.poll() is not None)
        process.kill()
        if process.wait() == -signal.SIGKILL:
            return True
        shutil.rmtree(out)
        return False

    wait_for(killed)
    assert not (out / "report.html").exists()
    good(*command, "--jobs=1")
    for name in ("figure2c", "figure5b"):
        experiment, result = EXPERIMENTS[name], stored(out, name)
        expected = results.run_experiment(experiment, experiment.scaled(0.1), 0, mnist_sample())
        assert result["centers"] == expected["centers"]
        assert result["is_learned"] == expected["is_learned"]
    left = [path for path in out.rglob("*") if path.suffix not in (".json", ".png", ".svg")]
    assert {path.name for path in left if path.is_file()} == {"report.html"}
