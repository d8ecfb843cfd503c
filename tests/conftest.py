"""What several tests share: the real data, where it is, and patches drawn from it."""

import gzip
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

settings.register_profile("steady", deadline=None, derandomize=True, max_examples=40)
settings.load_profile("steady")

PLACES = (os.environ.get("GAUSSIAN_NEURONS_DATA"), Path(__file__).parents[2] / "shared" / "data")


def idx(path: Path) -> np.ndarray:
    raw = gzip.decompress(path.read_bytes())
    shape = np.frombuffer(raw[4 : 4 + 4 * raw[3]], ">i4")
    return np.frombuffer(raw[4 + 4 * raw[3] :], np.uint8).reshape(shape)


@pytest.fixture(scope="session")
def mnist() -> tuple[np.ndarray, np.ndarray]:
    """The training images (60000, 28, 28) and their labels."""
    for place in filter(None, PLACES):
        folder = Path(place) / "mnist"
        if (folder / "train-images-idx3-ubyte.gz").exists():
            return idx(folder / "train-images-idx3-ubyte.gz"), idx(folder / "train-labels-idx1-ubyte.gz")
    pytest.skip("MNIST is not here: set GAUSSIAN_NEURONS_DATA to a folder that holds mnist/")


def patches(images: np.ndarray, size: int, n: int, seed: int) -> np.ndarray:
    """n uniformly random square patches, (n, size * size), scaled to [0, 1]."""
    random = np.random.default_rng(seed)
    image = random.integers(len(images), size=n)
    row, column = random.integers(images.shape[1] - size + 1, size=(2, n))
    windows = np.lib.stride_tricks.sliding_window_view(images, (size, size), axis=(1, 2))
    return windows[image, row, column].reshape(n, -1).astype(np.float32) / 255


def neighbourhoods(
    images: np.ndarray, size: int, n: int, noise: float, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Means (n, size * size) and widths (n,) of nine neighbouring noisy patches."""
    random = np.random.default_rng(seed)
    wide = patches(images, size + 2, n, seed).reshape(n, size + 2, size + 2)
    nine = np.stack([wide[:, r : r + size, c : c + size].reshape(n, -1) for r in range(3) for c in range(3)])
    nine += noise * random.standard_normal(nine.shape, np.float32)
    mean = nine.mean(axis=0)
    return mean, 2 / 9 * ((nine - mean) ** 2).sum(axis=(0, 2)).astype(np.float64)
