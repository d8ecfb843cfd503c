"""Forgetting: MNIST in five tasks of two classes each, one after another."""

import copy
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gaussian_neurons import GaussianNeurons
from gaussian_neurons.experiments import backprop, layers, pictures
from gaussian_neurons.experiments.data import Part, parts
from gaussian_neurons.experiments.experiment import Claim, Experiment, Quantity, Result
from gaussian_neurons.experiments.lab import Lab
from gaussian_neurons.experiments.layer import rounded
from gaussian_neurons.experiments.readout import ridge
from gaussian_neurons.learning.responses import nearest
from gaussian_neurons.plotting import INK
from gaussian_neurons.sampling import Patches
from gaussian_neurons.stack import FIRST, FROM_IMAGE, Encoder, Normalization, averaged, mapped, normalization

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Array = NDArray[Any]
Features = Callable[[Array], Array]  # images -> (n, number of features)

TASKS = 5
CLASSES = 2 * TASKS
LAYER, STOPPED, FROZEN = "Gaussian layer", "Gaussian layer of the first task", "random layer"
NETWORK = "backpropagation"
RULE, SHARES, STORED = "digits, given width", "digits, automatic width", "digits, stored images"
TOGETHER, MEANS, DESCENT = "all classes at once", "class means", "gradient descent"
COUNTS = "counts"
READOUTS = (TOGETHER, MEANS, DESCENT, COUNTS)
PASSES = 3  # of the read-out by gradient descent


@dataclass(frozen=True)
class Config(layers.PatchLayer):
    """The layer, the whole digits, and the images of all tasks together."""

    n_samples: int = 20_000  # images to learn from; one fifth for each task, approximately
    n_test: int = 2000
    whole_width: float = 0.1  # of whole digits, which have the length 1
    epochs: int = 3  # of backpropagation


def run(config: Config, seed: int, lab: Lab) -> Result:
    """What each method knows of each task after each task."""
    return Course(config, seed, lab).result()


class Course:
    """The tasks in their order, and what was found."""

    def __init__(self, config: Config, seed: int, lab: Lab) -> None:
        known, tests = parts(lab.data)
        order = np.random.default_rng(seed).permutation(len(known.labels))[: config.n_samples]
        self._config, self._seed, self._lab = config, seed, lab
        self._all, self._test = known.of(order), tests.of(slice(config.n_test))
        self._tasks = [self._all.of(task_of(self._all.labels) == task) for task in range(TASKS)]
        self._found: dict[str, dict[str, list[list[float]]]] = {}
        self._moved: dict[str, float] = {}

    def result(self) -> Result:
        """All methods in turn."""
        self._layer()
        self._network()
        digits = self._digits()
        return {"accuracies": self._found, "moved": self._moved, "digits": digits, "tasks": TASKS}

    # ---- a layer of patches -----------------------------------------------------------------------

    def _layer(self) -> None:
        """The layer learns without labels, in the order of the tasks; two others never change."""
        count = len(self._all.images)
        after = self._learned(self._tasks)
        first, last = after[0].centers, after[-1].centers
        self._moved[LAYER] = relative_move(first, last)
        self._read_out(LAYER, [self._features(it) for it in after])
        self._read_out(STOPPED, [self._features(after[0])] * TASKS)
        random = np.random.default_rng(self._seed).normal(size=first.shape).astype(np.float32)
        random /= np.linalg.norm(random, axis=1, keepdims=True)
        self._read_out(FROZEN, [self._features(replace(after[0], centers=random))] * TASKS)
        mixed = self._learned([self._all.of(rows) for rows in np.array_split(np.arange(count), TASKS)])
        self._moved[f"{LAYER}, shuffled"] = relative_move(mixed[0].centers, mixed[-1].centers)
        self._read_out(f"{LAYER}, shuffled", [self._features(mixed[-1])], shuffled=True)

    def _learned(self, parts: Sequence[Part]) -> list[Encoder]:
        """The layer after each part. Patches of the first one decide the normalization."""
        config, layer, after = self._config, self._config.single()[0], []
        model = layer.neurons.set_params(random_state=self._seed)
        normalized: Normalization | None = None
        for part in parts:
            begin, count = time.perf_counter(), FROM_IMAGE * len(part.images)
            rows = Patches(part.images, config.size, self._seed).read(count)
            normalized = normalized or normalization(layer.normalize, rows[:FIRST], layer.n_directions)
            model.partial_fit(normalized.teaching(rows))
            after.append(Encoder(layer, normalized, model.centers_.copy(), model.widths_))
            self._lab.record(count, time.perf_counter() - begin)
        return after

    def _features(self, encoder: Encoder) -> Features:
        grid = self._config.grid
        return lambda images: np.concatenate([averaged(it, grid) for it in mapped(images, [encoder])])

    # ---- the network that is trained by backpropagation -------------------------------------------

    def _network(self) -> None:
        """The network of the layer learns from images and labels, in the order of the tasks."""
        config, seed = self._config, self._seed
        shape = self._all.images.shape[1:]
        net = backprop.network(shape, config.single(), grid=config.grid, seed=seed)
        backprop.standardize(net, self._tasks[0].images)
        shuffled = backprop.trained(
            *self._all, config.single(), grid=config.grid, seed=seed, epochs=config.epochs
        )
        after = []
        for task in self._tasks:
            begin = time.perf_counter()
            for _ in backprop.training(net, *task, epochs=config.epochs, seed=seed):
                self._lab.record(len(task.images), time.perf_counter() - begin)
                begin = time.perf_counter()
            after.append(copy.deepcopy(net))
        weights = [it[1].weight.detach().flatten(1).numpy() for it in after]
        self._moved[NETWORK] = relative_move(weights[0], weights[-1])
        self._read_out(NETWORK, [_below(it) for it in after], heads=after)
        self._read_out(f"{NETWORK}, shuffled", [_below(shuffled)], heads=[shuffled], shuffled=True)

    # ---- read-outs --------------------------------------------------------------------------------

    def _read_out(
        self, name: str, after: Sequence[Features], heads: Sequence[Any] = (), shuffled: bool = False
    ) -> None:
        """The accuracies of three read-outs of the features after each task."""
        parts = [self._all] if shuffled else self._tasks
        found: dict[str, list[list[float]]] = {TOGETHER: [], MEANS: [], DESCENT: []}
        for k, (features, part) in enumerate(zip(after, parts, strict=True)):
            if k == 0 or features is not after[k - 1]:
                known, test = features(self._all.images), features(self._test.images)
                weights, offsets = ridge(known, self._all.labels)
                together = self._scores((test @ weights.T + offsets).argmax(axis=1))
            learned = known if shuffled else known[task_of(self._all.labels) == k]
            if k == 0:
                means, descent = ClassMeans(known.shape[1]), Descent(known.shape[1], self._seed)
            means.learn(learned, part.labels)
            found[TOGETHER].append(together)
            found[MEANS].append(self._scores(means.predicted(test)))
            if heads:
                found[DESCENT].append(self._scores(backprop.predicted(heads[k], self._test.images)))
            else:
                descent.learn(learned, part.labels)
                found[DESCENT].append(self._scores(descent.predicted(test)))
        self._found[name] = found

    def _scores(self, predicted: Array) -> list[float]:
        """Percent of the test images of each task with the right one of ten classes."""
        right = predicted == self._test.labels
        return [100 * float(right[task_of(self._test.labels) == task].mean()) for task in range(TASKS)]

    # ---- neurons that see whole digits ------------------------------------------------------------

    def _digits(self) -> Result:
        """Neurons that see whole digits; a neuron counts the labels of the images that it wins."""
        config, seed = self._config, self._seed
        tasks, everything, test = [whole(it) for it in self._tasks], whole(self._all), whole(self._test)
        models = {
            RULE: config.neurons(config.n_neurons, width=config.whole_width),
            SHARES: GaussianNeurons(config.n_neurons),
        }
        shown: Result = {}
        for name, model in models.items():
            begin = time.perf_counter()
            model.set_params(random_state=seed)
            centers = [model.partial_fit(part.images).centers_.copy() for part in tasks]
            self._lab.record(len(everything.images), time.perf_counter() - begin)
            self._count(name, centers, tasks, test)
            won = np.bincount(nearest(tasks[0].images, centers[0]), minlength=config.n_neurons)
            kept = np.argsort(-won, kind="stable")[: config.n_neurons // 5]  # the busiest of the first task
            self._moved[name] = relative_move(centers[0][kept], centers[-1][kept])
            most = kept[:TASKS]
            shown[name] = {"first": rounded(centers[0][most]), "last": rounded(centers[-1][most])}
            again = type(model)(**model.get_params()).partial_fit(everything.images)
            self._count(f"{name}, shuffled", [again.centers_], [everything], test)
        each = config.n_neurons // TASKS
        stored = [np.concatenate([it.images[:each] for it in tasks[: k + 1]]) for k in range(TASKS)]
        self._count(STORED, stored, tasks, test)
        return shown

    def _count(self, name: str, centers: Sequence[Array], parts: Sequence[Part], test: Part) -> None:
        """The accuracy of the counts after each task; they are never taken back."""
        counts = np.zeros((len(centers[-1]), CLASSES), int)
        found = []
        for places, part in zip(centers, parts, strict=True):
            np.add.at(counts, (nearest(part.images, places), part.labels), 1)
            found.append(self._scores(counts.argmax(axis=1)[nearest(test.images, places)]))
        self._found[name] = {COUNTS: found}


def task_of(labels: Array) -> Array:
    """The task of each label: 0 and 1 are task 0, 2 and 3 task 1, and so on."""
    tasks: Array = labels // 2
    return tasks


def whole(part: Part) -> Part:
    """Digits as rows of length 1, with half as many pixels on each side."""
    count, height, width, _ = part.images.shape
    halves = part.images.reshape(count, height // 2, 2, width // 2, 2).mean(axis=(2, 4))
    rows = halves.reshape(count, -1).astype(np.float32)
    return Part(rows / np.linalg.norm(rows, axis=1, keepdims=True), part.labels)


def relative_move(before: Array, after: Array) -> float:
    """The mean distance that weights have moved, as a part of their root mean square length before.

    Examples
    --------
    >>> relative_move(np.array([[3.0, 4.0], [0.0, 5.0]]), np.array([[3.0, 4.0], [0.0, 6.0]]))
    0.1
    """
    length = np.sqrt((before**2).sum(axis=1).mean())
    return float(np.linalg.norm(after - before, axis=1).mean() / length)


def _below(net: Any) -> Features:
    """The features of a network: all but its read-out."""
    return lambda images: backprop.outputs(net[:-1], images)


class ClassMeans:
    """A local read-out: the mean of the features of each class; a row has the class of the nearest mean.

    Examples
    --------
    >>> means = ClassMeans(1)
    >>> means.learn(np.array([[1.0], [3.0], [8.0]]), np.array([0, 0, 7]))
    >>> means.predicted(np.array([[4.0], [6.0]]))  # the means are 2 and 8
    array([0, 7])
    """

    def __init__(self, n_features: int) -> None:
        self._sums, self._counts = np.zeros((CLASSES, n_features)), np.zeros(CLASSES)

    def learn(self, features: Array, labels: Array) -> None:
        """Take more rows."""
        np.add.at(self._sums, labels, features)
        np.add.at(self._counts, labels, 1)

    def predicted(self, features: Array) -> Array:
        """The class of each row."""
        known = np.flatnonzero(self._counts)
        means = self._sums[known] / self._counts[known, None]
        found: Array = known[nearest(features.astype(np.float64), means)]
        return found


class Descent:
    """A linear read-out that learns by gradient descent from the rows of one task after another."""

    def __init__(self, n_features: int, seed: int) -> None:
        self._net = backprop.network((1, 1, n_features), [], grid=1, seed=seed, n_classes=CLASSES)
        self._seed, self._standard = seed, False

    def learn(self, features: Array, labels: Array) -> None:
        """Learn from the rows of a task. The first ones decide the mean and deviation of each feature."""
        rows = features[:, None, None]
        if not self._standard:
            backprop.standardize(self._net, rows)
            self._standard = True
        for _ in backprop.training(self._net, rows, labels, epochs=PASSES, seed=self._seed):
            pass

    def predicted(self, features: Array) -> Array:
        """The class of each row."""
        return backprop.predicted(self._net, features[:, None, None])


# ---- the report -----------------------------------------------------------------------------------


def of(name: str, readout: str, task: int | None = None, after: int = -1) -> Callable[[Result], float]:
    """The accuracy on a task, or the mean over all tasks, after some task."""

    def found(result: Result) -> float:
        row = result["accuracies"][name][readout][after]
        return float(np.mean(row) if task is None else row[task])

    return found


def _quantities() -> Iterator[Quantity]:
    for name in (LAYER, STOPPED, FROZEN, NETWORK):
        for readout in (TOGETHER, MEANS, DESCENT):
            yield Quantity(f"% of all tasks, {name}, {readout}", of(name, readout), digits=1)
            yield Quantity(f"% of the first task, {name}, {readout}", of(name, readout, 0), digits=1)
    for name in (LAYER, NETWORK):
        for readout in (TOGETHER, MEANS, DESCENT):
            label = f"% of all tasks, {name}, {readout}, shuffled"
            yield Quantity(label, of(f"{name}, shuffled", readout), digits=1)
    for name in (RULE, SHARES, STORED):
        yield Quantity(f"% of all tasks, {name}", of(name, COUNTS), digits=1)
        yield Quantity(f"% of the first task, {name}", of(name, COUNTS, 0), digits=1)
        yield Quantity(f"% of the last task, {name}", of(name, COUNTS, TASKS - 1), digits=1)
    for name in (RULE, SHARES):
        yield Quantity(f"% of all tasks, {name}, shuffled", of(f"{name}, shuffled", COUNTS), digits=1)
    for name in (LAYER, f"{LAYER}, shuffled", NETWORK, RULE, SHARES):
        yield Quantity(f"move of {name}", _moved(name), digits=2)


def _moved(name: str) -> Callable[[Result], float]:
    return lambda result: float(result["moved"][name])


CLAIMS = (
    Claim(
        "The network trained by backpropagation has forgotten the first task after the last (below 10 %).",
        lambda result: [of(NETWORK, DESCENT, 0)(result) < 10],
    ),
    Claim(
        "From the first task to the last, the filters of the Gaussian layer move less than half as far as "
        "those of the network, in parts of their length.",
        lambda result: [2 * result["moved"][LAYER] < result["moved"][NETWORK]],
    ),
    Claim(
        "With class means, the Gaussian layer has at most 1 point less over all tasks than the same layer on "
        "shuffled images.",
        lambda result: [of(LAYER, MEANS)(result) >= of(f"{LAYER}, shuffled", MEANS)(result) - 1],
    ),
    Claim(
        "With class means, the Gaussian layer has more over all tasks than the network.",
        lambda result: [of(LAYER, MEANS)(result) > of(NETWORK, MEANS)(result)],
    ),
    Claim(
        "With a read-out of all classes at once, the Gaussian layer has more over all tasks than the "
        "network.",
        lambda result: [of(LAYER, TOGETHER)(result) > of(NETWORK, TOGETHER)(result)],
    ),
    Claim(
        "What the layer has learned matters: with class means, a random layer has at least 1 point less.",
        lambda result: [of(FROZEN, MEANS)(result) <= of(LAYER, MEANS)(result) - 1],
    ),
    Claim(
        "The same if both never change: a random layer has at least 1 point less than the layer of the first "
        "task.",
        lambda result: [of(FROZEN, MEANS)(result) <= of(STOPPED, MEANS)(result) - 1],
    ),
    Claim(
        "New classes do not move filters more than more images of all classes do (at most 1.2 times as far).",
        lambda result: [result["moved"][LAYER] <= 1.2 * result["moved"][f"{LAYER}, shuffled"]],
    ),
    Claim(
        "Continuing helps: with a read-out of all classes at once, the layer is better after the last task "
        "than after the first.",
        lambda result: [of(LAYER, TOGETHER)(result) > of(LAYER, TOGETHER, after=0)(result)],
    ),
    Claim(
        "A read-out that learns by gradient descent forgets on a Gaussian layer, too: below 10 % of the "
        "first task.",
        lambda result: [of(LAYER, DESCENT, 0)(result) < 10],
    ),
    Claim(
        "Whole digits, automatic width: at least 85 % of the first task are known after the last one.",
        lambda result: [of(SHARES, COUNTS, 0)(result) >= 85],
    ),
    Claim(
        "Whole digits, automatic width: the last task is learned, too (at least 60 %).",
        lambda result: [of(SHARES, COUNTS, TASKS - 1)(result) >= 60],
    ),
    Claim(
        "Whole digits, given width: neurons know more than as many stored images, 20 of each task.",
        lambda result: [of(RULE, COUNTS)(result) > of(STORED, COUNTS)(result)],
    ),
    Claim(
        "Whole digits, automatic width: neurons know more than as many stored images.",
        lambda result: [of(SHARES, COUNTS)(result) > of(STORED, COUNTS)(result)],
    ),
)
NOTE = """Five tasks, one after another: the classes 0 and 1, then 2 and 3, and so on. Every answer is one
of ten classes; no method is told the task. The Gaussian layer learns without labels from patches
of the images of each task, the network of the same size from images and labels, {epochs} times
each. Three read-outs stand on both, on the layer as it was after the first task, and on a layer
of random directions that never changes: a ridge regression from labelled images of all classes,
which sees what the layer has kept; the mean of the features of each class, taken when its task is
learned, which is local and never changed afterwards; and softmax regression by gradient descent
on one task after another (for the network its own last layer). "Shuffled" is the same with all
images in a random order. Whole digits: {count} neurons see images of 14 x 14 pixels and count the
labels of the images that they win. "Stored images" are {each} images of each task in place of
neurons. A move is the mean distance from the first task to the last, in parts of the length; for
whole digits that of the fifth of the neurons that win most of the first task."""


def _note(config: Config) -> str:
    count = config.n_neurons
    return " ".join(NOTE.format(epochs=config.epochs, count=count, each=count // TASKS).split())


def draw(result: Result) -> "Figure":
    """The curves of one seed."""
    return draw_seeds([result])


COLOURS = {
    **{LAYER: "C3", STOPPED: "C4", FROZEN: "C7", NETWORK: "C0"},
    **{RULE: "C1", SHARES: "C2", STORED: "C8"},
}
ROWS = {"% of the first task": 0, "% of all tasks so far": None}


def draw_seeds(results: Sequence[Result]) -> "Figure":
    """Accuracies after each task, means over the seeds, and whole digits of the first task at both ends."""
    from matplotlib.figure import Figure

    first = results[0]
    figure = Figure(figsize=(9.6, 6.4), dpi=150, layout="constrained")
    upper, lower = np.array(figure.subfigures(2, 1, height_ratios=(4, 1)))
    panels = upper.subplots(len(ROWS), len(READOUTS), sharex=True, sharey=True, squeeze=False)
    for row, (label, task) in zip(panels, ROWS.items(), strict=True):
        row[0].set_ylabel(label, fontsize=8, color=INK)
        for axes, readout in zip(row, READOUTS, strict=True):
            _curves(axes, results, readout, task)
    for axes, readout in zip(panels[0], READOUTS, strict=True):
        axes.set_title(readout, fontsize=9, loc="left", color=INK)
    for axes in panels[-1]:
        axes.set_xlabel("after task", fontsize=8, color=INK)
    found = {it.get_label(): it for axes in panels[0] for it in axes.get_lines()}
    handles = [found[name] for name in COLOURS]
    upper.legend(handles=handles, fontsize=7.5, frameon=False, labelcolor=INK, loc="outside right center")
    tiles = lower.subplots(1, len(first["digits"]))
    for axes, (name, shown) in zip(tiles, first["digits"].items(), strict=True):
        side = int(np.sqrt(len(shown["first"][0])))
        rows = [np.hstack([np.reshape(it, (side, side)) for it in shown[when]]) for when in ("first", "last")]
        axes.imshow(np.vstack(rows), cmap="gray", vmin=0)
        axes.set_yticks([side / 2, 3 * side / 2], ["after task 1", "after task 5"], fontsize=7, color=INK)
        axes.set_xticks([])
        axes.set_title(f"{name}: neurons that win most of task 1", fontsize=8, loc="left", color=INK)
        axes.spines[:].set_visible(False)
        axes.tick_params(length=0)
    pictures.add_origin(figure, first)
    return figure


def _curves(axes: "Axes", results: Sequence[Result], readout: str, task: int | None) -> None:
    """The methods that have a read-out: their accuracies on a task, or on all tasks so far."""
    for name, colour in COLOURS.items():
        if readout in results[0]["accuracies"][name]:
            rows = np.mean([it["accuracies"][name][readout] for it in results], axis=0)  # (after, of)
            values = [row[: k + 1].mean() if task is None else row[task] for k, row in enumerate(rows)]
            axes.plot(range(1, TASKS + 1), values, "o-", color=colour, ms=3.5, lw=1.2, label=name)
    axes.set_xticks(range(1, TASKS + 1))
    axes.set_ylim(-3, 103)
    pictures.plain(axes, grid="y")


EXPERIMENT = Experiment(
    name="forgetting",
    title="one task after another: split MNIST",
    config=Config(),
    run=run,
    draw=draw,
    draw_seeds=draw_seeds,
    data="mnist-split",
    seconds=70,
    samples=600_000,
    seeds=3,
    prints="accuracies",
    published={},
    beyond=True,
    needs=backprop.NEEDS,
    note=_note(Config()),
    quantities=tuple(_quantities()),
    claims=CLAIMS,
)
