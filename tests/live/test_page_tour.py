"""The guided tour, by keyboard alone."""

import pytest

from tests.live.pages import PLANE, drawn, until
from tests.live.serving import MIXTURE, served

pytest.importorskip("playwright.sync_api")

COUNT = "document.querySelector('[data-tour=count]').textContent"
ACTIVE = "!document.querySelector('#tour').hidden"
STEPS = 10


@pytest.fixture
def fresh():
    """A server that no page has shown, as the command starts it."""
    with served(MIXTURE, running=False) as one:
        yield one


def step(page, number):
    until(page, f"text => {COUNT} === text", arg=f"{number} of {STEPS}")
    parts = {name: page.locator(f"[data-tour={name}]") for name in ("symbol", "text", "source", "equation")}
    shown = {name: part.text_content() for name, part in parts.items()}
    assert all(shown.values())
    assert shown["text"].count(". ") == 0  # one sentence
    assert shown["text"].endswith(".")
    assert parts["source"].get_attribute("href").startswith("https://arxiv.org/")


def shown(page, *parts):
    return page.evaluate(f"parts => parts.every(part => {PLANE}.steps.includes(part))", list(parts))


def test_the_tour_from_start_to_end_by_keyboard_alone(open_page, fresh):
    def quickly():
        """Learn faster than the step asks for."""
        until(page, "gaussianNeurons.scene.setup.speed >= 400")
        fresh.run.submit(0, ("set", {"name": "speed", "value": 20_000.0}))

    page = open_page(fresh.url)
    page.served = fresh
    page.emulate_media(reduced_motion="reduce")  # the steps wait for the user
    step(page, 1)
    until(page, "gaussianNeurons.frame?.state === 'paused' && gaussianNeurons.frame.ids.length === 16")
    assert fresh.query(lambda trial: trial.seen) == 0
    for number in (2, 3, 4):
        page.keyboard.press("ArrowRight")
        step(page, number)
        drawn(page)
        assert shown(page, "answer")
        assert shown(page, "pull") == (number > 2)
        assert shown(page, "push") == (number > 3)
        assert fresh.query(lambda trial: trial.seen) == 0
    found = fresh.query(lambda trial: trial.preview())
    frame = page.evaluate("[gaussianNeurons.frame.pull, gaussianNeurons.frame.push].map(it => [...it])")
    assert frame == [found["pull"].ravel().tolist(), found["push"].ravel().tolist()]  # the library's steps
    page.keyboard.press("Enter")  # on the button Next
    step(page, 5)
    until(
        page, "gaussianNeurons.frame.seen > 3 && gaussianNeurons.frame.rate < 30 && gaussianNeurons.frame.x"
    )
    page.keyboard.press("ArrowRight")
    step(page, 6)
    quickly()
    until(page, "gaussianNeurons.frame.learnedCount >= 3")
    page.keyboard.press("ArrowRight")
    step(page, 7)
    quickly()
    until(page, "gaussianNeurons.frame.seen > 12000 && gaussianNeurons.frame.outside.includes(1)")
    until(page, "gaussianNeurons.frame.learnedCount >= 6")
    page.keyboard.press("ArrowRight")
    step(page, 8)
    until(page, "gaussianNeurons.frame.ids.length === 15")
    until(page, "document.querySelector('#story').textContent.includes('has learned the pattern of')")
    way = "document.querySelector('#story path').getTotalLength()"
    assert page.evaluate(way) > 2  # pixels, from where the neuron waited to the empty place
    page.keyboard.press("ArrowRight")
    step(page, 9)
    until(page, "gaussianNeurons.scene.mode === 'image' && gaussianNeurons.scene.setup.speed === 20000")
    until(page, "gaussianNeurons.frame?.seen > 5000")
    page.keyboard.press("ArrowRight")
    step(page, STEPS)
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")  # Full speed
    until(page, "gaussianNeurons.scene.setup.speed === null")
    page.keyboard.press("ArrowRight")
    until(page, f"!({ACTIVE})")
    assert page.evaluate("document.activeElement.id") == "pause"
    assert page.problems == []


def test_the_tour_goes_on_by_itself_and_can_be_left(open_page, fresh):
    page = open_page(fresh.url, clock=True)
    step(page, 1)
    page.clock.run_for(4000)
    assert page.evaluate(COUNT) == f"1 of {STEPS}"  # there is time to read
    page.clock.run_for(4000)
    step(page, 2)
    page.keyboard.press("Escape")
    until(page, f"!({ACTIVE})")
    page.reload()
    until(page, "window.gaussianNeurons?.frame")
    assert not page.evaluate(ACTIVE)  # it was left
    page.goto(f"{fresh.url}?tour")
    step(page, 1)  # its link
    page.locator("[data-tour=leave]").click()
    page.locator("#start-tour").click()
    step(page, 1)
    assert page.problems == []


def test_a_link_to_settings_starts_no_tour(open_page, fresh):
    for query in ("?K=5", "?data=one-sample"):
        page = open_page(fresh.url + query)
        assert page.evaluate("gaussianNeurons.frame.state") == "paused"
        assert not page.evaluate(ACTIVE)
