"""Pointer and keyboard in the plane: selecting, dragging, adding and removing neurons, painting points."""

import numpy as np
import pytest

from tests.live.pages import PLANE, pause, restart, start, until
from tests.live.serving import MIXTURE

pytest.importorskip("playwright.sync_api")

SHOWN = "generation => gaussianNeurons.frame?.generation === generation"
INSPECTED = "n => document.querySelector('[data-fact=number]').textContent === String(n)"


def position(plane, number):
    """Pause, and return the position of a neuron on the screen."""
    plane.served.run.submit(0, ("pause", {}))
    until(plane, SHOWN, arg=plane.served.query(lambda _: plane.served.run.generation))
    until(plane, f"gaussianNeurons.frame?.state === 'paused' && !{PLANE}.neurons.moving")
    until(plane, f"!{PLANE}.view.moving")
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


def count(plane):
    return plane.served.query(lambda trial: len(trial.ids))


def centers(plane):
    return plane.served.query(lambda trial: trial.model.centers_.copy())


@pytest.mark.parametrize("tool", ["drag", "paint"])
def test_drag_and_brush_stroke_end_if_another_tab_removes_the_neuron_or_the_data(plane, tool):
    box = plane.locator("#plane").bounding_box()
    pause(plane)
    until(plane, f"!{PLANE}.neurons.moving && !{PLANE}.view.moving")
    plane.locator(f"#tool-{tool}").click()
    x, y = plane.evaluate(
        f"""(({{ view, neurons }}) => {{
             const inside = [...neurons.ids.keys()].find((i) => {{
               const [x, y] = [view.x(neurons.places[2 * i]), view.y(neurons.places[2 * i + 1])];
               return x > 30 && y > 30 && x < view.width - 30 && y < view.height - 30;
             }});
             return [view.x(neurons.places[2 * inside]), view.y(neurons.places[2 * inside + 1])];
           }})({PLANE})"""
    )
    plane.mouse.move(box["x"] + x, box["y"] + y)
    plane.mouse.down()
    plane.mouse.move(box["x"] + x + 12, box["y"] + y + 12)
    pointer = f"{PLANE}.pointer"
    until(plane, f"({pointer}.grabbed ?? {pointer}.painting) !== null")
    if tool == "drag":
        held = plane.evaluate(f"{pointer}.held")
        plane.served.run.submit(0, ("remove", {"neuron": held}))
        until(plane, f"{pointer}.grabbed === null")
    else:
        plane.served.run.submit(0, ("start", {"setup": {"data": "file"}}))
        until(plane, "gaussianNeurons.scene.mode === 'image'")
        assert plane.evaluate(f"{pointer}.painting === null")
    for k in range(10):
        plane.mouse.move(box["x"] + x + 3 * k, box["y"] + y)
    plane.wait_for_timeout(200)
    plane.mouse.up()
    assert plane.locator(".toast[data-level='error']").count() == 0
    plane.evaluate("document.querySelector('#tool-drag').click()")


def test_a_dragged_neuron_follows_the_pointer_while_the_others_learn(plane):
    def center(trial):
        return trial.model.centers_[trial.index(3)].copy()

    x, y = position(plane, 3)
    begin = plane.served.query(center)
    plane.mouse.move(x, y)
    plane.mouse.down()
    box, scale = plane.locator("#plane").bounding_box(), plane.evaluate(f"{PLANE}.view.scale")
    way = np.sign([box["x"] + box["width"] / 2 - x, box["y"] + box["height"] / 2 - y]) * (70, 50)
    plane.mouse.move(x + way[0], y + way[1], steps=5)
    wanted = begin + way * (1, -1) / scale
    plane.served.until(lambda trial: np.allclose(center(trial), wanted, atol=2 / scale))
    plane.served.run.submit(0, ("resume", {}))
    held, others = plane.served.query(center), centers(plane)
    seen = plane.served.query(lambda trial: trial.seen)
    plane.served.until(lambda trial: trial.seen > seen + 500)
    assert (plane.served.query(center) == held).all()
    assert (centers(plane) != others).any()
    plane.mouse.up()
    plane.served.until(lambda trial: not trial.held and (center(trial) != held).any())


def test_the_surface_belongs_to_the_inspected_neuron_also_after_a_drag(plane):
    plane.locator("#surface").select_option("recent")
    until(plane, f"{PLANE}.surface.shown")
    places = {number: position(plane, number) for number in (2, 5)}
    plane.mouse.click(*places[2])
    until(plane, INSPECTED, arg=2)
    until(plane, f"{PLANE}.surface.neuron === 2")
    x, y = places[5]
    plane.mouse.move(x, y)
    plane.mouse.down()
    plane.mouse.move(x + 20, y + 5, steps=3)
    until(plane, f"{PLANE}.pointer.grabbed?.id === 5")
    plane.mouse.up()
    plane.served.until(lambda trial: not trial.held)
    assert plane.evaluate(INSPECTED, arg=2)
    assert plane.evaluate(f"[{PLANE}.surface.neuron, {PLANE}.selected]") == [2, 2]


def test_a_neuron_is_hit_anywhere_inside_its_circle(plane):
    position(plane, 1)
    hits = plane.evaluate(
        f"""(({{ view, neurons, pointer }}) => {{
             const radius = view.scale * Math.sqrt(0.01);
             const [x, y] = [view.x(neurons.places[0]), view.y(neurons.places[1])];
             const others = {{ ...pointer.plane, neurons: {{ ...neurons, count: 1 }}, view, arrows: [] }};
             const find = (part) => pointer.find.call({{ plane: others }}, [x + part * radius, y], 14);
             return [0, 0.3, 0.5, 0.7, 1, 1.3].map((part) => find(part)?.id ?? null);
           }})({PLANE})"""
    )
    assert hits == [1, 1, 1, 1, 1, None]


def test_a_drag_is_undone_with_a_key_and_a_button(plane):
    x, y = position(plane, 3)
    before = centers(plane)
    for undo, redo in (("Control+z", "Control+y"), ("#undo", "#redo"), ("Control+Z", "Control+Shift+Z")):
        plane.mouse.move(*position(plane, 3))
        plane.mouse.down()
        plane.mouse.move(x + 40, y + 10, steps=3)
        plane.mouse.up()
        plane.served.until(lambda trial: not trial.held and (trial.model.centers_ != before).any())
        after = centers(plane)
        for action, expected in ((undo, before), (redo, after), (undo, before)):
            plane.locator(action).click() if action[0] == "#" else plane.keyboard.press(action)
            plane.served.until(lambda trial, e=expected: (trial.model.centers_ == e).all())
    until(plane, "document.querySelector('#redo').title.includes('μ₃ moved')")


def test_a_restart_ends_a_drag(plane):
    x, y = position(plane, 2)
    plane.mouse.move(x, y)
    plane.mouse.down()
    plane.mouse.move(x + 30, y)
    start(plane, MIXTURE)
    plane.served.run.submit(0, ("pause", {}))
    until(plane, "gaussianNeurons.frame.state === 'paused'")
    before = centers(plane)
    plane.mouse.move(x + 60, y)
    plane.mouse.up()
    plane.wait_for_timeout(200)
    assert (centers(plane) == before).all()


def test_points_are_painted_and_removed(plane):
    def points(trial):
        return len(trial.points()["points"])

    pause(plane)
    box = plane.locator("#plane").bounding_box()
    before = plane.served.query(points)
    plane.locator("#tool-paint").click()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    plane.mouse.move(x, y)
    plane.mouse.down()
    plane.mouse.move(x + 30, y, steps=5)
    plane.served.until(lambda trial: points(trial) > before)
    plane.mouse.up()
    plane.locator("#noise-points").click()
    plane.served.until(lambda trial: points(trial) >= before + 200)
    plane.locator("#unpaint").click()
    plane.served.until(lambda trial: points(trial) == before)
    plane.locator("#tool-drag").click()


def test_a_double_click_adds_a_neuron_also_if_the_pointer_leaves_between_the_clicks(plane):
    """Safari sends leave and enter after each click."""
    box = plane.locator("#plane").bounding_box()
    at = {"clientX": box["x"] + 30, "clientY": box["y"] + 30, "bubbles": True}
    position(plane, 1)  # waits until nothing moves
    shown = plane.evaluate(f"{PLANE}.view.toData(30, 30)")
    for event in ("pointerleave", "pointerenter", "dblclick"):
        plane.locator("#plane").dispatch_event(event, at)
    plane.served.until(lambda trial: len(trial.ids) == MIXTURE.n_neurons + 1)
    assert np.allclose(centers(plane)[-1], shown, atol=0.02)


def test_keys_select_move_remove_and_add_neurons(plane):
    pause(plane)
    for focused in ("body", "#plane", "#pause", "input[type=range]"):
        plane.evaluate(
            f"it => {{ {PLANE}.select(null); document.activeElement.blur();"
            "document.querySelector(it).focus(); }",
            focused,
        )
        for key, number in (("]", 1), ("]", 2), ("[", 1), ("[", 8)):
            plane.keyboard.press(key)
            until(plane, f"n => {PLANE}.selected === n", arg=number)
            until(plane, INSPECTED, arg=number)
    before = centers(plane)[7]
    plane.keyboard.press("ArrowRight")
    plane.served.until(lambda trial: trial.model.centers_[7][0] > before[0])
    plane.keyboard.press("Delete")
    plane.served.until(lambda trial: 8 not in trial.ids)
    plane.keyboard.press("]")
    until(plane, f"{PLANE}.selected !== null")
    plane.locator("#inspector-close").click()
    until(plane, f"{PLANE}.selected === null")
    plane.locator("#plane").focus()
    plane.keyboard.press("Delete")  # nothing is selected
    for _ in range(5):
        plane.keyboard.down("+")  # held
    plane.keyboard.up("+")
    plane.served.until(lambda trial: 9 in trial.ids)
    plane.wait_for_timeout(200)
    assert count(plane) == 8
    plane.locator("#neuron-fields input[type=text]").first.focus()
    plane.keyboard.press("]")  # text
    assert plane.evaluate(f"{PLANE}.selected") is None
    plane.keyboard.press("Escape")


def test_a_restart_clears_the_selection(plane):
    plane.locator("#surface").select_option("recent")
    for _ in range(2):  # the second time it is a neuron of another trial with the same number
        x, y = position(plane, 3)
        plane.mouse.click(x, y)
        until(plane, f"{PLANE}.selected === 3 && {PLANE}.pointer.hovered === 3")
        until(plane, INSPECTED, arg=3)
        restart(plane)
        assert plane.evaluate(f"[{PLANE}.selected, {PLANE}.pointer.hovered]") == [None, None]
        assert plane.locator("#inspector.empty").count()
        plane.locator("#plane").focus()
        plane.keyboard.press("Delete")
    assert count(plane) == 8
