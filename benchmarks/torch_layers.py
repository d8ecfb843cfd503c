"""The speed of learning through PyTorch, as a part of that of `partial_fit`.

    python -m benchmarks.torch_layers [--rounds N] [--batch ROWS]

`GaussianLayer.learn` takes tensors, `GaussianNeurons.partial_fit` the same rows as arrays, in batches of one
size. Both learn in turns in one process, with models that begin alike; a figure is the median of the
processor time over the rounds. "convolution" is `GaussianConv2d.learn` of all patches of images, beside
`partial_fit` of the same patches, which are copied from the images for both.
"""

import argparse
import time
from collections.abc import Callable
from statistics import median

import numpy as np

from benchmarks.speed import processor
from gaussian_neurons import GaussianNeurons

try:
    import torch
except ModuleNotFoundError:
    raise SystemExit("this benchmark needs PyTorch: pip install 'gaussian-neurons[torch]'") from None

from gaussian_neurons.torch import GaussianConv2d, GaussianLayer

TARGET = 0.9
SIZES = ((16, 25), (16, 2), (50, 75), (16, 169), (256, 128))  # K, D
WORK = 4e9  # K^2 D times the rows of a round, about half a second
MOST_ROWS = 200_000
SIDE, KERNEL = 28, 5  # of the images, and of a patch of them


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--batch", type=int, default=10_000, help="rows of a call")
    given = parser.parse_args()
    torch.set_num_threads(1)
    print(f"{processor()}, one core, PyTorch {torch.__version__}, float32; target: at least {TARGET} times")
    print(f"{'K':>4} {'D':>4} {'':>12} {'width':>6} {'partial_fit, µs':>16} {'learn, µs':>10} {'speed':>6}")
    for neurons, columns in SIZES:
        for width in (columns / 25, "auto"):
            show(neurons, columns, "rows", width, rows_in_turns(neurons, columns, width, given))
    images = images_in_turns(given)
    show(16, KERNEL**2, "convolution", 1.0, images)


def show(neurons: int, columns: int, what: str, width: float | str, times: tuple[float, float]) -> None:
    plain, through = times
    kind = width if isinstance(width, str) else "given"
    print(
        f"{neurons:4} {columns:4} {what:>12} {kind:>6} {plain:16.3f} {through:10.3f} {plain / through:6.2f}",
        flush=True,
    )


def rows_in_turns(
    neurons: int, columns: int, width: float | str, given: argparse.Namespace
) -> tuple[float, float]:
    """Microseconds per row of `partial_fit` and of `learn`."""
    count = int(min(MOST_ROWS, max(1000, WORK / (neurons**2 * columns))))
    x = np.random.default_rng(0).random((count, columns), np.float32)
    parts = [x[first : first + given.batch] for first in range(0, count, given.batch)]
    tensors = [torch.from_numpy(part) for part in parts]
    settings = {"width": width, "domain": None if width == "auto" else (0, 1), "random_state": 0}
    model, layer = GaussianNeurons(neurons, **settings), GaussianLayer(columns, neurons, **settings)

    def fit() -> None:
        for part in parts:
            model.partial_fit(part)

    def learn() -> None:
        for part in tensors:
            layer.learn(part)

    return in_turns(fit, learn, count, given.rounds)


def images_in_turns(given: argparse.Namespace) -> tuple[float, float]:
    """Microseconds per patch of `partial_fit` and of the `learn` of a convolution."""
    places = (SIDE - KERNEL + 1) ** 2
    count = max(1, given.batch // places)
    x = torch.from_numpy(np.random.default_rng(0).random((10 * count, 1, SIDE, SIDE), np.float32))
    settings = {"width": 1.0, "domain": (0, 1), "random_state": 0}
    model = GaussianNeurons(16, **settings)
    layer = GaussianConv2d(1, 16, KERNEL, patches_per_image=None, **settings)

    def fit() -> None:
        for part in x.split(count):
            rows = np.lib.stride_tricks.sliding_window_view(part[:, 0].numpy(), (KERNEL, KERNEL), (1, 2))
            model.partial_fit(rows.reshape(-1, KERNEL**2))

    def learn() -> None:
        for part in x.split(count):
            layer.learn(part)

    return in_turns(fit, learn, len(x) * places, given.rounds)


def in_turns(
    one: Callable[[], object], other: Callable[[], object], count: int, rounds: int
) -> tuple[float, float]:
    """Median processor time of both, in microseconds per row; the first round only warms up."""
    taken: tuple[list[float], list[float]] = [], []
    for turn in range(rounds + 1):
        for which in ((0, 1), (1, 0))[turn % 2]:
            begin = time.process_time()
            (one, other)[which]()
            taken[which].append((time.process_time() - begin) / count * 1e6)
    return median(taken[0][1:]), median(taken[1][1:])


if __name__ == "__main__":
    main()
