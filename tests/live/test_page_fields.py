"""Number fields and sliders."""

import pytest

from tests.live.pages import enter, until

pytest.importorskip("playwright.sync_api")

FIELDS = {
    "K": ("n_neurons", 9),
    "sigma": ("width", 0.5),
    "lambda": ("inhibition", 0.25),
    "eta": ("learning_rate", 0.05),
    "eta_sigma": ("width_learning_rate", 0.2),
    "noise": ("noise", 0.3),  # shown if eta_sigma > 0
    "speed": ("speed", 1234),
    "size": ("size", 3),
}
SETTING = "([name, value]) => String(gaussianNeurons.scene.setup[name] ?? 'full') === value"


def test_a_typed_number_changes_the_setting_and_the_address(page):
    assert page.locator("#noise").is_hidden()
    for name, (field, value) in FIELDS.items():
        enter(page, name, value)
        page.served.until(lambda trial, field=field, value=value: getattr(trial.setup, field) == value)
    for name, (_, value) in FIELDS.items():
        until(page, "([n, v]) => new URLSearchParams(location.search).get(n) == v", arg=[name, value])
    assert page.evaluate("gaussianNeurons.scene.patch") == [3, 3, 1]


def test_undo_in_the_page_changes_the_run_and_in_unsent_text_only_the_text(page):
    def inhibition(value):
        page.served.until(lambda trial: trial.setup.inhibition == value)
        until(page, SETTING, arg=["lambda", str(value)])
        until(page, "value => document.querySelector('#lambda').value === value", arg=str(value))

    field = page.locator("#lambda")
    enter(page, "lambda", 0.25)
    inhibition(0.25)
    field.press("End")
    field.press("7")
    field.press("Control+z")  # unsent: the browser undoes typing
    assert field.input_value() == "0.25"
    assert page.served.query(lambda trial: trial.setup.inhibition) == 0.25
    field.press("Control+z")
    inhibition(0.5)
    page.keyboard.press("Control+y")
    inhibition(0.25)
    page.locator(".filter[data-neuron='2']").click()
    page.served.until(lambda trial: 2 not in trial.ids)
    page.keyboard.press("Control+z")
    page.served.until(lambda trial: 2 in trial.ids)
    until(page, "document.querySelectorAll('.filter').length === 6")
    inhibition(0.25)


def test_a_slider_changes_the_setting(page):
    for name in ("K", "sigma", "lambda", "eta", "eta_sigma", "size", "speed"):
        field, _ = FIELDS[name]
        before = page.served.query(lambda trial, field=field: getattr(trial.setup, field))
        slider = page.locator(f"#{name}-slider")
        slider.focus()
        for _ in range(3):
            slider.press("ArrowLeft" if name == "speed" else "ArrowRight")
        page.served.until(lambda trial, field=field, before=before: getattr(trial.setup, field) != before)
        after = page.served.query(lambda trial, field=field: getattr(trial.setup, field))
        assert (after < before) == (name == "speed")


def test_scale_of_a_slider(shared_page):
    found = shared_page.evaluate(
        """async () => {
             const { scale } = await import('/page/field.js');
             const inhibition = scale([0.001, 2], { zero: true });
             const count = scale([1, 100], { whole: true });
             const speed = scale([1, 1e7], { open: true });
             return {
               next: [
                 ...[[0.01, -1], [0.01, 1], [0.001, -1], [0, 1], [50, 1]].map(it => inhibition.next(...it)),
                 ...[[6, 1], [1, -1]].map(it => count.next(...it)),
                 ...[[null, -1], [1e7, 1]].map(it => speed.next(...it)),
               ],
               positions: [0, 0.01, 0.05, 0.5].map(inhibition.positionOf),
               ends: [inhibition.valueAt(0), inhibition.valueAt(1000), speed.valueAt(1000)],
             };
           }"""
    )
    assert found["next"] == [0.0091, 0.011, 0, 0.001, 55, 7, 1, 1e7, None]
    zero, *positions = found["positions"]
    assert zero == 0
    assert 200 < positions[0] < positions[1] - 150 < positions[2] - 300 < 600  # the paper's values are apart
    assert found["ends"] == [0, 2, None]


def test_arrow_keys_change_a_number(page):
    for name, before, key, after in (
        ("lambda", "0.01", "ArrowDown", "0.0091"),
        ("speed", "10000000", "ArrowUp", "full"),
        ("K", "6", "ArrowUp", "7"),
    ):
        enter(page, name, before)
        until(page, SETTING, arg=[name, before])
        page.locator(f"#{name}").press(key)
        until(page, SETTING, arg=[name, after])
        assert page.locator(f"#{name}").input_value() == after
    page.locator("#K-slider").focus()
    for _ in range(20):  # every press counts, also before the server confirms
        page.keyboard.press("ArrowUp")
    page.served.until(lambda trial: trial.setup.n_neurons == 27)
    until(page, "document.querySelector('#K').value === '27'")


def test_the_first_click_on_a_number_selects_it_and_the_second_sets_the_caret(page):
    selection = "(it => [it.selectionStart, it.selectionEnd])(document.activeElement)"
    field = page.locator("#speed")
    until(page, "document.querySelector('#speed').value === '100000'")
    page.evaluate("document.activeElement.blur()")
    field.click()
    assert page.evaluate(selection) == [0, 6]
    page.keyboard.type("500")
    page.keyboard.press("Enter")
    page.served.until(lambda trial: trial.setup.speed == 500)
    field.click()
    begin, end = page.evaluate(selection)
    assert begin == end


def test_typed_text_is_read_as_a_number(page):
    for text, shown, value in (
        ("Full", "full", None),
        ("1,000", "1000", 1000),
        ("1,5", "1.5", 1.5),
        ("20,000,000", "20000000", 2e7),
    ):
        enter(page, "speed", text)
        until(page, "text => document.querySelector('#speed').value === text", arg=shown)
        page.served.until(lambda trial, value=value: trial.setup.speed == value)


def test_an_invalid_number_is_reported_and_the_old_one_shown_again(page):
    enter(page, "eta", "fast")
    page.locator(".toast", has_text="fast").wait_for()
    assert page.locator("#eta").input_value() == "0.1"
    enter(page, "K", 1_000_000)
    page.locator(".toast", has_text="400").wait_for()
    until(page, "document.querySelector('#K').value === '6'")
    assert page.served.query(lambda trial: trial.setup.n_neurons) == 6


def test_the_number_of_neurons_is_shown_if_it_differs_from_K(page):
    usual = page.locator("#K-description").inner_text()
    page.locator(".filter[data-neuron='2']").click()
    until(page, "/5.*6/.test(document.querySelector('#K-description').textContent)")
    page.locator("#add").click()
    until(page, "usual => document.querySelector('#K-description').textContent === usual", arg=usual)


def test_learned_widths_are_shown_in_the_grid(page):
    assert set(page.locator(".filter .width").all_text_contents()) == {""}
    enter(page, "eta_sigma", 0.05)
    until(page, "document.querySelector('.filter .width').textContent.startsWith('σ ')")


def test_numbers_as_text(shared_page):
    found = shared_page.evaluate(
        """async () => {
             const { brief, counted, editable, measured, samples, short } = await import('/page/numbers.js');
             return [
               ...[0, 9999, 9999.7, 1e6, 123456].map(counted), ...[5000, 0.25, -1.5e6].map(short),
               ...[9.9996, 0, 0.581, 123.4, 1e-5, 0.00093].map(value => measured(value)),
               ...[5.3e11, 0.0074].map(editable), ...[0.926, 0.05, 0.00093, 0].map(brief),
               ...[1, 2].map(samples),
             ].map(text => text.replace('\\u00a0', ' '));
           }"""
    )
    expected = "0|9,999|10.0 k|1.00 M|123 k|5 k|0.25|−1.5 M|10.0|0.000|0.581|123|1e−5|9.3e−4|5.3e11|0.0074"
    expected += "|0.93|0.05|9e−4|0.00|sample|samples"
    assert found == expected.split("|")
