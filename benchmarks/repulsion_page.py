"""What `benchmarks.repulsion` measured: a table in a terminal, a section of docs/performance.md."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from textwrap import fill

from benchmarks.repulsion import EVERY, SAME, Results
from benchmarks.repulsion_cells import (
    Cell,
    Mean,
    Yardstick,
    cell,
    faster,
    near_up_to,
    timed,
    whole_up_to,
    yardstick,
)
from gaussian_neurons.base.files import replace_file

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
        rows.append(_line(f"{facts['what']}, another stream", "1", stick.cell, stick, 0))
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


def _line(what: str, every: str, here: Cell, stick: Yardstick, fewer: int) -> tuple[str, ...]:
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
        "([what that may bring about](../algorithm.md#repulsion-at-every-r-th-sample)). "
        f"{results.machine}, one core.",
        "![Exact filters found again, how far off they are, and speed, over r](repulsion.png)",
        _verdict(results),
        "The exact filters that were found again, and how far off: the part of the filters at r = 1 that "
        f"have a partner within {SAME:g} in a pixel (root mean square; partners are one to one, the "
        "closest all together), and the mean distance of all partners, as a multiple of that between two "
        "exact models with the same start but another stream. Bold: in both no worse than that other stream, "
        "and with as many filters as all exact models have, up to standard errors over the seeds. Every "
        f"model has the start and the stream of the exact one: {_lengths(results)}.",
        _markdown(_matched(results)),
        "Filters learned, the mean over the seeds; after the plus, neurons that sit on the place of another:",
        _markdown(_learned(results)),
        "Times the speed of r = 1, `partial_fit` in float32, the median of turns in one process:",
        _markdown(_faster(results)),
    ]
    folded = [it if it.startswith(("|", "!")) else fill(it, 118, break_on_hyphens=False) for it in paragraphs]
    return "\n\n".join(["## Repulsion at every r-th sample", *folded]) + "\n"


def _lengths(results: Results) -> str:
    """Seeds and samples of the settings, those together that have the same."""
    alike: dict[tuple[int, int], list[str]] = {}
    for key, facts in results.settings.items():
        seeds = len({it.seed for it in results.runs if it.setting == key})
        alike.setdefault((seeds, facts["samples"]), []).append(key)
    return _and(
        f"{seeds} seeds of {samples:,} samples for {_and(keys)}" for (seeds, samples), keys in alike.items()
    )


def _verdict(results: Results) -> str:
    """What the numbers say, in sentences."""
    near = {key: near_up_to(results, key) for key in results.settings}
    whole = {key: whole_up_to(results, key) for key in results.settings}
    kept = min(whole.values())
    speeds = _and(
        f"{faster(results, key, kept):.1f} times as fast for K = {results.settings[key]['K']}"
        for key in timed(results)
    )
    told = [
        f"As many filters are learned as by the exact rule up to r = {kept} on every setting; that is "
        f"{speeds}."
    ]
    lost = {key: EVERY[EVERY.index(r) + 1] for key, r in whole.items() if r < EVERY[-1]}
    if lost:
        since = (f"from {r} on for {key}{_why(results, key, r)}" for key, r in lost.items())
        told.append(f"Fewer are learned {_and(since)}.")
    if like := {key: r for key, r in near.items() if r > 1}:
        told.append(
            "The filters are no farther from the exact ones than those of another stream "
            f"{_and(f'up to {r} for {key}' for key, r in like.items())}."
        )
    told += [_doubt(results, key) for key, r in near.items() if r == 1]
    failed = sum(it.failed is not None for it in results.runs)
    told.append(f"Numbers stopped being finite in {failed or 'no'} run{'s' * (failed > 1)}.")
    return " ".join(told)


def _why(results: Results, key: str, every: int) -> str:
    """Whether neurons fell together or were thrown out, at the first r that lost filters."""
    here, exact = cell(results, key, every), cell(results, key, 1)
    if here.twins.value <= exact.twins.value:
        return ""
    return f" ({here.twins.value:.1f} neurons on the place of another, {exact.twins.value:.1f} at r = 1)"


def _doubt(results: Results, key: str) -> str:
    """Of a setting where even the smallest r is not near: by how much it is not."""
    runs = [it for it in results.runs if it.setting == key and it.match is not None]
    shares = {
        (it.seed, it.every, it.another_stream): it.match.matched / max(it.match.filters, 1) for it in runs
    }
    least = EVERY[1]
    seeds = [seed for seed, every, _ in shares if every == least]
    less = Mean.of([shares[seed, 1, True] - shares[seed, least, False] for seed in seeds])
    return (
        f"For {key} not even r = {least} is: of 100 exact filters it finds {100 * less.value:.0f} ± "
        f"{100 * less.error:.0f} fewer again than another stream does (mean over the seeds and its error)."
    )


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
            f"{stick.cell.share.value:.0%} · 1",
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
        cells = [yardstick(results, key).cell, *(cell(results, key, every) for every in EVERY)]
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
