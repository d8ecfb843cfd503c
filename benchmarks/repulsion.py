"""Repulsion every r-th sample, r times as strong: how the filters change, and how much time it saves.

    python -m benchmarks.repulsion [--seeds N] [--samples N] [--only 2a,4] [--data-dir DIR]
    python -m benchmarks.repulsion --speed      # only measure the speeds again: a minute
    python -m benchmarks.repulsion --render     # only write table, document and picture from stored results

For the settings of the paper's Figures 2 and 4, each seed and each r, a model learns from the same start and
the same stream as the exact one (r = 1). The baseline is a second exact model with the same start and another
stream: smaller differences than that do not matter. Speeds are measured in turns in one process.
"""

import argparse
import copy
import json
import os
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
from scipy.optimize import linear_sum_assignment

from benchmarks.progress import Progress
from benchmarks.speed import processor
from gaussian_neurons import GaussianNeurons
from gaussian_neurons.base.files import replace_file
from gaussian_neurons.datasets import ImageSet
from gaussian_neurons.datasets.fetch import VARIABLE, AbsentData
from gaussian_neurons.experiments import (
    data,
    figure2a,
    figure2c,
    figure2d,
    figure2f,
    figure4,
    layer,
    similarity,
)

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "repulsion.json"
EVERY = (1, 2, 4, 8, 16, 32, 64)
SEEDS, FEW_SEEDS, MANY_SEEDS, SAMPLES = 6, 3, 10, 1_000_000
SAME = 0.1  # largest distance per pixel of equal filters: a tenth of the range from black to white
MIDDLE = 0.5  # of the domain
ANOTHER_STREAM = 1000  # added to the seed
TURNS, TURN = 7, 5e8  # turns of a speed; pairs times dimensions in one turn
TIMED = ("2a", "4")  # settings with measured speeds: the others have the same K and D


@dataclass(frozen=True)
class Setting:
    """A setting of the paper."""

    key: str
    what: str
    config: layer.LayerConfig
    data: str
    seeds: int = SEEDS
    times: int = 1  # factor of the number of samples


SETTINGS = {
    setting.key: setting
    for setting in (
        Setting("2a", "2a, 2b, 2e", figure2a.Config(), "mnist"),
        Setting("2c", "2c: half the width", figure2c.Config(), "mnist"),
        Setting(
            "2d", "2d: less inhibition", figure2d.Config(), "mnist", MANY_SEEDS
        ),  # large differences between seeds
        Setting("2d long", "2d, ten times as long", figure2d.Config(), "mnist", FEW_SEEDS, times=10),
        Setting("2f", "2f: 1s only", figure2f.Config(), "mnist"),
        Setting("4", "4: in colour", figure4.Config(), "cifar10", FEW_SEEDS),
    )
}


@dataclass(frozen=True)
class Match:
    """The filters of the exact model paired with those of another model."""

    filters: int  # learned by the exact model
    pairs: int  # the smaller number of filters
    matched: int  # pairs with a distance of at most SAME
    mean: float | None  # distance of the pairs per pixel, see `similarity.distance`
    largest: float | None
    cosine: float | None  # mean over the pairs, relative to the middle of the domain


@dataclass(frozen=True)
class Run:
    """A model, compared with the exact model of the same start."""

    setting: str
    seed: int
    every: int
    another_stream: bool
    failed: str | None = None
    learned: int = 0
    twins: int = 0
    farthest: float = 0.0  # largest distance of a neuron from the middle of the domain, 1 at its corners
    match: Match | None = None


@dataclass(frozen=True)
class Speed:
    """A turn of learning, and that of the exact rule."""

    setting: str
    every: int
    seconds: float  # per sample
    exact_seconds: float


@dataclass
class Results:
    """All measurements."""

    machine: str
    settings: dict[str, dict[str, Any]]
    runs: list[Run]
    speeds: list[Speed]

    @classmethod
    def read(cls, path: Path) -> Self:
        facts = json.loads(path.read_text())
        runs = [
            Run(**it | {"match": None if it["match"] is None else Match(**it["match"])})
            for it in facts["runs"]
        ]
        speeds = [Speed(**it) for it in facts["speeds"]]
        return cls(facts["machine"], facts["settings"], runs, speeds)

    def write(self, path: Path) -> None:
        """Write the file, one measurement per line."""
        lists = ((name, [asdict(it) for it in getattr(self, name)]) for name in ("runs", "speeds"))
        parts = [f'"machine": {json.dumps(self.machine)}']
        settings = ",\n".join(f"{json.dumps(key)}: {json.dumps(it)}" for key, it in self.settings.items())
        parts.append(f'"settings": {{\n{settings}\n}}')
        for name, rows in lists:
            lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
            parts.append(f'"{name}": [\n{lines}\n]')
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, ("{" + ",\n".join(parts) + "}\n").encode())


def match(exact: np.ndarray, other: np.ndarray) -> Match:
    """Pair filters (n, D) with others (m, D), one to one, with the smallest sum of distances."""
    apart = similarity.distance(exact[:, None].astype(np.float64), other[None].astype(np.float64))
    rows, columns = linear_sum_assignment(apart)
    if not len(rows):
        return Match(len(exact), 0, 0, None, None, None)
    found = apart[rows, columns]
    one, two = (filters.astype(np.float64) - MIDDLE for filters in (exact[rows], other[columns]))
    cosine = (one * two).sum(axis=1) / (np.linalg.norm(one, axis=1) * np.linalg.norm(two, axis=1))
    matched = int((found <= SAME).sum())
    return Match(
        len(exact), len(rows), matched, float(found.mean()), float(found.max()), float(cosine.mean())
    )


def run(setting: Setting, images: ImageSet, seed: int, samples: int, progress: Progress) -> Iterator[Run]:
    """Run all models of a seed: the exact one, the baseline, and one for each r."""
    exact = None
    for every, another in [(1, False), (1, True), *((every, False) for every in EVERY[1:])]:
        progress.step(f"{setting.what}, seed {seed}, " + ("another stream" if another else f"r = {every}"))
        stream = setting.config.stream(images, seed + ANOTHER_STREAM * another)
        model = replace(setting.config, repulsion_every=every).neurons(seed)
        about = (setting.key, seed, every, another)
        try:
            model.learn(stream, samples, progress=False)
        except FloatingPointError as error:
            yield Run(*about, failed=str(error))
            continue
        facts, filters = model.diagnosis_, model.centers_[model.learned_]
        exact = filters if exact is None else exact
        farthest = float(facts.domain_distance.max())
        yield Run(*about, None, int(facts.learned.sum()), len(facts.twins), farthest, match(exact, filters))


def speeds(setting: Setting, images: ImageSet) -> Iterator[Speed]:
    """Measure each r and the exact rule in turns, with models that have learned before."""
    config = setting.config
    x = config.stream(images, 0).read(int(TURN / (config.n_neurons**2 * config.size**2)) // 1000 * 1000)
    trained = config.neurons(0).partial_fit(x)
    models = {every: copy.deepcopy(trained).set_params(repulsion_every=every) for every in EVERY}
    for _ in range(TURNS):
        taken = {every: timed(model, x) for every, model in models.items()}
        for every, seconds in taken.items():
            yield Speed(setting.key, every, seconds, taken[1])


def timed(model: GaussianNeurons, x: np.ndarray) -> float:
    """Processor time per sample, in seconds."""
    begin = time.process_time()
    model.partial_fit(x)
    return (time.process_time() - begin) / len(x)


def images_for(setting: Setting, directory: str | None) -> ImageSet:
    """The published images, or bundled ones."""
    try:
        return data.load(setting.data, data.FULL, directory, download=False)
    except AbsentData:
        return data.load(setting.data, data.SAMPLE)


def on_one_core() -> None:
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def measure(keys: list[str], seeds: int | None, samples: int, directory: str | None) -> Results:
    """Run all settings, on one core."""
    on_one_core()
    results = Results(processor(), {}, [], [])
    chosen = [SETTINGS[key] for key in keys]
    turns = sum((seeds or setting.seeds) * (len(EVERY) + 1) for setting in chosen) + len(chosen)
    with Progress(turns) as progress:
        for setting in chosen:
            images = images_for(setting, directory)
            results.settings[setting.key] = about(setting, images, samples * setting.times)
            for seed in range(seeds or setting.seeds):
                results.runs += run(setting, images, seed, samples * setting.times, progress)
            progress.step(f"{setting.what}, speed")
            if setting.key in TIMED:
                results.speeds += speeds(setting, images)
            learned = [it.learned for it in results.runs if it.setting == setting.key and it.every == 1]
            progress.print(f"{setting.what}: {np.mean(learned):.1f} filters at r = 1, from {images.name}")
    return results


def about(setting: Setting, images: ImageSet, samples: int) -> dict[str, Any]:
    """The facts of a setting for the document."""
    config = setting.config
    return {
        "what": setting.what,
        "data": images.name,
        "samples": samples,
        "K": config.n_neurons,
        "D": config.size**2 * (images.images.shape[3] if images.images.ndim == 4 else 1),
        "width": config.width,
        "inhibition": config.inhibition,
        "learning_rate": config.learning_rate,
    }


def main() -> None:
    from benchmarks import repulsion_page

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seeds", type=int, help="for each setting; default: 3 to 10")
    parser.add_argument("--samples", type=int, default=SAMPLES, help="number of samples of each model")
    parser.add_argument(
        "--only", help=f"comma-separated list of {','.join(SETTINGS)}; the results are only printed"
    )
    parser.add_argument(
        "--data-dir", help=f"directory with mnist/ and cifar-10-batches-bin/ (default: ${VARIABLE})"
    )
    parser.add_argument("--speed", action="store_true", help="only measure the speeds")
    parser.add_argument("--render", action="store_true", help="run nothing, only write the document")
    arguments = parser.parse_args()
    keys = arguments.only.split(",") if arguments.only else list(SETTINGS)
    if unknown := [key for key in keys if key not in SETTINGS]:
        parser.error(f"unknown setting {unknown[0]!r}. Known: {', '.join(SETTINGS)}.")
    if arguments.render or arguments.speed:
        results = Results.read(RESULTS)
        if arguments.speed:
            on_one_core()
            results.speeds = [
                speed
                for key in TIMED
                for speed in speeds(SETTINGS[key], images_for(SETTINGS[key], arguments.data_dir))
            ]
    else:
        results = measure(keys, arguments.seeds, arguments.samples, arguments.data_dir)
    print(repulsion_page.terminal(results))
    if not arguments.only:
        results.write(RESULTS)
        repulsion_page.write(results, ROOT / "docs" / "performance")


if __name__ == "__main__":
    main()
