"""Servers, clients, and pages in a real browser."""

import pytest

from tests.live.pages import opener, rest, start
from tests.live.serving import MIXTURE, STRIPES, served


@pytest.fixture(scope="module")
def stripes():
    with served(STRIPES) as one:
        yield one


@pytest.fixture
def client(stripes):
    """A client without a browser, at the start of a trial on stripes that runs."""
    generation = stripes.run.generation
    with stripes.tab() as one:
        one.send("resume")
        one.send("start", setup=STRIPES.as_json())
        one.next("scene", where=lambda scene: scene["generation"] > generation)
        yield one


@pytest.fixture
def open_page(browser):
    """A function that opens a page in a new browser context."""
    yield from opener(browser)


# Opening a page takes seconds. Most tests share one page of each mode. Its server is page.served.


@pytest.fixture(scope="package")
def _open_shared(browser):
    yield from opener(browser)


@pytest.fixture(scope="package")
def shared_page(_open_shared):
    """The page on stripes in any state, for tests of single JavaScript functions."""
    with served(STRIPES) as one:
        page = _open_shared(one.url)
        page.served = one
        yield page


@pytest.fixture(scope="package")
def _shared_plane(_open_shared):
    with served(MIXTURE) as one:
        page = _open_shared(one.url)
        page.served = one
        yield page


@pytest.fixture
def page(shared_page):
    """The page at the start of a trial on stripes."""
    start(shared_page, STRIPES)
    yield shared_page
    rest(shared_page)
    assert shared_page.problems == []


@pytest.fixture
def plane(_shared_plane):
    """The page at the start of a trial in the plane, without a surface."""
    start(_shared_plane, MIXTURE)
    if _shared_plane.locator("#surface").input_value() != "off":
        _shared_plane.locator("#surface").select_option("off")
    yield _shared_plane
    rest(_shared_plane)
    assert _shared_plane.problems == []
