"""Figure 5e: nine neurons adapt their widths from 14."""

from dataclasses import dataclass, replace

from gaussian_neurons.experiments import figure5c


@dataclass(frozen=True)
class Config(figure5c.Config):
    """Figure 5c's settings with another starting width."""

    width: float = figure5c.STARTS["figure5e"]


run = figure5c.run
draw = figure5c.draw

EXPERIMENT = replace(
    figure5c.EXPERIMENT,
    name="figure5e",
    title="9 neurons adapt their widths, from 14",
    config=Config(),
    compares_with=figure5c.others_than("figure5e"),
)
