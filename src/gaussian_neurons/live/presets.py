"""The paper's experiments as things to do by hand."""

from dataclasses import dataclass, replace
from typing import Any

from gaussian_neurons.experiments import figure2g
from gaussian_neurons.experiments.catalogue import EXPERIMENTS
from gaussian_neurons.experiments.layer import LayerConfig
from gaussian_neurons.live.setup import Setup
from gaussian_neurons.live.sources import Sources, defaults, of_layer, one_sample

# what to do, or to look for
HINTS = {
    "figure1": "Drag μ₂: the star, where F is lowest for μ₁, moves out of its way; with μ₂ on the sample, "
    "F is flat. Resume, and both learn.",
    "figure2a": "Some neurons find strokes and are framed; the others leave the domain, and turn blue and "
    "red. Click a framed one: often another neuron learns its pattern.",
    "figure2b": "Let it run to ten million samples, ten times as long as Figure 2a: filters that stand stay.",
    "figure2c": "Let it run to ten million samples: most often there are more filters than in Figure 2b.",
    "figure2d": "Lower λ further: where it is too low, filters collapse into each other.",
    "figure2e": "Click a framed filter, and it is gone: often another neuron learns its pattern, and the "
    "curve says which.",
    "figure2f": "Only 1s arrive: when some filters stand, let 2s arrive instead, which is Figure 2g.",
    "figure2g": "When filters of 1s stand, let 2s arrive instead: old filters stay, new ones come.",
    "figure3a": "Look for rounder filters than in Figure 2a: larger patches hold more of a digit.",
    "figure3b": "Look for parts of round digits, such as 0, 3, 6 and 8.",
    "figure4": "Look for grey edges, which answer to any colour, and for plain ones such as sky and grass.",
    "figure5a": "Count the few filters that a fixed, wide σ leaves, then try σ = 6, as the paper's "
    "caption has it.",
    "figure5b": "Count the filters: with σ fixed at 14 the paper has two; Figure 5e adapts it, and has more.",
    "figure5c": "Point at framed filters: each has adapted its σ to the widths that its samples carry.",
    "figure5d": "Point at filters: σ of the framed ones has become smaller, and the others stay near 10.",
    "figure5e": "Compare with Figures 5c and 5d: from σ = 14, too, much the same filters are learned.",
    "figure5f": "Point at framed filters: σ shrinks from 10, which makes room for almost as many as Figure 4 "
    "has.",
}

# where the experiment's own says more than the page does, or less
TITLES = {
    "figure1": "F of two neurons, over the places of one",
    "figure2d": "less inhibition: more filters",
    "figure2g": "1s, then 2s: old filters stay",
    "figure5a": "9 neurons, σ = 4",
}


@dataclass(frozen=True)
class Preset:
    """An experiment to start from."""

    name: str
    title: str
    hint: str
    setup: Setup
    note: str | None  # where other data stands in for the paper's
    waits: bool = False  # begins paused
    later: Setup | None = None  # what it becomes on the way

    @property
    def label(self) -> str:
        """What it is called: Figure 2a."""
        return self.name.replace("figure", "Figure ")

    def told(self) -> dict[str, Any]:
        """As the page is told."""
        return {
            "name": self.name,
            "label": self.label,
            "title": self.title,
            "hint": self.hint,
            "setup": self.setup.told(),
        }


def presets(sources: Sources) -> dict[str, Preset]:
    """Every figure that the rule draws, on the data that is here. (Figure 2h is k-means.)"""
    found = {}
    for name, hint in HINTS.items():
        experiment = EXPERIMENTS[name]
        setup, note, later = defaults("one-sample", one_sample()), None, None
        if isinstance(experiment.config, LayerConfig):
            data, note = sources.here(str(experiment.data))
            setup = of_layer(data, experiment.config)
        if isinstance(experiment.config, figure2g.Config):
            later = replace(setup, classes=experiment.config.digits_after)
        title = TITLES.get(name, experiment.title)
        found[name] = Preset(name, title, hint, setup, note, waits=name == "figure1", later=later)
    return found


def named(setup: Setup, first: Setup, known: dict[str, Preset], last: str | None) -> str | None:
    """Which preset a setup is that began with the first; of several, the one that was chosen last."""
    same = [
        name
        for name, preset in known.items()
        if preset.setup.same_as(setup)
        or (preset.later is not None and preset.later.same_as(setup) and preset.setup.same_as(first))
    ]
    return last if last in same else same[0] if same else None
