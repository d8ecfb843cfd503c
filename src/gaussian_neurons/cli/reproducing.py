"""The command reproduce: every figure and table of the paper."""

import re
import time
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from gaussian_neurons.cli.errors import require, sentence, told

OUT = Path("reproduction")
MOST_SEEDS = 10_000


class Data(StrEnum):
    """Which images to learn from."""

    full = "full"
    sample = "sample"


def _names(incomplete: str) -> list[str]:
    """For the shell's completion, which must not wait for scikit-learn: the files tell."""
    folder = Path(__file__).parents[1] / "experiments"
    files = [path.stem.replace("_", "-") for path in folder.glob("*.py")]
    single = [name for name in files if name.startswith(("figure", "table", "width"))]
    groups = {name[:-1] for name in single if re.fullmatch(r"figure\d[a-z]", name)}
    return sorted(name for name in {"all", *single, *groups} if name.startswith(incomplete))


def _out(value: Path | None, scale: float, choice: str) -> Path:
    """Results at another scale, or from other data, go to a folder of their own."""
    if value is not None:
        return value
    suffix = ("-sample" if choice == Data.sample else "") + (f"-scale-{scale:g}" if scale != 1 else "")
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
            metavar="NAMES",
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
            "--out",
            "-o",
            metavar="FOLDER",
            help="For results, pictures and report. Samples and scaled runs have one of their own.",
            show_default=str(OUT),
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
    from gaussian_neurons.cli import reports

    console = Console(highlight=False, soft_wrap=True)
    if list_:
        reports.explain(console)
        return
    require("matplotlib")
    from gaussian_neurons.cli.display import Display
    from gaussian_neurons.datasets.fetch import AbsentData
    from gaussian_neurons.experiments import reproduction
    from gaussian_neurons.experiments.catalogue import chosen
    from gaussian_neurons.experiments.report.origin import in_words

    plan = reproduction.Plan(
        chosen(names or ["all"]),
        parse_seeds(seeds),
        _out(out, samples_scale, data),
        samples_scale,
        data.value,
        None if data_dir is None else str(_existing(data_dir)),
        jobs,
    )
    if markdown is not None:
        reports.check(markdown)
    begin, report = time.monotonic(), reports.Pending(plan, markdown)
    with Display(console) as display:
        try:
            failures = reproduction.reproduce(plan, display, report.write)
        except AbsentData as error:
            raise FileNotFoundError(reports.without_data(error)) from None
    report.summarise(console)
    took = in_words(time.monotonic() - begin)
    console.print(f"\n[bold]{plan.out / 'report.html'}[/] has it all, to look at. This took {took}.")
    for failure in failures:
        console.print(f"\n[red]{failure.job.question.name}, seed {failure.job.question.seed}, failed:[/]")
        console.print(sentence(OSError(str(failure.error))), markup=False)
    if failures:
        raise typer.Exit(1)


def _existing(folder: Path) -> Path:
    folder = folder.expanduser()
    if not folder.is_dir():
        raise ValueError(
            f"--data-dir {str(folder)!r} is no folder. Name the one that holds mnist/ and others."
        )
    return folder
