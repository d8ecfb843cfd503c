"""Sets on which no constant was chosen: the rest of the suite that `benchmarks.quality` takes its sets from.

    git clone https://github.com/gagolews/clustering-data-v1
    python -m benchmarks.held_out clustering-data-v1

The mean adjusted Rand index over three seeds of both values of `shape`, with all other parameters default,
and the numbers of clusters; beside HDBSCAN, and k-means that is told the number. Left out are the sets of
`benchmarks.quality`, also those there under another name, and sets with over 20,000 rows. Of the families
g2mg and h2mg, two normal clusters in up to 128 columns, those with the spread 30 are taken.
"""

import argparse
import warnings
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean

import joblib
import numpy as np
from sklearn.cluster import HDBSCAN, MiniBatchKMeans

from benchmarks.quality.results import score
from benchmarks.quality.sets import COMPACT, LabelledSet, load, prepared
from benchmarks.quality.systems import MOST_CLUSTERS
from benchmarks.quality.table import text
from gaussian_neurons import GaussianNeurons

BATTERIES = ("fcps", "graves", "other", "sipu", "uci", "wut", "g2mg", "h2mg")
KNOWN = ("uci/wdbc", "uci/statlog", "other/iris5")  # breast cancer, image segments, a part of iris
MOST_ROWS, SPREAD, SEEDS = 20_000, "_30", 3
GROUPS = {"real": ("uci",), "two normal clusters": ("g2mg", "h2mg")}  # the others: "plane and space"
HEAD = ("", "rows", "columns", "true", "compact", "any", "HDBSCAN", "k-means, told")


def held_out(folder: Path) -> Iterator[LabelledSet]:
    """The sets, in the order of their names."""
    used = {data.name for data in load()} | set(KNOWN)
    for path in sorted(folder.glob("*/*.data.gz")):
        name = f"{path.parent.name}/{path.name.removesuffix('.data.gz')}"
        battery = path.parent.name
        if battery not in BATTERIES or name in used or (battery[1:] == "2mg" and not name.endswith(SPREAD)):
            continue
        x = np.loadtxt(path, ndmin=2)
        if len(x) <= MOST_ROWS:
            labels = np.loadtxt(str(path).replace(".data.", ".labels0."), dtype=np.int64)
            yield prepared(name, x, labels, COMPACT)


def ours(data: LabelledSet, shape: str) -> tuple[float, float]:
    """The mean index and number of clusters; sets are presented as in `benchmarks.quality`."""
    found = []
    for seed in range(SEEDS):
        model = GaussianNeurons(MOST_CLUSTERS, shape=shape, random_state=seed)
        for _ in range(data.presentations):
            model.partial_fit(data.x)
        found.append(score(data.labels, model.predict(data.x)))
    return fmean(index for index, _ in found), fmean(count for _, count in found)


def measured(data: LabelledSet) -> list[tuple[float, float]]:
    """Index and number of clusters of each system."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        told = [
            score(data.labels, MiniBatchKMeans(data.clusters, random_state=seed).fit_predict(data.x))
            for seed in range(SEEDS)
        ]
        return [
            ours(data, "compact"),
            ours(data, "any"),
            score(data.labels, HDBSCAN(copy=True).fit_predict(data.x)),
            (fmean(index for index, _ in told), data.clusters),
        ]


def group_of(data: LabelledSet) -> str:
    battery = data.name.split("/")[0]
    return next((name for name, members in GROUPS.items() if battery in members), "plane and space")


def main() -> None:
    """Print a row for each set, and the means of the groups."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--jobs", type=int, default=-1, help="processes; default: one for each core")
    options = parser.parse_args()
    sets = list(held_out(options.folder))
    found = joblib.Parallel(n_jobs=options.jobs)(joblib.delayed(measured)(data) for data in sets)
    rows, means = [HEAD], []
    for data, scores in zip(sets, found, strict=True):
        cells = [f"{index:.2f} ({count:.3g})" for index, count in scores]
        rows.append((data.name, f"{len(data.x)}", f"{data.x.shape[1]}", f"{data.clusters}", *cells))
    for group in ("plane and space", *GROUPS):
        chosen = [
            [index for index, _ in scores]
            for data, scores in zip(sets, found, strict=True)
            if group_of(data) == group
        ]
        means.append(
            (f"{group}, {len(chosen)} sets", "", "", "", *map("{:.3f}".format, np.mean(chosen, axis=0)))
        )
    print(text([*rows, *means]))


if __name__ == "__main__":
    main()
