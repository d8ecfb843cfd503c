"""A stream with clusters that move, vanish and appear.

Each system predicts the rows of a window, is scored, and then learns from them. Columns are scaled with the
mean and deviation of the first window.
"""

import json
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from benchmarks.progress import Progress
from benchmarks.quality.measure import in_a_process, warm_up
from benchmarks.quality.results import score
from benchmarks.quality.systems import OURS, SYSTEMS, Array, System, Task
from benchmarks.speed import processor
from gaussian_neurons.base.files import replace_file
from gaussian_neurons.datasets.synthetic import Drifting

SAMPLES, WINDOW = 100_000, 1_000
LIMIT = 300.0  # timeout in seconds for the whole stream
DOCUMENT = """\
## Moving clusters

`datasets.synthetic.Drifting`: up to {clusters} clusters in the plane move, vanish and appear elsewhere, with
{noise} noise, for {samples} samples. Each window of {window} rows is predicted, scored and then learned, so
each row is seen once. Columns are scaled with the mean and deviation of the first window. The settings are
those below, with seed 0; systems that need the number of clusters are given {clusters}, the largest number at
once.

![The clusters, the adjusted Rand index and the number of clusters found along the stream](drift.png)

The values are means over the windows. *Count error* is the absolute difference between the number of clusters
found and the true number.
"""
ONLINE = (OURS, "DBSTREAM", "DenStream", "STREAMKMeans", "MiniBatchKMeans")


def stream() -> Drifting:
    """At most six clusters, each of which crosses the unit box in 25,000 samples; 5% noise."""
    return Drifting(6, seed=0, spread=0.02, life=25_000, gone=0.3, noise=0.05, dtype="float64")


@dataclass(frozen=True)
class Point:
    """The result of one window."""

    t: int  # samples before it
    clusters: int  # true number in the middle of the window
    score: float  # adjusted Rand index, without the noise rows
    found: int  # number of predicted labels, without -1
    own_count: int | None
    microseconds: float  # processor time to learn a row


@dataclass(frozen=True)
class Curve:
    """The results of a system along the stream."""

    system: str
    origin: Mapping[str, Any]  # a curve of the same origin need not be run again
    failed: str | None
    points: list[Point]

    @property
    def score(self) -> float:
        """The mean over the windows."""
        return fmean(point.score for point in self.points) if self.points else 0.0

    @property
    def off(self) -> float:
        """The mean absolute error of the number of clusters."""
        return fmean(abs(point.found - point.clusters) for point in self.points) if self.points else 0.0


@dataclass(frozen=True, eq=False)
class Window:
    """Rows of the stream."""

    t: int  # samples before it
    rows: Array  # (WINDOW, 2) scaled
    labels: Array  # (WINDOW,) from 1; 0 is noise
    clusters: int  # true number in the middle


def windows() -> Iterator[Window]:
    """The windows of the stream. Each is to be predicted, then learned; the first is only learned."""
    source = stream()
    mean, deviation = 0.0, 0.0
    while source.position < SAMPLES:
        t = source.position
        x, truth = source.read_labelled(WINDOW)
        if t == 0:
            mean, deviation = x.mean(axis=0), x.std(axis=0)
        yield Window(t, (x - mean) / deviation, truth + 1, len(source.labels_at(t + WINDOW // 2)))


def follow(send: Callable[[Any], None], key: str) -> None:
    """Predict and learn window by window, in its own process."""
    task = Task(stream().n_features, stream().clusters, seed=0)
    warm_up(key, task)
    model = SYSTEMS[key].make(task)
    send(None)
    for window in windows():
        rows = model.rows(window.rows)
        if window.t == 0:
            model.learn(rows)
            continue
        index, found = score(window.labels, model.predict(rows))
        count = model.count()
        begin = time.process_time()
        model.learn(rows)
        microseconds = (time.process_time() - begin) / WINDOW * 1e6
        send(Point(window.t, window.clusters, index, found, count, microseconds))


def origin(system: System) -> dict[str, Any]:
    """What a curve depends on."""
    facts = {"stream": dict(stream().describe()), "samples": SAMPLES, "window": WINDOW, "limit": LIMIT}
    return {"version": system.version, "settings": system.settings, "machine": processor(), **facts}


def run(path: Path, systems: Mapping[str, System], ours_too: bool, again: bool) -> dict[str, Curve]:
    """Run the systems without a stored curve; returns all curves, in order."""
    curves = read(path)
    wanted = [key for key in ONLINE if key in systems]
    old = [key for key in wanted if (curve := curves.get(key)) and curve.origin == origin(systems[key])]
    missing = [key for key in wanted if again or key not in old or (key == OURS and not ours_too)]
    print(f"\n{stream()!r}, {SAMPLES:,} samples: each window of {WINDOW:,} is predicted, then learned")
    with Progress(len(missing) * (SAMPLES // WINDOW)) as progress:
        for key in missing:
            points: list[Point] = []

            def each(point: Point, key: str = key, points: list[Point] = points) -> None:
                points.append(point)
                progress.step(f"{key}: sample {point.t:,}, ARI {point.score:.2f}")

            why = in_a_process(follow, key, limit=LIMIT, each=each)
            curves[key] = Curve(key, origin(systems[key]), why or None, points)
            write(path, curves)
    return {key: curves[key] for key in ONLINE if key in curves}


def read(path: Path) -> dict[str, Curve]:
    """Read the stored curves."""
    found = json.loads(path.read_text())["curves"] if path.exists() else []
    curves = [Curve(**facts | {"points": [Point(*point) for point in facts["points"]]}) for facts in found]
    return {curve.system: curve for curve in curves}


def write(path: Path, curves: Mapping[str, Curve]) -> None:
    """Write the file. A point is stored as a list, in the order of its fields."""
    path.parent.mkdir(parents=True, exist_ok=True)
    facts = [
        asdict(curve) | {"points": [list(asdict(p).values()) for p in curve.points]}
        for curve in curves.values()
    ]
    lines = ",\n".join(json.dumps(curve) for curve in facts)
    replace_file(path, f'{{"curves": [\n{lines}\n]}}\n'.encode())


def rows(curves: Mapping[str, Curve]) -> list[tuple[str, ...]]:
    """A row for each system, below a head."""
    found = [("", "mean ARI", "count error", "µs per row", "")]
    for key, curve in curves.items():
        microseconds = fmean(point.microseconds for point in curve.points) if curve.points else 0.0
        failed = f"{curve.failed}, after {len(curve.points)} windows" if curve.failed else ""
        found.append(
            (SYSTEMS[key].label, f"{curve.score:.3f}", f"{curve.off:.2f}", f"{microseconds:.1f}", failed)
        )
    return found


def document() -> str:
    """The section of docs/quality.md, without the table."""
    source = stream()
    return DOCUMENT.format(
        samples=f"{SAMPLES:,}", window=f"{WINDOW:,}", clusters=source.clusters, noise=f"{source.noise:.0%}"
    )
