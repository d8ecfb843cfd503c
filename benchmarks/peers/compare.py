"""Compare two results of this benchmark: has anything become slower?

    make bench-compare A=old.json B=new.json
    make bench-compare old.json new.json
    python -m benchmarks.peers.compare old.json new.json --only ours --tolerance 0.05

The speed of a machine varies between runs. "Corrected" ratios of time are therefore divided by the median
ratio of the peers with the same version and settings in both files. A ratio above 1 is worse. A figure of
ours is a regression if its corrected ratio is worse by more than the tolerance and the interquartile ranges
of the turns do not overlap.

The exit status is 0, 1 after a regression, or 2 if there is nothing to compare.
"""

import argparse
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path
from statistics import median

from benchmarks.peers.kernels import points
from benchmarks.peers.results import Results, Spread
from benchmarks.peers.words import aligned, number

SMALL = 1.0  # MiB; smaller changes of memory are ignored
HEAD = ("", "system", "on", "before", "after", "ratio", "corrected", "")
Figures = dict[tuple[str, str], Spread]  # keys: system, and workload or shape


class Unusable(Exception):
    """Why two files cannot be compared."""


@dataclass(frozen=True)
class Change:
    """A figure in both files. A ratio above 1 is worse."""

    what: str
    system: str
    where: str
    before: Spread
    after: Spread
    ratio: float
    corrected: float
    ours: bool
    apart: bool  # the corrected interquartile ranges do not overlap

    def regressed(self, tolerance: float) -> bool:
        """Whether this is a figure of ours that is significantly worse."""
        return self.ours and self.apart and self.corrected > 1 + tolerance

    def verdict(self, tolerance: float) -> str:
        """The result in a word."""
        if 1 / (1 + tolerance) <= self.corrected <= 1 + tolerance:
            return "same"
        if not self.apart:
            return "noise"
        if self.corrected < 1:
            return "better"
        return "REGRESSION" if self.ours else "worse"


def read(path: Path) -> Results:
    """Read a file; raises Unusable if that fails."""
    try:
        return Results.read(path)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise Unusable(
            f"{path} cannot be read: {type(error).__name__}: {error}. Pass a file that `make bench-peers` "
            "has written."
        ) from error


# ---- figures of one file ---------------------------------------------------------------------------


def _times(results: Results) -> Figures:
    """Microseconds per sample."""
    return {pair: Spread.of(results.microseconds(*pair)) for pair in results.measured()}


def _memory(results: Results) -> Figures:
    """MiB."""
    return _spreads(((it.system, it.workload), it.mebibytes) for it in results.memory)


def _imports(results: Results) -> Figures:
    """Import times, as ratios to those of NumPy and scikit-learn."""
    return _spreads(((it.system, ""), it.seconds / it.base) for it in results.imports)


def _kernels(results: Results) -> Figures:
    """Shares of the peak."""
    return {
        ("the core", f"K={it.K} D={it.D} {it.precision} {it.instruction_set}"): it.share
        for it in points(results.kernels)
    }


def _spreads(pairs: Iterable[tuple[tuple[str, str], float]]) -> Figures:
    found: dict[tuple[str, str], list[float]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return {key: Spread.of(values) for key, values in found.items()}


# ---- two files -------------------------------------------------------------------------------------


def machine(a: Results, b: Results) -> tuple[float, int]:
    """How much slower the machine was in b, and the number of unchanged figures that tell it."""
    before, after = _times(a), _times(b)
    same = {key for key, it in a.systems.items() if it.kind != "ours" and it == b.systems.get(key)}
    ratios = [after[key].middle / before[key].middle for key in before if key in after and key[0] in same]
    return (median(ratios), len(ratios)) if ratios else (1.0, 0)


def changes(a: Results, b: Results, factor: float) -> list[Change]:
    """All figures that are in both."""
    found = []
    kinds: list[tuple[str, Callable[[Results], Figures], float]] = [
        ("µs per sample", _times, factor),
        ("memory, MiB", _memory, 1.0),
        ("import / base", _imports, 1.0),
        ("share of peak", _kernels, 1.0),
    ]
    for what, figures, divisor in kinds:
        before, after = figures(a), figures(b)
        for key in before:
            if key in after:
                found.append(_change(what, key, before[key], after[key], divisor, _is_ours(b, key[0])))
    return found


def missing(a: Results, b: Results) -> list[tuple[str, str]]:
    """Our systems and workloads that are in a and missing in b, although b has the workload."""
    after = _times(b)
    return [key for key in _times(a) if key not in after and _is_ours(a, key[0]) and key[1] in b.workloads]


def _is_ours(results: Results, system: str) -> bool:
    known = results.systems.get(system)
    return system == "the core" or (known is not None and known.kind == "ours")


def _change(
    what: str, key: tuple[str, str], before: Spread, after: Spread, divisor: float, ours: bool
) -> Change:
    old, new = (after, before) if what == "share of peak" else (before, after)  # a larger share is better
    ratio = new.middle / old.middle if old.middle > 0 else inf if new.middle > 0 else 1.0
    apart = new.low / divisor > old.high or new.high / divisor < old.low
    if what == "memory, MiB":
        apart = apart and abs(new.middle - old.middle) > SMALL
    return Change(what, *key, before, after, ratio, ratio / divisor, ours, apart)


def table(found: Sequence[Change], tolerance: float) -> str:
    """The table of changes: regressions first, then by ratio."""
    order = sorted(found, key=lambda it: (not it.regressed(tolerance), -it.corrected))
    rows = [
        (
            it.what,
            it.system,
            it.where,
            number(it.before.middle),
            number(it.after.middle),
            f"{it.ratio:.3f}",
            f"{it.corrected:.3f}",
            it.verdict(tolerance),
        )
        for it in order
    ]
    return aligned([HEAD, *rows], left=3)


def verdict(found: Sequence[Change], factor: float, others: int, tolerance: float) -> str:
    """The summary in one sentence."""
    ours = [it for it in found if it.ours]
    bad = [it for it in ours if it.regressed(tolerance)]
    if others:
        speed = f"the machine took {factor:.3f} times as long (the median of {others} ratios of peers)"
    else:
        speed = "no peer is the same in both files, so the ratios are not corrected"
    if not bad:
        return (
            f"No regression: none of {len(ours)} figures of ours is significantly worse by more than "
            f"{tolerance:.0%}; {speed}."
        )
    worst = max(bad, key=lambda it: it.corrected)
    where = f" on {worst.where}" if worst.where else ""
    return (
        f"Regression: {len(bad)} of {len(ours)} figures of ours are significantly worse by more than "
        f"{tolerance:.0%}, the worst being {worst.system}{where} ({worst.what}, {worst.corrected:.2f} "
        f"times); {speed}."
    )


def compare(a: Path, b: Path, tolerance: float, only: str | None) -> int:
    """Print the table and the summary; returns the exit status."""
    before, after = read(a), read(b)
    factor, others = machine(before, after)
    found = changes(before, after, factor)
    if not any(it.ours for it in found):
        raise Unusable(
            f"The files have no figures of ours in common: {a} has {_contents(before)}; {b} has "
            f"{_contents(after)}. Run `make bench-peers` with the same systems and workloads for both."
        )
    shown = found if only is None else _chosen(found, after, only.split(","))
    print(f"A: {a}\nB: {b}\n\n{table(shown, tolerance)}\n\n{verdict(found, factor, others, tolerance)}")
    if _once(before) or _once(after):
        print("Some figures have one turn only, so their noise is unknown.")
    lost = missing(before, after)
    for system, where in lost:
        why = [it.why for it in after.refusals if (it.system, it.workload) == (system, where)]
        print(f"Missing: {system} on {where} is in A, not in B{f' ({why[0]})' if why else ''}.")
    return int(bool(lost) or any(it.regressed(tolerance) for it in found))


def _chosen(found: Sequence[Change], results: Results, names: Sequence[str]) -> list[Change]:
    """The changes of the named systems or kinds of systems."""
    kinds = {key: system.kind for key, system in results.systems.items()} | {"the core": "ours"}
    shown = [it for it in found if it.system in names or kinds.get(it.system) in names]
    if not shown:
        known = ", ".join(dict.fromkeys([*kinds.values(), *(it.system for it in found)]))
        raise Unusable(f"--only {','.join(names)}: not in both files. Known: {known}.")
    return shown


def _once(results: Results) -> bool:
    """Whether a figure of ours has one turn only."""
    return any(
        len(results.microseconds(*pair)) == 1 for pair in results.measured() if _is_ours(results, pair[0])
    )


def _contents(results: Results) -> str:
    """The systems and workloads of a file."""
    pairs = list(results.measured())
    systems, workloads = dict.fromkeys(key for key, _ in pairs), dict.fromkeys(key for _, key in pairs)
    return f"{', '.join(systems) or 'no system'} on {', '.join(workloads) or 'no workload'}"


def main() -> None:
    """Parse and delegate."""
    parser = argparse.ArgumentParser(
        "python -m benchmarks.peers.compare",
        description=__doc__,
        formatter_class=argparse.RawTextHelpFormatter,
    )
    parser.add_argument("a", type=Path, metavar="A.json", help="before")
    parser.add_argument("b", type=Path, metavar="B.json", help="after")
    parser.add_argument(
        "--tolerance", type=float, default=0.10, help="default 0.10: a change of a tenth is ignored"
    )
    parser.add_argument(
        "--only", help="show only these: a comma-separated list of ours, peer, rule and names of systems"
    )
    arguments = parser.parse_args()
    if not arguments.tolerance >= 0:
        parser.error(f"--tolerance must be 0 or more, got {arguments.tolerance}.")
    try:
        sys.exit(compare(arguments.a, arguments.b, arguments.tolerance, arguments.only))
    except Unusable as error:
        print(error, file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
