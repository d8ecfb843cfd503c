"""The steps of fit and predict: two ways to learn, clusters line by line, the summary."""

import shlex
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gaussian_neurons import GaussianNeurons
from gaussian_neurons.base.bad_rows import finite_rows
from gaussian_neurons.base.covariances import mean_widths
from gaussian_neurons.cli import output, reading, tables
from gaussian_neurons.cli.errors import handle_errors, warn
from gaussian_neurons.cli.reading import Data, Opened
from gaussian_neurons.estimator import LEAST_DRAWS
from gaussian_neurons.model.scaling import UNEVEN_TEXT, uneven
from gaussian_neurons.sampling import Chunk
from gaussian_neurons.views.observers import observing

ROWS_AT_ONCE = 1 << 14


@dataclass
class Count:
    """The number of rows so far."""

    rows: int = 0
    skipped: int = 0
    none: int = 0  # rows in no cluster


@dataclass(frozen=True)
class Cells:
    """What predict adds to a row beside the cluster."""

    scores: bool
    false_alarms: float | None  # of novel rows; None: they are not marked

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return ["cluster", *["score"] * self.scores, *["novel"] * (self.false_alarms is not None)]

    def of(self, model: GaussianNeurons, x: Any) -> list[list[Any]]:
        """The values in each column."""
        columns: list[Any] = [model.predict(x).tolist()]
        if self.scores:
            columns.append(list(model.score_samples(x)))
        if self.false_alarms is not None:
            columns.append(model.is_novel(x, self.false_alarms).astype(int).tolist())
        return columns


def load(path: str, data: str | None = None) -> GaussianNeurons:
    """Load a model. If DATA is a model and MODEL is not, the error says that they are swapped."""
    reading.require_file(path, "model")
    try:
        return GaussianNeurons.load(Path(path).expanduser())
    except ValueError as error:
        if data is None or not is_model(data):
            raise
        right = " ".join(shlex.quote(word) for word in ("gaussian-neurons", "predict", data, path))
        raise ValueError(
            f"{path!r} is not a model, but {data!r} is. The model comes first: {right}"
        ) from error


def is_model(path: str) -> bool:
    """Whether a file is a model file."""
    file = Path(path).expanduser()
    try:
        return file.is_file() and GaussianNeurons.load(file) is not None
    except (ValueError, OSError):
        return False


def learn_from_draws(model: GaussianNeurons, opened: Opened, source: Data) -> int:
    """Learn from random draws of all rows, as `GaussianNeurons.fit`; returns the number of rows."""
    x = all_rows(opened, source, model.scale is not None)
    count = Count()
    bar = output.progress_bar("learning", lambda: count.rows, model.draws(len(x)))
    with bar, observing(model, lambda state: setattr(count, "rows", state.received)):
        model.fit(x)
    if opened.stream.feature_names is not None:
        model.feature_names_in_ = np.array(opened.stream.feature_names, object)
    return len(x)


def all_rows(opened: Opened, source: Data, standardized: bool) -> Any:
    """All rows that can be read, (n, D), with warnings about skipped rows and unusual columns."""
    count, stream = Count(), opened.stream
    with output.progress_bar("reading", lambda: count.rows, stream.length):
        x, skipped, bad = reading.whole_table(opened, source.skip, lambda rows: setattr(count, "rows", rows))
    if skipped:
        shown = "; ".join(str(one).rstrip(".") for one in bad)
        warn(f"{skipped:,} of {len(x) + skipped:,} rows were skipped. The first: {shown}.")
    if not len(x):
        raise ValueError(f"{source.shown} has no row to learn from.")
    _warn_about_columns(x, opened, standardized)
    return x


def learn_once(
    model: GaussianNeurons, opened: Opened, source: Data, samples: int | None, checkpoint: Path | None
) -> int:
    """Learn once from each row, in order; returns the number of rows."""
    kept = "Nothing was written." if checkpoint is None else f"The same command resumes from {checkpoint}."
    with handle_errors(kept):
        first = opened.stream.draw(0, reading.CHECKED_ROWS).x
        _warn_about_columns(first, opened, model.scale is not None)
        model.learn(opened.stream, samples, checkpoint=checkpoint, on_bad="skip" if source.skip else "raise")
    if not _seen(model):
        raise ValueError(f"{source.shown} has no row to learn from.")
    if not model.n_clusters_:
        warn("No neuron learned, so no row has a cluster. Try a larger --width or --init samples.")
    elif not isinstance(model.width, str) and _seen(model) < LEAST_DRAWS:
        warn(
            f"One pass of {_seen(model):,} rows is short: some neurons may not have converged, and count as "
            f"clusters. Without --one-pass, fit draws {LEAST_DRAWS:,} rows from a file."
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
    """Print what was learned, and the next commands."""
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
    name = "width" if model.covariance_type == "spherical" else "mean width"
    width = f"{name} {mean_widths(model.widths_)[0]:.4g}{' (auto)' if isinstance(model.width, str) else ''}"
    options = reading_options(source)
    if opened.stream.feature_names is None and (source.columns or source.exclude):
        options += ["--columns", ",".join(opened.labels)]
    tables.print_lines(
        size(rows, opened),
        f"{clusters}, by {drawn} in {tables.duration(seconds)}",
        f"{width}; a smaller width gives more clusters, a larger one fewer",
        table,
        f"Written to {out}. Next:",
        tables.command("predict", str(out), source.path, *options),
        tables.command("info", str(out)),
    )


def size(rows: int, opened: Opened) -> str:
    """The number of rows, and the columns, as text."""
    what = f"{rows:,} rows" if rows != 1 else "1 row"
    columns = f"{len(opened.labels)} column{'s' if len(opened.labels) > 1 else ''}"
    return f"{what} of {columns}: {reading.several(opened.labels)}"


def reading_options(source: Data) -> list[str]:
    """The options for another command to read the same file."""
    options = [] if source.format is None or source.is_pipe else ["--format", source.format]
    if source.header is not None and not source.is_pipe:
        options.append("--header" if source.header else "--no-header")
    return options


def match_columns(source: Data, names: list[str], known: list[str], n_features: int) -> list[int]:
    """The indices of the columns of a model: by name if model and data have names, else by position."""
    selected = source.selected(names)
    unnamed = names == [str(k) for k in range(len(names))]
    available = [names[k] for k in selected]
    if known and not unnamed and (source.columns is None or set(known) <= set(available)):
        missing = [name for name in known if name not in available]
        if missing:
            raise ValueError(
                f"the model needs the columns {reading.several(known)}, but {reading.several(missing)} is "
                f"missing; the columns are {reading.several(available)}. If only the names differ, list the "
                f"columns with --columns in the order of the model."
            )
        return [selected[available.index(name)] for name in known]
    if len(selected) != n_features:
        model_names = f" ({reading.several(known)})" if known else ""
        raise ValueError(
            f"the model needs {n_features} columns{model_names}, but got {len(selected)}: "
            f"{reading.several([names[k] for k in selected])}. Select columns with --columns or --exclude."
        )
    return selected


def lines(model: GaussianNeurons, opened: Opened, source: Data, cells: Cells, count: Count) -> Iterator[str]:
    """The output, chunk by chunk as rows arrive; updates the count."""
    own = cells.names
    kept = getattr(opened.stream, "line_format", None)
    if kept is None:
        yield ",".join(own) + "\n"
    else:
        _require_other_names(kept.form.names, own, source)
        if kept.header is not None:
            yield kept.form.delimiter.join([kept.header, *own]) + "\n"
    extended = _alone if kept is None else kept.form.extended
    while (chunk := opened.stream.draw(count.rows, ROWS_AT_ONCE)).taken:
        chunk = reading.without_holes(chunk, model.centers_.dtype, opened.labels)
        stop = chunk.bad[0].later(count.rows) if chunk.bad and not source.skip else None
        if stop is not None:
            chunk, _ = chunk.cut(chunk.bad[0].row)
        if chunk.taken:
            yield _output_lines(model, chunk, cells, count, extended)
        if stop is not None:
            raise stop


def _require_other_names(names: list[str], own: list[str], source: Data) -> None:
    for name in own:
        if name in names:
            raise ValueError(
                f"{source.shown} has a column {name!r} already. Rename it, or add --only to print the "
                f"clusters without the columns of DATA."
            )


def _alone(_: str, more: Mapping[str, Any]) -> str:
    """Cells without a line of DATA. An empty cell is not a blank line, which CSV readers ignore."""
    return ",".join("" if value is None else str(value) for value in more.values()) or '""'


def _output_lines(
    model: GaussianNeurons,
    chunk: Chunk,
    cells: Cells,
    count: Count,
    extended: Callable[[str, Mapping[str, Any]], str],
) -> str:
    """A line for each row: that of DATA, if it is kept, and our own cells, which are empty for a bad row."""
    own = cells.names
    found: list[Mapping[str, Any]] = [dict.fromkeys(own)] * chunk.taken
    if len(chunk.x):
        columns = cells.of(model, chunk.x)
        count.none += sum(cluster < 0 for cluster in columns[0])
        bad = {one.row for one in chunk.bad}
        good = [row for row in range(chunk.taken) if row not in bad] if bad else range(chunk.taken)
        for row, *values in zip(good, *columns, strict=True):
            found[row] = dict(zip(own, values, strict=True))
    count.rows += chunk.taken
    count.skipped += len(chunk.bad)
    before = [""] * chunk.taken if chunk.lines is None else chunk.lines
    return "".join(f"{extended(line, more)}\n" for line, more in zip(before, found, strict=True))


def _seen(model: GaussianNeurons) -> int:
    return model.n_samples_seen_ if model.__sklearn_is_fitted__() else 0


def _warn_about_columns(x: Any, opened: Opened, standardized: bool) -> None:
    """Warn about row numbers among the columns, and about columns of different scales."""
    if "" in opened.labels:
        warn("A column has no name. If it holds row numbers, exclude it by its index, such as --exclude 0.")
    x = x[:: max(1, len(x) // (10 * reading.CHECKED_ROWS))]
    x = x[finite_rows(x, x.dtype)]
    text = uneven(x, opened.labels) if len(x) and not standardized else None
    if text is not None:
        warn(text)
        warnings.filterwarnings("ignore", UNEVEN_TEXT)  # the model's own: it may not know the names yet
