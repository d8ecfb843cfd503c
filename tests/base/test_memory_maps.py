"""Memory-mapped files: pages are released after reading, if that is safe."""

import os
import subprocess
import sys

import numpy as np
import pytest

from gaussian_neurons import GaussianNeurons
from gaussian_neurons.base.memory_maps import require_whole
from gaussian_neurons.sampling import Rows

ROWS = 800_000


@pytest.fixture(scope="module")
def rows_file(tmp_path_factory):
    """80 MB of rows."""
    path = tmp_path_factory.mktemp("mapped") / "rows.npy"
    np.save(path, np.random.default_rng(0).random((ROWS, 25), np.float32))
    return path


@pytest.mark.skipif(sys.platform != "linux", reason="reads the process's memory from /proc")
def test_memory_of_a_mapped_file_is_released(rows_file):
    # The peak resident memory of a child process, with the pages of the file, after each step.
    code = f"""
import numpy as np
from gaussian_neurons import GaussianNeurons
X = np.load({str(rows_file)!r}, mmap_mode="r")
def print_peak():
    print(int(next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1]) / 1024)
model = GaussianNeurons(width=1.0, domain=(0, 1), random_state=0).partial_fit(X[:10])
print_peak()
model.partial_fit(X)
print_peak()
model.predict(X)
print_peak()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    before, learned, predicted = map(float, done.stdout.split())
    assert learned - before < 40
    assert predicted - learned < 40 + ROWS * (8 + 4 + 1 + 8) / 2**20  # clusters and responses


def test_mapped_file_equals_array_in_memory(rows_file):
    mapped = np.load(rows_file, mmap_mode="r")[:100_000]
    rows = np.array(mapped)
    settings = {"width": 1.0, "domain": (0, 1), "random_state": 0}
    first = GaussianNeurons(**settings).partial_fit(mapped)
    second = GaussianNeurons(**settings).partial_fit(rows)
    np.testing.assert_array_equal(first.centers_, second.centers_)
    np.testing.assert_array_equal(mapped, rows)


def test_changes_of_a_copy_on_write_mapping_are_kept(tmp_path):
    np.save(tmp_path / "x.npy", np.zeros((5000, 2)))
    mapped = np.load(tmp_path / "x.npy", mmap_mode="c")
    mapped[:] = 0.5
    GaussianNeurons(4, random_state=0).partial_fit(mapped).predict(mapped)
    assert (mapped == 0.5).all()


@pytest.mark.parametrize("mode", ["r", "r+", "c"])
@pytest.mark.parametrize("part", [slice(None), slice(40_000, None, 2)])
def test_a_mapped_file_that_was_shortened_is_an_error(tmp_path, mode, part):
    np.save(tmp_path / "x.npy", np.random.default_rng(0).random((50_000, 2)))
    mapped = np.load(tmp_path / "x.npy", mmap_mode=mode)[part]
    model = GaussianNeurons(4, width=0.1, random_state=0).partial_fit(mapped)
    state = model._state
    os.truncate(tmp_path / "x.npy", 10_000)  # reading the rows beyond it would end the process
    for method in (model.partial_fit, model.predict, model.fit):
        with pytest.raises(ValueError, match=r"x\.npy' was shortened to 10000 bytes; 800128 are needed"):
            method(mapped)
    with pytest.raises(ValueError, match="was shortened"):
        require_whole(np.asarray(mapped)[:3])
    assert model._state is state


def test_a_mapping_that_begins_inside_the_file_is_whole(tmp_path):
    (tmp_path / "x").write_bytes(bytes(100_000))
    for offset in (0, 8, 4096, 50_000):
        require_whole(np.memmap(tmp_path / "x", np.float64, "r", offset, (1000, 2)))
    mapped = np.memmap(tmp_path / "x", np.float64, "r", 50_000, (1000, 2))
    os.truncate(tmp_path / "x", 65_999)
    with pytest.raises(ValueError, match="was shortened to 65999 bytes; 66000 are needed"):
        require_whole(mapped)


def test_a_stream_of_a_mapped_file_that_is_shortened_keeps_what_was_learned(tmp_path):
    np.save(tmp_path / "x.npy", np.random.default_rng(0).random((100_000, 2)))
    rows = Rows(np.load(tmp_path / "x.npy", mmap_mode="r"))
    model = GaussianNeurons(4, width=0.1, random_state=0)

    def shorten(model, taken):
        if taken == 20_000:
            os.truncate(tmp_path / "x.npy", 10_000)

    with pytest.raises(ValueError, match="was shortened"):
        model.learn(rows, 90_000, every=10_000, callback=shorten)
    assert model.n_samples_seen_ == rows.position == 20_000
