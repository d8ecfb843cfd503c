"""Figures 5c to 5f on video: samples from successive frames in place of nine neighbouring patches."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from gaussian_neurons.experiments import figure5c, layer, pictures
from gaussian_neurons.experiments.experiment import Claim, Quantity, Result
from gaussian_neurons.experiments.lab import Lab
from gaussian_neurons.sampling import Frames, Neighbourhoods, Stream

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NEIGHBOURS, FRAMES, SHUFFLED = "neighbours", "frames", "shuffled frames"
KINDS = (NEIGHBOURS, FRAMES, SHUFFLED)


@dataclass(frozen=True)
class Config(figure5c.Config):
    """The settings of Figures 5c, 5d and 5e, with fewer samples."""

    n_samples: int = 300_000
    starts: tuple[float, ...] = tuple(figure5c.STARTS.values())  # widths at the start
    n_frames: int = 9  # of a sample


def run(config: Config, seed: int, lab: Lab) -> Result:
    """Learn with each starting width and each kind of samples."""
    found = {
        f"{start:g}": {
            kind: layer.facts(
                lab.learn(
                    replace(config, width=start).neurons(seed),
                    stream(kind, config, seed, lab),
                    config.n_samples,
                    f"{kind.replace(' ', '-')}-{start:g}",
                )
            )
            for kind in KINDS
        }
        for start in config.starts
    }
    return {**found[f"{config.starts[0]:g}"][FRAMES], "layers": found}


def stream(kind: str, config: Config, seed: int, lab: Lab) -> Stream:
    """Samples with widths. Shuffled frames are the same frames in a random order."""
    assert config.noise is not None
    video = lab.data.images
    if kind == NEIGHBOURS:
        return Neighbourhoods(video, config.size, config.noise, seed)
    if kind == SHUFFLED:
        video = np.random.default_rng(seed).permutation(video)
    return Frames(video, config.size, config.n_frames, seed, noise=config.noise)


# ---- the report -----------------------------------------------------------------------------------


def draw(result: Result) -> "Figure":
    """The filters of each starting width and kind."""
    panels = [
        pictures.Panel(_title(start, kind, found), found)
        for start, kinds in result["layers"].items()
        for kind, found in kinds.items()
    ]
    return pictures.draw_panels(result, panels, in_row=len(KINDS) if len(result["layers"]) > 1 else 1)


def _title(start: str, kind: str, found: Result) -> str:
    widths = figure5c.learned_widths(found)
    spread = f"{widths[0]:.1f} to {widths[-1]:.1f}" if widths else "-"
    return f"{kind}, σ from {start}\n{found['learned']} learned, σ {spread}"


def in_pairs(what: str, kind: str) -> Callable[[Result], list[bool]]:
    """For each pair of starting widths, whether filters or widths are the same."""

    def of(result: Result) -> list[bool]:
        layers = [kinds[kind] for kinds in result["layers"].values()]
        compared = [figure5c.compare_learned(one, other) for one, other in combinations(layers, 2)]
        return [it[f"same_{what}"] for it in compared if it["something_learned"]]

    return of


def as_reduced(kind: str) -> Callable[[Result], list[bool]]:
    """For each neuron of each starting width, whether its width is reduced if and only if it learned."""

    def of(result: Result) -> list[bool]:
        return [
            held
            for start, kinds in result["layers"].items()
            for held in figure5c.width_shows_learned({**kinds[kind], "config": {"width": float(start)}})
        ]

    return of


def median_width(start: float, kind: str) -> Callable[[Result], float | None]:
    """The median width of the learned neurons, or None if none learned."""

    def of(result: Result) -> float | None:
        widths = figure5c.learned_widths(result["layers"][f"{start:g}"][kind])
        return float(np.median(widths)) if widths else None

    return of


def learned(start: float, kind: str) -> Callable[[Result], float]:
    """The number of learned filters."""
    return lambda result: float(result["layers"][f"{start:g}"][kind]["learned"])


def narrower(starts: Sequence[float]) -> Callable[[Result], list[bool]]:
    """For each starting width, whether frames in their order lead to narrower neurons than shuffled ones."""

    def of(result: Result) -> list[bool]:
        pairs = [(median_width(it, FRAMES)(result), median_width(it, SHUFFLED)(result)) for it in starts]
        return [one < other for one, other in pairs if one is not None and other is not None]

    return of


def quantities(starts: Sequence[float]) -> tuple[Quantity, ...]:
    """Learned filters and their widths, for each kind and starting width."""
    return tuple(
        quantity
        for kind in KINDS
        for start in starts
        for quantity in (
            Quantity(f"learned filters, {kind}, from {start:g}", learned(start, kind)),
            Quantity(f"median of their widths, {kind}, from {start:g}", median_width(start, kind), digits=2),
        )
    )


def order_matters(starts: Sequence[float]) -> Claim:
    """The claim that what changes from frame to frame decides the widths."""
    return Claim("Frames in their order lead to narrower neurons than shuffled frames.", narrower(starts))


CLAIMS = (
    *(
        Claim(
            f"With {kind}, the starting widths lead to equally many filters with similar {what} ({how}).",
            in_pairs(what, kind),
        )
        for kind in (FRAMES, NEIGHBOURS)
        for what, how in (("filters", "within 0.2 per pixel"), ("widths", "within a tenth"))
    ),
    *(
        Claim(
            f"With {kind}, widths tell which neurons learned: those below 0.9 of the starting width.",
            as_reduced(kind),
        )
        for kind in (FRAMES, NEIGHBOURS)
    ),
    order_matters(Config.starts),
)
NOTE = (
    "{of}, with samples from {frames} successive frames of a video at one place (docs/video.md) in place of "
    "nine neighbouring patches of one image; beside it the neighbours in the same frames, and these frames "
    "in a random order, which destroys what time tells. All other settings are those of the figures, with "
    "{samples:,} samples in place of 10,000,000. {data}"
)


def note(data: str, of: str = "Figures 5c to 5e") -> str:
    """The text of an experiment in the report."""
    return NOTE.format(of=of, frames=Config.n_frames, samples=Config.n_samples, data=data)
