"""Select things by name on a command line."""

from collections.abc import Mapping
from typing import TypeVar

Thing = TypeVar("Thing")


def chosen(known: Mapping[str, Thing], names: str | None, what: str) -> dict[str, Thing]:
    """The things of a comma-separated list of names; all if it is None."""
    if names is None:
        return dict(known)
    unknown = [name for name in names.split(",") if name not in known]
    if unknown:
        raise SystemExit(f"unknown {what}: {', '.join(unknown)}. Known: {', '.join(known)}.")
    return {name: known[name] for name in names.split(",")}
