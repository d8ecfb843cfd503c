"""A trial as a Python script that learns the same: its setup, and the changes during the run."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from gaussian_neurons.live.setup import Setup
from gaussian_neurons.live.sources import Images, Points, Source

MAX_CHANGES = 5000
TRUNCATED = f"# the run continued: the script is limited to {MAX_CHANGES:,} changes"


class Journal:
    """The start of a trial and the changes to it, each with the number of samples seen before it."""

    def __init__(self, setup: Setup, source: Source) -> None:
        self.setup, self.source = setup, source
        self.changes: list[tuple[int, str]] = []  # samples seen, line of Python
        self.ends_at: int | None = None  # samples seen when the limit was exceeded

    def __copy__(self) -> "Journal":
        other = Journal(self.setup, self.source)
        other.changes, other.ends_at = self.changes[:], self.ends_at
        return other

    @property
    def has_edits(self) -> bool:
        """Whether anything was changed besides the samples."""
        return any(not line.startswith("stream = ") for _, line in self.changes)

    def record(self, seen: int, line: str) -> None:
        """Record a line. It replaces the last one if that sets the same thing at the same sample."""
        last_seen, last = self.changes[-1] if self.changes else (-1, "")
        if self.ends_at is not None or (line == last and line.startswith("#")):
            return
        if last_seen == seen and _replaces(line, last):
            self.changes.pop()
        if len(self.changes) < MAX_CHANGES:
            self.changes.append((seen, line))
        else:
            self.ends_at = seen

    def script(self, seen: int, last: Sequence[str] = ()) -> str:
        """The script up to `seen` samples, followed by the lines `last`."""
        if self.ends_at is not None:
            seen, last = self.ends_at, (TRUNCATED,)
        lines, done = [], 0
        for at, line in [*self.changes, (seen, "")]:
            if at > done:
                lines.append(f"model.learn(stream, {at - done:_})")
                done = at
            lines.append(line)
        body = [*_head(self.setup, self.source), *lines[:-1], *last]
        return "\n".join([*_imports(self.source, body), "", *body, "", *TAIL, ""])


TAIL = ('print(f"{model.n_clusters_} of {len(model.centers_)} neurons learned")',)


def stream_line(setup: Setup, source: Source, sample: int) -> str:
    """The line that makes the stream and seeks to a sample number."""
    seek = f".seek({sample:_})" if sample else ""
    if isinstance(source, Points):
        option = f", sample_width={_point_widths(setup)}" if setup.width_learning_rate > 0 else ""
        return f"stream = Rows(points, shuffle=True, seed={setup.seed}{option}){seek}"
    chosen = "" if setup.classes is None else f", labels=labels, classes={list(setup.classes)}"
    if setup.width_learning_rate > 0:
        kind = "" if setup.covariance_type == "spherical" else f", covariance={setup.covariance_type!r}"
        options = f"size={setup.size}, noise={setup.noise!r}, seed={setup.seed}{chosen}{kind}"
        made = f"Neighbourhoods(images, {options})"
    else:
        made = f"Patches(images, size={setup.size}, seed={setup.seed}{chosen})"
    return f"stream = {made}{seek}"


def _point_widths(setup: Setup) -> str:
    """The expression for the widths or covariances of the points."""
    if setup.covariance_type == "spherical":
        return f"np.full(len(points), {setup.sample_width!r})"
    return f"local_covariances(points, {setup.sample_width!r}, {setup.covariance_type!r})"


def move_line(index: int, center: tuple[float, float]) -> str:
    """The line that moves a neuron."""
    return f"model.move_neurons([{index}], centers=[{list(center)}])"


def model_parameters(setup: Setup, source: Source) -> dict[str, Any]:
    """The parameters of the model, plain values that a script can contain."""
    domain = (0.0, 1.0) if isinstance(source, Images) else (source.low.tolist(), source.high.tolist())
    common = {"n_neurons": setup.n_neurons, "domain": domain, "random_state": setup.seed}
    if setup.clusters is not None:
        return {**common, "shape": setup.clusters}
    start = source.start if isinstance(source, Points) else None
    return {
        **common,
        "covariance_type": setup.covariance_type,
        "width": setup.width,
        "inhibition": setup.inhibition,
        "learning_rate": setup.learning_rate,
        "width_learning_rate": setup.width_learning_rate,
        "init": "uniform" if start is None or len(start) != setup.n_neurons else start.tolist(),
    }


def precision(source: Source) -> type:
    """The type of the samples, and therefore of the model."""
    return np.float32 if isinstance(source, Images) else np.float64


def _head(setup: Setup, source: Source) -> list[str]:
    return [
        *(line for line in source.code if not line.startswith("from ")),
        *(source.added_code if isinstance(source, Points) else ()),
        stream_line(setup, source, 0),
        "model = GaussianNeurons(",
        *(f"    {name}={value!r}," for name, value in model_parameters(setup, source).items()),
        ")" if setup.clusters else f").place_neurons(stream.n_features, np.{precision(source).__name__})",
    ]


def _imports(source: Source, body: Sequence[str]) -> list[str]:
    """The imports that the lines of a script need."""
    names = {"gaussian_neurons": {"GaussianNeurons"}, "gaussian_neurons.sampling": set[str]()}
    for line in source.code:
        if line.startswith("from "):
            _, module, _, name = line.split()
            names.setdefault(module, set()).add(name)
    streams = [line.removeprefix("stream = ") for line in body if line.startswith("stream = ")]
    names["gaussian_neurons.sampling"] |= {made.partition("(")[0] for made in streams}
    names["gaussian_neurons.sampling"] |= {
        "local_covariances" for made in streams if "local_covariances" in made
    }
    lines = [f"from {module} import {', '.join(sorted(names[module]))}" for module in sorted(names)]
    return ["import numpy as np", "", *lines]


def _replaces(line: str, last: str) -> bool:
    """Whether a line makes the last one unnecessary. New points are always followed by a new stream."""
    if line.startswith("points = "):
        return last.startswith("stream = ")
    sets = line.startswith(("stream = ", "model.set_params("))
    return sets and line.partition("=")[0] == last.partition("=")[0]
