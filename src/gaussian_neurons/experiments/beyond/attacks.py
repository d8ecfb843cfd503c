"""Attacks on MNIST: accuracy over the size of the change, without labels and with backpropagation."""

import copy
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gaussian_neurons import GaussianNeurons
from gaussian_neurons.experiments import backprop, pictures
from gaussian_neurons.experiments.data import Split
from gaussian_neurons.experiments.experiment import Claim, Experiment, Quantity, Result
from gaussian_neurons.experiments.lab import Lab
from gaussian_neurons.experiments.layer import rounded
from gaussian_neurons.plotting import INK
from gaussian_neurons.sampling import Patches
from gaussian_neurons.stack import Encoder, Layer, Stack

if TYPE_CHECKING:
    import torch
    from matplotlib.figure import Figure

Array = NDArray[Any]

LAYER, RANDOM, PLAIN = "Gaussian layer", "random patches", "Gaussian layer, only whitened"
FLOORS, NETWORK = "Gaussian layer, higher floors", "backpropagation"
MODELS = (LAYER, RANDOM, FLOORS, PLAIN, NETWORK)
CHECKED = (LAYER, PLAIN, NETWORK)  # with attacks that take long
SHOWN = 8  # images in the picture
MAXIMUM, EUCLID = "L∞", "L2"  # norms of a change
FGSM, PGD, TRANSFER = "FGSM", "PGD", "transfer"
SAME, MORE, SQUARE = "PGD, same images", "PGD, more steps", "square attack"
PENALTY = 0.01  # of the ridge regression, times the number of images
MOST_EPOCHS = 20  # of backpropagation; it stops before, at the accuracy of the layer
LOOK_EVERY = 1000  # images
CHOSEN_FROM = 10_000  # patches, at random
RAISED = 100  # times the floors of a Stack, which are 1 % of the typical variance and squared length
NEEDS = {**backprop.NEEDS, "art": "attacks"}


@dataclass(frozen=True)
class Config:
    """The layer, the images, and the attacks. Pixels are from 0 to 1."""

    n_samples: int = 50_000  # patches that the layer learns from
    n_train: int = 10_000  # images of the read-out and of backpropagation
    n_held_out: int = 2000  # others, which decide when backpropagation stops
    n_test: int = 2000
    n_attacked: int = 200  # of the test images
    n_checked: int = 100  # of these, for the attacks that take long
    n_neurons: int = 100
    size: int = 9
    stride: int = 3
    grid: int = 3
    width: float = 0.25  # patches have the length 1
    plain_width: float = 10.0  # of patches that are only whitened, whose squared length is about 40
    inhibition: float = 0.2  # times 1 / n_neurons
    rate: float = 0.15  # times the width
    repulsion_every: int = 4
    maximum: tuple[float, ...] = (0.01, 0.02, 0.05, 0.1, 0.2)
    euclid: tuple[float, ...] = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0)
    checked_at: int = 1  # which of these sizes the attacks that take long use
    shown_at: int = 3  # which of these sizes is in the picture
    steps: int = 20  # of PGD
    more_steps: int = 50
    restarts: int = 2  # with more steps
    queries: int = 300  # of the square attack

    @property
    def layer(self) -> Layer:
        """The layer of all models."""
        return Layer(self._neurons(self.width), self.size, self.stride)

    @property
    def plain(self) -> Layer:
        """The same with patches that are not brought to one contrast and length."""
        return replace(self.layer, neurons=self._neurons(self.plain_width), normalize=("whiten",))

    def _neurons(self, width: float) -> GaussianNeurons:
        return GaussianNeurons(
            self.n_neurons,
            width=width,
            inhibition=self.inhibition / self.n_neurons,
            learning_rate=self.rate * width,
            repulsion_every=self.repulsion_every,
            init="samples",
        )

    def sizes(self, norm: str) -> tuple[float, ...]:
        """The sizes of a change in a norm."""
        return self.maximum if norm == MAXIMUM else self.euclid


def run(config: Config, seed: int, lab: Lab) -> Result:
    """The accuracy of each model under each attack."""
    return Trial(config, seed, lab).result()


class Trial:
    """The images, the models, and their accuracies."""

    def __init__(self, config: Config, seed: int, lab: Lab) -> None:
        data = lab.data
        if not isinstance(data, Split):
            raise TypeError("attacks need images with a test part: a data set whose name ends in -split.")
        random = np.random.default_rng(seed)
        order = random.permutation(len(data.train.images))[: config.n_train + config.n_held_out]
        tested = random.permutation(len(data.test.images))[: config.n_test]
        self._config, self._seed, self._lab = config, seed, lab
        images, labels = _images(data.train.images[order]), data.train.labels[order].astype(int)
        self._train, self._labels = images[: config.n_train], labels[: config.n_train]
        self._held, self._held_labels = images[config.n_train :], labels[config.n_train :]
        self._test, self._test_labels = (
            _images(data.test.images[tested]),
            data.test.labels[tested].astype(int),
        )

    def result(self) -> Result:
        """All models, then all attacks."""
        models = self._models()
        clean = {name: backprop.accuracy(net, self._test, self._test_labels) for name, net in models.items()}
        held = {name: backprop.accuracy(net, self._held, self._held_labels) for name, net in models.items()}
        attacked: Result = {name: {} for name in models}
        shown: Result = {}
        for norm in (MAXIMUM, EUCLID):
            changed = {name: self._changed(net, norm) for name, net in models.items()}
            for name, net in models.items():
                other = NETWORK if name != NETWORK else LAYER
                given = {**changed[name], TRANSFER: changed[other][PGD]}
                found = {attack: [self._right(net, it) for it in arrays] for attack, arrays in given.items()}
                if name in CHECKED:
                    found |= self._checked(net, norm, changed[name][PGD])
                attacked[name][norm] = found
            if norm == MAXIMUM:
                at = self._config.shown_at
                shown = {name: rounded(changed[name][PGD][at][:SHOWN, 0]) for name in CHECKED}
        return {"clean": clean, "held_out": held, "attacked": attacked, "shown": shown}

    # ---- models -----------------------------------------------------------------------------------

    def _models(self) -> "dict[str, torch.nn.Module]":
        """The layer, the same one with patches as centers, and the network at equal accuracy."""
        config = self._config
        encoder = self._learned(config.layer)
        rows = encoder.normalized.teaching(Patches(self._train, config.size, self._seed).read(CHOSEN_FROM))
        patches = np.random.default_rng(self._seed).choice(rows, config.n_neurons, replace=False)
        raised = replace(
            encoder.normalized,
            floor=RAISED * encoder.normalized.floor,
            length=RAISED * encoder.normalized.length,
        )
        models = {
            LAYER: self._with_read_out(encoder),
            RANDOM: self._with_read_out(replace(encoder, centers=patches.astype(np.float32))),
            FLOORS: self._with_read_out(replace(encoder, normalized=raised)),
            PLAIN: self._with_read_out(self._learned(config.plain)),
        }
        models[NETWORK] = self._network(backprop.accuracy(models[LAYER], self._held, self._held_labels))
        return models

    def _learned(self, layer: Layer) -> Encoder:
        """A layer that has learned from the training images, without labels."""
        begin, config = time.perf_counter(), self._config
        stack = Stack([layer], n_samples=config.n_samples, grid=config.grid, random_state=self._seed)
        encoder = stack.fit(self._train).encoders_[0]
        self._lab.record(config.n_samples, time.perf_counter() - begin)
        return encoder

    def _with_read_out(self, encoder: Encoder) -> "torch.nn.Module":
        """A layer with a linear read-out of its features: a ridge regression, in closed form."""
        from sklearn.linear_model import RidgeClassifier
        from sklearn.preprocessing import StandardScaler
        from torch import nn

        from gaussian_neurons.torch import StackFeatures

        features = StackFeatures([encoder], self._config.grid)
        rows = backprop.outputs(features, self._train)
        scaler = StandardScaler().fit(rows)
        model = RidgeClassifier(PENALTY * len(rows), solver="cholesky").fit(
            scaler.transform(rows), self._labels
        )
        weights = model.coef_ / scaler.scale_
        return nn.Sequential(features, _linear(weights, model.intercept_ - weights @ scaler.mean_))

    def _network(self, wanted: float) -> "torch.nn.Module":
        """The network, trained until it has the wanted accuracy of the held-out images."""
        config, seed = self._config, self._seed
        net = backprop.network(self._train.shape[1:], [config.layer], grid=config.grid, seed=seed)
        backprop.standardize(net, self._train)
        begin, taken = time.perf_counter(), 0
        best, most = copy.deepcopy(net), -1.0
        looks = backprop.training(
            net, self._train, self._labels, epochs=MOST_EPOCHS, seed=seed, falls=False, every=LOOK_EVERY
        )
        for images in looks:
            self._lab.record(images - taken, time.perf_counter() - begin)
            found = backprop.accuracy(net, self._held, self._held_labels)
            if found > most:
                best, most = copy.deepcopy(net), found
            if found >= wanted:
                break
            begin, taken = time.perf_counter(), images
        return best.requires_grad_(False)

    # ---- attacks ----------------------------------------------------------------------------------

    @property
    def _clean(self) -> tuple[Array, Array]:
        """The attacked images (n, channels, height, width) and their labels."""
        count = self._config.n_attacked
        return backprop.tensor(self._test[:count]).numpy(), self._test_labels[:count]

    def _changed(self, net: "torch.nn.Module", norm: str) -> dict[str, list[Array]]:
        """The images after FGSM and PGD, one array for each size of the change."""
        from art.attacks.evasion import FastGradientMethod

        x, labels = self._clean
        found: dict[str, list[Array]] = {FGSM: [], PGD: []}
        for size in self._config.sizes(norm):
            with _seeded(self._seed), backprop.one_thread():
                model = self._classifier(net)
                found[FGSM].append(FastGradientMethod(model, _order(norm), eps=size).generate(x, labels))
            found[PGD].append(self._descended(net, norm, size, x, labels, self._config.steps, 1))
        return found

    def _descended(
        self,
        net: "torch.nn.Module",
        norm: str,
        size: float,
        x: Array,
        labels: Array,
        steps: int,
        restarts: int,
    ) -> Array:
        """The images after projected gradient descent from random starts."""
        from art.attacks.evasion import ProjectedGradientDescentPyTorch

        with _seeded(self._seed), backprop.one_thread():
            attack = ProjectedGradientDescentPyTorch(
                self._classifier(net),
                _order(norm),
                eps=size,
                eps_step=2.5 * size / steps,
                max_iter=steps,
                num_random_init=restarts,
                batch_size=100,
                verbose=False,
            )
            found: Array = attack.generate(x, labels)
        return found

    def _checked(self, net: "torch.nn.Module", norm: str, plain: Sequence[Array]) -> dict[str, list[float]]:
        """PGD, PGD with more steps, and the square attack, which sees no gradients, at one size."""
        from art.attacks.evasion import SquareAttack

        config = self._config
        size, count = config.sizes(norm)[config.checked_at], config.n_checked
        x, labels = (it[:count] for it in self._clean)
        more = self._descended(net, norm, size, x, labels, config.more_steps, config.restarts)
        with _seeded(self._seed), backprop.one_thread(), np.errstate(all="ignore"):
            attack = SquareAttack(
                self._classifier(net),
                _order(norm),
                max_iter=config.queries,
                eps=size,
                batch_size=count,
                verbose=False,
            )
            squares = attack.generate(x, labels)
        found = {SAME: plain[config.checked_at][:count], MORE: more, SQUARE: squares}
        return {name: [self._right(net, it)] for name, it in found.items()}

    def _classifier(self, net: "torch.nn.Module") -> Any:
        """A model as the library for attacks has it."""
        import torch
        from art.estimators.classification import PyTorchClassifier

        height, width, channels = self._test.shape[1:]
        return PyTorchClassifier(
            net.eval(),
            torch.nn.CrossEntropyLoss(),
            input_shape=(channels, height, width),
            nb_classes=10,
            clip_values=(0, 1),
            device_type="cpu",
        )

    def _right(self, net: "torch.nn.Module", x: Array) -> float:
        """Percent of changed images (n, channels, height, width) with the right class."""
        return backprop.accuracy(net, x.transpose(0, 2, 3, 1), self._test_labels[: len(x)])


def _images(images: Array) -> Array:
    """(n, height, width, channels)."""
    return images[..., None] if images.ndim == 3 else images


def _linear(weights: Array, offsets: Array) -> "torch.nn.Linear":
    """A linear map with given weights (outputs, inputs), which do not learn."""
    import torch

    found = torch.nn.Linear(weights.shape[1], weights.shape[0]).requires_grad_(False)
    found.weight.copy_(torch.from_numpy(weights))
    found.bias.copy_(torch.from_numpy(offsets))
    return found


def _order(norm: str) -> Any:
    return np.inf if norm == MAXIMUM else 2


@contextmanager
def _seeded(seed: int) -> Iterator[None]:
    """The library for attacks draws from global generators: they are seeded, and put back afterwards."""
    import torch

    before = np.random.get_state()  # noqa: NPY002
    np.random.seed(seed)  # noqa: NPY002
    try:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            yield
    finally:
        np.random.set_state(before)  # noqa: NPY002


# ---- the report -----------------------------------------------------------------------------------


def of(name: str, norm: str, attack: str, at: int) -> Callable[[Result], float]:
    """The accuracy of a model under an attack, in percent of the attacked images."""
    return lambda result: float(result["attacked"][name][norm][attack][at])


def clean(name: str) -> Callable[[Result], float]:
    """The accuracy of a model before any attack, in percent of the test images."""
    return lambda result: float(result["clean"][name])


def _quantities(config: Config) -> Iterator[Quantity]:
    for name in MODELS:
        yield Quantity(f"% without attack, {name}", clean(name), digits=1)
    for norm in (MAXIMUM, EUCLID):
        for attack in (PGD, FGSM):
            for at, size in enumerate(config.sizes(norm)):
                for name in MODELS:
                    yield Quantity(
                        f"% {attack} {norm} {size:g}, {name}", of(name, norm, attack, at), digits=1
                    )
    for norm in (MAXIMUM, EUCLID):
        size = config.sizes(norm)[config.checked_at]
        for name in CHECKED:
            for attack, at in ((SAME, 0), (MORE, 0), (SQUARE, 0), (TRANSFER, config.checked_at)):
                yield Quantity(f"% {attack} {norm} {size:g}, {name}", of(name, norm, attack, at), digits=1)


def _withstands(first: str, second: str, norm: str, more: float = 0.0) -> Callable[[Result], list[bool]]:
    """For each size: whether one model has at least the accuracy of another under PGD, and so much more."""

    def holds(result: Result) -> list[bool]:
        pair = (result["attacked"][name][norm][PGD] for name in (first, second))
        return [ours >= theirs + more for ours, theirs in zip(*pair, strict=True)]

    return holds


def _mean(name: str, norm: str) -> Callable[[Result], float]:
    """The accuracy under PGD, the mean over all sizes."""
    return lambda result: float(np.mean(result["attacked"][name][norm][PGD]))


def _for_checked(test: Callable[[Result, str, str], bool]) -> Callable[[Result], list[bool]]:
    """A test for each model with attacks that take long, and each norm."""
    return lambda result: [test(result, name, norm) for name in CHECKED for norm in (MAXIMUM, EUCLID)]


def _claims(config: Config) -> Iterator[Claim]:
    at = config.checked_at
    yield Claim(
        "Without attack, layer and network differ by at most 1 point.",
        lambda result: [abs(clean(LAYER)(result) - clean(NETWORK)(result)) <= 1],
    )
    for norm in (MAXIMUM, EUCLID):
        yield Claim(
            f"Under PGD ({norm}), the Gaussian layer has at least the accuracy of the network, at each size.",
            _withstands(LAYER, NETWORK, norm),
        )
    yield Claim(
        f"Contrast and length are the cause: under PGD (L∞ {config.maximum[at]:g}), the layer that is only "
        "whitened has at least 20 points more than the Gaussian layer.",
        lambda result: [of(PLAIN, MAXIMUM, PGD, at)(result) >= of(LAYER, MAXIMUM, PGD, at)(result) + 20],
    )
    yield Claim(
        "The same centers with higher floors have at least 20 points more than the Gaussian layer, too.",
        lambda result: [of(FLOORS, MAXIMUM, PGD, at)(result) >= of(LAYER, MAXIMUM, PGD, at)(result) + 20],
    )
    yield Claim(
        "Higher floors cost at most 1 point without attack.",
        lambda result: [clean(FLOORS)(result) >= clean(LAYER)(result) - 1],
    )
    yield Claim(
        "Under PGD (L∞), the layer that is only whitened has at least the accuracy of the network, at each "
        "size.",
        _withstands(PLAIN, NETWORK, MAXIMUM),
    )
    yield Claim(
        "Learning helps: the Gaussian layer has more than random patches under PGD, the mean over the sizes "
        "(each norm is a case).",
        lambda result: [
            _mean(LAYER, norm)(result) > _mean(RANDOM, norm)(result) for norm in (MAXIMUM, EUCLID)
        ],
    )
    yield Claim(
        "Gradients are not masked: PGD leaves at most the accuracy of the square attack, which sees no "
        "gradients (each model and norm is a case).",
        _for_checked(
            lambda result, name, norm: of(name, norm, MORE, 0)(result) <= of(name, norm, SQUARE, 0)(result)
        ),
    )
    yield Claim(
        "Nor does transfer do better than PGD (each model and norm is a case).",
        _for_checked(
            lambda result, name, norm: of(name, norm, PGD, at)(result) <= of(name, norm, TRANSFER, at)(result)
        ),
    )
    yield Claim(
        "PGD has converged: more steps and starts take at most 5 points (each model and norm is a case).",
        _for_checked(
            lambda result, name, norm: of(name, norm, MORE, 0)(result) >= of(name, norm, SAME, 0)(result) - 5
        ),
    )
    yield Claim(
        "PGD leaves at most the accuracy of FGSM, up to 1 point (each model, norm and size is a case).",
        lambda result: [
            of(name, norm, PGD, k)(result) <= of(name, norm, FGSM, k)(result) + 1
            for name in MODELS
            for norm in (MAXIMUM, EUCLID)
            for k in range(len(config.sizes(norm)))
        ],
    )
    yield Claim(
        "The largest change leaves at most 10 % (each model and norm is a case).",
        lambda result: [
            of(name, norm, PGD, -1)(result) <= 10 for name in MODELS for norm in (MAXIMUM, EUCLID)
        ],
    )


NOTE = """The Gaussian layer learns from patches without labels; a ridge regression reads out the class.
"Random patches" has patches as centers of the same layer. "Higher floors": the numbers that are
added to variance and squared length before a patch is divided by their roots are {raised} times
as large, with the same centers. "Only whitened" learns and responds without bringing patches to
one contrast and length. The network has the same size and is trained by backpropagation until it
has the accuracy of the layer on {held:,} held-out images. {attacked} test images are attacked,
with pixels from 0 to 1; "size" is the largest change of a pixel (L∞) or the length of the change
(L2). PGD has {steps} steps from a random start. Checks at one size, with {checked} images: PGD
with {more} steps from {restarts} starts, and the square attack with {queries} queries, which sees
no gradients. Transfer: images that PGD has changed to mislead the network (for the network: the
layer). What a layer passes on are differences of log-responses, which do not saturate far from
all centers. The attacks are those of the Adversarial Robustness Toolbox."""


def _note(config: Config) -> str:
    return " ".join(
        NOTE.format(
            raised=RAISED,
            held=config.n_held_out,
            attacked=config.n_attacked,
            steps=config.steps,
            checked=config.n_checked,
            more=config.more_steps,
            restarts=config.restarts,
            queries=config.queries,
        ).split()
    )


LINES = {PGD: "-", FGSM: ":", TRANSFER: "--"}
COLOURS = {LAYER: "C3", RANDOM: "C1", FLOORS: "C2", PLAIN: "C4", NETWORK: "C0"}


def draw(result: Result) -> "Figure":
    """The curves of one seed."""
    return draw_seeds([result])


def draw_seeds(results: Sequence[Result]) -> "Figure":
    """Accuracies over the size of the change, means over the seeds; and changed images of the first seed."""
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    first = results[0]
    config = first["config"]
    figure = Figure(figsize=(9.6, 5.4), dpi=150, layout="constrained")
    grid = figure.add_gridspec(2, 1, height_ratios=(3, 1.2))
    panels = grid[0].subgridspec(1, 2).subplots(sharey=True, squeeze=False)[0]
    for axes, norm, key in zip(panels, (MAXIMUM, EUCLID), ("maximum", "euclid"), strict=True):
        sizes = config[key]
        for name, colour in COLOURS.items():
            for attack, line in LINES.items():
                values = np.mean([it["attacked"][name][norm][attack] for it in results], axis=0)
                axes.plot(
                    sizes, values, line, color=colour, lw=1.3, marker="o" if attack == PGD else "", ms=3
                )
            if name in CHECKED:
                square = np.mean([it["attacked"][name][norm][SQUARE] for it in results])
                axes.plot(sizes[config["checked_at"]], square, "x", color=colour, ms=7)
        axes.set_xscale("log")
        axes.set_xticks(sizes, [f"{it:g}" for it in sizes])
        axes.minorticks_off()
        axes.set_xlabel(f"size of the change, {norm}", fontsize=9, color=INK)
        axes.set_ylim(-3, 103)
        axes.grid(axis="y", alpha=0.3)
        axes.spines[["top", "right"]].set_visible(False)
        axes.tick_params(colors=INK, labelsize=8)
    panels[0].set_ylabel("% with the right class", fontsize=9, color=INK)
    means = {name: np.mean([clean(name)(it) for it in results]) for name in COLOURS}
    handles = [
        Line2D([], [], color=it, label=f"{name} ({means[name]:.1f} % clean)") for name, it in COLOURS.items()
    ]
    handles += [Line2D([], [], color="0.4", ls=line, label=attack) for attack, line in LINES.items()]
    handles.append(Line2D([], [], color="0.4", ls="", marker="x", label=SQUARE))
    figure.legend(handles=handles, fontsize=7.5, frameon=False, labelcolor=INK, loc="outside right center")
    tiles = grid[1].subgridspec(1, len(first["shown"])).subplots(squeeze=False)[0]
    for axes, (name, images) in zip(tiles, first["shown"].items(), strict=True):
        axes.imshow(_tiled(np.array(images)), cmap="gray")
        size = config["maximum"][config["shown_at"]]
        axes.set_title(f"{name}\nafter PGD, {MAXIMUM} {size:g}", fontsize=7.5, loc="left", color=INK)
        axes.set_axis_off()
    pictures.add_origin(figure, first)
    return figure


def _tiled(images: Array) -> Array:
    """Images (n, height, width) in two rows."""
    count, height, width = images.shape
    tiled: Array = images.reshape(2, count // 2, height, width).swapaxes(1, 2).reshape(2 * height, -1)
    return tiled


EXPERIMENT = Experiment(
    name="attacks",
    title="attacks on MNIST",
    config=Config(),
    run=run,
    draw=draw,
    draw_seeds=draw_seeds,
    data="mnist-split",
    seconds=110,
    samples=150_000,
    seeds=3,
    prints="accuracies",
    published={},
    beyond=True,
    needs=NEEDS,
    note=_note(Config()),
    quantities=tuple(_quantities(Config())),
    claims=tuple(_claims(Config())),
)
