"""Result files: one for each experiment and seed, known by what it came from."""

import json
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from gaussian_neurons.base.files import replace_file, sweep
from gaussian_neurons.datasets import ImageSet
from gaussian_neurons.datasets.fetch import AbsentData
from gaussian_neurons.experiments import provenance
from gaussian_neurons.experiments.catalogue import EXPERIMENTS
from gaussian_neurons.experiments.data import load
from gaussian_neurons.experiments.experiment import Experiment, Result
from gaussian_neurons.experiments.lab import Lab

EMPTY: Result = {"learned": None, "domain_distance": None, "cosine": None, "widths": None}


@dataclass(frozen=True)
class Question:
    """What a result answers: an experiment with a seed, on some data, at some scale."""

    name: str
    seed: int | None  # None where nothing is random
    scale: float
    choice: str  # which data
    directory: str | None  # where it may lie

    @property
    def experiment(self) -> Experiment:
        """What is asked about."""
        return EXPERIMENTS[self.name]

    @property
    def config(self) -> Any:
        """The settings."""
        return self.experiment.scaled(self.scale)

    def images(self, download: bool = True) -> ImageSet | None:
        """What it is to be learned from."""
        if self.experiment.data is None:
            return None
        return load(self.experiment.data, self.choice, self.directory, download=download)

    def _is_answered_by(self, result: Result) -> bool:
        """Whether a result has these settings and this data, and came from this code."""
        data = theirs = result["data"]
        with suppress(AbsentData):  # where it is not at hand now, the result still is what it was
            images = self.images(download=False)
            data = None if images is None else images.facts()
        return bool(
            (result["experiment"], result["seed"]) == (self.name, self.seed)
            and result["config"] == json.loads(json.dumps(asdict(self.config)))
            and (theirs and theirs["sha256"]) == (data and data["sha256"])
            and result["code"]["fingerprint"] == provenance.fingerprint(self.name)
        )

    def path(self, out: Path) -> Path:
        """Its result file."""
        name = "result" if self.seed is None else f"seed-{self.seed}"
        return out / self.name / f"{name}.json"

    def answer(self, out: Path) -> Result | None:
        """The result, where it is there and the same code would find the same again."""
        try:
            result: Result = json.loads(self.path(out).read_text(encoding="utf-8"))
            return result if self._is_answered_by(result) else None
        except (OSError, ValueError, KeyError, TypeError):
            return None


def gathered(
    experiment: Experiment, config: Any, seed: int | None, images: ImageSet | None, lab: Lab | None = None
) -> Result:
    """Run an experiment, and say what came out and from what."""
    lab = lab or Lab(images)
    found = experiment.run(config, 0 if seed is None else seed, lab)
    return {
        "experiment": experiment.name,
        "title": experiment.title,
        "config": json.loads(json.dumps(asdict(config))),
        "seed": seed,
        "data": None if images is None else images.facts(),
        "published": dict(experiment.published),
        "samples": lab.samples,
        "seconds": round(lab.seconds, 3),
        "samples_per_second": round(lab.samples / lab.seconds) if lab.seconds else None,
        "code": provenance.code(experiment.name),
        "machine": provenance.machine(),
        **EMPTY,
        **found,
    }


def write(path: Path, result: Result) -> None:
    """Write a result file, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    sweep(path)
    text = json.dumps(result, indent=1, allow_nan=False, ensure_ascii=False)
    lists_in_a_line = re.sub(r"\[\s+([^][{}]*?)\s+\]", lambda found: f"[{' '.join(found[1].split())}]", text)
    replace_file(path, (lists_in_a_line + "\n").encode())


def seeds_found(experiment: Experiment, out: Path) -> Sequence[int | None]:
    """The seeds for which there is a result file, current or not."""
    if experiment.data is None:
        return [None]
    names = [path.name for path in (out / experiment.name).glob("seed-*.json")]
    return sorted(int(found[1]) for name in names if (found := re.fullmatch(r"seed-(\d+)\.json", name)))
