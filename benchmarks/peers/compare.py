"""Has anything become slower between two results of this benchmark?

    make bench-compare A=old.json B=new.json
    make bench-compare old.json new.json
    python -m benchmarks.peers.compare old.json new.json --only ours --tolerance 0.05

Machines differ from run to run, so ratios of time are also told "corrected": divided by the median ratio of
the others, of those with the same version and settings in both files. Above 1 is worse in every ratio. It is
a regression where a figure of ours, corrected, is worse by more than the tolerance and the middle halves of
the turns lie apart.

Ends with status 0, with 1 after a regression, with 2 where there is nothing to compare.
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

SMALL = 1.0  # MiB more that are no news
HEAD = ("", "system", "on", "before", "after", "ratio", "corrected", "")
Figures = dict[tuple[str, str], Spread]  # system, and where


class Unusable(Exception):
    """Two files that cannot be compared, and why."""


@dataclass(frozen=True)
class Change:
    """One figure in both files. Ratios above 1 are worse."""

    what: str
    system: str
    where: str
    before: Spread
    after: Spread
    ratio: float
    corrected: float
    ours: bool
    apart: bool  # the middle halves, corrected, do not meet

    def regressed(self, tolerance: float) -> bool:
        """Ours, worse by more than that, and not by chance."""
        return self.ours and self.apart and self.corrected > 1 + tolerance

    def verdict(self, tolerance: float) -> str:
        """In a word or two."""
        if 1 / (1 + tolerance) <= self.corrected <= 1 + tolerance:
            return "same"
        if not self.apart:
            return "noise"
        if self.corrected < 1:
            return "better"
        return "REGRESSION" if self.ours else "worse"


def read(path: Path) -> Results:
    """What is in a file, or a message."""
    try:
        return Results.read(path)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise Unusable(
            f"{path} cannot be read: {type(error).__name__}: {error}. Expected is a file that "
            "`make bench-peers` wrote. Name such a file, or run that again with the code in question."
        ) from error


# ---- figures of one file ---------------------------------------------------------------------------


def _times(results: Results) -> Figures:
    """Microseconds a sample."""
    return {pair: Spread.of(results.microseconds(*pair)) for pair in results.measured()}


def _memory(results: Results) -> Figures:
    """MiB."""
    return _spreads(((it.system, it.workload), it.mebibytes) for it in results.memory)


def _imports(results: Results) -> Figures:
    """Times what NumPy and scikit-learn take, measured in turn."""
    return _spreads(((it.system, ""), it.seconds / it.base) for it in results.imports)


def _kernels(results: Results) -> Figures:
    """The share of the peak."""
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
    """How much slower the machine was in b, by how many figures of others that did not change."""
    before, after = _times(a), _times(b)
    same = {key for key, it in a.systems.items() if it.kind != "ours" and it == b.systems.get(key)}
    ratios = [after[key].middle / before[key].middle for key in before if key in after and key[0] in same]
    return (median(ratios), len(ratios)) if ratios else (1.0, 0)


def changes(a: Results, b: Results, factor: float) -> list[Change]:
    """Every figure that both have."""
    found = []
    kinds: list[tuple[str, Callable[[Results], Figures], float]] = [
        ("µs a sample", _times, factor),
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


def gone(a: Results, b: Results) -> list[tuple[str, str]]:
    """Systems of ours and where they were measured, in a and no longer in b, though b has the place."""
    missing = [key for key in _times(a) if key not in _times(b) and _is_ours(a, key[0])]
    return [(system, where) for system, where in missing if where in b.workloads]


def _is_ours(results: Results, system: str) -> bool:
    known = results.systems.get(system)
    return system == "the core" or (known is not None and known.kind == "ours")


def _change(
    what: str, key: tuple[str, str], before: Spread, after: Spread, divisor: float, ours: bool
) -> Change:
    old, new = (after, before) if what == "share of peak" else (before, after)  # there, more is better
    ratio = new.middle / old.middle if old.middle > 0 else inf if new.middle > 0 else 1.0
    apart = new.low / divisor > old.high or new.high / divisor < old.low
    if what == "memory, MiB":
        apart = apart and abs(new.middle - old.middle) > SMALL
    return Change(what, *key, before, after, ratio, ratio / divisor, ours, apart)


def table(found: Sequence[Change], tolerance: float) -> str:
    """Regressions first, then the worst first."""
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
    """One sentence."""
    ours = [it for it in found if it.ours]
    bad = [it for it in ours if it.regressed(tolerance)]
    if others:
        speed = f"the machine took {factor:.3f} times as long (the median of {others} ratios of others)"
    else:
        speed = "no other system is the same in both files, so the machine's speed is not divided out"
    if not bad:
        return (
            f"No regression: of {len(ours)} figures of ours, none is worse by more than {tolerance:.0%} "
            f"beyond the noise; {speed}."
        )
    worst = max(bad, key=lambda it: it.corrected)
    where = f" on {worst.where}" if worst.where else ""
    return (
        f"Regression: {len(bad)} of {len(ours)} figures of ours are worse by more than {tolerance:.0%} "
        f"beyond the noise, most of all {worst.system}{where} ({worst.what}, {worst.corrected:.2f} times); "
        f"{speed}."
    )


def compare(a: Path, b: Path, tolerance: float, only: str | None) -> int:
    """Print the table and the verdict; the status."""
    before, after = read(a), read(b)
    factor, others = machine(before, after)
    found = changes(before, after, factor)
    if not any(it.ours for it in found):
        raise Unusable(
            f"Nothing of ours is in both files: {a} has {_contents(before)}; {b} has {_contents(after)}. "
            "Expected are results with systems and workloads in common. Run `make bench-peers` for both with "
            "the same ones."
        )
    shown = found if only is None else _chosen(found, after, only.split(","))
    print(f"A: {a}\nB: {b}\n\n{table(shown, tolerance)}\n\n{verdict(found, factor, others, tolerance)}")
    if _once(before) or _once(after):
        print("There is one turn only of some, whose noise is not known: take verdicts with care.")
    missing = gone(before, after)
    for system, where in missing:
        why = [it.why for it in after.refusals if (it.system, it.workload) == (system, where)]
        print(f"Gone: {system} on {where} is in A, not in B{f' ({why[0]})' if why else ''}.")
    return int(bool(missing) or any(it.regressed(tolerance) for it in found))


def _chosen(found: Sequence[Change], results: Results, names: Sequence[str]) -> list[Change]:
    """Those of systems or kinds of systems that are named."""
    kinds = {key: system.kind for key, system in results.systems.items()} | {"the core": "ours"}
    shown = [it for it in found if it.system in names or kinds.get(it.system) in names]
    if not shown:
        known = ", ".join(dict.fromkeys([*kinds.values(), *(it.system for it in found)]))
        raise Unusable(f"--only {','.join(names)}: nothing of that is in both files. There are: {known}.")
    return shown


def _once(results: Results) -> bool:
    """Whether something of ours has had one turn."""
    return any(
        len(results.microseconds(*pair)) == 1 for pair in results.measured() if _is_ours(results, pair[0])
    )


def _contents(results: Results) -> str:
    """What a file is about."""
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
        "--tolerance", type=float, default=0.10, help="0.10: a tenth slower is still the same"
    )
    parser.add_argument(
        "--only", help="show only these: ours, peer, rule, or names of systems; commas between"
    )
    arguments = parser.parse_args()
    if not arguments.tolerance >= 0:
        parser.error(f"--tolerance must be 0 or more, got {arguments.tolerance}.")
    try:
        sys.exit(compare(arguments.a, arguments.b, arguments.tolerance, arguments.only))
    except Unusable as trouble:
        print(trouble, file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
