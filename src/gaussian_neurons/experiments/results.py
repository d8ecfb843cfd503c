"""Result files: one for each experiment and seed, with what the result depends on."""

import json
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from gaussian_neurons.base.files import replace_file
from gaussian_neurons.base.json_text import parsed
from gaussian_neurons.datasets import ImageSet
from gaussian_neurons.datasets.fetch import AbsentData
from gaussian_neurons.experiments import backend_names, provenance
from gaussian_neurons.experiments.catalogue import EXPERIMENTS
from gaussian_neurons.experiments.data import load
from gaussian_neurons.experiments.experiment import Experiment, Result
from gaussian_neurons.experiments.lab import Lab

DEFAULTS: Result = {"learned": None, "domain_distance": None, "cosine": None, "widths": None}


@dataclass(frozen=True)
class RunSpec:
    """Everything that determines a result: an experiment, its seed, the data, the scale and the backend."""

    name: str
    seed: int | None  # None if nothing is random
    scale: float
    data: str  # "full" or "sample"
    data_dir: str | None
    backend: str = backend_names.AUTO

    @property
    def experiment(self) -> Experiment:
        """The experiment that runs."""
        return EXPERIMENTS[self.name]

    @property
    def config(self) -> Any:
        """The settings of the experiment at this scale."""
        return self.experiment.scaled(self.scale)

    def images(self, download: bool = True) -> ImageSet | None:
        """The images to learn from, if the experiment needs any."""
        if self.experiment.data is None:
            return None
        return load(self.experiment.data, self.data, self.data_dir, download=download)

    def path(self, out: Path) -> Path:
        """The result file."""
        name = "result" if self.seed is None else f"seed-{self.seed}"
        return out / self.name / f"{name}.json"

    def stored_result(self, out: Path) -> Result | None:
        """The result in the folder, or None if it is absent, damaged or out of date."""
        try:
            result: Result = parsed(self.path(out).read_text(encoding="utf-8"))
            return result if self._is_current(result) else None
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def _is_current(self, result: Result) -> bool:
        """Whether settings, data and code are still those of a result."""
        data = stored = result["data"]
        with suppress(AbsentData, ModuleNotFoundError):  # a result stays current without its data
            images = self.images(download=False)
            data = None if images is None else images.facts()
        return bool(
            (result["experiment"], result["seed"]) == (self.name, self.seed)
            and result["config"] == json.loads(json.dumps(asdict(self.config)))
            and (stored and stored["sha256"]) == (data and data["sha256"])
            and result["code"]["fingerprint"] == provenance.fingerprint(self.name, self.backend)
        )


def run_experiment(
    experiment: Experiment,
    config: Any,
    seed: int | None,
    images: ImageSet | None,
    lab: Lab | None = None,
    origin: Result | None = None,
) -> Result:
    """Run an experiment, and describe the result and its origin, `provenance.origin` if it is not given."""
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
        **(origin or provenance.origin(experiment.name)),
        "machine": provenance.machine(),
        **DEFAULTS,
        **found,
    }


def write(path: Path, result: Result) -> None:
    """Write a result file as a whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(result, indent=1, allow_nan=False, ensure_ascii=False)
    one_line_lists = re.sub(r"\[\s+([^][{}]*?)\s+\]", lambda found: f"[{' '.join(found[1].split())}]", text)
    replace_file(path, (one_line_lists + "\n").encode())


def stored_seeds(experiment: Experiment, out: Path) -> Sequence[int | None]:
    """The seeds of all result files of an experiment, current or not."""
    if not experiment.is_random:
        return [None]
    names = [path.name for path in (out / experiment.name).glob("seed-*.json")]
    return sorted(int(found[1]) for name in names if (found := re.fullmatch(r"seed-(\d+)\.json", name)))
