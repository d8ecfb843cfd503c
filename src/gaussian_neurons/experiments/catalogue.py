"""All experiments, in the paper's order, and which of them a user means."""

import difflib
from collections.abc import Sequence

from gaussian_neurons.experiments import (
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
    table1,
    width_equation,
)
from gaussian_neurons.experiments.experiment import Experiment

MODULES = (
    *(figure1, figure2a, table1, figure2b, figure2c, figure2d, figure2e, figure2f, figure2g, figure2h),
    *(width_equation, figure3a, figure3b, figure4),
    *(figure5a, figure5b, figure5c, figure5d, figure5e, figure5f),
)
EXPERIMENTS: dict[str, Experiment] = {module.EXPERIMENT.name: module.EXPERIMENT for module in MODULES}


def chosen(names: Sequence[str]) -> list[Experiment]:
    """The experiments that are named: by their names, by a figure's ("figure2" is all of 2a to 2h), or "all".

    Examples
    --------
    >>> [experiment.name for experiment in chosen(["figure3", "table1"])]
    ['table1', 'figure3a', 'figure3b']
    """
    wanted = set()
    for name in names or ["all"]:
        key = name.lower().replace("_", "-")
        known = {one for one in EXPERIMENTS if key in (one, "all") or (one[:-1] == key and one != "table1")}
        if not known:
            close = difflib.get_close_matches(key, EXPERIMENTS, n=1, cutoff=0.87)
            hint = f" Did you mean {close[0]!r}?" if close else ""
            raise ValueError(
                f"there is no experiment {name!r}.{hint} Known: all, {', '.join(EXPERIMENTS)}; figure2, "
                f"figure3 and figure5 for all of their parts."
            )
        wanted |= known
    return [experiment for name, experiment in EXPERIMENTS.items() if name in wanted]
