"""The public names of the library, their parameters, and the options of its commands.

    python -m release.api    # add what is new to api.json, as a promise of the next version

A later version may add to what `api.json` says. What is there stays (docs/compatibility.md).
"""

import importlib
import inspect
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import gaussian_neurons

PROMISED = Path(__file__).with_name("api.json")
# Of the folders, these modules are public: what `__all__` names, or these functions.
FOLDERS: dict[str, tuple[str, ...]] = {
    "datasets": (),
    "datasets.synthetic": (),
    "learning.native": ("learn",),
    "learning.reference": ("learn",),
    "learning.rule": ("Rule",),
    "sampling": (),
}

# The names of what can be given by position, in order; of what is given by name; and of what must be given.
Parameters = dict[str, list[str]]
Api = dict[str, Parameters]


def modules() -> list[str]:
    """The public modules: those at the top, and some of the folders."""
    files = [file for folder in gaussian_neurons.__path__ for file in Path(folder).glob("*.py")]
    top = {file.stem for file in files if not file.stem.startswith("_")}
    return ["gaussian_neurons", *(f"gaussian_neurons.{name}" for name in sorted(top | set(FOLDERS)))]


def api() -> Api:
    """What is public now. Modules whose packages are not installed are left out."""
    found: Api = {}
    seen: list[Any] = []
    for name in modules():
        module = imported(name)
        if module is None:
            continue
        for public in FOLDERS.get(name.partition(".")[2]) or names(module):
            value = getattr(module, public)
            if not any(value is one for one in seen):  # also public elsewhere
                seen.append(value)
                found |= described(f"{name}.{public}", value)
    return found | commands()


def imported(name: str) -> ModuleType | None:
    """The module, or None if a package that it needs is not installed."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if str(error.name or "").startswith("gaussian_neurons"):
            raise
        return None


def names(module: ModuleType) -> list[str]:
    """The public names of a module: `__all__`, or the functions and classes that it defines."""
    own = [
        name
        for name, value in vars(module).items()
        if not name.startswith("_")
        and (inspect.isfunction(value) or inspect.isclass(value))
        and value.__module__ == module.__name__
    ]
    return list(getattr(module, "__all__", own))


def described(name: str, value: Any) -> Api:
    """A function or class, and the public methods and properties that a class adds to its base."""
    found = {name: parameters(value)}
    for member, of in vars(value).items() if inspect.isclass(value) else ():
        if not member.startswith("_") and not member.endswith("_request"):  # those are scikit-learn's
            plain = of.__func__ if isinstance(of, classmethod | staticmethod) else of
            found[f"{name}.{member}"] = parameters(plain, skip=not isinstance(of, staticmethod))
    return found


def parameters(value: Any, skip: bool = False) -> Parameters:
    """The parameters of a function or class; none for others. `skip` leaves out `self`."""
    try:
        given = list(inspect.signature(value).parameters.values()) if callable(value) else []
    except ValueError:  # such as an exception without a constructor of its own
        given = []
    given = given[1:] if skip else given
    positional = [it.name for it in given if it.kind in (it.POSITIONAL_ONLY, it.POSITIONAL_OR_KEYWORD)]
    keyword = [it.name for it in given if it.kind is it.KEYWORD_ONLY]
    needed = [
        it.name
        for it in given
        if it.default is it.empty and it.kind not in (it.VAR_POSITIONAL, it.VAR_KEYWORD)
    ]
    return {"positional": positional, "keyword": keyword, "needed": needed}


def commands() -> Api:
    """The commands and their options, with nothing but names."""
    try:
        import typer.main

        from gaussian_neurons.cli import app
    except ModuleNotFoundError:
        return {}
    found: Api = {}
    for name, command in typer.main.get_command(app).commands.items():  # type: ignore[attr-defined]
        options = sorted({option for it in command.params for option in [*it.opts, *it.secondary_opts]})
        found[f"$ gaussian-neurons {name}"] = {"positional": [], "keyword": options, "needed": []}
    return found


def broken(promised: Mapping[str, Parameters], now: Mapping[str, Parameters]) -> Iterator[str]:
    """A line for each promise that does not hold: a program that worked would fail."""
    for name, before in promised.items():
        if name not in now:
            yield f"{name} is missing"
            continue
        after = now[name]
        count = len(before["positional"])
        if after["positional"][:count] != before["positional"]:
            yield f"{name} takes {after['positional']} by position, but {before['positional']} was promised"
        for parameter in sorted(set(before["keyword"]) - {*after["keyword"], *after["positional"]}):
            yield f"{name} has no {parameter}"
        for parameter in sorted(set(after["needed"]) - set(before["needed"])):
            yield f"{name} cannot be called without {parameter}"


def promised() -> Api:
    """What `api.json` says of modules that can be imported here."""
    absent = tuple(f"{name}." for name in modules() if imported(name) is None)
    return {name: what for name, what in stored().items() if not name.startswith(absent)}


def stored() -> Api:
    """What `api.json` says."""
    loaded: Api = json.loads(PROMISED.read_text())
    return loaded


if __name__ == "__main__":
    now = api()
    known, here = stored(), promised()
    absent = {name: what for name, what in known.items() if name not in here}
    lines = (f"{json.dumps(name)}: {json.dumps(entry)}" for name, entry in sorted((absent | now).items()))
    PROMISED.write_text("{\n" + ",\n".join(lines) + "\n}\n")
