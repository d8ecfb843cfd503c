from typing import Any

from numpy.typing import NDArray

compiler: str

def learn(
    centers: NDArray[Any],
    widths: NDArray[Any],
    seen: NDArray[Any],
    samples: NDArray[Any],
    sample_widths: NDArray[Any] | None,
    first: int,
    learning_rate: float,
    inhibition: float,
    width_learning_rate: float,
) -> tuple[str, int, int]: ...
def squared_distances(
    samples: NDArray[Any], centers: NDArray[Any], out: NDArray[Any]
) -> tuple[int, int]: ...
def available() -> list[str]: ...
def current() -> str: ...
def use(name: str) -> None: ...
def measure_core_single(seconds: float) -> dict[str, float]: ...
def measure_core_double(seconds: float) -> dict[str, float]: ...
