"""One progress display for many jobs: what runs, how far it is, how long it will take."""

import threading
from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.live import Live
from rich.markup import escape
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from gaussian_neurons.experiments.reproduction import Audience, Board, Job, Outcome

LOOKS = 5  # a second


class Display(Audience):
    """Shows a reproduction on a terminal; elsewhere it prints a line for each job that ends."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._progress = Progress(
            TextColumn("{task.description}", markup=True),
            BarColumn(bar_width=None),
            TextColumn("{task.percentage:>3.0f}%"),
            TextColumn("{task.fields[facts]}", style="dim"),
            TimeElapsedColumn(),
            TimeRemainingColumn(compact=True),
            console=console,
            expand=True,
            auto_refresh=False,
        )
        self._live: Live | None = None
        self._jobs: dict[int, Job] = {}
        self._rows: dict[int, TaskID] = {}
        self._over: set[int] = set()
        self._lock, self._stop = threading.Lock(), threading.Event()
        self._looker: threading.Thread | None = None

    def __enter__(self) -> "Display":
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def begins(self, jobs: Sequence[Job], done: int, board: Board) -> None:  # noqa: D102
        self._jobs, self._board = {job.slot: job for job in jobs}, board
        if not jobs:
            self._console.print(f"Nothing to run: {done} done before.")
            return
        before = f"; {done} done before" if done else ""
        self._console.print(f"{len(jobs)} run{'s' if len(jobs) > 1 else ''} to do{before}.")
        self._total = sum(job.question.experiment.seconds for job in jobs)
        if not self._console.is_terminal:
            return
        self._all = self._progress.add_task("[bold]all", total=self._total, facts=f"0/{len(jobs)} runs")
        self._live = Live(self._progress, console=self._console, refresh_per_second=LOOKS, transient=True)
        self._live.start()
        self._looker = threading.Thread(target=self._look, daemon=True)
        self._looker.start()

    def ended(self, outcome: Outcome) -> None:  # noqa: D102
        question = outcome.job.question
        name = question.name if question.seed is None else f"{question.name} seed {question.seed}"
        with self._lock:
            self._over.add(outcome.job.slot)
            row = self._rows.pop(outcome.job.slot, None)
            if row is not None:
                self._progress.remove_task(row)
        if outcome.error:
            self._console.print(f"[red]failed[/] {name}: {escape(outcome.error.splitlines()[0])}")
        else:
            count = f"[dim]{len(self._over):>3}/{len(self._jobs)}[/]"
            self._console.print(f"{count} {name} [dim]{outcome.seconds:.1f} s[/]", highlight=False)

    def goes_on(self, with_what: str) -> None:  # noqa: D102
        self._end()
        self._console.print(f"[dim]{with_what} ...[/]")

    def _look(self) -> None:
        while not self._stop.wait(1 / LOOKS):
            with self._lock:
                self._update()

    def _update(self) -> None:
        spent = 0.0
        for slot, job in self._jobs.items():
            experiment = job.question.experiment
            samples, learned = self._board[slot]
            expected = max(1.0, experiment.samples * job.question.scale)
            part = 1.0 if slot in self._over else min(0.99, samples / expected)
            spent += part * experiment.seconds
            if slot in self._over or not samples:
                continue
            if slot not in self._rows:
                seed = "" if job.question.seed is None else f" [dim]seed {job.question.seed}[/]"
                self._rows[slot] = self._progress.add_task(f"{job.question.name}{seed}", total=1.0, facts="")
            facts: Any = f"{samples / 1e6:.1f} M samples, {learned} learned"
            self._progress.update(self._rows[slot], completed=part, facts=facts)
        self._progress.update(self._all, completed=spent, facts=f"{len(self._over)}/{len(self._jobs)} runs")

    def _end(self) -> None:
        self._stop.set()
        if self._looker is not None:
            self._looker.join()
            self._looker = None
        if self._live is not None:
            self._live.stop()
            self._live = None
