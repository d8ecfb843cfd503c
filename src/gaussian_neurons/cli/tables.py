"""What the commands print: a summary of clusters, tables of neurons, the map of a sweep, JSON."""

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
from gaussian_neurons.model import model_file
from gaussian_neurons.sweeping import Sweep

Array = NDArray[Any]

BAR = 24  # characters of a full bar
MOST_OTHERS = 16  # neurons without a cluster that a table shows
MOST_EVENTS = 6
MOST_COLUMNS = 6  # of a table of centers; more do not fit on a terminal
EIGHTHS = " ▏▎▍▌▋▊▉"


def clusters(numbers: Array, shares: Array, rows: int, none: float, what: str) -> Table:
    """The share of rows in each cluster, as numbers and bars.

    Parameters
    ----------
    numbers : (n_clusters,)
    shares : (n_clusters,)
    rows : how many they are shares of
    none : the share of rows in no cluster
    what : those rows, in words
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
    """The clusters that a sweep found: a row for each width, a column for each inhibition."""
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
    table.caption = "The median over the seeds, and the fewest and the most where they differ."
    if plateau is not None:
        table.caption += " •: the largest region that agrees; ●: its middle."
    table.caption_justify = "left"
    return table


def command(*words: str) -> Text:
    """A command to copy, which is never wrapped."""
    return Text("  " + " ".join(shlex.quote(word) for word in ("gaussian-neurons", *words)), style="bold")


def print_lines(*lines: Any) -> None:
    """Lines and tables on standard output; lines are wrapped by the terminal only, for copying."""
    console = Console(highlight=False)
    for line in lines:
        console.print(line, soft_wrap=not isinstance(line, Table), markup=False)


def facts(model: GaussianNeurons, loaded: model_file.Loaded, path: str) -> dict[str, Any]:
    """Everything there is to say about a model file, as JSON has it."""
    found, ready, run = model.diagnosis_, loaded.state.network, loaded.run
    cluster = model.neuron_clusters_
    names = getattr(model, "feature_names_in_", None)
    neurons = [
        {
            "neuron": k,
            "learned": bool(found.learned[k]),
            "cluster": int(cluster[k]) if cluster[k] >= 0 else None,
            "share": _number(found.share[k]),
            "mean_response": _number(found.mean_response[k]),
            "domain_distance": _number(found.domain_distance[k]),
            "cosine": _number(found.cosine[k]),
            "width": _number(model.widths_[k]),
            "remembered": bool(found.remembered[k]),
            "twin_of": int(found.twin_of[k]) if found.twin_of[k] >= 0 else None,
            "center": [_number(value) for value in model.centers_[k]],
        }
        for k in range(len(found.learned))
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
        "learning_rate": None if ready is None else ready.layer.learning_rate,
        "inhibition": None if ready is None else ready.layer.inhibition,
        "widths": None if ready is None else [float(layer.neurons.widths[0]) for layer in ready.layers],
        "domain": None if ready is None else {"low": _plain(ready.low), "high": _plain(ready.high)},
        "clusters": model.n_clusters_,
        "centers": {
            str(number): [_number(value) for value in center]
            for number, center in zip(model.cluster_numbers_, model.cluster_centers_, strict=True)
        },
        "events": [[event.samples, event.kind, event.cluster] for event in model.events_],
        "neurons": neurons,
    }


def as_json(told: dict[str, Any]) -> str:
    """Facts for a program."""
    return json.dumps(told, indent=2, allow_nan=False)


def overview(told: dict[str, Any]) -> Table:
    """Facts about the model as a whole."""
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    kind = (
        "a model"
        if told["checkpoint"] is None
        else f"a checkpoint at {told['checkpoint']['samples']:,} samples"
    )
    skipped = f", {told['rows_skipped']:,} rows skipped" if told["rows_skipped"] else ""
    given = dict(told["parameters"])
    for name in ("learning_rate", "inhibition"):
        if given[name] == "auto" and told[name] is not None:
            given[name] = f"auto ({told[name]:.4g})"
    if given["width"] == "auto":
        given["width"] = f"auto ({told['neurons'][0]['width']:.4g}{_of_widths(told['widths'])})"
    rows = {
        "file": f"{told['file']}, {kind}",
        "clusters": f"{told['clusters']} of at most {len(told['neurons'])}",
        "samples seen": f"{told['samples_seen']:,}{skipped}",
        "columns": f"{told['n_columns']}{_names(told['columns'])}, in {told['precision']}",
        "domain": _domain(told["domain"]),
        "parameters": ", ".join(f"{name}={_short(value)}" for name, value in given.items()),
        "events": _events(told["events"]),
    }
    for name, value in rows.items():
        table.add_row(name, Text(value))
    return table


def neurons(told: dict[str, Any]) -> Table:
    """Facts about each neuron: those with a cluster first, and not too many of the others."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("neuron", "cluster", "share", "mean response", "d", "cos", "width", "twin of"):
        table.add_column(name, justify="right")
    learned = [one for one in told["neurons"] if one["learned"]]
    others = [one for one in told["neurons"] if not one["learned"]]
    for one in learned + others[:MOST_OTHERS]:
        table.add_row(
            str(one["neuron"]),
            _or_dash(one["cluster"]),
            f"{one['share']:.1%}",
            f"{one['mean_response']:.3f}",
            _or_dash(one["domain_distance"], ".2f"),
            _or_dash(one["cosine"], ".2f"),
            f"{one['width']:.4g}",
            _or_dash(one["twin_of"]),
            style="bold" if one["learned"] else "dim",
        )
    more = len(others) - MOST_OTHERS
    table.caption = (f"... and {more} more without a cluster, which --json shows.\n" if more > 0 else "") + (
        "share, mean response: of the last samples, those a neuron answers most strongly, and how strongly. "
        "d: distance from the middle of the domain, 1 at its corners. cos: between center and start. "
        "Without a cluster: not learned."
    )
    table.caption_justify = "left"
    return table


def centers(told: dict[str, Any]) -> Table | None:
    """Where the clusters are, unless there are none or too many columns for a table."""
    if not told["centers"] or told["n_columns"] > MOST_COLUMNS:
        return None
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("center of", justify="right")
    for name in told["columns"] or [f"column {k}" for k in range(told["n_columns"])]:
        table.add_column(Text(name), justify="right")
    for number, center in told["centers"].items():
        table.add_row(number, *(f"{value:.4g}" for value in center))
    return table


def _of_widths(widths: Sequence[float] | None) -> str:
    return (
        "" if widths is None or len(widths) < 2 else f" of {len(widths)}: {widths[0]:.4g} to {widths[-1]:.4g}"
    )


def _events(events: Sequence[Sequence[Any]]) -> str:
    shown = "; ".join(f"{kind} {cluster} at {samples:,}" for samples, kind, cluster in events[-MOST_EVENTS:])
    return (f"{len(events) - MOST_EVENTS} before, " if len(events) > MOST_EVENTS else "") + (shown or "none")


def _count(found: Array, median: int) -> str:
    learned = found[found >= 0]
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
        return "not known yet: it is taken from the first 1,000 samples"
    ends = list(zip(domain["low"], domain["high"], strict=True))
    if len(set(ends)) == 1:
        return f"{ends[0][0]:.4g} to {ends[0][1]:.4g} in every column"
    shown = ", ".join(f"{low:.4g} to {high:.4g}" for low, high in ends[:MOST_COLUMNS])
    return shown + (", ..." if len(ends) > MOST_COLUMNS else "")


def _short(value: Any) -> str:
    return f"<{len(value)} numbers>" if isinstance(value, list) and len(value) > 2 else str(value)


def _or_dash(value: Any, form: str = "") -> str:
    return "–" if value is None else format(value, form)


def _number(value: Any) -> float | None:
    """A number as JSON has it; None for infinity."""
    return float(value) if np.isfinite(value) else None


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    return [_plain(part) for part in value] if isinstance(value, tuple) else value
