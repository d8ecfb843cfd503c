"""Tables and JSON that commands print: clusters, neurons, the map of a sweep."""

import json
import shlex
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from gaussian_neurons import GaussianNeurons
from gaussian_neurons.base.covariances import mean_widths
from gaussian_neurons.model import model_file
from gaussian_neurons.sweeping import Sweep

Array = NDArray[Any]

BAR = 24  # characters
MOST_OTHERS = 16  # neurons without a cluster in a table
MOST_EVENTS = 6
MOST_COLUMNS = 6  # in a table of centers, to fit on a terminal
EIGHTHS = " ▏▎▍▌▋▊▉"


def clusters(numbers: Array, shares: Array, rows: int, none: float, what: str) -> Table:
    """The share of rows in each cluster, as numbers and bars.

    Parameters
    ----------
    numbers : (n_clusters,)
    shares : (n_clusters,)
    rows : the total number
    none : the share of rows in no cluster
    what : the heading of the number of rows
    """
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("cluster", justify="right")
    table.add_column(what, justify="right")
    table.add_column("share", justify="right")
    table.add_column("")
    largest = max([*shares, none, 1e-9])
    for name, share in [*zip(map(str, numbers), map(float, shares), strict=True), ("none", none)]:
        style = "dim" if name == "none" else ""
        bar = Text(_bar(share / largest), style="dim" if name == "none" else "cyan")
        table.add_row(name, f"{round(share * rows):,}", f"{share:.1%}", bar, style=style)
    return table


def counts(found: Sweep) -> Table:
    """The number of clusters in a sweep: a row for each width, a column for each inhibition."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("width", justify="right", style="dim")
    for inhibition in found.inhibitions:
        table.add_column(
            f"inhibition {inhibition:g}" if inhibition == found.inhibitions[0] else f"{inhibition:g}"
        )
    plateau = found.plateau()
    for w, width in enumerate(found.widths):
        cells = []
        for k, inhibition in enumerate(found.inhibitions):
            inside = plateau is not None and bool(plateau.cells[w, k])
            middle = plateau is not None and (width, inhibition) == (plateau.width, plateau.inhibition)
            mark = " ●" if middle else " •" if inside else ""
            cells.append(
                Text(_count(found.n_clusters[w, k], found.typical[w, k]) + mark, "bold cyan" * inside)
            )
        table.add_row(f"{width:g}", *cells)
    table.caption = "The median over the seeds, with the range if seeds differ."
    if plateau is not None:
        table.caption += " •: the largest region of agreement; ●: its middle."
    table.caption_justify = "left"
    return table


def duration(seconds: float) -> str:
    """A time in the unit that suits it.

    Examples
    --------
    >>> duration(0.234), duration(144), duration(9000)
    ('0.23 s', '2.4 minutes', '2.5 hours')
    """
    value, unit = seconds, "s"
    if seconds >= 60:
        value, unit = (seconds / 60, "minutes") if seconds < 3600 else (seconds / 3600, "hours")
    return f"{value:.2g} {unit}" if value < 10 else f"{value:.0f} {unit}"


def command(*words: str) -> Text:
    """A command to copy."""
    return Text("  " + " ".join(shlex.quote(word) for word in ("gaussian-neurons", *words)), style="bold")


def print_lines(*lines: Any) -> None:
    """Print lines and tables on standard output; lines are not wrapped, so that they can be copied."""
    console = Console(highlight=False)
    for line in lines:
        console.print(line, soft_wrap=not isinstance(line, Table), markup=False)


def facts(model: GaussianNeurons, loaded: model_file.Loaded, path: str) -> dict[str, Any]:
    """All facts about a model file, for JSON."""
    diagnosis, network, run = model.diagnosis_, loaded.state.network, loaded.run
    cluster = model.neuron_clusters_
    names = getattr(model, "feature_names_in_", None)
    widths = mean_widths(model.widths_)
    neurons = [
        {
            "neuron": k,
            "learned": bool(diagnosis.learned[k]),
            "cluster": int(cluster[k]) if cluster[k] >= 0 else None,
            "share": _number(diagnosis.share[k]),
            "mean_response": _number(diagnosis.mean_response[k]),
            "domain_distance": _number(diagnosis.domain_distance[k]),
            "cosine": _number(diagnosis.cosine[k]),
            "width": _number(widths[k]),
            "remembered": bool(diagnosis.remembered[k]),
            "twin_of": int(diagnosis.twin_of[k]) if diagnosis.twin_of[k] >= 0 else None,
            "center": [_number(value) for value in model.centers_[k]],
        }
        for k in range(len(diagnosis.learned))
    ]
    return {
        "file": path,
        "checkpoint": None if run is None else {"samples": run["taken"], "stopped": run["stopped"]},
        "parameters": {name: _plain(value) for name, value in model.get_params(deep=False).items()},
        "precision": str(model.centers_.dtype),
        "samples_seen": model.n_samples_seen_,
        "rows_skipped": model.n_skipped_,
        "columns": None if names is None else [str(name) for name in names],
        "n_columns": model.n_features_in_,
        "learning_rate": None if network is None else network.layer.learning_rate,
        "inhibition": None if network is None else network.layer.inhibition,
        "widths": None
        if network is None
        else [float(width) for width in np.unique(mean_widths(network.neurons.widths))],
        "domain": None
        if network is None
        else {"low": _plain(network.undone(network.low)), "high": _plain(network.undone(network.high))},
        "clusters": model.n_clusters_,
        "centers": {
            str(number): [_number(value) for value in center]
            for number, center in zip(model.cluster_numbers_, model.cluster_centers_, strict=True)
        },
        "events": [[event.samples, event.kind, event.cluster] for event in model.events_],
        "neurons": neurons,
    }


def as_json(info: dict[str, Any]) -> str:
    """Facts as JSON text."""
    return json.dumps(info, indent=2, allow_nan=False)


def overview(info: dict[str, Any]) -> Table:
    """A table of facts about the model as a whole."""
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    kind = (
        "a model"
        if info["checkpoint"] is None
        else f"a checkpoint at {info['checkpoint']['samples']:,} samples"
    )
    skipped = f", {info['rows_skipped']:,} rows skipped" if info["rows_skipped"] else ""
    given = dict(info["parameters"])
    for name in ("learning_rate", "inhibition"):
        if given[name] == "auto" and info[name] is not None:
            given[name] = f"auto ({info[name]:.4g})"
    if given["width"] == "auto":
        given["width"] = f"auto ({info['neurons'][0]['width']:.4g}{_width_range(info['widths'])})"
    rows = {
        "file": f"{info['file']}, {kind}",
        "clusters": f"{info['clusters']} of at most {len(info['neurons'])}",
        "samples seen": f"{info['samples_seen']:,}{skipped}",
        "columns": f"{info['n_columns']}{_names(info['columns'])}, in {info['precision']}",
        "domain": _domain(info["domain"]),
        "parameters": ", ".join(f"{name}={_short(value)}" for name, value in given.items()),
        "events": _events(info["events"]),
    }
    for name, value in rows.items():
        table.add_row(name, Text(value))
    return table


def neurons(info: dict[str, Any]) -> Table:
    """A table of neurons: all with a cluster, then some of the others."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("neuron", "cluster", "share", "mean response", "d", "cos", "width", "twin of"):
        table.add_column(name, justify="right")
    learned = [one for one in info["neurons"] if one["learned"]]
    others = [one for one in info["neurons"] if not one["learned"]]
    for one in learned + others[:MOST_OTHERS]:
        table.add_row(
            str(one["neuron"]),
            _optional(one["cluster"]),
            f"{one['share']:.1%}",
            f"{one['mean_response']:.3f}",
            _optional(one["domain_distance"], ".2f"),
            _optional(one["cosine"], ".2f"),
            f"{one['width']:.4g}",
            _optional(one["twin_of"]),
            style="bold" if one["learned"] else "dim",
        )
    more = len(others) - MOST_OTHERS
    table.caption = (f"... and {more} more without a cluster; --json shows all.\n" if more > 0 else "") + (
        "share: of recent samples, those with the strongest response of the neuron. mean response: to them. "
        "d: distance from the middle of the domain, 1 at its corners. cos: cosine between center and start. "
        "Neurons without a cluster have not learned."
    )
    table.caption_justify = "left"
    return table


def centers(info: dict[str, Any]) -> Table | None:
    """A table of cluster centers, unless there are no clusters or too many columns."""
    if not info["centers"] or info["n_columns"] > MOST_COLUMNS:
        return None
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("center of", justify="right")
    for name in info["columns"] or [f"column {k}" for k in range(info["n_columns"])]:
        table.add_column(Text(name), justify="right")
    for number, center in info["centers"].items():
        table.add_row(number, *(f"{value:.4g}" for value in center))
    return table


def _width_range(widths: Sequence[float] | None) -> str:
    return (
        "" if widths is None or len(widths) < 2 else f" of {len(widths)}: {widths[0]:.4g} to {widths[-1]:.4g}"
    )


def _events(events: Sequence[Sequence[Any]]) -> str:
    shown = "; ".join(f"{kind} {cluster} at {samples:,}" for samples, kind, cluster in events[-MOST_EVENTS:])
    return (f"{len(events) - MOST_EVENTS} before, " if len(events) > MOST_EVENTS else "") + (shown or "none")


def _count(clusters: Array, median: int) -> str:
    learned = clusters[clusters >= 0]
    if not len(learned):
        return "failed"
    return f"{median}" if learned.min() == learned.max() else f"{median} ({learned.min()}–{learned.max()})"


def _bar(part: float) -> str:
    whole, rest = divmod(round(part * BAR * 8), 8)
    return "█" * whole + EIGHTHS[rest].strip()


def _names(names: Sequence[str] | None) -> str:
    return "" if names is None else f" ({', '.join(names)})"


def _domain(domain: dict[str, Any] | None) -> str:
    if domain is None:
        return "unknown until the first 1,000 samples are complete"
    ends = list(zip(domain["low"], domain["high"], strict=True))
    if len(set(ends)) == 1:
        return f"{ends[0][0]:.4g} to {ends[0][1]:.4g} in every column"
    shown = ", ".join(f"{low:.4g} to {high:.4g}" for low, high in ends[:MOST_COLUMNS])
    return shown + (", ..." if len(ends) > MOST_COLUMNS else "")


def _short(value: Any) -> str:
    return f"<{len(value)} numbers>" if isinstance(value, list) and len(value) > 2 else str(value)


def _optional(value: Any, form: str = "") -> str:
    return "–" if value is None else format(value, form)


def _number(value: Any) -> float | None:
    """A number for JSON; None if it is not finite."""
    return float(value) if np.isfinite(value) else None


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    return [_plain(part) for part in value] if isinstance(value, tuple) else value
