"""Attacks on MNIST: accuracy over the size of the change, without labels and with backpropagation."""

import copy
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gaussian_neurons.experiments import backprop, layers, pictures, readout
from gaussian_neurons.experiments.data import parts
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
LOW, NETWORK = "Gaussian layer, low floors", "backpropagation"
MODELS = (LAYER, RANDOM, LOW, PLAIN, NETWORK)
CHECKED = (LAYER, PLAIN, NETWORK)  # with attacks that take long
SHOWN = 8  # images in the picture
NORMS = MAXIMUM, EUCLID = "L∞", "L2"  # of a change
PGD, FGSM, MORE = "PGD", "FGSM", "PGD, more steps"
SQUARE, TRANSFER = "square attack", "transfer"
CHECKS = (FGSM, MORE, SQUARE, TRANSFER)  # at one size
MOST_EPOCHS = 20  # of backpropagation; it stops before, at the accuracy of the layer
LOOK_EVERY = 1000  # images
CHOSEN_FROM = 10_000  # patches, at random
LOWERED = 0.01  # times the floors of a Stack
NEEDS = {**backprop.NEEDS, "art": "attacks"}


@dataclass(frozen=True)
class Config(layers.PatchLayer):
    """The layer, the images, and the attacks. Pixels are from 0 to 1."""

    n_samples: int = 50_000  # patches that the layer learns from
    n_train: int = 10_000  # images of the read-out and of backpropagation
    n_held_out: int = 2000  # others, which decide when backpropagation stops
    n_test: int = 2000
    n_attacked: int = 200  # of the test images
    plain_width: float = 10.0  # of patches that are only whitened, whose squared length is about 40
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
        return self.single()[0]

    @property
    def plain(self) -> Layer:
        """The same with patches that are not brought to one contrast and length."""
        return replace(self.single(width=self.plain_width)[0], normalize=("whiten",))

    def sizes(self, norm: str) -> tuple[float, ...]:
        """The sizes of a change in a norm."""
        return self.maximum if norm == MAXIMUM else self.euclid


def run(config: Config, seed: int, lab: Lab) -> Result:
    """The accuracy of each model under each attack."""
    return Trial(config, seed, lab).result()


class Trial:
    """The images, the models, and their accuracies."""

    def __init__(self, config: Config, seed: int, lab: Lab) -> None:
        known, tests = parts(lab.data)
        random = np.random.default_rng(seed)
        order = random.permutation(len(known.labels))[: config.n_train + config.n_held_out]
        self._config, self._seed, self._lab = config, seed, lab
        self._train, self._held = known.of(order[: config.n_train]), known.of(order[config.n_train :])
        self._test = tests.of(random.permutation(len(tests.labels))[: config.n_test])
        self._x = backprop.tensor(self._test.images[: config.n_attacked]).numpy()
        self._labels = self._test.labels[: config.n_attacked]

    def result(self) -> Result:
        """All models, then all attacks."""
        models, config = self._models(), self._config
        clean = {name: backprop.accuracy(net, *self._test) for name, net in models.items()}
        held = {name: backprop.accuracy(net, *self._held) for name, net in models.items()}
        attacked: Result = {name: {} for name in models}
        for norm in NORMS:
            sizes = config.sizes(norm)
            changed = {
                name: [self._descended(net, norm, size) for size in sizes] for name, net in models.items()
            }
            for name, net in models.items():
                found = {PGD: [self._right(net, it) for it in changed[name]]}
                if name in CHECKED:
                    other = changed[NETWORK if name != NETWORK else LAYER][config.checked_at]
                    checks = {**self._checks(net, norm, sizes[config.checked_at]), TRANSFER: other}
                    found |= {attack: [self._right(net, it)] for attack, it in checks.items()}
                attacked[name][norm] = found
            if norm == MAXIMUM:
                shown = {name: rounded(changed[name][config.shown_at][:SHOWN, 0]) for name in CHECKED}
        return {"clean": clean, "held_out": held, "attacked": attacked, "shown": shown}

    # ---- models -----------------------------------------------------------------------------------

    def _models(self) -> "dict[str, torch.nn.Module]":
        """The layer, the same one with other centers or floors, and the network at equal accuracy."""
        config = self._config
        encoder = self._learned(config.layer)
        normalized = encoder.normalized
        rows = normalized.teaching(Patches(self._train.images, config.size, self._seed).read(CHOSEN_FROM))
        patches = np.random.default_rng(self._seed).choice(rows, config.n_neurons, replace=False)
        low = replace(normalized, floor=LOWERED * normalized.floor, length=LOWERED * normalized.length)
        models = {
            LAYER: self._with_read_out(encoder),
            RANDOM: self._with_read_out(replace(encoder, centers=patches.astype(np.float32))),
            LOW: self._with_read_out(replace(encoder, normalized=low)),
            PLAIN: self._with_read_out(self._learned(config.plain)),
        }
        models[NETWORK] = self._network(backprop.accuracy(models[LAYER], *self._held))
        return models

    def _learned(self, layer: Layer) -> Encoder:
        """A layer that has learned from the training images, without labels."""
        begin, config = time.perf_counter(), self._config
        stack = Stack([layer], n_samples=config.n_samples, grid=config.grid, random_state=self._seed)
        encoder = stack.fit(self._train.images).encoders_[0]
        self._lab.record(config.n_samples, time.perf_counter() - begin)
        return encoder

    def _with_read_out(self, encoder: Encoder) -> "torch.nn.Module":
        """A layer with a linear read-out of its features: a ridge regression, in closed form."""
        import torch

        from gaussian_neurons.torch import StackFeatures

        features = StackFeatures([encoder], self._config.grid)
        weights, offsets = readout.ridge(backprop.outputs(features, self._train.images), self._train.labels)
        linear = torch.nn.Linear(weights.shape[1], weights.shape[0]).requires_grad_(False)
        linear.weight.copy_(torch.from_numpy(weights))
        linear.bias.copy_(torch.from_numpy(offsets))
        return torch.nn.Sequential(features, linear)

    def _network(self, wanted: float) -> "torch.nn.Module":
        """The network, trained until it has the wanted accuracy of the held-out images."""
        config, seed, train = self._config, self._seed, self._train
        net = backprop.network(train.images.shape[1:], [config.layer], grid=config.grid, seed=seed)
        backprop.standardize(net, train.images)
        begin, taken = time.perf_counter(), 0
        best, most = copy.deepcopy(net), -1.0
        looks = backprop.training(net, *train, epochs=MOST_EPOCHS, seed=seed, falls=False, every=LOOK_EVERY)
        for images in looks:
            self._lab.record(images - taken, time.perf_counter() - begin)
            found = backprop.accuracy(net, *self._held)
            if found > most:
                best, most = copy.deepcopy(net), found
            if found >= wanted:
                break
            begin, taken = time.perf_counter(), images
        return best.requires_grad_(False)

    # ---- attacks ----------------------------------------------------------------------------------

    def _descended(
        self, net: "torch.nn.Module", norm: str, size: float, steps: int | None = None, starts: int = 1
    ) -> Array:
        """The images (n, channels, height, width) after projected gradient descent from random starts."""
        from art.attacks.evasion import ProjectedGradientDescentPyTorch

        steps = steps or self._config.steps
        given = {"eps_step": 2.5 * size / steps, "max_iter": steps, "num_random_init": starts}
        return self._after(ProjectedGradientDescentPyTorch, net, norm, size, verbose=False, **given)

    def _checks(self, net: "torch.nn.Module", norm: str, size: float) -> dict[str, Array]:
        """The images after FGSM, PGD with more steps, and the square attack, which sees no gradients."""
        from art.attacks.evasion import FastGradientMethod, SquareAttack

        config = self._config
        with np.errstate(all="ignore"):
            squares = self._after(SquareAttack, net, norm, size, max_iter=config.queries, verbose=False)
        return {
            FGSM: self._after(FastGradientMethod, net, norm, size),
            MORE: self._descended(net, norm, size, config.more_steps, config.restarts),
            SQUARE: squares,
        }

    def _after(self, attack: Any, net: "torch.nn.Module", norm: str, size: float, **given: Any) -> Array:
        """The attacked images after an attack of the library for attacks."""
        import torch
        from art.estimators.classification import PyTorchClassifier

        with _seeded(self._seed), backprop.one_thread():
            model = PyTorchClassifier(
                net.eval(),
                torch.nn.CrossEntropyLoss(),
                input_shape=self._x.shape[1:],
                nb_classes=10,
                clip_values=(0, 1),
                device_type="cpu",
            )
            order = np.inf if norm == MAXIMUM else 2
            attack = attack(model, norm=order, eps=size, batch_size=100, **given)
            found: Array = attack.generate(self._x, self._labels)
        return found

    def _right(self, net: "torch.nn.Module", x: Array) -> float:
        """Percent of changed images (n, channels, height, width) with the right class."""
        return backprop.accuracy(net, x.transpose(0, 2, 3, 1), self._labels)


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


def of(name: str, norm: str, attack: str, at: int = 0) -> Callable[[Result], float]:
    """The accuracy of a model under an attack, in percent of the attacked images."""
    return lambda result: float(result["attacked"][name][norm][attack][at])


def clean(name: str) -> Callable[[Result], float]:
    """The accuracy of a model before any attack, in percent of the test images."""
    return lambda result: float(result["clean"][name])


def _quantities(config: Config) -> Iterator[Quantity]:
    for name in MODELS:
        yield Quantity(f"% without attack, {name}", clean(name), digits=1)
    for norm in NORMS:
        sizes = config.sizes(norm)
        for at, size in enumerate(sizes):
            for name in MODELS:
                yield Quantity(f"% PGD {norm} {size:g}, {name}", of(name, norm, PGD, at), digits=1)
        for name in CHECKED:
            for attack in CHECKS:
                label = f"% {attack} {norm} {sizes[config.checked_at]:g}, {name}"
                yield Quantity(label, of(name, norm, attack), digits=1)


def _withstands(first: str, second: str, norms: Sequence[str]) -> Callable[[Result], list[bool]]:
    """For each norm and size: whether one model has at least the accuracy of another under PGD."""
    return lambda result: [
        ours >= theirs
        for norm in norms
        for ours, theirs in zip(*(result["attacked"][it][norm][PGD] for it in (first, second)), strict=True)
    ]


def _each(test: Callable[[dict[str, float]], bool], at: int) -> Callable[[Result], list[bool]]:
    """A test of the accuracies under all attacks at one size, for each model that has them, and each norm."""

    def holds(result: Result) -> list[bool]:
        attacked = [result["attacked"][name][norm] for name in CHECKED for norm in NORMS]
        return [test({**{it: found[it][0] for it in CHECKS}, PGD: found[PGD][at]}) for found in attacked]

    return holds


def _claims(config: Config) -> Iterator[Claim]:
    at = config.checked_at
    size = f"L∞ {config.maximum[at]:g}"
    pgd = {name: of(name, MAXIMUM, PGD, at) for name in MODELS}
    yield Claim(
        "Without attack, layer and network differ by at most 1 point.",
        lambda result: [abs(clean(LAYER)(result) - clean(NETWORK)(result)) <= 1],
    )
    for norm in NORMS:
        yield Claim(
            f"Under PGD ({norm}), the Gaussian layer has at least the accuracy of the network, at each size.",
            _withstands(LAYER, NETWORK, [norm]),
        )
    yield Claim(
        f"The floors are needed: under PGD ({size}), the same centers with low floors have at least 20 "
        "points less than the Gaussian layer.",
        lambda result: [pgd[LOW](result) <= pgd[LAYER](result) - 20],
    )
    yield Claim(
        "The floors cost at most 0.3 points without attack.",
        lambda result: [clean(LAYER)(result) >= clean(LOW)(result) - 0.3],
    )
    yield Claim(
        "Contrast and length cost nothing under PGD: the Gaussian layer has at least the accuracy of the "
        "layer that is only whitened (each norm and size is a case).",
        _withstands(LAYER, PLAIN, NORMS),
    )
    yield Claim(
        "Under PGD (L∞), the layer that is only whitened has at least the accuracy of the network, at each "
        "size.",
        _withstands(PLAIN, NETWORK, [MAXIMUM]),
    )
    yield Claim(
        "Learning helps: the Gaussian layer has more than random patches under PGD, the mean over the sizes "
        "(each norm is a case).",
        lambda result: [
            sum(result["attacked"][LAYER][norm][PGD]) > sum(result["attacked"][RANDOM][norm][PGD])
            for norm in NORMS
        ],
    )
    yield Claim(
        "Gradients are not masked: PGD leaves at most the accuracy of the square attack, which sees no "
        "gradients (each model and norm is a case).",
        _each(lambda found: found[MORE] <= found[SQUARE], at),
    )
    yield Claim(
        "Nor does transfer do better than PGD (each model and norm is a case).",
        _each(lambda found: found[PGD] <= found[TRANSFER], at),
    )
    yield Claim(
        "PGD has converged: more steps and starts take at most 5 points (each model and norm is a case).",
        _each(lambda found: found[MORE] >= found[PGD] - 5, at),
    )
    yield Claim(
        "PGD leaves at most the accuracy of FGSM, up to 1 point (each model and norm is a case).",
        _each(lambda found: found[PGD] <= found[FGSM] + 1, at),
    )
    yield Claim(
        "The largest change leaves at most 10 % (each model and norm is a case).",
        lambda result: [of(name, norm, PGD, -1)(result) <= 10 for name in MODELS for norm in NORMS],
    )


NOTE = """The Gaussian layer learns from patches without labels; a ridge regression reads out the class.
"Random patches" has patches as centers of the same layer. "Low floors": the numbers that are added
to variance and squared length before a patch is divided by their roots are {lowered:g} times as
large, with the same centers. "Only whitened" learns and responds without bringing patches to one
contrast and length. The network has the same size and is trained by backpropagation until it has
the accuracy of the layer on {held:,} held-out images. {attacked} test images are attacked, with
pixels from 0 to 1; "size" is the largest change of a pixel (L∞) or the length of the change (L2).
PGD has {steps} steps from a random start. Checks at one size: FGSM; PGD with {more} steps from
{restarts} starts; the square attack with {queries} queries, which sees no gradients; and transfer,
images that PGD has changed to mislead the network (for the network: the layer). What a layer passes
on are differences of log-responses, which do not saturate far from all centers. The attacks are
those of the Adversarial Robustness Toolbox."""


def _note(config: Config) -> str:
    return " ".join(
        NOTE.format(
            lowered=LOWERED,
            held=config.n_held_out,
            attacked=config.n_attacked,
            steps=config.steps,
            more=config.more_steps,
            restarts=config.restarts,
            queries=config.queries,
        ).split()
    )


COLOURS = {LAYER: "C3", RANDOM: "C1", LOW: "C2", PLAIN: "C4", NETWORK: "C0"}


def draw(result: Result) -> "Figure":
    """The curves of one seed."""
    return draw_seeds([result])


def draw_seeds(results: Sequence[Result]) -> "Figure":
    """Accuracies over the size of the change, means over the seeds; and changed images of the first seed."""
    from matplotlib.figure import Figure

    first = results[0]
    config = first["config"]
    figure = Figure(figsize=(9.6, 5.4), dpi=150, layout="constrained")
    grid = figure.add_gridspec(2, 1, height_ratios=(3, 1.2))
    panels = grid[0].subgridspec(1, 2).subplots(sharey=True, squeeze=False)[0]
    for axes, norm, key in zip(panels, NORMS, ("maximum", "euclid"), strict=True):
        sizes = config[key]
        for name, colour in COLOURS.items():
            values = np.mean([it["attacked"][name][norm][PGD] for it in results], axis=0)
            percent = np.mean([clean(name)(it) for it in results])
            label = f"{name}\n({percent:.1f} % without attack)"
            axes.plot(sizes, values, "o-", color=colour, lw=1.3, ms=3, label=label)
        axes.set_xscale("log")
        axes.set_xticks(sizes, [f"{it:g}" for it in sizes])
        axes.minorticks_off()
        axes.set_xlabel(f"size of the change, {norm}", fontsize=9, color=INK)
        axes.set_ylim(-3, 103)
        pictures.plain(axes, grid="y")
    panels[0].set_ylabel("% with the right class after PGD", fontsize=9, color=INK)
    handles = panels[0].get_lines()
    figure.legend(handles=handles, fontsize=7.5, frameon=False, labelcolor=INK, loc="outside right center")
    tiles = grid[1].subgridspec(1, len(first["shown"])).subplots(squeeze=False)[0]
    size = config["maximum"][config["shown_at"]]
    for axes, (name, images) in zip(tiles, first["shown"].items(), strict=True):
        rows = np.split(np.array(images), 2)
        axes.imshow(np.vstack([np.hstack(list(row)) for row in rows]), cmap="gray")
        axes.set_title(f"{name}\nafter PGD, {MAXIMUM} {size:g}", fontsize=7.5, loc="left", color=INK)
        axes.set_axis_off()
    pictures.add_origin(figure, first)
    return figure


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
