"""The version and the date of a release are the same wherever they stand, and the changelog describes it."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

HEADING = re.compile(r"^## (\S+)(?: - (\S+))?$", re.MULTILINE)
PLACES = {
    "src/gaussian_neurons/__init__.py": r'^__version__ = "(.+)"$',
    "CITATION.cff": r"^version: (\S+)$",
    "docs/compatibility.md": r"^This page is about version (\S+)\.$",
}


def versions(root: Path) -> dict[str, str]:
    """The version in each place; "" where there is none."""
    found = {
        "pyproject.toml": str(tomllib.loads((root / "pyproject.toml").read_text())["project"]["version"])
    }
    for place, pattern in PLACES.items():
        match = re.search(pattern, (root / place).read_text(), re.MULTILINE)
        found[place] = "" if match is None else match[1]
    newest = HEADING.search((root / "CHANGELOG.md").read_text())
    found["CHANGELOG.md"] = "" if newest is None else newest[1]
    return found


def disagreements(found: Mapping[str, str]) -> Iterator[str]:
    """A line for each place whose version is not that of pyproject.toml."""
    version = found["pyproject.toml"]
    for place, other in found.items():
        if other != version:
            yield f"{place} has version {other or 'none'}, but pyproject.toml has {version}"


def problems(changelog: str, citation: str, version: str) -> Iterator[str]:
    """What the changelog lacks for this version, and whether its date is that of CITATION.cff."""
    sections = {match[1]: match for match in HEADING.finditer(changelog)}
    if version not in sections:
        yield f"CHANGELOG.md has no section '## {version} - YEAR-MONTH-DAY'"
        return
    heading = sections[version]
    body = changelog[heading.end() :].split("\n## ")[0]
    if not re.search(r"^- \S", body, re.MULTILINE):
        yield f"CHANGELOG.md lists no changes of {version}"
    date = heading[2] or ""
    if not re.fullmatch(r"\d{4}-\d\d-\d\d", date):
        yield f"CHANGELOG.md gives {version} no date of the form 2026-11-19"
    released = re.search(r"^date-released: (\S+)$", citation, re.MULTILINE)
    if released is None or released[1].strip("\"'") != date:
        yield f"CITATION.cff was released on {released[1] if released else 'no date'}, CHANGELOG.md on {date}"
