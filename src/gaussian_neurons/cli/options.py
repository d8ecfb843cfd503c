"""Options and arguments that several commands share."""

from enum import StrEnum
from typing import Annotated, Any

import numpy as np
import typer


class Format(StrEnum):
    """File formats."""

    csv = "csv"
    jsonl = "jsonl"
    npy = "npy"
    parquet = "parquet"


class Lines(StrEnum):
    """File formats with a row on each line."""

    csv = "csv"
    jsonl = "jsonl"


class OnBad(StrEnum):
    """What to do with a row that cannot be read."""

    raise_ = "raise"
    skip = "skip"


class Init(StrEnum):
    """How centers start."""

    auto = "auto"
    uniform = "uniform"
    samples = "samples"
    spread = "spread"


class Covariance(StrEnum):
    """What a neuron has: a width, a diagonal covariance or a full one."""

    spherical = "spherical"
    diag = "diag"
    full = "full"


class Scale(StrEnum):
    """How columns are scaled."""

    columns = "columns"
    robust = "robust"


class Shape(StrEnum):
    """What a cluster is."""

    compact = "compact"
    any = "any"


def shape_of_neurons(kind: Covariance, text: str | None) -> Any:
    """The shape that all neurons have: None, the numbers of a diagonal, or the rows of a matrix.

    Examples
    --------
    >>> shape_of_neurons(Covariance.diag, "4,1"), shape_of_neurons(Covariance.full, "4,1;1,2")
    ([4.0, 1.0], [[4.0, 1.0], [1.0, 2.0]])
    """
    if kind is Covariance.spherical and text is not None:
        raise ValueError("--covariance needs --covariance-type diag or full.")
    if kind is Covariance.spherical:
        return None
    if text is None:
        raise ValueError(
            f"--covariance-type {kind.value} needs --covariance: with a width alone, neurons would be round, "
            f"as with --covariance-type spherical."
        )
    try:
        rows = [[float(part) for part in row.split(",")] for row in text.split(";")]
    except ValueError:
        raise ValueError(
            f"--covariance must be numbers such as 4,1 or rows of a matrix such as '4,1;1,2', got {text!r}."
        ) from None
    return rows if ";" in text else rows[0]


def scale_of(scale: Scale | None, standardize: bool) -> str | None:
    """The parameter `scale` of a model."""
    if standardize and scale not in (None, Scale.columns):
        raise ValueError("--standardize means --scale columns: omit one of them.")
    return SCALE if standardize else None if scale is None else scale.value


def checked_number(value: str) -> str:
    """The same text, if it is a number above 0 or "auto"."""
    number_or_auto(value)
    return value


def checked_strength(value: str) -> str:
    """The same text, if it is a number of at least 0 or "auto"."""
    strength_or_auto(value)
    return value


def strength_or_auto(value: str) -> Any:
    """A number of at least 0, or "auto"."""
    return number_or_auto(value, zero=True)


def number_or_auto(value: str, zero: bool = False) -> Any:
    """A number above 0, or 0 if allowed, or "auto"."""
    if value == "auto":
        return value
    try:
        number = float(value)
    except ValueError:
        number = np.nan
    if not (0 < number < np.inf or (zero and number == 0)):
        least = "of at least 0" if zero else "above 0"
        raise typer.BadParameter(f"must be a number {least} or auto, got {value!r}.")
    return number


REPULSION_EVERY = "Repel only at every COUNT-th row: faster. Needs --width."
LEARNING_RATE = "The size of a step; auto suits the width."
SCALE = "columns"  # of --standardize
SCALES = "columns: by mean and standard deviation; robust: by medians."
FALSE_ALARMS = "Of --novel: the part of the usual rows that counts as novel."
MEMORY = "Rows after which an absent cluster is forgotten."
STANDARDIZE = "Scale each column by its mean and standard deviation."
BACKEND = "auto, native, cuda, reference or module:function."
COVARIANCE_TYPE = "spherical, diag or full; the last two need --covariance."
COVARIANCE = "Multiplied by the width: 4,1 or a matrix, 4,1;1,2."
FILES = "A CSV, JSON lines, Parquet or NPY file; - reads a pipe."
DataArgument = Annotated[str, typer.Argument(metavar="DATA", help=FILES, show_default=False)]
ModelArgument = Annotated[
    str, typer.Argument(metavar="MODEL", help="A model file, written by fit.", show_default=False)
]
Columns = Annotated[
    str | None, typer.Option(metavar="A,B,C", help="The columns to use, by name or index from 0.")
]
Exclude = Annotated[str | None, typer.Option(metavar="A,B", help="Columns to exclude, such as labels.")]
FormatOption = Annotated[
    Format | None,
    typer.Option("--format", metavar="NAME", help="Of DATA: csv, jsonl, npy or parquet."),
]
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header", help="Whether a CSV file begins with column names.", show_default=False
    ),
]
OnBadOption = Annotated[
    OnBad,
    typer.Option(metavar="raise|skip", help="Stop at an unreadable row, or skip it.", show_default=False),
]
Standardize = Annotated[bool, typer.Option("--standardize", help=STANDARDIZE)]
FalseAlarms = Annotated[float, typer.Option(min=0, max=1, metavar="RATE", help=FALSE_ALARMS)]
ScaleOption = Annotated[
    Scale | None, typer.Option("--scale", metavar="NAME", help=SCALES, show_default=False)
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite the file at --out.")]
