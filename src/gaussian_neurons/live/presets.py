"""The paper's experiments as things to do by hand."""

from dataclasses import dataclass, replace
from typing import Any

from gaussian_neurons.experiments import figure2g
from gaussian_neurons.experiments.catalogue import EXPERIMENTS
from gaussian_neurons.experiments.layer import Layer
from gaussian_neurons.live.setup import Setup
from gaussian_neurons.live.sources import Sources, defaults, of_layer, one_sample

HINTS = {
    "figure1": "The map is F over the places of one neuron, for one sample. Drag the other one: the star, "
    "which is the lowest place, moves out of its way. Resume, and both learn.",
    "figure2a": "Some neurons find strokes and are framed; the others leave the domain, and turn blue and "
    "red. Click a framed one: often another neuron learns its pattern.",
    "figure2b": "The same as Figure 2a, for longer: let it run to ten million samples. The filters stay.",
    "figure2c": "Half the width of Figure 2a: more filters. Move σ back and forth.",
    "figure2d": "Less inhibition: more filters. How many are there when λ comes close to 0?",
    "figure2e": "Let it run for a second, then click a framed filter: it is gone. Often another neuron "
    "learns its pattern again, most often where its share is large; the curve then says who.",
    "figure2f": "Only 1s arrive. When some filters stand, let 2s arrive instead: that is Figure 2g.",
    "figure2g": "Learned from 1s at first: now let 2s arrive instead. Old filters stay, new ones come.",
    "figure3a": "Larger patches. The width equation gives σ for λ = 0.015.",
    "figure3b": "Larger still: 13 × 13 pixels. σ by the width equation for λ = 0.01.",
    "figure4": "Fifty neurons on colour patches: edges, sky, grass.",
    "figure5a": "A fixed, wide σ: few filters. (The paper's text has σ = 4, the caption 6: try both.) "
    "Figures 5c to 5e let σ adapt.",
    "figure5b": "Wider still: hardly any filter is left.",
    "figure5c": "Each sample carries a width, and neurons adapt theirs to it. Look at σ of the framed ones.",
    "figure5d": "The same from σ = 10. Do the framed ones end with the widths of Figure 5c?",
    "figure5e": "The same from σ = 14.",
    "figure5f": "Fifty neurons that adapt their widths, in colour.",
}

# where the experiment's own says more than the page does
TITLES = {"figure5a": "9 neurons, σ = 4", "figure2g": "1s, then 2s: old filters stay"}


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
        if isinstance(experiment.config, Layer):
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
