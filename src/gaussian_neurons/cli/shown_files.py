"""The file that the command live shows: images of an NPY file, or points of a file with two columns."""

import difflib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gaussian_neurons.cli import reading
from gaussian_neurons.cli.errors import warn
from gaussian_neurons.cli.reading import Data, several
from gaussian_neurons.live.sources import MAX_POINTS, Images, Points, Source
from gaussian_neurons.model.first_data import automatic_width
from gaussian_neurons.model.scaling import Scaling, uneven
from gaussian_neurons.sampling.files import Npy
from gaussian_neurons.sampling.images import Patches

Array = NDArray[Any]

NPY_SHAPES = "An NPY file must hold two columns, (n, 2), or images, (n, height, width[, 3])."
MAX_NAME, SHORT_NAME = 40, 25  # characters of a column's name, and before "(standardized)"
MAX_COORDINATE = 1e14
WIDTH_SAMPLES = 1000  # points that the default width is computed from


def read(source: Data, known: Sequence[str], standardize: bool = False) -> Source:
    """The contents of a file: points in the plane, or images.

    Parameters
    ----------
    source : the file, and how to read it
    known : names of data sets, for an error message
    standardize : whether to scale columns
    """
    path = Path(source.path).expanduser()
    if source.is_pipe:
        raise ValueError("live reads its data repeatedly and cannot use standard input. Name a file.")
    close = difflib.get_close_matches(source.path.lower(), known, n=1)
    if close and not path.exists():
        raise ValueError(f"there is no file or data set {source.path!r}. Did you mean {close[0]}?")
    reading.require_file(source.path, "data")
    images = _images(path) if path.suffix == ".npy" else None
    if images is None:
        return _points(source, path, standardize)
    if standardize:
        raise ValueError(f"--standardize requires columns, but {source.path!r} holds images.")
    return images


def _images(path: Path) -> Images | None:
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


def _points(source: Data, path: Path, standardize: bool) -> Points:
    """The rows of a file with two columns. Unreadable rows are skipped with a warning."""
    names: list[str] = []  # of all columns
    numbers: list[int] = []  # of the chosen columns

    def choose(known: list[str]) -> list[int]:
        names[:], numbers[:] = known, source.selected(known)
        return numbers

    opened = source.open(choose)
    _require_two(source.path, opened.labels, names)
    rows, skipped, bad = reading.whole_table(opened, skip=True, count=lambda rows: None)
    first = "; ".join(str(one).rstrip(".") for one in bad)
    if not len(rows):
        raise ValueError(f"{source.path!r} has no readable row of {skipped:,}. The first: {first}.")
    options = {"columns": numbers, "format": source.format, "header": source.header}
    given = "".join(f", {name}={value!r}" for name, value in options.items() if value is not None)
    read = f"rows_from_file({str(path.absolute())!r}{given}, dtype=np.float64).read({len(rows)})"
    code = ["from gaussian_neurons.sampling import rows_from_file", f"points = {read}"]
    if skipped:
        warn(f"{skipped:,} unreadable row{'s' * (skipped != 1)} skipped. The first: {first}.")
        code.append(f"# remove the {skipped:,} unreadable rows of the file first")
    axes: Sequence[str] | None = opened.stream.feature_names
    rows, note = np.asarray(rows, np.float64), None
    if standardize:
        by = Scaling.of(rows, "columns")
        rows = (rows - by.location) / by.scale
        code.append(f"points = (points - {by.location.tolist()}) / {by.scale.tolist()}")
        axes = [
            f"{name[:SHORT_NAME]} (standardized)" for name in axes or map("column {}".format, opened.labels)
        ]
    elif (uneven_columns := uneven(rows, opened.labels)) is not None:
        note = warn(uneven_columns)
    return points_from_rows(rows, path.name, tuple(code), note, axes, skipped)


def points_from_rows(
    rows: Array,
    name: str,
    code: tuple[str, ...],
    note: str | None = None,
    axes: Sequence[str] | None = None,
    skipped: int = 0,
) -> Points:
    """Rows with two columns as points. Of more than `MAX_POINTS`, a random subset is used.

    Parameters
    ----------
    rows : (n, 2)
    name : of the file
    code : the Python that reads them as `points`
    note : text to show on the page
    axes : names of the columns, if any
    skipped : number of rows of the file that could not be read
    """
    points: Array = np.asarray(rows, np.float64)
    spread = float(np.ptp(points, axis=0).max()) if len(points) else 0.0
    if np.abs(points).max(initial=0.0) > MAX_COORDINATE or 0 < spread < 1 / MAX_COORDINATE:
        raise ValueError(
            f"the numbers in {name} are too large, or too close to each other: the limits are "
            f"{MAX_COORDINATE:g}, and a range of at least {1 / MAX_COORDINATE:g}. Scale the columns "
            f"first, for example with --standardize."
        )
    if not spread:
        raise ValueError(f"{name} must contain at least two different points.")
    text, lines = f"{name}: {len(rows):,} point{'s' * (len(rows) != 1)}", list(code)
    if len(rows) > MAX_POINTS:
        points = points[np.random.default_rng(0).choice(len(rows), MAX_POINTS, replace=False)]
        text = f"{name}: random {MAX_POINTS:,} of {len(rows):,} points"
        chosen = f"np.random.default_rng(0).choice(len(points), {MAX_POINTS}, replace=False)"
        lines.append(f"points = points[{chosen}]")
    if skipped:
        text += f", {skipped:,} row{'s' * (skipped != 1)} skipped"
    low, high = points.min(axis=0), points.max(axis=0)
    flat = high <= low  # a constant column needs a domain of some size
    low, high = np.where(flat, low - 0.5, low), np.where(flat, high + 0.5, high)
    some = np.random.default_rng(0).permutation(points)[:WIDTH_SAMPLES]
    named = None if axes is None else tuple(name[:MAX_NAME] for name in axes)
    return Points(points, low, high, text, automatic_width(some), tuple(lines), note=note, axes=named)


def _require_two(name: str, labels: list[str], names: list[str]) -> None:
    """Raise a ValueError unless two columns are chosen."""
    shapes = f" {NPY_SHAPES}" if name.endswith(".npy") else ""
    if len(names) == 1:
        raise ValueError(f"live needs two columns, but {name!r} has one: {names[0]}.{shapes}")
    if len(labels) != 2:
        chosen = ",".join(names[:2] if len(labels) == 1 else labels[:2])
        raise ValueError(
            f"live needs two columns, got {several(labels)} of {name!r}. Choose two of {several(names)}: "
            f"--columns {chosen}.{shapes}"
        )
