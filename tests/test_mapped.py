"""Learning from files larger than memory: pages are given back, and only where that is safe."""

import subprocess
import sys

import numpy as np
import pytest

from gaussian_neurons import GaussianNeurons
from gaussian_neurons.base.memory_maps import mapping_of

ROWS = 2_000_000


@pytest.fixture(scope="module")
def rows_file(tmp_path_factory):
    """200 MB of rows."""
    path = tmp_path_factory.mktemp("mapped") / "rows.npy"
    np.save(path, np.random.default_rng(0).random((ROWS, 25), np.float32))
    return path


@pytest.mark.skipif(sys.platform != "linux", reason="reads the process's memory from /proc")
@pytest.mark.parametrize("method", ["partial_fit", "predict"])
def test_a_mapped_file_takes_little_memory(rows_file, method):
    # The highest resident memory of a child, file pages included, before and after.
    code = f"""
import numpy as np
from gaussian_neurons import GaussianNeurons
X = np.load({str(rows_file)!r}, mmap_mode="r")
model = GaussianNeurons(width=1.0, domain=(0, 1), random_state=0).partial_fit(X[:10])
def highest():
    return int(next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1]) / 1024
before = highest()
model.{method}(X)
print(highest() - before)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    answers = 0 if method == "partial_fit" else ROWS * (8 + 4 + 1 + 8) / 2**20  # clusters and responses
    assert float(done.stdout) < 40 + answers


def test_a_mapped_file_teaches_what_its_rows_teach(rows_file):
    mapped, rows = np.load(rows_file, mmap_mode="r")[:300_000], np.load(rows_file)[:300_000]
    given = {"width": 1.0, "domain": (0, 1), "random_state": 0}
    one, other = GaussianNeurons(**given).partial_fit(mapped), GaussianNeurons(**given).partial_fit(rows)
    np.testing.assert_array_equal(one.centers_, other.centers_)
    np.testing.assert_array_equal(mapped, rows)


@pytest.mark.parametrize(("mode", "droppable"), [("r", True), ("r+", True), ("c", False)])
def test_only_pages_that_the_file_has_are_dropped(tmp_path, mode, droppable):
    np.save(tmp_path / "x.npy", np.zeros((100, 2)))
    mapped = np.load(tmp_path / "x.npy", mmap_mode=mode)
    assert (mapping_of(np.asarray(mapped)[10:]) is not None) == droppable
    assert mapping_of(np.zeros(3)) is None


def test_changes_to_a_copy_on_write_map_survive(tmp_path):
    np.save(tmp_path / "x.npy", np.zeros((5000, 2)))
    mapped = np.load(tmp_path / "x.npy", mmap_mode="c")
    mapped[:] = 0.5
    GaussianNeurons(4, random_state=0).partial_fit(mapped).predict(mapped)
    assert (mapped == 0.5).all()
