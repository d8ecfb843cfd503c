"""Time, memory and imports of this library and others, measured in turns in one run.

    make bench-peers                                     # everything, half an hour at most
    make bench-peers OPTIONS=--quick                     # a few workloads, some minutes
    make bench-peers OPTIONS='--systems ours-float32,rule-numba --workloads mnist-5x5'
    make bench-peers OPTIONS='--workloads mnist-5x5 --again'   # one workload again, the others as stored
    python -m benchmarks.peers --render                  # only write the documents from the stored results

Each system has its own process with one thread, all on the same core. They take turns, in a new order each
time, so that disturbances of the machine affect all alike. Only learning is timed. A complete run, or one
with --again, writes benchmarks/results/peers.json and docs/performance.md; any other run writes
out/peers.json. Ctrl-C ends the run and keeps the measurements.
"""

import argparse
import platform
import sys
import tempfile
from pathlib import Path

from benchmarks.peers import document, roofline, table
from benchmarks.peers.measure import LENGTHS, Plan, measure_imports, measure_lengths, measure_workload
from benchmarks.peers.results import Results
from benchmarks.peers.systems import SYSTEMS, System, chosen
from benchmarks.peers.workers import Workers
from benchmarks.peers.workloads import PAPER, WORKLOADS, Workload
from benchmarks.peers.workloads import chosen as chosen_workloads
from benchmarks.progress import Progress
from benchmarks.speed import processor
from gaussian_neurons.datasets.fetch import AbsentData
from gaussian_neurons.learning import native

ROOT = Path(__file__).parents[2]
DOCS, KEPT, OTHER = ROOT / "docs", ROOT / "benchmarks" / "results" / "peers.json", ROOT / "out" / "peers.json"
QUICK = Plan(repetitions=2, seconds=0.05, lengths=LENGTHS[:2])


def machine() -> dict[str, str]:
    """The machine."""
    return {
        "processor": processor(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "instruction set": native.instruction_set(),
    }


def installed(systems: dict[str, System]) -> dict[str, System]:
    """The systems whose packages are installed; prints the others."""
    missing = [key for key, system in systems.items() if not system.installed()]
    if missing:
        print(f"Not installed, skipped: {', '.join(missing)}. `make bench-peers` installs all.\n")
    return {key: system for key, system in systems.items() if key not in missing}


def measure(
    systems: dict[str, System],
    workloads: dict[str, Workload],
    plan: Plan,
    path: Path,
    results: Results,
    progress: Progress,
) -> None:
    """Measure all workloads, then the imports; each workload is stored and printed when it is done."""
    with tempfile.TemporaryDirectory() as folder, Workers() as workers:
        for key, workload in workloads.items():
            try:
                names = measure_workload(
                    workers, systems, key, workload, plan, Path(folder), results, progress
                )
            except AbsentData as reason:
                progress.print(f"{key} is skipped: {reason}\n")
                continue
            if key == PAPER:
                measure_lengths(workers, list(names), key, plan, results, progress)
            results.write(path)
            progress.print(table.workload(results, key) + "\n")
        core = workers.core
    results.workloads = {key: results.workloads[key] for key in WORKLOADS if key in results.workloads}
    measure_imports(systems, plan.repetitions, core, results, progress)
    results.write(path)


def steps(systems: int, workloads: dict[str, Workload], plan: Plan, shapes: int) -> int:
    """The number of progress steps."""
    turns = len(workloads) * (1 + plan.repetitions)
    lengths = len(plan.lengths) * min(3, plan.repetitions) if PAPER in workloads else 0
    return systems * (turns + lengths + plan.repetitions) + shapes


def parsed() -> argparse.Namespace:
    """The parsed options."""
    parser = argparse.ArgumentParser(
        "python -m benchmarks.peers", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="few workloads, short turns")
    parser.add_argument("--systems", help=f"comma-separated list of {', '.join(SYSTEMS)}")
    parser.add_argument("--workloads", help=f"comma-separated list of {', '.join(WORKLOADS)}")
    parser.add_argument("--repetitions", type=int, help="turns of each system on each workload; default 5")
    parser.add_argument("--again", action="store_true", help="replace these workloads in the stored results")
    parser.add_argument("--json", type=Path, help="file of the results")
    parser.add_argument(
        "--document",
        action=argparse.BooleanOptionalAction,
        help="write docs/performance.md; default for a complete run",
    )
    parser.add_argument(
        "--roofline",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="compare the core with its peak",
    )
    parser.add_argument("--render", action="store_true", help="measure nothing, only write the documents")
    arguments = parser.parse_args()
    if arguments.repetitions is not None and arguments.repetitions < 1:
        parser.error(f"--repetitions must be at least 1, got {arguments.repetitions}.")
    return arguments


def main() -> None:
    """Measure, store and print."""
    arguments = parsed()
    if arguments.render:
        document.write(Results.read(arguments.json or KEPT), DOCS)
        print("Written: docs/performance.md and its pictures")
        return
    plan = QUICK if arguments.quick else Plan(repetitions=5, seconds=0.12)
    if arguments.repetitions:
        plan = Plan(arguments.repetitions, plan.seconds, plan.lengths)
    whole = arguments.again or not (arguments.quick or arguments.systems or arguments.workloads)
    path = arguments.json or (KEPT if whole else OTHER)
    systems = installed(chosen(arguments.systems))
    workloads = chosen_workloads(arguments.workloads, arguments.quick)
    results = Results(machine(), {key: system.record(key) for key, system in systems.items()})
    if arguments.again:
        results = Results.read(path).without(set(workloads), results)
    print(", ".join(f"{name}: {value}" for name, value in results.machine.items()) + ", one core\n")
    print(table.systems(results) + "\n")
    try:
        shapes = len(roofline.SHAPES) if arguments.roofline else 0
        with Progress(steps(len(systems), workloads, plan, shapes)) as progress:
            measure(systems, workloads, plan, path, results, progress)
            if arguments.roofline:
                results.kernels = roofline.measure(plan.repetitions, progress)
    except KeyboardInterrupt:
        results.write(path)
        sys.exit(f"\nInterrupted; the measurements are in {path}.")
    results.write(path)
    for part in (table.imports, table.growth, table.refusals, table.shown):
        print(part(results) + "\n")
    if arguments.document or (arguments.document is None and whole):
        document.write(results, DOCS)
    print(f"Written: {path}")


if __name__ == "__main__":
    main()
