"""The results of `benchmarks.repulsion`: a table for a terminal, a section of docs/performance.md."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from textwrap import fill

from benchmarks.repulsion import EVERY, SAME, Results
from benchmarks.repulsion_cells import (
    Baseline,
    Cell,
    Mean,
    baseline,
    cell,
    close_up_to,
    complete_up_to,
    speedup,
    timed,
)
from gaussian_neurons.base.files import replace_file

# ---- tables -----------------------------------------------------------------------------------------

HEAD = (
    "",
    "r",
    "learned",
    "twins",
    "matched",
    "distance",
    "/ baseline",
    "largest",
    "cosine",
    "farthest",
    "",
)


def terminal(results: Results) -> str:
    """A line for each setting and r."""
    rows = [HEAD]
    for key, facts in results.settings.items():
        base = baseline(results, key)
        rows.append(_line(f"{facts['what']}, another stream", "1", base.cell, base, 0))
        for every in EVERY:
            here = cell(results, key, every)
            rows.append(_line(facts["what"], str(every), here, base, here.fewer))
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
        ratios = "  ".join(f"r = {every}: {speedup(results, key, every):.2f}" for every in EVERY)
        lines.append(f"times the speed of r = 1, K = {facts['K']}, D = {facts['D']}:  {ratios}")
    return "\n".join(line.rstrip() for line in lines)


def _line(what: str, every: str, here: Cell, base: Baseline, fewer: int) -> tuple[str, ...]:
    problems = [f"{here.failed} failed"] * bool(here.failed) + [
        f"fewer filters in {fewer} of {here.seeds}"
    ] * bool(fewer)
    return (
        what,
        every,
        f"{here.learned.value:.1f}",
        f"{here.twins.value:.1f}",
        f"{here.share.value:.0%}",
        _number(here.distance and here.distance.value, 4),
        _number(here.relative_to(base), 2),
        _number(here.largest, 3),
        _number(here.cosine, 3),
        f"{here.farthest:.2f}",
        ", ".join(problems),
    )


def _number(value: float | None, digits: int) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


def _markdown(rows: Sequence[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([lines[0], "|" + " --- |" * len(rows[0]), *lines[1:]])


# ---- document ---------------------------------------------------------------------------------------


def write(results: Results, folder: Path) -> None:
    """Write the section and its picture."""
    from benchmarks import repulsion_picture

    folder.mkdir(parents=True, exist_ok=True)
    replace_file(folder / "repulsion.md", section(results).encode())
    repulsion_picture.draw(results).savefig(folder / "repulsion.png")


def section(results: Results) -> str:
    """The section in Markdown."""
    paragraphs = [
        "With `repulsion_every=r`, all samples attract neurons, but neurons repel each other only every r-th "
        "sample, r times as strongly ([theory](../algorithm.md#repulsion-at-every-r-th-sample)). "
        "`make bench-repulsion` measures the effect, and `python -m benchmarks.repulsion --render` writes "
        f"this section. {results.machine}, one core.",
        "![Share of the exact filters that are found, their distance, and speed, over r](repulsion.png)",
        _verdict(results),
        "The share of the exact filters (r = 1) that are found, and their distance. A filter is found if its "
        f"partner is within {SAME:g} per pixel (root mean square; partners are one to one, with the smallest "
        "sum of distances). The distance is the mean over all partners, divided by that between two exact "
        "models with the same start and another stream. Bold: both values are no worse than those of the "
        "other stream, and there are as many filters as in exact models, up to standard errors over the "
        f"seeds. All models have the start and the stream of the exact model: {_lengths(results)}.",
        _markdown(_matched(results)),
        "Filters learned, the mean over the seeds; after the plus, neurons at the position of another:",
        _markdown(_learned(results)),
        "Speed as a multiple of that of r = 1, `partial_fit` in float32, the median of turns in one process:",
        _markdown(_speedups(results)),
    ]
    folded = [it if it.startswith(("|", "!")) else fill(it, 118, break_on_hyphens=False) for it in paragraphs]
    return "\n\n".join(["## Repulsion every r-th sample", *folded]) + "\n"


def _lengths(results: Results) -> str:
    """Seeds and samples of the settings, grouped by equal numbers."""
    alike: dict[tuple[int, int], list[str]] = {}
    for key, facts in results.settings.items():
        seeds = len({it.seed for it in results.runs if it.setting == key})
        alike.setdefault((seeds, facts["samples"]), []).append(key)
    return _and(
        f"{seeds} seeds of {samples:,} samples for {_and(keys)}" for (seeds, samples), keys in alike.items()
    )


def _verdict(results: Results) -> str:
    """The summary of the numbers in sentences."""
    close = {key: close_up_to(results, key) for key in results.settings}
    complete = {key: complete_up_to(results, key) for key in results.settings}
    smallest = min(complete.values())
    speeds = _and(
        f"{speedup(results, key, smallest):.1f} times as fast for K = {results.settings[key]['K']}"
        for key in timed(results)
    )
    sentences = [
        f"Up to r = {smallest}, as many filters are learned as with the exact rule for all settings; this is "
        f"{speeds}."
    ]
    lost = {key: EVERY[EVERY.index(r) + 1] for key, r in complete.items() if r < EVERY[-1]}
    if lost:
        since = (f"from r = {r} for {key}{_why(results, key, r)}" for key, r in lost.items())
        sentences.append(f"Fewer are learned {_and(since)}.")
    if like := {key: r for key, r in close.items() if r > 1}:
        sentences.append(
            "The filters are as close to the exact ones as those of another stream "
            f"{_and(f'up to r = {r} for {key}' for key, r in like.items())}."
        )
    sentences += [_difference(results, key) for key, r in close.items() if r == 1]
    failed = sum(it.failed is not None for it in results.runs)
    sentences.append(f"Numbers became infinite or NaN in {failed or 'no'} run{'s' * (failed > 1)}.")
    return " ".join(sentences)


def _why(results: Results, key: str, every: int) -> str:
    """The number of neurons at the position of another, at the first r with fewer filters."""
    here, exact = cell(results, key, every), cell(results, key, 1)
    if here.twins.value <= exact.twins.value:
        return ""
    return f" ({here.twins.value:.1f} neurons at the position of another, {exact.twins.value:.1f} at r = 1)"


def _difference(results: Results, key: str) -> str:
    """The difference to the baseline, for a setting in which even the smallest r is not close."""
    runs = [it for it in results.runs if it.setting == key and it.match is not None]
    shares = {
        (it.seed, it.every, it.another_stream): it.match.matched / max(it.match.filters, 1) for it in runs
    }
    least = EVERY[1]
    seeds = [seed for seed, every, _ in shares if every == least]
    less = Mean.of([shares[seed, 1, True] - shares[seed, least, False] for seed in seeds])
    return (
        f"For {key}, r = {least} is not as close: of 100 exact filters it finds {100 * less.value:.0f} ± "
        f"{100 * less.error:.0f} fewer than another stream (mean over the seeds and its standard error)."
    )


def _and(words: Iterable[str]) -> str:
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def _matched(results: Results) -> list[list[str]]:
    rows = [["Figure", "η/σ", "λ", "another stream", *(f"r = {every}" for every in EVERY[1:])]]
    for key, facts in results.settings.items():
        base = baseline(results, key)
        row = [
            facts["what"],
            f"{facts['learning_rate'] / facts['width']:.2g}",
            f"{facts['inhibition']:.2g}",
            f"{base.cell.share.value:.0%} · 1",
        ]
        for every in EVERY[1:]:
            here = cell(results, key, every)
            text = f"{here.share.value:.0%} · {_number(here.relative_to(base), 2)}"
            row.append(f"**{text}**" if here.is_close(base) else text)
        rows.append(row)
    return rows


def _learned(results: Results) -> list[list[str]]:
    rows = [["Figure", "another stream", *(f"r = {every}" for every in EVERY)]]
    for key, facts in results.settings.items():
        cells = [baseline(results, key).cell, *(cell(results, key, every) for every in EVERY)]
        twins = [f" + {it.twins.value:.1f}" if it.twins.value else "" for it in cells]
        rows.append(
            [facts["what"], *(f"{it.learned.value:.1f}{two}" for it, two in zip(cells, twins, strict=True))]
        )
    return rows


def _speedups(results: Results) -> list[list[str]]:
    rows = [["", *(f"r = {every}" for every in EVERY[1:])]]
    for key in timed(results):
        facts = results.settings[key]
        ratios = [f"{speedup(results, key, every):.2f}" for every in EVERY[1:]]
        rows.append([f"K = {facts['K']}, D = {facts['D']}", *ratios])
    return rows
