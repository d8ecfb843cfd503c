"""What a result came from: the code, the machine, the commit."""

import ast
import hashlib
import os
import platform
import re
import subprocess
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from gaussian_neurons import _core
from gaussian_neurons.learning import native

PACKAGE = Path(__file__).parents[1]
# What only shows results, or asks for them, does not change them.
ASIDE = {
    *("cli", "report", "__main__.py", "plotting.py", "progress.py", "config.py"),
    *(
        "experiment.py",
        "claims.py",
        "data.py",
        "pictures.py",
        "catalogue.py",
        "demo.py",
        "reproduction.py",
        "provenance.py",
    ),
}
FIGURES = re.compile(r"(figure\w+|table\w+|width_equation)\.py")


def code(experiment: str) -> dict[str, Any]:
    """The version of this library, the commit of its checkout, and a hash that changes where results may."""
    return {
        "version": version("gaussian-neurons"),
        "commit": commit(),
        "fingerprint": fingerprint(experiment),
    }


@lru_cache(maxsize=64)
def fingerprint(experiment: str) -> str:
    """A hash of all code that a result depends on: not of other figures, drawing or documentation."""
    digest = hashlib.sha256(_of_the_library().encode())
    for name in sorted(_figures_of(experiment.replace("-", "_"))):
        digest.update(_source(PACKAGE / "experiments" / f"{name}.py").encode())
    return digest.hexdigest()


@lru_cache(maxsize=1)
def _of_the_library() -> str:
    digest = hashlib.sha256(Path(_core.__file__).read_bytes())
    digest.update(native.instruction_set().encode())
    for path in sorted(PACKAGE.rglob("*.py")):
        if not ASIDE & set(path.relative_to(PACKAGE).parts) and not FIGURES.fullmatch(path.name):
            digest.update(_source(path).encode())
    return digest.hexdigest()


def _figures_of(name: str) -> set[str]:
    """A figure's module, and those of other figures that it builds on."""
    tree = ast.parse((PACKAGE / "experiments" / f"{name}.py").read_text(encoding="utf-8"))
    imports = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    named = [alias.name for node in imports if node.module == f"{__package__}" for alias in node.names]
    found = {name}
    for other in named:
        if FIGURES.fullmatch(f"{other}.py"):
            found |= _figures_of(other)
    return found


def _source(path: Path) -> str:
    parts, text = path.relative_to(PACKAGE).parts, path.read_text(encoding="utf-8")
    return f"\n{'/'.join(parts)}\n{what_counts(text, of_a_figure=FIGURES.fullmatch(parts[-1]) is not None)}"


def what_counts(source: str, of_a_figure: bool = False) -> str:
    """Python code as its syntax tree, less docstrings; of a figure also less `draw` and `EXPERIMENT`.

    Examples
    --------
    >>> what_counts("x = 1  # one") == what_counts("x = 1")
    True
    """
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            documented = ast.get_docstring(node, clean=False) is not None
            node.body = node.body[documented:]
    if of_a_figure:
        tree.body = [part for part in tree.body if not _shows(part)]
    return ast.dump(tree)


def _shows(node: ast.stmt) -> bool:
    """What draws a result, or says what the paper says about it."""
    if isinstance(node, ast.Assign):
        return [getattr(target, "id", None) for target in node.targets] == ["EXPERIMENT"]
    return isinstance(node, ast.FunctionDef) and node.name == "draw"


@lru_cache(maxsize=1)
def commit() -> str | None:
    """The commit of the checkout that this code lies in, with a word where it was changed; None elsewhere."""

    def git(*words: str) -> str:
        command = ["git", "-C", str(PACKAGE), *words]
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=10).stdout.strip()

    try:
        if not git("ls-files", __file__):  # somebody else's repository, into which it was installed
            return None
        changed = git("status", "--porcelain", "--untracked-files=no", "--", str(PACKAGE))
        return git("rev-parse", "HEAD") + (" with changes" if changed else "")
    except (OSError, subprocess.SubprocessError):
        return None


@lru_cache(maxsize=1)
def machine() -> dict[str, Any]:
    """The processor, its cores and the instruction set in use."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "instruction_set": native.instruction_set(),
        "system": f"{platform.system()}, Python {platform.python_version()}, built by {_core.compiler}",
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()
