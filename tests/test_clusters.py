"""Sweeps, reproductions and partitions on local clusters of Dask and Ray, which the tests start."""

import json
import os
import signal
import threading
import time

import joblib
import numpy as np
import psutil
import pytest

from gaussian_neurons import GaussianNeurons, partitioned, sweep, sweeping
from gaussian_neurons.base.progress import Bar
from gaussian_neurons.sampling import Rows
from tests.runs import X, same
from tests.waiting import wait_for

ROWS = X[:3000]
SWEEP = {"n_neurons": 8, "widths": 3, "inhibitions": (0.5, 1.0), "seeds": 2, "progress": False}
PARTS = np.array_split(ROWS, 6)
MODEL = GaussianNeurons(8, max_samples=3000, random_state=0)

TIMES = ("seconds", "samples_per_second")

pytestmark = [
    pytest.mark.filterwarnings("default"),  # those of the clusters
    pytest.mark.xdist_group("clusters"),
]


@pytest.fixture(scope="module")
def dask_client():
    distributed = pytest.importorskip("distributed", reason="needs distributed: pip install '.[cluster]'")
    with (
        distributed.LocalCluster(2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        client.run(__import__, "gaussian_neurons.sweeping")
        yield client


@pytest.fixture(scope="module")
def ray_cluster():
    ray = pytest.importorskip("ray", reason="needs ray: pip install '.[cluster]'")
    from ray.util.joblib import register_ray

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, configure_logging=False)
    register_ray()
    yield ray
    ray.shutdown()


@pytest.fixture(params=["dask", "ray"])
def cluster(request):
    name = {"dask": "dask_client", "ray": "ray_cluster"}[request.param]
    request.getfixturevalue(name)
    with joblib.parallel_config(backend=request.param, n_jobs=2):
        yield request.param


class Counted(Rows):
    """Rows that note in a file how often they are sent, and how often models draw from them."""

    notes = None

    def __getstate__(self):
        self.note("sent")
        return super().__getstate__()

    def draw(self, first, count):
        self.note("drawn")
        return super().draw(first, count)

    def note(self, what):
        with open(self.notes, "a") as file:
            file.write(f"{what} {os.getpid()}\n")


def counted(path):
    rows = Counted(ROWS, passes=1)
    rows.notes = str(path)
    return rows


def notes(path):
    return [line.split() for line in path.read_text().splitlines()] if path.exists() else []


def test_a_sweep_is_the_same_and_sends_its_data_once(cluster, tmp_path):
    path = tmp_path / "notes"
    found = sweep(counted(path), 2000, **SWEEP, n_jobs=None)
    assert found.to_dict() == sweep(Rows(ROWS, passes=1), 2000, **SWEEP, n_jobs=1).to_dict()
    copies = 2  # by the sweep itself
    assert sum(note == ["sent", str(os.getpid())] for note in notes(path)) == copies + 1
    workers = {pid for what, pid in notes(path) if what == "drawn"} - {str(os.getpid())}
    assert len(workers) == 2


def test_a_killed_worker_changes_nothing(cluster, tmp_path):
    path = tmp_path / "notes"
    rows = Counted(ROWS)
    rows.notes = str(path)

    def busy():
        return [int(pid) for what, pid in notes(path) if what == "drawn" and int(pid) != os.getpid()]

    def kill():
        wait_for(busy)
        os.kill(busy()[0], signal.SIGKILL)

    thread = threading.Thread(target=kill)
    thread.start()
    found = sweep(rows, 200_000, **SWEEP, n_jobs=None)
    thread.join()
    assert not psutil.pid_exists(busy()[0])
    assert found.to_dict() == sweep(Rows(ROWS), 200_000, **SWEEP, n_jobs=1).to_dict()


class Slow:
    """A partition that notes who reads it, and takes a while."""

    def __init__(self, rows, path):
        self.rows, self.path = rows, str(path)

    def __len__(self):
        return len(self.rows)

    def __array__(self, dtype=None, copy=None):
        with open(self.path, "a") as file:
            file.write(f"read {os.getpid()}\n")
        time.sleep(0.3)
        return self.rows


def test_a_worker_killed_during_partitions_changes_nothing(cluster, tmp_path):
    path = tmp_path / "notes"

    def kill():
        wait_for(lambda: notes(path))
        os.kill(int(notes(path)[0][1]), signal.SIGKILL)

    thread = threading.Thread(target=kill)
    thread.start()
    found = partitioned.fit([Slow(part, path) for part in PARTS], MODEL, n_jobs=None, progress=False)
    thread.join()
    assert len(notes(path)) > len(PARTS)
    assert same(found, partitioned.fit(PARTS, MODEL, n_jobs=1, progress=False))


def test_progress_comes_in_steps(cluster, monkeypatch):
    steps = []

    class Noted(Bar):
        def advance(self, count):
            steps.append(count)

    for module in (sweeping, partitioned):
        monkeypatch.setattr(module, "Bar", Noted)
    sweep(ROWS, 2000, **SWEEP, n_jobs=None)
    assert sum(steps) == 12 * 2000
    assert max(steps) <= 4 * 2000
    steps.clear()
    partitioned.fit(PARTS, MODEL, n_jobs=None, progress=False)
    assert steps == [1] * len(PARTS)


def test_a_bad_file_is_named_by_a_cluster(cluster, tmp_path):
    with pytest.raises(ValueError, match=r"partition 1, .*none\.csv': no file"):
        partitioned.fit([PARTS[0], tmp_path / "none.csv"], MODEL, n_jobs=None, progress=False)


def test_partitions_of_dask(dask_client):
    array = pytest.importorskip("dask.array")
    frame = pytest.importorskip("dask.dataframe")
    expected = partitioned.fit(PARTS, MODEL, progress=False)
    rows = array.from_array(ROWS, chunks=(500, 1))
    assert same(partitioned.fit(rows, MODEL, progress=False), expected)
    table = frame.from_dask_array(array.from_array(ROWS, chunks=(500, -1)), columns=["a", "b"])
    found = partitioned.fit(table, MODEL, progress=False)
    assert list(found.feature_names_in_) == ["a", "b"]
    assert found.centers_.tobytes() == expected.centers_.tobytes()


def test_partitions_of_ray(ray_cluster):
    data = pytest.importorskip("ray.data")
    import pandas as pd

    frames = [pd.DataFrame(part, columns=["a", "b"]) for part in PARTS]
    found = partitioned.fit(data.from_pandas(frames), MODEL, progress=False)
    assert same(found, partitioned.fit(frames, MODEL, progress=False))


class Failing:
    """A partition whose first reading fails, as a disk or a network can."""

    def __init__(self, rows, flag):
        self.rows, self.flag = rows, str(flag)

    def __len__(self):
        return len(self.rows)

    def __array__(self, dtype=None, copy=None):
        if not os.path.exists(self.flag):
            open(self.flag, "w").close()
            raise OSError("try again")
        return self.rows


def test_a_partition_that_fails_is_tried_again(dask_client, tmp_path):
    dask = pytest.importorskip("dask")
    array = pytest.importorskip("dask.array")
    parts = [dask.delayed(Failing)(part, tmp_path / f"{k}") for k, part in enumerate(PARTS)]
    blocks = [
        array.from_delayed(part, part_rows.shape, float) for part, part_rows in zip(parts, PARTS, strict=True)
    ]
    found = partitioned.fit(array.concatenate(blocks), MODEL, progress=False)
    assert same(found, partitioned.fit(PARTS, MODEL, progress=False))
    assert len(list(tmp_path.iterdir())) == len(PARTS)


def test_a_reproduction_runs_on_a_cluster(cluster, tmp_path):
    from gaussian_neurons.experiments.catalogue import EXPERIMENTS
    from gaussian_neurons.experiments.data import SAMPLE
    from gaussian_neurons.experiments.reproduction import Listener, Plan, reproduce

    def results(folder, jobs):
        plan = Plan([EXPERIMENTS["figure2a"]], [0, 1], folder, scale=0.001, data=SAMPLE, jobs=jobs)
        assert reproduce(plan, Listener()) == []
        found = [json.loads(path.read_text()) for path in sorted((folder / "figure2a").glob("*.json"))]
        return [{name: value for name, value in one.items() if name not in TIMES} for one in found]

    there = results(tmp_path / "there", 2)
    assert len(there) == 2
    assert there == results(tmp_path / "here", 1)
