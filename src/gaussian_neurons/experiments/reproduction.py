"""Run experiments over all cores: what is done is kept, what was broken off carries on."""

import json
import os
import shutil
import tempfile
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import joblib
import numpy as np

from gaussian_neurons.base.interrupts import deaf_children
from gaussian_neurons.experiments import provenance, results
from gaussian_neurons.experiments.catalogue import EXPERIMENTS
from gaussian_neurons.experiments.data import FULL
from gaussian_neurons.experiments.experiment import Experiment, Result
from gaussian_neurons.experiments.lab import Lab
from gaussian_neurons.experiments.results import Question

DPI = 200


@dataclass(frozen=True)
class Plan:
    """What is to be reproduced, from what, and where it goes."""

    experiments: Sequence[Experiment]
    seeds: Sequence[int]
    out: Path
    scale: float = 1.0
    choice: str = FULL
    directory: str | None = None
    jobs: int | None = None  # processes, or None: one for each core

    def question(self, experiment: Experiment, seed: int | None) -> Question:
        """One of its experiments with one seed."""
        return Question(experiment.name, seed, self.scale, self.choice, self.directory)

    def questions(self) -> list[Question]:
        """All that is asked for."""
        return [
            self.question(experiment, seed)
            for experiment in self.experiments
            for seed in ([None] if experiment.data is None else self.seeds)
        ]


@dataclass(frozen=True)
class Job:
    """A question that has no answer yet, on its way to a process."""

    question: Question
    out: Path
    board: Path
    slot: int  # its line on the board
    code: Result  # what the result comes from, as the parent found it: files may change while it runs
    parent: int  # the process that gives out the jobs


@dataclass(frozen=True)
class Outcome:
    """How a job ended."""

    job: Job
    seconds: float
    error: str | None


class Board:
    """How far each job is: samples learned, neurons that have learned. A file that all processes map."""

    def __init__(self, path: Path, jobs: int | None = None) -> None:
        if jobs is not None:
            np.zeros((max(1, jobs), 2), np.int64).tofile(path)
        self._cells = np.memmap(path, np.int64, "r+").reshape(-1, 2)

    def __getitem__(self, slot: int) -> tuple[int, int]:
        samples, learned = self._cells[slot].tolist()
        return samples, learned

    def __setitem__(self, slot: int, cell: tuple[int, int]) -> None:
        self._cells[slot] = cell


class Audience:
    """Whoever wants to know how a reproduction goes. This one does not."""

    def begins(self, jobs: Sequence[Job], done: int, board: Board) -> None:
        """These jobs are to be run; so many were done before."""

    def ended(self, outcome: Outcome) -> None:
        """One job is over."""

    def goes_on(self, with_what: str) -> None:
        """All jobs are over, and this comes next."""


def reproduce(plan: Plan, audience: Audience, finish: Callable[[], None] = lambda: None) -> list[Outcome]:
    """Run what has no current result yet; then compare, draw and finish. Returns what went wrong."""
    questions = plan.questions()
    for question in questions:
        question.images()  # absent data is told of before anything is done
    plan.out.mkdir(parents=True, exist_ok=True)
    with locked(plan.out), tempfile.TemporaryDirectory(prefix="gaussian-neurons-") as temporary:
        settle(plan)
        left = [question for question in questions if question.answer(plan.out) is None]
        left.sort(key=lambda it: -it.experiment.seconds)  # so that no core waits for a long last one
        path = Path(temporary) / "board"
        jobs = [
            Job(question, plan.out, path, slot, provenance.code(question.name), os.getpid())
            for slot, question in enumerate(left)
        ]
        failures = []
        audience.begins(jobs, len(questions) - len(jobs), Board(path, len(jobs)))
        if jobs:
            for outcome in _spread(plan.jobs, (joblib.delayed(work)(job) for job in jobs), len(jobs)):
                audience.ended(outcome)
                failures += [outcome] if outcome.error else []
        audience.goes_on("comparing and drawing")
        found = compared(plan)
        drawings = (
            joblib.delayed(draw)(name, next(iter(some.values())), plan.out) for name, some in found.items()
        )
        list(_spread(plan.jobs, drawings, len(found)))
        finish()
    return failures


def _spread(jobs: int | None, calls: Iterator[Any], count: int) -> Iterator[Any]:
    """Results of calls as they come, from as many processes as there are jobs for."""
    processes = max(1, min(jobs or joblib.cpu_count(), count))
    parallel = joblib.Parallel(n_jobs=processes, return_as="generator_unordered", pre_dispatch="n_jobs")
    with deaf_children(processes > 1):
        found = parallel(calls)
    yield from found


def work(job: Job) -> Outcome:
    """Answer a question and write the result; an error is told, not raised, for the other jobs' sake."""
    alone = os.getpid() != job.parent
    board = Board(job.board)

    def tell(samples: int, learned: int) -> None:
        board[job.slot] = (samples, learned)
        if alone and os.getppid() != job.parent:  # it was killed: leave the files to whoever comes next
            os._exit(1)

    try:
        seconds = answer(job.question, job.out, job.code, tell)
    except OSError as error:  # a full disk, a folder that is gone: nobody's bug
        return Outcome(job, 0.0, str(error))
    except Exception as error:
        text = "".join(traceback.format_exception(error))
        return Outcome(job, 0.0, f"{type(error).__name__}: {error}\n{text}")
    return Outcome(job, seconds, None)


def answer(question: Question, out: Path, code: Result, tell: Callable[[int, int], None]) -> float:
    """Run an experiment and write its result file; returns the seconds of learning."""
    path = question.path(out)
    keep = path.with_suffix(f".{code['fingerprint'][:12]}")
    for old in path.parent.glob(f"{path.stem}.*/"):
        if old != keep:  # of other code: no one carries on from it
            shutil.rmtree(old, ignore_errors=True)
    images = question.images()
    lab = Lab(images, keep, tell)
    result = results.gathered(question.experiment, question.config, question.seed, images, lab)
    results.write(path, {**result, "code": code, "samples_scale": question.scale})
    shutil.rmtree(keep, ignore_errors=True)
    return lab.seconds


def collected(plan: Plan) -> dict[str, dict[int | None, Result]]:
    """Everything current in the folder, asked for now or before: experiment → seed → result."""
    found: dict[str, dict[int | None, Result]] = {}
    for name, experiment in EXPERIMENTS.items():
        if experiment.data is not None and not (plan.out / name).is_dir():
            continue
        answers = {
            seed: plan.question(experiment, seed).answer(plan.out)
            for seed in results.seeds_found(experiment, plan.out)
        }
        if current := {seed: answer for seed, answer in answers.items() if answer is not None}:
            found[name] = current
    return found


def compared(plan: Plan) -> dict[str, dict[int | None, Result]]:
    """The same, each compared with others of its seed where those are there."""
    found = collected(plan)
    for name, some in found.items():
        experiment = EXPERIMENTS[name]
        for seed, result in some.items():
            others = {
                other: found[other][seed]
                for other in experiment.compares_with
                if seed in found.get(other, {})
            }
            before = result.pop("compared", None)  # perhaps with results that are no more
            if experiment.compare is not None and others:
                result["compared"] = {"with": list(others), **experiment.compare(result, others)}
            if result.get("compared") != before:
                results.write(plan.question(experiment, seed).path(plan.out), result)
    return found


def draw(name: str, result: Result, out: Path) -> None:
    """The picture of a result, as PNG and as SVG."""
    import matplotlib as mpl

    with mpl.rc_context({"svg.hashsalt": name, "svg.fonttype": "none"}):
        figure = EXPERIMENTS[name].draw(result)
        for suffix, facts in (("png", {"Software": None}), ("svg", {"Date": None, "Creator": None})):
            temporary = out / name / f".{name}.{suffix}"
            figure.savefig(temporary, dpi=DPI, metadata=facts, format=suffix, transparent=suffix == "svg")
            os.replace(temporary, out / name / f"{name}.{suffix}")


def settle(plan: Plan) -> None:
    """Note what a folder's results are of, and refuse to mix in others."""
    path, wanted = plan.out / "reproduction.json", {"data": plan.choice, "samples_scale": plan.scale}
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        results.write(path, wanted)
        return
    if not (isinstance(found, dict) and set(found) == set(wanted)):
        raise ValueError(f"{str(path)!r} is not what it was: delete it, or choose another --out.")
    if found != wanted:
        theirs, ours = (
            f"--data {it['data']} --samples-scale {it['samples_scale']:g}" for it in (found, wanted)
        )
        raise ValueError(
            f"{str(plan.out)!r} holds results of {theirs}, this would be {ours}: choose another --out, or "
            f"leave it out for a folder of their own."
        )


@contextmanager
def locked(out: Path) -> Iterator[None]:
    """Let one process at a time work in a folder; the system unlocks it whatever happens to that."""
    try:
        import fcntl
    except ImportError:  # not on this system
        yield
        return
    with open(out / ".lock", "w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise BlockingIOError(
                f"another reproduction is at work in {str(out)!r}: wait for it, or choose another --out."
            ) from None
        yield
