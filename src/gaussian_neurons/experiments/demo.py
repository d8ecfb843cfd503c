"""The demo: 16 neurons find the strokes of handwritten digits in a stream of 5 x 5 patches (Figure 2a)."""

import argparse
import importlib.util
import json
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gaussian_neurons import GaussianNeurons
from gaussian_neurons.datasets import ImageSet, mnist_sample
from gaussian_neurons.plotting import BEYOND, filters
from gaussian_neurons.sampling import Patches

BOLD, PLAIN = "\033[1m", "\033[0m"


@dataclass(frozen=True)
class Config:
    """The settings of the paper's Subfigure 2a, on as many digits as are bundled."""

    seed: int = 0
    n_samples: int = 1_000_000
    n_neurons: int = 16
    size: int = 5
    width: float = 1.0
    inhibition: float = 0.5
    learning_rate: float = 0.1


def run(config: Config, data: ImageSet) -> dict[str, Any]:
    """Learn from random patches, one at a time."""
    stream = Patches(data.images, config.size, config.seed)
    model = GaussianNeurons(
        config.n_neurons,
        width=config.width,
        inhibition=config.inhibition,
        learning_rate=config.learning_rate,
        domain=(0.0, 1.0),
        random_state=config.seed,
    )
    begin = time.perf_counter()
    model.learn(stream, config.n_samples)
    seconds = time.perf_counter() - begin
    facts = model.diagnosis_
    return {
        "config": asdict(config),
        "data": data.facts(),
        "learned": facts.learned.tolist(),
        "domain_distance": facts.domain_distance.tolist(),
        "cosine": facts.cosine.tolist(),
        "centers": model.centers_.tolist(),
        "samples": model.n_samples_seen_,
        "seconds": seconds,
    }


def draw(result: dict[str, Any], path: Path) -> None:
    """The picture of a result."""
    from matplotlib.figure import Figure

    config, learned = Config(**result["config"]), np.array(result["learned"])
    figure = Figure(figsize=(6.4, 6.0), dpi=130, layout="constrained")
    axes = figure.add_subplot()
    image = filters(axes, np.array(result["centers"]), (config.size, config.size), learned)
    bar = figure.colorbar(image, ax=axes, shrink=0.6, ticks=[-BEYOND, 0, 1, 1 + BEYOND])
    bar.outline.set_visible(False)
    axes.set_title(
        f"{len(learned)} neurons after {result['samples']:,} patches of {config.size} x {config.size}\n"
        f"{learned.sum()} learned (framed), {(~learned).sum()} pushed out of the domain",
        fontsize=10,
        loc="left",
    )
    figure.supxlabel(
        f"data: {result['data']['name']}, {result['data']['source']}", fontsize=7, x=0.02, ha="left"
    )
    figure.savefig(path)


def table(result: dict[str, Any], bold: bool = False) -> str:
    """The paper's Table 1 for these neurons; learned ones are marked, and bold where a terminal can."""
    learned = result["learned"]

    def row(name: str, cells: list[str]) -> str:
        shown = [f"{cell:>5}" for cell in cells]
        if bold:
            shown = [f"{BOLD}{c}{PLAIN}" if it else c for c, it in zip(shown, learned, strict=True)]
        return f"{name:<8}" + "".join(shown)

    return "\n".join(
        [
            row("neuron", [str(k + 1) for k in range(len(learned))]),
            row("learned", ["*" if it else "" for it in learned]),
            row("d", [f"{d:.1f}" for d in result["domain_distance"]]),
            row("cos", [f"{c:.1f}" for c in result["cosine"]]),
        ]
    )


def main() -> None:
    """Run the demo and leave its picture and its facts in a folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder for the results")
    parser.add_argument("--seed", type=int, default=Config.seed, help="other starting centers and patches")
    arguments = parser.parse_args()
    for package in ("matplotlib", "mlxtend"):
        if importlib.util.find_spec(package) is None:
            parser.exit(1, f"The demo needs {package}: pip install 'gaussian-neurons[examples]'\n")
    arguments.out.mkdir(parents=True, exist_ok=True)
    print("Reading the digits ...", flush=True)
    data = mnist_sample()
    print(f"{data}\n", flush=True)
    result = run(Config(seed=arguments.seed), data)
    print(
        f"{result['samples']:,} patches of 5 x 5 pixels, one at a time, in {result['seconds']:.1f} s: "
        f"{sum(result['learned'])} of {len(result['learned'])} neurons learned.\n"
    )
    print(table(result, bold=sys.stdout.isatty()))
    print(
        "\nd: distance from the middle of the domain, 1 at its corners; cos: 1 where it kept its direction."
    )
    (arguments.out / "demo.json").write_text(json.dumps(result, indent=1))
    draw(result, arguments.out / "demo.png")
    print(f"\n{arguments.out / 'demo.png'} shows the filters, {arguments.out / 'demo.json'} has the numbers.")


if __name__ == "__main__":
    main()
