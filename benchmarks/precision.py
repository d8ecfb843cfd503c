"""Whether float32 and float64 learn alike: learned filters and equal centers on the settings of 2d and 3a.

    python -m benchmarks.precision                          # all seeds that have no stored result
    python -m benchmarks.precision --seeds 8 --samples 40000 --reference

Neurons that meet are the hardest case: how far apart they are is soon below the precision of their centers.
With --reference, the NumPy reference runs in both precisions as well, at 90 microseconds a sample. Results
are stored in benchmarks/results/precision.json; an interrupted command continues.
"""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path

import joblib
import numpy as np
from scipy.stats import fisher_exact, mannwhitneyu

from benchmarks import named
from benchmarks.progress import Progress
from gaussian_neurons import Neurons
from gaussian_neurons.base.files import replace_file
from gaussian_neurons.clustering.diagnosis import diagnose, find_twins
from gaussian_neurons.datasets import mnist
from gaussian_neurons.experiments import figure2d, figure3a
from gaussian_neurons.learning import native, reference
from gaussian_neurons.learning.rule import Rule

RESULTS = Path(__file__).parent / "results" / "precision.json"
SETTINGS = {"2d": figure2d.Config(), "3a": figure3a.Config()}
BACKENDS = {"core": native, "reference": reference}
CHUNK = 100_000  # samples
LAST = 10_000  # samples that decide which neurons learned

Arm = tuple[str, str, int, str]  # setting, backend, samples, precision
Results = dict[str, list[list[int]]]  # name of an arm → for each seed: learned filters, equal centers


def run(arm: Arm, seed: int) -> list[int]:
    """How many filters were learned, and how many neurons have the center of another."""
    setting, backend, samples, precision = arm
    config = SETTINGS[setting]
    stream = config.stream(mnist(), seed)
    centers = config.neurons(seed).partial_fit(stream.read(1)).initial_centers_
    neurons = Neurons.at(centers, config.width, np.dtype(precision).type)
    rule = Rule(config.learning_rate, config.inhibition)
    stream.seek(0)
    while neurons.seen < samples:
        x = stream.read(min(CHUNK, samples - neurons.seen)).astype(precision)
        after = BACKENDS[backend].learn(neurons.centers, neurons.widths, x, None, rule, neurons.seen)
        neurons = neurons.after(*after, len(x))
    facts = diagnose(neurons, x[-LAST:], np.zeros(x.shape[1]), np.ones(x.shape[1]))
    return [int(facts.learned.sum()), int((find_twins(neurons) >= 0).sum())]


def table(results: Results, arms: list[Arm]) -> Iterator[str]:
    """A line for each arm, and one that compares the two precisions."""
    for arm in arms:
        setting, backend, samples, precision = arm
        learned, equal = np.array(results[name_of(arm)]).T
        together = int((equal > 0).sum())
        yield (
            f"{setting} {backend} {precision}, {samples:,} samples, {len(learned)} seeds: "
            f"{learned.mean():.2f} filters; equal centers in {together} seeds, {equal.sum()} in all"
        )
        if precision == "float64":
            other, others_equal = np.array(results[name_of((*arm[:3], "float32"))]).T
            before = int((others_equal > 0).sum())
            odds = [[before, len(other) - before], [together, len(learned) - together]]
            p_learned, p_equal = mannwhitneyu(other, learned).pvalue, fisher_exact(odds)[1]
            yield f"   the two precisions: p = {p_learned:.2f} for filters, {p_equal:.2f} for equal centers"


def name_of(arm: Arm) -> str:
    """The name of an arm in the file."""
    return " ".join(map(str, arm))


def main() -> None:
    """Run the cases that have no stored result, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seeds", type=int, default=128)
    parser.add_argument("--samples", type=int, default=10_000_000)
    parser.add_argument("--settings", default="2d,3a")
    parser.add_argument("--reference", action="store_true", help="also the NumPy reference")
    parser.add_argument("--jobs", type=int, default=joblib.cpu_count())
    arguments = parser.parse_args()
    arms: list[Arm] = [
        (setting, backend, arguments.samples, precision)
        for setting in named.chosen(SETTINGS, arguments.settings, "setting")
        for backend in (BACKENDS if arguments.reference else ("core",))
        for precision in ("float32", "float64")
    ]
    results: Results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    left = [
        (arm, seed) for arm in arms for seed in range(len(results.get(name_of(arm), [])), arguments.seeds)
    ]
    calls = joblib.Parallel(arguments.jobs, return_as="generator")(joblib.delayed(run)(*it) for it in left)
    with Progress(len(left)) as progress:
        for (arm, seed), found in zip(left, calls, strict=True):
            progress.step(f"{name_of(arm)} seed {seed}")
            results.setdefault(name_of(arm), []).append(found)
            lines = [f"{json.dumps(name)}: {json.dumps(each)}" for name, each in results.items()]
            replace_file(RESULTS, ("{\n" + ",\n".join(lines) + "\n}\n").encode())
    print("\n".join(table(results, arms)))


if __name__ == "__main__":
    main()
