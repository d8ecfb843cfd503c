"""The progress display of a reproduction: one bar for all runs, one for each run in progress."""

import threading
from collections.abc import Sequence

from rich.console import Console
from rich.live import Live
from rich.markup import escape
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from gaussian_neurons.experiments.reproduction import Board, Job, Listener, Outcome

REFRESH = 5  # times a second


class Display(Listener):
    """Shows progress bars on a terminal; elsewhere it prints one line for each run that ends."""

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
        self._bars: dict[int, TaskID] = {}
        self._ended: set[int] = set()
        self._lock, self._stop = threading.Lock(), threading.Event()
        self._thread: threading.Thread | None = None

    def __enter__(self) -> "Display":
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

    def on_start(self, jobs: Sequence[Job], done: int, board: Board) -> None:  # noqa: D102
        self._jobs, self._board = {job.slot: job for job in jobs}, board
        if not jobs:
            self._console.print(f"0 runs to do, {done} up to date.")
            return
        self._console.print(f"{len(jobs)} run{'s' if len(jobs) > 1 else ''} to do, {done} up to date.")
        if not self._console.is_terminal:
            return
        total = sum(job.run.experiment.seconds for job in jobs)
        self._all = self._progress.add_task("[bold]all", total=total, facts=f"0/{len(jobs)} runs")
        self._live = Live(self._progress, console=self._console, refresh_per_second=REFRESH, transient=True)
        self._live.start()
        self._thread = threading.Thread(target=self._refresh, daemon=True)
        self._thread.start()

    def on_end(self, outcome: Outcome) -> None:  # noqa: D102
        run = outcome.job.run
        name = run.name if run.seed is None else f"{run.name} seed {run.seed}"
        with self._lock:
            self._ended.add(outcome.job.slot)
            bar = self._bars.pop(outcome.job.slot, None)
            if bar is not None:
                self._progress.remove_task(bar)
        if outcome.error:
            self._console.print(f"[red]failed[/] {name}: {escape(outcome.error.splitlines()[0])}")
        else:
            count = f"[dim]{len(self._ended):>3}/{len(self._jobs)}[/]"
            self._console.print(f"{count} {name} [dim]{outcome.seconds:.1f} s[/]", highlight=False)

    def on_step(self, text: str) -> None:  # noqa: D102
        self._close()
        self._console.print(f"[dim]{text} ...[/]")

    def _refresh(self) -> None:
        while not self._stop.wait(1 / REFRESH):
            with self._lock:
                self._update()

    def _update(self) -> None:
        completed = 0.0
        for slot, job in self._jobs.items():
            experiment = job.run.experiment
            samples, learned = self._board[slot]
            expected = max(1.0, experiment.samples * job.run.scale)
            fraction = 1.0 if slot in self._ended else min(0.99, samples / expected)
            completed += fraction * experiment.seconds
            if slot in self._ended or not samples:
                continue
            if slot not in self._bars:
                seed = "" if job.run.seed is None else f" [dim]seed {job.run.seed}[/]"
                self._bars[slot] = self._progress.add_task(f"{job.run.name}{seed}", total=1.0, facts="")
            facts = f"{samples / 1e6:.1f} M samples, {learned} learned"
            self._progress.update(self._bars[slot], completed=fraction, facts=facts)
        runs = f"{len(self._ended)}/{len(self._jobs)} runs"
        self._progress.update(self._all, completed=completed, facts=runs)

    def _close(self) -> None:
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        if self._live is not None:
            self._live.stop()
            self._live = None
