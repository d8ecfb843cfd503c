"""Options and arguments that several commands on files share."""

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


class OnBad(StrEnum):
    """What to do at a row that cannot be read."""

    raise_ = "raise"
    skip = "skip"


class Init(StrEnum):
    """Where neurons start."""

    auto = "auto"
    uniform = "uniform"
    samples = "samples"
    spread = "spread"


def checked_number(value: str) -> str:
    """The same text, if it is a number above 0 or auto."""
    number_or_auto(value)
    return value


def checked_strength(value: str) -> str:
    """The same text, if it is a number of at least 0 or auto."""
    strength_or_auto(value)
    return value


def strength_or_auto(value: str) -> Any:
    """A number of at least 0, or the word auto."""
    return number_or_auto(value, zero=True)


def number_or_auto(value: str, zero: bool = False) -> Any:
    """A number above 0, or 0 where it may be, or the word auto."""
    if value == "auto":
        return value
    try:
        number = float(value)
    except ValueError:
        number = np.nan
    if not (0 < number < np.inf or (zero and number == 0)):
        least = "of at least 0" if zero else "above 0"
        raise typer.BadParameter(f"{value!r} is neither a number {least} nor auto.")
    return number


REPULSION_EVERY = "Let neurons push each other off at every COUNT-th row only: faster, exact at 1 alone."
FILES = "CSV, JSON lines, Parquet or NPY; - reads CSV or JSON lines from standard input."
DataArgument = Annotated[str, typer.Argument(metavar="DATA", help=FILES, show_default=False)]
ModelArgument = Annotated[
    str, typer.Argument(metavar="MODEL", help="A file that fit wrote.", show_default=False)
]
Columns = Annotated[
    str | None,
    typer.Option(
        metavar="A,B,C", help="Columns to use, by name or by number from 0.", rich_help_panel="Data"
    ),
]
Exclude = Annotated[
    str | None,
    typer.Option(metavar="A,B", help="Columns to leave out, such as labels.", rich_help_panel="Data"),
]
FormatOption = Annotated[
    Format | None,
    typer.Option("--format", help="Format of DATA, where its name does not tell.", rich_help_panel="Data"),
]
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        help="Whether a CSV begins with the columns' names, where its first line does not tell.",
        rich_help_panel="Data",
        show_default=False,
    ),
]
OnBadOption = Annotated[
    OnBad,
    typer.Option(help="At a row that cannot be read: stop and name it, or skip it.", rich_help_panel="Data"),
]
Force = Annotated[bool, typer.Option("--force", help="Replace the file at --out, if there is one.")]
