"""Each check of versions and of the changelog passes for this project, and can fail."""

import re
from pathlib import Path

import pytest

from release import versions

ROOT = Path(__file__).parents[2]
CHANGES = (
    "# Changes\n\n## 1.2.0 - 2030-01-31\n\n### Speed\n\n- Faster.\n\n## 1.1.0 - 2029-01-01\n\n- Slower.\n"
)
CITATION = "version: 1.2.0\ndate-released: 2030-01-31\n"


def test_the_versions_of_this_project_agree():
    found = versions.versions(ROOT)
    assert len(found) == 5
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in found.values())
    assert list(versions.disagreements(found)) == []


@pytest.mark.parametrize("place", [*versions.PLACES, "CHANGELOG.md"])
def test_another_version_in_one_place_is_named(tmp_path, place):
    for name in ("pyproject.toml", "CHANGELOG.md", *versions.PLACES):
        text = (ROOT / name).read_text()
        if name == place:
            text = re.sub(r"\d+\.\d+\.\d+", "99.0.0", text)
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (line,) = versions.disagreements(versions.versions(tmp_path))
    assert line.startswith(f"{place} has version 99.0.0, but pyproject.toml has ")


def test_a_version_that_is_not_found_is_named():
    (line,) = versions.disagreements({"pyproject.toml": "1.2.0", "CITATION.cff": ""})
    assert line == "CITATION.cff has version none, but pyproject.toml has 1.2.0"


def test_the_changelog_of_this_project_is_complete():
    changelog, citation = ((ROOT / name).read_text() for name in ("CHANGELOG.md", "CITATION.cff"))
    assert list(versions.problems(changelog, citation, versions.versions(ROOT)["pyproject.toml"])) == []


@pytest.mark.parametrize(
    ("changelog", "citation", "says"),
    [
        (CHANGES, CITATION, []),
        (CHANGES.replace("1.2.0", "Unreleased"), CITATION, ["no section '## 1.2.0 - YEAR-MONTH-DAY'"]),
        (CHANGES.replace("- Faster.", ""), CITATION, ["lists no changes of 1.2.0"]),
        (CHANGES, CITATION.replace("01-31", "01-30"), ["released on 2030-01-30, CHANGELOG.md on 2030-01-31"]),
        (CHANGES, "version: 1.2.0\n", ["released on no date, CHANGELOG.md on 2030-01-31"]),
        (CHANGES.replace(" - 2030-01-31", ""), CITATION, ["gives 1.2.0 no date", "CHANGELOG.md on "]),
        (CHANGES.replace("2030-01-31", "soon"), CITATION, ["gives 1.2.0 no date", "CHANGELOG.md on soon"]),
    ],
)
def test_what_the_changelog_lacks_is_named(changelog, citation, says):
    lines = list(versions.problems(changelog, citation, "1.2.0"))
    assert len(lines) == len(says)
    assert all(part in line for part, line in zip(says, lines, strict=True))
