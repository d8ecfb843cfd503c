"""A trial as a Python script that learns the same: its setup, and what was done on the way."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from gaussian_neurons.live.setup import Setup
from gaussian_neurons.live.sources import Images, Points, Source

MOST_NOTES = 5000
MOST_LETTERS = 1_000_000  # of all notes: as many points as the plane holds can be painted
TOO_MANY = (
    f"# here the run went on: a script keeps {MOST_NOTES:,} changes and {MOST_LETTERS:,} letters of them"
)


class Journal:
    """What a trial began with and what was done to it, after how many samples each."""

    def __init__(self, setup: Setup, source: Source) -> None:
        self.setup, self.source = setup, source
        self.notes: list[tuple[int, str]] = []
        self.ends_at: int | None = None  # where more was done than is kept
        self._letters = 0  # of all notes

    def note(self, seen: int, line: str) -> None:
        """Keep a line; of settings of the same thing after the same samples, the last."""
        at, before = self.notes[-1] if self.notes else (-1, "")
        if self.ends_at is not None or (line == before and line.startswith("#")):
            return
        if at == seen and _makes_void(line, before):
            self._letters -= len(self.notes.pop()[1])
        if len(self.notes) == MOST_NOTES or self._letters + len(line) > MOST_LETTERS:
            self.ends_at = seen
            return
        self.notes.append((seen, line))
        self._letters += len(line)

    def script(self, seen: int, last: Sequence[str] = ()) -> str:
        """The script up to so many samples, and some lines at its end."""
        if self.ends_at is not None:
            seen, last = self.ends_at, (TOO_MANY,)
        lines, done = [], 0
        for at, line in [*self.notes, (seen, "")]:
            if at > done:
                lines.append(f"model.learn(stream, {at - done:_})")
                done = at
            lines.append(line)
        body = [*_head(self.setup, self.source), *lines[:-1], *last]
        return "\n".join([*_imports(self.source, body), "", *body, "", *TAIL, ""])


TAIL = ('print(f"{model.n_clusters_} of {len(model.centers_)} neurons learned")',)


def stream_line(setup: Setup, source: Source, position: int) -> str:
    """The line that makes the stream, at a place."""
    seek = f".seek({position:_})" if position else ""
    if isinstance(source, Points):
        widths = f", sample_width=np.full(len(points), {setup.sample_width!r})"
        own = widths if setup.width_learning_rate > 0 else ""
        return f"stream = Rows(points, shuffle=True, seed={setup.seed}{own}){seek}"
    chosen = "" if setup.classes is None else f", labels=labels, classes={list(setup.classes)}"
    if setup.width_learning_rate > 0:
        made = f"Neighbourhoods(images, size={setup.size}, noise={setup.noise!r}, seed={setup.seed}{chosen})"
    else:
        made = f"Patches(images, size={setup.size}, seed={setup.seed}{chosen})"
    return f"stream = {made}{seek}"


def _head(setup: Setup, source: Source) -> list[str]:
    return [
        *(line for line in source.code if not line.startswith("from ")),
        *(source.added_code if isinstance(source, Points) else ()),
        stream_line(setup, source, 0),
        "model = GaussianNeurons(",
        f"    {setup.n_neurons},",
        f"    width={setup.width!r},",
        f"    inhibition={setup.inhibition!r},",
        f"    learning_rate={setup.learning_rate!r},",
        f"    width_learning_rate={setup.width_learning_rate!r},",
        *_start_lines(setup, source),
        f"    random_state={setup.seed},",
        f").place_neurons(stream.n_features, np.{precision(source).__name__})",
    ]


def _imports(source: Source, body: Sequence[str]) -> list[str]:
    """What the lines of a script use, each once."""
    names = {"gaussian_neurons": {"GaussianNeurons"}, "gaussian_neurons.sampling": set[str]()}
    for line in source.code:
        if line.startswith("from "):
            _, module, _, name = line.split()
            names.setdefault(module, set()).add(name)
    streams = [line.removeprefix("stream = ") for line in body if line.startswith("stream = ")]
    names["gaussian_neurons.sampling"] |= {made.partition("(")[0] for made in streams}
    lines = [f"from {module} import {', '.join(sorted(names[module]))}" for module in sorted(names)]
    return ["import numpy as np", "", *lines]


def _start_lines(setup: Setup, source: Source) -> list[str]:
    start = begun_at(setup, source)
    init = '"uniform"' if start is None else f"np.array({start.tolist()})"
    domain = (0.0, 1.0) if isinstance(source, Images) else (source.low.tolist(), source.high.tolist())
    return [f"    init={init},", f"    domain={domain},"]


def begun_at(setup: Setup, source: Source) -> Any:
    """Where neurons start, where that is no accident, (K, 2)."""
    if isinstance(source, Points) and source.start is not None and len(source.start) == setup.n_neurons:
        return np.asarray(source.start)
    return None


def precision(source: Source) -> type:
    """Of the samples, and so of a model that learns from them."""
    return np.float32 if isinstance(source, Images) else np.float64


def moved_line(index: int, place: tuple[float, float]) -> str:
    """The line that puts a neuron somewhere."""
    return f"model.move_neurons([{index}], centers=[{list(place)}])"


def _makes_void(line: str, before: str) -> bool:
    """Whether a line sets again what the one before it has set; other points are followed by a stream."""
    if line.startswith("points = "):
        return before.startswith("stream = ")
    again = line.startswith(("stream = ", "model.set_params("))
    return again and line.partition("=")[0] == before.partition("=")[0]
