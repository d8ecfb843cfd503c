from typing import Any

import numpy as np
from numpy.typing import NDArray

compiler: str

def learn(
    centers: NDArray[Any],
    widths: NDArray[Any],
    samples: NDArray[Any],
    sample_widths: NDArray[np.float64] | None,
    first: int,
    seen: int,
    learning_rate: float,
    inhibition: float,
    width_learning_rate: float,
    repulsion_every: int,
    lists: bool = True,
) -> tuple[int, int, int]: ...
def learn_each(
    centers: NDArray[Any],
    widths: NDArray[Any],
    samples: NDArray[Any],
    sample_widths: NDArray[np.float64] | None,
    next: NDArray[np.int64],
    seen: NDArray[np.int64],
    rules: NDArray[np.float64],
    status: NDArray[np.int64],
    where: NDArray[np.int64],
    threads: int,
) -> None: ...
def learn_shares(
    centers: NDArray[Any],
    widths: NDArray[Any],
    totals: NDArray[np.float64],
    resting: NDArray[np.bool_],
    samples: NDArray[Any],
    first: int,
    rate: float,
    least_width: float,
    reach: float,
) -> tuple[int, int, int]: ...
def relocate(
    centers: NDArray[np.float64],
    widths: NDArray[np.float64],
    counts: NDArray[np.float64],
    groups: NDArray[np.int64],
    resting: NDArray[np.bool_],
    rows: NDArray[np.float64],
    winners: NDArray[np.int64],
    background: NDArray[np.float64],
    margin: float,
    origins: NDArray[np.int64],
) -> None: ...
def squared_distances(samples: NDArray[Any], centers: NDArray[Any], out: NDArray[Any]) -> tuple[int, int]: ...
def quadratic_forms(
    samples: NDArray[Any], centers: NDArray[Any], covariances: NDArray[Any], out: NDArray[Any]
) -> tuple[int, int]: ...
def strongest(
    samples: NDArray[Any],
    centers: NDArray[Any],
    widths: NDArray[Any],
    offsets: NDArray[Any],
    winner: NDArray[np.int64],
    log_response: NDArray[Any],
) -> tuple[int, int]: ...
def merge_gaussians(
    centers: NDArray[np.float64],
    variances: NDArray[np.float64],
    counts: NDArray[np.float64],
    directions: float,
) -> tuple[list[int], list[int], list[float]]: ...
def refine_groups(
    centers: NDArray[np.float64],
    variances: NDArray[np.float64],
    counts: NDArray[np.float64],
    directions: float,
    margin: float,
    groups: NDArray[np.int64],
) -> float: ...
def tridiagonal(
    matrix: NDArray[np.float64], diagonal: NDArray[np.float64], off_diagonal: NDArray[np.float64]
) -> None: ...
def available() -> list[str]: ...
def current() -> str: ...
def use(name: str) -> None: ...
def patches(
    images: NDArray[Any], chosen: NDArray[Any] | None, size: int, seed: int, first: int, out: NDArray[Any]
) -> None: ...
def neighbourhoods(
    images: NDArray[Any],
    chosen: NDArray[Any] | None,
    size: int,
    noise: float,
    seed: int,
    first: int,
    means: NDArray[Any],
    widths: NDArray[Any],
) -> None: ...
def random_words(seed: int, purpose: int, first: int, out: NDArray[Any]) -> None: ...
def random_normals(seed: int, purpose: int, first: int, out: NDArray[Any]) -> None: ...
