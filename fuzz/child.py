"""One target in a process of its own: rounds until the time is over. Facts go to stdout as JSON lines."""

import argparse
import faulthandler
import hashlib
import json
import os
import resource
import signal
import sys
import time
from pathlib import Path

from fuzz import target

MEMORY = 16 << 30  # bytes of address space: a forged size fails here, and not for the whole machine


def round_seed(seed: int, name: str, number: int) -> int:
    """The seed of a round."""
    return int.from_bytes(hashlib.sha256(f"{seed} {name} {number}".encode()).digest()[:8], "big")


def main() -> None:
    """Run the target that the arguments name."""
    parser = argparse.ArgumentParser()
    parser.add_argument("name")
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--round", type=int, default=0)
    parser.add_argument("--database", type=Path, default=target.DATABASE)
    given = parser.parse_args()
    facts = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print is not mixed with the facts
    faulthandler.enable()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    chosen = target.load(given.name)
    end, done, number, shown = time.monotonic() + given.seconds, 0, given.round, 0.0
    known: set[object] = set()
    texts: list[str] = []
    failures = 0

    def tell(**what: object) -> None:
        print(json.dumps(what), file=facts, flush=True)

    def on_example(count: int) -> None:
        nonlocal shown
        if time.monotonic() - shown > 0.5:
            shown = time.monotonic()
            tell(examples=done + count, round=number)

    while time.monotonic() < end:
        tell(examples=done, round=number)
        seed = round_seed(given.seed, chosen.name, number)
        found = target.run(chosen, seed, target.EXAMPLES, given.database, end, known, on_example)
        done, number = done + found.examples, number + 1
        tell(examples=done)
        if found.failure is not None:
            texts.append(found.failure)
            failures += found.failures
            tell(failure="\n\n".join(texts), failures=failures)
            if not chosen.strategies:
                break  # a state machine cannot ignore a known failure
    tell(complete=True)
    facts.close()
    sys.stdout.flush()
    os._exit(0)  # a thread that is left over must not keep the process


if __name__ == "__main__":
    main()
