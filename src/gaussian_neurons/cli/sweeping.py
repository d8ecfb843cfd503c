"""The command sweep: many models of one file, to choose a width and an inhibition."""

import io
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gaussian_neurons.cli.errors import handle_errors, require, warn
from gaussian_neurons.cli.options import (
    BACKEND,
    COVARIANCE,
    COVARIANCE_TYPE,
    LEARNING_RATE,
    REPULSION_EVERY,
    SCALE,
    Columns,
    Covariance,
    DataArgument,
    Exclude,
    FormatOption,
    Header,
    Init,
    OnBad,
    OnBadOption,
    Standardize,
    checked_number,
    number_or_auto,
    shape_of_neurons,
)

if TYPE_CHECKING:
    from gaussian_neurons.sweeping import Sweep

PICTURES = (".png", ".svg", ".pdf")
DPI = 160


def _numbers(text: str) -> list[float]:
    """Comma-separated numbers."""
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise typer.BadParameter(f"must be numbers such as 0.5,1,2, got {text!r}.") from None


def _widths(text: str) -> Any:
    """The number of widths, or the widths.

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


@handle_errors()
def sweep(
    data: DataArgument,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", metavar="FILE", help="Draw a map as .png, .svg or .pdf.", show_default=False
        ),
    ] = None,
    json_: Annotated[
        Path | None,
        typer.Option("--json", metavar="FILE", help="Write all results as JSON.", show_default=False),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite existing files.")] = False,
    widths: Annotated[
        str,
        typer.Option(
            metavar="COUNT|A,B,C",
            callback=_checked_widths,
            help="How many, in a range that suits DATA, or the widths.",
            rich_help_panel="Models",
        ),
    ] = "12",
    covariance_type: Annotated[
        Covariance,
        typer.Option(metavar="NAME", help=COVARIANCE_TYPE, rich_help_panel="Models", show_default=False),
    ] = Covariance.spherical,
    covariance: Annotated[
        str | None,
        typer.Option(metavar="A,B,C", help=COVARIANCE, rich_help_panel="Models", show_default=False),
    ] = None,
    inhibitions: Annotated[
        str,
        typer.Option(
            metavar="A,B,C",
            callback=_checked_list,
            help="Strengths of the repulsion between neurons.",
            rich_help_panel="Models",
        ),
    ] = "0.25,0.5,1,2",
    seeds: Annotated[
        int,
        typer.Option(
            min=1,
            metavar="COUNT",
            help="Models for each width and inhibition.",
            rich_help_panel="Models",
        ),
    ] = 3,
    neurons: Annotated[
        int,
        typer.Option(
            min=1, metavar="COUNT", help="The most clusters that can be found.", rich_help_panel="Models"
        ),
    ] = 50,
    learning_rate: Annotated[
        str,
        typer.Option(
            metavar="NUMBER|auto",
            callback=checked_number,
            help=LEARNING_RATE,
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
            metavar="NAME", help="Start: auto, uniform, samples or spread.", rich_help_panel="Models"
        ),
    ] = Init.samples,
    backend: Annotated[
        str, typer.Option(metavar="NAME", help=BACKEND, rich_help_panel="Models", show_default=False)
    ] = "auto",
    samples: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="COUNT",
            help="Rows that each model draws.",
            show_default="by DATA",
        ),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="COUNT",
            help="Threads.",
            show_default="one for each core",
        ),
    ] = None,
    columns: Columns = None,
    exclude: Exclude = None,
    format: FormatOption = None,
    header: Header = None,
    on_bad: OnBadOption = OnBad.raise_,
    standardize: Standardize = False,
) -> None:
    """Compare models of DATA over widths, inhibitions and seeds.

    The most reliable number of clusters is the one that most models agree on
    over the largest region of widths and inhibitions. The command ends with
    the fit command for the middle of that region.

    \bExamples
      gaussian-neurons sweep flowers.csv --exclude species -o map.png
      gaussian-neurons sweep flowers.csv --columns 2,3 --widths 20 --seeds 5
      gaussian-neurons sweep big.parquet --widths 0.5,1,2 --json map.json
    """
    from gaussian_neurons import sweep as sweep_models
    from gaussian_neurons.base.files import replace_file
    from gaussian_neurons.cli import output, steps, tables
    from gaussian_neurons.cli.reading import Data
    from gaussian_neurons.experiments import backend_names

    learn = backend_names.load(backend)
    shape = shape_of_neurons(covariance_type, covariance)
    source = Data(data, format, header, columns, exclude, on_bad is OnBad.skip)
    input_file = None if source.is_pipe else data
    if out is not None:
        if out.suffix.lower() not in PICTURES:
            raise ValueError(f"--out {str(out)!r} must end in {', '.join(PICTURES[:-1])} or {PICTURES[-1]}.")
        require("matplotlib")
        output.check_output(out, force, input_file)
    if json_ is not None:
        output.check_output(json_, force, input_file, out, option="--json")
    opened = source.open()
    x = steps.all_rows(opened, source, standardize)
    began = time.monotonic()
    found = sweep_models(
        x,
        samples,
        n_neurons=neurons,
        covariance_type=covariance_type.value,
        covariance=shape,
        widths=_widths(widths),
        inhibitions=_numbers(inhibitions),
        seeds=seeds,
        learning_rate=number_or_auto(learning_rate),
        repulsion_every=repulsion_every,
        init=init.value,
        scale=SCALE if standardize else None,
        backend=learn,
        n_jobs=jobs or -1,
    )
    seconds = time.monotonic() - began
    _warn_about_failures(found)
    if json_ is not None:
        replace_file(json_, tables.as_json(found.to_dict()).encode())
    if out is not None:
        replace_file(out, _picture(found, out.suffix.lower()[1:], Path(data).name))
    written = " and ".join(str(path) for path in (out, json_) if path is not None)
    tables.print_lines(
        steps.size(len(x), opened),
        f"{found.n_clusters.size} models in {tables.duration(seconds)}",
        tables.counts(found),
        *_conclusion(found),
        *([] if found.plateau() is None else ["Next:", _next(found, source, covariance, backend)]),
        *([f"Written to {written}."] if written else []),
    )


def _warn_about_failures(found: "Sweep") -> None:
    """Warn of models that failed, with the first reason; raise an error if all failed."""
    if not found.failures:
        return
    first = found.failures[0]
    text = (
        f"{len(found.failures)} of {found.n_clusters.size} models failed. The first, with width "
        f"{first.width:g} and inhibition {first.inhibition:g}: {first.reason}"
    )
    if len(found.failures) == found.n_clusters.size:
        raise ValueError(text)
    warn(text)


def _conclusion(found: "Sweep") -> list[str]:
    """The plateau in one or two sentences."""
    plateau = found.plateau()
    if plateau is None:
        return [
            "There is no plateau: every model found no cluster, one cluster, or as many as it has neurons. "
            "The data may have at most one cluster, or other widths may be needed."
        ]
    size, total = int(plateau.cells.sum()), plateau.cells.size
    lines = [
        f"Best agreement: {plateau.n_clusters} clusters, at {size} of {total} pairs of width and inhibition, "
        f"by {plateau.agreement:.0%} of the models there."
    ]
    if plateau.weak:
        lines.append(
            f"This is weak evidence: {plateau.support:.0%} of all models agree there, and data without "
            f"clusters gives such a region, too. Compare with fit without a width, or try more widths."
        )
    return lines


def _next(found: "Sweep", source: Any, covariance: str | None, backend: str) -> Any:
    """The command that fits the model in the middle of the plateau."""
    from gaussian_neurons.cli import steps, tables

    model, plateau = found.model(), found.plateau()
    assert plateau is not None
    given = {
        "--columns": source.columns,
        "--exclude": source.exclude,
        "--neurons": model.n_neurons,
        "--width": plateau.width,
        "--covariance-type": None if covariance is None else model.covariance_type,
        "--covariance": covariance,
        "--inhibition": model.inhibition,
        "--learning-rate": None if model.learning_rate == "auto" else model.learning_rate,
        "--repulsion-every": None if model.repulsion_every == 1 else model.repulsion_every,
        "--init": model.init,
        "--backend": None if backend == "auto" else backend,
        "--seed": model.random_state,
        "--samples": found.n_samples,
        "--on-bad": "skip" if source.skip else None,
        "--out": "model.safetensors",
    }
    options = [str(word) for name, value in given.items() if value is not None for word in (name, value)]
    options += ["--standardize"] if model.scale is not None else []
    return tables.command("fit", source.path, *steps.reading_options(source), *options)


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
