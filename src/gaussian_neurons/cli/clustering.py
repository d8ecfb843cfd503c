"""The commands fit, predict and info: cluster a file without writing Python."""

import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from gaussian_neurons.cli.errors import told, warn
from gaussian_neurons.cli.options import (
    REPULSION_EVERY,
    Columns,
    DataArgument,
    Exclude,
    Force,
    FormatOption,
    Header,
    Init,
    ModelArgument,
    OnBad,
    OnBadOption,
    checked_number,
    checked_strength,
    number_or_auto,
    strength_or_auto,
)

# What learns is imported by each command: it takes a second, in which --help and typing errors are answered.


@told()
def fit(
    data: DataArgument,
    out: Annotated[
        Path,
        typer.Option("--out", "-o", metavar="MODEL", help="The model file to write.", show_default=False),
    ],
    force: Force = False,
    neurons: Annotated[
        int,
        typer.Option(min=1, metavar="COUNT", help="The most clusters there may be.", rich_help_panel="Model"),
    ] = 16,
    width: Annotated[
        str,
        typer.Option(
            metavar="NUMBER|auto",
            callback=checked_number,
            help="Squared distance at which two rows count as alike. Larger gives fewer clusters.",
            rich_help_panel="Model",
        ),
    ] = "auto",
    inhibition: Annotated[
        str,
        typer.Option(
            metavar="NUMBER|auto",
            callback=checked_strength,
            help="How strongly neurons push each other off. Larger gives fewer clusters.",
            rich_help_panel="Model",
        ),
    ] = "auto",
    learning_rate: Annotated[
        str,
        typer.Option(
            metavar="NUMBER|auto",
            callback=checked_number,
            help="Size of a step: this over the width, times a distance.",
            rich_help_panel="Model",
        ),
    ] = "auto",
    repulsion_every: Annotated[
        int,
        typer.Option(min=1, metavar="COUNT", help=REPULSION_EVERY, rich_help_panel="Model"),
    ] = 1,
    init: Annotated[
        Init,
        typer.Option(
            help="Start anywhere in the data's box, on rows drawn from it, or spread over them.",
            rich_help_panel="Model",
        ),
    ] = Init.auto,
    seed: Annotated[
        int,
        typer.Option(
            min=0, metavar="NUMBER", help="The same seed gives the same model.", rich_help_panel="Model"
        ),
    ] = 0,
    samples: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="COUNT",
            help="How many rows to draw (if not told: as many as there are, at least 20,000, and 100,000 "
            "with --width), or with --one-pass, to read.",
            rich_help_panel="Run",
            show_default=False,
        ),
    ] = None,
    one_pass: Annotated[
        bool,
        typer.Option(
            "--one-pass",
            help="Learn once from each row in the file's order, in constant memory. Always so for -.",
            rich_help_panel="Run",
        ),
    ] = False,
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Keep a pass here, so that the same command carries on if it is killed.",
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
    """Cluster the rows of DATA and write what was learned to a model file.

    The number of clusters is found. Rows are drawn at random, many times each
    where there are few. Distances decide, so the columns should be of about
    the same scale: where they are not, scale them first.

    \bExamples
      gaussian-neurons fit flowers.csv --exclude species -o model.safetensors
      gaussian-neurons fit flowers.csv --columns 2,3 --neurons 30 --width 0.5 \\
          -o model.safetensors
      gaussian-neurons fit huge.parquet --one-pass --checkpoint run.safetensors \\
          -o model.safetensors
      zcat log.jsonl.gz | gaussian-neurons fit - -o model.safetensors
    """
    from gaussian_neurons import GaussianNeurons
    from gaussian_neurons.cli import output, steps
    from gaussian_neurons.cli.reading import Data

    source = Data(data, format, header, columns, exclude, on_bad is OnBad.skip)
    one_pass = one_pass or source.is_pipe
    if checkpoint is not None and not one_pass:
        raise ValueError("--checkpoint keeps a pass through the file: add --one-pass, or leave it out.")
    output.require_free(out, force, None if source.is_pipe else data, checkpoint)
    if not source.is_pipe and steps.is_model(data):
        raise ValueError(
            f"{data!r} is a model already, not data. To look at it: gaussian-neurons info {data}"
        )
    opened = source.open()
    model = GaussianNeurons(
        neurons,
        width=number_or_auto(width),
        inhibition=strength_or_auto(inhibition),
        learning_rate=number_or_auto(learning_rate),
        repulsion_every=repulsion_every,
        init=init.value,
        max_samples=samples or "auto",
        random_state=seed,
    )
    began = time.monotonic()
    if one_pass:
        rows = steps.learn_once(model, opened, source, samples, checkpoint)
    else:
        rows = steps.learn_at_random(model, opened, source)
    model.save(out)
    steps.summarize(model, opened, source, out, rows, one_pass, time.monotonic() - began)


@told("What was printed is complete up to there; a file at --out is not written.")
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
    scores: Annotated[
        bool,
        typer.Option("--scores", help="Also print the largest log-response: the lower, the newer the row."),
    ] = False,
    columns: Columns = None,
    exclude: Exclude = None,
    format: FormatOption = None,
    header: Header = None,
    on_bad: OnBadOption = OnBad.raise_,
) -> None:
    """Print the cluster of each row of DATA: CSV, a line for each row.

    The first line is a header. Clusters count from 0, and -1 is a row to which
    no cluster responds; a row that was skipped has an empty cell. Columns are
    found by name where model and DATA have names, in any order and among
    others, else by their places. Lines come as soon as rows do, in constant
    memory.

    \bExamples
      gaussian-neurons predict model.safetensors flowers.csv -o clusters.csv
      paste -d, flowers.csv clusters.csv > both.csv
      gaussian-neurons predict model.safetensors more.csv --scores | head
      tail -n +1 -f readings.csv | gaussian-neurons predict model.safetensors -
    """
    from gaussian_neurons.cli import output, steps
    from gaussian_neurons.cli.reading import Data

    source = Data(data, format, header, columns, exclude, on_bad is OnBad.skip)
    if out is not None:
        output.require_free(out, force, model, None if source.is_pipe else data)
    learned = steps.load(model, data)
    known = list(learned.__dict__.pop("feature_names_in_", []))  # columns are matched here, once for all rows
    opened = source.open(lambda names: steps.matched(source, names, known, learned.n_features_in_))
    count = steps.Count()
    lines = steps.lines(learned, opened, source, scores, count)
    unseen = out is not None or not sys.stdout.isatty()
    with output.watched("reading", lambda: count.rows, opened.stream.length, show=unseen):
        if out is None:
            for text in lines:
                sys.stdout.write(text)
                sys.stdout.flush()
        else:
            with output.replaced_whole(out) as file:
                file.writelines(lines)
    if count.skipped:
        warn(f"{count.skipped:,} of {count.rows:,} rows could not be read; their cells are empty.")
    if out is not None:
        typer.echo(f"{count.rows:,} rows, of which {count.none:,} are in no cluster: {out}")


@told("")
def info(
    model: ModelArgument,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, with all centers.")] = False,
) -> None:
    """Show what a model file holds: parameters, clusters, each neuron.

    \bExamples
      gaussian-neurons info model.safetensors
      gaussian-neurons info model.safetensors --json | jq .clusters
    """
    from gaussian_neurons.cli import steps, tables
    from gaussian_neurons.model import model_file

    learned = steps.load(model)
    found = tables.facts(learned, model_file.load(Path(model).expanduser()), model)
    if as_json:
        typer.echo(tables.as_json(found))
        return
    parts = (tables.overview(found), tables.neurons(found), tables.centers(found))
    tables.print_lines(*(part for part in parts if part is not None))
