"""The page in a real browser: it loads, and shows learning."""

import re

import numpy as np
import pytest

from gaussian_neurons.experiments import similarity
from gaussian_neurons.live.sources import Sources, defaults
from tests.live.pages import again, become, drawn, pictures, seen, setup_of
from tests.live.serving import served
from tests.waiting import wait_for

pytest.importorskip("playwright.sync_api")


def test_it_loads_without_a_complaint_and_asks_nobody_else(tab, stripes):
    assert tab.trouble == []
    here = (stripes.url, stripes.url.replace("http", "ws"), "data:", "blob:")
    assert [url for url in tab.asked if not url.startswith(here)] == []
    assert len(tab.asked) > 10
    become(tab, "document.querySelectorAll('.filter').length === 6")
    become(tab, "document.querySelector('#state').innerText === 'Running'")


def test_filters_change_while_it_learns_and_pause_really_pauses(tab):
    again(tab)
    drawn(tab)
    before = pictures(tab)
    assert len(before) == 6
    become(tab, "gaussianNeurons.frame?.seen > 50000")
    wait_for(lambda: pictures(tab) != before)
    tab.locator("#pause").click()
    become(tab, "gaussianNeurons.frame.state === 'paused'")
    drawn(tab)
    still = seen(tab), pictures(tab)
    tab.wait_for_timeout(500)
    assert (seen(tab), pictures(tab)) == still
    tab.locator("#step").click()
    become(tab, "n => gaussianNeurons.frame.seen === n", arg=still[0] + 1)
    tab.locator("#pause").click()
    become(tab, "n => gaussianNeurons.frame.seen > n + 1000", arg=still[0])


def test_learned_ones_are_framed_and_those_outside_dimmed(tab):
    become(tab, "gaussianNeurons.frame.seen > 100000")
    tab.locator("#pause").click()
    become(tab, "gaussianNeurons.frame.state === 'paused'")
    drawn(tab)
    learned, outside = tab.evaluate("(f => [[...f.learned], [...f.outside]])(gaussianNeurons.frame)")
    shown = tab.evaluate("[...document.querySelectorAll('.filter')].map(it => Number(it.dataset.learned))")
    assert learned == shown
    pale = tab.evaluate(
        """[...document.querySelectorAll('.filter canvas')]
             .map(it => it.getContext('2d').getImageData(0, 0, 1, 1).data[3] < 255)"""
    )
    assert pale == [found == 0 and bool(out) for found, out in zip(learned, outside, strict=True)]
    assert 0 < sum(it == 1 for it in learned) < 6
    assert f"{sum(it == 1 for it in learned)} of 6" in tab.locator("#status-learned").inner_text()
    tab.locator("#pause").click()


def test_a_neuron_that_is_looked_at_tells_its_facts(tab):
    become(tab, "gaussianNeurons.frame.seen > 20000")
    tab.locator("#pause").click()
    become(tab, "gaussianNeurons.frame.state === 'paused'")
    tab.locator(".filter[data-neuron='3']").hover()
    become(tab, "document.querySelector('[data-fact=number]').textContent === '3'")

    def told():
        facts = tab.evaluate(
            """Object.fromEntries([...document.querySelectorAll('[data-fact]')]
                 .map(it => [it.dataset.fact, it.textContent]))"""
        )
        names = ("width", "distance", "cosine", "share")
        return [float(re.sub(r"[^\d.e−-]", "", facts[name]).replace("−", "-")) for name in names]

    frame = tab.evaluate(
        "(f => [f.widths[2], f.distance[2], f.cosine[2], f.share[2]])(gaussianNeurons.frame)"
    )
    wait_for(lambda: told() == pytest.approx([*frame[:3], 100 * frame[3]], rel=0.05, abs=0.06))
    become(tab, "document.querySelectorAll('#inspector-patches li:not([hidden])').length === 6")
    tab.locator("#pause").click()


def test_a_click_removes_and_a_button_adds(tab, stripes):
    tab.locator(".filter[data-neuron='2']").click()
    become(tab, "gaussianNeurons.frame.ids.length === 5")
    tab.locator(".filter[data-neuron='2']").wait_for(state="detached")  # after the frame
    tab.locator("#add").click()
    become(tab, "gaussianNeurons.frame.ids.length === 6")
    tab.locator(".filter[data-neuron='7']").wait_for()
    assert setup_of(stripes).n_neurons == 6


PLACES = "[...document.querySelector('#filters').children].map(it => Number(it.dataset.neuron ?? 0))"


def test_a_removed_filter_leaves_its_place_and_the_others_theirs(tab, stripes):
    def boxes():
        return tab.evaluate(
            """Object.fromEntries([...document.querySelectorAll('.filter')]
                 .map(it => [it.dataset.neuron, [it.offsetLeft, it.offsetTop]]))"""
        )

    become(tab, f"{PLACES}.join() === '1,2,3,4,5,6'")
    before = boxes()
    where = tab.locator(".filter[data-neuron='2']").bounding_box()
    middle = where["x"] + where["width"] / 2, where["y"] + where["height"] / 2
    tab.mouse.dblclick(*middle)
    assert tab.evaluate(PLACES) == [1, 0, 3, 4, 5, 6]  # at once
    become(tab, "gaussianNeurons.frame.ids.length === 5")
    tab.mouse.click(*middle)
    tab.wait_for_timeout(400)
    assert list(stripes.page.run.trial.ids) == [1, 3, 4, 5, 6]
    assert boxes() == {number: box for number, box in before.items() if number != "2"}
    assert tab.locator(".toast[data-level='error']").all_inner_texts() == []
    tab.reload()
    become(tab, f"window.gaussianNeurons?.frame && {PLACES}.join() === '1,0,3,4,5,6'")
    tab.locator("#add").click()
    tab.locator(".filter[data-neuron='7']").wait_for()
    assert tab.evaluate(PLACES) == [1, 7, 3, 4, 5, 6]
    tab.locator(".filter[data-neuron='4']").click()
    tab.locator(".empty-slot").wait_for()
    for count in (5, 4):  # as many as are left, then fewer: places that were asked for no more are closed
        tab.locator("#K").fill(str(count))
        tab.locator("#K").press("Enter")
        become(tab, "K => gaussianNeurons.frame.ids.length === K", arg=count)
        tab.locator(".empty-slot").wait_for(state="detached")
    tab.locator(".filter").first.click()
    tab.locator(".empty-slot").wait_for()  # and nobody moves when another goes
    assert tab.evaluate(PLACES)[0] == 0
    again(tab)
    become(tab, f"{PLACES}.join() === '1,2,3,4'")


def test_keys_remove_one_at_a_time(tab, stripes):
    become(tab, f"{PLACES}.join() === '1,2,3,4,5,6'")
    tab.locator(".filter[data-neuron='2']").focus()
    tab.keyboard.down("Delete")
    for _ in range(3):
        tab.keyboard.down("Delete")  # held: the key repeats
    tab.keyboard.up("Delete")
    become(tab, "gaussianNeurons.frame.ids.length === 5")
    assert tab.evaluate("document.activeElement.dataset.neuron") == "3"
    tab.keyboard.down("Enter")
    tab.keyboard.down("Enter")
    tab.keyboard.up("Enter")
    become(tab, "gaussianNeurons.frame.ids.length === 4")
    assert tab.evaluate("document.activeElement.dataset.neuron") == "4"
    tab.keyboard.press("ArrowLeft")
    assert tab.evaluate("document.activeElement.dataset.neuron") == "1"  # over both gaps
    tab.keyboard.press("End")
    tab.keyboard.press("Delete")
    become(tab, "gaussianNeurons.frame.ids.length === 3")
    tab.wait_for_timeout(300)
    assert len(stripes.page.run.trial.ids) == 3
    assert tab.locator(".toast[data-level='error']").all_inner_texts() == []


def test_the_last_neuron_stays_and_is_shown(tab, stripes):
    tab.locator("#K").fill("1")
    tab.locator("#K").press("Enter")
    become(tab, "document.querySelectorAll('.filter').length === 1")
    tab.locator(".filter").click()
    tab.locator("#toasts").get_by_text("last neuron").wait_for()
    assert tab.locator(".filter").count() == 1


def test_a_filter_that_the_server_keeps_is_shown_again(tab, stripes, monkeypatch):
    def refused(*_):
        raise ValueError("not now")

    with monkeypatch.context() as patched:
        patched.setattr("gaussian_neurons.live.trial.Trial.remove", refused)
        tab.locator(".filter[data-neuron='3']").click()
        tab.locator("#toasts").get_by_text("not now").wait_for()
        become(tab, f"{PLACES}.join() === '1,2,3,4,5,6'")
        patched.setattr("gaussian_neurons.live.trial.Trial.remove", lambda *_: None)  # and says nothing
        click = "document.querySelector('.filter[data-neuron=\"4\"]').click()"
        assert 0 in tab.evaluate(f"() => {{ {click}; return {PLACES}; }}")
        become(tab, f"{PLACES}.join() === '1,2,3,4,5,6'")


@pytest.mark.parametrize(
    ("width", "height", "count", "columns"),
    [
        (1244, 700, 16, 4),
        (604, 480, 16, 4),
        (2764, 1060, 16, 4),
        (1244, 700, 9, 3),
        (1244, 700, 50, 10),
        (1244, 700, 12, 4),
    ],
)
def test_grids_are_full_and_nearly_square(tab, width, height, count, columns):
    found = tab.evaluate(
        """async ([clientWidth, clientHeight, count]) => {
             const { bestGrid } = await import('/page/layout.js');
             return bestGrid({ clientWidth, clientHeight }, count, [5, 5, 1]).columns;
           }""",
        [width, height, count],
    )
    assert found == columns


def test_a_neuron_without_a_pattern_is_pushed_out_only_when_it_is_outside(tab):
    words = tab.evaluate(
        """async () => {
             const { stateOf } = await import('/page/states.js');
             const frame = { learned: [0, 0, 1, 1, 2], outside: [0, 1, 0, 1, 0] };
             return [0, 1, 2, 3, 4].map(k => stateOf(frame, k));
           }"""
    )
    assert words == ["no pattern yet", "pushed out", "learned", "learned", "twin of a learned one"]


def test_a_program_that_failed_is_told_at_once_and_until_it_goes_on(tab, stripes):
    become(tab, "gaussianNeurons.frame.seen > 1000")
    tab.locator("#pause").click()  # no frame comes that could say otherwise
    become(tab, "gaussianNeurons.frame.state === 'paused'")
    stripes.page.run.text(None, type="failed", trouble="a mistake of this program's, ZeroDivisionError")
    tab.get_by_text("Learning has stopped").wait_for()
    tab.wait_for_timeout(300)
    assert tab.locator("#failed").is_visible()
    assert "ZeroDivisionError" in tab.locator("#trouble").inner_text()
    assert tab.locator("#state").inner_text() == "Stopped"
    assert tab.locator("#status-rate b").inner_text() == "0"
    tab.locator("#failed-again").click()
    tab.locator("#failed").wait_for(state="hidden")
    tab.locator("#pause").click()
    become(tab, "gaussianNeurons.frame.state === 'running'")


def test_removing_a_filter_of_figure_2a_is_followed_by_its_being_learned_again(tabs):
    """In most tries, whichever learned filter it is; the moment of the click is nobody's choice."""
    sources = Sources()
    sources._absent |= {"mnist": "not here"}
    setup = defaults("mnist-sample", sources.load("mnist-sample", 0))
    with served(setup, sources) as one:
        tab = tabs(one.url)
        tab.locator("#preset").select_option("figure2a")
        become(tab, "gaussianNeurons.scene.preset === 'figure2a' && gaussianNeurons.frame !== null")
        relearned = []
        for turn in range(8):
            again(tab, "#new-seed" if turn == 4 else "#again")
            become(tab, "gaussianNeurons.frame?.seen > 400000")  # null while the preset starts
            centers, learned, ids = _filters(tab)
            which = learned[turn % len(learned)]
            tab.locator(f".filter[data-neuron='{ids[which]}']").click()
            become(tab, "id => !gaussianNeurons.frame.ids.includes(id)", arg=int(ids[which]))
            become(tab, "n => gaussianNeurons.frame.seen > n + 1000000", arg=seen(tab))
            after, still, _ = _filters(tab)
            relearned.append(bool(similarity.same(after[still], centers[which]).any()))
        assert tab.trouble == []
    assert sum(relearned) > len(relearned) / 2, relearned


def _filters(tab):
    """Centers (K, D), which of them are learned, and their numbers."""
    frame = tab.evaluate("(f => [[...f.centers], [...f.learned], [...f.ids]])(gaussianNeurons.frame)")
    centers = np.array(frame[0]).reshape(len(frame[2]), -1) / 255 * 2 - 0.5
    return centers, np.flatnonzero(np.array(frame[1]) == 1), frame[2]
