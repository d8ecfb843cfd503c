"""The page is made well: on every screen, in light and dark, for everybody."""

from dataclasses import replace

import pytest

from tests.live.pages import again, become, drawn, start
from tests.live.serving import STRIPES

pytest.importorskip("playwright.sync_api")


@pytest.mark.parametrize("mode", ["tab", "plane"])
def test_nothing_sticks_out_on_any_screen(request, mode):
    tab = request.getfixturevalue(mode)
    for width in (320, 390, 768, 1100, 1600):
        tab.set_viewport_size({"width": width, "height": 800})
        drawn(tab)
        assert tab.evaluate("document.documentElement.scrollWidth") <= width
        stage = tab.locator(".filter").first if mode == "tab" else tab.locator("#plane")
        assert stage.bounding_box()["width"] > 20
        assert tab.locator("#pause").is_visible()
        last, bar = tab.evaluate(
            "['#new-seed', '#transport'].map(it => document.querySelector(it).getBoundingClientRect().right)"
        )
        assert last <= bar
    tab.set_viewport_size({"width": 1280, "height": 860})


def test_tiny_responses_do_not_widen_the_column(tab):
    tab.set_viewport_size({"width": 1280, "height": 800})
    tab.locator("#sigma").fill("0.05")  # narrow neurons answer hardly anything
    tab.locator("#sigma").press("Enter")
    tab.locator(".filter").first.hover()
    tab.locator("#inspector-patches li").first.wait_for()
    tab.wait_for_timeout(500)
    sizes = tab.evaluate("(it => [it.offsetWidth, it.scrollWidth])(document.querySelector('.side'))")
    assert sizes[1] <= sizes[0] == 336
    responses = tab.locator("#inspector-patches li:not([hidden]) span").all_text_contents()
    assert max(map(len, responses)) <= 5
    tab.set_viewport_size({"width": 1280, "height": 860})


BOXES = """names => names.map(name => {
  const { left, right, top, bottom } = document.querySelector(name).getBoundingClientRect();
  return [left, right, top, bottom];
})"""


@pytest.mark.parametrize(
    ("width", "height"), [(1280, 720), (1366, 768), (1280, 800), (1024, 768), (768, 1024)]
)
def test_facts_are_seen_at_once_and_hide_neither_filters_nor_curves(tab, width, height):
    tab.set_viewport_size({"width": width, "height": height})
    drawn(tab)
    tab.locator(".filter").first.hover()
    tab.locator("#inspector-patches li").first.wait_for()
    facts, filters, curves, transport = tab.evaluate(
        BOXES, ["#inspector", "#filters", ".curves", "#transport"]
    )
    assert facts[2] >= 0
    assert facts[3] <= (height if width > 1100 else transport[2])
    for other in (filters, curves):
        apart = facts[1] <= other[0] or other[1] <= facts[0] or facts[3] <= other[2] or other[3] <= facts[2]
        assert apart, (facts, other)
    if width > 1100:
        assert facts[2] - curves[3] >= 8
    for name in ("learned", "cost", "rate"):
        box = tab.locator(f"#curve-{name}").bounding_box()
        assert box["width"] > 260
        assert box["height"] > 40
    tab.set_viewport_size({"width": 1280, "height": 860})


def test_the_first_of_many_filters_can_be_reached(tab, stripes):
    tab.set_viewport_size({"width": 1280, "height": 720})
    start(tab, stripes, replace(STRIPES, n_neurons=400))
    drawn(tab)
    room = "document.querySelector('#show')"
    become(tab, f"{room}.dataset.more === 'below'")
    (first, stage) = tab.evaluate(BOXES, [".filter", "#show"])
    assert first[2] > stage[2]
    tab.locator(".filter").last.scroll_into_view_if_needed()
    become(tab, f"{room}.scrollTop > 0 && {room}.dataset.more.startsWith('above')")
    tab.locator(".filter").first.scroll_into_view_if_needed()
    (first, stage) = tab.evaluate(BOXES, [".filter", "#show"])
    assert first[2] > stage[2]
    tab.set_viewport_size({"width": 1280, "height": 860})


@pytest.mark.parametrize(("width", "height"), [(1280, 720), (1366, 768), (1280, 860)])
def test_all_settings_are_in_sight(tab, width, height):
    tab.set_viewport_size({"width": width, "height": height})
    tab.evaluate("document.querySelector('.controls').scrollTop = 0")
    drawn(tab)
    (speed,) = tab.evaluate(BOXES, ["[data-field=speed]"])
    assert speed[3] <= height
    become(tab, "document.querySelector('.controls').dataset.more === ''")
    tab.set_viewport_size({"width": 1280, "height": 300})
    become(tab, "document.querySelector('.controls').dataset.more === 'below'")
    tab.set_viewport_size({"width": 1280, "height": 860})


@pytest.mark.parametrize(("width", "lines"), [(1280, [6, 5]), (1920, [11])])
def test_digits_stand_in_even_lines(tab, width, lines):
    tab.set_viewport_size({"width": width, "height": 860})
    tops = tab.evaluate(
        """async () => {
             const { Chips } = await import('/page/chips.js');
             const element = document.querySelector('#classes').cloneNode();
             document.querySelector('#classes').after(element);
             const classes = Array.from({ length: 10 }, (_, k) => ({ value: k, name: String(k) }));
             new Chips(element, () => true).setScene({ classes, setup: { classes: null } }, true);
             const tops = [...element.children].map(it => it.getBoundingClientRect().top);
             element.remove();
             return tops;
           }"""
    )
    assert [tops.count(top) for top in sorted(set(tops))] == lines
    tab.set_viewport_size({"width": 1280, "height": 860})


def test_captions_look_alike_and_values_stand_on_the_lines_of_their_names(tab):
    tab.locator(".filter").first.hover()
    tab.locator("#inspector-patches li").first.wait_for()
    looks = tab.evaluate(
        """[...document.querySelectorAll('.arriving h2, figcaption, .strongest h3')].map(it => {
             const { fontSize, fontWeight, color } = getComputedStyle(it);
             return [fontSize, fontWeight, color].join();
           })"""
    )
    assert len(looks) == 5
    assert len(set(looks)) == 1
    baselines = tab.evaluate(
        """[...document.querySelectorAll('.facts dl div:not([hidden]) > *')].map(it => {
             const mark = document.createElement('span');
             mark.style.display = 'inline-block';
             it.append(mark);
             const { bottom } = mark.getBoundingClientRect();
             mark.remove();
             return bottom;
           })"""
    )
    assert len(baselines) == 10
    for name, value in zip(baselines[::2], baselines[1::2], strict=True):
        assert name == pytest.approx(value, abs=0.6)


def test_a_double_click_marks_no_number(tab):
    assert tab.evaluate("getComputedStyle(document.querySelector('.filter .number')).userSelect") == "none"


def test_what_to_do_is_said_where_no_sample_has_come(tab):
    assert tab.locator("#no-samples").is_hidden()
    tab.locator("#pause").click()
    become(tab, "gaussianNeurons.frame.state === 'paused'")
    again(tab)
    tab.locator("#no-samples").wait_for()
    wide = tab.locator("#samples").bounding_box()["height"]
    tab.set_viewport_size(
        {"width": 1000, "height": 860}
    )  # at rest, too, samples are as large as there is room
    become(
        tab, "it => document.querySelector('#samples').getBoundingClientRect().height > 1.2 * it", arg=wide
    )
    tab.set_viewport_size({"width": 1280, "height": 860})
    become(tab, "it => document.querySelector('#samples').getBoundingClientRect().height === it", arg=wide)
    tab.locator("#step").click()
    tab.locator("#no-samples").wait_for(state="hidden")


@pytest.mark.parametrize(("width", "height"), [(1280, 720), (1024, 768), (768, 1024)])
def test_messages_hide_no_filter(tab, width, height):
    tab.set_viewport_size({"width": width, "height": height})
    tab.evaluate(
        """async () => {
             const { Toasts } = await import('/page/toasts.js');
             const toasts = new Toasts(document.querySelector('#toasts'));
             for (const text of ['one', 'two', 'three']) toasts.show(text.repeat(20));
           }"""
    )
    drawn(tab)
    messages, filters = tab.evaluate(BOXES, ["#toasts", "#filters"])
    assert messages[2] < messages[3]
    assert messages[1] <= filters[0] or filters[1] <= messages[0]
    tab.evaluate("document.querySelectorAll('.toast button').forEach(it => it.click())")
    tab.set_viewport_size({"width": 1280, "height": 860})


def test_facts_make_room_for_who_turns_to_the_settings(tab):
    tab.set_viewport_size({"width": 1024, "height": 768})
    tab.locator(".filter").first.hover()
    tab.locator("#inspector .facts").wait_for()
    tab.locator("#K").hover()
    tab.locator("#inspector .facts").wait_for(state="hidden")
    tab.set_viewport_size({"width": 1280, "height": 860})


def test_options_in_a_note_are_not_broken(tab):
    parts = tab.evaluate(
        """async () => {
             const { Status } = await import('/page/status.js');
             const note = document.querySelector('#note');
             const before = [...note.childNodes];
             const text = 'Start with --data mnist to fetch it, or with --data-dir and a folder.';
             new Status().setScene({ ...gaussianNeurons.scene, note: text });
             const found = [...note.childNodes].map(it => [it.nodeName, it.textContent]);
             const whole = note.textContent === text;
             note.replaceChildren(...before);
             note.hidden = !before.length;
             return [whole, found.filter(([name]) => name === 'CODE').map(([, text]) => text)];
           }"""
    )
    assert parts == [True, ["--data mnist", "--data-dir"]]


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


def test_chosen_colours_are_there_before_the_page_is(tabs, stripes):
    tab = tabs(stripes.url)
    tab.evaluate("localStorage.setItem('gaussian-neurons-theme', 'dark')")
    tab.route("**/page/main.js", lambda route: route.abort())
    tab.goto(stripes.url)
    assert tab.evaluate("document.documentElement.dataset.theme") == "dark"


def test_colours_are_the_systems_until_others_are_chosen(tabs, stripes):
    tab = tabs(stripes.url)

    def shows(theme):
        become(tab, "it => document.documentElement.dataset.theme === it", arg=theme)

    for scheme in ("dark", "light"):
        tab.emulate_media(color_scheme=scheme)
        shows(scheme)
    for choice in ("light", "dark"):
        tab.locator("#theme").click()
        assert tab.locator("#theme").get_attribute("aria-label") == f"Colours: {choice}"
        shows(choice)
    for scheme in ("dark", "light"):
        tab.emulate_media(color_scheme=scheme)
        drawn(tab)
        shows("dark")
    assert tab.evaluate("getComputedStyle(document.documentElement).colorScheme") == "dark"
    tab.locator("#theme").click()
    shows("light")
    assert tab.trouble == []


@pytest.mark.parametrize("mode", ["tab", "plane"])
def test_words_can_be_read_in_light_and_dark(request, mode):
    tab = request.getfixturevalue(mode)
    for scheme in ("dark", "light"):
        tab.emulate_media(color_scheme=scheme)
        become(tab, "it => document.documentElement.dataset.theme === it", arg=scheme)
        drawn(tab)
        assert tab.evaluate(CONTRAST) == []
        red = tab.evaluate("Number(getComputedStyle(document.body).backgroundColor.match(/\\d+/)[0])")
        assert (red < 100) == (scheme == "dark")


def test_while_one_waits_no_words_lie_upon_others(tab):
    tab.set_viewport_size({"width": 390, "height": 844})
    tab.evaluate("document.querySelector('#filters').replaceChildren()")
    last, below = tab.evaluate(
        """() => {
             document.querySelector('#stage').classList.add('waiting');
             const box = name => document.querySelector(name).getBoundingClientRect();
             return [box('#waiting p').bottom, box('.below').top];
           }"""
    )
    assert last <= below
    tab.set_viewport_size({"width": 1280, "height": 860})
    tab.reload()
    become(tab, "window.gaussianNeurons?.frame")


def test_every_control_has_a_name(tab):
    nameless = tab.evaluate(
        """() => [...document.querySelectorAll('button, input, select, summary, a[href]')]
             .filter(it => it.checkVisibility())
             .filter(it => !(it.getAttribute('aria-label') || it.textContent.trim() || it.title
                             || (it.labels && it.labels.length) || it.getAttribute('aria-labelledby')))
             .map(it => it.outerHTML.slice(0, 120))"""
    )
    assert nameless == []
