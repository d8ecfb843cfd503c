"""What the command reproduce says in the end, and where it says it: terminal, page, document."""

import re
from pathlib import Path

from rich.console import Console
from rich.table import Table

from gaussian_neurons.base.files import try_to_write
from gaussian_neurons.experiments import results
from gaussian_neurons.experiments.catalogue import EXPERIMENTS
from gaussian_neurons.experiments.report import document, page
from gaussian_neurons.experiments.report.origin import origin
from gaussian_neurons.experiments.report.summary import LEGEND, Summary
from gaussian_neurons.experiments.reproduction import Plan, collected


class Pending:
    """A report that is written once the results are there."""

    def __init__(self, plan: Plan, markdown: Path | None) -> None:
        self._plan, self._markdown = plan, markdown
        self._summaries: list[Summary] = []
        self._warnings: list[str] = []

    def write(self) -> None:
        """Write the page, and the document where one is wanted, of all that is in the folder."""
        plan = self._plan
        self._summaries = [Summary(EXPERIMENTS[name], some) for name, some in collected(plan).items()]
        where = origin(self._summaries, plan.choice, plan.scale)
        self._warnings = where.warnings
        page.write(plan.out / "report.html", self._summaries, where)
        facts = {
            **where.facts,
            "warnings": where.warnings,
            "results": [it.as_json() for it in self._summaries],
        }
        results.write(plan.out / "report.json", facts)
        if self._markdown is not None:
            document.write(self._markdown, self._summaries, where, plan.out)

    def summarise(self, console: Console) -> None:
        """The first number of each experiment, and how its claims fare."""
        table = Table(box=None, pad_edge=False, header_style="dim")
        for name in ("", "number", "the paper", "ours", "claims"):
            table.add_column(name)
        for summary in self._summaries:
            first = summary.spreads[0]
            name = f"[bold]{summary.experiment.name}[/]"
            table.add_row(name, first.quantity.label, first.published, first.ours, summary.marks)
        console.print(table)
        console.print(f"\n[dim]Claims of the paper: {LEGEND}.[/]")
        for warning in self._warnings:
            console.print(f"\n[yellow]{warning}[/]")


def check(markdown: Path) -> None:
    """Find out before the work whether a document can be written."""
    if markdown.suffix != ".md":
        raise ValueError(f"--markdown must name a file that ends in .md, got {str(markdown)!r}.")
    markdown.parent.mkdir(parents=True, exist_ok=True)
    try_to_write(markdown)


def explain(console: Console) -> None:
    """The catalogue."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in ("name", "what it shows", "the paper has"):
        table.add_column(name)
    table.add_column("minutes", justify="right")
    for experiment in EXPERIMENTS.values():
        minutes = experiment.seconds / 60
        shown = f"{minutes:.1f}" if minutes >= 0.1 else "<0.1"
        table.add_row(f"[bold]{experiment.name}[/]", experiment.title, experiment.prints, shown)
    console.print(table)
    total = sum(experiment.seconds for experiment in EXPERIMENTS.values()) / 60
    console.print(f"\n[dim]Minutes for one seed on one core with AVX-512; {total:.0f} for all.[/]")


def without_data(error: FileNotFoundError) -> str:
    """What to do first, then what went wrong."""
    details = re.sub(r" Without a network, [^.]*\.", "", str(error))
    return (
        "data is missing. Two ways to go on:\n"
        "  --data-dir FOLDER   where mnist/ and cifar-10-batches-bin/ are, as published\n"
        "  --data sample       5,000 bundled digits and two bundled photographs; the report says so\n\n"
        + details.replace("pass directory=...", "pass --data-dir")
    )
