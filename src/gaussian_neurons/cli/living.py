"""The command live: show neurons in the browser while they learn."""

from typing import Annotated

import typer
from rich.console import Console

from gaussian_neurons.cli.errors import handle_errors, require
from gaussian_neurons.cli.options import Columns, Covariance, Exclude, FormatOption, Header

KNOWN = ("mnist", "mnist-sample", "cifar10", "photographs", "mixture", "one-sample")


@handle_errors("")
def live(
    data: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|FILE",
            help="mnist, mnist-sample, cifar10, photographs, mixture or one-sample; or a file with two "
            "columns; or an NPY file of images. [default: a mixture in the plane, and a guided tour]",
            show_default=False,
        ),
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(
            min=0, max=65535, metavar="NUMBER", help="Port to listen on. [default: the first free from 8765]"
        ),
    ] = None,
    host: Annotated[
        str,
        typer.Option(help="Address to listen on. Any other gives other machines access, with a token."),
    ] = "127.0.0.1",
    browser: Annotated[
        bool,
        typer.Option("--browser/--no-browser", help="Open the page, unless a token is required."),
    ] = True,
    seed: Annotated[
        int, typer.Option(min=0, max=2**32 - 1, metavar="NUMBER", help="Seed of samples and start centers.")
    ] = 0,
    covariance_type: Annotated[
        Covariance,
        typer.Option(
            help="What a neuron has: a width, or a diagonal or full covariance. The last two are learned "
            "from samples with covariances.",
        ),
    ] = Covariance.spherical,
    data_dir: Annotated[
        str | None, typer.Option(metavar="FOLDER", help="Folder to search first for MNIST and CIFAR-10.")
    ] = None,
    columns: Columns = None,
    exclude: Exclude = None,
    standardize: Annotated[
        bool,
        typer.Option(
            "--standardize",
            help="Subtract each column's mean and divide by its standard deviation.",
            rich_help_panel="Data",
        ),
    ] = False,
    format: FormatOption = None,
    header: Header = None,
) -> None:
    """Show neurons in the browser while they learn, and change the run.

    The page opens paused, with a guided tour. Remove a neuron, and another may take its place. Switch from
    1s to 2s, drag neurons in the plane, or start one of the paper's figures; every change can be undone.
    The page works offline. Other machines have no access without --host.

    \bExamples
      gaussian-neurons live
      gaussian-neurons live --data mixture
      gaussian-neurons live --data points.csv --columns x,y --standardize
      gaussian-neurons live --data points.csv --covariance-type full
      gaussian-neurons live --host 0.0.0.0
    """
    require("starlette", "uvicorn", "websockets", extra="live")
    from dataclasses import replace

    from gaussian_neurons.cli import reading, shown_files
    from gaussian_neurons.live import guard, server, sources

    console = Console(highlight=False, soft_wrap=True)
    given = None
    if data is not None and data not in KNOWN:
        kind = None if format is None else str(format)
        source = reading.Data(data, kind, header, columns, exclude, skip=True)
        given = shown_files.read(source, KNOWN, standardize)
    elif standardize:
        raise ValueError("--standardize requires a file with two columns. Name one with --data.")
    available = sources.Sources(data_dir, given)
    if data in sources.SUBSTITUTES:
        console.print(f"Reading {sources.LABELS[data]} ...")
        available.fetch(data)
    with console.status("Searching for data ..."):
        available.find_published()
        name = "file" if given is not None else data or "mixture"
        setup = replace(sources.default_setup(name, available.load(name, seed)), seed=seed)
        setup = setup.with_covariances(covariance_type.value)
    bound = server.listen(host, port)
    token = None if host in guard.LOOPBACK else guard.new_token()
    url = server.address(bound, host, token)
    application = server.Application(available, setup)
    console.print("The page is at", url, style="bold", markup=False)
    if token is not None:
        console.print("Anyone with this address can watch and change the run. It is printed only once.")
    console.print("The neurons learn while a tab is open. Press Ctrl-C to stop.")
    if browser and token is None:  # command lines, which contain the URL, are visible to all local users
        _open(url)
    server.serve(application, bound, host, token)


def _open(url: str) -> None:
    """Open the browser in a thread, because that may take long."""
    import threading
    import webbrowser

    threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()
