"""Clustering quality with an unknown number of clusters, compared with other libraries.

    make bench-quality                                  # everything that has no stored result
    make bench-quality OPTIONS='sets --only ours'       # our own runs again, the others from stored results
    make bench-quality OPTIONS='--systems Birch,HDBSCAN --sets sipu/s1,sipu/s2'
    python -m benchmarks.quality --render               # only write the documents from the stored results

There are three parts: `sets`, labelled data with fixed clusters; `drift`, a stream with clusters that move,
vanish and appear; and `variants`, an ablation of this library on both. The results are stored in
benchmarks/results, and docs/quality.md is written from them. An interrupted command can be repeated and
continues. Our own runs are always repeated, because our code may have changed; --cached keeps them.
"""

import argparse
import sys
from pathlib import Path

from benchmarks import named, variants
from benchmarks.progress import Progress
from benchmarks.quality import drift, drift_picture, picture, sweep, table
from benchmarks.quality.results import Results
from benchmarks.quality.sets import COMPACT, FAMILIES, FOLDER, LabelledSet, load, of_family
from benchmarks.quality.summary import cells, lines_by_family, measured
from benchmarks.quality.systems import OURS, SYSTEMS, chosen
from benchmarks.speed import processor
from gaussian_neurons.base.files import replace_file
from gaussian_neurons.datasets.fetch import VARIABLE

ROOT = Path(__file__).parents[2]
DOCS, RESULTS = ROOT / "docs", ROOT / "benchmarks" / "results"


def chosen_sets(sets: list[LabelledSet], names: str | None) -> list[LabelledSet]:
    """The sets of a comma-separated list of names; all if it is None."""
    return list(named.chosen({data.name: data for data in sets}, names, "set").values())


def run_sets(arguments: argparse.Namespace) -> None:
    """Run what has no stored result, and print a row for each set."""
    everything = load(arguments.data)
    if not of_family(everything, COMPACT):
        print(
            f"The sets of the suite were not found: there is no {FOLDER}/ in the directory of --data or "
            f"${VARIABLE}, or in ../shared/data. Only real data is run."
        )
    systems, sets = chosen(arguments.systems), chosen_sets(everything, arguments.sets)
    results = Results.read(RESULTS / "quality.json")
    for system in systems.values():
        print(f"{system.name}: {system.settings}; {system.package} {system.version}")
    options = (arguments.seeds, arguments.limit, arguments.cached, arguments.again)
    turns = sweep.missing(results, systems, sets, *options)
    print(f"\n{processor()}, one core. Adjusted Rand index, with the number of clusters found in brackets\n")
    print(table.head(systems))
    with Progress(len(turns)) as progress:
        for data in sets:
            for turn in turns:
                if turn[1] is data:
                    progress.step(f"{data.name}: {turn[0]}, seed {turn[2]}")
                    sweep.take(turn, results)
                    results.write()
            progress.print(table.row(data, systems, cells(results, systems, sets)))


def run_drift(arguments: argparse.Namespace) -> None:
    """Run what has no stored result, and print the summary."""
    found = drift.run(RESULTS / "drift.json", chosen(arguments.systems), arguments.cached, arguments.again)
    print(f"\n{table.text(drift.rows(found))}\n\nWritten: benchmarks/results/drift.json")


def run_variants(arguments: argparse.Namespace) -> None:
    """Run the ablation, if our own system is chosen, and print it."""
    if OURS in chosen(arguments.systems):
        sets = chosen_sets(load(arguments.data), arguments.sets)
        runs = variants.run(list(variants.VARIANTS), sets, arguments.seeds, -1, arguments.cached)
        print(f"\n{table.text(variants.rows(runs))}\n\nWritten: benchmarks/results/variants.json")


def write_documents(data: Path | None) -> None:
    """Print the summary of all stored results, and write docs/quality.md and its pictures."""
    results = Results.read(RESULTS / "quality.json")
    sets = measured(results, load(data))
    found = cells(results, SYSTEMS, sets)
    families = lines_by_family(found, sets)
    if not families:
        print("\nThere are no results of our system: docs/quality.md is not changed.")
        return
    for family, lines in families.items():
        print(f"\n{family}\n{table.text(table.summary(lines))}")
    print(f"\n{table.text(table.best(families))}\n\n{table.LEGEND.replace('*', '')}")
    if len(families) < len(FAMILIES):
        print("\nThis summary does not include all families: docs/quality.md is not changed.")
        return
    curves, ablation = drift.read(RESULTS / "drift.json"), variants.read()
    about = f"{drift.document()}\n{table.markdown(drift.rows(curves))}\n\n" if curves else ""
    parts = f"{variants.document(ablation)}\n" if ablation else ""
    document = table.document(results, families, found, sets, about, parts)
    replace_file(DOCS / "quality.md", document.encode())
    picture.draw(found, families, sets).savefig(DOCS / "quality.png")
    if curves:
        drift_picture.draw(curves).savefig(DOCS / "drift.png")
    print("\nWritten: docs/quality.md, docs/quality.png, docs/drift.png")


def main() -> None:
    """Parse and delegate."""
    parser = argparse.ArgumentParser(
        "python -m benchmarks.quality", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("parts", nargs="*", metavar="sets, drift, variants", help="what to run; default: all")
    parser.add_argument("--systems", "--only", help=f"comma-separated list of {', '.join(SYSTEMS)}")
    parser.add_argument("--sets", help="comma-separated list of names as in the table")
    parser.add_argument("--data", type=Path, help=f"the directory that contains {FOLDER}/")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--limit", type=float, default=60.0, help="timeout of a run in seconds")
    parser.add_argument("--cached", action="store_true", help="use our own stored results, too")
    parser.add_argument("--again", action="store_true", help="use no stored results")
    parser.add_argument("--render", action="store_true", help="run nothing, only write the documents")
    arguments = parser.parse_args()
    known = {"sets": run_sets, "drift": run_drift, "variants": run_variants}
    for part in arguments.parts:
        if part not in known:
            parser.error(f"unknown part: {part}. Known: {', '.join(known)}.")
    try:
        for part in [] if arguments.render else arguments.parts or known:
            known[part](arguments)
        write_documents(arguments.data)
    except KeyboardInterrupt:
        sys.exit("\nInterrupted. Repeat the command to continue.")


if __name__ == "__main__":
    main()
