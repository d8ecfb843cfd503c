"""Fingerprints: what changes the result of an experiment, and what does not."""

import subprocess
from pathlib import Path

import pytest

from gaussian_neurons import GaussianNeurons, cli, plotting, river
from gaussian_neurons.clustering import diagnosis
from gaussian_neurons.datasets import mnist
from gaussian_neurons.experiments import backend_names, claims, figure2a, figure2b, lab, pictures, provenance
from gaussian_neurons.experiments.catalogue import EXPERIMENTS, select
from gaussian_neurons.experiments.dependencies import Dependencies, Reference, package_sources
from gaussian_neurons.experiments.report import page
from gaussian_neurons.learning import native, reference
from gaussian_neurons.live import pace
from gaussian_neurons.sampling import Patches
from gaussian_neurons.views import svg

SOURCES = package_sources()
DISPLAY = [it.__name__ for it in (svg, river, pace, plotting, pictures, page, claims, backend_names)]
DISPLAY += [name for name in SOURCES if name.startswith(cli.__name__)]
LEARNING = [it.__name__ for it in (reference, native, diagnosis, lab)]
LEARNING += [it.__module__ for it in (GaussianNeurons, Patches, mnist)]


def needed(module, source):
    """The definitions that a module's `f` needs, with a second module `other`."""
    found = Dependencies({"package": "", "package.module": module, "package.other": source})
    return found.of([Reference("package.module", "f")])


def changed_by(**sources):
    """The experiments whose code changes if modules have other sources."""
    after = Dependencies({**SOURCES, **sources})
    return {name for name in EXPERIMENTS if provenance.needed(name) != provenance.needed(name, after)}


def edited(module, old, new):
    assert old in SOURCES[module.__name__]
    return {module.__name__: SOURCES[module.__name__].replace(old, new)}


def test_code_that_displays_or_reports_changes_no_experiment():
    assert changed_by(**{name: SOURCES[name] + "\nprint()\n" for name in DISPLAY}) == set()


def test_code_that_learns_or_reads_data_changes_experiments():
    assert {"figure2a", "figure4"} <= changed_by(
        **{native.__name__: SOURCES[native.__name__] + "\nprint()\n"}
    )
    assert {reference.module for reference in provenance.needed("figure2a")} >= set(LEARNING)


def test_closed_forms_and_k_means_do_not_depend_on_learning():
    learning = {name for name in EXPERIMENTS if provenance.uses_backend(name)}
    assert {it.name for it in select(["all"])} - learning == {
        "figure1",
        "inhibition",
        "repulsion",
        "width-equation",
        "figure2h",
    }


def test_a_figure_changes_itself_and_the_figures_that_build_on_it():
    config = "class Config(layer.LayerConfig):"
    assert changed_by(**edited(figure2a, config, f"{config}\n    width: float = 2.0")) == {
        "figure2a",
        "table1",
    }
    assert changed_by(**edited(figure2b, "def run(", "def run(*_, ")) == {"figure2b"}
    assert changed_by(**edited(figure2b, "def draw(", "def draw(*_, ")) == set()


def test_fingerprints_differ_and_cover_the_backend(tmp_path, monkeypatch):
    assert len({provenance.fingerprint(name) for name in EXPERIMENTS}) == len(EXPERIMENTS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    found = []
    for name, source in (("backend_one", "1"), ("backend_two", "2")):
        Path(f"{name}.py").write_text(f"def learn(*_): return {source}")
        found.append(provenance.fingerprint("figure2a", f"{name}:learn"))
    assert len({*found, provenance.fingerprint("figure2a")}) == 3
    assert provenance.fingerprint("figure1", "native") == provenance.fingerprint("figure1")


@pytest.mark.parametrize(
    ("module", "names"),
    [
        ("from package.other import g\ndef f(): return g()", "gk"),
        ("from package import other\ndef f(): return other.g()", "gk"),
        ("import package.other as o\ndef f(): return o.h()", "h"),
        ("def f():\n    from package.other import h\n    return h()", "h"),
        ("from package import other\ndef f(): return vars(other)", "ghk"),  # not as module.name
        ("from package.other import g\ndef f(x: g) -> g:\n    y: g = x", ""),
        ("from package.other import g, h\nclass f(h):\n    x: g", "ghk"),  # a field of a dataclass
    ],
)
def test_imports_are_followed_to_the_names_that_are_used(module, names):
    found = needed(module, "k = 1\ndef g(): return k\ndef h(): pass")
    assert {name for name in found if name.module != "package.module"} == {
        Reference("package.other", name) for name in names
    }


def test_docstrings_and_comments_do_not_count():
    plain, documented = "def g():\n    return 1", 'def g():\n    """New."""\n    return 1  # one'
    module = "from package.other import g\ndef f(): return g()"
    assert needed(module, plain) == needed(module, documented)
    assert needed(module, plain) != needed(module, plain.replace("1", "2"))
    assert needed(module, plain) != needed(module, plain + "\nprint()")  # runs at import


def test_names_are_found_through_the_init_of_a_package():
    sources = {
        "p": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from p.q import g",
        "p.q": "def g(): pass",
        "p.r": "from p import g\ndef f(): return g()",
    }
    assert set(Dependencies(sources).of([Reference("p.r", "f")])) == {
        Reference("p.r", "f"),
        Reference("p.q", "g"),
    }


def test_a_result_names_the_commit_and_the_machine():
    root = Path(__file__).parents[2]
    if not (root / ".git").exists():
        pytest.skip("not a checkout")
    head = subprocess.run(["git", "-C", root, "rev-parse", "HEAD"], capture_output=True, text=True).stdout
    assert str(provenance.commit()).startswith(head.strip())
    machine = provenance.machine()
    assert machine["cores"] >= 1
    assert machine["instruction_set"] in native.available()
