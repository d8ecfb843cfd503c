"""The tables: in a terminal while they grow, and as a document."""

from collections.abc import Mapping, Sequence

from benchmarks.quality.sets import SMALL, LabelledSet
from benchmarks.quality.summary import Cell, Line, counted
from benchmarks.quality.systems import OURS, SYSTEMS, System

WIDTH = 14
HEAD = ("", "mean ARI", "exact count", "one or none", "failed", "found / true", "time a row", "memory, MiB")
LEGEND = """\
ARI is the adjusted Rand index (1: the true clusters, 0: chance), the mean over the seeds; after it the
clusters found, the median. *Exact count*, *one or none*: sets on which the number found was the true one, or
at most one though there are several; a set counts in part where only some seeds do. *Found / true* is the
median over the sets. *Time a row* is the processor's to learn, as a ratio to ours on the same set, the median
over the sets. *Memory* is the most that learning and predicting added to the process on any set. A run that
failed scores 0."""

DOCUMENT = """\
# How good the clusters are

Written by `make bench-quality`. Clustering with an unknown number of clusters: this library beside its peers,
each with one setting for all sets, out of its own documentation. No set was tuned for.

![Adjusted Rand index of each system on each set, with the clusters found](quality.png)

Over {sets} sets of Gagolewski's benchmark suite (DOI 10.5281/zenodo.7088171):

{lines}

{legend}

{drift}## How it was measured

{machine}, one core. Columns are standardised and rows shuffled, once for all. Online systems see each row
once, on sets under {small} rows ten times over; batch systems see all rows at once. Then each row is
predicted. Seeds 0 to {last_seed}; systems that depend on none run once. Each run has a process of its own,
and {limit} s. Rows whose true label is 0, noise, are learned from and not scored. A predicted −1, in no
cluster, is a group of its own for the index and none for the count. Where a peer's defaults and an example of
its documentation differ, it has the one with which it does better here.

{settings}

## Each set

Adjusted Rand index, and clusters found. Sets with an asterisk come with scikit-learn and do not count above.

{each}
"""


def short(value: float | None, digits: int = 0) -> str:
    """A number without needless digits; a dash for none."""
    if value is None:
        return "–"
    return f"{value:.{digits}f}" if digits or value != int(value) else f"{int(value)}"


def ratio(value: float | None) -> str:
    """To two digits."""
    return "–" if value is None else f"{value:.{2 if value < 1 else 1 if value < 10 else 0}f}"


def parts(value: float) -> str:
    """A number of sets."""
    return f"{value:.1f}".removesuffix(".0")


def in_words(cell: Cell | None) -> str:
    """A cell: the index, and the clusters found."""
    if cell is None:
        return ""
    if cell.found is None:
        return "failed"
    return f"{cell.score:.2f} ({short(cell.found)})"


def head(systems: Mapping[str, System]) -> str:
    """Over the rows of a terminal."""
    return f"{'':<22}{'true':>5}" + "".join(f"{key[: WIDTH - 1]:>{WIDTH}}" for key in systems)


def row(data: LabelledSet, systems: Mapping[str, System], table: Mapping[tuple[str, str], Cell]) -> str:
    """A set, in a terminal."""
    words = [in_words(table.get((key, data.name))) for key in systems]
    return f"{data.name:<22}{data.clusters:>5}" + "".join(f"{word:>{WIDTH}}" for word in words)


def facts(line: Line) -> tuple[str, ...]:
    """The cells of a line, its name first."""
    system = SYSTEMS[line.key]
    name = f"{system.name}{f' ({system.remark})' if system.remark else ''}"
    return (
        name,
        f"{line.score:.3f}",
        f"{parts(line.exact)} of {line.sets}",
        parts(line.collapsed),
        str(line.failed),
        short(line.off, 2),
        "1" if line.key == OURS else ratio(line.slower),
        short(line.mebibytes, 1),
    )


def summary(lines: Sequence[Line]) -> list[tuple[str, ...]]:
    """A row for each system, under a head."""
    return [HEAD, *(facts(line) for line in lines)]


def text(rows: Sequence[Sequence[str]]) -> str:
    """Rows in a terminal."""
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    return "\n".join(
        "  ".join(
            f"{word:<{width}}" if k == 0 else f"{word:>{width}}"
            for k, (word, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    )


def document(
    lines: Sequence[Line],
    table: Mapping[tuple[str, str], Cell],
    sets: Sequence[LabelledSet],
    machine: str,
    seeds: int,
    limit: float,
    drift: str,
) -> str:
    """docs/quality.md."""
    shown = {key: SYSTEMS[key] for key in SYSTEMS if any(key == known for known, _ in table)}
    settings = [(it.name, f"{it.package} {it.version}", it.settings) for it in shown.values()]
    text = DOCUMENT.format(
        sets=len(counted(sets)),
        lines=markdown(summary(lines)),
        legend=LEGEND,
        machine=machine,
        small=f"{SMALL:,}",
        last_seed=seeds - 1,
        limit=f"{limit:g}",
        drift=drift,
        settings=markdown([("", "version", "settings"), *settings]),
        each=markdown(_rows(shown, table, sets)),
    )
    failures = [
        f"- {SYSTEMS[key].name} on {name}: {cell.failed}\n"
        for (key, name), cell in table.items()
        if cell.failed is not None
    ]
    return text + ("\nFailed:\n\n" + "".join(failures) if failures else "")


def _rows(
    shown: Mapping[str, System], table: Mapping[tuple[str, str], Cell], sets: Sequence[LabelledSet]
) -> list[tuple[str, ...]]:
    head = ("", "rows", "columns", "true", *(system.name for system in shown.values()))
    rows = [
        (
            data.name if data.of_suite else f"{data.name} \\*",
            f"{len(data.x):,}",
            str(data.x.shape[1]),
            str(data.clusters),
            *(in_words(table.get((key, data.name))) for key in shown),
        )
        for data in sets
    ]
    return [head, *rows]


def markdown(rows: Sequence[Sequence[str]]) -> str:
    """Rows in a document."""
    lines = [rows[0], ["---"] * len(rows[0]), *rows[1:]]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
