"""Run the targets, each in a process of its own, and report what failed."""

import argparse
import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fuzz import target

GRACE = 60.0  # seconds for the start of a process, its last example and shrinking, beyond a hang


@dataclass
class Job:
    """A child process, and what it has told."""

    name: str
    process: Any
    errors: Any
    since: float = field(default_factory=time.monotonic)
    examples: int = 0
    round: int = 0
    failures: int = 0
    failure: str | None = None
    complete: bool = False

    def listen(self) -> None:
        """Read what the process tells until it ends."""
        for line in self.process.stdout:
            for name, value in json.loads(line).items():
                setattr(self, name, value)


def _parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="for all targets together (60)")
    parser.add_argument("--seed", default="random", help="a whole number, to repeat a run")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="targets, by name or its beginning")
    parser.add_argument("--jobs", type=int, default=min(os.cpu_count() or 1, 4), help="processes at a time")
    parser.add_argument("--round", type=int, default=0, help="the round to begin with, after a crash")
    parser.add_argument("--database", type=Path, default=target.DATABASE, help="folder of earlier failures")
    parser.add_argument("--list", action="store_true", help="print the targets and what each states")
    given = parser.parse_args()
    if given.seed != "random" and not given.seed.isdecimal():
        parser.error(f"--seed must be a whole number or 'random', got {given.seed!r}.")
    given.seed = random.randrange(1 << 32) if given.seed == "random" else int(given.seed)
    return given


def _start(name: str, seconds: float, given: argparse.Namespace) -> Job:
    errors = tempfile.TemporaryFile("w+")  # noqa: SIM115  (it lives as long as the job)
    command = [sys.executable, "-m", "fuzz.child", name, f"--seconds={seconds}", f"--seed={given.seed}"]
    command += [f"--round={given.round}", f"--database={given.database}"]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=errors, text=True, start_new_session=True
    )
    job = Job(name, process, errors)
    threading.Thread(target=job.listen, daemon=True).start()
    return job


def _ended(job: Job, limit: float) -> bool:
    """Whether the process has ended; one that is far beyond its time is stopped."""
    code = job.process.poll()
    if code is None and time.monotonic() - job.since > limit:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(job.process.pid, signal.SIGKILL)  # with its own children
        code = job.process.wait()
    if code is None:
        return False
    time.sleep(0.05)  # for the last lines
    if not job.complete:
        job.failures += 1
        job.errors.seek(0)
        what = f"crashed by {signal.Signals(-code).name}" if code < 0 else f"exit status {code}"
        text = job.errors.read()
        if "Timeout (" in text:
            what = f"hang: an example took longer than {target.HANG:.0f} s"
        crash = f"{what}, in round {job.round}\n{text[-4000:]}"
        job.failure = crash if job.failure is None else f"{job.failure}\n\n{crash}"
    return True


def _report(jobs: list[Job], given: argparse.Namespace) -> int:
    for job in jobs:
        if job.failure is None:
            continue
        replay = f"python -m fuzz --only {job.name}"
        if not job.complete:
            replay += f" --seed {given.seed} --round {job.round}"
        if given.database != target.DATABASE:
            replay += f" --database {given.database}"
        print(f"\n---- {job.name} " + "-" * (104 - len(job.name)))
        print(f"{job.failure}\n\nReplay: {replay}")
    width = max([6, *(len(job.name) for job in jobs)])
    print(f"\n{'target':{width}}  examples  failures")
    for job in jobs:
        print(f"{job.name:{width}}  {job.examples:8,}  {job.failures:8}")
    print(f"seed {given.seed}")
    return int(any(job.failures for job in jobs))


def main() -> int:
    """Run, report, and return the exit status."""
    given = _parsed()
    try:
        left = target.chosen(given.only)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    if given.list:
        for name in left:
            print(f"{name}\n    " + target.load(name).statement.replace("\n", "\n    "))
        return 0
    print(f"seed {given.seed}, {len(left)} targets", flush=True)
    jobs = max(1, min(given.jobs, len(left)))
    seconds = given.seconds * jobs / len(left)
    running: list[Job] = []
    done: list[Job] = []
    on_terminal, size = sys.stderr.isatty(), shutil.get_terminal_size().columns
    try:
        while left or running:
            while left and len(running) < jobs:
                running.append(_start(left.pop(0), seconds, given))
            time.sleep(0.1)
            for job in running[:]:
                if _ended(job, seconds + target.HANG + GRACE):
                    running.remove(job)
                    done.append(job)
            if on_terminal:
                failed = sum(job.failures > 0 for job in done)
                line = f"{len(done)} done, {failed} failed | "
                line += ", ".join(f"{job.name} {job.examples:,}" for job in running)
                print(f"\r\x1b[K{line[: size - 1]}", end="", file=sys.stderr, flush=True)
    except KeyboardInterrupt:
        print("\ninterrupted", file=sys.stderr)
        done += running
    finally:
        for job in running:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(job.process.pid, signal.SIGKILL)
        if on_terminal:
            print("\r\x1b[K", end="", file=sys.stderr)
    return _report(done, given)


if __name__ == "__main__":
    sys.exit(main())
