"""The command live: watch neurons learn, in a browser."""

import difflib
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from gaussian_neurons.cli.options import Columns, Exclude, FormatOption, Header
from gaussian_neurons.cli.trouble import require, told, warn

KNOWN = ("mnist", "mnist-sample", "cifar10", "photographs", "mixture", "one-sample")


@told("")
def live(
    data: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|FILE",
            help="mnist, mnist-sample, cifar10, photographs, mixture or one-sample; or a file with two "
            "columns, or images as NPY. [default: Figure 2a, on MNIST where it is here, or else on 5,000 of "
            "its digits]",
            show_default=False,
        ),
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(min=0, max=65535, metavar="NUMBER", help="Where to listen. [default: 8765 or the next]"),
    ] = None,
    host: Annotated[
        str,
        typer.Option(help="Other machines may watch at another address; a token is then asked for."),
    ] = "127.0.0.1",
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page; not where a token is asked for.")
    ] = True,
    seed: Annotated[
        int, typer.Option(min=0, max=2**32 - 1, metavar="NUMBER", help="Of the samples and the start.")
    ] = 0,
    data_dir: Annotated[
        str | None, typer.Option(metavar="FOLDER", help="Where MNIST and CIFAR-10 are looked for first.")
    ] = None,
    columns: Columns = None,
    exclude: Exclude = None,
    format: FormatOption = None,
    header: Header = None,
) -> None:
    """Watch neurons learn in the browser, and interfere.

    Remove a filter and see another neuron learn it again; switch from 1s to 2s; drag neurons through the
    plane; or start one of the paper's figures. Works offline; nobody else can see it, unless --host says so.

    \bExamples
      gaussian-neurons live
      gaussian-neurons live --data mixture
      gaussian-neurons live --data points.csv --columns x,y
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
        given = _file(reading.Data(data, kind, header, columns, exclude, skip=True))
    source = sources.Sources(data_dir, given)
    if data in sources.STAND_INS:
        console.print(f"Reading {sources.NAMES[data]} ...")
        source.fetch(data)
    with console.status("Looking for data ..."):
        source.look()
        name = "file" if given is not None else data or source.here("mnist")[0]
        setup = replace(sources.defaults(name, source.load(name, seed)), seed=seed)
    bound = server.listen(host, port)
    token = None if host in guard.LOOPBACK else guard.new_token()
    where = server.address(bound, host, token)
    page = server.Page(source, setup)

    def ready() -> None:
        console.print("Watch it learn at", where, style="bold", markup=False)
        if token is not None:
            console.print("Whoever has this address can watch and interfere: it is printed once.")
        console.print("Learning goes on while a tab is open. Ctrl-C ends it.")
        if browser and token is None:  # others on this machine can read what a browser is told to open
            _open(where)

    server.serve(page, bound, host, token, ready)


def _open(where: str) -> None:
    """Open the browser, which may take a while."""
    import threading
    import webbrowser

    threading.Thread(target=webbrowser.open, args=(where,), daemon=True).start()


def _file(source: Any) -> Any:
    """What a file holds: points in the plane, or images."""
    import numpy as np

    from gaussian_neurons.cli import reading
    from gaussian_neurons.live import sources
    from gaussian_neurons.sampling.images import Patches

    path = Path(source.path).expanduser()
    if source.is_pipe:
        raise ValueError("live reads a file over and over: name one instead of -.")
    close = difflib.get_close_matches(source.path.lower(), KNOWN, n=1)
    if close and not path.exists():
        raise ValueError(f"there is no file {source.path!r}, and no such data. Did you mean {close[0]}?")
    reading.existing(source.path, "data")
    if path.suffix == ".npy":
        try:
            array = np.load(path, mmap_mode="r", allow_pickle=False)
        except (ValueError, EOFError):  # whose words are of pickles
            raise ValueError(f"{source.path!r} is no NPY file of numbers.") from None
        if array.ndim in (3, 4):
            Patches(array, size=1)  # which says what is wrong with images
            if array.shape[3:] not in ((), (1,), (3,)):
                raise ValueError(f"images have one channel or three to be shown, got {array.shape[3]}.")
            text = f"{path.name}: {len(array):,} images of {' x '.join(map(str, array.shape[1:]))}"
            read = f"images = np.load({str(path.absolute())!r})"
            return sources.Images(np.asarray(array), None, (), text, (read,))
    numbers: list[int] = []

    def chosen(names: list[str]) -> list[int]:
        numbers[:] = source.selected(names)
        return numbers

    opened = source.open(chosen)
    rows, skipped, _ = reading.whole_table(opened.stream, skip=True, count=lambda rows: None)
    if not len(rows):
        raise ValueError(f"{source.path!r} has no row that could be read: all {skipped:,} were left out.")
    if rows.shape[1] != 2:
        raise ValueError(
            f"{source.path!r} has the columns {reading.several(opened.labels)}, and the page shows two. "
            f"Choose them: --columns {','.join(opened.labels[:2])}."
        )
    options: dict[str, Any] = {"columns": numbers, "format": source.format, "header": source.header}
    given = "".join(f", {name}={value!r}" for name, value in options.items() if value is not None)
    read = f"rows_from_file({str(path.absolute())!r}{given}, dtype=np.float64).read({len(rows)})"
    code = ["from gaussian_neurons.sampling import rows_from_file", f"points = {read}"]
    if skipped:
        warn(f"{skipped:,} rows could not be read and are left out.")
        code.append(f"# {skipped:,} rows that could not be read were left out: clean the file first")
    uneven = reading.uneven(rows, opened.labels)
    if uneven is not None:
        warn(uneven)
    return sources.from_rows(rows, path.name, tuple(code), uneven, opened.stream.feature_names)
