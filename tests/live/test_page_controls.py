"""Buttons, keys, classes, presets and data."""

import pytest

from tests.live.pages import enter, pause, restart, seen, until

pytest.importorskip("playwright.sync_api")

STATE = "state => gaussianNeurons.frame.state === state"


def test_space_pauses_also_after_a_click_on_a_button(page):
    def press_space(state):
        page.keyboard.press(" ")
        until(page, STATE, arg=state)

    page.locator("#add").click()
    until(page, "gaussianNeurons.frame.ids.length === 7")
    press_space("paused")
    assert page.evaluate("gaussianNeurons.frame.ids.length") == 7  # the button was not pressed again
    page.evaluate("document.activeElement.dispatchEvent(new FocusEvent('focusin', { bubbles: true }))")
    press_space("running")  # as after the window lost and got the focus
    page.locator("#save summary").click()
    press_space("paused")
    assert page.locator("#save[open]").count() == 1
    page.locator("#lambda-slider").focus()
    press_space("running")
    page.keyboard.press("Tab")
    page.locator("#step").focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Shift+Tab")  # reached with the keyboard: space presses the button
    press_space("paused")
    count = seen(page)
    page.keyboard.press(" ")
    until(page, "n => gaussianNeurons.frame.seen === n", arg=count + 1)
    page.locator("#K").focus()
    page.keyboard.press(" ")
    page.wait_for_timeout(200)
    assert page.evaluate("gaussianNeurons.frame.state") == "paused"
    page.keyboard.press("Escape")
    page.locator("#save summary").click()


def test_keys_do_the_same_as_buttons(page):
    page.locator("body").click(position={"x": 5, "y": 5})
    page.keyboard.press(" ")
    until(page, STATE, arg="paused")
    count = seen(page)
    page.keyboard.press(".")
    until(page, "n => gaussianNeurons.frame.seen === n", arg=count + 1)
    page.keyboard.press("n")
    until(page, "gaussianNeurons.scene.setup.seed === 1 && gaussianNeurons.frame !== null")
    restart(page, "#new-seed")
    until(page, "document.querySelector('#seed').textContent === '2'")
    page.keyboard.press("+")
    page.served.until(lambda trial: len(trial.ids) == 7)
    until(page, "document.querySelectorAll('.filter').length === 7")
    page.keyboard.press("?")
    assert page.locator("#keys-dialog").is_visible()
    page.keyboard.press("Escape")
    page.locator(".filter[data-neuron='1']").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Delete")
    page.served.until(lambda trial: 2 not in trial.ids)
    page.locator("#K").focus()
    page.keyboard.press(".")  # text, not a command
    assert seen(page) == 0
    page.keyboard.press("Escape")


TOUCH = {"pointerType": "touch", "bubbles": True, "isPrimary": True}


def test_classes_change_during_the_run(page):
    def chosen(classes):
        page.served.until(lambda trial: trial.setup.classes == classes)

    generation = page.evaluate("gaussianNeurons.scene.generation")
    first, second = (page.locator(f"[data-class='{name}']") for name in (0, 1))
    second.click()
    chosen((1,))
    first.click()
    chosen((0,))
    first.click(modifiers=["Shift"])
    chosen(None)  # none means all
    second.press("Enter")
    chosen((1,))
    first.click(modifiers=["Shift"])
    chosen(None)  # both are all
    second.evaluate(  # a short touch
        """(it, touch) => {
             for (const name of ['pointerdown', 'pointerup']) it.dispatchEvent(new PointerEvent(name, touch));
             it.click();
           }""",
        TOUCH,
    )
    chosen((1,))
    first.dispatch_event("pointerdown", TOUCH)  # a long touch
    chosen(None)
    first.dispatch_event("pointerup", TOUCH)
    first.dispatch_event("click")
    page.wait_for_timeout(200)
    assert page.served.query(lambda trial: trial.setup.classes) is None
    first.click()
    chosen((0,))
    page.locator("[data-class='all']").click()
    chosen(None)
    assert page.evaluate("gaussianNeurons.scene.generation") == generation


def test_an_older_message_does_not_undo_the_choice_of_a_class(shared_page):
    sent = shared_page.evaluate(
        """async () => {
             const { Chips } = await import('/page/chips.js');
             const sent = [];
             const chips = new Chips(document.createElement('div'), message => sent.push(message.value));
             const classes = [0, 1, 2].map(value => ({ value, name: String(value) }));
             const receive = chosen => chips.setScene({ classes, setup: { classes: chosen } }, false);
             receive(null);
             chips.only('1');
             receive(null); // older
             chips.toggle('2');
             receive([1]);
             chips.toggle('1');
             receive([2]);
             receive([0]); // from another tab
             chips.toggle('1');
             return sent;
           }"""
    )
    assert sent == [[1], [1, 2], [2], [0, 1]]


def test_presets_start_figures_and_their_hint_stays_when_settings_change(page):
    known = page.served.run.presets
    assert page.locator("#figure-info").is_hidden()
    assert page.locator("#preset option[data-preset]").count() == len(known) == 17
    for name in ("figure5d", "figure1", "figure2f"):
        page.locator("#preset").select_option(name)
        until(page, "name => gaussianNeurons.scene.preset === name", arg=name)
        assert page.served.query(lambda trial: trial.setup).same_experiment(known[name].setup)
        assert page.locator("#figure-hint").inner_text() == known[name].hint
        assert known[name].label in page.locator("#figure-title").inner_text()
        page.locator("#plane").wait_for(state="visible" if name == "figure1" else "hidden")
    title = page.locator("#figure-title").inner_text()
    enter(page, "lambda", 0.4)
    until(page, "gaussianNeurons.scene.preset === null && gaussianNeurons.scene.setup.lambda === 0.4")
    assert page.locator("#figure-hint").inner_text() == known["figure2f"].hint
    changed = page.locator("#figure-title").inner_text()
    assert changed.endswith(title)
    assert changed != title
    assert page.locator("#note code").all_inner_texts() == ["--data mnist", "--data-dir"]


def test_data_is_chosen_and_absent_data_is_disabled(page):
    absent = page.locator("#data option[value='mnist']")
    assert absent.get_attribute("disabled") is not None
    assert absent.get_attribute("title") == "not found"
    page.locator("#data").select_option("mixture")
    page.served.until(lambda trial: trial.mode == "plane")
    page.locator("#plane").wait_for()
    assert page.locator("#filters").is_hidden()
    page.locator("#data").select_option("file")
    page.locator(".filter").first.wait_for()


def test_curves_end_at_the_last_sample_of_a_pause(page):
    until(page, "gaussianNeurons.frame.seen > 20000")
    pause(page)
    for _ in range(3):
        until(
            page,
            """async () => {
                 const { short } = await import('/page/numbers.js');
                 const label = document.querySelector('#curve-learned').getAttribute('aria-label');
                 const { learnedCount, seen } = gaussianNeurons.frame;
                 return label.includes(`: ${learnedCount} after ${short(seen)} `);
               }""",
        )
        page.locator("#step").click()
    restart(page)
    until(page, "!/\\d/.test(document.querySelector('#curve-rate').getAttribute('aria-label'))")
    page.locator("#no-samples").wait_for()
    page.locator("#step").click()
    page.locator("#no-samples").wait_for(state="hidden")


def test_a_mark_may_replace_the_last_one(shared_page):
    marks = shared_page.evaluate(
        """async () => {
             const { Curves } = await import('/page/curves.js');
             const canvas = () => document.createElement('canvas');
             const curves = new Curves({ learned: canvas(), cost: canvas(), rate: canvas() });
             curves.mark(10, 'μ₅ removed');
             curves.mark(20, '3 points painted');
             curves.mark(20, '6 points painted', true);
             return curves.marks;
           }"""
    )
    assert marks == [[10, "μ₅ removed"], [20, "6 points painted"]]
