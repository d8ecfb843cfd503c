"""The command sweep: many models of one file, to find a width and an inhibition that suit it."""

import io
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gaussian_neurons.cli.errors import require, told, warn
from gaussian_neurons.cli.options import (
    REPULSION_EVERY,
    Columns,
    DataArgument,
    Exclude,
    FormatOption,
    Header,
    Init,
    OnBad,
    OnBadOption,
    checked_number,
    number_or_auto,
)

if TYPE_CHECKING:
    from gaussian_neurons.sweeping import Sweep

PICTURES = (".png", ".svg", ".pdf")
DPI = 160


def _numbers(text: str) -> list[float]:
    """Numbers with commas between them."""
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise typer.BadParameter(f"{text!r} is no list of numbers like 0.5,1,2.") from None


def _widths(text: str) -> Any:
    """How many widths, or which.

    Examples
    --------
    >>> _widths("8"), _widths("0.5,1"), _widths("2,")
    (8, [0.5, 1.0], [2.0])
    """
    return int(text) if text.isdecimal() else _numbers(text.removesuffix(","))


def _checked_widths(text: str) -> str:
    _widths(text)
    return text


def _checked_list(text: str) -> str:
    _numbers(text)
    return text


@told()
def sweep(
    data: DataArgument,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", metavar="FILE", help="Draw the map: .png, .svg or .pdf.", show_default=False
        ),
    ] = None,
    json_: Annotated[
        Path | None,
        typer.Option("--json", metavar="FILE", help="Write all numbers as JSON.", show_default=False),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace files that are there already.")] = False,
    widths: Annotated[
        str,
        typer.Option(
            metavar="COUNT|A,B,C",
            callback=_checked_widths,
            help="How many widths, from fine to coarse for DATA; or which, with commas.",
            rich_help_panel="Models",
        ),
    ] = "12",
    inhibitions: Annotated[
        str,
        typer.Option(
            metavar="A,B,C",
            callback=_checked_list,
            help="How strongly neurons push each other off.",
            rich_help_panel="Models",
        ),
    ] = "0.25,0.5,1,2",
    seeds: Annotated[
        int,
        typer.Option(
            min=1, metavar="COUNT", help="Models for each width and inhibition.", rich_help_panel="Models"
        ),
    ] = 3,
    neurons: Annotated[
        int,
        typer.Option(
            min=1, metavar="COUNT", help="The most clusters there may be.", rich_help_panel="Models"
        ),
    ] = 50,
    learning_rate: Annotated[
        str,
        typer.Option(
            metavar="NUMBER|auto",
            callback=checked_number,
            help="Size of a step: this over the width, times a distance.",
            rich_help_panel="Models",
        ),
    ] = "auto",
    repulsion_every: Annotated[
        int,
        typer.Option(min=1, metavar="COUNT", help=REPULSION_EVERY, rich_help_panel="Models"),
    ] = 1,
    init: Annotated[
        Init,
        typer.Option(
            help="Start anywhere in the data's box, or on rows drawn from it.", rich_help_panel="Models"
        ),
    ] = Init.samples,
    samples: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="COUNT",
            help="Rows that each model draws (if not told: as many as there are, at least 100,000).",
            rich_help_panel="Run",
            show_default=False,
        ),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="COUNT",
            help="Models at a time (if not told: one for each core).",
            rich_help_panel="Run",
            show_default=False,
        ),
    ] = None,
    columns: Columns = None,
    exclude: Exclude = None,
    format: FormatOption = None,
    header: Header = None,
    on_bad: OnBadOption = OnBad.raise_,
) -> None:
    """Learn many models of DATA, and show where the number of clusters agrees.

    A number that comes out over a wide region of widths and inhibitions,
    whatever the seed, is one that DATA has. The command ends with the fit
    that uses the middle of that region.

    \bExamples
      gaussian-neurons sweep flowers.csv --exclude species -o map.png
      gaussian-neurons sweep flowers.csv --columns 2,3 --widths 20 --seeds 5
      gaussian-neurons sweep big.parquet --widths 0.5,1,2 --inhibitions 0.5,1 \\
          -o map.svg --json map.json
    """
    from gaussian_neurons import sweep as learn_all
    from gaussian_neurons.base.files import replace_file
    from gaussian_neurons.cli import output, steps, tables
    from gaussian_neurons.cli.reading import Data

    source = Data(data, format, header, columns, exclude, on_bad is OnBad.skip)
    read = None if source.is_pipe else data
    if out is not None:
        if out.suffix.lower() not in PICTURES:
            raise ValueError(f"--out {str(out)!r} must end in {', '.join(PICTURES[:-1])} or {PICTURES[-1]}.")
        require("matplotlib")
        output.require_free(out, force, read)
    if json_ is not None:
        output.require_free(json_, force, read, out, option="--json")
    opened = source.open()
    x = steps.all_rows(opened, source)
    began = time.monotonic()
    found = learn_all(
        x,
        samples,
        n_neurons=neurons,
        widths=_widths(widths),
        inhibitions=_numbers(inhibitions),
        seeds=seeds,
        learning_rate=number_or_auto(learning_rate),
        repulsion_every=repulsion_every,
        init=init.value,
        n_jobs=jobs or -1,
    )
    seconds = time.monotonic() - began
    _warn_of_failures(found)
    if json_ is not None:
        replace_file(json_, tables.as_json(found.to_dict()).encode())
    if out is not None:
        replace_file(out, _picture(found, out.suffix.lower()[1:], Path(data).name))
    written = " and ".join(str(path) for path in (out, json_) if path is not None)
    tables.print_lines(
        steps.size(len(x), opened),
        f"{found.n_clusters.size} models in {seconds:.2g} s",
        tables.counts(found),
        *_answer(found),
        *([] if found.plateau() is None else ["Next:", tables.command(*_fit(found, source, steps))]),
        *([f"Written to {written}."] if written else []),
    )


def _warn_of_failures(found: "Sweep") -> None:
    """Say how many models could not be learned, and why the first; an error where none could."""
    if not found.failures:
        return
    first = found.failures[0]
    text = (
        f"{len(found.failures)} of {found.n_clusters.size} models could not be learned. The first, with "
        f"width {first.width:g} and inhibition {first.inhibition:g}: {first.reason}"
    )
    if len(found.failures) == found.n_clusters.size:
        raise ValueError(text)
    warn(text)


def _answer(found: "Sweep") -> list[str]:
    """The plateau in a sentence or two."""
    plateau = found.plateau()
    if plateau is None:
        return [
            "There is no plateau: every model found no cluster, one, or as many as it has neurons. Either "
            "the data has no more than one, or other widths are needed."
        ]
    size, total = int(plateau.cells.sum()), plateau.cells.size
    told = [
        f"{plateau.n_clusters} clusters agree best: at {size} of {total} pairs of width and inhibition, by "
        f"{plateau.agreement:.0%} of the models there."
    ]
    return told + (["One pair is not much: try more widths."] if size == 1 else [])


def _fit(found: "Sweep", source: Any, steps: Any) -> list[str]:
    """The words of the command that learns the model in the middle of the plateau."""
    model = found.model()
    given = {
        "--columns": source.columns,
        "--exclude": source.exclude,
        "--neurons": model.n_neurons,
        "--width": model.width,
        "--inhibition": model.inhibition,
        "--learning-rate": None if model.learning_rate == "auto" else model.learning_rate,
        "--repulsion-every": None if model.repulsion_every == 1 else model.repulsion_every,
        "--init": model.init,
        "--seed": model.random_state,
        "--samples": found.n_samples,
        "--on-bad": "skip" if source.skip else None,
        "--out": "model.safetensors",
    }
    options = [str(word) for name, value in given.items() if value is not None for word in (name, value)]
    return ["fit", source.path, *steps.reading_again(source), *options]


def _picture(found: "Sweep", format: str, title: str) -> bytes:
    from matplotlib.figure import Figure

    from gaussian_neurons import plotting

    columns, rows = len(found.widths), len(found.inhibitions)
    figure = Figure(
        figsize=(max(5.0, 1.2 + 0.55 * columns), max(2.6, 1.2 + 0.55 * rows)), layout="constrained"
    )
    axes = figure.subplots()
    plotting.sweep_map(axes, found)
    plateau = found.plateau()
    axes.set_title(
        f"{title}: {plateau or 'no plateau'}", fontsize=10, color=plotting.INK, loc="left", parse_math=False
    )
    file = io.BytesIO()
    figure.savefig(file, format=format, dpi=DPI)
    return file.getvalue()
