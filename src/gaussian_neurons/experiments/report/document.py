"""The report as Markdown, with its pictures in a folder beside it."""

import shutil
from collections.abc import Sequence
from pathlib import Path

from gaussian_neurons.base.files import replace_file
from gaussian_neurons.experiments.report.origin import FOOTNOTE, Origin
from gaussian_neurons.experiments.report.page import heading
from gaussian_neurons.experiments.report.summary import LEGEND, Summary, seeds_in_words


def write(path: Path, summaries: Sequence[Summary], origin: Origin, out: Path) -> None:
    """Write the document, and copy the pictures into a folder of its name."""
    pictures = path.with_suffix("")
    pictures.mkdir(parents=True, exist_ok=True)
    for summary in summaries:
        name = f"{summary.experiment.name}.png"
        shutil.copyfile(out / summary.experiment.name / name, pictures / name)
    replace_file(path, text(summaries, origin, pictures.name).encode())


def text(summaries: Sequence[Summary], origin: Origin, folder: str) -> str:
    """The document."""
    head = [
        "# The paper, reproduced",
        "",
        "Written by `gaussian-neurons reproduce --markdown`. Every figure and table of O. C. Eidheim,",
        "*Revisiting Gaussian Neurons for Online Clustering with Unknown Number of Clusters*, run anew; ours",
        "beside what the paper prints. The paper shows one seed of each figure, and which and how many",
        "filters are learned depends on the seed: look at the spread.",
        "",
        FOOTNOTE,
        "",
        *(f"> {warning}\n" for warning in origin.warnings),
        *_table(("", ""), [(name, str(value)) for name, value in origin.facts.items()]),
        "",
        "## At a glance",
        "",
        *_table(
            ("", "what it shows", "the paper", "ours, median (range)", "claims"),
            [_line(summary) for summary in summaries],
        ),
        "",
        f"Claims: {LEGEND}.",
        "",
    ]
    return "\n".join([*head, *(line for summary in summaries for line in _section(summary, folder))])


def _line(summary: Summary) -> tuple[str, ...]:
    name, first = summary.experiment.name, summary.spreads[0]
    ours = f"{first.ours} {first.quantity.label}"
    return (
        f"[{name}](#{heading(name).lower().replace(' ', '-')})",
        summary.experiment.title,
        first.published,
        ours,
        summary.marks,
    )


def _section(summary: Summary, folder: str) -> list[str]:
    name, seeds = summary.experiment.name, [seed for seed in summary.results if seed is not None]
    over = f" Seeds {seeds_in_words(seeds)}; the picture is of seed {seeds[0]}." if seeds else ""
    rows = [(it.quantity.label, it.published, it.ours, it.place) for it in summary.spreads]
    claims = [f"- {it.standing.mark} {it.claim.text} *{it.how_often}*" for it in summary.verdicts]
    return [
        f"## {heading(name)}",
        "",
        f"{summary.experiment.title[0].upper()}{summary.experiment.title[1:]}.{over}",
        "",
        f"![{summary.experiment.title}]({folder}/{name}.png)",
        "",
        *([summary.experiment.note, ""] if summary.experiment.note else []),
        *_table(("", "the paper", "ours, median (range)", "where the paper's falls"), rows),
        "",
        *claims,
        *([""] if claims else []),
    ]


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    lines = [head, ["---"] * len(head), *rows]
    return [f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines]
