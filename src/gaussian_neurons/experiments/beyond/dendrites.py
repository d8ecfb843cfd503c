"""What neurons of several dendrites can represent: things at any place, long and bent clusters, classes."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.frozen import FrozenEstimator

from gaussian_neurons import GaussianNeurons
from gaussian_neurons.datasets.synthetic import MovingDigits
from gaussian_neurons.dendrites import DendriticNeurons, shares
from gaussian_neurons.experiments import dictionaries, pictures
from gaussian_neurons.experiments.data import parts
from gaussian_neurons.experiments.experiment import Claim, Experiment, Quantity, Result
from gaussian_neurons.experiments.lab import Lab
from gaussian_neurons.experiments.layer import rounded
from gaussian_neurons.experiments.readout import accuracy
from gaussian_neurons.plotting import INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Array = NDArray[Any]

SUCCESSION, OVERLAP, TREE = "succession", "overlap", "tree"
SHUFFLED, RANDOM = "succession, shuffled", "random groups"
PLAIN, K_MEANS, PIXELS, DENDRITES = "plain Gaussians", "k-means", "pixels", "dendrites alone"
SHAPES = {"moons": 0.15, "rings": 0.2, "spirals": 0.06}  # with the noise in each column
SHOWN = 500  # points of a picture


@dataclass(frozen=True)
class Config:
    """The sizes of the three parts."""

    n_samples: int = 30_000  # frames of moving digits
    side: int = 10  # of a frame, in pixels; a digit has 8
    life: int = 20  # frames of one digit
    n_digits: int = 1000  # that move; the others of scikit-learn's 1797 are tests
    n_pairs: int = 2000
    n_dendrites: int = 100  # of the digits and of MNIST
    n_neurons: int = 20  # that the dendrites of the digits are combined into
    n_samples_plane: int = 20_000
    n_dendrites_plane: int = 150
    period: int = 200  # samples until a point in the plane has been everywhere
    stay: int = 1000  # samples until it jumps to the other cluster
    n_train: int = 6000  # images of MNIST
    n_test: int = 10_000
    views: int = 5  # places of an image, one after the other
    shift: int = 2  # largest distance from its place, in pixels
    n_directions: int = 20  # principal components of the images
    trace: float = 3.0  # of the views
    outputs: tuple[int, ...] = (20, 30, 50)


def run(config: Config, seed: int, lab: Lab) -> Result:
    """All three parts."""
    from threadpoolctl import threadpool_limits

    begin = time.perf_counter()
    with threadpool_limits(1):
        found = {
            "shifts": shifted_digits(config, seed),
            "plane": {shape: in_the_plane(shape, config, seed) for shape in SHAPES},
            "read_out": read_out(config, seed, lab),
        }
    count = config.n_samples + len(SHAPES) * config.n_samples_plane + config.n_train * config.views
    lab.record(count, time.perf_counter() - begin)
    return found


# ---- groups of the same dendrites -----------------------------------------------------------------


def groupings(
    model: GaussianNeurons, x: Array, count: int, seed: int, similarities: Sequence[str], trace: float
) -> dict[str, Array]:
    """The group of each neuron of a model, (K,), found in several ways."""
    random = np.random.default_rng(seed)

    def grouped(rows: Array, similarity: str) -> Array:
        neurons = DendriticNeurons(FrozenEstimator(model), count, similarity=similarity, trace=trace)
        found: Array = neurons.fit(rows).groups_
        return found

    found = {similarity: grouped(x, similarity) for similarity in (SUCCESSION, *similarities)}
    found[SHUFFLED] = grouped(random.permutation(x), SUCCESSION)
    found[RANDOM] = random.permutation(found[SUCCESSION])
    return found


def summed(responses: Array, groups: Array, count: int) -> Array:
    """The responses of neurons, (n, count), from those of their dendrites."""
    outputs: Array = responses @ (groups[:, None] == np.arange(count)).astype(responses.dtype)
    return outputs


# ---- things at any place --------------------------------------------------------------------------


def shifted_digits(config: Config, seed: int) -> Result:
    """How well the outputs tell whether two frames show one digit at two places, or two digits."""
    from sklearn.metrics import roc_auc_score

    known = MovingDigits()
    order = np.random.default_rng(seed).permutation(len(known.images))
    seen, unseen = order[: config.n_digits], order[config.n_digits :]
    stream = MovingDigits(
        config.side, seed, images=known.images[seen], labels=known.labels[seen], life=config.life
    )
    x = stream.read(config.n_samples)
    dendrites = GaussianNeurons(config.n_dendrites, random_state=seed).fit(x)
    plain = GaussianNeurons(config.n_neurons, random_state=seed).fit(x)
    first, second, labels = pairs(config, known.images[unseen], known.labels[unseen], seed)
    outputs = {
        PIXELS: (first, second),
        PLAIN: (shares(plain, first), shares(plain, second)),
        DENDRITES: (shares(dendrites, first), shares(dendrites, second)),
    }
    for name, groups in groupings(dendrites, x, config.n_neurons, seed, (OVERLAP,), 10.0).items():
        one, other = (summed(it, groups, config.n_neurons) for it in outputs[DENDRITES])
        outputs[name] = one, other
    partner = np.random.default_rng(seed).permutation(config.n_pairs)
    differ = labels != labels[partner]
    found = {}
    for name, (one, other) in outputs.items():
        same, different = cosine(one, other), cosine(one, other[partner])[differ]
        is_same = np.repeat([1, 0], [len(same), len(different)])
        found[name] = {
            "same": float(same.mean()),
            "different": float(different.mean()),
            "told": float(100 * roc_auc_score(is_same, np.concatenate([same, different]))),
        }
    return found


def pairs(config: Config, images: Array, labels: Array, seed: int) -> tuple[Array, Array, Array]:
    """Frames of random digits at two random places each, (n_pairs, side * side), and their classes."""
    random, height = np.random.default_rng([seed, 1]), images.shape[1]
    which = random.integers(len(images), size=config.n_pairs)
    found = []
    for _ in range(2):
        frames = np.zeros((config.n_pairs, config.side, config.side), np.float32)
        windows = np.lib.stride_tricks.sliding_window_view(frames, (height, height), (1, 2), writeable=True)
        row, column = random.integers(config.side - height + 1, size=(2, config.n_pairs))
        windows[np.arange(config.n_pairs), row, column] = images[which] / np.float32(255)
        found.append(frames.reshape(config.n_pairs, -1))
    return found[0], found[1], labels[which]


def cosine(one: Array, other: Array) -> Array:
    """The cosine of the angle between rows; 0 if one of them is 0."""
    lengths = np.linalg.norm(one, axis=1) * np.linalg.norm(other, axis=1)
    found: Array = (one * other).sum(axis=1) / np.where(lengths > 0, lengths, 1)
    return found


# ---- long and bent clusters -----------------------------------------------------------------------


def in_the_plane(shape: str, config: Config, seed: int) -> Result:
    """How well two neurons agree with the two clusters of a shape (adjusted Rand index)."""
    from sklearn.metrics import adjusted_rand_score

    x, _ = walk(shape, config.n_samples_plane, config, seed)
    z, which = walk(shape, 2 * config.stay, config, seed + 1000)
    dendrites = GaussianNeurons(config.n_dendrites_plane, shape="any", random_state=seed).fit(x)
    responses = shares(dendrites, z)
    found = {
        name: summed(responses, groups, 2).argmax(axis=1)
        for name, groups in groupings(dendrites, x, 2, seed, (OVERLAP, TREE), 10.0).items()
    }
    centers = dictionaries.k_means(x, 2, seed)
    found[K_MEANS] = ((z[:, None] - centers) ** 2).sum(axis=2).argmin(axis=1)
    found[PLAIN] = shares(GaussianNeurons(2, random_state=seed).fit(x), z).argmax(axis=1)
    shown = np.random.default_rng(seed).permutation(len(z))[:SHOWN]
    return {
        "agreement": {name: float(adjusted_rand_score(which, it)) for name, it in found.items()},
        "points": rounded(z[shown]),
        "neurons": found[SUCCESSION][shown].tolist(),
    }


def walk(shape: str, count: int, config: Config, seed: int) -> tuple[Array, Array]:
    """A point that moves along one of two curves, with noise, and jumps to the other now and then."""
    t = np.arange(count)
    which, turn = t // config.stay % 2, t % config.period / config.period
    along = turn if shape == "rings" else np.abs(2 * turn - 1)
    points = np.random.default_rng(seed).normal(curve(shape, along, which), SHAPES[shape])
    return points, which


def curve(shape: str, along: Array, which: Array) -> Array:
    """Points of two half circles, two rings, or two spirals of 1 3/4 turns; `along` is from 0 to 1."""
    if shape == "moons":
        angle, sign = np.pi * along, 1 - 2 * which
        return np.column_stack([sign * np.cos(angle) + which, sign * np.sin(angle) + which / 2])
    if shape == "rings":
        angle, radius = 2 * np.pi * along, 1.0 + which
    else:
        radius = 0.5 + 1.75 * along
        angle = 2 * np.pi * radius + np.pi * which
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])


# ---- a linear read-out ----------------------------------------------------------------------------


def read_out(config: Config, seed: int, lab: Lab) -> Result:
    """The accuracy on shifted images of MNIST with equally many outputs of each method."""
    from sklearn.decomposition import PCA

    known, tests = parts(lab.data)
    random = np.random.default_rng(seed)
    images, labels = known.of(random.permutation(len(known.labels))[: config.n_train])
    tested, test_labels = tests.of(slice(config.n_test))
    views = np.stack([shifted(images, config.shift, random) for _ in range(config.views)], axis=1)
    x = views.reshape(-1, views.shape[-1])
    reduced = PCA(min(config.n_directions, *x.shape), svd_solver="covariance_eigh").fit(x)
    x, train, test = (
        reduced.transform(it).astype(np.float32)
        for it in (x, shifted(images, config.shift, random), shifted(tested, config.shift, random))
    )

    def percent(one: Array, other: Array) -> float:
        features = (it.astype(np.float32) for it in (one, other))
        return accuracy(next(features), labels, next(features), test_labels).test

    dendrites = GaussianNeurons(config.n_dendrites, random_state=seed).fit(x)
    responses = shares(dendrites, train), shares(dendrites, test)
    found: Result = {DENDRITES: percent(*responses)}
    for count in config.outputs:
        plain = GaussianNeurons(count, random_state=seed).fit(x)
        centers = dictionaries.k_means(x, count, seed)
        found[str(count)] = {
            **{
                name: percent(*(summed(it, groups, count) for it in responses))
                for name, groups in groupings(dendrites, x, count, seed, (OVERLAP,), config.trace).items()
            },
            PLAIN: percent(shares(plain, train), shares(plain, test)),
            K_MEANS: percent(nearest(train, centers), nearest(test, centers)),
        }
    return found


def shifted(images: Array, most: int, random: np.random.Generator) -> Array:
    """Each grey image at another place, at most so many pixels away, as rows in [0, 1]."""
    n, height, width, _ = images.shape
    padded = np.pad(images[..., 0], ((0, 0), (most, most), (most, most)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (height, width), axis=(1, 2))
    row, column = random.integers(2 * most + 1, size=(2, n))
    found: Array = windows[np.arange(n), row, column].reshape(n, -1) / np.float32(255)
    return found


def nearest(rows: Array, centers: Array) -> Array:
    """1 for the nearest center of each row, 0 for the others, (n, K)."""
    squares = (centers**2).sum(axis=1) - 2 * rows @ centers.T
    found: Array = np.eye(len(centers), dtype=np.float32)[squares.argmin(axis=1)]
    return found


# ---- the report -----------------------------------------------------------------------------------


def told(name: str) -> Callable[[Result], float]:
    """How often a pair of frames of one digit is more alike than a pair of two digits, in percent."""
    return lambda result: float(result["shifts"][name]["told"])


def agreement(shape: str, name: str) -> Callable[[Result], float]:
    """The adjusted Rand index of a shape."""
    return lambda result: float(result["plane"][shape]["agreement"][name])


def percent_of(count: int, name: str) -> Callable[[Result], float]:
    """The accuracy of a read-out from so many outputs."""
    return lambda result: float(result["read_out"][str(count)][name])


def above(
    ours: Callable[[Result], float], others: Sequence[Callable[[Result], float]], more: float
) -> Callable[[Result], list[bool]]:
    """For each other number, whether ours is at least so much larger."""
    return lambda result: [ours(result) >= other(result) + more for other in others]


def all_shapes(name: str, holds: Callable[[float], bool]) -> Callable[[Result], list[bool]]:
    """For each shape, whether the agreement is as wanted."""
    return lambda result: [holds(agreement(shape, name)(result)) for shape in SHAPES]


def at_each_number(name: str, more: float) -> Callable[[Result], list[bool]]:
    """For each number of outputs, whether succession is so much above another method."""
    return lambda result: [
        percent_of(count, SUCCESSION)(result) >= percent_of(count, name)(result) + more
        for count in Config.outputs
    ]


IN_SHIFTS = (SUCCESSION, OVERLAP, SHUFFLED, RANDOM, DENDRITES, PLAIN, PIXELS)
IN_THE_PLANE = (SUCCESSION, OVERLAP, TREE, SHUFFLED, RANDOM, PLAIN, K_MEANS)
IN_READ_OUTS = (SUCCESSION, OVERLAP, SHUFFLED, RANDOM, PLAIN, K_MEANS)


def draw(result: Result) -> "Figure":
    """The three parts of one seed."""
    return draw_seeds([result])


def draw_seeds(results: Sequence[Result]) -> "Figure":
    """The shifts and read-outs of all seeds, and the plane of the first."""
    from matplotlib.figure import Figure

    first = results[0]
    figure = Figure(figsize=(9.2, 5.6), dpi=150, layout="constrained")
    places: Any = [["shifts"] * 3 + ["read_out"] * 3, [it for shape in SHAPES for it in (shape, shape)]]
    axes = figure.subplot_mosaic(places, height_ratios=(3, 4))
    _dots(axes["shifts"], results)
    for name in IN_READ_OUTS:
        counts = Config.outputs
        means = [np.mean([percent_of(it, name)(result) for result in results]) for it in counts]
        axes["read_out"].plot(counts, means, "o-", ms=3, lw=1.2, label=name)
    axes["read_out"].set_xlabel("outputs", fontsize=8, color=INK)
    axes["read_out"].set_ylabel("% of shifted digits of MNIST", fontsize=8, color=INK)
    axes["read_out"].legend(
        fontsize=7, frameon=False, labelcolor=INK, loc="upper left", bbox_to_anchor=(1, 1)
    )
    for shape in SHAPES:
        axis, part = axes[shape], first["plane"][shape]
        x, y = np.array(part["points"]).T
        axis.scatter(x, y, s=4, c=np.array(["C0", "C3"])[np.array(part["neurons"])])
        axis.set_aspect("equal")
        axis.set_title(
            f"{shape}: agreement {agreement(shape, SUCCESSION)(first):.2f}", fontsize=8, loc="left", color=INK
        )
        axis.set_axis_off()
    for name in ("shifts", "read_out"):
        axes[name].spines[["top", "right"]].set_visible(False)
        axes[name].tick_params(colors=INK, labelsize=7)
    pictures.add_origin(figure, first)
    return figure


def _dots(axes: "Axes", results: Sequence[Result]) -> None:
    """How well each method tells one digit from two, a dot for each seed."""
    for y, name in enumerate(reversed(IN_SHIFTS)):
        values = [told(name)(result) for result in results]
        axes.plot(values, [y] * len(values), "o", ms=4, alpha=0.6, color="C3" if name == SUCCESSION else "C0")
    axes.set_yticks(range(len(IN_SHIFTS)), reversed(IN_SHIFTS))
    axes.axvline(50, lw=0.8, color=INK)
    axes.set_xlabel("% of pairs: the same digit is more alike", fontsize=8, color=INK)


def quantities() -> tuple[Quantity, ...]:
    """The numbers of all parts and methods."""
    return (
        *(Quantity(f"% of shifted digits told, {name}", told(name), digits=1) for name in IN_SHIFTS),
        *(
            Quantity(f"agreement with the {shape}, {name}", agreement(shape, name), digits=2)
            for shape in SHAPES
            for name in IN_THE_PLANE
        ),
        *(
            Quantity(f"% of MNIST from {count} outputs, {name}", percent_of(count, name), digits=1)
            for count in Config.outputs
            for name in IN_READ_OUTS
        ),
        Quantity("% of MNIST from all 100 dendrites", lambda result: result["read_out"][DENDRITES], digits=1),
    )


def claims() -> tuple[Claim, ...]:
    """What neurons of several dendrites shall do, and what shall not be possible without the order."""
    return (
        Claim(
            "Neurons of dendrites tell a shifted digit from another digit in at least 80 % of the cases.",
            lambda result: [told(SUCCESSION)(result) >= 80],
        ),
        Claim(
            "That is at least 10 points more than plain Gaussians, single dendrites, random groups and "
            "shuffled samples.",
            above(told(SUCCESSION), [told(it) for it in (PLAIN, DENDRITES, RANDOM, SHUFFLED)], 10),
        ),
        Claim(
            "Succession finds half circles, rings and spirals (agreement of 0.85 or more).",
            all_shapes(SUCCESSION, lambda it: it >= 0.85),
        ),
        Claim(
            "It is the order that tells: after shuffling, the agreement is 0.2 or less.",
            all_shapes(SHUFFLED, lambda it: it <= 0.2),
        ),
        Claim(
            "The tree of clusters of any shape, which needs no order, finds them (0.85 or more).",
            all_shapes(TREE, lambda it: it >= 0.85),
        ),
        Claim(
            "Overlap, which needs no order, finds them (0.85 or more).",
            all_shapes(OVERLAP, lambda it: it >= 0.85),
        ),
        *(
            Claim(
                f"A linear read-out has at least 1 point more with neurons of dendrites than with {name}.",
                at_each_number(name, 1.0),
            )
            for name in (PLAIN, K_MEANS)
        ),
        Claim(
            "It has at least 10 points more than with random groups of the same dendrites.",
            at_each_number(RANDOM, 10.0),
        ),
        Claim(
            "It has at least 10 points more than with groups from shuffled samples.",
            at_each_number(SHUFFLED, 10.0),
        ),
    )


EXPERIMENT = Experiment(
    name="dendrites",
    title="what neurons of several dendrites represent",
    config=Config(),
    run=run,
    draw=draw,
    draw_seeds=draw_seeds,
    data="mnist-split",
    seconds=60,
    samples=120_000,
    seeds=4,
    prints="three tasks",
    published={},
    beyond=True,
    note=(
        "Neurons combine dendrites that respond one after the other (docs/dendrites.md). Beside it, the same "
        "dendrites are combined at random, after the samples were shuffled, by overlap, or by the tree of "
        "clusters. Shifts: 100 dendrites learn from moving digits (8 x 8 pixels in frames of 10 x 10) and "
        "become 20 neurons. Of two frames, one shows the digit of the other at another place, or a digit of "
        "another class; the digits are not those that moved. The number is how often the first pair is more "
        "alike (cosine) than the second; 50 % is chance. Plane: a point moves along one of two half circles, "
        "rings or spirals, and jumps to the other every 1000 samples; two neurons shall tell them apart "
        "(adjusted Rand index). Read-out: 6000 images of MNIST at five places each, one after the other; the "
        "linear read-out sees 20, 30 or 50 outputs of each method for images at random places. 10,000 others "
        "are tested."
    ),
    quantities=quantities(),
    claims=claims(),
)
