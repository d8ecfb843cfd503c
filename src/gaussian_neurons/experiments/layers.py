"""A linear read-out of layers that learned without labels, beside other dictionaries of the same size."""

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gaussian_neurons import GaussianNeurons
from gaussian_neurons.experiments import backprop, dictionaries, pictures
from gaussian_neurons.experiments.data import parts
from gaussian_neurons.experiments.experiment import Claim, Quantity, Result
from gaussian_neurons.experiments.lab import Lab
from gaussian_neurons.experiments.layer import rounded
from gaussian_neurons.experiments.readout import accuracy
from gaussian_neurons.plotting import INK
from gaussian_neurons.sampling import Patches
from gaussian_neurons.stack import Encoder, Layer, Stack, averaged, contrasted, mapped, normalization

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = NDArray[Any]

RAW, RANDOM, K_MEANS = "raw pixels", "random patches", "k-means"
COATES, KROTOV = "k-means, triangle", "Krotov and Hopfield"
ONE, TWO, THREE = "one layer", "two layers", "three layers"
BOTH, DOUBLE = "one and two layers", "one layer, twice the neurons"
ALONE, TRAINED = "no repulsion", "one layer, backpropagation"
NAMES = (ONE, TWO, BOTH, DOUBLE, RAW, RANDOM, K_MEANS, COATES, KROTOV, ALONE, TRAINED)
COATES_FLOOR = 10 / 255**2  # of variances of pixels from 0 to 1
SHOWN = 100  # neurons in the picture
LEAST_ERROR = 0.01  # percent in the picture, whose axis is logarithmic: one of 10,000 images
ROWS = 50_000  # patches that k-means and the rule of Krotov and Hopfield learn from


@dataclass(frozen=True)
class PatchLayer:
    """A layer of the paper's rule on patches, and the grid over which its responses are averaged."""

    n_neurons: int = 100
    size: int = 9  # side of a patch
    stride: int = 3
    grid: int = 3
    width: float = 0.25  # no patch is longer than 1
    inhibition: float = 0.2  # times 1 / n_neurons
    rate: float = 0.15  # times the width
    repulsion_every: int = 4

    def neurons(self, count: int, **changes: Any) -> GaussianNeurons:
        """A model before its first sample, with neurons on the first samples."""
        given = {
            "width": self.width,
            "inhibition": self.inhibition / count,
            "learning_rate": self.rate * changes.get("width", self.width),
            "repulsion_every": self.repulsion_every,
            "init": "samples",
        }
        return GaussianNeurons(count, **{**given, **changes})

    def single(self, **changes: Any) -> list[Layer]:
        """One layer."""
        return [Layer(self.neurons(self.n_neurons, **changes), self.size, self.stride)]


@dataclass(frozen=True)
class Config(PatchLayer):
    """The layers, and how many images the read-out sees."""

    n_samples: int = 100_000  # patches that each layer learns from
    n_train: int = 10_000  # images of the read-out; the layers learn from the same
    n_test: int = 10_000
    n_neurons: int = 400  # of the last layer of each stack
    size: int = 6
    stride: int = 2
    grid: int = 2
    n_lower: int = 100  # neurons of the layers below the last one
    lower_size: int = 6
    upper_size: int = 3
    upper_directions: int = 100  # that are kept of a patch of neurons; of pixels, 40
    three: bool = False  # whether images are large enough for three layers
    epochs: int = 20  # of backpropagation

    def several(self, count: int) -> list[Layer]:
        """Two or three layers, the last as large as the single one."""
        sizes = [self.lower_size, *[self.upper_size] * (count - 1)]
        directions = [Layer.n_directions, *[self.upper_directions] * (count - 1)]
        neurons = [*[self.neurons(self.n_lower)] * (count - 1), self.neurons(self.n_neurons)]
        return [
            Layer(model, size, pool=1 if model is neurons[-1] else 2, n_directions=kept)
            for model, size, kept in zip(neurons, sizes, directions, strict=True)
        ]


@dataclass(frozen=True)
class Triangle(Encoder):
    """The activation of Coates, Ng and Lee (2011): how far a distance is below the mean distance."""

    def responses(self, rows: Array) -> Array:  # noqa: D102
        squares = (rows**2).sum(axis=1)[:, None] - 2 * rows @ self.centers.T + (self.centers**2).sum(axis=1)
        distances = np.sqrt(np.maximum(squares, 0))
        found: Array = np.maximum(distances.mean(axis=1, keepdims=True) - distances, 0)
        return found


def run(config: Config, seed: int, lab: Lab) -> Result:
    """The accuracy of each method."""
    return Comparison(config, seed, lab).result()


class Comparison:
    """The images of a run, and the accuracies that were found."""

    def __init__(self, config: Config, seed: int, lab: Lab) -> None:
        known, tests = parts(lab.data)
        order = np.random.default_rng(seed).permutation(len(known.labels))[: config.n_train]
        self._config, self._seed, self._lab = config, seed, lab
        self._train, self._test = known.of(order), tests.of(slice(config.n_test))
        self._found: dict[str, Result] = {}

    def result(self) -> Result:
        """All methods in turn."""
        config = self._config
        raw = [it.images.reshape(len(it.images), -1) for it in (self._train, self._test)]
        self._read_out(RAW, *(it.astype(np.float32) / 255 for it in raw))
        one = self._learned(config.single())
        features = self._encoded(ONE, one.encoders_)
        self._dictionaries(one)
        self._encoded(ALONE, self._learned(config.single(inhibition=1e-9)).encoders_)
        self._encoded(
            DOUBLE, self._learned(replace(config, n_neurons=2 * config.n_neurons).single()).encoders_
        )
        two = self._encoded(TWO, self._learned(config.several(2)).encoders_)
        self._read_out(BOTH, *(np.concatenate(it, axis=1) for it in zip(features, two, strict=True)))
        del features, two
        if config.three:
            self._encoded(THREE, self._learned(config.several(3)).encoders_)
        found = {"accuracies": self._found, "filters": rounded(self._filters(one))}
        if any(find_spec(package) is None for package in backprop.NEEDS):
            return {**found, "skipped": f"{TRAINED}: PyTorch is not installed"}
        self._found[TRAINED] = {"test": self._backpropagated(), "n_features": self._found[ONE]["n_features"]}
        return found

    def _backpropagated(self) -> float:
        """The accuracy of the same network with a single layer, in which errors have taught all weights."""
        config = self._config
        given = {"grid": config.grid, "seed": self._seed, "epochs": config.epochs}
        net = backprop.trained(self._train.images, self._train.labels, config.single(), **given)
        return backprop.accuracy(net, self._test.images, self._test.labels)

    def _learned(self, layers: list[Layer]) -> Stack:
        """A stack that has learned from the training images."""
        begin, config = time.perf_counter(), self._config
        stack = Stack(layers, n_samples=config.n_samples, grid=config.grid, random_state=self._seed)
        stack.fit(self._train.images)
        self._lab.record(config.n_samples * len(layers), time.perf_counter() - begin)
        return stack

    def _dictionaries(self, one: Stack) -> None:
        """The same layer with other centers, and k-means as Coates, Ng and Lee have it."""
        encoder, config = one.encoders_[0], self._config
        patches = Patches(self._train.images, config.size, self._seed).read(ROWS)
        rows, count = encoder.normalized.teaching(patches), config.n_neurons
        for name, centers in {
            RANDOM: rows[-count:],
            K_MEANS: dictionaries.k_means(rows, count, self._seed),
            KROTOV: dictionaries.krotov_hopfield(rows, count, self._seed),
        }.items():
            self._encoded(name, [replace(encoder, centers=centers.astype(np.float32))])
        normalized = normalization(("whiten",), contrasted(patches, COATES_FLOOR))
        normalized = replace(normalized, steps=("contrast", "whiten"), floor=COATES_FLOOR)
        centers = dictionaries.k_means(normalized(patches), count, self._seed)
        layer = replace(encoder.layer, normalize=("contrast", "whiten"), n_directions=None)
        self._encoded(COATES, [Triangle(layer, normalized, centers.astype(np.float32), encoder.widths)])

    def _encoded(self, name: str, encoders: Sequence[Encoder]) -> tuple[Array, Array]:
        """The features of the last of some layers, read out."""
        train, test = (
            np.concatenate([averaged(it, self._config.grid) for it in mapped(images, encoders)])
            for images in (self._train.images, self._test.images)
        )
        self._read_out(name, train, test)
        return train, test

    def _read_out(self, name: str, train: Array, test: Array) -> None:
        self._found[name] = asdict(accuracy(train, self._train.labels, test, self._test.labels))

    def _filters(self, one: Stack) -> Array:
        """Some centers as patches: the least patch with that place among the directions that are kept."""
        encoder = one.encoders_[0]
        centers = encoder.centers[:SHOWN]
        whitening = encoder.normalized.whitening
        assert whitening is not None
        return centers @ np.linalg.pinv(whitening)


# ---- the report -----------------------------------------------------------------------------------


def of(name: str) -> Callable[[Result], float | None]:
    """The accuracy of a method, in percent of the test images; None if it was skipped."""

    def percent(result: Result) -> float | None:
        found = result["accuracies"].get(name)
        return None if found is None else float(found["test"])

    return percent


def at_least(text: str, name: str, least: Callable[[Result], float | None], more: float = 0.0) -> Claim:
    """A claim that a method has at least some accuracy, or that of another and so much more."""

    def holds(result: Result) -> list[bool]:
        ours, other = of(name)(result), least(result)
        return [] if ours is None or other is None else [ours >= other + more]

    return Claim(text, holds)


def quantities(names: Sequence[str]) -> tuple[Quantity, ...]:
    """The accuracy of each method."""
    return tuple(Quantity(f"% with {name}", of(name), digits=1) for name in names)


CLAIMS = (
    at_least("Learning adds at least 1 point to random patches.", ONE, of(RANDOM), 1.0),
    at_least("The repulsion adds to the attraction.", ONE, of(ALONE), 1e-9),
    at_least(
        "One layer has at least the accuracy of k-means (triangle) less 1 point.", ONE, of(COATES), -1.0
    ),
    at_least("One layer is above k-means (triangle).", ONE, of(COATES), 1e-9),
    at_least("Two layers have at least 0.3 points more than one layer.", TWO, of(ONE), 0.3),
    at_least("One and two layers together have at least 1 point more than one layer.", BOTH, of(ONE), 1.0),
    at_least(
        "They have at least 0.3 points more than one layer of twice as many neurons.", BOTH, of(DOUBLE), 0.3
    ),
    at_least("One layer is above the same network trained by backpropagation.", ONE, of(TRAINED), 1e-9),
)
DEEPER = at_least("Three layers have at least 0.3 points more than two.", THREE, of(TWO), 0.3)
NOTE = """Layers learn from patches without labels; a ridge regression then reads out the class of an
image from the responses, averaged over {grid} x {grid} parts of it. All methods have the same read-out
and, except for the raw pixels, {features:,} features; one and two layers together have {twice:,}, and so
has one layer of twice as many neurons. Random patches, k-means and the rule of Krotov and Hopfield give
other centers to the same layer. k-means with the triangle activation is the method of Coates, Ng and Lee
(2011) with its own normalization. Backpropagation trains rectified linear units in place of the neurons
of one layer, and their read-out, with Adam in {epochs} passes over the images. The layers and the
read-out learn from {images:,} images; {tests:,} others are tested. Published, with other sizes and
read-outs: {anchors}."""


def note(config: Config, anchors: str) -> str:
    """The text of an experiment in the report."""
    features = config.grid**2 * config.n_neurons
    text = NOTE.format(
        grid=config.grid,
        features=features,
        twice=2 * features,
        images=config.n_train,
        tests=config.n_test,
        anchors=anchors,
        epochs=config.epochs,
    )
    return " ".join(text.split())


def draw(result: Result) -> "Figure":
    """The accuracies and the filters of one seed."""
    return draw_seeds([result])


def draw_seeds(results: Sequence[Result]) -> "Figure":
    """The errors of all seeds, and the filters of the first."""
    from matplotlib.figure import Figure

    first = results[0]
    errors_of = {
        name: [max(100 - it["accuracies"][name]["test"], LEAST_ERROR) for it in results]
        for name in first["accuracies"]
    }
    names = sorted(errors_of, key=lambda name: -float(np.mean(errors_of[name])))
    figure = Figure(figsize=(8.6, 0.28 * len(names) + 1.2), dpi=150, layout="constrained")
    axes, tiles = figure.subplots(1, 2, width_ratios=(3, 2))
    for y, name in enumerate(names):
        errors = errors_of[name]
        axes.plot(errors, [y] * len(errors), "o", ms=4, alpha=0.6, color="C3" if name in OURS else "C0")
    axes.set_yticks(range(len(names)), names, fontsize=8, color=INK)
    axes.set_title("each dot a seed; red: layers of Gaussian neurons", fontsize=9, loc="left", color=INK)
    axes.set_xlabel("% of the test images with a wrong class", fontsize=9, color=INK)
    axes.set_xscale("log")
    low, high = axes.get_xlim()
    ticks = [it for it in TICKS if low <= it <= high]
    axes.set_xticks(ticks, [f"{it:g}" for it in ticks])
    axes.minorticks_off()
    pictures.plain(axes, grid="x")
    tiles.imshow(_tiled(np.array(first["filters"]), pictures.patch_shape(first)), cmap="gray", vmin=0, vmax=1)
    tiles.set_title("some centers of one layer", fontsize=9, loc="left", color=INK)
    tiles.set_axis_off()
    pictures.add_origin(figure, first)
    return figure


TICKS = (1, 1.5, 2, 3, 5, 7, 10, 15, 25, 35, 50, 70)
OURS = (ONE, TWO, THREE, BOTH, DOUBLE)


def _tiled(filters: Array, shape: tuple[int, ...]) -> Array:
    """Filters as one picture, each stretched to its own range, ten in a row."""
    across, edge = 10, 1
    scaled = filters / (2 * np.abs(filters).max(axis=1, keepdims=True)) + 0.5
    patches = scaled.reshape(len(filters), *shape)
    rows = -(-len(patches) // across)
    side = shape[0] + edge
    picture = np.ones((rows * side, across * side, *shape[2:]))
    for k, patch in enumerate(patches):
        y, x = k // across * side, k % across * side
        picture[y : y + shape[0], x : x + shape[1]] = patch
    return picture
