"""Packages that are optional: which are missing, and the command that installs them."""

import importlib.util
import json
import shlex
import shutil
import sys
from importlib import metadata
from pathlib import Path
from urllib.parse import unquote, urlsplit

NAME = "gaussian-neurons"


def require(what: str, extra: str, *modules: str) -> None:
    """Raise an error if a module is missing, with the command that installs it.

    Parameters
    ----------
    what : what needs the modules, with its verb, such as "video files need"
    extra : the extra that installs them
    modules : as they are imported

    Examples
    --------
    >>> require("arrays need", "all", "numpy")
    """
    missing = [name for name in modules if importlib.util.find_spec(name) is None]
    if missing:
        raise ModuleNotFoundError(f"{what} {' and '.join(missing)}: {install(extra)}")


def install(*extras: str) -> str:
    """The command that installs extras, for the way in which this library was installed.

    An installation from a clone is installed from its folder again, in the same way. For a wheel, the name
    suffices.
    """
    folder, editable = _clone()
    here = Path.cwd()
    place = NAME if folder is None else "." if folder == here else str(folder)
    option = "--editable " if editable else ""
    wanted = shlex.quote(f"{place}[{','.join(extras)}]")
    return f"{_pip(here)} install {option}{wanted}"


def _clone() -> tuple[Path | None, bool]:
    """The folder that the library was installed from, and whether its sources are used where they are."""
    try:
        text = metadata.distribution(NAME).read_text("direct_url.json")
    except metadata.PackageNotFoundError:  # imported from a folder
        return None, False
    origin = json.loads(text) if text else {}
    if "dir_info" not in origin:  # from an index, or from a file
        return None, False
    folder = Path(unquote(urlsplit(origin["url"]).path))
    if not (folder / "pyproject.toml").is_file():  # removed since
        return None, False
    return folder, bool(origin["dir_info"].get("editable", False))


def _pip(here: Path) -> str:
    """`pip` if the shell finds that of this environment, and otherwise the command that does."""
    found = shutil.which("pip")
    if not sys.executable or (found is not None and Path(found).parent == Path(sys.executable).parent):
        return "pip"
    python = Path(sys.executable)
    shown = python.relative_to(here) if python.is_relative_to(here) else python
    return f"{shlex.quote(str(shown))} -m pip"
