"""Ablation of the constants of an automatic width, on the suite of `benchmarks.quality`.

    python -m benchmarks.variants [--seeds N] [--data DIR]

Prints the mean adjusted Rand index and the number of sets with the exact number of clusters for each variant,
which changes one constant. Sets with fewer than 2,000 rows are presented ten times.
"""

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import joblib
import numpy as np

from benchmarks.quality.results import score
from benchmarks.quality.sets import LabelledSet, load
from gaussian_neurons import GaussianNeurons
from gaussian_neurons.clustering import ladder

NEURONS = 50
VARIANTS: dict[str, dict[str, Any]] = {
    "default": {},
    "learning frozen": {"learning_rate": 1e-9},
    "K = 16": {"n_neurons": 16},
    "K = 30": {"n_neurons": 30},
    "K = 100": {"n_neurons": 100},
    "one layer, width 1/2 of the typical squared distance": {"RUNGS": 1},
    "one layer, 1/8": {"RUNGS": 1, "WIDEST": 1 / 8},
    "one layer, 1/32": {"RUNGS": 1, "WIDEST": 1 / 32},
    "one layer, 1/128": {"RUNGS": 1, "WIDEST": 1 / 128},
    "3 layers, each 16 times the next": {"RUNGS": 3, "RATIO": 16.0},
    "9 layers, each twice the next": {"RUNGS": 9, "RATIO": 2.0},
    "widest layer twice as wide": {"WIDEST": 1.0},
    "half the learning rate": {"RATE": 0.05},
    "twice the learning rate": {"RATE": 0.2},
    "inhibition 1/2": {"inhibition": 0.5},
    "inhibition 1": {"inhibition": 1.0},
    "repulsion every 2nd sample": {"repulsion_every": 2},
    "repulsion every 4th sample": {"repulsion_every": 4},
    "repulsion every 8th sample": {"repulsion_every": 8},
    "repulsion every 16th sample": {"repulsion_every": 16},
    "start on samples": {"init": "samples"},
    "silhouettes of 250 rows": {"LOOKED_AT": 250},
    "silhouettes of 1000 rows": {"LOOKED_AT": 1000},
    "the best layer, not the widest of equally good ones": {"AS_GOOD": 1.0},
    "no test whether there is more than one cluster": {"VALLEY": np.inf, "ROWS_OF_A_CLUSTER": 0},
    "sparse groups are clusters": {"SPARSE": np.inf},
}


def main() -> None:
    """Run every variant."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--only", nargs="+", choices=VARIANTS, default=list(VARIANTS), metavar="VARIANT")
    arguments = parser.parse_args()
    sets = [data for data in load(arguments.data) if data.of_suite]
    if not sets:
        parser.exit(1, "The suite was not found: pass its directory with --data.\n")
    print(f"{'':54} mean ARI   exact count of {len(sets)}   one cluster")
    for name in arguments.only:
        changed = VARIANTS[name]
        tasks = [joblib.delayed(run)(changed, data, seed) for data in sets for seed in range(arguments.seeds)]
        found = np.array(joblib.Parallel(n_jobs=-1)(tasks))
        exact, one = found[:, 1:].sum(axis=0) / arguments.seeds
        print(f"{name:54} {found[:, 0].mean():8.3f} {exact:13.1f} {one:17.1f}", flush=True)


def run(changed: Mapping[str, Any], data: LabelledSet, seed: int) -> tuple[float, bool, bool]:
    """The index, whether the number of clusters is exact, and whether it is one."""
    before = {name: getattr(ladder, name) for name in changed if name.isupper()}
    try:
        for name in before:
            setattr(ladder, name, changed[name])
        given = {name: value for name, value in changed.items() if name not in before}
        model = GaussianNeurons(**{"n_neurons": NEURONS, "random_state": seed} | given)
        for _ in range(data.presentations):
            model.partial_fit(data.x)
        index, _ = score(data.labels, model.predict(data.x))
        return index, model.n_clusters_ == data.clusters, model.n_clusters_ == 1
    finally:
        for name, value in before.items():
            setattr(ladder, name, value)


if __name__ == "__main__":
    main()
