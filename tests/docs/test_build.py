"""The check of the built site finds what it says."""

import runpy
from pathlib import Path

import pytest

BUILD = runpy.run_path(str(Path(__file__).parents[2] / "docs" / "build.py"))
GOOD = '<html><body><h1 id="top">A</h1><a href="other.html#there">b</a><a href="https://example.org">c</a>'
OTHER = '<h2 id="there">B</h2><a href="index.html">a</a><img src="picture.png">'


@pytest.fixture
def site(tmp_path, monkeypatch):
    """Two pages, a picture and a style sheet without a mistake."""
    monkeypatch.setitem(BUILD["problems"].__globals__, "SITE", tmp_path)
    (tmp_path / "index.html").write_text(GOOD)
    (tmp_path / "other.html").write_text(OTHER)
    (tmp_path / "picture.png").write_bytes(b"")
    (tmp_path / "site.css").write_text("p { background: url(picture.png) }")
    return tmp_path


def problems():
    return list(BUILD["problems"]())


def test_a_site_without_mistakes_has_no_problems(site):
    assert problems() == []


@pytest.mark.parametrize(
    ("added", "problem"),
    [
        ('<a href="gone.html">', "index.html: the link gone.html leads to no file"),
        ('<a href="other.html#gone">', "index.html: the link other.html#gone leads to no anchor"),
        ('<img src="gone.png">', "index.html: the link gone.png leads to no file"),
        ('<script src="https://x.org/a.js">', "index.html loads https://x.org/a.js from another host"),
        ('<link rel="stylesheet" href="//x.org/a.css">', "index.html loads //x.org/a.css from another host"),
    ],
)
def test_a_mistake_in_a_page_is_found(site, added, problem):
    (site / "index.html").write_text(GOOD + added)
    assert problems() == [problem]


def test_a_style_sheet_that_loads_a_font_from_elsewhere_is_found(site):
    (site / "site.css").write_text("@font-face { src: url('https://x.org/font.woff2') }")
    assert problems() == ["site.css loads something from another host"]
