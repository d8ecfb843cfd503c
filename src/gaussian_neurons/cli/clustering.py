"""The commands fit, predict and info: cluster the rows of a file."""

import sys
import time
import warnings
from pathlib import Path
from typing import Annotated

import typer

from gaussian_neurons.cli.errors import handle_errors, warn
from gaussian_neurons.cli.options import (
    BACKEND,
    COVARIANCE,
    COVARIANCE_TYPE,
    LEARNING_RATE,
    MEMORY,
    REPULSION_EVERY,
    Columns,
    Covariance,
    DataArgument,
    Exclude,
    FalseAlarms,
    Force,
    FormatOption,
    Header,
    Init,
    ModelArgument,
    OnBad,
    OnBadOption,
    ScaleOption,
    Shape,
    Standardize,
    checked_number,
    checked_strength,
    number_or_auto,
    scale_of,
    shape_of_neurons,
    strength_or_auto,
)

MODEL = "Model"  # a panel of options

# Commands import what learns, which takes a second, so that --help and wrong options are fast.


@handle_errors()
def fit(
    data: DataArgument,
    out: Annotated[
        Path,
        typer.Option("--out", "-o", metavar="MODEL", help="The model file to write.", show_default=False),
    ],
    force: Force = False,
    samples: Annotated[
        int | None,
        typer.Option(min=1, metavar="COUNT", help="Rows to draw, or to read with --one-pass."),
    ] = None,
    one_pass: Annotated[bool, typer.Option("--one-pass", help="Learn once from each row, in order.")] = False,
    checkpoint: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Resume --one-pass from this file.", show_default=False),
    ] = None,
    columns: Columns = None,
    exclude: Exclude = None,
    format: FormatOption = None,
    header: Header = None,
    on_bad: OnBadOption = OnBad.raise_,
    standardize: Standardize = False,
    scale: ScaleOption = None,
    neurons: Annotated[
        int,
        typer.Option(
            min=1, metavar="COUNT", help="The most clusters that can be found.", rich_help_panel=MODEL
        ),
    ] = 50,
    clusters: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="COUNT", help="How many there are. Not with --width.", rich_help_panel=MODEL
        ),
    ] = None,
    shape: Annotated[
        Shape,
        typer.Option(
            metavar="compact|any", help="any: such as rings. Not with --width.", rich_help_panel=MODEL
        ),
    ] = Shape.compact,
    memory: Annotated[
        int | None,
        typer.Option(min=1, metavar="COUNT", help=f"{MEMORY} Not with --width.", rich_help_panel=MODEL),
    ] = None,
    width: Annotated[
        str,
        typer.Option(
            metavar="NUMBER|auto",
            callback=checked_number,
            help="A squared distance; larger: fewer clusters.",
            rich_help_panel=MODEL,
            show_default=False,
        ),
    ] = "auto",
    inhibition: Annotated[
        str,
        typer.Option(
            metavar="NUMBER|auto",
            callback=checked_strength,
            help="The repulsion of neurons. Needs --width.",
            rich_help_panel=MODEL,
        ),
    ] = "auto",
    learning_rate: Annotated[
        str,
        typer.Option(
            metavar="NUMBER|auto",
            callback=checked_number,
            help=LEARNING_RATE,
            rich_help_panel=MODEL,
            show_default=False,
        ),
    ] = "auto",
    covariance_type: Annotated[
        Covariance,
        typer.Option(metavar="NAME", help=COVARIANCE_TYPE, rich_help_panel=MODEL, show_default=False),
    ] = Covariance.spherical,
    covariance: Annotated[
        str | None, typer.Option(metavar="A,B,C", help=COVARIANCE, rich_help_panel=MODEL, show_default=False)
    ] = None,
    repulsion_every: Annotated[
        int,
        typer.Option(min=1, metavar="COUNT", help=REPULSION_EVERY, rich_help_panel=MODEL, show_default=False),
    ] = 1,
    init: Annotated[
        Init,
        typer.Option(
            metavar="NAME",
            help="Start: auto, uniform, samples or spread.",
            rich_help_panel=MODEL,
            show_default=False,
        ),
    ] = Init.auto,
    backend: Annotated[
        str, typer.Option(metavar="NAME", help=BACKEND, rich_help_panel=MODEL, show_default=False)
    ] = "auto",
    seed: Annotated[
        int,
        typer.Option(
            min=0, metavar="NUMBER", help="The same seed gives the same model.", rich_help_panel=MODEL
        ),
    ] = 0,
) -> None:
    """Cluster the rows of DATA, which finds the number of clusters, and write a model.

    Rows are drawn at random: as many as there are, and at least 20,000, or 100,000
    with --width. Columns of different scale need --standardize.

    \bExamples
      gaussian-neurons fit flowers.csv --exclude species -o model.safetensors
      gaussian-neurons fit a.csv --columns 2,3 --width 0.5 -o model.safetensors
      zcat log.jsonl.gz | gaussian-neurons fit - -o model.safetensors
    """
    from gaussian_neurons import GaussianNeurons
    from gaussian_neurons.base.checks import checked_shape
    from gaussian_neurons.base.covariances import of_shape
    from gaussian_neurons.cli import output, steps
    from gaussian_neurons.cli.reading import Data
    from gaussian_neurons.experiments import backend_names

    learn = backend_names.load(backend)
    if width != "auto" and (clusters is not None or shape is not Shape.compact or memory is not None):
        raise ValueError(
            "--clusters, --shape and --memory need an automatic width: with --width each learned neuron is a "
            "cluster."
        )
    scaled = shape_of_neurons(covariance_type, covariance)
    if scaled is not None and width == "auto":
        raise ValueError("--covariance needs a number as --width, which it is multiplied by.")
    source = Data(data, format, header, columns, exclude, on_bad is OnBad.skip)
    one_pass = one_pass or source.is_pipe
    if checkpoint is not None and not one_pass:
        raise ValueError(
            "--checkpoint needs a single pass through the file. Add --one-pass, or omit --checkpoint."
        )
    output.check_output(out, force, None if source.is_pipe else data, checkpoint)
    if not source.is_pipe and steps.is_model(data):
        raise ValueError(f"{data!r} is a model, not data. To show the model: gaussian-neurons info {data}")
    opened = source.open()
    scaled = checked_shape(scaled, covariance_type.value, len(opened.labels))
    model = GaussianNeurons(
        neurons,
        covariance_type=covariance_type.value,
        width=of_shape(number_or_auto(width), scaled, neurons),
        inhibition=strength_or_auto(inhibition),
        learning_rate=number_or_auto(learning_rate),
        repulsion_every=repulsion_every,
        init=init.value,
        max_samples=samples or "auto",
        random_state=seed,
        backend=learn,
        shape=shape.value,
        n_clusters=clusters or "auto",
        scale=scale_of(scale, standardize),
        memory=memory,
    )
    began = time.monotonic()
    if one_pass:
        rows = steps.learn_once(model, opened, source, samples, checkpoint)
    else:
        rows = steps.learn_from_draws(model, opened, source)
    model.save(out)
    steps.summarize(model, opened, source, out, rows, one_pass, time.monotonic() - began)


@handle_errors("The printed lines are complete; a file at --out is not written.")
def predict(
    model: ModelArgument,
    data: DataArgument,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", metavar="FILE", help="Write a file instead of standard output.", show_default=False
        ),
    ] = None,
    force: Force = False,
    only: Annotated[
        bool, typer.Option("--only", help="Print the new columns without the columns of DATA, as CSV.")
    ] = False,
    scores: Annotated[
        bool, typer.Option("--scores", help="Also print the largest log-response: low for novel rows.")
    ] = False,
    novel: Annotated[
        bool, typer.Option("--novel", help="Also print 1 for a row that is novel, else 0.")
    ] = False,
    false_alarms: FalseAlarms = 0.01,
    columns: Columns = None,
    exclude: Exclude = None,
    format: FormatOption = None,
    header: Header = None,
    on_bad: OnBadOption = OnBad.raise_,
) -> None:
    """Print each row of DATA with its cluster.

    A line of text stays as it is, and gets the cluster at its end; Parquet and
    NPY become CSV. There is a header if DATA has column names. Clusters are
    numbered from 0; -1 means no cluster, and a skipped row has an empty cell.
    If model and DATA have column names, columns are matched by name, in any
    order and among others; else by position. Each line is printed as soon as
    its row is read, in constant memory.

    \bExamples
      gaussian-neurons predict model.safetensors flowers.csv -o clustered.csv
      gaussian-neurons predict model.safetensors more.csv --only --scores | head
      gaussian-neurons predict model.safetensors more.csv --novel | head
      tail -n +1 -f readings.csv | gaussian-neurons predict model.safetensors -
    """
    from gaussian_neurons.cli import output, steps
    from gaussian_neurons.cli.reading import Data

    source = Data(data, format, header, columns, exclude, on_bad is OnBad.skip, keep_lines=not only)
    if out is not None:
        output.check_output(out, force, model, None if source.is_pipe else data)
    learned = steps.load(model, data)
    known = list(getattr(learned, "feature_names_in_", []))
    opened = source.open(lambda names: steps.match_columns(source, names, known, learned.n_features_in_))
    count = steps.Count()
    cells = steps.Cells(scores, false_alarms if novel else None)
    lines = steps.lines(learned, opened, source, cells, count)
    hidden = out is not None or not sys.stdout.isatty()
    bar = output.progress_bar("reading", lambda: count.rows, opened.stream.length, show=hidden)
    with bar, warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names")  # they are matched already
        if out is None:
            for text in lines:
                sys.stdout.write(text)
                sys.stdout.flush()
        else:
            with output.replaced_file(out) as file:
                file.writelines(lines)
    if count.skipped:
        warn(f"{count.skipped:,} of {count.rows:,} rows could not be read and have empty cells.")
    if out is not None:
        typer.echo(f"{count.rows:,} rows written to {out}, {count.none:,} of them in no cluster.")


@handle_errors("")
def info(
    model: ModelArgument,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, including all centers.")] = False,
) -> None:
    """Show a model file: its parameters, clusters and neurons.

    A checkpoint of fit is shown in the same way.

    \bExamples
      gaussian-neurons info model.safetensors
      gaussian-neurons info model.safetensors --json | jq .clusters
    """
    from gaussian_neurons.cli import steps, tables
    from gaussian_neurons.model import model_file

    learned = steps.load(model)
    stored = model_file.load(Path(model).expanduser(), learned.get_params(deep=False))
    facts = tables.facts(learned, stored, model)
    if as_json:
        typer.echo(tables.as_json(facts))
        return
    parts = (tables.overview(facts), tables.neurons(facts), tables.centers(facts))
    tables.print_lines(*(part for part in parts if part is not None))
