"""The command live: watch neurons learn, in a browser."""

import difflib
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from gaussian_neurons.cli.errors import handle_errors, require, warn
from gaussian_neurons.cli.options import Columns, Exclude, FormatOption, Header

if TYPE_CHECKING:
    from gaussian_neurons.cli.reading import Data

KNOWN = ("mnist", "mnist-sample", "cifar10", "photographs", "mixture", "one-sample")
SHAPES = "NPY files hold two columns, (n, 2), or images, (n, height, width) or (n, height, width, 3)."
COMMAS = re.compile(rb"\d,\d+[;\t]|[;\t][-+]?\d*,\d")  # 1,5;2,5
MOST_OF_A_NAME = 25  # letters, where more is said beside it
MANY = 1_000_000  # times as far: more are not told


@handle_errors("")
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
    """Watch neurons learn in the browser, and interfere.

    Remove a filter and see another neuron learn it again; switch from 1s to 2s; drag neurons through the
    plane; or start one of the paper's figures. Works offline; nobody else can see it, unless --host says so.

    \bExamples
      gaussian-neurons live
      gaussian-neurons live --data mixture
      gaussian-neurons live --data points.csv --columns x,y --standardize
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
        given = _file(reading.Data(data, kind, header, columns, exclude, skip=True), standardize)
    elif standardize:
        raise ValueError("--standardize is for a file with two columns: name it with --data.")
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


def _file(source: "Data", standardize: bool = False) -> Any:
    """What a file holds: points in the plane, or images."""
    from gaussian_neurons.cli import reading

    path = Path(source.path).expanduser()
    if source.is_pipe:
        raise ValueError("live reads a file over and over: name one instead of -.")
    close = difflib.get_close_matches(source.path.lower(), KNOWN, n=1)
    if close and not path.exists():
        raise ValueError(f"there is no file {source.path!r}, and no such data. Did you mean {close[0]}?")
    reading.require_file(source.path, "data")
    images = _images(path) if path.suffix == ".npy" else None
    if images is not None and standardize:
        raise ValueError(f"--standardize is for columns, and {source.path!r} holds images.")
    return _points(source, path, standardize) if images is None else images


def _images(path: Path) -> Any:
    """The images of an NPY file; None where it holds a table."""
    import numpy as np

    from gaussian_neurons.live import sources
    from gaussian_neurons.sampling.images import Patches

    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError):  # whose words are of pickles
        raise ValueError(f"{str(path)!r} is no NPY file of numbers.") from None
    if not isinstance(array, np.ndarray) or array.ndim == 2:
        return None
    if array.ndim not in (3, 4):
        raise ValueError(f"{str(path)!r} has the shape {array.shape}. {SHAPES}")
    Patches(array, size=1)  # which says what is wrong with images
    if array.shape[3:] not in ((), (1,), (3,)):
        raise ValueError(f"images have one channel or three to be shown, got {array.shape[3]}.")
    text = f"{path.name}: {len(array):,} images of {' × '.join(map(str, array.shape[1:]))}"
    read = f"images = np.load({str(path.absolute())!r})"
    return sources.Images(np.asarray(array), None, (), text, (read,))


def _points(source: "Data", path: Path, standardize: bool) -> Any:
    """The rows of a file with two columns."""
    from gaussian_neurons.cli import reading
    from gaussian_neurons.live import sources

    names: list[str] = []  # of all columns
    numbers: list[int] = []  # of those that are meant

    def chosen(known: list[str]) -> list[int]:
        names[:], numbers[:] = known, source.selected(known)
        return numbers

    try:
        opened = source.open(chosen)
    except ValueError:
        _require_no_commas(source.path, path)
        raise
    _require_two(source.path, opened.labels, names)
    rows, skipped, bad = reading.whole_table(opened.stream, skip=True, count=lambda rows: None)
    first = "; ".join(str(one).rstrip(".") for one in bad)
    if not len(rows):
        raise ValueError(
            f"{source.path!r} has no row that could be read, of {skipped:,}. The first: {first}."
        )
    code = _reading(source, path, numbers, len(rows))
    if skipped:
        left = (
            "1 row could not be read and is"
            if skipped == 1
            else f"{skipped:,} rows could not be read and are"
        )
        warn(f"{left} left out. The first: {first}.")
        code.append(f"# {left} left out: clean the file first")
    axes = opened.stream.feature_names
    if standardize:
        rows, axes, note, line = _standardized(rows, opened.labels, named=axes is not None)
        code.append(line)
    else:
        note = _uneven(rows, opened.labels)
    if note is not None:
        warn(note)
    return sources.from_rows(rows, path.name, tuple(code), note, axes, skipped)


def _reading(source: "Data", path: Path, columns: list[int], count: int) -> list[str]:
    """The Python that reads so many rows as `points`."""
    options: dict[str, Any] = {"columns": columns, "format": source.format, "header": source.header}
    given = "".join(f", {name}={value!r}" for name, value in options.items() if value is not None)
    read = f"rows_from_file({str(path.absolute())!r}{given}, dtype=np.float64).read({count})"
    return ["from gaussian_neurons.sampling import rows_from_file", f"points = {read}"]


def _require_no_commas(name: str, path: Path) -> None:
    """Say so where numbers have decimal commas, which is what went wrong then."""
    with path.open("rb") as file:
        commas = COMMAS.search(file.read(1000))
    if commas:
        raise ValueError(
            f"{name!r} has decimal commas, as in 1,5;2,5, where decimal points are expected. This writes "
            f"them: tr , . < {shlex.quote(name)} > points.csv"
        )


def _require_two(name: str, labels: list[str], names: list[str]) -> None:
    """Refuse any other number of columns."""
    from gaussian_neurons.cli import reading

    shapes = f" {SHAPES}" if name.endswith(".npy") else ""
    if len(names) == 1:
        raise ValueError(f"the page needs two columns, and {name!r} has one: {names[0]}.{shapes}")
    if len(labels) == 1:
        raise ValueError(
            f"the page needs two columns, and {labels[0]} is one. Choose two of {reading.several(names)}: "
            f"--columns {','.join(names[:2])}."
        )
    if len(labels) > 2:
        raise ValueError(
            f"{name!r} has the columns {reading.several(labels)}, and the page shows two. Choose them: "
            f"--columns {','.join(labels[:2])}.{shapes}"
        )


def _uneven(rows: Any, labels: list[str]) -> str | None:
    """What to say where one of two columns is hardly seen beside the other."""
    from gaussian_neurons.cli import reading

    if reading.uneven(rows, labels) is None or not _changes(rows).all():
        return None
    spreads = rows.std(axis=0)
    least, most = spreads.argsort()
    times = spreads[most] / spreads[least]
    told = "more than a million" if times > MANY else f"{times:,.0f}"
    return (
        f"Column {labels[most]!r} spreads {told} times as far as {labels[least]!r}, which is hardly seen "
        f"beside it. Start again with --standardize."
    )


def _changes(rows: Any) -> Any:
    """Which columns hold different numbers."""
    return (rows != rows[0]).any(axis=0)


def _standardized(rows: Any, labels: list[str], named: bool) -> tuple[Any, list[str], str | None, str]:
    """Columns with mean 0 and standard deviation 1; their names, what to say, and the Python that does it."""
    import numpy as np

    x = np.asarray(rows, np.float64)
    changes = _changes(x)
    with np.errstate(over="ignore", invalid="ignore"):
        means, spreads = np.where(changes, x.mean(axis=0), 0.0), np.where(changes, x.std(axis=0), 1.0)
    if not np.isfinite(means + spreads).all() or not spreads.all():
        raise ValueError("numbers are too large, or too close to each other, to be standardized.")
    names = [label if named else f"column {label}" for label in labels]
    axes = [
        f"{name[:MOST_OF_A_NAME]} (standardized)" if change else name
        for name, change in zip(names, changes, strict=True)
    ]
    flat = [repr(label) for label, change in zip(labels, changes, strict=True) if not change]
    note = f"Column {flat[0]} never changes, and is not standardized." if flat else None
    line = f"points = (points - {means.tolist()}) / {spreads.tolist()}"
    return (x - means) / spreads, axes, note, line
