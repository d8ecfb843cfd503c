"""Run experiments on all cores. Finished results are kept, and interrupted runs resume."""

import os
import shutil
import tempfile
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import joblib
import numpy as np

from gaussian_neurons.base import files
from gaussian_neurons.base.json_text import parsed
from gaussian_neurons.base.parallel import unordered
from gaussian_neurons.experiments import backend_names, provenance, results
from gaussian_neurons.experiments.catalogue import EXPERIMENTS
from gaussian_neurons.experiments.data import FULL
from gaussian_neurons.experiments.experiment import Experiment, Result
from gaussian_neurons.experiments.lab import Lab
from gaussian_neurons.experiments.results import RunSpec
from gaussian_neurons.learning import cuda
from gaussian_neurons.learning.cuda.serving import Address

DPI = 200
FOLDER_FACTS = "reproduction.json"  # which data, scale and backend a folder is for


@dataclass(frozen=True)
class Plan:
    """What to reproduce, from which data, with which backend, and where results go."""

    experiments: Sequence[Experiment]
    seeds: Sequence[int] | None  # None: as many as each experiment needs for a report
    out: Path
    scale: float = 1.0
    data: str = FULL
    data_dir: str | None = None
    backend: str = backend_names.AUTO
    jobs: int | None = None  # processes; None uses one for each core

    def run_of(self, experiment: Experiment, seed: int | None) -> RunSpec:
        """The run of one experiment with one seed."""
        return RunSpec(experiment.name, seed, self.scale, self.data, self.data_dir, self.backend)

    def seeds_of(self, experiment: Experiment) -> Sequence[int | None]:
        """The seeds of one experiment; [None] if nothing is random."""
        if not experiment.is_random:
            return [None]
        return range(experiment.seeds) if self.seeds is None else self.seeds

    def runs(self) -> list[RunSpec]:
        """All runs."""
        return [
            self.run_of(experiment, seed)
            for experiment in self.experiments
            for seed in self.seeds_of(experiment)
        ]


@dataclass(frozen=True)
class Job:
    """A run that has no current result yet, as a worker process receives it."""

    run: RunSpec
    out: Path
    board: Path
    slot: int  # its row on the board
    origin: Result  # taken in the parent: source files may change while it runs
    parent: int  # the process that started the worker


@dataclass(frozen=True)
class Outcome:
    """How a job ended."""

    job: Job
    seconds: float
    error: str | None


class Board:
    """The progress of each job, samples and learned neurons, in a file that all processes map."""

    def __init__(self, path: Path, jobs: int | None = None) -> None:
        if jobs is not None:
            np.zeros((max(1, jobs), 2), np.int64).tofile(path)
        self._cells = np.memmap(path, np.int64, "r+").reshape(-1, 2)

    def __getitem__(self, slot: int) -> tuple[int, int]:
        samples, learned = self._cells[slot].tolist()
        return samples, learned

    def __setitem__(self, slot: int, cell: tuple[int, int]) -> None:
        self._cells[slot] = cell


class Listener:
    """Callbacks of a reproduction. This one ignores them."""

    def on_start(self, jobs: Sequence[Job], done: int, board: Board) -> None:
        """The jobs that will run, and the number of results that are current already."""

    def on_end(self, outcome: Outcome) -> None:
        """A job has ended."""

    def on_step(self, text: str) -> None:
        """All jobs have ended, and the step described by the text begins."""


def reproduce(plan: Plan, listener: Listener, finish: Callable[[], None] = lambda: None) -> list[Outcome]:
    """Run what has no current result; then compare, draw and call `finish`. Returns the failed jobs."""
    backend_names.load(plan.backend)  # an unknown backend or missing data is an error before anything runs
    runs = plan.runs()
    for run in runs:
        run.images()
    plan.out.mkdir(parents=True, exist_ok=True)
    with (
        files.locked(plan.out / FOLDER_FACTS),
        tempfile.TemporaryDirectory(prefix="gaussian-neurons-") as temporary,
    ):
        check_folder(plan)
        left = [run for run in runs if run.stored_result(plan.out) is None]
        left.sort(key=lambda run: -run.experiment.seconds)  # the longest first, to use all cores to the end
        path = Path(temporary) / "board"
        jobs = [
            Job(run, plan.out, path, slot, provenance.origin(run.name, run.backend), os.getpid())
            for slot, run in enumerate(left)
        ]
        failures = []
        listener.on_start(jobs, len(runs) - len(jobs), Board(path, len(jobs)))
        if jobs:
            for outcome in _executed(plan, jobs):
                listener.on_end(outcome)
                failures += [outcome] if outcome.error else []
        listener.on_step("Comparing and drawing")
        found = compare_results(plan)
        drawings = (
            joblib.delayed(draw)(name, list(by_seed.values()), plan.out) for name, by_seed in found.items()
        )
        list(_parallel(plan.jobs, drawings, len(found)))
        finish()
    return failures


def _executed(plan: Plan, jobs: Sequence[Job]) -> Iterator[Outcome]:
    """How jobs end. On a GPU, all layers learn at once, each in a thread of some process."""
    on_gpu = [job for job in jobs if job.origin["backend"] == "cuda"]
    if on_gpu:
        processes = _processes(plan.jobs, len(on_gpu))
        with cuda.served() as address, joblib.parallel_config(backend="loky"):
            parts = (
                joblib.delayed(_execute_at_once)(on_gpu[k::processes], address) for k in range(processes)
            )
            for outcomes in _parallel(processes, parts, processes):
                yield from outcomes
    others = [job for job in jobs if job not in on_gpu]
    yield from _parallel(plan.jobs, (joblib.delayed(execute)(job) for job in others), len(others))


def _execute_at_once(jobs: Sequence[Job], address: Address) -> list[Outcome]:
    """Run jobs in threads, which learn on the GPU of the process at the address."""
    with cuda.gathered(address):
        return cuda.each([partial(execute, job) for job in jobs])


def _parallel(jobs: int | None, calls: Iterator[Any], count: int) -> Iterator[Any]:
    """The results of calls as they finish, from at most as many processes as there are calls."""
    return unordered(_processes(jobs, count), calls, pre_dispatch="n_jobs")


def _processes(jobs: int | None, count: int) -> int:
    return max(1, min(jobs or joblib.effective_n_jobs(-1), count))


def execute(job: Job) -> Outcome:
    """Run a job and write its result. An error is returned, so that the other jobs continue."""
    in_worker, parent = os.getpid() != job.parent, os.getppid()
    board = Board(job.board)

    def on_progress(samples: int, learned: int) -> None:
        board[job.slot] = (samples, learned)
        if in_worker and os.getppid() != parent:  # it was killed, and its successor needs the files
            os._exit(1)

    try:
        seconds = run_and_store(job.run, job.out, job.origin, on_progress)
    except OSError as error:  # such as a full disk: the traceback does not help
        return Outcome(job, 0.0, str(error))
    except Exception as error:
        text = "".join(traceback.format_exception(error))
        return Outcome(job, 0.0, f"{type(error).__name__}: {error}\n{text}")
    return Outcome(job, seconds, None)


def run_and_store(run: RunSpec, out: Path, origin: Result, on_progress: Callable[[int, int], None]) -> float:
    """Run an experiment and write its result file; returns the seconds of learning."""
    path = run.path(out)
    checkpoints = path.with_suffix(f".{origin['code']['fingerprint'][:12]}")
    for old in path.parent.glob(f"{path.stem}.*/"):
        if old != checkpoints:  # written by other code
            shutil.rmtree(old, ignore_errors=True)
    images = run.images()
    lab = Lab(images, checkpoints, on_progress, backend_names.load(run.backend))
    result = results.run_experiment(run.experiment, run.config, run.seed, images, lab, origin)
    results.write(path, {**result, "samples_scale": run.scale})
    shutil.rmtree(checkpoints, ignore_errors=True)
    return lab.seconds


def current_results(plan: Plan) -> dict[str, dict[int | None, Result]]:
    """All current results in the folder, from this plan or an earlier one: experiment → seed → result."""
    found: dict[str, dict[int | None, Result]] = {}
    for name, experiment in EXPERIMENTS.items():
        if experiment.is_random and not (plan.out / name).is_dir():
            continue
        stored = {
            seed: plan.run_of(experiment, seed).stored_result(plan.out)
            for seed in results.stored_seeds(experiment, plan.out)
        }
        if current := {seed: result for seed, result in stored.items() if result is not None}:
            found[name] = current
    return found


def compare_results(plan: Plan) -> dict[str, dict[int | None, Result]]:
    """All current results, each compared with the current results of the same seed that it names."""
    found = current_results(plan)
    for name, by_seed in found.items():
        experiment = EXPERIMENTS[name]
        for seed, result in by_seed.items():
            others = {
                other: found[other][seed]
                for other in experiment.compares_with
                if seed in found.get(other, {})
            }
            before = result.pop("compared", None)  # may refer to results that were deleted since
            if experiment.compare is not None and others:
                result["compared"] = {"with": list(others), **experiment.compare(result, others)}
            if result.get("compared") != before:
                results.write(plan.run_of(experiment, seed).path(plan.out), result)
    return found


def draw(name: str, results_of_seeds: Sequence[Result], out: Path) -> None:
    """Draw the first result, or all together, as PNG and as SVG."""
    import matplotlib as mpl

    experiment = EXPERIMENTS[name]
    with mpl.rc_context({"svg.hashsalt": name, "svg.fonttype": "none"}):
        if experiment.draw_seeds is not None:
            figure = experiment.draw_seeds(results_of_seeds)
        else:
            figure = experiment.draw(results_of_seeds[0])
        for suffix, facts in (("png", {"Software": None}), ("svg", {"Date": None, "Creator": None})):
            temporary = out / name / f".{name}.{suffix}"
            figure.savefig(temporary, dpi=DPI, metadata=facts, format=suffix, transparent=suffix == "svg")
            os.replace(temporary, out / name / f"{name}.{suffix}")


def check_folder(plan: Plan) -> None:
    """Store which data, scale and backend the folder is for; raise an error if it is for others."""
    path = plan.out / FOLDER_FACTS
    wanted = {"data": plan.data, "samples_scale": plan.scale, "backend": plan.backend}
    try:
        stored = parsed(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        results.write(path, wanted)
        return
    try:
        theirs, ours = (
            f"--data {it['data']} --samples-scale {it['samples_scale']:g} --backend {it['backend']}"
            for it in ({"backend": backend_names.AUTO, **stored}, wanted)
        )
    except (KeyError, TypeError, ValueError):
        raise ValueError(f"{str(path)!r} is damaged. Delete it, or choose another --out.") from None
    if theirs != ours:
        raise ValueError(
            f"{str(plan.out)!r} holds results of {theirs}, but this run is {ours}. Choose another --out, or "
            f"omit --out to use a separate folder."
        )
