"""The numbers that the README states, and the results that they were taken from."""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median
from typing import Any

from benchmarks.quality.sets import SHAPES

RESULTS = Path("benchmarks", "results")
REAL = ("mnist/", "river/", "sklearn/")  # sets of the quality benchmark that are neither compact nor shaped
NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven")


@dataclass(frozen=True)
class Claim:
    """A number in the README: the text around it, with a group for the number, and how to compute it."""

    text: str
    value: Callable[[Path], float]
    tolerance: float = 0.0  # what "about" allows


def mean_index(root: Path, system: str, shaped: bool) -> float:
    """The mean adjusted Rand index of a system: over the seeds of a set, then over the sets."""
    of_set: dict[str, list[float]] = {}
    for run in _runs(root):
        if run["system"] == system and not run["set"].startswith(REAL) and (run["set"] in SHAPES) == shaped:
            of_set.setdefault(run["set"], []).append(run["score"] or 0.0)
    return fmean(fmean(scores) for scores in of_set.values())


def count_of_sets(root: Path, shaped: bool) -> int:
    """The number of sets of a family."""
    names = {run["set"] for run in _runs(root) if not run["set"].startswith(REAL)}
    return sum((name in SHAPES) == shaped for name in names)


def million_samples(root: Path) -> float:
    """Million patches of MNIST per second that one core learns, the median of the turns."""
    turns = json.loads((root / RESULTS / "peers.json").read_text())["turns"]
    speeds = [
        turn["samples"] / turn["seconds"]
        for turn in turns
        if turn["system"] == "ours-float32" and turn["workload"] == "mnist-5x5"
    ]
    return float(median(speeds)) / 1e6


CLAIMS = (
    Claim(r"about (\d+) million 5 × 5 patches a second", million_samples, 0.5),
    Claim(r"On (\d+) published sets of compact clusters", lambda root: count_of_sets(root, False)),
    Claim(
        r"compact clusters.*?adjusted Rand index is about (\d+\.\d+)",
        lambda root: mean_index(root, "ours", False),
        0.01,
    ),
    Claim(
        r"MiniBatchKMeans, which is given the number, reaches (\d+\.\d+)",
        lambda root: mean_index(root, "MiniBatchKMeans", False),
        0.005,
    ),
    Claim(r"On (\d+) sets of other shapes", lambda root: count_of_sets(root, True)),
    Claim(r"sets of other shapes it is about (\d+\.\d+)", lambda root: mean_index(root, "ours", True), 0.01),
)

# How many neurons of the demo learned, which only a run of it shows.
DEMO = re.compile(r"(\w+) of sixteen neurons have learned")


def wrong(root: Path, claims: tuple[Claim, ...] = CLAIMS) -> Iterator[str]:
    """A line for each number of the README that the results on file do not support."""
    readme = flat((root / "README.md").read_text())
    for claim in claims:
        if (found := re.search(claim.text, readme)) is None:
            yield f"README.md has no text like {claim.text!r}: adapt release/claims.py"
        elif abs(float(found[1]) - (value := claim.value(root))) > claim.tolerance:
            yield f"README.md says {found[0]!r}, but the results say {value:.4g}"


def wrong_of_demo(root: Path, learned: int) -> Iterator[str]:
    """A line if the README gives another number of learned filters for the demo."""
    found = DEMO.search(flat((root / "README.md").read_text()))
    if found is None:
        yield f"README.md has no text like {DEMO.pattern!r}: adapt release/claims.py"
    elif found[1] not in (str(learned), *NUMBERS[learned : learned + 1]):
        yield f"README.md says {found[0]!r}, but the demo learned {learned}"


def flat(text: str) -> str:
    """The text in one line, without emphasis."""
    return " ".join(text.replace("*", "").split())


def _runs(root: Path) -> list[dict[str, Any]]:
    runs: list[dict[str, Any]] = json.loads((root / RESULTS / "quality.json").read_text())["runs"]
    return runs
