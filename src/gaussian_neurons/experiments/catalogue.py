"""All experiments in the order of the paper, extensions, those beyond it; and their selection by name."""

import difflib
from collections.abc import Sequence

from gaussian_neurons.experiments import (
    covariances,
    covariances_5f,
    figure1,
    figure2a,
    figure2b,
    figure2c,
    figure2d,
    figure2e,
    figure2f,
    figure2g,
    figure2h,
    figure3a,
    figure3b,
    figure4,
    figure5a,
    figure5b,
    figure5c,
    figure5d,
    figure5e,
    figure5f,
    inhibition,
    repulsion,
    table1,
    width_equation,
    widths,
)
from gaussian_neurons.experiments.beyond import (
    cifar10_readout,
    dendrites,
    mnist_readout,
    video_bikes,
    video_carphone,
    video_colour,
    video_digits,
)
from gaussian_neurons.experiments.experiment import Experiment

MODULES = (
    *(figure1, inhibition, repulsion),
    *(figure2a, table1, figure2b, figure2c, widths, figure2d, figure2e, figure2f, figure2g, figure2h),
    *(width_equation, figure3a, figure3b, figure4),
    *(figure5a, figure5b, figure5c, figure5d, figure5e, figure5f),
    *(covariances, covariances_5f),
    *(mnist_readout, cifar10_readout),  # beyond the paper
    *(dendrites, video_bikes, video_carphone, video_digits, video_colour),
)
ALL, BEYOND = "all", "beyond"  # the two groups
EXPERIMENTS: dict[str, Experiment] = {module.EXPERIMENT.name: module.EXPERIMENT for module in MODULES}


def select(names: Sequence[str]) -> list[Experiment]:
    """The named experiments. "figure2" selects 2a to 2h; "all" or no name selects the paper.

    "all" includes the extensions of the paper's figures. "beyond" selects the experiments on what the paper
    leaves to future work.

    Examples
    --------
    >>> [experiment.name for experiment in select(["figure3", "table1"])]
    ['table1', 'figure3a', 'figure3b']
    """
    selected = set()
    for name in names or [ALL]:
        key = name.lower().replace("_", "-")
        matches = {
            one
            for one, experiment in EXPERIMENTS.items()
            if key in (one, BEYOND if experiment.beyond else ALL) or (one[:-1] == key and one != "table1")
        }
        if not matches:
            close = difflib.get_close_matches(key, EXPERIMENTS, n=1, cutoff=0.87)
            hint = f" Did you mean {close[0]!r}?" if close else ""
            raise ValueError(
                f"there is no experiment {name!r}.{hint} Choose from {ALL}, {BEYOND}, "
                f"{', '.join(EXPERIMENTS)}; figure2, figure3 and figure5 select all of their parts."
            )
        selected |= matches
    return [experiment for name, experiment in EXPERIMENTS.items() if name in selected]
