"""Numbers: typed, slid, nudged, refused, and written."""

import pytest

from tests.live.pages import become, setup_of, until

pytest.importorskip("playwright.sync_api")


@pytest.mark.parametrize(
    ("name", "value", "field"),
    [
        ("K", 9, "n_neurons"),
        ("sigma", 0.5, "width"),
        ("lambda", 0.25, "inhibition"),
        ("eta", 0.05, "learning_rate"),
        ("eta_sigma", 0.2, "width_learning_rate"),
        ("size", 3, "size"),
        ("speed", 1234, "speed"),
    ],
)
def test_a_number_that_is_typed_is_taken(tab, stripes, name, value, field):
    tab.locator(f"#{name}").fill(str(value))
    tab.locator(f"#{name}").press("Enter")
    until(stripes, lambda trial: getattr(trial.setup, field) == value)
    become(tab, "([n, v]) => new URLSearchParams(location.search).get(n) == v", arg=[name, value])
    if name == "K":
        until(stripes, lambda trial: len(trial.ids) == 9)
    elif name == "sigma":
        until(stripes, lambda trial: (trial.model.widths_ == 0.5).all())
    elif name in ("lambda", "eta", "eta_sigma"):
        until(stripes, lambda trial: getattr(trial.model, field) == value)
    elif name == "size":
        assert tab.evaluate("gaussianNeurons.scene.patch") == [3, 3, 1]


@pytest.mark.parametrize(
    ("name", "field"),
    [("K", "n_neurons"), ("sigma", "width"), ("lambda", "inhibition"), ("eta", "learning_rate"),
     ("eta_sigma", "width_learning_rate"), ("size", "size"), ("speed", "speed")],
)  # fmt: skip
def test_a_slider_moves_its_number(tab, stripes, name, field):
    before = getattr(setup_of(stripes), field)
    slider = tab.locator(f"#{name}-slider")
    slider.focus()
    key = "ArrowLeft" if name == "speed" else "ArrowRight"
    for _ in range(3):
        slider.press(key)
    until(stripes, lambda trial: getattr(trial.setup, field) != before)
    now = getattr(setup_of(stripes), field)
    assert now < before if name == "speed" else now > before


@pytest.mark.parametrize(
    ("name", "start", "key", "wanted"),
    [
        ("lambda", "0.01", "ArrowDown", "0.0091"),
        ("lambda", "0.01", "ArrowUp", "0.011"),
        ("lambda", "0.001", "ArrowDown", "0"),
        ("lambda", "0", "ArrowUp", "0.001"),
        ("lambda", "50", "ArrowUp", "55"),  # beyond the slider
        ("eta_sigma", "0.1", "ArrowDown", "0.091"),
        ("K", "6", "ArrowUp", "7"),
        ("K", "1", "ArrowDown", "1"),
        ("speed", "full", "ArrowDown", "10000000"),
        ("speed", "10000000", "ArrowUp", "full"),
    ],
)
def test_an_arrow_key_is_a_small_step(tab, name, start, key, wanted):
    field = tab.locator(f"#{name}")
    field.fill(start)
    field.press("Enter")
    become(tab, "([n, v]) => String(gaussianNeurons.scene.setup[n] ?? 'full') === v", arg=[name, start])
    field.press(key)
    become(tab, "([n, v]) => String(gaussianNeurons.scene.setup[n] ?? 'full') === v", arg=[name, wanted])
    assert field.input_value() == wanted


def test_the_first_click_on_a_number_chooses_it_and_the_second_a_place_in_it(tab, stripes):
    field, chosen = (
        tab.locator("#speed"),
        "(it => [it.selectionStart, it.selectionEnd])(document.activeElement)",
    )
    become(tab, "document.querySelector('#speed').value === '100000'")
    tab.evaluate("document.activeElement.blur()")
    field.click()
    assert tab.evaluate(chosen) == [0, 6]
    tab.keyboard.type("500")
    tab.keyboard.press("Enter")
    until(stripes, lambda trial: trial.setup.speed == 500)
    field.click()
    begin, end = tab.evaluate(chosen)
    assert begin == end


def test_what_was_typed_is_shown_as_it_was_understood_or_refused_by_its_name(tab, stripes):
    for typed, shown in (("Full", "full"), ("FULL", "full"), ("1,000", "1000")):
        tab.locator("#speed").fill(typed)
        tab.locator("#speed").press("Enter")
        become(tab, "text => document.querySelector('#speed').value === text", arg=shown)
    tab.locator("#eta").fill("fast")
    tab.locator("#eta").press("Enter")
    tab.locator("#toasts").get_by_text("η_μ (learning rate) must be a number, got “fast”.").wait_for()


def test_every_press_of_an_arrow_key_counts(tab, stripes):
    become(tab, "document.querySelector('#K').value === '6'")
    tab.locator("#K-slider").focus()
    for _ in range(20):
        tab.keyboard.press("ArrowUp")
    until(stripes, lambda trial: trial.setup.n_neurons == 26)
    become(tab, "document.querySelector('#K').value === '26'")


@pytest.mark.parametrize(
    ("typed", "meant"), [("1,000", 1000), ("1,5", 1.5), ("20,000,000", 2e7), ("2500", 2500)]
)
def test_commas_are_read_as_they_are_written(tab, stripes, typed, meant):
    tab.locator("#speed").fill(typed)
    tab.locator("#speed").press("Enter")
    until(stripes, lambda trial: trial.setup.speed == meant)


def test_the_papers_inhibitions_lie_apart_on_the_slider(tab):
    places = {}
    for value in ("0", "0.01", "0.05", "0.5"):
        tab.locator("#lambda").fill(value)
        tab.locator("#lambda").press("Enter")
        become(tab, "v => gaussianNeurons.scene.setup.lambda === v", arg=float(value))
        places[value] = int(tab.locator("#lambda-slider").input_value())
    assert places["0"] == 0
    assert 200 < places["0.01"] < places["0.05"] - 150 < places["0.5"] - 300 < 600


def test_k_says_when_another_number_is_there(tab):
    note = tab.locator("#K-why")
    usual = note.inner_text()
    tab.locator(".filter[data-neuron='2']").click()
    become(tab, "document.querySelector('#K-why').textContent === '5 are there now; a new start has 6.'")
    tab.locator("#add").click()
    become(tab, "usual => document.querySelector('#K-why').textContent === usual", arg=usual)


def test_noise_is_for_widths_that_are_learned(tab, stripes):
    assert tab.locator("#noise").is_hidden()
    tab.locator("#eta_sigma").fill("0.1")
    tab.locator("#eta_sigma").press("Enter")
    tab.locator("#noise").fill("0.3")
    tab.locator("#noise").press("Enter")
    until(stripes, lambda trial: trial.setup.noise == 0.3)


def test_a_number_that_is_refused_is_told_and_the_truth_shown_again(tab, stripes):
    tab.locator("#K").fill("1000000")
    tab.locator("#K").press("Enter")
    tab.locator("#toasts").get_by_text("400").first.wait_for()
    become(tab, "document.querySelector('#K').value === '6'")
    assert setup_of(stripes).n_neurons == 6


def test_numbers_are_written_for_people(tab):
    written = tab.evaluate(
        """async () => {
             const { brief, counted, editable, measured, short } = await import('/page/numbers.js');
             return [
               ...[0, 9999, 9999.7, 1e6, 123456].map(counted), ...[5000, 0.25, -1.5e6].map(short),
               ...[9.9996, 0, 0.581, 123.4, 1e-5, 0.00093].map(value => measured(value)),
               ...[5.3e11, 0.0074].map(editable), ...[0.926, 0.05, 0.00093, 0].map(brief),
             ].map(text => text.replace('\u00a0', ' '));
           }"""
    )
    wanted = "0|9,999|10.0 k|1.00 M|123 k|5 k|0.25|−1.5 M|10.0|0.000|0.581|123|1e−5|9.3e−4|5.3e11|0.0074"
    wanted += "|0.93|0.05|9e−4|0.00"
    assert written == wanted.split("|")
