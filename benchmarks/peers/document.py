"""docs/performance.md and its pictures, out of the results alone: every number in it was measured."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from benchmarks.peers import picture
from benchmarks.peers.claims import claims
from benchmarks.peers.growth import slopes
from benchmarks.peers.kernels import Point, points, widest
from benchmarks.peers.picture import NAMED
from benchmarks.peers.results import OURS, Results, Spread, Workload
from benchmarks.peers.words import exactly, number, table, with_half
from gaussian_neurons.base.files import replace_file

PICTURES = {
    "throughput": "Samples a second of each system",
    "scaling": "Microseconds a sample over the number of neurons and of columns",
    "roofline": "The core beside what arithmetic and memory allow",
}
HEAD = """\
# How fast it learns

Written by `make bench-peers`. This library beside others that cluster online or in batches, and beside the
same rule written with other tools. A figure is the median over the turns; in brackets, where the middle half
of them lies.

Every system has a process of its own, all on one core with one thread each, and they take turns, in another
order each time. Rows have the form that a system takes before the clock runs; a turn goes on with the model
of the turn before, after a warm-up in which everything is compiled. So a system that finds more and more
clusters gets slower from turn to turn: its spread is growth, not noise. Those that are not told K
(DBSTREAM, DenStream, Birch, the ARTs) keep as many clusters as their settings make of the data, which may
be one or hundreds; their settings come from examples in their documentation, and are not scaled to the
data. *First result* is the time from making a model to its first answer, once, with the rows' conversion.
*Memory* is what learning adds to the process at its highest.
"""
REPEAT = """\
## To repeat it

    make bench-peers                           # measures, and writes this document
    make bench-compare A=old.json B=new.json   # has anything become slower between two results?

The second divides out how fast the machine was, as the others show it, and ends with status 1 if ours became
slower beyond the noise.
"""
ROOFS = """\
The peak is what independent multiply-adds reach on the same core, measured beside every turn; *needed* is the
share of a sample's time that the multiply-adds of the equations take at that peak. *Padding* are those done
beyond that: on lanes without a neuron, and on pairs done twice. *The rest* are exponentials, results that the
next pass waits for, and numbers that are fetched more than once. *Memory* is the time that centers and pairs
take to come and go once, at the speed at which a buffer as large as the layer is read (NumPy's product of its
two halves): it runs beside the arithmetic, and limits only where it is the longest of all.
"""


KINDS = {"ours": "the rule", "rule": "the rule", "peer": "another method"}


class Claim(Protocol):
    """What `claims` tells."""

    text: str
    figure: str
    holds: bool | None  # None where nothing was measured


Slopes = Mapping[str, Mapping[str, float | None]]


def write(results: Results, docs: Path) -> None:
    """The document, and those pictures that there are figures for."""
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
    told = text(results, claims(results), slopes(results), drawn)
    more = folder / "repulsion.md"
    if more.exists():
        told += "\n" + more.read_text().replace("](../", "](").replace(
            "](repulsion", "](performance/repulsion"
        )
    replace_file(docs / "performance.md", told.encode())


def text(results: Results, claimed: Sequence[Claim], found: Slopes, drawn: Sequence[str]) -> str:
    """All of it but what others append; `drawn` are the pictures that there are."""
    shown = {name: f"![{PICTURES[name]}](performance/{name}.png)\n" for name in drawn}
    named = [results.workloads[key] for key in NAMED if key in results.workloads]
    parts = [
        HEAD,
        _machine(results),
        _claims(claimed),
        _section("Samples a second", shown.get("throughput"), *(_workload(results, it) for it in named)),
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
    """A title over what there is; nothing over nothing."""
    there = [part for part in parts if part]
    return f"## {title}\n\n" + "\n".join(there) if there else ""


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


def _claims(claimed: Sequence[Claim]) -> str:
    words = {True: "yes", False: "**no**", None: "not measured"}
    rows = [(claim.text, claim.figure, words[claim.holds]) for claim in claimed]
    return _section("What is claimed", table(("claim", "measured", "holds"), rows)) if rows else ""


def _workload(results: Results, workload: Workload) -> str:
    """A row for each system, the fastest first."""
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
            with_half(spread),
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
        "with",
        "samples a second",
        "µs a sample",
        "times ours",
        "memory, MiB",
        "first result, ms",
    )
    rows.sort(key=lambda pair: pair[0])
    title = f"### {workload.name} (K = {workload.K}, D = {workload.D})\n\n"
    return title + table(head, [row for _, row in rows])


def _grid(results: Results, shown: str | None) -> str:
    """A table for each D, a column for each K."""
    grid = [it for key, it in results.workloads.items() if key.startswith("rows-")]
    refused = {(it.system, it.workload) for it in results.refusals}
    parts = []
    for D in sorted({it.D for it in grid}):
        line = sorted((it for it in grid if it.D == D), key=lambda it: it.K)
        rows = []
        for key in results.systems:
            found = [_middle(results.microseconds(key, it.key)) for it in line]
            words = [
                "refused" if value is None and (key, it.key) in refused else number(value)
                for value, it in zip(found, line, strict=True)
            ]
            if set(words) != {"–"}:
                rows.append((_name(results, key), *words))
        if rows:
            parts.append(f"D = {D}:\n\n" + table(("", *(f"K = {it.K}" for it in line)), rows))
    words = "Microseconds a sample; rows at random, K neurons or clusters in D columns.\n"
    return _section("More neurons, more columns", shown, words, *parts) if parts else ""


def _growth(results: Results, exponents: Slopes) -> str:
    rows = [
        (_name(results, key), *(_power(found.get(along)) for along in ("N", "D", "K")))
        for key, found in exponents.items()
        if any(value is not None for value in found.values())
    ]
    if not rows:
        return ""
    words = (
        "The power with which time grows: with 0 it does not, with 1 twice as many take twice the time, "
        "with 2 four times. With N it is the time for all of N samples, so that 1 means: a sample costs "
        "the same whenever it comes; less than 1, that a call or a start costs something of its own. With D "
        "and K it is the time for one; K has no figure for those who are not told it.\n"
    )
    return _section("Growth", words, table(("", "samples, N", "columns, D", "neurons, K"), rows))


def _power(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _imports(results: Results) -> str:
    rows, known = [], set()
    for key, system in results.systems.items():
        turns = [it for it in results.imports if it.system == key]
        if turns and (system.package, turns[0].seconds) not in known:  # systems of one package share theirs
            known.add((system.package, turns[0].seconds))
            whole = Spread.of([it.seconds * 1e3 for it in turns])
            base = Spread.of([it.base * 1e3 for it in turns])
            beyond = Spread.of([(it.seconds - it.base) * 1e3 for it in turns])
            more = f"{beyond.middle:.0f}" if beyond.middle > 0 else "–"
            row = (f"{system.package} ({system.name})", with_half(whole), number(base.middle), more)
            rows.append((whole.middle, row))
    rows.sort(key=lambda pair: pair[0])
    head = ("", "a fresh interpreter, ms", "NumPy and scikit-learn alone, ms", "beyond that, ms")
    return _section("Imports", table(head, [row for _, row in rows])) if rows else ""


def _core(results: Results, shown: str | None) -> str:
    """The core beside its roofs, and a sentence for each shape."""
    if not results.kernels:
        return ""
    best = widest(results.kernels)
    mine = [point for point in points(results.kernels) if point.instruction_set == best]
    head = ("K × D", "precision", "layer, KiB", "µs a sample", "needed", "padding", "the rest", "memory")
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
    words = f"What limits it, with {best} in {mine[0].precision}:\n"
    return _section("The compiled core alone", shown, ROOFS, table(head, rows), words, sentences)


def limit(point: Point) -> str:
    """What takes the most of a sample's time at one shape."""
    parts = {
        "the multiply-adds that the equations need": point.share.middle,
        "multiply-adds on empty lanes and on pairs done twice": point.padding,
        "exponentials, waiting, and numbers fetched again": point.rest,
    }
    longest, *others = sorted(parts, key=lambda name: -parts[name])
    told = f"K = {point.K}, D = {point.D}: first {longest} ({parts[longest]:.0%} of the time), "
    told += f"then {others[0]} ({parts[others[0]]:.0%}). "
    if point.memory > parts[longest]:
        return told + f"But memory alone would take {point.memory:.0%}: it is what limits."
    return told + f"Memory alone would take {point.memory:.0%}."


def _refusals(results: Results) -> str:
    """One line for each system and reason."""
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
        (_name(results, it.key), exactly(it.key), f"{it.package} {it.version}", exactly(it.settings))
        for it in results.systems.values()
    ]
    return _section("Settings", table(("", "key", "version", "settings"), rows)) if rows else ""
