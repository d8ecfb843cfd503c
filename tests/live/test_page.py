"""The page in image mode: it loads, shows learning, and removes and adds filters."""

import re
from dataclasses import replace

import pytest

from tests.live.pages import drawn, enter, pause, pictures, resize, restart, seen, start, until
from tests.live.serving import STRIPES
from tests.waiting import wait_for

pytest.importorskip("playwright.sync_api")

SLOTS = "[...document.querySelector('#filters').children].map(it => Number(it.dataset.neuron ?? 0))"
FOCUSED = "document.activeElement.dataset.neuron"


def test_page_loads_without_console_messages_and_without_other_servers(page):
    url = page.served.url
    own = (url, url.replace("http", "ws"), "data:", "blob:")
    assert [one for one in page.requested if not one.startswith(own)] == []
    assert len(page.requested) > 10
    until(page, "document.querySelectorAll('.filter').length === 6")
    until(page, "document.body.dataset.state === 'running'")


def test_filters_change_while_running_and_not_while_paused(page):
    drawn(page)
    before = pictures(page)
    assert len(before) == 6
    until(page, "gaussianNeurons.frame?.seen > 20000")
    wait_for(lambda: pictures(page) != before)
    pause(page)
    drawn(page)
    still = seen(page), pictures(page)
    page.wait_for_timeout(300)
    assert (seen(page), pictures(page)) == still
    page.locator("#step").click()
    until(page, "n => gaussianNeurons.frame.seen === n", arg=still[0] + 1)
    page.locator("#status-seen b", has_text=f"{still[0] + 1:,}").wait_for()  # exact during a pause
    page.locator("#pause").click()
    until(page, "n => gaussianNeurons.frame.seen > n + 1000", arg=still[0])


def test_the_strip_shows_each_sample_once(page):
    pause(page)
    restart(page)
    for count in (1, 2, 3, 10):
        while seen(page) < count:
            before = seen(page)
            page.locator("#step").click()
            until(page, "n => gaussianNeurons.frame.seen === n", arg=before + 1)
        drawn(page)
        shown, samples = page.evaluate(
            """async () => {
                 const { PatchCanvas } = await import('/page/colours.js');
                 const { frame } = gaussianNeurons;
                 const pictures = [...document.querySelectorAll('#samples canvas:not([hidden])')];
                 const samples = [];
                 for (let at = 0; at < frame.samples.length; at += 16) {
                   const picture = new PatchCanvas();
                   picture.show(frame.samples.subarray(at, at + 16), [4, 4, 1]);
                   samples.push(picture.canvas.toDataURL());
                 }
                 return [pictures.map(it => it.toDataURL()), samples];
               }"""
        )
        assert len(shown) == min(count, 8)
        assert shown == samples[-8:]


def test_what_is_drawn_comes_from_one_frame(page):
    """Widths, counts and curves are read at once, while the run goes on."""
    enter(page, "eta_sigma", 0.2)
    page.locator(".filter[data-neuron='3']").hover()
    until(page, "document.querySelector('[data-fact=number]').textContent === '3'")
    page.locator("#inspector .facts").wait_for()
    for _ in range(30):
        tile, inspected, counted, framed, curve = page.evaluate(
            """() => {
                 const text = name => document.querySelector(name).textContent;
                 return [
                   text('.filter[data-neuron="3"] .width').slice(2), text('[data-fact=width]'),
                   Number(text('#learned-count')),
                   document.querySelectorAll('.filter[data-learned="1"]').length,
                   document.querySelector('#curve-learned').getAttribute('aria-label'),
                 ];
               }"""
        )
        assert tile == inspected
        assert counted == framed
        assert f": {counted} after" in curve
        page.wait_for_timeout(37)


def test_learned_filters_are_framed_and_pushed_out_ones_dimmed(page):
    until(page, "gaussianNeurons.frame.seen > 40000")
    pause(page)
    drawn(page)
    learned, outside = page.evaluate("(f => [[...f.learned], [...f.outside]])(gaussianNeurons.frame)")
    shown = page.evaluate("[...document.querySelectorAll('.filter')].map(it => Number(it.dataset.learned))")
    assert shown == learned
    dimmed = page.evaluate(
        """[...document.querySelectorAll('.filter canvas')]
             .map(it => it.getContext('2d').getImageData(0, 0, 1, 1).data[3] < 255)"""
    )
    assert dimmed == [found == 0 and bool(out) for found, out in zip(learned, outside, strict=True)]
    count = sum(it == 1 for it in learned)
    assert 0 < count < 6
    assert page.locator("#learned-count").inner_text() == str(count)
    assert page.locator("#neuron-count").inner_text() == "6"


def test_inspector_shows_the_facts_of_a_neuron(page):
    until(page, "gaussianNeurons.frame.seen > 20000")
    pause(page)
    page.locator(".filter[data-neuron='3']").hover()
    until(page, "document.querySelector('[data-fact=number]').textContent === '3'")

    def shown():
        facts = page.evaluate(
            """Object.fromEntries([...document.querySelectorAll('[data-fact]')]
                 .map(it => [it.dataset.fact, it.textContent]))"""
        )
        names = ("width", "distance", "cosine", "share")
        return [float(re.sub(r"[^\d.e−-]", "", facts[name]).replace("−", "-")) for name in names]

    frame = page.evaluate(
        "(f => [f.widths[2], f.distance[2], f.cosine[2], f.share[2]])(gaussianNeurons.frame)"
    )
    wait_for(lambda: shown() == pytest.approx([*frame[:3], 100 * frame[3]], rel=0.05, abs=0.06))
    until(page, "document.querySelectorAll('#inspector-patches li:not([hidden])').length === 6")


def test_a_removed_filter_leaves_an_empty_slot_and_the_others_do_not_move(page):
    def boxes():
        return page.evaluate(
            """Object.fromEntries([...document.querySelectorAll('.filter')]
                 .map(it => [it.dataset.neuron, [it.offsetLeft, it.offsetTop]]))"""
        )

    until(page, f"{SLOTS}.join() === '1,2,3,4,5,6'")
    before = boxes()
    box = page.locator(".filter[data-neuron='2']").bounding_box()
    middle = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.dblclick(*middle)
    until(page, "gaussianNeurons.frame.ids.length === 5")
    assert page.evaluate(SLOTS) == [1, 0, 3, 4, 5, 6]
    page.mouse.click(*middle)
    page.wait_for_timeout(300)
    assert page.served.query(lambda trial: trial.ids) == [1, 3, 4, 5, 6]
    assert boxes() == {number: box for number, box in before.items() if number != "2"}
    assert page.locator(".toast[data-level='error']").count() == 0
    page.locator("#add").click()
    page.locator(".filter[data-neuron='7']").wait_for()
    assert page.evaluate(SLOTS) == [1, 7, 3, 4, 5, 6]
    page.locator(".filter[data-neuron='4']").click()
    page.locator(".empty-slot").wait_for()
    enter(page, "K", 5)  # as many as there are: the empty slot is closed
    page.locator(".empty-slot").wait_for(state="detached")
    restart(page)
    until(page, f"{SLOTS}.join() === '1,2,3,4,5'")


def test_slots(shared_page):
    found = shared_page.evaluate(
        """async () => {
             const { Slots } = await import('/page/slots.js');
             const slots = new Slots();
             const taken = [];
             const take = ids => { slots.take(ids); taken.push(slots.ids.map(id => id ?? 0)); };
             slots.restart(5);
             take([1, 3, 4, 5]); // 2 was removed before the page connected
             take([1, 3, 4, 5, 6, 7]);
             slots.shrinkTo(3);
             take([1, 3, 4, 5, 7]); // still more than 3
             take([1, 4, 7]);
             take([4, 7]);
             return [taken, slots.from(0, 1), slots.from(-1, 1), slots.from(2, 1) ?? null];
           }"""
    )
    taken = [[1, 0, 3, 4, 5], [1, 6, 3, 4, 5, 7], [1, 0, 3, 4, 5, 7], [1, 4, 7], [0, 4, 7]]
    assert found == [taken, 4, 4, None]


def test_a_held_key_removes_one_filter(page):
    until(page, f"{SLOTS}.join() === '1,2,3,4,5,6'")
    page.locator(".filter[data-neuron='2']").focus()
    for _ in range(4):
        page.keyboard.down("Delete")
    page.keyboard.up("Delete")
    until(page, "gaussianNeurons.frame.ids.length === 5")
    assert page.evaluate(FOCUSED) == "3"
    for _ in range(2):
        page.keyboard.down("Enter")
    page.keyboard.up("Enter")
    until(page, "gaussianNeurons.frame.ids.length === 4")
    assert page.evaluate(FOCUSED) == "4"
    page.keyboard.press("ArrowLeft")
    assert page.evaluate(FOCUSED) == "1"  # skips empty slots
    page.keyboard.press("End")
    page.keyboard.press("Delete")
    until(page, "gaussianNeurons.frame.ids.length === 3")
    page.wait_for_timeout(300)
    assert page.served.query(lambda trial: len(trial.ids)) == 3
    assert page.locator(".toast[data-level='error']").count() == 0


def test_a_filter_that_the_server_keeps_stays(page, monkeypatch):
    def refused(*_):
        raise ValueError("not now")

    with monkeypatch.context() as patched:
        patched.setattr("gaussian_neurons.live.trial.Trial.remove", refused)
        page.locator(".filter[data-neuron='3']").click()
        page.locator("#toasts").get_by_text("not now").wait_for()
        assert page.evaluate(SLOTS) == [1, 2, 3, 4, 5, 6]


def test_grids_are_full_and_nearly_square(shared_page):
    columns = shared_page.evaluate(
        """async sizes => {
             const { bestGrid } = await import('/page/layout.js');
             return sizes.map(([clientWidth, clientHeight, count]) =>
               bestGrid({ clientWidth, clientHeight }, count, [5, 5, 1]).columns);
           }""",
        [[1244, 700, 16], [604, 480, 16], [2764, 1060, 16], [1244, 700, 9], [1244, 700, 50], [1244, 700, 12]],
    )
    assert columns == [4, 4, 4, 3, 10, 4]


def test_states_of_neurons(shared_page):
    texts = shared_page.evaluate(
        """async () => {
             const { stateOf } = await import('/page/states.js');
             const frame = { learned: [0, 0, 1, 1, 2], outside: [0, 1, 0, 1, 0] };
             return [0, 1, 2, 3, 4].map(k => stateOf(frame, k));
           }"""
    )
    assert texts == ["no pattern yet", "pushed out", "learned", "learned", "twin of a learned neuron"]


def test_an_internal_error_is_shown_until_the_run_continues(page):
    until(page, "gaussianNeurons.frame.seen > 1000")
    pause(page)  # so that no frame replaces the error
    page.served.run.send_json(None, type="failed", error="ZeroDivisionError")
    page.locator("#failed").wait_for()
    assert "ZeroDivisionError" in page.locator("#error").inner_text()
    assert page.evaluate("document.body.dataset.state") == "failed"
    assert page.locator("#status-rate b").inner_text() == "0"
    restart(page, "#failed-again")
    page.locator("#failed").wait_for(state="hidden")


def test_a_dead_end_is_named_with_a_way_out(shared_page):
    """Nothing learned at a narrow width, equal neurons, and neurons that left the domain."""
    advices = shared_page.evaluate(
        """async () => {
             const { adviceFor } = await import('/page/status.js');
             const suggestion = { sigma: 4.1, lambda: 0.015 };
             const scene = { setup: { sigma: 1 }, suggestion, patch: [9, 9, 1] };
             const plane = { ...scene, suggestion: null };
             const frame = { seen: 1e6, learnedCount: 0, ids: [1, 2, 3, 4], learned: [0, 0, 0, 0] };
             const near = { ...frame, distance: [2, 0.5, 2, 2] };
             const far = { ...frame, distance: [2, 1.1, 2, 2] };
             const twins = { ...near, learnedCount: 1, learned: [1, 2, 2, 2] };
             const learned = { ...far, learnedCount: 1, learned: [1, 0, 0, 0] };
             const wide = { ...scene, setup: { sigma: 4 } };
             const pairs = [[near, scene], [{ ...near, seen: 10_000 }, scene], [near, wide], [far, plane]];
             pairs.push([near, plane], [twins, plane], [learned, plane]);
             return pairs.map((pair) => adviceFor(...pair)?.message ?? null);
           }"""
    )
    restart = {"do": "reset", "seed": "same"}
    suggested = {"do": "start", "setup": {"sigma": 4.1, "lambda": 0.015}}
    assert advices == [suggested, None, None, restart, None, restart, None]


def test_one_click_leaves_the_dead_end_of_a_narrow_width(page):
    start(page, replace(STRIPES, width=0.02, speed=None))
    page.locator("#advice button", has_text="Use σ").click()
    until(page, "gaussianNeurons.scene.setup.lambda === 0.015")
    page.served.until(lambda trial: trial.learned.any())


def test_many_filters_can_be_scrolled_to_the_first(page):
    resize(page, 1280, 420)
    start(page, replace(STRIPES, n_neurons=150), size=None)
    show = "document.querySelector('#show')"
    page.locator(".filter").last.scroll_into_view_if_needed()
    until(page, f"{show}.scrollTop > 0")
    page.locator(".filter").first.scroll_into_view_if_needed()
    first, stage = page.locator(".filter").first.bounding_box(), page.locator("#show").bounding_box()
    assert first["y"] >= stage["y"]
