"""The command line: each command parses and delegates."""

import typer

from gaussian_neurons.cli.clustering import fit, info, predict
from gaussian_neurons.cli.demonstration import demo
from gaussian_neurons.cli.reproducing import reproduce

app = typer.Typer(
    name="gaussian-neurons",
    help="Online clustering that finds the number of clusters by itself.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_show_locals=False,
)

for command in (demo, reproduce, fit, predict, info):
    app.command()(command)
