"""What a sample costs, beside what a user would pick instead: all systems in one run, turn by turn.

    make bench-peers                                     # all of it, half an hour at most
    make bench-peers OPTIONS=--quick                     # a few workloads, some minutes
    make bench-peers OPTIONS='--systems ours-float32,rule-numba --workloads mnist-5x5'
    make bench-peers OPTIONS='--workloads mnist-5x5 --again'   # one anew, the others as kept

Each system has a process of its own, all on the same core with one thread each; they take turns, in another
order each time, so that whatever else the machine does hits all alike. Times are those of learning alone.
A whole run replaces benchmarks/results/peers.json and docs/, and so does one with --again for what it
measures; any other one leaves out/peers.json.
Ctrl-C ends it and keeps what was measured.
"""

import argparse
import platform
import sys
import tempfile
from pathlib import Path

from benchmarks.peers import document, roofline, table
from benchmarks.peers.crew import Crew
from benchmarks.peers.measure import LENGTHS, Plan, measure_imports, measure_lengths, measure_workload
from benchmarks.peers.results import Results
from benchmarks.peers.systems import SYSTEMS, System, chosen
from benchmarks.peers.workloads import PAPER, WORKLOADS, Workload
from benchmarks.peers.workloads import chosen as chosen_workloads
from benchmarks.quality.progress import Progress
from benchmarks.speed import processor
from gaussian_neurons.datasets.fetch import AbsentData
from gaussian_neurons.learning import native

ROOT = Path(__file__).parents[2]
DOCS, KEPT, OTHER = ROOT / "docs", ROOT / "benchmarks" / "results" / "peers.json", ROOT / "out" / "peers.json"
QUICK = Plan(repetitions=2, seconds=0.05, lengths=LENGTHS[:2])


def machine() -> dict[str, str]:
    """Where it was measured."""
    return {
        "processor": processor(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "instruction set": native.instruction_set(),
    }


def here(systems: dict[str, System]) -> dict[str, System]:
    """Those whose packages are installed; the others are named."""
    missing = [key for key, system in systems.items() if not system.installed()]
    if missing:
        print(f"Not installed, left out: {', '.join(missing)}. `make bench-peers` brings all.\n")
    return {key: system for key, system in systems.items() if key not in missing}


def measure(
    systems: dict[str, System],
    workloads: dict[str, Workload],
    plan: Plan,
    path: Path,
    results: Results,
    progress: Progress,
) -> None:
    """All workloads, each written and printed when it is done; then the imports."""
    with tempfile.TemporaryDirectory() as folder, Crew() as crew:
        for key, workload in workloads.items():
            try:
                names = measure_workload(crew, systems, key, workload, plan, Path(folder), results, progress)
            except AbsentData as reason:
                progress.print(f"{key} is left out: {reason}\n")
                continue
            if key == PAPER:
                measure_lengths(crew, list(names), key, plan, results, progress)
            results.write(path)
            progress.print(table.workload(results, key) + "\n")
        core = crew.core
    results.workloads = {key: results.workloads[key] for key in WORKLOADS if key in results.workloads}
    measure_imports(systems, plan.repetitions, core, results, progress)
    results.write(path)


def steps(systems: int, workloads: dict[str, Workload], plan: Plan, shapes: int) -> int:
    """How often a run says what it does."""
    turns = len(workloads) * (1 + plan.repetitions)
    lengths = len(plan.lengths) * min(3, plan.repetitions) if PAPER in workloads else 0
    return systems * (turns + lengths + plan.repetitions) + shapes


def parsed() -> argparse.Namespace:
    """What was asked for."""
    parser = argparse.ArgumentParser(
        "python -m benchmarks.peers", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="few workloads, short turns")
    parser.add_argument("--systems", help=f"of {', '.join(SYSTEMS)}")
    parser.add_argument("--workloads", help=f"of {', '.join(WORKLOADS)}")
    parser.add_argument("--repetitions", type=int, help="turns of each system on each workload; 5")
    parser.add_argument("--again", action="store_true", help="replace these workloads in the kept results")
    parser.add_argument("--json", type=Path, help="where the results go")
    parser.add_argument(
        "--document", action=argparse.BooleanOptionalAction, help="write docs/; as a whole run does"
    )
    parser.add_argument(
        "--roofline", action=argparse.BooleanOptionalAction, default=True, help="the core beside its peak"
    )
    arguments = parser.parse_args()
    if arguments.repetitions is not None and arguments.repetitions < 1:
        parser.error(f"--repetitions must be at least 1, got {arguments.repetitions}.")
    return arguments


def main() -> None:
    """Measure, write, tell."""
    arguments = parsed()
    plan = QUICK if arguments.quick else Plan(repetitions=5, seconds=0.12)
    if arguments.repetitions:
        plan = Plan(arguments.repetitions, plan.seconds, plan.lengths)
    whole = arguments.again or not (arguments.quick or arguments.systems or arguments.workloads)
    path = arguments.json or (KEPT if whole else OTHER)
    systems = here(chosen(arguments.systems))
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
        sys.exit(f"\nStopped; what was measured until then is in {path}.")
    results.write(path)
    for part in (table.imports, table.growth, table.refusals, table.shown):
        print(part(results) + "\n")
    if arguments.document or (arguments.document is None and whole):
        document.write(results, DOCS)
    print(f"Written: {path}")


if __name__ == "__main__":
    main()
