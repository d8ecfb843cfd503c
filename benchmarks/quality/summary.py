"""Summarise runs: a cell for each system and set, a line for each system."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median

from benchmarks.quality.results import Results, Run
from benchmarks.quality.sets import FAMILIES, LabelledSet, of_family
from benchmarks.quality.systems import OURS, System


@dataclass(frozen=True)
class Cell:
    """A system on a set, over its seeds. A failed run scores 0."""

    score: float  # mean
    found: float | None  # median, None if all runs failed
    clusters: int
    exact: float  # fraction of the runs that found the true number
    collapsed: float  # fraction of the runs that found at most one of several clusters
    failed: str | None
    microseconds: float | None  # median
    mebibytes: float | None  # median


@dataclass(frozen=True)
class Line:
    """A system over several sets. If only some seeds of a set qualify, it counts as a fraction of a set."""

    key: str
    sets: int
    score: float  # mean over the sets
    exact: float  # number of sets
    collapsed: float  # number of sets
    failed: int  # number of sets
    off: float | None  # found / true number of clusters, median over the sets
    slower: float | None  # time per row / our time per row, median over the sets
    mebibytes: float | None  # maximum over the sets


def cell(runs: Sequence[Run]) -> Cell:
    """Summarise the seeds of one system on one set."""
    done = [run for run in runs if run.failed is None]
    times = [run.microseconds for run in done if run.microseconds is not None]
    sizes = [run.mebibytes for run in done if run.mebibytes is not None]
    counts = [run.found for run in done if run.found is not None]
    true = runs[0].clusters
    return Cell(
        fmean(run.score or 0.0 for run in runs),
        median(counts) if counts else None,
        true,
        sum(count == true for count in counts) / len(runs),
        sum(count <= 1 < true for count in counts) / len(runs),
        next((run.failed for run in runs if run.failed is not None), None),
        median(times) if times else None,
        median(sizes) if sizes else None,
    )


def cells(
    results: Results, systems: Mapping[str, System], sets: Sequence[LabelledSet]
) -> dict[tuple[str, str], Cell]:
    """The cells of all systems and sets that have runs."""
    found = {(key, data.name): results.of(key, data.name) for key in systems for data in sets}
    return {pair: cell(runs) for pair, runs in found.items() if runs}


def measured(results: Results, sets: Sequence[LabelledSet]) -> list[LabelledSet]:
    """The sets that our system has run on."""
    return [data for data in sets if results.of(OURS, data.name)]


def lines(table: Mapping[tuple[str, str], Cell], sets: Sequence[LabelledSet]) -> list[Line]:
    """A line for each system that has run on all these sets."""
    names = [data.name for data in sets]
    keys = dict.fromkeys(key for key, _ in table) if names else {}
    return [_line(key, table, names) for key in keys if all((key, name) in table for name in names)]


def lines_by_family(
    table: Mapping[tuple[str, str], Cell], sets: Sequence[LabelledSet]
) -> dict[str, list[Line]]:
    """The lines of each family that has sets."""
    found = {family: lines(table, of_family(sets, family)) for family in FAMILIES}
    return {family: own for family, own in found.items() if own}


def _line(key: str, table: Mapping[tuple[str, str], Cell], names: Sequence[str]) -> Line:
    own = [table[key, name] for name in names]
    ratios = [
        theirs.microseconds / ours.microseconds
        for name in names
        if (theirs := table[key, name]).microseconds
        and (ours := table.get((OURS, name))) is not None
        and ours.microseconds
    ]
    sizes = [cell.mebibytes for cell in own if cell.mebibytes is not None]
    off = [cell.found / cell.clusters for cell in own if cell.found is not None]
    return Line(
        key,
        len(own),
        fmean(cell.score for cell in own),
        sum(cell.exact for cell in own),
        sum(cell.collapsed for cell in own),
        sum(cell.failed is not None for cell in own),
        median(off) if off else None,
        median(ratios) if ratios else None,
        max(sizes) if sizes else None,
    )
