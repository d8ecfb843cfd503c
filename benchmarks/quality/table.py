"""Tables of the results, for a terminal and for docs/quality.md."""

from collections.abc import Mapping, Sequence
from textwrap import fill

from benchmarks.quality.results import Results
from benchmarks.quality.sets import COMPACT, PRESENTATIONS, REAL, SHAPED, SMALL, LabelledSet
from benchmarks.quality.summary import Cell, Line
from benchmarks.quality.systems import OURS, SYSTEMS, System

WIDTH = 14
HEAD = ("", "mean ARI", "exact count", "one or none", "failed", "found / true", "time per row", "memory, MiB")
LEGEND = """\
*ARI* is the adjusted Rand index (1: the true clusters, 0: chance), the mean over the seeds and sets. *Exact
count* is the number of sets with the true number of clusters, *one or none* that of sets with at most one of
several clusters; if only some seeds of a set qualify, it counts as a fraction. *Found / true* is the ratio of
the numbers of clusters, the median over the sets. *Time per row* is the processor time to learn a row, as a
ratio to ours on the same set, the median over the sets. *Memory* is the largest increase of the process's
memory by learning and prediction. A failed run scores 0."""

DOCUMENT = """\
# How good the clusters are

`make bench-quality` compares this library with others when the number of clusters is unknown. Each system has
one setting for all sets, which for the peers is taken from their documentation; only this library is given
`shape="any"` for the shapes. Its defaults were chosen on the same sets.
`python -m benchmarks.quality --render` prints these tables and writes this page from the stored results.

{best}

The values are mean adjusted Rand indices; in brackets, the number of sets with the exact number of clusters.
{families}

{presented}

![Adjusted Rand index of each system on each set, with the number of clusters found](quality.png)

{lines}{legend}

{drift}{variants}## How it was measured

{machine}, one core. Columns are standardised (those of mnist/pca20 are divided by one number), and rows are
shuffled once, in the same order for all systems. After learning, each system predicts the rows that it has
learned. Seeds 0 to {last_seed}; systems without a seed run once. Each run has its own process and a timeout
of {limit} s. Rows with the true label 0 (noise) are learned but not scored. Rows with the predicted label −1
(no cluster) count as one group for the index and not at all for the number of clusters. If the defaults of a
peer and an example of its documentation differ, the one with the better results on the compact sets is used.

{settings}

## Each set

Adjusted Rand index, with the number of clusters found in brackets. *Seen* is how many times online systems
see each row.

{each}
"""
FAMILY_NAMES = {COMPACT: "compact clusters", SHAPED: "other shapes", REAL: "real data"}
FAMILY_TEXT = """\
Compact clusters and other shapes are sets of Gagolewski's benchmark suite (DOI 10.5281/zenodo.7088171). Real
data are sets of scikit-learn and river, scikit-learn's digits in 10 principal components, and 5,000 digits of
MNIST in 20. Iris and wine are also among the compact sets of the suite. A system is listed for a family if it
has run on all of its sets."""


def short(value: float | None, digits: int = 0) -> str:
    """A number with the given digits; a dash for None."""
    if value is None:
        return "–"
    return f"{value:.{digits}f}" if digits or value != int(value) else f"{int(value)}"


def ratio(value: float | None) -> str:
    """A ratio with two digits; a dash for None."""
    return "–" if value is None else f"{value:.{2 if value < 1 else 1 if value < 10 else 0}f}"


def fraction(value: float) -> str:
    """A number of sets."""
    return f"{value:.1f}".removesuffix(".0")


def cell_text(cell: Cell | None) -> str:
    """The index, with the number of clusters found in brackets."""
    if cell is None:
        return ""
    if cell.found is None:
        return "failed"
    return f"{cell.score:.2f} ({short(cell.found)})"


def head(systems: Mapping[str, System]) -> str:
    """The head of the rows on a terminal."""
    return f"{'':<22}{'true':>5}" + "".join(f"{key[: WIDTH - 1]:>{WIDTH}}" for key in systems)


def row(data: LabelledSet, systems: Mapping[str, System], table: Mapping[tuple[str, str], Cell]) -> str:
    """The row of a set on a terminal."""
    texts = [cell_text(table.get((key, data.name))) for key in systems]
    return f"{data.name:<22}{data.clusters:>5}" + "".join(f"{text:>{WIDTH}}" for text in texts)


def best(families: Mapping[str, Sequence[Line]]) -> list[tuple[str, ...]]:
    """Our line beside the best peer of each kind in each family, below a head."""
    kinds = {
        "best online peer, number unknown": (False, False),
        "best batch peer, number unknown": (True, False),
        "best peer that is given the number": (False, True),
    }
    heads = [f"{FAMILY_NAMES[family]}, {lines[0].sets} sets" for family, lines in families.items()]
    ours = [next((_best(line) for line in lines if line.key == OURS), "–") for lines in families.values()]
    rows = [("", *heads), ("this library, number unknown", *ours)]
    for name, kind in kinds.items():
        cells = []
        for lines in families.values():
            peers = [line for line in lines if line.key != OURS and _kind(line) == kind]
            top = max(peers, key=lambda line: line.score, default=None)
            cells.append("–" if top is None else f"{_best(top)} {SYSTEMS[top.key].name}")
        rows.append((name, *cells))
    return rows


def _kind(line: Line) -> tuple[bool, bool]:
    return SYSTEMS[line.key].batch, SYSTEMS[line.key].knows_number


def _best(line: Line) -> str:
    return f"{line.score:.3f} ({fraction(line.exact)})"


def presented(sets: Sequence[LabelledSet]) -> str:
    """How many times the rows are seen."""
    small = sum(data.presentations > 1 for data in sets)
    return (
        f"Online systems see each row once on the {len(sets) - small} sets with at least {SMALL:,} rows, "
        f"and {PRESENTATIONS} times, in the same order, on the {small} smaller sets. Batch systems get all "
        "rows of a set at once."
    )


def facts(line: Line) -> tuple[str, ...]:
    """The cells of a line, its name first."""
    return (
        SYSTEMS[line.key].label,
        f"{line.score:.3f}",
        f"{fraction(line.exact)} of {line.sets}",
        fraction(line.collapsed),
        str(line.failed),
        short(line.off, 2),
        "1" if line.key == OURS else ratio(line.slower),
        short(line.mebibytes, 1),
    )


def summary(lines: Sequence[Line]) -> list[tuple[str, ...]]:
    """A row for each system, below a head."""
    return [HEAD, *(facts(line) for line in lines)]


def text(rows: Sequence[Sequence[str]]) -> str:
    """Rows on a terminal."""
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    return "\n".join(
        "  ".join(
            f"{word:<{width}}" if k == 0 else f"{word:>{width}}"
            for k, (word, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    )


def document(
    results: Results,
    families: Mapping[str, Sequence[Line]],
    table: Mapping[tuple[str, str], Cell],
    sets: Sequence[LabelledSet],
    drift: str,
    variants: str,
) -> str:
    """docs/quality.md. Versions, settings, machine, seeds and timeout are those of the stored runs."""
    shown = {key: SYSTEMS[key] for key in SYSTEMS if any(key == known for known, _ in table)}
    runs = list(results.runs.values())
    origins = {run.system: run.origin for run in runs}
    settings = [
        (system.name, f"{system.package} {origins[key].version}", origins[key].settings)
        for key, system in shown.items()
    ]
    text = DOCUMENT.format(
        best=markdown(best(families)),
        families=FAMILY_TEXT,
        presented=fill(presented(sets), 110),
        lines="".join(
            f"Over the {lines[0].sets} sets of {FAMILY_NAMES[family]}:\n\n{markdown(summary(lines))}\n\n"
            for family, lines in families.items()
        ),
        legend=LEGEND,
        machine=", ".join(dict.fromkeys(run.origin.machine for run in runs)),
        last_seed=max(run.seed for run in runs),
        limit=", ".join(dict.fromkeys(f"{run.origin.limit:g}" for run in runs)),
        drift=drift,
        variants=variants,
        settings=markdown([("", "version", "settings"), *settings]),
        each=markdown(_rows(shown, table, sets)),
    )
    failures = [
        f"- {SYSTEMS[key].name} on {name}: {cell.failed}\n"
        for (key, name), cell in table.items()
        if cell.failed is not None
    ]
    return text + ("\nFailed runs:\n\n" + "".join(failures) if failures else "")


def _rows(
    shown: Mapping[str, System], table: Mapping[tuple[str, str], Cell], sets: Sequence[LabelledSet]
) -> list[tuple[str, ...]]:
    head = ("", "rows", "columns", "seen", "true", *(system.name for system in shown.values()))
    rows = [
        (
            data.name,
            f"{len(data.x):,}",
            str(data.x.shape[1]),
            f"{data.presentations} ×",
            str(data.clusters),
            *(cell_text(table.get((key, data.name))) for key in shown),
        )
        for data in sets
    ]
    return [head, *rows]


def markdown(rows: Sequence[Sequence[str]]) -> str:
    """Rows in Markdown."""
    lines = [rows[0], ["---"] * len(rows[0]), *rows[1:]]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
