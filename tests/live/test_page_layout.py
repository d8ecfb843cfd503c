"""The layout on screens of several sizes, themes, and accessibility."""

from pathlib import Path

import pytest

from tests.live.pages import drawn, resize, start, until
from tests.live.serving import STRIPES

pytest.importorskip("playwright.sync_api")

BOXES = """names => names.map(name => {
  const { left, right, top, bottom } = document.querySelector(name).getBoundingClientRect();
  return [left, right, top, bottom];
})"""


def overlap(a, b):
    return a[0] < b[1] and b[0] < a[1] and a[2] < b[3] and b[2] < a[3]


@pytest.mark.parametrize("mode", ["page", "plane"])
def test_nothing_is_wider_than_the_screen(request, mode):
    page = request.getfixturevalue(mode)
    for width in (320, 390, 768, 1100, 1600):
        resize(page, width, 800)
        until(page, "width => document.documentElement.scrollWidth <= width", arg=width)
        picture = page.locator(".filter").first if mode == "page" else page.locator("#plane")
        assert picture.bounding_box()["width"] > 20
        last, toolbar = page.evaluate(BOXES, ["#new-seed", "#toolbar"])
        assert last[1] <= toolbar[1]


def test_inspector_and_messages_cover_no_filter(page):
    for width, height in ((1280, 720), (1024, 768), (768, 1024)):
        resize(page, width, height)
        page.locator(".filter").first.hover()
        page.locator("#inspector-patches li").first.wait_for()
        inspector, messages, filters, toolbar = page.evaluate(
            f"""async names => {{
                 const {{ Toasts }} = await import('/page/toasts.js');
                 const toasts = new Toasts(document.querySelector('#toasts'));
                 for (const text of ['one', 'two', 'three']) toasts.show(text.repeat(20));
                 const boxes = ({BOXES})(names);
                 document.querySelectorAll('.toast button').forEach(it => it.click());
                 return boxes;
               }}""",
            ["#inspector", "#toasts", "#filters", "#toolbar"],
        )
        assert messages[2] < messages[3]
        assert not overlap(messages, filters)
        assert not overlap(inspector, filters)
        assert inspector[2] >= 0
        assert inspector[3] <= (height if width > 1100 else toolbar[2])
    page.locator("#choose").hover()  # the inspector covers the settings here, and closes
    page.locator("#inspector .facts").wait_for(state="hidden")


def test_inspector_of_the_plane_is_visible_on_a_phone(plane):
    resize(plane, 390, 844)
    plane.locator("#plane").focus()
    plane.keyboard.press("]")
    plane.locator("#inspector-remove").wait_for()
    inspector, toolbar = plane.evaluate(BOXES, ["#inspector", "#toolbar"])
    assert inspector[2] >= 0
    assert inspector[3] <= toolbar[2]


def test_all_settings_are_visible_without_scrolling(page):
    for setup in (STRIPES, STRIPES.with_covariances("full")):
        start(page, setup, size={"width": 1280, "height": 720})
        page.evaluate("document.querySelector('.data').scrollTop = 0")
        drawn(page)
        ((_, _, _, bottom),) = page.evaluate(BOXES, ["[data-field=speed]"])
        assert bottom <= 720
        assert page.evaluate("(it => it.scrollHeight <= it.clientHeight)(document.querySelector('.data'))")


def test_texts_do_not_overlap_while_a_phone_waits_for_samples(page):
    resize(page, 390, 844)
    text, below = page.evaluate(
        """() => {
             const [stage, filters] = ['#stage', '#filters'].map(it => document.querySelector(it));
             stage.classList.add('waiting');
             filters.hidden = true;
             const box = name => document.querySelector(name).getBoundingClientRect();
             const boxes = [box('#waiting p'), box('.below')];
             stage.classList.remove('waiting');
             filters.hidden = false;
             return [boxes[0].bottom, boxes[1].top];
           }"""
    )
    assert text <= below


CONTRAST = """() => {
  const channel = v => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  const parse = text => text.match(/[\\d.]+/g).map(Number);
  const under = element => {
    for (let it = element; it; it = it.parentElement) {
      const colour = parse(getComputedStyle(it).backgroundColor);
      if (colour.length === 3 || colour[3] === 1) return colour;
    }
    return [255, 255, 255];
  };
  const poor = [];
  for (const element of document.querySelectorAll('body *')) {
    const own = [...element.childNodes].some(it => it.nodeType === 3 && it.textContent.trim());
    if (!own || !element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
    if (element.closest('svg') || element.closest('[disabled]')) continue;
    const both = [parse(getComputedStyle(element).color), under(element)].map(light).sort((x, y) => y - x);
    const contrast = (both[0] + 0.05) / (both[1] + 0.05);
    if (contrast < 4.5) poor.push([element.outerHTML.slice(0, 100), contrast]);
  }
  return poor;
}"""


@pytest.mark.parametrize("mode", ["page", "plane"])
def test_text_has_enough_contrast_in_both_themes(request, mode):
    page = request.getfixturevalue(mode)
    for scheme in ("dark", "light"):
        page.emulate_media(color_scheme=scheme)
        shows(page, scheme)
        drawn(page)
        assert page.evaluate(CONTRAST) == []
        red = page.evaluate("Number(getComputedStyle(document.body).backgroundColor.match(/\\d+/)[0])")
        assert (red < 100) == (scheme == "dark")


def shows(page, theme):
    until(page, "it => document.documentElement.dataset.theme === it", arg=theme)


def test_the_theme_is_the_systems_until_another_is_chosen(page):
    for scheme in ("dark", "light"):
        page.emulate_media(color_scheme=scheme)
        shows(page, scheme)
    for choice in ("light", "dark"):
        page.locator("#theme").click()
        assert page.locator("#theme").get_attribute("data-choice") == choice
        shows(page, choice)
    for scheme in ("dark", "light"):
        page.emulate_media(color_scheme=scheme)
        drawn(page)
        shows(page, "dark")
    assert page.evaluate("getComputedStyle(document.documentElement).colorScheme") == "dark"
    page.locator("#theme").click()
    assert page.locator("#theme").get_attribute("data-choice") == "auto"
    shows(page, "light")


def test_the_chosen_theme_is_set_before_the_page_is_drawn(open_page, stripes):
    page = open_page(f"{stripes.url}page/style.css", wait=False)
    page.evaluate("localStorage.setItem('gaussian-neurons-theme', 'dark')")
    page.route("**/page/main.js", lambda route: route.abort())
    page.goto(stripes.url)
    shows(page, "dark")


# The npm package axe-core: npm install --no-save axe-core
AXE = Path(__file__).parents[2] / "node_modules" / "axe-core" / "axe.min.js"


@pytest.mark.parametrize("mode", ["page", "plane"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_serious_violation(request, mode, scheme):
    if not AXE.is_file():
        pytest.skip("no axe-core here: run `npm install --no-save axe-core`")
    page = request.getfixturevalue(mode)
    page.emulate_media(color_scheme=scheme)
    shows(page, scheme)
    page.evaluate(AXE.read_text())
    views = {"page": "0", "gallery": "document.querySelector('#choose').click()"}
    views["tour"] = "document.querySelector('#start-tour').click()"
    for name, action in views.items():
        page.evaluate(action)
        drawn(page)
        found = page.evaluate("axe.run(document, { resultTypes: ['violations'] })")
        serious = [one for one in found["violations"] if one["impact"] in ("serious", "critical")]
        assert [(name, one["id"], one["nodes"][0]["html"][:200]) for one in serious] == []
        page.keyboard.press("Escape")
    page.emulate_media(color_scheme="light")
