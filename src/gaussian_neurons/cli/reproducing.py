"""The command reproduce: every figure and table of the paper, and experiments beyond it."""

import math
import re
import time
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from gaussian_neurons.base import extras
from gaussian_neurons.cli.errors import handle_errors, message_of, require
from gaussian_neurons.cli.options import BACKEND

if TYPE_CHECKING:
    from gaussian_neurons.experiments.experiment import Experiment

OUT = Path("reproduction")
MOST_SEEDS = 10_000
REPORT = "report"


class Data(StrEnum):
    """The images to learn from."""

    full = "full"
    sample = "sample"


def _names(incomplete: str) -> list[str]:
    """Names for shell completion, taken from the file names: importing experiments takes a second."""
    folder = Path(__file__).parents[1] / "experiments"
    files = [path.stem.replace("_", "-") for path in folder.glob("*.py")]
    single = [name for name in files if re.match("figure|table|width|inhibition|repulsion|covariances", name)]
    single += [path.stem.replace("_", "-") for path in folder.glob("beyond/[!_]*.py")]
    groups = {name[:-1] for name in single if re.fullmatch(r"figure\d[a-z]", name)}
    return sorted(name for name in {"all", "beyond", *single, *groups} if name.startswith(incomplete))


def _checked_scale(value: float) -> float:
    if math.isnan(value):  # older versions of typer let it pass
        raise typer.BadParameter("nan is not a number.")
    return value


def _out(value: Path | None, scale: float, data: str, backend: str, beyond: bool = False) -> Path:
    """The output folder; another scale, other data and another backend have separate folders.

    So have experiments beyond the paper.
    """
    if value is not None:
        return value
    parts = [
        "beyond" if beyond else OUT.name,
        "sample" if data == Data.sample else "",
        f"scale-{scale:g}" if scale != 1 else "",
        "backend-" + re.sub(r"[^\w.]", "-", backend) if backend != "auto" else "",
    ]
    return Path("-".join(filter(None, parts)))


def parse_seeds(text: str) -> list[int] | None:
    """The seeds of a list with ranges; None for "report".

    Examples
    --------
    >>> parse_seeds("0-3,7")
    [0, 1, 2, 3, 7]
    """
    if text.strip() == REPORT:
        return None
    seeds: set[int] = set()
    for part in text.split(","):
        found = re.fullmatch(r"\s*(\d{1,9})\s*(?:-\s*(\d{1,9})\s*)?", part)
        if not found:
            raise ValueError(f"--seeds must be like 0-9, 3, 0,2,5-7 or {REPORT}, got {text!r}.")
        first, last = int(found[1]), int(found[2] or found[1])
        if last < first or last - first >= MOST_SEEDS:
            raise ValueError(
                f"--seeds {part.strip()!r} must be increasing, with at most {MOST_SEEDS:,} seeds."
            )
        seeds |= set(range(first, last + 1))
    return sorted(seeds)


@handle_errors("Finished results and checkpoints are kept: the same command resumes.")
def reproduce(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NAMES",
            help="Figures and tables, all, or beyond. figure2 selects 2a to 2h; --list prints all names.",
            autocompletion=_names,
            show_default="all",
        ),
    ] = None,
    seeds: Annotated[
        str,
        typer.Option(
            metavar="SEEDS",
            help="The seeds, such as 0-9 or 0,2,5-7. report: 64 seeds, fewer of slow experiments. The paper "
            "shows one seed of each figure.",
        ),
    ] = "0",
    data_dir: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="The folder with mnist/ and cifar-10-batches-bin/, as published.",
            show_default=False,
        ),
    ] = None,
    data: Annotated[
        Data,
        typer.Option(help="The published data sets, or bundled samples: 5,000 digits and two photographs."),
    ] = Data.full,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FOLDER",
            help="The folder for results, pictures and the report. Unless given, other data, scales and "
            "backends have separate folders.",
            show_default=str(OUT),
        ),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="COUNT", help="The number of parallel processes.", show_default="one for each core"
        ),
    ] = None,
    samples_scale: Annotated[
        float,
        typer.Option(
            min=1e-6,
            max=1.0,
            callback=_checked_scale,
            metavar="PART",
            help="The fraction of the paper's samples, for a quick test.",
        ),
    ] = 1.0,
    backend: Annotated[str, typer.Option(metavar="NAME|MODULE:FUNCTION", help=BACKEND)] = "auto",
    markdown: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Also write the report as Markdown, with its pictures in a folder beside it.",
            show_default=False,
        ),
    ] = None,
    list_: Annotated[
        bool, typer.Option("--list", help="Print a line for each experiment, and exit.")
    ] = False,
) -> None:
    """Reproduce the figures and tables of the paper, and compare the results.

    beyond runs the experiments on what the paper leaves to future work. Those
    that need a package that is not installed are skipped.

    Results that are up to date are not computed again, and an interrupted
    command resumes when it is repeated. Data is searched in --data-dir, in the
    folder of the variable GAUSSIAN_NEURONS_DATA and in the user's cache, and
    downloaded if it is in none of them.

    A backend of your own is a function learn(centers, widths, samples,
    sample_widths, rule, seen) that returns (centers, widths). Its module is
    imported from the current directory or the Python path.

    \bExamples
      gaussian-neurons reproduce --list
      gaussian-neurons reproduce figure2a --data sample
      gaussian-neurons reproduce figure2 table1 --seeds 0-9 --data-dir ~/data
      gaussian-neurons reproduce all --samples-scale 0.01
      gaussian-neurons reproduce beyond --seeds report
      gaussian-neurons reproduce --seeds report --markdown docs/reproduction.md
      gaussian-neurons reproduce figure2a --backend my_module:learn
    """
    from gaussian_neurons.cli import reports

    console = Console(highlight=False, soft_wrap=True)
    if list_:
        reports.print_catalogue(console)
        return
    require("matplotlib")
    from gaussian_neurons.cli.display import Display
    from gaussian_neurons.datasets.fetch import AbsentData
    from gaussian_neurons.experiments import reproduction
    from gaussian_neurons.experiments.catalogue import select
    from gaussian_neurons.experiments.report.origin import format_duration

    experiments = _runnable(select(names or ["all"]), console)
    plan = reproduction.Plan(
        experiments,
        parse_seeds(seeds),
        _out(out, samples_scale, data, backend, all(it.beyond for it in experiments)),
        samples_scale,
        data.value,
        None if data_dir is None else str(_checked_folder(data_dir)),
        backend,
        jobs,
    )
    if markdown is not None:
        reports.check_markdown(markdown)
    begin, report = time.monotonic(), reports.Report(plan, markdown)
    with Display(console) as display:
        try:
            failures = reproduction.reproduce(plan, display, report.write)
        except AbsentData as error:
            raise FileNotFoundError(reports.missing_data(error)) from None
    report.print_summary(console)
    duration = format_duration(time.monotonic() - begin)
    console.print(f"\nThe report is [bold]{plan.out / 'report.html'}[/]. The command took {duration}.")
    for failure in failures:
        console.print(f"\n[red]{failure.job.run.name}, seed {failure.job.run.seed}, failed:[/]")
        console.print(message_of(OSError(str(failure.error))), markup=False)
    if failures:
        raise typer.Exit(1)


def _runnable(selected: "list[Experiment]", console: Console) -> "list[Experiment]":
    """The experiments whose packages are installed; a line about each other one."""
    reasons = [
        f"{it.name} needs {' and '.join(it.needs)}: {extras.install(*it.absent)}"
        for it in selected
        if it.absent
    ]
    if len(reasons) == len(selected):
        raise ModuleNotFoundError("; ".join(reasons))
    for reason in reasons:
        console.print(f"Skipped: {reason}", markup=False)
    return [it for it in selected if not it.absent]


def _checked_folder(folder: Path) -> Path:
    folder = folder.expanduser()
    if not folder.is_dir():
        raise ValueError(f"--data-dir {str(folder)!r} is not a folder. Name the folder that contains mnist/.")
    return folder
