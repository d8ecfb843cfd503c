"""Buttons, keys, classes, presets and data."""

import pytest

from tests.live.pages import choose, drawn, enter, pause, restart, seen, until

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
    assert page.locator("#figure-title").inner_text() == "stripes"
    assert page.locator("#gallery [data-preset]").count() == len(known) == 17
    for name in ("figure5d", "figure1", "figure2f"):
        choose(page, "preset", name)
        until(page, "name => gaussianNeurons.scene.preset === name", arg=name)
        assert page.served.query(lambda trial: trial.setup).same_experiment(known[name].setup)
        assert page.locator("#figure-hint").inner_text() == known[name].hint
        assert known[name].label in page.locator("#figure-title").inner_text()
        page.locator("#plane").wait_for(state="visible" if name == "figure1" else "hidden")
    title = page.locator("#figure-title").inner_text()
    enter(page, "lambda", 0.4)
    until(page, "gaussianNeurons.scene.changed && gaussianNeurons.scene.setup.lambda === 0.4")
    assert page.locator("#figure-hint").inner_text() == known["figure2f"].hint
    assert page.locator("#figure-title").inner_text() == title.replace("Figure 2f.", "Figure 2f, changed.")
    assert page.locator("#note code").all_inner_texts() == ["--data mnist", "--data-dir"]


def test_data_is_chosen_and_absent_data_is_disabled(page):
    page.locator("#choose").click()
    absent = page.locator("#gallery [data-data='mnist']")
    assert absent.get_attribute("aria-disabled") == "true"
    absent.focus()
    assert (
        page.locator("#gallery-text").inner_text().startswith("MNIST. Not found; restart with --data mnist")
    )
    page.keyboard.press("Escape")
    choose(page, "data", "mixture")
    page.served.until(lambda trial: trial.mode == "plane")
    page.locator("#plane").wait_for()
    assert page.locator("#filters").is_hidden()
    choose(page, "data", "file")
    page.locator(".filter").first.wait_for()


def test_pictures_for_the_choice(page):
    """One for each data set and figure, in their order, and a sentence for the one that has the focus."""
    page.locator("#choose").click()
    width = page.evaluate(
        """async () => {
             const image = new Image();
             image.src = '/page/thumbnails.png';
             await image.decode();
             return image.naturalWidth;
           }"""
    )
    places = page.evaluate(
        """[...document.querySelectorAll('#gallery .thumbnail:not(.none)')]
             .map(it => parseFloat(it.style.getPropertyValue('--at')))"""
    )
    assert places == [-96 * k for k in range(width // 96)]
    page.locator("#gallery [data-preset='figure3b']").focus()
    assert page.locator("#gallery-text").inner_text().startswith("Figure 3b. ")
    page.keyboard.press("Enter")
    until(page, "gaussianNeurons.scene.preset === 'figure3b'")
    page.locator("#gallery").wait_for(state="hidden")


def test_presenter_mode_with_one_key(page):
    page.evaluate("document.activeElement.blur()")
    sizes = "getComputedStyle(document.querySelector('#learned-count')).fontSize"
    before = page.locator("#learned-count").bounding_box()["height"], page.evaluate(sizes)
    page.keyboard.press("p")
    drawn(page)
    assert page.locator("#learned-count").bounding_box()["height"] > 1.3 * before[0]
    assert page.locator("#rule").is_hidden()
    page.keyboard.press("p")
    drawn(page)
    assert page.locator("#learned-count").bounding_box()["height"] == before[0]


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
    until(page, "!/\\d/.test(document.querySelector('#curve-moved').getAttribute('aria-label'))")
    page.locator("#no-samples").wait_for()
    page.locator("#step").click()
    page.locator("#no-samples").wait_for(state="hidden")


def test_the_limits_of_a_curve_are_distinct_numbers(shared_page):
    texts = shared_page.evaluate(
        """async () => {
             const { Chart } = await import('/page/chart.js');
             const { tickText } = await import('/page/numbers.js');
             const kind = { column: 1, text: tickText };
             const chart = new Chart(document.createElement('canvas'), kind, () => {});
             Object.assign(chart, { size: { width: 300, height: 60 }, theme: { font: 'serif' } });
             return [[-0.5713, -0.5689], [0, 1], [1e-5, 2e-5], [120, 123.5], [7, 7]].map(([low, high]) => {
               chart.measure([[1, low], [100, low], [200, high]]);
               return [chart.text(low), chart.text(high)];
             });
           }"""
    )
    assert texts[0] == ["−0.5713", "−0.5689"]
    assert all(low != high for low, high in texts[:4])
    assert texts[4][0] == texts[4][1]


def test_a_mark_may_replace_the_last_one(shared_page):
    marks = shared_page.evaluate(
        """async () => {
             const { Curves } = await import('/page/curves.js');
             const canvas = () => document.createElement('canvas');
             const canvases = { learned: canvas(), cost: canvas(), moved: canvas(), scores: canvas() };
             const curves = new Curves(canvases);
             curves.mark(10, 'μ₅ removed');
             curves.mark(20, '3 points painted');
             curves.mark(20, '6 points painted', true);
             return curves.marks;
           }"""
    )
    assert marks == [[10, "μ₅ removed"], [20, "6 points painted"]]
