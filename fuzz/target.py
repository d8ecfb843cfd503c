"""Targets: how they are defined, and how one round of examples is run in this process."""

import contextlib
import faulthandler
import functools
import importlib
import inspect
import io
import re
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import hypothesis
from hypothesis import HealthCheck, Phase
from hypothesis.database import DirectoryBasedExampleDatabase
from hypothesis.errors import Flaky
from hypothesis.internal.conjecture import engine
from hypothesis.stateful import run_state_machine_as_test

DATABASE = Path(__file__).parents[1] / ".fuzz"
HANG = 60.0  # seconds after which an example counts as a hang
EXAMPLES = 200  # of a round
SHRINKING = 30  # seconds
MODULES = {  # modules of this package and their targets, so that a process imports only what it needs
    "inputs": ("inputs_outcome", "inputs_bits", "inputs_names", "inputs_masked"),
    "model_files": ("model_files_damaged", "model_files_forged"),
    "data_files": ("files_valid", "files_damaged", "files_shortened"),
    "operations": ("operations",),
    "streams": ("streams_reading", "streams_learning", "streams_callback", "streams_skipping"),
    "rivers": ("river",),
    "sweeps": ("sweep",),
    "threads": ("threads",),
    "messages": ("messages",),
}
NAMES = tuple(name for names in MODULES.values() for name in names)
SLOW = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example)
SUPPRESSED = (*SLOW, HealthCheck.filter_too_much, HealthCheck.nested_given)

TARGETS: dict[str, "Target"] = {}


@dataclass(frozen=True)
class Target:
    """A property that is tested: a function of drawn arguments, or a state machine."""

    name: str
    check: Any
    strategies: dict[str, Any]

    @property
    def statement(self) -> str:
        return inspect.cleandoc(self.check.__doc__ or "")


@dataclass
class Round:
    """What happened in a round, or in several."""

    examples: int = 0
    failures: int = 0
    failure: str | None = None


class TimeIsOver(KeyboardInterrupt):
    """Ends a round from within an example; Hypothesis passes an interrupt on."""


def target(name: str, **strategies: Any) -> Callable[[Any], Any]:
    """Register a function with the strategies of its arguments, or a state machine."""

    def registered(check: Any) -> Any:
        TARGETS[name] = Target(name, check, strategies)
        return check

    return registered


def chosen(names: list[str] | None = None) -> list[str]:
    """The names of targets with these names or beginnings; all without any. "module:name" stays as it is."""
    found: list[str] = []
    for name in names or NAMES:
        matching = [name] if ":" in name else [one for one in NAMES if one.startswith(name)]
        if not matching:
            raise ValueError(f"no target {name!r}; there are {', '.join(NAMES)}.")
        found += [one for one in matching if one not in found]
    return found


def load(name: str) -> Target:
    """A target by its name, or by "module:name"."""
    module, _, own = name.rpartition(":")
    importlib.import_module(module or f"fuzz.{next(one for one in MODULES if own in MODULES[one])}")
    return TARGETS[own]


def run(
    target: Target,
    seed: int | None,
    examples: int = EXAMPLES,
    database: Path | None = DATABASE,
    end: float = float("inf"),
    known: set[Any] | None = None,
    on_example: Callable[[int], Any] = lambda count: None,
) -> Round:
    """Run a round of examples; without a seed always the same ones.

    `end` is a time of `time.monotonic`. Failures in `known` are ignored, and those of the round are added.
    """
    round, known = Round(), set() if known is None else known
    failed: Exception | None = None

    def begin() -> None:
        if time.monotonic() > end and failed is None:
            raise TimeIsOver
        round.examples += 1
        on_example(round.examples)
        faulthandler.cancel_dump_traceback_later()
        if seed is not None:
            faulthandler.dump_traceback_later(HANG, exit=True)

    def note(error: BaseException | None) -> None:
        nonlocal failed
        failed = error if isinstance(error, Exception) else failed

    @functools.wraps(target.check)
    def checked(**arguments: Any) -> None:
        begin()
        try:
            target.check(**arguments)
        except Exception as error:
            error.__context__ = error.__cause__ = None  # Hypothesis fails on a long chain
            if _kind(error) not in known:
                note(error)
                raise

    applied = hypothesis.settings(
        max_examples=examples,
        derandomize=seed is None,
        database=None if seed is None or database is None else DirectoryBasedExampleDatabase(database),
        deadline=None,
        suppress_health_check=SUPPRESSED,
        phases=[phase for phase in Phase if phase is not Phase.explain],
        print_blob=False,
        stateful_step_count=12,
    )
    engine.MAX_SHRINKING_SECONDS = SHRINKING
    output = io.StringIO()
    try:
        with contextlib.redirect_stdout(output):
            if target.strategies:
                test = hypothesis.given(**target.strategies)(checked)
                applied(test if seed is None else hypothesis.seed(seed)(test))()
            else:
                machine = _watched(target.check, begin, note)
                seeded = machine if seed is None else hypothesis.seed(seed)(machine)
                run_state_machine_as_test(seeded, settings=applied)
    except TimeIsOver:
        pass
    except Exception as error:
        leaves = list(_leaves(error))
        if isinstance(error, Flaky) and failed is not None and failed not in leaves:
            leaves.append(failed)  # it depends on the time, and did not fail again
        known |= {_kind(one) for one in leaves}
        text = "\n\n".join([described(one) for one in leaves])
        round.failures, round.failure = len(leaves), f"{output.getvalue()}{text}".strip()
    finally:
        faulthandler.cancel_dump_traceback_later()
    return round


def _watched(machine: Any, begin: Callable[[], None], note: Callable[[Any], None]) -> Any:
    """A state machine that tells when an example begins, and when it failed."""

    class Watched(machine):
        def __init__(self) -> None:
            begin()
            super().__init__()

        def teardown(self) -> None:
            note(sys.exc_info()[1])
            super().teardown()

    Watched.__name__ = Watched.__qualname__ = machine.__name__
    return Watched


def _leaves(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for one in error.exceptions:
            yield from _leaves(one)
    else:
        yield error


def _frames(error: BaseException) -> list[Any]:
    return [one for one in traceback.extract_tb(error.__traceback__) if "/hypothesis/" not in one.filename]


def _kind(error: BaseException) -> tuple[Any, ...]:
    """What tells one failure from another: its type, the last line of this repository, and its text."""
    own = [(one.filename, one.lineno) for one in _frames(error) if "site-packages" not in one.filename]
    return type(error), own[-1] if own else None, re.sub(r"\d+", "", str(error))[:30]


def described(error: BaseException) -> str:
    """The error with its notes (the falsifying example), and the last frames outside of Hypothesis."""
    frames = [one for one in _frames(error) if one.filename != __file__]
    return "".join(traceback.format_list(frames[-6:]) + traceback.format_exception_only(error)).rstrip()
