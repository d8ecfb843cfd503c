"""The plane in the hand: neurons that are chosen, dragged and added, points that are painted."""

import numpy as np
import pytest

from tests.live.pages import PLANE, again, become, start, until
from tests.live.serving import MIXTURE

pytest.importorskip("playwright.sync_api")


def test_closed_facts_leave_nobody_chosen(plane, mixed):
    plane.locator("#plane").focus()
    plane.keyboard.press("]")
    become(plane, "document.querySelector('#plane').plane.selected !== null")
    plane.locator("#inspector-close").click()
    become(plane, "document.querySelector('#plane').plane.selected === null")
    plane.locator("#plane").focus()
    plane.keyboard.press("Delete")
    plane.wait_for_timeout(200)
    assert mixed.ask(lambda trial: len(trial.ids)) == MIXTURE.n_neurons


def test_a_held_key_adds_one_neuron(plane, mixed):
    plane.locator("#plane").focus()
    for _ in range(5):
        plane.keyboard.down("+")
    plane.keyboard.up("+")
    until(mixed, lambda trial: len(trial.ids) > MIXTURE.n_neurons)
    plane.wait_for_timeout(300)
    assert mixed.ask(lambda trial: len(trial.ids)) == MIXTURE.n_neurons + 1


@pytest.mark.parametrize("tool", ["drag", "paint"])
def test_the_pointer_lets_go_of_what_is_gone(plane, mixed, tool):
    """Another tab chooses other data, or removes the neuron in the hand."""
    box = plane.locator("#plane").bounding_box()
    plane.locator("#pause").click()
    become(plane, "gaussianNeurons.frame.state === 'paused'")
    become(plane, f"!{PLANE}.neurons.moving && !{PLANE}.view.moving")
    plane.locator(f"#tool-{tool}").click()
    x, y = plane.evaluate(
        """(({ view, neurons }) => {
             const inside = [...neurons.ids.keys()].find((i) => {
               const [x, y] = [view.x(neurons.places[2 * i]), view.y(neurons.places[2 * i + 1])];
               return x > 30 && y > 30 && x < view.width - 30 && y < view.height - 30;
             });
             return [view.x(neurons.places[2 * inside]), view.y(neurons.places[2 * inside + 1])];
           })(document.querySelector('#plane').plane)"""
    )
    plane.mouse.move(box["x"] + x, box["y"] + y)
    plane.mouse.down()
    plane.mouse.move(box["x"] + x + 12, box["y"] + y + 12)
    pointer = f"{PLANE}.pointer"
    become(plane, f"({pointer}.grabbed ?? {pointer}.painting) !== null")
    if tool == "drag":
        held = plane.evaluate(f"{pointer}.held")
        mixed.page.run.order(0, ("remove", {"neuron": held}))
        become(plane, f"{pointer}.grabbed === null")
    else:
        mixed.page.run.order(0, ("start", {"setup": {"data": "photographs"}}))
        become(plane, "gaussianNeurons.scene.mode === 'image'")
        assert plane.evaluate(f"{pointer}.painting === null")
    for k in range(10):
        plane.mouse.move(box["x"] + x + 3 * k, box["y"] + y)
        plane.wait_for_timeout(20)
    plane.mouse.up()
    assert plane.locator(".toast[data-level='error']").all_inner_texts() == []
    plane.evaluate("document.querySelector('#tool-drag').click()")


def test_a_neuron_is_dragged_and_stays_in_the_hand_while_the_others_learn(plane, mixed):
    def center(trial):
        return trial.model.centers_[trial.index(3)].copy()

    x, y = _place(plane, mixed, 3)
    begin = mixed.ask(center)
    plane.mouse.move(x, y)
    plane.mouse.down()
    box, scale = plane.locator("#plane").bounding_box(), plane.evaluate(f"{PLANE}.view.scale")
    way = np.sign([box["x"] + box["width"] / 2 - x, box["y"] + box["height"] / 2 - y]) * (70, 50)
    plane.mouse.move(x + way[0], y + way[1], steps=5)
    wanted = begin + way * (1, -1) / scale
    until(mixed, lambda trial: np.allclose(center(trial), wanted, atol=2 / scale))
    mixed.page.run.order(0, ("resume", {}))
    held, others = mixed.ask(center), mixed.ask(lambda trial: trial.model.centers_.copy())
    seen = mixed.ask(lambda trial: trial.seen)
    until(mixed, lambda trial: trial.seen > seen + 500)
    assert (mixed.ask(center) == held).all()
    assert (mixed.ask(lambda trial: trial.model.centers_.copy()) != others).any()
    plane.mouse.up()
    until(mixed, lambda trial: not trial.held and (center(trial) != held).any())


def test_points_are_painted_and_taken_back(plane, mixed):
    plane.locator("#pause").click()
    become(plane, "gaussianNeurons.frame.state === 'paused'")
    box = plane.locator("#plane").bounding_box()
    assert box["width"] > 400
    before = len(mixed.page.run.trial.points()["points"])
    plane.locator("#tool-paint").click()
    plane.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    plane.mouse.down()
    for k in range(10):
        plane.mouse.move(box["x"] + box["width"] / 2 + 3 * k, box["y"] + box["height"] / 2)
        plane.wait_for_timeout(30)
    plane.mouse.up()
    until(mixed, lambda trial: len(trial.points()["points"]) > before)
    plane.locator("#noise-points").click()
    until(mixed, lambda trial: len(trial.points()["points"]) >= before + 200)
    plane.locator("#unpaint").click()
    until(mixed, lambda trial: len(trial.points()["points"]) == before)
    plane.locator("#tool-drag").click()
    plane.locator("#add").click()
    until(mixed, lambda trial: len(trial.ids) == 9)


def test_a_double_click_adds_a_neuron_there_also_where_the_pointer_leaves_after_each_click(plane, mixed):
    """As it does in Safari, and comes back without a move."""
    box = plane.locator("#plane").bounding_box()
    at = {"clientX": box["x"] + 30, "clientY": box["y"] + 30, "bubbles": True}
    _place(plane, mixed, 1)  # so that nothing moves
    shown = plane.evaluate(f"{PLANE}.view.toData(30, 30)")
    plane.locator("#plane").dispatch_event("pointerleave", at)
    plane.locator("#plane").dispatch_event("pointerenter", at)
    plane.locator("#plane").dispatch_event("dblclick", at)
    until(mixed, lambda trial: len(trial.ids) == MIXTURE.n_neurons + 1)
    new = mixed.ask(lambda trial: trial.model.centers_[-1].copy())
    assert np.allclose(new, shown, atol=0.02)


def test_the_plane_is_worked_with_the_keyboard(plane, mixed):
    plane.locator("#pause").click()
    become(plane, "gaussianNeurons.frame.state === 'paused'")
    plane.locator("#plane").focus()
    plane.keyboard.press("]")
    become(plane, f"{PLANE}.selected !== null")
    number = plane.evaluate(f"{PLANE}.selected")
    become(plane, "n => document.querySelector('[data-fact=number]').textContent === String(n)", arg=number)
    place = mixed.ask(lambda trial: trial.model.centers_[trial.index(number)].copy())
    plane.keyboard.press("ArrowRight")
    until(mixed, lambda trial: trial.model.centers_[trial.index(number)][0] > place[0])
    plane.keyboard.press("Delete")
    until(mixed, lambda trial: number not in trial.ids)


@pytest.mark.parametrize("focused", ["body", "#plane", "#pause", "input[type=range]"])
def test_brackets_choose_a_neuron_wherever_the_focus_is(plane, focused):
    plane.locator("#pause").click()
    plane.evaluate("it => { document.activeElement.blur(); document.querySelector(it).focus(); }", focused)
    for key, number in (("]", 1), ("]", 2), ("[", 1), ("[", 8)):
        plane.keyboard.press(key)
        become(plane, f"n => {PLANE}.selected === n", arg=number)
        become(
            plane, "n => document.querySelector('[data-fact=number]').textContent === String(n)", arg=number
        )


def test_brackets_in_a_text_field_are_text(plane):
    plane.locator("#fields input[type=text]").first.focus()
    plane.keyboard.press("]")
    assert plane.evaluate(f"{PLANE}.selected") is None
    plane.keyboard.press("Backspace")


def test_a_new_start_forgets_what_was_chosen(plane, mixed):
    plane.locator("#surface").select_option("recent")
    for _ in range(2):  # the second time it is a neuron of another start, with the same number
        x, y = _place(plane, mixed, 3)
        plane.mouse.click(x, y)
        become(plane, f"{PLANE}.selected === 3 && {PLANE}.about === 3 && {PLANE}.pointer.hovered === 3")
        become(plane, "document.querySelector('[data-fact=number]').textContent === '3'")
        assert not plane.locator("#inspector.empty").count()
        again(plane)
        assert plane.evaluate(f"[{PLANE}.selected, {PLANE}.about, {PLANE}.pointer.hovered]") == [None] * 3
        assert plane.locator("#inspector.empty").count()
        plane.locator("#plane").focus()
        plane.keyboard.press("Delete")
    assert mixed.ask(lambda trial: len(trial.ids)) == 8
    plane.locator("#surface").select_option("off")


def test_a_drag_ends_where_a_new_start_begins(plane, mixed):
    x, y = _place(plane, mixed, 2)
    plane.mouse.move(x, y)
    plane.mouse.down()
    plane.mouse.move(x + 30, y)
    start(plane, mixed, MIXTURE)
    mixed.page.run.order(0, ("pause", {}))
    become(plane, "gaussianNeurons.frame.state === 'paused'")
    before = mixed.ask(lambda trial: trial.model.centers_.copy())
    plane.mouse.move(x + 60, y)
    plane.mouse.up()
    plane.wait_for_timeout(200)
    after = mixed.ask(lambda trial: trial.model.centers_.copy())
    assert (before == after).all()


def _place(plane, mixed, number):
    """Pause, and say where a neuron is on the screen once it stands still."""
    mixed.page.run.order(0, ("pause", {}))
    become(plane, f"gaussianNeurons.frame.state === 'paused' && !{PLANE}.neurons.moving")
    become(plane, f"!{PLANE}.view.moving")
    return plane.evaluate(
        """number => {
             const canvas = document.querySelector('#plane');
             const { view, neurons } = canvas.plane;
             const i = neurons.indexOf(number);
             const box = canvas.getBoundingClientRect();
             const place = [view.x(neurons.places[2 * i]), view.y(neurons.places[2 * i + 1])];
             return [box.left + canvas.clientLeft + place[0], box.top + canvas.clientTop + place[1]];
           }""",
        number,
    )
