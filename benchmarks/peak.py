"""The peak of one processor core: independent multiply-adds and exponentials in vectors."""

import ctypes
import time
from pathlib import Path

import numpy as np

from gaussian_neurons import _core
from gaussian_neurons.learning import native

ROUNDS = 10_000  # in one call, which takes less than a millisecond


def measure(precision: str, seconds: float) -> dict[str, float]:
    """Billions of operations a second in "float32" or "float64", and the shape of the vectors in use.

    Each kind of operation is repeated for some seconds, on the instruction set that is selected.
    """
    path = Path(_core.__file__).with_name(f"peak_{native.instruction_set()}.so")
    if not path.exists():
        raise FileNotFoundError(
            f"{path} is missing. Build it with `make .venv/ready-dev`, or install the package with "
            f"`--config-settings=cmake.define.GAUSSIAN_NEURONS_PEAK=ON`."
        )
    library = ctypes.CDLL(str(path))
    vector, group = (ctypes.c_int.in_dll(library, name).value for name in ("vector_bytes", "group_size"))
    return {
        "multiply_adds": _rate(library[f"multiply_adds_{precision}"], seconds),
        "exponentials": _rate(library[f"exponentials_{precision}"], seconds),
        "lanes": vector // np.dtype(precision).itemsize,
        "group": group,
    }


def _rate(operations: ctypes._CFuncPtr, seconds: float) -> float:
    operations.restype, operations.argtypes = ctypes.c_double, [ctypes.c_ssize_t]
    best, begin = 0.0, time.perf_counter()
    while time.perf_counter() - begin < seconds:  # the fastest call: others wait for other processes
        before = time.perf_counter()
        best = max(best, operations(ROUNDS) / (time.perf_counter() - before))
    return best * 1e-9
