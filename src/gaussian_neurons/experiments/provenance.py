"""What a result comes from: the code, the backend, the machine, the commit."""

import hashlib
import os
import platform
import subprocess
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from gaussian_neurons import GaussianNeurons, _core
from gaussian_neurons.experiments import backend_names, data, lab
from gaussian_neurons.experiments.dependencies import Dependencies, Reference, package_sources
from gaussian_neurons.learning import native


def origin(experiment: str, backend: str = backend_names.AUTO) -> dict[str, Any]:
    """The code of an experiment, and the backend if it uses one. The first call takes seconds."""
    code = {
        "version": version("gaussian-neurons"),
        "commit": commit(),
        "fingerprint": fingerprint(experiment, backend),
    }
    return {"backend": backend if uses_backend(experiment) else None, "code": code}


@lru_cache(maxsize=64)
def fingerprint(experiment: str, backend: str = backend_names.AUTO) -> str:
    """A hash of all code that a result depends on.

    It covers what `run` and `Config` of the experiment need, the compiled core and its instruction set, and
    the source file of a custom backend. It does not cover drawing, claims and comparisons, which are made
    again from stored results.
    """
    digest = hashlib.sha256(_compiled_core())
    for reference, source in sorted(needed(experiment).items()):
        digest.update(f"\n{reference.module}.{reference.name}\n{source}".encode())
    if uses_backend(experiment):
        digest.update(f"\n{backend}\n".encode() + backend_names.source(backend))
    return digest.hexdigest()


def needed(experiment: str, dependencies: Dependencies | None = None) -> dict[Reference, str]:
    """The source of each definition of this package that an experiment needs to run."""
    name, folder = experiment.replace("-", "_"), Path(__file__).parent
    group = "" if (folder / f"{name}.py").is_file() else "beyond."
    module = f"{__package__}.{group}{name}"
    roots = [Reference(module, "run"), Reference(module, "Config")]
    roots += [Reference(lab.__name__, "Lab"), Reference(data.__name__, "load")]  # what `run` is called with
    return (dependencies or _dependencies()).of(roots)


@lru_cache(maxsize=64)
def uses_backend(experiment: str) -> bool:
    """Whether neurons learn in an experiment. Closed forms and k-means do not depend on the backend."""
    return Reference(GaussianNeurons.__module__, GaussianNeurons.__name__) in needed(experiment)


@lru_cache(maxsize=1)
def _dependencies() -> Dependencies:
    return Dependencies(package_sources())


@lru_cache(maxsize=1)
def _compiled_core() -> bytes:
    return Path(_core.__file__).read_bytes() + native.instruction_set().encode()


@lru_cache(maxsize=1)
def commit() -> str | None:
    """The commit of the checkout that this code is in, marked if files changed; None outside a checkout."""
    folder = Path(__file__).parents[1]

    def git(*words: str) -> str:
        command = ["git", "-C", str(folder), *words]
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=10).stdout.strip()

    try:
        if not git("ls-files", __file__):  # installed inside the repository of another project
            return None
        changed = git("status", "--porcelain", "--untracked-files=no", "--", str(folder))
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
