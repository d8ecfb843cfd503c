"""Clustering quality with an unknown number of clusters, compared with other libraries.

    make bench-quality                                  # everything that has no stored result
    make bench-quality OPTIONS='sets --only ours'       # our own runs again, the others from stored results
    make bench-quality OPTIONS='--systems Birch,HDBSCAN --sets sipu/s1,sipu/s2'
    python -m benchmarks.quality --render               # only write the documents from the stored results

There are two parts: `sets`, labelled data with fixed clusters, and `drift`, a stream with clusters that move,
vanish and appear. The results are stored in benchmarks/results, and docs/quality.md is written from them. An
interrupted command can be repeated and continues. Our own runs are always repeated, because our code may have
changed; --cached keeps them.
"""

import argparse
import sys
from pathlib import Path

from benchmarks import named
from benchmarks.progress import Progress
from benchmarks.quality import drift, drift_picture, picture, sweep, table
from benchmarks.quality.results import Results
from benchmarks.quality.sets import FOLDER, LabelledSet, load
from benchmarks.quality.summary import cells, common, lines
from benchmarks.quality.systems import SYSTEMS, chosen
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
    if not any(data.of_suite for data in everything):
        print(
            f"The sets of the suite were not found: there is no {FOLDER}/ in the directory of --data or "
            f"${VARIABLE}, or in ../shared/data. Only the sets of scikit-learn are run."
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


def write_documents(data: Path | None) -> None:
    """Print the summary of all stored results, and write docs/quality.md and its pictures."""
    results = Results.read(RESULTS / "quality.json")
    sets = common(results, load(data))
    found = cells(results, SYSTEMS, sets)
    summary = lines(found, sets)
    if not summary:
        print("\nNo set has results of all systems: there is no summary, and docs/quality.md is not changed.")
        return
    print(f"\n{table.text(table.best(summary, sets))}")
    print(f"\n{table.text(table.summary(summary))}\n\n{table.LEGEND.replace('*', '')}")
    if not any(data.of_suite for data in sets):
        print("\nThis summary does not include the suite: docs/quality.md is not changed.")
        return
    curves = drift.read(RESULTS / "drift.json")
    about = f"{drift.document()}\n{table.markdown(drift.rows(curves))}\n\n" if curves else ""
    replace_file(DOCS / "quality.md", table.document(results, summary, found, sets, about).encode())
    picture.draw(found, summary, sets).savefig(DOCS / "quality.png")
    if curves:
        drift_picture.draw(curves).savefig(DOCS / "drift.png")
    print("\nWritten: docs/quality.md, docs/quality.png, docs/drift.png")


def main() -> None:
    """Parse and delegate."""
    parser = argparse.ArgumentParser(
        "python -m benchmarks.quality", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("parts", nargs="*", metavar="sets, drift", help="what to run; default: both")
    parser.add_argument("--systems", "--only", help=f"comma-separated list of {', '.join(SYSTEMS)}")
    parser.add_argument("--sets", help="comma-separated list of names as in the table")
    parser.add_argument("--data", type=Path, help=f"the directory that contains {FOLDER}/")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--limit", type=float, default=60.0, help="timeout of a run in seconds")
    parser.add_argument("--cached", action="store_true", help="use our own stored results, too")
    parser.add_argument("--again", action="store_true", help="use no stored results")
    parser.add_argument("--render", action="store_true", help="run nothing, only write the documents")
    arguments = parser.parse_args()
    known = {"sets": run_sets, "drift": run_drift}
    for part in arguments.parts:
        if part not in known:
            parser.error(f"unknown part: {part}. Known: sets, drift.")
    try:
        for part in [] if arguments.render else arguments.parts or known:
            known[part](arguments)
        write_documents(arguments.data)
    except KeyboardInterrupt:
        sys.exit("\nInterrupted. Repeat the command to continue.")


if __name__ == "__main__":
    main()
