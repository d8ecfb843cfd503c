"""The demo: clusters of unknown number in the plane, with noise, learned online by 30 neurons."""

import argparse
import importlib.util
import json
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import adjusted_rand_score

from gaussian_neurons import GaussianNeurons
from gaussian_neurons.plotting import plane

Array = NDArray[Any]


@dataclass(frozen=True)
class Config:
    """What the demo learns from, and with what."""

    seed: int = 7
    n_samples: int = 200_000
    n_neurons: int = 30
    width: float = 0.008
    spread: float = 0.035  # standard deviation of a cluster
    noise: float = 0.03  # part of the samples that is uniform noise


def mixture(config: Config) -> tuple[Array, NDArray[np.int64]]:
    """Samples (n, 2) in the unit square from some 8 to 14 clusters, and their clusters, -1 for noise."""
    random = np.random.default_rng(config.seed)
    places: list[Array] = []
    wanted = int(random.integers(8, 15))
    while len(places) < wanted:  # not so close that they are one cluster
        place = random.uniform(0.1, 0.9, 2)
        if all(np.linalg.norm(place - other) > 6 * config.spread for other in places):
            places.append(place)
    labels = random.integers(len(places), size=config.n_samples)
    samples = np.array(places)[labels] + config.spread * random.standard_normal((config.n_samples, 2))
    noise = random.random(config.n_samples) < config.noise
    samples[noise] = random.random((int(noise.sum()), 2))
    return samples.astype(np.float32), np.where(noise, -1, labels)


def run(config: Config) -> dict[str, Any]:
    """Learn the mixture in one pass, one sample at a time."""
    samples, labels = mixture(config)
    model = GaussianNeurons(config.n_neurons, width=config.width, domain=(0.0, 1.0), random_state=config.seed)
    begin = time.perf_counter()
    model.partial_fit(samples)
    seconds = time.perf_counter() - begin
    found = model.predict(samples)
    real = labels >= 0
    return {
        "config": asdict(config),
        "clusters_true": len(np.unique(labels[real])),
        "clusters_found": model.n_clusters_,
        "neurons": len(model.centers_),
        "learned": model.learned_.tolist(),
        "centers": model.centers_.tolist(),
        "widths": model.widths_.tolist(),
        "adjusted_rand_index": float(adjusted_rand_score(labels[real], found[real])),
        "samples": len(samples),
        "seconds": seconds,
    }


def draw(result: dict[str, Any], path: Path) -> None:
    """The picture of a result; the samples are made again from its configuration."""
    from matplotlib.figure import Figure

    samples, _ = mixture(Config(**result["config"]))
    figure = Figure(figsize=(7.5, 6.2), dpi=130, layout="constrained")
    axes = figure.add_subplot()
    learned = np.array(result["learned"])
    plane(axes, samples[:4000], np.array(result["centers"]), np.array(result["widths"]), learned)
    axes.set_title(
        f"{result['neurons']} neurons, one pass over {result['samples']:,} samples: "
        f"{result['clusters_found']} clusters found, {result['clusters_true']} true",
        fontsize=10,
        loc="left",
    )
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.05), ncols=3, fontsize=8, frameon=False)
    figure.savefig(path)


def table(result: dict[str, Any]) -> str:
    """What a person wants to know, a line each."""
    rows = (
        ("neurons", f"{result['neurons']}"),
        ("neurons learned", f"{sum(result['learned'])}"),
        ("clusters found", f"{result['clusters_found']}"),
        ("clusters true", f"{result['clusters_true']}"),
        ("adjusted Rand index", f"{result['adjusted_rand_index']:.3f}"),
        ("samples a second", f"{result['samples'] / result['seconds'] / 1e6:.2f} million"),
    )
    return "\n".join(f"{name:<20} {value:>14}" for name, value in rows)


def main() -> None:
    """Run the demo and leave its picture and its facts in a folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder for the results")
    parser.add_argument("--seed", type=int, default=Config.seed, help="another mixture")
    arguments = parser.parse_args()
    if importlib.util.find_spec("matplotlib") is None:
        parser.exit(1, "The demo draws with matplotlib: pip install 'gaussian-neurons[plot]'\n")
    arguments.out.mkdir(parents=True, exist_ok=True)
    result = run(Config(seed=arguments.seed))
    (arguments.out / "demo.json").write_text(json.dumps(result, indent=1))
    draw(result, arguments.out / "demo.png")
    print(table(result))
    print(f"\nThe picture is {arguments.out / 'demo.png'}. For another mixture:")
    print("    .venv/bin/python -m gaussian_neurons.experiments.demo --seed 3")


if __name__ == "__main__":
    main()
