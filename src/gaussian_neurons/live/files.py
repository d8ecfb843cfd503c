"""The file on the command line: images of an NPY file, or points of a file with two columns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gaussian_neurons.live.sources import Images, Points, points_from_rows
from gaussian_neurons.sampling.files import Npy
from gaussian_neurons.sampling.images import Patches

Array = NDArray[Any]

NPY_SHAPES = "An NPY file must hold two columns, (n, 2), or images, (n, height, width[, 3])."
MAX_NAME = 25  # characters of a column's name before "(standardized)"
MAX_RATIO = 100.0  # of two standard deviations without a warning
MAX_SHOWN_RATIO = 1_000_000


@dataclass(frozen=True)
class Table:
    """The rows of a file with two columns, and how they were read."""

    path: Path
    rows: Array  # (n, 2)
    labels: Sequence[str]  # names of the columns in messages
    names: Sequence[str] | None  # names of the columns in the file, if it has any
    options: Mapping[str, Any]  # of rows_from_file
    skipped: int = 0  # rows that could not be read

    def code(self) -> list[str]:
        """The Python that reads these rows as `points`."""
        given = "".join(f", {name}={value!r}" for name, value in self.options.items() if value is not None)
        read = f"rows_from_file({str(self.path.absolute())!r}{given}, dtype=np.float64)"
        lines = [
            "from gaussian_neurons.sampling import rows_from_file",
            f"points = {read}.read({len(self.rows)})",
        ]
        if self.skipped:
            lines.append(f"# remove the {self.skipped:,} unreadable rows of the file first")
        return lines


def read_images(path: Path) -> Images | None:
    """The images of an NPY file, None if it holds a table."""
    try:
        if len(Npy.of(path).shape) == 2:
            return None
        array = np.load(path, allow_pickle=False)  # not mapped: the file may be shortened during a run
    except (ValueError, EOFError):  # NumPy's message is about pickles
        raise ValueError(f"{str(path)!r} is not an NPY file of numbers.") from None
    if array.ndim not in (3, 4):
        raise ValueError(f"{str(path)!r} has the shape {array.shape}. {NPY_SHAPES}")
    Patches(array, size=1)  # raises an error if these are not images
    if array.shape[3:] not in ((), (1,), (3,)):
        raise ValueError(f"images must have one channel or three, got {array.shape[3]}.")
    text = f"{path.name}: {len(array):,} images of {' × '.join(map(str, array.shape[1:]))}"
    code = f"images = np.load({str(path.absolute())!r})"
    return Images(array, None, (), text, (code,))


def points_from_table(table: Table, standardize: bool) -> Points:
    """The rows of a table as points, with a note for the user if one is needed."""
    code, rows, axes = table.code(), table.rows, table.names
    if standardize:
        rows, axes, note, line = _standardized(table)
        code.append(line)
    else:
        note = _scale_note(table)
    return points_from_rows(rows, table.path.name, tuple(code), note, axes, table.skipped)


def _scale_note(table: Table) -> str | None:
    """A note if the standard deviations of the columns differ so much that one column is invisible."""
    if not _varies(table.rows).all():
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        deviations = np.asarray(table.rows, np.float64).std(axis=0)
    low, high = deviations.argsort()
    ratio = deviations[high] / deviations[low]
    if ratio <= MAX_RATIO:
        return None
    times = "more than a million" if ratio > MAX_SHOWN_RATIO else f"{ratio:,.0f}"
    return (
        f"The standard deviation of column {table.labels[high]!r} is {times} times that of "
        f"{table.labels[low]!r}, which is hardly visible. Restart with --standardize."
    )


def _varies(rows: Array) -> NDArray[np.bool_]:
    """Which columns are not constant, (2,)."""
    varies: NDArray[np.bool_] = (rows != rows[0]).any(axis=0)
    return varies


def _standardized(table: Table) -> tuple[Array, list[str], str | None, str]:
    """Columns with mean 0 and standard deviation 1.

    Returns
    -------
    rows : (n, 2); constant columns are unchanged
    axes : names of the columns
    note : for the user, if a column is constant
    line : the Python that standardizes `points`
    """
    x = np.asarray(table.rows, np.float64)
    varies = _varies(x)
    with np.errstate(over="ignore", invalid="ignore"):
        means, deviations = np.where(varies, x.mean(axis=0), 0.0), np.where(varies, x.std(axis=0), 1.0)
    if not np.isfinite(means + deviations).all() or not deviations.all():
        raise ValueError("the numbers are too large, or too close to each other, to be standardized.")
    names = [label if table.names is not None else f"column {label}" for label in table.labels]
    axes = [
        f"{name[:MAX_NAME]} (standardized)" if is_scaled else name
        for name, is_scaled in zip(names, varies, strict=True)
    ]
    constant = [repr(label) for label, is_scaled in zip(table.labels, varies, strict=True) if not is_scaled]
    note = f"Column {constant[0]} is constant and is not standardized." if constant else None
    line = f"points = (points - {means.tolist()}) / {deviations.tolist()}"
    return (x - means) / deviations, axes, note, line
