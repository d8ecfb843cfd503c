"""The README: its example runs and prints what it says, and its tree is the tree on disk."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()


def test_the_example_prints_what_its_comments_say():
    code = re.search(r"```python\n(.*?)```", README, re.DOTALL)[1]
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    assert lines[0] == "5"
    assert len([line for line in lines if line.count(".") == 2]) == 5  # five centers
    assert re.fullmatch(r"\[ ?[0-4] -1\]", lines[-1])


def test_the_tree_is_the_tree_on_disk():
    tree = README[README.index("    src/gaussian_neurons/") : README.index("Next:")]
    named, folder = set(), ""
    for line in tree.splitlines():
        if match := re.match(r"    (\S+)", line):
            folder = match[1] if match[1].endswith("/") else ""
            named.add(match[1].rstrip("/"))
        elif match := re.match(r"      (\S+)", line):
            named.add(folder + match[1].rstrip("/"))
    for name in named:
        assert (ROOT / name).exists(), name
    for path in [*(ROOT / "src/gaussian_neurons").iterdir(), *(ROOT / "native").iterdir()]:
        if path.name not in ("__init__.py", "py.typed", "__pycache__"):
            assert str(path.relative_to(ROOT)) in named, path


@pytest.mark.parametrize("target", ["demo", "test", "bench", "lint"])
def test_commands_that_are_named_exist(target):
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.MULTILINE)


def test_links_lead_somewhere():
    for document in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")]:
        for target in re.findall(r"\]\(([^)#]+)\)", document.read_text()):
            if "://" not in target:
                assert (document.parent / target).exists(), f"{document.name}: {target}"
