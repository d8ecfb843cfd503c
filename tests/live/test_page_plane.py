"""Plane mode: points and axes, the surface of F, marks and labels, and saved pictures."""

from dataclasses import replace

import numpy as np
import pytest

from gaussian_neurons.learning.reference_shaped import sample_cost
from tests.live.pages import PLANE, choose_surface, drawn, pause, recorded, start, until
from tests.live.serving import MIXTURE

pytest.importorskip("playwright.sync_api")

COUNT = f"{PLANE}.layer.count"


def test_the_surface_is_the_papers_cost(shared_page):
    random = np.random.default_rng(1)
    for count, samples, kind in (
        (1, 1, "full"),
        (2, 1, "spherical"),
        (5, 1, "diag"),
        (9, 7, "full"),
        (9, 7, "equal"),
    ):
        centers, covariances = random.random((count, 2)), shapes(random, count, kind)
        x, which = random.random((samples, 2)), int(random.integers(count))
        found = shared_page.evaluate(
            """async ([centers, covariances, which, samples, inhibition, box, nx, ny]) => {
                 const { surface } = await import('/page/surface.js');
                 const numbers = [centers, covariances, samples].map(it => Float64Array.from(it));
                 return [...surface(numbers[0], numbers[1], which, numbers[2], inhibition, box, nx, ny)];
               }""",
            [
                centers.ravel().tolist(),
                covariances[:, [0, 0, 1], [0, 1, 1]].ravel().tolist(),
                which,
                x.ravel().tolist(),
                0.3,
                [0, 0, 1, 1],
                8,
                6,
            ],
        )
        expected = []
        for row in (np.arange(6) + 0.5) / 6:
            for column in (np.arange(8) + 0.5) / 8:
                centers[which] = column, row
                expected.append(np.mean([sample_cost(one, centers, covariances, 0.3) for one in x]))
        assert np.abs(np.array(found) - expected).max() < 1e-5


def shapes(random, count, kind):
    """Random covariances, (count, 2, 2); equal ones are thin and turned."""
    if kind == "equal":
        return np.tile([[0.05, 0.024], [0.024, 0.012]], (count, 1, 1))
    variances = random.uniform(0.05, 0.4, (count, 2))
    if kind == "spherical":
        variances[:, 1] = variances[:, 0]
    both = random.uniform(-0.9, 0.9, count) * np.sqrt(variances.prod(axis=1)) * (kind == "full")
    return np.stack([[variances[:, 0], both], [both, variances[:, 1]]]).transpose(2, 0, 1)


def test_the_ellipse_of_a_covariance(shared_page):
    """Half axes 3 and 1 at 30 degrees. On the screen y points down, and a unit has 10 pixels."""
    angle, around = np.radians(30), np.linspace(0, 2 * np.pi, 24, endpoint=False)
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    (xx, xy), (_, yy) = turn @ np.diag([9.0, 1.0]) @ turn.T
    on_line = np.column_stack([3 * np.cos(around), np.sin(around)])
    outward = on_line / [9, 1]
    outward /= np.linalg.norm(outward, axis=1)[:, None]
    places = np.stack(
        [on_line @ turn.T, (on_line + 0.2 * outward) @ turn.T, (on_line - 0.1 * outward) @ turn.T]
    )
    pixels = 100 + 10 * places * [1, -1]
    ellipse, distances = shared_page.evaluate(
        """async ([covariances, pixels]) => {
             const { ellipseOf, lineDistance } = await import('/page/plane_ellipses.js');
             const view = { scale: 10, x: x => 100 + 10 * x, y: y => 100 - 10 * y };
             const ellipse = ellipseOf(view, { covariances, places: [0, 0] }, 0);
             return [ellipse, pixels.map(([x, y]) => lineDistance(ellipse, x, y))];
           }""",
        [[xx, xy, yy], pixels.reshape(-1, 2).tolist()],
    )
    expected = {"x": 100, "y": 100, "long": 30, "short": 10, "angle": -angle, "wide": 10 * xx**0.5}
    assert {name: ellipse[name] for name in expected} == pytest.approx(expected)
    zero, outside, inside = np.reshape(distances, (3, -1))
    assert zero.max() < 1e-9
    assert np.abs(outside - 2).max() < 0.4
    assert np.abs(inside - 1).max() < 0.2


def test_a_neuron_with_a_covariance_is_hit_inspected_and_saved_as_its_ellipse(plane):
    start(plane, replace(MIXTURE, n_neurons=1, covariance_type="full"))
    pause(plane)
    plane.served.query(
        lambda trial: trial.model.move_neurons(
            [0], centers=[[0.5, 0.5]], width=[[[0.05, 0.024], [0.024, 0.0168]]]
        )
    )
    plane.locator("#step").click()
    until(plane, f"Math.abs({PLANE}.neurons.places[0] - 0.5) < 0.01 && !{PLANE}.neurons.moving")
    find = f"([x, y]) => {PLANE}.pointer.find([{PLANE}.view.x(x), {PLANE}.view.y(y)], 14)?.id === 1"
    long, angle = np.sqrt(0.0626), np.arctan2(0.024, 0.0626 - 0.0168)  # eigenvalues 0.0626 and 0.0042
    center = plane.served.query(lambda trial: trial.model.centers_[0].copy())
    ends = [center + sign * long * np.array([np.cos(angle), np.sin(angle)]) for sign in (1, -1)]
    beside = center + 0.19 * np.array([-np.sin(angle), np.cos(angle)])  # on a circle of the mean width
    assert [plane.evaluate(find, arg=place.tolist()) for place in (*ends, beside)] == [True, True, False]
    plane.evaluate(f"{PLANE}.pointer.inspect(1)")
    until(plane, "document.querySelector('[data-fact=axes]').textContent === '0.250 × 0.065, 28°'")
    with recorded(plane, "ellipse") as ellipses:
        plane.evaluate(f"{PLANE}.drawn(2)")
    scale = plane.evaluate(f"{PLANE}.view.scale")
    _, _, drawn, _, turn, *_ = ellipses[0]
    assert drawn == pytest.approx(scale * long, abs=0.1)
    assert np.degrees(turn) == pytest.approx(-27.6, abs=0.1)


def test_the_shape_of_neurons_is_chosen(plane):
    plane.served.run.submit(0, ("paint", {"points": [[0.5, 0.5], [0.6, 0.6]]}))
    plane.served.until(lambda trial: trial.points()["painted"].sum() == 2)
    assert plane.locator("#inspector-axes").get_attribute("hidden") is not None
    plane.locator("#shape").select_option("full")
    until(
        plane, "gaussianNeurons.scene.setup.covariance_type === 'full' && gaussianNeurons.frame?.seen > 300"
    )
    assert plane.locator("#eta_sigma").input_value() == "0.1"
    plane.locator("#sample_width").wait_for()
    assert "around" in plane.locator("#sample_width-description").inner_text()
    assert plane.served.query(lambda trial: trial.points()["painted"].sum()) == 2
    until(plane, f"{PLANE}.neurons.covariances.some((value, k) => k % 3 === 1 && value !== 0)")
    until(plane, "location.search.includes('covariance_type=full')")
    plane.served.run.submit(0, ("start", {"setup": {"covariance_type": "spherical"}}))
    until(plane, "document.querySelector('#shape').value === 'spherical'")
    until(plane, "!document.querySelector('#sample_width-description').textContent.includes('around')")


def test_clusters_of_neurons_that_find_their_own_width(plane):
    """They have colours, those of any shape links, and a curve shows the score of each number of groups."""
    for shape in ("compact", "any"):
        plane.locator("#shape").select_option(shape)
        until(plane, "it => gaussianNeurons.scene.setup.clusters === it", arg=shape)
        until(plane, "gaussianNeurons.frame?.seen > 1500")
        assert not plane.locator("#sigma, #lambda, #eta, #surface, #curve-cost").filter(visible=True).count()
        pause(plane)
        drawn(plane)
        clusters, links, scores, learned = plane.evaluate(
            "(f => [[...f.clusters], [...f.links], [...f.scores], f.learnedCount])(gaussianNeurons.frame)"
        )
        assert plane.locator("#learned-count").inner_text() == str(learned) == str(max(clusters) + 1)
        assert bool(links) == plane.locator("[data-mark=joined]").is_visible()
        assert all(
            clusters[one] == clusters[other] for one, other in zip(links[::2], links[1::2], strict=True)
        )
        label = plane.locator("#curve-scores").get_attribute("aria-label")
        assert label == f"Score: highest for {int(np.argmax(scores)) + 1} groups"
        with recorded(plane, "ellipse") as ellipses:
            plane.evaluate(f"{PLANE}.drawn(1)")
        assert len({call[-1]["strokeStyle"] for call in ellipses}) >= learned > 1
        plane.locator("#pause").click()
    plane.locator("#shape").select_option("spherical")
    until(plane, "gaussianNeurons.scene.setup.clusters === null")
    plane.locator("#sigma").wait_for()


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
def test_ticks_are_distinct_at_any_distance_from_zero(shared_page, box, first, last, name):
    found = shared_page.evaluate(
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


def test_painted_points_are_appended_and_removed(plane):
    before = plane.evaluate(COUNT)
    for batch in range(1, 4):
        points = {"points": [[0.1 * batch, 0.2], [0.3, 0.1 * batch]]}
        plane.served.run.submit(0, ("paint", points))
        until(plane, f"n => {COUNT} === n", arg=before + 2 * batch)
    points = plane.served.query(lambda trial: trial.points())
    assert plane.evaluate(f"[...{PLANE}.layer.points]") == points["points"].ravel().tolist()
    assert plane.evaluate(f"[...{PLANE}.layer.painted]") == points["painted"].tolist()
    plane.served.run.submit(0, ("unpaint", {}))
    until(plane, f"n => {COUNT} === n && !{PLANE}.layer.painted.includes(1)", arg=before)


def test_points_after_a_gap_are_ignored(shared_page):
    found = shared_page.evaluate(
        """async () => {
             const { PointLayer } = await import('/page/plane_points.js');
             const layer = new PointLayer();
             const sent = [[0, [1, 2, 3, 4], [0, 0]], [2, [5, 6], [1]], [4, [9, 9], [1]], [1, [7, 8], [1]]];
             return sent.map(([first, points, painted]) => {
               const arrays = { points: Float64Array.from(points), painted: Uint8Array.from(painted) };
               layer.setPoints({ first, ...arrays });
               return [[...layer.points], [...layer.painted]];
             });
           }"""
    )
    three = [[1, 2, 3, 4, 5, 6], [0, 0, 1]]
    assert found == [[[1, 2, 3, 4], [0, 0]], three, three, [[1, 2, 7, 8], [0, 1]]]


def test_the_legend_lists_the_marks_of_each_surface(plane):
    pause(plane)
    until(plane, f"{PLANE}.samples.current !== null")
    for choice, star, x in (("off", False, True), ("sample", True, True), ("recent", True, False)):
        choose_surface(plane, choice)
        until(plane, f"x => {PLANE}.showsX() === x", arg=x)
        until(
            plane,
            f"it => [...{PLANE}.legend].map(m => m.dataset.visible === 'true').join() === it.join()",
            arg=[False, False, star, x, False, x, x],  # nothing is joined or painted; x shows pull and push
        )
        assert [plane.locator(f"[data-mark={mark}]").is_visible() for mark in ("star", "x")] == [star, x]


def test_neuron_numbers_avoid_the_circles_of_other_neurons(shared_page):
    corners = shared_page.evaluate(
        """async () => {
             const { Labels } = await import('/page/plane_labels.js');
             const view = { width: 400, height: 400, scale: 1, x: x => x, y: y => y };
             const around = (x, y, radius) => {
               const covariances = [1, 0, 1, radius * radius, 0, radius * radius];
               const places = [200, 200, x, y];
               const neurons = { count: 2, ids: [1, 2], learned: [1, 0], covariances, places };
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


def test_numbers_and_arrows_stay_inside_the_ticks(shared_page):
    spans, spots, count = shared_page.evaluate(
        """async () => {
             const { Labels } = await import('/page/plane_labels.js');
             const { arrowSpots, borderArrows } = await import('/page/plane_border.js');
             const view = { width: 360, height: 300, scale: 1, x: x => x, y: y => y };
             const places = [];
             for (let x = -40; x <= 400; x += 44) for (let y = -30; y <= 330; y += 45) places.push(x, y);
             const count = places.length / 2;
             const ids = Array.from({ length: count }, (_, k) => k + 1);
             const covariances = ids.flatMap(() => [100, 0, 100]);
             const neurons = { count, ids, learned: ids.map(k => k % 2), covariances, places };
             const edges = { left: 40, bottom: 20 };
             const spots = arrowSpots(borderArrows(view, neurons, edges));
             const labels = new Labels().place(view, neurons, [], spots, edges);
             const spans = labels.map(({ index, x, y, align }) => {
               const wide = 7 * String(ids[index]).length;
               return align === 'left' ? [x, x + wide, y] : [x - wide, x, y];
             });
             return [spans, spots, count];
           }"""
    )
    assert len(spans) + len(spots) // 2 == count
    for left, right, baseline in spans:
        assert 39 <= left < right <= 360
        assert 10 <= baseline <= 300 - 20
    for x, y in spots:
        assert 40 < x < 360
        assert 0 < y < 300 - 20


def test_arrows_hide_no_tick(shared_page):
    plain, crowded = shared_page.evaluate(
        """async () => {
             const { drawTicks } = await import('/page/plane_marks.js');
             const { axes } = await import('/page/plane_axes.js');
             const places = { x: x => 400 * x, y: y => 300 - 400 * y };
             const view = { width: 400, height: 300, box: () => [0, 0, 1, 0.75], ...places };
             const written = arrows => {
               const texts = [];
               const context = { fillText: text => texts.push(text), strokeText() {}, fillRect() {} };
               drawTicks(context, view, { font: 'serif' }, axes(view, null), arrows);
               return texts;
             };
             const crowd = Array.from({ length: 40 }, (_, k) => ({ x: 10 * k, y: 269 }));
             return [written([]), written(crowd)];
           }"""
    )
    assert plain == crowded
    assert len(plain) > 5


def test_the_colour_bar_covers_no_number(plane):
    choose_surface(plane, "recent")
    drawn(plane)
    numbers, plate = plane.evaluate(
        f"""async () => {{
             const {{ plateOf }} = await import('/page/plane_bar.js');
             const {{ context, view, theme, surface }} = {PLANE};
             return [{PLANE}.numbers.map(it => it.middle), plateOf(context, view, theme, surface.bar())];
           }}"""
    )
    for x, y in numbers:
        assert not (plate["left"] < x < plate["right"] and plate["top"] < y < plate["bottom"])


def test_a_saved_picture_has_a_caption_and_the_contours_of_the_surface(plane):
    until(plane, "gaussianNeurons.frame.seen > 200")
    draw = f"""async () => {{
                 const {{ planePicture }} = await import('/page/pictures.js');
                 planePicture({PLANE}, gaussianNeurons.frame, gaussianNeurons.scene);
               }}"""
    for choice in ("off", "sample", "recent"):
        choose_surface(plane, choice)
        for method in ("fillText", "lineTo"):
            with recorded(plane, method) as calls:
                plane.evaluate(draw)
            if method == "fillText":
                assert any(str(text).startswith("K = 8 · σ = 0.01") for text, *_ in calls)
        thin = [call for call in calls if call[-1]["globalAlpha"] == 0.22]  # of a contour, in the light theme
        assert (len(thin) > 200) == (choice != "off")
