"""What the pages, the gallery and the notebooks show is what the library does."""

import re
import runpy
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGES = ("index", "start", "streams", "novelty", "shapes")
PRINTED = re.compile(r"^ *print\(.*\)  # (.*)$", re.MULTILINE)


@pytest.fixture
def pyplot(monkeypatch):
    """Matplotlib without a window, and without what other tests left in it."""
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    monkeypatch.setattr(pyplot, "show", lambda: None)
    pyplot.close("all")
    yield pyplot
    pyplot.close("all")


@pytest.mark.parametrize("page", PAGES)
def test_a_page_prints_what_its_comments_say(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    code = "".join(re.findall(r"```python\n(.*?)```", (DOCS / f"{page}.md").read_text(), re.DOTALL))
    exec(code, {})
    assert capsys.readouterr().out.splitlines() == PRINTED.findall(code) != []


@pytest.mark.parametrize("script", sorted(DOCS.glob("gallery/*.py")), ids=lambda script: script.stem)
def test_a_script_of_the_gallery_draws_one_picture(script, pyplot):
    runpy.run_path(str(script))
    (number,) = pyplot.get_fignums()
    pyplot.figure(number).canvas.draw()


@pytest.mark.parametrize("notebook", sorted(DOCS.glob("notebooks/*.nb.py")), ids=lambda path: path.stem)
def test_a_notebook_runs_from_top_to_bottom(notebook, pyplot, tmp_path, monkeypatch):
    if "torch" in notebook.stem:
        pytest.importorskip("torch", reason="PyTorch is not installed")
        pytest.importorskip("gaussian_neurons.torch", reason="there are no layers for PyTorch yet")
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(notebook))
    for number in pyplot.get_fignums():
        pyplot.figure(number).canvas.draw()
