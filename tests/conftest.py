"""Shared by all tests: hypothesis settings, the real data, a browser, interrupts."""

import gc
import os
import shutil
import signal
from pathlib import Path

import pytest
from hypothesis import settings

from gaussian_neurons.datasets import ImageSet
from gaussian_neurons.datasets import mnist as load_mnist
from gaussian_neurons.learning.cuda.device import cupy

settings.register_profile("steady", deadline=None, derandomize=True, max_examples=40)
settings.load_profile("steady")

# A process that a shell starts in the background ignores Ctrl-C, which several tests send.
signal.signal(signal.SIGINT, signal.default_int_handler)

PLACES = (os.environ.get("GAUSSIAN_NEURONS_DATA"), Path(__file__).parents[2] / "shared" / "data")


def data_directory(folder: str) -> Path:
    """The directory that contains such a folder of real data; without it, the test is skipped."""
    for place in filter(None, PLACES):
        if (Path(place) / folder).is_dir():
            return Path(place)
    pytest.skip(f"no {folder}/ here: set GAUSSIAN_NEURONS_DATA to a folder that holds it")


def pytest_runtest_setup(item):
    """Skip the tests that need a GPU where there is none."""
    if item.get_closest_marker("gpu"):
        try:
            cupy()
        except (ImportError, OSError) as none:
            pytest.skip(str(none))


@pytest.fixture(scope="session")
def mnist() -> ImageSet:
    """The training images (60000, 28, 28) and their labels."""
    return load_mnist(directory=data_directory("mnist"))


@pytest.fixture(scope="package")
def browser():
    """A real browser; without it, the test is skipped."""
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as engine:
        own = engine.chromium.executable_path
        found = next(filter(None, map(shutil.which, (own, "chromium", "google-chrome"))), None)
        if found is None:
            pytest.skip("no Chromium here: install your system's, or run `playwright install chromium`")
        opened = engine.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture(autouse=True)
def interrupts_are_not_swallowed():
    """Remove the hook of hypothesis from the garbage collector: Python ignores interrupts in it."""
    hooks = gc.callbacks[:]
    gc.callbacks.clear()
    yield
    gc.callbacks[:] = hooks
