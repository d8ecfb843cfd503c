"""What the command reproduce prints and writes: the catalogue, the summary, the report files."""

import re
from pathlib import Path

from rich.console import Console
from rich.table import Table

from gaussian_neurons.base.files import try_to_write
from gaussian_neurons.experiments import results
from gaussian_neurons.experiments.catalogue import ALL, BEYOND, EXPERIMENTS
from gaussian_neurons.experiments.report import document, page
from gaussian_neurons.experiments.report.origin import origin
from gaussian_neurons.experiments.report.summary import LEGEND, Summary
from gaussian_neurons.experiments.reproduction import Plan, current_results


class Report:
    """The report of all current results in a folder."""

    def __init__(self, plan: Plan, markdown: Path | None) -> None:
        self._plan, self._markdown = plan, markdown
        self._summaries: list[Summary] = []
        self._warnings: list[str] = []

    def write(self) -> None:
        """Write report.html, report.json and, if wanted, the Markdown document."""
        plan = self._plan
        self._summaries = [
            Summary(EXPERIMENTS[name], by_seed) for name, by_seed in current_results(plan).items()
        ]
        source = origin(self._summaries, plan.data, plan.scale)
        self._warnings = source.warnings
        page.write(plan.out / "report.html", self._summaries, source)
        facts = {
            **source.facts,
            "warnings": source.warnings,
            "results": [summary.as_json() for summary in self._summaries],
        }
        results.write(plan.out / "report.json", facts)
        if self._markdown is not None:
            document.write(self._markdown, self._summaries, source, plan.out)

    def print_summary(self, console: Console) -> None:
        """Print the first number of each experiment, and the support of its claims."""
        table = Table(box=None, pad_edge=False, header_style="dim")
        for name in ("", "number", "published", "ours", "reached by", "claims"):
            table.add_column(name)
        for summary in self._summaries:
            first = summary.spreads[0]
            name = f"[bold]{summary.experiment.name}[/]"
            reached = first.share.percentage if first.share and first.seeds > 1 else first.reached
            table.add_row(name, first.quantity.label, first.published, first.ours, reached, summary.marks)
        console.print(table)
        console.print(f"\n[dim]Claims: {LEGEND}.[/]")
        for warning in self._warnings:
            console.print(f"\n[yellow]{warning}[/]")


def check_markdown(path: Path) -> None:
    """Raise an error if the Markdown document cannot be written."""
    if path.suffix != ".md":
        raise ValueError(f"--markdown must be a file that ends in .md, got {str(path)!r}.")
    path.parent.mkdir(parents=True, exist_ok=True)
    try_to_write(path)


def print_catalogue(console: Console) -> None:
    """Print a line for each experiment, in two tables: the paper, and beyond it."""
    for group, published in ((ALL, "the paper has"), (BEYOND, "beyond the paper")):
        experiments = [it for it in EXPERIMENTS.values() if it.beyond == (group == BEYOND)]
        if not experiments:
            continue
        table = Table(box=None, pad_edge=False, header_style="dim")
        for name in ("name", "what it shows", published):
            table.add_column(name)
        table.add_column("minutes", justify="right")
        for experiment in experiments:
            minutes = experiment.seconds / 60
            shown = f"{minutes:.1f}" if minutes >= 0.1 else "<0.1"
            table.add_row(f"[bold]{experiment.name}[/]", experiment.title, experiment.prints, shown)
        console.print(table)
        total = sum(experiment.seconds for experiment in experiments) / 60
        console.print(f"\n[dim]Minutes for one seed on one core with AVX-512; {total:.0f} for {group}.[/]\n")


def missing_data(error: FileNotFoundError) -> str:
    """The message about missing data, with what to do first."""
    details = re.sub(r" Without a network, [^.]*\.", "", str(error))
    return (
        "data is missing. Choose one of these options:\n"
        "  --data-dir FOLDER   the folder with mnist/ and cifar-10-batches-bin/, as published\n"
        "  --data sample       5,000 bundled digits and two bundled photographs; the report says so\n\n"
        + details.replace("pass directory=...", "pass --data-dir")
    )
