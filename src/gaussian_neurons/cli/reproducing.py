"""The command reproduce: every figure and table of the paper."""

import re
import time
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from gaussian_neurons.cli.trouble import require, told
from gaussian_neurons.experiments import data as images
from gaussian_neurons.experiments.catalogue import EXPERIMENTS, chosen

OUT = Path("reproduction")
MOST_SEEDS = 10_000


class Data(StrEnum):
    """Which images to learn from."""

    full = images.FULL
    sample = images.SAMPLE


def _names(incomplete: str) -> list[str]:
    """For the shell's completion."""
    return [name for name in ("all", *EXPERIMENTS) if name.startswith(incomplete)]


def _out(value: Path | None, scale: float, choice: str) -> Path:
    """Results at another scale, or from other data, go to a folder of their own."""
    if value is not None:
        return value
    suffix = ("-sample" if choice == images.SAMPLE else "") + (f"-scale-{scale:g}" if scale != 1 else "")
    return OUT.with_name(OUT.name + suffix)


def parse_seeds(text: str) -> list[int]:
    """Seeds as one writes them.

    Examples
    --------
    >>> parse_seeds("0-3,7")
    [0, 1, 2, 3, 7]
    """
    seeds: set[int] = set()
    for part in text.split(","):
        found = re.fullmatch(r"\s*(\d{1,9})\s*(?:-\s*(\d{1,9})\s*)?", part)
        if not found:
            raise ValueError(f"--seeds must be like 0-9, 3 or 0,2,5-7; got {text!r}.")
        first, last = int(found[1]), int(found[2] or found[1])
        if last < first or last - first >= MOST_SEEDS:
            raise ValueError(f"--seeds {part.strip()!r} must rise, with at most {MOST_SEEDS:,} seeds.")
        seeds |= set(range(first, last + 1))
    return sorted(seeds)


@told("What is finished is kept, and so is every run up to its last checkpoint: the same command carries on.")
def reproduce(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAMES]...",
            help="Figures and tables, or all. figure2 stands for 2a to 2h; --list tells all names.",
            autocompletion=_names,
            show_default="all",
        ),
    ] = None,
    seeds: Annotated[
        str,
        typer.Option(metavar="SEEDS", help="Like 0-9 or 0,2,5-7. The paper shows one seed for each figure."),
    ] = "0",
    data_dir: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Where mnist/ and cifar-10-batches-bin/ are, as published.",
            show_default=False,
        ),
    ] = None,
    data: Annotated[
        Data,
        typer.Option(help="The published sets, or a sample that is bundled: 5,000 digits, two photographs."),
    ] = Data.full,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", metavar="FOLDER", help="For results, pictures and report.", show_default=str(OUT)
        ),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(min=1, metavar="COUNT", help="Runs at the same time.", show_default="one for each core"),
    ] = None,
    samples_scale: Annotated[
        float,
        typer.Option(min=1e-6, max=1.0, metavar="PART", help="Of the paper's samples, for a quick look."),
    ] = 1.0,
    markdown: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Also write the report as Markdown, its pictures beside.", show_default=False
        ),
    ] = None,
    list_: Annotated[bool, typer.Option("--list", help="Explain each experiment in a line.")] = False,
) -> None:
    """Draw every figure and table of the paper from data, and set ours beside the published numbers.

    Stop it whenever you like: the same command carries on, and what is done is
    not done again. Data is looked for in --data-dir, in the folder that
    GAUSSIAN_NEURONS_DATA names and in the user's cache, and else fetched.

    \bExamples
      gaussian-neurons reproduce --list
      gaussian-neurons reproduce figure2a --data sample
      gaussian-neurons reproduce figure2 table1 --seeds 0-9 --data-dir ~/data
      gaussian-neurons reproduce all --samples-scale 0.01
    """
    console = Console(highlight=False, soft_wrap=True)
    if list_:
        _explain(console)
        return
    require("matplotlib")
    from gaussian_neurons.cli.display import Display
    from gaussian_neurons.experiments import reproduction

    experiments = chosen(names or ["all"])
    plan = reproduction.Plan(
        experiments,
        parse_seeds(seeds),
        _out(out, samples_scale, data.value),
        samples_scale,
        data.value,
        None if data_dir is None else str(data_dir),
        jobs,
    )
    begin = time.monotonic()
    with Display(console) as display:
        try:
            failures = reproduction.reproduce(plan, display)
        except FileNotFoundError as error:
            raise FileNotFoundError(_without_data(error)) from None
        report = _report(plan, time.monotonic() - begin, markdown)
    _summarise(console, report)
    console.print(f"\n[bold]{plan.out / 'report.html'}[/] has it all, to look at.")
    if failures:
        for failure in failures:
            console.print(f"\n[red]{failure.job.question.name}, seed {failure.job.question.seed}, failed:[/]")
            console.print(str(failure.error), markup=False)
        raise typer.Exit(1)


def _without_data(error: FileNotFoundError) -> str:
    text = str(error).replace("pass directory=...", "pass --data-dir")
    return (
        f"{text}\n\nWithout them: add --data sample. The MNIST experiments then run on 5,000 bundled digits, "
        f"the colour ones on two bundled photographs, and the report says so."
    )


def _explain(console: Console) -> None:
    """The catalogue as a table."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in ("name", "what it shows", "the paper has"):
        table.add_column(name)
    table.add_column("minutes", justify="right")
    for experiment in EXPERIMENTS.values():
        minutes = experiment.seconds / 60
        table.add_row(
            f"[bold]{experiment.name}[/]",
            experiment.title,
            experiment.prints,
            f"{minutes:.1f}" if minutes >= 0.1 else "<0.1",
        )
    console.print(table)
    total = sum(experiment.seconds for experiment in EXPERIMENTS.values()) / 60
    console.print(f"\n[dim]Minutes for one seed on one core with AVX-512; {total:.0f} for all.[/]")


def _report(plan: Any, seconds: float, markdown: Path | None) -> Any:
    from gaussian_neurons.experiments.reproduction import collected
    from gaussian_neurons.report import document, page
    from gaussian_neurons.report.origin import origin
    from gaussian_neurons.report.summary import Summary

    summaries = [Summary(EXPERIMENTS[name], some) for name, some in collected(plan).items()]
    where = origin(summaries, plan.choice, plan.scale, seconds)
    page.write(plan.out / "report.html", summaries, where)
    if markdown is not None:
        document.write(markdown, summaries, where, plan.out)
    return summaries


def _summarise(console: Console, summaries: Any) -> None:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in ("", "the paper", "ours, median and range", "claims that hold"):
        table.add_column(name)
    for summary in summaries:
        first = summary.spreads[0]
        verdicts = [verdict for verdict in summary.verdicts if verdict.tries]
        held = sum(2 * verdict.held > verdict.tries for verdict in verdicts)
        claims = f"{held} of {len(verdicts)}" if verdicts else ""
        table.add_row(
            f"[bold]{summary.experiment.name}[/]",
            first.published,
            f"{first.ours} {first.quantity.label}",
            claims,
        )
    console.print(table)
