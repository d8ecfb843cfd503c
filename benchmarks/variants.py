"""Ablation of an automatic width, on the sets and the stream of `benchmarks.quality`.

    python -m benchmarks.variants                            # every variant; stores the results
    python -m benchmarks.variants --only 'K = 16' 'K = 30'   # some variants, the others from stored results
    python -m benchmarks.variants --render                   # only print the stored results

Each variant changes one thing. The results are stored in benchmarks/results/variants.json, and
`python -m benchmarks.quality --render` writes docs/quality.md from them.
"""

import argparse
import json
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any

import joblib
import numpy as np

from benchmarks.progress import Progress
from benchmarks.quality import drift
from benchmarks.quality.results import score
from benchmarks.quality.sets import FAMILIES, HALVES, PRESENTATIONS, SHAPED, SMALL, LabelledSet, load
from benchmarks.quality.systems import MOST_CLUSTERS, Array
from benchmarks.quality.table import markdown, text
from gaussian_neurons import GaussianNeurons
from gaussian_neurons.base.files import replace_file
from gaussian_neurons.clustering import tree
from gaussian_neurons.learning import reference_shares, relocation

RESULTS = Path(__file__).parent / "results" / "variants.json"
DRIFT = "drift"
EVERYWHERE = (*FAMILIES, DRIFT)
SETS = FAMILIES
AS_IT_IS = "as it is"


def responses(x: Array, centers: Array, widths: Array) -> Array:
    """f_i(x) in place of the shares: nothing divides a sample among the neurons, (K,)."""
    return np.exp(-((x - centers) ** 2).sum(axis=1) / widths)


def winner_takes_all(x: Array, centers: Array, widths: Array) -> Array:
    """1 for the neuron with the largest share, 0 for all others, (K,)."""
    log_density = -((x - centers) ** 2).sum(axis=1) / widths - len(x) / 2 * np.log(widths)
    return (np.arange(len(centers)) == log_density.argmax()).astype(np.float64)


def no_noise(rows: Array, label: Array, old: Array, domain: tuple[Array, Array]) -> Array:
    """No group is noise, (groups,)."""
    return np.zeros(len(old), bool)


def no_halos(_centers: Array, _variances: Array, _counts: Array, groups: Array) -> Array:
    """Halos are groups of their own."""
    return np.unique(groups, return_inverse=True)[1]


def no_least_share(*_: Any) -> float:
    """Every group with a sample is large enough."""
    return 0.0


@dataclass(frozen=True)
class Variant:
    """What is changed, and where that can make a difference."""

    settings: Mapping[str, Any] = field(default_factory=dict)  # of the estimator
    patches: Sequence[tuple[Any, str, Any]] = ()  # module, attribute, value
    present: Callable[[GaussianNeurons, LabelledSet], Any] | None = None  # None: as `benchmarks.quality` does
    where: tuple[str, ...] = EVERYWHERE
    other_shape: bool = False


def as_it_is(model: GaussianNeurons, data: LabelledSet) -> None:
    for _ in range(data.presentations):
        model.partial_fit(data.x)


def one_pass(model: GaussianNeurons, data: LabelledSet) -> None:
    model.partial_fit(data.x)


def by_fit(model: GaussianNeurons, data: LabelledSet) -> None:
    model.fit(data.x)


def in_numpy(function: Callable[..., Array]) -> Variant:
    """Other shares, in the NumPy twin of the rule."""
    return Variant({"backend": "reference"}, [(reference_shares, "shares", function)])


VARIANTS: dict[str, Variant] = {
    AS_IT_IS: Variant(),
    "one pass over each set": Variant(present=one_pass, where=SETS),
    "`fit`": Variant(present=by_fit, where=SETS),
    "start on random samples": Variant({"init": "samples"}),
    "start on random samples, frozen": Variant({"init": "samples", "learning_rate": 0.0}),
    "start frozen": Variant({"learning_rate": 0.0}),
    "no competition: responses instead of shares": in_numpy(responses),
    "hard winner instead of shares": in_numpy(winner_takes_all),
    "rate 0.005": Variant({"learning_rate": 0.005}),
    "rate 0.01": Variant({"learning_rate": 0.01}),
    "rate 0.05": Variant({"learning_rate": 0.05}),
    "K = 16": Variant({"n_neurons": 16}),
    "K = 30": Variant({"n_neurons": 30}),
    "K = 100": Variant({"n_neurons": 100}),
    "noise groups kept": Variant(patches=[(tree, "_is_noise", no_noise)]),
    "small groups kept": Variant(patches=[(tree, "least_share", no_least_share), (tree, "SMALLEST", 0.0)]),
    "halos kept": Variant(patches=[(tree, "_without_halos", no_halos)]),
    "all directions counted": Variant(patches=[(tree, "AXES", 1e9)]),
    "evidence of the recent rows only": Variant(patches=[(tree, "REPRESENTED", 0)]),
    "softness 1": Variant(patches=[(tree, "SOFTNESS", 1.0)], where=(SHAPED,)),
    "softness 2": Variant(patches=[(tree, "SOFTNESS", 2.0)], where=(SHAPED,)),
    "softness 8": Variant(patches=[(tree, "SOFTNESS", 8.0)], where=(SHAPED,)),
    "least part 0.02": Variant(patches=[(tree, "LEAST_PART", 0.02)], where=(SHAPED,)),
    "least part 0.06": Variant(patches=[(tree, "LEAST_PART", 0.06)], where=(SHAPED,)),
    "the other `shape`": Variant(other_shape=True),
    "neurons are not relocated": Variant(patches=[(relocation, "MARGIN", np.inf)]),
    "start on random samples, not relocated": Variant({"init": "samples"}, [(relocation, "MARGIN", np.inf)]),
    "relocated for half of the gain": Variant(patches=[(relocation, "MARGIN", 4.0)]),
    "the best groups at each review": Variant(patches=[(tree, "MARGIN", 0.0)]),
}


@dataclass(frozen=True)
class Run:
    """The results of a variant on a set, or on the stream, for seeds 0, 1, ..."""

    variant: str
    set: str  # or DRIFT
    family: str  # or DRIFT
    half: str  # "" for the stream
    scores: list[float]  # adjusted Rand index
    exact: list[float]  # part of the predictions with the true number of clusters


@contextmanager
def patched(patches: Sequence[tuple[Any, str, Any]]) -> Iterator[None]:
    """Replace attributes of modules for a while."""
    before = [(module, name, getattr(module, name)) for module, name, _ in patches]
    try:
        for module, name, value in patches:
            setattr(module, name, value)
        yield
    finally:
        for module, name, value in before:
            setattr(module, name, value)


def model_of(variant: Variant, seed: int, shape: str) -> GaussianNeurons:
    """A new model."""
    if variant.other_shape:
        shape = "compact" if shape == "any" else "any"
    settings = {"n_neurons": MOST_CLUSTERS, "random_state": seed, "shape": shape}
    return GaussianNeurons(**settings | dict(variant.settings))


def run_set(name: str, data: LabelledSet, seeds: int) -> Run:
    """All seeds of a variant on a set."""
    variant, scores, exact = VARIANTS[name], [], []
    with patched(variant.patches), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in range(seeds):
            model = model_of(variant, seed, data.shape)
            (variant.present or as_it_is)(model, data)
            index, found = score(data.labels, model.predict(data.x))
            scores.append(round(index, 4))
            exact.append(float(found == data.clusters))
    return Run(name, data.name, data.family, data.half, scores, exact)


def run_drift(name: str, seeds: int) -> Run:
    """All seeds of a variant on the stream."""
    return Run(name, DRIFT, DRIFT, "", *drift_scores(VARIANTS[name], seeds))


def drift_scores(variant: Variant, seeds: int) -> tuple[list[float], list[float]]:
    """The means over the windows, for each seed: each window is predicted, then learned."""
    scores, exact = [], []
    with patched(variant.patches), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in range(seeds):
            model, windows = model_of(variant, seed, "compact"), []
            for window in drift.windows():
                if window.t > 0:
                    index, found = score(window.labels, model.predict(window.rows))
                    windows.append((index, found == window.clusters))
                model.partial_fit(window.rows)
            scores.append(round(fmean(index for index, _ in windows), 4))
            exact.append(round(fmean(same for _, same in windows), 4))
    return scores, exact


def run(names: Sequence[str], sets: Sequence[LabelledSet], seeds: int, jobs: int, cached: bool) -> list[Run]:
    """Run variants, and store the results as they come; returns all stored results."""
    runs = {(run.variant, run.set): run for run in read()}
    known = {pair for pair, run in runs.items() if cached and len(run.scores) >= seeds}
    tasks = []
    for name in names:
        where = VARIANTS[name].where
        tasks += [
            joblib.delayed(run_set)(name, data, seeds)
            for data in sets
            if data.family in where and (name, data.name) not in known
        ]
        if DRIFT in where and (name, DRIFT) not in known:
            tasks.append(joblib.delayed(run_drift)(name, seeds))
    with Progress(len(tasks)) as progress:
        for found in joblib.Parallel(n_jobs=jobs, return_as="generator_unordered")(tasks):
            progress.step(f"{found.variant}: {found.set}")
            runs[found.variant, found.set] = found
            write(runs.values())
    return list(runs.values())


def read() -> list[Run]:
    """The stored results."""
    found = json.loads(RESULTS.read_text())["runs"] if RESULTS.exists() else []
    return [Run(**facts) for facts in found if facts["variant"] in VARIANTS]


def write(runs: Sequence[Run]) -> None:
    """Write the file, one line for each variant and set."""
    order = list(VARIANTS)
    runs = sorted(runs, key=lambda run: (order.index(run.variant), run.family, run.set))
    lines = ",\n".join(json.dumps(asdict(run)) for run in runs)
    replace_file(RESULTS, f'{{"runs": [\n{lines}\n]}}\n'.encode())


# ---- tables -------------------------------------------------------------------------------------------


def common_seeds(runs: Sequence[Run]) -> int:
    """How many seeds all runs have; the tables use only these."""
    return min(len(run.scores) for run in runs)


def mean_of(runs: Sequence[Run], variant: str, family: str, half: str | None = None) -> float | None:
    """The mean index of a variant over the sets of a family, or a half of them; None without results."""
    seeds = common_seeds(runs)
    found = [
        fmean(run.scores[:seeds])
        for run in runs
        if (run.variant, run.family) == (variant, family) and half in (None, run.half)
    ]
    return fmean(found) if found else None


def rows(runs: Sequence[Run]) -> list[tuple[str, ...]]:
    """A row for each variant, below a head: each family, with its halves in brackets, and the stream."""
    counts = [len({run.set for run in runs if run.family == family}) for family in FAMILIES]
    head = [f"{family}, {count} sets" for family, count in zip(FAMILIES, counts, strict=True)]
    found = [("", *head, "moving clusters")]
    for variant in VARIANTS:
        cells = [_cell(runs, variant, family) for family in FAMILIES]
        moving = mean_of(runs, variant, DRIFT)
        found.append((variant, *cells, "–" if moving is None else f"{moving:.3f}"))
    return [*found, ("standard error of the first row", *(_error(runs, family) for family in EVERYWHERE))]


def standard_error(runs: Sequence[Run], family: str) -> float | None:
    """That of the mean of AS_IT_IS over the seeds, for these sets; None for fewer than two seeds."""
    seeds = common_seeds(runs)
    scores = [run.scores[:seeds] for run in runs if (run.variant, run.family) == (AS_IT_IS, family)]
    if not scores or seeds < 2:
        return None
    return float(np.mean(scores, axis=0).std(ddof=1) / np.sqrt(seeds))


def _error(runs: Sequence[Run], family: str) -> str:
    error = standard_error(runs, family)
    return "–" if error is None else f"{error:.3f}"


def _cell(runs: Sequence[Run], variant: str, family: str) -> str:
    whole = mean_of(runs, variant, family)
    if whole is None:
        return "–"
    halves = [mean_of(runs, variant, family, half) for half in HALVES]
    return f"{whole:.3f} ({', '.join('–' if half is None else f'{half:.3f}' for half in halves)})"


DOCUMENT = """\
## What each part contributes

`python -m benchmarks.variants`: the mean adjusted Rand index over {seeds} seeds if one thing is changed. In
brackets are the means over two halves of the sets, which a hash of their names decides. The constants of the
defaults were chosen while looking at all these sets and at the stream, so neither half is held out: the
halves show how much a difference depends on the choice of sets. The standard error is that over the seeds.
A dash means that the change has no meaning there. Moving clusters are those of the section above.

{table}

- *One pass over each set*: sets with fewer than {small:,} rows are otherwise presented {times} times.
- *Start frozen*: neurons stay where the first 1,000 samples place them.
- *No competition*: a neuron learns each sample with its response f instead of its share, so nothing divides
  the sample among the neurons.
- *Hard winner*: the neuron with the largest share takes the whole sample.
- *Evidence of the recent rows only*: neurons represent the last 1,000 samples, instead of up to
  {represented} samples each.
- *Least part 0.06* changes nothing with {neurons} neurons: the part of two neurons, {two:g}, is smaller.
- *The other `shape`*: "any" for compact sets, real sets and the stream, "compact" for the shapes.
"""


def document(runs: Sequence[Run]) -> str:
    """The section of docs/quality.md."""
    return DOCUMENT.format(
        seeds=common_seeds(runs),
        table=markdown(rows(runs)),
        small=SMALL,
        times=PRESENTATIONS,
        represented=tree.REPRESENTED,
        neurons=MOST_CLUSTERS,
        two=2 / MOST_CLUSTERS,
    )


def main() -> None:
    """Parse and run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=-1, help="processes; default: one for each core")
    parser.add_argument("--data", type=Path, help="the directory with the sets")
    parser.add_argument("--only", nargs="+", choices=VARIANTS, default=list(VARIANTS), metavar="VARIANT")
    parser.add_argument("--cached", action="store_true", help="run only what has no stored result")
    parser.add_argument("--render", action="store_true", help="run nothing")
    options = parser.parse_args()
    runs = read()
    if not options.render:
        runs = run(options.only, load(options.data), options.seeds, options.jobs, options.cached)
    print(text(rows(runs)))


if __name__ == "__main__":
    main()
