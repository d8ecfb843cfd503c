"""The paper's figures as presets of the page."""

from dataclasses import dataclass, replace
from typing import Any

from gaussian_neurons.experiments import figure2g
from gaussian_neurons.experiments.catalogue import EXPERIMENTS
from gaussian_neurons.experiments.layer import LayerConfig
from gaussian_neurons.live.setup import Setup
from gaussian_neurons.live.sources import Sources, default_setup, one_sample, setup_from_layer

HINTS = {
    "figure1": "Drag μ₂. The star marks the position where F is lowest for μ₁; it moves away from μ₂. With "
    "μ₂ on the sample, F is flat. Press Start, and both neurons learn.",
    "figure2a": "Some neurons learn strokes and are framed. The others leave the domain and turn blue and "
    "red. Click a framed filter to remove it: often another neuron learns its pattern.",
    "figure2b": "Run to ten million samples, ten times as long as Figure 2a. Learned filters stay.",
    "figure2c": "Run to ten million samples. In most runs there are more filters than in Figure 2b.",
    "figure2d": "Lower λ further. If it is too low, several neurons learn the same filter.",
    "figure2e": "Click a framed filter to remove it. Often another neuron learns its pattern; a mark on the "
    "curve then names that neuron.",
    "figure2f": "Only 1s arrive. When filters are learned, select the class 2 instead: that is Figure 2g.",
    "figure2g": "When filters of 1s are learned, select the class 2 instead. Old filters stay, and new ones "
    "are learned.",
    "figure3a": "The filters are rounder than in Figure 2a, because larger patches contain more of a digit.",
    "figure3b": "The filters show parts of round digits such as 0, 3, 6 and 8.",
    "figure4": "Some filters are grey edges, which respond to edges of any colour. Others are plain areas "
    "such as sky and grass.",
    "figure5a": "A wide, fixed σ leaves few filters. Try σ = 6 as well, the value in the paper's caption.",
    "figure5b": "With σ fixed at 14, the paper has two filters. Figure 5e adapts σ and has more.",
    "figure5c": "Point at framed filters: each has adapted its σ to the widths of its samples.",
    "figure5d": "Point at filters: σ of the framed ones decreases, σ of the others stays near 10.",
    "figure5e": "Compare with Figures 5c and 5d: starting from σ = 14, similar filters are learned.",
    "figure5f": "Point at framed filters: σ decreases from 10, which allows almost as many filters as in "
    "Figure 4.",
}

TITLES = {  # instead of the experiment's own title, if that does not fit the page
    "figure1": "F of two neurons, over the positions of one",
    "figure2d": "less inhibition, more filters",
    "figure2g": "1s, then 2s: old filters stay",
    "figure5a": "9 neurons, σ = 4",
}


@dataclass(frozen=True)
class Preset:
    """A figure of the paper to start from."""

    name: str
    title: str
    hint: str
    setup: Setup
    note: str | None  # if other data replaces the paper's
    later: Setup | None = None  # the setup after the change that the figure is about

    @property
    def label(self) -> str:
        """The name on the page, such as Figure 2a."""
        return self.name.replace("figure", "Figure ")

    def is_of(self, setup: Setup) -> bool:
        """Whether a setup is that of the figure, before or after the change that the figure is about."""
        return any(one is not None and one.same_experiment(setup) for one in (self.setup, self.later))

    def as_json(self) -> dict[str, Any]:
        """The preset, for the page."""
        return {
            "name": self.name,
            "label": self.label,
            "title": self.title,
            "hint": self.hint,
        }


def presets(sources: Sources) -> dict[str, Preset]:
    """All figures with Gaussian neurons, on the data that is available. (Figure 2h is k-means.)"""
    found = {}
    for name, hint in HINTS.items():
        experiment = EXPERIMENTS[name]
        setup, note, later = default_setup("one-sample", one_sample()), None, None
        if isinstance(experiment.config, LayerConfig):
            data, note = sources.available(str(experiment.data))
            setup = setup_from_layer(data, experiment.config)
        if isinstance(experiment.config, figure2g.Config):
            later = replace(setup, classes=experiment.config.digits_after)
        title = TITLES.get(name, experiment.title)
        found[name] = Preset(name, title, hint, setup, note, later)
    return found
