"""The command line: each command parses its options and delegates."""

from importlib.metadata import version
from typing import Annotated

import typer

from gaussian_neurons.cli.clustering import fit, info, predict
from gaussian_neurons.cli.demonstration import demo
from gaussian_neurons.cli.following import follow
from gaussian_neurons.cli.living import live
from gaussian_neurons.cli.reproducing import reproduce
from gaussian_neurons.cli.sweeping import sweep

app = typer.Typer(
    name="gaussian-neurons",
    no_args_is_help=True,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_show_locals=False,
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"gaussian-neurons {version('gaussian-neurons')}")
        raise typer.Exit


@app.callback()
def main(
    show_version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Online clustering with Gaussian neurons, which finds the number of clusters.

    Each command has a --help with examples.
    """


for command in (demo, live, reproduce, fit, follow, predict, info, sweep):
    app.command()(command)
