"""Servers, and pages of them in a real browser."""

import pytest

from tests.live.pages import opener, start
from tests.live.serving import MIXTURE, STRIPES, served


@pytest.fixture(scope="module")
def stripes():
    with served(STRIPES) as one:
        yield one


@pytest.fixture
def tabs(browser):
    """Opens pages that note what they complain of and ask for."""
    yield from opener(browser)


@pytest.fixture(scope="module")
def lasting_tabs(browser):
    """The same, for pages that several tests use."""
    yield from opener(browser)


@pytest.fixture(scope="module")
def lasting_tab(lasting_tabs, stripes):
    return lasting_tabs(stripes.url)


@pytest.fixture
def tab(lasting_tab, stripes):
    """A page on stripes, as they begin."""
    start(lasting_tab, stripes, STRIPES)
    yield lasting_tab
    assert lasting_tab.trouble == []


@pytest.fixture(scope="module")
def mixed():
    with served(MIXTURE) as one:
        yield one


@pytest.fixture(scope="module")
def lasting_plane(lasting_tabs, mixed):
    return lasting_tabs(mixed.url)


@pytest.fixture
def plane(lasting_plane, mixed):
    start(lasting_plane, mixed, MIXTURE)
    yield lasting_plane
    assert lasting_plane.trouble == []


@pytest.fixture
def plain_tab(stripes):
    """A tab without a browser on stripes, as they begin."""
    before = stripes.page.run.generation
    with stripes.tab() as one:
        one.send("start", setup=STRIPES.told())
        one.next("scene", where=lambda scene: scene["generation"] > before)
        yield one
