"""The command live: show neurons in the browser while they learn."""

import difflib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from gaussian_neurons.cli.errors import handle_errors, require, warn
from gaussian_neurons.cli.options import Columns, Covariance, Exclude, FormatOption, Header

if TYPE_CHECKING:
    from gaussian_neurons.cli.reading import Data
    from gaussian_neurons.live.sources import Points, Source

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

    from gaussian_neurons.cli import reading
    from gaussian_neurons.live import guard, server, sources

    console = Console(highlight=False, soft_wrap=True)
    given = None
    if data is not None and data not in KNOWN:
        kind = None if format is None else str(format)
        given = _read(reading.Data(data, kind, header, columns, exclude, skip=True), standardize)
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

    def ready() -> None:
        console.print("The page is at", url, style="bold", markup=False)
        if token is not None:
            console.print("Anyone with this address can watch and change the run. It is printed only once.")
        console.print("The neurons learn while a tab is open. Press Ctrl-C to stop.")
        if browser and token is None:  # command lines, which contain the URL, are visible to all local users
            _open(url)

    server.serve(server.Application(available, setup), bound, host, token, ready)


def _open(url: str) -> None:
    """Open the browser in a thread, because that may take long."""
    import threading
    import webbrowser

    threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()


def _read(source: "Data", standardize: bool = False) -> "Source":
    """The contents of a file: points in the plane, or images."""
    from gaussian_neurons.cli import reading
    from gaussian_neurons.live import files

    path = Path(source.path).expanduser()
    if source.is_pipe:
        raise ValueError("live reads its data repeatedly and cannot use standard input. Name a file.")
    close = difflib.get_close_matches(source.path.lower(), KNOWN, n=1)
    if close and not path.exists():
        raise ValueError(f"there is no file or data set {source.path!r}. Did you mean {close[0]}?")
    reading.require_file(source.path, "data")
    images = files.read_images(path) if path.suffix == ".npy" else None
    if images is None:
        return _read_points(source, path, standardize)
    if standardize:
        raise ValueError(f"--standardize requires columns, but {source.path!r} holds images.")
    return images


def _read_points(source: "Data", path: Path, standardize: bool) -> "Points":
    """The rows of a file with two columns. Unreadable rows are skipped with a warning."""
    from gaussian_neurons.cli import reading
    from gaussian_neurons.live import files

    names: list[str] = []  # of all columns
    numbers: list[int] = []  # of the chosen columns

    def choose(known: list[str]) -> list[int]:
        names[:], numbers[:] = known, source.selected(known)
        return numbers

    opened = source.open(choose)
    _require_two(source.path, opened.labels, names)
    rows, skipped, bad = reading.whole_table(opened, skip=True, count=lambda rows: None)
    first = "; ".join(str(one).rstrip(".") for one in bad)
    if not len(rows):
        raise ValueError(f"{source.path!r} has no readable row of {skipped:,}. The first: {first}.")
    if skipped:
        warn(f"{skipped:,} unreadable row{'s' * (skipped != 1)} skipped. The first: {first}.")
    options = {"columns": numbers, "format": source.format, "header": source.header}
    table = files.Table(path, rows, opened.labels, opened.stream.feature_names, options, skipped)
    points = files.points_from_table(table, standardize)
    if points.note is not None:
        warn(points.note)
    return points


def _require_two(name: str, labels: list[str], names: list[str]) -> None:
    """Raise a ValueError unless two columns are chosen."""
    from gaussian_neurons.cli import reading
    from gaussian_neurons.live import files

    shapes = f" {files.NPY_SHAPES}" if name.endswith(".npy") else ""
    if len(names) == 1:
        raise ValueError(f"live needs two columns, but {name!r} has one: {names[0]}.{shapes}")
    if len(labels) != 2:
        chosen = ",".join(names[:2] if len(labels) == 1 else labels[:2])
        raise ValueError(
            f"live needs two columns, got {reading.several(labels)} of {name!r}. Choose two of "
            f"{reading.several(names)}: --columns {chosen}.{shapes}"
        )
