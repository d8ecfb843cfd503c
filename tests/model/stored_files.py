"""Model files of a version, kept to test that later versions read them.

    python -m tests.model.stored_files    # write those of this version, before it is released

Files of released versions are never written again.
"""

import json
from pathlib import Path

import numpy as np

from gaussian_neurons import GaussianNeurons, __version__
from gaussian_neurons.datasets.synthetic import Mixture
from gaussian_neurons.sampling import Rows

FOLDER = Path(__file__).with_name("stored")
X = Mixture(4, seed=3, dtype=np.float64).read(1600).round(3)
ROWS = X[:50]
RUN = 1500  # samples of the run; it is stopped before

MODELS = {
    "given": {"n_neurons": 6, "width": 0.05, "domain": (0, 1), "random_state": 0},
    "automatic": {"n_neurons": 12, "scale": "columns", "memory": 5000, "random_state": 1},
    "any": {"n_neurons": 12, "shape": "any", "n_clusters": 3, "random_state": 2},
    "covariances": {"n_neurons": 4, "width": 0.05, "covariance_type": "full", "random_state": 3},
}


class Stopped(Exception):
    """Ends a run as a kill would: after a checkpoint."""


def stop(model, t):
    if t >= 1200:
        raise Stopped


def run(path):
    """Learn with a checkpoint, or resume."""
    model = GaussianNeurons(6, width=0.05, domain=(0, 1), random_state=0)
    rows = Rows(X.astype(np.float32), seed=0)
    return model.learn(rows, RUN, checkpoint=path, every=600, progress=False)


def answers(model):
    """What a model answers, as JSON."""
    return {
        "centers": model.centers_.tolist(),
        "widths": model.widths_.tolist(),
        "seen": int(model.n_samples_seen_),
        "clusters": model.cluster_numbers_.tolist(),
        "events": [[event.samples, event.kind, event.cluster] for event in model.events_],
        "labels": model.predict(ROWS).tolist(),
        "scores": model.score_samples(ROWS).tolist(),
        "novel": model.is_novel(ROWS).tolist(),
    }


def write():
    """Write the files of this version."""
    folder = FOLDER / __version__
    folder.mkdir(parents=True, exist_ok=True)
    found = {}
    for name, parameters in MODELS.items():
        model = GaussianNeurons(**parameters).partial_fit(X.astype(np.float32))
        model.save(folder / f"{name}.safetensors")
        found[name] = answers(model)
    path = folder / "run.checkpoint"
    path.unlink(missing_ok=True)
    model = GaussianNeurons(6, width=0.05, domain=(0, 1), random_state=0)
    try:
        model.learn(
            Rows(X.astype(np.float32), seed=0), RUN, checkpoint=path, every=600, progress=False, callback=stop
        )
    except Stopped:
        found["run"] = {"resumed from": int(GaussianNeurons.load(path).n_samples_seen_)}
    lines = (f'"{name}": {json.dumps(what)}' for name, what in found.items())
    (folder / "answers.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    write()
