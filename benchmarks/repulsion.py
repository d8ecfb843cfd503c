"""Repulsion at every r-th sample, r times as strong: what it changes in the filters, and what it saves.

    python -m benchmarks.repulsion [--seeds N] [--samples N] [--only 2a,4] [--data-dir DIR]
    python -m benchmarks.repulsion --speed      # speeds anew, the filters as they were kept: a minute
    python -m benchmarks.repulsion --drawn      # table, document and picture from the kept results alone

On the settings of the paper's Figures 2 and 4: for each seed and r, a model with the same start and the same
stream as the exact one (r = 1). The yardstick is a second exact model with the same start, but another
stream: what differs less than these two do does not matter. Speeds are taken turn by turn in one process.
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

from benchmarks.quality.progress import Progress
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
SAME = 0.1  # largest distance in a pixel of two filters that are the same: a tenth from black to white
MIDDLE = 0.5  # of the domain
ANOTHER_STREAM = 1000  # added to a seed
TURNS, TURN = 7, 5e8  # repetitions of a speed; pairs times dimensions in one
TIMED = ("2a", "4")  # settings whose speed is taken: the others have the same K and D


@dataclass(frozen=True)
class Setting:
    """One of the paper's."""

    key: str
    what: str
    config: layer.LayerConfig
    data: str
    seeds: int = SEEDS
    times: int = 1  # as many samples as the others


SETTINGS = {
    setting.key: setting
    for setting in (
        Setting("2a", "2a, 2b, 2e", figure2a.Config(), "mnist"),
        Setting("2c", "2c: half the width", figure2c.Config(), "mnist"),
        Setting("2d", "2d: less inhibition", figure2d.Config(), "mnist", MANY_SEEDS),  # no two are alike
        Setting("2d long", "2d, ten times as long", figure2d.Config(), "mnist", FEW_SEEDS, times=10),
        Setting("2f", "2f: 1s only", figure2f.Config(), "mnist"),
        Setting("4", "4: in colour", figure4.Config(), "cifar10", FEW_SEEDS),
    )
}


@dataclass(frozen=True)
class Match:
    """Filters of the exact model, and those of another, one to one."""

    filters: int  # learned by the exact model
    pairs: int  # as many as the model with fewer has
    matched: int  # pairs no farther apart than SAME
    mean: float | None  # distance of the pairs in a pixel, as `similarity.distance` has it
    largest: float | None
    cosine: float | None  # the mean over the pairs, seen from the middle of the domain


@dataclass(frozen=True)
class Run:
    """A model beside the exact one with the same start."""

    setting: str
    seed: int
    every: int
    another_stream: bool
    failed: str | None = None
    learned: int = 0
    twins: int = 0
    farthest: float = 0.0  # of all neurons from the middle of the domain, 1 at its corners
    match: Match | None = None


@dataclass(frozen=True)
class Speed:
    """A turn of learning, and the exact one beside it."""

    setting: str
    every: int
    seconds: float  # a sample
    exact_seconds: float


@dataclass
class Results:
    """All that was measured."""

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
        """Replace the file, a fact a line."""
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
    """Pair filters (n, D) with others (m, D), one to one, so that all together are closest."""
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
    """All models of a seed: the exact one, the yardstick, and one for each r."""
    exact = None
    for every, another in [(1, False), (1, True), *((every, False) for every in EVERY[1:])]:
        progress.say(f"{setting.what}, seed {seed}, " + ("another stream" if another else f"r = {every}"))
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
    """Every r beside the exact rule, turn by turn, in models that have learned a while."""
    config = setting.config
    x = config.stream(images, 0).read(int(TURN / (config.n_neurons**2 * config.size**2)) // 1000 * 1000)
    begun = config.neurons(0).partial_fit(x)
    models = {every: copy.deepcopy(begun).set_params(repulsion_every=every) for every in EVERY}
    for _ in range(TURNS):
        taken = {every: timed(model, x) for every, model in models.items()}
        for every, seconds in taken.items():
            yield Speed(setting.key, every, seconds, taken[1])


def timed(model: GaussianNeurons, x: np.ndarray) -> float:
    """Seconds a sample, of the processor."""
    begin = time.process_time()
    model.partial_fit(x)
    return (time.process_time() - begin) / len(x)


def images_for(setting: Setting, directory: str | None) -> ImageSet:
    """The published images, or what is bundled in their place."""
    try:
        return data.load(setting.data, data.FULL, directory, download=False)
    except AbsentData:
        return data.load(setting.data, data.SAMPLE)


def on_one_core() -> None:
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def measure(keys: list[str], seeds: int | None, samples: int, directory: str | None) -> Results:
    """Run everything, on one core."""
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
            progress.say(f"{setting.what}, speed")
            if setting.key in TIMED:
                results.speeds += speeds(setting, images)
            learned = [it.learned for it in results.runs if it.setting == setting.key and it.every == 1]
            progress.print(f"{setting.what}: {np.mean(learned):.1f} filters at r = 1, from {images.name}")
    return results


def about(setting: Setting, images: ImageSet, samples: int) -> dict[str, Any]:
    """What a reader needs to know."""
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
    parser.add_argument("--seeds", type=int, help="for each setting (if not told: 3 to 10)")
    parser.add_argument("--samples", type=int, default=SAMPLES, help="that each model learns from")
    parser.add_argument("--only", help=f"some of {','.join(SETTINGS)}; prints alone, keeps nothing")
    parser.add_argument(
        "--data-dir", help=f"where mnist/ and cifar-10-batches-bin/ lie (default: ${VARIABLE})"
    )
    parser.add_argument("--speed", action="store_true", help="take speeds alone")
    parser.add_argument("--drawn", action="store_true", help="run nothing")
    arguments = parser.parse_args()
    keys = arguments.only.split(",") if arguments.only else list(SETTINGS)
    if unknown := [key for key in keys if key not in SETTINGS]:
        parser.error(f"no setting {unknown[0]!r}: there are {', '.join(SETTINGS)}.")
    if arguments.drawn or arguments.speed:
        results = Results.read(RESULTS)
        if arguments.speed:
            on_one_core()
            timed_ones = [(SETTINGS[key], images_for(SETTINGS[key], arguments.data_dir)) for key in TIMED]
            results.speeds = [it for setting, images in timed_ones for it in speeds(setting, images)]
    else:
        results = measure(keys, arguments.seeds, arguments.samples, arguments.data_dir)
    print(repulsion_page.terminal(results))
    if not arguments.only:
        results.write(RESULTS)
        repulsion_page.write(results, ROOT / "docs" / "performance")


if __name__ == "__main__":
    main()
