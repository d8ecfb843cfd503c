"""An extension of Figures 5c to 5e: neurons that adapt diagonal or full covariances instead of widths."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gaussian_neurons import GaussianNeurons
from gaussian_neurons.base.covariances import TYPES, as_type, mean_widths
from gaussian_neurons.experiments import figure5c, layer, pictures
from gaussian_neurons.experiments.claims import OUTSIDE_BY
from gaussian_neurons.experiments.experiment import Experiment, Quantity, Result
from gaussian_neurons.experiments.lab import Lab
from gaussian_neurons.sampling import Neighbourhoods

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = NDArray[Any]

NAMES = {"spherical": "widths", "diag": "diagonal covariances", "full": "full covariances"}
SYMBOLS = {"spherical": "σ", "diag": "diagonal Σ", "full": "full Σ"}
ROUND = 1.01  # largest elongation of a covariance whose longest axis has no meaning


@dataclass(frozen=True)
class Config(figure5c.Config):
    """The settings of Figures 5c, 5d and 5e, with fewer samples: full covariances are slow."""

    n_samples: int = 300_000
    starts: tuple[float, ...] = tuple(figure5c.STARTS.values())  # widths at the start


def run(config: Config, seed: int, lab: Lab) -> Result:
    """Learn with each starting width and each type of covariances, from the same samples."""
    found = {
        f"{start:g}": {
            kind: facts(learn(replace(config, width=start), kind, seed, lab, f"{kind}-{start:g}"))
            for kind in TYPES
        }
        for start in config.starts
    }
    return {**found[f"{config.starts[0]:g}"]["full"], "layers": found}


def learn(config: layer.LayerConfig, kind: str, seed: int, lab: Lab, stage: str) -> GaussianNeurons:
    """A new model that learned from samples with covariances of its own type."""
    assert config.noise is not None
    stream = Neighbourhoods(lab.data.images, config.size, config.noise, seed, covariance=kind)
    model = config.neurons(seed).set_params(covariance_type=kind)
    return lab.learn(model, stream, config.n_samples, stage)


def facts(model: GaussianNeurons) -> Result:
    """The current neurons: of a covariance, the mean of its eigenvalues, the largest, and its direction."""
    squares, directions = np.linalg.eigh(as_type(model.widths_, "full", model.n_features_in_))
    axes = directions[:, :, -1]
    largest = np.take_along_axis(axes, np.abs(axes).argmax(axis=1)[:, None], axis=1)  # its sign is arbitrary
    return {
        **layer.facts(model),
        "widths": layer.rounded(mean_widths(model.widths_)),
        "largest": layer.rounded(squares[:, -1]),
        "longest_axes": layer.rounded(axes * np.sign(largest)),
    }


def draw(result: Result) -> "Figure":
    """The filters of each type, and the longest axes of the full covariances."""
    panels = [
        panel
        for start, layers in result["layers"].items()
        for panel in (*(_filters(start, kind, layers[kind]) for kind in TYPES), _axes(layers["full"]))
    ]
    return pictures.draw_panels(result, panels, in_row=2 if len(result["layers"]) == 1 else 4)


def _filters(start: str, kind: str, found: Result) -> pictures.Panel:
    widths = figure5c.learned_widths(found)
    spread = f"{widths[0]:.1f} to {widths[-1]:.1f}" if widths else "-"
    title = f"{SYMBOLS[kind]} from {start}: {found['learned']} learned\nmean widths {spread}"
    return pictures.Panel(title, found)


def _axes(found: Result) -> pictures.Panel:
    """The longest axis of each neuron, scaled to the range of a filter; grey for a round one."""
    axes = np.array(found["longest_axes"])
    scale = np.where(elongation(found) > ROUND, 0.5 / np.abs(axes).max(axis=1), 0.0)
    return pictures.Panel("longest axes\nof the full Σ", {**found, "centers": 0.5 + scale[:, None] * axes})


def learned_filters(start: float, kind: str) -> Callable[[Result], float]:
    """The number of learned filters with a starting width and a type."""
    return lambda result: float(result["layers"][f"{start:g}"][kind]["learned"])


def of_learned(
    start: float, kind: str, what: Callable[[Result], Array], over: Callable[[Array], Any] = np.median
) -> Callable[[Result], float | None]:
    """The median, or another statistic, of a number of each learned neuron; None if none learned."""

    def of(result: Result) -> float | None:
        found = result["layers"][f"{start:g}"][kind]
        numbers = what(found)[np.array(found["is_learned"], bool)]
        return float(over(numbers)) if len(numbers) else None

    return of


def elongation(found: Result) -> Array:
    """The largest eigenvalue of each covariance, divided by the mean: 1 if it is round, at most D."""
    ratio: Array = np.array(found["largest"]) / np.array(found["widths"])
    return ratio


def outside(found: Result) -> Array:
    """For each neuron, 1 if its center is outside the box [0, 1]^D, else 0."""
    distance = np.abs(np.array(found["centers"]) - 0.5).max(axis=1) - 0.5
    beyond: Array = (distance > OUTSIDE_BY).astype(float)
    return beyond


def quantities(starts: Sequence[float]) -> tuple[Quantity, ...]:
    """Learned filters, widths and elongations, for each starting width and type."""
    found = []
    for start in starts:
        for kind, name in NAMES.items():
            after = f"{name} from {start:g}"
            found.append(Quantity(f"learned filters, {after}", learned_filters(start, kind)))
            beyond = of_learned(start, kind, outside, np.sum)
            found.append(Quantity(f"of these with a center outside the domain, {after}", beyond))
            width = of_learned(start, kind, lambda layer: np.array(layer["widths"]))
            found.append(Quantity(f"median of their mean widths, {after}", width, digits=2))
            if kind != "spherical":
                long = of_learned(start, kind, elongation)
                found.append(Quantity(f"median of their elongations, {after}", long, digits=1))
    return tuple(found)


NOTE = (
    "An extension, not a figure of the paper, which has only widths. Samples have covariances in place of "
    "widths (docs/algorithm.md [19], [20]). All other settings are those of {figures}, with {samples:,} "
    "samples in place of 10,000,000, since full covariances are slow. The numbers of learned filters still "
    "change at that point: they compare the types after equally many samples, not where each ends. The mean "
    "width is the mean of the diagonal of a covariance, the elongation its largest eigenvalue divided by "
    "that. A center is outside the domain if some pixel is by 0.1 or more. The last pictures show the "
    "direction in which a neuron is longest."
)

EXPERIMENT = Experiment(
    name="covariances",
    title="Figures 5c to 5e with covariances",
    config=Config(),
    run=run,
    draw=draw,
    data="mnist",
    seconds=16,
    samples=2_700_000,
    seeds=4,
    prints="an extension",
    published={},
    note=NOTE.format(figures="5c, 5d and 5e", samples=Config.n_samples),
    quantities=quantities(Config.starts),
)
