"""The plane: its points and axes, the surface of F, and what a saved picture has of them."""

from xml.etree import ElementTree

import numpy as np
import pytest

from gaussian_neurons.live.sources import Sources, defaults, from_rows
from gaussian_neurons.theory import cost_surface
from tests.live.pages import PLANE, become, choose_surface, drawn
from tests.live.serving import served

pytest.importorskip("playwright.sync_api")

SVG = "{http://www.w3.org/2000/svg}"
COUNT = f"{PLANE}.layer.count"


def test_the_surface_is_the_papers(plane):
    random = np.random.default_rng(1)
    for count, samples in ((1, 1), (2, 1), (5, 1), (9, 7)):
        centers, widths = random.random((count, 2)), random.uniform(0.05, 0.4, count)
        x, which = random.random((samples, 2)), int(random.integers(count))
        found = plane.evaluate(
            """async ([centers, widths, which, samples, inhibition, box, nx, ny]) => {
                 const { surface } = await import('/page/surface.js');
                 const numbers = [centers, widths, samples].map(it => Float32Array.from(it));
                 return [...surface(numbers[0], numbers[1], which, numbers[2], inhibition, box, nx, ny)];
               }""",
            [centers.ravel().tolist(), widths.tolist(), which, x.ravel().tolist(), 0.3, [0, 0, 1, 1], 8, 6],
        )
        grid = np.stack(np.meshgrid((np.arange(8) + 0.5) / 8, (np.arange(6) + 0.5) / 6), axis=-1).reshape(
            -1, 2
        )
        order = np.r_[which, np.delete(np.arange(count), which)]
        wanted = np.mean(
            [cost_surface(grid, centers[order[1:]], one, widths[order], 0.3) for one in x], axis=0
        )
        assert np.abs(np.array(found) - wanted).max() < 1e-5


@pytest.mark.parametrize(
    ("box", "first", "last", "name"),
    [
        ([0, 0, 1, 1], [0, "0"], [1, "1.0"], "east"),
        ([-40, 0, 40, 80], [-40, "−40"], [40, "40"], "east"),
        ([1e9 - 5, 0, 1e9 + 95, 100], [1e9, "0"], [1e9 + 80, "80"], "east − 1,000,000,000"),
        ([0, 0, 1, 1], [0, "0"], [1, "1.0"], "a column whose name is…"),
        ([-7e6 - 1, 0, -7e6 + 1, 2], [-7e6 - 1, "−1.0"], [-7e6 + 1, "1.0"], "east + 7,000,000"),
        ([151.2092, 0, 151.2112, 1], [151.2095, "−0.0005"], [151.211, "0.0010"], "east − 151.21"),
        ([5000.3, 0, 5000.35, 1], [5000.3, "0"], [5000.35, "0.05"], "east − 5,000.3"),
        ([1000003.5, 0, 1000006.5, 1], [1000003.5, "−2.5"], [1000006.5, "0.5"], "east − 1,000,006"),
    ],
)
def test_ticks_tell_places_apart_however_far_away_they_are(plane, box, first, last, name):
    found = plane.evaluate(
        """async ([box, name]) => {
             const { axes } = await import('/page/plane_axes.js');
             return axes({ width: 475, box: () => box }, [name, 'north']).x;
           }""",
        [box, "a column whose name is long" if "…" in name else "east"],
    )
    for tick, (value, text) in ((found["ticks"][0], first), (found["ticks"][-1], last)):
        assert tick == [pytest.approx(value, rel=1e-12), text]
    assert found["name"] == name
    texts = [text for _, text in found["ticks"]]
    assert len(set(texts)) == len(texts) > 2


def test_points_far_away_keep_their_places_and_the_columns_their_names(tabs):
    rows = np.random.default_rng(0).normal(size=(50, 2)) + 1e9
    points = from_rows(rows, "far.csv", (), axes=("east", "north"))
    with served(defaults("file", points), Sources(None, points)) as far:
        page = tabs(far.url)
        become(page, "gaussianNeurons.scene.axes?.join() === 'east,north'")
        seen = page.evaluate("[...gaussianNeurons.frame.samples]")
        assert set(seen) <= set(rows.ravel().tolist())


@pytest.mark.parametrize(("width", "height"), [(390, 844), (768, 1024), (1024, 768), (1280, 860)])
def test_facts_of_a_chosen_neuron_are_in_sight(plane, width, height):
    plane.set_viewport_size({"width": width, "height": height})
    plane.locator("#plane").focus()
    plane.keyboard.press("]")
    plane.locator("#inspector-remove").wait_for()
    box, bar = plane.locator("#inspector").bounding_box(), plane.locator("#transport").bounding_box()
    assert box["y"] >= 0
    assert box["y"] + box["height"] <= (bar["y"] if width < 1100 else height)
    plane.set_viewport_size({"width": 1280, "height": 860})


def test_only_new_points_are_told_and_all_tabs_have_the_same(plane, mixed, tabs):
    other = tabs(mixed.url)
    before = plane.evaluate(COUNT)
    for batch in range(1, 4):
        mixed.page.run.order(0, ("paint", {"points": [[0.1 * batch, 0.2], [0.3, 0.1 * batch]]}))
        for tab in (plane, other):
            become(tab, f"n => {COUNT} === n", arg=before + 2 * batch)
    points = mixed.ask(lambda trial: trial.points())
    for tab in (plane, other):
        assert tab.evaluate(f"[...{PLANE}.layer.points]") == points["points"].ravel().tolist()
        assert tab.evaluate(f"[...{PLANE}.layer.painted]") == points["painted"].tolist()
    mixed.page.run.order(0, ("unpaint", {}))
    for tab in (plane, other):
        become(tab, f"n => {COUNT} === n && !{PLANE}.layer.painted.includes(1)", arg=before)


def test_points_that_do_not_follow_those_that_are_there_are_left_out(plane):
    found = plane.evaluate(
        """async () => {
             const { PointLayer } = await import('/page/plane_points.js');
             const layer = new PointLayer();
             const told = [[0, [1, 2, 3, 4], [0, 0]], [2, [5, 6], [1]], [4, [9, 9], [1]], [1, [7, 8], [1]]];
             return told.map(([first, points, painted]) => {
               const arrays = { points: Float64Array.from(points), painted: Uint8Array.from(painted) };
               layer.setPoints({ first, ...arrays });
               return [[...layer.points], [...layer.painted]];
             });
           }"""
    )
    three = [[1, 2, 3, 4, 5, 6], [0, 0, 1]]
    assert found == [[[1, 2, 3, 4], [0, 0]], three, three, [[1, 2, 7, 8], [0, 1]]]


def test_x_is_marked_where_the_surface_is_about_it_alone(plane):
    plane.locator("#pause").click()
    become(plane, f"gaussianNeurons.frame.state === 'paused' && {PLANE}.samples.current !== null")
    for choice, told in (("sample", True), ("recent", False), ("off", True)):
        plane.locator("#surface").select_option(choice)
        become(plane, f"told => {PLANE}.tellsX() === told", arg=told)


def test_the_surface_is_drawn_or_not(plane):
    become(plane, "gaussianNeurons.frame.seen > 200")
    sizes = {choice: _picture_size(plane, choice) for choice in ("off", "sample", "recent")}
    assert min(sizes["sample"], sizes["recent"]) > 1.2 * sizes["off"], sizes


def _picture_size(plane, choice):
    """How many bytes the plane takes as a picture, with one kind of surface."""
    choose_surface(plane, choice)
    drawn(plane)
    return len(plane.evaluate("document.querySelector('#plane').toDataURL()"))


def test_the_legend_tells_of_marks_that_are_there_and_nothing_moves(plane):
    plane.locator("#pause").click()
    become(plane, f"gaussianNeurons.frame.state === 'paused' && {PLANE}.samples.current !== null")
    heights = set()
    for choice, star, x in (("off", False, True), ("sample", True, True), ("recent", True, False)):
        plane.locator("#surface").select_option(choice)
        become(
            plane,
            f"it => [...{PLANE}.legend].map(m => m.dataset.seen === 'true').join() === it.join()",
            arg=[False, star, x],  # nothing is painted
        )
        assert [plane.locator(f"[data-mark={mark}]").is_visible() for mark in ("star", "x")] == [star, x]
        heights.add(plane.locator("#plane").bounding_box()["height"])
    assert len(heights) == 1
    plane.locator("#surface").select_option("off")


def test_numbers_keep_off_the_circles_of_others(plane):
    corners = plane.evaluate(
        """async () => {
             const { Labels } = await import('/page/plane_labels.js');
             const view = { width: 400, height: 400, scale: 1, x: x => x, y: y => y };
             const around = (x, y, radius) => {
               const neurons = { count: 2, ids: [1, 2], learned: [1, 0], widths: [1, radius * radius],
                                 places: [200, 200, x, y] };
               const [label] = new Labels().place(view, neurons, [], []);
               return [Math.sign(label.x - 200), Math.sign(label.y - 200)];
             };
             // nothing near; a large circle through the upper right corner; a center there
             return [around(20, 380, 9), around(300, 100, 125), around(213, 187, 60)];
           }"""
    )
    assert corners[0] == [1, -1]
    assert corners[1] != [1, -1]
    assert corners[2] != [1, -1]


@pytest.mark.parametrize(
    ("choice", "about"), [("off", None), ("sample", "sample x"), ("recent", "last samples")]
)
def test_a_saved_picture_has_a_title_and_the_lines_of_the_surface(plane, choice, about):
    become(plane, "gaussianNeurons.frame.seen > 200")
    choose_surface(plane, choice)
    picture = plane.evaluate(f"{PLANE}.toSVG()")
    root = ElementTree.fromstring(picture)
    texts = ["".join(it.itertext()) for it in root.iter(f"{SVG}text")]
    (title,) = (text for text in texts if text.startswith("8 neurons after "))
    assert root.find(f"{SVG}title").text.startswith(title)
    told = [text for text in texts if text.startswith("The map is F over the places of neuron")]
    assert [about in text for text in told] == [True] * (about is not None)
    longest = max(len(it.get("d")) for it in root.iter(f"{SVG}path"))
    assert (longest > 2000) == (about is not None)
    plane.locator("#surface").select_option("off")
