"""Figure 5a: nine neurons with a fixed width: 4 as in the text, and 6 as in the caption."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from gaussian_neurons.experiments import layer, pictures
from gaussian_neurons.experiments.experiment import Experiment, Quantity, Result, filters_learned
from gaussian_neurons.experiments.lab import Lab

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Config(layer.LayerConfig):
    """Figure 5's settings without width updates."""

    n_samples: int = 10_000_000
    n_neurons: int = 9
    width: float = 4.0
    caption_width: float = 6.0


def run(config: Config, seed: int, lab: Lab) -> Result:
    """Learn with both widths."""
    caption = replace(config, width=config.caption_width)
    found = layer.facts(layer.learn(config, seed, lab))
    return {**found, "caption": layer.facts(layer.learn(caption, seed, lab, "caption"))}


def draw(result: Result) -> "Figure":
    """The filters of both widths."""
    config = result["config"]
    return pictures.draw_panels(
        result,
        [
            pictures.Panel(f"σ = {width:g}, {where}:\n{pictures.summary(layer)}", layer)
            for width, where, layer in (
                (config["width"], "the text", result),
                (config["caption_width"], "the caption", result["caption"]),
            )
        ],
    )


EXPERIMENT = Experiment(
    name="figure5a",
    title="9 neurons, σ = 4 (text) and 6 (caption)",
    config=Config(),
    run=run,
    draw=draw,
    data="mnist",
    seconds=7,
    samples=20_000_000,
    prints="3 learned",
    published={"learned": 3},
    quantities=(
        replace(filters_learned(3), label="learned filters at σ = 4"),
        Quantity("learned filters at σ = 6", lambda result: result["caption"]["learned"], 3),
    ),
    note="The text gives σ = 4, the caption σ = 6; the caption gives the count of 3.",
)
