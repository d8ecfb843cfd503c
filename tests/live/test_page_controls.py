"""Every control of the page does what it says."""

import pytest

from tests.live.pages import become, seen, setup_of, start, until
from tests.live.serving import STRIPES

pytest.importorskip("playwright.sync_api")


def test_space_pauses_wherever_one_has_clicked(tab):
    def pressed(state):
        tab.keyboard.press(" ")
        become(tab, "state => gaussianNeurons.frame.state === state", arg=state)

    tab.locator("#add").click()
    become(tab, "gaussianNeurons.frame.ids.length === 7")
    pressed("paused")
    assert tab.evaluate("gaussianNeurons.frame.ids.length") == 7  # the button was not pressed again
    tab.evaluate("document.activeElement.dispatchEvent(new FocusEvent('focusin', { bubbles: true }))")
    pressed("running")  # as when the window is left and comes back
    tab.locator("[data-class='1']").click()
    pressed("paused")
    tab.locator("#save summary").click()
    pressed("running")
    assert tab.locator("#save[open]").count() == 1
    tab.locator("#lambda-slider").focus()
    pressed("paused")
    pressed("running")
    tab.keyboard.press("Tab")
    tab.locator("#step").focus()
    tab.keyboard.press("Tab")
    tab.keyboard.press("Shift+Tab")  # reached with the keyboard: it is meant
    pressed("paused")
    count = seen(tab)
    tab.keyboard.press(" ")
    become(tab, "n => gaussianNeurons.frame.seen === n", arg=count + 1)
    assert tab.locator("#status-seen span").inner_text() == "samples"
    tab.locator("#K").focus()
    tab.keyboard.press(" ")
    tab.wait_for_timeout(200)
    assert tab.evaluate("gaussianNeurons.frame.state") == "paused"
    tab.keyboard.press("Escape")


def test_one_sample_is_one(tab):
    tab.locator("#pause").click()
    become(tab, "gaussianNeurons.frame.state === 'paused'")
    tab.locator("#again").click()
    become(tab, "gaussianNeurons.frame?.seen === 0")
    tab.locator("#step").click()
    become(tab, "document.querySelector('#status-seen').textContent === '1 sample'")


def test_where_all_neurons_are_gone_the_page_says_what_to_do(tab, stripes):
    assert tab.locator("#all-out").is_hidden()
    tab.locator("#eta").fill("100000")
    tab.locator("#eta").press("Enter")
    tab.locator("#all-out").wait_for()
    tab.locator("#eta").fill("0.1")
    tab.locator("#eta").press("Enter")
    until(stripes, lambda trial: trial.setup.learning_rate == 0.1)
    tab.locator("#again").click()
    tab.locator("#all-out").wait_for(state="hidden")


def test_chips_change_the_stream_as_it_runs(tab, stripes):
    tab.locator("[data-class='1']").click()
    until(stripes, lambda trial: trial.setup.classes == (1,))
    generation = tab.evaluate("gaussianNeurons.scene.generation")
    tab.locator("[data-class='0']").click()
    until(stripes, lambda trial: trial.setup.classes == (0,))
    tab.locator("[data-class='1']").press("Enter")
    until(stripes, lambda trial: trial.setup.classes == (1,))
    tab.locator("[data-class='all']").click()
    until(stripes, lambda trial: trial.setup.classes is None)
    assert tab.evaluate("gaussianNeurons.scene.generation") == generation


@pytest.mark.parametrize("how", ["Shift", "Control", "a long press"])
def test_one_more_class_is_taken_or_left(tab, stripes, how):
    def press(name):
        chip = tab.locator(f"[data-class='{name}']")
        if how != "a long press":
            return chip.click(modifiers=[how])
        touch = {"pointerType": "touch", "bubbles": True, "isPrimary": True}
        chip.dispatch_event("pointerdown", touch)
        until(stripes, lambda trial: trial.setup.classes is None)  # while it is pressed still
        chip.dispatch_event("pointerup", touch)
        return chip.dispatch_event("click")  # as a browser has it after a touch

    tab.locator("[data-class='1']").click()
    until(stripes, lambda trial: trial.setup.classes == (1,))
    press(0)
    until(stripes, lambda trial: trial.setup.classes is None)  # both are all
    tab.locator("[data-class='0']").click()
    until(stripes, lambda trial: trial.setup.classes == (0,))
    press(0)
    until(stripes, lambda trial: trial.setup.classes is None)  # none are all, too


def test_an_older_answer_does_not_undo_a_class_that_was_asked_for(tab):
    found = tab.evaluate(
        """async () => {
             const { Chips } = await import('/page/chips.js');
             const asked = [];
             const chips = new Chips(document.createElement('div'), message => asked.push(message.value));
             const classes = [0, 1, 2].map(value => ({ value, name: String(value) }));
             const told = chosen => chips.setScene({ classes, setup: { classes: chosen } }, false);
             told(null);
             chips.only('1');
             told(null); // about something older
             chips.toggle('2');
             told([1]);
             chips.toggle('1');
             told([2]);
             told([0]); // somebody else
             chips.toggle('1');
             return asked;
           }"""
    )
    assert found == [[1], [1, 2], [2], [0, 1]]


def test_a_short_touch_is_that_class_alone(tab, stripes):
    chip = tab.locator("[data-class='1']")
    touch = {"pointerType": "touch", "bubbles": True, "isPrimary": True}
    chip.dispatch_event("pointerdown", touch)
    chip.dispatch_event("pointerup", touch)
    chip.dispatch_event("click")
    until(stripes, lambda trial: trial.setup.classes == (1,))
    tab.wait_for_timeout(600)
    assert setup_of(stripes).classes == (1,)


def test_presets_start_the_papers_figures(tab, stripes):
    known = stripes.page.run.presets
    assert tab.locator("#preset option[data-preset]").count() == len(known) == 17
    for name in ("figure2d", "figure5d", "figure4", "figure1"):
        tab.locator("#preset").select_option(name)
        until(stripes, lambda trial, name=name: trial.setup.same_as(known[name].setup))
        become(tab, "name => gaussianNeurons.scene.preset === name", arg=name)
        assert known[name].hint[:30] in tab.locator("#story").inner_text()
    tab.locator("#plane").wait_for()


def test_data_is_chosen_and_what_is_not_here_cannot_be(tab, stripes):
    absent = tab.locator("#data option[value='mnist']")
    assert absent.is_disabled()
    assert (absent.text_content(), absent.get_attribute("title")) == ("MNIST (not here)", "not here")
    tab.locator("#data").select_option("mixture")
    until(stripes, lambda trial: trial.mode == "plane")
    tab.locator("#plane").wait_for()
    assert tab.locator("#filters").is_hidden()
    tab.locator("#data").select_option("file")
    tab.locator(".filter").first.wait_for()


def test_start_again_and_a_new_seed(tab, stripes):
    become(tab, "gaussianNeurons.frame.seen > 1000")
    tab.locator("#again").click()
    become(tab, "gaussianNeurons.scene.generation > 1")
    assert setup_of(stripes).seed == 0
    tab.locator("#new-seed").click()
    until(stripes, lambda trial: trial.setup.seed == 1)
    become(tab, "document.querySelector('#seed').textContent === '1'")


def test_keys_do_what_buttons_do(tab, stripes):
    tab.locator("body").click(position={"x": 5, "y": 5})
    tab.keyboard.press(" ")
    become(tab, "gaussianNeurons.frame.state === 'paused'")
    count = seen(tab)
    tab.keyboard.press(".")
    become(tab, "n => gaussianNeurons.frame.seen === n", arg=count + 1)
    tab.keyboard.press("n")
    become(tab, "gaussianNeurons.scene.setup.seed === 1 && gaussianNeurons.frame !== null")
    tab.keyboard.press("+")
    until(stripes, lambda trial: len(trial.ids) == 7)
    become(tab, "document.querySelectorAll('.filter').length === 7")
    tab.keyboard.press("?")
    assert tab.locator("#keys-dialog").is_visible()
    tab.keyboard.press("Escape")
    tab.locator(".filter[data-neuron='1']").focus()
    tab.keyboard.press("ArrowRight")
    tab.keyboard.press("Delete")
    until(stripes, lambda trial: 2 not in trial.ids)
    tab.locator("#K").focus()
    tab.keyboard.press(".")  # typed, not obeyed
    assert seen(tab) == 0
    tab.locator("body").click(position={"x": 5, "y": 5})
    tab.keyboard.press(" ")
    become(tab, "gaussianNeurons.frame.state === 'running'")


def test_learned_widths_stand_on_the_grid(tab):
    assert set(tab.locator(".filter .width").all_text_contents()) == {""}
    tab.locator("#eta_sigma").fill("0.05")
    tab.locator("#eta_sigma").press("Enter")
    become(tab, "document.querySelector('.filter .width').textContent.startsWith('σ ')")


def test_the_story_stays_while_its_run_goes_on(tabs, stripes):
    tab = tabs(stripes.url)
    start(tab, stripes, STRIPES)
    assert tab.locator("#story").is_hidden()
    tab.locator("#preset").select_option("figure1")
    tab.locator("#story").wait_for()
    tab.locator("#lambda").fill("0.4")  # as stories ask for
    tab.locator("#lambda").press("Enter")
    become(tab, "gaussianNeurons.scene.preset === null && gaussianNeurons.scene.setup.lambda === 0.4")
    assert tab.locator("#story").is_visible()
    assert tab.locator("#story-title").inner_text().startswith("Began as Figure 1. F of two")
    tab.locator("#preset").select_option("figure2f")
    become(tab, "document.querySelector('#story-title').textContent === 'Figure 2f. From 1s only'")
    assert "--data mnist" in tab.locator("#note").inner_text()
    tab.locator("#lambda").fill("0.4")
    tab.locator("#lambda").press("Enter")
    become(tab, "document.querySelector('#story-title').textContent.startsWith('Began as Figure 2f')")
    assert tab.locator("#note").is_visible()  # the data are the same still
    assert tab.trouble == []


def test_the_curves_end_where_it_rests(tab):
    become(tab, "gaussianNeurons.frame.seen > 20000")
    tab.locator("#pause").click()
    become(tab, "gaussianNeurons.frame.state === 'paused'")
    for _ in range(3):
        told = "document.querySelector('#curve-learned').getAttribute('aria-label')"
        frame = "gaussianNeurons.frame"
        become(
            tab,
            f"""async () => {{
                  const {{ short }} = await import('/page/numbers.js');
                  return {told} ===
                    `Neurons learned: ${{{frame}.learnedCount}} after ${{short({frame}.seen)}} samples`;
                }}""",
        )
        tab.locator("#step").click()
    tab.locator("#again").click()
    become(tab, "gaussianNeurons.frame?.seen === 0")
    become(tab, "document.querySelector('#curve-rate').getAttribute('aria-label').endsWith('no value yet')")
    label = "document.querySelector('#curve-cost').getAttribute('aria-label')"
    become(tab, f"{label} === 'Cost: no value yet'")


def test_at_rest_samples_are_counted_to_the_last_one(tab):
    become(tab, "gaussianNeurons.frame.seen > 20000")
    tab.locator("#pause").click()
    become(tab, "gaussianNeurons.frame.state === 'paused'")
    count = seen(tab)
    tab.locator("#step").click()
    tab.locator("#status-seen", has_text=f"{count + 1:,} samples").wait_for()


def test_a_mark_may_take_the_place_of_the_last(tab):
    marks = tab.evaluate(
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
