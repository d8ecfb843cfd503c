"""Clustering quality with an unknown number of clusters, beside other libraries.

    make bench-quality                                  # all of it; what is in the results is not run again
    make bench-quality OPTIONS='sets --only ours'       # our own runs anew, the others from the results
    make bench-quality OPTIONS='--systems Birch,HDBSCAN --sets sipu/s1,sipu/s2'

Two parts: `sets`, labelled ones whose clusters stay where they are, and `drift`, a stream whose clusters
move, vanish and appear. Results are kept in benchmarks/results, from which docs/ is written. A command that
was stopped carries on. Our own runs are always done again, since their code may have changed; --cached keeps
them.
"""

import argparse
import sys
from pathlib import Path

from benchmarks import named
from benchmarks.quality import drift, drift_picture, picture, sweep, table
from benchmarks.quality.progress import Progress
from benchmarks.quality.results import Results
from benchmarks.quality.sets import FOLDER, LabelledSet, load
from benchmarks.quality.summary import cells, lines
from benchmarks.quality.systems import SYSTEMS, chosen
from benchmarks.speed import processor
from gaussian_neurons.base.files import replace_file
from gaussian_neurons.datasets.fetch import VARIABLE

ROOT = Path(__file__).parents[2]
DOCS, RESULTS = ROOT / "docs", ROOT / "benchmarks" / "results"


def chosen_sets(sets: list[LabelledSet], names: str | None) -> list[LabelledSet]:
    """Those of a list of names with commas between; all where nothing is said."""
    return list(named.chosen({data.name: data for data in sets}, names, "set here").values())


def run_sets(arguments: argparse.Namespace) -> None:
    """Run what is missing, and print a row for each set."""
    everything = load(arguments.data)
    if not any(data.of_suite for data in everything):
        print(
            f"The suite's sets are not here: no {FOLDER}/ in the directory of --data or ${VARIABLE}, or in "
            "../shared/data. Only the sets that scikit-learn carries are run."
        )
    systems, sets = chosen(arguments.systems), chosen_sets(everything, arguments.sets)
    results = Results.read(RESULTS / "quality.json")
    for system in systems.values():
        print(f"{system.name}: {system.settings}; {system.package} {system.version}")
    given = (arguments.seeds, arguments.limit, arguments.cached, arguments.again)
    turns = sweep.missing(results, systems, sets, *given)
    print(f"\n{processor()}, one core. Adjusted Rand index, and clusters found in brackets\n")
    print(table.head(systems))
    with Progress(len(turns)) as progress:
        for data in sets:
            for turn in turns:
                if turn[1] is data:
                    progress.say(f"{data.name}: {turn[0]}, seed {turn[2]}")
                    sweep.take(turn, results)
                    results.write()
            progress.print(table.row(data, systems, cells(results, systems, sets)))


def run_drift(arguments: argparse.Namespace) -> None:
    """Run what is missing, print the summary, draw the picture."""
    found = drift.run(RESULTS / "drift.json", chosen(arguments.systems), arguments.cached, arguments.again)
    print(f"\n{table.text(drift.rows(found))}")
    drift_picture.draw(found).savefig(DOCS / "drift.png")
    print("\nWritten: docs/drift.png, benchmarks/results/drift.json")


def write_document(arguments: argparse.Namespace) -> None:
    """Summary and picture of all results that there are, also of those that were not run now."""
    sets = load(arguments.data)
    found = cells(Results.read(RESULTS / "quality.json"), SYSTEMS, sets)
    summary = lines(found, sets)
    if not summary:
        print("\nNo system has run on all sets: no summary, and docs/quality.md stays as it is.")
        return
    print(f"\n{table.text(table.summary(summary))}\n\n{table.LEGEND.replace('*', '')}")
    if not any(data.of_suite for data in sets):
        print("\nThat is without the suite: docs/quality.md stays as it is.")
        return
    curves = drift.read(RESULTS / "drift.json")
    about = f"{drift.document()}\n{table.markdown(drift.rows(curves))}\n\n" if curves else ""
    text = table.document(summary, found, sets, processor(), arguments.seeds, arguments.limit, about)
    replace_file(DOCS / "quality.md", text.encode())
    picture.draw(found, summary, sets).savefig(DOCS / "quality.png")
    print("\nWritten: docs/quality.md, docs/quality.png, benchmarks/results/quality.json")


def main() -> None:
    """Parse and delegate."""
    parser = argparse.ArgumentParser(
        "python -m benchmarks.quality", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument(
        "parts", nargs="*", metavar="sets, drift", help="what to run; both where nothing is said"
    )
    parser.add_argument("--systems", "--only", help=f"of {', '.join(SYSTEMS)}")
    parser.add_argument("--sets", help="names as the table has them, with commas between")
    parser.add_argument("--data", type=Path, help=f"a directory with {FOLDER}/ in it")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--limit", type=float, default=60.0, help="seconds that a run may take")
    parser.add_argument("--cached", action="store_true", help="keep our own results, too")
    parser.add_argument("--again", action="store_true", help="keep none of what is run")
    arguments = parser.parse_args()
    known = {"sets": run_sets, "drift": run_drift}
    for part in arguments.parts:
        if part not in known:
            parser.error(f"no such part: {part}. There are: sets, drift.")
    try:
        for part in arguments.parts or known:
            known[part](arguments)
        write_document(arguments)
    except KeyboardInterrupt:
        sys.exit("\nStopped; the same command carries on.")


if __name__ == "__main__":
    main()
