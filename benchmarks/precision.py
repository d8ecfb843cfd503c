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
from typing import Any

import joblib
import numpy as np
from scipy.stats import fisher_exact, mannwhitneyu

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

Case = tuple[str, str, str, int, int]  # setting, backend, precision, samples, seed


def run(case: Case) -> dict[str, int]:
    """How many filters were learned, and how many neurons have the center of another."""
    setting, backend, precision, samples, seed = case
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
    return {"learned": int(facts.learned.sum()), "equal": int((find_twins(neurons) >= 0).sum())}


def table(results: dict[str, dict[str, int]], cases: list[Case]) -> Iterator[str]:
    """A line for each arm, and one that compares the two precisions of each backend."""
    arms: dict[tuple[Any, ...], list[dict[str, int]]] = {}
    for case in cases:
        if key(case) in results:
            arms.setdefault((case[0], case[1], case[3], case[2]), []).append(results[key(case)])
    for (setting, backend, samples, precision), found in arms.items():
        learned, equal = ([it[name] for it in found] for name in ("learned", "equal"))
        together = sum(it > 0 for it in equal)
        yield (
            f"{setting} {backend} {precision}, {samples:,} samples, {len(found)} seeds: "
            f"{np.mean(learned):.2f} filters; equal centers in {together} seeds, {sum(equal)} in all"
        )
        other = arms.get((setting, backend, samples, "float32"), [])
        if precision == "float64" and other:
            before = sum(it["equal"] > 0 for it in other)
            odds = [[before, len(other) - before], [together, len(found) - together]]
            p_equal, p_learned = (
                fisher_exact(odds)[1],
                mannwhitneyu([it["learned"] for it in other], learned).pvalue,
            )
            yield f"   the two precisions: p = {p_learned:.2f} for filters, {p_equal:.2f} for equal centers"


def key(case: Case) -> str:
    """The name of a case in the file."""
    return " ".join(map(str, case))


def main() -> None:
    """Run the cases that have no stored result, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seeds", type=int, default=128)
    parser.add_argument("--samples", type=int, default=10_000_000)
    parser.add_argument("--settings", default="2d,3a")
    parser.add_argument("--reference", action="store_true", help="also the NumPy reference")
    parser.add_argument("--jobs", type=int, default=joblib.cpu_count())
    arguments = parser.parse_args()
    cases = [
        (setting, backend, precision, arguments.samples, seed)
        for setting in arguments.settings.split(",")
        for backend in (BACKENDS if arguments.reference else ("core",))
        for precision in ("float32", "float64")
        for seed in range(arguments.seeds)
    ]
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    left = [case for case in cases if key(case) not in results]
    calls = joblib.Parallel(arguments.jobs, return_as="generator")(joblib.delayed(run)(it) for it in left)
    with Progress(len(left)) as progress:
        for case, found in zip(left, calls, strict=True):
            progress.step(f"{case[0]} {case[1]} {case[2]} seed {case[4]}")
            results[key(case)] = found
            replace_file(RESULTS, (json.dumps(results, indent=0) + "\n").encode())
    print("\n".join(table(results, cases)))


if __name__ == "__main__":
    main()
