"""What `benchmarks.repulsion` measured: a table in a terminal, a section of docs/performance.md."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from textwrap import fill

import numpy as np

from benchmarks.repulsion import EVERY, SAME, Results
from gaussian_neurons.persistence import replace_file


@dataclass(frozen=True)
class Mean:
    """Of the seeds, with its standard error."""

    value: float
    error: float

    @classmethod
    def of(cls, values: Sequence[float]) -> "Mean":
        error = float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else 0.0
        return cls(float(np.mean(values)), error)


@dataclass(frozen=True)
class Cell:
    """A setting at one r, over its seeds."""

    share: Mean  # of the exact model's filters that were matched
    learned: Mean
    twins: Mean
    distance: Mean | None  # of the pairs of filters; None where there are none
    largest: float | None
    cosine: float | None
    farthest: float
    seeds: int
    failed: int  # numbers that stopped being finite
    fewer: int  # seeds with fewer filters than in either exact model

    def is_whole(self, yardstick: "Cell") -> bool:
        """Whether no fewer filters are learned than by exact models, as far as the seeds can tell."""
        return not self.failed and self.learned.value >= yardstick.learned.value - yardstick.learned.error

    def is_near(self, yardstick: "Cell") -> bool:
        """Whether it differs from the exact model no more than another stream makes it differ."""
        one, other = self.distance, yardstick.distance
        return (
            self.is_whole(yardstick)
            and self.share.value >= yardstick.share.value - yardstick.share.error
            and (one is not None and other is not None and one.value <= other.value + other.error)
        )

    def to(self, yardstick: "Cell") -> float | None:
        """The mean distance, as a multiple of that which another stream makes."""
        if self.distance is None or yardstick.distance is None or not yardstick.distance.value:
            return None
        return self.distance.value / yardstick.distance.value


def cell(results: Results, setting: str, every: int, another_stream: bool = False) -> Cell:
    """Gather the seeds."""
    mine = [it for it in results.runs if it.setting == setting]
    runs = [it for it in mine if (it.every, it.another_stream) == (every, another_stream)]
    exact = {
        it.seed: [other.learned for other in mine if (other.every, other.seed) == (1, it.seed)] for it in runs
    }
    pairs = [it.match for it in runs if it.match is not None and it.match.pairs]
    return Cell(
        Mean.of([0.0 if it.match is None else it.match.matched / max(it.match.filters, 1) for it in runs]),
        Mean.of([it.learned for it in runs]),
        Mean.of([it.twins for it in runs]),
        Mean.of([it.mean for it in pairs]) if pairs else None,
        max((it.largest for it in pairs), default=None),
        float(np.mean([it.cosine for it in pairs])) if pairs else None,
        max(it.farthest for it in runs),
        len(runs),
        sum(it.failed is not None for it in runs),
        sum(it.learned < min(exact[it.seed]) for it in runs),
    )


def yardstick(results: Results, setting: str) -> Cell:
    return cell(results, setting, 1, another_stream=True)


def near_up_to(results: Results, setting: str) -> int:
    """The largest r up to which all are as near to the exact model as one of another stream is."""
    return _up_to(results, setting, Cell.is_near)


def whole_up_to(results: Results, setting: str) -> int:
    """The largest r up to which none has learned fewer filters."""
    return _up_to(results, setting, Cell.is_whole)


def _up_to(results: Results, setting: str, holds: Callable[[Cell, Cell], bool]) -> int:
    found, stick = 1, yardstick(results, setting)
    for every in EVERY[1:]:
        if not holds(cell(results, setting, every), stick):
            break
        found = every
    return found


def faster(results: Results, setting: str, every: int) -> float:
    """Times the speed of the exact rule, the median over the turns."""
    return median(
        it.exact_seconds / it.seconds for it in results.speeds if (it.setting, it.every) == (setting, every)
    )


def timed(results: Results) -> list[str]:
    return list(dict.fromkeys(it.setting for it in results.speeds))


# ---- tables -----------------------------------------------------------------------------------------

HEAD = (
    "",
    "r",
    "learned",
    "twins",
    "matched",
    "mean apart",
    "to yardstick",
    "largest",
    "cosine",
    "farthest",
    "",
)


def terminal(results: Results) -> str:
    """Everything, a line for each setting and r."""
    rows = [HEAD]
    for key, facts in results.settings.items():
        stick = yardstick(results, key)
        rows.append(_line(f"{facts['what']}, another stream", "1", stick, stick, 0))
        for every in EVERY:
            here = cell(results, key, every)
            rows.append(_line(facts["what"], str(every), here, stick, here.fewer))
    widths = [max(len(row[k]) for row in rows) for k in range(len(HEAD))]
    lines = [
        "  ".join(
            f"{it:<{w}}" if k == 0 else f"{it:>{w}}"
            for k, (it, w) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]
    lines.append("")
    for key in timed(results):
        facts = results.settings[key]
        ratios = "  ".join(f"r = {every}: {faster(results, key, every):.2f}" for every in EVERY)
        lines.append(f"times the speed of r = 1, K = {facts['K']}, D = {facts['D']}:  {ratios}")
    return "\n".join(line.rstrip() for line in lines)


def _line(what: str, every: str, here: Cell, stick: Cell, fewer: int) -> tuple[str, ...]:
    broke = [f"{here.failed} failed"] * bool(here.failed) + [
        f"fewer filters in {fewer} of {here.seeds}"
    ] * bool(fewer)
    return (
        what,
        every,
        f"{here.learned.value:.1f}",
        f"{here.twins.value:.1f}",
        f"{here.share.value:.0%}",
        _number(here.distance and here.distance.value, 4),
        _number(here.to(stick), 2),
        _number(here.largest, 3),
        _number(here.cosine, 3),
        f"{here.farthest:.2f}",
        ", ".join(broke),
    )


def _number(value: float | None, digits: int) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


def _markdown(rows: Sequence[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([lines[0], "|" + " --- |" * len(rows[0]), *lines[1:]])


# ---- document ---------------------------------------------------------------------------------------


def write(results: Results, folder: Path) -> None:
    """The section and its picture; links are those of the document one folder up, which takes it in."""
    from benchmarks import repulsion_picture

    folder.mkdir(parents=True, exist_ok=True)
    replace_file(folder / "repulsion.md", section(results).encode())
    repulsion_picture.draw(results).savefig(folder / "repulsion.png")


def section(results: Results) -> str:
    """All of it as Markdown."""
    paragraphs = [
        "Written by `make bench-repulsion`. With `repulsion_every=r`, samples attract neurons every time, "
        "but neurons repel each other at every r-th sample only, r times as strongly "
        f"([what that may bring about](algorithm.md#repulsion-at-every-r-th-sample)). {results.machine}, one "
        "core.",
        "![Exact filters found again, how far off they are, and speed, over r](performance/repulsion.png)",
        _verdict(results),
        "The exact filters that were found again, and how far off: the part of the filters at r = 1 that "
        f"have a partner within {SAME:g} in a pixel (root mean square; partners are one to one, the "
        "closest all together), and the mean distance of all partners, as a multiple of that between two "
        "exact models with the same start but another stream. Bold: in both, and in the number of filters, "
        "no worse than that other stream, up to its standard error over the seeds. Every model "
        f"has the start and the stream of the exact one and {results.samples:,} samples; {_seeds(results)}.",
        _markdown(_matched(results)),
        "Filters learned, the mean over the seeds; after the plus, neurons that sit on the place of another:",
        _markdown(_learned(results)),
        "Times the speed of r = 1, `partial_fit` in float32, the median of turns in one process:",
        _markdown(_faster(results)),
    ]
    folded = [it if it.startswith(("|", "!")) else fill(it, 118, break_on_hyphens=False) for it in paragraphs]
    return "\n\n".join(["## Repulsion at every r-th sample", *folded]) + "\n"


def _seeds(results: Results) -> str:
    counts = {key: len({it.seed for it in results.runs if it.setting == key}) for key in results.settings}
    words = [f"{count} seeds for {key}" for key, count in counts.items()]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _verdict(results: Results) -> str:
    """What the numbers say, in sentences."""
    near = {key: near_up_to(results, key) for key in results.settings}
    whole = {key: whole_up_to(results, key) for key in results.settings}
    safe = min(near.values())
    speeds = [f"{faster(results, key, safe):.1f}" for key in timed(results)]
    sizes = [f"K = {results.settings[key]['K']}" for key in timed(results)]
    told = [
        f"Up to r = {safe}, all of them are as near to the exact filters as another stream is"
        + (
            f"; that is {_and(f'{s} times as fast for {k}' for s, k in zip(speeds, sizes, strict=True))}."
            if safe > 1
            else "."
        )
    ]
    told.append(f"One by one, this holds {_and(f'up to {r} for {key}' for key, r in near.items())}.")
    lost = {key: r for key, r in whole.items() if r < EVERY[-1]}
    if lost:
        reasons = [
            f"from {EVERY[EVERY.index(r) + 1]} on for {key}{_why(results, key, r)}" for key, r in lost.items()
        ]
        told.append(f"Fewer filters are learned {_and(reasons)}.")
    failed = [it for it in results.runs if it.failed is not None]
    told.append(
        f"{len(failed)} runs ended in numbers that are not finite."
        if failed
        else "No run ended in numbers that are not finite."
    )
    return " ".join(told)


def _why(results: Results, key: str, whole: int) -> str:
    """Whether neurons fell together or were thrown out, at the first r that lost filters."""
    here = cell(results, key, EVERY[EVERY.index(whole) + 1])
    exact = cell(results, key, 1)
    if here.twins.value > exact.twins.value:
        return f" ({here.twins.value:.1f} neurons on the place of another, {exact.twins.value:.1f} at r = 1)"
    return ""


def _and(words: Iterable[str]) -> str:
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def _matched(results: Results) -> list[list[str]]:
    rows = [["Figure", "η/σ", "λ", "another stream", *(f"r = {every}" for every in EVERY[1:])]]
    for key, facts in results.settings.items():
        stick = yardstick(results, key)
        row = [
            facts["what"],
            f"{facts['learning_rate'] / facts['width']:.2g}",
            f"{facts['inhibition']:.2g}",
            f"{stick.share.value:.0%} · 1",
        ]
        for every in EVERY[1:]:
            here = cell(results, key, every)
            text = f"{here.share.value:.0%} · {_number(here.to(stick), 2)}"
            row.append(f"**{text}**" if here.is_near(stick) else text)
        rows.append(row)
    return rows


def _learned(results: Results) -> list[list[str]]:
    rows = [["Figure", "another stream", *(f"r = {every}" for every in EVERY)]]
    for key, facts in results.settings.items():
        cells = [yardstick(results, key), *(cell(results, key, every) for every in EVERY)]
        twins = [f" + {it.twins.value:.1f}" if it.twins.value else "" for it in cells]
        rows.append(
            [facts["what"], *(f"{it.learned.value:.1f}{two}" for it, two in zip(cells, twins, strict=True))]
        )
    return rows


def _faster(results: Results) -> list[list[str]]:
    rows = [["", *(f"r = {every}" for every in EVERY[1:])]]
    for key in timed(results):
        facts = results.settings[key]
        ratios = [f"{faster(results, key, every):.2f}" for every in EVERY[1:]]
        rows.append([f"K = {facts['K']}, D = {facts['D']}", *ratios])
    return rows
