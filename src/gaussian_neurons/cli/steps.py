"""The steps behind fit and predict: learning in two ways, clusters line by line, what to say in the end."""

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gaussian_neurons import GaussianNeurons
from gaussian_neurons.cli import output, reading, tables
from gaussian_neurons.cli.errors import told, warn
from gaussian_neurons.cli.reading import Data, Opened
from gaussian_neurons.estimator import LEAST_DRAWS
from gaussian_neurons.sampling import Chunk

ROWS_AT_ONCE = 1 << 14


@dataclass
class Count:
    """Rows so far."""

    rows: int = 0
    skipped: int = 0
    none: int = 0  # rows in no cluster


def load(path: str, data: str | None = None) -> GaussianNeurons:
    """A model; DATA is looked at where MODEL is none, since the two are easily swapped."""
    reading.existing(path, "model")
    try:
        return GaussianNeurons.load(Path(path).expanduser())
    except ValueError as error:
        if data is None or not is_model(data):
            raise
        right = " ".join(shlex.quote(word) for word in ("gaussian-neurons", "predict", data, path))
        raise ValueError(
            f"{path!r} is not a model, but {data!r} is: the model comes first. Try {right}"
        ) from error


def is_model(path: str) -> bool:
    """Whether a file is a model of this library."""
    place = Path(path).expanduser()
    try:
        return place.is_file() and GaussianNeurons.load(place) is not None
    except (ValueError, OSError):
        return False


def learn_at_random(model: GaussianNeurons, opened: Opened, source: Data) -> int:
    """As `GaussianNeurons.fit` does, which needs all rows at hand; says how many there are."""
    x = all_rows(opened, source)
    total = model.draws(len(x))
    with output.watched("learning", lambda: _seen(model), total):
        model.fit(x)
    if opened.stream.feature_names is not None:
        model.feature_names_in_ = np.array(opened.stream.feature_names, object)
    return len(x)


def all_rows(opened: Opened, source: Data) -> Any:
    """Every row that can be read, (n, D), with a word on those that cannot and on odd columns."""
    count, stream = Count(), opened.stream
    with output.watched("reading", lambda: count.rows, stream.length):
        x, skipped, bad = reading.whole_table(stream, source.skip, lambda rows: setattr(count, "rows", rows))
    if skipped:
        shown = "; ".join(str(one).rstrip(".") for one in bad)
        warn(f"{skipped:,} of {len(x) + skipped:,} rows were skipped. The first: {shown}.")
    if not len(x):
        raise ValueError(f"no row of {source.shown} is left to learn from.")
    _warn_of_columns(x, opened)
    return x


def learn_once(
    model: GaussianNeurons, opened: Opened, source: Data, samples: int | None, checkpoint: Path | None
) -> int:
    """From each row in its order; says how many there were."""
    _warn_of_columns(opened.stream.draw(0, reading.LOOKED_AT).x, opened)
    kept = "Nothing was written." if checkpoint is None else f"The same command carries on from {checkpoint}."
    with told(kept):
        model.learn(opened.stream, samples, checkpoint=checkpoint, on_bad="skip" if source.skip else "raise")
    if not _seen(model):
        raise ValueError(f"no row of {source.shown} is left to learn from.")
    if not model.n_clusters_:
        warn("No neuron learned: every row is in no cluster. Try a larger --width or --init samples.")
    elif model.width != "auto" and _seen(model) < LEAST_DRAWS:
        warn(
            f"One pass of {_seen(model):,} rows is short: some neurons may be on their way still, and count "
            f"as clusters. From a file, without --one-pass, rows are drawn {LEAST_DRAWS:,} times."
        )
    return _seen(model)


def summarize(
    model: GaussianNeurons,
    opened: Opened,
    source: Data,
    out: Path,
    rows: int,
    one_pass: bool,
    seconds: float,
) -> None:
    """Say what was learned, and what to do next."""
    found = model.n_clusters_
    clusters = f"{found} cluster{'s' if found != 1 else ''} of at most {model.n_neurons}"
    if not one_pass:
        drawn = f"{model.n_samples_seen_:,} samples drawn at random"
        shares = np.bincount(model.labels_ + 1, minlength=found + 1) / rows
        table = tables.clusters(model.cluster_numbers_, shares[1:], rows, float(shares[0]), "rows")
    else:
        drawn = "one pass"
        recent = min(rows, 1000)
        of = model.neuron_clusters_
        held = np.array([model.diagnosis_.share[of == number].sum() for number in model.cluster_numbers_])
        table = tables.clusters(
            model.cluster_numbers_, held, recent, 1 - float(held.sum()), f"of the last {recent:,}"
        )
    chosen = " (auto)" if model.width == "auto" else ""
    again = reading_again(source)
    if opened.stream.feature_names is None and (source.columns or source.exclude):
        again += ["--columns", ",".join(opened.labels)]
    tables.print_lines(
        size(rows, opened),
        f"{clusters}, by {drawn} in {seconds:.2g} s",
        f"width {model.widths_[0]:.4g}{chosen}: a smaller one gives more clusters, a larger one fewer",
        table,
        f"Written to {out}. Next:",
        tables.command("predict", str(out), source.path, *again),
        tables.command("info", str(out)),
    )


def size(rows: int, opened: Opened) -> str:
    """How many rows of which columns, in words."""
    what = f"{rows:,} rows" if rows != 1 else "1 row"
    columns = f"{len(opened.labels)} column{'s' if len(opened.labels) > 1 else ''}"
    return f"{what} of {columns}: {reading.several(opened.labels)}"


def reading_again(source: Data) -> list[str]:
    """The options by which another command reads the same file."""
    again = [] if source.format is None or source.is_pipe else ["--format", source.format]
    if source.header is not None and not source.is_pipe:
        again.append("--header" if source.header else "--no-header")
    return again


def matched(source: Data, names: list[str], known: list[str], n_features: int) -> list[int]:
    """The numbers of the columns that a model learned from: by name where there are names, else by place."""
    picked = source.selected(names)
    unnamed = names == [str(k) for k in range(len(names))]
    there = [names[k] for k in picked]
    if known and not unnamed and (source.columns is None or set(known) <= set(there)):
        missing = [name for name in known if name not in there]
        if missing:
            raise ValueError(
                f"the model learned from {reading.several(known)}, but there is no "
                f"{reading.several(missing)} here; there are {reading.several(there)}. If these are the same "
                f"columns under other names, say --columns with them, in the model's order."
            )
        return [picked[there.index(name)] for name in known]
    if len(picked) != n_features:
        names_of = f" ({reading.several(known)})" if known else ""
        raise ValueError(
            f"the model learned from {n_features} columns{names_of}, but here are {len(picked)}: "
            f"{reading.several([names[k] for k in picked])}. Choose the same ones: --columns or --exclude."
        )
    return picked


def lines(model: GaussianNeurons, opened: Opened, source: Data, scores: bool, count: Count) -> Iterator[str]:
    """The text of the answer, chunk by chunk, as the rows come; counts them."""
    yield "cluster,score\n" if scores else "cluster\n"
    while (chunk := opened.stream.draw(count.rows, ROWS_AT_ONCE)).taken:
        chunk = _with_holes_told(chunk, model.centers_.dtype)
        stop = chunk.bad[0].later(count.rows) if chunk.bad and not source.skip else None
        if stop is not None:
            chunk, _ = chunk.cut(chunk.bad[0].row)
        if chunk.taken:
            yield _answered(model, chunk, scores, count)
        if stop is not None:
            raise stop


def _with_holes_told(chunk: Chunk, dtype: Any) -> Chunk:
    """A chunk whose rows are all finite in the model's precision; the others are among the bad ones."""
    good = reading.finite_rows(chunk.x, dtype)
    if good.all():
        return chunk
    holes = [reading.not_finite(chunk.rows_up_to(int(k))) for k in np.flatnonzero(~good)]
    return Chunk(chunk.x[good], None, tuple(sorted([*chunk.bad, *holes], key=lambda one: one.row)))


def _answered(model: GaussianNeurons, chunk: Chunk, scores: bool, count: Count) -> str:
    """A line for each row; that of a bad row is empty, but never blank, which readers of CSV leave out."""
    found = ["," if scores else '""'] * chunk.taken
    if len(chunk.x):
        clusters = model.predict(chunk.x)
        count.none += int((clusters < 0).sum())
        cells = [str(cluster) for cluster in clusters.tolist()]
        if scores:
            cells = [
                f"{cell},{score}" for cell, score in zip(cells, model.score_samples(chunk.x), strict=True)
            ]
        bad = {one.row for one in chunk.bad}
        good = [row for row in range(chunk.taken) if row not in bad] if bad else range(chunk.taken)
        for row, cell in zip(good, cells, strict=True):
            found[row] = cell
    count.rows += chunk.taken
    count.skipped += len(chunk.bad)
    return "\n".join(found) + "\n"


def _seen(model: GaussianNeurons) -> int:
    return model.n_samples_seen_ if model.__sklearn_is_fitted__() else 0


def _warn_of_columns(x: Any, opened: Opened) -> None:
    """Say what is most likely not meant: a row number among the columns, columns of different scales."""
    if "" in opened.labels:
        warn("A column has no name: if it numbers the rows, leave it out (the first: --exclude 0).")
    text = reading.uneven(x, opened.labels)
    if text is not None:
        warn(text)
