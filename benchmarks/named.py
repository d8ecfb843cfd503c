"""Things that are chosen by their names on a command line."""

from collections.abc import Mapping
from typing import TypeVar

Thing = TypeVar("Thing")


def chosen(known: Mapping[str, Thing], names: str | None, what: str) -> dict[str, Thing]:
    """Those of a list of names with commas between; all where nothing is said."""
    if names is None:
        return dict(known)
    unknown = [name for name in names.split(",") if name not in known]
    if unknown:
        raise SystemExit(f"no such {what}: {', '.join(unknown)}. There are: {', '.join(known)}.")
    return {name: known[name] for name in names.split(",")}
