"""Write docs/performance.md and its pictures from the stored results."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import fill
from typing import Protocol

from benchmarks.peers import picture
from benchmarks.peers.claims import claims
from benchmarks.peers.growth import slopes
from benchmarks.peers.kernels import Point, points, widest
from benchmarks.peers.picture import NAMED
from benchmarks.peers.results import OURS, Results, Spread, Workload
from benchmarks.peers.words import code, number, table, with_quartiles
from gaussian_neurons.base.files import replace_file

SPEED = Path(__file__).parents[1] / "results" / "speed.json"  # written by benchmarks.speed --json
PICTURES = {
    "throughput": "Samples per second of each system",
    "scaling": "Microseconds per sample over the number of neurons and of columns",
    "roofline": "The core below the limits of arithmetic and memory",
}
HEAD = """\
# How fast it learns

The first table compares the compiled core with NumPy; `make bench` prints it. The rest of this page
compares the library with other online and batch clustering methods, and with the same rule in other tools.
`make bench-peers` measures it, and `python -m benchmarks.peers --render` writes this page from the stored
results.
"""
METHOD = """\
## Other libraries

A figure is the median over the turns; the brackets hold the quartiles. Each system has its own process with
one thread, all on the same core. They take turns, in a new order each time. Rows are converted to the
format of a system before the timing starts. A turn continues with the model of the turn before, after a
warm-up in which everything is compiled. A system that finds more and more clusters becomes slower from turn
to turn; its quartiles then show growth, not noise. Systems that are not given K (DBSTREAM, DenStream,
Birch, the ARTs) keep as many clusters as their settings find in the data, from one to hundreds. Their
settings are from examples in their documentation and are not adapted to the data. *First result* is the
time from the creation of a model to its first prediction, measured once, with the conversion of the rows.
*Memory* is the peak increase of the process's memory by learning.
"""
REPEAT = """\
## Commands

    make bench                                 # the core and the NumPy reference, samplers, streams
    make bench-peers                           # measure the systems and write this page
    make bench-compare A=old.json B=new.json   # compare two results: has anything become slower?

`make bench-compare` corrects for the speed of the machine, which it estimates from the peers. Its exit
status is 1 if a figure of ours is significantly slower.
"""
ROOFS = """\
The peak is the speed of independent multiply-adds on the same core, measured in each turn. *Needed* is the
share of the time per sample that the multiply-adds of the equations take at this peak. *Padding* is the
share of additional multiply-adds, on lanes without a neuron and on pairs computed twice. *The rest* is
spent on exponentials, on waiting for results, and on numbers that are loaded several times. *Memory* is the
time to read and write centers and pairs once, at the measured bandwidth for a buffer of the size of the
layer. It overlaps with the arithmetic, and is the limit only if it is the longest part.
"""
CORE = """\
## The core and NumPy

{machine}, one core, one sample at a time, float32, {isa}. The ratios are to the NumPy reference,
measured in turns in the same process. "Warm" means that the memory allocator keeps its memory, which helps
NumPy with large arrays. The share of the peak counts only the multiply-adds of the equations.

{table}
{missed}The command also prints how the rest of the time is spent, for all instruction sets and precisions.
"""


KINDS = {"ours": "this rule", "rule": "this rule", "peer": "another method"}


class Claim(Protocol):
    """A result of `claims`."""

    text: str
    figure: str
    holds: bool | None  # None if nothing was measured


Slopes = Mapping[str, Mapping[str, float | None]]


def write(results: Results, docs: Path) -> None:
    """Write the document, and the pictures for which there are figures."""
    folder = docs / "performance"
    folder.mkdir(parents=True, exist_ok=True)
    drawn = []
    for name in PICTURES:
        figure = getattr(picture, name)(results)
        if figure is None:
            (folder / f"{name}.png").unlink(missing_ok=True)
        else:
            figure.savefig(folder / f"{name}.png")
            drawn.append(name)
    page = text(results, claims(results), slopes(results), drawn)
    for section in (folder / "repulsion.md", folder / "covariances.md"):
        if section.exists():
            added = section.read_text()
            for old, new in {"](../": "](", "](repulsion": "](performance/repulsion"}.items():
                added = added.replace(old, new)
            page += "\n" + added
    replace_file(docs / "performance.md", page.encode())


def text(results: Results, claimed: Sequence[Claim], found: Slopes, drawn: Sequence[str]) -> str:
    """The page without the sections on repulsion and covariances; `drawn` are the names of the pictures."""
    shown = {name: f"![{PICTURES[name]}](performance/{name}.png)\n" for name in drawn}
    named = [results.workloads[key] for key in NAMED if key in results.workloads]
    parts = [
        HEAD,
        _core_and_numpy(),
        METHOD,
        _machine(results),
        _claims(claimed),
        _section("Samples per second", shown.get("throughput"), *(_workload(results, it) for it in named)),
        _grid(results, shown.get("scaling")),
        _growth(results, found),
        _imports(results),
        _core(results, shown.get("roofline")),
        _refusals(results),
        _settings(results),
        REPEAT,
    ]
    return "\n".join(part for part in parts if part)


def _section(title: str, *parts: str | None) -> str:
    """A title above the parts; nothing if there are no parts."""
    content = [part for part in parts if part]
    return f"## {title}\n\n" + "\n".join(content) if content else ""


def _name(results: Results, key: str) -> str:
    system = results.systems.get(key)
    name = system.name if system else key
    return f"**{name}**" if key == OURS else name


def _middle(values: list[float]) -> float | None:
    return Spread.of(values).middle if values else None


# ---- the sections ----------------------------------------------------------------------------------


def _machine(results: Results) -> str:
    versions = dict.fromkeys(f"{it.package} {it.version}".strip() for it in results.systems.values())
    facts = [f"- {name}: {value}" for name, value in results.machine.items()]
    if versions:
        facts.append(f"- versions: {', '.join(versions)}")
    return "\n".join(facts) + "\n" if facts else ""


def _core_and_numpy() -> str:
    """The stored table of `benchmarks.speed`, for the widest instruction set."""
    if not SPEED.exists():
        return ""
    stored = json.loads(SPEED.read_text())
    facts = {name: value for row in stored if "K" not in row for name, value in row.items()}
    rows = [row for row in stored if row.get("precision") == "float32"]
    isa = rows[0]["instruction_set"]
    rows = [row for row in rows if row["instruction_set"] == isa]
    head = (
        "K",
        "D",
        "widths",
        "million samples/s",
        "times NumPy",
        "times NumPy, warm",
        "of the peak",
        "target",
    )
    cells = [
        (
            str(row["K"]),
            str(row["D"]),
            "learned" if row["widths_learned"] else "equal",
            f"{row['million_samples_a_second']:.4f}",
            f"{row['ratio_to_reference']:.0f}",
            f"{row['ratio_to_warm_reference']:.0f}",
            f"{row['useful']:.0%}",
            f"{row['target']} times" if row["target"] else "–",
        )
        for row in rows
    ]
    missed = "".join(
        f"K = {row['K']}, D = {row['D']} reaches {row['ratio_to_reference']:.0f} times, short of the target "
        f"of {row['target']}.\n"
        for row in rows
        if row["target"] and row["ratio_to_reference"] < row["target"]
    )
    if "mapped_learning_mebibytes" in facts:
        missed += (
            "Learning from a memory-mapped file of 954 MiB adds "
            f"{facts['mapped_learning_mebibytes']:.0f} MiB to the process.\n"
        )
    return CORE.format(machine=facts["machine"], isa=isa, table=table(head, cells), missed=missed)


def _claims(claimed: Sequence[Claim]) -> str:
    verdicts = {True: "yes", False: "**no**", None: "not measured"}
    rows = [(claim.text, claim.figure, verdicts[claim.holds]) for claim in claimed]
    return _section("Claims", table(("claim", "measured", "holds"), rows)) if rows else ""


def _workload(results: Results, workload: Workload) -> str:
    """A table with a row for each system, the fastest first."""
    ours = _middle(results.microseconds(OURS, workload.key))
    rows = []
    for key, system in results.systems.items():
        values = results.microseconds(key, workload.key)
        if not values:
            continue
        spread = Spread.of(values)
        memory = _middle(
            [it.mebibytes for it in results.memory if (it.system, it.workload) == (key, workload.key)]
        )
        first = _middle(
            [it.seconds for it in results.firsts if (it.system, it.workload) == (key, workload.key)]
        )
        row = (
            _name(results, key),
            "sample by sample" if system.per_sample else "in batches",
            KINDS[system.kind],
            number(1e6 / spread.middle),
            with_quartiles(spread),
            number(spread.middle / ours if ours else None),
            number(memory),
            number(None if first is None else first * 1e3),
        )
        rows.append((spread.middle, row))
    if not rows:
        return ""
    head = (
        "",
        "learns",
        "method",
        "samples/s",
        "µs per sample",
        "times ours",
        "memory, MiB",
        "first result, ms",
    )
    rows.sort(key=lambda pair: pair[0])
    title = f"### {workload.name} (K = {workload.K}, D = {workload.D})\n\n"
    return title + table(head, [row for _, row in rows])


def _grid(results: Results, shown: str | None) -> str:
    """A table for each D, with a column for each K."""
    grid = [it for key, it in results.workloads.items() if key.startswith("rows-")]
    refused = {(it.system, it.workload) for it in results.refusals}
    parts = []
    for D in sorted({it.D for it in grid}):
        line = sorted((it for it in grid if it.D == D), key=lambda it: it.K)
        rows = []
        for key in results.systems:
            found = [_middle(results.microseconds(key, it.key)) for it in line]
            cells = [
                "not measured" if value is None and (key, it.key) in refused else number(value)
                for value, it in zip(found, line, strict=True)
            ]
            if set(cells) != {"–"}:
                rows.append((_name(results, key), *cells))
        if rows:
            parts.append(f"D = {D}:\n\n" + table(("", *(f"K = {it.K}" for it in line)), rows))
    about = "Microseconds per sample; K neurons or clusters, random rows of D columns.\n"
    return _section("More neurons and columns", shown, about, *parts) if parts else ""


def _growth(results: Results, exponents: Slopes) -> str:
    rows = [
        (_name(results, key), *(_power(found.get(along)) for along in ("N", "D", "K")))
        for key, found in exponents.items()
        if any(value is not None for value in found.values())
    ]
    if not rows:
        return ""
    about = fill(
        "The exponent of the growth of time: with 0 it is constant, with 1 twice the size takes twice the "
        "time, with 2 four times. For N it is the time of all N samples: 1 means that all samples cost the "
        "same, less than 1 that a call or a start has a fixed cost. For D and K it is the time per sample. "
        "There is no exponent of K for systems that are not given K.",
        108,
    )
    return _section("Growth", about + "\n", table(("", "samples, N", "columns, D", "neurons, K"), rows))


def _power(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _imports(results: Results) -> str:
    rows, known = [], set()
    for key, system in results.systems.items():
        turns = [it for it in results.imports if it.system == key]
        if turns and (system.package, turns[0].seconds) not in known:  # one import per package
            known.add((system.package, turns[0].seconds))
            whole = Spread.of([it.seconds * 1e3 for it in turns])
            base = Spread.of([it.base * 1e3 for it in turns])
            added = Spread.of([(it.seconds - it.base) * 1e3 for it in turns])
            more = f"{added.middle:.0f}" if added.middle > 0 else "–"
            row = (f"{system.package} ({system.name})", with_quartiles(whole), number(base.middle), more)
            rows.append((whole.middle, row))
    rows.sort(key=lambda pair: pair[0])
    head = ("", "new interpreter, ms", "only NumPy and scikit-learn, ms", "difference, ms")
    return _section("Imports", table(head, [row for _, row in rows])) if rows else ""


def _core(results: Results, shown: str | None) -> str:
    """The core and its limits, with a sentence for each shape."""
    if not results.kernels:
        return ""
    best = widest(results.kernels)
    mine = [point for point in points(results.kernels) if point.instruction_set == best]
    head = ("K × D", "precision", "layer, KiB", "µs per sample", "needed", "padding", "the rest", "memory")
    rows = [
        (
            f"{point.K} × {point.D}",
            point.precision,
            number(point.layer / 1024),
            number(point.seconds.middle * 1e6),
            f"{point.share.middle:.0%}",
            f"{point.padding:.0%}",
            f"{point.rest:.0%}",
            f"{point.memory:.0%}",
        )
        for point in mine
    ]
    sentences = "".join(f"- {limit(point)}\n" for point in mine if point.precision == mine[0].precision)
    about = f"What limits the core, with {best} in {mine[0].precision}:\n"
    return _section("Limits of the core", shown, ROOFS, table(head, rows), about, sentences)


def limit(point: Point) -> str:
    """The longest parts of the time per sample for one shape."""
    parts = {
        "the multiply-adds of the equations": point.share.middle,
        "multiply-adds on empty lanes and on pairs computed twice": point.padding,
        "exponentials, waiting and repeated loads": point.rest,
    }
    longest, *others = sorted(parts, key=lambda name: -parts[name])
    text = (
        f"K = {point.K}, D = {point.D}: {longest} ({parts[longest]:.0%} of the time), then {others[0]} "
        f"({parts[others[0]]:.0%}). Memory alone would take {point.memory:.0%}"
    )
    return text + (", and is the limit." if point.memory > parts[longest] else ".")


def _refusals(results: Results) -> str:
    """A line for each system and reason."""
    found: dict[tuple[str, str], list[str]] = {}
    for it in results.refusals:
        found.setdefault((it.system, it.why), []).append(it.workload)
    lines = [
        f"- {_name(results, key)}, on {', '.join(workloads)}: {' '.join(why.split())}\n"
        for (key, why), workloads in found.items()
    ]
    return _section("Not measured", "".join(lines)) if lines else ""


def _settings(results: Results) -> str:
    rows = [
        (_name(results, it.key), code(it.key), f"{it.package} {it.version}", code(it.settings))
        for it in results.systems.values()
    ]
    return _section("Settings", table(("", "key", "version", "settings"), rows)) if rows else ""
