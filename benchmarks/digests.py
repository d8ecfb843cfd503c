"""Digests of what a set of runs learns: versions of the library with equal digests learn the same bits.

    python -m benchmarks.digests > before.json     # then change the code
    python -m benchmarks.digests before.json       # compares; the exit status is 1 if a run differs

The bits depend on the processor and the compiler, so both commands must run on the same machine.
"""

import argparse
import hashlib
import json
import sys
import tempfile
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.progress import Progress
from gaussian_neurons import GaussianNeurons, sweep
from gaussian_neurons.datasets import mnist_sample, photographs
from gaussian_neurons.datasets.synthetic import Drifting, Mixture
from gaussian_neurons.sampling import Neighbourhoods, Patches

Array = NDArray[Any]
Facts = dict[str, Any]

CHUNKS = (1, 7, 300, 1001, 4000)  # random chunk sizes


def digest(*arrays: Any) -> str:
    """A short hash of the types, shapes and bits of arrays."""
    total = hashlib.sha256()
    for each in arrays:
        array = np.ascontiguousarray(each)
        total.update(f"{array.dtype.str}{array.shape}".encode() + array.tobytes())
    return total.hexdigest()[:16]


def facts(model: GaussianNeurons, rows: Array) -> Facts:
    """The digests of a model, and of its predictions for some rows."""
    events = model.events_
    timeline = " ".join(f"{event.samples}{event.kind[0]}{event.cluster}" for event in events)
    return {
        "seen": model.n_samples_seen_,
        "centers": digest(model.centers_),
        "widths": digest(model.widths_),
        "start": digest(model.initial_centers_),
        "learned": digest(model.learned_),
        "labels": digest(model.predict(rows)),
        "clusters": digest(model.cluster_numbers_, model.neuron_clusters_),
        "cluster_centers": digest(model.cluster_centers_),
        "scores": digest(model.score_samples(rows)),
        "events": digest(*[event.center for event in events]) + timeline[:400],
        "n_clusters": model.n_clusters_,
    }


def blobs(count: int, columns: int = 3, clusters: int = 6, dtype: type = np.float64) -> Array:
    """Rows of round clusters."""
    random = np.random.default_rng(0)
    centers = random.uniform(0, 10, (clusters, columns))
    return random.normal(centers[random.integers(clusters, size=count)], 0.4).astype(dtype)


def in_chunks(model: GaussianNeurons, rows: Array, widths: Array | None = None) -> GaussianNeurons:
    """Learn rows in random chunk sizes."""
    random, begin = np.random.default_rng(1), 0
    while begin < len(rows):
        end = min(len(rows), begin + int(random.choice(CHUNKS)))
        part = None if widths is None else widths[begin:end]
        model.partial_fit(rows[begin:end], sample_width=part)
        begin = end
    return model


# ---- runs -------------------------------------------------------------------------------------------


def given_width(dtype: type) -> Facts:
    rows = blobs(20_000, dtype=dtype)
    return facts(in_chunks(GaussianNeurons(16, width=2.0, random_state=3), rows), rows[:500])


def automatic_width(dtype: type, count: int, columns: int = 3) -> Facts:
    rows = blobs(count, columns, dtype=dtype)
    return facts(in_chunks(GaussianNeurons(20, random_state=3), rows), rows[:500])


def fit(**settings: Any) -> Facts:
    rows = blobs(2000, 4, 5)
    model = GaussianNeurons(20, random_state=5, **settings).fit(rows)
    return facts(model, rows) | {"labels_": digest(model.labels_)}


def drift() -> Facts:
    model = GaussianNeurons(20, random_state=0).learn(Drifting(seed=4), 60_000, progress=False)
    return facts(model, model.recent_samples_)


def patches(resumed: bool) -> Facts:
    """Patches of digits; `resumed`: a checkpoint after a third, continued by a new model."""
    data, count = mnist_sample(), 200_000
    stream = Patches(data.images, 5, 7, labels=data.labels, classes=[1, 7])
    settings = {"width": 1.0, "learning_rate": 0.1, "domain": (0, 1), "random_state": 2}
    model = GaussianNeurons(16, **settings)
    if resumed:
        with tempfile.TemporaryDirectory() as folder:
            checkpoint = {"checkpoint": Path(folder) / "run.safetensors", "every": 10_000, "progress": False}
            GaussianNeurons(16, **settings).learn(stream, count // 3, **checkpoint)
            model.learn(stream.seek(0), count, **checkpoint)
    else:
        model.learn(stream, count, progress=False)
    return facts(model, model.recent_samples_[:200])


def learned_widths_of_patches() -> Facts:
    settings = {"width": 10.0, "learning_rate": 0.1, "width_learning_rate": 0.1, "domain": (0, 1)}
    stream = Neighbourhoods(mnist_sample().images, 5, 0.1, 3)
    model = GaussianNeurons(9, random_state=1, **settings).learn(stream, 100_000, progress=False)
    return facts(model, model.recent_samples_[:300])


def learned_widths_of_rows() -> Facts:
    rows = blobs(12_000, 4)
    model = GaussianNeurons(12, width=3.0, width_learning_rate=0.05, random_state=1)
    in_chunks(model, rows, np.random.default_rng(0).uniform(0.2, 1.0, len(rows)))
    return facts(model, model.recent_samples_[:300])


def changed_neurons() -> Facts:
    rows = blobs(9000)
    model = GaussianNeurons(12, width=1.5, random_state=0).partial_fit(rows[:3000])
    model.add_neurons(3).remove_neurons([0, 5]).move_neurons(2, centers=[[5.0, 5.0, 5.0]], width=2.0)
    in_chunks(model, rows[3000:6000]).add_neurons(centers=[[1.0, 2.0, 3.0]])
    return facts(in_chunks(model, rows[6000:]), rows[:500])


def added_neurons() -> Facts:
    rows = blobs(9000)
    model = GaussianNeurons(12, random_state=0).partial_fit(rows[:4000]).add_neurons(2)
    return facts(in_chunks(model, rows[4000:]), rows[:500])


def saved(width: Any) -> Facts:
    rows = blobs(9000)
    model = in_chunks(GaussianNeurons(14, width=width, random_state=0), rows[:5300])
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / "model")
        model = GaussianNeurons.load(Path(folder) / "model")
    return facts(in_chunks(model, rows[5300:]), rows[:500])


def placed() -> Facts:
    model = GaussianNeurons(8, width=1.0, domain=(0, 10), random_state=4).place_neurons(3, np.float32)
    return facts(in_chunks(model, blobs(5000, dtype=np.float32)), blobs(100))


def colour_patches() -> Facts:
    settings = {"width": 1.75, "inhibition": 0.01, "learning_rate": 0.1, "domain": (0, 1)}
    model = GaussianNeurons(50, random_state=0, **settings)
    model.learn(Patches(photographs().images, 5, 1), 30_000, progress=False)
    return facts(model, model.recent_samples_[:200])


def river() -> Facts:
    from gaussian_neurons.river import RiverGaussianNeurons

    model = RiverGaussianNeurons(n_neurons=12, seed=1)
    labels = []
    for row in blobs(3000, 4).tolist():
        x = dict(zip("abcd", row, strict=True))
        labels.append(model.predict_one(x))
        model.learn_one(x)
    return {
        "n": model.n_clusters,
        "late_labels": digest(np.array(labels[2000:])),
        "labels": digest(np.array(labels)),
        "centers": digest(np.array([list(center.values()) for center in model.centers.values()])),
    }


def sweeps() -> Facts:
    settings = {"n_neurons": 12, "n_jobs": 1, "progress": False}
    rows = blobs(1500, 3, 4)
    of_rows = sweep(rows, 8000, widths=4, inhibitions=[0.5, 1.0], seeds=2, **settings)
    of_stream = sweep(Mixture(4, seed=1), 8000, widths=3, inhibitions=[0.5], seeds=1, **settings)
    return {
        "counts": of_rows.n_clusters.ravel().tolist(),
        "responses": digest(of_rows.mean_response),
        "streamed": of_stream.n_clusters.ravel().tolist(),
    }


RUNS: dict[str, Callable[[], Facts]] = {
    "given width, float64": partial(given_width, np.float64),
    "given width, float32": partial(given_width, np.float32),
    "automatic width, float64, at a look": partial(automatic_width, np.float64, 12_000),
    "automatic width, float64, between looks": partial(automatic_width, np.float64, 13_700),
    "automatic width, float32, at a look": partial(automatic_width, np.float32, 9000),
    "automatic width, 40 columns": partial(automatic_width, np.float64, 6000, 40),
    "automatic width, first 600 samples": partial(automatic_width, np.float64, 600),
    "fit, automatic": fit,
    "fit, given width": partial(fit, width=3.0, max_samples=30_000),
    "fit, own widths, samples": partial(fit, width=np.linspace(1, 4, 20), init="samples", max_samples=20_000),
    "fit, spread, repulsion_every": partial(
        fit, width=2.0, init="spread", repulsion_every=3, max_samples=20_000
    ),
    "drift, automatic": drift,
    "patches": partial(patches, resumed=False),
    "patches, checkpoint": partial(patches, resumed=True),
    "widths learned, float32": learned_widths_of_patches,
    "widths learned, float64": learned_widths_of_rows,
    "add, remove, move": changed_neurons,
    "add to an automatic width": added_neurons,
    "saved, given width": partial(saved, 2.0),
    "saved, automatic width": partial(saved, "auto"),
    "placed, float32": placed,
    "colour patches": colour_patches,
    "river": river,
    "sweep": sweeps,
}


def compare(before: dict[str, Facts], now: dict[str, Facts]) -> int:
    """Print which runs differ and how; returns their number."""
    different = 0
    for name, found in now.items():
        stored = before.get(name, {})
        changed = [key for key in found if found[key] != stored.get(key)]
        print(f"{'DIFFERS' if changed else 'same':<8}{name}")
        for key in changed:
            print(f"{'':<10}{key}: {str(stored.get(key))[:90]} -> {str(found[key])[:90]}")
        different += bool(changed)
    print(f"{len(now) - different} of {len(now)} runs are the same.")
    return different


def main() -> None:
    """Print the digests, or compare them with a file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("before", nargs="?", type=Path, help="digests to compare with")
    arguments = parser.parse_args()
    before = None if arguments.before is None else json.loads(arguments.before.read_text())
    warnings.simplefilter("ignore")
    found = {}
    with Progress(len(RUNS), every=2.0) as progress:
        for name, run in RUNS.items():
            progress.step(name)
            found[name] = run()
    if before is None:
        print(json.dumps(found, indent=1))
    elif compare(before, found):
        sys.exit(1)


if __name__ == "__main__":
    main()
